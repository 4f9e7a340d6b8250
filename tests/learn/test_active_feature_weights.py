"""ActiveFeatureWeights: what it shows, what it proposes, when it takes one dimension more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import linkwise as lw
from laws.asking import nobody_is_asked
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Fact
from linkwise.learn import active_feature_weights as afw
from linkwise.learn.active_feature_weights import list_facts, round_ends
from linkwise.learn.neighbourhoods import PointEvidence, distinct_points
from linkwise.learn.run import Run


def three_columns(n=60, seed=0):
    """The wide columns say nothing, the narrow third one says what is meant."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return np.c_[rng.uniform(0, 3, n), rng.uniform(0, 2, n), 0.6 * y + rng.normal(0, 0.05, n)], y


def learner(**settings):
    return lw.ActiveFeatureWeights(2, **{"random_state": 0, **settings})


class FirstTwoColumns(BaseEstimator):
    """It cannot transform new rows."""

    def fit_transform(self, X):
        return X[:, :2]


# ---------------------------------------------------------------- rounds
@given(st.integers(0, 400), st.integers(1, 30), st.integers(0, 200))
def test_rounds_do_not_depend_on_what_comes_later(n_facts, per_round, more):
    ends = round_ends(n_facts, per_round)
    assert round_ends(n_facts + more, per_round)[: len(ends)] == ends
    gaps = np.diff([0, *ends])
    assert (gaps >= per_round).all()
    assert all(end < n_facts for end in ends)
    assert all(gap <= max(per_round, end // 4) for gap, end in zip(gaps[1:], ends[:-1], strict=True))


def test_many_facts_are_few_rounds():
    assert len(round_ends(100_000, 5)) < 60


def test_two_dimensions_first_and_one_more_while_something_is_not_satisfied():
    X, y = three_columns()
    model = learner(per_round=3)
    run = Run(model, X, Evidence(len(X)), 0)
    seen = []
    for _ in range(12):
        said, *_ = model.describe(run.state)
        seen.append(int(said[0]))
        run.answer("yes" if y[run.question.first] == y[run.question.second] else "no")
    assert seen[:4] == [2, 2, 2, 2]
    assert seen[-1] == 3, "the two widest dimensions do not hold what is meant"
    assert (np.diff(seen) >= 0).all()


@nobody_is_asked
def test_it_finds_the_column_that_is_meant():
    X, y = three_columns()
    model = learner().fit(X, oracle=lw.TruthOracle(y), budget=25)
    assert len(set(zip(model.labels_.tolist(), y.tolist(), strict=True))) == 2
    plain = learner().fit(X)
    assert len(set(zip(plain.labels_.tolist(), y.tolist(), strict=True))) > 2


def test_where_two_dimensions_do_there_are_no_more():
    rng = np.random.default_rng(1)
    y = np.arange(40) % 2
    X = np.c_[6.0 * y, np.zeros(40), np.zeros(40)] + rng.normal(0, 0.3, (40, 3))
    model = learner(per_round=2)
    run = Run(model, X, Evidence(40), 0)
    assert len(model.describe(run.state)) == 1
    for _ in range(12):
        run.answer("yes" if y[run.question.first] == y[run.question.second] else "no")
    assert model.describe(run.state)[0].startswith("2 of at most 3 dimensions are in use")
    assert model.column_shares(run.state).argmax() == 0


# ---------------------------------------------------------------- what is proposed
def test_neighbouring_clusters_and_borders_by_turns():
    X, _ = three_columns()
    run = Run(learner(), X, Evidence(len(X)), 0)
    whys = []
    for _ in range(4):
        q = run.question
        whys.append(q.why[:9])
        assert (q.labels[q.first] == q.labels[q.second]) == (q.expected == "yes")
        run.answer("unsure")
    assert whys[0] == "They are "
    assert whys[1:] == ["The first"] * 3, "two clusters have one pair of central rows"


def test_all_that_can_be_proposed_ends():
    X = np.array([[0.0, 0], [0, 1], [5, 0], [5, 1]])
    model = lw.ActiveFeatureWeights(2, random_state=0).fit(X, oracle=lw.TruthOracle([0, 0, 1, 1]))
    assert model.reason_ == "exhausted"
    assert model.violations_ == 0


# ---------------------------------------------------------------- volunteered, undone, many
def test_volunteered_pairs_count_and_undo_takes_them_back(tmp_path):
    X, _ = three_columns()
    with lw.Session.open(tmp_path / "s.linkwise", X, learner(per_round=3)) as session:
        before = session.labels.tolist(), session.status.description
        for i in range(0, 24, 2):
            session.add(i, i + 2, "must-link")
            session.add(i, i + 1, "cannot-link")
        assert session.constraints.n_constraints == 24
        assert not any(broken.any() for broken in session.constraints.find_violations(session.labels))
        assert session.column_shares.argmax() == 2
        assert session.column_shares.sum() == pytest.approx(1)
        with lw.Session.open(tmp_path / "s.linkwise", X) as other:
            assert other.labels.tolist() == session.labels.tolist()
            assert other.question.first == session.question.first
        for _ in range(24):
            session.undo()
        assert (session.labels.tolist(), session.status.description) == before


def test_the_same_whether_told_one_by_one_or_all_at_once():
    X, y = three_columns()
    one_by_one = learner(per_round=3).fit(X, oracle=lw.TruthOracle(y), budget=14)
    told = Evidence(len(X))
    run = Run(learner(per_round=3), X, told, 0)
    for _ in range(14):
        run.answer("yes" if y[run.question.first] == y[run.question.second] else "no")
    at_once = Run(learner(per_round=3), X, told, 0)
    np.testing.assert_array_equal(run.labels, at_once.labels)
    np.testing.assert_array_equal(run.labels, one_by_one.labels_)


def test_answers_that_part_identical_rows_say_nothing_of_points():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    evidence = Evidence(4)
    known = PointEvidence(evidence, distinct_points(X))
    evidence.add(0, 1, "no")
    evidence.add(0, 2, "no")
    evidence.add(1, 2, "yes")
    assert list_facts(known) == [Fact(0, 1, "no")]
    evidence.add(1, 3, "yes")
    assert len(list_facts(known)) == 1


def test_very_many_rows_follow_a_sample(monkeypatch):
    monkeypatch.setattr(afw, "MAX_ROWS", 100)
    X, y = three_columns(600)
    model = learner().fit(X, oracle=lw.TruthOracle(y), budget=20)
    agree = np.mean(model.labels_ == y)
    assert max(agree, 1 - agree) > 0.95


def test_what_is_remembered_is_bounded(monkeypatch):
    X, _ = three_columns()
    monkeypatch.setattr(afw, "REMEMBERED", (200 + 4 * len(X)) * 3)
    model = learner()
    run = Run(model, X, Evidence(len(X)), 0)
    for at in range(8):
        run.answer("yes" if at % 2 else "no")
    assert len(run.state.problem.memo) <= 3


@pytest.mark.parametrize("wrong", [{"per_round": 0}, {"max_evals": 0}, {"n_clusters": 0}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        lw.ActiveFeatureWeights(**wrong).fit(np.eye(4))


# ---------------------------------------------------------------- what it says, what it computes
@pytest.mark.parametrize("d", [1, 2, 5])
def test_no_more_dimensions_are_in_use_than_there_are(d):
    """Two columns in five of which rows differ in two dimensions at most."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, min(d, 2))) @ rng.normal(size=(min(d, 2), d))
    y = rng.integers(0, 2, 40)
    model = learner(per_round=1)
    run = Run(model, X, Evidence(40), 0)
    for _ in range(6):
        (said, *_) = model.describe(run.state)
        most = min(d, 2)
        assert said == f"{most} of at most {most} {'dimension is' if d == 1 else 'dimensions are'} in use."
        run.answer("yes" if y[run.question.first] == y[run.question.second] else "no")


def test_of_many_dimensions_several_join_at_once():
    """Random answers are never all satisfied: 2, 3, ..., 8, then a quarter more."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    model = learner(per_round=1, max_evals=4)
    run = Run(model, X, Evidence(60), 0)
    seen = []
    for _ in range(40):
        seen.append(int(model.describe(run.state)[0].split()[0]))
        run.answer("yes" if rng.integers(2) else "no")
    assert sorted(set(seen)) == [2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 20]


def test_it_says_how_many_clusters_answers_added():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = learner()
    prepared = model.prepare(X, 0)
    known = Evidence(30)
    for i in range(4):
        for j in range(i):
            known.add(i, j, "no")
    run = Run(model, X, known, 0, prepared=prepared)
    shown = len(np.unique(run.labels))
    assert shown >= 4
    wanted = f"{shown} clusters are shown, {shown - 2} more than 2, so that no answer is contradicted."
    assert wanted in model.describe(run.state)


def test_unsure_costs_nothing_and_dimensions_are_computed_once(monkeypatch):
    X, _ = three_columns()
    computed, fits = [], []
    found, fit = afw.find_dimensions, lw.FeatureWeightClustering.fit
    monkeypatch.setattr(afw, "find_dimensions", lambda *a: computed.append(a) or found(*a))
    monkeypatch.setattr(lw.FeatureWeightClustering, "fit", lambda *a, **k: fits.append(a) or fit(*a, **k))
    model = learner(per_round=2)
    known = Evidence(len(X))
    for at in range(5):
        known.add(2 * at, 2 * at + 1, "no")
    run = Run(model, X, known, 0)
    n_fits = len(fits)
    while run.question is not None and len(run.evidence) < 12:
        run.answer("unsure")
    assert (len(computed), len(fits)) == (1, n_fits)


# ---------------------------------------------------------------- the framework's parts
def test_the_preset_of_the_paper_adds_one_dimension_at_a_time():
    """Section 3.5: one dimension more, as long as the person is not satisfied."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 14)), np.arange(40) % 2
    model = lw.ActiveFeatureWeights.paper(2, per_round=2, max_evals=5, random_state=0)
    run = Run(model, X, Evidence(len(X)), 0)
    seen = []
    for _ in range(24):
        q = run.question
        run.answer("yes" if y[q.first] == y[q.second] else "no")
        seen.append(run.state.tuned.dimensions)
    assert set(np.diff(seen)) == {0, 1}
    assert seen[-1] > 8
    assert model.estimator.get_params() == lw.FeatureWeightClustering.paper(2).get_params()
    assert not model.enforce
    assert lw.ActiveFeatureWeights.paper(2, enforce=True).enforce


def test_answers_only_choose_the_weights_as_printed():
    """Section 3.5: the labels are those of the clusterer, even if they break an answer."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    apart = [(i, j) for i in range(4) for j in range(i)]
    shown = {}
    for enforce in (True, False):
        model = learner(enforce=enforce)
        run = Run(model, X, Evidence(30, lw.Constraints(30, (), apart)), 0)
        broken = sum(int(run.labels[i] == run.labels[j]) for i, j in apart)
        assert (broken == 0) == enforce
        assert len(np.unique(run.labels)) == (4 if enforce else 2)
        assert len(model.describe(run.state)) == (2 if enforce else 1)
        shown[enforce] = run
    plain = shown[False]
    np.testing.assert_array_equal(plain.labels, plain.state.tuned.labels)
    fitted = learner(enforce=False).fit(X, constraints=lw.Constraints(30, (), apart))
    assert fitted.n_clusters_ == 2
    assert fitted.violations_ > 0
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)


def test_no_row_moves_at_an_answer_as_printed():
    X, y = three_columns()
    model = lw.ActiveFeatureWeights.paper(2, random_state=0)
    run = Run(model, X, Evidence(len(X)), 0)
    for _ in range(8):
        q = run.question
        run.answer("yes" if y[q.first] == y[q.second] else "no")
        np.testing.assert_array_equal(run.labels, run.state.tuned.labels)


def test_clusterer_validity_and_transformation_may_be_any():
    X, y = three_columns()
    called = []

    def validity(rows, labels):
        called.append(rows.shape[1])
        return 0.5

    estimator = lw.FeatureWeightClustering(
        2,
        clusterer=AgglomerativeClustering(),
        validity=validity,
        transformation=StandardScaler(),
        constraint_weight=3.0,
    )
    model = learner(estimator=estimator).fit(X, oracle=lw.TruthOracle(y), budget=12)
    assert model.n_questions_ == 12
    assert model.violations_ == 0
    assert set(called) == {2, 3}


def test_a_transformation_has_no_shares_of_columns():
    X, _ = three_columns()
    estimator = lw.FeatureWeightClustering(transformation=StandardScaler())
    model = learner(estimator=estimator)
    run = Run(model, X, Evidence(len(X)), 0)
    assert model.column_shares(run.state) is None
    assert "dimensions are in use" in model.describe(run.state)[0]


@pytest.mark.parametrize("transformation", [PCA(2), PCA(4), PolynomialFeatures(2, include_bias=False)])
@pytest.mark.parametrize("budget", [None, 12])
def test_new_rows_are_transformed_as_the_fitted_ones(transformation, budget):
    """Whether the transformation drops columns, keeps their number or adds some."""
    X, y = load_iris(return_X_y=True)
    model = lw.ActiveFeatureWeights(
        3, estimator=lw.FeatureWeightClustering(transformation=transformation), random_state=0
    )
    if budget is None:
        model.fit(X, constraints=lw.Constraints.sample(y, 20, 0))
    else:
        model.fit(X, oracle=lw.TruthOracle(y), budget=budget)
    free = np.ones(len(X), dtype=bool)
    free[np.unique(np.vstack([model.constraints_.must_link, model.constraints_.cannot_link]))] = False
    np.testing.assert_array_equal(model.predict(X)[free], model.labels_[free])
    np.testing.assert_array_equal(model.predict(X[::2] + 1e-9), model.predict(X)[::2])


def test_a_transformation_without_transform_is_enough_to_fit():
    X, y = three_columns()
    model = learner(estimator=lw.FeatureWeightClustering(transformation=FirstTwoColumns()))
    model.fit(X, oracle=lw.TruthOracle(y), budget=6)
    assert model.n_questions_ == 6


def test_only_a_tuner_of_weights_tunes():
    with pytest.raises(TypeError, match="Pass a FeatureWeightClustering"):
        learner(estimator=lw.PCKMeans(2)).fit(np.eye(4), oracle=lw.TruthOracle([0, 0, 1, 1]))
