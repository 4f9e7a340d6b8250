"""The posterior covariance of KIN: what it returns depends on its arguments alone."""

import numpy as np
import pytest

from linkwise.learn.kin import covariance
from linkwise.learn.kin.covariance import Covariance
from linkwise.learn.kin.first_known import RIDGE
from linkwise.learn.kin.kernels import Kernels
from linkwise.learn.kin.mixed_kernel import MixedKernel

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
    monkeypatch.setattr(covariance, "ANEW", 8)
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

    condition_on = covariance.native.condition_on
    monkeypatch.setattr(covariance.native, "condition_on", interrupt)
    with pytest.raises(KeyboardInterrupt):
        reduce(found, 1, 0, 9)
    np.testing.assert_array_equal(reduce(found, 1, 0, 9), wanted)
