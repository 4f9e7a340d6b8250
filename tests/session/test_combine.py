"""The answers of another session, each as it was given."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise.constraints.facts import Fact
from linkwise.errors import DataMismatchError, InfeasibleConstraintsError, SessionError, UnnamedAnswersError
from linkwise.session.journal.store import Store, WriteConflict
from linkwise.session.transfer import Combined
from session.test_session import IDS, Neighbours, X


def begin(ids=IDS, rows=X, error_rate=None):
    return lw.Session(rows, Neighbours(), ids=ids, error_rate=error_rate)


def keep(session, path):
    session.save(path)
    session.close()
    return path


def told(session):
    return [(e.first, e.second, e.answer, e.source, e.is_sure) for e in session.history]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ben.linkwise"


@pytest.fixture
def ben(path):
    """The rows in another order and one that nobody else has: three answers, one confirmed, and one pair."""
    other = begin(ids=[*"fxdcba"], rows=X[::-1])
    other.answer("unsure", source="ben", seconds=2.5, note="both blue")  # f, x: left out
    other.answer("unsure", source="ben")  # x, d: left out
    other.answer("unsure", source="ben", seconds=1.5, note="who knows")  # d, c
    other.answer("no", source="ben", seconds=3, reliability=0.75)  # c, b
    other.answer("yes", source="ben")  # b, a
    other.set_sure(5)
    other.note(4, "later", source="eva")
    other.add(0, 5, "cannot-link", source="carl")  # f, a
    other.add(0, 4, "cannot-link", source="carl")  # undone
    other.undo()
    return keep(other, path)


def test_answers_stay_as_they_were_given(ben):
    with lw.Session.open(ben) as other:
        theirs = other.history
    with begin() as session:
        session.answer("no", source="anna")
        assert session.combine(ben) == Combined(4, 0, 2)
        assert told(session) == [
            (0, 1, "no", "anna", False),
            (3, 2, "unsure", "ben", False),
            (2, 1, "no", "ben", False),
            (1, 0, "yes", "ben", True),
            (5, 0, "no", "carl", False),
        ]
        ours = session.history[1:]
        assert [e.kind for e in ours] == ["add"] * 4
        for kept, given_there in zip(ours, theirs[2:], strict=True):
            assert (kept.when, kept.seconds, kept.note, kept.reliability) == (
                given_there.when,
                given_there.seconds,
                given_there.note,
                given_there.reliability,
            )
        assert [e.note for e in ours] == ["who knows", "later", "", ""]
        assert session.evidence.verdict(0, 1) == "yes"  # it was confirmed, whatever anna says


def test_a_file_holds_them(ben, tmp_path):
    with lw.Session.open(tmp_path / "anna.linkwise", X, Neighbours(), ids=IDS, error_rate=None) as session:
        session.combine(ben)
        before, stored = session.history, session.events
    with lw.Session.open(tmp_path / "anna.linkwise", X, Neighbours()) as session:
        assert session.history == before
        assert session.events == stored
        assert [e.note_author for e in session.history] == [e.note_author for e in before]
        assert [(e.seconds, e.note, e.reliability) for e in session.history] == [
            (e.seconds, e.note, e.reliability) for e in before
        ]
        assert session.combine(ben) == Combined(0, 4, 2)


def test_the_same_answers_come_once(ben):
    with begin() as session:
        session.combine(ben)
        before = session.history
        assert session.combine(ben) == Combined(0, 4, 2)
        session.set_sure(2)  # what is certain by now says no less
        session.change(1, "no")
        assert session.combine(ben) == Combined(0, 4, 2)
        assert len(session.history) == len(before)


def test_what_somebody_says_twice_counts_twice(path):
    other = begin()
    for _ in range(2):
        other.add(0, 1, "must-link", source="ben")
    keep(other, path)
    with begin() as session:
        session.add(0, 1, "must-link", source="ben")
        assert session.combine(path) == Combined(1, 1, 0)
        assert session.combine(path) == Combined(0, 2, 0)


def test_certain_pairs_stay_certain(path):
    other = begin()
    other.import_constraints(lw.Constraints(6, [(0, 1), (4, 5)], [(1, 2)]), source="pairs.csv")
    other.set_done(4)
    other.add(2, 3, "must-link", source="ben", is_sure=True)
    keep(other, path)
    with begin(ids=[*"abcde", "y"]) as session:
        assert session.combine(path).n_left_out == 1
        kinds = [(e.kind, e.source, e.facts) for e in session.history]
        assert kinds[0] == ("import", "pairs.csv", (Fact(0, 1, "yes"), Fact(1, 2, "no")))
        assert session.history[-1].is_sure
        with pytest.raises(InfeasibleConstraintsError, match="but b ≠ c"):
            session.add(0, 2, "must-link", is_sure=True)
        assert session.combine(path) == Combined(0, 3, 1)


def test_pairs_of_two_imports_and_of_a_finished_cluster_count_once(path):
    other = begin()
    other.import_constraints(lw.Constraints(6, [(0, 1)]), source="one.csv")
    other.import_constraints(lw.Constraints(6, [(0, 1)], [(1, 2)]), source="two.csv")
    other.set_done(0)
    other.add(3, 4, "must-link", source="ben")
    other.set_done(3)
    keep(other, path)
    with begin() as session:
        assert session.combine(path) == Combined(4, 1, 0)
        assert [(e.kind, e.source) for e in session.history] == [
            ("import", "one.csv"),
            ("import", "two.csv"),
            ("add", "ben"),
            ("import", "ben.linkwise"),
        ]
        assert session.combine(path) == Combined(0, 5, 0)


def test_answers_to_questions_for_several_people_have_no_place_here(path):
    other = begin()
    other.import_constraints(lw.Constraints(6, [(0, 5)], [(1, 5)]), source="gold.csv")
    for _ in range(8):
        for question in other.questions(3, to="ben", gold="gold.csv"):
            other.answer("no", source="ben", question_id=question.id)
    assert any(e.place is not None for e in other.history)
    assert any(e.gold is not None for e in other.history)
    keep(other, path)
    with begin() as session:
        session.combine(path)
        assert all(e.place is None and e.gold is None for e in session.events)


def test_answers_without_a_name_need_one(path):
    other = begin()
    other.answer("yes")
    keep(other, path)
    with begin() as session:
        with pytest.raises(
            UnnamedAnswersError, match=r"ben\.linkwise has 1 answer without a name\. Pass source"
        ):
            session.combine(path)
        with pytest.raises(TypeError, match="source"):
            session.combine(path, source=3)
        assert session.events == []
        session.combine(path, source=" ben ")
        assert session.history[0].source == "ben"
        assert session.combine(path, source="") == Combined(1, 0, 0)


def test_other_data_without_ids_are_refused(path):
    other = begin(ids=None, rows=X + 1)
    other.answer("yes", source="ben")
    keep(other, path)
    with (
        begin(ids=None) as session,
        pytest.raises(DataMismatchError, match="The rows have no ids, and the data"),
    ):
        session.combine(path)
    with begin() as session, pytest.raises(DataMismatchError, match="Begin both with ids"):
        session.combine(path)
    with begin(ids=None, rows=X + 1) as session:
        assert session.combine(path).n_taken == 1
    with begin(rows=X + 1, ids=list("uvwxyz")) as session:
        assert session.combine(path) == Combined(0, 0, 1)  # a position is never an id


def test_a_session_is_not_combined_with_itself(ben):
    with lw.Session.open(ben) as session, pytest.raises(SessionError, match="is this session itself"):
        session.combine(ben)


def test_a_name_may_be_empty_on_purpose(path):
    other = begin()
    other.add(0, 1, "must-link")
    keep(other, path)
    with begin() as session:
        with pytest.raises(ValueError, match="1 answer without a name"):
            session.combine(path)
        session.combine(path, source="")
        assert session.history[0].source == ""


def test_positions_are_ids_if_both_sides_call_rows_so(path):
    other = begin(ids=[*"012345"])
    other.add(4, 5, "must-link", source="ben")
    keep(other, path)
    with begin(ids=None) as session:
        assert session.combine(path) == Combined(1, 0, 0)
        assert told(session) == [(4, 5, "yes", "ben", False)]


def test_pairs_that_are_new_come_without_the_others(path):
    other = begin()
    other.import_constraints(lw.Constraints(6, [(0, 1)], [(1, 2)]))
    other.add(3, 4, "must-link", source="ben")
    keep(other, path)
    with begin() as session:
        session.import_constraints(lw.Constraints(6, [(0, 1)]))
        session.add(3, 4, "must-link", source="ben", is_sure=True)
        assert session.combine(path) == Combined(1, 2, 0)
        (added,) = session.history[2:]
        assert (added.kind, added.source, added.facts) == ("import", "ben.linkwise", (Fact(1, 2, "no"),))


def test_the_name_of_the_file_need_not_be_text(tmp_path):
    path = tmp_path / os.fsdecode(b"b\xff.linkwise")
    try:
        path.touch()
    except OSError:
        pytest.skip("this file system takes text alone")
    path.unlink()
    other = begin()
    other.import_constraints(lw.Constraints(6, [], [(1, 2)]))
    keep(other, path)
    with begin() as session:
        session.combine(path)
        assert session.history[-1].source == r"b\udcff.linkwise"


def test_labels_are_stored_and_the_other_file_is_closed(ben, tmp_path):
    anna = tmp_path / "anna.linkwise"
    with lw.Session.open(anna, X, Neighbours(), ids=IDS, error_rate=None) as session:
        session.combine(ben)
        with lw.Session.open(anna) as reader:
            assert reader.labels_are_current
            assert reader.labels.tolist() == session.labels.tolist()
        assert not ben.with_name(f"{ben.name}-wal").exists()


def test_what_is_believed_is_carried_over_as_certain(path):
    other = begin()
    other.answer("unsure")
    other.add(2, 1, "must-link", source="anna")
    for name in ("ben", "carl", "dora"):
        other.add(2, 1, "cannot-link", source=name)
    other.add(3, 4, "must-link", source="anna")
    believed = other.evidence.to_constraints()
    assert believed == lw.Constraints(6, [(3, 4)], [(1, 2)])
    keep(other, path)
    with begin() as session:
        assert session.carry_over(path) == (3, 0)
        (event,) = session.history
        assert event.facts == (Fact(3, 4, "yes"), Fact(1, 2, "no"), Fact(0, 1, "unsure"))


@pytest.mark.parametrize(
    ("rate", "words"),
    [(0, "^The answers of .* Let answers be wrong"), (None, "^What is certain in the other")],
)
def test_nothing_is_stored_if_answers_cannot_stand_together(path, rate, words):
    other = begin(error_rate=rate)
    other.add(1, 2, "must-link", source="ben")
    other.add(0, 1, "cannot-link", source="ben", is_sure=True)
    keep(other, path)
    with begin(error_rate=rate) as session:
        session.add(0, 1, "must-link", source="anna", is_sure=True)
        with pytest.raises(InfeasibleConstraintsError, match=words) as caught:
            session.combine(path)
        assert "a = b" in str(caught.value)
        assert len(session.events) == 1


def test_another_client_may_write_at_the_same_moment(ben, tmp_path, monkeypatch):
    anna = tmp_path / "anna.linkwise"
    with lw.Session.open(anna, X, Neighbours(), ids=IDS, error_rate=None) as session:
        write, conflicts = Store.append_all, []

        def append_after_another(store, events, *, after):
            if not conflicts and len(events) > 1:
                conflicts.append(after)
                with lw.Session.open(anna) as client:
                    client.add(5, 0, "cannot-link", source="carl")
                raise WriteConflict
            return write(store, events, after=after)

        monkeypatch.setattr(Store, "append_all", append_after_another)
        assert session.combine(ben) == Combined(3, 1, 2)
        assert conflicts == [0]
        assert [e.number for e in session.events] == [1, 2, 3, 4]


answers = st.lists(
    st.tuples(
        st.integers(0, 5), st.integers(0, 5), st.booleans(), st.sampled_from(["anna", "ben"]), st.booleans()
    ).filter(lambda told: told[0] != told[1]),
    max_size=6,
)


@settings(max_examples=10)
@given(answers, answers)
def test_both_ways_round_sessions_hold_the_same(tmp_path_factory, ours, theirs):
    folder = tmp_path_factory.mktemp("both")
    truth = np.array([0, 0, 0, 1, 1, 1])
    files = []
    for name, given_answers in (("one", ours), ("two", theirs)):
        session = begin()
        for first, second, is_right, source, is_sure in given_answers:
            is_same = bool(truth[first] == truth[second])
            kind = "must-link" if is_same == (is_right or is_sure) else "cannot-link"
            session.add(first, second, kind, source=source, is_sure=is_sure)
        files.append(keep(session, folder / f"{name}.linkwise"))

    def combined(first, second):
        with lw.Session.open(first) as kept:
            kept.save_copy(copy := folder / f"{first.stem}-{second.stem}.linkwise")
        with lw.Session.open(copy) as session:
            counts = session.combine(second)
            held = {(frozenset(e[:2]), *e[2:4]) for e in told(session)}
            strongest = dict.fromkeys(held, False)
            for e in told(session):
                strongest[frozenset(e[:2]), *e[2:4]] |= e[4]
            assert session.combine(second) == Combined(0, counts.n_taken + counts.n_held, 0)
            return strongest

    assert combined(*files) == combined(*files[::-1])
