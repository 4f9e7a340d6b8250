"""A learner that is taken through the events of a session."""

from dataclasses import replace

import numpy as np
import pytest

from linkwise.constraints.facts import Fact
from linkwise.learn.advice import StopAdvice
from linkwise.learn.batches import PATH
from linkwise.learn.learner import Question
from linkwise.session.journal.events import Event, Place
from linkwise.session.journal.stored_clustering import StoredClustering
from linkwise.session.state import replay as module
from linkwise.session.state.event_lists import settle_events
from linkwise.session.state.replay import Replay

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
    assert replay.clustering() == StoredClustering(1, None, replay.shown, ())


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
    kept = replay.clustering()
    assert (kept.event, kept.reason, kept.description) == (5, "exhausted", ("7 facts", "2 questions"))
    assert kept.labels is replay.shown


# ---------------------------------------------------------------- copies of the run
class Position:
    """Where a run stands."""

    def __init__(self, problem, at=0):
        self.problem, self.at = problem, at


class Forkable(Neighbours):
    """Its runs can be copied, and it advises how far to go."""

    def start(self, problem):
        return Position(super().start(problem))

    def ask(self, state):
        while state.at < len(state.problem.X) - 1:
            self.notes.append(("ask", state.at))
            yield Question(state.at, state.at + 1, labels_by(state.problem.evidence), "Next to each other.")
            state.at += 1
        return labels_by(state.problem.evidence)

    def fork(self, state, problem):
        self.notes.append(("fork", state.at))
        return Position(problem, state.at)

    def advise(self, state):
        self.notes.append(("advise",))
        return StopAdvice(state.at > 1, 0.25, 0.5, 3)


ROWS = np.arange(60.0).reshape(30, 2)


def answers(n):
    """Answers to the first n questions: two rows each are together."""
    return [event(at + 1, "answer", at, at + 1, "no" if at % 2 else "yes") for at in range(n)]


def numbers_of(notes, kind):
    return [note[1] for note in notes if note[0] == kind]


def test_an_undo_goes_on_from_a_copy():
    learner = Forkable()
    replay = Replay(learner, ROWS, SEED)
    for n in range(6):
        follow(replay, answers(n))
    learner.new_notes()
    for target, n_left in ((5, 4), (4, 3)):
        undone = [event(number, "undo", target=6 - at) for at, number in enumerate(range(6, 12 - target), 1)]
        follow(replay, [*answers(5), *undone])
        notes = learner.new_notes()
        assert "start" not in [note[0] for note in notes]
        fresh = Replay(Forkable(), ROWS, SEED)
        follow(fresh, answers(n_left))
        assert shown(replay)[1:] == shown(fresh)[1:]
    follow(replay, answers(6))  # others are added again
    fresh = Replay(Forkable(), ROWS, SEED)
    follow(fresh, answers(6))
    assert shown(replay) == shown(fresh)


def test_the_last_sixteen_copies_are_kept():
    learner = Forkable()
    replay = Replay(learner, ROWS, SEED)
    follow(replay, answers(20))
    assert numbers_of(learner.new_notes(), "fork") == [*range(4, 20)]
    follow(replay, [*answers(20), event(21, "undo", target=5)])
    notes = learner.new_notes()
    assert (len(notes[0]), notes[0][0]) == (2, "fork")  # the copy before event 5
    follow(replay, [*answers(20), event(21, "undo", target=5), event(22, "undo", target=4)])
    assert learner.new_notes()[0] == ("start",)


@pytest.mark.parametrize(("most", "kept"), [(12, [3, 4]), (3, [4]), (30, [*range(5)])])
def test_many_rows_have_fewer_copies(monkeypatch, most, kept):
    monkeypatch.setattr(module, "MARKED_ROWS", most)
    learner = Forkable()
    follow(Replay(learner, X, SEED), answers(5))
    assert numbers_of(learner.notes, "fork") == kept


def test_an_answer_is_foreseen_by_a_copy():
    learner = Forkable()
    replay = Replay(learner, ROWS, SEED)
    follow(replay, answers(3))
    learner.new_notes()
    assert replay.foresee("yes", lambda: True) is False
    assert learner.new_notes() == [("fork", 3), ("ask", 3)]
    assert replay.foresee("yes", lambda: False) is True
    assert learner.new_notes() == [("fork", 3), ("ask", 3), ("ask", 4)]


# ---------------------------------------------------------------- data that were replaced
@pytest.mark.parametrize("known", range(4))
def test_answers_about_earlier_data_are_known_from_the_start(learner, known):
    replay = Replay(learner, X, SEED, known=known)
    learner.new_notes()
    follow(replay, [replace(YES, number=1), replace(NO, number=2), event(3, "answer", 2, 3, "yes")])
    start = next(note for note in learner.notes if note[0] == "start")
    assert start == ("start", *[(0, 1, "yes"), (1, 2, "no"), (2, 3, "yes")][:known])
    assert asked(replay) == (3, 4)


