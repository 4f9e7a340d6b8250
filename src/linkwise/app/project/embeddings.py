"""Rows that are compared by numbers without a meaning, such as embeddings, and what people see of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from linkwise.data import Encoded, Rows
from linkwise.wording import count_noun, join_names, merge_full_stops

MOST_READABLE = 30  # numbers without names
_NUMBERED = re.compile(r"x\d+")


@dataclass(frozen=True, slots=True)
class SeenRows:
    """What people see of rows that are compared by something else.

    `columns` are in their own units. ``show(row)`` says in a few words what the row is; empty if people
    see nothing of it. `sentence` tells what was compared, and what is only shown.
    """

    columns: Encoded | None
    texts: Sequence[str] | None
    show: Callable[[int], str]
    sentence: str


def is_embedding(rows: Rows) -> bool:
    """Whether rows are compared by numbers of lists, or by many numbers without names."""
    features = rows.encoded.features
    if rows.table.kind != "record":
        return False
    if all(feature.role == "vector" for feature in features):
        return True
    return len(features) > MOST_READABLE and all(_NUMBERED.fullmatch(one.name) for one in features)


def find_seen_rows(rows: Rows, file: str, way: str) -> SeenRows | None:
    """What people see of rows in place of what is compared; None where they see what is compared.

    `way` says how to give ``--show FILE``.
    """
    side, n_compared = rows.side, len(rows.table.features)
    if rows.table.kind != "record" or (side is None and not is_embedding(rows)):
        return None
    noun = "number" if is_embedding(rows) else "column"
    compared = f"Rows are compared by {count_noun(n_compared, noun)} of {file}."
    if side is None:
        beside = rows.table.shown
        sentence = (
            f"{compared} To see what the rows are, {way} --show FILE, where FILE is a table about them."
        )
        if beside:
            sentence = f"{compared} The other columns are only shown: {join_names(beside)}."
        sentence = merge_full_stops(sentence)
        return SeenRows(None, None, lambda row: _join_cells(rows.table.item(row, beside)), sentence)
    names = join_names(side.frame.columns)
    are_shown = "columns of {} are" if len(side.frame.columns) > 1 else "column of {} is"
    sentence = merge_full_stops(f"{compared} The {are_shown.format(side.file)} only shown: {names}.")
    texts, cells = side.texts, side.cells
    show = (lambda row: _join_cells(cells(row))) if texts is None else texts.__getitem__
    return SeenRows(side.columns, texts, show, sentence)


def _join_cells(cells: dict[str, str]) -> str:
    return ", ".join(cells.values())
