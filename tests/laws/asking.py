"""What the laws share: oracles that remember, and small problems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from linkwise.learn.oracles import TruthOracle

# for tests of what follows from the rows alone: learners warn of it (see test_nothing_asked.py)
nobody_is_asked = pytest.mark.filterwarnings("ignore::linkwise.errors.NothingAskedWarning")

# a law draws its problems anew for each of many methods: three, and over a hundred by night
few_examples = settings(max_examples=settings.default.max_examples // 4)


def every_third_iris():
    """As many rows as a law needs that looks at counts alone."""
    return tuple(array[::3].copy() for array in load_iris(return_X_y=True))


class Remembering:
    """An oracle that writes down every pair it is asked about, and what it said."""

    def __init__(self, oracle):
        self.oracle, self.said = oracle, []

    def __call__(self, first, second):
        answer = self.oracle(first, second)
        self.said.append((first, second, answer))
        return answer

    @property
    def pairs(self):
        return [(first, second) for first, second, _ in self.said]


def truth(y, **doubts):
    return Remembering(TruthOracle(y, **doubts))


def partition(labels):
    """A clustering as a set of sets of rows."""
    return {frozenset(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels)}


def assert_labels_fit(labels, evidence):
    """They contradict nothing that is believed, and no cluster is empty."""
    together, apart = evidence.pairs_with_answer("yes"), evidence.pairs_with_answer("no")
    assert (labels[together[:, 0]] == labels[together[:, 1]]).all()
    assert (labels[apart[:, 0]] != labels[apart[:, 1]]).all()
    assert np.bincount(labels).all()
    assert labels.dtype == np.int32


@st.composite
def rows_and_truth(draw, max_rows=15, distinct=False):
    """Rows, with duplicates unless `distinct`, and classes that need not follow them."""
    n, d = draw(st.integers(1, max_rows)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.normal(size=(n, d))
    if not distinct and draw(st.booleans()):
        X = X[rng.integers(0, max(1, n // 2), n)]
    return X, rng.integers(0, draw(st.integers(1, 4)), n)