def test_clusters_keep_the_numbers_that_people_have_seen(replay):
    follow(replay, [replace(YES, number=1)])
    kept = replay.keep_numbers(np.array([5, 5, 4, 3, 0, 1]))
    assert replay.shown.tolist()[:4] == [5, 5, 4, 3]
    follow(replay, [replace(YES, number=1), replace(NO, number=2)])
    assert replay.shown.tolist()[:4] == [5, 5, 4, 3]
    again = Replay(Neighbours(), X, SEED, numbers=kept)
    follow(again, [replace(YES, number=1), replace(NO, number=2)])
    assert again.shown.tolist() == replay.shown.tolist()
    assert list(again.shades) == list(replay.shades)
    assert replay.keep_numbers(np.array([5, 5, 4, 3, -1, 1])) == ()  # a new row would have number 6 of 6 rows
    assert replay.shown.tolist() == [0, 0, 2, 3, 4, 5]


# ---------------------------------------------------------------- advice, doubts, several questions
def test_a_learner_advises_once_for_each_event():
    learner = Forkable()
    replay = Replay(learner, ROWS, SEED)
    learner.new_notes()
    assert replay.advice() is None
    assert learner.new_notes() == []
    for n, is_enough in ((0, False), (3, True)):
        follow(replay, answers(n))
        learner.new_notes()
        assert replay.advice() == replay.advice() == StopAdvice(is_enough, 0.25, 0.5, 3)
        assert learner.new_notes() == [("advise",)]
        assert replay.clustering().advice == replay.advice()
    assert Replay(Neighbours(), X, SEED).advice() is None


def test_doubts_are_found_once_for_each_event(monkeypatch):
    found = []
    monkeypatch.setattr(module, "find_doubts", lambda *given: found.append(given) or len(found))
    replay = Replay(Neighbours(), X, SEED, error_rate=None)
    for n_events in (1, 2):
        follow(replay, STORY[:n_events])
        assert replay.doubts() == replay.doubts() == n_events
        assert replay.clustering().doubts == n_events
        evidence, events, _ = found[-1]
        assert evidence is replay.evidence
        assert [e.number for e in events] == [e.number for e in STORY[:n_events]]


def test_a_certain_pair_stays_whatever_others_say():
    sure = event(1, "add", 0, 1, "yes", facts=(Fact(0, 1, "yes"),))
    against = [event(number, "add", 0, 1, "no", source="ben") for number in range(3, 7)]
    for error_rate in (None, 0.1):
        replay = Replay(Neighbours(), X, SEED, error_rate=error_rate)
        follow(replay, [event(1, "answer", 4, 5, "no"), replace(sure, number=2), *against])
        assert replay.evidence.verdict(0, 1) == "yes"


def test_labels_follow_an_answer_to_one_of_several_questions():
    class Current(Neighbours):
        def current_labels(self, problem):
            return labels_by(problem.evidence)

    placed = replace(event(2, "answer", 3, 4, "yes"), place=Place(1, 2))
    replay = Replay(Current(), X, SEED)
    follow(replay, [event(1, "answer", 0, 1, "yes"), placed])
    assert replay.shown.tolist()[3] == replay.shown.tolist()[4]
    assert asked(replay) == (1, 2)


@pytest.mark.parametrize("kind", [Neighbours, Forkable])
def test_several_questions_begin_with_the_present_one(kind):
    many = Replay(kind(), ROWS, SEED)
    follow(many, answers(2))
    pairs = [tuple(one.pair) for one in many.choose_batch(PATH + 2, [])]
    assert pairs == [(at, at + 1) for at in range(2, PATH + 2)]  # a second path leads to the same ones
    replay = Replay(kind(), X, SEED)
    assert replay.choose_batch(3, []) == []
    follow(replay, answers(2))
    before = shown(replay)
    chosen = replay.choose_batch(3, [])
    assert tuple(chosen[0].pair) == asked(replay)
    assert len({frozenset(one.pair) for one in chosen}) == len(chosen)
    assert shown(replay) == before
    follow(replay, answers(5))
    assert replay.choose_batch(3, []) == []


# ---------------------------------------------------------------- which copies, and from where
class Watched(Forkable):
    """Takes down whether the copies of its runs are to show labels; the last row is beside row 2."""

    def fork(self, state, problem):
        self.notes.append(("shows", problem.shows_labels))
        return super().fork(state, problem)

    def current_labels(self, state):
        labels = labels_by(state.problem.evidence)
        labels[-1] = labels[2]
        return labels

    def confidence(self, state):
        return np.full(len(state.problem.X), state.at / 10)


