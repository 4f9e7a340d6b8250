"""Weights and metrics that a person gives, and the metric that fits rows of norm 1."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.data.columns.roles import FEATURE_ROLES, Column, to_numbers
from linkwise.data.reading import Metric
from linkwise.errors import DataError
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw

COLUMNS = "columns"
"""Name of the block of all columns that hold neither texts, pictures nor lists."""
_UNIT = 1e-3  # how far the norm of an embedding in half precision may be from 1


def check_weighed_names(weights: Mapping[str, float], found: Sequence[Column], lists: Sequence[str]) -> None:
    """Check that each name with a weight is a block or a column that rows are compared by.

    A name with weight 0 must only be there.
    """
    columns = [c.name for c in found if c.role in FEATURE_ROLES and c.role != "vector"]
    compared = [*columns, *lists]
    others = any(column.role not in ("document", "image", "vector", *_UNUSED) for column in found)
    if others and (lists or any(column.role in ("document", "image") for column in found)):
        compared.append(COLUMNS)
    there = {column.name for column in found}
    for name, weight in weights.items():
        if weight == 0 and name in there:
            continue
        if weight == 0 and name == COLUMNS and name in compared:
            raise DataError(
                "The block 'columns' has weight 0. Remove the columns, or set the weight of each to 0."
            )
        if name in compared:
            continue
        ways = f"Rows are compared by: {join_names(compared, 30)}."
        if name in there:
            raise DataError(f"Column '{name}' is not compared, so it has no weight. {ways}")
        folded = {one.casefold(): one for one in compared}
        near = difflib.get_close_matches(name.casefold(), folded, n=1)
        hint = f" Did you mean '{folded[near[0]]}'?" if near else ""
        raise DataError(f"There is no column or block '{name}' to give a weight.{hint} {ways}")


_UNUSED = ("text", "id", "label", "constant", "left out")


def choose_metric(
    frame: nw.DataFrame[Any], found: Sequence[Column], lists: Mapping[str, Sequence[str]], given: str | None
) -> Metric | None:
    """Return the metric that was given, or "cosine" if all rows of numbers have norm 1 already.

    Raises `DataError` if the cosine was asked for, and rows are also compared by categories or dates.
    """
    used = [c for c in found if c.role in FEATURE_ROLES and c.role not in ("document", "image")]
    others = [column for column in used if column.role != "numeric"]
    if given == "cosine" and not lists and (others or len(used) < 2):
        why = f"'{others[0].name}' is a {others[0].role}" if others else "there are fewer than 2 such columns"
        raise DataError(
            f"The cosine compares rows of numbers, but {why}. Use the columns that hold an embedding, or "
            "one column of lists, with --columns (in Python, columns=[...])."
        )
    if given is not None:
        return "cosine" if given == "cosine" else "euclidean"
    groups = list(lists.values()) or ([] if others or len(used) < 2 else [[c.name for c in used]])
    return "cosine" if groups and all(_have_unit_norm(frame, names) for names in groups) else None


def _have_unit_norm(frame: nw.DataFrame[Any], names: Sequence[str]) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        squares = sum(np.square(to_numbers(frame.get_column(name))) for name in names)
        return bool((np.abs(np.sqrt(squares) - 1) <= _UNIT).all())
