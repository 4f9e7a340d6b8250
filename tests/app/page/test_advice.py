"""The page has no advice of its own when to stop: it shows that of the learner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from fixed_labels import FixedAdvice, FixedLabels
from linkwise.app.page.cards import view_numbers
from linkwise.app.page.page_state import render_advice
from linkwise.app.page.presenter import Presenter
from linkwise.constraints.evidence import Evidence
from linkwise.datasets import load, scale_to_unit
from linkwise.learn.advice import StopAdvice
from linkwise.session.state.status import build_status, describe_status

NONE = {"wrong": None, "most_wrong": None, "n_open": 0}
LABELS = np.array([0, 0, 1, 1], dtype=np.int32)


def status(advice, *sentences, n_suspects=0):
    return replace(
        build_status([], LABELS, Evidence(4), None, sentences, None, advice), n_suspects=n_suspects
    )


def test_the_sentences_of_the_learner_are_part_of_its_advice():
    found = render_advice(status(StopAdvice(True, None, n_open=2), "A is.", "B is."), ended=False)
    words = "A is. B is. You can stop here. 2 pairs of clusters may be one."
    assert found == NONE | {"stop": True, "text": words, "n_open": 2}
    found = render_advice(status(StopAdvice(False, 0.25, 0.5), "You may stop here."), ended=False)
    assert found == {
        "stop": False,
        "text": "You may stop here.",
        "wrong": 0.25,
        "most_wrong": 0.5,
        "n_open": 0,
    }


def test_suspects_are_checked_before_the_end():
    found = render_advice(status(StopAdvice(True, 0.25), "A is.", n_suspects=2), ended=False)
    assert found["text"] == "A is. Check the suspects before you stop."


@pytest.mark.parametrize("advice", [None, StopAdvice(False, 0.25)])
def test_at_the_end_there_are_no_more_questions(advice):
    found = render_advice(status(advice, "A is."), ended=True)
    assert (found["stop"], found["text"]) == (True, "There are no more questions.")
    assert found["wrong"] == (advice and advice.wrong)


@pytest.mark.parametrize("learner", [FixedLabels(np.zeros(30)), FixedAdvice(np.zeros(30), None, "A is.")])
def test_a_learner_without_advice_is_shown_without(learner):
    X = np.arange(60.0).reshape(30, 2)
    presenter = Presenter(lw.Session(X, learner), X, view_numbers(X, "xy"), title="t")
    for n in range(1, 21):
        question = presenter.state()["question"]["id"]
        assert presenter.handle({"id": "a", "do": "answer", "question": question, "answer": "yes"}).body["ok"]
        state = presenter.state()
        assert state["changes"] == [0.0] * n
        assert state["advice"] == NONE | {"stop": None, "text": ""}
    assert state["description"] == ["A is."] * isinstance(learner, FixedAdvice)


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
    assert state["advice"]["stop"] is True
    assert "You can stop here: probably at most " in state["advice"]["text"]
    assert state["advice"]["text"] == " ".join(describe_status(session.status)[1:])
    told = [share for share in wrong if share is not None]  # the first answers are too few to tell
    assert told[-1] < told[0] / 3
