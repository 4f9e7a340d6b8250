"""Shared parts of all benchmarks: options of the command line, cells, targets and printed tables."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.results import RESULTS
from bench.suites import cell_store, results
from bench.suites.cell_store import Row, read_rows
from bench.suites.tasks import Source


# ---------------------------------------------------------------- the command line
def add_common_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of data sets (or LINKWISE_DATA)")
    parser.add_argument("--openml", action="store_true", help="without a folder: download sets from OpenML")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of results [default: bench/results]")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument(
        "--reuse", action="store_true", help="use finished cells even if linkwise has changed since"
    )


def find_source(options: argparse.Namespace) -> Source:
    """Where the options and the environment say that data come from."""
    folder = options.data or (Path(os.environ["LINKWISE_DATA"]) if os.environ.get("LINKWISE_DATA") else None)
    if folder is not None and not folder.is_dir():
        raise SystemExit(f"{folder} is no folder. Pass the folder of data sets with --data.")
    return Source(folder, options.openml)


def out_folder(options: argparse.Namespace, name: str, source: Source | None = None) -> Path:
    """Return the folder of the results of an experiment; make it if it is not there.

    With a source that is not the folder of data sets, the usual results are refused: their cells do not name
    the source, and copies of one data set differ.
    """
    if source is not None and source.folder is None and options.out is None:
        raise SystemExit(
            f"The results in {RESULTS / name} are about the folder of data sets, and no folder was given."
            " Pass it with --data, or keep these results apart with --out."
        )
    folder = (options.out or RESULTS) / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# ---------------------------------------------------------------- cells
def run_cells(path: Path, *args: Any, **options: Any) -> list[Row]:
    """Run cells as `cell_store.run_cells`, and print how many there are and how many are done."""

    def show(done: int, total: int) -> None:
        if done == 0:
            print(f"{path}: {total} cells to run", flush=True)
        elif sys.stderr.isatty():
            print(f"\r{done}/{total}", end="\n" if done == total else "", file=sys.stderr)

    return cell_store.run_cells(path, *args, progress=show, **options)


# ---------------------------------------------------------------- CSV
def read_target(name: str) -> list[Row]:
    """A CSV file of published or measured figures to compare with."""
    return read_rows(Path(__file__).resolve().parent / "targets" / name)


# ---------------------------------------------------------------- printed tables
def format_table(fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Lay a table of any values out in columns."""
    return results.format_table(fields, ([str(value) for value in row] for row in rows))
