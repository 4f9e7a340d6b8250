"""Sessions whose answers may be wrong: suspects, confirmations, and a state that is a replay."""

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import linkwise as lw
from linkwise.constraints.facts import Fact
from linkwise.errors import InfeasibleConstraintsError, SessionDamagedError, SessionError
from linkwise.session.journal.stored_clustering import GRADES, ErrorRate
from linkwise.session.session import Session
from linkwise.session.state.suspects import SuspectAnswer
from session.session_examples import LEARNERS, N_ROWS, X, answer_by, blobs, image, present, true_pairs

ROWS = st.integers(0, N_ROWS - 1)
PAIRS = st.tuples(ROWS, ROWS).filter(lambda pair: pair[0] != pair[1])
ANSWERS = st.sampled_from(["yes", "no", "unsure"])
FAR = np.random.default_rng(3).normal(size=(40, 2)) * 0.4 + np.repeat([[0, 0], [9, 0], [0, 9], [9, 9]], 10, 0)
CLASSES = np.repeat(np.arange(4), 10)


def picture(session):
    """All that a session shows, with its suspects."""
    return image(session), session.suspects, session.error_rate


def ask_far(n=40, wrong=(4, 11), **more):
    """A session about four groups far apart, with some answers that are wrong."""
    session = Session(FAR, lw.KIN(random_state=0), error_rate=None, **more)
    for number in range(1, n + 1):
        if (q := session.question) is None:
            break
        session.answer(bool((CLASSES[q.first] == CLASSES[q.second]) != (number in wrong)))
    return session


def contradict(session):
    """Three answers of which one must be wrong."""
    session.add(0, 1, "must-link")
    session.add(1, 2, "must-link")
    session.add(0, 2, "cannot-link")


