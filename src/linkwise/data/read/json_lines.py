"""Read JSON as a table: one object on each line, an array of objects, or one object with columns or rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.errors import DataError
from linkwise.limits import check_cells, check_columns, check_expansion, check_name_lengths
from linkwise.text_files import check_unique, decode
from linkwise.wording import shorten

if TYPE_CHECKING:
    import polars as pl

TEXT = "text"  # the name of the column that texts alone make


class JsonTable(NamedTuple):
    """A table from a file of JSON. Integers keep all their digits, and lists stay as they are.

    A column that mixes texts with numbers or truth values is text. `nested` are the columns that hold
    fields of nested objects, such as ``"address.town"``; `has_objects` tells whether the file holds such
    objects, as columns or as they are.
    """

    frame: pl.DataFrame
    nested: list[str]
    has_objects: bool
    is_one_object: bool


def read_json(raw: bytes, keep_nested: bool = False) -> JsonTable:
    """Parse a file with one JSON object on each line, one array of objects, or one object of another form.

    An object may hold columns (``{"a": [1, 2]}`` or ``{"a": {"0": 1, "1": 2}}``, as pandas writes them),
    one list of objects (``{"data": [{"a": 1}]}``), columns and rows (``{"columns": ["a"], "data":
    [[1]]}``), or the features of GeoJSON, whose points become the columns longitude and latitude. Each
    field of a nested object becomes a column unless `keep_nested`.
    """
    import polars as pl

    text = decode(raw)
    n_rows = 0
    filled: dict[str, tuple[list[int], list[Any]]] = {}  # by column: rows with a value, and their values
    whole = _parse_whole(text)
    for record in _find_records(text) if whole is None else whole:
        for name, value in record.items():
            rows, values = filled.setdefault(name, ([], []))
            rows.append(n_rows)
            values.append(value)
        n_rows += 1
    if not filled:
        raise DataError("The file is empty. Write one JSON object on each line.")
    check_columns(len(filled))
    check_cells(n_rows, len(filled))
    check_expansion(8 * n_rows * len(filled), len(raw))
    columns = {name: _spread_values(*found, n_rows) for name, found in filled.items()}
    has_objects = any(_holds_objects(values) for values in columns.values())
    fields = columns if keep_nested or not has_objects else _flatten(columns, len(raw))
    frame = pl.DataFrame([to_series(name, values) for name, values in fields.items()])
    return JsonTable(frame, [name for name in fields if name not in columns], has_objects, whole is not None)


def _spread_values(rows: list[int], values: list[Any], n_rows: int) -> list[Any]:
    """Put the values of a column into their rows; the other rows have none."""
    if len(rows) == n_rows:
        return values
    spread: list[Any] = [None] * n_rows
    for row, value in zip(rows, values, strict=True):
        spread[row] = value
    return spread


def _holds_objects(values: list[Any]) -> bool:
    """Whether a column holds objects and nothing else; mixed with other values they stay as they are."""
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, dict) for value in known)


def _flatten(columns: dict[str, list[Any]], n_bytes: int) -> dict[str, list[Any]]:
    """Give each field of nested objects a column such as a.b; `n_bytes` is the size of the file."""
    fields: dict[str, list[Any]] = {}
    waiting = list(reversed(columns.items()))
    while waiting:
        name, values = waiting.pop()
        if name in fields:
            raise DataError(f"Two fields are called {shorten(name)!r}, one of them nested. Rename one.")
        if not _holds_objects(values):
            fields[name] = values
            continue
        check_name_lengths([name])
        inner: dict[str, list[Any]] = {}
        for row, value in enumerate(values):
            for key, one in (value or {}).items():
                if key not in inner:
                    n_columns = len(fields) + len(waiting) + len(inner) + 1
                    check_cells(len(values), n_columns)
                    check_expansion(8 * len(values) * n_columns, n_bytes)
                    inner[key] = [None] * len(values)
                inner[key][row] = one
        waiting += [(f"{name}.{key}", some) for key, some in reversed(inner.items())]
        if not inner:  # empty objects hold nothing
            fields[name] = [None] * len(values)
    return fields


def _find_records(text: str) -> Iterator[dict[str, Any]]:
    """The rows of an array, or of lines."""
    return _parse_array(text) if text.lstrip()[:1] == "[" else _parse_lines(text)


def _parse_whole(text: str) -> list[dict[str, Any]] | None:
    """The rows of a file that is one object; None if it is no such file, or the object is a row."""
    text = text.strip()
    if text[:1] != "{":
        return None
    try:
        # of JSON lines this parses the first one alone
        value, end = json.JSONDecoder(object_pairs_hook=_check_keys).raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if end < len(text):
        return None
    if "\\u" in text:
        _check_characters(value, "The file")
    records = rows_of_object(value)
    if records is None and "\n" in text:
        raise DataError(
            "The file is one JSON object, but holds neither columns nor a list of objects. Write one array of"
            " objects, or one object on each line."
        )
    return records


def _parse_lines(text: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.isspace():
            where = f"Line {number}"
            try:
                value = json.loads(line, object_pairs_hook=_check_keys)
            except DataError as error:
                raise DataError(f"{where}: {error}") from None
            except (ValueError, RecursionError) as error:
                raise DataError(f"{where} is not JSON: {error}. Write one object on each line.") from error
            if "\\u" in line:
                _check_characters(value, where)
            if not isinstance(value, dict):
                raise DataError(f"{where} is a JSON {type(value).__name__}. Write one object on each line.")
            yield value


def _parse_array(text: str) -> Iterator[dict[str, Any]]:
    """The objects of an array; texts alone are a column."""
    try:
        values = json.loads(text, object_pairs_hook=_check_keys)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"The file is not JSON: {error}. Write one array of objects, or one object on each line."
        ) from error
    has_escapes = "\\u" in text
    if values and all(isinstance(value, str) for value in values):
        values = [{TEXT: value} for value in values]
    for number, value in enumerate(values):
        where = f"Element {number} (counted from 0)"
        if not isinstance(value, dict):
            raise DataError(f"{where} is a JSON {type(value).__name__}. Write an array of objects.")
        if has_escapes:
            _check_characters(value, where)
        yield value


def _check_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        check_unique(name for name, _ in pairs)
    return found


def _check_characters(value: Any, where: str) -> None:
    """Raise if JSON escapes one half of a character that UTF-16 writes as two; text cannot hold it."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{where} has an escape that is no character: {error.reason}.") from error


