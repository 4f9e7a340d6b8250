"""COBRA and COBRAS against a plain transcription of the papers: the same questions, the same labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import minmax_scale

import linkwise as lw
from laws.asking import few_examples
from linkwise.cluster.kmeans.lloyd import k_means
from linkwise.learn.learner import Problem
from linkwise.learn.oracles import TruthOracle
from linkwise.rng import rng_at
from reference import cobras as paper

SEED = 7


def transcribed(learner, X, facts, askable, budget):
    """The transcription with the settings of a learner, on the same splits."""
    askable = np.ones(len(X), bool) if askable is None else askable

    def split(rows, place, k):
        return k_means(X[rows], k, (SEED, *place, k), n_init=learner.n_init).labels.tolist()

    if isinstance(learner, lw.COBRA):
        return paper.cobra(X, facts, split, learner.n_super_instances, askable=askable)
    settings = {k: v for k, v in learner.get_params().items() if k not in OTHER}
    return paper.cobras(
        X,
        facts,
        split,
        lambda place, n: rng_at(SEED, *place).integers(n),
        askable=askable,
        budget=budget,
        **settings,
    )


def story(asking, oracle, budget, told):
    """Pairs asked, and the labels that stood before each question and at the end."""
    pairs, labels, answer = [], [], None
    while True:
        try:
            first, second, now = asking.send(answer)
        except StopIteration as end:
            return pairs, [*labels, end.value]
        labels.append(np.array(now))
        if len(pairs) == budget:
            return pairs, labels
        pairs.append((int(first), int(second)))
        answer = oracle(first, second)
        told(first, second, answer)


def plain(asking):
    """Questions of a learner as triples."""
    answer = None
    while True:
        try:
            q = asking.send(answer)
        except StopIteration as end:
            return end.value
        answer = yield q.first, q.second, q.labels


def assert_same_story(learner, X, oracle, budget=None, askable=None, constraints=None):
    constraints = constraints or lw.Constraints(len(X))
    evidence = lw.Evidence(len(X), constraints)
    asking = learner.ask(learner.start(Problem(X, learner.prepare(X, SEED), evidence, SEED, askable, budget)))
    ours = story(plain(asking), oracle, budget, lambda i, j, a: evidence.add(i, j, a, asked=True))
    paper.Part.askable_means = learner.askable_means
    facts = paper.Facts(len(X), constraints.must_link.tolist(), constraints.cannot_link.tolist())
    theirs = story(transcribed(learner, X, facts, askable, budget), oracle, budget, lambda *_: None)
    assert ours[0] == theirs[0]
    assert len(ours[1]) == len(theirs[1])
    for one, other in zip(ours[1], theirs[1], strict=True):
        np.testing.assert_array_equal(one, other)
    return ours[0]


OTHER = ("n_init", "random_state", "askable_means", "enforce")  # what the transcription is not told as such
PUBLISHED = [lw.COBRAS(), lw.COBRAS.paper(), lw.COBRAS.authors(), lw.COBRA.paper(5)]
VARIANTS = [
    lw.COBRAS(descend="smallest"),
    lw.COBRAS(descend="largest"),
    lw.COBRAS(descend="random"),
    lw.COBRAS(impure_first=False),
    lw.COBRAS(max_split=3, n_init=2),
    lw.COBRAS(split_within_budget=False),
    lw.COBRAS(first_merge="parts"),
    lw.COBRA(5),
    lw.COBRA(20),
]
SETTINGS = [*PUBLISHED, *VARIANTS]
each_setting = pytest.mark.parametrize("learner", SETTINGS, ids=repr)


@each_setting
@pytest.mark.parametrize("load", [load_iris, pytest.param(load_wine, marks=pytest.mark.slow(nightly=True))])
def test_real_sets(learner, load):
    X, y = load(return_X_y=True)
    # rows of iris are multiples of 0.1: without a little noise rounding would decide which is nearest
    X = X + np.random.default_rng(0).normal(scale=1e-6, size=X.shape)
    asked = assert_same_story(learner, X, TruthOracle(y), budget=25)
    assert len(asked) == 25 or isinstance(learner, lw.COBRA)


@st.composite
def small_problems(draw):
    n, d = draw(st.integers(1, 22)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):  # duplicate rows
        X = X[rng.integers(0, max(1, n // 2), n)]
    y = rng.integers(0, draw(st.integers(1, 4)), n)
    askable = draw(st.none() | st.just(rng.random(n) < 0.6))
    constraints = lw.Constraints.sample(y, draw(st.integers(0, min(5, n * (n - 1) // 2))), rng)
    unsure = draw(st.sampled_from([0.0, 0.0, 0.3, 0.8]))
    oracle = TruthOracle(y, unsure=unsure, random_state=draw(st.integers(0, 99)))
    budget = draw(st.none() | st.integers(0, 25))
    return X, oracle, budget, askable, constraints


@few_examples
@each_setting
@given(problem=small_problems())
def test_small_sets_with_constraints_doubts_and_hidden_rows(learner, problem):
    assert_same_story(learner, *problem)


def test_the_presets_say_what_they_change():
    common = {"n_init": 10, "max_split": None, "impure_first": False, "split_within_budget": False}
    default = lw.COBRAS().get_params()
    text = {"enforce": False, "askable_means": True, "descend": "random"}
    assert lw.COBRAS.paper().get_params() == default | common | text
    program = {"enforce": False, "descend": "smallest", "first_merge": "parts"}
    assert lw.COBRAS.authors().get_params() == default | common | program
    assert lw.COBRAS.paper(n_init=1, random_state=3).get_params()["random_state"] == 3
    changed = {"n_init": 10, "askable_means": True, "enforce": False}
    assert lw.COBRA.paper(7).get_params() == lw.COBRA(7).get_params() | changed


def test_what_is_shown_during_the_first_merging():
    """On wine the first split is at question 3, into four parts; question 6 ends the first merging."""
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    shown = {}
    for first_merge in ("merged", "parts"):
        learner = lw.COBRAS.authors(first_merge=first_merge, random_state=0)
        model = learner.fit(X, oracle=TruthOracle(y), budget=20)
        assert np.unique(model.tree_.question)[1] == 3
        shown[first_merge] = [len(np.unique(labels)) for labels in model.history_[:7]]
    assert shown["merged"] == [1, 1, 4, 3, 3, 3, 3]
    assert shown["parts"] == [1, 1, 4, 4, 4, 3, 3]  # as the authors' program shows them


def test_given_constraints_join_the_parts_that_are_shown_first():
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    plain = lw.COBRAS.authors(random_state=0).fit(X, oracle=TruthOracle(y), budget=4)
    assert plain.n_clusters_ == len(plain.representatives_) == 4
    classes = y[plain.representatives_].tolist()
    twice = next(c for c in classes if classes.count(c) == 2)
    known = lw.Constraints(len(X), [plain.representatives_[y[plain.representatives_] == twice]])
    given = lw.COBRAS.authors(random_state=0).fit(X, oracle=TruthOracle(y), budget=4, constraints=known)
    assert given.representatives_.tolist() == plain.representatives_.tolist()
    assert given.n_clusters_ == 3


@pytest.mark.parametrize("enforce", [True, False])
def test_a_row_leaves_its_super_instance_only_if_answers_are_enforced(enforce):
    """Row 2 lies among the first rows, and is known to be apart from row 0."""
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1]])
    known = lw.Constraints(5, cannot_link=[(0, 2)])
    model = lw.COBRA(2, enforce=enforce, random_state=0)
    model.fit(X, oracle=lambda i, j: "no", constraints=known)
    assert (model.labels_[0] != model.labels_[2]) == enforce
    assert model.violations_ == (not enforce)
