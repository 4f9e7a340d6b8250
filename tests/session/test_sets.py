"""Screens of a session: who gets which, what is stored of the piles, and what changes them."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.app.project.output import list_answers
from linkwise.constraints.facts import Fact
from linkwise.constraints.sorting import find_misplaced, list_rows
from linkwise.datasets import load
from linkwise.errors import (
    ConstraintError,
    InfeasibleConstraintsError,
    SessionDamagedError,
    SessionError,
    StaleAnswerError,
)
from linkwise.session.journal.events import Event
from session.session_examples import ALONE, OF_ANOTHER_PILE, OF_NO_PILE, misplace

WINE = load("wine")
X = (WINE.X - WINE.X.mean(axis=0)) / WINE.X.std(axis=0)
IDS = [f"w{row}" for row in range(len(X))]
SORTER = lw.TruthSorter(WINE.y)
RATES = pytest.mark.parametrize("rate", [0, None], ids=["exact", "fallible"])


def begin(n=0, learner=None, sorter=SORTER, **options):
    session = lw.Session(X, learner, ids=IDS, **options)
    for _ in range(n):
        answer(session, sorter)
    return session


def answer(session, sorter=SORTER, m=9, **options):
    screen = session.sets(m, to=options.get("source", ""))[0]
    session.sort(sorter.sort(screen.known, screen.cards), question_id=screen.id, **options)
    return screen


def classes_of(rows):
    return [[row for row in rows if WINE.y[row] == code] for code in range(3)]


# ---------------------------------------------------------------- what is stored
@RATES
@pytest.mark.parametrize("learner", [lw.KIN, lw.COBRAS])
def test_a_screen_is_one_event_and_one_undo(learner, rate):
    session = begin(2, learner(random_state=0), error_rate=rate)
    before = session.labels
    screen = answer(session, seconds=31.25, note="the last ones were hard", source="anna")
    event = session.history[-1]
    assert (event.kind, event.source, event.seconds) == ("sort", "anna", 31.25)
    assert event.note == "the last ones were hard"
    assert {*event.sorting.order} == {*screen.rows}
    assert {*screen.cards} <= {*event.value}
    assert session.status.n_answers == session.status.n_screens == 3
    assert session.undo() == event
    assert session.labels.tolist() == before.tolist()
    assert session.status.n_answers == 2
    assert session.sets(to="anna")[0].id == screen.id  # hers once more
    assert not {*session.sets()[0].cards} & {*screen.cards}


def test_an_undo_brings_back_the_screen_and_not_the_one_that_followed_it():
    session = begin(1, lw.KIN(random_state=0))
    bert = session.sets(4, to="bert")[0]
    screen = answer(session)
    following = session.sets()[0]
    assert following.id != screen.id
    session.undo()
    assert session.sets()[0].id == screen.id
    session.sort([[row] for row in screen.cards], question_id=screen.id)  # other piles than before
    assert session.sets()[0].id != following.id, "it followed from piles that were taken back"
    assert session.sets(4, to="bert")[0].id == bert.id, "the screens of others stay"


@RATES
@pytest.mark.parametrize("learner", [lw.KIN, lw.COBRAS])
def test_a_file_that_is_opened_again_goes_on_as_before(tmp_path, learner, rate):
    session = begin(
        3,
        learner(random_state=0),
        error_rate=rate,
        sorter=lw.TruthSorter(WINE.y, misplaced=0.1 if rate is None else 0),
    )
    session.save(tmp_path / "wine.linkwise")
    labels, events, screen = session.labels, session.events, session.sets()[0]
    suspects = session.suspects
    session.close()
    with lw.Session.open(tmp_path / "wine.linkwise", X) as again:
        assert again.labels.tolist() == labels.tolist()
        assert again.events == events
        assert again.suspects == suspects
        assert again.sets()[0].rows == screen.rows
        again.sort(SORTER.sort(screen.known, screen.cards), question_id=screen.id)  # the id tells the rows
        assert again.status.n_screens == 4
    with lw.Session.open(tmp_path / "wine.linkwise") as without_data:
        assert without_data.status.n_screens == 4


def test_only_the_least_pairs_are_stored(tmp_path):
    session = begin()
    session.sort([[0, 1, 2], [60, 61], [150]], unsure=[70])
    session.save(tmp_path / "wine.linkwise")
    with closing(sqlite3.connect(tmp_path / "wine.linkwise")) as db:
        pairs = db.execute("SELECT first, second, answer FROM imported ORDER BY rowid").fetchall()
        (value,) = db.execute("SELECT value FROM event").fetchone()
    assert pairs == [
        (0, 1, "yes"), (0, 2, "yes"), (0, 60, "no"), (60, 61, "yes"), (0, 150, "no"), (60, 150, "no"),
        (0, 70, "unsure"), (60, 70, "unsure"), (150, 70, "unsure"),
    ]  # fmt: skip
    assert json.loads(value) == [0, 1, 2, 60, 61, 150, 70]
    assert session.evidence.verdict(2, 61) == "no"
    assert session.constraints.n_constraints == 6
    assert session.status.n_cards == 7


def test_pairs_and_screens_go_together():
    session, mixed = begin(2), begin()
    answer(mixed)
    question = mixed.question
    mixed.answer(bool(WINE.y[question.first] == WINE.y[question.second]))
    answer(mixed)
    assert [event.kind for event in mixed.history] == ["sort", "answer", "sort"]
    assert mixed.status.n_answers == 3
    assert session.status.n_answers == 2
    assert mixed.status.n_yes + mixed.status.n_no == 1


def test_the_status_counts_screens_and_cards():
    from linkwise.session.state.status import count_answers

    session = begin(1)
    n = session.status.n_cards
    assert count_answers(session.status) == f"1 answer: 1 screen of {n} cards"
    session.answer("unsure")
    assert (
        count_answers(session.status) == f"2 answers: 0 same, 0 different, 1 not sure, 1 screen of {n} cards"
    )


# ---------------------------------------------------------------- piles that cannot be meant
@pytest.mark.parametrize(
    ("piles", "unsure", "message"),
    [
        (lambda s: [s.cards[:-1]], (), "in no pile. Put it into one, or pass it as unsure"),
        (lambda s: [s.cards, s.cards[:1]], (), "in two places"),
        (lambda s: [(*s.cards, 177)], (), "w177 is not on this screen"),
        (lambda s: [(*s.cards, 178)], (), "178"),
        (lambda s: s.cards, (), "not lists of rows"),
        (lambda s: "012", (), "not lists of rows"),
    ],
)
def test_piles_that_cannot_be_meant_store_nothing(piles, unsure, message):
    session = begin(1)
    screen = session.sets()[0]
    assert 177 not in screen.rows
    with pytest.raises(ConstraintError, match=message):
        session.sort(piles(screen), unsure, question_id=screen.id)
    assert len(session.events) == 1


@pytest.mark.parametrize(
    "question_id", ["1:0-1", "7:0|1,2", "0:0|1,999", "0:0|0,1", "0:|3", "x", "9/0:0|1,2"]
)
def test_an_id_that_no_screen_has_is_refused(question_id):
    with pytest.raises(StaleAnswerError, match="there is no such screen"):
        begin().sort([[0, 1]], question_id=question_id)


def test_a_screen_is_sorted_once_by_each_person():
    session = begin()
    screen = answer(session, source="anna")
    with pytest.raises(StaleAnswerError, match="sorted already"):
        session.sort(SORTER.sort(screen.known, screen.cards), question_id=screen.id, source="anna")
    session.sort(SORTER.sort(screen.known, screen.cards), question_id=screen.id, source="bert")
    assert session.status.n_screens == 2
    assert session.events[-1].place == (0, 0)


def test_too_few_or_too_many_rows_are_refused():
    session = begin()
    for rows in ([0], range(101)):
        with pytest.raises(SessionError, match="Pass piles of 2 to 100 rows"):
            session.sort([rows])
    session.sort([range(100)])
    assert session.labels[:100].max() == session.labels[:100].min()


def test_a_contradiction_names_the_chain_and_stores_nothing():
    session = begin()
    session.sort([[0, 1], [60, 61]])
    with pytest.raises(InfeasibleConstraintsError, match=r"w1.*w0") as error:
        session.sort([[1, 60], [2]])
    assert len(error.value.chain) > 1
    assert len(session.events) == 1
    fallible = begin(error_rate={"boss": 0, "": None})
    fallible.sort([[0, 1], [60, 61]], source="anna")
    fallible.sort([[1, 60], [2]], source="anna")
    fallible.sort([[1, 60], [2]], source="boss")
    with pytest.raises(InfeasibleConstraintsError):
        fallible.sort([[1], [60]], source="boss")
    assert fallible.evidence.verdict(1, 60) == "yes"


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"m": 1}, ValueError),
        ({"m": 101}, ValueError),
        ({"m": 2.5}, TypeError),
        ({"n": 0}, ValueError),
        ({"n": "1"}, TypeError),
        ({"seconds": 0}, ValueError),
        ({"to": 3}, TypeError),
    ],
)
def test_wrong_arguments_of_sets_are_refused(options, kind):
    with pytest.raises(kind):
        begin().sets(**options)


# ---------------------------------------------------------------- people
def test_the_first_cards_of_two_people_differ():
    session = begin(0)
    anna, bert = session.sets(6, to="anna")[0], session.sets(6, to="bert")[0]
    assert len(anna.rows) == 6
    assert len(bert.rows) >= 5
    assert not {*anna.rows} & {*bert.rows}


def test_each_card_goes_to_one_person_until_the_lease_ends():
    session = begin(1)
    anna, bert = session.sets(6, to="anna")[0], session.sets(6, to="bert")[0]
    assert not {*anna.cards} & {*bert.cards}
    assert session.sets(6, to="anna")[0].id == anna.id
    session.release("anna")
    assert {*session.sets(6, to="carl")[0].cards} & {*anna.cards}
    session.sort(SORTER.sort(bert.known, bert.cards), question_id=bert.id, source="bert")
    session.sort(
        SORTER.sort(anna.known, anna.cards), question_id=anna.id, source="anna"
    )  # late, and it counts
    assert [event.source for event in session.history] == ["", "bert", "anna"]
    assert session.evidence.verdict(anna.cards[0], anna.known[0][0]) is not None


def test_several_screens_at_once_share_no_card_and_come_in_any_order():
    forwards, backwards = begin(1), begin(1)
    screens = forwards.sets(5, 3)
    assert [each.cards for each in screens] == [each.cards for each in backwards.sets(5, 3)]
    cards = [card for each in screens for card in each.cards]
    assert len(set(cards)) == len(cards)
    for session, order in ((forwards, screens), (backwards, screens[::-1])):
        for each in order:
            session.sort(SORTER.sort(each.known, each.cards), question_id=each.id)
    assert forwards.labels.tolist() == backwards.labels.tolist()


def test_a_screen_ends_when_somebody_answers_about_its_cards():
    session = begin(1)
    screen = session.sets()[0]
    session.add(screen.cards[0], screen.known[0][0], "must-link")
    assert screen.cards[0] not in session.sets()[0].cards


def test_nothing_is_left_to_sort_in_the_end():
    session = lw.Session(X[::12], lw.KIN(random_state=0))
    sorter = lw.TruthSorter(WINE.y[::12])
    for _ in range(20):
        screens = session.sets()
        if not screens:
            break
        session.sort(sorter.sort(screens[0].known, screens[0].cards), question_id=screens[0].id)
    assert session.sets() == []
    assert session.question is None
    assert len(set(zip(session.labels.tolist(), WINE.y[::12].tolist(), strict=True))) == 3


# ---------------------------------------------------------------- changes
@RATES
def test_changed_piles_replace_the_earlier_ones(rate):
    session = begin(error_rate=rate)
    session.sort([[0, 1, 60], [70, 71]], unsure=[72])
    session.change(1, [[0, 1], [70, 71, 60, 72]])
    assert session.evidence.verdict(0, 60) == "no"
    assert session.evidence.verdict(72, 60) == "yes"
    assert [event.kind for event in session.events] == ["sort", "change"]
    assert session.history[0].sorting.piles == ((0, 1), (60, 70, 71, 72))
    session.change(1, [[0, 1], [70, 71, 60, 72]])
    assert len(session.events) == 2  # nothing new
    assert session.undo().kind == "change"
    assert session.evidence.verdict(0, 60) == "yes"


def test_a_change_must_be_of_the_kind_of_the_answer():
    session = begin()
    session.sort([[0, 1], [60]])
    session.answer("unsure")
    with pytest.raises(ConstraintError, match="not lists of rows: 'yes'"):
        session.change(1, "yes")
    with pytest.raises(TypeError):
        session.change(2, [[0, 1]])
    with pytest.raises(ConstraintError, match="w60 is in no pile"):
        session.change(1, [[0, 1]])
    session.change(1, [[0, 1]], unsure=[60])
    assert session.evidence.verdict(0, 60) == "unsure"


def test_a_change_that_contradicts_others_stores_nothing():
    session = begin()
    session.sort([[0, 1], [60]])
    session.sort([[1, 2], [60, 61]])
    with pytest.raises(InfeasibleConstraintsError):
        session.change(1, [[0, 1, 60]])
    assert len(session.events) == 2


def test_a_screen_can_have_a_note_later():
    session = begin(1)
    session.note(1, "two vintages", source="anna")
    assert (session.history[0].note, session.history[0].note_author) == ("two vintages", "anna")


# ---------------------------------------------------------------- other rows, other sessions
@RATES
def test_piles_follow_their_rows_to_other_positions(tmp_path, rate):
    session = begin(error_rate=rate)
    session.sort([[0, 1, 60], [61, 62]], unsure=[90])
    session.change(1, [[0, 1], [60, 61, 62]], unsure=[90])
    for _ in range(3):
        answer(session)
    session.save(tmp_path / "wine.linkwise")
    groups = {
        frozenset(IDS[row] for row in rows) for rows in map(np.ndarray.tolist, session.evidence.groups().rows)
    }
    cards = [IDS[row] for row in session.history[-1].value]
    session.close()
    order = np.random.default_rng(0).permutation(len(X))
    ids = [IDS[row] for row in order]
    with lw.Session.open(tmp_path / "wine.linkwise", X[order], ids=ids, recode=True) as moved:
        found = {
            frozenset(ids[row] for row in rows)
            for rows in map(np.ndarray.tolist, moved.evidence.groups().rows)
        }
        assert found == groups
        assert [ids[row] for row in moved.history[-1].value] == cards
        assert [{ids[row] for row in pile} for pile in moved.history[0].sorting.piles] == [
            {"w0", "w1"},
            {"w60", "w61", "w62"},
        ]
        answer(moved, lw.TruthSorter(WINE.y[order]))
    with lw.Session.open(tmp_path / "wine.linkwise", X[order]) as again:
        assert again.status.n_screens == 5


def test_piles_of_another_session_are_taken_once(tmp_path):
    theirs = begin(2, error_rate=None)
    theirs.sort([[0, 1], [60]], unsure=[61], source="bert")
    theirs.save(tmp_path / "theirs.linkwise")
    ours = lw.Session(X[:178:2], ids=IDS[::2], error_rate=None)
    counts = ours.combine(tmp_path / "theirs.linkwise", source="anna")
    assert counts.n_taken > 0
    assert {event.kind for event in ours.history} == {"sort"}
    assert [event.source for event in ours.history][-1] == "bert"
    assert ours.history[-1].sorting.order == (0, 30)  # of w0 and w60
    assert ours.combine(tmp_path / "theirs.linkwise", source="anna").n_taken == 0
    same = begin(error_rate=None)
    assert same.combine(tmp_path / "theirs.linkwise", source="anna").n_left_out == 0
    assert [each.sorting for each in same.history] == [each.sorting for each in theirs.history]
    carried = begin()
    n_pairs, n_left_out = carried.carry_over(tmp_path / "theirs.linkwise")
    assert n_left_out == 0
    assert n_pairs >= len(theirs.history[-1].facts)


# ---------------------------------------------------------------- answers that may be wrong
def test_a_misplaced_card_is_a_suspect_that_a_file_keeps(tmp_path):
    session = begin(4, error_rate=None)
    rows = session.evidence.groups().rows
    big = sorted(rows, key=len)[-2:]
    home, other = (each.tolist() for each in big)
    card = home[0]
    session.sort([[*home[1:4]], [*other[:4], card]], source="anna")
    (suspect,) = [each for each in session.suspects if each.number == session.history[-1].number]
    assert card in (suspect.first, suspect.second)
    assert session.error_rates.by_source["anna"].n_doubted == 1
    session.save(tmp_path / "wine.linkwise")
    session.close()
    with lw.Session.open(tmp_path / "wine.linkwise") as stored:
        assert suspect in [replace(each, because=suspect.because) for each in stored.suspects]
        assert stored.evidence.verdict(other[0], other[1]) == "yes"


@pytest.mark.parametrize(
    ("screen", "card", "pile", "better", "flipped"),
    [
        (OF_ANOTHER_PILE, 16, (0, 6, 7), (10, 17, 18), ((0, 6, 7), (16, 10, 17, 18))),
        (OF_NO_PILE, 16, (0, 6, 7), (), ((0, 6, 7), (16,), (20, 21))),
        (ALONE, 2, (), (0, 8, 9), ((0, 8, 9, 2),)),
    ],
)
def test_a_misplaced_card_is_flipped_in_one_step(screen, card, pile, better, flipped):
    session = misplace(screen)
    (suspect,) = session.suspects
    assert (suspect.number, suspect.card, suspect.first) == (2, card, card)
    assert (suspect.pile, suspect.better_pile) == (pile, better)
    session.flip(suspect)
    assert [event.kind for event in session.events] == ["sort", "sort", "change"]
    assert session.history[1].sorting.piles == flipped
    assert session.suspects == []
    session.undo()
    assert session.suspects == [suspect]


def test_each_misplaced_card_of_a_pile_is_a_suspect_and_both_come_together():
    session = misplace([[0, 6, 7, 16, 17], [20, 21]])
    assert {suspect.card for suspect in session.suspects} == {16, 17}
    for _ in range(2):
        session.flip(session.suspects[0])
    assert session.history[1].sorting.piles == ((0, 6, 7), (16, 17), (20, 21))
    assert session.suspects == []


def test_a_card_that_fits_no_pile_of_its_screen_belongs_with_other_rows():
    session = misplace([[0, 6, 7, 11], [20, 21]])
    (suspect,) = session.suspects
    assert suspect.card == 11
    assert suspect.better_pile == (10, 12, 13)
    session.flip(suspect)
    assert session.history[1].sorting.piles == ((0, 6, 7), (11,), (20, 21))


def sort_nine(*screens):
    """Three groups of three rows that two screens agree on, and further screens."""
    session = lw.Session([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [10.0], [10.1], [10.2]], error_rate=0.1)
    for piles in (*[[[0, 1, 2], [3, 4, 5], [6, 7, 8]]] * 2, *screens):
        session.sort(piles, source="anna")
    return session


def test_a_card_moves_into_no_pile_that_has_other_rows_too():
    session = sort_nine([[6, 3], [7, 8, 0, 1]])
    suspect = next(each for each in session.suspects if each.card == 6)
    assert suspect.better_pile == (7, 8)
    session.flip(suspect)
    assert session.history[2].sorting.piles == ((6,), (3,), (7, 8, 0, 1))


def test_a_pair_is_flipped_to_its_opposite():
    session = misplace()
    session.add(0, 5, "cannot-link")
    session.add(0, 4, "must-link")
    session.add(4, 5, "must-link")
    (suspect,) = session.suspects
    assert (suspect.card, suspect.number) == (None, 2)
    session.flip(suspect)
    assert session.history[1].answer == "yes"
    assert session.history[1].is_sure


def test_what_cannot_be_flipped_is_said(tmp_path):
    session = misplace(OF_ANOTHER_PILE)
    session.save(tmp_path / "groups.linkwise")
    (suspect,) = session.suspects
    session.close()
    with lw.Session.open(tmp_path / "groups.linkwise") as stored:
        assert stored.suspects == [suspect]
        stored.undo(2)
        with pytest.raises(SessionError, match=r"Event 2 does not hold any more\. Read the suspects again"):
            stored.flip(suspect)


def test_answers_that_are_exported_mark_the_card():
    answers = list_answers(misplace(OF_ANOTHER_PILE))
    assert {(one["id_a"], one["id_b"]) for one in answers if one["suspect"]} == {("0", "16")}


@pytest.mark.parametrize(
    ("screen", "marked"),
    [
        ([[2], [0, 1], [3, 4]], {("2", "0")}),
        ([[0, 1], [2, 3, 4]], {("0", "2"), ("2", "3"), ("2", "4")}),
    ],
)
def test_a_card_is_marked_wherever_it_stands_in_its_answers(screen, marked):
    answers = [one for one in list_answers(sort_nine(screen)) if one["event"] == 3 and one["suspect"]]
    assert {(one["id_a"], one["id_b"]) for one in answers} == marked
    assert all(one["believed"] != one["answer"] for one in answers)


def test_the_rate_is_that_of_cards():
    session = begin(12, error_rate=None, sorter=lw.TruthSorter(WINE.y, misplaced=0.15, random_state=5))
    sorted_rows = list(list_rows(event.sorting for event in session.history))
    wrong = sum(find_misplaced(rows, WINE.y[rows.row]).sum() for rows in sorted_rows)
    n_cards = sum(rows.is_card.sum() for rows in sorted_rows)
    rate = session.error_rate
    assert rate.low < wrong / n_cards < rate.high
    assert session.error_rates.overall.n_answers == n_cards


# ---------------------------------------------------------------- files from anywhere
WHEN = "2026-01-01T00:00:00+00:00"
GOOD = Event(1, "sort", WHEN, facts=(Fact(0, 1, "yes"), Fact(0, 2, "no")), value=[0, 1, 2])


def store(tmp_path, change):
    session = begin()
    session.sort([[0, 1], [2]])
    session.save(tmp_path / "wine.linkwise")
    session.close()
    with closing(sqlite3.connect(tmp_path / "wine.linkwise")) as db:
        db.execute(change)
        db.commit()
    return tmp_path / "wine.linkwise"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE event SET value = '[0, 1, 7]'",
        "UPDATE event SET value = '[0, 1, 1]'",
        "UPDATE event SET value = '[0, true]'",
        "UPDATE event SET value = '{}'",
        "UPDATE event SET value = NULL",
        "UPDATE event SET first = 0",
        "UPDATE event SET reliability = 0.9",
        "DELETE FROM imported",
        "INSERT INTO imported VALUES (1, 5, 6, 'yes')",
        "UPDATE imported SET answer = 'unsure' WHERE second = 1",
        "UPDATE imported SET first = 1 WHERE second = 2",
        "UPDATE event SET kind = 'move'",
        "INSERT INTO event SELECT 2, 'change', happened, NULL, NULL, 'no', 1, ''"
        + 6 * ", NULL"
        + " FROM event",
        "INSERT INTO event SELECT 2, 'sure', happened, NULL, NULL, 'no', 1, ''"
        + 6 * ", NULL"
        + " FROM event",
    ],
)
def test_a_file_whose_piles_no_session_writes_is_damaged(tmp_path, change):
    path = store(tmp_path, change)
    with pytest.raises(SessionDamagedError):
        lw.Session.open(path).close()


def test_an_undo_ends_screens_with_piles_that_it_takes_back():
    session = begin(1)
    screen = session.sets()[0]
    session.undo()
    assert session.sets()[0].known == ()
    assert screen.known != ()
