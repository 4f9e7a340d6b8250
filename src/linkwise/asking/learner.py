"""The interface of learners: questions, problems and the methods that a run calls.

A learner asks in a generator that reads like its paper: ``answer = yield Question(first, second,
labels, why)``. It never sees a person, a file or a clock. `linkwise.asking.run.Run` drives it. Everything
that changes while a learner asks belongs to the state of one run, so runs on the same prepared data do not
disturb each other.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.evidence import ANSWERS, Answer, Evidence, Groups
from linkwise.errors import short_repr

Labels = NDArray[np.int32]
Reason = Literal["budget", "exhausted", "stopped"]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question whether two rows belong together.

    Attributes
    ----------
    first, second : int
        Row positions.
    labels : ndarray of shape (n_rows,)
        The best clustering before the answer.
    why : str
        What the answer is good for, in a sentence for the person who is asked.
    expected : {"yes", "no"} or None
        The answer that the learner expects, if it expects one.
    """

    first: int
    second: int
    labels: Labels
    why: str
    expected: Answer | None = None


Asking = Generator[Question, Answer, Labels]
Oracle = Callable[[int, int], object]
Progress = Callable[[int, int], object]
"""``progress(done, planned)``: number of finished steps of all steps."""


class Grouped(Protocol):
    """An object with groups of rows, or of representatives: `Evidence`, or a view of it."""

    def groups(self) -> Groups:
        """Return the groups and the cannot-links between them."""
        ...


class Problem(NamedTuple):
    """Everything that one run of a learner starts from.

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
        Largest number of questions; unlimited by default.
    """

    X: NDArray[Any]
    prepared: Any
    evidence: Evidence
    seed: int
    askable: NDArray[np.bool_] | None = None
    budget: int | None = None


class Learner(Protocol):
    """The methods of a learner that `Run` calls.

    A learner may also have ``describe(state)``, sentences about its progress for people (see `Describing`);
    ``stand_ins(state)``, if it treats many rows as one (see `StandingIn`); and ``column_shares(state)``, if
    it learns how much each column counts (see `Weighing`).
    """

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> Any:
        """Do all work that needs no answer.

        Several runs share the result, one after the other or at the same time. A learner may cache in it
        what is expensive to compute again, such as a split, if the cache never changes a result.

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
            `Problem.prepared` of every run.
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


@runtime_checkable
class Describing(Protocol):
    """A learner that can describe its progress."""

    def describe(self, state: Any, /) -> Sequence[str]:
        """Describe in a sentence or two what the run has found, in words that a person understands.

        It is called after every answer, so it must be fast.
        """


@runtime_checkable
class StandingIn(Protocol):
    """A learner that treats many rows as one."""

    def stand_ins(self, state: Any, /) -> NDArray[np.int64] | None:
        """Return the representative of each row, shape (n_rows,); None before there are any."""


@runtime_checkable
class Weighing(Protocol):
    """A learner that learns how much each column counts."""

    def column_shares(self, state: Any, /) -> NDArray[np.float64] | None:
        """Return the share of each column of X in the distances of rows, sum 1; None before it is known."""


def rng_at(seed: int, *place: int) -> np.random.Generator:
    """Create the random generator of one place in a search; its draws do not depend on other places."""
    return np.random.default_rng([seed, *place])


def check_answer(answer: object, first: int, second: int) -> Answer:
    """Convert an answer to ``"yes"``, ``"no"`` or ``"unsure"``; True means yes and False means no."""
    if isinstance(answer, (bool, np.bool_)):
        return "yes" if answer else "no"
    for known in ANSWERS:
        if isinstance(answer, str) and answer == known:
            return known
    raise TypeError(
        f"The answer about rows {first} and {second} is unknown: {short_repr(answer)}"
        f" ({type(answer).__name__}). Give 'yes', 'no', 'unsure', True or False."
    )
