"""What every benchmark needs: cells that are run once, processes, CSV files, printed tables.

A cell is one measurement, named by a tuple of key fields. Finished cells stand in a CSV file, one a
line, and are not run again, unless the library's code has changed since.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
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

RESULTS = Path(__file__).resolve().parent / "results"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Cell = tuple[str, ...]
Row = dict[str, str]


# ---------------------------------------------------------------- the command line
def add_common_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of data sets (or LINKWISE_DATA)")
    parser.add_argument("--openml", action="store_true", help="without a folder: get sets from OpenML")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for results, bench/results otherwise")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")


def source(options: argparse.Namespace) -> Source:
    """Where the options and the environment say that data come from."""
    folder = options.data or (Path(os.environ["LINKWISE_DATA"]) if os.environ.get("LINKWISE_DATA") else None)
    if folder is not None and not folder.is_dir():
        raise SystemExit(f"{folder} is no folder; give the folder of data sets with --data.")
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
    jobs: int = 1,
) -> list[Row]:
    """Run the cells that `path` does not hold yet, and give the rows of all.

    Parameters
    ----------
    path : Path
        CSV file of finished cells; grows by one line a cell.
    fields : sequence of str
        Names of the parts of a cell.
    cells : iterable of tuple of str
    work : callable
        Measures one cell; a function at the top of a module, since processes must find it.
    jobs : int
        Processes; with more than one, each computes on a single thread.

    Returns
    -------
    list of dict
        In the order of `cells`.
    """
    cells = list(cells)
    code = fingerprint("linkwise")
    held = {tuple(row[f] for f in fields): row for row in read_csv(path) if row["code"] == code}
    missing = [cell for cell in cells if cell not in held]
    print(f"{path}: {len(cells) - len(missing)} cells finished, {len(missing)} to run", flush=True)
    for done, (cell, measured) in enumerate(_measured(missing, work, jobs), 1):
        row = {**dict(zip(fields, cell, strict=True)), "code": code, **measured}
        append_csv(path, row)
        held[cell] = row
        if sys.stderr.isatty():
            print(f"\r{done}/{len(missing)}", end="\n" if done == len(missing) else "", file=sys.stderr)
    return [held[cell] for cell in cells]


def _measured(cells: list[Cell], work: Callable[[Cell], Row], jobs: int) -> Iterator[tuple[Cell, Row]]:
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


def fingerprint(*packages: str) -> str:
    """Eight hexadecimal digits that change with any loaded file of some packages or modules."""
    inside = tuple(f"{package}." for package in packages)
    modules = [m for name, m in sys.modules.items() if f"{name}.".startswith(inside)]
    files = sorted(str(m.__file__) for m in modules if getattr(m, "__file__", None))
    digest = hashlib.sha256()
    for file in files:
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()[:8]


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


def write_csv(path: Path, fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(fields)
        writer.writerows(rows)


def read_target(name: str) -> list[Row]:
    """A CSV file of published or measured figures to compare with."""
    return read_csv(Path(__file__).resolve().parent / "targets" / name)


# ---------------------------------------------------------------- printed tables
def table(fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Columns as wide as their widest text: numbers to the right, words to the left."""
    body = [[str(value) for value in row] for row in rows]
    columns = [_column(field, [line[at] for line in body]) for at, field in enumerate(fields)]
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _column(head: str, texts: list[str]) -> list[str]:
    numbers = all(text == "" or text.lstrip("+-")[:1].isdigit() for text in texts)
    wide = max(map(len, [head, *texts]))
    return [text.rjust(wide) if numbers else text.ljust(wide) for text in [head, *texts]]
