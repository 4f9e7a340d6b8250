"""CVCP: folds that give nothing away, and the F of pairs beside a count of all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import f1_score

import linkwise as lw
from linkwise.errors import ConstraintWarning
from linkwise.select.cvcp import f_measure, make_independent_folds

X, y = load_iris(return_X_y=True)


@st.composite
def truths(draw):
    n = draw(st.integers(2, 25))
    classes = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    n_pairs = draw(st.integers(0, min(40, n * (n - 1) // 2)))
    return np.array(classes), lw.Constraints.sample(classes, n_pairs, draw(st.integers(0, 99)))


@pytest.mark.slow
@settings(deadline=None)
@given(truths(), st.integers(2, 8), st.integers(0, 99))
def test_training_decides_no_pair_of_the_test(given_, n_folds, seed):
    classes, c = given_
    held_rows = []
    for training, held in make_independent_folds(c, n_folds, seed):
        held_rows.extend(held)
        for at, i in enumerate(held):
            assert not any(training.relation(i, j) for j in range(len(classes)) if j != i)
            for j in held[at + 1 :]:
                assert training.relation(i, j) is None
    named = np.unique(np.vstack([c.must_link, c.cannot_link]))
    assert sorted(held_rows) == named.tolist()  # every row with constraints is held once


@pytest.mark.slow
@settings(deadline=None)
@given(truths(), st.integers(2, 8))
def test_training_is_all_that_follows_for_the_other_rows(given_, n_folds):
    classes, c = given_
    for training, held in make_independent_folds(c, n_folds, 0):
        rest = np.setdiff1d(np.arange(len(classes)), held)
        for i in rest:
            for j in rest[rest > i]:
                assert training.relation(i, j) == c.relation(i, j)


def test_dealing_out_pairs_would_give_the_test_away():
    """The trap that the folds avoid: of a triangle each pair follows from the other two."""
    c = lw.Constraints(3, [(0, 1), (1, 2), (0, 2)])
    assert lw.Constraints(3, [(0, 1), (1, 2)]).relation(0, 2) == "must-link"
    for training, held in make_independent_folds(c, 3, 0):
        assert training.n_constraints == 1
        assert len(held) == 1


def test_weights_and_contradictions_go_along():
    c = lw.Constraints(40, [(i, i + 1) for i in range(0, 40, 2)], must_link_weight=np.arange(1.0, 21.0))
    for training, _ in make_independent_folds(c, 4, 0):
        for (i, _), weight in zip(training.must_link, training.must_link_weight, strict=True):
            assert weight == i // 2 + 1
    with pytest.warns(ConstraintWarning):
        c = lw.Constraints(4, [(0, 1), (2, 3)], [(0, 1)], on_conflict="keep")
    assert all(training.on_conflict == "keep" for training, _ in make_independent_folds(c, 2, 0))


# ---------------------------------------------------------------- F
@pytest.mark.slow
@settings(deadline=None)
@given(truths(), st.integers(0, 99))
def test_f_is_that_of_a_classifier_of_pairs(given_, seed):
    classes, c = given_
    labels = np.random.default_rng(seed).integers(-1, 3, len(classes))
    pairs = [(i, j) for i in range(len(classes)) for j in range(i)]
    known = [(c.relation(i, j) == "must-link", labels[i] == labels[j]) for i, j in pairs if c.relation(i, j)]
    if not known:
        return
    truth, guess = np.array(known).T
    wanted = []
    if truth.any():
        wanted.append(f1_score(truth, guess, zero_division=0))
    if not truth.all():
        wanted.append(f1_score(~truth, ~guess, zero_division=0))
    assert f_measure(c, labels) == pytest.approx(np.mean(wanted))


def test_f_by_hand():
    c = lw.Constraints(6, [(0, 1), (1, 2)], [(0, 3)])  # 3 must-links and 3 cannot-links follow
    assert f_measure(c, np.array([0, 0, 0, 1, 0, 0])) == 1.0
    assert f_measure(c, np.zeros(6)) == pytest.approx((2 * 3 / (2 * 3 + 3)) / 2)
    assert f_measure(c, np.array([0, 0, 1, 1, 0, 0])) == pytest.approx((2 / (2 + 3) + 4 / (4 + 3)) / 2)
    assert f_measure(lw.Constraints(4, [(0, 1)]), np.array([0, 1, 2, 2])) == 0.0
    assert f_measure(lw.Constraints(4, [], [(0, 1)]), np.array([0, 1, 2, 2])) == 1.0


# ---------------------------------------------------------------- the search
def search(**parameters):
    return lw.CVCPSearch(KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3, 4, 8]}, **parameters)


def test_the_score_is_the_mean_over_folds():
    c = lw.Constraints.sample(y, 60, 0)
    model = search(random_state=3).fit(X, constraints=c)
    for tried in model.results_:
        labels = KMeans(n_init=1, random_state=0, **tried.params).fit_predict(X)
        values = []
        for _, held in make_independent_folds(c, 5, 3):
            test = c[held]
            if test.n_constraints:
                values.append(f_measure(test, labels[held]))
        assert tried.score == pytest.approx(np.mean(values))


class Recorder(KMeans):
    """k-means that writes down what it was given."""

    given = []  # noqa: RUF012

    def fit(self, X, y=None, *, constraints=None):
        Recorder.given.append(constraints)
        return super().fit(X)


def test_who_takes_constraints_is_fitted_for_every_fold_and_with_all():
    Recorder.given.clear()
    c = lw.Constraints.sample(y, 60, 0)
    lw.CVCPSearch(Recorder(2, n_init=1), {"random_state": [0, 1]}, random_state=3).fit(X, constraints=c)
    training = [t for t, held in make_independent_folds(c, 5, 3) if c[held].n_constraints]
    assert Recorder.given == [c, *training] * 2
    assert all(given.n_rows == len(X) for given in Recorder.given)


def test_folds_depend_on_the_seed_only():
    c = lw.Constraints.sample(y, 60, 0)
    one, same, other = (search(random_state=seed).fit(X, constraints=c) for seed in (0, 0, 1))
    assert one.results_ == same.results_
    assert [t.score for t in one.results_] != [t.score for t in other.results_]


def test_without_constraints_the_fewest_clusters():
    model = search(random_state=0).fit(X)
    assert np.isnan(model.best_score_)
    assert model.n_clusters_ == 2


def test_too_few_constraints_to_compare_warn():
    with pytest.warns(ConstraintWarning, match="None of 4 folds holds both ends of a constraint"):
        model = search(random_state=0).fit(
            X, constraints=lw.Constraints(len(X), [(0, 1)], [(0, 60), (60, 120)])
        )
    assert model.n_clusters_ == 2
