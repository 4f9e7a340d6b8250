"""Times of BSTC and ITML on the texts of Okabe and Yamada (2018), beside BCKM.

    python -m bench run bckm_text_times --data DIR [--tasks TASK,TASK] [--jobs N]

The paper says that both take much longer than BCKM there, and prints no such time. ITML would take hours. So
its time here is that of a single sweep over 1 % of the pairs, a small part of every run of it. All others are
means of three starts with one set of constraints.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path
from time import process_time

import linkwise as lw
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.bckm import METHODS, PERCENT, entries
from bench.papers.bckm import measure as measure_starts
from bench.papers.bckm_data import TEXTS, load, names
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from bench.suites.constraint_sets import draw_constraints

ITML, STARTS = "ITML, one sweep", 3
TIMED = (*(method for method in METHODS if method.startswith("BCKM")), "BSTC, letter", "BSTC", ITML)
FIELDS = ("task", "features", "method", "percent", "set")
COLUMNS = ("task", "method", "percent", "seconds")


def list_cells(tasks: list[str]) -> list[Cell]:
    """All cells; ITML only with the fewest constraints."""
    return [
        (task, "raw", method, percent, "0")
        for task in tasks
        for method in TIMED
        for percent in (PERCENT[:1] if method == ITML else PERCENT)
    ]


def measure(cell: Cell, folder: Path) -> Row:
    """Processor seconds of one fit."""
    task, _, method, percent, number = cell
    if method != ITML:
        return {"seconds": measure_starts(cell, STARTS, folder)["seconds"]}
    rows = load(task, "raw", folder)
    constraints = draw_constraints(rows.y, percent=int(percent), random_state=int(number))
    start = process_time()
    with warnings.catch_warnings(action="ignore"):  # it has not converged
        lw.ITML.authors(max_projections=1, random_state=0).fit(rows.X.toarray(), constraints=constraints)
    return {"seconds": f"{process_time() - start:.4g}"}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run bckm_text_times", description="Times on texts")
    add_common_options(parser)
    parser.add_argument("--tasks", metavar="A,B", help=f"sets, of {', '.join(TEXTS)}")
    options = parser.parse_args(arguments)
    folder = find_source(options).folder
    wanted = TEXTS if options.tasks is None else options.tasks.split(",")
    tasks = [name for name in names(folder) if name in TEXTS and name in wanted]
    if folder is None or not tasks:
        raise SystemExit(f"None of {', '.join(TEXTS)} is there. Pass the folder of data sets with --data.")
    out = out_folder(options, "bckm")
    work = partial(measure, folder=folder)
    found = run_cells(
        out / "text_times_trials.csv", FIELDS, list_cells(tasks), work, uses=entries,
        jobs=options.jobs, reuse=options.reuse,
    )  # fmt: skip
    lines = [tuple(row[column] for column in COLUMNS) for row in found]
    write_csv(out / "text_times.csv", COLUMNS, lines)
    print(format_table(COLUMNS, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
