"""PCP in Okabe and Yamada (2018): whether our solution of its program is the optimum that the paper means.

    python -m bench run bckm_pcp --data DIR [--sets N] [--tasks TASK,TASK] [--jobs N]

PCP minimizes <L, K> over kernels in which must-linked rows are equal and cannot-linked rows at right angles.
For the letter (`bench.papers.bckm`) this measures the gap between <L, K> and its lower bound, as a share of
<L, K>, the share of constraints that the kernel misses by more than 0.1, the share of rows that must-links
join to another row, and the NMI of k-means on the kernel. A kernel that meets the constraints cannot have
the NMI that the paper prints where they name nearly all rows.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.bckm import PERCENT, find_target, make_rival, prepare_rows, undo_fallback
from bench.papers.bckm_data import CLUSTERS, TEXTS, load, names
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from bench.suites.constraint_sets import draw_constraints

METHOD = "PCP, letter"
FIELDS = ("task", "percent", "set")
NUMBERS = ("gap", "missed", "linked", "nmi")
COLUMNS = ("task", "percent", "sets", "printed", *NUMBERS)


def measure(cell: Cell, folder: Path) -> Row:
    """One set of constraints."""
    task, percent, number = cell
    rows, k = load(task, "raw", folder), CLUSTERS[task]
    constraints = draw_constraints(rows.y, percent=int(percent), random_state=int(number))
    X, is_kernel = prepare_rows(METHOD, rows)
    model = make_rival(METHOD, k, 0)
    if is_kernel:
        model.set_params(kernel="precomputed")
    with warnings.catch_warnings(action="ignore"):
        labels = model.fit(X, constraints=constraints).labels_
    if model.fell_back_:
        labels = undo_fallback(model, k, 0)
    V, missed = model.embedding_, []
    for pairs, wanted in ((constraints.must_link, 1), (constraints.cannot_link, 0)):
        missed.append(np.abs((V[pairs[:, 0]] * V[pairs[:, 1]]).sum(axis=1) - wanted) > 0.1)
    gap = (model.objective_ - model.bound_) / max(model.objective_, 1e-12)
    numbers = (
        gap,
        np.concatenate(missed).mean(),
        len(np.unique(constraints.must_link)) / len(rows.y),
        normalized_mutual_info_score(rows.y, labels, average_method="geometric"),
    )
    return dict(zip(NUMBERS, (f"{value:.4f}" for value in numbers), strict=True))


def build_lines(found: list[Row]) -> list[tuple[str, ...]]:
    """Means over sets of constraints, beside the printed NMI."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in found:
        groups.setdefault((row["task"], row["percent"]), []).append(row)
    lines: list[tuple[str, ...]] = []
    for (task, percent), rows in groups.items():
        printed = find_target(task, "PCP", percent)
        means = (f"{np.mean([float(row[name]) for row in rows]):.3f}" for name in NUMBERS)
        lines.append((task, percent, str(len(rows)), printed["nmi"] if printed else "", *means))
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run bckm_pcp", description="Solutions of PCP")
    add_common_options(parser)
    parser.add_argument("--sets", type=int, default=3, metavar="N", help="sets of constraints")
    parser.add_argument("--tasks", metavar="A,B", help=f"sets, of {', '.join(CLUSTERS)}")
    options = parser.parse_args(arguments)
    folder = find_source(options).folder
    tasks = [name for name in names(folder) if options.tasks is None or name in options.tasks.split(",")]
    if folder is None or not tasks:
        raise SystemExit(f"None of {', '.join(CLUSTERS)} is there. Pass the folder of data sets with --data.")
    cells = [
        (task, percent, str(number))
        for number in range(options.sets)
        for task in sorted(tasks, key=lambda task: task in TEXTS)
        for percent in PERCENT
    ]
    out = out_folder(options, "bckm")
    work = partial(measure, folder=folder)
    found = run_cells(
        out / "pcp_trials.csv", FIELDS, cells, work, uses=("PCP", "Constraints"),
        jobs=options.jobs, reuse=options.reuse,
    )  # fmt: skip
    lines = build_lines(found)
    write_csv(out / "pcp.csv", COLUMNS, lines)
    print(format_table(COLUMNS, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
