"""Run the cells of an experiment and keep what was measured.

A cell is one measurement, named by a tuple of texts. Each finished cell is a line of a CSV file and is not
run again, unless the part of linkwise that it uses has changed since (`bench.suites.code_keys`). A
run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Protocol

from bench.suites.code_keys import fingerprint
from linkwise.text_files import format_record
from linkwise.whole_files import write_whole

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Cell = tuple[str, ...]
Row = dict[str, str]
Entries = Sequence[str] | Callable[[Cell], Sequence[str]]
"""Where cells enter linkwise: public names or modules, the same for all cells or those of each."""


Part = Callable[[Cell], Hashable]
"""Names the part of an experiment that a cell belongs to."""


class Progress(Protocol):
    """How the progress of cells is told: ``progress(finished, total)``."""

    def __call__(self, finished: int, total: int, /) -> None:
        """Tell how many of the cells that had to run are finished."""


def run_cells(
    path: Path,
    fields: Sequence[str],
    cells: Iterable[Cell],
    work: Callable[[Cell], Row],
    *,
    uses: Entries,
    data: Callable[[Cell], str] | None = None,
    jobs: int = 1,
    reuse: bool = False,
    progress: Progress | None = None,
    part: Part | None = None,
    on_failure: Callable[[Cell, Exception], None] | None = None,
) -> list[Row]:
    """Run the cells that `path` does not hold yet, and return the rows of all that are finished.

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
    data : callable, optional
        Key of the data of a cell, which a finished cell must have, too.
    jobs : int, default=1
        Processes; with more than one, each computes on a single thread.
    reuse : bool, default=False
        Finished cells count whatever code has changed since, also those without a key of their data; of
        several rows of a cell the one of today's code, or else the last one.
    progress : callable, optional
        ``progress(finished, total)``, before the first cell and after each.
    part : callable, optional
        Names the part of the experiment that a cell belongs to. After a cell that fails no other cell of its
        part begins, and the other parts go on. By default all cells are one part.
    on_failure : callable, optional
        ``on_failure(cell, error)``, for each cell that fails. By default the first error is raised in the
        end.

    Returns
    -------
    list of dict
        In the order of `cells`: the fields, the keys of the code (``code``) and of the data (``data``, if
        any), and what `work` returned.
    """
    cells = list(cells)
    keys = _key_cells(cells, uses, data)
    finished = _find_finished(path, fields, keys, reuse)
    missing = [cell for cell in cells if cell not in finished]
    show = progress or (lambda _finished, _total: None)
    show(0, len(missing))
    errors: list[Exception] = []
    for done, (cell, found) in enumerate(_measure_cells(missing, work, jobs, part or _name_one_part), 1):
        if isinstance(found, Exception):
            errors.append(found)
            if on_failure is not None:
                on_failure(cell, found)
        elif found is not None:
            row = {**dict(zip(fields, cell, strict=True)), **keys[cell], **found}
            append_row(path, row)
            finished[cell] = row
        show(done, len(missing))
    if errors and on_failure is None:
        raise errors[0]
    return [finished[cell] for cell in cells if cell in finished]


def _name_one_part(cell: Cell) -> None:
    """All cells are one part."""


def read_cells(
    path: Path,
    fields: Sequence[str],
    cells: Iterable[Cell],
    *,
    uses: Entries,
    data: Callable[[Cell], str] | None = None,
    reuse: bool = False,
) -> list[Row]:
    """Read the cells that are finished, and measure none.

    Parameters
    ----------
    path, fields, cells, uses, data, reuse
        As for `run_cells`.

    Returns
    -------
    list of dict
        As `run_cells` returns them, without the cells that are missing.
    """
    cells = list(cells)
    finished = _find_finished(path, fields, _key_cells(cells, uses, data), reuse)
    return [finished[cell] for cell in cells if cell in finished]


def _key_cells(
    cells: Sequence[Cell], uses: Entries, data: Callable[[Cell], str] | None
) -> dict[Cell, dict[str, str]]:
    """The keys of the code of each cell, and of its data, if there are any."""
    codes = {cell: fingerprint(*(uses(cell) if callable(uses) else uses)) for cell in cells}
    return {cell: {"code": codes[cell], **({"data": data(cell)} if data else {})} for cell in cells}


def _find_finished(
    path: Path, fields: Sequence[str], keys: dict[Cell, dict[str, str]], reuse: bool
) -> dict[Cell, Row]:
    """The rows of a file that count for cells with these keys."""
    finished: dict[Cell, Row] = {}
    for row in read_rows(path):
        cell = tuple(row[f] for f in fields)
        known, wanted = row.get("data", ""), keys.get(cell, {})
        if wanted and known != wanted.get("data", "") and (known or not reuse):
            continue
        code = wanted.get("code")
        if row["code"] == code or (reuse and finished.get(cell, {}).get("code") != code):
            finished[cell] = row
    return finished


def _measure_cells(
    cells: list[Cell], work: Callable[[Cell], Row], jobs: int, part: Part
) -> Iterator[tuple[Cell, Row | Exception | None]]:
    """Yield each cell with what was measured, the error, or None where its part had failed before."""
    failed: set[Hashable] = set()
    if jobs <= 1 or len(cells) <= 1:
        for cell in cells:
            found = None if part(cell) in failed else _try(work, cell)
            if isinstance(found, Exception):
                failed.add(part(cell))
            yield cell, found
        return
    os.environ.update(dict.fromkeys(THREADS, "1"))  # read by the new processes
    # spawn: a forked child may hang in OpenMP once the parent has used it
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_die_with_parent) as pool:
        waiting = {pool.submit(work, cell): cell for cell in cells}
        try:
            for future in as_completed(waiting):
                found = _result_of(future)
                if isinstance(found, Exception):
                    failed.add(part(waiting[future]))
                    for other, cell in waiting.items():  # those that run already end, and count
                        if part(cell) in failed:
                            other.cancel()
                yield waiting[future], found
        finally:
            pool.shutdown(cancel_futures=True)


def _try(work: Callable[[Cell], Row], cell: Cell) -> Row | Exception:
    try:
        return work(cell)
    except Exception as error:
        return error


def _result_of(future: Future[Row]) -> Row | Exception | None:
    """What a process has measured, or its error; None if it was not to begin any more."""
    if future.cancelled():
        return None
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, BrokenProcessPool) or not isinstance(error, Exception):
        raise error  # nothing runs any more
    return error


def _die_with_parent() -> None:
    """End this process when its parent is killed, which the pool itself would not notice."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()