# ---------------------------------------------------------------- whatever is done, in any order
class Erring(RuleBasedStateMachine):
    """Everything that can be done to a session whose answers may be wrong."""

    @initialize(name=st.sampled_from(sorted(LEARNERS)), rate=st.sampled_from([None, 0.1, 0.3]))
    def begin(self, name, rate):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "s.linkwise")
        self.session = Session.open(self.path, X, LEARNERS[name](), error_rate=rate)
        self.before = []

    def teardown(self):
        if hasattr(self, "session"):
            self.session.close()
            self.folder.cleanup()

    def does(self, do):
        """Do something that becomes one event or none, or raises an error and leaves no trace."""
        was, events = picture(self.session), self.session.events
        try:
            do()
        except InfeasibleConstraintsError:
            assert (picture(self.session), self.session.events) == (was, events)
            return
        if len(self.session.events) == len(events):
            assert picture(self.session) == was
        else:
            assert self.session.events[:-1] == events
            self.before.append(was)

    @precondition(lambda self: self.session.question is not None)
    @rule(answer=ANSWERS)
    def answer(self, answer):
        n = len(self.session.events)
        self.does(lambda: self.session.answer(answer))
        assert len(self.session.events) == n + 1

    @rule(pair=PAIRS, kind=st.sampled_from(["must-link", "cannot-link"]))
    def add(self, pair, kind):
        n = len(self.session.events)
        self.does(lambda: self.session.add(*pair, kind))
        assert len(self.session.events) == n + 1

    @rule(must=st.lists(PAIRS, max_size=2), cannot=st.lists(PAIRS, max_size=2))
    def bring_in(self, must, cannot):
        try:
            pairs = lw.Constraints(N_ROWS, must, cannot)
        except InfeasibleConstraintsError:
            return
        n = len(self.session.events)
        self.does(lambda: self.session.import_constraints(pairs))
        if len(self.session.events) > n:
            assert {self.session.evidence.verdict(*pair) for pair in must} <= {"yes"}
            assert {self.session.evidence.verdict(*pair) for pair in cannot} <= {"no"}

    @rule(row=ROWS)
    def finish(self, row):
        self.does(lambda: self.session.set_done(row))

    @precondition(lambda self: any(e.kind in ("answer", "add") for e in self.session.history))
    @rule(at=st.integers(0, 100), answer=ANSWERS)
    def change(self, at, answer):
        able = [e for e in self.session.history if e.kind in ("answer", "add")]
        event, n = able[at % len(able)], len(self.session.events)
        self.does(lambda: self.session.change(event.number, answer))
        now = next(e for e in self.session.history if e.number == event.number)
        if len(self.session.events) > n:
            assert (now.answer, now.is_sure) == (answer, answer != "unsure")
        else:  # it was the answer already, or contradicts others that are certain
            assert now == event

    @precondition(lambda self: any(e.kind in ("answer", "add") for e in self.session.history))
    @rule(at=st.integers(0, 100), note=st.sampled_from(["", "A", "B"]))
    def note(self, at, note):
        """It stays with its answer through everything else, and nothing that is believed depends on it."""

        def believed():
            return present(self.session), self.session.suspects, self.session.error_rate

        able = [e for e in self.session.history if e.kind in ("answer", "add")]
        event, was = able[at % len(able)], believed()
        self.does(lambda: self.session.note(event.number, note))
        now = next(e for e in self.session.history if e.number == event.number)
        assert (now, now.note, believed()) == (event, note, was)

    @precondition(lambda self: any(e.kind in ("answer", "add") for e in self.session.history))
    @rule(note=st.sampled_from(["", "C"]))
    def note_without_data(self, note):
        """Nothing becomes older by a note that somebody writes without the data."""
        last = next(e for e in reversed(self.session.history) if e.kind in ("answer", "add"))
        self.does(lambda: self._note_without_data(last.number, note))

    def _note_without_data(self, number, note):
        with Session.open(self.path) as other:
            was = other.status, other.suspects, other.labels.tolist()
            other.note(number, note)
            assert (other.status, other.suspects, other.labels.tolist()) == was
            assert other.labels_are_current

    @rule(pair=PAIRS, kind=st.sampled_from(["must-link", "cannot-link"]))
    def add_surely(self, pair, kind):
        n = len(self.session.events)
        self.does(lambda: self.session.add(*pair, kind, is_sure=True))
        if len(self.session.events) > n:
            assert self.session.history[-1].is_sure
            verdict = "yes" if kind == "must-link" else "no"
            assert self.session.evidence.verdict(*pair) == verdict

    @precondition(lambda self: any(e.answer in ("yes", "no") for e in self.session.history))
    @rule(at=st.integers(0, 100))
    def confirm(self, at):
        able = [e for e in self.session.history if e.answer in ("yes", "no")]
        event = able[at % len(able)]
        self.does(lambda: self.session.set_sure(event.number))
        now = next(e for e in self.session.history if e.number == event.number)
        if now.is_sure:
            assert self.session.evidence.verdict(event.first, event.second) == event.answer
            assert event.number not in [suspect.number for suspect in self.session.suspects]

    @rule()
    def undo(self):
        undone = self.session.undo()
        if not self.before:
            assert undone is None
            return
        assert picture(self.session) == self.before.pop()

    @rule(answer=ANSWERS)
    def look_ahead(self, answer):
        was = picture(self.session)
        self.session.look_ahead(answer)
        assert picture(self.session) == was

    @rule()
    def close_and_open(self):
        self.session.close()
        self.session = Session.open(self.path, X)

    @invariant()
    def opening_anew_changes_nothing(self):
        with Session.open(self.path, X) as other:
            assert picture(other) == picture(self.session)
            assert other.question_id == self.session.question_id

    @invariant()
    def without_data_the_same_is_shown(self):
        with Session.open(self.path) as kept:
            assert (kept.status, kept.suspects, kept.error_rate) == (
                self.session.status,
                self.session.suspects,
                self.session.error_rate,
            )
            assert (kept.history, kept.constraints) == (self.session.history, self.session.constraints)

    @invariant()
    def replaying_shows_the_same_labels(self):
        *_, (_, labels) = self.session.replay_labels()
        assert labels.tolist() == self.session.labels.tolist()

    @invariant()
    def what_is_shown_agrees(self):
        session, status = self.session, self.session.status
        assert [v.sum() for v in session.constraints.find_violations(session.labels)] == [0, 0]
        assert status.n_suspects == len(session.suspects)
        assert status.is_fallible
        assert status.error_rate == session.error_rate
        assert status.n_answers == session.evidence.n_questions
        given = {e.number: (e.first, e.second, e.answer) for e in session.history}
        for suspect in session.suspects:
            assert given[suspect.number] == (suspect.first, suspect.second, suspect.answer)
            assert suspect.grade in GRADES
            assert session.evidence.verdict(suspect.first, suspect.second) != suspect.answer
        if session.error_rate is not None:
            estimate, low, high = session.error_rate
            assert 0 <= low <= estimate <= high <= 0.5


