"""Several clients of one session: what is stale is refused, what is true is kept, nobody writes blindly."""

import sqlite3
import threading
from contextlib import closing

import pytest

import linkwise as lw
from linkwise.errors import InfeasibleConstraintsError, SessionError, SessionLockedError, StaleAnswerError
from linkwise.session.journal import store
from linkwise.session.session import Session
from session.session_examples import LEARNERS, TRUTH, X, Y, answer_by, image, present, true_pairs


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.linkwise"


@pytest.fixture
def two(path):
    """Two clients of one file."""
    with Session.open(path, X, LEARNERS["COBRAS"]()) as mine, Session.open(path, X) as other:
        yield mine, other


def pair(question):
    return question.first, question.second


def before_writing(monkeypatch, session, do):
    """Let something happen between the checks of a session and its next write."""
    write = session._journal.store.append

    def append(*given, **more):
        monkeypatch.setattr(session._journal.store, "append", write)
        do()
        return write(*given, **more)

    monkeypatch.setattr(session._journal.store, "append", append)


# ---------------------------------------------------------------- stale answers
def test_an_answer_to_an_old_question_is_refused_with_the_present_one(two):
    mine, other = two
    old, name = mine.question, mine.question_id
    other.answer("no")
    for given in ({}, {"question_id": name}):
        with pytest.raises(StaleAnswerError, match="not stored") as refused:
            mine.answer("yes", **given)
        assert pair(refused.value.question) == pair(other.question) != pair(old)
        assert [e.answer for e in other.history] == ["no"]
    mine.answer("yes")  # the error said what is asked
    assert [e.answer for e in other.history] == ["no", "yes"]
    assert image(mine) == image(other)


def test_looking_at_something_else_in_between_does_not_make_an_answer_fresh(two):
    """The labels are read after the question: the other client's answer is taken in unseen."""
    mine, other = two
    assert mine.question is not None
    other.answer("no")
    assert mine.status.n_answers == 1
    assert len(mine.labels) == len(X)
    with pytest.raises(StaleAnswerError):
        mine.answer("yes")
    assert [e.answer for e in mine.history] == ["no"]


def test_an_answer_is_refused_when_the_other_one_comes_in_between(two, monkeypatch):
    mine, other = two
    old = mine.question
    before_writing(monkeypatch, mine, lambda: other.answer("unsure"))
    with pytest.raises(StaleAnswerError) as refused:
        mine.answer("yes")
    assert pair(refused.value.question) == pair(other.question) != pair(old)
    assert [e.answer for e in mine.events] == ["unsure"]


def test_an_answer_said_twice_counts_once(two):
    mine, _ = two
    name = mine.question_id
    mine.answer("no", question_id=name)
    with pytest.raises(StaleAnswerError):
        mine.answer("no", question_id=name)
    assert mine.status.n_answers == 1


def test_a_question_that_comes_back_has_another_name(two):
    mine, other = two
    name, question = mine.question_id, mine.question
    mine.answer("no")
    other.undo()
    assert pair(mine.question) == pair(question)
    assert mine.question_id != name
    with pytest.raises(StaleAnswerError):
        mine.answer("no", question_id=name)
    mine.answer("no", question_id=mine.question_id)


@pytest.mark.parametrize("name", ["", "0", "0:1-2", "nonsense"])
def test_an_unknown_name_is_refused(two, name):
    with pytest.raises(StaleAnswerError):
        two[0].answer("no", question_id=name)
    assert two[1].events == []


def test_the_end_is_seen_and_so_is_its_undoing(two):
    mine, other = two
    assert mine.question is not None
    asked = answer_by(other, TRUTH)
    with pytest.raises(StaleAnswerError, match="there is no question any more") as refused:
        mine.answer("yes")
    assert refused.value.question is None
    other.undo()
    assert pair(mine.question) == asked[-1]
    mine.answer("unsure")


