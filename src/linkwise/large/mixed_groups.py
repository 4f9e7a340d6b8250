"""Divide groups whose rows belong to different clusters.

A group is mixed if the answers put its border row apart from its medoid. Its rows are read once more. Those
beyond a cut on the way from the medoid to the border row follow the border row from then on. The cut lies in
the middle half of the way, where there are fewest rows. Questions are about the same rows as before, so
nothing in the session changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from linkwise.large.checkpoints import Checkpoint, hash_groups, hash_inputs, save_at_times
from linkwise.large.group_table import GroupTable, project_rows
from linkwise.large.ranges import map_blocks
from linkwise.large.state_files import State
from linkwise.large.table_files import BLOCK, Block, TableFiles
from linkwise.parallel import SERIAL_ENGINE, Engine
from linkwise.types import Progress

N_BINS = 64  # on the way from the medoid to the border row
DIVIDED = "divided.npz"  # state of the pass
AROUND = 4  # bins on each side of a cut whose rows are counted


def split_groups(
    groups: GroupTable,
    tables: TableFiles,
    mixed: Sequence[int],
    folder: Path,
    progress: Progress | None = None,
    engine: Engine = SERIAL_ENGINE,
) -> GroupTable:
    """Divide mixed groups, in one pass; a pass that was interrupted goes on from its state in `folder`.

    `mixed` are border rows that are no groups yet, and were put apart from the medoids of theirs. Returns
    the groups with those of a new step. Neither chunks nor workers change a bit of it.
    """
    border = np.sort(np.asarray(mixed, dtype=np.int64))
    read = partial(tables.blocks, groups.encoding.feature_columns)
    work = partial(_count_places, groups=groups, border=border)
    counts, lengths, n_read = np.zeros((len(border), N_BINS), dtype=np.int64), tables.lengths(), 0
    n_blocks = -(-sum(lengths.counts) // BLOCK)
    checkpoint = Checkpoint(
        folder / DIVIDED, hash_inputs(hash_groups(groups, tables), border.tolist()), engine
    )
    stored = checkpoint.load(lambda state: (state.arrays["counts"], state.values["n_read"]))
    if stored is not None:
        counts, n_read = stored

    def save() -> None:
        if n_read:
            checkpoint.save(State({"n_read": n_read}, {"counts": counts}, None))

    with save_at_times(save) as save_sometimes:
        for found in map_blocks(read, work, lengths, n_read, BLOCK, engine):
            counts, n_read = counts + found, min(n_read + BLOCK, sum(lengths.counts))
            save_sometimes()
            if progress is not None:
                progress(-(-n_read // BLOCK), n_blocks)
    at = np.array([_choose_cut(each) for each in counts])
    n_beyond = np.array([each[cut:].sum() for each, cut in zip(counts, at, strict=True)])
    summary, parents = groups.summary, groups.parents[border]
    sizes, limits = summary.sizes.copy(), summary.limits.copy()
    steps, cuts = groups.steps.copy(), groups.cuts.copy()
    np.subtract.at(sizes, parents, n_beyond)
    sizes[border], cuts[border], steps[border] = n_beyond, at / N_BINS, groups.n_steps + 1
    way = np.sqrt(np.square(summary.X[border] - summary.X[parents]).sum(axis=1))
    limits[border] = (1 - cuts[border]) * way
    return replace(groups, summary=replace(summary, sizes=sizes, limits=limits), steps=steps, cuts=cuts)


def _count_places(block: Block, groups: GroupTable, border: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the rows of mixed groups by their place between the medoid and the border row."""
    rows = groups.encoding.apply(block.frame, block.locate)
    known = np.repeat(
        [groups.parts[span.file].known for span in block.spans], [span.n_rows for span in block.spans]
    )
    of = groups.place(rows, known).nearest
    counts = np.zeros((len(border), N_BINS), dtype=np.int64)
    for at, row in enumerate(border.tolist()):
        parent = int(groups.parents[row])
        mine = groups.summary.scaling.apply(rows[of == parent])
        places = project_rows(mine, groups.summary.X[parent], groups.summary.X[row])
        bins = np.clip(np.floor(N_BINS * places), 0, N_BINS - 1).astype(np.int64)
        counts[at] = np.bincount(bins, minlength=N_BINS)
    return counts


def _choose_cut(counts: NDArray[np.int64]) -> int:
    """The first bin beyond the cut: in the middle half of the way, where there are fewest rows."""
    cuts = np.arange(N_BINS // 4, 3 * N_BINS // 4 + 1)
    before = np.concatenate([[0], counts.cumsum()])
    around = before[cuts + AROUND] - before[cuts - AROUND]
    least = cuts[around == around.min()]
    return int(least[len(least) // 2])
