"""Learners that know the number of clusters: what they ask, and what they make of the answers."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from laws.asking import nobody_is_asked
from linkwise.constraints.evidence import Evidence
from linkwise.errors import InfeasibleConstraintsError, SessionError
from linkwise.learn.known_k import base, estimators
from linkwise.learn.known_k.base import match_labels, spread
from linkwise.learn.memo import Memo, value_size
from linkwise.learn.oracles import TruthOracle
from linkwise.learn.run import Run
from linkwise.rng import rng_at
from reference.known_k import explore_and_consolidate, min_max

KINDS = (lw.ExploreConsolidate, lw.MinMax, lw.NPU)
each = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def made(kind, k, **settings):
    """A learner that is quick to fit."""
    trees = {"n_trees": 5} if kind is lw.NPU else {}
    return kind(k, **{"estimator": lw.PCKMeans(n_init=1), "random_state": 0, **trees, **settings})


def problem(seed, n=24, k=3):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    return rng.normal(size=(n, 2)) + 2.0 * rng.normal(size=(k, 2))[y], y


def blobs(n=60):
    return make_blobs(n, centers=[[0, 0], [40, 0], [0, 40]], cluster_std=1.0, random_state=2)


def asked(model, X, y, **more):
    """The rows asked about, in order, each with the classes that it was compared with."""
    rows = []

    def oracle(first, second):
        if not rows or rows[-1][0] != first:
            rows.append((first, []))
        rows[-1][1].append(int(y[second]))
        return bool(y[first] == y[second])

    model.fit(X, oracle=oracle, **more)
    return rows


# ---------------------------------------------------------------- against the papers
each_seed = pytest.mark.parametrize(
    "seed",
    [*range(3), *(pytest.param(seed, marks=pytest.mark.slow(nightly=True)) for seed in range(3, 8))],
)


@each_seed
@pytest.mark.parametrize("k", [2, 3])
def test_min_max_asks_what_the_gaussian_of_the_paper_asks(seed, k):
    X, y = problem(seed, k=k)
    first = int(rng_at(seed).permutation(len(X))[0])
    ours = asked(made(lw.MinMax, k, random_state=seed), X, y)
    assert ours == [(row, classes) for row, classes in min_max(X, y, k, first) if classes]


@each_seed
@pytest.mark.parametrize("k", [2, 4])
def test_explore_and_consolidate_ask_what_the_paper_asks(seed, k):
    X, y = problem(seed, k=k)
    drawn = rng_at(seed).permutation(len(X)).tolist()
    ours = asked(made(lw.ExploreConsolidate, k, random_state=seed), X, y)
    theirs = explore_and_consolidate(X, y, k, drawn[0], drawn)
    assert ours == [(row, classes) for row, classes in theirs if classes]


@each
def test_a_row_costs_at_most_one_question_less_than_there_are_clusters(kind):
    X, y = problem(0, n=30, k=4)
    rows = asked(made(kind, 4), X, y)
    met = [len({int(y[row]) for row, _ in rows[:at]}) for at in range(len(rows))]
    assert all(len(classes) <= 3 for (_, classes), n in zip(rows, met, strict=True) if n == 4)
    assert all(len(set(classes)) == len(classes) for _, classes in rows)


@each
def test_one_cluster_needs_no_question(kind):
    X, _ = problem(1)
    model = made(kind, 1).fit(X, oracle=lambda i, j: 1 / 0)
    assert (model.reason_, model.n_clusters_) == ("exhausted", 1)


@each
def test_each_cluster_is_reached_in_few_questions(kind):
    X, y = blobs()
    run = Run(made(kind, 3), X, Evidence(len(X)), 0)
    for _ in range(3):  # another cluster, and the third against both
        run.answer("yes" if y[run.question.first] == y[run.question.second] else "no")
    assert adjusted_rand_score(y, run.labels) == 1.0
    assert len({int(y[row]) for fact in run.evidence for row in fact.pair}) == 3


@pytest.mark.slow
@nobody_is_asked
@each
def test_answers_help(kind):
    X, y = load_iris(return_X_y=True)
    model = made(kind, 3, estimator="mpckmeans").fit(X, oracle=TruthOracle(y), budget=40)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert adjusted_rand_score(y, made(kind, 3).fit(X).labels_) < 0.8


# ---------------------------------------------------------------- what follows from k
def test_what_follows_from_the_number_of_clusters_is_no_answer_but_a_cluster():
    X, y = np.array([[0.0], [10.0], [4.0]]), [0, 1, 1]
    known = lw.Constraints(3, [], [(0, 1), (0, 2)])
    model = made(lw.MinMax, 2).fit(X, oracle=lambda i, j: 1 / 0, constraints=known)
    assert model.reason_ == "exhausted"
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.constraints_.relation(1, 2) is None


@each
def test_answers_may_show_more_clusters_than_were_expected(kind):
    X, y = problem(3, n=20, k=4)
    known = lw.Constraints(20, [], [(a, b) for a in range(20) for b in range(a) if y[a] != y[b]])
    model = made(kind, 2).fit(X, oracle=TruthOracle(y), constraints=known)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.n_questions_ > 0


def test_what_follows_gives_way_to_what_is_known():
    """Both rows 2 and 3 seem to be in the cluster of 1; they are apart, so there are three clusters."""
    X = np.array([[0.0], [10.0], [4.0], [20.0]])
    known = lw.Constraints(4, [], [(0, 1), (0, 2), (0, 3), (2, 3)])
    model = made(lw.MinMax, 2).fit(X, constraints=known)
    assert model.violations_ == 0


# ---------------------------------------------------------------- what is known at the start
def test_imported_groups_are_neighbourhoods_at_once_and_loose_ones_come_first():
    X, y = problem(5, n=30)
    groups = [np.flatnonzero(y == c)[:4] for c in range(3)]
    chains = [pair for rows in groups for pair in pairwise(rows)]
    apart = lw.Constraints(30, chains, [(groups[0][0], groups[1][0])])
    rows = asked(made(lw.MinMax, 3), X, y, constraints=apart, budget=4)
    assert rows[0][0] in groups[2]
    assert set(rows[0][1]) == {0, 1}
    assert all(row not in np.concatenate(groups) for row, _ in rows[1:])


def test_an_unsure_row_is_left():
    X, y = blobs()
    shown = []

    def oracle(first, second):
        shown.append(first)
        return "unsure" if len(shown) == 5 else bool(y[first] == y[second])

    made(lw.MinMax, 3).fit(X, oracle=oracle)
    assert shown.count(shown[4]) == shown[:5].count(shown[4])


def test_neighbourhoods_of_rows_that_may_not_be_shown_do_not_count():
    X, y = blobs()
    hidden = np.flatnonzero(y == 0)[:2]
    known = lw.Constraints(len(X), [hidden])
    shown = np.setdiff1d(np.arange(len(X)), hidden)
    model = made(lw.MinMax, 3).fit(X, oracle=TruthOracle(y), constraints=known, askable=shown, budget=30)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_an_answer_about_one_of_identical_rows_is_about_all():
    X = np.array([[0.0], [0.0], [1.0], [5.0], [5.0], [9.0]])
    known = lw.Constraints(6, [(1, 2)], [(1, 4)])
    run = Run(made(lw.MinMax, 2), X, Evidence(6, known), 0)
    assert {run.question.first, run.question.second} <= {0, 2, 3, 5}
    run.answer("no" if X[run.question.second] < 3 else "yes")
    assert run.labels.tolist() == [0, 0, 0, 1, 1, 1]


# ---------------------------------------------------------------- the clusterer
class Picky(lw.PCKMeans):
    """One that gives up from the third constraint on."""

    def fit(self, X, y=None, *, constraints=None):
        if constraints is not None and constraints.n_constraints > 2:
            raise InfeasibleConstraintsError("no way")
        return super().fit(X, constraints=constraints)


def test_every_neighbourhood_has_a_cluster_of_its_own():
    labels = np.array([5, 5, 5, 5, 7, 7, 9])
    assert match_labels(labels, ()).tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert match_labels(labels, (np.array([0, 1]), np.array([2]))).tolist() == [0, 0, 1, 0, 1, 1, 2]
    outvoted = match_labels(labels, (np.array([0]), np.array([1, 2, 3, 4])))
    assert outvoted[1:5].tolist() == [0] * 4
    assert outvoted[0] in (1, 2)
    one_each = match_labels(np.zeros(3, dtype=int), tuple(np.arange(3)[:, None]))
    assert sorted(one_each.tolist()) == [0, 1, 2]


def test_a_clusterer_that_gives_up_leaves_the_last_labels():
    X, y = blobs()
    model = made(lw.MinMax, 3, estimator=Picky()).fit(X, oracle=TruthOracle(y), budget=20)
    assert (model.n_questions_, model.violations_) == (20, 0)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    given = lw.Constraints.from_labels(np.where(np.arange(len(X)) < 9, y, -1))
    assert made(lw.MinMax, 3, estimator=Picky()).fit(X, constraints=given).violations_ == 0


@each
def test_where_nobody_sees_labels_the_clusterer_is_fitted_for_the_choice_of_rows_alone(kind, monkeypatch):
    fits = []
    monkeypatch.setattr(base, "fit_labels", lambda *a: (fits.append(1), estimators.fit_labels(*a))[1])
    X, y = make_blobs(40, centers=4, cluster_std=3.0, random_state=1)
    oracle, asked_about, needed = TruthOracle(y), [], []
    for shows_labels in (True, False):
        fits.clear()
        run = Run(made(kind, 4), X, Evidence(len(X)), 0, budget=30, shows_labels=shows_labels)
        pairs = []
        while (question := run.question) is not None:
            pairs.append((question.first, question.second))
            run.answer(oracle(*pairs[-1]))
        asked_about.append((pairs, run.state.labels().tolist()))
        needed.append(len(fits))
    assert asked_about[0] == asked_about[1]
    placed = len({first for first, _ in asked_about[0][0]})
    assert needed == [31, placed + 1 if kind is lw.NPU else 1]


def test_the_number_of_clusters_and_a_seed_are_set_the_rest_is_as_given():
    given = lw.PCKMeans(8, w=3.0, random_state=None)
    model = estimators.make_clusterer(given, 3, 4, 7)
    assert (model.n_clusters, model.w, model.random_state) == (3, 3.0, 7)
    assert (given.n_clusters, given.random_state) == (8, None)
    assert estimators.make_clusterer(lw.PCKMeans(random_state=1), 3, 4, 7).random_state == 1


@pytest.mark.parametrize(("n_features", "metric"), [(100, "full"), (101, "diagonal")])
def test_a_name_stands_for_quick_settings(n_features, metric):
    for name in (None, "mpckmeans"):
        model = estimators.make_clusterer(name, 3, n_features, 0)
        assert (type(model), model.n_init, model.metric) == (lw.MPCKMeans, 2, metric)
    assert type(estimators.make_clusterer("pckmeans", 3, n_features, 0)) is lw.PCKMeans


@each
@pytest.mark.parametrize(
    ("estimator", "kind_of_error", "words"),
    [
        ("k-means", ValueError, "estimator='k-means' is unknown. Pass the name of a clusterer .*pckmeans"),
        (KMeans(), TypeError, r"KMeans\(\) lacks n_clusters or fit\(X, constraints=\)"),
        (lw.COBS(), TypeError, "lacks n_clusters"),
        (lw.PCKMeans, TypeError, "is not an estimator. Pass one, or a name"),
        (3, ValueError, "'estimator' parameter"),
    ],
)
@pytest.mark.parametrize("oracle", [None, lambda i, j: True])
def test_no_such_clusterer(kind, estimator, kind_of_error, words, oracle):
    with pytest.raises(kind_of_error, match=words):
        kind(2, estimator=estimator).fit(np.eye(4), oracle=oracle)


@nobody_is_asked
@each
def test_without_an_oracle_the_clusterer_decides(kind):
    X, y = blobs()
    model = made(kind, 3).fit(X, y)
    assert (model.n_questions_, model.reason_) == (0, "no oracle")
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert made(kind, 2).fit(X).n_clusters_ == 2
    torn = lw.Constraints(len(X), [], [tuple(np.flatnonzero(y == 0)[:2])])
    assert made(kind, 3).fit(X, constraints=torn).violations_ == 0


# ---------------------------------------------------------------- many rows
@each
def test_of_many_rows_a_sample_is_clustered_and_the_others_follow(kind, monkeypatch):
    X, y = blobs(300)
    monkeypatch.setattr(base, "MAX_ROWS", 40)
    monkeypatch.setattr(base, "MOST_KNOWN", 3)
    monkeypatch.setattr("linkwise.learn.known_k.npu.MAX_CANDIDATES", 30)
    monkeypatch.setattr("linkwise.learn.known_k.npu.MAX_LEARNED", 20)
    fitted = []
    fit = lw.PCKMeans._fit
    monkeypatch.setattr(
        lw.PCKMeans, "_fit", lambda self, X, *more: (fitted.append(len(X)), fit(self, X, *more))[1]
    )
    model = made(kind, 3).fit(X, oracle=TruthOracle(y), budget=12)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert 40 <= max(fitted) < 70


def test_rows_are_spread_evenly():
    rows = np.arange(100, 200)
    assert spread(rows, 4).tolist() == [100, 133, 166, 199]
    assert spread(rows, 100) is rows


# ---------------------------------------------------------------- sessions
@pytest.mark.parametrize(
    "estimator", [None, "pckmeans", lw.PCKMeans(w=2.0, n_init=1)], ids=["none", "name", "estimator"]
)
def test_a_session_file_keeps_the_clusterer(tmp_path, estimator):
    X, y = problem(4)
    path = tmp_path / "s.linkwise"
    with lw.Session.open(path, X, lw.NPU(3, estimator=estimator, n_trees=5, random_state=0)) as session:
        for _ in range(6):
            session.answer(bool(y[session.question.first] == y[session.question.second]))
        was = session.question.first, session.question.second, session.labels.tolist()
        kept = session.learner
    with lw.Session.open(path, X) as session:
        assert (session.question.first, session.question.second, session.labels.tolist()) == was
        assert session.learner == kept


def test_a_clusterer_of_another_library_cannot_be_kept(tmp_path):
    with pytest.raises(SessionError, match="which is not part of linkwise"):
        lw.Session.open(tmp_path / "s.linkwise", np.eye(3), lw.MinMax(2, estimator=clone(Picky())))


def test_undo_fits_nothing_again(monkeypatch):
    X, y = problem(6)
    session = lw.Session(X, made(lw.NPU, 3))
    shown = []
    for _ in range(8):
        shown.append((session.question.first, session.question.second, session.labels.tolist()))
        session.answer(bool(y[session.question.first] == y[session.question.second]))
    monkeypatch.setattr(lw.PCKMeans, "_fit", None)
    for last in reversed(shown):
        session.undo()
        assert (session.question.first, session.question.second, session.labels.tolist()) == last


def test_what_is_remembered_is_bounded(monkeypatch):
    X, y = problem(6)
    monkeypatch.setattr(base, "REMEMBERED", 3 * value_size(np.zeros(len(X), dtype=np.int32)))
    memo = Memo()
    run = Run(made(lw.MinMax, 3), X, Evidence(len(X)), 0, memo=memo)
    for _ in range(8):
        run.answer("yes" if y[run.question.first] == y[run.question.second] else "no")
    assert len(memo) == 3


def test_it_says_where_it_stands():
    X, y = blobs()
    session = lw.Session(X, made(lw.MinMax, 3))
    number = "The number of clusters is set to 3."
    assert session.status.description == (
        "The answers have reached 0 of 3 clusters and placed 0 rows.",
        number,
    )
    while session.status.n_answers < 4:
        session.answer(bool(y[session.question.first] == y[session.question.second]))
    assert session.status.description == (
        "The answers have reached 3 of 3 clusters and placed 4 rows.",
        number,
    )


def test_it_says_that_answers_have_reached_more_clusters_than_were_set():
    X, y = blobs()
    apart = [int(np.flatnonzero(y == c)[0]) for c in range(3)]
    session = lw.Session(X, made(lw.MinMax, 2))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        session.add(apart[i], apart[j], "cannot-link")
    assert session.status.description == (
        "The answers have reached 3 of 3 clusters and placed 3 rows.",
        "That is more than the number that was set, 2.",
    )