# ---------------------------------------------------------------- what others do is seen
@pytest.mark.parametrize(
    "do",
    [
        lambda s: s.add(0, 3, "must-link"),
        lambda s: s.import_constraints(true_pairs([(0, 1), (0, 3), (1, 2)]), source="a.csv"),
        lambda s: s.change(1, "unsure"),
        lambda s: s.undo(),
        lambda s: (s.undo(), s.undo(), s.question, s.answer("unsure")),
    ],
    ids=["add", "import", "change", "undo", "undo and answer"],
)
def test_what_another_client_does_is_seen(two, do):
    mine, other = two
    mine.answer("no")
    answer_by(mine, TRUTH, 3)
    do(other)
    assert image(mine) == image(other)
    assert mine.question_id == other.question_id
    assert mine.events == other.events


def test_another_learner_takes_over_for_every_client(path):
    with Session.open(path, X, LEARNERS["COBRAS"]()) as mine:
        answer_by(mine, TRUTH, 3)
        was = image(mine)
        with Session.open(path, X, LEARNERS["COBRA"]()) as other:
            assert mine.learner == other.learner
            assert present(mine) == present(other) != was[0]
            Session.open(path, X, LEARNERS["COBRAS"]()).close()
            with pytest.raises(StaleAnswerError):  # mine has not looked since
                mine.answer("yes")
            assert image(mine) == was
            assert image(other) == was


def test_a_client_cannot_go_on_with_a_learner_that_only_another_one_has(path):
    class Mine(lw.COBRAS):
        pass

    with Session.open(path, X, LEARNERS["COBRAS"]()) as mine:
        mine.answer("no")
        with Session.open(path, X, Mine(random_state=0)) as other:
            with pytest.raises(SessionError, match=r"Mine\. Pass it"):
                mine.undo()
            assert other.status.n_answers == 1
    with pytest.raises(SessionError, match=r"Pass it to Session\.open\(path, X, learner\)"):
        Session.open(path, X)


def test_older_labels_do_not_replace_newer_ones(path):
    with Session.open(path, X, LEARNERS["COBRAS"]()) as other:
        with Session.open(path, X):  # does not look again before it closes
            other.answer("no")
        with Session.open(path) as kept:
            assert kept.labels_are_current


# ---------------------------------------------------------------- between checking and writing
def test_a_pair_is_checked_again_when_another_client_was_first(two, monkeypatch):
    mine, other = two
    before_writing(monkeypatch, mine, lambda: other.add(0, 3, "must-link"))
    mine.add(3, 6, "must-link")
    before_writing(monkeypatch, mine, lambda: other.add(6, 1, "must-link"))
    with pytest.raises(InfeasibleConstraintsError, match="0 = 3 = 6 = 1, but 0 ≠ 1"):
        mine.add(0, 1, "cannot-link")
    assert [(e.first, e.second) for e in mine.events] == [(0, 3), (3, 6), (6, 1)]
    assert image(mine) == image(other)


def test_an_import_is_checked_again_when_another_client_was_first(two, monkeypatch):
    mine, other = two
    pairs = true_pairs([(0, 3), (0, 1)])
    before_writing(monkeypatch, mine, lambda: other.answer("unsure"))
    assert mine.import_constraints(pairs, source="a.csv") == 2
    mine.undo()
    before_writing(monkeypatch, mine, lambda: other.import_constraints(pairs, source="a.csv"))
    mine.import_constraints(pairs, source="a.csv")
    assert [e.kind for e in mine.history] == ["answer", "import"]  # the same import holds once
    assert image(mine) == image(other)


def test_a_change_is_checked_again_when_another_client_was_first(two, monkeypatch):
    mine, other = two
    mine.answer("no")
    before_writing(monkeypatch, mine, lambda: other.add(0, 3, "must-link"))
    mine.change(1, "unsure")
    assert [e.answer for e in other.history] == ["unsure", "yes"]
    before_writing(monkeypatch, mine, other.undo)
    mine.change(1, "yes")
    assert mine.history == other.history
    before_writing(monkeypatch, mine, lambda: [other.undo() for _ in range(3)])
    with pytest.raises(SessionError, match="Event 1 is not an answer that can be changed"):
        mine.change(1, "no")


