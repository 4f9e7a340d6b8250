"""The loop that drives every learner, oracles, and the history of labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import linkwise as lw
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import check_answer
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.history import History
from linkwise.learn.learner import Question
from linkwise.learn.oracles import TruthOracle
from linkwise.learn.run import Run
from linkwise.learn.verification import CHECK_CLUSTER
from linkwise.rng import rng_at


class Script:
    """A learner that asks about given pairs, one after the other, and notes what it hears."""

    def __init__(self, *pairs):
        self.pairs, self.heard, self.closed = pairs, [], False

    def prepare(self, X, seed, *, progress=None):
        return "prepared"

    def start(self, problem):
        assert problem.prepared == "prepared"
        return problem

    def ask(self, problem):
        X, evidence = problem.X, problem.evidence
        try:
            for at, (i, j) in enumerate(self.pairs):
                heard = yield Question(i, j, np.full(len(X), 0, np.int32), f"pair {at}")
                assert evidence.verdict(i, j) == heard  # evidence knows before the learner hears
                self.heard.append(heard)
        finally:
            self.closed = True
        return np.full(len(X), 0, np.int32)


def started(*pairs, n=6, evidence=None, **options):
    learner = Script(*pairs)
    return learner, Run(learner, np.zeros((n, 1)), evidence or Evidence(n), 0, **options)


def pair(question):
    return None if question is None else (question.first, question.second)


# ---------------------------------------------------------------- Run
def test_a_run_asks_until_no_question_is_left():
    learner, run = started((0, 1), (1, 2))
    assert (pair(run.question), run.reason, run.question.why) == ((0, 1), None, "pair 0")
    run.answer("no")
    run.answer("unsure")
    assert (run.question, run.reason) == (None, "exhausted")
    assert learner.heard == ["no", "unsure"]
    assert run.evidence.n_questions == 2
    with pytest.raises(RuntimeError, match=r"no open question \(exhausted\)"):
        run.answer("yes")


def test_evidence_answers_questions_whose_answer_follows():
    evidence = Evidence(6, lw.Constraints(6, [(0, 1)], [(1, 2)]))
    evidence.add(4, 5, "unsure")
    learner, run = started((0, 1), (2, 0), (5, 4), (3, 4), (4, 3), evidence=evidence)
    assert pair(run.question) == (3, 4)
    run.answer("yes")
    assert learner.heard == ["yes", "no", "unsure", "yes", "yes"]
    assert (run.reason, evidence.n_questions) == ("exhausted", 1)


@pytest.mark.parametrize("budget", [0, 1, 2])
def test_the_budget_ends_a_run(budget):
    learner, run = started((0, 1), (0, 1), (1, 2), (2, 3), budget=budget)
    for _ in range(budget):
        run.answer("unsure")
    assert (run.question, run.reason, learner.closed) == (None, "budget", True)
    assert run.evidence.n_questions == budget


def test_a_run_that_spends_its_budget_on_the_last_question_is_exhausted():
    _, run = started((0, 1), (0, 1), budget=1)
    run.answer("no")
    assert run.reason == "exhausted"


def test_volunteered_facts():
    learner, run = started((0, 1), (2, 3), (3, 4), (0, 4), budget=2)
    run.tell(1, 0, "yes")  # the present question, turned round
    assert (pair(run.question), learner.heard) == ((2, 3), ["yes"])
    run.tell(3, 4, "no")  # another pair: the question stands
    assert pair(run.question) == (2, 3)
    run.tell(0, 2, "yes")
    run.tell(1, 3, "no")  # from which the present question follows
    assert learner.heard == ["yes", "no", "no"]
    assert pair(run.question) == (0, 4)
    assert run.evidence.n_questions == 0
    run.tell(0, 4, "unsure", asked=True)
    assert (run.reason, run.evidence.n_questions) == ("exhausted", 1)


def test_a_contradiction_keeps_the_question_open():
    learner, run = started((0, 2), evidence=Evidence(6, lw.Constraints(6, [(0, 1)])))
    with pytest.raises(lw.InfeasibleConstraintsError):
        run.tell(0, 1, "no")
    with pytest.raises(TypeError):
        run.answer("perhaps")
    assert (pair(run.question), learner.heard) == ((0, 2), [])
    run.answer("yes")
    assert run.reason == "exhausted"


def test_facts_added_to_the_evidence_count_after_a_refresh():
    learner, run = started((0, 1), (2, 3))
    run.evidence.add(0, 1, "no")
    run.refresh()
    assert (learner.heard, pair(run.question)) == (["no"], (2, 3))
    run.refresh()
    assert pair(run.question) == (2, 3)


def test_a_prepared_run_is_not_prepared_again():
    class Once(Script):
        def prepare(self, X, seed, *, progress=None):
            raise AssertionError

    run = Run(Once((0, 1)), np.zeros((2, 1)), Evidence(2), 0, prepared="prepared")
    assert pair(run.question) == (0, 1)


def test_the_labels_of_a_run_follow_the_answers():
    """The script holds that all rows are one cluster; the answers know better."""
    _, run = started((0, 1), (1, 2), (3, 4))
    assert run.labels.tolist() == [0] * 6
    run.answer("no")
    assert run.labels.tolist() in ([0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0])
    run.answer("yes")
    assert run.labels[1] == run.labels[2] != run.labels[0]


# ---------------------------------------------------------------- respecting
@st.composite
def clusterings_and_answers(draw):
    n = draw(st.integers(1, 15))
    labels = np.unique(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), return_inverse=True)[1]
    y = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    known = lw.Constraints.sample(y, draw(st.integers(0, n * (n - 1) // 2)), draw(st.integers(0, 99)))
    return labels.ravel().astype(np.int32), known


@settings(deadline=None)
@given(clusterings_and_answers())
def test_enforced_labels_contradict_no_answer_and_change_little(problem):
    labels, known = problem
    before = labels.copy()
    found = enforce_answers(labels, Evidence(len(labels), known))
    np.testing.assert_array_equal(labels, before)
    assert lw.constraint_score(found, known) == 1.0
    assert set(found) == set(range(len(set(found))))
    assert found.dtype == np.int32
    if lw.constraint_score(labels, known) == 1.0:
        assert found is labels
    free = np.setdiff1d(np.arange(len(labels)), np.vstack([known.must_link, known.cannot_link]))
    np.testing.assert_array_equal(labels[free][:, None] == labels[free], found[free][:, None] == found[free])


@given(labels=st.lists(st.integers(0, 2), min_size=2, max_size=12), data=st.data())
def test_cannot_links_alone_never_bring_rows_together(labels, data):
    """Strays of different clusters get no cluster in common."""
    shown = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    rows = st.integers(0, len(shown) - 1)
    pairs = data.draw(st.lists(st.tuples(rows, rows).filter(lambda p: p[0] != p[1]), max_size=15))
    found = enforce_answers(shown, Evidence(len(shown), lw.Constraints(len(shown), (), pairs)))
    together = found[:, None] == found
    assert (shown[:, None] == shown)[together].all()


def test_many_groups_that_leave_a_label_are_separated():
    """20 000 pairs apart in one cluster: work in proportion to the pairs, not to their square."""
    pairs = np.arange(40_000).reshape(-1, 2)
    found = enforce_answers(np.zeros(40_000, np.int32), Evidence(40_000, lw.Constraints(40_000, (), pairs)))
    assert np.bincount(found).tolist() == [20_000, 20_000]


# ---------------------------------------------------------------- oracles
@pytest.mark.parametrize(
    ("given_answer", "meant"),
    [("yes", "yes"), ("no", "no"), ("unsure", "unsure"), (True, "yes"), (False, "no"), (np.True_, "yes"),
     (np.str_("no"), "no")],
)  # fmt: skip
def test_oracle_answers_are_converted(given_answer, meant):
    assert check_answer(given_answer, 0, 1) == meant


BAD_ANSWERS = ["Yes", "y", "", None, 1, 0, 1.0, b"yes", [], ["yes"], np.array([True]), object()]


@pytest.mark.parametrize("answer", BAD_ANSWERS, ids=lambda said: type(said).__name__ + str(said)[:9])
def test_unknown_oracle_answers_raise_errors(answer):
    with pytest.raises(TypeError, match=r"rows 3 and 5 is .*Pass 'same' or 'yes', 'different' or 'no'"):
        check_answer(answer, 3, 5)


class Boom(BaseException):
    pass


@pytest.mark.parametrize("learner", [lw.COBRA(12, random_state=0), lw.COBRAS(random_state=0)], ids=repr)
@pytest.mark.parametrize("bad", ["maybe", None, KeyboardInterrupt(), RuntimeError("lost"), Boom()], ids=repr)
def test_answers_before_an_oracle_fails_are_kept(learner, bad):
    X, y = load_iris(return_X_y=True)
    said = []

    def oracle(i, j):
        if len(said) == 9:
            if isinstance(bad, BaseException):
                raise bad
            return bad
        said.append((i, j, TruthOracle(y)(i, j)))
        return said[-1][2]

    with pytest.raises(type(bad) if isinstance(bad, BaseException) else TypeError):
        learner.fit(X, oracle=oracle)
    assert (learner.reason_, learner.n_questions_, len(learner.history_)) == ("stopped", 9, 9)
    np.testing.assert_array_equal(learner.labels_, learner.history_[-1])
    assert learner.violations_ == 0
    assert learner.constraints_.n_constraints == 9
    for i, j, answer in said:
        assert (learner.labels_[i] == learner.labels_[j]) == (answer == "yes")


def test_an_oracle_may_fail_at_the_first_question():
    model = lw.COBRAS(random_state=0)
    with pytest.raises(ZeroDivisionError):
        model.fit(np.eye(4), oracle=lambda i, j: 1 / 0)
    assert (model.reason_, model.n_questions_, len(model.history_)) == ("stopped", 0, 0)
    assert model.labels_.tolist() == [0, 0, 0, 0]


@given(st.lists(st.integers(-1, 2), min_size=2, max_size=8))
def test_the_truth_oracle_answers_by_class(y):
    oracle = TruthOracle(y)
    for i in range(len(y)):
        for j in range(len(y)):
            known = "yes" if y[i] == y[j] else "no"
            assert oracle(i, j) == ("unsure" if -1 in (y[i], y[j]) else known)


@pytest.mark.slow
def test_the_truth_oracle_makes_errors_at_its_rates():
    y = np.arange(100) % 3
    oracle = TruthOracle(y, noise=0.2, unsure=0.1, random_state=0)
    pairs = [(i, j) for i in range(100) for j in range(i)]
    said = np.array([oracle(i, j) for i, j in pairs])
    assert said.tolist() == [oracle(j, i) for i, j in pairs]
    same = TruthOracle(y, noise=0.2, unsure=0.1, random_state=0)
    assert said.tolist() == [same(i, j) for i, j in pairs]
    truth = np.array([TruthOracle(y)(i, j) for i, j in pairs])
    sure = said != "unsure"
    assert abs((~sure).mean() - 0.1) < 0.022  # 5 standard deviations of 4950 draws
    assert abs((said != truth)[sure].mean() - 0.2) < 0.03
    assert {TruthOracle(y, noise=1.0)(0, 3), TruthOracle(y, noise=1.0)(0, 1)} == {"no", "yes"}


@pytest.mark.parametrize("options", [{"noise": -0.1}, {"noise": 1.1}, {"unsure": 2}, {"unsure": np.nan}])
def test_values_that_are_not_probabilities_raise_errors(options):
    with pytest.raises(ValueError, match=r"(noise|unsure) is not a probability: .*Pass a number from 0 to 1"):
        TruthOracle([0, 1], **options)


# ---------------------------------------------------------------- randomness and history
def test_draws_at_a_place_do_not_depend_on_earlier_draws():
    assert rng_at(1, 2, 3).random() == rng_at(1, 2, 3).random()
    places = [(), (2, 0), (2, 1), (3, 0), (2, 0, 2, 0), (2, 0, 2, 1), (2, 1, 2, 0), (2, 1, 3, 1)]
    assert len({rng_at(seed, *place).random() for place in places for seed in (0, 1)}) == 2 * len(places)


@settings(deadline=None)
@given(st.integers(1, 9), st.lists(st.integers(0, 10**6), max_size=12), st.integers(0, 3))
def test_history_returns_the_labels_it_was_given(n, seeds, width):
    start = np.zeros(n, dtype=np.int32)
    history, labels = History(start), [start]
    for seed in seeds:
        if seed % 3 == 0:  # nothing changed: the same array once more
            labels.append(labels[-1])
        else:
            labels.append(np.random.default_rng(seed).integers(0, width + 1, n).astype(np.int32))
        history.append(labels[-1])
    assert len(history) == len(seeds)
    for one, other in zip(history, labels[1:], strict=True):
        np.testing.assert_array_equal(one, other)
    for at in range(1, len(seeds) + 1):
        np.testing.assert_array_equal(history[-at], labels[-at])
    for at in (len(seeds), -len(seeds) - 1):
        with pytest.raises(IndexError):
            history[at]


def test_history_stores_only_changes():
    labels = np.zeros(100_000, dtype=np.int32)
    history = History(labels)
    for row in range(50):
        labels = labels.copy()
        labels[row] = row + 1
        history.append(labels)
    kept = sum(values.nbytes for _, values in history._changes)
    assert kept < 1000
    assert history[-1][:50].tolist() == list(range(1, 51))


def test_changing_labels_of_a_history_does_not_change_it():
    history = History(np.zeros(3, dtype=np.int32))
    history.append(np.array([0, 1, 2], dtype=np.int32))
    history[0][:] = 9
    assert history[0].tolist() == [0, 1, 2]


# ---------------------------------------------------------------- answers that may be wrong
def fallible(*pairs, n=6, **options):
    learner, evidence = Script(*pairs), FallibleEvidence(n, error_rate=0.1)
    return learner, Run(learner, np.zeros((n, 1)), evidence, 0, **options)


def test_a_learner_hears_what_is_believed():
    """Its question was answered no, the checks say yes; it hears what is believed, and at the end anew."""
    learner, run = fallible((0, 1), (1, 2), (0, 2), (2, 3))
    run.evidence.add(0, 3, "yes")
    truth = {frozenset(pair): "yes" for pair in ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))}
    truth[frozenset((0, 1))] = "no"  # the only answer that is wrong
    asked = []
    while run.question is not None:
        asked.append(frozenset(pair(run.question)))
        run.answer(truth.get(asked[-1], "no"))
    assert len(set(asked)) == len(asked)
    assert run.reason == "exhausted"
    assert [suspect.fact.pair for suspect in run.evidence.suspects()] in ([(0, 1)], [(1, 0)])
    assert run.evidence.verdict(0, 1) == "yes"
    assert learner.heard[1:4] == ["yes"] * 3
    assert learner.heard[4:] == ["yes"] * 4  # started anew, it hears what is believed of its first question


@pytest.mark.parametrize("budget", [0, 1, 2, 3])
def test_checks_count_in_the_budget(budget):
    learner, run = fallible((0, 1), (1, 2), (0, 2), (3, 4), budget=budget)
    for at in range(budget):
        run.answer("no" if at == 1 else "yes")
    assert (run.question, run.evidence.n_questions) == (None, budget)
    assert learner.closed
    with pytest.raises(RuntimeError, match="no open question"):
        run.answer("yes")


class Explorer(Script):
    """It asks on beyond row 1 only if that row belongs to row 0."""

    def ask(self, problem):
        labels = np.zeros(len(problem.X), np.int32)
        heard = yield Question(0, 1, labels, "first")
        self.heard.append(heard)
        if heard == "yes":
            self.heard.append((yield Question(1, 5, labels, "second")))
        return labels


def test_a_learner_that_has_ended_starts_anew_on_what_is_believed():
    learner, evidence = Explorer(), FallibleEvidence(6, error_rate=0.02)
    run = Run(learner, np.eye(6), evidence, 0)
    run.answer("no")
    assert (run.reason, learner.heard) == ("exhausted", ["no"])
    for row in (2, 3, 4):
        run.tell(0, row, "yes")
        run.tell(1, row, "yes")
    assert evidence.verdict(0, 1) == "yes"
    while run.question is not None and run.question.why != "second":
        run.answer("yes")
    assert (pair(run.question), run.reason) == ((1, 5), None)
    assert learner.heard[-1] == "yes"
    run.answer("no")
    while run.question is not None:
        run.answer("no" if 5 in pair(run.question) else "yes")
    assert run.reason == "exhausted"


def test_what_is_doubtful_is_checked_after_the_last_question_within_the_budget():
    for budget in (None, 1):
        _, run = fallible((0, 1), n=4, budget=budget)
        run.answer("yes")
        for first, second, answer in [(2, 3, "yes"), (0, 2, "no")]:
            run.tell(first, second, answer)
        if budget is None:
            assert (run.question.why, run.reason) == (CHECK_CLUSTER, None)
            assert set(pair(run.question)) <= {0, 1, 2, 3}
        else:
            assert (run.question, run.reason) == (None, "budget")


def test_a_contradiction_is_a_fact_like_any():
    _, run = fallible((0, 2))
    for answer in ("yes", "no", "no"):
        run.tell(0, 1, answer)
    assert run.evidence.verdict(0, 1) == "no"
    assert [suspect.number for suspect in run.evidence.suspects()] == [0]
    assert run.labels[0] != run.labels[1]
