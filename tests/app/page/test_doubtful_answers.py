"""The page of a session whose answers may be wrong: its suspects, and what becomes of them."""

import json

import numpy as np
import pytest

import linkwise as lw
from linkwise.app.page.answer_list import describe_doubt
from linkwise.app.page.cards import view_numbers
from linkwise.app.page.presenter import Presenter
from linkwise.constraints.facts import Fact
from linkwise.session.state.suspects import SuspectAnswer
from session.session_examples import ALONE, OF_ANOTHER_PILE, OF_NO_PILE, misplace

FAR = np.random.default_rng(3).normal(size=(40, 2)) * 0.4 + np.repeat([[0, 0], [9, 0], [0, 9], [9, 9]], 10, 0)


def make_presenter(error_rate=0.1):
    """Three answers of which the last one is probably wrong, as the rows are close to each other."""
    session = lw.Session(FAR, lw.KIN(random_state=0), error_rate=error_rate)
    if error_rate != 0:
        session.add(0, 1, "must-link")
        session.add(1, 2, "must-link")
        session.add(0, 2, "cannot-link")
    return Presenter(session, FAR, view_numbers(FAR, ("x", "y")), title="far.csv")


def send(presenter, do, **request):
    reply = presenter.handle({"id": "a1", "do": do, **request})
    json.dumps(reply.body, allow_nan=False)
    return reply.body


def list_suspects(presenter):
    return send(presenter, "suspects")["suspects"]


def test_the_state_counts_suspects_and_describes_the_rate():
    state = make_presenter().state()
    assert state["errors"] == "linkwise assumes that 10 % of the answers are wrong."
    assert state["n_suspects"] == 1


def test_the_state_of_an_ordinary_session_has_no_errors():
    presenter = make_presenter(error_rate=0)
    state = presenter.state()
    assert (state["errors"], state["n_suspects"]) == ("", 0)
    assert send(presenter, "suspects") == {"re": "a1", "ok": True, "suspects": [], "more": 0}


def test_a_suspect_comes_with_its_answer_and_the_reason():
    [suspect] = list_suspects(make_presenter())
    assert suspect.pop("grade") in ("likely wrong", "very likely wrong")
    assert [values[:2] for values in suspect.pop("values")] == ["x ", "x "]
    assert suspect == {
        "event": 3,
        "first": 0,
        "second": 2,
        "names": ["row 0", "row 2"],
        "answer": "no",
        "source": "",
        "reason": "Other answers speak against it: Same for row 0 and row 1; Same for row 1 and row 2.",
        "card": None,
        "place": "",
    }


def test_a_merge_is_certain_and_no_confirmation():
    presenter = make_presenter(error_rate=None)
    presenter._session.answer("no")
    one, other = presenter.state()["clusters"][:2]
    assert send(presenter, "merge", first=one["cluster"], second=other["cluster"])["ok"]
    added = presenter._session.history[-1]
    assert (added.kind, added.is_sure) == ("add", True)
    changed = send(presenter, "change", event=1, answer="no")
    assert changed["ok"]
    first = send(presenter, "history")["events"][-1]
    assert (first["changed"], first["sure"]) == (True, False)


def test_before_the_first_suspect_no_answer_seems_wrong():
    session = lw.Session(FAR, lw.KIN(random_state=0), error_rate=None)
    presenter = Presenter(session, FAR, view_numbers(FAR, ("x", "y")), title="far.csv")
    assert presenter.state()["errors"] == ""
    session.add(0, 1, "must-link")
    assert presenter.handle({"id": "a2", "do": "history"}).body["ok"]
    assert presenter.state()["errors"] == "No answer seems wrong so far."


@pytest.mark.parametrize(
    ("because", "reason"),
    [
        ((), "The similarity of the rows speaks against it."),
        ((Fact(1, 2, "no"),), "Another answer speaks against it: Different for row 1 and row 2."),
    ],
)
def test_the_reason_in_words(because, reason):
    suspect = SuspectAnswer(3, 1, 2, "yes", "likely wrong", because)
    assert describe_doubt(suspect, [], "row {}".format) == reason


