"""What KIN shows: it contradicts no fact, and the same answers always give the same, to the last bit."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import linkwise as lw
from laws.asking import few_examples
from linkwise import parallel
from linkwise.constraints.evidence import Evidence
from linkwise.learn.kin import confidence, kernels, shown
from linkwise.learn.memo import Memo
from linkwise.learn.oracles import TruthOracle
from linkwise.learn.run import Run

SEED = 3


class Forgetful(Memo):
    """A memo that keeps nothing at all."""

    def get(self, topic, place, compute, *, max_values=None, max_bytes=None):
        return compute()


def truth_of(y):
    return lambda question: "yes" if y[question.first] == y[question.second] else "no"


def look(run):
    """All that is asked and shown, to the last bit."""
    posterior, q = run.state.read(), run.question
    certain = confidence.certainty(posterior)
    described = lw.KIN().describe(run.state)
    own = shown.row_labels(posterior).of_rows()
    pair = None if q is None else (q.first, q.second)
    return pair, run.labels.tobytes(), own.tobytes(), certain.tobytes(), described


def play(X, y, n, *, memo=None, evidence=None, prepared=None, askable=None, unsure=0.0):
    """A run of n answers; returns it with all that it showed."""
    oracle = TruthOracle(y, unsure=unsure, random_state=0)
    evidence = Evidence(len(X)) if evidence is None else evidence
    run = Run(lw.KIN(), X, evidence, SEED, prepared=prepared, memo=memo, askable=askable)
    seen = [look(run)]
    while run.question is not None and len(seen) <= n:
        run.answer(oracle(run.question.first, run.question.second))
        seen.append(look(run))
    return run, seen


# ---------------------------------------------------------------- facts hold
def assert_facts_hold(evidence, labels):
    for answer, is_together in (("yes", True), ("no", False)):
        one, other = evidence.pairs_with_answer(answer).T
        assert ((labels[one] == labels[other]) == is_together).all()
    assert np.bincount(labels).all()


@pytest.mark.slow
@pytest.mark.parametrize("n_given", [5, 40, 200])
def test_facts_hold_at_every_step(n_given):
    X, y = load_wine(return_X_y=True)
    given_ones = lw.Constraints.sample(y, n_given, 0)
    askable = np.random.default_rng(0).random(len(X)) < 0.7
    evidence, oracle = Evidence(len(X), given_ones), TruthOracle(y, unsure=0.15, random_state=0)
    run = Run(lw.KIN(), X, evidence, SEED, askable=askable)
    for _ in range(30):
        assert_facts_hold(evidence, run.labels)
        assert_facts_hold(evidence, shown.row_labels(run.state.read()).of_rows())
        if run.question is None:
            break
        assert askable[[run.question.first, run.question.second]].all()
        run.answer(oracle(run.question.first, run.question.second))


@pytest.mark.slow
@few_examples
@given(st.data())
def test_facts_hold_whatever_they_are(data):
    """Answers that follow no similarity, given ones, and ones that somebody volunteers."""
    n = data.draw(st.integers(2, 16))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    X, y = rng.integers(0, 5, (n, 2)).astype(float), rng.integers(0, data.draw(st.integers(1, n)), n)
    n_given = data.draw(st.integers(0, min(8, n * (n - 1) // 2)))
    run = Run(lw.KIN(), X, Evidence(n, lw.Constraints.sample(y, n_given, rng)), SEED)
    while run.question is not None:
        assert_facts_hold(run.evidence, run.labels)
        if data.draw(st.integers(0, 3)) == 0:
            i, j = rng.choice(n, 2, replace=False).tolist()
            run.tell(i, j, "yes" if y[i] == y[j] else "no")
            assert_facts_hold(run.evidence, run.labels)
        else:
            run.answer("unsure" if rng.random() < 0.2 else truth_of(y)(run.question))
    assert_facts_hold(run.evidence, run.labels)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_what_answers_decide_is_certain(load):
    X, y = load(return_X_y=True)
    distinct = np.sort(np.unique(X, axis=0, return_index=True)[1])
    X, y = X[distinct], y[distinct]
    given_ones = lw.Constraints.sample(y, 30, 0)
    run = Run(lw.KIN(), X, Evidence(len(X), given_ones), SEED)
    for _ in range(25):
        posterior = run.state.read()
        certain = confidence.certainty(posterior)
        assert ((certain >= 0) & (certain <= 1)).all()
        assumed = posterior.placed.guesses  # no answer decides these
        assert (certain[np.setdiff1d(posterior.known.items, assumed)] == 1).all()
        assert (certain[assumed] < 1).all()
        named = set(given_ones.must_link.ravel().tolist()) | set(given_ones.cannot_link.ravel().tolist())
        in_question = {row for row in named if run.evidence.verdict(row, posterior.placing) == "yes"}
        assert (certain[sorted(named - in_question - set(assumed.tolist()))] == 1).all()
        assert certain.min() < 1
        run.answer(truth_of(y)(run.question))


# ---------------------------------------------------------------- the same to the last bit
@pytest.mark.parametrize("n_threads", [1, pytest.param(2, marks=pytest.mark.slow(nightly=True))])  # the first
def test_any_number_of_threads_gives_the_same(n_threads, monkeypatch):
    """Beyond the first weights of kernels and the first forests; also for the start."""
    X, y = load_wine(return_X_y=True)
    seen = []
    for n in (3 - n_threads, n_threads):
        monkeypatch.setitem(os.environ, "OMP_NUM_THREADS", str(n))
        assert parallel.n_threads() == n
        with threadpool_limits(limits=n, user_api="blas"):
            prepared = lw.KIN().prepare(X, SEED)
            run, looks = play(X, y, 45, prepared=prepared)
        learned = run.state.read().learned
        assert learned.forest is not None
        assert learned.weights
        seen.append((looks, learned, prepared.prior.fine.tolist(), prepared.prior.n_classes))
    assert seen[0][0] == seen[1][0]
    assert seen[0][1].kernel_key == seen[1][1].kernel_key
    assert seen[0][2:] == seen[1][2:]


@pytest.mark.slow
@pytest.mark.parametrize("n_given", [pytest.param(0, marks=pytest.mark.slow(nightly=True)), 30])
def test_a_replay_shows_the_same(n_given):
    """With what an earlier run has left, with nothing, and from any point; across forests and weights."""
    X, y = load_wine(return_X_y=True)
    prepared, memo = lw.KIN().prepare(X, SEED), Memo()
    given_ones = lw.Constraints.sample(y, n_given, 0)

    def again(n, memo):
        evidence = Evidence(len(X), given_ones)
        return play(X, y, n, memo=memo, prepared=prepared, evidence=evidence, unsure=0.1)[1]

    seen = again(30, memo)
    for n in (15, 30):  # as undo does
        assert again(n, memo) == seen[: n + 1]
    assert again(30, Forgetful()) == seen


@pytest.mark.slow
def test_a_volunteered_fact_is_not_forgotten():
    """The rows that belong together with the item in question count, whatever was shown before."""
    X, y = load_wine(return_X_y=True)
    prepared, memo = lw.KIN().prepare(X, SEED), Memo()
    play(X, y, 20, memo=memo, prepared=prepared)
    rng = np.random.default_rng(0)
    for n in range(2, 20, 3):
        for other in rng.choice(len(X), 4, replace=False).tolist():
            labels = []
            for each in (memo, Memo()):
                run = Run(lw.KIN(), X, Evidence(len(X)), SEED, prepared=prepared, memo=each)
                for _ in range(n):
                    run.answer(truth_of(y)(run.question))
                if run.evidence.verdict(run.question.first, other) is None:
                    run.tell(run.question.first, other, "yes")
                    run.answer("no")
                labels.append(run.labels.tolist())
            assert labels[0] == labels[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow(nightly=True))])
def test_rows_at_borders_are_not_remembered_too_long(seed, monkeypatch):
    monkeypatch.setattr(kernels, "MOST_ITEMS", 60)
    monkeypatch.setattr(kernels, "SMALL_CLUSTERS", 40)
    X, y = make_blobs(300, centers=6, cluster_std=3.0, random_state=seed)
    prepared = lw.KIN().prepare(X, SEED)
    one, other = (play(X, y, 30, memo=memo, prepared=prepared)[1] for memo in (Memo(), Forgetful()))
    assert one == other


# ---------------------------------------------------------------- many facts
def test_similarities_are_judged_by_some_of_many_items(monkeypatch):
    """Each neighbourhood and component is among them."""
    X, y = load_wine(return_X_y=True)
    evidence = Evidence(len(X), lw.Constraints.sample(y, 60, 0))
    posterior = Run(lw.KIN(), X, evidence, SEED).state.read()
    anchors = shown.find_anchors(posterior)
    n_groups, fit, sizes = len(anchors.apart), shown.fit_pair_weights, []
    assert len(anchors.items) > 60

    def remembering(similarity, shared, together, n_classes):
        sizes.append((len(similarity), len(np.unique(together, axis=0))))
        return fit(similarity, shared, together, n_classes)

    monkeypatch.setattr(shown, "fit_pair_weights", remembering)
    for most in (len(anchors.items), 10):
        monkeypatch.setattr(shown, "MOST_PAIRED", most)
        pairs = shown._compute_pair_chances(posterior)
        assert pairs.same.shape == (n_groups, n_groups)
        np.testing.assert_allclose(pairs.same, pairs.same.T)
        assert (pairs.same[anchors.apart] == 0).all()
        assert (pairs.same.diagonal() == 1).all()
    assert sizes[0][0] == len(anchors.items)
    assert sizes[1][0] == 10
    assert sizes[1][0] < sizes[0][0]


@pytest.mark.parametrize("kind", ["must-link", "cannot-link"])
def test_given_pairs_of_one_kind_do_not_say_how_many_belong_together(kind):
    """A file of duplicates alone names no pair that is apart."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:500] / 16, y[:500]
    draw = np.random.default_rng(0)
    pairs = [(a, b) for a, b in draw.choice(500, (800, 2)).tolist() if a != b]
    chosen = [pair for pair in pairs if (y[pair[0]] == y[pair[1]]) == (kind == "must-link")][:50]
    given = lw.Constraints(500, **{kind.replace("-", "_"): chosen})
    session = lw.Session(X, lw.KIN(random_state=0))
    before = adjusted_rand_score(y, session.labels)
    session.import_constraints(given)
    assert adjusted_rand_score(y, session.labels) > before - 0.05
