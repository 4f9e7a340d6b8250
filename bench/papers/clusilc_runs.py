"""Measure one method on one set of random constraints: Rand index on all rows and on the tenth fold.

A trial is eleven fits: one with constraints between any rows, and one for each fold, with constraints between
the rows of the other nine. Each fit clusters all rows. All methods get the same constraints. If COP-k-means
finds no solution, it gets other constraints, up to 100 times or as often as a cell names, and fails after
that. So its figures are those of constraints that it can satisfy.

Both methods run in three versions: the printed one (the preset `paper()`), the one of the authors' program
(`authors()`), and ours, whose COP-k-means finds out whether a solution exists; here it has one start.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import rand_score

from bench.papers.clusilc_data import Set, load
from bench.suites.cell_store import Cell, Row
from bench.suites.constraint_sets import draw_constraints
from bench.suites.folds import split_folds
from linkwise import ClusILC, Constraints, COPKMeans, InfeasibleConstraintsError
from linkwise.cluster.kmeans.components import build_blocks
from linkwise.cluster.kmeans.cop_kmeans import run_in_order
from linkwise.cluster.kmeans.starts import draw_link_ends
from linkwise.constraints.closure import find_components
from linkwise.constraints.sampling import draw_pairs
from linkwise.rng import rng_at

FOLDS, REDRAWS, PASSES = 10, 100, 100
LETTER, AUTHORS, OURS = "ClusILC, letter", "ClusILC, authors", "ClusILC"
COP_LETTER, COP_AUTHORS, COP = "COP-k-means, letter", "COP-k-means, authors", "COP-k-means"
METHODS = (LETTER, AUTHORS, OURS, COP_LETTER, COP_AUTHORS, COP)
VERSIONS = {"letter": (LETTER, COP_LETTER), "default": (OURS, COP), "authors": (AUTHORS, COP_AUTHORS)}
"""ClusILC and its rival."""
TREES = {LETTER: ClusILC.paper, AUTHORS: ClusILC.authors, OURS: ClusILC}


class Fit(NamedTuple):
    """Labels (None: no answer), how often constraints were drawn again, nodes of the tree, seconds."""

    labels: np.ndarray | None
    redraws: int
    nodes: int
    seconds: float


def measure(cell: Cell, folder: Path) -> Row:
    """One trial; a cell may end in how often constraints are drawn again."""
    redraws = int(cell[4]) if len(cell) > 4 else REDRAWS
    return measure_rows(load(cell[0], folder), cell[1], int(cell[2]), int(cell[3]), redraws)


def measure_rows(rows: Set, method: str, count: int, number: int, redraws: int = REDRAWS) -> Row:
    """One trial on these rows."""
    tests = split_folds(len(rows.y), FOLDS, number)
    fits = [
        fit_random(rows, method, count, (number, at), unknown, redraws)
        for at, unknown in enumerate([[], *tests])
    ]
    first, *others = fits
    held_out = [
        rand_score(rows.y[test], fit.labels[test])
        for fit, test in zip(others, tests, strict=True)
        if fit.labels is not None
    ]
    return {
        "rand": "" if first.labels is None else f"{rand_score(rows.y, first.labels):.4f}",
        "cv": f"{np.mean(held_out):.4f}" if held_out else "",
        "nodes": str(first.nodes),
        "most_nodes": str(max(fit.nodes for fit in fits)),
        "most_seconds": f"{max(fit.seconds for fit in fits):.4f}",
        "redraws": str(sum(fit.redraws for fit in fits)),
        "failed": str(sum(fit.labels is None for fit in fits)),
    }


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    if cell[1] in TREES:
        return "ClusILC", "Constraints"
    return "COPKMeans", "Constraints"


def fit_random(
    rows: Set, method: str, count: int, place: tuple[int, int], unknown: Any, redraws: int = REDRAWS
) -> Fit:
    """A method with random constraints between rows whose class is known."""
    warm_up(method)
    known = np.setdiff1d(np.arange(len(rows.y)), unknown)
    for draw in range(1 + redraws):
        seed = (*place, count, draw)
        if method == COP_AUTHORS and refuses(rows, known, count, seed):
            continue
        rng = np.random.default_rng(seed)
        constraints = draw_constraints(rows.y, count, rows=known, random_state=rng)
        begin = process_time()
        labels, nodes = cluster_rows(method, rows, constraints, place[0])
        if labels is not None:
            return Fit(labels, draw, nodes, process_time() - begin)
    return Fit(None, redraws, 0, 0.0)


def refuses(rows: Set, known: np.ndarray, count: int, seed: tuple[int, ...]) -> bool:
    """Whether the authors' COP-k-means fails with the constraints of this seed.

    It takes the steps of `draw_constraints` and `cluster_rows` without building and checking constraints and
    estimator, which would cost five times as much as the steps themselves.
    """
    pairs = known[draw_pairs(len(known), count, np.random.default_rng(seed))]
    same = rows.y[pairs[:, 0]] == rows.y[pairs[:, 1]]
    blocks = build_blocks(rows.X, find_components(len(rows.y), pairs[same]))
    first, second = np.sort(blocks.number[pairs[~same]], axis=1).T
    n_blocks = len(blocks.weight)
    apart = np.column_stack(divmod(np.unique(first * n_blocks + second), n_blocks))
    start = draw_link_ends(blocks, apart, rows.k, rng_at(seed[0], 0))
    return isinstance(run_in_order(blocks, blocks.X, start, apart, PASSES), int)


def cluster_rows(
    method: str, rows: Set, constraints: Constraints, seed: int
) -> tuple[np.ndarray | None, int]:
    """Labels, or None; and nodes of the tree."""
    with warnings.catch_warnings(action="ignore"):
        if method in TREES:
            tree = TREES[method](rows.k).fit(rows.X, constraints=constraints)
            return tree.labels_, 2 * tree.n_leaves_ - 1
        with suppress(InfeasibleConstraintsError):
            model = create_cop(method, rows, constraints, seed)
            return model.fit(rows.X, constraints=constraints).labels_, 0
    return None, 0


def create_cop(method: str, rows: Set, constraints: Constraints, seed: int) -> COPKMeans:
    """COP-k-means in one of its versions."""
    if method == COP:
        return COPKMeans(rows.k, n_init=1, random_state=seed)
    if method == COP_LETTER:
        return COPKMeans.paper(rows.k, max_iter=PASSES, random_state=seed)
    return COPKMeans.authors(rows.k, max_iter=PASSES, random_state=seed)


@cache
def warm_up(method: str) -> None:
    """What the first fit of a process loads is no part of its time."""
    few = Set(np.arange(8.0)[:, None], np.arange(8) // 4, 2)
    cluster_rows(method, few, Constraints(8, [(0, 1)], [(1, 7)]), 0)