@pytest.mark.parametrize(
    ("request_", "answers"),
    [
        ({"do": "take_back"}, ["yes", "yes"]),
        ({"do": "change", "answer": "yes"}, ["yes", "yes", "yes"]),
        ({"do": "sure"}, ["yes", "yes", "no"]),
    ],
)
def test_a_suspect_is_taken_back_turned_round_or_confirmed(request_, answers):
    presenter = make_presenter()
    reply = presenter.handle({"id": "a1", "event": 3, **request_})
    assert reply.changed
    assert "moved" in reply.body["moved"]
    assert [event.answer for event in presenter._session.history] == answers
    assert 3 not in [suspect["event"] for suspect in list_suspects(presenter)]
    assert presenter.state()["n_suspects"] == len(list_suspects(presenter))


def test_undo_names_the_confirmation_that_it_takes_back():
    presenter = make_presenter()
    before = list_suspects(presenter)
    send(presenter, "sure", event=3)
    undo = presenter.state()["undo"]
    assert (undo["kind"], undo["target"], undo["answer"]) == ("sure", 3, "no")
    assert send(presenter, "undo")["undone"]["kind"] == "sure"
    assert list_suspects(presenter) == before


def test_the_history_marks_confirmed_answers():
    presenter = make_presenter()
    send(presenter, "sure", event=3)
    events = send(presenter, "history")["events"]
    assert {event["number"]: event["sure"] for event in events} == {1: False, 2: False, 3: True}


def test_a_confirmation_that_contradicts_others_stores_nothing_and_opens_no_conflict():
    presenter = make_presenter()
    for event in (1, 2):
        send(presenter, "sure", event=event)
    before = presenter.state()
    reply = send(presenter, "sure", event=3)
    assert reply["error"]["kind"] == "bad"
    assert "chain" not in reply["error"]
    assert "0" in reply["error"]["text"]
    assert presenter.state() == before


def test_an_ordinary_session_has_nothing_to_confirm():
    presenter = make_presenter(error_rate=0)
    send(presenter, "add", first=0, second=1, kind="must-link")
    reply = send(presenter, "sure", event=1)
    assert reply["error"]["kind"] == "failed"
    assert "treats every answer as correct" in reply["error"]["text"]


def test_looking_ahead_changes_nothing():
    presenter = make_presenter(error_rate=None)
    send(presenter, "sure", event=1)
    before = presenter.state(), list_suspects(presenter)
    presenter.look_ahead(lambda: False)
    assert (presenter.state(), list_suspects(presenter)) == before


def test_a_question_that_checks_an_answer_says_so():
    """A whole session, with two wrong answers that linkwise checks."""
    presenter = make_presenter(error_rate=0.2)
    kinds, reasons = np.repeat(np.arange(4), 10), []
    for number in range(40):
        if (question := presenter.state()["question"]) is None:
            break
        rows = [question[name]["row"] for name in ("first", "second")]
        reasons.append(question["why"])
        is_same = (kinds[rows[0]] == kinds[rows[1]]) != (number in (4, 11))
        reply = send(presenter, "answer", question=question["id"], answer="yes" if is_same else "no")
        assert reply["ok"], reply
    assert any(why.startswith("Please check: ") for why in reasons)


# ---------------------------------------------------------------- cards of screens
def present(screen, **options):
    session = misplace(screen, **options)
    return Presenter(session, session.X, view_numbers(session.X, ("x", "y")), title="groups"), session


def send_as(presenter, person, do, **request):
    reply = presenter.handle({"id": "1", "do": do, **request}, person)
    json.dumps(reply.body, allow_nan=False)
    return reply.body


