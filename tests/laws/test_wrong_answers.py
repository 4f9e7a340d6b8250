"""Every learner where answers may be wrong: it asks on, ends, keeps every answer, and believes what fits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from laws.asking import Remembering, assert_labels_fit, every_third_iris, rows_and_truth, truth
from laws.worlds import ANSWERS, two_points
from linkwise.constraints.facts import Fact, check_answer
from linkwise.constraints.fallible import FallibleEvidence, make_evidence
from linkwise.learn.run import Run
from linkwise.learn.verification import CHECK_CLUSTER, CHECK_ROW, CHECK_WITNESS, choose_check
from registry import LEARNERS, each_learner

CHECKS = (CHECK_ROW, CHECK_WITNESS, CHECK_CLUSTER)


def assert_suspects_fit(suspects, facts, verdict):
    """They are answers as they were given, each against what is believed, and all of these."""
    assert all(facts[suspect.number] == suspect.fact for suspect in suspects)
    broken = {at for at, fact in enumerate(facts) if fact.answer not in ("unsure", verdict(*fact.pair))}
    assert {suspect.number for suspect in suspects} == broken
    assert all(0 <= suspect.chance <= 1 + 1e-9 for suspect in suspects)


def drive(entry, X, oracle, *, rate=None, constraints=None, **options):
    """Ask until the end; what a run may never do is checked after each answer."""
    learner, evidence = entry.make(random_state=0), make_evidence(len(X), constraints, rate)
    run = Run(learner, X, evidence, 0, **options)
    given_ones, asked = list(evidence), []
    while (q := run.question) is not None:
        pair = frozenset((q.first, q.second))
        assert len(pair) == 2
        assert pair not in asked, "a pair was asked about twice"
        asked.append(pair)
        assert q.why in CHECKS or evidence.verdict(q.first, q.second) is None, "what is known was asked"
        run.answer(check_answer(oracle(q.first, q.second), q.first, q.second))
        assert_labels_fit(run.labels, evidence)
    assert_labels_fit(run.labels, evidence)
    facts = list(evidence)
    assert facts[: len(given_ones)] == given_ones
    assert [frozenset(fact.pair) for fact in facts[len(given_ones) :]] == asked
    assert_suspects_fit(evidence.suspects(), facts, evidence.verdict)
    assert evidence.n_questions == len(asked)
    return run


@each_learner
@pytest.mark.parametrize("budget", [0, 2, 15])
def test_a_run_with_errors_is_a_run_like_any(entry, budget):
    X, y = every_third_iris()
    oracle = truth(y, noise=0.1, random_state=1)
    run = drive(entry, X, oracle, budget=budget)
    assert len(oracle.said) <= budget
    assert run.reason == "exhausted" or len(oracle.said) == budget
    model, again = entry.make(random_state=0), truth(y, noise=0.1, random_state=1)
    model.fit(X, oracle=again, budget=budget, error_rate=None)
    assert again.said == oracle.said  # one seed, the same questions
    np.testing.assert_array_equal(model.labels_, run.labels)
    assert model.n_questions_ == len(model.history_) == len(oracle.said)
    assert model.violations_ == 0
    assert model.suspects_ == run.evidence.suspects()
    for suspect in model.suspects_:
        assert suspect.fact == Fact(*oracle.said[suspect.number])
    suspected = {suspect.number for suspect in model.suspects_}
    for at, (i, j, answer) in enumerate(oracle.said):
        held = {"yes": "must-link", "no": "cannot-link"}[answer]
        assert (model.constraints_.relation(i, j) == held) == (at not in suspected)


ROWS = np.random.default_rng(4).normal(size=(12, 2))
PLACES = {
    "distinct rows": ROWS,
    "duplicates": ROWS[[0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 0]],
    "2 points": two_points(12),
}
BY_DAY = (("distinct rows", "at random"), ("duplicates", "unsure"), ("2 points", "yes"))


@each_learner
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=() if (name, kind) in BY_DAY else pytest.mark.slow(nightly=True))
        for name in PLACES
        for kind in ("yes", "unsure", "at random")
    ],
)
def test_whatever_is_answered_a_run_ends(entry, name, kind):
    number = iter(range(67))  # there are 66 pairs
    oracle = Remembering(lambda first, second: ANSWERS[kind](next(number), first, second))
    run = drive(entry, PLACES[name], oracle)
    assert run.reason == "exhausted"
    if kind in ("yes", "unsure"):
        assert run.evidence.suspects() == []


@each_learner
def test_checks_show_only_askable_rows(entry):
    X, y = every_third_iris()
    mask = np.arange(len(X)) % 3 == 0
    oracle = truth(y, noise=0.2, random_state=2)
    drive(entry, X, oracle, budget=20, askable=mask)
    assert all(mask[row] for pair in oracle.pairs for row in pair)


@each_learner
def test_constraints_stay_certain_among_errors(entry):
    X, y = every_third_iris()
    known = lw.Constraints.sample(y, 12, 0)
    oracle = truth(y, noise=0.3, random_state=3)
    run = drive(entry, X, oracle, budget=12, constraints=known)
    assert all(run.evidence.verdict(i, j) == "yes" for i, j in known.must_link.tolist())
    assert all(run.evidence.verdict(i, j) == "no" for i, j in known.cannot_link.tolist())
    assert all(suspect.number >= known.n_constraints for suspect in run.evidence.suspects())
    alone = [
        entry.make(random_state=0).fit(X, constraints=known, error_rate=rate).labels_ for rate in (0, None)
    ]
    np.testing.assert_array_equal(*alone)  # where nobody is asked, no answer is wrong


@pytest.mark.slow
@each_learner
def test_a_smaller_budget_gives_the_history(entry):
    X, y = every_third_iris()

    def fit(budget):
        model = entry.make(random_state=0)
        free = {"split_within_budget": False} if hasattr(model, "split_within_budget") else {}
        oracle = lw.TruthOracle(y, noise=0.1, random_state=0)
        return model.set_params(**free).fit(X, oracle=oracle, budget=budget, error_rate=None)

    full = fit(24)
    for budget in (5, 13):
        part = fit(budget)
        assert part.n_questions_ == min(budget, full.n_questions_)
        if part.n_questions_:
            np.testing.assert_array_equal(part.labels_, full.history_[part.n_questions_ - 1])


@each_learner
def test_an_oracle_that_fails_loses_no_answer(entry):
    X, y = every_third_iris()
    said = Remembering(lw.TruthOracle(y, noise=0.2, random_state=0))

    def oracle(first, second):
        return said(first, second) if len(said.said) < 9 else 1 / 0

    model = entry.make(random_state=0)
    if entry.name in ("COBRA, 1 part", "COBRA, 6 parts"):  # they ask less
        model.fit(X, oracle=oracle, budget=9, error_rate=0.2)
    else:
        with pytest.raises(ZeroDivisionError):
            model.fit(X, oracle=oracle, error_rate=0.2)
        assert (model.reason_, model.n_questions_, len(model.history_)) == ("stopped", 9, 9)
    assert model.violations_ == 0
    assert all(Fact(*said.said[suspect.number]) == suspect.fact for suspect in model.suspects_)


@pytest.mark.slow
@settings(deadline=None, max_examples=5)
@each_learner
@given(rows_and_truth(max_rows=14), st.data())
def test_it_asks_on_and_ends_among_errors(entry, problem, data):
    X, y = problem
    n = len(X)
    known = lw.Constraints.sample(y, data.draw(st.integers(0, min(6, n * (n - 1) // 2))), n)
    same = (X[known.cannot_link.T[0]] == X[known.cannot_link.T[1]]).all(axis=1)
    known = lw.Constraints(n, known.must_link, known.cannot_link[~same])
    oracle = truth(y, noise=data.draw(st.sampled_from([0.1, 0.4])), unsure=0.1, random_state=0)
    rate = data.draw(st.sampled_from([None, 0.1]))
    mask = None if data.draw(st.booleans()) else np.random.default_rng(n).random(n) < 0.7
    run = drive(entry, X, oracle, rate=rate, constraints=known, askable=mask)
    assert run.reason == "exhausted"
    again = truth(y, noise=oracle.oracle.noise, unsure=0.1, random_state=0)
    drive(entry, X, again, rate=rate, constraints=known, askable=mask)
    assert again.said == oracle.said


@settings(deadline=None, max_examples=3)
@each_learner
@given(rows_and_truth(max_rows=12), st.integers(0, 100))
def test_a_run_ends_without_doubts_and_its_replay_is_equal(entry, problem, seed):
    """Facts may come after the learner's last question, too: what they make doubtful is asked."""
    X, y = problem
    n, rng, oracle = len(X), np.random.default_rng(seed), lw.TruthOracle(y, noise=0.2, random_state=seed)

    def start():
        return Run(entry.make(random_state=0), X, FallibleEvidence(n), 0)

    def state(run):
        pair = None if run.question is None else (run.question.first, run.question.second, run.question.why)
        return pair, run.reason, run.labels.tolist()

    run, facts = start(), []
    states = [state(run)]
    for _ in range(3):
        while (q := run.question) is not None:
            facts.append((q.first, q.second, oracle(q.first, q.second), True))
            run.tell(*facts[-1][:3], asked=True)
            states.append(state(run))
        rows = tuple(run.evidence.belief.rows.tolist())
        assert choose_check(run.evidence, rows, run._nearness(), None) is None
        if n > 1:
            first, second = rng.choice(n, 2, replace=False).tolist()
            facts.append((first, second, "yes" if rng.random() < 0.5 else "no", False))
            run.tell(*facts[-1][:3])
            states.append(state(run))
    again = start()
    assert state(again) == states[0]
    for (first, second, answer, asked), there in zip(facts, states[1:], strict=True):
        again.tell(first, second, answer, asked=asked)
        assert state(again) == there


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry",
    [  # what one believes is computed in the same way for all
        pytest.param(
            entry,
            id=entry.name,
            marks=() if entry.name in ("COBRAS", "KIN", "MinMax") else pytest.mark.slow(nightly=True),
        )
        for entry in LEARNERS
    ],
)
def test_the_number_of_threads_does_not_matter_among_errors(entry, use_threads):
    X, y = load_wine(return_X_y=True)
    said = []
    for threads in (1, 2):
        use_threads(threads)
        oracle = truth(y, noise=0.15, random_state=0)
        run = drive(entry, X, oracle, budget=20)
        said.append((oracle.said, run.labels.tolist(), run.evidence.suspects()))
    assert said[0] == said[1]


