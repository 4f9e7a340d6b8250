"""The clustering after each round of the boosted methods, the priorities, and the votes on new rows."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.cluster.similarity.votes import count_votes

X, y = load_iris(return_X_y=True)
C = lw.Constraints.sample(y, 500, 0)

METHODS = {
    "BCKM": lambda: lw.BCKM(3, random_state=0),
    "BCKM, rbf": lambda: lw.BCKM(3, kernel="rbf", random_state=0),
    "RCKM": lambda: lw.RCKM(3, n_rounds=6, random_state=0),
    "BoostCluster": lambda: lw.BoostCluster(3, n_estimators=8, random_state=0),
    "KernelBoost": lambda: lw.KernelBoost(3, n_estimators=5, random_state=0),
}
each_method = pytest.mark.parametrize("make", METHODS.values(), ids=METHODS)


@each_method
def test_there_is_a_stage_for_each_round_and_the_last_is_the_result(make):
    model = make().fit(X, constraints=C)
    stages = list(model.staged_labels())
    assert len(stages) == model.n_rounds_ > 1
    assert not model.fell_back_
    np.testing.assert_array_equal(stages[-1], model.labels_)
    for labels in stages:
        assert (labels.shape, labels.dtype) == ((len(X),), np.int32)
        assert np.unique(labels).tolist() == list(range(labels.max() + 1))


@each_method
def test_stages_are_the_same_every_time_and_change_nothing(make):
    model = make().fit(X, constraints=C)
    before = model.labels_.copy()
    for one, other in zip(model.staged_labels(), model.staged_labels(), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(model.labels_, before)


@pytest.mark.parametrize("make", [METHODS["BCKM"], METHODS["RCKM"]], ids=["BCKM", "RCKM"])
def test_the_first_stage_is_the_first_round(make):
    model = make().fit(X, constraints=C)
    assert adjusted_rand_score(next(model.staged_labels()), model.hypotheses_[:, 0]) == 1.0


@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_a_stage_is_a_fit_with_fewer_rounds(rounds):
    full = lw.RCKM(3, n_rounds=6, random_state=0).fit(X, constraints=C)
    assert full.n_rounds_ == 6
    few = lw.RCKM(3, n_rounds=rounds, random_state=0).fit(X, constraints=C)
    np.testing.assert_array_equal(list(full.staged_labels())[rounds - 1], few.labels_)


@each_method
def test_without_constraints_there_is_one_stage(make):
    model = make().fit(X)
    (only,) = model.staged_labels()
    np.testing.assert_array_equal(only, model.labels_)


def test_priorities_follow_the_formula_of_the_paper():
    weighted = lw.Constraints(
        len(X), C.must_link, C.cannot_link, must_link_weight=np.full(len(C.must_link), 2.0)
    )
    model = lw.BCKM(3, random_state=0).fit(X, constraints=weighted)
    priorities = list(model.staged_priorities())
    assert len(priorities) == model.n_rounds_ > 1
    wanted = np.r_[weighted.must_link_weight, weighted.cannot_link_weight]
    for t, found in enumerate(priorities):
        np.testing.assert_allclose(found, wanted / wanted.sum(), rtol=1e-9)
        broken = np.concatenate(weighted.find_violations(model.hypotheses_[:, t].astype(np.int32)))
        assert found[broken].sum() == pytest.approx(model.errors_[t], abs=1e-12)
        wanted = found * np.exp(np.where(broken, 1, -1) * model.alphas_[t])
    assert list(lw.BCKM(3, random_state=0).fit(X).staged_priorities()) == []


def test_votes_assign_to_the_nearest_mean_in_the_space_of_the_kernel():
    rng = np.random.default_rng(0)
    hypotheses, alphas = rng.integers(0, 4, (40, 5)), rng.random(5)
    labels = rng.integers(0, 3, 40).astype(np.int32)
    votes = count_votes(hypotheses, alphas, labels)
    K = sum(alpha * (h[:, None] == h) for h, alpha in zip(hypotheses.T, alphas, strict=True))
    squares = [
        K.diagonal() - 2 * K[:, labels == c].mean(axis=1) + K[np.ix_(labels == c, labels == c)].mean()
        for c in range(3)
    ]
    np.testing.assert_array_equal(votes.nearest_mean(hypotheses), np.argmin(squares, axis=0))


@pytest.mark.parametrize("make", [METHODS[name] for name in ("BCKM", "RCKM", "BoostCluster")])
def test_new_rows_are_placed_as_the_rounds_vote(make):
    model = make().fit(X[::2], constraints=lw.Constraints.sample(y[::2], 300, 0))
    assert not model.fell_back_
    assert adjusted_rand_score(y[1::2], model.predict(X[1::2])) > 0.8


def test_new_rows_with_more_columns_than_fitted_rows():
    rows, groups = make_blobs(60, 80, centers=3, random_state=0)
    c = lw.Constraints.sample(groups[:40], 60, 0)
    for make in (lw.BCKM, lw.RCKM, lw.BoostCluster):
        model = make(3, random_state=0).fit(rows[:40], constraints=c)
        assert adjusted_rand_score(groups[40:], model.predict(rows[40:])) == 1.0


def test_a_fall_back_places_new_rows_at_the_nearest_mean():
    c = lw.Constraints(4, (), [(0, 1)])
    model = lw.BoostCluster(1, random_state=0).fit(np.eye(4), constraints=c)
    assert model.fell_back_
    assert model.predict(np.ones((2, 4))).tolist() == [0, 0]
    np.testing.assert_array_equal(next(model.staged_labels()), model.labels_)
