"""Write the labels of the rows of tables to Parquet files: for each file of the data, one or several.

They are written as `linkwise.streams.label_files` writes parts: a file gets its name when it is complete.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError
from linkwise.parallel import HERE, Engine, map_in_order
from linkwise.streams.chunks import BLOCK
from linkwise.streams.item_table import ItemTable
from linkwise.streams.label_files import PART, LabelForm, claim_folder, write_frame
from linkwise.streams.table_files import TableFiles
from linkwise.wording import join_names


class LabelledFiles(NamedTuple):
    """What was written."""

    paths: list[Path]
    n_rows: int


def write_files(
    tables: TableFiles,
    items: ItemTable,
    labels: NDArray[Any],
    names: Mapping[int, str],
    folder: Path,
    progress: Callable[[int, int], object] | None,
    engine: Engine = HERE,
    *,
    is_new: bool = False,
) -> LabelledFiles:
    """Write the cluster of each row to a folder, in a file for each file of the data.

    The rows of a file with more than `PART` rows go to several files. Files that are there stay as they are.

    Parameters
    ----------
    tables : TableFiles
        The data.
    items : ItemTable
        Their items.
    labels : ndarray of shape (n_items,)
        Cluster of each item.
    names : dict of int to str
        Names of clusters.
    folder : Path
        The folder, which is created if it is absent.
    progress : callable, optional
        ``progress(done, total)`` is called after each file that is written.
    engine : Engine
        The processes or the cluster that read rows and write files.
    is_new : bool, default=False
        Whether the items were made of other files. Labels of the folder then stay only if these files have
        not changed since.

    Returns
    -------
    LabelledFiles
        All files, in the order of the rows.

    Raises
    ------
    DataError
        A file cannot be read or written, or has changed since the items were made, and the error names it.
    """
    of_item = np.asarray(labels).astype(np.int32)
    stems = _name_files(tables)
    found = blake2b(of_item.tobytes(), digest_size=16)
    found.update(repr((items.hash, stems, items.parts, sorted(names.items()), PART)).encode())
    if is_new:  # other rows may have the names and numbers of earlier ones
        found.update(repr(tables.stamps()).encode())
    id_name = items.summary.id_column or "row"
    claim_folder(folder, LabelForm(found.hexdigest(), items.summary.n_rows, id_name))
    _check_counts(tables, items)
    paths, tasks, first = [], [], 0
    for number, (stem, (_, n_rows)) in enumerate(zip(stems, items.parts, strict=True)):
        n_mine = max(1, -(-n_rows // PART))
        mine = [folder / f"{stem}{f'-{at:05d}' if n_mine > 1 else ''}.parquet" for at in range(n_mine)]
        absent = [_Part(number, at * PART, first + at * PART, path) for at, path in enumerate(mine)]
        absent = [part for part in absent if not part.path.exists()]
        if absent:
            tasks += [[part] for part in absent] if tables.is_seekable else [absent]
        paths += mine
        first += n_rows
    shared, n_done = _Shared(tables, items, of_item, dict(names), id_name, PART), len(paths)
    n_done -= sum(map(len, tasks))
    for task, _ in zip(tasks, map_in_order(_write_task, shared, tasks, engine), strict=True):
        n_done += len(task)
        if progress is not None:
            progress(n_done, len(paths))
    return LabelledFiles(paths, first)


class _Part(NamedTuple):
    """A file of labels that is written."""

    number: int
    """Number of the file of data."""
    start: int
    """Position in that file of its first row."""
    first: int
    """Number of its first row."""
    path: Path


class _Shared(NamedTuple):
    """What all workers need."""

    tables: TableFiles
    items: ItemTable
    of_item: NDArray[np.int32]
    names: dict[int, str]
    id_name: str
    part_rows: int


def _write_task(shared: _Shared, parts: list[_Part]) -> None:
    """Write files of labels of one file of data; its rows are read once, in order."""
    start = parts[0].start
    found = _label_file(shared, parts[0].number, start, parts[-1].start + shared.part_rows)
    waiting = {part.start: part for part in parts}
    for ids, of in found:
        part = waiting.get(start)
        if part is not None:
            frame = _make_frame(ids, shared.of_item[of], shared.names, shared.id_name, part.first)
            write_frame(frame, part.path)
        start += shared.part_rows


def take_new_tables(items: ItemTable, tables: TableFiles) -> ItemTable:
    """Let items stand for the rows of other tables, whose columns must have the same types.

    Raises
    ------
    DataError
        A column is missing or has another type, and the error names it.
    """
    names = items.encoding.feature_columns
    for file in tables.files:
        tables.check(file, names)
        for name in names:
            kind, known = file.schema()[name], items.frame.schema[name]
            if kind != known and not (kind.is_numeric() and known.is_numeric()):
                raise DataError(
                    f"{file.path.name}: column '{name}' has type {kind}, but the items were made of type"
                    f" {known}. Convert it."
                )
    parts = tuple((file.path.name, file.count_rows()) for file in tables.files)
    return replace(items, parts=parts, summary=replace(items.summary, n_rows=sum(n for _, n in parts)))


def _name_files(tables: TableFiles) -> list[str]:
    """A name for each file of data: its own, with its folders if there are several."""
    paths = [Path(os.path.abspath(file.path)) for file in tables.files]
    common = Path(os.path.commonpath([path.parent for path in paths]))
    return ["-".join(path.relative_to(common).with_suffix("").parts) for path in paths]


def _check_counts(tables: TableFiles, items: ItemTable) -> None:
    """Check that the files have the names and numbers of rows that they had."""
    now = [file.path.name for file in tables.files]
    before = [name for name, _ in items.parts]
    if now != before:
        new, gone = [n for n in now if n not in before], [n for n in before if n not in now]
        what = (
            f"{join_names(new or gone, 5)} {'new' if new else 'not there'}"
            if new or gone
            else "another order"
        )
        raise DataError(
            f"The files of the data have changed since the items were made: {what}. Restore them."
        )
    for file, (name, n_rows) in zip(tables.files, items.parts, strict=True):
        n_now = file.count_rows()
        if n_now != n_rows:
            raise DataError(
                f"{name} has changed since the items were made: it had {n_rows} rows, and now it has {n_now}."
                " Restore it, or begin another session."
            )


def _label_file(
    shared: _Shared, number: int, start: int, stop: int
) -> Iterator[tuple[Any, NDArray[np.int64]]]:
    """The ids and items of the rows of each part of a file, from row `start` to `stop`."""
    tables, items, part_rows = shared.tables, shared.items, shared.part_rows
    encoding, id_column = items.encoding, items.summary.id_column
    names = list(dict.fromkeys([*encoding.feature_columns, *([id_column] if id_column else [])]))
    name, at = tables.files[number].path.name, start
    ids, found, n_waiting = [], [], 0
    for given in tables.file_frames(number, names, start, stop):
        frame = given
        while len(frame):
            part = frame[: min(BLOCK, part_rows - n_waiting)]
            frame = frame[len(part) :]
            rows = encoding.apply(part, partial(_locate, name, at))
            found.append(items.summary.assign(rows))
            ids.append(None if id_column is None else part[id_column])
            at, n_waiting = at + len(part), n_waiting + len(part)
            if n_waiting == part_rows:
                yield _join(ids, found)
                ids, found, n_waiting = [], [], 0
    if found or at == start == 0:
        if id_column is not None and not ids:  # an empty file
            ids.append(_empty_column(tables.files[number].schema()[id_column]))
        yield _join(ids, found)


def _empty_column(dtype: Any) -> Any:
    import polars as pl

    return pl.Series([], dtype=dtype)


def _locate(name: str, start: int, row: int) -> str:
    return f"{name}: row {start + row} (counted from 0)"


def _join(ids: list[Any], found: list[NDArray[np.int64]]) -> tuple[Any, NDArray[np.int64]]:
    import polars as pl

    of = np.concatenate(found) if found else np.empty(0, dtype=np.int64)
    return (pl.concat(ids) if ids and ids[0] is not None else None), of


def _make_frame(
    ids: Any, clusters: NDArray[np.int32], names: Mapping[int, str], id_name: str, first: int
) -> Any:
    import polars as pl

    rows = np.arange(first, first + len(clusters)) if ids is None else ids
    columns = [pl.Series(id_name, rows), pl.Series("cluster", clusters)]
    if names:
        called = pl.Series([names.get(int(label)) for label in clusters.tolist()], dtype=pl.String)
        columns.append(called.alias("name"))
    return pl.DataFrame(columns)
