"""What a session does with its rows beside asking: items, error rates, and another encoding of the rows."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import (
    DataError,
    DataMismatchError,
    InfeasibleConstraintsError,
    SessionError,
    StaleAnswerError,
)
from linkwise.session.session import Session
from session.test_session import IDS, Neighbours, X

ITEMS = ["ape", "bee", "cat", "dog", "eel", "fox"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.linkwise"


# ---------------------------------------------------------------- items
def test_items_are_kept_while_the_session_is_open(path):
    assert Session(X, Neighbours(), items=ITEMS).items is ITEMS
    with Session.open(path, X, Neighbours(), items=ITEMS) as session:
        assert session.items is ITEMS
    with Session.open(path, X, Neighbours()) as session:
        assert session.items is None
    with Session.open(path, X, Neighbours(), items=ITEMS) as session:
        assert session.items is ITEMS


def test_each_row_needs_an_item(path):
    with pytest.raises(DataError, match="5 items for 6 rows"):
        Session(X, Neighbours(), items=ITEMS[:5])
    Session.open(path, X, Neighbours()).close()
    with pytest.raises(DataError, match="5 items for 6 rows"):
        Session.open(path, X, Neighbours(), items=ITEMS[:5])
    with Session.open(path, X, lw.COBRAS(random_state=0), items=ITEMS) as session:
        with pytest.raises(DataError, match="5 items for 6 rows"):
            session.recode(X[:, :1], items=ITEMS[:5])
        assert session.items is ITEMS


def test_items_stay_unless_the_rows_change(path):
    with Session.open(path, X, lw.COBRAS(random_state=0), ids=IDS, items=ITEMS) as session:
        session.recode(X[:, :1], ids=IDS)
        assert session.items is ITEMS
        other = [*ITEMS]
        session.recode(X, ids=IDS, items=other)
        assert session.items is other
        session.recode(X[::-1], ids=IDS[::-1])
        assert session.items is None
        session.recode(X[::-1], ids=IDS[::-1], items=other)
        assert session.items is other


# ---------------------------------------------------------------- error rates
def test_a_rate_that_is_out_of_range_begins_no_file(path):
    with pytest.raises(ValueError, match="error_rate"):
        Session.open(path, X, Neighbours(), error_rate=1)
    assert not path.exists()


@pytest.mark.parametrize("rate", [0, 0.2, None, {"anna": 0.1}])
def test_a_new_file_has_the_rate_that_was_given(path, rate):
    with Session.open(path, X, Neighbours(), error_rate=rate) as session:
        assert session.assumed_error_rate == rate
    with Session.open(path) as session:
        assert session.assumed_error_rate == rate


@pytest.mark.parametrize("rate", [0, {"anna": 0, "": 0.1}])
def test_answers_that_disagree_cannot_all_become_right(path, rate):
    with Session.open(path, X, Neighbours(), error_rate=None) as session:
        session.add(0, 1, "must-link", source="anna")
        session.add(1, 0, "cannot-link", source="anna")
    with pytest.raises(InfeasibleConstraintsError, match="they cannot all be right"):
        Session.open(path, X, Neighbours(), error_rate=rate)
    with Session.open(path, X, Neighbours(), error_rate={"anna": 0.3, "ben": 0}) as session:
        assert session.assumed_error_rate == {"anna": 0.3, "ben": 0}
    with Session.open(path, X, Neighbours()) as session:
        assert session.assumed_error_rate == {"anna": 0.3, "ben": 0}


def test_answers_that_agree_may_become_right(path):
    with Session.open(path, X, Neighbours(), error_rate=0.2) as session:
        session.add(0, 1, "must-link")
    with pytest.raises(SessionError, match="Another error rate needs the data"):
        Session.open(path, error_rate=0)
    with Session.open(path, X, Neighbours(), error_rate=0) as session:
        assert session.assumed_error_rate == 0
    with Session.open(path, error_rate=0) as session:
        assert session.assumed_error_rate == 0


def test_a_reliability_belongs_to_yes_and_no():
    session = Session(X, Neighbours(), error_rate=None)
    session.answer("yes", reliability=0.75)
    session.answer("unsure", reliability=0.75)
    session.answer("no")
    assert [event.reliability for event in session.history] == [0.75, None, None]
    with pytest.raises(ValueError, match="reliability"):
        session.answer("yes", reliability=0.25)
    with pytest.raises(ValueError, match="reliability"):
        session.answer("unsure", reliability=2)
    assert len(session.history) == 3


# ---------------------------------------------------------------- the rows in another order
@pytest.mark.parametrize("is_open", [True, False])
def test_examples_and_audits_follow_their_rows(path, is_open):
    order = [5, 3, 1, 0, 2, 4]
    ids = [IDS[row] for row in order]
    with Session.open(path, X, lw.COBRAS(random_state=0), ids=IDS, error_rate=None) as session:
        for first, second in ((0, 1), (1, 2), (3, 4), (4, 5)):
            session.add(first, second, "must-link" if first != 1 else "cannot-link", source="ben")
        session.set_examples([(0, 1, "yes", "both red"), (1, 5, "no")])
        open_pairs = session.audit("ben", by="anna", n=3)
        audited = [{session.ids[q.first], session.ids[q.second]} for q in open_pairs]
        if is_open:
            session.recode(X[order], ids=ids)
    with Session.open(path, X[order], lw.COBRAS(random_state=0), ids=ids, recode=not is_open) as session:
        names = [(session.ids[e.first], session.ids[e.second]) for e in session.examples]
        assert [set(pair) for pair in names] == [{"a", "b"}, {"b", "f"}]
        pairs = [{session.ids[e.first], session.ids[e.second]} for e in session.history]
        assert pairs == [{"a", "b"}, {"b", "c"}, {"d", "e"}, {"e", "f"}]
        again = [{session.ids[q.first], session.ids[q.second]} for q in session.audit("ben", by="anna", n=3)]
        assert again == audited
    with Session.open(path) as session:
        assert [(session.ids[e.first], session.ids[e.second]) for e in session.examples] == names


def test_new_rows_leave_the_numbers_of_clusters(path):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(center, 0.1, (8, 2)) for center in (0, 5, 10)])
    more = np.vstack([rng.normal(center, 0.1, (n, 2)) for center, n in ((20, 16), (10, 4))])
    ids = [str(row) for row in range(44)]
    with Session.open(path, rows, lw.KIN(random_state=0), ids=ids[:24]) as session:
        for row in (8, 16, 0):  # the first cluster that is met is not the first one among the rows
            session.add(row, row + 1, "must-link")
        session.add(8, 16, "cannot-link")
        session.add(8, 0, "cannot-link")
        before = session.labels.tolist()
        assert len(set(before)) == 3
        session.recode(np.vstack([rows, more]), ids=ids)
        assert session.labels.tolist()[:24] == before
        now = session.labels.tolist()
    with Session.open(path, np.vstack([rows, more]), ids=ids) as session:
        assert session.labels.tolist() == now


ORDER = [1, 0, 2, 3, 4, 5]


@pytest.mark.parametrize("is_open", [True, False])
def test_a_late_answer_is_never_stored_for_other_rows(path, is_open):
    ids = [IDS[row] for row in ORDER]
    with Session.open(path, X, lw.COBRAS(random_state=0), ids=IDS) as session:
        old = [session.question_id, *(question.id for question in session.questions(2, to="ben"))]
        assert len(set(old)) > 1
        if is_open:
            session.recode(X[ORDER], ids=ids)
            _refuse(session, old)
    with Session.open(path, X[ORDER], lw.COBRAS(random_state=0), ids=ids, recode=not is_open) as session:
        _refuse(session, old)
        new = session.questions(2, to="ben")
        session.answer("yes", question_id=new[1].id, source="ben")
        assert {session.history[0].first, session.history[0].second} == {new[1].first, new[1].second}
    with Session.open(path, X[ORDER], ids=ids) as session:
        session.undo()
        session.answer("no", question_id=new[1].id, source="ben")  # after a restart, too
        _refuse(session, old, 3)
        with Session.open(path, X, ids=IDS, recode=True) as back:  # where they were is another place in time
            _refuse(back, old, 3)
            _refuse(back, [question.id for question in new], 3)


def _refuse(session, ids, n_events=0):
    for name in ids:
        with pytest.raises(StaleAnswerError):
            session.answer("yes", question_id=name)
        with pytest.raises(StaleAnswerError):
            session.postpone(name)
    assert len(session.events) == n_events


def test_a_late_answer_counts_if_the_rows_stay_where_they_are(path):
    with Session.open(path, X, lw.COBRAS(random_state=0), ids=IDS) as session:
        question = session.questions(2, to="ben")[1]
        session.recode(X[:, :1], ids=IDS)
        session.recode(np.vstack([X[:, :1], [[9.0]]]), ids=[*IDS, "g"])
        session.answer("yes", question_id=question.id, source="ben")
        (event,) = session.history
        assert {event.first, event.second} == {question.first, question.second}


def test_examples_bind_the_number_of_rows(path):
    with Session.open(path, X, Neighbours()) as session:
        session.set_examples([(4, 5, "yes")])
    with pytest.raises(DataMismatchError, match="The session has 6 rows"):
        Session.open(path, X[:4], Neighbours(), recode=True)


def test_a_source_that_is_no_json_is_named(path):
    with (
        Session.open(path, X, lw.COBRAS(random_state=0)) as session,
        pytest.raises(SessionError, match="cannot store source as JSON"),
    ):
        session.recode(X[:, :1], source={"of": object()})


def test_an_encoding_that_cannot_be_stored_leaves_the_rows_where_they_are(path, tmp_path):
    with Session.open(path, X, lw.COBRAS(random_state=0), ids=IDS) as session:
        session.add(0, 2, "must-link")
        session.add(1, 3, "cannot-link")
        before = session.history, session.names, list(session.evidence), session.ids
        with pytest.raises(FileNotFoundError):
            session.recode(X[::-1], ids=IDS[::-1], backup=tmp_path / "none" / "b.linkwise")
        assert (session.history, session.names, list(session.evidence), session.ids) == before
        assert session.constraints == lw.Constraints(6, [(0, 2)], [(1, 3)])


def test_what_others_have_stored_moves_along(path):
    with (
        Session.open(path, X, lw.COBRAS(random_state=0), ids=IDS) as session,
        Session.open(path) as other,
    ):
        other.add(0, 1, "must-link")
        session.recode(X[::-1], ids=IDS[::-1])
        assert [(e.first, e.second) for e in session.history] == [(5, 4)]


def test_an_open_question_is_answered_once_by_each(path):
    with Session.open(path, X, lw.COBRAS(random_state=0), error_rate=None) as session:
        question = session.questions(2, to="ben")[1]
        session.answer("yes", question_id=question.id, source="ben")
        with pytest.raises(StaleAnswerError):
            session.answer("no", question_id=question.id, source="ben")
        session.answer("no", question_id=question.id, source="carl")
        assert [event.source for event in session.history] == ["ben", "carl"]


def test_a_late_answer_of_somebody_who_is_never_wrong_is_checked(path):
    with Session.open(path, X, lw.COBRAS(random_state=0), error_rate={"anna": 0, "": None}) as session:
        question = session.questions(2, to="anna")[1]
        session.add(question.first, question.second, "must-link", source="anna")
        with pytest.raises(InfeasibleConstraintsError):
            session.answer("no", question_id=question.id, source="anna")
        assert len(session.history) == 1


def test_what_is_to_follow_is_called_after_the_file_is_closed(path):
    called = []
    with Session.open(path, X, Neighbours()) as session:
        session.call_after_close(lambda: called.append("closed"))
        assert called == []
    assert called == ["closed"]
