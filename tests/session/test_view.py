"""What a client reads of a session, with and without the data, alone and beside other clients."""

import inspect
import sqlite3
import threading
from contextlib import closing

import numpy as np
import pytest

import linkwise as lw
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.facts import Fact
from linkwise.errors import SessionDamagedError, SessionError, StaleAnswerError
from linkwise.learn.learner import Question
from linkwise.session.session import Session
from linkwise.session.state.event_lists import drop_undone, settle_events

X = np.arange(10.0).reshape(5, 2)


class Neighbours:
    """Asks whether each row belongs with the next; tells how many facts it knows in every way there is."""

    def prepare(self, X, seed, *, progress=None):
        if progress is not None:
            progress(len(X), seed)  # no progress: the tests look at what it was given

    def start(self, problem):
        return problem

    def ask(self, problem):
        for first in range(len(problem.X) - 1):
            yield Question(first, first + 1, labels_by(problem.evidence), "They stand side by side.")
        return labels_by(problem.evidence)

    def describe(self, problem):
        return [f"{len(problem.evidence)} facts"]

    def representatives(self, problem):
        return np.full(len(problem.X), min(len(problem.evidence), 4))

    def column_shares(self, problem):
        return np.array([0.0, len(problem.evidence)])


class Plain:
    """Asks the same and tells nothing."""

    prepare, start, ask = Neighbours.prepare, Neighbours.start, Neighbours.ask


def labels_by(evidence):
    return evidence.to_constraints().component.astype(np.int32)


def cobras(random_state=0, n_init=1):
    return lw.COBRAS(n_init=n_init, random_state=random_state)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.linkwise"


@pytest.fixture
def two(path):
    """Two clients of one file, both with the data."""
    with Session.open(path, X, Neighbours()) as one, Session.open(path, X, Neighbours()) as other:
        yield one, other


@pytest.fixture
def reader(path):
    """A client without the data, and one with them."""
    with Session.open(path, X, Neighbours()) as writer, Session.open(path) as reader:
        yield reader, writer


