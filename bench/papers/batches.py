"""Measure questions in batches: loss of ARI, questions that were not needed, and the time to choose.

    python -m bench run batches --data DIR
    python -m bench run batches --data DIR --groups development --learners COBRAS MinMax --sizes 1 16

Each batch is answered as a whole before the next one is chosen. The ARI covers all rows. The loss is the ARI
of the same learner that is asked one question at a time, less the ARI with batches, after the same number of
answers. A question was not needed if its answer followed from those before it in the batch. The groups of
data sets are those of `bench.papers.noise`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from time import perf_counter

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bench import data
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.noise import GROUPS
from bench.papers.noise_runs import FAMILIES, find_tasks, load
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from linkwise import Session, TruthOracle

ONE = "1"  # question at a time
SIZES = (ONE, "4", "16", "64")
LEARNERS = ("KIN", "COBRAS", "MinMax")
AT = (25, 50, 100, 200)  # answers
FIELDS = ("task", "learner", "size", "run")
MEANS = ("answers", "needless", "median_ms", "longest_ms")
RUNS = 2


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    return cell[1], *(("MPCKMeans",) if cell[1] == "MinMax" else ()), "Session", "TruthOracle"


def measure(cell: Cell, where: data.Source, at: Sequence[int]) -> Row:
    """ARI after some numbers of answers, the questions that were not needed, and the time to choose."""
    name, learner, size, run = cell
    task = load(name, where)
    oracle = TruthOracle(task.y)
    ari, waits, n_needless = [], [], 0
    with Session(task.X, FAMILIES[learner](len(set(task.y)), int(run))) as session:
        while len(ari) < max(at):
            start = perf_counter()
            questions = session.questions(min(int(size), max(at) - len(ari)))
            waits.append(perf_counter() - start)
            if not questions:
                break
            for question in questions:
                n_needless += session.evidence.verdict(question.first, question.second) is not None
                session.answer(oracle(question.first, question.second), question_id=question.id)
                n_answers = len(ari) + 1
                is_due = n_answers in at or question is questions[-1]
                ari.append(adjusted_rand_score(task.y, session.labels) if is_due else np.nan)
        last = adjusted_rand_score(task.y, session.labels)
    return {
        **{str(n): f"{ari[n - 1] if n <= len(ari) else last:.4f}" for n in at},
        "answers": str(len(ari)),
        "needless": str(n_needless),
        "median_ms": f"{1000 * np.median(waits):.1f}",
        "longest_ms": f"{1000 * np.max(waits):.1f}",
    }


def summarize(chosen: Sequence[Row], alone: Sequence[Row], budgets: Sequence[str]) -> tuple[str, ...]:
    """Means of some runs, and what they lose beside the runs without batches."""

    def means(rows: Sequence[Row], columns: Sequence[str]) -> list[float]:
        return [float(np.mean([float(row[column]) for row in rows])) for column in columns]

    ari = means(chosen, budgets)
    losses = (
        np.subtract(means(alone, budgets), ari) if len(alone) == len(chosen) else np.full(len(ari), np.nan)
    )
    return (
        str(len(chosen)),
        *(f"{value:.3f}" for value in ari),
        *("" if np.isnan(loss) else f"{loss:.3f}" for loss in losses),
        *(f"{value:.0f}" for value in means(chosen, MEANS)),
    )


def build_table(rows: Sequence[Row], at: Sequence[int]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A line for each group of sets, learner and size."""
    budgets = [str(n) for n in at]
    lines = []
    for group, tasks in GROUPS.items():
        members = [row for row in rows if row["task"] in tasks]
        for learner, size in dict.fromkeys((row["learner"], row["size"]) for row in members):
            one, chosen = (
                [row for row in members if row["learner"] == learner and row["size"] == each]
                for each in (ONE, size)
            )
            lines.append((group, learner, size, *summarize(chosen, one, budgets)))
    return ("group", "learner", "size", "runs", *budgets, *(f"loss {n}" for n in budgets), *MEANS), lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cells that are not current, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--groups", nargs="+", choices=GROUPS, default=list(GROUPS), help="groups of data sets"
    )
    parser.add_argument("--tasks", nargs="+", help="data sets, instead of whole groups")
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=LEARNERS)
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), help="questions in a batch")
    parser.add_argument("--runs", type=int, default=RUNS)
    add_common_options(parser)
    options = parser.parse_args(arguments)
    where, folder = find_source(options), out_folder(options, "batches")
    there = find_tasks(where)
    tasks = options.tasks or [task for group in options.groups for task in GROUPS[group] if task in there]
    cells = [
        (task, learner, size, str(run))
        for run in range(options.runs)
        for task in tasks
        for learner in options.learners
        for size in options.sizes
    ]
    work = partial(measure, where=where, at=AT)
    rows = run_cells(
        folder / "runs.csv", FIELDS, cells, work, uses=entries, jobs=options.jobs, reuse=options.reuse
    )
    head, lines = build_table(rows, AT)
    write_csv(folder / "table.csv", head, lines)
    print(format_table(head, lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
