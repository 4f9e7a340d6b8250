"""Many questions at once: leases, late answers, and answers in any order."""

import random
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise import Session
from linkwise.constraints import fallible
from linkwise.errors import InfeasibleConstraintsError, SessionDamagedError, SessionError, StaleAnswerError
from linkwise.session.journal.events import Place
from linkwise.session.state.replay import Replay
from linkwise.session.team import leases
from linkwise.session.team.leases import Leases

X = np.random.default_rng(0).normal(size=(15, 2)) + np.repeat([[0, 0], [4, 0], [0, 4]], 5, axis=0)
Y = np.repeat([0, 1, 2], 5)
LEARNERS = {
    "KIN": lambda: lw.KIN(random_state=0),
    "COBRAS": lambda: lw.COBRAS(random_state=0),
    "MinMax": lambda: lw.MinMax(3, random_state=0),
}


class Clock:
    """A clock that a test sets."""

    time = 0.0

    def __call__(self):
        return self.time


def begin(name="KIN", **options):
    return Session(X, LEARNERS[name](), **options)


def with_clock(session):
    clock = Clock()
    session._questions.leases = Leases(clock)
    return clock


def says(question):
    return bool(Y[question.first] == Y[question.second])


def pair(question):
    return frozenset((question.first, question.second))


def state(session):
    """What follows from the answers, whatever their numbers and times."""
    q = session.question
    return (
        None if q is None else (q.first, q.second, q.why),
        session.labels.tolist(),
        session.cluster_shades,
        [(f.first, f.second, f.answer, f.source) for f in session.evidence],
        [session.evidence.verdict(i, j) for i in range(15) for j in range(i)],
        [(s.first, s.second, s.grade) for s in session.suspects],
        session.error_rate,
    )


@pytest.mark.parametrize("name", LEARNERS)
def test_one_question_at_a_time_is_as_without_leases(name):
    one, other = begin(name), begin(name)
    while one.question is not None:
        q, (given_q,) = one.question, other.questions()
        assert given_q.id == one.question_id == other.question_id
        assert (given_q.first, given_q.second, given_q.why, given_q.to) == (q.first, q.second, q.why, "")
        one.answer(says(q), question_id=one.question_id)
        other.answer(says(q), question_id=given_q.id)
        assert other.history[-1].place is None
    assert other.questions() == []
    assert state(one) == state(other)


