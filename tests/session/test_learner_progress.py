"""What a learner says while it prepares, and of where it stands."""

import itertools

import numpy as np
import pytest

import linkwise as lw
from linkwise.constraints.evidence import Evidence
from linkwise.learn.run import Run
from linkwise.session.session import Session
from registry import each_learner
from session.session_examples import LEARNERS, TRUTH, X, answer_by
from session.test_learners import InOrder


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.linkwise"


def cobs():
    return lw.ActiveCOBS(preset="quick", random_state=0)


class Talkative(InOrder):
    """Tells how far it is, and how much it was told."""

    def prepare(self, X, seed, *, progress=None):
        for made in range(1, 4):
            if progress is not None:
                progress(made, 3)
        return "prepared"

    def describe(self, problem):
        assert problem.prepared == "prepared"
        return [f"I was told {len(problem.evidence)} things."]


# ---------------------------------------------------------------- progress
def test_progress_reaches_whoever_opens_a_session(path):
    told = []
    note = lambda made, planned: told.append((made, planned))  # noqa: E731
    lw.Session(X, Talkative(), progress=note)
    assert told == [(1, 3), (2, 3), (3, 3)]
    Session.open(path, X, Talkative(), progress=note).close()
    Session.open(path, X, Talkative(), progress=note).close()
    assert told == [(1, 3), (2, 3), (3, 3)] * 3


@each_learner
def test_every_learner_takes_progress(entry):
    told = []
    entry.make(random_state=0).prepare(X, 0, progress=lambda made, planned: told.append((made, planned)))
    assert told == sorted(told)
    assert all(0 < made <= planned for made, planned in told)
    assert len({planned for _, planned in told}) <= 1


def test_an_interruption_while_a_learner_prepares(path):
    def interrupted(made, planned):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Session.open(path, X, cobs(), progress=interrupted)
    assert not path.exists()
    with Session.open(path, X, cobs()) as session:
        answer_by(session, TRUTH, 3)
        was = session.status
    with pytest.raises(KeyboardInterrupt):
        Session.open(path, X, progress=interrupted)
    with Session.open(path) as kept:
        assert kept.status == was
    with Session.open(path, X) as session:
        assert session.status == was


# ---------------------------------------------------------------- where it stands
def test_what_is_reported_follows_every_event(path):
    with Session.open(path, X, Talkative()) as session:
        assert session.status.description == ("I was told 0 things.",)
        answer_by(session, TRUTH, 2)
        session.add(4, 7, "must-link")
        assert session.status.description == ("I was told 3 things.",)
        session.undo()
        assert session.status.description == ("I was told 2 things.",)
    with Session.open(path) as kept:
        assert kept.status.description == ("I was told 2 things.",)
        kept.undo()
        assert kept.status.description == ()  # nobody is there to say it of what is left
    with Session.open(path, X, Talkative()) as session:
        assert session.status.description == ("I was told 1 things.",)
    with Session.open(path, X, InOrder()) as session:
        assert session.status.description == ()
    with Session.open(path) as kept:
        assert kept.status.description == ()


def test_learners_with_nothing_to_say():
    assert lw.Session(X, LEARNERS["COBRAS"]()).status.description == ()


def test_active_cobs_says_what_leads_and_how_many_fit():
    """Compared with a plain count, answer by answer."""
    learner = cobs()
    pool = learner.prepare(X, 0)
    session = lw.Session(X, learner)
    clusterings = [pool.clustering(c) for c in range(len(pool))]
    answers = itertools.cycle([True, True, False])
    for n in range(9):
        facts = [f for f in session.evidence if f.answer != "unsure"]
        right = [sum((c[f.first] == c[f.second]) == (f.answer == "yes") for f in facts) for c in clusterings]
        leading, fitting = session.status.description
        named = pool.makers[right.index(max(right))].algorithm
        if right.count(max(right)) == 1:
            assert leading.startswith(f"Leading: {named} (")
        if n and max(right) == len(facts):
            assert fitting.startswith(f"{right.count(len(facts))} of {len(pool)} different clusterings fit")
        elif n:
            assert fitting == (
                f"None of {len(pool)} different clusterings fits every answer; "
                f"the leading one breaks {len(facts) - max(right)}."
            )
        session.answer(next(answers))
    assert max(right) < len(facts)  # both kinds of sentence were looked at


def test_the_leading_clustering_is_the_one_that_is_shown():
    learner = cobs()
    session = lw.Session(X, learner)
    pool = learner.prepare(X, 0)
    recognised = 0  # the rows that were answered about may be moved, and then no clustering is
    for _ in range(6):
        leading = session.status.description[0]
        shown = [pool.makers[c].algorithm for c in range(len(pool)) if _same(pool.clustering(c), session)]
        assert not shown or any(leading.startswith(f"Leading: {name} (") for name in shown)
        recognised += len(shown)
        session.answer(TRUTH(session.question.first, session.question.second))
    assert recognised > 0


def _same(labels, session):
    shown = session.labels
    return (
        len(set(zip(labels.tolist(), shown.tolist(), strict=True)))
        == len(np.unique(shown))
        == len(np.unique(labels))
    )


def test_unsure_decides_nothing():
    learner = cobs()
    run = Run(learner, X, Evidence(len(X)), 0)
    before = learner.describe(run.state)
    run.tell(0, 1, "unsure")
    assert learner.describe(run.state) == before
    assert before[1].startswith("No answer decides yet; ")


def test_a_sample_is_reported():
    learner = cobs().set_params(max_rows=8)
    n = len(learner.prepare(X, 0).base_rows)
    said = f"A sample of {n} rows was clustered; the others follow by the rule of the algorithm."
    assert lw.Session(X, learner).status.description[-1] == said
