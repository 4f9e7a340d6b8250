"""The model of KIN: the covariance that chooses items, expected classes, and ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.learn.kin import model
from linkwise.learn.kin.kernels import Kernels, MixedKernel
from linkwise.learn.kin.model import FIRST_GUESS, RIDGE, Covariance, Known, expect_classes, first_largest
from linkwise.learn.kin.shown import _join, tells_apart

N = 60


def draw_kernel(seed):
    half = np.random.default_rng(seed).normal(size=(N, 4))
    scale = np.sqrt((half**2).sum(axis=1))
    return MixedKernel(Kernels((half @ half.T / np.outer(scale, scale)).astype(np.float32), ()))


def reduce(found, seed, n_first, n_items):
    items, weight = np.arange(0, n_items) * 7 % N, np.random.default_rng(n_items).uniform(0, 1, N)
    return found.uncertainty_reductions(draw_kernel(seed), bytes([seed]), n_first, items, weight)


@pytest.mark.parametrize("n_first", [0, 3, 20])
def test_reductions_are_those_of_the_definition(n_first):
    kernel = draw_kernel(0).rows(np.arange(N)).astype(np.float64)
    found = Covariance()
    for n_items in (0, 1, 4, 5, 12, 30):
        items, weight = np.arange(n_items) * 7 % N, np.random.default_rng(n_items).uniform(0, 1, N)
        there = kernel[items]
        among = there[:, items] + RIDGE * np.eye(n_items)
        left = kernel - there.T @ np.linalg.solve(among, there)
        wanted = left**2 @ weight / (left.diagonal() + RIDGE)
        np.testing.assert_allclose(reduce(found, 0, n_first, n_items), wanted, rtol=1e-4)


def test_the_way_to_the_items_does_not_matter(monkeypatch):
    """Item by item, anew, back and forth, and with the table of another kernel."""
    monkeypatch.setattr(model, "ANEW", 8)
    by_item, jumping = Covariance(), Covariance()
    wanted = [reduce(by_item, 1, 5, n_items) for n_items in range(30)]
    for n_items in (29, 3, 4, 12, 20, 22, 7):
        np.testing.assert_array_equal(reduce(jumping, 1, 5, n_items), wanted[n_items])
        np.testing.assert_array_equal(reduce(Covariance(), 1, 5, n_items), wanted[n_items])
        reduce(jumping, 2, 0, n_items)


def test_an_interruption_leaves_no_half_made_update(monkeypatch):
    found, wanted = Covariance(), reduce(Covariance(), 1, 0, 9)
    reduce(found, 1, 0, 5)
    calls = []

    def interrupt(table, item, *rest):
        calls.append(item)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return condition_on(table, item, *rest)

    condition_on = model.native.condition_on
    monkeypatch.setattr(model.native, "condition_on", interrupt)
    with pytest.raises(KeyboardInterrupt):
        reduce(found, 1, 0, 9)
    np.testing.assert_array_equal(reduce(found, 1, 0, 9), wanted)


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


def test_the_first_of_values_that_are_equal_but_for_rounding_counts():
    assert first_largest(np.array([[0.1, 0.3, 0.1 + 0.2], [0.0, 0.2, 0.1]])).tolist() == [1, 1]
    assert first_largest(np.array([0.5, 0.500001, 0.4]), 5) == 0


def test_a_component_joins_the_first_of_two_neighbourhoods_that_are_equally_likely():
    place, excluded = np.full(1, -1), np.zeros((1, 2), dtype=bool)
    chance = np.array([[0.5 - 1e-13, 0.5 + 1e-13]])
    assert _join(chance, place, excluded, np.empty((0, 2), dtype=np.int64))
    assert place.tolist() == [0]