@pytest.mark.parametrize(("name", "rate"), [("KIN", 0), ("KIN", 0.1), ("COBRAS", 0), ("MinMax", 0)])
@settings(max_examples=1, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_answers_in_any_order_lead_to_the_same_state(name, rate, rng):
    states = []
    for order in (lambda _: None, rng.shuffle):
        session = begin(name, error_rate=rate)
        for _ in range(2):
            batch = [*session.questions(4, to="anna"), *session.questions(3, to="ben")]
            order(batch)
            for q in batch:
                session.answer(says(q), question_id=q.id, source=q.to)
        states.append(state(session))
    assert states[0] == states[1]


def test_nobody_holds_a_pair_twice():
    session = begin("COBRAS")
    (first,) = session.questions(1, to="anna")
    (other,) = session.questions(1, to="ben")
    session.answer(says(other), question_id=other.id, source="ben")
    (again,) = session.questions(1, to="anna")
    assert pair(again) == pair(first)
    assert [
        lease.question.id for lease in session._questions.leases.current() if lease.question.to == "anna"
    ] == [again.id]
    session.answer(says(first), question_id=first.id, source="anna")  # a late answer to the older one
    assert session.history[-1].source == "anna"


@settings(max_examples=4, deadline=None)
@given(st.randoms(use_true_random=False))
def test_two_people_never_hold_the_same_question(rng):
    session = begin("COBRAS")
    clock = with_clock(session)
    held = {"anna": [], "ben": [], "judge.py": []}
    for _ in range(6):
        name = rng.choice(list(held))
        held[name] = session.questions(rng.randint(1, 4), to=name)
        assert all(q.to == name for q in held[name])
        open_now = [
            pair(q)
            for lease in session._questions.leases.current()
            if session._questions._is_open(lease)
            for q in [lease.question]
        ]
        assert len(open_now) == len(set(open_now))
        if held[name] and rng.random() < 0.6:
            q = held[name].pop(rng.randrange(len(held[name])))
            session.answer(says(q), question_id=q.id, source=name)
            assert (session.history[-1].first, session.history[-1].second) == (q.first, q.second)
        clock.time += rng.choice([1, 400])


def test_nobody_gets_a_check_that_somebody_holds():
    session = begin(error_rate=None)
    rng = random.Random(0)
    while session.evidence.verdict(session.question.first, session.question.second) is None:
        session.answer(says(session.question) != (rng.random() < 0.25))
    (first,) = session.questions(1, to="anna")
    assert pair(first) == {session.question.first, session.question.second}
    assert pair(first) not in map(pair, session.questions(1, to="ben"))
    assert [q.id for q in session.questions(1, to="anna")] == [first.id]


def test_a_batch_asks_nothing_twice_and_shows_no_row_often():
    session = begin()
    batch = session.questions(10)
    rows = [row for q in batch for row in (q.first, q.second)]
    assert len(set(map(pair, batch))) == len(batch) >= 5
    assert max(map(rows.count, rows)) <= 4
    again = session.questions(10)
    assert [q.id for q in again][: len(batch)] == [q.id for q in batch]


@pytest.mark.parametrize("days", [400, -400])
def test_a_time_of_day_that_jumps_neither_ends_nor_prolongs_a_lease(monkeypatch, days):
    class Jumped(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(days=days)

    session = begin(error_rate=0.1)
    clock = with_clock(session)
    (held,) = session.questions(1, to="anna", seconds=60)
    monkeypatch.setattr(leases, "datetime", Jumped)
    clock.time += 59
    assert pair(held) not in map(pair, session.questions(9, to="ben", seconds=60))
    assert [q.id for q in session.questions(1, to="anna", seconds=60)] == [held.id]
    clock.time += 61
    assert pair(held) in map(pair, session.questions(9, to="ben", seconds=60))


def test_a_lease_names_the_time_of_day_at_which_it_ends():
    session = begin(error_rate=0.1)
    before = datetime.now(UTC)
    (first,) = session.questions(1, to="anna", seconds=60)
    (again,) = session.questions(1, to="anna", seconds=30)
    assert before + timedelta(seconds=60) <= first.until <= datetime.now(UTC) + timedelta(seconds=60)
    assert abs(again.until - first.until) < timedelta(seconds=30), "a renewal takes nothing away"


def test_leases_that_are_over_are_forgotten_and_late_answers_still_count():
    session = begin(error_rate=0.1)
    clock = with_clock(session)
    (present,) = session.questions(1, to="anna", seconds=60)
    (other,) = session.questions(1, to="ben", seconds=60)
    session.add(0, 5, "cannot-link")
    clock.time += 61
    again = session.questions(1, to="carl", seconds=60)
    assert [lease.question.id for lease in session._questions.leases._leases.values()] == [
        q.id for q in again
    ]
    for late, name in ((present, "anna"), (other, "ben")):
        session.answer(says(late), question_id=late.id, source=name)
    assert [(e.source, e.place) for e in session.history[1:]] == [("anna", Place(0, 0)), ("ben", Place(0, 1))]


def test_leases_of_old_answers_are_forgotten(monkeypatch):
    monkeypatch.setattr(leases, "UNDOABLE", 3)
    session = begin(error_rate=0.1)
    for _ in range(12):
        for q in (*session.questions(1, to="anna"), *session.questions(1, to="ben")):
            session.answer(says(q), question_id=q.id, source=q.to)
    assert len(session._questions.leases._leases) <= 8
    assert len(session._questions.leases._last_position) <= 8


def test_questions_for_others_are_chosen_together_with_those_of_one(monkeypatch):
    chosen = []
    choose = Replay.choose_batch
    monkeypatch.setattr(Replay, "choose_batch", lambda *a: chosen.append(a[1]) or choose(*a))
    session = begin("COBRAS")
    people = ("anna", "ben", "carl")
    given_to = [session.questions(1, to=name, n_others=2 - at) for at, name in enumerate(people)]
    assert chosen == [3]
    assert len({pair(q) for (q,) in given_to}) == 3
    session.release("anna")  # now her question is free
    (free,) = session.questions(1, to="dora")
    assert pair(free) == pair(given_to[0][0])
    with pytest.raises(ValueError, match="n_others is -1"):
        session.questions(1, n_others=-1)


def test_a_lease_expires_and_a_late_answer_counts():
    session = begin()
    clock = with_clock(session)
    (first,) = session.questions(1, to="anna", seconds=60)
    (other,) = session.questions(1, to="ben", seconds=60)
    assert pair(first) != pair(other)
    clock.time += 61
    (again,) = session.questions(1, to="carl", seconds=60)
    assert again.id == first.id
    assert again.to == "carl"
    session.answer(says(first), question_id=first.id, source="carl")
    session.answer(says(first), question_id=first.id, source="anna")
    session.answer(says(other), question_id=other.id, source="ben")
    assert [e.source for e in session.history] == ["carl", "anna", "ben"]
    with pytest.raises(StaleAnswerError):  # the same answer twice
        session.answer(says(other), question_id=other.id, source="ben")


def test_an_undone_answer_is_asked_again():
    session = begin()
    batch = session.questions(4, to="anna")
    session.answer(says(batch[2]), question_id=batch[2].id, source="anna")
    assert batch[2].id not in [q.id for q in session.questions(3, to="anna")]
    session.undo()
    assert [q.id for q in session.questions(4, to="anna")] == [q.id for q in batch]


def test_places_are_stored_and_a_restart_changes_nothing(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, X, LEARNERS["KIN"]()) as session:
        batch = session.questions(5)
        for q in batch[:0:-1]:
            session.answer(says(q), question_id=q.id)
        known = state(session)
        places = [e.place for e in session.history]
        assert places == [Place(0, k) for k in range(len(batch) - 1, 0, -1)]
    with Session.open(path) as reader:
        assert [e.place for e in reader.history] == places
        assert reader.labels_are_current
    with Session.open(path, X) as session:
        assert state(session) == known
        session.answer(says(batch[1]), question_id=batch[1].id, source="anna")  # its id says where it belongs
        assert session.history[-1].place == Place(0, 1)
    assert batch[0].id == f"0:{batch[0].first}-{batch[0].second}"


@pytest.fixture(scope="module")
def placed(tmp_path_factory):
    """A session whose only answer has a place."""
    path = tmp_path_factory.mktemp("placed") / "s"
    with Session.open(path, X, LEARNERS["KIN"]()) as session:
        q = session.questions(2)[1]
        session.answer(says(q), question_id=q.id)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("start", "position"),
    [(0, None), (None, 1), (9, 1), (1, 0), ("nothing", 1), (0, b"1"), (0, 1.5), (0, float("inf")), (0, -1)],
)
def test_a_wrong_place_is_damage(tmp_path, placed, start, position):
    path = tmp_path / "s"
    path.write_bytes(placed)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE event SET start = ?, position = ?", (start, position))
    with pytest.raises(SessionDamagedError, match="Event 1 of the session is wrong"):
        Session.open(path)


def test_only_ids_of_possible_questions_count():
    session = begin()
    for name in ("nonsense", "0.1:3-3", "0.1:3-99", "7.1:0-1", "0:3-4", "0.0:3-4"):
        with pytest.raises(StaleAnswerError):
            session.answer(True, question_id=name)
    assert session.history == []


def test_an_answer_that_contradicts_others_is_not_stored():
    session = begin()
    q = session.questions(3)[2]
    session.add(q.first, q.second, "must-link")
    with pytest.raises(InfeasibleConstraintsError):
        session.answer(False, question_id=q.id)
    assert len(session.history) == 1


def test_wrong_arguments_name_what_to_give():
    session = begin()
    with pytest.raises(TypeError, match="n is not an integer"):
        session.questions(1.5)
    with pytest.raises(TypeError, match="source"):
        session.questions(to=3)
    for n, seconds in ((0, 1), (1, 0), (1, float("nan")), (1, float("inf"))):
        with pytest.raises(ValueError, match="positive"):
            session.questions(n, seconds=seconds)


def test_without_data_nothing_is_asked(tmp_path):
    with Session.open(tmp_path / "s", X, LEARNERS["KIN"]()):
        pass
    with Session.open(tmp_path / "s") as session, pytest.raises(SessionError, match="without its data"):
        session.questions()


def test_many_open_questions_of_a_large_batch():
    session = begin()
    batch = session.questions(40)
    random.Random(0).shuffle(batch)
    for q in batch:
        session.answer(says(q), question_id=q.id)
    while session.question is not None:
        session.answer(says(session.question))
    assert len(set(session.labels[Y == 0])) == 1
    assert len(set(session.labels)) == 3


@pytest.mark.parametrize("rate", [0, None])
def test_undo_and_late_answers_start_no_run_anew(monkeypatch, rate):
    session = begin(error_rate=rate)
    for _ in range(3):
        for q in session.questions(5):
            session.answer(says(q), question_id=q.id)
    before = state(session)
    batch = session.questions(4)
    started = []
    monkeypatch.setattr(session._state.replay, "_start_run", started.append)
    for q in batch[::-1]:
        session.answer(says(q), question_id=q.id)
    for _ in batch:
        session.undo()
    assert not started
    assert state(session) == before


def test_look_ahead_and_undo_find_no_belief_anew(monkeypatch):
    session = begin(error_rate=None)
    for _ in range(8):
        session.answer(says(session.question))
    session.look_ahead("yes")
    n_found = []
    find = fallible.update_belief
    monkeypatch.setattr(fallible, "update_belief", lambda *args: n_found.append(args) or find(*args))
    session.answer("yes")
    session.undo()
    session._state.replay._marks.clear()
    session._state.replay.follow([], 0)
    session.answer("yes")
    assert not n_found


def test_answers_to_a_batch_wait_for_what_is_believed(monkeypatch):
    session = begin(error_rate=None)
    batch = session.questions(5)
    n_found = []
    find = fallible.update_belief
    monkeypatch.setattr(fallible, "update_belief", lambda *args: n_found.append(args) or find(*args))
    for q in batch:
        session.answer(says(q), question_id=q.id)
    assert len(batch) >= 3
    assert len(n_found) <= 1  # the first one may be the present question
    assert len(session.history) == len(batch)
    assert session.suspects == []
    assert len(n_found) > 1


# ---------------------------------------------------------------- later
def test_a_question_that_is_put_off_comes_back_after_others():
    session = lw.Session(np.random.default_rng(0).random((30, 2)), lw.KIN(random_state=0))
    first = session.questions()[0]
    session.postpone(first.id)
    assert session.list_postponed() == [(first.first, first.second)]
    for _ in range(5):
        other = session.questions()[0]
        assert {other.first, other.second} != {first.first, first.second}
        session.answer("no", question_id=other.id)
    assert session.list_postponed() == []
    back = session.questions()[0]
    assert {back.first, back.second} == {session.question.first, session.question.second}
    assert session.status.n_unsure == 0


def test_a_question_that_one_puts_off_goes_to_another():
    session = lw.Session(np.random.default_rng(0).random((30, 2)), lw.KIN(random_state=0))
    first = session.questions(to="anna")[0]
    session.postpone(first.id, to="anna")
    assert session.questions(to="anna")[0].id != first.id
    assert session.questions(to="ben")[0].id == first.id
    session.answer("no", question_id=first.id, source="ben")
    assert session.list_postponed("anna") == []
    with pytest.raises(lw.errors.StaleAnswerError):
        session.postpone(first.id, to="anna")


def test_nothing_of_a_question_that_is_put_off_is_stored(tmp_path):
    X, path = np.random.default_rng(0).random((30, 2)), tmp_path / "s.linkwise"
    with lw.Session.open(path, X, lw.KIN(random_state=0)) as session:
        first = session.question
        session.postpone(session.question_id)
        assert session.events == []
    with lw.Session.open(path, X) as session:
        again = session.questions()[0]
        assert (again.first, again.second) == (first.first, first.second)


def test_a_late_answer_to_a_question_that_is_put_off_counts():
    session = lw.Session(np.random.default_rng(0).random((30, 2)), lw.KIN(random_state=0))
    first = session.question_id
    session.postpone(first)
    session.answer("yes", question_id=session.questions()[0].id)
    session.answer("no", question_id=first)
    assert session.status.n_answers == 2
    assert session.list_postponed() == []


@pytest.mark.parametrize("learner", [lw.COBRAS, lw.KIN, lw.COBRA])
@pytest.mark.parametrize("people", [("",), ("anna", "ben")])
def test_whatever_is_put_off_all_questions_are_answered_in_the_end(learner, people):
    draw = np.random.default_rng(0)
    truth = draw.integers(3, size=25)
    X = truth[:, None] + draw.normal(0, 0.4, (25, 2))
    session = lw.Session(X, learner(random_state=0))
    waits = dict.fromkeys(people, 0)  # a person who puts all off gets the last one again
    for turn in range(2000):
        person = people[turn % len(people)]
        found = session.questions(to=person)
        if session.question is None:
            break
        if not found:  # others hold all
            continue
        if draw.random() < 0.5 and waits[person] < 6:
            session.postpone(found[0].id, to=person)
            waits[person] += 1
        else:
            first, second = found[0].first, found[0].second
            session.answer(bool(truth[first] == truth[second]), question_id=found[0].id, source=person)
            waits[person] = 0
    assert session.question is None
    straight = lw.Session(X, learner(random_state=0))
    while (q := straight.question) is not None:
        straight.answer(bool(truth[q.first] == truth[q.second]))
    assert len(set(session.labels)) == len(set(straight.labels))


def test_a_question_put_off_twice_is_listed_once():
    session = lw.Session(np.random.default_rng(0).random((30, 2)), lw.KIN(random_state=0))
    first = session.questions()[0]
    session.postpone(first.id)
    session.postpone(first.id)
    assert session.list_postponed() == [(first.first, first.second)]
