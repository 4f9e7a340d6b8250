"""The learner of a session, taken through the events that count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.error_rates import AssumedRate
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer
from linkwise.constraints.fallible import FallibleEvidence, make_evidence
from linkwise.constraints.sorting import Pile
from linkwise.data.columns.table import Table
from linkwise.learn.abilities import (
    SupportsAdvise,
    SupportsColumnShares,
    SupportsConfidence,
    SupportsDescribe,
    SupportsExplainPairs,
    SupportsGather,
    SupportsListDoubts,
    find_representatives,
    prepare_learner,
)
from linkwise.learn.advice import StopAdvice
from linkwise.learn.batches import Expectation, choose_batch
from linkwise.learn.gathering import Gathered, gather
from linkwise.learn.item_labels import Shown, read_labels
from linkwise.learn.learner import Learner, Question, Reason
from linkwise.learn.memo import Memo
from linkwise.learn.pair_explanation import DoubtfulDecision, PairExplanation
from linkwise.learn.run import Run
from linkwise.session.journal.events import ANSWERS_QUESTION, WITH_FACTS, Event
from linkwise.session.journal.stored_clustering import Doubts, StoredClustering
from linkwise.session.state.colours import Identities, Shade, match_numbers, number_rows, show_numbers
from linkwise.session.state.corrections import list_moved_rows
from linkwise.session.state.event_lists import add_event, constraints_of, evidence_of, facts_of
from linkwise.session.state.suspects import find_doubts
from linkwise.types import Labels, Progress

MARKS = 16  # copies of the run that are kept, so that undo and late answers need no replay from the start
MARKED_ROWS = 2**22  # rows in all copies together


class Replay:
    """A learner that follows the events of a session.

    Pairs that were volunteered or imported before the first answer are known to the learner from the
    start, so their order does not matter; all later events reach it in order. Answers about data that
    were replaced since, up to the event `known`, are known from the start, too: in their order they would
    answer other questions than those that the learner asks about the new data, and a learner makes less
    of such answers.

    While events are only added, the run continues. Otherwise a copy of the run before the first event
    that differs goes on, if there is one; if not, the run is repeated, which is cheap because the runs
    share a memo of what they computed.

    `numbers` are those that people see for each number of a cluster; higher ones stay. `at` is the number
    of the last event that was applied; -1 before the first call of `follow`. All else is as of this
    event, also after a later call was interrupted, except that `evidence` may then hold more. `shown` is
    the number of the cluster of each row, which stays with it; noise is -1. `shades` has, by number, the
    colour family of each cluster, and its shade within the family.
    """

    def __init__(
        self,
        learner: Learner,
        X: NDArray[Any],
        seed: int,
        progress: Progress | None = None,
        error_rate: AssumedRate = 0,
        numbers: Sequence[int] = (),
        known: int = 0,
        table: Table | None = None,
    ) -> None:
        self.X, self.table = X, table
        self._known = known
        self._numbers = numbers
        self._error_rate = error_rate
        self._learner, self._seed = learner, seed
        self._prepared = prepare_learner(learner, X, seed, table, progress=progress)
        self._memo = Memo()
        self._run: Run | None = None
        self._state: Any = None  # of the run, as of `at`
        self._applied: list[Event] = []
        self._marks: dict[int, Run] = {}  # copies of the run, by the number of events that it had applied
        self.at = -1
        self.question: Question | None = None
        self.shown: Shown = np.zeros(len(X), dtype=np.int32)
        self.shades: dict[int, Shade] = {0: (0, 0)}
        self.reason: Reason | None = None
        self.evidence: Evidence = make_evidence(len(X), None, error_rate)
        self._identities = Identities(X)
        self._n_before: int  # events that the run knew from the start; set with it
        self._n_marks = max(1, min(MARKS, MARKED_ROWS // len(X)))
        self._described: tuple[int, tuple[str, ...]] = (-1, ())
        self._advised: tuple[int, StopAdvice | None] = (-1, None)
        self._doubts: tuple[int, Doubts | None] = (-1, None)

    @property
    def learner(self) -> Learner:
        """The learner that asks."""
        return self._learner

    def follow(self, settled: Sequence[Event], number: int) -> None:
        """Take the learner through all settled events, as of the event of that number (0: no event)."""
        run, n_applied = self._find_start(settled)
        for at, event in enumerate(settled[n_applied:], n_applied):
            if at >= len(settled) - self._n_marks:
                self._mark(run, at)
            before = run.shown
            _apply_event(run, event)
            self._identities.follow(event, before, run.shown)
        self._run, self._applied = run, list(settled)
        self.question, self._state = run.question, run.state
        self.reason, self.evidence = run.reason, run.evidence
        self._number_clusters()
        self.at = number

    def _number_clusters(self) -> None:
        """Give the clusters of the learner the numbers that people see."""
        assert self._run is not None
        given, shades, _ = self._identities.now
        numbers = show_numbers(given, self._numbers)
        self.shown = number_rows(self._run.shown, numbers)
        self.shades = dict(zip(numbers, shades, strict=True))

    def keep_numbers(self, before: Labels) -> tuple[int, ...]:
        """Let clusters keep the numbers that people have seen, -1 for new rows; return these."""
        self._numbers = ()
        self._number_clusters()
        found = match_numbers(before, read_labels(self.shown))
        self._numbers = found if len(found) <= len(before) else ()  # session files hold no higher number
        self._number_clusters()
        return tuple(self._numbers)

    def _find_start(self, settled: Sequence[Event]) -> tuple[Run, int]:
        """A run from which settled events go on, and the number of those that it has applied."""
        run, self._run = self._run, None  # an error or an interruption leaves no half-updated run
        n_before, n_applied = _count_known(settled, self._known), len(self._applied)
        is_current = run is not None and self._n_before == n_before
        n_same = _count_same(settled, self._applied) if is_current else -1
        if run is not None and n_same == n_applied:
            return run, n_applied
        self._marks = {at: mark for at, mark in self._marks.items() if at <= n_same}
        if self._marks:
            n_applied = max(self._marks)
            self._identities.go_back(n_applied - n_before)
            run = self._marks[n_applied].fork()
            assert run is not None
            return run, n_applied
        self._n_before, self._applied = n_before, list(settled[:n_before])
        run = self._start_run(self._applied)
        self._begin_identities(self._identities, run.shown)
        return run, n_before

    def _begin_identities(self, identities: Identities, labels: Shown) -> None:
        """Number the clusters after the events that the run knows from the start."""
        known = self._applied[: self._n_before]
        n_imported = next((at for at, event in enumerate(known) if event.kind != "import"), len(known))
        imported, added = known[:n_imported], known[n_imported:]
        identities.begin(imported, added, labels, lambda: self._start_run(imported).shown)

    def _mark(self, run: Run, at: int) -> None:
        """Keep a copy of a run that has applied so many events, and forget the oldest one."""
        copy = run.fork() if at not in self._marks else None
        if copy is not None:
            while len(self._marks) >= self._n_marks:
                del self._marks[min(self._marks)]
            self._marks[at] = copy

    def _start_run(self, known: Sequence[Event]) -> Run:
        """Start a run that knows some events."""
        evidence = evidence_of(len(self.X), known, self._error_rate)
        return Run(self._learner, self.X, evidence, self._seed, prepared=self._prepared, memo=self._memo)

    def choose_batch(self, n: int, held: Sequence[Expectation]) -> list[Expectation]:
        """Choose up to n questions that are worth asking together with those that others hold.

        The held ones are in the order of their places.
        """
        if self.question is None or self._run is None:
            return []
        run = self._run.fork(shows_labels=False)
        if run is None:
            *_, (_, run) = self._retrace()
        return choose_batch(run, self._start_anew, n, held, self._seed)

    @property
    def gathers(self) -> bool:
        """Whether the learner chooses the rows of a screen together."""
        return isinstance(self._learner, SupportsGather)

    def gather(self, m: int, held: Sequence[Pile]) -> Gathered | None:
        """Gather up to m rows that are worth sorting together, beside those of screens that are open."""
        if self._run is None:
            return None
        return gather(self._learner, self._run, self._start_anew, m, held, self._seed)

    def _retrace(self) -> Iterator[tuple[int, Run]]:
        """Take another run to the present state; yield it at its start, with 0, and after each event."""
        n_before = _count_known(self._applied, self._known)
        known, later = self._applied[:n_before], self._applied[n_before:]  # as of now, if others are added
        run = self._start_run(known)
        yield 0, run
        for event in later:
            _apply_event(run, event)
            yield event.number, run

    def _start_anew(self) -> Run:
        """Copy the run, or else start one that knows all events: quicker than one that follows them."""
        run = None if self._run is None else self._run.fork(shows_labels=False)
        return self._start_run(self._applied) if run is None else run

    def foresee(self, answer: Answer, stop: Callable[[], bool]) -> bool:
        """Take another run to the state after an answer to the present question.

        Return whether it was completed. Its only effect is what the memo holds, so that the answer is
        processed sooner if the person gives it. `stop` is called between two events and can end the
        work.
        """
        if self.question is None or self._run is None:
            return False
        run = self._run.fork()
        if run is None:
            for _, run in self._retrace():  # noqa: B007  # the last one
                if stop():
                    return False
        elif stop():
            return False
        assert run is not None
        run.tell(self.question.first, self.question.second, answer, asked=True)
        return True

    def labels_by_event(self) -> Iterator[tuple[int, Labels]]:
        """Yield the number of each settled event and the labels after it, in another run; 0 is the start."""
        for (number, run), identity in zip(self._retrace(), self._identities.list_steps(), strict=False):
            yield number, read_labels(number_rows(run.shown, show_numbers(identity.numbers, self._numbers)))

    def clustering(self) -> StoredClustering:
        """The labels and sentences that can be read later without the data."""
        return StoredClustering(
            self.at, self.reason, self.shown, self.description(), self.doubts(), self.advice()
        )

    def doubts(self) -> Doubts | None:
        """Which answers are probably wrong; None if all of them count as right."""
        if self._doubts[0] != self.at:
            self._doubts = self.at, find_doubts(self.evidence, self._applied, self.X)
        return self._doubts[1]

    def representatives(self) -> NDArray[np.int64] | None:
        """The representative of each row, for learners that treat several rows as one."""
        return find_representatives(self._learner, self._state)

    def column_shares(self) -> NDArray[np.float64] | None:
        """The share of each column in the distance, for learners that learn it."""
        if not isinstance(self._learner, SupportsColumnShares):
            return None
        return self._learner.column_shares(self._state)

    def explain_pair(self, first: int, second: int) -> PairExplanation | None:
        """Which columns speak for the match of two rows, for learners that can tell it."""
        if not isinstance(self._learner, SupportsExplainPairs):
            return None
        return self._learner.explain_pair(self._state, first, second)

    def column_effects(self) -> dict[str, float] | None:
        """How much each column counts for a match, for learners that can tell it."""
        if not isinstance(self._learner, SupportsExplainPairs):
            return None
        return self._learner.column_effects(self._state)

    def list_doubts(self, most: int) -> list[DoubtfulDecision] | None:
        """The least certain decisions about groups, for learners that can tell them."""
        if not isinstance(self._learner, SupportsListDoubts):
            return None
        return self._learner.list_doubts(self._state, most)

    def confidence(self) -> NDArray[np.float64] | None:
        """The probability that each row is in its cluster, for learners that estimate it."""
        return (
            self._learner.confidence(self._state) if isinstance(self._learner, SupportsConfidence) else None
        )

    def description(self) -> tuple[str, ...]:
        """Sentences of the learner about its present state; empty if it has none."""
        if isinstance(self._learner, SupportsDescribe) and self._described[0] != self.at:
            self._described = self.at, tuple(self._learner.describe(self._state))
        return self._described[1]

    def advice(self) -> StopAdvice | None:
        """The advice of the learner whether to stop; None if it gives none."""
        if isinstance(self._learner, SupportsAdvise) and self._advised[0] != self.at:
            self._advised = self.at, self._learner.advise(self._state)
        return self._advised[1]


def _count_same(events: Sequence[Event], others: Sequence[Event]) -> int:
    """Count the first events that are the same."""
    pairs = enumerate(zip(events, others, strict=False))
    differing = (at for at, (event, other) in pairs if event is not other and event != other)
    return next(differing, min(len(events), len(others)))


def _count_known(events: Sequence[Event], known: int) -> int:
    """Count the events before the first answer about the present data; their order does not matter."""
    is_new = (event.kind in ANSWERS_QUESTION and event.number > known for event in events)
    return next((at for at, new in enumerate(is_new) if new), len(events))


def _apply_event(run: Run, event: Event) -> None:
    """Tell the run of a learner about one event."""
    if event.sorting is not None:
        run.sort(event.sorting, source=event.source, when=event.when)
    elif event.kind in WITH_FACTS:
        if event.kind == "move":
            run.evidence.corrected |= frozenset(list_moved_rows(event.facts, run.labels))
        add_event(run.evidence, event)
        run.refresh()
        run.update_labels()
    else:
        (fact,) = facts_of(event)
        if event.is_sure and isinstance(run.evidence, FallibleEvidence):
            run.evidence.add_constraints(constraints_of(run.evidence.n_rows, [fact]))
        run.tell(
            *fact.pair,
            fact.answer,
            asked=fact.asked,
            source=fact.source,
            when=fact.when,
            reliability=fact.reliability,
        )
        if event.place is not None or not fact.asked:
            run.update_labels()
