"""Write the labels of many rows to Parquet files, part by part.

A part has the labels of `PART` rows, counted from the beginning of the data. It gets its name when it is
complete, so an interrupted export leaves whole parts only. The next one writes those that are absent, damaged
or too short. A file beside the parts says which labels they hold.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError
from linkwise.large.chunks import BLOCK, Chunk, RowStream, read_blocks
from linkwise.large.ranges import map_blocks
from linkwise.large.table_files import ParquetFile, call_polars
from linkwise.parallel import SERIAL_ENGINE, Engine
from linkwise.whole_files import UNFINISHED, write_whole
from linkwise.wording import shorten

PART = 16 * BLOCK  # rows
FORM = "labels.json"


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
    find_labels: Callable[[Chunk], NDArray[np.int32]],
    form: LabelForm,
    expected: dict[int, int],
    folder: str | os.PathLike[str],
    progress: Callable[[int, int], object] | None,
    engine: Engine = SERIAL_ENGINE,
) -> list[Path]:
    """Write the labels of a stream to a folder, and return all parts in the order of the rows.

    Parts that are there and complete stay as they are. `find_labels` returns the cluster of each row of a
    block; workers need it to be pickled. `expected` has the number of rows of each cluster. Call
    ``progress(done, total)`` after each part.
    """
    if find_spec("polars") is None:
        raise ImportError('Writing Parquet needs polars. Run pip install "linkwise[app]".')
    folder = Path(folder)
    claim_folder(folder, form)
    n_parts = -(-form.n_rows // PART)
    found, is_whole, n_rows = Counter[int](), True, 0
    read = partial(_group_blocks, stream, PART)
    work = partial(_write_part, folder=folder, find_labels=find_labels, form=form, part_rows=PART)
    parts = map_blocks(read, work, stream.lengths(), 0, PART, engine, 1)
    for number, part in enumerate(parts):
        n_rows += part.n_rows
        is_whole = is_whole and part.counts is not None
        found.update(part.counts or {})
        if progress is not None and number < n_parts:
            progress(number + 1, n_parts)
    if n_rows != form.n_rows or (is_whole and found != expected):
        raise DataError(
            f"The rows differ from those that were read before: there were {form.n_rows}, and now there are"
            f" {n_rows}, or their values have changed. Begin again with these rows, and delete '{folder}'."
        )
    check_claim(folder, form)
    return [_name_part(folder, number) for number in range(n_parts)]


def is_complete(path: Path, columns: Sequence[str], n_rows: int) -> bool:
    """Whether a file holds labels of as many rows, all of which can be read."""
    if not path.is_file():
        return False
    try:
        if ParquetFile(path).count_rows() != n_rows:  # before more of it is read
            return False
        frame = call_polars(path, "Parquet", lambda pl: pl.read_parquet(path, glob=False))
    except DataError:
        return False
    clusters = frame["cluster"] if frame.columns == list(columns) else None
    return clusters is not None and str(clusters.dtype) == "Int32" and not clusters.null_count()


class _Part(NamedTuple):
    """What was written of a part."""

    n_rows: int
    counts: dict[int, int] | None
    """Rows of each cluster; None if the part was there."""


def _name_part(folder: Path, number: int) -> Path:
    return folder / f"part-{number:05d}.parquet"


def _write_part(
    blocks: list[Chunk],
    folder: Path,
    find_labels: Callable[[Chunk], NDArray[np.int32]],
    form: LabelForm,
    part_rows: int,
) -> _Part:
    import polars as pl

    n_rows, first = sum(len(block.rows) for block in blocks), blocks[0].first
    path, columns = _name_part(folder, first // part_rows), [form.id_name, "cluster"]
    is_beyond = first >= form.n_rows  # if the data have grown, the number of rows shows it
    if is_beyond or is_complete(path, columns, n_rows):
        return _Part(n_rows, None)
    labels = np.concatenate([find_labels(block) for block in blocks])
    values, counts = np.unique(labels, return_counts=True)
    write_frame(pl.DataFrame(dict(zip(columns, (_find_ids(blocks), labels), strict=True))), path)
    return _Part(n_rows, dict(zip(values.tolist(), counts.tolist(), strict=True)))


def claim_folder(folder: Path, form: LabelForm) -> None:
    """Create the folder, or check that it holds parts of the same labels."""
    folder.mkdir(parents=True, exist_ok=True)
    known = folder / FORM
    parts = [path for path in folder.iterdir() if path != known and not path.name.endswith(UNFINISHED)]
    if known.exists() and parts:
        if not _is_claimed(known, form):
            raise DataError(f"'{folder}' holds labels of another clustering. Use an empty folder.")
    elif parts:
        raise DataError(f"'{folder}' holds other files. Use an empty folder.")
    else:
        _replace(known, lambda path: path.write_text(json.dumps(form._asdict()), encoding="utf-8"))


def check_claim(folder: Path, form: LabelForm) -> None:
    """Check at the end that no other command has written other labels to the folder meanwhile."""
    if not _is_claimed(folder / FORM, form):
        raise DataError(
            f"Another command has written labels of another clustering to '{folder}' meanwhile. Use an empty"
            " folder."
        )


def _is_claimed(known: Path, form: LabelForm) -> bool:
    try:
        return bool(json.loads(known.read_text(encoding="utf-8")) == form._asdict())
    except (ValueError, OSError):
        return False


def _group_blocks(stream: RowStream, part_rows: int, start: int, stop: int | None) -> Iterator[list[Chunk]]:
    """The blocks of each part."""
    blocks: list[Chunk] = []
    for block in read_blocks(stream, start, stop):
        blocks.append(block)
        if len(blocks) == part_rows // BLOCK:
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


def read_column(path: Path, name: str) -> Any:
    """Read a column of a file that `write_frame` wrote."""
    return call_polars(path, "Parquet", lambda pl: pl.read_parquet(path, columns=[name], glob=False)[name])


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file whole or not at all; an error names it."""
    try:
        with write_whole(path) as free:
            write(free)
    except Exception as error:  # polars has exceptions of its own
        raise DataError(
            f"'{path}' cannot be written: {shorten(str(error), 300)}. Make room or choose another folder, and"
            " call this again. Complete parts stay."
        ) from error