TestErring = Erring.TestCase
TestErring.settings = settings(max_examples=6, stateful_step_count=12, deadline=None)


@pytest.mark.slow(nightly=True)
def test_erring_more():
    run_state_machine_as_test(
        Erring, settings=settings(max_examples=50, stateful_step_count=20, deadline=None)
    )


# ---------------------------------------------------------------- without errors nothing changes
@settings(max_examples=10, deadline=None)
@given(given_=st.lists(ANSWERS, max_size=8))
def test_a_rate_of_zero_is_a_session_as_ever(given_):
    with tempfile.TemporaryDirectory() as folder:
        plain, zero = (
            Session.open(Path(folder, name), X, lw.KIN(random_state=0), **more)
            for name, more in (("a", {}), ("b", {"error_rate": 0}))
        )
        for answer in given_:
            if plain.question is not None:
                plain.answer(answer)
                zero.answer(answer)
        assert picture(plain) == picture(zero)
        assert zero.error_rate == ErrorRate(0, 0, 0)
        assert not zero.status.is_fallible
        for session in (plain, zero):
            session.close()
        tables = []
        for name in ("a", "b"):
            with closing(sqlite3.connect(Path(folder, name))) as db:
                tables.append(db.execute("SELECT * FROM meta ORDER BY key").fetchall())
        assert tables[0] == tables[1]
        assert [key for key, _ in tables[0] if key == "error_rate"] == []


def test_all_answers_of_an_ordinary_session_are_certain():
    session = Session(X, lw.KIN(random_state=0))
    session.add(0, 1, "must-link")
    with pytest.raises(SessionError, match="treats every answer as correct, so there is nothing to confirm"):
        session.set_sure(1)
    assert session.suspects == []


# ---------------------------------------------------------------- suspects
def test_wrong_answers_become_suspects():
    session = ask_far()
    assert {suspect.number for suspect in session.suspects} == {4, 11}
    assert session.status.n_suspects == 2
    assert {suspect.grade for suspect in session.suspects} <= set(GRADES)
    estimate, low, high = session.error_rate
    assert low < estimate < high


def test_a_suspect_comes_with_the_answers_that_speak_against_it():
    session = ask_far()
    given_ = {(*sorted((e.first, e.second)), e.answer) for e in session.history}
    for suspect in session.suspects:
        assert all((*sorted(fact.pair), fact.answer) in given_ for fact in suspect.because)
        chain = [fact.answer for fact in suspect.because]
        assert chain.count("no") == (suspect.answer == "yes")
        ends = {fact.first for fact in suspect.because} ^ {fact.second for fact in suspect.because}
        assert ends == {suspect.first, suspect.second}


def test_a_contradiction_is_stored_and_one_of_its_answers_is_a_suspect():
    session = Session(FAR, lw.KIN(random_state=0), error_rate=0.1)
    contradict(session)
    assert session.suspects == [
        SuspectAnswer(3, 0, 2, "no", session.suspects[0].grade, (Fact(0, 1, "yes"), Fact(1, 2, "yes")))
    ]
    assert session.error_rate == ErrorRate(0.1, 0.1, 0.1)
    assert session.evidence.verdict(0, 2) == "yes"


@pytest.mark.parametrize("action", ["back", "turn"])
def test_a_suspect_can_be_taken_back_or_turned_round(action):
    session = Session(FAR, lw.KIN(random_state=0), error_rate=None)
    contradict(session)
    (suspect,) = session.suspects
    if action == "back":
        session.undo(suspect.number)
    else:
        session.change(suspect.number, "yes")
    assert session.suspects == []
    assert len(session.history) == (2 if action == "back" else 3)


def test_a_confirmed_answer_is_certain_until_it_is_undone():
    session = Session(FAR, lw.KIN(random_state=0), error_rate=None)
    contradict(session)
    session.set_sure(3)
    assert session.evidence.verdict(0, 2) == "no"
    assert session.history[-1].is_sure
    assert 3 not in [suspect.number for suspect in session.suspects]
    n_events = len(session.events)
    session.set_sure(3)  # again: nothing to store
    assert len(session.events) == n_events
    with pytest.raises(InfeasibleConstraintsError, match="contradicts earlier answers"):
        session.import_constraints(lw.Constraints(40, [(0, 2)]))
    assert session.undo().kind == "sure"
    assert session.evidence.verdict(0, 2) == "yes"
    session.set_sure(3)
    session.change(3, "unsure")
    assert not session.history[-1].is_sure
    assert session.suspects == []


