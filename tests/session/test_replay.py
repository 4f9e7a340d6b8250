"""A learner that is taken through the events of a session."""

from dataclasses import replace

import numpy as np
import pytest

from linkwise.asking.learner import Question
from linkwise.constraints.facts import Fact
from linkwise.session.deserialize import Snapshot
from linkwise.session.events import Event, settle_events
from linkwise.session.replay import Replay

X = np.arange(12.0).reshape(6, 2)
SEED = 7


class Neighbours:
    """Asks whether each row belongs with the next, and takes down what it is called for."""

    def __init__(self):
        self.notes = []

    def prepare(self, X, seed, *, progress=None):
        self.notes.append(("prepare", X.shape, seed))
        if progress is not None:
            progress(1, 1)
        return "prepared"

    def start(self, problem):
        assert (problem.prepared, problem.seed) == ("prepared", SEED)
        assert (problem.askable, problem.budget) == (None, None)
        self.notes.append(("start", *((*fact.pair, fact.answer) for fact in problem.evidence)))
        return problem

    def ask(self, problem):
        evidence = problem.evidence
        for first in range(len(problem.X) - 1):
            self.notes.append(("ask", first, evidence.n_questions))
            yield Question(first, first + 1, labels_by(evidence), "They stand side by side.")
        return labels_by(evidence)

    def new_notes(self):
        """What it was called for since the last time."""
        notes, self.notes = self.notes, []
        return notes


class Outspoken(Neighbours):
    """Has something to tell of each run."""

    def describe(self, problem):
        self.notes.append(("describe",))
        return [f"{len(problem.evidence)} facts", f"{problem.evidence.n_questions} questions"]

    def representatives(self, problem):
        return np.full(len(problem.X), len(problem.evidence))

    def column_shares(self, problem):
        return np.array([0.0, len(problem.evidence)])


def labels_by(evidence):
    return evidence.to_constraints().component.astype(np.int32)


def event(number, kind, first=None, second=None, answer=None, target=None, facts=(), source=""):
    return Event(number, kind, "2026-01-01T00:00:00.000+00:00", first, second, answer, target, facts, source)


ADDED = event(1, "add", 0, 5, "yes")
YES = event(2, "answer", 0, 1, "yes")
NO = event(3, "answer", 1, 2, "no")
IMPORTED = event(4, "import", facts=(Fact(2, 3, "yes"), Fact(3, 4, "unsure")), source="pairs.csv")
DONE = event(5, "done", 2, facts=(Fact(2, 3, "yes"), Fact(2, 4, "yes")))
STARTS = [  # the second one numbers the clusters as they are before anything is added
    ("start", (0, 5, "yes")),
    ("ask", 0, 0),
    ("start",),
    ("ask", 0, 0),
]
STORY = [ADDED, YES, NO, IMPORTED, DONE]
LABELS = [  # after each of them
    [0, 1, 2, 3, 4, 0],
    [0, 0, 2, 3, 4, 0],
    [0, 0, 2, 3, 4, 0],
    [0, 0, 2, 2, 4, 0],
    [0, 0, 2, 2, 2, 0],
]


@pytest.fixture
def learner():
    return Neighbours()


@pytest.fixture
def replay(learner):
    replay = Replay(learner, X, SEED)
    learner.new_notes()
    return replay


def follow(replay, events):
    """Take a replay through events as a session does."""
    replay.follow(settle_events(events), events[-1].number if events else 0)


def asked(replay):
    return None if replay.question is None else (replay.question.first, replay.question.second)


def shown(replay):
    facts = [(*fact.pair, fact.answer) for fact in replay.evidence]
    return (
        replay.at,
        asked(replay),
        replay.shown.tolist(),
        list(replay.shades),
        facts,
        replay.evidence.n_questions,
    )


# ---------------------------------------------------------------- before any event
def test_before_the_first_call_nothing_is_known(learner):
    seen = []
    replay = Replay(learner, X, SEED, lambda made, planned: seen.append((made, planned)))
    assert learner.notes == [("prepare", (6, 2), SEED)]
    assert seen == [(1, 1)]
    assert replay.X is X
    assert shown(replay) == (-1, None, [0] * 6, [0], [], 0)
    assert replay.reason is None
    assert replay.shades == {0: (0, 0)}
    assert not replay.foresee("yes", bool)


