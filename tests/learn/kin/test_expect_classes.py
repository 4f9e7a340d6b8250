"""How many classes KIN expects, once answers have placed some rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.learn.kin.model import FIRST_GUESS, Known, expect_classes
from linkwise.learn.kin.shown import tells_apart


def known(label: list[int], *, asked: int | None = None) -> Known:
    """Items in these neighbourhoods; nobody was asked about the first, nor about those after `asked`."""
    coverage = np.where(np.arange(len(label)) <= (len(label) if asked is None else asked), 0.5, np.nan)
    coverage[0] = np.nan
    return Known(np.arange(len(label)), np.array(label), coverage)


def test_without_answers_it_is_what_the_rows_suggest():
    assert expect_classes(known([0]), 12.5) == pytest.approx(12.5)
    assert expect_classes(known([0, 1, 1, 0], asked=0), 12.5) == pytest.approx(12.5)


@pytest.mark.parametrize("n_classes", [2, 5, 17])
@pytest.mark.parametrize("n_asked", [30, 200])
def test_random_items_tell_how_many_classes_there_are(n_classes, n_asked):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(20):
        seen = np.unique(rng.integers(0, n_classes, n_asked), return_inverse=True)[1]
        found.append(np.log(expect_classes(known(seen.tolist()), 60.0)))
    weight = n_asked / (n_asked + FIRST_GUESS)
    wanted = weight * np.log(n_classes) + (1 - weight) * np.log(60)
    assert np.mean(found) == pytest.approx(wanted, abs=0.15)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 7])
def test_many_items_of_few_classes_leave_no_doubt(n_classes):
    label = [*range(n_classes)] * 200
    assert expect_classes(known(label), 60.0) == pytest.approx(n_classes, rel=0.2)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.floats(1, 100))
def test_answers_never_speak_for_more_classes(label, suggested):
    label = np.unique(label, return_inverse=True)[1].tolist()
    found = expect_classes(known(label), suggested)
    assert min(1.0, suggested) <= round(found, 9) <= round(suggested, 9)


@given(st.integers(1, 8), st.integers(0, 30), st.floats(2, 100))
def test_another_item_of_a_class_that_was_met_speaks_for_fewer(k, n_more, suggested):
    label = [*range(k), *([0] * n_more)]
    assert expect_classes(known([*label, 0]), suggested) <= expect_classes(known(label), suggested) + 1e-9


@pytest.mark.parametrize(
    ("n_given", "n_asked", "tells"),
    [(4, 0, False), (12, 0, False), (13, 0, True), (1, 1, True), (12, 1, True)],
)
def test_given_items_count_less_before_the_regression_may_tell(n_given, n_asked, tells):
    """Two neighbourhoods of 3.1 classes: as much as 1.24 items that were asked about is needed."""
    coverage = np.r_[np.full(n_given, np.nan), np.full(n_asked, 0.5)]
    known = Known(np.arange(len(coverage)), np.arange(len(coverage)) % 2, coverage)
    assert tells_apart(known, 3.1) == tells


def test_one_neighbourhood_tells_nothing():
    assert not tells_apart(Known(np.arange(9), np.zeros(9, int), np.full(9, 0.5)), 2.0)
