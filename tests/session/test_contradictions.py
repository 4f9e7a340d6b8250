"""What contradicts is refused before anything is written, and named by ids and the shortest chain."""

import pytest

import linkwise as lw
from linkwise.errors import ConstraintError, InfeasibleConstraintsError
from linkwise.session.session import Session
from session.session_examples import LEARNERS, N_ROWS, X, image

IDS = [f"r{i}" for i in range(N_ROWS)]


@pytest.fixture(params=[None, IDS], ids=["positions", "ids"])
def session(request, tmp_path):
    """0 = 1 = 2 = 3 = 4, 1 = 3, and 4 ≠ 5 = 6."""
    with Session.open(tmp_path / "s.linkwise", X, LEARNERS["COBRAS"](), ids=request.param) as found:
        for i, j in ((0, 1), (1, 2), (2, 3), (3, 4), (1, 3), (5, 6)):
            found.add(i, j, "must-link")
        found.add(4, 5, "cannot-link")
        yield found


def refused(session, do, words, chain):
    """It is refused in the words given, with r before each row if it has ids, and leaves no trace."""
    was, events = image(session), session.events
    with pytest.raises(InfeasibleConstraintsError) as error:
        do()
    assert error.value.chain in (chain, chain[::-1])
    sign = "r" if session.ids == IDS else ""
    names = [f"{sign}{row}" for row in error.value.chain]
    assert f"{' = '.join(names)}, but {names[0]} ≠ {names[-1]}" in str(error.value)
    assert words in str(error.value)
    assert (image(session), session.events) == (was, events)
    with Session.open(session._journal.store.path, X) as other:
        assert other.events == events


WORDS = "This contradicts earlier answers: "


@pytest.mark.slow
def test_a_volunteered_pair(session):
    refused(session, lambda: session.add(4, 0, "cannot-link"), WORDS, (4, 3, 1, 0))
    refused(session, lambda: session.add(0, 6, "must-link"), WORDS, (4, 3, 1, 0, 6, 5))


def test_an_import(session):
    pairs = lw.Constraints(N_ROWS, [(7, 8), (8, 0)], [(9, 10), (7, 4)])
    refused(session, lambda: session.import_constraints(pairs), WORDS, (4, 3, 1, 0, 8, 7))
    pairs = lw.Constraints(N_ROWS, [(7, 0), (7, 6)])
    refused(session, lambda: session.import_constraints(pairs), WORDS, (4, 3, 1, 0, 7, 6, 5))


@pytest.mark.filterwarnings("ignore::linkwise.errors.ConstraintWarning")
def test_an_import_that_contradicts_itself(session):
    pairs = lw.Constraints(N_ROWS, [(7, 8), (8, 9)], [(7, 9)], on_conflict="keep")
    refused(session, lambda: session.import_constraints(pairs), WORDS, (7, 8, 9))


def test_a_file_of_pairs(session, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(f"id_a,id_b,kind\n{session.ids[4]},{session.ids[0]},cannot-link\n")
    refused(session, lambda: session.import_csv(path), WORDS, (4, 3, 1, 0))


def test_a_change(session):
    number = len(session.events)
    session.change(number, "unsure")  # 4 ≠ 5 no more
    session.add(4, 6, "must-link")
    refused(session, lambda: session.change(number, "no"), WORDS, (5, 6, 4))
    refused(session, lambda: session.change(5, "no"), WORDS, (1, 2, 3))


def test_answers_of_another_session(session, tmp_path):
    ids = session.ids if session.ids == IDS else None
    with Session.open(tmp_path / "old.linkwise", X, LEARNERS["COBRAS"](), ids=ids) as old:
        old.add(4, 2, "cannot-link")
    refused(session, lambda: session.carry_over(tmp_path / "old.linkwise"), WORDS, (2, 3, 4))


def test_what_is_no_pair_of_rows(session):
    n = len(session.events)
    for pair, kind, words in (
        ((0, 0), ConstraintError, "Row 0 is compared with itself"),
        ((0, N_ROWS), ConstraintError, "no row 14: the rows are 0 to 13"),
        ((-1, 0), ConstraintError, "no row -1"),
        ((0, 1.0), TypeError, "row position is not an integer"),
        ((True, 2), TypeError, "row position is not an integer"),
        (("r0", "r1"), TypeError, "row position is not an integer"),
    ):
        with pytest.raises(kind, match=words):
            session.add(*pair, "must-link")
    with pytest.raises(ConstraintError, match="Pass must-link or cannot-link"):
        session.add(0, 7, "yes")
    with pytest.raises(ConstraintError, match="about 3 rows, but the data have 14"):
        session.import_constraints(lw.Constraints(3))
    with pytest.raises(TypeError, match=r"a list\. Build it with linkwise\.Constraints"):
        session.import_constraints([(0, 7)])
    assert len(session.events) == n


def test_the_present_question_may_be_contradicted_by_nothing(session):
    """Whatever is answered to what is asked can hold."""
    for said in ("yes", "no", "unsure"):
        session.answer(said)
        session.undo()
