"""The learner of a session, taken through the events that count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.learner import (
    Describing,
    Labels,
    Learner,
    Progress,
    Question,
    Reason,
    Weighing,
    find_representatives,
)
from linkwise.asking.memo import Memo
from linkwise.asking.run import Run
from linkwise.constraints.evidence import Answer, Evidence
from linkwise.session.colours import Colours, Shade
from linkwise.session.deserialize import Snapshot
from linkwise.session.events import Event, evidence_of, facts_of


class Replay:
    """A learner that follows the events of a session.

    Pairs that were volunteered or imported before the first answer are known to the learner from the start,
    so their order does not matter; all later events reach it in order. While events are only added, the run
    continues; otherwise it is repeated, which is cheap because the runs share a memo of what they computed.

    Parameters
    ----------
    learner : Learner
    X : ndarray of shape (n_rows, n_features)
    seed : int
    progress : callable, optional
        ``progress(done, total)``, called while the learner prepares.

    Attributes
    ----------
    at : int
        Number of the last event that was applied; -1 before the first call of `follow`. The other
        attributes are as of this event, also after a later call was interrupted, except that `evidence`
        may then hold more.
    question : Question or None
    labels : ndarray of shape (n_rows,)
    colours : list of int
        The colour of each cluster in `labels`.
    shades : list of (int, int)
        The colour family of each cluster in `labels`, and its shade within the family.
    reason : {"exhausted"} or None
    evidence : Evidence
    """

    def __init__(
        self, learner: Learner, X: NDArray[Any], seed: int, progress: Progress | None = None
    ) -> None:
        self.X = X
        self._learner, self._seed = learner, seed
        self._prepared = learner.prepare(X, seed, progress=progress)
        self._memo = Memo()
        self._run: Run | None = None
        self._state: Any = None  # of the run, as of `at`
        self._applied: list[Event] = []
        self.at = -1
        self.question: Question | None = None
        self.labels: Labels = np.zeros(len(X), dtype=np.int32)
        self.colours: list[int] = [0]
        self.shades: list[Shade] = [(0, 0)]
        self.reason: Reason | None = None
        self.evidence = Evidence(len(X))
        self._colours = Colours(X)
        self._described: tuple[int, tuple[str, ...]] = (-1, ())

    def follow(self, settled: Sequence[Event], number: int) -> None:
        """Take the learner through all settled events, as of the event of that number (0: no event)."""
        n_before = _count_before_first_answer(settled)
        run, self._run = self._run, None  # an error or an interruption leaves no half-updated run
        n_applied = len(self._applied)
        if run is None or n_applied < n_before or list(settled[:n_applied]) != self._applied:
            self._applied = list(settled[:n_before])
            run = self._start_run(self._applied)
            self._colours.begin(self._applied, run.labels)
        for event in settled[len(self._applied) :]:
            before = run.labels
            _apply_event(run, event)
            self._colours.follow(event, before, run.labels)
        self._run, self._applied = run, list(settled)
        self.question, self.labels, self._state = run.question, run.labels, run.state
        self.reason, self.evidence = run.reason, run.evidence
        self.colours, self.shades = self._colours.now, self._colours.shades
        self.at = number

    def _start_run(self, known: Sequence[Event]) -> Run:
        """Start a run that knows the events before the first answer."""
        evidence = evidence_of(len(self.X), known)
        return Run(self._learner, self.X, evidence, self._seed, prepared=self._prepared, memo=self._memo)

    def foresee(self, answer: Answer, stop: Callable[[], bool]) -> bool:
        """Take another run to the state after an answer to the present question.

        Its only effect is what the memo holds, so that the answer is processed sooner if the person gives it.
        `stop` is called between two events and can end the work.

        Returns
        -------
        bool
            Whether the work was completed.
        """
        if self.question is None or self._run is None:
            return False
        n_before = _count_before_first_answer(self._applied)
        run = self._start_run(self._applied[:n_before])
        for event in self._applied[n_before:]:
            if stop():
                return False
            _apply_event(run, event)
        if stop():
            return False
        run.tell(self.question.first, self.question.second, answer, asked=True)
        return True

    def labels_by_event(self) -> Iterator[tuple[int, Labels]]:
        """Yield the number of each settled event and the labels after it, in another run; 0 is the start."""
        n_before = _count_before_first_answer(self._applied)
        applied = self._applied[n_before:]
        run = self._start_run(self._applied[:n_before])
        yield 0, run.labels
        for event in applied:
            _apply_event(run, event)
            yield event.number, run.labels

    def snapshot(self) -> Snapshot:
        """The labels and sentences that can be read later without the data."""
        return Snapshot(self.at, self.reason, self.labels, self.description())

    def representatives(self) -> NDArray[np.int64] | None:
        """The representative of each row, for learners that treat several rows as one."""
        return find_representatives(self._learner, self._state)

    def column_shares(self) -> NDArray[np.float64] | None:
        """The share of each column in the distance, for learners that learn it."""
        if not isinstance(self._learner, Weighing):
            return None
        return self._learner.column_shares(self._state)

    def description(self) -> tuple[str, ...]:
        """Sentences of the learner about its present state; empty if it has none."""
        if isinstance(self._learner, Describing) and self._described[0] != self.at:
            self._described = self.at, tuple(self._learner.describe(self._state))
        return self._described[1]


def _count_before_first_answer(events: Sequence[Event]) -> int:
    """Count the events before the first answer; their order does not matter."""
    return next((at for at, event in enumerate(events) if event.kind == "answer"), len(events))


def _apply_event(run: Run, event: Event) -> None:
    """Tell the run of a learner about one event."""
    if event.kind in ("import", "done"):
        for fact in event.facts:
            run.evidence.add(*fact)
        run.refresh()
    else:
        (fact,) = facts_of(event)
        run.tell(*fact, asked=event.kind == "answer")
