"""Review on the page: which pairs wait for whom, and what a decision does."""

import json

import numpy as np
import pytest

import linkwise as lw
from linkwise.app.page.answer_list import describe_suspect
from linkwise.app.page.cards import view_numbers
from linkwise.app.page.presenter import Presenter
from linkwise.session.state.suspects import SuspectAnswer

PEOPLE = ("anna", "ben", "carla")
X = np.random.default_rng(0).normal(size=(20, 2)) * 0.3 + np.repeat([[0, 0], [9, 9]], 10, 0)


@pytest.fixture
def presenter():
    """Anna and ben disagree about rows 0 and 3, and agree about rows 0 and 10."""
    session = lw.Session(X, lw.KIN(random_state=0), error_rate=0.1)
    for person, kind in (("anna", "must-link"), ("ben", "cannot-link")):
        session.add(3, 0, kind, source=person)
        session.add(0, 10, "cannot-link", source=person)
    return Presenter(session, X, view_numbers(X, ("x", "y")), title="things")


def send(presenter, person, do, **request):
    reply = presenter.handle({"id": "1", "do": do, **request}, person)
    json.dumps(reply.body, allow_nan=False)
    return reply.body


def count_cases(presenter):
    parts = presenter.state(PEOPLE)["personal"]
    return [parts[person]["n_review"] for person in PEOPLE]


def test_a_case_comes_with_both_rows_and_who_answered_what_and_when(presenter):
    assert count_cases(presenter) == [1, 1, 1]
    found = send(presenter, "carla", "review")
    listed = {"first": 0, "second": 3, "card": None, "names": ["row 0", "row 3"]}
    assert (found["cases"], found["more"], found["shown"]["screen"]) == ([listed], 0, None)
    case = found["shown"]
    assert (case["first"]["row"], case["second"]["row"]) == (0, 3)
    assert list(case["differing"]) == ["x", "y"]
    events = [event for event in presenter._session.history if {event.first, event.second} == {0, 3}]
    told = [(each["text"], each["answer"], each["when"]) for each in case["answers"]]
    assert told == [("anna", "yes", events[0].when), ("ben", "no", events[1].when)]
    assert case["believed"] == presenter._session.evidence.verdict(0, 3)


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_a_decision_is_certain_and_ends_the_case_for_everybody(presenter, answer):
    assert "moved" in send(presenter, "carla", "decide", first=3, second=0, answer=answer)
    decided = presenter._session.history[-1]
    assert (decided.source, decided.answer, decided.is_sure) == ("carla", answer, True)
    assert count_cases(presenter) == [0, 0, 0]
    assert send(presenter, "carla", "review")["shown"] is None
    assert send(presenter, "carla", "undo")["undone"]["number"] == decided.number
    assert count_cases(presenter) == [1, 1, 1]


def test_a_decision_has_a_note(presenter):
    assert send(presenter, "carla", "decide", first=0, second=3, answer="no", note="the shape")["ok"]
    assert presenter._session.history[-1].note == "the shape"
    refused = send(presenter, "carla", "decide", first=0, second=3, answer="no", note="x" * 3000)
    assert not refused["ok"]


def test_not_sure_leaves_the_pair_to_others(presenter):
    assert send(presenter, "carla", "decide", first=0, second=3, answer="unsure")["ok"]
    assert count_cases(presenter) == [1, 1, 0]


def test_of_two_decisions_about_a_pair_the_first_is_stored(presenter):
    assert send(presenter, "carla", "decide", first=0, second=3, answer="yes")["ok"]
    n_events = len(presenter._session.events)
    for pair in ((0, 3), (0, 10)):
        refused = send(presenter, "anna", "decide", first=pair[0], second=pair[1], answer="no")
        assert refused["error"] == {"kind": "bad", "text": "This pair needs no review any more."}
    assert len(presenter._session.events) == n_events


def test_a_pair_that_only_one_person_answered_waits_for_the_others(presenter):
    session = presenter._session
    for first, second, kind in ((11, 12, "must-link"), (12, 13, "must-link"), (11, 13, "cannot-link")):
        session.add(first, second, kind, source="ben")
    assert {(s.first, s.second) for s in session.suspects} >= {(11, 13)}
    assert count_cases(presenter) == [2, 1, 2]
    found = send(presenter, "anna", "review", first=13, second=11)
    assert [(case["first"], case["second"]) for case in found["cases"]] == [(0, 3), (11, 13)]
    assert (found["shown"]["first"]["row"], found["shown"]["second"]["row"]) == (11, 13)
    assert found["shown"]["doubts"][0].startswith("The answer of ben is ")


def test_a_person_alone_has_nothing_to_review():
    session = lw.Session(X, lw.KIN(random_state=0), error_rate=0.1)
    for first, second, kind in ((0, 1, "must-link"), (1, 2, "must-link"), (0, 2, "cannot-link")):
        session.add(first, second, kind)
    state = Presenter(session, X, view_numbers(X, ("x", "y")), title="things").state()
    assert (state["n_suspects"], state["n_review"]) == (1, 0)


def test_nothing_waits_where_all_answers_count_as_right():
    session = lw.Session(X, lw.KIN(random_state=0))
    session.add(0, 3, "must-link", source="anna")
    presenter = Presenter(session, X, view_numbers(X, ("x", "y")), title="things")
    assert presenter.state()["n_review"] == 0
    assert send(presenter, "", "review") == {"re": "1", "ok": True, "cases": [], "more": 0, "shown": None}


def test_a_doubt_tells_whose_answer_it_is():
    suspect = SuspectAnswer(1, 0, 3, "no", "likely wrong")
    words = "is likely wrong. The similarity of the rows speaks against it."
    assert describe_suspect(suspect, "ben", [], str) == f"The answer of ben {words}"
    assert describe_suspect(suspect, "", [], str) == f"The answer without a name {words}"
