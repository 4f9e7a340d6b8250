"""One advice when to stop, with the share of the rows that may be in a wrong cluster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.asking.advice import StopAdvice
from linkwise.constraints.evidence import Evidence
from linkwise.datasets import load, scale_to_unit
from linkwise.page.adviser import give_advice
from linkwise.page.cards import view_numbers
from linkwise.page.presenter import Presenter
from linkwise.session.status import build_status, describe_status


def status(stop=None, *sentences, n_suspects=0):
    labels = np.array([0, 0, 1, 1], dtype=np.int32)
    advice = None if stop is None else StopAdvice(stop, 0.15)
    found = build_status([], labels, Evidence(4), None, sentences, None, advice)
    return replace(found, n_suspects=n_suspects)


def test_a_learner_that_knows_gives_the_advice():
    found = give_advice([0.5] * 20, status(True, "A is.", "B is."), ended=False)
    assert found == {"stop": True, "text": "A is. B is. You can stop here.", "wrong": 0.15}
    found = give_advice([0.0] * 20, status(False, "You may stop here."), ended=False)
    assert found["stop"] is False, "its words do not count, only what it advises"


@pytest.mark.parametrize("stop", [True, None])
def test_suspects_are_checked_before_the_end(stop):
    found = give_advice([0.0] * 10, status(stop, "A is.", n_suspects=2), ended=False)
    assert found["stop"] is False
    assert found["text"].endswith("2 answers are probably wrong. Check them before you stop.")
    one = give_advice([0.0] * 10, status(stop, n_suspects=1), ended=False)
    assert one["text"].endswith("1 answer is probably wrong. Check it before you stop.")


def test_another_one_rests_on_what_moved():
    found = give_advice([0.0] * 10, status(None, "It asks much."), ended=False)
    assert (found["stop"], found["wrong"]) == (True, None)
    assert found["text"].endswith("You can stop here.")
    assert give_advice([], status(), ended=False)["stop"] is None


def test_at_the_end_there_is_nothing_to_advise():
    found = give_advice([], status(False, "A is."), ended=True)
    assert found == {"stop": True, "text": "There are no more questions.", "wrong": 0.15}


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
    assert state["advice"]["text"].endswith("You can stop here.")
    assert describe_status(session.status)[-1 - session.status.is_fallible] == "You can stop here."
    told = [share for share in wrong if share is not None]  # the first answers are too few to tell
    assert told[-1] < told[0] / 3
