"""KIN where somebody cannot tell: one row that cannot be judged, and nothing left to ask."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.constraints.evidence import Evidence
from linkwise.learn.kin.confidence import forecast
from linkwise.learn.run import Run


@pytest.mark.slow
def test_one_row_that_nobody_can_judge_costs_two_questions():
    X, y = load_iris(return_X_y=True)
    first = lw.KIN(random_state=0)
    run = Run(first, X, Evidence(len(X)), 0)
    blurred = run.question.second  # what the first question compares others with
    asked = []

    def oracle(i, j):
        asked.append((i, j))
        return "unsure" if blurred in (i, j) else bool(y[i] == y[j])

    model = lw.KIN(random_state=0).fit(X, oracle=oracle, budget=40)
    assert sum(blurred in pair for pair in asked) <= 3
    assert adjusted_rand_score(y, model.labels_) > 0.9


@pytest.mark.parametrize("answer", ["yes", "no", "unsure"])
def test_no_next_answer_is_described_when_nothing_is_asked(answer):
    X = np.array([[1.0, 2.0], [3.0, 4.0], [9.0, 4.0]])
    learner, evidence = lw.KIN(random_state=0), Evidence(3)
    run = Run(learner, X, evidence, 0)
    while run.question is not None:
        run.answer(answer)
    assert not any("next answer" in line for line in learner.describe(run.state))


def test_while_it_is_too_early_no_answer_is_said_to_change_little():
    X = np.random.default_rng(3).normal(size=(40, 2))
    learner = lw.KIN(random_state=0)
    run = Run(learner, X, Evidence(40), 0)
    for _ in range(2):
        run.answer("yes")
    expected = forecast(run.state.read(), run.state.asked)
    assert expected.n_unsure is None
    assert expected.n_changed < 0.002 * len(X)
    (line,) = learner.describe(run.state)
    assert line.endswith("It is too early to tell how many rows are in a wrong one.")


def contradict(error_rate):
    """A session with two groups, and an answer that the others and the rows speak against."""
    X = np.random.default_rng(0).normal(size=(20, 2)) * 0.3 + np.repeat([[0, 0], [9, 9]], 10, 0)
    session = lw.Session(X, lw.KIN(random_state=0), error_rate=error_rate)
    for first, second in ((0, 1), (1, 2), (0, 3)):
        session.add(first, second, "must-link")
    session.add(0, 10, "cannot-link")
    return session


def test_rows_of_doubted_answers_are_as_unsure_as_the_answers():
    session = contradict(0.1)
    assert (session.confidence[[0, 1, 2, 3, 10]] == 1).all()
    session.add(2, 3, "cannot-link")
    (suspect,) = session.evidence.suspects()
    assert suspect.fact.pair == (2, 3)
    sure = session.confidence
    assert sure[[2, 3]] == pytest.approx(suspect.chance)
    assert 0.5 < suspect.chance < 1
    assert (sure[[0, 1, 10]] == 1).all()
    session.set_sure(next(event.number for event in session.history if event.answer == "no"))
    model = lw.KIN(random_state=0).fit(session.X, constraints=session.constraints)
    assert (model.proba_[[0, 1, 2, 3, 10]] == 1).all()  # where all pairs are right


def test_exact_answers_have_no_doubts():
    session = contradict(0)
    assert session.evidence.suspects() == []
    assert (session.confidence[[0, 1, 2, 3, 10]] == 1).all()
