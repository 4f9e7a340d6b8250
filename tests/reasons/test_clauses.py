"""What tests say, in the user's words and units."""

from math import inf

import numpy as np
import polars as pl
import pytest

from linkwise.cluster.trees.tree import Condition, build_tree
from linkwise.data import encode, from_frame
from linkwise.reasons.clauses import Among, Between, clauses_by_answer, describe_tests, gap, merge_clauses

COLOURS = ("blue", "green", "red")


def table():
    return from_frame(
        pl.DataFrame(
            {
                "age": [20, 31, 49, 70],
                "colour": ["red", "blue", "green", "red"],
                "member": [True, False, True, True],
                "since": pl.Series(["2024-01-05", "2024-02-01", "2024-03-01", "2024-12-31"]).str.to_date(),
            }
        ),
        columns=["age", "colour", "member", "since"],
    )


def said(condition, encoded):
    """What yes and no to a condition say."""
    tree = build_tree([(((condition, True),), 0), (((condition, False),), 1)])
    clauses = clauses_by_answer(describe_tests(tree, encoded.X, encoded.features))
    return tuple(str(merge_clauses(((0, answer),), clauses)[0]) for answer in (True, False))


@pytest.mark.parametrize("scale", ["unit", "standard", "none"])
def test_numbers_are_in_their_own_units_and_round(scale):
    encoded = encode(table(), scale=scale)
    between = float(encoded.X[1:3, 0].mean())
    assert said(Condition(0, between), encoded) == ("age > 40", "age ≤ 40")


@pytest.mark.parametrize("scale", ["unit", "standard", "none"])
def test_dates_are_days(scale):
    encoded = encode(table(), scale=scale)
    at = encoded.feature_names.index("since")
    yes, no = said(Condition(at, float(encoded.X[1:3, at].mean())), encoded)
    assert (yes, no) == ("since after 2024-02-15", "since up to 2024-02-15")


def test_categories_as_columns_of_0_and_1():
    encoded = encode(table())
    names = encoded.feature_names
    assert said(Condition(names.index("colour=red"), 0.5), encoded) == ("colour = red", "colour is not red")
    assert said(Condition(names.index("member"), 0.5), encoded) == ("member = true", "member = false")


def test_categories_as_codes():
    encoded = encode(table(), categories="codes")
    assert encoded.nominal == (1,)
    assert said(Condition(1, 2.0, equals=True), encoded) == ("colour = red", "colour is not red")


def test_nominal_columns_without_words():
    X = np.array([[3.0], [1.0], [2.5]])
    encoded = encode(from_frame(X))
    condition = Condition(0, 2.5, equals=True)
    tree = build_tree([(((condition, True),), 0), (((condition, False),), 1)])
    clause = describe_tests(tree, X, encoded.features)[0]
    assert clause == Among("x0", frozenset(["2.5"]), ("1", "2.5", "3"))


def test_clauses_about_one_column_become_one():
    one = Between("a", above=1) & Between("a", up_to=5) & Between("a", above=2)
    assert str(one) == "2 < a ≤ 5"
    not_red = Among("c", frozenset(["red"]), COLOURS).otherwise()
    assert str(not_red) == "c is not red"
    assert str(not_red & Among("c", frozenset(["blue"]), COLOURS).otherwise()) == "c = green"
    assert str(not_red & Among("c", frozenset(["blue"]), COLOURS)) == "c = blue"
    many = Among("c", frozenset(["a", "b"]), ("a", "b", "d", "e", "f"))
    assert str(many) == "c is a or b"
    assert str(many.otherwise()) == "c is not a or b"


def test_a_way_says_the_tightest_bounds_in_the_order_of_its_columns():
    tests = {
        0: Between("x0", above=7.5),
        1: Between("x0", above=2.5),
        4: Between("x1", above=0.5),
        5: Between("x0", above=4.5),
    }
    way = ((0, False), (1, True), (4, True), (5, False))
    merged = merge_clauses(way, clauses_by_answer(tests))
    assert [str(clause) for clause in merged] == [
        "2.5 < x0 ≤ 4.5",
        "x1 > 0.5",
    ]


def test_a_number_is_round_among_the_rows_that_come_to_a_node():
    X = np.array([[0.0, 1.0], [0.0, 62.0], [1.0, 31.0], [1.0, 33.0], [1.0, 37.0]])
    inner = Condition(1, 31.5)
    tree = build_tree(
        [(((Condition(0, 0.5), True), (inner, True)), 0), (((Condition(0, 0.5), True), (inner, False)), 1),
         (((Condition(0, 0.5), False),), 2)]
    )  # fmt: skip
    clauses = describe_tests(tree, X, encode(from_frame(X), scale="none").features)
    assert [str(clauses[node]) for node in sorted(clauses)] == ["x0 > 0", "x1 > 32"]


def test_a_bound_beyond_all_values_is_reported_as_it_is():
    assert gap(np.array([1.0, 2.0]), 5.0) == (2.0, 5.0)
    assert gap(np.array([7.0]), 5.0) == (5.0, 7.0)


def test_for_programs():
    assert Between("a", above=1).as_dict() == {"column": "a", "above": 1.0, "up_to": None}
    assert Between("d", up_to=0.5, kind="moment").as_dict() == {
        "column": "d",
        "above": None,
        "up_to": "1970-01-01 12:00",
    }
    assert Among("c", frozenset(["red", "blue"]), COLOURS).as_dict() == {
        "column": "c",
        "among": ["blue", "red"],
    }
    assert Between("a", -inf, 3.0).as_dict()["up_to"] == 3.0
