"""Groups of records by the log-odds of their pairs, against tables of all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference.record_groups as reference
from linkwise import native


@st.composite
def listed_pairs(draw):
    """Some pairs of few rows in any order, with few different weights, so that many scores are equal.

    Sums of eighths have no rounding errors, so both sides compute the same scores.
    """
    n = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    i, j = np.triu_indices(n, 1)
    some = rng.permutation(len(i))[: draw(st.integers(0, len(i)))]
    i, j = i[some], j[some]
    turned = rng.random(len(i)) < 0.5
    first, second = np.where(turned, j, i), np.where(turned, i, j)
    weight = rng.integers(-32, draw(st.sampled_from([8, 33])), len(i)) / draw(st.sampled_from([8, 1]))
    answer = rng.choice([-30.0, -2.5, 0.0, 2.5, 30.0], len(i), p=[0.1, 0.05, 0.7, 0.05, 0.1])
    source = rng.integers(-1, 4, n) if draw(st.booleans()) else None
    return n, first, second, weight, answer, draw(st.sampled_from([0.0, -0.5, -2.0, -8.0])), source


@settings(deadline=None, max_examples=5 * settings.default.max_examples)
@given(listed_pairs(), st.sampled_from([0.0, 0.5, 3.0]))
def test_groups_are_those_of_the_whole_table(pairs, growth):
    found, expected = (module.group_by_log_odds(*pairs, growth=growth) for module in (native, reference))
    for name, values in zip(found._fields, expected, strict=True):
        np.testing.assert_array_equal(getattr(found, name), values, err_msg=name)


def test_many_rows():
    rng = np.random.default_rng(0)
    n = 60
    i, j = np.triu_indices(n, 1)
    same = i // 6 == j // 6
    some = same | (rng.random(len(i)) < 0.05)
    i, j, same = i[some], j[some], same[some]
    weight = np.round(rng.normal(np.where(same, 1.0, -1.5), 1.5), 3)
    answer = np.where(rng.random(len(i)) < 0.1, np.where(same, 30.0, -30.0), 0.0)
    found = native.group_by_log_odds(n, i, j, weight, answer, -2.0, growth=0.5)
    expected = reference.group_by_log_odds(n, i, j, weight, answer, -2.0, growth=0.5)
    np.testing.assert_array_equal(found.labels, expected[0])
    np.testing.assert_allclose(found.score, expected[1], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found.n_pairs, expected[2])
    assert 5 < found.labels.max() < 25


def group(n, *pairs, missing=-2.0, growth=0.0):
    """Groups of pairs (row, row, log-odds, answers)."""
    columns = list(zip(*pairs, strict=True)) or [[]] * 4
    dtypes = np.int64, np.int64, np.float64, np.float64
    arrays = (np.array(column, dtype) for column, dtype in zip(columns, dtypes, strict=True))
    return native.group_by_log_odds(n, *arrays, missing, growth=growth)


def test_log_odds_are_averaged_and_answers_are_summed():
    found = group(3, (0, 1, 4.0, 0.0), (0, 2, 3.0, -1.0), (1, 2, 1.0, -0.5))
    assert found.labels.tolist() == [0, 0, 0]
    assert found.score.tolist() == [4.0, 0.5, 0.5]
    assert found.n_pairs.tolist() == [1.0, 2.0, 2.0]


def test_pairs_that_are_not_listed_count_as_missing():
    pairs = (0, 1, 4.0, 0.0), (0, 2, 3.0, 0.0)
    assert group(3, *pairs).labels.tolist() == [0, 0, 0]
    assert group(3, *pairs, missing=-3.0).labels.tolist() == [0, 0, 1]


def test_among_equal_scores_the_larger_group_takes_a_row():
    pairs = [(1, 2, 3.0, 0.0), (1, 3, 3.0, 0.0), (2, 3, 3.0, 0.0)]  # a group of three, and row 0
    pairs += [(0, 4, 1.0, 0.0), (1, 4, 1.0, 0.0), (2, 4, 1.0, 0.0), (3, 4, 1.0, 0.0)]
    apart = [(0, 1, 0.0, -30.0)]
    assert group(5, *pairs, *apart).labels.tolist() == [0, 1, 1, 1, 0]
    found = group(5, *pairs, *apart, growth=0.5)
    assert found.labels.tolist() == [0, 1, 1, 1, 1]
    assert found.score[1] == 3 + 0.5 / 2, "the mean of two pairs, and a group of two"
    assert found.score[4] == pytest.approx(1 + 0.5 * (1 / 2 + 1 / 3))


def test_among_equal_scores_the_lowest_rows_merge_first():
    found = group(4, (2, 3, 1.0, 0.0), (1, 2, 1.0, 0.0), (0, 3, 1.0, 0.0), (0, 1, 1.0, 0.0))
    assert found.labels.tolist() == [0, 0, 1, 1]
    assert found.score.tolist() == [1.0, -0.5, -0.5, 1.0]


def test_rows_without_pairs_stay_alone():
    assert group(3).labels.tolist() == [0, 1, 2]
    assert group(1).labels.tolist() == [0]


@pytest.mark.parametrize(
    ("value", "labels"), [(np.nan, [0, 1, 0]), (np.inf, [0, 0, 0]), (-np.inf, [0, 1, 0])]
)
def test_values_that_are_not_finite_do_no_harm(value, labels):
    found = group(3, (0, 1, value, 0.0), (1, 2, 1.0, value), (0, 2, 2.0, 0.0))
    assert found.labels.tolist() == labels


GOOD = {
    "n": 3,
    "first": np.array([0, 1]),
    "second": np.array([1, 2]),
    "weight": np.ones(2),
    "answer": np.zeros(2),
    "missing": -2.0,
}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"n": 0}, ValueError, "n must be at least 1, got 0"),
        ({"n": 2}, ValueError, r"second holds 1 to 2\. Pass 0 to 1"),
        ({"first": np.array([-1, 1])}, ValueError, r"first holds -1 to 1\. Pass 0 to 2"),
        ({"first": np.array([0, 1], np.int32)}, TypeError, "first .* int64"),
        ({"second": np.array([1])}, ValueError, r"second must have shape \(2\)"),
        ({"weight": np.ones(3)}, ValueError, r"weight must have shape \(2\)"),
        ({"answer": np.ones(2, np.float32)}, TypeError, "answer .* float64"),
        ({"missing": 0.5}, ValueError, "missing must be at most 0, got 0.5"),
        ({"missing": np.nan}, ValueError, "missing must be at most 0"),
        ({"growth": -0.5}, ValueError, "growth must not be negative, got -0.5"),
        ({"second": np.array([1, 1])}, ValueError, r"Pair 1 has row 1 twice\. Remove it"),
        ({"first": np.array([0, 1]), "second": np.array([1, 0])}, ValueError, "Pass each pair once"),
    ],
)
def test_bad_arguments_raise_errors(change, error, words):
    with pytest.raises(error, match=words):
        native.group_by_log_odds(**GOOD | change)
