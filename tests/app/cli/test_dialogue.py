"""The loop between a session and what shows it, with neither screen nor keys."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.app.terminal.dialogue import run_audit, run_dialogue
from linkwise.errors import SessionLockedError
from linkwise.session.session import Session


class Script:
    """Says what a list says; an entry may be a function that is called first."""

    is_timed = True

    def __init__(self, *said):
        self.said = list(said)

    def forget(self):
        pass

    def read(self):
        text = self.said.pop(0) if self.said else None
        return text() if callable(text) else text


class Log:
    """Remembers what was shown."""

    def __init__(self):
        self.seen = []

    def ask(self, question, name, status):
        self.seen.append(("ask", question.first, question.second))

    def prompt(self):
        pass

    def confirm_answer(self, answer, status, moved):
        self.seen.append(("saved", answer))

    def confirm_later(self, *, has_other):
        self.seen.append(("later", has_other))

    def confirm_undo(self, event, status, moved):
        self.seen.append(("undone", event and event.answer))

    def reject(self, why):
        self.seen.append(("refused", why))

    def confirm_note(self, note):
        self.seen.append(("note", note))

    def help(self, question):
        self.seen.append(("help", question.why))

    def end(self, reason, status):
        self.seen.append(("end", reason))


@pytest.fixture
def X():
    return np.random.default_rng(0).random((25, 3))


def test_a_stale_answer_is_refused_and_the_present_question_shown(tmp_path, X):
    path = tmp_path / "s.linkwise"
    with Session.open(path, X, lw.COBRAS(random_state=0)) as mine, Session.open(path, X) as other:
        log = Log()

        def late():
            other.answer("no")
            return "y"

        assert run_dialogue(mine, log, Script(late, "q")) == "quit"
        assert [e.answer for e in mine.history] == ["no"]
        present = mine.question
    assert [kind for kind, *_ in log.seen] == ["ask", "refused", "ask", "end"]
    assert log.seen[2] == ("ask", present.first, present.second) != log.seen[0]


def test_an_undo_that_came_too_late_is_refused(tmp_path, X, monkeypatch):
    path = tmp_path / "s.linkwise"
    with Session.open(path, X, lw.COBRAS(random_state=0)) as mine, Session.open(path, X) as other:
        mine.answer("no")
        log, write = Log(), mine._journal.store.append

        def after_the_other(*given, **more):
            monkeypatch.setattr(mine._journal.store, "append", write)
            assert other.question is not None  # takes in the first answer
            other.answer("yes")
            return write(*given, **more)

        monkeypatch.setattr(mine._journal.store, "append", after_the_other)
        run_dialogue(mine, log, Script("u", "q"))
        assert [e.answer for e in mine.history] == ["no", "yes"]
    assert "Another client" in dict(log.seen[1:2])["refused"]


def test_a_session_that_ends_elsewhere_ends_here(tmp_path):
    X = np.array([[0.0], [1.0]])
    path = tmp_path / "s.linkwise"
    with Session.open(path, X, lw.COBRAS(random_state=0)) as mine, Session.open(path, X) as other:
        log = Log()

        def late():
            other.answer("no")
            return "y"

        assert run_dialogue(mine, log, Script(late)) == "exhausted"
        assert [e.answer for e in mine.history] == ["no"]


def test_a_lock_is_not_swallowed(X, monkeypatch):
    session = lw.Session(X, lw.COBRAS(random_state=0))

    def locked(*given, **more):
        raise SessionLockedError("held")

    monkeypatch.setattr(session._journal.store, "append", locked)
    with pytest.raises(SessionLockedError):
        run_dialogue(session, Log(), Script("y"))


def test_help_asks_nothing_new(X):
    session = lw.Session(X, lw.COBRAS(random_state=0))
    log = Log()
    run_dialogue(session, log, Script("?", "?", "y"))
    assert [kind for kind, *_ in log.seen] == ["ask", "help", "help", "saved", "ask", "end"]


def test_undo_goes_back_as_far_as_wished(X):
    session = lw.Session(X, lw.COBRAS(random_state=0))
    log = Log()
    run_dialogue(session, log, Script("y", "n", "s", "u", "u", "u", "u"))
    assert [seen for seen in log.seen if seen[0] == "undone"] == [
        ("undone", "unsure"),
        ("undone", "no"),
        ("undone", "yes"),
        ("undone", None),
    ]
    questions = [seen for seen in log.seen if seen[0] == "ask"]
    assert questions[0] == questions[-1]


def test_the_budget_counts_answers_that_hold(X):
    session = lw.Session(X, lw.COBRAS(random_state=0))
    assert run_dialogue(session, Log(), Script("s", "s"), budget=2) == "budget"
    session.undo()
    assert run_dialogue(session, Log(), Script("s", "s"), budget=2) == "budget"
    assert session.status.n_answers == 2


# ---------------------------------------------------------------- seconds and notes
class Clock:
    """A clock that a script sets."""

    now = 100.0

    def __call__(self):
        return self.now

    def press_after(self, seconds, key):
        """A key that a person presses so many seconds later."""

        def press():
            self.now += seconds
            return key

        return press


def test_seconds_run_from_the_moment_when_the_question_is_shown(X):
    session, clock = lw.Session(X, lw.COBRAS(random_state=0)), Clock()
    keys = [
        clock.press_after(2, "?"),
        clock.press_after(1.5, "y"),
        clock.press_after(0.25, "n"),
        clock.press_after(9, "u"),
    ]
    run_dialogue(session, Log(), Script(*keys, clock.press_after(4, "s"), "q"), clock=clock)
    assert [event.seconds for event in session.history] == [3.5, 4.0]


def test_a_note_goes_with_the_next_answer_alone(X):
    session, log = lw.Session(X, lw.COBRAS(random_state=0)), Log()
    run_dialogue(session, log, Script("a wrong", "note  =1+1 ", "y", "n", "a gone", "a", "s", "q"))
    assert [event.note for event in session.history] == ["=1+1", "", ""]
    assert [words for kind, words, *_ in log.seen if kind == "note"] == ["wrong", "=1+1", "gone", ""]
    assert "refused" not in {kind for kind, *_ in log.seen}


def test_a_note_that_is_too_long_leaves_the_one_before(X):
    session, log = lw.Session(X, lw.COBRAS(random_state=0)), Log()
    run_dialogue(session, log, Script("a short", f"a {'x' * 2001}", "y", "q"))
    assert [event.note for event in session.history] == ["short"]
    assert ["2001 characters" in words for kind, words, *_ in log.seen if kind == "refused"] == [True]


def test_a_note_whose_question_is_gone_is_shown_again(tmp_path, X):
    path = tmp_path / "s.linkwise"
    with Session.open(path, X, lw.COBRAS(random_state=0)) as mine, Session.open(path, X) as other:
        log = Log()

        def late():
            other.answer("no")
            return "y"

        run_dialogue(mine, log, Script("a precious", late, "a second", "q"))
        assert [event.note for event in mine.history] == [""]
    stale, first, second = [words for kind, words, *_ in log.seen if kind == "refused"]
    assert "The question has changed" in stale
    assert first.endswith("this note has no place: precious")
    assert second.endswith("this note has no place: second")


def test_an_answer_that_is_refused_keeps_its_note(X, monkeypatch):
    session, log = lw.Session(X, lw.COBRAS(random_state=0)), Log()
    store = session._journal.store.append

    def fail_once(*given, **more):
        monkeypatch.setattr(session._journal.store, "append", store)
        raise lw.errors.SessionError("The disk is full.")

    monkeypatch.setattr(session._journal.store, "append", fail_once)
    run_dialogue(session, log, Script("a kept", "y", "y", "q"))
    assert [event.note for event in session.history] == ["kept"]


def test_a_question_that_is_put_off_comes_back_after_five_answers(X):
    log = Log()
    session = Session(X, lw.COBRAS(random_state=0))
    run_dialogue(session, log, Script("l", "n", "n", "n", "n", "n", "q"))
    asked = [frozenset(pair) for kind, *pair in log.seen if kind == "ask"]
    assert log.seen[1] == ("later", True)
    assert asked[0] not in asked[1:6]
    assert asked[6] == asked[0]
    assert (session.status.n_answers, session.status.n_unsure) == (5, 0)


def test_a_question_without_another_stays():
    log = Log()
    session = Session([[0.0], [1.0]], lw.COBRAS(random_state=0))
    run_dialogue(session, log, Script("later", "y"))
    assert log.seen[:4] == [("ask", 0, 1), ("later", False), ("ask", 0, 1), ("saved", "yes")]


def test_an_audit_has_no_later(X):
    session = Session(X, lw.KIN(random_state=0), error_rate=0.1)
    for _ in range(3):
        session.answer("no", source="bot")
    log = Log()
    run_audit(session, log, Script("l", "q"), "bot", 2)
    assert [kind for kind, *_ in log.seen] == ["ask", "refused", "ask"]
