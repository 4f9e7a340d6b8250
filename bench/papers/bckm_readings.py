"""What Okabe and Yamada (2018) leave open about BCKM: readings, beside the printed figures of Table 2.

    python -m bench run bckm_readings --data DIR [--tasks TASK,TASK] [--only "READING;READING"] [--sets N]
        [--seeds N] [--jobs N]

Each reading changes one thing of the letter (`bench.papers.bckm`). The paper does not say from where the
kernel k-means at the end starts, nor how the words of texts are weighted ("tf-idf" has many forms), nor
whether columns are scaled, nor whether all rounds of a trial start from the same centres ("ten sets of
initial centres for each data set"): in the letter they do. The other readings are parts of the authors'
program, where each round draws its own. A reading that was chosen by its result is measured again on further
sets of constraints (``--first``). The gap is the mean distance to the printed figures. The tables have
all cells that are finished.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

import linkwise as lw
from bench.figures import TOLERANCE
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.bckm import PERCENT, find_target
from bench.papers.bckm_data import CLUSTERS, SHAPES, TEXTS, UCI, file_of, load, names, read_counts
from bench.results import add_earlier, write_csv
from bench.suites.cell_store import Cell, Row, read_rows
from bench.suites.code_keys import fingerprint
from bench.suites.constraint_sets import draw_constraints
from bench.suites.summaries import mean_of

LETTER = "letter"
OWN = "own centres"
AUTHORS, AUTHORS_SAME = "authors()", "authors() + same centres"
# first centres of its own for each round; from what the k-means at the end starts, and how often; how a round
# starts, ends and orders constraints, all of it as in the authors' program; the same with its distances and
# empty clusters, too (`BCKM.authors`); rounds as before, with one set of first centres for all of them;
# columns of unit variance; texts without inverse document frequency
PROGRAM = {"init": "farthest", "convergence": "first rise", "ties": "columns"}
WHOLE_PROGRAM = {**PROGRAM, "same_centers": False, "full_distances": False, "refill": False}
PARAMETERS: dict[str, dict[str, Any]] = {
    LETTER: {},
    OWN: {"same_centers": False},
    "ten final starts": {"n_init": 10},
    "best pass": {"convergence": "repeat", "last_starts": 1},
    "far starts": {"init": "farthest"},
    "end at first rise": {"convergence": "first rise"},
    "row by row": {"ties": "columns"},
    "as authors": {**PROGRAM, "same_centers": False},
    AUTHORS: WHOLE_PROGRAM,
    AUTHORS_SAME: {**WHOLE_PROGRAM, "same_centers": True},
    "as authors + same centres": PROGRAM,
    "as authors + same centres by k-means++": {**PROGRAM, "init": "k-means++"},
}
ROWS, LABELS = "random rows", "random labels"
AUTHORS_LABELS = "authors() + same centres + random labels"
SCALED, COUNTS = "unit variance", "no idf"
READINGS = (*PARAMETERS, AUTHORS_LABELS, ROWS, LABELS, SCALED, COUNTS)
KINDS = {"UCI": tuple(UCI), "texts": tuple(TEXTS), "shapes": tuple(SHAPES)}
USES = ("BCKM", "Constraints")
FIELDS = ("task", "reading", "percent", "set")
COLUMNS = ("task", "percent", "reading", "sets", "starts", "printed", "nmi", "sd", "rounds", "rounds_error")
SETS = 10  # of constraints in the paper; with fewer there is no standard error
GAPS = ("reading", "data", "figures", "within", "gap")


def applies(reading: str, task: str) -> bool:
    """Whether a reading changes anything for a data set."""
    return {SCALED: task in UCI, COUNTS: task in TEXTS}.get(reading, True)


def read_rows_of(task: str, reading: str, folder: Path) -> tuple[Any, np.ndarray, str]:
    """Rows, classes and kernel in a reading."""
    if reading == COUNTS:
        counts, y = read_counts(folder / file_of(task))
        return csr_array(normalize(counts)), y, "linear"
    rows = load(task, "standardized" if reading == SCALED else "raw", folder)
    return rows.X, rows.y, rows.kernel


def measure(cell: Cell, seeds: int, folder: Path) -> Row:
    """One set of constraints, several starts."""
    task, reading, percent, number = cell
    X, y, kernel = read_rows_of(task, reading, folder)
    k = CLUSTERS[task]
    constraints = draw_constraints(y, percent=int(percent), random_state=int(number))
    scores, rounds = [], []
    for seed in range(seeds):
        changed = PARAMETERS.get(AUTHORS_SAME if reading == AUTHORS_LABELS else reading, {})
        parameters = {"n_init": 1, "kernel": kernel, "random_state": seed, **changed}
        model = lw.BCKM.paper(k, **parameters)
        with warnings.catch_warnings(action="ignore"):
            labels = model.fit(X, constraints=constraints).labels_
        if reading in (ROWS, LABELS, AUTHORS_LABELS):
            labels = cluster_votes(model, k, reading, np.random.default_rng([int(number), seed]))
        scores.append(normalized_mutual_info_score(y, labels, average_method="geometric"))
        rounds.append(model.n_rounds_)
    return {"nmi": " ".join(f"{score:.4f}" for score in scores), "rounds": " ".join(map(str, rounds))}


def cluster_votes(model: Any, k: int, reading: str, rng: np.random.Generator) -> np.ndarray:
    """Kernel k-means on the votes of a fitted BCKM, from random rows or from random labels."""
    votes = zip(model.alphas_, model.hypotheses_.T, strict=True)
    K = sum(alpha * (labels[:, None] == labels) for alpha, labels in votes)
    if reading == ROWS:
        rows = rng.choice(len(K), k, replace=False)
        labels = (np.diag(K)[rows] - 2 * K[:, rows]).argmin(axis=1)
    else:
        labels = rng.integers(0, k, len(K))
    return kernel_k_means(K, labels)


def kernel_k_means(K: np.ndarray, labels: np.ndarray, passes: int = 100) -> np.ndarray:
    """Kernel k-means from given labels; clusters that lose all rows are gone."""
    for _ in range(passes):
        _, labels = np.unique(labels, return_inverse=True)
        member = np.eye(labels.max() + 1)[labels] / np.bincount(labels)
        own = K @ member
        after = ((member * own).sum(axis=0) - 2 * own).argmin(axis=1)
        if (after == labels).all():
            break
        labels = after
    return labels


# ---------------------------------------------------------------- tables
def build_lines(found: list[Row]) -> list[tuple[str, ...]]:
    """Mean NMI and rounds by data set, percent and reading, beside the printed figure."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in found:
        groups.setdefault((row["task"], row["percent"], row["reading"]), []).append(row)
    lines: list[tuple[str, ...]] = []
    for (task, percent, reading), rows in sorted(groups.items(), key=_place):
        scores = [float(x) for row in rows for x in row["nmi"].split()]
        rounds = [np.mean([int(x) for x in row["rounds"].split()]) for row in rows]
        printed = find_target(task, "BCKM", percent)
        assert printed is not None
        lines.append((
            task, percent, reading, str(len(rows)), str(len(rows[0]["nmi"].split())), printed["nmi"],
            f"{np.mean(scores):.3f}", f"{np.std(scores):.3f}", f"{np.mean(rounds):.2f}",
            f"{mean_of(rounds).error:.2f}" if len(rows) >= SETS else "",
        ))  # fmt: skip
    return lines


