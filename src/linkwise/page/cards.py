"""What a row looks like to the person who judges it, as JSON."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.data import Encoded, Items
from linkwise.data.cells import MISSING
from linkwise.data.items import value_items

Place = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RowView:
    """The rows as a page shows them.

    Attributes
    ----------
    items : Items
    name : callable
        ``name(row)``: what a row is called.
    places : callable
        ``places(row)``: where its numbers stand between the lowest and the highest of their columns.
    """

    items: Items
    name: Callable[[int], str] = "row {}".format
    places: Callable[[int], Place] = lambda row: {}

    def shown(self, row: int) -> dict[str, Any]:
        """All that is shown of a row."""
        values = self.items.fields(row)
        # what stands in for a missing number while clustering is nothing that a person should see
        where = {name: place for name, place in self.places(row).items() if values.get(name) != MISSING}
        fields = [{"name": name, "value": value, "place": where.get(name)} for name, value in values.items()]
        return {"row": row, "name": self.name(row), "fields": fields, **self._content(row)}

    def _content(self, row: int) -> dict[str, Any]:
        content = self.items.content(row)
        if content is None:
            return {}
        if isinstance(content, bytes):
            return {"image": f"data:image/png;base64,{base64.b64encode(content).decode()}"}
        return {self.items.kind: content}


def list_differing_fields(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Names of the fields that two shown rows do not share."""
    theirs = {field["name"]: field["value"] for field in other["fields"]}
    return [field["name"] for field in one["fields"] if theirs.get(field["name"]) != field["value"]]


def create_namer(ids: Sequence[str] | None) -> Callable[[int], str]:
    """Rows called by their ids, or by their positions."""
    return "row {}".format if ids is None else ids.__getitem__


def view_numbers(X: NDArray[Any], names: Sequence[str], ids: Sequence[str] | None = None) -> RowView:
    """Rows of an array of shape (n_rows, n_columns), under the names of its columns."""
    return RowView(value_items(X, names), create_namer(ids), locate_numbers(X, dict(enumerate(names))))


def locate_numbers(X: NDArray[Any], names: Mapping[int, str]) -> Callable[[int], Place]:
    """Where the numbers of a row stand; `names`: of some columns of `X`, by their positions."""
    columns = list(names)
    low, spread = X.min(axis=0)[columns], np.ptp(X, axis=0)[columns]
    spread[spread == 0] = 1.0
    return lambda row: dict(zip(names.values(), ((X[row, columns] - low) / spread).tolist(), strict=True))


def numeric_columns(encoded: Encoded) -> dict[int, str]:
    """The columns of a matrix that are numbers or dates, by position, as the table calls them."""
    return {j: feature.source for j, feature in enumerate(encoded.features) if feature.role != "category"}
