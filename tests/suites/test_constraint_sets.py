"""Constraints are drawn as declared: how many, of which kind, between which rows, and each pair alike."""

import doctest
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from bench.suites import constraint_sets
from bench.suites.constraint_sets import (
    close_constraints,
    count_percent,
    draw_both_kinds,
    draw_constraints,
    draw_nested_constraints,
    draw_row_pairs,
    label_pairs,
)
from hypothesis import given
from hypothesis import strategies as st

from linkwise import Constraints

CLASSES = st.lists(st.integers(0, 3), min_size=2, max_size=14)
KINDS = ("any", "must-link", "cannot-link")


def count_pairs(y, kind):
    y = np.asarray(y)
    same = int(sum(n * (n - 1) // 2 for n in np.bincount(y)))
    total = len(y) * (len(y) - 1) // 2
    return {"any": total, "must-link": same, "cannot-link": total - same}[kind]


@given(CLASSES, st.sampled_from(KINDS), st.integers(0, 2**32), st.data())
def test_every_pair_is_of_its_kind_and_drawn_once(y, kind, seed, data):
    n = data.draw(st.integers(0, count_pairs(y, kind)))
    drawn = draw_constraints(y, n, kind=kind, random_state=seed)
    y = np.asarray(y)
    assert drawn.n_constraints == n  # Constraints drops what is there twice
    assert all(y[a] == y[b] for a, b in drawn.must_link)
    assert all(y[a] != y[b] for a, b in drawn.cannot_link)
    if kind != "any":
        assert len(drawn.must_link if kind == "must-link" else drawn.cannot_link) == n


@pytest.mark.parametrize("kind", KINDS)
def test_all_pairs_can_be_drawn(kind):
    y = np.array([0, 0, 0, 1, 1, 2])
    drawn = draw_constraints(y, count_pairs(y, kind), kind=kind, random_state=0)
    assert drawn.n_constraints == count_pairs(y, kind)
    with pytest.raises(ValueError, match="pairs cannot be drawn: there are"):
        draw_constraints(y, count_pairs(y, kind) + 1, kind=kind)


@pytest.mark.parametrize("kind", KINDS)
def test_each_pair_is_as_likely(kind):
    y, seen = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2]), {}
    n_draws = 1000
    for seed in range(n_draws):
        drawn = draw_constraints(y, 1, kind=kind, random_state=seed)
        pair = tuple(sorted(np.concatenate([drawn.must_link, drawn.cannot_link])[0]))
        seen[pair] = seen.get(pair, 0) + 1
    expected = n_draws / count_pairs(y, kind)
    assert len(seen) == count_pairs(y, kind)
    assert sum((n - expected) ** 2 / expected for n in seen.values()) < 2.2 * count_pairs(y, kind)


@given(CLASSES, st.integers(0, 2**32))
def test_only_the_rows_that_may_be_drawn_are(y, seed):
    y = np.array([*y, -1, 0, 0])
    rows = np.arange(0, len(y), 2)
    usable = [row for row in rows if y[row] >= 0]
    n = len(usable) * (len(usable) - 1) // 2
    drawn = draw_constraints(y, n, rows=rows, random_state=seed)
    assert set(np.unique([*drawn.must_link.ravel(), *drawn.cannot_link.ravel()])) <= set(usable)


def test_percent_of_all_pairs():
    assert draw_constraints([0, 1] * 10, percent=10, random_state=0).n_constraints == 19  # of 190
    assert draw_constraints([0, 1] * 10, percent=0).n_constraints == 0


def test_as_many_of_one_class_as_of_two():
    drawn = draw_constraints([0, 1] * 10, 7, kind="balanced", random_state=0)
    assert (len(drawn.must_link), len(drawn.cannot_link)) == (4, 3)


@pytest.mark.parametrize(("wrong", "expected"), [(0.0, 0), (0.2, 10), (1.0, 50)])
def test_as_many_are_wrong_as_asked_for(wrong, expected):
    y = np.arange(40) % 4
    drawn = draw_constraints(y, 50, wrong=wrong, random_state=3)
    false = sum(y[a] != y[b] for a, b in drawn.must_link) + sum(y[a] == y[b] for a, b in drawn.cannot_link)
    assert false == expected
    assert drawn.n_constraints == 50


def relations(constraints):
    """All pairs that are together or apart, by the definition: repeat until nothing is added."""
    n = len(constraints)
    together = np.eye(n, dtype=bool)
    for a, b in constraints.must_link:
        together[a, b] = together[b, a] = True
    for _ in range(n):
        together |= (together.astype(int) @ together.astype(int)) > 0
    apart = np.zeros((n, n), dtype=bool)
    for a, b in constraints.cannot_link:
        apart |= np.outer(together[a], together[b]) | np.outer(together[b], together[a])
    return together & ~np.eye(n, dtype=bool), apart


