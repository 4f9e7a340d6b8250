"""Shared parts of all benchmarks: cells, processes, CSV files and printed tables.

A cell is one measurement, named by a tuple of key fields. Each finished cell is a line of a CSV file. It does
not run again unless the part of linkwise that it uses has changed (`bench.fingerprint`).
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from bench.data import Source
from bench.fingerprint import fingerprint
from bench.results import RESULTS

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Cell = tuple[str, ...]
Row = dict[str, str]
Entries = Sequence[str] | Callable[[Cell], Sequence[str]]
"""Where cells enter linkwise: public names or modules, the same for all cells or those of each."""


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
        raise SystemExit(f"{folder} is no folder. Give the folder of data sets with --data.")
    return Source(folder, options.openml)


def out_folder(options: argparse.Namespace, name: str) -> Path:
    folder = (options.out or RESULTS) / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# ---------------------------------------------------------------- cells
def run_cells(
    path: Path,
    fields: Sequence[str],
    cells: Iterable[Cell],
    work: Callable[[Cell], Row],
    *,
    uses: Entries,
    jobs: int = 1,
    reuse: bool = False,
) -> list[Row]:
    """Run the cells that `path` does not hold yet, and return the rows of all.

    Parameters
    ----------
    path : Path
        CSV file of finished cells; grows by one line a cell.
    fields : sequence of str
        Names of the parts of a cell.
    cells : iterable of tuple of str
    work : callable
        Measures one cell; a function at the top of a module, since processes must find it.
    uses : sequence of str, or callable
        Where cells enter linkwise. A finished cell counts as long as nothing behind these entries changes.
    jobs : int
        Processes; with more than one, each computes on a single thread.
    reuse : bool
        Finished cells count whatever has changed since; of several rows of a cell the one of today's code, or
        else the last one.

    Returns
    -------
    list of dict
        In the order of `cells`.
    """
    cells = list(cells)
    codes = {cell: fingerprint(*(uses(cell) if callable(uses) else uses)) for cell in cells}
    finished: dict[Cell, Row] = {}
    for row in read_csv(path):
        cell = tuple(row[f] for f in fields)
        is_current = row["code"] == codes.get(cell)
        if is_current or (reuse and finished.get(cell, {}).get("code") != codes.get(cell)):
            finished[cell] = row
    missing = [cell for cell in cells if cell not in finished]
    print(f"{path}: {len(cells) - len(missing)} cells finished, {len(missing)} to run", flush=True)
    for done, (cell, measured) in enumerate(_measure_cells(missing, work, jobs), 1):
        row = {**dict(zip(fields, cell, strict=True)), "code": codes[cell], **measured}
        append_csv(path, row)
        finished[cell] = row
        if sys.stderr.isatty():
            print(f"\r{done}/{len(missing)}", end="\n" if done == len(missing) else "", file=sys.stderr)
    return [finished[cell] for cell in cells]


def _measure_cells(cells: list[Cell], work: Callable[[Cell], Row], jobs: int) -> Iterator[tuple[Cell, Row]]:
    if jobs <= 1 or len(cells) <= 1:
        yield from ((cell, work(cell)) for cell in cells)
        return
    os.environ.update(dict.fromkeys(THREADS, "1"))  # read by the new processes
    # spawn: a forked child may hang in OpenMP once the parent has used it
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_die_with_parent) as pool:
        waiting = {pool.submit(work, cell): cell for cell in cells}
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _die_with_parent() -> None:
    """End this process when its parent is killed, which the pool itself would not notice."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()


# ---------------------------------------------------------------- CSV
def read_csv(path: Path) -> list[Row]:
    """Rows of a CSV file; none if there is no such file, or for a last line without its end."""
    if not path.exists():
        return []
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:  # the process died while it wrote this line
        path.write_text(whole)
    return list(csv.DictReader(io.StringIO(whole)))


def append_csv(path: Path, row: Row) -> None:
    new = not path.exists() or path.stat().st_size == 0
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(row), lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


def read_target(name: str) -> list[Row]:
    """A CSV file of published or measured figures to compare with."""
    return read_csv(Path(__file__).resolve().parent / "targets" / name)


# ---------------------------------------------------------------- printed tables
def format_table(fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Columns as wide as their widest text: numbers to the right, words to the left."""
    body = [[str(value) for value in row] for row in rows]
    columns = [_column(field, [line[at] for line in body]) for at, field in enumerate(fields)]
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _column(head: str, texts: list[str]) -> list[str]:
    numbers = all(text == "" or text.lstrip("+-")[:1].isdigit() for text in texts)
    wide = max(map(len, [head, *texts]))
    return [text.rjust(wide) if numbers else text.ljust(wide) for text in [head, *texts]]
