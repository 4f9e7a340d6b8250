"""Figure 5 and the claims of Struyf and Džeroski (2007): Rand index of ClusILC and of COP-k-means.

    python -m bench run clusilc --data DIR [--sets N] [--quick] [--jobs N] [--only "METHOD;METHOD"]
        [--tasks TASK,TASK]

The protocol of the paper: constraints between random pairs of rows, by their classes, with their closure.
The score is the Rand index (not adjusted) on all rows, and on the tenth fold with constraints in the other
nine. There are 60 sets of constraints. ClusILC runs as printed (raw columns) and with our defaults.
COP-k-means is linkwise's, which finds a solution in cases where the paper's does not; the table counts the
sets on which the paper's fails.

The trials run all data sets for one set of constraints before the next. So ``--sets N`` prints an interrupted
run after N sets. Twelve data sets and three methods take about two minutes for each set of constraints on one
core. ``--quick`` runs two sets of constraints and tables of fewer than 300 rows.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

from bench.harness import add_common_options, find_source, out_folder, run_cells
from bench.papers.clusilc_data import SETS, counts, names
from bench.papers.clusilc_report import write_report
from bench.papers.clusilc_runs import METHODS, entries, measure
from linkwise.experiments.cell_store import Row

FIELDS = ("task", "method", "constraints", "set")
QUICK_ROWS, QUICK_SETS = 300, 2


def run_trials(options: argparse.Namespace) -> str:
    """Run what is missing, write and tell."""
    folder = find_source(options).folder
    tasks = select_tasks(names(folder), options)
    if folder is None or not tasks:
        raise SystemExit(f"None of {', '.join(SETS)} is there. Give the folder of data sets with --data.")
    methods = list(METHODS) if options.only is None else options.only.split(";")
    if unknown := [method for method in methods if method not in METHODS]:
        raise SystemExit(f"There is no method {unknown[0]!r}. Choose from {'; '.join(METHODS)}.")
    n_sets = min(options.sets, QUICK_SETS) if options.quick else options.sets
    cells = [
        (task, method, str(count), str(number))
        for number in range(n_sets)
        for task in tasks
        for method in methods
        for count in counts(task)
    ]
    out = out_folder(options, "clusilc_quick" if options.quick else "clusilc")
    work = partial(measure, folder=folder)
    found: dict[tuple[str, str, int], list[Row]] = {}
    for row in run_cells(
        out / "trials.csv", FIELDS, cells, work, uses=entries, jobs=options.jobs, reuse=options.reuse
    ):
        found.setdefault((row["task"], row["method"], int(row["constraints"])), []).append(row)
    return write_report(found, out)


def select_tasks(here: list[str], options: argparse.Namespace) -> list[str]:
    """The sets that are here and wanted."""
    wanted = here if options.tasks is None else options.tasks.split(",")
    limit = QUICK_ROWS if options.quick else sys.maxsize
    return [name for name in here if name in wanted and int(SETS[name]["rows"]) < limit]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run clusilc", description="ClusILC, Figure 5")
    add_common_options(parser)
    parser.add_argument("--sets", type=int, default=60, metavar="N", help="sets of constraints")
    parser.add_argument("--quick", action="store_true", help="few sets of constraints, small tables")
    parser.add_argument("--only", metavar="A;B", help=f"methods, of {'; '.join(METHODS)}")
    parser.add_argument("--tasks", metavar="A,B", help=f"data sets, of {', '.join(SETS)}")
    print(run_trials(parser.parse_args(arguments)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