def test_a_changed_answer_is_certain():
    session = Session(FAR, lw.KIN(random_state=0), error_rate=None)
    contradict(session)
    session.change(1, "no")
    assert session.history[0].is_sure
    assert session.evidence.verdict(0, 1) == "no"
    events = session.events
    session.change(2, "no")
    session.change(3, "yes")
    assert [event.is_sure for event in session.history] == [True] * 3
    assert session.suspects == []
    events = session.events
    contradiction = "This contradicts answers that are certain: 1 = 2 = 0, but 1 ≠ 0"
    with pytest.raises(InfeasibleConstraintsError, match=contradiction):
        session.change(2, "yes")
    assert session.events == events
    session.undo()
    assert [event.is_sure for event in session.history] == [True, True, False]


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_a_pair_can_be_added_as_certain(tmp_path, answer):
    kind, other = ("must-link", "cannot-link") if answer == "yes" else ("cannot-link", "must-link")
    with Session.open(tmp_path / "s", FAR, lw.KIN(random_state=0), error_rate=None) as session:
        session.add(0, 1, other)
        session.add(0, 1, kind, is_sure=True)
        shown = picture(session)
        assert session.evidence.verdict(0, 1) == answer
        assert [event.is_sure for event in session.history] == [False, True]
        assert [suspect.number for suspect in session.suspects] == [1]
        with pytest.raises(InfeasibleConstraintsError, match="contradicts earlier answers"):
            session.add(0, 1, other, is_sure=True)
        session.add(0, 1, other)  # not certain: an answer like any
        session.undo()
        events = session.events
    with Session.open(tmp_path / "s", FAR) as again:
        assert (picture(again), again.events) == (shown, events)
        again.change(2, "unsure")
        assert not again.history[-1].is_sure
        again.undo()
        assert again.undo(2).number == 2
        assert again.evidence.verdict(0, 1) == ("no" if answer == "yes" else "yes")


def test_no_pair_is_stored_as_certain_where_all_answers_are_right():
    session = Session(FAR, lw.KIN(random_state=0))
    session.add(0, 1, "must-link", is_sure=True)
    assert (session.history[0].facts, session.history[0].is_sure) == ((), False)


@pytest.mark.parametrize("fact", [(0, 2, "yes"), (0, 1, "no")])
def test_a_certain_pair_that_is_another_one_is_damage(tmp_path, fact):
    path = tmp_path / "s.linkwise"
    with Session.open(path, FAR, lw.KIN(random_state=0), error_rate=None) as session:
        session.add(0, 1, "must-link")
    with closing(sqlite3.connect(path)) as db:
        db.execute("INSERT INTO imported VALUES (1, ?, ?, ?)", fact)
        db.commit()
    with pytest.raises(SessionDamagedError, match="It has pairs, but its kind is add"):
        Session.open(path)


def test_confirmed_answers_may_not_contradict_each_other():
    session = Session(FAR, lw.KIN(random_state=0), error_rate=None)
    contradict(session)
    session.set_sure(1)
    session.set_sure(2)
    events = session.events
    with pytest.raises(
        InfeasibleConstraintsError, match="This contradicts other answers that are certain: 0 = 1 = 2"
    ):
        session.set_sure(3)
    assert session.events == events


def test_only_a_yes_or_a_no_can_be_confirmed():
    session = Session(FAR, lw.KIN(random_state=0), error_rate=None)
    session.answer("unsure")
    with pytest.raises(SessionError, match="Event 1 is a pair with the answer 'not sure'"):
        session.set_sure(1)
    session.import_constraints(lw.Constraints(40, [(0, 1)]))
    for number in (2, 9):
        with pytest.raises(SessionError, match=f"Event {number} is not an answer that can be confirmed"):
            session.set_sure(number)


