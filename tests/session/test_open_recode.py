"""Another encoding of the rows while a session is open."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import DataMismatchError, SessionError
from linkwise.session.session import Session
from linkwise.session.state.colours import find_heirs

RNG = np.random.default_rng(0)
KIND = RNG.integers(3, size=60)
X = np.column_stack([KIND + RNG.normal(0, 0.1, 60), RNG.uniform(0, 3, 60)])


def begin(path):
    session = Session.open(path, X, lw.KIN(random_state=0))
    for _ in range(12):
        q = session.question
        session.answer(bool(KIND[q.first] == KIND[q.second]))
    return session


def test_the_answers_are_replayed_on_the_other_columns(tmp_path):
    path, backup = tmp_path / "s.linkwise", tmp_path / "before.linkwise"
    with begin(path) as session:
        events = session.events
        session.recode(X[:, :1], source={"columns": 1}, backup=backup)
        assert (session.events, session.X.shape, session.source) == (events, (60, 1), {"columns": 1})
        labels, question = session.labels.tolist(), session.question_id
        with Session.open(path, X[:, :1]) as other:
            assert (other.labels.tolist(), other.question_id) == (labels, question)
        session.answer("unsure", question_id=question)
    with Session.open(backup, X) as copy:
        assert copy.events == events


@pytest.mark.parametrize("wrong", [X[:50], np.full_like(X, np.nan)])
def test_an_error_changes_nothing(tmp_path, wrong):
    with begin(tmp_path / "s.linkwise") as session:
        before = session.events, session.labels.tolist(), session.question_id
        with pytest.raises((DataMismatchError, ValueError)):
            session.recode(wrong, backup=tmp_path / "before.linkwise")
        assert (session.events, session.labels.tolist(), session.question_id) == before
        session.answer(True, question_id=before[2])
    assert not (tmp_path / "before.linkwise").exists()


def test_a_copy_that_cannot_be_written_changes_nothing(tmp_path):
    with begin(tmp_path / "s.linkwise") as session:
        before = session.events, session.labels.tolist(), session.question_id, session.source
        with pytest.raises(FileNotFoundError):
            session.recode(X[:, :1], source={"columns": 1}, backup=tmp_path / "none" / "before.linkwise")
        assert (session.events, session.labels.tolist(), session.question_id, session.source) == before
        assert session.X.shape == X.shape


def test_the_data_are_needed(tmp_path):
    begin(tmp_path / "s.linkwise").close()
    with (
        Session.open(tmp_path / "s.linkwise") as session,
        pytest.raises(SessionError, match="needs the data"),
    ):
        session.recode(X)


def test_clusters_keep_their_numbers_when_rows_are_added(tmp_path):
    """A replay on more rows numbers clusters anew; people go on to see the numbers that they know."""
    path, ids = tmp_path / "s.linkwise", [str(row) for row in range(80)]
    kinds = np.concatenate([KIND, np.full(20, 3)])
    more = np.column_stack([kinds + np.tile(X[:20, 0] - KIND[:20], 4), np.resize(X[:, 1], 80)])
    more[:60] = X
    session = Session.open(path, X, lw.KIN(random_state=1), ids=ids[:60])
    for _ in range(12):
        q = session.question
        session.answer(bool(KIND[q.first] == KIND[q.second]))
    session.set_name(0, "zero")
    before, names = session.labels, session.cluster_names
    session.close()
    with Session.open(path, more, ids=ids, recode=True) as session:
        labels = session.labels
        heirs, _ = find_heirs(before, labels[:60])
        assert heirs == {number: number for number in np.unique(before).tolist()}
        assert session.cluster_names == names
        assert [step for _, step in session.replay_labels()][-1].tolist() == labels.tolist()
        session.answer("unsure")
        session.undo()
        assert session.labels.tolist() == labels.tolist()
        assert set(session.cluster_shades) >= set(np.unique(labels).tolist())
    with Session.open(path, more) as session:
        assert session.labels.tolist() == labels.tolist()


@pytest.mark.parametrize("drops_ids", [True, False])
def test_ids_go_with_the_column_that_held_them(tmp_path, drops_ids):
    path, ids = tmp_path / "s.linkwise", [f"r{row}" for row in range(60)]
    with Session.open(path, X, lw.COBRAS(random_state=0), ids=ids) as session:
        session.recode(2 * X, drops_ids=drops_ids)
        assert session.has_ids is not drops_ids
    with Session.open(path, 2 * X) as again:
        assert again.ids[3] == ("3" if drops_ids else "r3")
