"""Read a file, or take a table in memory, and understand its columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from linkwise.data.columns.cycles import column_of_cycle, read_hours
from linkwise.data.columns.named_columns import NamedColumns, resolve_names
from linkwise.data.columns.proposals import Proposal, propose_file_options, propose_options, take_proposals
from linkwise.data.columns.table import Table, understand
from linkwise.data.read.dates import check_dates
from linkwise.data.read.endings import TYPED, WITH_TEXTS
from linkwise.data.read.formats import check_ending, parse_plain, parse_text, read_file
from linkwise.data.read.frames import replace_columns, to_narwhals, to_polars
from linkwise.data.read.long_series import name_series_by, pivot_frame, pivot_series
from linkwise.data.read.parse import parse_columns
from linkwise.data.reading import Reading, ReadingOptions, choose_reading
from linkwise.errors import DataError
from linkwise.limits import too_large_for_memory

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl


def read_table(
    path: str | os.PathLike[str],
    reading: Reading | None = None,
    *,
    propose: bool = False,
    **options: Unpack[ReadingOptions],
) -> Table:
    r"""Read a file and understand its columns.

    Parameters
    ----------
    path : path
        .csv, .tsv, .tab, .txt, .dat or .data (columns with a delimiter or spaces), .xlsx (with openpyxl),
        .jsonl, .ndjson, .json or .geojson (objects or columns), .parquet, .arrow, .feather or .ipc, .npy or
        .npz (its array named X, or the only one with rows; ids from a 1-D array named ids or id; or a sparse
        matrix), .mtx, .arff, .ts, .db, .sqlite or .sqlite3. Each may be packed as .gz, .bz2, .xz or .zip.
        The content tells the kind of a file with another ending, or none.
    reading : Reading, optional
        How to read it.
    propose : bool, default=False
        Whether to take what the values suggest for options that are not given, such as the column that
        identifies the rows. `Table.proposals` lists what was taken, with reasons.
    **options : optional
        The attributes of `Reading` as keywords, such as ``id_column="customer"`` or ``text=["title"]``. A
        single name may stand for a list of names.

    Returns
    -------
    Table
        The table; ``read_table(path, table.reading)`` returns the same one again.

    Raises
    ------
    TypeError
        `path` is not the name of a file, or there is no such option.
    DataError
        The file cannot be read, and the error names the line or byte; or `from_frame` does not accept the
        table.
    FileNotFoundError
        There is no such file.
    ImportError
        polars is missing, or openpyxl for a spreadsheet.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> from linkwise.data import encode, read_table
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.csv")
    ...     _ = file.write_text("id,age,town\na,20,Rome\nb,,Rome\nc,40,Bern\nd,30,Bern\n")
    ...     table = read_table(file)
    >>> table.features
    ('age', 'town')
    >>> encode(table).X.shape
    (4, 3)
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path is a {type(path).__name__}. Pass a file, or a table to from_frame.")
    path = Path(path)
    chosen = choose_reading(reading, options)
    check_ending(path)
    try:
        proposals: tuple[Proposal, ...] = ()
        for is_last in (not propose, True):
            contents = read_file(path, chosen)
            chosen, frame, notes = contents.reading, contents.frame, contents.notes
            if chosen.series_by is not None:
                by = name_series_by(chosen.series_by, frame.columns, chosen.id_column)
                parse = partial(parse_plain, ending=contents.ending, delimiter=chosen.delimiter)
                frame, more = pivot_series(frame, by, parse)
                chosen, notes = replace(chosen, id_column=by.id, series=True), [*notes, *more]
            typed = _type_columns(frame, contents.ending, chosen)
            if is_last:
                break
            has_types = contents.ending in TYPED
            proposals = propose_file_options(typed.frame, chosen, has_types=has_types)
            if not proposals:
                break
            chosen = take_proposals(chosen, proposals)
        if propose and (others := propose_options(typed.frame, chosen, path.parent, typed.written)):
            proposals += others
            chosen = take_proposals(chosen, others)
            typed = _type_columns(frame, contents.ending, chosen)  # ids and texts stay as they are written
        table = understand(
            typed.frame,
            typed.names,
            chosen,
            written=typed.written,
            folder=path.parent,
            notes=[*notes, *typed.notes],
        )
        return replace(table, proposals=proposals)
    except MemoryError as error:
        raise DataError(f"{path.name}: {too_large_for_memory()}") from error
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from error


class Typed(NamedTuple):
    """A table with numbers and dates parsed, and the use of its columns."""

    names: NamedColumns
    frame: nw.DataFrame[Any]
    notes: Sequence[str] = ()
    written: Mapping[str, nw.Series[Any]] = MappingProxyType({})


def _type_columns(frame: nw.DataFrame[Any], ending: str, reading: Reading) -> Typed:
    """Parse the columns of text but those that stay as they are written."""
    names = resolve_names(frame, reading)
    if ending not in WITH_TEXTS or reading.series_by is not None:
        return Typed(names, frame)
    keep = {names.id_column, *names.text, *names.image, *names.drop, *names.show}
    keep |= {name for name in map(column_of_cycle, reading.cycles or ()) if _holds_hours(frame, name)}
    typed, told, written = parse_text(frame, keep, ending, reading.delimiter)
    check_dates(typed, names.drop)
    return Typed(names, typed, told, written)


