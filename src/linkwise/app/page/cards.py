"""How a row looks to the person who judges it, as values for JSON."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.app.project.data_source import columns_of_rules
from linkwise.app.project.project import Project
from linkwise.data import Encoded, Items
from linkwise.data.cells import MISSING
from linkwise.data.read.picture_files import png
from linkwise.data.show.items import value_items
from linkwise.wording import shorten

MOST_FIELDS = 4
LONGEST_VALUE = 24
LONGEST_TEXT = 100

Place = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RowView:
    """How a page shows the rows.

    ``name(row)`` returns the name of a row, and ``places(row)`` where its numbers lie between the lowest
    and the highest of their columns.
    """

    items: Items
    name: Callable[[int], str] = "row {}".format
    places: Callable[[int], Place] = lambda row: {}

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
        return beside if content is None else {**beside, items.kind: content}


def _to_url(picture: bytes) -> str:
    """Turn a PNG into a URL that holds it."""
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def list_differing_fields(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields in which two rows differ."""
    theirs = {field["name"]: field["value"] for field in other["fields"]}
    return [field["name"] for field in one["fields"] if theirs.get(field["name"]) != field["value"]]


def create_namer(ids: Sequence[str] | None) -> Callable[[int], str]:
    """Return a function that names rows by their ids, or by their positions."""
    return "row {}".format if ids is None else ids.__getitem__


def view_numbers(X: NDArray[Any], names: Sequence[str], ids: Sequence[str] | None = None) -> RowView:
    """Return a view of an array of shape (n_rows, n_columns) with named columns."""
    return RowView(value_items(X, names), create_namer(ids), locate_numbers(X, dict(enumerate(names))))


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
def view_project(project: Project) -> RowView:
    """Return how the rows of a data file are shown."""
    view, numbers = RowView(project.items, create_namer(project.table.ids)), project.rows.shown_numbers
    if numbers is None:
        return view
    return replace(view, places=locate_numbers(numbers.X, numeric_columns(numbers)))


def project_columns(project: Project) -> Encoded | None:
    """Return the columns in their own units in which rules are made."""
    return columns_of_rules(project.rows)


def project_notes(project: Project) -> list[str]:
    """Return how the data were read, and what is advised before the first question."""
    return [*project.rows.notes, *project.advice.sentences]