@given(CLASSES, st.integers(0, 2**32))
def test_the_closure_is_all_that_follows(y, seed):
    n = min(6, len(y) * (len(y) - 1) // 2)
    drawn = draw_constraints(y, n, random_state=seed)
    closed = draw_constraints(y, n, closed=True, random_state=seed)
    together, apart = relations(drawn)
    pairs = {tuple(sorted(map(int, pair))) for pair in closed.must_link}
    assert pairs == {(int(a), int(b)) for a, b in np.argwhere(np.triu(together))}
    pairs = {tuple(sorted(map(int, pair))) for pair in closed.cannot_link}
    assert pairs == {(int(a), int(b)) for a, b in np.argwhere(np.triu(apart))}


def test_the_closure_of_a_closure_is_itself():
    once = close_constraints(Constraints(6, [(0, 1), (1, 2)], [(2, 3)]))
    twice = close_constraints(once)
    assert once.must_link.tolist() == twice.must_link.tolist()
    assert once.cannot_link.tolist() == twice.cannot_link.tolist()


def test_the_same_seed_draws_the_same():
    first, again = (draw_constraints([0, 1] * 9, 8, random_state=5) for _ in range(2))
    assert first.must_link.tolist() == again.must_link.tolist()
    assert draw_constraints([0, 1] * 9, 8, random_state=6).must_link.tolist() != first.must_link.tolist()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "Pass one of them"),
        ({"n": 3, "percent": 3}, "Pass one of them"),
        ({"percent": 101}, "percent=101 is not from 0 to 100"),
        ({"n": 1, "wrong": 2}, "wrong=2 is not a share"),
        ({"n": 1, "kind": "odd"}, "kind='odd' is unknown"),
        ({"n": 1, "closed": True, "wrong": 0.5}, "closure of wrong constraints"),
        ({"n": -1}, "-1 pairs cannot be drawn"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        draw_constraints([0, 0, 1, 1], **given)


# ---------------------------------------------------------------- nested
@pytest.mark.parametrize("kind", [*KINDS, "balanced"])
@pytest.mark.parametrize("wrong", [0.0, 0.3])
def test_nested_sets_keep_the_pairs_of_the_smaller_ones(kind, wrong):
    y = np.arange(30) % 3
    numbers = (0, 5, 6, 40)
    sets = draw_nested_constraints(y, numbers, kind=kind, wrong=wrong, random_state=1)
    assert [c.n_constraints for c in sets] == list(numbers)
    for few, more in pairwise(sets):
        assert set(map(tuple, few.must_link)) <= set(map(tuple, more.must_link))
        assert set(map(tuple, few.cannot_link)) <= set(map(tuple, more.cannot_link))
    for n, c in zip(numbers, sets, strict=True):
        same = y[c.must_link]
        false = (same[:, 0] != same[:, 1]).sum() + sum(y[a] == y[b] for a, b in c.cannot_link)
        assert false == round(wrong * n)
        if kind == "balanced" and not wrong:
            assert (len(c.must_link), len(c.cannot_link)) == (n - n // 2, n // 2)
        if kind in ("must-link", "cannot-link") and not wrong:
            assert len(c.must_link if kind == "must-link" else c.cannot_link) == n


def test_nested_sets_take_percent_rows_and_closure():
    y = [0, 1] * 10
    few, more = draw_nested_constraints(y, [10, 50], percent=True, rows=range(10), random_state=0)
    assert (few.n_constraints, more.n_constraints) == (4, 22)  # of 45
    assert max(*more.must_link.ravel(), *more.cannot_link.ravel()) < 10
    (plain,) = draw_nested_constraints(y, [12], random_state=0)
    (closed,) = draw_nested_constraints(y, [12], closed=True, random_state=0)
    assert closed == close_constraints(plain)
    assert draw_nested_constraints(y, []) == []


@pytest.mark.parametrize(
    ("numbers", "more", "message"),
    [
        ([3, 2], {}, r"numbers=\[3, 2\] do not ascend"),
        ([1], {"wrong": 2}, "wrong=2 is not a share"),
        ([1], {"closed": True, "wrong": 0.5}, "closure of wrong constraints"),
        ([101], {"percent": True}, "percent=101 is not from 0 to 100"),
        ([7], {}, "7 pairs cannot be drawn"),
    ],
)
def test_what_cannot_be_nested_is_refused(numbers, more, message):
    with pytest.raises(ValueError, match=message):
        draw_nested_constraints([0, 0, 1, 1], numbers, **more)


@pytest.mark.parametrize("kind", KINDS)
def test_nested_pairs_are_each_as_likely_in_the_smallest_set(kind):
    y = [0, 0, 0, 1, 1]
    times = Counter()
    for seed in range(300):
        c = draw_nested_constraints(y, [1, 3], kind=kind, random_state=seed)[0]
        times[tuple(np.concatenate([c.must_link, c.cannot_link])[0].tolist())] += 1
    n_pairs = count_pairs(y, kind)
    assert len(times) == n_pairs
    assert max(abs(n - 300 / n_pairs) for n in times.values()) < 5 * np.sqrt(300 / n_pairs)


# ---------------------------------------------------------------- both kinds, with replacement
@given(CLASSES, st.integers(0, 2**32), st.data())
def test_there_are_so_many_of_both_kinds(y, seed, data):
    most = [6 if count_pairs(y, kind) else 0 for kind in ("must-link", "cannot-link")]
    must, cannot = (data.draw(st.integers(0, number)) for number in most)
    drawn = draw_both_kinds(y, must, cannot, random_state=seed)
    y = np.asarray(y)
    assert len(drawn.must_link) + len(drawn.cannot_link) + drawn.n_duplicates == must + cannot
    assert all(y[a] == y[b] for a, b in drawn.must_link)
    assert all(y[a] != y[b] for a, b in drawn.cannot_link)
    assert drawn == draw_both_kinds(y, must, cannot, random_state=seed)


def test_both_kinds_are_drawn_with_replacement_among_the_rows():
    y = np.array([0, 0, 1, 1, -1, 0])
    drawn = draw_both_kinds(y, 5, 9, rows=[0, 1, 2, 4], random_state=0)
    assert drawn.must_link.tolist() == [[0, 1]]  # the only one, five times
    assert drawn.cannot_link.tolist() == [[0, 2], [1, 2]]
    assert drawn.n_duplicates == 4 + 7
    closed = draw_both_kinds(y, 5, 1, rows=[0, 1, 2, 4], closed=True, random_state=0)
    assert closed.cannot_link.tolist() == [[0, 2], [1, 2]]


def test_each_pair_of_a_kind_is_as_likely():
    y, times = [0, 0, 0, 1, 1], Counter()
    for seed in range(600):
        c = draw_both_kinds(y, 1, 1, random_state=seed)
        times[tuple(c.must_link[0].tolist())] += 1
        times[tuple(c.cannot_link[0].tolist())] += 1
    for kind in ("must-link", "cannot-link"):
        n_pairs = count_pairs(y, kind)
        counts = [n for (a, b), n in times.items() if (y[a] == y[b]) == (kind == "must-link")]
        assert len(counts) == n_pairs
        assert max(abs(n - 600 / n_pairs) for n in counts) < 5 * np.sqrt(600 / n_pairs)


@pytest.mark.parametrize(
    ("y", "must", "cannot", "message"),
    [
        ([0, 0], 1, 1, "1 cannot-link pairs cannot be drawn. Pass 0."),
        ([0, 1], 2, 1, "2 must-link pairs cannot be drawn. Pass 0."),
        ([0, 0, 1], -1, 1, "-1 must-link pairs cannot be drawn. Pass 0 or more."),
        ([], 0, 3, "3 cannot-link pairs cannot be drawn"),
    ],
)
def test_a_kind_that_is_not_there_is_an_error(y, must, cannot, message):
    with pytest.raises(ValueError, match=message):
        draw_both_kinds(np.array(y, dtype=int), must, cannot)


# ---------------------------------------------------------------- pairs, labels and numbers
@pytest.mark.parametrize(("n", "expected"), [(0, 0), (7, 7), (50, 10)])
def test_pairs_of_rows_are_distinct_and_as_many_as_there_are(n, expected):
    rows = [3, 5, 8, 9, 20]
    pairs = draw_row_pairs(rows, n, 1)
    assert pairs.shape == (expected, 2)
    assert set(pairs.ravel().tolist()) <= set(rows)
    assert len({frozenset(pair) for pair in pairs.tolist()}) == expected
    assert np.array_equal(pairs, draw_row_pairs(rows, n, np.random.default_rng(1)))


@given(CLASSES, st.integers(0, 2**32))
def test_pairs_with_the_labels_of_the_classes_are_drawn_constraints(y, seed):
    n = len(y) * (len(y) - 1) // 2
    pairs = draw_row_pairs(np.arange(len(y)), n, seed)
    assert label_pairs(y, pairs) == draw_constraints(y, n, random_state=seed)
    assert label_pairs(y, []).n_constraints == 0


@pytest.mark.parametrize(
    ("percent", "of", "expected"),
    [
        (10, "pairs", 112),
        (0, "pairs", 0),
        (100, "pairs", 1128),
        (5, "rows", 2),
        (1, "rows", 1),
        (0, "rows", 0),
    ],
)
def test_percent_of_pairs_and_of_rows(percent, of, expected):
    assert count_percent(48, percent, of) == expected


def test_the_examples_in_docstrings_are_true():
    found = doctest.testmod(constraint_sets)
    assert found.attempted
    assert not found.failed