def test_without_events_the_first_question_is_asked(learner, replay):
    follow(replay, [])
    assert shown(replay) == (0, (0, 1), [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [], 0)
    assert replay.shades == {family: (family, 0) for family in range(6)}
    assert learner.notes == [("start",), ("ask", 0, 0)]


# ---------------------------------------------------------------- events one by one
def test_each_event_reaches_the_learner(learner, replay):
    follow(replay, [ADDED])
    assert shown(replay) == (1, (0, 1), LABELS[0], [0, 1, 2, 3, 4], [(0, 5, "yes")], 0)
    follow(replay, [ADDED, YES])
    facts = [(0, 5, "yes"), (0, 1, "yes")]
    assert shown(replay) == (2, (1, 2), LABELS[1], [0, 2, 3, 4], facts, 1)
    follow(replay, [ADDED, YES, NO])
    facts.append((1, 2, "no"))
    assert shown(replay) == (3, (2, 3), LABELS[2], [0, 2, 3, 4], facts, 2)
    follow(replay, [ADDED, YES, NO, IMPORTED])
    facts += [(2, 3, "yes"), (3, 4, "unsure")]
    assert shown(replay) == (4, (4, 5), LABELS[3], [0, 2, 4], facts, 2)
    follow(replay, STORY)
    facts += [(2, 3, "yes"), (2, 4, "yes")]
    assert shown(replay) == (5, None, LABELS[4], [0, 2], facts, 2)
    assert replay.reason == "exhausted"
    assert replay.shown.dtype == np.int32
    assert learner.notes == [*STARTS, *(("ask", first, min(first, 2)) for first in range(1, 5))]


def test_all_events_at_once_lead_to_the_same(learner, replay):
    follow(replay, STORY)
    one_by_one = Replay(Neighbours(), X, SEED)
    for n_events in range(len(STORY) + 1):
        follow(one_by_one, STORY[:n_events])
    assert shown(replay) == shown(one_by_one)
    assert learner.notes == [*STARTS, *(("ask", first, min(first, 2)) for first in range(1, 5))]


def test_what_is_known_settles_the_question_that_is_asked(replay):
    volunteered = event(2, "add", 0, 1, "no")
    follow(replay, [ADDED, replace(NO, number=2)])
    assert asked(replay) == (0, 1)
    follow(replay, [ADDED, replace(NO, number=2), replace(volunteered, number=3)])
    assert asked(replay) == (2, 3)
    assert replay.evidence.n_questions == 1  # what is volunteered is not counted


def test_a_row_keeps_its_answer_when_another_learner_would_ask_something_else(replay):
    follow(replay, [event(1, "answer", 3, 5, "yes")])
    assert shown(replay)[1:3] == ((0, 1), [0, 1, 2, 3, 4, 3])


# ---------------------------------------------------------------- going on, and repeating
def test_the_run_goes_on_while_events_are_only_added(learner, replay):
    follow(replay, [])
    follow(replay, [replace(YES, number=1)])
    follow(replay, [replace(YES, number=1), replace(NO, number=2)])
    follow(replay, [replace(YES, number=1), replace(NO, number=2)])
    assert [note for note in learner.notes if note[0] == "start"] == [("start",)]
    assert [note for note in learner.notes if note[0] == "ask"] == [("ask", n, n) for n in range(3)]


def test_what_comes_before_the_first_answer_is_known_from_the_start(learner, replay):
    follow(replay, [ADDED])
    second = event(2, "add", 3, 4, "no")
    learner.new_notes()
    follow(replay, [ADDED, second])
    assert learner.new_notes() == [("start", (0, 5, "yes"), (3, 4, "no")), *STARTS[1:]]
    follow(replay, [ADDED, second, replace(YES, number=3)])
    assert learner.new_notes() == [("ask", 1, 1)]
    follow(replay, [ADDED, second, replace(YES, number=3), event(4, "add", 4, 5, "no")])
    assert learner.new_notes() == []


def test_an_undo_repeats_the_run_without_the_event(learner, replay):
    follow(replay, [ADDED, YES, NO])
    learner.new_notes()
    follow(replay, [ADDED, YES, NO, event(4, "undo", target=3)])
    facts = [(0, 5, "yes"), (0, 1, "yes")]
    assert shown(replay) == (4, (1, 2), LABELS[1], [0, 2, 3, 4], facts, 1)
    assert learner.new_notes() == [("start", (0, 5, "yes")), ("ask", 0, 0), ("ask", 1, 1)]
    follow(replay, [ADDED, YES, NO, event(4, "undo", target=3), event(5, "undo", target=1)])
    assert shown(replay)[1:] == ((1, 2), [0, 0, 2, 3, 4, 5], [0, 2, 3, 4, 5], [(0, 1, "yes")], 1)


def test_a_change_repeats_the_run_with_the_new_answer(replay):
    follow(replay, [ADDED, YES, NO])
    follow(replay, [ADDED, YES, NO, event(4, "change", answer="no", target=2)])
    facts = [(0, 5, "yes"), (0, 1, "no"), (1, 2, "no")]
    assert shown(replay) == (4, (2, 3), LABELS[0], [0, 1, 2, 3, 4], facts, 2)


def test_a_name_changes_only_the_number_of_the_last_event(learner, replay):
    follow(replay, [ADDED, YES])
    before = shown(replay)
    learner.new_notes()
    follow(replay, [ADDED, YES, event(3, "name", 0, source="ripe")])
    assert shown(replay) == (3, *before[1:])
    assert learner.new_notes() == []


class Fragile(Neighbours):
    broken = False

    def ask(self, problem):
        for question in super().ask(problem):
            yield question
            if self.broken and question.first == 1:
                raise ArithmeticError("no number")


def test_after_an_error_all_is_as_of_the_event_before():
    learner = Fragile()
    replay = Replay(learner, X, SEED)
    follow(replay, [ADDED, YES])
    before = shown(replay)
    learner.broken = True
    for _ in range(2):
        with pytest.raises(ArithmeticError):
            follow(replay, [ADDED, YES, NO])
        assert shown(replay)[:4] == before[:4]
        assert replay.foresee("yes", bool) is False
    learner.broken = False
    follow(replay, [ADDED, YES, NO])
    assert shown(replay)[:3] == (3, (2, 3), LABELS[2])


# ---------------------------------------------------------------- looking ahead
AHEAD = [
    ("start", (0, 5, "yes")),
    ("ask", 0, 0),
    ("ask", 1, 1),
    ("ask", 2, 2),
    ("ask", 3, 3),
]


def test_an_answer_is_foreseen_by_another_run(learner, replay):
    follow(replay, [ADDED, YES, NO])
    before = shown(replay)
    learner.new_notes()
    assert replay.foresee("yes", lambda: False) is True
    assert learner.new_notes() == AHEAD
    assert shown(replay) == before
    follow(replay, [ADDED, YES, NO, replace(YES, number=4, first=2, second=3)])
    assert learner.new_notes() == [("ask", 3, 3)]


@pytest.mark.parametrize("n_events", range(3))
def test_foresight_ends_between_two_events(learner, replay, n_events):
    follow(replay, [ADDED, YES, NO])
    learner.new_notes()
    stops = iter([False] * n_events + [True])
    assert replay.foresee("yes", lambda: next(stops)) is False
    assert learner.new_notes() == AHEAD[: 2 + n_events]
    assert list(stops) == []


def test_without_a_question_nothing_is_foreseen(learner, replay):
    follow(replay, STORY)
    learner.new_notes()
    assert replay.foresee("yes", lambda: False) is False
    assert learner.new_notes() == []


# ---------------------------------------------------------------- how it came about
def test_retold_are_the_labels_after_each_event_that_holds(replay):
    follow(replay, [])
    assert [(number, labels.tolist()) for number, labels in replay.labels_by_event()] == [
        (0, [0, 1, 2, 3, 4, 5])
    ]
    follow(replay, STORY)
    before = shown(replay)
    story = [(number, labels.tolist()) for number, labels in replay.labels_by_event()]
    assert story == [(0, LABELS[0]), *((n, LABELS[n - 1]) for n in range(2, 6))]
    assert shown(replay) == before
    follow(replay, [*STORY, event(6, "undo", target=2)])
    assert [number for number, _ in replay.labels_by_event()] == [0, 3, 4, 5]


def test_a_story_is_completed_while_the_session_goes_on(replay):
    follow(replay, [ADDED, YES])
    story = replay.labels_by_event()
    assert next(story)[0] == 0
    follow(replay, [ADDED, YES, NO])
    assert [(number, labels.tolist()) for number, labels in story] == [(2, LABELS[1])]


# ---------------------------------------------------------------- what the learner tells
def test_a_learner_that_has_nothing_to_tell(replay):
    for events in ([], [ADDED]):
        follow(replay, events)
        assert replay.representatives() is None
        assert replay.column_shares() is None
        assert replay.description() == ()
    assert replay.snapshot() == Snapshot(1, None, replay.shown, ())


def test_what_a_learner_tells_is_as_of_the_last_event():
    learner = Outspoken()
    replay = Replay(learner, X, SEED)
    assert replay.description() == ()
    for n_events in (0, 1, 2, 1):
        follow(replay, [ADDED, YES][:n_events])
        assert replay.representatives().tolist() == [n_events] * 6
        assert replay.column_shares().tolist() == [0, n_events]
        assert replay.description() == (f"{n_events} facts", f"{n_events // 2} questions")


def test_a_learner_describes_each_event_once():
    learner = Outspoken()
    replay = Replay(learner, X, SEED)
    for events in ([ADDED], [ADDED, YES]):
        follow(replay, events)
        learner.new_notes()
        assert replay.description() == replay.description()
        assert learner.new_notes() == [("describe",)]
    other = Replay(learner, X, SEED)
    follow(other, [ADDED])
    assert other.description() == ("1 facts", "0 questions")


def test_a_snapshot_holds_what_is_kept():
    replay = Replay(Outspoken(), X, SEED)
    follow(replay, STORY)
    kept = replay.snapshot()
    assert (kept.event, kept.reason, kept.description) == (5, "exhausted", ("7 facts", "2 questions"))
    assert kept.labels is replay.shown
