"""MMC, ITML and RCA, compared with metric-learn 0.7.0 on scikit-learn's sets: metrics, objectives and time.

    python -m bench run peers_metrics --python OLD/bin/python [--runs N]

metric-learn does not run with current versions of scikit-learn, so it needs an environment of its own:

    python3.11 -m venv OLD && OLD/bin/pip install metric-learn==0.7.0 scikit-learn==1.5.2 'numpy<2'

Both learn from 200 random constraints, with features in [0, 1]. ITML must agree, with the same bounds and
the same number of sweeps. RCA must agree without shrinkage, if the covariance within chunklets has an
inverse. MMC need not agree: the objective of metric-learn adds the logarithm that its gradient subtracts,
and it stops at its own criterion. So the objective of Xing et al. is compared, and ours must not be higher.
The exit status is 1 if one of these checks fails. The table names the cases in which metric-learn fails or
takes more than a minute.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import linkwise as lw
from bench import data
from bench.harness import add_common_options, format_table, out_folder, run_cells
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from bench.suites.constraint_sets import draw_constraints
from linkwise.cluster.metric.itml import ITML
from linkwise.cluster.metric.mmc import MMC
from linkwise.cluster.metric.rca import RCA, within_scatter

CONSTRAINTS, RUNS = 200, 5
AGREED = 1e-6  # of the greatest entry
NOT_ABOVE = 1e-6  # of the objective, which has no unit
LEAST_RIDGE = 1e-10
PATIENCE = 60  # seconds
FIELDS = ("task", "method", "run")
COLUMNS = ("task", "method", "difference", "objective", "theirs", "seconds", "their seconds", "held")
METHODS = ("ITML", "RCA", "MMC", "full MMC")
SCRIPT = Path(__file__).with_name("metrics_theirs.py")
NOTHING: Row = dict.fromkeys(("why", "difference", "objective", "theirs", "seconds", "their seconds"), "")
Problem = dict[str, Any]


def build_problem(task: data.LabelledTask, constraints: lw.Constraints) -> Problem:
    """What metric-learn is given: rows, pairs, chunklets (-1: in none)."""
    size = np.bincount(constraints.component)
    numbers = np.cumsum(size > 1) - 1
    joined = size[constraints.component] > 1
    return {
        "X": task.X,
        "must": constraints.must_link,
        "cannot": constraints.cannot_link,
        "chunks": np.where(joined, numbers[constraints.component], -1),
        "max_iter": 1000,
        "tol": 1e-3,
    }


# ---------------------------------------------------------------- one run
def measure(cell: Cell, python: str) -> Row:
    """Both metrics of one method on one set, compared."""
    name, method, run = cell
    task = data.load(name, data.Source())
    constraints = draw_constraints(task.y, CONSTRAINTS, random_state=int(run))
    learner = make_ours(method)
    if method == "RCA" and not has_inverse(task.X, constraints):
        return NOTHING | {"why": "no inverse"}
    with warnings.catch_warnings(action="ignore"):
        start = time.process_time()
        learner.fit(task.X, constraints=constraints)
        seconds = time.process_time() - start
    problem = {**build_problem(task, constraints), "methods": np.array([method])}
    if method == "ITML":
        problem["bounds"] = np.array(learner.bounds_)
    found = fit_theirs(problem, python)
    if found is None:
        return NOTHING | {"why": f"no answer in {PATIENCE} s"}
    if f"{method} error" in found:
        return NOTHING | {"why": str(found[f"{method} error"])}
    both = learner.get_mahalanobis_matrix(), found[method]
    times = {"seconds": f"{seconds:.4f}", "their seconds": f"{float(found[f'{method} seconds']):.4f}"}
    return {"why": ""} | compare_metrics(method, task.X, constraints, *both) | times


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    return cell[1].removeprefix("full "), "Constraints"


def make_ours(method: str) -> Any:
    return {
        "ITML": lambda: ITML(random_state=0),
        "RCA": lambda: RCA(shrinkage=0.0),
        "MMC": lambda: MMC(ridge=LEAST_RIDGE, tol=1e-8),
        "full MMC": lambda: MMC(diagonal=False, ridge=LEAST_RIDGE, tol=1e-8),
    }[method]()


def has_inverse(X: np.ndarray, constraints: lw.Constraints) -> bool:
    return int(np.linalg.matrix_rank(within_scatter(X, constraints.component)[0])) == X.shape[1]


def fit_theirs(problem: Problem, python: str) -> dict[str, np.ndarray] | None:
    """What the other Python learns; None where it takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "problem.npz"), Path(folder, "metrics.npz")
        np.savez(given, **problem)
        try:
            subprocess.run([python, str(SCRIPT), str(given), str(found)], check=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return None
        with np.load(found) as held:
            return dict(held)


def compare_metrics(
    method: str, X: np.ndarray, constraints: lw.Constraints, mine: np.ndarray, other: np.ndarray
) -> Row:
    """The greatest difference of entries where there is one answer, else the objectives of Xing et al."""
    row = dict.fromkeys(("difference", "objective", "theirs"), "")
    if method in ("ITML", "RCA"):
        return {**row, "difference": f"{np.abs(mine - other).max() / np.abs(mine).max():.1e}"}
    values = [objective(metric, X, constraints) for metric in (mine, other)]
    return {**row, "objective": f"{values[0]:.6f}", "theirs": f"{values[1]:.6f}"}


def objective(metric: np.ndarray, X: np.ndarray, constraints: lw.Constraints) -> float:
    """Objective of Xing et al. at the best multiple of a metric, where the first sum is a half."""
    near, far = (
        np.einsum("ij,jk,ik->i", apart, metric, apart)
        for apart in (X[a] - X[b] for a, b in (constraints.must_link.T, constraints.cannot_link.T))
    )
    lengths = np.sqrt(np.maximum(far, 0))
    return float(0.5 - np.log(lengths.sum() / np.sqrt(2 * near.sum())))


# ---------------------------------------------------------------- all runs
def build_line(task: str, method: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """The worst of the runs, and the mean time."""
    done = [row for row in rows if row["seconds"]]
    if not done:
        return (task, method, *[""] * 5, rows[0]["why"])

    def mean(column: str, form: str) -> str:
        values = [float(row[column]) for row in done if row[column]]
        return format(np.mean(values), form) if values else ""

    differences = [float(row["difference"]) for row in done if row["difference"]]
    worst = f"{max(differences):.1e}" if differences else ""
    held = all(is_held(row) for row in done)
    return (
        task,
        method,
        worst,
        mean("objective", ".4f"),
        mean("theirs", ".4f"),
        mean("seconds", ".4f"),
        mean("their seconds", ".4f"),
        "yes" if held else "no",
    )


def is_held(row: Row) -> bool:
    if row["difference"]:
        return float(row["difference"]) <= AGREED
    return float(row["objective"]) <= float(row["theirs"]) + NOT_ABOVE


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run peers_metrics", description="Compare with metric-learn."
    )
    add_common_options(parser)
    parser.add_argument("--python", required=True, help="a Python with metric-learn")
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    options = parser.parse_args(arguments)
    folder = out_folder(options, "metrics")
    groups = [(task, method) for task in data.BUNDLED for method in METHODS]
    cells = [(*group, str(run)) for group in groups for run in range(options.runs)]
    work: Callable[[Cell], Row] = partial(measure, python=options.python)
    found: dict[tuple[str, str], list[Row]] = {group: [] for group in groups}
    for row in run_cells(
        folder / "runs.csv", FIELDS, cells, work, uses=entries, jobs=options.jobs, reuse=options.reuse
    ):
        found[row["task"], row["method"]].append(row)
    lines = [build_line(*group, rows) for group, rows in found.items()]
    write_csv(folder / "table.csv", COLUMNS, lines)
    print(
        f"\n{CONSTRAINTS} constraints, {options.runs} runs: greatest difference, mean objective and seconds"
    )
    print(format_table(COLUMNS, lines))
    return int(any(line[-1] == "no" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
