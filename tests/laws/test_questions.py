"""Which questions a learner may ask, and how many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine

import linkwise as lw
from laws.asking import (
    Remembering,
    assert_labels_fit,
    every_third_iris,
    few_examples,
    rows_and_truth,
    truth,
)
from linkwise.constraints.evidence import Evidence
from linkwise.learn.oracles import TruthOracle
from linkwise.learn.run import Run
from registry import each_learner

REAL = {"iris": load_iris, "wine": load_wine, "digits": lambda **_: tuple(a[:300] for a in load_digits(**_))}


def assert_fresh(said, n_rows, constraints=None):
    """No answer followed from what was known, and no pair came twice."""
    known = Evidence(n_rows, constraints)
    for first, second, answer in said:
        assert first != second
        assert known.verdict(first, second) is None
        known.add(first, second, answer)


def assert_shown_once(X, said):
    """No two questions show the same two points."""
    points = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    shown = [frozenset((points[i], points[j])) for i, j, _ in said]
    assert len(set(shown)) == len(shown)


@pytest.mark.slow
@each_learner
@pytest.mark.parametrize(
    ("name", "unsure"),
    [
        ("iris", 0.3),  # has rows that are equal
        *(
            pytest.param(*case, marks=pytest.mark.slow(nightly=True))
            for case in (("iris", 0.0), ("digits", 0.0), ("digits", 0.3), ("wine", 0.0), ("wine", 0.3))
        ),
    ],
)
def test_nothing_known_is_asked_on_real_sets(entry, name, unsure):
    X, y = REAL[name](return_X_y=True)
    oracle = truth(y, unsure=unsure, random_state=0)
    model = entry.make(random_state=0).fit(X, oracle=oracle, budget=40)
    assert model.n_questions_ == len(oracle.said) <= 40
    assert_fresh(oracle.said, len(X))
    assert_shown_once(X, oracle.said)


class ImpatientEvidence(Evidence):
    """Fails where a learner goes on asking what is known."""

    n_looks = 0

    def add(self, *fact, **about):
        super().add(*fact, **about)
        self.n_looks = 0

    def verdict(self, first, second):
        self.n_looks += 1
        assert self.n_looks < 5000, "what is known was asked without end"
        return super().verdict(first, second)


@each_learner
@pytest.mark.parametrize(
    "seeds", [range(6), pytest.param(range(6, 60), marks=pytest.mark.slow(nightly=True))]
)
def test_it_ends_when_answers_about_identical_rows_contradict_each_other(entry, seeds):
    """As answers about points they do: what follows about rows need not follow about points."""
    for seed in seeds:
        answer_until_the_end(entry, np.random.default_rng(seed))


def answer_until_the_end(entry, rng):
    n = int(rng.integers(4, 14))
    X = rng.normal(size=(n // 2, 2))[rng.integers(0, n // 2, n)]
    oracle = truth(rng.integers(0, 4, n))
    run = Run(entry.make(random_state=0), X, ImpatientEvidence(n), 0)
    for _ in range(n):
        i, j = rng.choice(n, 2, replace=False).tolist()
        run.tell(i, j, oracle(i, j))
    while (q := run.question) is not None:
        assert run.evidence.verdict(q.first, q.second) is None
        run.answer(oracle(q.first, q.second))
    assert run.reason == "exhausted"
    assert_labels_fit(run.labels, run.evidence)


@pytest.mark.slow
@few_examples
@each_learner
@given(rows_and_truth(), st.data())
def test_nothing_known_is_asked(entry, problem, data):
    X, y = problem
    n = len(X)
    total = n * (n - 1) // 2
    given_ones = lw.Constraints.sample(y, data.draw(st.integers(0, min(8, total))), n)
    oracle = truth(y, unsure=data.draw(st.sampled_from([0.0, 0.4])), random_state=0)
    with_identical_rows_apart = (X[given_ones.cannot_link.T[0]] == X[given_ones.cannot_link.T[1]]).all(axis=1)
    if with_identical_rows_apart.any():
        given_ones = lw.Constraints(n, given_ones.must_link)
    entry.make(random_state=3).fit(X, oracle=oracle, constraints=given_ones)
    assert_fresh(oracle.said, n, given_ones)


@pytest.mark.slow
@few_examples
@each_learner
@given(rows_and_truth(), st.data())
def test_only_askable_rows_are_shown(entry, problem, data):
    X, y = problem
    shown = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), unique=True)), dtype=int)
    oracle = truth(y, unsure=0.2, random_state=1)
    model = entry.make(random_state=0).fit(X, oracle=oracle, askable=shown)
    assert {row for pair in oracle.pairs for row in pair} <= set(shown.tolist())
    assert len(model.labels_) == len(X)
    mask = np.isin(np.arange(len(X)), shown)
    again = truth(y, unsure=0.2, random_state=1)
    entry.make(random_state=0).fit(X, oracle=again, askable=mask)
    assert again.said == oracle.said


@each_learner
@pytest.mark.parametrize("askable", [[], [3], [3, 20, 49]])
def test_hardly_any_askable_row(entry, askable):
    X, y = every_third_iris()
    oracle = truth(y)
    model = entry.make(random_state=0).fit(X, oracle=oracle, askable=askable)
    assert {row for pair in oracle.pairs for row in pair} <= set(askable)
    assert model.reason_ == "exhausted"


@each_learner
@pytest.mark.parametrize(
    ("budget", "unsure"), [(0, 0.0), (1, 1.0), (2, 0.0), (7, 1.0), (np.int64(12), 0.0), (12, 1.0)]
)
def test_the_budget_counts_every_question(entry, budget, unsure):
    X, y = every_third_iris()
    oracle = truth(y, unsure=unsure)
    model = entry.make(random_state=0).fit(X, oracle=oracle, budget=budget)
    assert len(oracle.said) == model.n_questions_ == len(model.history_) <= budget
    assert model.reason_ == "exhausted" if len(oracle.said) < budget else model.reason_ != "stopped"


@each_learner
def test_no_such_budget(entry):
    for budget, kind in ((-1, ValueError), (True, TypeError), (3.0, TypeError), ("9", TypeError)):
        for oracle in (None, lambda i, j: True):
            with pytest.raises(kind, match=rf"budget={budget!r}.*Pass"):
                entry.make().fit(np.eye(4), oracle=oracle, budget=budget)


@pytest.mark.slow
@few_examples
@each_learner
@given(rows_and_truth(), st.integers(0, 30))
def test_history_ends_with_the_labels(entry, problem, budget):
    X, y = problem
    model = entry.make(random_state=0).fit(X, oracle=TruthOracle(y, unsure=0.2), budget=budget)
    assert len(model.history_) == model.n_questions_ <= budget
    if model.n_questions_:
        np.testing.assert_array_equal(model.history_[-1], model.labels_)
    assert model.n_clusters_ == len(set(model.labels_))
    assert set(model.labels_) == set(range(model.n_clusters_))
    assert model.labels_.dtype == np.int32


@pytest.mark.slow
@each_learner
def test_history_is_what_a_smaller_budget_gives(entry):
    """True where the budget itself decides nothing: see ``split_within_budget``."""
    X, y = every_third_iris()
    free = {"split_within_budget": False} if hasattr(entry.make(), "split_within_budget") else {}
    full = entry.make(random_state=0).set_params(**free).fit(X, oracle=TruthOracle(y), budget=25)
    for budget in (1, 7, 16):
        part = entry.make(random_state=0).set_params(**free).fit(X, oracle=TruthOracle(y), budget=budget)
        assert part.n_questions_ == min(budget, full.n_questions_)
        if part.n_questions_:
            np.testing.assert_array_equal(part.labels_, full.history_[part.n_questions_ - 1])


@pytest.mark.slow
@each_learner
def test_one_seed_one_result_for_any_number_of_threads(entry, use_threads):
    X, y = load_digits(return_X_y=True)
    fast = {"n_init": 1} if hasattr(entry.make(), "n_init") else {}
    said, labels = [], []
    for threads in (1, 2):
        use_threads(threads)
        oracle = truth(y)
        model = entry.make(random_state=5).set_params(**fast).fit(X[:600], oracle=oracle, budget=12)
        said.append(oracle.said)
        labels.append(model.labels_.tolist())
    assert said[0] == said[1]
    assert labels[0] == labels[1]


@pytest.mark.slow
@few_examples
@each_learner
@given(rows_and_truth())
def test_the_same_answers_bring_the_same_questions(entry, problem):
    X, y = problem
    first = truth(y, unsure=0.2, random_state=0)
    one = entry.make(random_state=0).fit(X, oracle=first)
    script = iter(first.said)

    def replayed(i, j):
        a, b, answer = next(script)
        assert (i, j) == (a, b)
        return answer

    other = entry.make(random_state=0).fit(X, oracle=replayed)
    assert next(script, None) is None
    np.testing.assert_array_equal(one.labels_, other.labels_)


@each_learner
def test_a_generator_of_random_numbers_is_a_seed_too(entry):
    X, y = every_third_iris()
    one, two = (
        entry.make(random_state=np.random.RandomState(4)).fit(X, oracle=TruthOracle(y), budget=15)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.labels_, two.labels_)


@pytest.mark.slow
@few_examples
@each_learner
@given(rows_and_truth())
def test_who_never_knows_is_asked_no_pair_twice_and_no_end(entry, problem):
    X, _ = problem
    oracle = Remembering(lambda first, second: "unsure")
    model = entry.make(random_state=0).fit(X, oracle=oracle)
    assert model.reason_ == "exhausted"
    assert len({frozenset(pair) for pair in oracle.pairs}) == len(oracle.pairs)
    assert_shown_once(X, oracle.said)
