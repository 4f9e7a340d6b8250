"""The interface of learners: questions, problems and the methods that a run calls.

A learner asks in a generator that reads like its paper: ``answer = yield Question(first, second,
labels, why)``. It never sees a person, a file or a clock. `linkwise.learn.run.Run` drives it. Everything
that changes while a learner asks belongs to the state of one run, so runs on the same prepared data do not
disturb each other.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer, Groups
from linkwise.learn.item_labels import Shown, read_labels
from linkwise.learn.memo import Memo

Labels = NDArray[np.int32]
Reason = Literal["budget", "exhausted", "stopped"]
NO_LABELS: Labels = np.empty(0, dtype=np.int32)  # of questions whose labels nobody sees


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question whether two rows belong together.

    Attributes
    ----------
    first, second : int
        Row positions.
    shown : ndarray of shape (n_rows,) or ItemLabels
        The best clustering before the answer; of rows, or of items that rows are grouped into.
    why : str
        Why the question is asked, in a sentence for the person who answers.
    expected : {"yes", "no"} or None
        The answer that the learner expects, if it expects one.
    """

    first: int
    second: int
    shown: Shown
    why: str
    expected: Answer | None = None

    @property
    def labels(self) -> Labels:
        """The best clustering before the answer, of shape (n_rows,)."""
        return read_labels(self.shown)


Asking = Generator[Question, Answer, Shown]
Oracle = Callable[[int, int], object]
Progress = Callable[[int, int], object]
"""``progress(done, planned)``: number of finished steps of all steps."""


class Grouped(Protocol):
    """An object with groups of rows, or of representatives: `Evidence`, or a view of it."""

    def groups(self) -> Groups:
        """Return the groups and the cannot-links between them.

        Returns
        -------
        Groups
            The groups of rows that must-links join.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What one run of a learner is about.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.
    prepared : object
        The result of ``learner.prepare(X, seed)``.
    evidence : Evidence
        The known facts; every answer adds one.
    seed : int
        Seed of all random draws.
    askable : ndarray of bool, shape (n_rows,), or None
        Rows that questions may show; all by default.
    budget : int or None
        Largest number of questions; None: no bound.
    memo : Memo
        What earlier runs over the same prepared data have computed; empty by default.
    shows_labels : bool
        Whether anybody looks at the labels of the questions. If not, a learner may leave them out.
    """

    X: NDArray[Any]
    prepared: Any
    evidence: Evidence
    seed: int
    askable: NDArray[np.bool_] | None = None
    budget: int | None = None
    memo: Memo = field(default_factory=Memo)
    shows_labels: bool = True


class Learner(Protocol):
    """The methods of a learner that `Run` calls.

    `linkwise.learn.abilities` lists optional methods, such as those that describe the progress and advise
    when to stop.
    """

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> Any:
        """Do all work that needs no answer.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            The rows.
        seed : int
            Seed of all random draws.
        progress : callable, optional
            Called as ``progress(done, planned)`` during long work. An exception that it raises ends the work.

        Returns
        -------
        object
            A value that nobody writes to, since several runs share it, one after the other or side by side.
            Results that are expensive to compute again during a run, such as a split, belong in
            `Problem.memo`.
        """

    def start(self, problem: Problem) -> Any:
        """Start a run.

        Parameters
        ----------
        problem : Problem
            What the run starts from.

        Returns
        -------
        object
            The state of the run; no other run uses it.
        """

    def ask(self, state: Any, /) -> Asking:
        """Ask until no question is left.

        The questions depend on X, the seed and the evidence alone: random draws follow from the seed and a
        place in the search (see `rng_at`), never from the order of calls.

        Parameters
        ----------
        state : object
            The state of the run.

        Yields
        ------
        Question
            The next question; the generator is sent its answer.

        Returns
        -------
        ndarray of shape (n_rows,)
            The final labels.
        """
