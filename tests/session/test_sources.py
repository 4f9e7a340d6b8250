"""Sessions whose answers come from several sources."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwise as lw
from linkwise import Session
from linkwise.app.terminal.protocol import event_as_json
from linkwise.constraints.facts import Fact
from linkwise.errors import InfeasibleConstraintsError, SessionDamagedError, SessionError

X = np.random.default_rng(0).normal(size=(12, 2)) + np.repeat([[0, 0], [6, 0], [0, 6]], 4, axis=0)
Y = np.repeat([0, 1, 2], 4)


def learner():
    return lw.KIN(random_state=0)


def says(first, second):
    return "yes" if Y[first] == Y[second] else "no"


def state(session):
    """What a reader sees, to compare it to the bit."""
    question = session.question
    return (
        [(*fact.pair, fact.answer, fact.source, fact.asked, fact.when) for fact in session.evidence],
        session.labels.tolist(),
        None if question is None else (question.first, question.second, question.why),
        [(suspect.number, suspect.grade) for suspect in session.suspects],
        session.error_rate,
        session.error_rates,
    )


def test_a_session_stores_who_answered_and_when(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, X, learner(), error_rate=None) as session:
        q = session.question
        session.answer(says(q.first, q.second), source="  Anna\n Berg ")
        session.add(0, 1, "must-link", source="bot")
        session.add(0, 4, "cannot-link")
        assert [event.source for event in session.history] == ["Anna Berg", "bot", ""]
        known = state(session)
        facts = list(session.evidence)
        assert facts[0] == Fact(q.first, q.second, says(q.first, q.second), "Anna Berg")
        assert [(fact.source, fact.asked) for fact in facts] == [
            ("Anna Berg", True),
            ("bot", False),
            ("", False),
        ]
        assert [fact.when for fact in facts] == [event.when for event in session.history]
        assert list(session.error_rates.by_source) == ["", "Anna Berg", "bot"]
        exported = [event_as_json(event, str).get("source") for event in session.history]
        assert exported == ["Anna Berg", "bot", None]
    with Session.open(path, X) as session:
        assert state(session) == known
    with Session.open(path) as session:  # without the data
        assert list(session.evidence) == facts
        assert session.error_rates.by_source == known[-1].by_source


def test_sessions_that_take_all_answers_as_right_store_sources_too():
    session = Session(X, learner())
    q = session.question
    session.answer("yes", source="anna")
    assert [fact.source for fact in session.evidence] == ["anna"]
    assert session.error_rates.by_source["anna"] == (1, 0, 0, 0, 0)
    assert session.error_rates.overall == (1, 0, 0, 0, 0)
    with pytest.raises(InfeasibleConstraintsError):
        session.add(q.first, q.second, "cannot-link", source="bot")


@pytest.mark.parametrize("error_rate", [0, None])
def test_a_wrong_source_raises_an_error(error_rate):
    session = Session(X, learner(), error_rate=error_rate)
    for source in (None, 3, ["anna"]):
        with pytest.raises(TypeError, match=r"The source of an answer is not text: .*Pass its name\."):
            session.answer("yes", source=source)
        with pytest.raises(TypeError, match="is not text"):
            session.add(0, 1, "must-link", source=source)
    with pytest.raises(SessionError, match=r"The source '\\udc80' is not valid Unicode"):
        session.answer("yes", source="\udc80")
    with pytest.raises(TypeError, match="has a source that is not text"):
        Session(X, learner(), error_rate={1: 0.1})
    assert session.events == []


# ---------------------------------------------------------------- sources that are certain
CERTAIN = {"anna": 0, "": None}


def test_certain_sources_outrank_others_and_agree_with_each_other(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, X, learner(), error_rate=CERTAIN) as session:
        for _ in range(3):
            session.add(0, 1, "cannot-link", source="bot")
        session.add(0, 1, "must-link", source="anna")
        assert session.labels[0] == session.labels[1]
        assert [suspect.number for suspect in session.suspects] == [1, 2, 3]
        with pytest.raises(
            InfeasibleConstraintsError, match=r"This contradicts earlier answers: 1 = 0, but|0 = 1"
        ):
            session.add(1, 0, "cannot-link", source="anna")
        with pytest.raises(InfeasibleConstraintsError):
            session.set_sure(1)
        with pytest.raises(InfeasibleConstraintsError):
            session.import_constraints(lw.Constraints(12, [], [(0, 1)]))
        session.add(2, 1, "cannot-link", source="anna")
        session.add(0, 2, "must-link", source="bot")
        session.change(5, "yes")
        with pytest.raises(InfeasibleConstraintsError):
            session.add(0, 2, "cannot-link", source="anna")
        known = state(session)
        assert len(session.events) == 7
    with Session.open(path, X) as session:
        assert state(session) == known
        while session.undo():
            pass
        session.add(1, 0, "cannot-link", source="anna")


def test_the_rates_of_sources_are_stored_and_may_change(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, X, learner(), error_rate={"anna": 0.1, "bot": None}) as session:
        session.add(0, 1, "must-link", source="anna")
        session.add(0, 1, "cannot-link", source="bot")
        assert session.error_rates.by_source["anna"][2:] == (0.1, 0.1, 0.1)
        session.add(0, 1, "cannot-link", source="anna")
    with Session.open(path, X) as session:
        assert session.error_rates.by_source["anna"].rate == 0.1
    with (
        pytest.raises(InfeasibleConstraintsError, match="Some answers contradict each other"),
        Session.open(path, X, error_rate={"anna": 0}),
    ):
        pass
    with Session.open(path, X, error_rate={"bot": 0, "": 0.2}) as session:
        assert session.labels[0] != session.labels[1]
        assert session.error_rates.by_source["bot"].rate == 0
    with Session.open(path) as session:
        assert session.error_rates.by_source["anna"].rate == 0.2
    with Session.open(path, X, error_rate=0.2) as session:
        assert session.error_rates.by_source["bot"].rate == 0.2


OF_SOURCES = "error rates of sources are not numbers"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((text, OF_SOURCES) for text in ('{"anna": 0.5}', '{"anna": "often"}', '{"anna": {"bot": 0.1}}')),
        ("[0.1]", "error rate is not a number"),
    ],
)
def test_a_file_with_wrong_rates_is_damaged(text, words, tmp_path):
    path = tmp_path / "s"
    Session.open(path, X, learner(), error_rate=CERTAIN).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'error_rate'", (text,))
        db.commit()
    with pytest.raises(SessionDamagedError, match=rf"{words} from 0 up to 0\.5"):
        Session.open(path)


# ---------------------------------------------------------------- laws
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["answer", "wrong", "unsure", "add", "undo", "change", "sure"]),
        st.sampled_from(["", "anna", "bot", "Åsa ✓"]),
        st.integers(0, 30),
    ),
    max_size=12,
)


def take(session, steps, rename=str):
    """Take each step that the session allows."""
    for step, source, number in steps:
        history, q = session.history, session.question
        event = history[number % len(history)] if history else None
        try:
            if step in ("answer", "wrong", "unsure") and q is not None:
                right = says(q.first, q.second)
                said = {"answer": right, "wrong": "no" if right == "yes" else "yes"}.get(step, "unsure")
                session.answer(said, source=rename(source))
            elif step == "add":
                session.add(number % 12, (number + 5) % 12, "must-link", source=rename(source))
            elif step == "undo":
                session.undo()
            elif step == "change" and event is not None:
                session.change(event.number, "no")
            elif step == "sure" and event is not None:
                session.set_sure(event.number)
        except (InfeasibleConstraintsError, SessionError):
            pass


@given(STEPS, st.sampled_from([None, 0.1, {"anna": 0}, {"bot": 0.2, "": 0.05}, {"Åsa ✓": 0, "bot": None}]))
def test_a_session_is_the_same_when_it_is_opened_again(tmp_path_factory, steps, error_rate):
    path = tmp_path_factory.mktemp("sources") / "s"
    with Session.open(path, X, learner(), error_rate=error_rate) as session:
        take(session, steps)
        before = state(session)
    with Session.open(path, X) as session:
        assert state(session) == before


@given(STEPS, st.sampled_from([None, 0.1]))
def test_one_source_asks_and_believes_as_without_a_name(steps, error_rate):
    found = []
    for name in ("", "anna"):
        session = Session(X, learner(), error_rate=error_rate)
        take(session, steps, lambda source, name=name: name)
        events = [(e.kind, e.first, e.second, e.answer, e.target) for e in session.events]
        labels, question, suspects, rate, rates = state(session)[1:]
        found.append((events, labels, question, suspects, rate, rates.overall))
    assert found[0] == found[1]


def test_a_rate_is_found_by_the_name_that_is_stored(tmp_path):
    """Superfluous spaces are dropped from the sources of answers, so also from those of rates."""
    session = Session.open(tmp_path / "s", X, learner(), error_rate={" anna\n berg": 0.2, "bot ": None})
    session.answer("yes", source=" anna\n berg")
    assert session.error_rates.by_source["anna berg"].rate == 0.2
    session.close()
    with Session.open(tmp_path / "s", X, error_rate={"anna  berg": 0.1}) as session:
        assert session.error_rates.by_source["anna berg"].rate == 0.1


@pytest.mark.parametrize("names", [("anna", " anna"), ("", " ")])
def test_two_rates_for_one_source_raise_an_error(names):
    with pytest.raises(ValueError, match=r"error_rate has two entries for the source '(anna)?'\. Use one\."):
        Session(X, learner(), error_rate=dict.fromkeys(names, 0.1))
    with pytest.raises(SessionError, match=r"The source '\\udc80' is not valid Unicode"):
        Session(X, learner(), error_rate={"\udc80": 0.1})


def test_the_evidence_lists_suspects_without_the_data(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, X, learner(), error_rate={"bot": 0.2}) as session:
        session.import_constraints(lw.Constraints(12, [(4, 5)]))
        for first, second, kind in [(0, 1, "must"), (1, 2, "must"), (0, 2, "cannot"), (4, 6, "must")]:
            session.add(first, second, f"{kind}-link", source="bot")
        known = [suspect[:2] for suspect in session.evidence.suspects()]
        assert [fact.pair for _, fact in known] == [(0, 2)]
    with Session.open(path) as session:
        found = session.evidence.suspects()
        assert [suspect[:2] for suspect in found] == known
        assert found[0].chance in (0.5, 0.9)
