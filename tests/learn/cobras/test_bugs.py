"""Bugs that other programs for COBRAS have had; none of them may come here."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris

import linkwise as lw
from linkwise.learn.oracles import TruthOracle
from linkwise.learn.super_instances import Splitter

LEARNERS = {
    "COBRA": lw.COBRA,
    "COBRAS": lw.COBRAS,
    "COBRAS of the paper": partial(lw.COBRAS.paper, enforce=True),
}
each = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


@each
def test_two_identical_rows_are_not_asked_about(make):
    model = make(random_state=0).fit([[1.0, 2.0], [1.0, 2.0]], oracle=lambda i, j: 1 / 0)
    assert model.labels_.tolist() == [0, 0]


@each
def test_identical_rows_end_at_once_and_without_an_error(make):
    model = make(random_state=0).fit(np.ones((30, 4)), oracle=lambda i, j: 1 / 0)
    assert (model.reason_, model.n_questions_, model.n_clusters_) == ("exhausted", 0, 1)


@each
def test_one_row(make):
    assert make(random_state=0).fit([[1.0]], oracle=lambda i, j: 1 / 0).labels_.tolist() == [0]


@each
def test_a_row_that_is_not_there_is_named(make):
    with pytest.raises(ValueError, match="askable names row 150, but the rows are 0 to 149"):
        make().fit(np.random.default_rng(0).normal(size=(150, 2)), oracle=TruthOracle, askable=[0, 150])


@each
def test_a_list_will_do(make):
    X, y = load_iris(return_X_y=True)
    one = make(random_state=0).fit(X.tolist(), oracle=TruthOracle(y.tolist()), budget=12)
    other = make(random_state=0).fit(X, oracle=TruthOracle(y), budget=12)
    np.testing.assert_array_equal(one.labels_, other.labels_)


@each
def test_the_time_grows_with_the_rows_not_with_their_square(make, monkeypatch):
    """Told by what is looked at: distances are computed between super-instances and within splits only."""
    from linkwise.learn import super_instances

    entries = []
    plain = super_instances.cdist

    def counting(a, b):
        entries.append(len(a) * len(b))
        return plain(a, b)

    monkeypatch.setattr(super_instances, "cdist", counting)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 2)), rng.integers(0, 3, 20_000)
    model = make(random_state=0).set_params(n_init=1).fit(X, oracle=TruthOracle(y), budget=20)
    assert model.n_questions_ == 20
    assert max(entries) < 20_000


@each
def test_no_answer_is_forgotten(make):
    """A representative that changes takes nothing of what was said with it."""
    X, y = load_iris(return_X_y=True)
    known, asked = lw.Evidence(150), 0

    def oracle(i, j):
        nonlocal asked
        assert known.verdict(i, j) is None
        known.add(i, j, "yes" if y[i] == y[j] else "no")
        asked += 1
        return y[i] == y[j]

    model = make(random_state=0).fit(X, oracle=oracle, budget=100)
    assert model.n_questions_ == asked
    assert model.violations_ == 0


def test_a_later_split_has_no_more_parts_than_questions_are_left(monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 2))
    asked, seen = 0, []

    def oracle(i, j):  # one "yes" ends the first iteration, then every "no" doubles the next split
        nonlocal asked
        asked += 1
        return asked == 1

    def split(self, whole, k):
        seen.append((k, asked))
        return plain_split(self, whole, k)

    plain_split = Splitter.split
    monkeypatch.setattr(Splitter, "split", split)
    for bounded in (True, False):
        asked, seen = 0, []
        lw.COBRAS(random_state=0, split_within_budget=bounded).fit(X, oracle=oracle, budget=10)
        within = [k <= max(2, 10 - before) for k, before in seen]
        assert all(within) == bounded
