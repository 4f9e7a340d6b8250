"""Run a suite of experiments from the command line, in the root of the repository.

python -m bench.suites list
python -m bench.suites list bckm2018
python -m bench.suites run small --methods KIN COBRAS peers.py:learner
python -m bench.suites run questions --data DIR --jobs 2 --out results
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bench.suites.cell_store import Cell, Row, read_cells, run_cells
from bench.suites.participants import find_participant, split_label
from bench.suites.protocols import Suite, describe_protocol, list_suites, read_suite, shorten_protocol
from bench.suites.results import format_table, gather_results, tabulate_summary, write_results
from bench.suites.tasks import Source, available_tasks, compute_data_key
from bench.suites.trials import measure_cell
from linkwise.errors import ConstraintError, DataError

FIELDS = ("suite", "protocol", "source", "task", "method", "version", "run", "fold")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = build_parser().parse_args(arguments)
    try:
        status = list_suite(options.suite) if options.command == "list" else run_suite(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever reads the output has seen enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ConstraintError, DataError) as error:
        tell_error(error)
        return 2
    except KeyboardInterrupt:
        print(
            "bench.suites: You stopped it. Finished runs are kept, and the same command resumes.",
            file=sys.stderr,
        )
        return 130


def build_parser() -> argparse.ArgumentParser:
    """Declare the options."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.suites", description="Compare methods on suites of tasks."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="list the declared suites, or the tasks of one")
    listing.add_argument("suite", nargs="?", help="name of a suite, or a TOML file")
    run = commands.add_parser("run", help="run a suite")
    run.add_argument("suite", help="name of a suite, or a TOML file")
    run.add_argument(
        "--methods",
        nargs="+",
        metavar="[LABEL=]NAME",
        help="methods, or adapters as FILE.py:FUNCTION, with the label that tables and figures show",
    )
    run.add_argument("--tasks", nargs="+", metavar="NAME", help="some tasks of the suite")
    run.add_argument("--data", type=Path, metavar="DIR", help="folder of data sets (or LINKWISE_DATA)")
    run.add_argument("--openml", action="store_true", help="without a folder: get sets from OpenML")
    run.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="folder for results")
    run.add_argument(
        "--runs", type=positive_number, metavar="N", help="other number of runs than the suite's"
    )
    run.add_argument(
        "--quick", action="store_true", help="one run of the two smallest tasks, in a few seconds"
    )
    run.add_argument("--jobs", type=positive_number, default=1, metavar="N", help="processes")
    run.add_argument("--reuse", action="store_true", help="take finished cells of other versions of linkwise")
    run.add_argument(
        "--finished", action="store_true", help="run nothing: tables of the tasks that are finished"
    )
    return parser