@pytest.mark.slow
@each_learner
def test_facts_that_are_volunteered_count_and_are_checked(entry):
    """Facts about any pair may come between two questions, also several at once."""
    X, y = every_third_iris()
    evidence = FallibleEvidence(len(X))
    evidence.add(0, 30, "yes")  # before the run begins
    run = Run(entry.make(random_state=0), X, evidence, 0, budget=12)
    rng, oracle = np.random.default_rng(0), lw.TruthOracle(y, noise=0.1, random_state=0)
    while run.question is not None:
        first, second = rng.choice(len(X), 2, replace=False).tolist()
        run.tell(first, second, oracle(first, second))
        assert_labels_fit(run.labels, evidence)
        if (q := run.question) is not None:
            run.answer(oracle(q.first, q.second))
            assert_labels_fit(run.labels, evidence)
    assert_suspects_fit(evidence.suspects(), list(evidence), evidence.verdict)
    assert evidence.n_questions <= 12


def separate_blobs(seed, n=150):
    """Four groups in two columns, and six columns of noise."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 8)), rng.integers(0, 4, n)
    X[:, 0] += 6 * (y % 2)
    X[:, 1] += 6 * (y // 2)
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entry", "n_seeds"),
    [
        *(  # those that learn nothing at all if checks come first
            pytest.param(entry, 1, id=f"{entry.name}, day")
            for entry in LEARNERS
            if entry.name in ("COBRA, 25 parts", "COBRAS", "KIN")
        ),
        *(
            pytest.param(entry, 4, id=f"{entry.name}, night", marks=pytest.mark.slow(nightly=True))
            for entry in LEARNERS
        ),
    ],
)
def test_true_pairs_that_somebody_adds_keep_no_learner_from_asking(entry, n_seeds):
    """They leave many small doubts; checks of these must not take the place of the learner's questions."""
    scores = {0: [], 75: []}
    for n_pairs, found in scores.items():
        for seed in range(n_seeds):
            X, y = separate_blobs(seed)
            rng, oracle = np.random.default_rng(seed), lw.TruthOracle(y)
            evidence = FallibleEvidence(len(X), error_rate=0.1)
            for first, second in (rng.choice(len(X), 2, replace=False).tolist() for _ in range(n_pairs)):
                evidence.add(first, second, oracle(first, second))
            run = Run(entry.make(random_state=0), X, evidence, seed)
            for asked in range(1, 26):
                if (q := run.question) is not None:
                    run.answer(oracle(q.first, q.second))
                if asked in (15, 20, 25):
                    found.append(adjusted_rand_score(y, run.labels))
    assert np.mean(scores[75]) >= np.mean(scores[0]) - 0.02
