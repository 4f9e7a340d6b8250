"""Measure record linkage on public tables with known matches: quality by number of answers, right and wrong.

    python -m bench run records --checkouts DIR
    python -m bench run records --checkouts DIR --sets alaska --wrong 0 --runs 1

FP is the harmonic mean of purity and inverse purity, F1 that of precision and recall over pairs of rows.
Right answers come with the error rate 0, wrong ones with a rate that linkwise has to estimate. The first
table shows how many pairs a row has as candidates, and how many true matches are among them. A development
set is measured with a prior that was learned without it. The tables have all that is finished, by whichever
command.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array

import linkwise
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.records_sets import (
    ORIGIN,
    SETS,
    find_table,
    leave_out,
    read_classes,
    read_frame,
    read_records,
)
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row, read_cells
from linkwise import RecordLinkage, TruthOracle
from linkwise.constraints.fallible import make_evidence
from linkwise.learn.records.candidates import find_candidates
from linkwise.learn.records.linkage_state import RecordState
from linkwise.learn.records.match_prior import chance_of_cosine
from linkwise.learn.run import Run
from linkwise.validation import resolve_seed

AT = (0, 25, 50, 100, 200, 400)
WRONG = ("0", "0.05", "0.1", "0.2")
FIELDS = ("set", "wrong", "run")
SCORES = ("FP", "F1", "ARI")
SHARES = ("precision", "recall")  # estimated by the learner, and true
ROUNDED = 0.0005  # what is told to three digits may lie so far outside


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    if cell[0] == "candidates":
        return ("linkwise.learn.records.candidates", "linkwise.learn.records.match_prior")
    return ("RecordLinkage", "TruthOracle", "linkwise.learn.run", "linkwise.constraints.fallible")


def score(classes: NDArray[np.int64], labels: NDArray[np.int32]) -> dict[str, float]:
    """FP, F1 and ARI of a clustering."""
    n = len(classes)
    found = np.unique(labels, return_inverse=True)[1]
    table = coo_array((np.ones(n), (found, classes))).tocsr()
    purity, inverse = (table.max(axis=axis).toarray().sum() / n for axis in (1, 0))
    common = float((table.data @ table.data - n) / 2)
    inside, true = (float((np.bincount(one).astype(float) ** 2).sum() - n) / 2 for one in (found, classes))
    chance = inside * true / (n * (n - 1) / 2)
    return {
        "FP": 2 * purity * inverse / (purity + inverse),
        "F1": 2 * common / max(inside + true, 1),
        "ARI": (common - chance) / max((inside + true) / 2 - chance, 1e-9),
    }


def find_shares(classes: NDArray[np.int64], labels: NDArray[np.int32]) -> tuple[float, float]:
    """Precision and recall over pairs of rows."""

    def count_pairs(ids: NDArray[np.int64]) -> int:
        sizes = np.unique(ids, return_counts=True)[1]
        return int((sizes * (sizes - 1) // 2).sum())

    common = count_pairs(classes * (int(labels.max()) + 1) + labels)
    return common / max(count_pairs(labels.astype(np.int64)), 1), common / max(count_pairs(classes), 1)


def describe_estimate(learner: RecordLinkage, state: RecordState, classes: NDArray[np.int64], n: int) -> Row:
    """What the learner says of its groups after so many answers: precision, recall, and whether to stop."""
    true = find_shares(classes, state.group().labels)
    row: Row = {}
    for name, share, value in zip(SHARES, state.quality(), true, strict=True):
        row |= {f"{name} {n}": " ".join(f"{one:.4f}" for one in (value, *share))}
    advice = learner.advise(state)
    return row | {f"stop {n}": str(int(advice is not None and advice.stop))}


def measure_candidates(cell: Cell, checkouts: Path) -> Row:
    """Candidates of a set: pairs a row, and the share of the true matches."""
    name = cell[1]
    leave_out(name)
    records, classes = read_records(name, checkouts), read_classes(name, checkouts)
    pairs = find_candidates(records, chance_of_cosine, seed=0)
    size = np.bincount(classes)
    n_true = int((size * (size - 1) // 2).sum())
    is_match = classes[pairs.first] == classes[pairs.second]
    return {
        "rows": str(len(classes)),
        "groups": str(len(size)),
        "largest": str(size.max()),
        "pairs a row": f"{len(pairs) / len(classes):.1f}",
        "recall": f"{is_match.sum() / n_true:.4f}",
    }


def measure(cell: Cell, checkouts: Path) -> Row:
    """Scores of one run after each number of answers."""
    name, wrong, run = cell
    classes, rate = read_classes(name, checkouts), float(wrong)
    oracle = TruthOracle(classes, noise=rate, random_state=int(run))
    learner = RecordLinkage(origin=SETS[name].origin, random_state=int(run))
    leave_out(name)
    frame = read_frame(name, checkouts)
    texts = frame.select(pl.col(pl.String).exclude("id", ORIGIN)).columns
    table = linkwise.read(frame, id="id", as_is=True, text=texts).table
    evidence = make_evidence(len(classes), None, None if rate else 0)
    prepared, seed = learner.prepare_table(table, int(run)), resolve_seed(int(run))
    running = Run(learner, np.arange(float(len(classes)))[:, None], evidence, seed, prepared=prepared)
    row: Row = {}
    for n in range(max(AT) + 1):
        if n in AT:
            found = score(classes, running.labels)
            row |= {f"{kind} {n}": f"{value:.4f}" for kind, value in found.items()}
            row |= describe_estimate(learner, running.state, classes, n)
        if n < max(AT) and (question := running.question) is not None:
            running.answer(oracle(question.first, question.second))
    n_asked = evidence.n_questions
    return row | {"asked": str(n_asked)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cells that are not current, and write both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--checkouts", type=Path, metavar="DIR", help="folder of the files [checkouts in --data]"
    )
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--wrong", nargs="+", default=list(WRONG), help="shares of wrong answers")
    parser.add_argument("--runs", type=int, default=3)
    add_common_options(parser)
    given = parser.parse_args(arguments)
    checkouts = given.checkouts or (find_source(given).folder or Path()) / "checkouts"
    missing = [name for name in given.sets if not find_table(name, checkouts).exists()]
    if missing:
        raise SystemExit(f"{checkouts} lacks the files of {', '.join(missing)}. Fetch them first.")
    folder = out_folder(given, "records")
    options = {"uses": entries, "jobs": given.jobs, "reuse": given.reuse}
    searches, runs = folder / "candidates_runs.csv", folder / "runs.csv"
    cells = [("candidates", name) for name in given.sets]
    run_cells(searches, ("what", "set"), cells, partial(measure_candidates, checkouts=checkouts), **options)
    cells = [
        (name, wrong, str(run)) for name in given.sets for wrong in given.wrong for run in range(given.runs)
    ]
    run_cells(runs, FIELDS, cells, partial(measure, checkouts=checkouts), **options)
    finished = {"uses": entries, "reuse": given.reuse}
    every = [(name, wrong, str(run)) for name in SETS for wrong in WRONG for run in range(given.runs)]
    searched = read_cells(searches, ("what", "set"), [("candidates", name) for name in SETS], **finished)
    rows = read_cells(runs, FIELDS, every, **finished)
    parts = "rows", "groups", "largest", "pairs a row", "recall"
    lines = [(row["set"], SETS[row["set"]].role, *(row[name] for name in parts)) for row in searched]
    for file, head, table in (
        ("candidates.csv", ("set", "role", *parts), lines),
        ("table.csv", ("set", "role", "wrong", "runs", "score", *map(str, AT)), [*average(rows)]),
        (
            "estimates.csv",
            ("set", "role", "wrong", "share", "answers", "true", "told", "difference", "inside", "stop"),
            [*compare_estimates(rows)],
        ),
    ):
        write_csv(folder / file, head, table)
        print(format_table(head, table))
    return 0


def group_runs(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """The runs of each set with each share of wrong answers."""
    runs: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        runs.setdefault((row["set"], row["wrong"]), []).append(row)
    return runs


def average(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Means over the runs, by set, share of wrong answers and score."""
    for (name, wrong), some in group_runs(rows).items():
        for kind in SCORES:
            means = [np.mean([float(row[f"{kind} {n}"]) for row in some]) for n in AT]
            given = name, SETS[name].role, wrong, str(len(some)), kind
            yield (*given, *(f"{mean:.3f}" for mean in means))


def compare_estimates(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Means over the runs of true and told precision and recall, and in how many runs the interval is right.

    The last column tells in how many runs the advice was to stop.
    """
    for (name, wrong), some in group_runs(rows).items():
        for share in SHARES:
            for n in AT[1:]:
                runs = np.array([list(map(float, row[f"{share} {n}"].split())) for row in some])
                true, told, low, high = runs.T
                is_inside = (low - ROUNDED <= true) & (true <= high + ROUNDED)
                stop = sum(int(row[f"stop {n}"]) for row in some)
                yield (
                    *(name, SETS[name].role, wrong, share, str(n)),
                    *(f"{one:.3f}" for one in (true.mean(), told.mean(), np.abs(true - told).mean())),
                    *(f"{count}/{len(some)}" for count in (int(is_inside.sum()), stop)),
                )


if __name__ == "__main__":
    raise SystemExit(main())