def positive_number(text: str) -> int:
    """Read the value of an option; argparse names what is wrong."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def list_suite(name: str | None) -> int:
    """Print the declared suites, or the tasks of one suite."""
    print(list_tasks(name) if name else "\n".join(map(describe_suite, list_suites())))
    return 0


def tell_error(error: Exception) -> None:
    """Print what is wrong; for a fault of a program, also where."""
    if isinstance(error, ConstraintError | DataError):
        text = "\n".join([f"bench.suites: {error}", *getattr(error, "__notes__", ())])
    elif elsewhere := getattr(error.__cause__, "tb", ""):  # from another process; it ends with the error
        text = elsewhere.strip('"\n')
    else:
        text = "".join(traceback.format_exception(error)).rstrip()
    print(text, file=sys.stderr)


def tell_failure(_cell: Cell, error: Exception) -> None:
    """Print what is wrong with a cell, below the number of finished ones."""
    if sys.stderr.isatty():
        print(file=sys.stderr)
    tell_error(error)


def describe_suite(name: str) -> str:
    """Return what a suite is about, the number of its tasks, and its methods."""
    suite = read_suite(name)
    return f"{name}\n    {suite.about}\n    {len(suite.tasks)} tasks, {', '.join(suite.methods)}"


def list_tasks(name: str) -> str:
    """Return a table of the tasks of a suite: their files, other sources, and counts."""
    lines = [
        (
            spec.name,
            spec.file,
            spec.bundled,
            spec.openml,
            *(map(str, spec.counts) if spec.counts else [""] * 3),
        )
        for spec in read_suite(name).tasks.values()
    ]
    return format_table(("task", "file", "scikit-learn", "OpenML", "rows", "features", "classes"), lines)


def run_suite(options: argparse.Namespace) -> int:
    """Run a suite, write its results and print the summary; return the exit status."""
    suite = read_suite(options.suite)
    source = find_source(options)
    labelled = read_labels(options.methods or suite.methods)
    methods = tuple(labelled.values())
    if not methods:
        raise DataError(f"{suite.name} names no methods. Pass some with --methods.")
    participants = {name: find_participant(name) for name in methods}
    tasks = choose_tasks(suite, source, options.tasks)
    if options.quick:
        suite = replace(suite, name=f"{suite.name}_quick", protocol=shorten_protocol(suite.protocol))
        tasks = sorted(tasks, key=lambda task: (suite.tasks[task].counts or (0,))[0])[:2]
    left_out = [task for task in suite.tasks if task not in tasks]
    if left_out and options.tasks is None and not options.quick:
        print(
            f"Left out for want of data: {', '.join(left_out)}."
            f" `python -m bench.suites list {options.suite}` shows their files."
        )
    folder = options.out / suite.name
    folder.mkdir(parents=True, exist_ok=True)
    protocol = suite.protocol
    cells = [
        (
            suite.name,
            describe_protocol(protocol),
            source.name,
            task,
            method,
            participants[method].version,
            str(run),
            str(fold),
        )
        for run in range(options.runs or protocol.runs)
        for task in tasks
        for fold in range(protocol.folds or 1)
        for method in methods
    ]
    data_keys = {task: compute_data_key(suite.tasks[task], source) for task in tasks}
    store = folder / "cells.csv"
    work = partial(measure_cell, specs=suite.tasks, protocol=protocol, source=source)
    counting: dict[str, Any] = {
        "uses": uses_of, "data": lambda cell: data_keys[cell[3]], "reuse": options.reuse
    }  # fmt: skip
    if options.finished:
        rows = read_cells(store, FIELDS, cells, **counting)
    else:
        counting |= {"part": task_and_method, "on_failure": tell_failure}
        rows = run_cells(store, FIELDS, cells, work, jobs=options.jobs, progress=show_progress, **counting)
    rows = keep_finished_tasks(cells, rows)
    label = {name: label for label, name in labelled.items()}
    results = gather_results(
        suite, tuple(labelled), [{**row, "method": label[row["method"]]} for row in rows]
    )
    page = write_results(results, folder)
    print(format_table(*tabulate_summary(results)))
    print(f"\nAll tables are in {page}.")
    return 0 if options.finished or len(rows) == len(cells) else 2


def read_labels(named: Sequence[str]) -> dict[str, str]:
    """Return the methods by the labels that tables and figures show."""
    pairs = list(dict.fromkeys(map(split_label, named)))
    for what, values in zip(("label", "method"), zip(*pairs, strict=True), strict=False):
        if twice := [value for value, number in Counter(values).items() if number > 1]:
            raise DataError(
                f"The {what} {twice[0]!r} is there twice. Set a label of its own for each method."
            )
    return dict(pairs)


def keep_finished_tasks(cells: Sequence[Cell], rows: Sequence[Row]) -> list[Row]:
    """Keep the rows of tasks of which every cell is there, and name the other tasks."""
    task = FIELDS.index("task")
    wanted, there = Counter(cell[task] for cell in cells), Counter(row["task"] for row in rows)
    finished = {name for name, number in wanted.items() if there[name] == number}
    if not finished:
        raise DataError(
            "No task is finished by all methods. Let their runs end, or remove some with --methods."
        )
    if left := [f"{name} ({there[name]} of {wanted[name]} cells)" for name in wanted if name not in finished]:
        print(f"Not finished: {', '.join(left)}.")
    return [row for row in rows if row["task"] in finished]


def find_source(options: argparse.Namespace) -> Source:
    """Find the folder of data sets in the options, or else in the environment."""
    folder = options.data or (Path(os.environ["LINKWISE_DATA"]) if os.environ.get("LINKWISE_DATA") else None)
    if folder is not None and not folder.is_dir():
        raise DataError(f"There is no folder {folder}. Pass the folder of data sets with --data.")
    return Source(folder if folder is None else folder.resolve(), options.openml)


def choose_tasks(suite: Suite, source: Source, wanted: Sequence[str] | None) -> list[str]:
    """Choose the tasks that are wanted and available."""
    if wanted and (unknown := [task for task in wanted if task not in suite.tasks]):
        raise DataError(f"{suite.name} has no task {unknown[0]!r}. Tasks are {', '.join(suite.tasks)}.")
    there = available_tasks(suite.tasks, source)
    chosen = [task for task in there if wanted is None or task in wanted]
    if not chosen:
        raise DataError(f"None of the tasks of {suite.name} is here. Pass the folder with --data.")
    return chosen


def task_and_method(cell: Cell) -> tuple[str, str]:
    """Return the part of a suite that ends where a cell of it fails: its table needs every run."""
    return cell[FIELDS.index("task")], cell[FIELDS.index("method")]


def uses_of(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    return find_participant(cell[4]).uses


def show_progress(finished: int, total: int) -> None:
    """Print how many cells there are to run; on a terminal, how many are finished."""
    if finished == 0:
        print(f"{total} cells to run.", flush=True)
    elif sys.stderr.isatty():
        print(f"\r{finished}/{total}", end="\n" if finished == total else "", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