# ---------------------------------------------------------------- CSV
def read_rows(path: Path) -> list[Row]:
    """Read the rows of a CSV file; none if there is no such file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    list of dict
        By the names of its header, without lines of another length. A last line that a process did not finish
        is cut off the file.
    """
    if not path.exists():
        return []
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end != len(content):  # the process died while it wrote this line
        os.truncate(path, end)
    rows = csv.DictReader(io.StringIO(content[:end].decode()))
    return [row for row in rows if None not in row and None not in row.values()]


def append_row(path: Path, row: Row) -> None:
    """Append a row to a CSV file, with the header where the file is new; a new field becomes a column."""
    header = _read_header(path)
    added = [name for name in row if name not in header]
    if header and added:
        _replace_file(path, [*header, *added], read_rows(path))
    with path.open("a", newline="", encoding="utf-8") as file:
        if not header:
            file.write(format_record(added) + "\n")
        file.write(format_record(row.get(name) for name in [*header, *added]) + "\n")


def _read_header(path: Path) -> list[str]:
    """Return the names of the columns; none where the file is new."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return next(csv.reader(file), [])


def _replace_file(path: Path, header: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a CSV file beside the one that there is, which it then replaces as a whole."""
    records = [header, *([row.get(name) for name in header] for row in rows)]
    with write_whole(path) as free, free.open("w", newline="", encoding="utf-8") as file:
        file.writelines(format_record(record) + "\n" for record in records)