def test_the_newest_copies_are_kept():
    learner = Forkable()
    replay = Replay(learner, ROWS, SEED)
    follow(replay, answers(20))
    follow(replay, answers(25))
    learner.new_notes()
    undone = [event(26, "undo", target=25)]
    follow(replay, [*answers(25), *undone])
    assert learner.new_notes()[0] == ("fork", 24)  # a copy of the copy before event 25
    undone.append(event(27, "undo", target=10))
    follow(replay, [*answers(25), *undone])
    assert learner.new_notes()[0] == ("fork", 9)
    undone.append(event(28, "undo", target=9))
    follow(replay, [*answers(25), *undone])
    assert learner.new_notes()[0] == ("start",)


def test_numbers_go_back_with_the_copy():
    before = [event(1, "add", 14, 15, "yes"), event(2, "add", 17, 18, "yes")]
    later = [replace(one, number=one.number + 2) for one in answers(8)]
    replay, fresh = (Replay(Forkable(), ROWS, SEED) for _ in range(2))
    for n in range(9):
        follow(replay, [*before, *later[:n]])
    follow(replay, [*before, *later, event(11, "undo", target=10), event(12, "undo", target=9)])
    follow(fresh, [*before, *later[:6]])
    assert shown(replay)[1:] == shown(fresh)[1:]
    assert replay.shades == fresh.shades
    stories = [[labels.tolist() for _, labels in one.labels_by_event()] for one in (replay, fresh)]
    assert stories[0] == stories[1]


def test_clusters_have_the_numbers_after_the_first_imports(learner, replay):
    imported = event(1, "import", facts=(Fact(0, 1, "yes"),))
    follow(replay, [imported, event(2, "add", 2, 3, "yes"), event(3, "import", facts=(Fact(4, 5, "yes"),))])
    starts = [note for note in learner.notes if note[0] == "start"]
    assert starts == [("start", (0, 1, "yes"), (2, 3, "yes"), (4, 5, "yes")), ("start", (0, 1, "yes"))]
    assert replay.shown.tolist() == [0, 0, 1, 1, 3, 3]


def test_runs_share_what_they_compute():
    class Computing(Neighbours):
        def start(self, problem):
            problem.memo.get("any", "key", lambda: self.notes.append(("computed",)))
            return super().start(problem)

    learner = Computing()
    replay = Replay(learner, X, SEED)
    for events in ([ADDED, YES, NO], [ADDED, YES]):
        follow(replay, events)
    assert learner.notes.count(("computed",)) == 1


def test_copies_for_several_questions_show_no_labels():
    learner = Watched()
    replay = Replay(learner, ROWS, SEED)
    follow(replay, answers(1))
    learner.new_notes()
    assert len(replay.choose_batch(PATH + 1, [])) == PATH
    assert numbers_of(learner.notes, "shows") == [False, False]  # one for each path
    learner.new_notes()
    replay.foresee("no", bool)
    assert numbers_of(learner.notes, "shows") == [True]


def test_only_an_answer_to_one_of_several_questions_updates_labels():
    placed = replace(event(2, "answer", 3, 4, "yes"), place=Place(1, 2))
    for late, is_updated in ((placed, True), (replace(placed, place=None), False)):
        replay = Replay(Watched(), X, SEED)
        follow(replay, [event(1, "answer", 0, 1, "yes"), late])
        assert (replay.shown[5] == replay.shown[2]) == is_updated


def test_a_learner_says_how_certain_it_is():
    replay = Replay(Watched(), X, SEED)
    follow(replay, answers(3))
    assert replay.confidence().tolist() == [0.3] * 6
    assert Replay(Neighbours(), X, SEED).confidence() is None


def test_the_evidence_has_who_when_and_how_sure(replay):
    told = replace(YES, number=1, source="anna", reliability=0.75)
    follow(replay, [told])
    (fact,) = replay.evidence
    assert (fact.source, fact.when, fact.reliability, fact.asked) == ("anna", told.when, 0.75, True)


def test_numbers_are_kept_anew(replay):
    follow(replay, [replace(YES, number=1)])
    for before in ([5, 5, 4, 3, 0, 1], [1, 1, 0, 2, 3, 4], [0, 0, 2, 3, 4, 5]):
        replay.keep_numbers(np.array(before))
        assert replay.shown.tolist() == before


def test_doubts_are_not_those_before_the_first_event(monkeypatch):
    monkeypatch.setattr(module, "find_doubts", lambda evidence, events, _: ("found", len(events)))
    replay = Replay(Neighbours(), X, SEED, error_rate=None)
    assert replay.doubts() is None
    follow(replay, [])
    assert replay.doubts() == ("found", 0)
