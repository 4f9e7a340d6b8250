"""What each method of a session does, on six rows and with a learner that works at once."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

import linkwise as lw
from linkwise.constraints.facts import Fact
from linkwise.errors import (
    ConstraintError,
    DataMismatchError,
    InfeasibleConstraintsError,
    SessionError,
    StaleAnswerError,
)
from linkwise.learn.learner import Question
from linkwise.session import recorder as module
from linkwise.session.journal.store import Store
from linkwise.session.session import Session
from session.session_examples import told

X = np.array([[0.0, 1.0], [0.5, 1.0], [2.0, 0.0], [3.0, 1.5], [4.0, 2.5], [7.0, 0.5]])
IDS = list("abcdef")


class Neighbours:
    """Asks about each row and the next; what is joined is a cluster."""

    def prepare(self, X, seed, *, progress=None):
        if progress is not None:
            progress(1, 1)
        return "prepared"

    def start(self, problem):
        return problem

    def ask(self, problem):
        for row in range(len(problem.X) - 1):
            yield Question(row, row + 1, self.labels(problem.evidence), "They are next to each other.")
        return self.labels(problem.evidence)

    def labels(self, evidence):
        return evidence.to_constraints().component.astype(np.int32)


class Backwards(Neighbours):
    """Asks the same from the end."""

    def ask(self, problem):
        for row in range(len(problem.X) - 1, 0, -1):
            yield Question(row, row - 1, self.labels(problem.evidence), "")
        return self.labels(problem.evidence)


class Halves(Neighbours):
    """Puts rows 0 to 2 together, and 3 to 5."""

    def labels(self, evidence):
        return np.repeat(np.arange(2, dtype=np.int32), 3)


class Failing(Neighbours):
    """Fails when it knows that rows 0 and 1 belong together."""

    def labels(self, evidence):
        if evidence.verdict(0, 1) == "yes":
            raise ArithmeticError("no number")
        return super().labels(evidence)


@pytest.fixture
def session():
    with Session(X, Neighbours()) as found:
        yield found


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.linkwise"


@pytest.fixture
def two(path):
    """Two clients of one file."""
    with Session.open(path, X, Neighbours()) as mine, Session.open(path, X, Neighbours()) as other:
        yield mine, other


def pair(question):
    return question.first, question.second


def last(session):
    """The last event, without its number and time: kind, rows, answer, target, facts, source."""
    return told(session.events[-1])[1:]


def message_of(kind, do):
    with pytest.raises(kind) as refused:
        do()
    assert type(refused.value) is kind
    return str(refused.value)


def before_writing(monkeypatch, session, do):
    """Let something happen between the checks of a session and its next write."""
    write = session._journal.store.append

    def append(*given, **more):
        monkeypatch.setattr(session._journal.store, "append", write)
        do()
        return write(*given, **more)

    monkeypatch.setattr(session._journal.store, "append", append)


def stored_labels(path):
    """Number of the event after which labels were kept in a file, and the labels."""
    with closing(sqlite3.connect(path)) as db:
        (event, blob), *_ = db.execute("SELECT event, labels FROM snapshot").fetchall() or [(None, b"")]
    return event, np.frombuffer(blob, "<i4").tolist()


# ---------------------------------------------------------------- a new session
def test_a_session_knows_what_it_was_given():
    heard = []
    with Session(
        X,
        Neighbours(),
        ids=IDS,
        source={"file": "a.csv", "size": np.int64(3)},
        progress=lambda *given: heard.append(given),
    ) as session:
        assert session.source == {"file": "a.csv", "size": 3}
        assert session.ids == IDS
        assert session.learner == {"name": f"{__name__}.Neighbours", "parameters": {}}
        assert (session.n_rows, session.X.tolist()) == (6, X.tolist())
    assert heard == [(1, 1)]


def test_kin_asks_and_no_source_is_known_by_default():
    with Session(X) as session:
        assert session.learner == {"name": "KIN", "parameters": {"random_state": 0}}
        assert session.source == {}


def test_a_source_is_an_object_in_json():
    assert message_of(TypeError, lambda: Session(X, source=["a.csv"])) == "source is a list. Pass a dict."
    words = message_of(SessionError, lambda: Session(X, source={"file": object()}))
    assert words.startswith("A session cannot store source as JSON")


# ---------------------------------------------------------------- opening
def test_a_file_is_begun_with_all_that_was_given(path):
    heard = []
    given = {"ids": IDS, "source": {"file": "a.csv"}, "progress": lambda *told: heard.append(told)}
    with Session.open(path, X, Neighbours(), **given) as session:
        assert path.exists()
        session.answer("yes")
        assert heard == [(1, 1)]
    with Session.open(path) as kept:
        assert (kept.ids, kept.source) == (IDS, {"file": "a.csv"})
        assert [told(e)[1:5] for e in kept.events] == [("answer", 0, 1, "yes")]


@pytest.mark.parametrize("given", [(), (X,), (None, Neighbours())])
def test_a_file_is_begun_with_data_and_a_learner_alone(path, given):
    words = message_of(FileNotFoundError, lambda: Session.open(path, *given))
    assert words == f"There is no session file {path}. Pass X and a learner to begin one."
    assert not path.exists()


def test_a_file_that_cannot_be_written_is_not_opened(path, monkeypatch):
    def save(self, path):
        raise SessionError("no room")

    monkeypatch.setattr(Session, "save", save)
    assert message_of(SessionError, lambda: Session.open(path, X, Neighbours())) == "no room"


def test_a_file_that_another_client_has_just_begun_is_opened(path, monkeypatch):
    save = Session.save
    mine = []

    def save_second(self, path):
        monkeypatch.setattr(Session, "save", save)
        mine.append(self)
        with Session.open(path, X, Neighbours()) as other:
            other.answer("no")
        self.save(path)

    monkeypatch.setattr(Session, "save", save_second)
    with Session.open(path, X, Neighbours()) as session:
        assert session.status.n_answers == 1
        assert session is not mine[0]
    with pytest.raises(SessionError, match="the session in memory is closed"):
        mine[0].undo()


@pytest.fixture
def opened(monkeypatch):
    """The stores that are opened."""
    found = []
    open_store = Store.open

    def record(path):
        found.append(open_store(path))
        return found[-1]

    monkeypatch.setattr(Store, "open", record)
    return found


def test_a_file_is_let_go_of_when_it_cannot_be_opened(path, opened):
    Session.open(path, X, Neighbours()).close()
    with pytest.raises(DataMismatchError):
        Session.open(path, X[:-1], Neighbours())
    with pytest.raises(SessionError, match=r"closed\. Open it again"):
        opened[-1].last()


def test_ids_have_to_be_those_of_the_file(path):
    Session.open(path, X, Neighbours(), ids=range(10, 16)).close()
    Session.open(path, ids=range(10, 16)).close()
    Session.open(path).close()
    words = message_of(DataMismatchError, lambda: Session.open(path, X, Neighbours(), ids=IDS))
    assert words == (
        f"{path} was begun with other ids. Open it with the ids that it was begun with, or carry the answers "
        "over by id, with ids=... and recode=True, or on the command line with linkwise ask DATA --replay."
    )


def test_a_learner_needs_the_data(path):
    Session.open(path, X, Neighbours()).close()
    words = message_of(SessionError, lambda: Session.open(path, learner=Neighbours()))
    assert words == "A learner needs the data. Open it with Session.open(path, X, learner)."


def test_other_data_are_refused(path):
    Session.open(path, X, Neighbours()).close()
    words = message_of(DataMismatchError, lambda: Session.open(path, X[:, :1], Neighbours()))
    assert words == (
        f"{path} was begun with other data: 6 rows, 2 columns, not 6 rows, 1 column. "
        "Open it with the data that "
        "it was begun with, or carry the answers over by id, with ids=... and recode=True, or on the command "
        "line with linkwise ask DATA --replay."
    )


def test_the_stored_learner_goes_on(path):
    Session.open(path, X, lw.COBRA(3, n_init=1, random_state=4)).close()
    with Session.open(path, X) as session:
        assert session.learner["name"] == "COBRA"
        assert session.learner["parameters"]["n_super_instances"] == 3
        assert session.question is not None


def test_the_stored_learner_names_columns_of_the_data(path):
    with Session.open(path, X, Neighbours()) as session:
        nested = {"name": "ClusILC", "parameters": {"nominal": [2]}}
        described = {"name": "MinMax", "parameters": {"estimator": nested}}
        session._journal.store.append("learner", after=0, value=described)
        session._state.replay = None
    with pytest.raises(SessionError, match="nominal names column 2, and the columns are 0 to 1"):
        Session.open(path, X)


def test_another_learner_takes_over(path):
    with Session.open(path, X, Neighbours()) as session:
        session.answer("yes")
    with Session.open(path, X, Backwards()) as session:
        assert pair(session.question) == (5, 4)
        assert session.learner["name"].endswith("Backwards")
        assert session.labels.tolist() == [0, 0, 2, 3, 4, 5]
    with Session.open(path) as kept:
        assert kept.learner == {"name": f"{__name__}.Backwards", "parameters": {}}


def test_labels_of_another_learner_are_kept_at_once(path):
    with Session.open(path, X, Neighbours()) as session:
        session.answer("yes")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE snapshot SET labels = zeroblob(24)")
    with Session.open(path, X, Neighbours()):
        assert stored_labels(path) == (1, [0] * 6)  # the same learner: it keeps them later
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE snapshot SET labels = zeroblob(24)")
    with Session.open(path, X, Backwards()):
        assert stored_labels(path) == (2, [0, 0, 2, 3, 4, 5])  # after the event that another learner asks


# ---------------------------------------------------------------- asking and answering
def test_answers_are_stored_and_lead_to_the_next_question(session):
    assert (pair(session.question), session.question_id) == ((0, 1), "0:0-1")
    session.answer("yes")
    assert last(session) == ("answer", 0, 1, "yes", None, (), "")
    assert (pair(session.question), session.question_id) == ((1, 2), "1:1-2")
    session.answer(False, question_id="1:1-2")
    assert last(session) == ("answer", 1, 2, "no", None, (), "")
    assert session.labels.tolist() == [0, 0, 2, 3, 4, 5]


def test_only_facts_about_pairs_change_the_name_of_a_question(session):
    session.answer("no")
    session.set_name(0, "ripe")
    assert session.question_id == "1:1-2"
    session.answer("unsure", question_id="1:1-2")
    assert session.question_id == "3:2-3"
    session.add(0, 5, "cannot-link")
    assert session.question_id == "4:2-3"


def test_nothing_is_asked_at_the_end(session):
    for _ in range(5):
        session.answer("no")
    assert (session.question, session.question_id) == (None, None)
    words = message_of(SessionError, lambda: session.answer("no"))
    assert words == "There is no question to answer (exhausted). Volunteer pairs with add()."
    assert session.look_ahead("yes") is False


def test_what_is_no_answer_is_not_stored(session):
    with pytest.raises(TypeError, match="The answer about rows 0 and 1 is unknown: 'maybe'"):
        session.answer("maybe")
    assert session.events == []


def test_an_answer_to_another_question_is_refused(session):
    words = message_of(StaleAnswerError, lambda: session.answer("no", question_id="9:0-1"))
    assert words == "The answer is not stored: the session asks another question now. Answer that one."
    assert session.events == []


def test_an_answer_to_a_question_that_was_not_seen_is_refused(two):
    mine, other = two
    assert pair(mine.question) == (0, 1)
    other.answer("no")
    with pytest.raises(StaleAnswerError) as refused:
        mine.answer("yes")
    assert pair(refused.value.question) == (1, 2)
    mine.answer("yes")  # the error named the present question
    assert [e.answer for e in other.history] == ["no", "yes"]


def test_looking_at_the_question_makes_an_answer_fresh(two):
    mine, other = two
    other.answer("no")
    assert pair(mine.question) == (1, 2)
    mine.answer("yes")
    other.answer("no", question_id=other.question_id)
    assert [e.answer for e in mine.history] == ["no", "yes", "no"]


def test_a_question_may_have_been_seen_at_another_client(two):
    mine, other = two
    assert mine.question_id == "0:0-1"
    other.answer("no")
    mine.answer("yes", question_id=other.question_id)
    assert [(pair(e), e.answer) for e in other.history] == [((0, 1), "no"), ((1, 2), "yes")]


def test_an_answer_that_comes_second_is_refused(two, monkeypatch):
    mine, other = two
    for _ in range(4):
        mine.answer("no")
    assert other.question is not None
    before_writing(monkeypatch, mine, lambda: other.answer("unsure"))
    words = message_of(StaleAnswerError, lambda: mine.answer("yes"))
    assert words == "The answer is not stored: there is no question any more. Volunteer pairs with add()."
    assert [e.answer for e in mine.events] == ["no"] * 4 + ["unsure"]


def test_looking_ahead_stores_nothing_and_may_be_stopped(session):
    assert session.look_ahead("yes") is True
    assert session.look_ahead(True, stop=lambda: True) is False
    with pytest.raises(TypeError, match="The answer about rows 0 and 1 is unknown: 'maybe'"):
        session.look_ahead("maybe")
    assert session.events == []


def test_looking_ahead_looks_from_the_present_question(two):
    mine, other = two
    for _ in range(5):
        other.answer("no")
    assert mine.look_ahead("yes") is False


def test_an_answer_that_a_learner_cannot_deal_with_is_stored(path):
    with Session.open(path, X, Failing()) as session:
        with pytest.raises(ArithmeticError):
            session.answer("yes")
        assert len(session.events) == 1
        session.undo()
        assert pair(session.question) == (0, 1)


# ---------------------------------------------------------------- pairs
def test_volunteered_pairs_are_stored(session):
    session.add(np.int64(3), 0, "must-link")
    assert last(session) == ("add", 3, 0, "yes", None, (), "")
    session.add(5, 0, "cannot-link")
    assert last(session) == ("add", 5, 0, "no", None, (), "")
    words = message_of(ConstraintError, lambda: session.add(1, 2, "maybe"))
    assert words == "The kind of a pair is unknown: 'maybe'. Pass must-link or cannot-link."
    assert session.constraints == lw.Constraints(6, [(3, 0)], [(5, 0)])


def test_a_contradiction_is_refused_in_ids():
    with Session(X, Neighbours(), ids=IDS) as session:
        session.add(0, 1, "must-link")
        with pytest.raises(InfeasibleConstraintsError, match="b = a, but b ≠ a"):
            session.add(1, 0, "cannot-link")
        assert len(session.events) == 1


def test_a_pair_is_checked_against_what_others_wrote(two, monkeypatch):
    mine, other = two
    other.add(0, 3, "must-link")
    with pytest.raises(InfeasibleConstraintsError):
        mine.add(0, 3, "cannot-link")
    before_writing(monkeypatch, mine, lambda: other.add(3, 4, "must-link"))
    mine.add(1, 2, "must-link")
    assert [pair(e) for e in mine.events] == [(0, 3), (3, 4), (1, 2)]


def test_an_import_is_one_event(session):
    pairs = lw.Constraints(6, [(0, 3), (1, 2)], [(0, 5)])
    assert session.import_constraints(pairs, source="a.csv") == 3
    facts = (Fact(0, 3, "yes"), Fact(1, 2, "yes"), Fact(0, 5, "no"))
    assert last(session) == ("import", None, None, None, None, facts, "a.csv")
    assert session.import_constraints(lw.Constraints(6, [(4, 5)])) == 1
    assert last(session) == ("import", None, None, None, None, (Fact(4, 5, "yes"),), "")


def test_pairs_that_were_all_said_before_are_not_imported_again(session):
    session.add(3, 0, "must-link")
    session.add(5, 0, "cannot-link")
    assert session.import_constraints(lw.Constraints(6, [(0, 3)], [(0, 5)])) == 2
    assert len(session.events) == 2
    assert session.import_constraints(lw.Constraints(6, [(0, 3), (0, 2)])) == 2  # one of them is new
    assert len(session.events) == 3


def test_what_cannot_be_imported(session):
    words = message_of(TypeError, lambda: session.import_constraints([(0, 1)]))
    assert words == (
        "constraints is a list. "
        "Build it with linkwise.Constraints(n_rows, must_link=[...], cannot_link=[...])."
    )
    session.add(0, 1, "must-link")
    with pytest.raises(InfeasibleConstraintsError, match="0 = 1, but 0 ≠ 1"):
        session.import_constraints(lw.Constraints(6, [(2, 3)], [(0, 1)]))
    with pytest.raises(ConstraintError, match="about 7 rows, but the data have 6"):
        session.import_constraints(lw.Constraints(7, [(2, 3)]))
    assert len(session.events) == 1


def test_a_source_that_is_no_unicode_is_kept_escaped(session):
    session.import_constraints(lw.Constraints(6, [(0, 3)]), source="ä\udcff.csv")
    assert session.events[-1].source == "ä\\udcff.csv"


def test_a_file_of_pairs_names_rows_by_id(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("id_a,id_b,kind\na,c,must-link\nb,f,cannot-link\n")
    with Session(X, Neighbours(), ids=IDS) as session:
        assert session.import_csv(file) == 2
        assert last(session)[-2:] == ((Fact(0, 2, "yes"), Fact(1, 5, "no")), "pairs.csv")


# ---------------------------------------------------------------- answers of another session
@pytest.fixture
def elsewhere(path):
    """A file with answers about rows a to f, in another order and with one row that is not among ours."""
    with Session.open(path, X[::-1], Neighbours(), ids=[*"fxdcba"]) as other:
        other.add(5, 4, "must-link")  # a = b
        other.add(4, 5, "must-link")
        other.add(3, 0, "cannot-link")  # c ≠ f
        other.add(1, 0, "cannot-link")  # x ≠ f
        other.add(2, 1, "must-link")  # d = x
        for _ in range(2):
            other.answer("unsure")  # about d and c, then c and b: the pairs before are known
    return path


def test_answers_are_carried_over_by_id(elsewhere):
    with Session(X, Neighbours(), ids=IDS) as session:
        taken = session.carry_over(elsewhere)
        facts = (Fact(0, 1, "yes"), Fact(2, 5, "no"), Fact(3, 2, "unsure"), Fact(2, 1, "unsure"))
        assert last(session) == ("import", None, None, None, None, facts, "s.linkwise")
        assert taken == (4, 2)
        assert session.carry_over(elsewhere) == (4, 2)
        assert len(session.events) == 1


def test_answers_are_carried_over_to_a_file(elsewhere, tmp_path):
    with Session.open(tmp_path / "t.linkwise", X, Neighbours(), ids=IDS) as session:
        assert session.carry_over(elsewhere)[0] == 4
        assert session.constraints == lw.Constraints(6, [(0, 1)], [(2, 5)])
        with pytest.raises(FileNotFoundError, match=r"There is no session file .*none\.linkwise"):
            session.carry_over(tmp_path / "none.linkwise")


def test_a_session_is_not_carried_over_to_itself(elsewhere):
    with Session.open(elsewhere) as session:
        words = message_of(SessionError, lambda: session.carry_over(elsewhere))
        assert words == f"{elsewhere} is this session itself. Pass another one."


# ---------------------------------------------------------------- clusters
def test_a_cluster_that_is_done_is_not_asked_about():
    with Session(X, Halves()) as session:
        session.add(5, 4, "must-link")
        assert session.set_done(4) == 3
        assert last(session) == ("done", 4, None, None, None, (Fact(4, 3, "yes"),), "")
        assert session.evidence.verdict(3, 5) == "yes"


def test_a_cluster_of_which_all_is_known_needs_no_event(session):
    session.add(1, 2, "must-link")
    session.set_done(1)
    assert session.set_done(1) == 2
    assert session.set_done(0) == 1
    assert [e.kind for e in session.events] == ["add"]


def test_only_present_clusters_are_done(path):
    with Session.open(path, X, Neighbours()) as session:
        session.add(0, 1, "must-link")
    with Session.open(path) as kept:
        assert kept.set_done(0) == 2
        kept.undo()
        words = message_of(SessionError, lambda: kept.set_done(0))
        assert words == "The clusters are older than the answers. Open the session with its data."


@pytest.mark.parametrize("do", [lambda s, row: s.set_done(row), lambda s, row: s.set_name(row, "ripe")])
def test_only_rows_have_clusters(session, do):
    for row in (-1, 6):
        with pytest.raises(ConstraintError, match=f"no row {row}: the rows are 0 to 5"):
            do(session, row)
    with pytest.raises(TypeError, match=r"not an integer: 1\.0"):
        do(session, 1.0)
    for row in range(6):
        do(session, row)


def test_the_cluster_of_a_single_row_can_be_named_and_done():
    with Session([[1.0]], Neighbours()) as session:
        assert session.set_done(0) == 1
        session.set_name(0, "ripe")
        assert session.cluster_names == {0: "ripe"}


def test_names_are_stored_as_one_line(session):
    session.set_name(3, "  ripe \n and  red ")
    assert last(session) == ("name", 3, None, None, None, (), "ripe and red")
    session.set_name(3, "")
    assert last(session) == ("name", 3, None, None, None, (), "")
    assert session.names == {}


def test_a_name_is_stored_again_only_where_another_came_later(session):
    session.set_name(2, "")
    assert session.events == []
    session.set_name(2, "ripe")
    session.set_name(2, "ripe")
    assert len(session.events) == 1
    session.set_name(4, "green")
    session.set_name(2, "ripe")
    assert [(e.first, e.source) for e in session.events] == [(2, "ripe"), (4, "green"), (2, "ripe")]


def test_a_name_is_text(session):
    assert message_of(TypeError, lambda: session.set_name(0, 7)) == (
        "The name of a cluster is a int. Pass text."
    )
    words = message_of(SessionError, lambda: session.set_name(0, "\ud83c"))
    assert words == "The name '\\ud83c' is not valid Unicode: it holds half a character. Type it again."
    assert session.events == []


# ---------------------------------------------------------------- undoing and changing
def test_undoing_takes_back_what_was_said_last(session):
    assert session.undo() is None
    session.answer("yes")
    session.set_name(0, "ripe")
    session.answer("no")
    for kind, number in (("answer", 3), ("name", 2), ("answer", 1)):
        undone = session.undo()
        assert (undone.kind, undone.number) == (kind, number)
        assert last(session) == ("undo", None, None, None, number, (), "")
    assert session.undo() is None
    assert pair(session.question) == (0, 1)


def test_undoing_takes_back_an_event_by_its_number(session):
    for answer in ("yes", "no", "unsure"):
        session.answer(answer)
    session.change(2, "unsure")
    undone = session.undo(2)
    assert (undone.number, undone.answer) == (2, "no")
    assert last(session) == ("undo", None, None, None, 2, (), "")
    assert [e.number for e in session.history] == [1, 3]


@pytest.mark.parametrize("number", [0, 2, 3, 4, 9])
def test_undoing_what_does_not_hold(session, number):
    session.answer("yes")
    session.answer("no")
    session.change(1, "unsure")
    session.undo(2)
    words = message_of(SessionError, lambda: session.undo(number))
    assert words == f"There is no event {number} that can be undone. Take a number from history."
    assert len(session.events) == 4


def test_undoing_takes_back_a_change_that_was_made_last(session):
    session.answer("yes")
    session.change(1, "unsure")
    assert session.undo().kind == "change"
    assert [e.answer for e in session.history] == ["yes"]


def test_undoing_takes_back_what_another_client_said(two):
    mine, other = two
    other.add(0, 3, "must-link")
    assert mine.undo().kind == "add"


def test_nobody_takes_back_what_he_has_not_seen(two, monkeypatch):
    mine, other = two
    mine.answer("no")
    before_writing(monkeypatch, mine, lambda: other.add(0, 3, "must-link"))
    words = message_of(SessionError, mine.undo)
    assert (
        words == "Another client changed the session at the same moment, and nothing is undone. "
        "Read the session again and repeat."
    )
    assert [e.kind for e in mine.history] == ["answer", "add"]


def test_an_answer_is_changed(session):
    session.answer("yes")
    session.add(0, 3, "must-link")
    session.change(1, False)
    assert last(session) == ("change", None, None, "no", 1, (), "")
    session.change(2, "unsure")
    assert last(session) == ("change", None, None, "unsure", 2, (), "")
    session.change(2, "unsure")
    assert len(session.events) == 4
    assert [e.answer for e in session.history] == ["no", "unsure"]


def test_a_change_must_not_contradict_the_other_answers(session):
    session.answer("unsure")
    session.add(0, 3, "must-link")
    session.add(3, 1, "must-link")
    with pytest.raises(InfeasibleConstraintsError, match="0 = 3 = 1, but 0 ≠ 1"):
        session.change(1, "no")
    with pytest.raises(TypeError, match="The answer about rows 0 and 3 is unknown: 'maybe'"):
        session.change(2, "maybe")
    assert len(session.events) == 3


@pytest.mark.parametrize("number", [0, 2, 3, 9])
def test_only_pairs_that_hold_are_changed(session, number):
    session.answer("unsure")
    session.import_constraints(lw.Constraints(6, [(0, 3)]))
    session.answer("unsure")
    session.undo(3)
    session.add(3, 4, "must-link")
    words = message_of(SessionError, lambda: session.change(number, "unsure"))
    assert words == f"Event {number} is not an answer that can be changed. Take a number from history."
    assert len(session.events) == 5


def test_a_done_cluster_is_no_answer_that_can_be_changed():
    with Session(X, Halves()) as session:
        session.set_done(0)
        assert [e.kind for e in session.events] == ["done"]
        words = message_of(SessionError, lambda: session.change(1, "no"))
        assert words == "Event 1 is not an answer that can be changed. Take a number from history."


# ---------------------------------------------------------------- files
def test_a_session_moves_from_memory_to_a_file(path, tmp_path):
    session = Session(X, Neighbours())
    session.answer("yes")
    memory = session._journal.store
    session.save(path)
    with pytest.raises(SessionError, match="the session in memory is closed"):
        memory.last()
    assert stored_labels(path) == (1, [0, 0, 2, 3, 4, 5])
    session.answer("no")
    with Session.open(path) as kept:
        assert len(kept.events) == 2
    words = message_of(SessionError, lambda: session.save(tmp_path / "t.linkwise"))
    assert words == f"The session is stored in {path} already. Use save_copy(path)."
    session.close()


def test_what_others_write_just_after_saving_is_seen(path, monkeypatch):
    """Also where SQLite counts the changes of the file from the number that it had for the memory."""
    monkeypatch.setattr(Store, "version", lambda self: 1)
    with Session(X, lw.COBRA(2, n_init=1, random_state=0)) as session:
        session.save(path)
        with Session.open(path, X, lw.COBRA(3, n_init=1, random_state=0)):
            assert session.learner["parameters"]["n_super_instances"] == 3


def test_labels_of_many_rows_are_kept_at_the_end_alone(path, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_STORED_ROWS", 5)
    with Session.open(path, X, Neighbours()) as session:
        session.answer("yes")
        assert stored_labels(path) == (0, [0, 1, 2, 3, 4, 5])
        session.save_copy(tmp_path / "copy.linkwise")
        assert stored_labels(tmp_path / "copy.linkwise") == (1, [0, 0, 2, 3, 4, 5])
        session.answer("yes")
        assert stored_labels(path)[0] == 1
    assert stored_labels(path) == (2, [0, 0, 0, 3, 4, 5])


def test_labels_of_few_rows_are_kept_after_every_answer(path, monkeypatch):
    monkeypatch.setattr(module, "MOST_STORED_ROWS", 6)
    with Session.open(path, X, Neighbours()) as session:
        session.answer("yes")
        assert stored_labels(path) == (1, [0, 0, 2, 3, 4, 5])


def test_without_data_no_labels_are_kept(path):
    with Session.open(path, X, Neighbours()) as session:
        session.answer("yes")
    with Session.open(path) as kept:
        kept.add(4, 5, "must-link")
    assert stored_labels(path) == (1, [0, 0, 2, 3, 4, 5])


def test_leaving_the_block_closes_the_file(path):
    with Session.open(path, X, Neighbours()) as session:
        pass
    with pytest.raises(SessionError, match=r"is closed\. Open it again\."):
        session.undo()
    session.close()
