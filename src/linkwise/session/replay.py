"""The learner of a session, taken through everything that holds."""

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
from linkwise.session.colours import Colours
from linkwise.session.events import Event, evidence_of, facts_of, settled
from linkwise.session.tables import Snapshot


class Replay:
    """A learner that follows the events of a session.

    What was volunteered or imported before the first answer is known to the learner from the start,
    so its order does not matter; the rest reaches it in the order in which it was said. While events
    are only added the run goes on from where it stands, otherwise it is repeated, which is cheap:
    the runs share a memo of what they have computed.

    Parameters
    ----------
    learner : Learner
    X : ndarray of shape (n_rows, n_features)
    seed : int
    progress : callable, optional
        ``progress(made, planned)`` while the learner prepares.

    Attributes
    ----------
    at : int
        Number of the last event that was followed; -1 before the first call of `follow`. The other
        attributes are as of this event, also when a later call was interrupted; `evidence` alone may
        then hold more.
    question : Question or None
    labels : ndarray of shape (n_rows,)
    colours : list of int
        Of the clusters in `labels`.
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
        self._told: list[Event] = []
        self.at = -1
        self.question: Question | None = None
        self.labels: Labels = np.zeros(len(X), dtype=np.int32)
        self.colours: list[int] = [0]
        self.reason: Reason | None = None
        self.evidence = Evidence(len(X))
        self._colours = Colours()
        self._described: tuple[int, tuple[str, ...]] = (-1, ())

    def follow(self, events: Sequence[Event]) -> None:
        """Bring the learner to where `events` lead."""
        wanted = settled(events)
        n_before = _before_the_first_answer(wanted)
        run, self._run = self._run, None  # an error or an interruption leaves no run that is half told
        if run is None or len(self._told) < n_before or wanted[: len(self._told)] != self._told:
            self._told = wanted[:n_before]
            run = self._begun(self._told)
            self._colours.begin(self._told, run.labels)
        for event in wanted[len(self._told) :]:
            before = run.labels
            _tell(run, event)
            self._colours.follow(event, before, run.labels)
        self._run, self._told = run, wanted
        self.question, self.labels, self._state = run.question, run.labels, run.state
        self.reason, self.evidence, self.colours = run.reason, run.evidence, self._colours.now
        self.at = events[-1].number if events else 0

    def _begun(self, known: Sequence[Event]) -> Run:
        """A run that knows what came before the first answer."""
        evidence = evidence_of(len(self.X), known)
        return Run(self._learner, self.X, evidence, self._seed, prepared=self._prepared, memo=self._memo)

    def foresee(self, answer: Answer, stop: Callable[[], bool]) -> bool:
        """Take another run to what would come after an answer to the present question.

        Nothing comes of it but what the memo holds then, so that the answer is dealt with sooner if it is
        given. Between two events `stop` may end it.

        Returns
        -------
        bool
            Whether it came to its end.
        """
        if self.question is None or self._run is None:
            return False
        n_before = _before_the_first_answer(self._told)
        run = self._begun(self._told[:n_before])
        for event in self._told[n_before:]:
            if stop():
                return False
            _tell(run, event)
        if stop():
            return False
        run.tell(self.question.first, self.question.second, answer, asked=True)
        return True

    def retold(self) -> Iterator[tuple[int, Labels]]:
        """The number of each event that holds, and the labels after it, by another run; 0 for the start."""
        n_before = _before_the_first_answer(self._told)
        told = self._told[n_before:]
        run = self._begun(self._told[:n_before])
        yield 0, run.labels
        for event in told:
            _tell(run, event)
            yield event.number, run.labels

    def snapshot(self) -> Snapshot:
        """What can be kept of it, to be read without the data."""
        return Snapshot(self.at, self.reason, self.labels, self.description())

    def representatives(self) -> NDArray[np.int64] | None:
        """For each row its representative, if the learner treats many rows as one."""
        return find_representatives(self._learner, self._state)

    def column_shares(self) -> NDArray[np.float64] | None:
        """How much each column counts, where the learner learns that."""
        if not isinstance(self._learner, Weighing):
            return None
        return self._learner.column_shares(self._state)

    def description(self) -> tuple[str, ...]:
        """What the learner says of where it stands; nothing, where it has nothing to say."""
        if isinstance(self._learner, Describing) and self._described[0] != self.at:
            self._described = self.at, tuple(self._learner.describe(self._state))
        return self._described[1]


def _before_the_first_answer(events: Sequence[Event]) -> int:
    """How many events come before the first answer: their order does not matter."""
    return next((at for at, event in enumerate(events) if event.kind == "answer"), len(events))


def _tell(run: Run, event: Event) -> None:
    """Let a learner's run know of one event."""
    if event.kind in ("import", "done"):
        for fact in event.facts:
            run.evidence.add(*fact)
        run.refresh()
    else:
        (fact,) = facts_of(event)
        run.tell(*fact, asked=event.kind == "answer")
