"""Summarise tables that do not fit into memory: numbers, dates, truth values and categories.

The first pass (`linkwise.large.survey`) learns the encoding and draws a sample, the second assigns each row
to a group (`linkwise.large.group_totals`). Both write where they are to a folder, so that work that was
interrupted goes on there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.data.columns.named_columns import check_names, list_names
from linkwise.data.reading import Reading
from linkwise.errors import DataError
from linkwise.large.border_rows import list_entries
from linkwise.large.checkpoints import Checkpoint, hash_inputs, pack_totals, save_at_times, unpack_totals
from linkwise.large.chunks import read_blocks
from linkwise.large.encoding import EncodedTables, Encoding
from linkwise.large.file_stamps import FileStamp, check_not_written
from linkwise.large.group_summary import SAMPLE, Summary, check_same_rows
from linkwise.large.group_table import DataPart, GroupTable, without_scaling
from linkwise.large.group_totals import GroupCenters, GroupTotals, find_centers
from linkwise.large.ranges import map_blocks
from linkwise.large.state_files import State
from linkwise.large.survey import Draw, TableSurvey, learn_encoding
from linkwise.large.table_files import BLOCK, Block, TableFiles
from linkwise.parallel import SERIAL_ENGINE, Engine
from linkwise.types import Progress
from linkwise.wording import join_names

SURVEY, TOTALS = "survey.npz", "totals.npz"


def summarize_tables(
    tables: TableFiles,
    reading: Reading,
    n_groups: int,
    seed: int,
    folder: Path,
    progress: Progress | None = None,
    engine: Engine = SERIAL_ENGINE,
    suggested: Collection[str] = (),
) -> GroupTable:
    """Summarise tables by groups, in two passes, and write the groups to a folder.

    The seed is that of the sample and of k-means. Passes over the same files with the same choices that
    were interrupted go on from their states in the folder, perhaps with another engine. Call
    ``progress(done, total)`` after each block of rows. Logarithms and codes of the columns that were only
    `suggested` by some rows are compared as far as all rows allow it.
    """
    names, before = _choose_names(tables, reading), tables.stamps()
    for file in tables.files:  # before passes that may take long
        tables.check(file, names)
    n_rows = sum(tables.count_rows())
    n_blocks = -(-n_rows // BLOCK)
    key = hash_inputs(before, reading, n_groups, seed)
    done = 0

    def step(block: int) -> None:
        nonlocal done
        done = block
        if progress is not None:
            progress(min(done, 2 * n_blocks), 2 * n_blocks)

    draw = Draw.plan(n_rows, SAMPLE * n_groups, seed)
    work = partial(TableSurvey.of, draw=draw, as_words=reading.as_categories or ())
    survey = _survey(tables, names, work, Checkpoint(folder / SURVEY, key, engine), step)
    check_same_rows(survey.n_rows, n_rows)
    reading = _keep_possible(reading, survey, suggested)
    encoding = learn_encoding(survey, reading)
    if reading.id_column is not None and survey.columns[reading.id_column].n_missing:
        missing = survey.columns[reading.id_column].n_missing
        raise DataError(f"The column '{reading.id_column}' of ids has {missing} empty cells. Fill them in.")
    sample = encoding.apply(survey.sample_rows, lambda row: f"row {row} of the sample")
    checkpoint = Checkpoint(folder / TOTALS, key, engine)
    centers, totals = _collect(
        tables, encoding, sample, (n_groups, seed), checkpoint, lambda block: step(n_blocks + block)
    )
    check_same_rows(int(totals.sizes.sum()), survey.n_rows)
    found = _make_table(tables, encoding, survey, centers, totals, reading.id_column, folder)
    check_not_written(before, tables.stamps())
    found.write(folder)
    for name in (SURVEY, TOTALS):
        (folder / name).unlink(missing_ok=True)
    return found


def _choose_names(tables: TableFiles, reading: Reading) -> list[str]:
    """The columns that are read: all but those that are dropped."""
    there = list(tables.schema)
    names = list_names(there, reading)
    check_names(there, names)
    return [name for name in there if name not in names.drop]


def _keep_possible(reading: Reading, survey: TableSurvey, suggested: Collection[str]) -> Reading:
    """Leave out what was suggested by some rows and does not suit all of them."""
    found = survey.columns
    negative = {name for name in suggested if name in found and found[name].low < 0}
    manifold = {name for name in suggested if name in found and found[name].words is None}
    log = tuple(name for name in reading.log or () if name not in negative)
    codes = tuple(name for name in reading.as_categories or () if name not in manifold)
    return replace(reading, log=log or None, as_categories=codes or None)


def _survey(
    tables: TableFiles,
    names: Sequence[str],
    work: Callable[[Block], TableSurvey],
    checkpoint: Checkpoint,
    step: Callable[[int], object],
) -> TableSurvey:
    survey, is_done = checkpoint.load(_unpack_survey) or (TableSurvey.start(), False)
    if is_done:
        return survey

    def save(is_done: bool = False) -> None:
        if survey.n_rows:
            values = {"survey": survey.to_json(), "is_done": is_done}
            checkpoint.save(State(values, {"sample": survey.sample}, survey.kept))

    with save_at_times(save) as save_sometimes:
        for found in map_blocks(
            partial(tables.blocks, names), work, tables.lengths(), survey.n_rows, BLOCK, checkpoint.engine
        ):
            survey = survey.merge(found)
            save_sometimes()
            step(-(-survey.n_rows // BLOCK))
        if survey.n_rows < 2:
            raise DataError("The data have fewer than 2 rows, but at least 2 are needed to compare.")
        save(True)
    return survey


def _unpack_survey(state: State) -> tuple[TableSurvey, bool]:
    survey = TableSurvey.from_json(state.values["survey"], state.arrays["sample"], state.frame)
    return survey, state.values["is_done"]


def _collect(
    tables: TableFiles,
    encoding: Encoding,
    sample: NDArray[np.float64],
    plan: tuple[int, int],
    checkpoint: Checkpoint,
    step: Callable[[int], object],
) -> tuple[GroupCenters, GroupTotals]:
    """The centres, and what the second pass finds."""
    n_groups, seed = plan
    scaling = without_scaling(len(encoding.features))
    stored = checkpoint.load(unpack_totals)
    if stored is None:
        centers = find_centers(np.ascontiguousarray(scaling.apply(sample)), n_groups, (seed, 1))
        totals = GroupTotals.start(centers.points.shape)
    else:
        centers, totals = stored

    def save() -> None:
        if totals.n_rows:
            checkpoint.save(pack_totals(totals, centers))

    with save_at_times(save) as save_sometimes:
        read = partial(read_blocks, EncodedTables(tables, encoding))
        work = partial(GroupTotals.of, scaling=scaling, centers=centers)
        for found in map_blocks(read, work, tables.lengths(), totals.n_rows, BLOCK, checkpoint.engine):
            totals = totals.merge(found)
            save_sometimes()
            step(-(-totals.n_rows // BLOCK))
    return centers, totals


def _make_table(
    tables: TableFiles,
    encoding: Encoding,
    survey: TableSurvey,
    centers: GroupCenters,
    totals: GroupTotals,
    id_column: str | None,
    folder: Path,
) -> GroupTable:
    entries = list_entries(totals, centers, totals.limits(centers), 0)
    _check_ids(entries.frame, id_column)
    summary = Summary(
        n_rows=survey.n_rows,
        columns=tuple(feature.name for feature in encoding.features),
        scaling=without_scaling(len(encoding.features)),
        medoids=entries.arrays["X"],
        medoid_ids=None,
        id_column=id_column,
        **entries.arrays,
    )
    counts = (survey.counts.get(number, 0) for number in range(len(tables.files)))
    parts = tuple(
        DataPart(file.path.name, n, 0, os.path.relpath(file.path, folder.parent))
        for file, n in zip(tables.files, counts, strict=True)
    )
    steps, cuts = np.where(entries.parents < 0, 0, -1), np.zeros(len(entries.parents))
    stamps = tuple(FileStamp.of(file.path) for file in tables.files)
    return GroupTable(summary, encoding, entries.frame, parts, steps, entries.parents, cuts, stamps)


def _check_ids(frame: Any, id_column: str | None) -> None:
    if id_column is None:
        return
    twice = frame[id_column].filter(frame[id_column].is_duplicated()).unique(maintain_order=True)
    if len(twice):
        names = join_names(map(repr, twice.to_list()), 5)
        raise DataError(
            f"Ids in column '{id_column}' repeat: {names}. Use a column whose values are unique, or"
            " remove --id to identify rows by their number."
        )
