"""COBRAS by its authors' program, cobras_ts 0.1.3, in the protocol of the paper.

    python -m bench run peers_cobras --python OLD/bin/python --data DIR [--repetitions N]

The program does not run with current versions of NumPy, so it needs an environment of its own:

    python3.11 -m venv OLD && OLD/bin/pip install numpy==1.23.5 scipy==1.10.1 scikit-learn==1.2.2
    OLD/bin/pip install --no-deps cobras-ts==0.1.3

It gets the same tasks, folds and answers as linkwise, and the rows are scored here. With scikit-learn 1.2 its
k-means has ten starts, as when it was written. COBRA is made of parts of this program, since the program of
the COBRA paper is in no package index. Results go to ``cobras/program.csv``, from which
``python -m bench run cobras_protocol`` writes tables and claims.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from bench import data
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.cobras_repetitions import keep_repetitions, missing_cells
from bench.papers.cobras_runs import CURVE, FOLDS, QUESTIONS, REPETITIONS, TIMED, find_tasks
from bench.suites.cell_store import Cell, Row
from bench.suites.folds import split_folds
from bench.suites.scores import score_curve

FIELDS = ("task", "learner", "repetition", "n_folds", "questions")
METHODS = {f"{name} (program)": name for name in ("COBRAS", "COBRA-10", "COBRA-25", "COBRA-50")}
FILE = "program.csv"
USES = ("bench.suites.folds", "bench.suites.scores")
SCRIPT = Path(__file__).with_name("cobras_theirs.py")


def program_cells(tasks: list[str], repetitions: int, n_folds: int, questions: int) -> list[Cell]:
    """A whole repetition before the next begins."""
    return [
        (task, learner, str(repetition), str(n_folds), str(questions))
        for repetition in range(repetitions)
        for task in tasks
        for learner in METHODS
    ]


def measure(cell: Cell, python: str, where: data.Source) -> Row:
    """The means over all folds of one repetition."""
    name, learner, repetition, n_folds, questions = cell
    task = data.load(name, where)
    tests = split_folds(len(task.y), int(n_folds), int(repetition))
    found = run_program(METHODS[learner], task, tests, int(questions), int(repetition) * int(n_folds), python)
    curves = [
        score_curve(task.y[test], found[f"labels_{fold}"], int(questions)) for fold, test in enumerate(tests)
    ]
    seconds = [found[f"seconds_{fold}"] for fold in range(len(tests))]
    waits = [np.diff(times, prepend=0).max() for times in seconds]
    return {
        "asked": f"{np.mean([len(times) - 1 for times in seconds]):.1f}",
        "seconds": f"{np.mean([times[-1] for times in seconds]):.4f}",
        f"seconds_{TIMED}": f"{np.mean([times[: TIMED + 1][-1] for times in seconds]):.4f}",
        "longest_wait_s": f"{np.mean(waits):.4f}",
        CURVE: " ".join(f"{ari:.4f}" for ari in np.mean(curves, axis=0)),
    }


def run_program(
    method: str, task: data.LabelledTask, tests: list[np.ndarray], questions: int, seed: int, python: str
) -> dict[str, np.ndarray]:
    """What the program finds in each fold: labels of the test rows and seconds before each question."""
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "problem.npz"), Path(folder, "found.npz")
        np.savez(
            given,
            method=np.array(method),
            X=np.asarray(task.X, dtype=np.float64),
            y=task.y,
            questions=np.array(questions),
            seed=np.array(seed),
            n_folds=np.array(len(tests)),
            **{f"test_{fold}": test for fold, test in enumerate(tests)},
        )
        subprocess.run([python, str(SCRIPT), str(given), str(found)], check=True)
        with np.load(found) as held:
            return dict(held)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run peers_cobras", description="Run the authors' program of COBRAS."
    )
    add_common_options(parser)
    parser.add_argument("--python", required=True, help="a Python with cobras_ts")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N")
    parser.add_argument("--questions", type=int, default=QUESTIONS, metavar="N")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="tasks [default: all that are there]")
    options = parser.parse_args(arguments)
    where = find_source(options)
    tasks = options.tasks or find_tasks(where)
    folder = out_folder(options, "cobras", where)
    cells = program_cells(tasks, options.repetitions, FOLDS, options.questions)
    run_cells(
        folder / FILE,
        FIELDS,
        missing_cells(folder, cells, lambda _: USES, reuse=options.reuse),
        partial(measure, python=options.python, where=where),
        uses=USES,
        jobs=options.jobs,
        reuse=options.reuse,
    )
    rows = [row for row in keep_repetitions(folder, [FILE]) if tuple(row[name] for name in FIELDS) in cells]
    lines = [
        (task, learner, *(f"{value:.3f}" for value in mean_results(rows, task, learner)))
        for task in tasks
        for learner in METHODS
    ]
    print(f"{options.repetitions} repetitions of {FOLDS} folds, the authors' program")
    print(
        format_table(("task", "learner", "mean ARI", "ARI at the end", f"seconds, {TIMED} questions"), lines)
    )
    return 0


def mean_results(rows: list[Row], task: str, learner: str) -> tuple[float, float, float]:
    """Mean ARI over all questions, after the last one, and seconds."""
    found = [row for row in rows if (row["task"], row["learner"]) == (task, learner)]
    curves = np.array([row[CURVE].split() for row in found], dtype=float)
    return (
        curves.mean(),
        curves[:, -1].mean(),
        float(np.mean([float(row[f"seconds_{TIMED}"]) for row in found])),
    )


if __name__ == "__main__":
    sys.exit(main())
