"""Figure 5 and the claims of Struyf and Džeroski (2007): Rand index of ClusILC and of COP-k-means.

    python -m bench run clusilc --data DIR [--sets N] [--quick] [--jobs N] [--only "METHOD;METHOD"]
        [--tasks TASK,TASK] [--finished] [--redraws N]

The protocol of the paper: constraints between random pairs of rows, by their classes, with their closure.
The score is the Rand index (not adjusted) on all rows, and on the tenth fold with constraints in the other
nine. There are 60 sets of constraints. Both methods run as printed (``letter``), as in the authors' program
(``authors``) and with our defaults.

The trials run all data sets for one set of constraints before the next, so an interrupted run has whole sets.
``--finished`` runs nothing and reports these. On one core twelve data sets take about seven minutes for each
set of constraints, four of them for the printed ClusILC on pendig, where its trees have thousands of leaves.
``--quick`` runs two sets of constraints and tables of fewer than 300 rows. ``--redraws 100000`` draws other
constraints for COP-k-means as often as the paper does: only trials that are still without an answer after 100
redraws run again, since the first draws are the same.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from bench.harness import add_common_options, find_source, out_folder, run_cells
from bench.papers.clusilc_data import SETS, counts, names
from bench.papers.clusilc_report import write_report
from bench.papers.clusilc_runs import METHODS, REDRAWS, entries, measure
from bench.suites.cell_store import Cell, Row, read_rows

FIELDS = ("task", "method", "constraints", "set")
QUICK_ROWS, QUICK_SETS = 300, 2


def run_trials(options: argparse.Namespace) -> str:
    """Run what is missing, write and tell."""
    folder = find_source(options).folder
    tasks = select_tasks(names(folder), options)
    if folder is None or not tasks:
        raise SystemExit(f"None of {', '.join(SETS)} is there. Pass the folder of data sets with --data.")
    methods = list(METHODS) if options.only is None else options.only.split(";")
    if unknown := [method for method in methods if method not in METHODS]:
        raise SystemExit(f"There is no method {unknown[0]!r}. Choose from {'; '.join(METHODS)}.")
    out = out_folder(options, "clusilc_quick" if options.quick else "clusilc")
    cells = list_cells(tasks, methods, options)
    if options.finished:
        rows = read_whole_sets(out / "trials.csv", cells)
    else:
        work = partial(measure, folder=folder)
        rows = run_cells(
            out / "trials.csv", FIELDS, cells, work, uses=entries, jobs=options.jobs, reuse=options.reuse
        )
    if options.redraws > REDRAWS:
        rows = redraw_failed(rows, out / "redrawn.csv", folder, options)
    found: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row["task"], row["method"], int(row["constraints"])), []).append(row)
    if not found:
        raise SystemExit(f"{out / 'trials.csv'} has no finished set of constraints. Run without --finished.")
    return write_report(found, out)


def list_cells(tasks: list[str], methods: list[str], options: argparse.Namespace) -> list[Cell]:
    """List all trials, set after set."""
    n_sets = min(options.sets, QUICK_SETS) if options.quick else options.sets
    return [
        (task, method, str(count), str(number))
        for number in range(n_sets)
        for task in tasks
        for method in methods
        for count in counts(task)
    ]


def read_whole_sets(path: Path, cells: list[Cell]) -> list[Row]:
    """Read the finished trials of each method on each data set, as far as all numbers of constraints are."""
    rows = {tuple(row[field] for field in FIELDS): row for row in read_rows(path)}
    missing: dict[tuple[str, str], int] = {}
    for task, method, count, number in cells:
        if (task, method, count, number) not in rows:
            missing[task, method] = min(missing.get((task, method), sys.maxsize), int(number))
    return [rows[cell] for cell in cells if int(cell[3]) < missing.get((cell[0], cell[1]), sys.maxsize)]


def redraw_failed(rows: list[Row], path: Path, folder: Path, options: argparse.Namespace) -> list[Row]:
    """Run the trials with fits that failed again, with more redraws, and return all trials."""
    fields, limit = (*FIELDS, "most_redraws"), str(options.redraws)
    failed = [(*(row[field] for field in FIELDS), limit) for row in rows if int(row["failed"])]
    if options.finished:
        again = [row for row in read_rows(path) if row["most_redraws"] == limit]
    else:
        work = partial(measure, folder=folder)
        again = run_cells(path, fields, failed, work, uses=entries, jobs=options.jobs, reuse=options.reuse)
    longer = {tuple(row[field] for field in FIELDS): row for row in again}
    return [longer.get(tuple(row[field] for field in FIELDS), row) for row in rows]


def select_tasks(here: list[str], options: argparse.Namespace) -> list[str]:
    """Keep the data sets that are here and wanted."""
    wanted = here if options.tasks is None else options.tasks.split(",")
    limit = QUICK_ROWS if options.quick else sys.maxsize
    return [name for name in here if name in wanted and int(SETS[name]["rows"]) < limit]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run clusilc", description="ClusILC, Figure 5")
    add_common_options(parser)
    parser.add_argument("--sets", type=int, default=60, metavar="N", help="sets of constraints")
    parser.add_argument("--finished", action="store_true", help="run nothing, report what is finished")
    parser.add_argument(
        "--redraws", type=int, default=REDRAWS, metavar="N", help="most redraws of constraints for a fit"
    )
    parser.add_argument("--quick", action="store_true", help="few sets of constraints, small tables")
    parser.add_argument("--only", metavar="A;B", help=f"methods, of {'; '.join(METHODS)}")
    parser.add_argument("--tasks", metavar="A,B", help=f"data sets, of {', '.join(SETS)}")
    print(run_trials(parser.parse_args(arguments)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