def from_frame(
    frame: Any,
    reading: Reading | None = None,
    *,
    propose: bool = False,
    **options: Unpack[ReadingOptions],
) -> Table:
    """Understand a DataFrame or a 2-D array.

    Parameters
    ----------
    frame : DataFrame of pandas, polars or pyarrow, or ndarray of shape (n_rows, n_columns)
        The columns of an array are called x0, x1, ... The name of an index of pandas, or "index", may
        be the `id_column`.
    reading : Reading, optional
        How to read it. What is about files has no effect.
    propose : bool, default=False
        Whether to take what the values suggest, as for `read_table`. An index of pandas that has a name or
        holds no integers then names the rows.
    **options : optional
        The attributes of `Reading` as keywords, as for `read_table`.

    Returns
    -------
    Table
        The table, with the role of each column and notes about the choices made.

    Raises
    ------
    TypeError
        `frame` is no table, or there is no such option.
    DataError
        Unknown or repeated column names, ids that are not unique and complete, no rows, no column left to
        cluster by, or with `series_by` curves that have two values at a time or none.
    ImportError
        polars is missing, which `series_by` needs.
    """
    chosen = choose_reading(reading, options)
    frame, id_column = _name_rows_by_index(frame, chosen.id_column, propose=propose)
    chosen = replace(chosen, id_column=id_column)
    table, notes = to_narwhals(frame), _index_note(frame)
    if chosen.series_by is not None:
        by = name_series_by(chosen.series_by, table.columns, chosen.id_column)
        table, more = pivot_frame(table, by)
        chosen, notes = replace(chosen, id_column=by.id, series=True), [*notes, *more]
    typed = _type_texts(table, chosen)
    proposals = propose_options(typed.frame, chosen) if propose else ()
    if proposals:
        chosen = take_proposals(chosen, proposals)
        typed = _type_texts(table, chosen)
    notes += typed.notes
    understood = understand(typed.frame, typed.names, chosen, written=typed.written, notes=notes)
    return replace(understood, proposals=proposals)


def _type_texts(frame: nw.DataFrame[Any], reading: Reading) -> Typed:
    """Parse texts of a frame that are numbers or dates as people write them, such as €5 and 12 kg.

    Texts of digits alone stay texts, because a frame has a type for whole numbers.
    """
    import narwhals as nw

    names = resolve_names(frame, reading)
    keep = {names.id_column, *names.text, *names.image, *names.drop, *names.show}
    texts = [one.name for one in frame.iter_columns() if one.dtype == nw.String and one.name not in keep]
    if not texts or reading.series_by is not None or find_spec("polars") is None:
        return Typed(names, frame)
    keep |= {name for name in texts if read_hours(frame.get_column(name)) is not None}
    written = to_polars(frame.select(texts))
    parsed = parse_columns(written, keep, comma_free=True)
    found = [
        one
        for one in parsed.frame
        if one.dtype != written[one.name].dtype and not _are_digits(written[one.name])
    ]
    read = {one.name for one in found}
    notes = [note for note in parsed.notes if any(f"'{name}'" in note for name in read)]
    forms = {one.name: nw.from_native(one, series_only=True) for one in parsed.written if one.name in read}
    return Typed(names, replace_columns(frame, found), notes, forms)


def _holds_hours(frame: nw.DataFrame[Any], name: str) -> bool:
    return name in frame.columns and read_hours(frame.get_column(name)) is not None


def _are_digits(texts: pl.Series) -> bool:
    return bool(texts.drop_nulls().str.contains(r"^\d+$").all())


def _name_rows_by_index(frame: Any, id_column: str | None, *, propose: bool) -> tuple[Any, str | None]:
    """Make the index of pandas the id column if it is asked for, or if it plainly names the rows."""
    index: Any = getattr(frame, "index", None)
    is_plain = hasattr(frame, "reset_index") and not hasattr(frame, "compute")  # dask is refused later
    if not is_plain or getattr(index, "nlevels", 2) != 1 or _only_counts(index):
        return frame, id_column
    name = "index" if index.name is None else str(index.name)
    if name in map(str, frame.columns):
        return frame, id_column
    is_named = index.name is not None or index.dtype.kind not in "iu"
    names_rows = propose and id_column is None and is_named and index.is_unique and not index.hasnans
    if names_rows or id_column == name:
        return frame.reset_index(names=name), name
    return frame, id_column


def _only_counts(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex"


def _index_note(frame: Any) -> list[str]:
    """Note that the index of pandas is not read; no note if it only counts the rows."""
    index = getattr(frame, "index", None)
    if index is None or _only_counts(index) or not hasattr(frame, "reset_index"):
        return []
    return ["The index of the frame is not used; frame.reset_index() makes a column of it."]