def test_undoing_an_answer_undoes_its_confirmation():
    session = Session(FAR, lw.KIN(random_state=0), error_rate=None)
    session.add(0, 1, "must-link")
    session.set_sure(1)
    session.undo(1)
    assert session.history == []
    assert session.evidence.verdict(0, 1) is None


# ---------------------------------------------------------------- what is certain
def test_an_import_is_certain_and_an_answer_against_it_becomes_a_suspect():
    session = Session(FAR, lw.KIN(random_state=0), error_rate=None)
    session.add(0, 1, "cannot-link")
    assert session.import_constraints(lw.Constraints(40, [(0, 1)], [(0, 10)])) == 2
    assert session.evidence.verdict(0, 1) == "yes"
    assert [(suspect.number, suspect.grade) for suspect in session.suspects] == [(1, "very likely wrong")]
    with pytest.raises(InfeasibleConstraintsError, match="contradicts earlier answers"):
        session.import_constraints(lw.Constraints(40, [], [(0, 1)]))


def test_an_import_of_what_was_answered_makes_it_certain():
    session = Session(FAR, lw.KIN(random_state=0), error_rate=None)
    session.add(0, 1, "must-link")
    session.import_constraints(lw.Constraints(40, [(0, 1)]))
    assert len(session.events) == 2
    session.import_constraints(lw.Constraints(40, [(0, 1)]))  # certain already: nothing to store
    assert len(session.events) == 2


def test_a_finished_cluster_is_certain():
    session = ask_far()
    row = int(session.question.first) if session.question else 0
    members = np.flatnonzero(session.labels == session.labels[row]).tolist()
    assert session.set_done(row) == len(members)
    with pytest.raises(InfeasibleConstraintsError):
        session.import_constraints(lw.Constraints(40, [], [(members[0], members[1])]))


def test_answers_are_carried_over_as_they_are_believed(tmp_path):
    with Session.open(tmp_path / "old", FAR, lw.KIN(random_state=0), error_rate=None) as old:
        contradict(old)
        believed = old.constraints
    new = Session(FAR, lw.KIN(random_state=0))
    assert new.carry_over(tmp_path / "old") == (3, 0)
    assert new.constraints == believed


# ---------------------------------------------------------------- the rate of a file
def test_the_rate_stays_with_the_file(tmp_path):
    path = tmp_path / "s"
    Session.open(path, X, lw.KIN(random_state=0), error_rate=0.2).close()
    with Session.open(path, X) as session:
        assert session.error_rate == ErrorRate(0.2, 0.2, 0.2)
    with Session.open(path, X, error_rate=None) as session:
        assert session.error_rate is None  # nothing is answered yet
    with Session.open(path) as session:
        assert session.error_rate is None
        assert session.status.is_fallible
        with pytest.raises(SessionError, match="Another error rate needs the data"):
            Session.open(path, error_rate=0)
    with Session.open(path, X, error_rate=0) as session:
        assert not session.status.is_fallible


def test_an_ordinary_session_can_become_one_whose_answers_may_be_wrong(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, FAR, lw.KIN(random_state=0)) as session:
        answer_by(session, lw.TruthOracle(CLASSES), 10)
        history = session.history
    with Session.open(path, FAR, error_rate=None) as session:
        assert session.history == history
        assert session.suspects == []
        contradict(session)
    with pytest.raises(InfeasibleConstraintsError, match="Undo or change the suspects first"):
        Session.open(path, FAR, error_rate=0)
    with Session.open(path, FAR) as session:
        for suspect in session.suspects:
            session.undo(suspect.number)
    with Session.open(path, FAR, error_rate=0) as session:
        assert session.suspects == []


def test_another_client_sees_the_new_rate(tmp_path):
    path = tmp_path / "s"
    one = Session.open(path, FAR, lw.KIN(random_state=0))
    two, reader = Session.open(path, FAR, error_rate=None), Session.open(path)
    contradict(two)
    for session in (one, reader):
        assert session.suspects == two.suspects
        assert session.status == two.status
        session.close()
    two.close()


class Unknown(lw.KIN):
    """A learner that no session file can name."""


def test_a_client_follows_a_new_rate_with_a_learner_of_its_own(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, FAR, Unknown(random_state=0)) as one:
        Session.open(path, FAR, Unknown(random_state=0), error_rate=None).close()
        assert one.assumed_error_rate is None
        assert one.labels_are_current


