"""What RCKM of Okabe and Yamada (2018) was: readings of its description, beside the printed figures.

    python -m bench run rckm --data DIR [--tasks TASK,TASK] [--only "READING;READING"] [--sets N]
        [--seeds N] [--jobs N]

The paper says of RCKM only that rows are assigned in random orders. With random orders of the constraints
ours is far better on spiral and sonar than the printed figures. Each reading changes one thing (or several,
where it names a combination) and is scored by the NMI with the geometric mean of the entropies. The gap is
the mean distance to the printed figures of all cells.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

import linkwise as lw
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.papers.bckm_data import CLUSTERS, load
from bench.papers.bckm_readings import kernel_k_means
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from bench.suites.constraint_sets import draw_constraints
from linkwise.cluster.points import fill_empty_clusters
from linkwise.cluster.similarity.rounds import Rounds, combine_rounds, label_type, vote_weight
from linkwise.cluster.similarity.spaces import Init, Space, make_space
from linkwise.cluster.similarity.weak_learner import (
    Convergence,
    PairList,
    WeakClustering,
    constrained_k_means,
    count_centers,
    list_pairs,
)
from linkwise.rng import rng_at
from linkwise.types import Labels

N_ROUNDS = 100
FREE_PASSES = 12  # of the order "free", which is slow
PERCENT = ("1", "5", "10")
FIELDS = ("task", "reading", "percent", "set")


@dataclass(frozen=True)
class Reading:
    """One reading of the sentence; the fields are the choices."""

    weights: str = "error"
    """"error", "equal", or "boost": errors under priorities that are updated as in BCKM."""
    order: str = "pairs"
    """"pairs" draws the order of the constraints; "rows" draws the order of the rows, with each row all its
    constraints; "free" assigns row by row, constrained or not, to the nearest cluster that breaks least."""
    convergence: Convergence = "repeat"
    init: Init = "k-means++"
    same_centers: bool = False
    """Whether all rounds start from the same centres."""
    stops: bool = False
    """Whether the rounds end at an error of 0 or of 0.5 and more, as in Algorithm 3."""
    zero: str = "skip"
    """What becomes of a round that breaks half or more: "skip", or "keep" with equal vote."""
    n_init: int = 10
    """Starts of the final k-means."""
    from_labels: bool = False
    """Whether the final k-means starts once, from random labels."""
    linear: bool = False
    """Whether shapes are clustered without the Gaussian kernel."""


OURS = Reading()
PROGRAM = replace(OURS, convergence="first rise", init="farthest")
READINGS = {
    "ours": OURS,
    "equal votes": replace(OURS, weights="equal"),
    "equal votes, none dropped": replace(OURS, weights="equal", zero="keep"),
    "order of rows": replace(OURS, order="rows"),
    "all rows in random order": replace(OURS, order="free"),
    "last pass": replace(OURS, convergence="stable"),
    "ends when inertia does not fall": replace(OURS, convergence="first rise"),
    "far starts": replace(OURS, init="farthest"),
    "same centres": replace(OURS, same_centers=True),
    "one final start": replace(OURS, n_init=1),
    "ends as Algorithm 3": replace(OURS, stops=True),
    "priorities in errors": replace(OURS, weights="boost", stops=True),
    "no kernel": replace(OURS, linear=True),
    "program": PROGRAM,
    "program, same centres": replace(PROGRAM, same_centers=True),
    "program, equal votes": replace(PROGRAM, weights="equal", zero="keep"),
    "program, equal votes, same centres": replace(PROGRAM, weights="equal", zero="keep", same_centers=True),
    "program, priorities in errors": replace(PROGRAM, weights="boost", stops=True),
    "program, ends as Algorithm 3": replace(PROGRAM, stops=True),
    "last pass, same centres": replace(OURS, convergence="stable", same_centers=True),
    "last pass, priorities in errors": replace(OURS, weights="boost", stops=True, convergence="stable"),
    "last pass, same centres, random labels at the end": replace(
        OURS, convergence="stable", same_centers=True, from_labels=True
    ),
    "program, same centres, random labels at the end": replace(PROGRAM, same_centers=True, from_labels=True),
    "last pass, equal votes": replace(OURS, weights="equal", zero="keep", convergence="stable"),
    "last pass, equal votes, same centres": replace(
        OURS, weights="equal", zero="keep", convergence="stable", same_centers=True
    ),
    "all rows in random order, equal votes, same centres": replace(
        OURS, order="free", weights="equal", zero="keep", same_centers=True
    ),
}


# ---------------------------------------------------------------- one fit
def fit_reading(
    reading: Reading, space: Space, constraints: lw.Constraints, k: int, seed: int
) -> tuple[Labels, int]:
    """Labels of RCKM in one reading, and its number of rounds."""
    pairs = list_pairs(constraints)
    log_priority = np.zeros(len(pairs.must))
    made, alphas, errors = [], [], []
    for t in range(N_ROUNDS):
        rng = rng_at(seed, 0, t)
        share = np.exp(log_priority - log_priority.max())
        share /= share.sum()
        weak = _run_round(reading, space, pairs, share, k, rng, seed)
        if weak.loss >= 0.5 and reading.zero == "skip":
            if reading.stops:
                break
            continue
        made.append(weak.labels)
        errors.append(weak.loss)
        alphas.append(_vote(reading, weak.loss))
        if weak.loss == 0 and reading.stops:
            break
        if reading.weights == "boost":
            log_priority += np.where(weak.broken, alphas[-1], -alphas[-1])
    if not made:
        made, alphas, errors = [weak.labels], [1.0], [weak.loss]
    hypotheses = np.ascontiguousarray(np.array(made).T.astype(label_type(k)))
    rounds = Rounds(hypotheses, np.array(alphas), np.array(errors), "")
    if reading.from_labels:
        votes = zip(rounds.alphas, hypotheses.T, strict=True)
        K = sum(alpha * (labels[:, None] == labels) for alpha, labels in votes)
        return kernel_k_means(K, rng_at(seed, 2).integers(0, k, space.n)), len(alphas)
    return combine_rounds(rounds, k, seed, reading.n_init), len(alphas)


def _vote(reading: Reading, loss: float) -> float:
    if reading.weights == "equal":
        return 1.0
    return vote_weight(loss) if loss > 0 else 100.0


def _run_round(
    reading: Reading,
    space: Space,
    pairs: PairList,
    share: np.ndarray,
    k: int,
    rng: np.random.Generator,
    seed: int,
) -> WeakClustering:
    order = rng.permutation(len(share))
    means = space.choose_centers(k, rng_at(seed, 1) if reading.same_centers else rng, reading.init)
    if reading.order == "free":
        return _assign_row_by_row(space, means, pairs, share, rng)
    if reading.order == "rows":
        place = rng.permutation(space.n)[pairs.ends]
        order = np.lexsort((place.min(axis=1), place.max(axis=1)))
    return constrained_k_means(
        space, means, pairs, order.astype(np.int32), share, 100, convergence=reading.convergence
    )


def _assign_row_by_row(
    space: Space, means: object, pairs: PairList, share: np.ndarray, rng: np.random.Generator
) -> WeakClustering:
    """Constrained k-means without pairs: each row, in random order, to the best of its two nearest centres.

    The best breaks the fewest constraints with rows that are assigned already, and is the nearer of equals.
    """
    n, k = space.n, count_centers(means)
    partners: list[list[tuple[int, bool]]] = [[] for _ in range(n)]
    for (i, j), must in zip(pairs.ends.tolist(), pairs.must.tolist(), strict=True):
        partners[i].append((j, bool(must)))
        partners[j].append((i, bool(must)))
    order = rng.permutation(n).tolist()
    before = None
    for _ in range(FREE_PASSES):
        near = space.two_nearest(means)
        labels = np.full(n, -1, dtype=np.int32)
        for i in order:
            cost = np.zeros(k)
            for j, must in partners[i]:
                c = labels[j]
                if c >= 0:
                    cost += must
                    cost[c] += -1 if must else 1
            least = np.flatnonzero(cost == cost.min())
            choices = [c for c in (near.best[i], near.second[i]) if c in least]
            labels[i] = choices[0] if choices else least[0]
        means = space.update_means(labels, means)
        if before is not None and (labels == before).all():
            break
        before = labels
        if means.empty:
            ones = np.ones(n, dtype=np.int64)
            means = space.update_means(fill_empty_clusters(labels, near.square, k, ones), means)
    same = labels[pairs.ends[:, 0]] == labels[pairs.ends[:, 1]]
    broken = (same != pairs.must.astype(bool)).astype(np.uint8)
    return WeakClustering(labels, broken, float(share @ broken), means.spread, 0)


def measure(cell: Cell, seeds: int, folder: Path) -> Row:
    """One set of constraints, several starts."""
    task, name, percent, number = cell
    reading, rows = READINGS[name], load(task, "raw", folder)
    space = make_space(rows.X, "linear" if reading.linear else rows.kernel)
    constraints = draw_constraints(rows.y, percent=int(percent), random_state=int(number))
    scores, rounds = [], []
    for seed in range(seeds):
        labels, used = fit_reading(reading, space, constraints, CLUSTERS[task], seed)
        scores.append(normalized_mutual_info_score(rows.y, labels, average_method="geometric"))
        rounds.append(used)
    return {"nmi": f"{np.mean(scores):.4f}", "rounds": f"{np.mean(rounds):.1f}"}


# ---------------------------------------------------------------- the command
def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_common_options(parser)
    parser.add_argument("--tasks", default="spiral,sonar", help="sets, by commas")
    parser.add_argument("--only", help="readings, by semicolons; the table is then rckm_some.csv")
    parser.add_argument("--sets", type=int, default=3, help="sets of constraints")
    parser.add_argument("--seeds", type=int, default=2, help="starts with each")
    options = parser.parse_args(arguments)
    folder = find_source(options).folder
    if folder is None:
        raise SystemExit("Pass the folder of data sets with --data.")
    tasks = options.tasks.split(",")
    readings = list(READINGS) if options.only is None else options.only.split(";")
    cells = [
        (task, reading, percent, str(number))
        for reading in readings
        for task in tasks
        for percent in PERCENT
        for number in range(options.sets)
    ]
    out = out_folder(options, "bckm")
    work = partial(measure, seeds=options.seeds, folder=folder)
    uses = ("RCKM", "Constraints")
    found = run_cells(
        out / "rckm_trials.csv", FIELDS, cells, work, uses=uses, jobs=options.jobs, reuse=options.reuse
    )
    head = ("reading", *(f"{task} {percent} %" for task in tasks for percent in PERCENT), "gap")
    lines = [build_line(name, tasks, found) for name in readings]
    printed = find_printed(tasks)
    lines.insert(0, ("printed", *(f"{value:.2f}" for value in printed), ""))
    write_csv(out / f"rckm_{'readings' if options.only is None else 'some'}.csv", head, lines)
    print(format_table(head, lines))
    return 0


def find_printed(tasks: list[str]) -> list[float]:
    """The figures of Table 2."""
    rows = {
        (r["task"], r["percent"]): r["nmi"] for r in read_target("bckm_table2.csv") if r["method"] == "RCKM"
    }
    return [float(rows[task, percent]) for task in tasks for percent in PERCENT]


def build_line(name: str, tasks: list[str], found: list[Row]) -> tuple[str, ...]:
    """Mean NMI of a reading on each set, and its mean distance to the printed figures."""
    means = []
    for task in tasks:
        for percent in PERCENT:
            cells = [r for r in found if (r["task"], r["reading"], r["percent"]) == (task, name, percent)]
            means.append(float(np.mean([float(row["nmi"]) for row in cells])))
    gap = float(np.abs(np.array(means) - find_printed(tasks)).mean())
    return (name, *(f"{mean:.2f}" for mean in means), f"{gap:.2f}")


if __name__ == "__main__":
    sys.exit(main())
