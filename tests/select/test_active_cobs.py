"""ActiveCOBS: what it asks, what it weighs, where it ends."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from sklearn.utils.estimator_checks import parametrize_with_checks

import linkwise as lw
from linkwise.evidence import Evidence
from linkwise.learner import Run
from linkwise.select.active_cobs import ActiveCOBS, OpenPairs, Tally
from linkwise.select.pool import build_pool
from reference.cobs import disagreement, reweighted

X, y = load_iris(return_X_y=True)
X = minmax_scale(X)


@pytest.fixture(scope="module")
def pool():
    return build_pool(X, "paper", 0)


@parametrize_with_checks([lw.ActiveCOBS(random_state=0)])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def questions(run, answers):
    """The pairs asked, with the candidates' labels weighed as printed."""
    for answer in answers:
        question = run.question
        yield question
        run.answer(answer(question.first, question.second))


@pytest.mark.parametrize("factor", [2.0, 1.3])
def test_each_question_is_the_most_divided_pair_of_the_sample(pool, factor):
    learner = ActiveCOBS(update_factor=factor, n_candidates=60)
    evidence = Evidence(len(X))
    run = Run(learner, X, evidence, 5, prepared=pool)
    candidates = [pool.clustering(c.clustering).tolist() for c in pool.candidates]
    weights = [1 / len(candidates)] * len(candidates)
    oracle, asked = lw.TruthOracle(y, noise=0.1, random_state=0), []
    sample = None
    for _ in range(12):
        question = run.question
        if sample is None:
            frame = run._asking.gi_frame.f_locals
            sample = [tuple(pair) for pair in frame["open_pairs"].pairs.tolist()]
        still = [p for p in sample if evidence.verdict(*p) is None]
        divided = [disagreement(candidates, weights, *p) for p in still]
        here = disagreement(candidates, weights, question.first, question.second)
        assert (question.first, question.second) in still
        assert here == pytest.approx(min(divided), abs=1e-9)
        answer = oracle(question.first, question.second)
        try:
            run.answer(answer)
        except lw.InfeasibleConstraintsError:
            answer = "unsure"
            run.answer(answer)
        else:
            weights = reweighted(candidates, weights, question.first, question.second, answer, factor)
        asked.append((question.first, question.second))
        heaviest = max(weights)
        chosen = pool.clustering(Tally(pool, evidence, np.arange(len(X))).heaviest()).tolist()
        assert weights[candidates.index(chosen)] == pytest.approx(heaviest)
    assert len(set(asked)) == 12


def test_thousands_of_answers_do_not_overflow(pool):
    evidence = Evidence(len(X), lw.Constraints.from_labels(y))
    tally = Tally(pool, evidence, np.arange(len(X)))
    for _ in range(5000):
        evidence.add(0, 1, "yes")
    assert np.isfinite(tally.weights(2.0)).all()
    assert tally.weights(2.0).sum() == pytest.approx(1)
    assert tally.net.max() > 4000


def test_what_is_known_beforehand_counts(pool):
    c = lw.Constraints.sample(y, 40, 0)
    passive = lw.COBS(random_state=0).fit(X, constraints=c)
    tally = Tally(passive.pool_, Evidence(len(X), c), np.arange(len(X)))
    tally.update()
    assert tally.net.max() == c.n_constraints - 2 * passive.violations_
    assert np.array_equal(passive.pool_.clustering(tally.heaviest()), passive.labels_)


def test_volunteered_pairs_count_like_answers(pool):
    learner, oracle = ActiveCOBS(), lw.TruthOracle(y)
    asked, told = (Run(learner, X, Evidence(len(X)), 1, prepared=pool) for _ in range(2))
    for _ in range(10):
        q = asked.question
        answer = oracle(q.first, q.second)
        told.tell(q.first, q.second, answer)
        asked.answer(answer)
    assert (asked.question.first, asked.question.second) == (told.question.first, told.question.second)
    assert np.array_equal(asked.labels, told.labels)


def test_a_replay_asks_the_same_next(pool):
    run = Run(ActiveCOBS(), X, Evidence(len(X)), 1, prepared=pool)
    oracle = lw.TruthOracle(y, unsure=0.2, random_state=2)
    for _ in range(30):
        run.answer(oracle(run.question.first, run.question.second))
    evidence = Evidence(len(X))
    for fact in run.evidence:
        evidence.add(*fact, asked=True)
    again = Run(ActiveCOBS(), X, evidence, 1, prepared=pool)
    assert (again.question.first, again.question.second) == (run.question.first, run.question.second)


def test_unsure_changes_no_weight_and_the_pair_is_not_asked_again(pool):
    run = Run(ActiveCOBS(n_candidates=50), X, Evidence(len(X)), 1, prepared=pool)
    labels, seen = run.labels, set()
    for _ in range(80):
        pair = (run.question.first, run.question.second)
        assert pair not in seen
        seen.add(pair)
        run.answer("unsure")
    assert np.array_equal(run.labels, labels)


def test_it_ends_when_no_clustering_disagrees():
    rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], 4, axis=0)
    model = lw.ActiveCOBS(random_state=0).fit(rows, oracle=lw.TruthOracle([0] * 4 + [1] * 4))
    assert model.reason_ == "exhausted"
    assert model.n_questions_ <= 1
    few = minmax_scale(load_iris().data)[::10]
    model = lw.ActiveCOBS(n_candidates=7, random_state=0).fit(few, oracle=lw.TruthOracle(y[::10]))
    assert model.reason_ == "exhausted"
    assert model.violations_ == 0


def test_only_divided_pairs_are_open(pool):
    pairs = np.array([(0, 1), (0, 149), (101, 142), (50, 51)])
    left = OpenPairs(pool, pairs)
    open_ = left.pairs[left.open]
    together = pool.together(open_)
    assert (together.any(axis=1) & ~together.all(axis=1)).all()
    assert [101, 142] not in open_.tolist()  # identical rows: always together


@pytest.mark.parametrize(("load", "least"), [(load_iris, 0.75), (load_wine, 0.8)])
def test_fifty_answers_find_the_classes(load, least):
    rows, truth = load(return_X_y=True)
    found = [
        adjusted_rand_score(
            truth,
            lw.ActiveCOBS(random_state=seed)
            .fit(minmax_scale(rows), oracle=lw.TruthOracle(truth), budget=50)
            .labels_,
        )
        for seed in range(3)
    ]
    assert np.mean(found) > least


def test_a_session_keeps_and_reopens_it(tmp_path):
    path = tmp_path / "iris.linkwise"
    oracle = lw.TruthOracle(y)
    with lw.Session.open(path, X, lw.ActiveCOBS(random_state=0)) as session:
        for _ in range(5):
            q = session.question
            session.answer(oracle(q.first, q.second))
        here = (session.question.first, session.question.second)
        labels = session.labels
    with lw.Session.open(path, X) as again:
        assert (again.question.first, again.question.second) == here
        assert np.array_equal(again.labels, labels)
        again.undo()
        assert again.question is not None