def test_a_client_that_cannot_follow_a_new_learner_says_so(tmp_path):
    path = tmp_path / "s"
    one = Session.open(path, FAR, lw.KIN(random_state=0))
    Session.open(path, FAR, Unknown(random_state=0), error_rate=None).close()
    for _ in range(2):
        with pytest.raises(SessionError, match="is not part of linkwise"):
            one.status  # noqa: B018
    one._journal.store.close()


def test_a_reader_without_data_takes_up_another_rate(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, FAR, lw.KIN(random_state=0), error_rate=0.1) as session:
        contradict(session)
    with Session.open(path) as reader:
        assert reader.error_rate == ErrorRate(0.1, 0.1, 0.1)
        Session.open(path, FAR, error_rate=0.2).close()
        assert reader.error_rate == ErrorRate(0.2, 0.2, 0.2)


@pytest.mark.parametrize("rate", [0.5, -0.1, "much", True, float("nan")])
def test_a_rate_out_of_range_raises_an_error(rate, tmp_path):
    with pytest.raises(ValueError, match="error_rate is not a share of wrong answers"):
        Session(X, lw.KIN(), error_rate=rate)
    Session.open(tmp_path / "s", X, lw.KIN(random_state=0)).close()
    with pytest.raises(ValueError, match="error_rate is not a share of wrong answers"):
        Session.open(tmp_path / "s", X, error_rate=rate)


def test_without_data_an_undo_is_followed_by_an_estimate_from_the_answers_alone(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, FAR, lw.KIN(random_state=0), error_rate=0.1) as session:
        contradict(session)
        session.add(5, 6, "must-link")
    with Session.open(path) as kept:
        kept.undo()
        assert not kept.labels_are_current
        assert len(kept.suspects) == kept.status.n_suspects == 1  # which of the three: only the data tell
    with Session.open(path, FAR) as session:
        assert [suspect.number for suspect in session.suspects] == [3]


def test_without_data_a_broken_answer_that_is_no_suspect_is_broken_too(tmp_path):
    """Similarity misleads here, so an answer that it alone contradicts is believed to be wrong in silence."""
    path = tmp_path / "s"
    with Session.open(path, X, LEARNERS["COBRA"](), error_rate=None) as session:
        for row, is_sure in [(7, False), (5, True), (1, False), (13, False)]:
            session.add(0, row, "must-link", is_sure=is_sure)
        session.import_constraints(lw.Constraints(N_ROWS, [(0, 2)], [(0, 3), (0, 6)]))
        session.add(0, 5, "must-link")
        session.import_constraints(lw.Constraints(N_ROWS, [(9, 6), (0, 2)]))
        session.add(0, 9, "cannot-link", is_sure=True)
        session.add(11, 0, "must-link", is_sure=True)
        session.add(13, 1, "must-link")
        session.add(12, 0, "must-link")
        session.import_constraints(lw.Constraints(N_ROWS, [(0, 11)], [(12, 0), (0, 3)]))
        broken = [
            fact
            for fact in session.evidence
            if fact.answer != "unsure" and session.evidence.verdict(*fact.pair) != fact.answer
        ]
        assert len(broken) > len(session.suspects)
        expected = session.status, session.constraints
    with Session.open(path) as stored:
        assert (stored.status, stored.constraints) == expected


