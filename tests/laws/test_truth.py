"""What the clusters are: the truth where it can be found, and never against an answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine, make_blobs

import linkwise as lw
from laws.asking import few_examples, nobody_is_asked, partition, rows_and_truth, truth
from linkwise.learn.oracles import TruthOracle
from registry import LEARNERS, each_exact_learner, each_learner, each_that_finds_k


def blobs(n=90, seed=2):
    return make_blobs(n, centers=[[0, 0], [40, 0], [0, 40]], cluster_std=1.0, random_state=seed)


# ---------------------------------------------------------------- with an oracle
@pytest.mark.slow
@few_examples
@each_exact_learner
@given(rows_and_truth(distinct=True))
def test_exhausted_on_distinct_rows_it_is_the_truth(entry, problem):
    X, y = problem
    model = entry.make(random_state=0).fit(X, oracle=TruthOracle(y))
    assert model.reason_ == "exhausted"
    assert partition(model.labels_) == partition(y)


@pytest.mark.slow
@few_examples
@each_learner
@given(rows_and_truth())
def test_labels_contradict_no_answer_at_any_time(entry, problem):
    X, y = problem
    oracle = truth(y, unsure=0.2, random_state=0)
    model = entry.make(random_state=0).fit(X, oracle=oracle)
    assert model.violations_ == 0
    rows = np.array(oracle.pairs, dtype=int).reshape(-1, 2)
    answers = np.array([answer for *_, answer in oracle.said])
    for after, labels in enumerate(model.history_, start=1):
        together = labels[rows[:after, 0]] == labels[rows[:after, 1]]
        assert together[answers[:after] == "yes"].all()
        assert not together[answers[:after] == "no"].any()


@pytest.mark.slow
@each_learner
@pytest.mark.parametrize("load", [load_iris, pytest.param(load_wine, marks=pytest.mark.slow(nightly=True))])
def test_answers_with_errors_are_kept_too(entry, load):
    X, y = load(return_X_y=True)
    oracle = truth(y, noise=0.2, random_state=0)
    model = entry.make(random_state=0).fit(X, oracle=oracle, budget=50)
    assert model.violations_ == 0
    said = model.constraints_
    for i, j, answer in oracle.said:
        assert said.relation(i, j) == {"yes": "must-link", "no": "cannot-link"}[answer]


@pytest.mark.slow
@each_exact_learner
def test_the_order_of_the_rows_does_not_matter_for_clear_groups(entry):
    """Starts of k-means are drawn by position, so in general another order asks other questions.

    What holds for any order: groups far apart are found, by however few questions, and an exhausted
    learner finds the truth (above).
    """
    questions = 40 if isinstance(entry.make(), lw.COBRAS | lw.KIN) else None
    X, y = blobs(90 if questions else 30)  # all questions take long
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(X))
        model = entry.make(random_state=0).fit(X[order], oracle=TruthOracle(y[order]), budget=questions)
        assert partition(model.labels_) == partition(y[order])


# ---------------------------------------------------------------- constraints
@pytest.mark.slow
@few_examples
@each_learner
@given(rows_and_truth(distinct=True), st.data())
def test_constraints_count_from_the_start(entry, problem, data):
    X, y = problem
    n = len(X)
    known = lw.Constraints.sample(y, data.draw(st.integers(0, n * (n - 1) // 2)), 0)
    oracle = truth(y)
    model = entry.make(random_state=0).fit(X, oracle=oracle, constraints=known)
    for i, j in oracle.pairs:
        assert known.relation(i, j) is None
    assert model.violations_ == 0
    assert model.n_questions_ == len(oracle.said)
    for i, j in known.must_link.tolist():
        assert model.constraints_.relation(i, j) == "must-link"
    for i, j in known.cannot_link.tolist():
        assert model.constraints_.relation(i, j) == "cannot-link"


@each_exact_learner
def test_who_knows_everything_asks_nothing(entry):
    X, y = blobs(45)
    oracle = truth(y)
    model = entry.make(random_state=0).fit(X, oracle=oracle, constraints=lw.Constraints.from_labels(y))
    assert oracle.said == []
    assert partition(model.labels_) == partition(y)


@pytest.mark.filterwarnings("ignore:the constraints contradict")
@each_learner
@pytest.mark.parametrize("oracle", [None, lambda i, j: True])
def test_constraints_that_contradict_each_other_are_refused(entry, oracle):
    torn = lw.Constraints(5, [(0, 1), (1, 2)], [(0, 2)], on_conflict="keep")
    with pytest.raises(lw.InfeasibleConstraintsError, match=r"0 = 1 = 2, but 0 ≠ 2") as caught:
        entry.make().fit(np.eye(5), oracle=oracle, constraints=torn)
    assert caught.value.chain == (0, 1, 2)


@each_learner
def test_constraints_about_other_rows_are_refused(entry):
    with pytest.raises(ValueError, match="about 5 rows, but X has 6"):
        entry.make().fit(np.eye(6), constraints=lw.Constraints(5))
    with pytest.raises(TypeError, match=r"constraints is a list\. Build it with linkwise\.Constraints"):
        entry.make().fit(np.eye(6), constraints=[(0, 1)])


@each_learner
@pytest.mark.parametrize("oracle", [None, lambda i, j: False])
def test_identical_rows_that_are_required_apart_are_named(entry, oracle):
    X = [[0.0], [0.0], [1.0], [2.0]]
    with pytest.warns(lw.ConstraintWarning, match="separates rows 0 and 1, which are identical") as caught:
        model = entry.make(random_state=0).fit(X, oracle=oracle, constraints=lw.Constraints(4, [], [(0, 1)]))
    assert caught[0].filename == __file__
    assert model.labels_[0] != model.labels_[1]


@nobody_is_asked
# ---------------------------------------------------------------- without an oracle
@each_that_finds_k
def test_without_an_oracle_nothing_is_asked(entry):
    X, y = blobs()
    model = entry.make(random_state=0).fit(X, y)
    assert (model.n_questions_, len(model.history_), model.reason_) == (0, 0, "no oracle")
    assert partition(model.labels_) == partition(y)
    np.testing.assert_array_equal(entry.make(random_state=0).fit(X).labels_, model.labels_)
    np.testing.assert_array_equal(entry.make(random_state=0).fit_predict(X), model.labels_)


@each_that_finds_k
def test_a_must_link_joins_two_clear_groups(entry):
    X, y = blobs()
    first, second = np.flatnonzero(y == 0)[-1], np.flatnonzero(y == 1)[-1]
    model = entry.make(random_state=0).fit(X, constraints=lw.Constraints(len(X), [(first, second)]))
    assert partition(model.labels_) == partition(np.where(y == 1, 0, y))


@pytest.mark.parametrize(
    "entry",
    [entry for entry in LEARNERS if not entry.known_k and entry.name != "ThresholdLinkage"],  # it merges only
    ids=lambda entry: entry.name,
)
def test_a_cannot_link_divides_a_clear_group_by_its_nearer_end(entry):
    X, y = blobs()
    group = np.flatnonzero(y == 0)
    left, right = group[X[group, 0].argmin()], group[X[group, 0].argmax()]
    model = entry.make(random_state=0).fit(X, constraints=lw.Constraints(len(X), [], [(left, right)]))
    nearer = np.linalg.norm(X - X[left], axis=1) < np.linalg.norm(X - X[right], axis=1)
    assert partition(model.labels_) == partition(np.where((y == 0) & nearer, 3, y))


@nobody_is_asked
@few_examples
@each_learner
@given(rows_and_truth(distinct=True), st.data())
def test_without_an_oracle_constraints_are_honoured(entry, problem, data):
    X, y = problem
    n = len(X)
    known = lw.Constraints.sample(y, data.draw(st.integers(0, n * (n - 1) // 2)), 1)
    model = entry.make(random_state=0).fit(X, constraints=known)
    assert model.violations_ == 0
    assert lw.constraint_score(model.labels_, known) == 1.0
    assert set(model.labels_) == set(range(model.n_clusters_))
