"""Write the labels of many rows to Parquet files, part by part.

A part has the labels of `PART` rows, counted from the beginning of the data. It gets its name when it is
complete, so an interrupted export leaves whole parts only, and continues with the first one that is absent. A
file beside the parts says which labels they hold.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError
from linkwise.streams.chunks import BLOCK, Chunk, RowStream, read_blocks
from linkwise.wording import shorten

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
    claim_folder(folder, form)
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
            write_frame(pl.DataFrame({form.id_name: _find_ids(blocks), "cluster": labels}), path)
        if progress is not None:
            progress(number + 1, n_parts)
    if n_rows != form.n_rows or (is_whole and found != expected):
        raise DataError(
            f"The rows differ from those that were summarised: there were {form.n_rows}, and now there are"
            f" {n_rows}, or their values have changed. Summarise them again, and delete '{folder}'."
        )
    return paths


def claim_folder(folder: Path, form: LabelForm) -> None:
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


def write_frame(frame: Any, path: Path) -> None:
    """Write a table to a Parquet file that is complete or absent."""
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