# ---------------------------------------------------------------- damage
EVENT = "INSERT INTO event (number, kind, happened, first, second, answer, target, source) VALUES"
EDIT_RATE = "UPDATE meta SET value = ? WHERE key = 'error_rate'"
GOOD = {"error_rate": [0.1, 0.0, 0.2], "suspects": [[3, "likely wrong"]], "parts": [[0, 1], [2]]}
RATE, INCOMPLETE, ENTRY = (
    "error rate is not a number from 0 up to 0.5",
    "list of answers that are probably wrong is incomplete",
    "has an entry that is not an answer",
)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("error_rate", 0.5, RATE),
        ("error_rate", -0.1, RATE),
        ("error_rate", "much", RATE),
        ("error_rate", True, RATE),
        ("doubts", [], INCOMPLETE),
        ("doubts", {"error_rate": None}, INCOMPLETE),
        ("doubts", GOOD | {"suspects": [3]}, INCOMPLETE),
        ("doubts", GOOD | {"suspects": [[0, "likely wrong"]]}, ENTRY),
        ("doubts", GOOD | {"suspects": [[3, "right"]]}, ENTRY),
        ("doubts", GOOD | {"suspects": [[3, ["likely wrong"]]]}, ENTRY),
        ("doubts", GOOD | {"error_rate": [0.1]}, INCOMPLETE),
        ("doubts", GOOD | {"error_rate": [0.1, 0.0, 2.0]}, RATE),
        ("doubts", GOOD | {"parts": [[0, 40]]}, "not about rows 0 to 39, each in one part"),
    ],
)
def test_a_file_with_a_wrong_value_is_damaged(key, value, words, tmp_path):
    path = tmp_path / "s"
    with Session.open(path, FAR, lw.KIN(random_state=0), error_rate=None) as session:
        contradict(session)
    with closing(sqlite3.connect(path)) as db:
        statement = "UPDATE snapshot SET doubts = ?" if key == "doubts" else EDIT_RATE
        assert db.execute(statement, (json.dumps(value),)).rowcount == 1
        db.commit()
    with pytest.raises(SessionDamagedError, match=words):
        Session.open(path)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ("4, 'sure', '2026-01-01T00:00:00+00:00', NULL, NULL, 'unsure', 1, ''", "neither yes nor no"),
        ("4, 'sure', '2026-01-01T00:00:00+00:00', NULL, NULL, 'yes', NULL, ''", "more or fewer fields"),
        ("4, 'sure', '2026-01-01T00:00:00+00:00', NULL, NULL, 'yes', 7, ''", "not an earlier event"),
    ],
)
def test_a_wrong_confirmation_is_damage(fields, words, tmp_path):
    path = tmp_path / "s"
    with Session.open(path, FAR, lw.KIN(random_state=0), error_rate=None) as session:
        contradict(session)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"{EVENT} ({fields})")
        db.commit()
    with pytest.raises(SessionDamagedError, match=words):
        Session.open(path)


def test_a_stored_suspect_that_is_no_answer_is_left_out(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, FAR, lw.KIN(random_state=0), error_rate=None) as session:
        contradict(session)
        session.import_constraints(lw.Constraints(40, [(20, 21)]))
    doubts = json.dumps(GOOD | {"suspects": [[4, "likely wrong"], [77, "likely wrong"]]})
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE snapshot SET doubts = ?", (doubts,))
        db.commit()
    with Session.open(path) as session:
        assert session.suspects == []


def test_confirmed_answers_that_contradict_each_other_are_damage(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, FAR, lw.KIN(random_state=0), error_rate=None) as session:
        contradict(session)
    sure = "'sure', '2026-01-01T00:00:00+00:00', NULL, NULL"
    with closing(sqlite3.connect(path)) as db:
        for number, answer in ((1, "yes"), (2, "yes"), (3, "no")):
            db.execute(f"{EVENT} ({number + 3}, {sure}, '{answer}', {number}, '')")
        db.commit()
    with pytest.raises(SessionDamagedError, match="is damaged"):
        Session.open(path)


def test_true_pairs_leave_no_suspect():
    X_, y = blobs(30)
    session = Session(X_, lw.COBRAS(random_state=0), error_rate=None)
    session.import_constraints(true_pairs([(0, 3), (0, 1), (1, 4)], y))
    answer_by(session, lw.TruthOracle(y), 30)
    assert session.suspects == []


def test_right_answers_against_misleading_similarity_seem_right():
    """The rows lie by the style of their writer as much as by their subject, which is what a person means."""
    rng = np.random.default_rng(0)
    subject, style = rng.integers(0, 12, 600), rng.integers(0, 9, 600)
    X = rng.normal(size=(12, 60))[subject] + 0.9 * rng.normal(size=(9, 60))[style]
    X += 0.5 * rng.normal(size=(600, 60))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    session = lw.Session(X, lw.KIN(random_state=0), error_rate=None)
    oracle = lw.TruthOracle(subject)
    for _ in range(32):
        question = session.question
        session.answer(oracle(question.first, question.second))
    assert session.suspects == []
    assert session.status.error_rate.estimate == pytest.approx(0.05, abs=0.01)
    first, second = next((e.first, e.second) for e in session.history if e.answer == "yes")
    session.add(first, second, "cannot-link")
    assert session.status.error_rate.estimate > 0.06
