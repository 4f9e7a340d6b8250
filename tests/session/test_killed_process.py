"""Whenever a process is killed: what it acknowledged is there, once, and the session goes on."""

import os
import random
import signal
import time
from collections import Counter

import pytest

import linkwise as lw
from linkwise.session.session import Session
from session.session_examples import LEARNERS, TRUTH, X, answer_by, image, present, told
from session.workers import Workers, do

ANSWERS_ONLY = [("answer",)] * 12
MIXED = [
    ("import", [(0, 3), (1, 2)]),
    ("answer",),
    ("answer",),
    ("undo",),
    ("answer",),
    ("add", 2, 5),
    ("import", [(i, i + 3) for i in range(8)]),
    ("answer",),
    ("undo",),
    ("undo",),
    ("answer",),
    ("change", 5, "unsure"),
]


@pytest.fixture(scope="module")
def workers():
    """Everything is imported once."""
    started = Workers()
    yield started
    started.close()


def undisturbed(plan):
    """Events and image after each step, in memory."""
    session = lw.Session(X, LEARNERS["COBRAS"]())
    states = [([], image(session))]
    for step in plan:
        do(session, step)
        states.append(([told(e) for e in session.events], image(session)))
    return states


def killed(workers, path, plan, done, acknowledged, delay, *options):
    """Kill a worker some time after it acknowledged a step; the last step that it acknowledged."""
    worker, last = workers.start("follow_plan", path, plan, done, *options), done
    while last < acknowledged:
        last = workers.hear(worker)
    until = time.perf_counter() + delay
    while time.perf_counter() < until:
        pass  # a sleep is too coarse
    return max([last, *workers.end(worker, kill=True)])


@pytest.mark.slow
@pytest.mark.parametrize(("plan", "n"), [(ANSWERS_ONLY, 12), (MIXED, 24)], ids=["answers", "mixed"])
def test_nothing_acknowledged_is_lost_or_doubled(workers, tmp_path, plan, n):
    """A session is killed and taken up again until its plan is done, then another one.

    The moments are drawn here; `test_power_cut` goes through every write.
    """
    states, moments = undisturbed(plan), random.Random(len(plan))
    path, done, halfway = tmp_path / "0.linkwise", 0, 0
    for number in range(n):
        acknowledged = min(done + moments.randrange(4), len(plan))
        last = killed(workers, path, plan, done, acknowledged, moments.expovariate(200))
        if not path.exists():  # killed before it was begun
            assert last == 0
            continue
        with Session.open(path, X) as session:
            stored = len(session.events)
            assert last <= stored <= last + 1  # the last one may be stored and not yet acknowledged
            assert [told(e) for e in session.events] == states[stored][0]
            assert image(session) == states[stored][1]
        halfway += done < stored < len(plan)
        path, done = (path, stored) if stored < len(plan) else (tmp_path / f"{number + 1}.linkwise", 0)
    assert halfway > n // 4  # the moments were such that it could have gone wrong


def test_nothing_of_several_people_is_lost_or_doubled(workers, tmp_path):
    """Whoever leased which question is forgotten then, but no answer."""
    path, plan, moments = (
        tmp_path / "s.linkwise",
        [("answer", "anna"), ("answer", "ben")] * 6,
        random.Random(1),
    )
    known, n_kills = [], 0
    while len(known) < len(plan):
        done = len(known)
        acknowledged = min(done + moments.randrange(3), len(plan))
        last = killed(workers, path, plan, done, acknowledged, moments.expovariate(200), "KIN", 0.1)
        n_kills += 1
        if not path.exists():
            assert last == 0
            continue
        with Session.open(path, X) as session:
            stored = session.events
            assert last <= len(stored) <= last + 1
            assert stored[:done] == known
            assert [event.source for event in stored] == [person for _, person in plan[: len(stored)]]
            known = stored
    given = Counter((event.source, event.first, event.second) for event in known)
    assert set(given.values()) == {1}
    assert len({frozenset(key[1:]) for key in given}) < len(given)  # there were second opinions
    assert n_kills > 2  # the moments were such that it could have gone wrong


def test_what_was_killed_in_the_middle_of_a_write_holds_no_lock(workers, tmp_path):
    path = tmp_path / "s.linkwise"
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        holder = workers.start("hold_the_lock", path)
        assert workers.hear(holder) == "held"
        workers.end(holder, kill=True)
        session.answer("yes")
        assert session.status.n_answers == 1


@pytest.mark.slow
def test_processes_share_the_questions(workers, tmp_path):
    """Whoever is first answers; together they ask what one alone would ask."""
    path = tmp_path / "s.linkwise"
    alone = lw.Session(X, LEARNERS["COBRAS"]())
    asked = answer_by(alone, TRUTH)
    with Session.open(path, X, LEARNERS["COBRAS"]()) as session:
        several = [workers.start("answer_all", path) for _ in range(3)]
        assert [workers.hear(worker) for worker in several] == ["ready"] * 3
        for worker in several:
            os.kill(worker, signal.SIGUSR1)
        said = [workers.end(worker) for worker in several]
        assert {word for words in said for word in words} <= {"taken", "refused"}
        assert sum(words.count("taken") for words in said) == len(asked)
        assert [(e.first, e.second) for e in session.events] == asked
        assert present(session) == present(alone)