def test_a_misplaced_card_is_listed_with_both_piles_and_moved():
    presenter, session = present(OF_ANOTHER_PILE)
    (suspect,) = send_as(presenter, "", "suspects")["suspects"]
    assert (suspect["card"], suspect["names"][0]) == (16, "row 16")
    assert suspect["place"] == (
        "It is in a pile with row 0, row 6, row 7, and probably belongs with row 10, row 17, row 18."
    )
    reply = send_as(presenter, "", "change", event=2, card=16)
    assert "moved" in reply
    assert session.history[1].sorting.piles == ((0, 6, 7), (16, 10, 17, 18))
    assert send_as(presenter, "", "suspects")["suspects"] == []
    error = send_as(presenter, "", "change", event=2, card=16)["error"]
    assert error["text"] == "This card does not seem misplaced any more."
    send_as(presenter, "", "undo")
    assert session.history[1].sorting.piles == ((0, 6, 7, 16), (10, 17, 18))


def test_a_card_that_lies_right_is_confirmed():
    presenter, session = present(OF_ANOTHER_PILE)
    assert send_as(presenter, "", "sure", event=2, card=16)["ok"]
    assert session.history[-1].is_sure
    assert send_as(presenter, "", "suspects")["suspects"] == []


def test_only_whoever_sorted_the_card_moves_it():
    presenter, session = present(OF_ANOTHER_PILE)
    presenter.state(("anna", "ben"))
    for do in ("change", "sure"):
        assert "Only anna can change" in send_as(presenter, "ben", do, event=2, card=16)["error"]["text"]
    assert len(session.events) == 2


@pytest.mark.parametrize("card", [40, -1, "16", True, 1.5])
def test_a_card_is_a_row(card):
    presenter, session = present(OF_ANOTHER_PILE)
    assert send_as(presenter, "", "change", event=2, card=card)["error"]["kind"] == "bad"
    assert len(session.events) == 2


@pytest.mark.parametrize(
    ("screen", "decision", "decided"),
    [
        (OF_ANOTHER_PILE, "yes", (16, 0, "yes")),
        (OF_ANOTHER_PILE, "no", (16, 10, "yes")),
        (OF_ANOTHER_PILE, "neither", (16, 0, "no")),
        (OF_NO_PILE, "no", (16, 0, "no")),
        (ALONE, "yes", (2, 0, "no")),
        (ALONE, "no", (2, 0, "yes")),
    ],
)
def test_a_reviewer_sees_the_card_beside_its_piles_and_decides(screen, decision, decided):
    presenter, session = present(screen)
    people = ("anna", "ben", "carla")
    parts = presenter.state(people)["personal"]
    assert [parts[person]["n_review"] for person in people] == [0, 1, 1], (
        "nobody reviews a card that only they sorted"
    )
    found = send_as(presenter, "carla", "review")
    card = decided[0]
    (case,) = found["cases"]
    assert (case["card"], case["names"]) == (card, [f"row {card}"])
    shown = found["shown"]
    (suspect,) = session.suspects
    piles = [list(suspect.pile), list(suspect.better_pile)]
    assert [[item["row"] for item in pile] for pile in shown["screen"]["known"]] == piles
    assert [item["row"] for item in shown["screen"]["cards"]] == [card]
    assert shown["doubts"][0].startswith(f"The pile of row {card} is ")
    request = {"first": case["first"], "second": case["second"], "card": card, "answer": decision}
    assert send_as(presenter, "carla", "review", **request)["shown"] == shown
    assert send_as(presenter, "carla", "decide", **{**request, "card": None})["error"]["kind"] == "bad"
    assert send_as(presenter, "carla", "decide", **request)["ok"]
    event = session.history[-1]
    assert (event.first, event.second, event.answer) == decided
    assert (event.source, event.is_sure) == ("carla", True)
    assert send_as(presenter, "carla", "review")["cases"] == []


def test_neither_needs_two_piles():
    presenter, session = present(OF_NO_PILE)
    request = {"first": 0, "second": 16, "card": 16, "answer": "neither"}
    error = send_as(presenter, "carla", "decide", **request)["error"]
    assert error["text"] == "answer is 'neither'. Pass yes, no, unsure."
    assert len(session.events) == 2
