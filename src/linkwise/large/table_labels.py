"""Write the labels of the rows of tables to Parquet files: for each file of the data, one or several.

They are written as `linkwise.large.label_files` writes parts: a file gets its name when it is complete.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError
from linkwise.large.chunks import BLOCK
from linkwise.large.file_stamps import FileStamp
from linkwise.large.group_table import DataPart, GroupTable
from linkwise.large.label_files import (
    PART,
    LabelForm,
    check_claim,
    claim_folder,
    is_complete,
    read_column,
    write_frame,
)
from linkwise.large.reach import NearestGroups
from linkwise.large.table_files import TableFiles
from linkwise.parallel import SERIAL_ENGINE, Engine, map_in_order
from linkwise.wording import join_names


class LabelledFiles(NamedTuple):
    """What was written."""

    paths: list[Path]
    n_rows: int
    unfit: tuple[tuple[str, int], ...] = ()
    """Files with rows that fit no group, and how many; only of files that are no part of the data."""


RESTORE = (
    "Restore it, or begin another session, which takes over the answers that it can: linkwise ask DATA"
    " --session NEW --from OLD"
)
FITS = "fits"  # column of labels that says whether a row fits a group


def write_files(
    tables: TableFiles,
    groups: GroupTable,
    labels: NDArray[Any],
    names: Mapping[int, str],
    folder: Path,
    progress: Callable[[int, int], object] | None,
    engine: Engine = SERIAL_ENGINE,
    *,
    is_new: bool = False,
) -> LabelledFiles:
    """Write the cluster of each row to a folder, in a file for each file of the data.

    The rows of a file with more than `PART` rows go to several files. Files that are there and complete
    stay as they are. `labels` are those of the groups. If `is_new`, the groups were made of other files:
    labels of the folder then stay only if these files have not changed since, and the column `FITS` says
    which rows fit a group. Call ``progress(done, total)`` after each file. Raises `DataError` if a file
    has changed since the groups were made.
    """
    of_group = np.asarray(labels).astype(np.int32)
    stems = _name_files(tables, groups.parts)
    found = blake2b(of_group.tobytes(), digest_size=16)
    found.update(repr((groups.hash, stems, groups.parts, sorted(names.items()), PART)).encode())
    found.update(groups.steps.tobytes() + groups.cuts.tobytes())
    if is_new:  # other rows may have the names and numbers of earlier ones
        found.update(repr(tables.stamps()).encode())
    id_name = groups.summary.id_column or "row"
    form = LabelForm(found.hexdigest(), groups.summary.n_rows, id_name)
    claim_folder(folder, form)
    check_files(tables, groups)
    columns = [id_name, "cluster", *(["name"] if names else []), *([FITS] if is_new else [])]
    paths, tasks, first = [], [], 0
    of_part: list[tuple[str, Path]] = []
    for number, (stem, data) in enumerate(zip(stems, groups.parts, strict=True)):
        mine = [folder / name for name in _name_parts(stem, data.n_rows)]
        parts = [_Part(number, at * PART, first + at * PART, path) for at, path in enumerate(mine)]
        absent = [
            part for part in parts if not is_complete(part.path, columns, min(PART, data.n_rows - part.start))
        ]
        if absent:
            tasks += [[part] for part in absent] if tables.is_seekable else [absent]
        paths += mine
        of_part += [(data.name, path) for path in mine]
        first += data.n_rows
    shared, n_done = _Shared(tables, groups, of_group, dict(names), id_name, PART, is_new), len(paths)
    n_done -= sum(map(len, tasks))
    for task, _ in zip(tasks, map_in_order(_write_task, shared, tasks, engine), strict=True):
        n_done += len(task)
        if progress is not None:
            progress(n_done, len(paths))
    check_claim(folder, form)
    return LabelledFiles(paths, first, _count_unfit(of_part) if is_new else ())


def _count_unfit(parts: list[tuple[str, Path]]) -> tuple[tuple[str, int], ...]:
    """Count the rows of each file of data that fit no group, in the files of labels."""
    found = Counter[str]()
    for name, path in parts:
        fits = read_column(path, FITS)
        found[name] += len(fits) - int(fits.sum())
    return tuple((name, n) for name, n in found.items() if n)


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
    groups: GroupTable
    of_group: NDArray[np.int32]
    names: dict[int, str]
    id_name: str
    part_rows: int
    is_new: bool


def _write_task(shared: _Shared, parts: list[_Part]) -> None:
    """Write files of labels of one file of data; its rows are read once, in order."""
    start = parts[0].start
    found = _label_file(shared, parts[0].number, start, parts[-1].start + shared.part_rows)
    waiting = {part.start: part for part in parts}
    for ids, placed in found:
        part = waiting.get(start)
        if part is not None:
            write_frame(_make_frame(ids, placed, shared, part.first), part.path)
        start += shared.part_rows


def take_new_tables(groups: GroupTable, tables: TableFiles) -> GroupTable:
    """Let groups stand for the rows of other tables, whose columns must have the same types."""
    check_types(groups, tables, groups.encoding.feature_columns)
    parts = tuple(DataPart(file.path.name, file.count_rows(), groups.n_steps) for file in tables.files)
    summary = replace(groups.summary, n_rows=sum(part.n_rows for part in parts))
    stamps = tuple(FileStamp.of(file.path) for file in tables.files)
    return replace(groups, parts=parts, summary=summary, stamps=stamps)


def check_types(
    groups: GroupTable, tables: TableFiles, names: Sequence[str], id_column: str | None = None
) -> None:
    """Check that columns have the types of the groups; numbers may have others, but not those of ids."""
    for file in tables.files:
        tables.check(file, names)
        for name in names:
            kind, known = file.schema()[name], groups.frame.schema[name]
            are_whole = kind.is_integer() and known.is_integer()
            are_numbers = kind.is_numeric() and known.is_numeric() and name != id_column
            if kind != known and not are_whole and not are_numbers:
                raise DataError(
                    f"{file.path.name}: column '{name}' has type {kind}, but the groups were made of type"
                    f" {known}. Convert it."
                )


def _name_files(tables: TableFiles, parts: Sequence[DataPart]) -> list[str]:
    """A name for each file of data: its own, with its folders if there are several.

    If two files of labels had the same name, all have their number before it. `check_files` says later
    whether there are as many parts as files.
    """
    paths = [Path(os.path.abspath(file.path)) for file in tables.files]
    common = Path(os.path.commonpath([path.parent for path in paths]))
    stems = ["-".join(path.relative_to(common).with_suffix("").parts) for path in paths]
    names = [
        name for stem, part in zip(stems, parts, strict=False) for name in _name_parts(stem, part.n_rows)
    ]
    if len({name.casefold() for name in names}) < len(names):
        stems = [f"{number:05d}-{stem}" for number, stem in enumerate(stems)]
    return stems


def _name_parts(stem: str, n_rows: int) -> list[str]:
    """The names of the files with the labels of a file of data."""
    n_parts = max(1, -(-n_rows // PART))
    return [f"{stem}{f'-{at:05d}' if n_parts > 1 else ''}.parquet" for at in range(n_parts)]


def check_files(tables: TableFiles, groups: GroupTable) -> None:
    """Check that the files have the names, the numbers of rows and the values that they had."""
    now = [file.path.name for file in tables.files]
    before = [part.name for part in groups.parts]
    if now != before:
        new = list((Counter(now) - Counter(before)).elements())
        gone = list((Counter(before) - Counter(now)).elements())
        what = (
            f"{join_names(new or gone, 5)} {'new' if new else 'not there'}"
            if new or gone
            else "another order"
        )
        way_out = "Restore them."
        if new and not gone:
            way_out = "Add their rows to the session with linkwise extend."
        raise DataError(f"The files of the data have changed since the groups were made: {what}. {way_out}")
    for file, part in zip(tables.files, groups.parts, strict=True):
        n_now = file.count_rows()
        if n_now != part.n_rows:
            raise DataError(
                f"{part.name} has changed since the groups were made: it had {part.n_rows} rows, and now it"
                f" has {n_now}. {RESTORE}"
            )
    check_unchanged([file.path for file in tables.files], groups)


def check_unchanged(paths: Sequence[Path], groups: GroupTable) -> None:
    """Check that files hold the bytes that they held; one that is not there is passed over."""
    for path, stamp in zip(paths, groups.stamps, strict=True):
        difference = stamp.find_difference(path) if path.is_file() else None
        if difference is not None:
            raise DataError(f"{path.name} has changed since the groups were made: {difference}. {RESTORE}")


def _label_file(shared: _Shared, number: int, start: int, stop: int) -> Iterator[tuple[Any, NearestGroups]]:
    """The ids and groups of the rows of each part of a file, from row `start` to `stop`."""
    tables, groups, part_rows = shared.tables, shared.groups, shared.part_rows
    encoding, id_column = groups.encoding, groups.summary.id_column
    names = list(dict.fromkeys([*encoding.feature_columns, *([id_column] if id_column else [])]))
    name, at = tables.files[number].path.name, start
    ids, found, n_waiting = [], [], 0
    for given in tables.file_frames(number, names, start, stop):
        frame = given
        while len(frame):
            part = frame[: min(BLOCK, part_rows - n_waiting)]
            frame = frame[len(part) :]
            rows = encoding.apply(part, partial(_locate, name, at))
            found.append(groups.place(rows, groups.parts[number].known))
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


def _join(ids: list[Any], found: list[NearestGroups]) -> tuple[Any, NearestGroups]:
    import polars as pl

    of = np.concatenate([np.empty(0, dtype=np.int64), *(one.nearest for one in found)])
    fits = np.concatenate([np.empty(0, dtype=np.bool_), *(one.fits for one in found)])
    return (pl.concat(ids) if ids and ids[0] is not None else None), NearestGroups(of, fits)


def _make_frame(ids: Any, placed: NearestGroups, shared: _Shared, first: int) -> Any:
    import polars as pl

    clusters, names, id_name = shared.of_group[placed.nearest], shared.names, shared.id_name
    rows = np.arange(first, first + len(clusters)) if ids is None else ids
    columns = [pl.Series(id_name, rows), pl.Series("cluster", clusters)]
    if names:
        called = pl.Series([names.get(int(label)) for label in clusters.tolist()], dtype=pl.String)
        columns.append(called.alias("name"))
    if shared.is_new:
        columns.append(pl.Series(FITS, placed.fits))
    return pl.DataFrame(columns)
