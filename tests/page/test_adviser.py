"""One advice when to stop, with the share of the rows that may be in a wrong cluster."""

from __future__ import annotations

import numpy as np
import pytest

import linkwise as lw
from linkwise.datasets import load, scale_to_unit
from linkwise.page.adviser import give_advice
from linkwise.page.cards import view_numbers
from linkwise.page.presenter import Presenter

SURE = np.array([1.0, 0.5, 1.0, 0.9])


def test_a_learner_that_knows_gives_the_advice():
    found = give_advice([0.5] * 20, ["A is.", "B is, so you may stop here."], SURE, ended=False)
    assert found == {"stop": True, "text": "A is. B is, so you may stop here.", "wrong": pytest.approx(0.15)}
    assert give_advice([0.0] * 20, ["A is."], SURE, ended=False)["stop"] is False


@pytest.mark.parametrize("confidence", [SURE, None])
def test_suspects_are_checked_before_the_end(confidence):
    sentences = ["A is.", "B is, so you may stop here."]
    found = give_advice([0.0] * 10, sentences, confidence, ended=False, n_suspects=2)
    assert found["stop"] is False
    assert found["text"].endswith("2 answers are probably wrong. Check them before you stop.")
    one = give_advice([0.0] * 10, sentences, confidence, ended=False, n_suspects=1)
    assert one["text"].endswith("1 answer is probably wrong. Check it before you stop.")


def test_another_one_rests_on_what_moved():
    found = give_advice([0.0] * 10, ["It asks much."], None, ended=False)
    assert (found["stop"], found["wrong"]) == (True, None)
    assert found["text"].endswith("You can stop here.")
    assert give_advice([], [], None, ended=False)["stop"] is None


def test_at_the_end_there_is_nothing_to_advise():
    found = give_advice([], ["A is."], SURE, ended=True)
    assert (found["stop"], found["text"]) == (True, "There are no more questions.")
    assert found["wrong"] == pytest.approx(0.15)


def test_the_page_has_one_advice_and_it_comes_to_an_end():
    data = load("wine")
    X = scale_to_unit(data.X)
    session = lw.Session(X, lw.KIN(random_state=0))
    presenter = Presenter(session, X, view_numbers(data.X, data.names), title="wine")
    state = presenter.state()
    assert state["advice"]["wrong"] is None
    assert len(state["description"]) == 1, "the learner says what it expects"
    wrong = []
    for _ in range(80):
        q = session.question
        if q is None:
            break
        session.answer(bool(data.y[q.first] == data.y[q.second]))
        state = presenter.state()
        wrong.append(state["advice"]["wrong"])
        assert state["description"] == [], "the sentences of the learner are the advice"
        if state["advice"]["stop"]:
            break
    assert state["advice"]["stop"] is True, "its sentence ends in: you may stop here"
    assert wrong[-1] < wrong[0] / 3
