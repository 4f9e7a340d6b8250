"""Read a file, or take a table in memory, and understand its columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.data.column_names import to_names
from linkwise.data.columns.named_columns import resolve_names
from linkwise.data.columns.roles import Unit
from linkwise.data.columns.table import Table, understand
from linkwise.data.columns.weights import Metric, Weights
from linkwise.data.read.dates import check_dates
from linkwise.data.read.formats import (
    DELIMITED,
    JSON_ENDINGS,
    SHEET,
    WITH_TEXTS,
    check_ending,
    parse_plain,
    parse_text,
    read_file,
)
from linkwise.data.read.frames import to_narwhals
from linkwise.data.read.long_series import name_series_by, pivot_frame, pivot_series
from linkwise.errors import DataError
from linkwise.limits import (
    too_large_for_memory,
)

if TYPE_CHECKING:
    import narwhals as nw


def read_table(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    text: str | Sequence[str] | None = None,
    image: str | Sequence[str] = (),
    series: bool = False,
    series_by: Sequence[str] | None = None,
    warp: bool = False,
    show: Sequence[str] = (),
    hide: Sequence[str] = (),
    merge_variants: bool = False,
    as_categories: Sequence[str] = (),
    log: Sequence[str] = (),
    cycles: Sequence[str] = (),
    keep_nested: bool = False,
    encoding: str | None = None,
    sheet: str | None = None,
    weights: Weights | None = None,
    metric: Metric | None = None,
    text_by: Unit = "words",
) -> Table:
    """Read a file and understand its columns.

    Parameters
    ----------
    path : path
        .csv, .tsv, .tab or .txt (a line of column names first), .parquet, .jsonl, .ndjson or
        .json (one JSON object a line, or one array of objects), .npy (a 2-D array of numbers), .npz (its
        array named X, or the only 2-D one; ids from a 1-D array named ids or id), .xlsx (with openpyxl).
    id_column : str, optional
        As for `from_frame`.
    columns : sequence of str, optional
        As for `from_frame`.
    drop : sequence of str, default=()
        As for `from_frame`.
    delimiter : str, optional
        The character between the columns of a text file. By default it is detected: a comma, semicolon, tab
        or vertical bar.
    text : str or sequence of str, optional
        As for `from_frame`.
    image : str or sequence of str, default=()
        Columns of paths of pictures that the rows are compared by, from the folder of the file; see
        `from_frame`.
    series : bool, default=False
        As for `from_frame`.
    warp : bool, default=False
        Whether curves are compared by dynamic time warping, so that shapes may be shifted and stretched.
    show : sequence of str, default=()
        As for `from_frame`.
    hide : sequence of str, default=()
        As for `from_frame`.
    series_by : (str, str, str), optional
        The columns of ids, times and values of a long table, in which each row is one value of a curve. The
        curves are compared as with `series`. Each needs a value at every time; an empty value is a gap.
    merge_variants : bool, default=False
        As for `from_frame`.
    as_categories : sequence of str, default=()
        As for `from_frame`.
    log : sequence of str, default=()
        As for `from_frame`.
    keep_nested : bool, default=False
        Whether nested objects in JSON stay as they are, and are only shown. By default each of their fields
        becomes a column such as ``address.town``.
    encoding : str, optional
        The encoding of a text file, such as "windows-1252". By default UTF-8, else UTF-16 or Windows-1252
        where that is certain, with a note.
    sheet : str, optional
        The sheet of a spreadsheet. By default the first one.
    cycles : sequence of str, default=()
        Columns of dates or times by whose cycles rows are compared, too; see `from_frame`.
    weights : dict of str to float or "none", optional
        As for `from_frame`.
    metric : {"euclidean", "cosine"}, optional
        As for `from_frame`.
    text_by : {"words", "letters"}, default="words"
        As for `from_frame`.

    Returns
    -------
    Table
        The table; ``read_table(path, **table.choices)`` returns the same one again.

    Raises
    ------
    TypeError
        `path` is not the name of a file.
    DataError
        The file cannot be read, and the error names the line or byte; or `from_frame` does not accept the
        table.
    FileNotFoundError
        There is no such file.
    ImportError
        polars is missing, or openpyxl for a spreadsheet.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path is a {type(path).__name__}. Pass a file, or a table to from_frame.")
    path = Path(path)
    ending = check_ending(path)
    for option, given, endings in (
        ("delimiter", delimiter is not None, DELIMITED),
        ("encoding", encoding is not None, (*DELIMITED, *JSON_ENDINGS)),
        ("keep_nested", keep_nested, JSON_ENDINGS),
        ("sheet", sheet is not None, (SHEET,)),
    ):
        if given and ending not in endings:
            flag = "--" + option.replace("_", "-")
            raise DataError(
                f"'{path.name}' takes no {flag}, which is for files such as {endings[0]}. Remove it"
                f" (in Python, {option}=)."
            )
    try:
        frame, own_ids, used_delimiter, choices, notes = read_file(
            path, ending, delimiter, encoding, keep_nested, sheet
        )
        written: Mapping[str, nw.Series[Any]] = {}
        taken = [name for names in (drop, show, hide) for name in to_names(names) or ()]
        if id_column is None and own_ids not in taken:
            id_column = own_ids
        by = name_series_by(series_by, frame.columns, id_column)
        if by is not None:
            parse = partial(parse_plain, ending=ending, delimiter=used_delimiter)
            frame, more = pivot_series(frame, by, parse)
            id_column, series, choices = by.id, True, {**choices, "series_by": list(by)}
            notes = [*notes, *more]
        names = resolve_names(frame, id_column, columns, drop, text, show, hide, to_names(image) or ())
        if ending in WITH_TEXTS and by is None:
            keep = {names.id_column, *names.text, *names.image, *names.drop, *names.show}
            frame, parse_notes, written = parse_text(frame, keep, ending, used_delimiter)
            check_dates(frame, names.drop)
            notes = [*notes, *parse_notes]
        return understand(
            frame,
            names,
            delimiter=used_delimiter,
            series=series,
            warp=warp,
            merge_variants=merge_variants,
            as_categories=as_categories,
            log=log,
            cycles=cycles,
            weights=weights,
            metric=metric,
            text_by=text_by,
            written=written,
            folder=path.parent,
            reader_choices=choices,
            notes=notes,
        )
    except MemoryError as error:
        raise DataError(f"{path.name}: {too_large_for_memory()}") from error
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from error


