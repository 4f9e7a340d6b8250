"""Read JSON lines as a table: one object on each line, one column for each key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from linkwise.errors import DataError
from linkwise.limits import check_cells, check_columns, check_expansion
from linkwise.text_files import check_unique, decode

if TYPE_CHECKING:
    import polars as pl


def read_json_lines(raw: bytes) -> pl.DataFrame:
    """Parse a file of JSON lines.

    Parameters
    ----------
    raw : bytes
        The contents of the file, in UTF-8.

    Returns
    -------
    polars.DataFrame of shape (n_rows, n_columns)
        Integers keep all their digits. A column that mixes texts with numbers or truth values is text. Lists
        and objects stay as they are.

    Raises
    ------
    DataError
        A line is not a JSON object, the file is empty, or the table is too large.
    """
    import polars as pl

    text = decode(raw)
    columns: dict[str, list[Any]] = {}
    n_rows = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.isspace():
            continue
        for name, value in _parse_line(line, number).items():
            values = columns.setdefault(name, [])
            values += [None] * (n_rows - len(values))
            values.append(value)
        n_rows += 1
        check_columns(len(columns))
    if not columns:
        raise DataError("The file is empty. Write one JSON object on each line.")
    check_cells(n_rows, len(columns))
    check_expansion(8 * n_rows * len(columns), len(raw))
    return pl.DataFrame([_to_series(name, v + [None] * (n_rows - len(v))) for name, v in columns.items()])


def _parse_line(line: str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line, object_pairs_hook=_check_keys)
    except DataError as error:
        raise DataError(f"Line {number}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"Line {number} is not JSON: {error}. Write one object on each line.") from error
    if "\\u" in line:
        _check_characters(value, number)
    if not isinstance(value, dict):
        raise DataError(f"Line {number} is a JSON {type(value).__name__}. Write one object on each line.")
    return value


def _check_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        check_unique(name for name, _ in pairs)
    return found


def _check_characters(value: Any, number: int) -> None:
    """Raise if JSON escapes one half of a character that UTF-16 writes as two; text cannot hold it."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"Line {number} has an escape that is no character: {error.reason}.") from error


def _to_series(name: str, values: list[Any]) -> pl.Series:
    import polars as pl

    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds == {int} and all(value is None or -(2**63) <= value < 2**63 for value in values):
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds in ({float}, {int, float}):
        numbers = [None if value is None else _to_float(value) for value in values]
        return pl.Series(name, numbers, dtype=pl.Float64)
    if kinds & {list, dict}:
        return pl.Series(name, values, dtype=pl.Object)
    texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return pl.Series(name, texts, dtype=pl.String)


def _to_float(value: float) -> float:
    """Integers too large for a float become infinite, as the same number written 1e999 is."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
