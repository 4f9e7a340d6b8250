"""The short lines about rows in the history and in dialogs."""

from __future__ import annotations

from linkwise.app.page.cards import RowView, summarize_rows
from linkwise.data.show.items import Items, text_items, value_items


def test_a_record_is_told_by_what_differs_first():
    names = ("a", "b", "c", "d", "e", "f")
    view = RowView(value_items([[1, 2, 3, 4, 5, 6], [1, 0, 3, 0, 5, 0]], names))
    assert summarize_rows(view, [0, 1]) == ["a 1 · b 2 · d 4 · f 6", "a 1 · b 0 · d 0 · f 0"]
    assert summarize_rows(view, [1]) == ["a 1 · b 0 · c 3 · d 0"]
    assert summarize_rows(view, []) == []


def test_long_values_are_cut():
    view = RowView(Items("record", lambda row: {"a": "x" * 50}, lambda row: None))
    assert summarize_rows(view, [0]) == [f"a {'x' * 23}…"]


def test_a_text_is_told_by_its_beginning():
    view = RowView(text_items(["one\n two", "z" * 300]))
    assert summarize_rows(view, [0, 1]) == ["one two", "z" * 99 + "…"]


def test_a_curve_without_columns_has_no_line():
    view = RowView(Items("series", lambda row: {}, lambda row: [1.0, None]))
    assert summarize_rows(view, [0, 1]) == ["", ""]
