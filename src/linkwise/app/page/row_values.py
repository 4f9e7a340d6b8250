"""A short line about a row, beside its name in lists."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.app.page.cards import RowView
from linkwise.wording import shorten

MOST_FIELDS = 4
LONGEST_VALUE = 24
LONGEST_TEXT = 100


def summarize_rows(view: RowView, rows: Sequence[int]) -> list[str]:
    """Return a line about each row: the beginning of its text, or a few values, those that differ first.

    Parameters
    ----------
    view : RowView
    rows : sequence of int
        The rows of a pair. All lines are about the same columns.

    Returns
    -------
    list of str
        Empty lines for pictures and curves without columns beside them.
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
