"""Measure screens of rows that are sorted into piles, beside questions about pairs.

    python -m bench run sets --data DIR
    python -m bench run sets --data DIR --sizes pairs 9 12 --learners KIN --runs 1

A screen has at most 4, 6, 9, 12 or 16 rows, and `TruthSorter` sorts it; of pairs, `TruthOracle` answers each.
Of cards, or of answers about pairs, a share is wrong, and then the learner estimates how many are. The ARI
covers all rows, of which sets have at most 1000, drawn once. `equal n` is the number of answers about pairs
after which the mean ARI is that after n screens, by straight lines between the measured numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from time import process_time

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bench import data
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.noise_runs import FAMILIES
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from linkwise import TruthOracle, TruthSorter

PAIRS = "pairs"
SIZES = (PAIRS, "4", "6", "9", "12", "16")
TASKS = (
    "iris", "wine", "dermatology", "ecoli", "segmentation", "digits", "faces_identity", "faces_pose",
    "news_similar3", "coil20", "yale", "alphadigits", "letter",
)  # fmt: skip
MISPLACED = ("0", "0.05", "0.1")
AT = (5, 10, 20)  # screens
AT_PAIRS = (5, 10, 20, 30, 40, 60, 80, 100, 130, 160, 200)
LEARNERS = ("KIN", "COBRAS")
FIELDS = ("task", "learner", "size", "misplaced", "run")
MOST_ROWS = 1000
COUNTS = ("answers", "suspects", "seconds")


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    checks = "linkwise.learn.run", "linkwise.constraints.fallible", "linkwise.learn.gathering"
    return cell[1], *checks, "TruthOracle" if cell[2] == PAIRS else "TruthSorter"


def draw_rows(n_rows: int, most: int = MOST_ROWS) -> np.ndarray:
    """Draw the rows of a set that are measured, the same ones in every run."""
    chosen = np.random.default_rng(0).permutation(n_rows)[:most]
    return np.sort(chosen)


def measure(cell: Cell, where: data.Source, at: Sequence[int], at_pairs: Sequence[int]) -> Row:
    """ARI after some numbers of answers, the suspects, and the processor time of an answer."""
    name, family, size, misplaced, run = cell
    task, share = data.load(name, where), float(misplaced)
    rows = draw_rows(len(task.y))
    X, y = task.X[rows], np.unique(task.y[rows], return_inverse=True)[1]
    model = FAMILIES[family](int(y.max()) + 1, int(run))
    rate = None if share else 0
    start = process_time()
    if size == PAIRS:
        oracle = TruthOracle(y, noise=share, random_state=int(run))
        model.fit(X, oracle=oracle, budget=max(at_pairs), error_rate=rate)
    else:
        sorter = TruthSorter(y, misplaced=share, random_state=int(run))
        model.fit(X, oracle=sorter, budget_screens=max(at), screen_size=int(size), error_rate=rate)
    seconds, history = process_time() - start, model.history_
    numbers = at_pairs if size == PAIRS else at
    ari = {n: adjusted_rand_score(y, history[min(n, len(history)) - 1]) for n in numbers}
    return {
        **{str(n): f"{ari[n]:.4f}" if n in ari else "" for n in sorted({*at, *at_pairs})},
        "answers": str(len(history)),
        "suspects": str(len(model.suspects_)),
        "seconds": f"{seconds / max(1, len(history)):.4f}",
    }


def find_equal(ari: float, numbers: Sequence[int], curve: Sequence[float]) -> str:
    """The number of answers after which a curve reaches an ARI; beyond its ends only a bound."""
    rising = np.maximum.accumulate(curve)
    if ari <= rising[0]:
        return f"< {numbers[0]}"
    if ari > rising[-1]:
        return f"> {numbers[-1]}"
    return f"{np.interp(ari, rising, numbers):.0f}"


def build_table(
    rows: Sequence[Row], at: Sequence[int], at_pairs: Sequence[int]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A line for each learner, share of misplaced cards and size: means over sets and runs."""

    def mean(chosen: Sequence[Row], column: str) -> float:
        return float(np.mean([float(row[column]) for row in chosen]))

    lines = []
    for learner, misplaced in dict.fromkeys((row["learner"], row["misplaced"]) for row in rows):
        alike = [row for row in rows if (row["learner"], row["misplaced"]) == (learner, misplaced)]
        pairs = [row for row in alike if row["size"] == PAIRS]
        curve = [mean(pairs, str(n)) for n in at_pairs] if pairs else []
        for size in dict.fromkeys(row["size"] for row in alike):
            chosen = [row for row in alike if row["size"] == size]
            found = [mean(chosen, str(n)) for n in at]
            can_compare = size != PAIRS and len(chosen) == len(pairs)
            equal = [find_equal(ari, at_pairs, curve) if can_compare else "" for ari in found]
            counts = [f"{mean(chosen, 'answers'):.0f}", f"{mean(chosen, 'suspects'):.1f}"]
            means = [f"{ari:.3f}" for ari in found]
            seconds = f"{mean(chosen, 'seconds'):.3f}"
            lines.append((learner, misplaced, size, str(len(chosen)), *means, *equal, *counts, seconds))
    head = ("learner", "misplaced", "size", "runs", *map(str, at), *(f"equal {n}" for n in at), *COUNTS)
    return head, lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cells that are not current, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", help="data sets")
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=LEARNERS)
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), choices=SIZES, help="rows of a screen")
    parser.add_argument("--misplaced", nargs="+", default=list(MISPLACED), help="shares of wrong cards")
    parser.add_argument("--runs", type=int, default=3)
    add_common_options(parser)
    options = parser.parse_args(arguments)
    where, folder = find_source(options), out_folder(options, "sets")
    there = data.names(where)
    tasks = options.tasks or [task for task in TASKS if task in there]
    cells = [
        (task, learner, size, misplaced, str(run))
        for run in range(options.runs)
        for task in tasks
        for learner in options.learners
        for misplaced in options.misplaced
        for size in options.sizes
    ]
    work = partial(measure, where=where, at=AT, at_pairs=AT_PAIRS)
    rows = run_cells(
        folder / "runs.csv", FIELDS, cells, work, uses=entries, jobs=options.jobs, reuse=options.reuse
    )
    head, lines = build_table(rows, AT, AT_PAIRS)
    write_csv(folder / "table.csv", head, lines)
    print(format_table(head, lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
