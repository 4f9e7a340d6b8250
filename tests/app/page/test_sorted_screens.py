"""Rows that are sorted on the page, and what it shows of those that were sorted elsewhere."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.app.page.cards import choose_fields, view_numbers
from linkwise.app.page.page_state import render_offers
from linkwise.app.page.presented_items import present_session
from linkwise.app.page.presenter import Presenter
from linkwise.learn.verification import CHECK_ROW
from linkwise.session.session import Session
from record_worlds import draw_world


def begin(rate=0):
    rng, kind = np.random.default_rng(3), np.arange(24) % 3
    X = np.column_stack([10.0 * kind, 5.0 * (kind == 1)]) + rng.normal(0, 0.2, (24, 2))
    session = Session(X, error_rate=rate)
    return Presenter(session, X, view_numbers(X, ("length", "width")), title="leaves.csv"), session


def ask(presenter, **request):
    reply = presenter.handle({"id": "a1", **request})
    assert reply.body["ok"], reply.body
    return reply.body


def test_the_history_lists_a_screen_and_undo_takes_it_back():
    presenter, session = begin()
    session.sort([[0, 3, 6], [1, 4]], unsure=[2])
    session.change(1, [[0, 3, 6], [1, 4], [2]])
    (event,) = ask(presenter, do="history")["events"]
    assert (event["kind"], event["cards"], event["piles"], event["changed"]) == ("sort", 6, 3, True)
    assert event["names"] == []
    ask(presenter, do="undo")
    ask(presenter, do="undo")
    assert session.history == []


def test_a_conflict_names_the_screen():
    presenter, session = begin()
    session.sort([[0, 3], [1, 4]])
    reply = presenter.handle({"id": "a2", "do": "add", "first": 3, "second": 4, "kind": "must-link"}).body
    assert not reply["ok"]
    links = [(link["kind"], link["event"]) for link in reply["error"]["chain"]]
    assert links == [("sort", 1), ("add", None), ("sort", 1), ("sort", 1)]


def test_a_misplaced_card_is_listed_among_the_suspects():
    presenter, session = begin(rate=None)
    for _ in range(3):
        session.sort([range(0, 18, 3), range(1, 18, 3), range(2, 18, 3)])
    session.sort([[18, 21, 0, 4], [1, 7], [2, 5]])
    assert any(suspect.number == 4 for suspect in session.suspects)
    listed = ask(presenter, do="suspects")["suspects"]
    assert len(listed) == len(session.suspects)


# ---------------------------------------------------------------- sorting on the page
def show(presenter, person="", size=9, **more):
    reply = presenter.handle({"id": "a1", "do": "screen", "size": size, **more}, person)
    assert reply.body["ok"], reply.body
    assert not reply.changed
    return reply.body["screen"]


def by_kind(screen):
    """The right piles of a screen."""
    rows = [item["row"] for pile in (*screen["known"], screen["cards"]) for item in pile]
    return [[row for row in rows if row % 3 == kind] for kind in range(3)]


def sort(presenter, screen, piles=None, person="", **more):
    request = {"piles": by_kind(screen) if piles is None else piles, "unsure": [], **more}
    return presenter.handle({"id": "a3", "do": "sort", "screen": screen["id"], **request}, person)


def test_a_screen_becomes_one_answer():
    presenter, session = begin()
    screen = show(presenter)
    assert (screen["known"], len(screen["cards"])) == ([], 9)
    assert screen["columns"] == ["length", "width"]
    assert screen["why"]
    assert all(item["fields"] and item["cluster"] >= 0 for item in screen["cards"])
    assert show(presenter)["id"] == screen["id"], "the same until it is sorted"
    reply = sort(presenter, screen, seconds=12.5, note="easy", reliability=0.7)
    assert reply.changed
    assert reply.body["ok"]
    assert reply.body["moved"].endswith(".")
    (event,) = session.history
    assert (event.kind, event.seconds, event.note, event.reliability) == ("sort", 12.5, "easy", None)
    state = presenter.state()
    assert (state["counts"]["answers"], state["counts"]["screens"], state["counts"]["cards"]) == (1, 1, 9)
    assert state["counts"]["yes"] == state["counts"]["no"] == 0
    assert len(state["changes"]) == 1
    assert state["undo"]["kind"] == "sort"
    after = show(presenter)
    assert after["id"] != screen["id"]
    assert after["known"]
    assert not {item["row"] for item in after["cards"]} & {item["row"] for item in screen["cards"]}


def test_two_known_piles_can_be_one():
    presenter, session = begin()
    session.sort([[0, 6], [1, 7]])
    session.sort([[3, 9], [4, 10]])
    presenter.state()
    screen = show(presenter, size=16)
    known = [item["row"] for pile in screen["known"] for item in pile]
    assert len({row % 3 for row in known}) < len(known), "two piles are of one kind"
    assert sort(presenter, screen).body["ok"]
    one, other = next((a, b) for a in known for b in known if a < b and a % 3 == b % 3)
    assert session.evidence.verdict(one, other) == "yes"


def test_undo_brings_the_screen_back():
    presenter, session = begin()
    first = show(presenter)
    sort(presenter, first)
    assert show(presenter)["id"] != first["id"]
    assert ask(presenter, do="undo")["undone"]["cards"] == 9
    assert show(presenter)["id"] == first["id"]
    assert session.history == []


def test_another_size_shows_other_rows():
    presenter, _ = begin()
    nine = show(presenter)
    few = show(presenter, size=4)
    assert 2 <= len(few["cards"]) <= 4
    assert not {item["row"] for item in few["cards"]} & {item["row"] for item in nine["cards"]}
    anew = show(presenter, size=6, anew=True)
    assert len(anew["cards"]) == 6
    assert show(presenter, size=9, anew=True)["cards"] == nine["cards"]


def test_two_people_get_different_cards_and_undo_their_own():
    presenter, session = begin(rate=0.1)
    anna, ben = show(presenter, "anna"), show(presenter, "ben")
    assert not {item["row"] for item in anna["cards"]} & {item["row"] for item in ben["cards"]}
    for person, screen in (("anna", anna), ("ben", ben)):
        assert sort(presenter, screen, person=person).body["ok"]
    assert [event.source for event in session.history] == ["anna", "ben"]
    parts = presenter.state(("anna", "ben"))["personal"]
    assert parts["anna"]["undo"]["text"] == "anna"
    assert parts["ben"]["team"]["own"] == 1
    presenter.handle({"id": "1", "do": "undo"}, "anna")
    assert [event.source for event in session.history] == ["ben"]
    assert show(presenter, "anna")["id"] == anna["id"]


def refused(presenter, **request):
    before = presenter.state()
    reply = presenter.handle({"id": "a4", **request})
    assert not reply.body["ok"], reply.body
    assert not reply.changed
    assert presenter.state() == before
    return reply.body["error"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: {"piles": [rows[1:]]}, "Row {0} is in no pile."),
        (lambda rows: {"piles": [rows[2:]]}, "Rows {0}, {1} are in no pile."),
        (lambda rows: {"piles": [rows, rows[:1]]}, "Row {0} is in two places."),
        (lambda rows: {"piles": [rows], "unsure": rows[:1]}, "Row {0} is in two places."),
        (lambda rows: {"piles": [[*rows, 30]]}, "piles is 30. Pass a number from 0 to 23."),
        (lambda rows: {"piles": [[*rows, -1]]}, "piles is -1. Pass a number from 0 to 23."),
        (lambda rows: {"piles": [[*rows, "1"]]}, "piles is '1'. Pass a whole number."),
        (lambda rows: {"piles": [[*rows, True]]}, "piles is True. Pass a whole number."),
        (lambda _: {"piles": ["ab"]}, "piles is 'ab'. Pass lists of at most 100 rows."),
        (lambda _: {"piles": []}, "piles is list. Pass a list of 1 to 100 piles."),
        (lambda _: {"piles": None}, "piles is missing. Pass a list of 1 to 100 piles."),
        (lambda _: {"piles": [[0]] * 101}, "piles is list. Pass a list of 1 to 100 piles."),
        (lambda _: {"piles": [list(range(101))]}, "piles is list. Pass lists of at most 100 rows."),
        (
            lambda rows: {"piles": [rows], "unsure": None},
            "unsure is missing. Pass lists of at most 100 rows.",
        ),
        (lambda rows: {"piles": [rows], "unsure": [1.5]}, "unsure is 1.5. Pass a whole number."),
        (lambda rows: {"piles": [rows], "seconds": -1}, "seconds"),
        (lambda rows: {"piles": [rows], "note": 5}, "note"),
        (lambda rows: {"piles": [rows], "screen": 5}, "screen is 5. Pass text."),
        (lambda rows: {"piles": [rows], "screen": "9" * 3000}, "screen has 3000 letters."),
    ],
)
def test_what_is_wrong_with_piles_is_said(change, words):
    presenter, _ = begin()
    screen = show(presenter)
    rows = [item["row"] for item in screen["cards"]]
    request = {"do": "sort", "screen": screen["id"], "unsure": [], **change(rows)}
    error = refused(presenter, **request)
    assert error["kind"] == "bad"
    assert words.format(*rows) in error["text"]


def test_a_row_that_is_not_on_the_screen_is_refused():
    presenter, _ = begin()
    screen = show(presenter)
    rows = [item["row"] for item in screen["cards"]]
    other = next(row for row in range(24) if row not in rows)
    error = refused(presenter, do="sort", screen=screen["id"], piles=[[*rows, other]], unsure=[])
    assert error["text"] == f"Row {other} is not on this screen. Remove it from the piles."


def test_a_screen_that_was_sorted_in_another_window_is_not_stored_twice():
    presenter, session = begin()
    screen = show(presenter)
    assert sort(presenter, screen).body["ok"]
    for name in (screen["id"], "0:|1,2,99", "nonsense", ""):
        error = refused(presenter, do="sort", screen=name, piles=by_kind(screen), unsure=[])
        assert error["kind"] == "stale", name
    assert len(session.history) == 1


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"size": 5}, "size is 5. Pass 4, 6, 9, 12, 16."),
        ({"size": "9"}, "size is '9'. Pass 4, 6, 9, 12, 16."),
        ({"size": True}, "size is True."),
        ({}, "size is missing."),
        ({"size": 9, "anew": "yes"}, "anew is 'yes'. Pass true or false."),
    ],
)
def test_a_screen_has_one_of_the_sizes(request_, words):
    presenter, _ = begin()
    assert words in refused(presenter, do="screen", **request_)["text"]


def test_a_contradiction_names_the_chain_and_nothing_is_stored():
    presenter, session = begin()
    screen = show(presenter)
    rows = [item["row"] for item in screen["cards"]]
    session.add(rows[0], rows[1], "cannot-link")
    error = refused(presenter, do="sort", screen=screen["id"], piles=[rows], unsure=[])
    assert error["kind"] == "contradiction"
    assert {link["event"] for link in error["chain"]} == {None, 1}


def test_the_budget_counts_screens():
    presenter, session = begin()
    presenter._content.budget = 1
    screen = show(presenter)
    sort(presenter, screen)
    assert presenter.state()["ended"] == "budget"
    assert show(presenter) is None
    error = refused(presenter, do="sort", screen="1:|0,1", piles=[[0], [1]], unsure=[])
    assert error["kind"] == "ended"
    assert session.status.n_answers == 1


def test_sorting_ends_when_no_row_is_left():
    presenter, session = begin()
    for _ in range(12):
        if (screen := show(presenter, size=16)) is None:
            break
        assert sort(presenter, screen).body["ok"]
    assert show(presenter, size=16) is None
    assert len({*session.labels.tolist()}) == 3


def test_the_pace_of_screens_counts_towards_the_budget():
    presenter, _ = begin()
    sort(presenter, show(presenter), seconds=30.0)
    assert presenter.state()["seconds_per_answer"] == 30.0


# ---------------------------------------------------------------- an earlier answer, sorted again
def test_an_earlier_screen_is_shown_where_its_cards_lie_and_gets_other_piles():
    presenter, session = begin()
    session.sort([[0, 3, 6], [1, 4]])
    session.sort([[0, 9, 10], [1, 7]], unsure=[2])
    screen = ask(presenter, do="sorted", event=2)["screen"]
    assert screen["known"] == []
    assert [item["row"] for item in screen["cards"]] == [0, 9, 10, 1, 7, 2]
    assert (screen["event"], screen["lies"]) == (2, {"piles": ((0, 9, 10), (1, 7)), "unsure": (2,)})
    assert screen["columns"] == ["length", "width"]
    reply = ask(presenter, do="change", event=2, piles=[[0, 9], [1, 7, 10], [2]], unsure=[])
    assert reply["moved"].endswith(".")
    assert session.history[1].sorting.piles == ((0, 9), (10, 1, 7), (2,))
    assert [event.kind for event in session.events] == ["sort", "sort", "change"]
    ask(presenter, do="undo")
    assert session.history[1].sorting.unsure == (2,)


def test_known_rows_of_an_earlier_screen_stay_what_they_are():
    presenter, _ = begin()
    sort(presenter, show(presenter))
    screen = show(presenter)
    sort(presenter, screen)
    again = ask(presenter, do="sorted", event=2)["screen"]
    flat = [item["row"] for pile in screen["known"] for item in pile]
    assert sorted(item["row"] for pile in again["known"] for item in pile) == sorted(flat)
    assert {item["row"] for item in again["cards"]} == {item["row"] for item in screen["cards"]}


def test_each_person_sorts_only_their_own_screens_again():
    presenter, session = begin(rate=0.1)
    sort(presenter, show(presenter, "anna"), person="anna")
    presenter.state(("anna", "ben"))
    request = {"id": "1", "do": "change", "event": 1, "piles": [[0], [1]], "unsure": []}
    assert "Only anna can change" in presenter.handle(request, "ben").body["error"]["text"]
    assert [event.kind for event in session.events] == ["sort"]


@pytest.mark.parametrize(
    ("request_", "kind", "words"),
    [
        ({"do": "sorted", "event": 2}, "bad", "These rows are not sorted any more."),
        ({"do": "change", "event": 1, "answer": "yes"}, "bad", "The piles are not lists of rows: 'yes'."),
        ({"do": "sorted", "event": 9}, "bad", "These rows are not sorted any more."),
        ({"do": "sorted"}, "bad", "event is missing. Pass a whole number."),
        ({"do": "change", "event": 1, "piles": [[0, 3]], "unsure": []}, "bad", "Rows 1, 4 are in no pile."),
        ({"do": "change", "event": 1, "piles": [[0, 3], [1, 4]]}, "bad", "unsure is missing."),
        (
            {"do": "change", "event": 2, "piles": [[0, 3]], "unsure": []},
            "bad",
            "These rows are not sorted any more.",
        ),
    ],
)
def test_what_is_wrong_with_a_change_of_piles_is_said(request_, kind, words):
    presenter, session = begin()
    session.sort([[0, 3], [1, 4]])
    session.add(0, 6, "must-link")
    error = refused(presenter, **request_)
    assert error["kind"] == kind
    assert words in error["text"]


# ---------------------------------------------------------------- what is offered
def test_screens_are_offered_where_the_learner_gathers_rows():
    presenter, _ = begin()
    sorting = presenter.state()["sorting"]
    assert sorting["sizes"] == [4, 6, 9, 12, 16]
    assert (sorting["start"], sorting["wide"]["size"], sorting["narrow"]["size"]) == (9, 9, None)
    other = Session(np.random.default_rng(0).random((20, 2)), lw.COBRAS(random_state=0))
    shown = Presenter(other, other.X, view_numbers(other.X, ("length", "width")), title="leaves.csv")
    assert shown.state()["sorting"]["wide"]["size"] is None
    assert len(show(shown)["cards"]) > 3, "they can be sorted all the same"


def test_no_screens_are_offered_of_a_learner_that_was_not_measured():
    session = lw.Session(draw_world().table, lw.RecordLinkage(random_state=0))
    state = present_session(session).state()
    assert state["question"] is not None
    assert state["sorting"]["wide"]["size"] is None


def test_no_screens_are_offered_where_few_rows_are_worth_it():
    presenter, session = begin()
    reply = ask(presenter, do="screen", size=9)
    assert reply["sorting"]["wide"]["size"] == 9
    session.add(0, 3, "must-link")
    few = Session(np.array([[0.0], [0.1], [5.0]]))
    shown = Presenter(few, few.X, view_numbers(few.X, ("x",)), title="three.csv")
    reply = ask(shown, do="screen", size=9)
    assert len(reply["screen"]["cards"]) == 3
    assert reply["sorting"]["wide"]["size"] is None


def test_no_screens_are_offered_for_a_check():
    presenter, _ = begin()
    question = presenter.state()["question"]
    offers = [render_offers(presenter._content, "", {**question, "why": why}) for why in ("New.", CHECK_ROW)]
    assert [each["wide"]["size"] for each in offers] == [9, None]


def test_a_card_shows_the_columns_by_which_the_rows_differ_most():
    rng = np.random.default_rng(0)
    X = rng.random((20, 9)) * [0, 1, 0.1, 1, 1, 0.2, 1, 1, 1]
    names = [f"c{j}" for j in range(9)]
    view = view_numbers(X, names)
    rows = [view.render(row) for row in range(6)]
    assert choose_fields(rows, view.compared) == ["c1", "c3", "c4", "c6", "c7", "c8"]
    assert choose_fields(rows, None) == ["c1", "c2", "c3", "c4", "c5", "c6"], "the first that differ"
    assert choose_fields([], view.compared) == []
