"""Read whatever holds rows: a file, a folder, or a table in memory."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from linkwise.data.columns.table import Table
from linkwise.data.folders import read_folder
from linkwise.data.read.frames import to_narwhals
from linkwise.data.readers import from_frame, read_table
from linkwise.data.reading import Reading, ReadingOptions, choose_reading
from linkwise.data.show.rows import Rows, to_rows
from linkwise.errors import DataError

if TYPE_CHECKING:
    from linkwise.types import Progress


def read(
    source: Any,
    *,
    id: str | None = None,
    as_is: bool = False,
    progress: Progress | None = None,
    **options: Unpack[ReadingOptions],
) -> Rows:
    r"""Read a file, a folder or a table in memory into rows that sessions and all methods take.

    Columns become numbers: numeric columns are scaled, each category gets a column, dates count days, and
    texts are compared by their words. What the values suggest is applied and listed, such as the column that
    names the rows, the treatment of missing values, and logarithms of amounts.

    Parameters
    ----------
    source : path, DataFrame of pandas, polars or pyarrow, ndarray of shape (n_rows, n_columns), or Table
        A file as for `linkwise.data.read_table`, a folder as for `linkwise.data.read_folder`, or a table as
        for `linkwise.data.from_frame`.
    id : str, optional
        The column that names the rows, short for the option `id_column`. The index of a frame has its own
        name, or "index".
    as_is : bool, default=False
        Whether only `options` decide, and nothing that the values suggest.
    progress : callable, optional
        Called as ``progress(n_read, n_files)`` while a folder is read.
    **options : optional
        The attributes of `linkwise.data.Reading` as keywords, such as ``text=["title"]``.

    Returns
    -------
    Rows
        The rows. `print` shows what was decided, and ``np.asarray(rows)`` is the matrix.

    Raises
    ------
    TypeError
        `source` holds no rows, or there is no such option.
    DataError
        The source cannot be read, or no column is left to compare.
    FileNotFoundError
        There is no such file.

    Examples
    --------
    >>> import linkwise as lw
    >>> import pandas as pd
    >>> fruit = pd.DataFrame({"name": ["apple", "plum", "melon"], "grams": [180.0, 40.0, 2000.0]})
    >>> rows = lw.read(fruit, id="name")
    >>> rows
    Rows: 3 rows, identified by 'name'
      compared: 1 number (grams)
    >>> lw.KIN(random_state=0).fit(rows, oracle=lambda i, j: (i == 2) == (j == 2)).labels_.tolist()
    [0, 0, 1]
    """
    if id is not None:
        options["id_column"] = id
    reading = choose_reading(None, options)
    if isinstance(source, str | os.PathLike):
        return _read_path(Path(source), reading, progress, as_is=as_is)
    if isinstance(source, Rows):
        raise TypeError("source is read already. Pass what it was read from.")
    if isinstance(source, Table):
        if options:
            raise TypeError(
                "A Table was read with options of its own. Remove the options, or pass its frame."
            )
        return to_rows(source)
    if isinstance(source, list | tuple | dict):
        kind = type(source).__name__
        raise TypeError(
            f"source is a {kind}. Pass the path of a file or folder, a DataFrame, or a 2-D array."
        )
    return to_rows(from_frame(source, reading, propose=not as_is))


def _read_path(path: Path, reading: Reading, progress: Progress | None, *, as_is: bool) -> Rows:
    """Read a file or a folder."""
    if not path.is_dir():
        table = read_table(path, reading, propose=not as_is)
        try:
            return to_rows(table)
        except DataError as error:
            raise DataError(f"{path.name}: {error}") from error
    others = reading.settings().keys() - {"kind", "skip_broken"}
    if others:
        raise TypeError(f"{path} is a folder, and {min(others)} is about tables. Remove it.")
    return read_folder(path, kind=reading.kind, skip_broken=bool(reading.skip_broken), progress=progress)


def take_rows(source: Any, *, id: str | None = None, reading: Reading | None = None) -> Rows | None:
    """Read what an estimator cannot take as it is; None for an array, and for a frame of numbers alone.

    A frame of numbers is read, too, if `id` or `reading` is given. Raises TypeError if `id` is given, but
    `source` has no columns that are still to be read.
    """
    if isinstance(source, Rows | Table):
        if id is not None:
            kind = type(source).__name__
            raise TypeError(
                f"id={id!r} names a column of a frame, but X is a {kind}. Pass id to linkwise.read."
            )
        return source if isinstance(source, Rows) else to_rows(source)
    if not is_frame(source):
        if id is not None:
            kind = type(source).__name__
            raise TypeError(
                f"id={id!r} names a column of a frame, but X is a {kind}. Pass ids=[...] instead."
            )
        return None
    if reading is not None:
        return to_rows(from_frame(source, reading if id is None else replace(reading, id_column=id)))
    return None if id is None and holds_numbers(source) else read(source, id=id)


def is_frame(value: Any) -> bool:
    """Whether a value is a DataFrame of pandas, polars or pyarrow."""
    if not (hasattr(type(value), "columns") or hasattr(type(value), "column_names")):
        return False
    import narwhals as nw  # costs a tenth of a second, and arrays do without

    return bool(nw.dependencies.is_into_dataframe(value))


def holds_numbers(frame: Any) -> bool:
    """Whether a frame holds numbers and truth values alone."""
    import narwhals as nw

    try:
        table = to_narwhals(frame)
    except DataError:  # such as a name that two columns have, which numbers do without
        return True
    return all(dtype.is_numeric() or dtype == nw.Boolean for dtype in table.schema.values())