def to_series(name: str, values: list[Any]) -> pl.Series:
    """Make a column with the type that all values share; texts and other values together become texts."""
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


# ---------------------------------------------------------------- one object for all rows
# Find the rows in one JSON object: by columns, in a list of objects, in columns and rows, or in GeoJSON.
Rows = list[dict[str, Any]]


def rows_of_object(value: dict[str, Any]) -> Rows | None:
    """Find the rows of an object; None if the object is a row itself."""
    if value.get("type") == "FeatureCollection" and isinstance(value.get("features"), list):
        return [_read_feature(feature) for feature in value["features"]]
    names, lines = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(lines, list) and all(isinstance(row, list) for row in lines):
        return _join_rows(names, lines)
    lists = {name: held for name, held in value.items() if _is_table(held)}
    if len(lists) == 1:
        return list(next(iter(lists.values())))
    if len(lists) > 1:
        raise DataError(
            f"The object holds several lists of objects: {', '.join(map(repr, list(lists)[:8]))}. Save one of"
            " them as a file."
        )
    held = list(value.values())
    if held and all(isinstance(column, list) for column in held):
        return _join_columns(value)
    if held and all(isinstance(column, dict) for column in held):
        keys = list(held[0])
        if len(keys) > 1 and all(column.keys() == held[0].keys() for column in held):
            # columns of pandas count their rows; objects with names of fields are rows
            if all(key.lstrip("-").isdecimal() for key in keys):
                return _join_columns({name: list(column.values()) for name, column in value.items()})
            return [{"name": name, **row} if "name" not in row else row for name, row in value.items()]
    return None


def _is_table(held: Any) -> bool:
    return isinstance(held, list) and len(held) > 0 and all(isinstance(one, dict) for one in held)


def _join_columns(columns: dict[str, list[Any]]) -> Rows:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        some = ", ".join(f"{name} {length}" for name, length in list(lengths.items())[:8])
        raise DataError(f"The columns of the object differ in length: {some}. Make them equally long.")
    check_cells(next(iter(lengths.values())), len(lengths))
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _join_rows(names: Sequence[Any], lines: Sequence[list[Any]]) -> Rows:
    called = [str(name) for name in names]
    check_unique(called)
    for row, cells in enumerate(lines):
        if len(cells) != len(called):
            raise DataError(
                f'Row {row} (counted from 0) of "data" has {len(cells)} values for {len(called)} columns. Fix'
                " the row."
            )
    return [dict(zip(called, cells, strict=True)) for cells in lines]


def _read_feature(feature: Any) -> dict[str, Any]:
    """The properties of a feature, with the middle of its points as longitude and latitude."""
    if not isinstance(feature, dict):
        raise DataError("A feature of the file is no object. Save the file again as GeoJSON.")
    properties = feature.get("properties")
    cells = dict(properties) if isinstance(properties, dict) else {}
    if "id" in feature and "id" not in cells and isinstance(feature["id"], str | int):
        cells = {"id": feature["id"], **cells}
    geometry = feature.get("geometry")
    points = _find_points(geometry.get("coordinates")) if isinstance(geometry, dict) else []
    if points:
        for place, name in enumerate(("longitude", "latitude")):
            if name not in cells:
                cells[name] = sum(point[place] for point in points) / len(points)
    return cells


def _find_points(coordinates: Any) -> list[tuple[float, float]]:
    """All points of a geometry, however deep its lists are."""
    found: list[tuple[float, float]] = []
    waiting = [coordinates]
    while waiting:
        one = waiting.pop()
        if not isinstance(one, list) or not one:
            continue
        if all(isinstance(number, int | float) and not isinstance(number, bool) for number in one[:2]):
            if len(one) > 1:
                found.append((float(one[0]), float(one[1])))
        else:
            waiting += one
    return found
