"""What speaks for a match and against it, in words."""

from __future__ import annotations

import pytest

from linkwise.learn.pair_explanation import PairExplanation, describe_effects


def test_columns_speak_for_and_against():
    found = PairExplanation(-1.0, {"name": 1.5, "phone": 2.0, "street": -0.9, "town": 0.1}, 0.0)
    assert found.sentences() == [
        "'phone' and 'name' speak for one record, 'street' speaks against it.",
        "All in all, one record is 85% probable.",
        "Without 'phone' they would look like two records.",
    ]


def test_what_hardly_counts_is_not_named():
    found = PairExplanation(-2.0, {"name": 0.1, "street": -0.2}, -3.0)
    assert found.sentences() == [
        "No column speaks clearly for or against one record.",
        "Compared as wholes, they look like two records.",
        "All in all, one record is 1% probable.",
    ]


def test_a_missing_value_speaks_for_nothing():
    found = PairExplanation(0.0, {"name": 1.0, "street": 1.5}, 0.0, ("street",))
    assert found.sentences()[:2] == [
        "'name' speaks for one record.",
        "'street' cannot be compared, because a value is missing.",
    ]
    assert found.decisive is None


def test_many_columns_are_counted():
    found = PairExplanation(0.0, {f"c{at}": -1.0 - at for at in range(6)}, 0.0)
    assert found.sentences()[0] == "'c5', 'c4', 'c3', 'c2' and 2 more columns speak against one record."


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"a": 2.0, "b": -0.5}, "a"),
        ({"a": 1.0, "b": 1.0}, None),
        ({"a": 0.6, "b": -0.5, "c": 0.8}, None),
        ({"a": -3.0, "b": 1.0, "c": -0.1}, "a"),
        ({"a": 0.2}, None),
    ],
)
def test_the_decisive_column_turns_the_conclusion_around(columns, expected):
    assert PairExplanation(0.0, columns, 0.0).decisive == expected


def test_the_share_of_each_column_is_told():
    assert describe_effects({"name": 1.0, "phone": 2.0, "": 1.0}) == (
        "What counts when two records are compared: phone 50%, name 25%, the records as wholes 25%."
    )
    assert describe_effects({}) == ""
