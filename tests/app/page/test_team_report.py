"""What a page shows about a team, and what each person is told of the rows that their answers moved."""

import numpy as np
import pytest

from linkwise.app.page.cards import RowView, create_namer
from linkwise.app.page.presenter import Presenter
from linkwise.app.page.row_moves import MOST_EVENTS, MOST_LISTED, RecentMoves
from linkwise.app.page.team_report import describe_team
from linkwise.data.show.items import value_items
from linkwise.learn.kin.kin import KIN
from linkwise.session.journal.events import Example
from linkwise.session.session import Session
from linkwise.session.state.moves import describe_moves, find_moves

PEOPLE = ("anna", "ben")
Y = np.arange(30) % 3


def begin(error_rate=None, spread=0.3):
    rng = np.random.default_rng(0)
    X = np.array([[0, 0], [3, 0], [0, 3]])[Y] + rng.normal(0, spread, (30, 2))
    return Session(X, KIN(random_state=0), error_rate=error_rate)


def present(session):
    items = value_items(session.X, ("x", "y"))
    return Presenter(session, session.X, RowView(items, create_namer(None)), title="things")


@pytest.fixture
def presenter():
    return present(begin(0.1))


def send(presenter, person, **request):
    reply = presenter.handle({"id": "1", **request}, person)
    assert reply.body["ok"], reply.body
    return reply


def add_pairs(session, person, n, n_wrong=0):
    for at in range(n):
        is_same = (Y[0] == Y[at + 1]) != (at < n_wrong)
        session.add(0, at + 1, "must-link" if is_same else "cannot-link", source=person)


def test_rates_and_kappa_are_shown_once_there_are_enough_answers():
    session = begin()
    add_pairs(session, "anna", 12)
    add_pairs(session, "ben", 9)
    report = describe_team(session)
    anna, ben = report["people"]
    assert (anna["name"], anna["added"], ben["name"], ben["added"]) == ("anna", 12, "ben", 9)
    share, low, high = anna["error_rate"]
    assert 0 <= low < share < high < 1
    assert ben["error_rate"] is None
    (pair,) = report["pairs"]
    assert (pair["names"], pair["common"], pair["agreeing"], pair["kappa"]) == (["anna", "ben"], 9, 9, None)
    session.add(0, 10, "cannot-link", source="ben")
    (pair,) = describe_team(session)["pairs"]
    kappa, low, high = pair["kappa"]
    assert (pair["common"], pair["agreeing"], kappa, high) == (10, 10, 1.0, 1.0)
    assert 0 < low < 1
    assert (report["least_answers"], report["least_common"]) == (10, 10)


def test_rates_that_were_given_are_shown_as_they_are():
    session = begin({"anna": 0, "ben": 0.2, "": None})
    add_pairs(session, "anna", 2)
    add_pairs(session, "ben", 2)
    anna, ben = describe_team(session)["people"]
    assert (anna["error_rate"], ben["error_rate"]) == ([0, 0, 0], [0.2, 0.2, 0.2])


def test_a_session_that_takes_all_answers_as_right_has_no_rates():
    session = begin(0)
    add_pairs(session, "anna", 12)
    add_pairs(session, "ben", 12)
    report = describe_team(session)
    assert [person["error_rate"] for person in report["people"]] == [None, None]
    assert report["pairs"][0]["kappa"][0] == 1


def test_a_page_asks_for_the_report(presenter):
    presenter.state(PEOPLE)
    assert send(presenter, "anna", do="team").body["report"] == describe_team(presenter._session)


