"""ActiveCOBS: what it asks, what it weighs, where it ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from sklearn.utils.estimator_checks import parametrize_with_checks

import linkwise as lw
from laws.asking import nobody_is_asked
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.errors import SessionError
from linkwise.learn.run import Run
from linkwise.select.active_cobs import ActiveCOBS, OpenPairs, Tally
from linkwise.select.base_rows import find_base_rows
from linkwise.select.clusterings import Preset
from linkwise.select.pool import Candidate, Pool, build_pool
from linkwise.select.ranking import report_choice
from linkwise.select.summary import format_choice
from reference.cobs import disagreement, reweighted

X, y = load_iris(return_X_y=True)
X = minmax_scale(X)


@pytest.fixture(scope="module")
def pool():
    return build_pool(X, "paper", 0)


@nobody_is_asked
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
        evidence.add(*fact.pair, fact.answer, asked=True)
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
    together = pool.together(pairs)
    assert left.open.tolist() == (together.any(axis=1) & ~together.all(axis=1)).tolist()
    assert len(left) == left.open.sum()
    assert not left.open[2]  # identical rows: always together


def random_pool(n_clusterings, n_rows, rng):
    labels = rng.integers(0, 3, (n_clusterings, n_rows), dtype=np.int16)
    return pool_of(labels, [Candidate("random", {}, c) for c in range(n_clusterings)])


def pool_of(labels, candidates, rows=None):
    """A pool that clusters every row, or the distinct ones of `rows`."""
    base = find_base_rows(np.arange(labels.shape[1])[:, None] if rows is None else rows, 10**4, 0, 1)
    labels = np.ascontiguousarray(labels[:, base.rows])
    return Pool(labels, base.of, base.rows, base.weight, tuple(candidates), 0, "cluster", base.sampled)


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(2, 40), st.integers(3, 12), st.integers(0, 2**32 - 1))
def test_the_first_of_the_most_divided_open_pairs_is_chosen(n_clusterings, n_rows, seed):
    """Whatever has left the sample, and in however many steps; the weights add up exactly."""
    rng = np.random.default_rng(seed)
    pool, oracle = random_pool(n_clusterings, n_rows, rng), rng.integers(0, 3, n_rows)
    parts = rng.integers(1, 1000, n_clusterings)
    parts[0] += 2**16 - parts.sum()
    weights = parts / 2.0**16
    pairs = np.argwhere(np.tri(n_rows, k=-1, dtype=bool))
    rng.shuffle(pairs)
    together = pool.together(pairs)
    open_pairs, evidence = OpenPairs(pool, pairs), Evidence(n_rows)
    while True:
        still = together.any(axis=1) & ~together.all(axis=1)
        still &= [evidence.verdict(i, j) is None for i, j in pairs.tolist()]
        assert open_pairs.forget_known(evidence) == len(open_pairs) == still.sum()
        if not still.any():
            return
        share = together[still] @ weights
        first = np.abs(2 * share - 1).argmin()
        at, joined = open_pairs.most_divided(weights)
        assert open_pairs.pairs[at].tolist() == pairs[still][first].tolist()
        assert joined == share[first]
        for i, j in pairs[rng.integers(0, len(pairs), rng.integers(0, 3))].tolist():
            said = "unsure" if rng.random() < 0.3 else "yes" if oracle[i] == oracle[j] else "no"
            evidence.add(i, j, said)


def test_a_pair_opens_again_when_its_answer_is_no_longer_believed():
    """Row 4 hung on row 3 alone; once it is believed to be apart, its pairs with the others are open."""
    pool = random_pool(30, 5, np.random.default_rng(0))
    pairs = np.argwhere(np.tri(5, k=-1, dtype=bool))
    open_pairs, evidence = OpenPairs(pool, pairs), FallibleEvidence(5, error_rate=0.2)

    def tell(first, second, answer):
        evidence.add(first, second, answer)
        evidence.believe()
        known = [evidence.verdict(i, j) is not None for i, j in pairs.tolist()]
        open_pairs.forget_known(evidence)
        np.testing.assert_array_equal(open_pairs.pairs, pairs)
        return [tuple(pair) for pair in pairs[np.array(known) & open_pairs.open].tolist()], len(open_pairs)

    numbers = []
    said = [(0, 1, "no"), (1, 2, "yes"), (0, 3, "yes"), (2, 3, "yes"), (3, 1, "yes"), (0, 2, "yes")]
    for fact in [*said, (3, 4, "yes"), (4, 0, "no"), (4, 1, "no"), (4, 2, "no")]:
        known, number = tell(*fact)
        assert known == []  # no pair with a verdict is open ...
        together = pool.together(pairs)
        divided = together.any(axis=1) & ~together.all(axis=1)
        unknown = np.array([evidence.verdict(i, j) is None for i, j in pairs.tolist()])
        np.testing.assert_array_equal(open_pairs.open, divided & unknown)  # ... and each one without
        numbers.append(number)
    assert evidence.n_revisions > 1


def test_an_agreed_pool_is_not_asked_about_and_one_clustering_neither():
    pool = random_pool(1, 5, np.random.default_rng(0))
    assert OpenPairs(pool, np.array([(0, 1), (2, 3)])).forget_known(Evidence(5)) == 0


def test_the_leader_is_chosen_anew_when_a_first_cannot_link_comes(pool):
    """With must-links only, fewer clusters are no merit; the tied clusterings may stay the same."""
    evidence = Evidence(len(X))
    tally = Tally(pool, evidence, np.arange(len(X)))
    for i, j, said in ((0, 1, "yes"), (0, 2, "yes"), (0, 149, "no"), (60, 140, "no"), (3, 4, "unsure")):
        tally.best()
        evidence.add(i, j, said)
        fresh = Tally(pool, evidence, np.arange(len(X)))
        assert tally.heaviest() == fresh.heaviest()
        assert np.array_equal(tally.best(), fresh.best())


def nearest_seeds(rows, how_many):
    """A pool of clusterings around random rows: the same on every machine."""
    rng, distinct, candidates = np.random.default_rng(0), {}, []
    for number in range(how_many):
        seeds = rng.choice(len(rows), rng.integers(2, 7), replace=False)
        squares = sum((rows[:, a, None] - rows[seeds, a]) ** 2 for a in range(rows.shape[1]))
        labels = np.unique(squares.argmin(axis=1), return_inverse=True)[1].astype(np.int16)
        at = distinct.setdefault(labels.tobytes(), len(distinct))
        candidates.append(Candidate("nearest seed", {"number": number}, at))
    labels = np.array([np.frombuffer(key, dtype=np.int16) for key in distinct])
    return pool_of(labels, candidates, rows)


# recorded when the sample was a matrix of floats and every pair was looked at anew at each question
RECORDED = {
    load_iris: (
        "141-146 16-41 131-149 53-85 60-123 68-118 50-128 77-101 60-74 69-84 101-106 72-83 "
        "121-125 63-116 92-106 85-127 106-128 108-119 133-146 73-138 52-62 52-114 67-86 59-103",
        [50, 54, 46],
    ),
    load_wine: (
        "90-96 25-122 53-98 130-143 42-98 18-35 43-52 96-163 61-159 94-96 36-40 65-108 23-73 "
        "43-110 76-122 71-116 118-140 23-49 7-52 37-100 77-87 37-40 95-121 61-111",
        [69, 107, 2],
    ),
    load_breast_cancer: (
        "222-493 85-258 55-448 277-535 305-465 64-451 71-357 126-129 47-537 132-227 73-314 "
        "255-442 159-504 41-241 413-428 134-242 441-469 43-259 255-324 376-551 382-504 111-242 "
        "41-509 184-307",
        [358, 207, 4],
    ),
}


@pytest.mark.parametrize("load", RECORDED)
def test_the_questions_are_the_recorded_ones(load):
    rows, truth = load(return_X_y=True)
    rows = minmax_scale(rows)
    learner, oracle = ActiveCOBS(n_candidates=200), lw.TruthOracle(truth, unsure=0.1, random_state=0)
    run = Run(learner, rows, Evidence(len(rows)), 3, prepared=nearest_seeds(rows, 90))
    pairs, sizes = RECORDED[load]
    asked = []
    for _ in pairs.split():
        asked.append(f"{run.question.first}-{run.question.second}")
        run.answer(oracle(run.question.first, run.question.second))
    assert " ".join(asked) == pairs
    assert np.bincount(run.labels).tolist() == sizes


@pytest.mark.parametrize("asked_about", ["all rows", "few rows"])
def test_of_many_rows_those_of_the_sample_are_shown(asked_about):
    rows = np.vstack([X + shift for shift in np.linspace(0, 1e-3, 5)])
    truth = np.tile(y, 5)
    askable = None if asked_about == "all rows" else np.arange(0, len(rows), 3)
    model = ActiveCOBS(preset="quick", max_rows=150, random_state=0)
    shown = []

    def oracle(first, second):
        shown.extend((first, second))
        return truth[first] == truth[second]

    model.fit(rows, oracle=oracle, budget=30, askable=askable)
    pool = model.prepare(rows, 0)
    assert pool.sampled
    assert np.isin(
        shown, pool.base_rows if askable is None else np.intersect1d(pool.base_rows, askable)
    ).all()
    assert adjusted_rand_score(truth, model.labels_) > 0.7
    assert model.violations_ == 0


def test_where_no_row_of_the_sample_may_be_shown_others_are():
    model = ActiveCOBS(preset="quick", max_rows=20, random_state=0)
    outside = np.setdiff1d(np.arange(len(X)), model.prepare(X, 0).base_rows)[::7]
    shown = []
    model.fit(X, oracle=lambda i, j: shown.extend((i, j)) or y[i] == y[j], budget=10, askable=outside)
    assert len(shown) == 20
    assert np.isin(shown, outside).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("load", "least"), [(load_iris, 0.75), pytest.param(load_wine, 0.8, marks=pytest.mark.slow(nightly=True))]
)
def test_fifty_answers_find_the_classes(load, least):
    rows, truth = load(return_X_y=True)
    found = [
        adjusted_rand_score(
            truth,
            lw.ActiveCOBS(preset="quick", random_state=seed)
            .fit(minmax_scale(rows), oracle=lw.TruthOracle(truth), budget=50)
            .labels_,
        )
        for seed in range(3)
    ]
    assert np.mean(found) > least


@pytest.mark.slow
def test_a_session_keeps_and_reopens_it(tmp_path):
    path = tmp_path / "iris.linkwise"
    oracle = lw.TruthOracle(y)
    with lw.Session.open(path, X, lw.ActiveCOBS(preset="quick", random_state=0)) as session:
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


# ---------------------------------------------------------------- what COBS takes, too
FEW = Preset(clusters=(2, 3, 4), n_runs=2, n_eps=6, min_pts=(2, 5), neighbours=(3, 8), sigmas=(0.1, 1.0))


def test_any_preset_and_any_clusterer():
    """The pool is that of COBS with the same preset and the same further clusterers."""
    extra = [(AgglomerativeClustering(), {"n_clusters": [3, 5]})]
    model = lw.ActiveCOBS(preset=FEW, extra=extra, random_state=0)
    pool = model.prepare(X, 0)
    passive = lw.COBS(preset=FEW, extra=extra, random_state=0).fit(
        X, constraints=lw.Constraints.sample(y, 9, 0)
    )
    np.testing.assert_array_equal(pool.labels, passive.pool_.labels)
    assert any(maker.algorithm == "AgglomerativeClustering" for maker in pool.makers)
    assert model.fit(X, oracle=lw.TruthOracle(y), budget=9).n_questions_ == 9


def test_random_ties_choose_among_the_heaviest_and_stay():
    """As printed: any of the clusterings of largest weight; without answers, any at all."""
    chosen = set()
    for seed in range(8):
        model = lw.ActiveCOBS(preset=FEW, tie="random", random_state=seed)
        pool = model.prepare(X, 0)
        run = Run(model, X, lw.Evidence(len(X)), seed, prepared=pool)
        tally = run.state.tally
        chosen.add(tally.heaviest())
        assert tally.heaviest() == tally.heaviest()
        for _ in range(6):
            q = run.question
            run.answer("yes" if y[q.first] == y[q.second] else "no")
        assert tally.net[tally.heaviest()] == tally.net.max()
        name = format_choice(report_choice(pool, tally.net.astype(float), tally.heaviest()))
        assert name in model.describe(run.state)[0]
    assert len(chosen) > 3


@pytest.mark.parametrize("noise", ["cluster", "singletons"])
def test_predict_is_the_rule_of_cobs(noise):
    model = lw.ActiveCOBS(preset=FEW, noise=noise, random_state=0)
    model.fit(X, oracle=lw.TruthOracle(y), budget=15)
    found = model.predict(X)
    free = np.setdiff1d(np.arange(len(X)), [model.constraints_.must_link.ravel().tolist()])
    assert adjusted_rand_score(model.labels_[free], found[free]) > 0.9
    assert set(found) <= {-1, *range(model.n_clusters_)}
    np.testing.assert_array_equal(model.predict(X + 1e-9), found)
    assert model.rule_ in {"nearest centre", "nearest row", "nearest core row within eps"}


def test_as_printed_the_labels_are_those_of_a_clustering_of_the_pool():
    model = lw.ActiveCOBS.paper(preset=FEW, random_state=0)
    assert (model.tie, model.enforce) == ("random", False)
    assert lw.COBS.paper(preset=FEW).get_params() == lw.COBS(preset=FEW, tie="random").get_params()
    pool = model.prepare(X, 0)
    rng = np.random.default_rng(0)
    model.fit(X, oracle=lambda i, j: rng.random() < 0.3, budget=12)
    of_pool = [adjusted_rand_score(labels, model.labels_[pool.base_rows]) for labels in pool.labels]
    assert max(of_pool) == 1
    assert model.violations_ > 0
    np.testing.assert_array_equal(model.predict(X) >= 0, True)


def test_predict_when_nothing_was_asked():
    model = lw.ActiveCOBS(random_state=0).fit(X, constraints=lw.Constraints.sample(y, 30, 0))
    assert model.rule_ == "nearest row"
    assert (model.predict(X) == model.labels_).mean() > 0.98  # of identical rows one decides


def test_what_a_file_cannot_hold_is_not_stored(tmp_path):
    for setting in ({"preset": FEW}, {"extra": [(AgglomerativeClustering(), {"n_clusters": [3]})]}):
        with pytest.raises(SessionError):
            lw.Session.open(tmp_path / "a.linkwise", X, lw.ActiveCOBS(random_state=0, **setting))
