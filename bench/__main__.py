"""One command for all measurements.

    python -m bench list                                  # the experiments
    python -m bench run cobras_quality active --data DIR  # run some, each in a process of its own
    python -m bench run speed_fosc --sizes 1000           # with an option of the experiment
    python -m bench run speed_fosc --help                 # its options
    python -m bench report --data DIR                     # run what is not current, and write all pages

A finished cell runs again only if the part of linkwise that it uses has changed. An interrupted run resumes
where it stopped. The page is ``report/index.html`` in the folder of results; it needs no network and no
other file. A report also writes the tables of the documentation (``reproduction`` in that folder) anew from
the results. Suites of any methods have a command of their own, ``python -m bench.suites``.
"""

# This process imports nothing large: the memory of an experiment starts from what its parent held.
from __future__ import annotations

import argparse
import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from bench.experiments import Experiment, read_experiments, select_experiments
from bench.runner import FINISHED, State, build_command, results_folder

WIDTH = 110


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the three commands and return the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["run"]:  # all but the names and a few options goes to the experiments
        return run_experiments(given[1:])
    about, further = "Run the experiments.", "Suites of any methods: python -m bench.suites --help"
    parser = argparse.ArgumentParser(prog="python -m bench", description=about, epilog=further)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="print the experiments")
    listing.set_defaults(command=list_experiments)
    commands.add_parser("run", help="run experiments: run NAME... [--quick] [options of the experiment]")
    report = commands.add_parser("report", help="run outdated experiments, and write one page of all")
    _add_common_options(report)
    report.add_argument(
        "--page", action="store_true", help="write the page from existing results, and run nothing"
    )
    report.add_argument("--only", metavar="A,B", help="experiments to run; the page shows all")
    report.set_defaults(command=write_report)
    options = parser.parse_args(given)
    return int(options.command(options))


def _add_common_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="the short form, with results in quick/")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of data sets (or LINKWISE_DATA)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of results [default: bench/results]")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; use 1 for speed")


# ---------------------------------------------------------------- list
def list_experiments(options: argparse.Namespace) -> int:
    """Print the experiments by topic."""
    experiments = list(read_experiments().values())
    width = max(len(experiment.name) for experiment in experiments)
    for topic in dict.fromkeys(experiment.topic for experiment in experiments):
        print(f"{topic[0].upper()}{topic[1:]}")
        for experiment in experiments:
            if experiment.topic == topic:
                print(_describe(experiment, width))
        print()
    print("[quick]: has a short form, --quick. [data]: reads data sets from --data DIR or LINKWISE_DATA.")
    return 0


def _describe(experiment: Experiment, width: int) -> str:
    tags = " [quick]" * (experiment.quick is not None) + " [data]" * experiment.data
    indent = " " * (width + 4)
    text = textwrap.fill(f"{experiment.title}: {experiment.about}{tags}", WIDTH, initial_indent=indent,
                         subsequent_indent=indent)  # fmt: skip
    return f"  {experiment.name.ljust(width)}  {text.lstrip()}"


# ---------------------------------------------------------------- run
def run_experiments(arguments: Sequence[str]) -> int:
    """Run experiments one after the other and return the largest of their exit statuses."""
    names = list(takewhile(lambda argument: not argument.startswith("-"), arguments))
    usage = "%(prog)s NAME... [--quick] [--data DIR] [--out DIR] [--jobs N] [options of the experiment]"
    parser = argparse.ArgumentParser(
        prog="python -m bench run", usage=usage, add_help=not names, allow_abbrev=False
    )
    _add_common_options(parser)
    options, extra = parser.parse_known_args(arguments[len(names) :])
    if not names:
        parser.error("name an experiment; python -m bench list prints them")
    experiments = select_experiments(names)
    if {"-h", "--help"} & set(extra):
        return max(_print_help(experiment) for experiment in experiments)
    folder = results_folder(options.out, quick=options.quick)
    given = {"quick": options.quick, "data": options.data, "jobs": options.jobs, "extra": extra}
    commands = [build_command(experiment, folder, **given) for experiment in experiments]
    state = State(folder)
    return max(state.run(*pair) for pair in zip(experiments, commands, strict=True))


def _print_help(experiment: Experiment) -> int:
    command = [experiment.module, *([experiment.command] if experiment.command else []), "--help"]
    return subprocess.run([sys.executable, "-m", *command], check=False).returncode


# ---------------------------------------------------------------- report
def write_report(options: argparse.Namespace) -> int:
    """Run what is not current, and write the page after each experiment."""
    from bench.report.page import write_page

    folder = results_folder(options.out, quick=options.quick)
    state, shown = State(folder), _in_report(quick=options.quick)
    wanted = shown if options.only is None else select_experiments(options.only.split(","))
    data = options.data or (Path(os.environ["LINKWISE_DATA"]) if os.environ.get("LINKWISE_DATA") else None)
    measured = [] if options.page else [experiment for experiment in wanted if not experiment.derived]
    derived = [experiment for experiment in shown if experiment.derived and options.only is None]
    for experiment in [*measured, *derived]:
        command = build_command(experiment, folder, quick=options.quick, data=data, jobs=options.jobs)
        if experiment.derived or not state.is_current(experiment, command):
            _run_with_log(state, experiment, command, folder / "report" / f"{experiment.name}.log")
            write_page(folder, shown, state.entries, quick=options.quick)
    summary = write_page(folder, shown, state.entries, quick=options.quick)
    print(f"{folder / 'report' / 'index.html'}: {summary}")
    return 0


def _in_report(*, quick: bool) -> list[Experiment]:
    """Return what the report shows, or its part that takes minutes."""
    shown = [experiment for experiment in read_experiments().values() if experiment.shows]
    return [one for one in shown if one.quick is not None and one.in_quick_report] if quick else shown


def _run_with_log(state: State, experiment: Experiment, command: list[str], log: Path) -> None:
    print(f"{experiment.title}: {' '.join(command[1:])}", flush=True)
    status = state.run(experiment, command, log)
    seconds = state.entries[experiment.name]["seconds"]
    hint = "" if status == 0 else f", see {log}"
    ending = "ended" if status in FINISHED else "broke off"
    print(f"  {ending} after {seconds:.0f} s, status {status}{hint}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