def _place(group: tuple[tuple[str, str, str], list[Row]]) -> tuple[int, int, int]:
    task, percent, reading = group[0]
    return list(CLUSTERS).index(task), int(percent), READINGS.index(reading)


def build_gaps(lines: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Mean distance to the printed figures by reading and kind of data."""
    gaps: list[tuple[str, ...]] = []
    for reading in READINGS:
        for kind, tasks in KINDS.items():
            far = [
                abs(round(float(nmi), 2) - float(printed))
                for task, _, name, _, _, printed, nmi, *_ in lines
                if name == reading and task in tasks
            ]
            if far:
                within = sum(each <= TOLERANCE + 1e-9 for each in far)
                gaps.append((reading, kind, str(len(far)), str(within), f"{np.mean(far):.3f}"))
    return gaps


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run bckm_readings", description="Readings")
    add_common_options(parser)
    parser.add_argument("--tasks", metavar="A,B", help=f"sets, of {', '.join(CLUSTERS)}")
    parser.add_argument("--only", metavar="A;B", help=f"readings, of {'; '.join(READINGS)}")
    parser.add_argument("--sets", type=int, default=3, metavar="N", help="sets of constraints")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the first of these sets")
    parser.add_argument("--seeds", type=int, default=2, metavar="N", help="starts with each set")
    options = parser.parse_args(arguments)
    folder = find_source(options).folder
    tasks = [name for name in names(folder) if options.tasks is None or name in options.tasks.split(",")]
    if folder is None or not tasks:
        raise SystemExit(f"None of {', '.join(CLUSTERS)} is there. Pass the folder of data sets with --data.")
    readings = READINGS if options.only is None else tuple(options.only.split(";"))
    cells = [
        (task, reading, percent, str(number))
        for number in range(options.first, options.first + options.sets)
        for task in sorted(tasks, key=lambda task: task in TEXTS)
        for reading in readings
        if applies(reading, task)
        for percent in PERCENT
    ]
    out = out_folder(options, "bckm")
    work: Callable[[Cell], Row] = partial(measure, seeds=options.seeds, folder=folder)
    path = out / "readings_trials.csv"
    run_cells(path, FIELDS, cells, work, uses=USES, jobs=options.jobs, reuse=options.reuse)
    code = fingerprint(*USES)
    lines = build_lines([row for row in read_rows(path) if options.reuse or row["code"] == code])
    lines = add_earlier(out / "readings.csv", lines, 3)
    lines.sort(key=lambda line: _place(((line[0], line[1], line[2]), [])))
    write_csv(out / "readings.csv", COLUMNS, lines)
    gaps = build_gaps(lines)
    write_csv(out / "readings_gaps.csv", GAPS, gaps)
    print(format_table(COLUMNS, lines))
    print(format_table(GAPS, gaps))
    return 0


if __name__ == "__main__":
    sys.exit(main())