def test_nobody_takes_back_what_he_has_not_seen(two, monkeypatch):
    mine, other = two
    mine.answer("no")
    before_writing(monkeypatch, mine, lambda: other.add(0, 3, "must-link"))
    with pytest.raises(SessionError, match="Another client changed the session at the same moment"):
        mine.undo()
    assert [e.kind for e in mine.history] == ["answer", "add"]
    assert mine.undo().kind == "add"


# ---------------------------------------------------------------- locks
@pytest.fixture
def held(path, monkeypatch):
    """A session with one answer that another process is writing to, for longer than anybody waits."""
    monkeypatch.setattr(store, "PATIENCE_S", 0.02)
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        session.answer("no")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield session


@pytest.mark.parametrize(
    "do",
    [
        lambda s: s.answer("yes"),
        lambda s: s.add(0, 3, "must-link"),
        lambda s: s.import_constraints(true_pairs([(0, 3)])),
        lambda s: s.change(1, "unsure"),
        lambda s: s.undo(),
    ],
    ids=["answer", "add", "import", "change", "undo"],
)
def test_a_lock_that_is_not_let_go_is_reported(held, path, do):
    was = image(held)
    with pytest.raises(SessionLockedError, match="in use by another process") as refused:
        do(held)
    assert str(path) in str(refused.value)
    assert (image(held), len(held.events)) == (was, 1)


def test_a_held_session_can_be_read_copied_and_closed(held, path, tmp_path):
    was = image(held)
    with Session.open(path, X) as reader:
        assert image(reader) == was
    held.save_copy(tmp_path / "copy.linkwise")
    with Session.open(tmp_path / "copy.linkwise", X) as copy:
        assert image(copy) == was
    held.close()


def test_another_learner_waits_for_the_lock(held, path):
    with pytest.raises(SessionLockedError):
        Session.open(path, X, LEARNERS["COBRA"]())
    assert held.learner["name"] == "COBRAS"


def test_labels_that_cannot_be_kept_do_not_make_an_answer_fail(path, monkeypatch):
    """The lock is taken by another process just after the answer was stored."""
    monkeypatch.setattr(store, "PATIENCE_S", 0.02)
    with (
        Session.open(path, X, LEARNERS["COBRAS"]()) as session,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        write = session._journal.store.append

        def append(*given, **more):
            event = write(*given, **more)
            other.execute("BEGIN IMMEDIATE")
            return event

        monkeypatch.setattr(session._journal.store, "append", append)
        session.answer("no")
        with Session.open(path) as kept:
            assert kept.status.n_answers == 1
            assert not kept.labels_are_current
        other.execute("ROLLBACK")
    with Session.open(path) as kept:  # closing kept them
        assert kept.labels_are_current


# ---------------------------------------------------------------- threads
def test_threads_may_share_a_session(path):
    """Each question is answered once, whatever the others read meanwhile."""
    alone = lw.Session(X, LEARNERS["COBRAS"]())
    asked = answer_by(alone, TRUTH)
    wrong = []
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        readings = []

        def ask():
            while True:
                name = session.question_id
                question = session.question
                if question is None:
                    return
                try:
                    session.answer(TRUTH(*pair(question)), question_id=name)
                except StaleAnswerError:
                    continue

        def read():
            while session.question_id is not None:
                readings.append((session.status.n_rows, len(session.labels), len(session.ids)))

        def watched(work):
            try:
                work()
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=watched, args=(work,)) for work in (ask, ask, ask, read)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert [(e.first, e.second) for e in session.events] == asked
        assert set(readings) <= {(len(X), len(X), len(Y))}
        assert present(session) == present(alone)


def test_a_drawing_of_a_session_shows_nobody_its_question(two):
    mine, other = two
    old = mine.question
    other.answer("no")
    assert mine._repr_html_()
    lw.plot(mine)
    with pytest.raises(StaleAnswerError, match="not stored") as refused:
        mine.answer("yes")
    assert pair(refused.value.question) == pair(other.question) != pair(old)
    mine.answer("yes", question_id=mine.snapshot.question_id)
    assert [e.answer for e in other.history] == ["no", "yes"]
