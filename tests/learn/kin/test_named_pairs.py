"""What is alike among named items, however many were named before."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

import linkwise as lw
from linkwise.learn.kin.named_pairs import NamedPairs


@pytest.fixture(scope="module")
def prepared():
    return lw.KIN().prepare(load_wine(return_X_y=True)[0], 0)


def test_pairs_have_the_same_values_to_the_last_bit_whenever_they_are_named(prepared):
    """Undo and another memo name them at once, and a run one after another."""
    order = np.random.default_rng(0).permutation(len(prepared.prior.mean))
    grown = NamedPairs(prepared.prior, prepared.kernels.mean)
    for n in range(3, len(order), 5):
        fresh, label = NamedPairs(prepared.prior, prepared.kernels.mean), np.arange(n) % 7
        for one, other in zip(grown.among(order[:n]), fresh.among(order[:n]), strict=True):
            np.testing.assert_array_equal(one, other)
        means = (named.average(order[:n], label, min(n, 7)) for named in (grown, fresh))
        for one, other in zip(*means, strict=True):
            np.testing.assert_array_equal(one, other)


def test_they_are_those_of_the_prior_belief(prepared):
    items, named = np.arange(90)[::-1], NamedPairs(prepared.prior, prepared.kernels.mean)
    named.among(np.arange(70))
    similarity, shared = named.among(items)
    np.testing.assert_array_equal(similarity, prepared.prior.similarity(prepared.kernels.mean, items))
    np.testing.assert_array_equal(shared, prepared.prior.sharing(items))
