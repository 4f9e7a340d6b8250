"""How a row looks to the person who judges it, as values for JSON."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from linkwise.app.project.data_source import columns_of_rules
from linkwise.app.project.group_rows import describe_choices, describe_groups
from linkwise.app.project.project import Project
from linkwise.data import Encoded, Items, Rows
from linkwise.data.cells import MISSING
from linkwise.data.columns.cycles import cycle_of
from linkwise.data.encoding.encoded import Feature, block_of
from linkwise.data.read.picture_files import png
from linkwise.data.show.items import value_items
from linkwise.data.show.side_table import name_in_data
from linkwise.wording import shorten

MOST_FIELDS = 4
MOST_CARD_FIELDS = 6  # of a card among others
LONGEST_VALUE = 24
LONGEST_TEXT = 100

Place = Mapping[str, float]
Grade = Literal["most", "plain", "slight"]
"""How much two rows differ in a column, beside the other columns."""
MOST_FROM, SLIGHT_TO = 0.5, 0.04  # of the part of the squared distance that the leading column has


@dataclass(frozen=True, slots=True)
class RowView:
    """How a page shows the rows.

    ``name(row)`` returns the name of a row, and ``places(row)`` where its numbers lie between the lowest
    and the highest of their columns. `compared` are the rows as numbers, between which distances are
    measured; None if it is unknown which columns are compared.
    """

    items: Items
    name: Callable[[int], str] = "row {}".format
    places: Callable[[int], Place] = lambda row: {}
    compared: Encoded | None = None

    def render(self, row: int) -> dict[str, Any]:
        """Return everything that is shown of a row."""
        values = self.items.fields(row)
        # a person should not see the number that replaces a missing one while clustering
        where = {name: place for name, place in self.places(row).items() if values.get(name) != MISSING}
        fields = [{"name": name, "value": value, "place": where.get(name)} for name, value in values.items()]
        return {"row": row, "name": self.name(row), "fields": fields, **self._content(row)}

    def _content(self, row: int) -> dict[str, Any]:
        items, content = self.items, self.items.content(row)
        if isinstance(content, bytes):
            return {"image": _to_url(content)}
        beside = {} if items.pixels is None else {"image": _to_url(png(items.pixels(row)))}
        return beside if content is None or items.kind == "record" else {**beside, items.kind: content}


def _to_url(picture: bytes) -> str:
    """Turn a PNG into a URL that holds it."""
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def compare_rows(
    one: Mapping[str, Any], other: Mapping[str, Any], compared: Encoded | None
) -> dict[str, Any]:
    """Return how two rows differ, as fields of a question.

    ``differing`` grades each field in which the rows differ by its part of their squared distance, so by
    scales, logarithms, categories and weights: "most" from half of the largest part on, and "slight" below a
    twenty-fifth of it. ``content`` grades the text, the picture or the curve in the same way, and is None if
    rows are not compared by it. ``only_shown`` are the fields that do not count in the distance.

    Parameters
    ----------
    one, other : dict
        The rows, as `RowView.render` returns them.
    compared : Encoded or None
        The rows as numbers; if it is None, every difference is "plain".
    """
    values, theirs = ({field["name"]: field["value"] for field in row["fields"]} for row in (one, other))
    differing = [name for name in values if theirs.get(name) != values[name]]
    if compared is None:
        return {"differing": dict.fromkeys(differing, "plain"), "content": None, "only_shown": []}
    gaps = compared.X[one["row"]] - compared.X[other["row"]]
    parts = _sum_by_field(compared, gaps**2, values)
    largest = max(parts.values(), default=0.0)
    return {
        "differing": {name: _grade(parts.get(name, 0.0), largest) for name in differing},
        "content": _grade(parts[None], largest) if None in parts else None,
        "only_shown": [name for name in values if name not in parts],
    }


def choose_fields(rows: Sequence[Mapping[str, Any]], compared: Encoded | None) -> list[str]:
    """Choose the fields by which some rows differ most, as many as fit on a card, in their order.

    Parameters
    ----------
    rows : sequence of dict
        The rows, as `RowView.render` returns them.
    compared : Encoded or None
        The rows as numbers; if it is None, all differences count alike.
    """
    values = [{field["name"]: field["value"] for field in row["fields"]} for row in rows]
    names = list(dict.fromkeys(name for each in values for name in each))
    differing = [name for name in names if len({each.get(name) for each in values}) > 1]
    parts: dict[str | None, float] = {}
    if compared is not None and rows:
        X = compared.X[[row["row"] for row in rows]]
        parts = _sum_by_field(compared, ((X - X.mean(axis=0)) ** 2).sum(axis=0), values[0])
    ranked = sorted(names, key=lambda name: (-parts.get(name, 0.0), name not in differing))
    return [name for name in names if name in ranked[:MOST_CARD_FIELDS]]


def _sum_by_field(
    compared: Encoded, squares: NDArray[np.float64], fields: Mapping[str, Any]
) -> dict[str | None, float]:
    """Sum what each feature adds to a squared distance by the field that shows it; None is the content."""
    parts: dict[str | None, float] = {}
    for feature, square in zip(compared.features, squares.tolist(), strict=True):
        shown = _find_shown(feature, fields)
        if shown != "":
            parts[shown] = parts.get(shown, 0.0) + square
    return parts


def _find_shown(feature: Feature, fields: Mapping[str, Any]) -> str | None:
    """The field that shows a feature, None if it is the content of the row, or "" if nothing does."""
    if feature.role == "document" and feature.source in fields:  # of records, whose texts are fields
        return feature.source
    if feature.role in ("document", "image", "sample"):
        return None
    name = block_of(feature) or feature.source
    if name not in fields and feature.cycle is not None:
        name = cycle_of(name).column
    return name if name in fields else ""


def _grade(part: float, largest: float) -> Grade:
    """Grade a part of the squared distance beside the largest one."""
    if part < SLIGHT_TO * largest or part == 0:
        return "slight"
    return "most" if part >= MOST_FROM * largest else "plain"


def create_namer(ids: Sequence[str] | None) -> Callable[[int], str]:
    """Return a function that names rows by their ids, or by their positions."""
    return "row {}".format if ids is None else ids.__getitem__


def view_numbers(X: NDArray[Any], names: Sequence[str], ids: Sequence[str] | None = None) -> RowView:
    """Return a view of an array of shape (n_rows, n_columns) with named columns."""
    features = tuple(Feature(name, name, None, "numeric") for name in names)
    places = locate_numbers(X, dict(enumerate(names)))
    return RowView(value_items(X, names), create_namer(ids), places, Encoded(X, features, ()))


def locate_numbers(X: NDArray[Any], names: Mapping[int, str]) -> Callable[[int], Place]:
    """Return a function that locates the numbers of a row; `names` has the columns by position."""
    columns = list(names)
    low, spread = X.min(axis=0)[columns], np.ptp(X, axis=0)[columns]
    spread[spread == 0] = 1.0
    return lambda row: dict(zip(names.values(), ((X[row, columns] - low) / spread).tolist(), strict=True))


def numeric_columns(encoded: Encoded) -> dict[int, str]:
    """Return the names of the columns that hold numbers or dates, by position."""
    others = ("category", "cycle")
    return {j: feature.source for j, feature in enumerate(encoded.features) if feature.role not in others}


# ---------------------------------------------------------------- lists of rows
def summarize_rows(view: RowView, rows: Sequence[int]) -> list[str]:
    """Return a line about each row: the beginning of its text, or a few values, those that differ first.

    All lines are about the same columns. They are empty for pictures and curves without columns beside
    them.
    """
    if view.items.kind == "text":
        return [shorten(" ".join(str(view.items.content(row)).split()), LONGEST_TEXT) for row in rows]
    values = [view.items.fields(row) for row in rows]
    names = list(dict.fromkeys(name for each in values for name in each))
    differing = [name for name in names if len({each.get(name) for each in values}) > 1]
    chosen = set([*differing, *(name for name in names if name not in differing)][:MOST_FIELDS])
    return [
        " · ".join(
            f"{name} {shorten(each[name], LONGEST_VALUE)}" for name in names if name in chosen & each.keys()
        )
        for each in values
    ]


# ---------------------------------------------------------------- data files
def view_rows(rows: Rows, ids: Sequence[str] | None, compared: Encoded | None) -> RowView:
    """Return a view of rows that `linkwise.read` returned, with places for the numbers that it shows."""
    view, numbers = RowView(rows.items, create_namer(ids), compared=compared), rows.shown_numbers
    if rows.side is not None and compared is not None:  # what is called the same there is another column
        names = rows.side.cells(0)
        features = (
            replace(one, source=name_in_data(one.source)) if one.source in names else one
            for one in compared.features
        )
        view = replace(view, compared=replace(compared, features=tuple(features)))
    if numbers is None:
        return view
    return replace(view, places=locate_numbers(numbers.X, numeric_columns(numbers)))


def view_project(project: Project) -> RowView:
    """Return how the rows of a data file are shown."""
    return view_rows(project.rows, project.table.ids, project.encoded)


def project_columns(project: Project) -> Encoded | None:
    """Return the columns in their own units in which rules are made."""
    return columns_of_rules(project.rows)


def project_notes(project: Project) -> list[str]:
    """Return how the data were read, and what is advised before the first question."""
    groups, notes = project.group_table, list(project.rows.notes)
    if groups is not None:
        notes = [describe_groups(project.data, groups, is_chosen=False), *describe_choices(groups)]
    return [*notes, *project.advice.sentences]
