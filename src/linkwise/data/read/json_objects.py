"""Find the rows in one JSON object: by columns, in a list of objects, in columns and rows, or in GeoJSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.errors import DataError
from linkwise.limits import check_cells
from linkwise.text_files import check_unique

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