# ---------------------------------------------------------------- rows that moved
def test_each_person_is_told_what_their_answer_moved_with_the_following_state():
    presenter, found = present(begin(0, spread=3.0)), []
    for _ in range(8):
        parts = presenter.state(PEOPLE)["personal"]
        before, question = presenter._content.labels, parts["anna"]["question"]
        rows = [question[side]["row"] for side in ("first", "second")]
        answer = "yes" if Y[rows[0]] == Y[rows[1]] else "no"
        reply = send(presenter, "anna", do="answer", question=question["id"], answer=answer).body
        assert "moved" not in reply
        parts = presenter.state(PEOPLE)["personal"]
        moved = describe_moves(find_moves(before, presenter._content.labels), {})
        assert parts["anna"]["moves"][-1] == {"event": reply["follows"], "moved": moved}
        assert parts["ben"]["moves"] == []
        found.append(moved)
    assert set(found) > {"No row moved."}
    assert len(parts["anna"]["moves"]) == MOST_LISTED


def test_answers_that_come_together_are_told_what_they_moved_together(presenter):
    parts = presenter.state(PEOPLE)["personal"]
    before, numbers = presenter._content.labels, {}
    for person in PEOPLE:
        question = parts[person]["question"]["id"]
        reply = send(presenter, person, do="answer", question=question, answer="no")
        numbers[person] = reply.body["follows"]
    parts = presenter.state(PEOPLE)["personal"]
    moves = find_moves(before, presenter._content.labels)
    together = " 1 other answer came at the same moment." if moves.n_rows else ""
    for person in PEOPLE:
        moved = f"{describe_moves(moves, {})}{together}"
        assert parts[person]["moves"] == [{"event": numbers[person], "moved": moved}]


def test_whoever_answered_at_the_same_moment_is_counted():
    moves, before = RecentMoves(), np.array([0, 0, 1], dtype=np.int32)
    moves.note([4, 5, 6], before, np.array([0, 1, 1], dtype=np.int32), {1: "reds"})
    moves.note([7, 8], before, before, {})
    found = moves._found
    assert found[5] == "1 row moved from Cluster 0 to reds. 2 other answers came at the same moment."
    assert found[8] == "No row moved."


def test_a_person_alone_is_told_by_the_reply(presenter):
    state = presenter.state()
    assert "moves" not in state
    assert "moved" in send(presenter, "", do="answer", question=state["question"]["id"], answer="no").body


def test_old_moves_are_forgotten():
    moves, labels = RecentMoves(), np.zeros(3, dtype=np.int32)
    moves.note([], labels, labels, {})
    for number in range(MOST_EVENTS + 5):
        moves.note([number], labels, labels, {})
    assert list(moves._found) == list(range(5, MOST_EVENTS + 5))


# ---------------------------------------------------------------- examples
def test_a_pair_becomes_an_example_and_every_page_shows_it(presenter):
    presenter.state(PEOPLE)
    assert "examples" not in presenter.state(PEOPLE)
    reply = send(presenter, "anna", do="example", first=3, second=5, answer="yes", note=" near ")
    assert reply.changed
    state = presenter.state(PEOPLE)
    expected = {"first": 3, "second": 5, "names": ["row 3", "row 5"], "answer": "yes", "reason": "near"}
    assert state["examples"] == [expected]
    assert not presenter.has_changed()
    presenter._session.add_example(1, 2, "no")  # by another program
    assert presenter.has_changed()
    assert send(presenter, "ben", do="example", first=5, second=3, answer="none").changed
    assert presenter._session.examples == (Example(1, 2, "no"),)
    assert {event.kind for event in presenter._session.events} == {"examples"}


@pytest.mark.parametrize(
    "fields",
    [
        {"first": 3, "second": 5, "answer": "unsure"},
        {"first": 3, "second": 3, "answer": "yes"},
        {"first": 3, "second": 99, "answer": "yes"},
        {"first": 3, "answer": "yes"},
        {"first": 3, "second": 5, "answer": "yes", "note": 7},
    ],
)
def test_a_wrong_example_is_refused(presenter, fields):
    reply = presenter.handle({"id": "1", "do": "example", **fields}, "anna")
    assert reply.body["error"]["kind"] == "bad"
    assert presenter._session.examples == ()