def from_frame(
    frame: Any,
    *,
    id_column: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    text: str | Sequence[str] | None = None,
    image: str | Sequence[str] = (),
    series: bool = False,
    series_by: Sequence[str] | None = None,
    warp: bool = False,
    show: Sequence[str] = (),
    hide: Sequence[str] = (),
    merge_variants: bool = False,
    as_categories: Sequence[str] = (),
    log: Sequence[str] = (),
    cycles: Sequence[str] = (),
    weights: Weights | None = None,
    metric: Metric | None = None,
    text_by: Unit = "words",
) -> Table:
    """Understand a DataFrame or a 2-D array.

    Parameters
    ----------
    frame : DataFrame of pandas, polars or pyarrow, or ndarray of shape (n_rows, n_columns)
        The columns of an array are called x0, x1, ...
    id_column : str, optional
        Column that names the rows. By default a column called id, key, uuid or similar, if its values
        are unique and complete.
    columns : sequence of str, optional
        Columns to use as features, and no others. By default all suitable columns except those called
        class, label, target or similar. Beside texts there are none by default, and "all" stands for all
        suitable columns.
    drop : sequence of str, default=()
        Columns neither used nor shown.
    text : str or sequence of str, optional
        Columns of texts that the rows are compared by, and by nothing else unless `columns` names it.
    image : str or sequence of str, default=()
        Columns of paths of pictures that the rows are compared by, and by nothing else unless `columns` or
        `text` names it. Relative paths begin from the current folder.
    series : bool, default=False
        Whether each row is a curve: one column of lists, or a column of numbers for each sample, in the
        order of the table.
    series_by : (str, str, str), optional
        The columns of ids, times and values of a long table, in which each row is one value of a curve. The
        curves are compared as with `series`. Each needs a value at every time; a missing value is a gap. The
        `frame` of the table that is returned has a row for each curve.
    warp : bool, default=False
        Whether curves are compared by dynamic time warping, so that shapes may be shifted and stretched.
    show : sequence of str, default=()
        Columns that a person sees and the rows are not compared by.
    hide : sequence of str, default=()
        Columns that a person does not see. The rows are compared by those that can serve.
    merge_variants : bool, default=False
        Whether spellings of one category that differ only in case, spaces or accents, such as ``"Retail"``
        and ``"retail "``, are read as one value. A note lists them. By default a note only proposes it.
    as_categories : sequence of str, default=()
        Columns of numbers that are codes, such as zip codes. Rows are compared by whether they are equal.
    log : sequence of str, default=()
        Columns of amounts, such as incomes, of which a few are far larger than the others. Rows are compared
        by the logarithms, and people see the amounts. If there are zeros, the smallest positive value is
        added to all values of the column first. Negative values are an error.
    cycles : sequence of str, default=()
        Columns of dates or times by whose cycles rows are compared, too: hours of the day, days of the week
        and days of the year, those of them that the values go through more than once. ``"sent=hour"``,
        ``"sent=weekday"`` and ``"sent=season"`` name a single one. Each counts as one column, such as ``sent
        (hour)``, which `weights` may name.
    weights : dict of str to float or "none", optional
        How much columns and blocks count in the squared distance, 1 where a name is missing. Each column of
        texts, of pictures and of lists is a block, and all other columns together are the block "columns".
        With several blocks each takes the same share of the squared distance, times its weight; the weight
        of a column counts within its block. A column of weight 0 is only shown. "none" leaves the blocks as
        they are.
    metric : {"euclidean", "cosine"}, optional
        "cosine" scales each list of numbers to norm 1, or each row if there are no lists. A row of zeros
        stays as it is. By default this is chosen, with a note, where all rows have norm 1 already.
    text_by : {"words", "letters"}, default="words"
        Whether texts are compared by their words, or by groups of two and three letters, which suits short
        texts with typing errors, such as names.

    Returns
    -------
    Table
        The table, with the role of each column and notes about the choices made.

    Raises
    ------
    DataError
        Unknown or repeated column names, ids that are not unique and complete, no rows, no column left to
        cluster by, or with `series_by` curves that have two values at a time or none.
    ImportError
        polars is missing, which `series_by` needs.
    """
    table, notes = to_narwhals(frame), _index_note(frame)
    choices = {}
    by = name_series_by(series_by, table.columns, id_column)
    if by is not None:
        table, more = pivot_frame(table, by)
        id_column, series, choices, notes = by.id, True, {"series_by": list(by)}, [*notes, *more]
    names = resolve_names(table, id_column, columns, drop, text, show, hide, to_names(image) or ())
    return understand(
        table,
        names,
        series=series,
        warp=warp,
        merge_variants=merge_variants,
        as_categories=as_categories,
        log=log,
        cycles=cycles,
        weights=weights,
        metric=metric,
        text_by=text_by,
        reader_choices=choices,
        notes=notes,
    )


def _index_note(frame: Any) -> list[str]:
    """Note that the index of pandas is not read; no note if it only counts the rows."""
    index = getattr(frame, "index", None)
    if index is None or type(index).__name__ == "RangeIndex" or not hasattr(frame, "reset_index"):
        return []
    return ["The index of the frame is not used; frame.reset_index() makes a column of it."]
