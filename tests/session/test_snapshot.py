"""A snapshot: all that a session shows, as of one event."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import linkwise as lw
from linkwise.session.session import Session

X = np.repeat([0.0, 5.0, 9.0], 6)[:, None] + np.linspace(0, 1, 18)[:, None]


def answer(session, n, wrong=()):
    for at in range(n):
        q = session.question
        session.answer((q.first // 6 == q.second // 6) != (at in wrong), source="anna")


def begin(**options):
    return Session(X, lw.KIN(random_state=0), **options)


@pytest.mark.parametrize("error_rate", [0, None])
def test_it_says_what_the_session_says(error_rate):
    session = begin(error_rate=error_rate)
    answer(session, 8, wrong=() if error_rate == 0 else (3,))
    session.set_name(0, "low")
    session.set_guidelines("By size.")
    session.add_example(0, 1, True)
    now = session.snapshot
    assert now.labels.tolist() == session.labels.tolist()
    assert np.array_equal(now.confidence, session.confidence)
    assert (now.status, now.labels_are_current) == (session.status, session.labels_are_current)
    assert (now.names, now.shades) == (session.cluster_names, session.cluster_shades)
    assert list(now.suspects) == session.suspects
    assert (now.question.first, now.question.second) == (session.question.first, session.question.second)
    assert now.question_id == session.question_id
    assert (now.learner, now.guidelines, now.examples) == (
        session.learner,
        session.guidelines,
        session.examples,
    )
    assert list(now.history) == session.history
    assert list(now.remaining_events) == session.remaining_events
    assert list(now.events) == session.events
    assert now.event == session.events[-1].number
    assert np.array_equal(now.components.row, session.evidence.groups().row)


def test_it_is_taken_once_for_each_event_and_never_changes():
    session = begin()
    before = session.snapshot
    assert session.snapshot is before
    answer(session, 1)
    assert session.snapshot is not before
    assert (before.event, before.status.n_answers, before.events) == (0, 0, ())
    with pytest.raises(FrozenInstanceError):
        before.event = 1
    with pytest.raises(ValueError, match="read-only"):
        before.labels[0] = 7
    labels = session.labels
    labels[:] = 7  # a copy
    assert 7 not in session.snapshot.labels


def test_nothing_in_it_can_be_changed():
    session = begin()
    answer(session, 6)
    session.set_name(0, "low")
    now = session.snapshot
    known = now.components
    arrays = (
        now.labels,
        now.confidence,
        known.row,
        known.number,
        known.cannot_link,
        known.both_ways,
        *known.rows,
    )
    assert not any(array.flags.writeable for array in arrays)
    for mapping in (now.names, now.shades, now.learner, now.learner["parameters"]):
        with pytest.raises(TypeError, match="does not support item assignment"):
            mapping[0] = 1
    session.cluster_names[0] = session.learner["name"] = "mine"  # copies
    assert session.snapshot.names == session.cluster_names == dict(now.names)
    assert session.learner["name"] == now.learner["name"] == "KIN"


def test_parts_that_are_read_before_the_whole_are_those_of_the_whole():
    session = begin(error_rate=None)
    for n in range(6):
        answer(session, 1, wrong=(0,) if n == 3 else ())
        labels, confidence, status = session.labels, session.confidence, session.status
        session.add_cost("anna", 1)
        assert (session.status, session.cluster_names) == (status, {})
        now = session.snapshot
        assert (now.status, now.names, now.labels.tolist()) == (status, {}, labels.tolist())
        assert np.array_equal(now.confidence, confidence)


def test_an_undo_gives_the_clusters_of_before():
    session = begin()
    answer(session, 4)
    before = session.snapshot
    answer(session, 1)
    session.undo()
    now = session.snapshot
    assert now.labels.tolist() == before.labels.tolist()
    assert now.status == before.status
    assert now.event == before.event + 2


def test_other_clients_and_other_data_are_seen(tmp_path):
    path = tmp_path / "s.linkwise"
    with Session.open(path, X, lw.KIN(random_state=0)) as one, Session.open(path, X) as other:
        before = one.snapshot
        answer(other, 3)
        assert before.status.n_answers == 0
        assert one.snapshot.status.n_answers == 3
        with Session.open(path, X, lw.COBRAS(random_state=0)):
            assert one.snapshot.learner["name"] == "COBRAS"
    with Session.open(path, X) as session:
        before = session.snapshot
        session.recode(X * 2)
        assert session.snapshot.event == before.event
        assert session.snapshot is not before


def test_without_data_it_has_what_was_stored(tmp_path):
    path = tmp_path / "s.linkwise"
    with Session.open(path, X, lw.KIN(random_state=0)) as session:
        answer(session, 3)
        kept = session.snapshot
    with Session.open(path) as session:
        now = session.snapshot
        assert now.labels.tolist() == kept.labels.tolist()
        assert np.array_equal(now.confidence, kept.confidence)
        assert now.labels_are_current
        assert (now.question, now.question_id) == (None, None)
        session.undo()
        assert not session.snapshot.labels_are_current


def test_an_answer_after_reading_it_needs_no_identifier(tmp_path):
    path = tmp_path / "s.linkwise"
    with Session.open(path, X, lw.KIN(random_state=0)) as one, Session.open(path, X) as other:
        assert one.question is not None
        answer(other, 1)
        q = one.snapshot.question
        one.answer(q.first // 6 == q.second // 6)
        assert one.snapshot.status.n_answers == 2


def test_to_read_it_again_asks_the_file_only_whether_it_has_changed(tmp_path):
    with Session.open(tmp_path / "s.linkwise", X, lw.KIN(random_state=0)) as session:
        answer(session, 2)
        assert session.snapshot.event == 2
        said = []
        session._journal.store._db.set_trace_callback(said.append)
        assert session.snapshot.event == 2
        session._journal.store._db.set_trace_callback(None)
    assert len(said) <= 2


def test_suspects_that_are_read_later_are_those_of_then():
    session = begin(error_rate=None)
    answer(session, 12, wrong=(5, 9))
    before, wanted = session.snapshot, session.suspects
    for suspect in wanted:
        session.undo(suspect.number)
    answer(session, 2)
    assert list(before.suspects) == wanted
