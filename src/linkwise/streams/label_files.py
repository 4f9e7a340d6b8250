"""Write the labels of many rows to Parquet files, part by part.

`write_parts` cuts rows into parts by their number, `write_files` by the files that they come from.

A part has the labels of `PART` rows, counted from the beginning of the data. It gets its name when it is
complete, so an interrupted export leaves whole parts only, and continues with the first one that is absent. A
file beside the parts says which labels they hold.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError
from linkwise.streams.chunks import BLOCK, Chunk, RowStream, read_blocks
from linkwise.wording import join_names, shorten

if TYPE_CHECKING:
    from linkwise.streams.item_table import ItemTable
    from linkwise.streams.table_files import TableFiles

PART = 16 * BLOCK  # rows
FORM = "labels.json"
UNFINISHED = ".unfinished"


class LabelForm(NamedTuple):
    """Which labels the parts of a folder hold."""

    hash: str
    """Of all that decides the cluster of a row."""
    n_rows: int
    id_name: str
    """The column of ids, or of row numbers."""
    part_rows: int = PART
    """Rows of each part but the last."""


def write_parts(
    stream: RowStream,
    find_labels: Callable[[NDArray[Any]], NDArray[np.int32]],
    form: LabelForm,
    expected: dict[int, int],
    folder: str | os.PathLike[str],
    progress: Callable[[int, int], object] | None,
) -> list[Path]:
    """Write the labels of a stream to a folder; parts that are there stay as they are.

    Parameters
    ----------
    stream : RowStream
        The rows.
    find_labels : callable
        Returns the cluster of each of some rows.
    form : LabelForm
        Which labels these are.
    expected : dict of int to int
        Number of rows of each cluster.
    folder : path
        Folder of the parts.
    progress : callable, optional
        ``progress(done, total)`` is called after each part.

    Returns
    -------
    list of Path
        All parts, in the order of the rows.
    """
    try:
        import polars as pl
    except ImportError as error:
        raise ImportError('Writing Parquet needs polars: pip install "linkwise[app]"') from error
    folder = Path(folder)
    _claim_folder(folder, form)
    n_parts = -(-form.n_rows // PART)
    paths, found, is_whole, n_rows = [], Counter[int](), True, 0
    for number, blocks in enumerate(_group_blocks(stream)):
        n_rows += sum(len(block.rows) for block in blocks)
        path = folder / f"part-{number:05d}.parquet"
        paths.append(path)
        if number >= n_parts:
            continue  # the data have grown, which the count of rows shows at the end
        if path.exists():
            is_whole = False
        else:
            labels = np.concatenate([find_labels(block.rows) for block in blocks])
            values, counts = np.unique(labels, return_counts=True)
            found.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
            _write(pl.DataFrame({form.id_name: _find_ids(blocks), "cluster": labels}), path)
        if progress is not None:
            progress(number + 1, n_parts)
    if n_rows != form.n_rows or (is_whole and found != expected):
        raise DataError(
            f"The rows differ from those that were summarised: there were {form.n_rows}, and now there are"
            f" {n_rows}, or their values have changed. Summarise them again, and delete '{folder}'."
        )
    return paths


def _claim_folder(folder: Path, form: LabelForm) -> None:
    """Create the folder, or check that it holds parts of the same labels."""
    folder.mkdir(parents=True, exist_ok=True)
    known = folder / FORM
    if known.exists():
        try:
            stored = json.loads(known.read_text(encoding="utf-8"))
        except ValueError:
            stored = None
        if stored != form._asdict():
            raise DataError(f"'{folder}' holds labels of another clustering. Name an empty folder.")
    elif any(not path.name.endswith(UNFINISHED) for path in folder.iterdir()):
        raise DataError(f"'{folder}' holds other files. Name an empty folder.")
    else:
        _replace(known, lambda path: path.write_text(json.dumps(form._asdict()), encoding="utf-8"))


def _group_blocks(stream: RowStream) -> Iterator[list[Chunk]]:
    """The blocks of each part."""
    blocks: list[Chunk] = []
    for block in read_blocks(stream):
        blocks.append(block)
        if len(blocks) == PART // BLOCK:
            yield blocks
            blocks = []
    if blocks:
        yield blocks


def _find_ids(blocks: list[Chunk]) -> NDArray[Any]:
    """The ids of rows, or else their numbers."""
    ids = [block.ids for block in blocks if block.ids is not None]
    if ids:
        return np.concatenate(ids)
    return np.arange(blocks[0].first, blocks[-1].first + len(blocks[-1].rows))


def _write(frame: Any, path: Path) -> None:
    _replace(path, lambda free: frame.write_parquet(free))


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file under another name, and rename it when it is complete."""
    free = path.with_name(f".{path.name}{UNFINISHED}")
    try:
        write(free)
        os.replace(free, path)
    except Exception as error:  # polars has exceptions of its own
        raise DataError(
            f"'{path}' cannot be written: {shorten(str(error), 300)}. Make room or choose another folder, and"
            " call this again. Complete parts stay."
        ) from error
    finally:
        free.unlink(missing_ok=True)


# ---------------------------------------------------------------- files of tables
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
    id_name = items.summary.id_column or "row"
    _claim_folder(folder, LabelForm(found.hexdigest(), items.summary.n_rows, id_name))
    _check_counts(tables, items)
    paths, first, n_done = [], 0, 0
    n_parts = sum(max(1, -(-n // PART)) for _, n in items.parts)
    for number, (stem, (_, n_rows)) in enumerate(zip(stems, items.parts, strict=True)):
        n_mine = max(1, -(-n_rows // PART))
        mine = [folder / f"{stem}{f'-{at:05d}' if n_mine > 1 else ''}.parquet" for at in range(n_mine)]
        paths += mine
        start = next((at for at, path in enumerate(mine) if not path.exists()), n_mine)
        if start < n_mine:
            parts = _label_file(tables, items, number, start * PART)
            for path, (ids, of) in zip(mine[start:], parts, strict=False):
                _write(_make_frame(ids, of_item[of], names, id_name, first + start * PART), path)
                start += 1
                if progress is not None:
                    progress(n_done + start, n_parts)
        n_done += n_mine
        first += n_rows
    return LabelledFiles(paths, first)


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
    tables: TableFiles, items: ItemTable, number: int, start: int
) -> Iterator[tuple[Any, NDArray[np.int64]]]:
    """The ids and items of the rows of each part of a file, from row `start` on."""
    encoding, id_column = items.encoding, items.summary.id_column
    names = list(dict.fromkeys([*encoding.feature_columns, *([id_column] if id_column else [])]))
    name, at = tables.files[number].path.name, start
    ids, found, n_waiting = [], [], 0
    for given in tables.file_frames(number, names, start):
        frame = given
        while len(frame):
            part = frame[: min(BLOCK, PART - n_waiting)]
            frame = frame[len(part) :]
            rows = encoding.apply(part, partial(_locate, name, at))
            found.append(items.summary.assign(rows))
            ids.append(None if id_column is None else part[id_column])
            at, n_waiting = at + len(part), n_waiting + len(part)
            if n_waiting == PART:
                yield _join(ids, found)
                ids, found, n_waiting = [], [], 0
    if found or at == start == 0:
        yield _join(ids, found)


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