def execute(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


# ---------------------------------------------------------------- one thread at a time
def test_a_thread_waits_until_the_call_of_another_one_returns():
    session, read = lw.Session(X, Neighbours()), []
    other = threading.Thread(target=lambda: read.append(session.labels))

    def read_meanwhile():
        other.start()
        other.join(0.05)
        assert read == []
        assert session.n_rows == 5  # what does not change needs not wait
        return True

    assert session.look_ahead("yes", stop=read_meanwhile) is False
    other.join()
    assert read[0].tolist() == [0, 1, 2, 3, 4]


def test_methods_of_the_parts_are_documented_as_those_of_a_session():
    assert Session.undo.__name__ == "undo"
    assert Session.undo.__doc__.startswith("Undo the last event")
    assert Session.labels.__doc__.startswith("The best clustering at this moment")
    assert list(inspect.signature(Session.undo).parameters) == ["self", "number"]


# ---------------------------------------------------------------- what is there from the start
def test_a_new_session():
    session = lw.Session(X, Neighbours(), source={"file": "a.csv"})
    assert session.X.tolist() == X.tolist()
    assert session.n_rows == 5
    assert session.ids == ["0", "1", "2", "3", "4"]
    assert session.source == {"file": "a.csv"}
    assert session.learner == {"name": f"{__name__}.Neighbours", "parameters": {}}
    assert session.labels.tolist() == list(session.cluster_shades) == [0, 1, 2, 3, 4]
    assert session.labels_are_current is True
    assert (session.events, session.history, session.names, session.cluster_names) == ([], [], {}, {})
    assert session.constraints == Constraints(5)
    assert session.status.description == ("0 facts",)
    assert [(number, labels.tolist()) for number, labels in session.replay_labels()] == [(0, [0, 1, 2, 3, 4])]


def test_ids_are_those_that_were_given():
    session = lw.Session(X, Neighbours(), ids=[10, 20, 30, 40, 50])
    assert session.ids == ["10", "20", "30", "40", "50"]


def test_what_is_read_is_a_copy():
    session = lw.Session(X, Neighbours(), ids=list("abcde"), source={"file": "a.csv"})
    session.answer("yes")
    session.labels[:] = 4
    session.cluster_shades.clear()
    for read in (session.ids, session.events, session.source, session.learner):
        read.clear()
    assert session.labels.tolist() == [0, 0, 2, 3, 4]
    assert session.cluster_shades == {0: (0, 0), 2: (2, 0), 3: (3, 0), 4: (4, 0)}
    assert session.ids == list("abcde")
    assert len(session.events) == 1
    assert session.source == {"file": "a.csv"}
    assert session.learner.keys() == {"name", "parameters"}


def test_the_first_answer_needs_no_look_at_the_question():
    session = lw.Session(X, Neighbours())
    session.answer("yes")
    assert list(session.evidence) == [Fact(0, 1, "yes")]


class Checked(Neighbours):
    def _validate_params(self):
        raise ValueError("step is 0")


class Broken(Neighbours):
    def ask(self, problem):
        raise ArithmeticError("no number")
        yield


@pytest.mark.parametrize(("learner", "error"), [(Checked, ValueError), (Broken, ArithmeticError)])
def test_a_learner_that_does_not_work_is_noticed_at_once(path, learner, error):
    with pytest.raises(error):
        Session.open(path, X, learner())
    assert not path.exists()


def test_a_learner_prepares_with_the_seed_of_the_session(path):
    seen = []
    session = lw.Session(X, Neighbours(), progress=lambda *far: seen.append(far))
    session.save(path)
    session.close()
    Session.open(path, X, Neighbours(), progress=lambda *far: seen.append(far)).close()
    assert seen[0][0] == 5
    assert seen[0] == seen[1]


def test_a_file_of_answers_that_contradict_each_other_is_damaged(path):
    with Session.open(path, X, Neighbours()) as session:
        for first, second in ((0, 1), (1, 2), (0, 2)):
            session.add(first, second, "must-link")
    execute(path, "UPDATE event SET answer = 'no' WHERE number = 3")
    words = r"s\.linkwise is damaged. Event 3 of the session is wrong. .*\. Restore a copy of the file\."
    with pytest.raises(SessionDamagedError, match=words):
        Session.open(path)


# ---------------------------------------------------------------- what was said
def test_what_is_known_and_why():
    session = lw.Session(X, Plain())
    session.add(0, 1, "must-link")
    session.add(1, 4, "cannot-link")
    assert list(session.evidence) == [Fact(0, 1, "yes"), Fact(1, 4, "no")]
    assert session.constraints == Constraints(5, [(0, 1)], [(1, 4)])
    assert session.labels.tolist() == [0, 0, 2, 3, 4]
    told = session.why(0, 4)
    assert (told.by, told.clusters, told.facts) == ("answers", (0, 4), (Fact(0, 1, "yes"), Fact(1, 4, "no")))
    assert session.why(2, 3).by == "nothing"
    assert session.representatives is None
    assert session.column_shares is None


def test_why_looks_at_parts_and_rules():
    session = lw.Session(X, Neighbours())
    session.answer("yes")
    assert session.why(2, 3).parts == ((2, 1), (3, 1))  # row 1 represents both, and is in another cluster
    rules = lw.explain(session.labels, X)
    told = session.why(2, 3, explanation=rules)
    assert told.rules == (rules.rule_of(2), rules.rule_of(3))


def test_history_and_names_are_what_holds():
    session = lw.Session(X, Neighbours())
    session.answer("yes")
    session.set_name(0, "ripe")
    session.set_name(3, "green")
    session.set_name(4, "blue")
    session.set_name(4, "")
    session.answer("no")
    session.change(6, "yes")
    assert [e.kind for e in session.events] == ["answer", "name", "name", "name", "name", "answer", "change"]
    assert [(e.number, e.answer) for e in session.history] == [(1, "yes"), (6, "yes")]
    assert session.history == settle_events(session.events)
    assert session.remaining_events == drop_undone(session.events)
    assert session.names == {0: "ripe", 3: "green"}
    assert session.labels.tolist() == [0, 0, 0, 3, 4]
    assert session.cluster_names == {0: "ripe", 3: "green"}
    session.set_name(1, "sweet")  # the same cluster
    assert session.cluster_names == {0: "sweet", 3: "green"}
    session.set_name(1, "")
    assert session.names == {0: "ripe", 3: "green"}
    assert session.cluster_names == {3: "green"}


def test_status_counts_and_tells():
    session = lw.Session(X, Neighbours())
    for answer in ("yes", "no", "unsure"):
        session.answer(answer)
    status = session.status
    assert (status.n_yes, status.n_no, status.n_unsure, status.cluster_sizes) == (1, 1, 1, (2, 1, 1, 1))
    assert (status.n_inferred, status.reason, status.description) == (1, None, ("3 facts",))
    session.answer("no")
    assert session.status.reason == "exhausted"


def test_numbers_stay_with_their_clusters(path):
    with Session.open(path, X, Neighbours()) as session:
        session.add(3, 4, "must-link")
        assert session.labels.tolist() == [0, 1, 2, 3, 3]
        session.answer("yes")
        assert session.labels.tolist() == [0, 0, 2, 3, 3]
        assert session.status.cluster_numbers == (0, 2, 3)
        assert session.join(X)["cluster"].to_list() == [0, 0, 2, 3, 3]
        told = [labels.tolist() for _, labels in session.replay_labels()]
        assert told == [[0, 1, 2, 3, 3], [0, 0, 2, 3, 3]]
    with Session.open(path) as kept:  # also without the data
        assert kept.labels.tolist() == [0, 0, 2, 3, 3]
        assert kept.cluster_shades == {0: (0, 0), 2: (1, 0), 3: (2, 0)}
    with Session.open(path, X, Neighbours()) as again:
        assert again.labels.tolist() == [0, 0, 2, 3, 3]
        again.undo(2)
        assert again.labels.tolist() == [0, 1, 2, 3, 3]


def test_retold_is_how_the_clustering_came_about():
    session = lw.Session(X, Neighbours())
    session.answer("yes")
    session.answer("no")
    story = session.replay_labels()
    assert next(story)[0] == 0
    session.answer("yes")
    assert [(number, labels.tolist()) for number, labels in story] == [
        (1, [0, 0, 2, 3, 4]),
        (2, [0, 0, 2, 3, 4]),
    ]
    assert len(list(session.replay_labels())) == 4


# ---------------------------------------------------------------- without the data
def test_without_the_data_the_last_labels_are_read(reader):
    kept, writer = reader
    writer.answer("yes")
    assert kept.X is None
    assert (kept.n_rows, kept.ids) == (5, ["0", "1", "2", "3", "4"])
    assert kept.labels.tolist() == [0, 0, 2, 3, 4]
    assert kept.labels_are_current is True
    assert kept.status == writer.status
    assert kept.constraints == writer.constraints
    assert kept.representatives is None
    assert kept.column_shares is None
    assert kept.why(0, 1).facts == (Fact(0, 1, "yes"),)
    with pytest.raises(SessionError, match=r"open without its data. Open it with Session\.open\(path, X\)"):
        list(kept.replay_labels())


def test_labels_are_older_than_answers_that_came_without_the_data(path):
    with Session.open(path, X, Neighbours()) as session:
        for _ in range(4):
            session.answer("no")
        assert session.status.reason == "exhausted"
    with Session.open(path) as kept:
        assert (kept.status.reason, kept.status.description) == ("exhausted", ("4 facts",))
        kept.add(0, 2, "must-link")
        assert kept.labels.tolist() == [0, 1, 2, 3, 4]
        assert kept.labels_are_current is False
        assert (kept.status.reason, kept.status.description) == (None, ())
        assert kept.status.n_volunteered == 1
    with Session.open(path, X, Neighbours()) as session:
        assert session.labels.tolist() == [0, 1, 0, 3, 4]


@pytest.mark.parametrize("n_answers", [0, 1])
def test_without_kept_labels_no_clusters_are_known(path, n_answers):
    with Session.open(path, X, Neighbours()) as session:
        for _ in range(n_answers):
            session.answer("yes")
    execute(path, "DELETE FROM snapshot")
    with Session.open(path) as kept:
        assert kept.labels.tolist() == [0, 0, 0, 0, 0]
        assert kept.cluster_shades == {0: (0, 0)}
        assert kept.labels_are_current is False
        with pytest.raises(SessionError, match="The clusters are older than the answers"):
            kept.set_done(0)


def test_evidence_is_made_once_for_each_event(reader):
    kept, writer = reader
    assert kept.evidence is kept.evidence
    writer.answer("no")
    assert list(kept.evidence) == [Fact(0, 1, "no")]
    assert kept.evidence is kept.evidence


# ---------------------------------------------------------------- beside other clients
READ = {
    "events": lambda s: len(s.events),
    "history": lambda s: len(s.history),
    "evidence": lambda s: list(s.evidence),
    "constraints": lambda s: s.constraints,
    "labels": lambda s: s.labels.tolist(),
    "cluster_shades": lambda s: s.cluster_shades,
    "cluster_names": lambda s: s.cluster_names,
    "names": lambda s: s.names,
    "status": lambda s: s.status,
    "why": lambda s: s.why(0, 1),
    "representatives": lambda s: s.representatives.tolist(),
    "column_shares": lambda s: s.column_shares.tolist(),
    "replay_labels": lambda s: [(number, labels.tolist()) for number, labels in s.replay_labels()],
}


@pytest.mark.parametrize("what", READ)
def test_what_another_client_wrote_is_read_at_once(two, what):
    one, other = two
    before = READ[what](one)
    other.answer("yes")
    other.set_name(4, "ripe")
    now = READ[what](one)
    assert now != before
    assert now == READ[what](other)


@pytest.mark.parametrize("kind", ["evidence", "constraints", "labels", "status", "events"])
def test_what_another_client_wrote_is_read_without_the_data_too(reader, kind):
    kept, writer = reader
    before = READ[kind](kept)
    writer.answer("yes")
    assert READ[kind](kept) != before
    assert READ[kind](kept) == READ[kind](writer)
    writer.undo()
    writer.answer("no")
    assert READ[kind](kept) == READ[kind](writer)


def test_an_answer_is_refused_when_another_client_wrote_since(two):
    one, other = two
    assert one.question.first == 0
    other.add(2, 3, "must-link")
    with pytest.raises(StaleAnswerError, match="The answer is not stored"):
        one.answer("yes")
    one.answer("yes")  # the error has shown the question
    assert len(other.events) == 2


def test_an_answer_is_refused_also_when_the_events_were_read_in_between(two):
    one, other = two
    other.add(2, 3, "must-link")
    other.set_name(0, "ripe")
    assert len(one.events) == 2
    other.set_name(0, "green")
    assert len(one.events) == 3
    with pytest.raises(StaleAnswerError):
        one.answer("yes")


def test_a_name_by_another_client_does_not_stand_in_the_way(two):
    one, other = two
    other.set_name(0, "ripe")
    one.answer("yes")
    assert one.cluster_names == {0: "ripe"}


def test_what_was_stored_but_not_heard_of_is_taken_in():
    """As after an interruption between the commit and the return."""
    session = lw.Session(X, Neighbours())
    session._journal.store.append("answer", after=0, first=0, second=1, answer="no")
    assert [e.number for e in session.events] == [1]
    session._journal.store.append("answer", after=1, first=1, second=2, answer="yes")
    assert session.labels.tolist() == [0, 1, 1, 3, 4]
    assert list(session.evidence) == [Fact(0, 1, "no"), Fact(1, 2, "yes")]


def test_a_file_that_is_older_than_what_was_read_is_refused(path, tmp_path):
    with Session.open(path, X, Neighbours()) as session:
        session.answer("yes")
        session.save_copy(tmp_path / "old.linkwise")
        session.answer("yes")
        with (
            closing(sqlite3.connect(tmp_path / "old.linkwise")) as old,
            closing(sqlite3.connect(path)) as new,
        ):
            old.backup(new)
        for _ in range(2):
            with pytest.raises(
                SessionDamagedError, match=r"s\.linkwise is an older file than the one that was opened. Open"
            ):
                _ = session.labels
    with Session.open(path, X, Neighbours()) as session:
        assert len(session.events) == 1


# ---------------------------------------------------------------- another learner takes over
def test_another_learner_takes_over_for_all_clients(path):
    with Session.open(path, X, cobras()) as one, Session.open(path) as kept:
        assert one.question is not None
        with Session.open(path, X, lw.COBRA(4, n_init=1, random_state=0)) as other:
            for client in (kept, one):
                assert client.learner["name"] == "COBRA"
                assert client.learner == other.learner
            with pytest.raises(StaleAnswerError):
                one.answer("yes")
            questions = [(s.question.first, s.question.second) for s in (one, other)]
            assert questions[0] == questions[1]
            one.answer("yes")
            assert one.labels.tolist() == other.labels.tolist() == kept.labels.tolist()


def test_a_learner_that_takes_over_may_name_every_column(path):
    """The file's columns are counted, not its rows."""
    wide = np.arange(24.0).reshape(4, 6)
    trees = lw.MinMax(2, estimator=lw.ClusILC(n_clusters=2, nominal=[5]), random_state=0)
    with Session.open(path, wide, cobras()) as one, Session.open(path, wide, trees) as other:
        assert one.learner == other.learner
        assert one.labels.tolist() == other.labels.tolist()


def test_a_session_with_one_event_is_read_whole(path):
    with Session.open(path, X, cobras()) as session:
        session.add(0, 1, "must-link")
    with Session.open(path, X, cobras()) as session:
        assert [event.number for event in session.history] == [1]
        assert session.status.n_volunteered == 1


def test_confidences_are_known_without_the_data_once_the_session_was_closed(tmp_path):
    path, rows = tmp_path / "s", np.random.default_rng(0).normal(size=(20, 2))
    with Session.open(path, rows, lw.KIN(random_state=0)) as session:
        assert session.confidence is None
        session.answer("yes")
        with Session.open(path) as kept:
            assert kept.labels_are_current
            assert kept.confidence is None  # the labels alone are stored after each answer
        wanted = session.confidence
    with Session.open(path) as kept:
        np.testing.assert_array_equal(kept.confidence, wanted)
        kept.set_name(0, "first")
        np.testing.assert_array_equal(kept.confidence, wanted)
        np.testing.assert_array_equal(kept.cluster_columns().confidence, wanted)
        kept.undo(1)
        assert not kept.labels_are_current
