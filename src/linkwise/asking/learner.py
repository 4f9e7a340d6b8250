"""What asks: a learner, its questions, and what one run of it is about.

A learner asks in a generator that reads like its paper: ``answer = yield Question(first, second,
labels, why)``. It never sees a person, a file or a clock. `linkwise.asking.run.Run` drives it. Everything
that changes while a learner asks belongs to the state of one run, so runs over the same prepared data never
disturb each other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.memo import Memo
from linkwise.constraints.evidence import ANSWERS, Answer, Evidence, Groups
from linkwise.errors import short_repr

Labels = NDArray[np.int32]
Reason = Literal["budget", "exhausted", "stopped"]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question: do these two rows belong together.

    Attributes
    ----------
    first, second : int
        Row positions.
    labels : ndarray of shape (n_rows,)
        The best clustering at this moment.
    why : str
        Why the answer is worth having, for the person who is asked.
    expected : {"yes", "no"} or None
        What the learner expects to hear, where it expects anything.
    """

    first: int
    second: int
    labels: Labels
    why: str
    expected: Answer | None = None


Asking = Generator[Question, Answer, Labels]
Oracle = Callable[[int, int], object]
Progress = Callable[[int, int], object]
"""``progress(made, planned)``: how far a piece of work is."""


class Grouped(Protocol):
    """What is known of rows, or of what stands for them."""

    def groups(self) -> Groups:
        """What belongs together, and what is apart."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What one run of a learner is about.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    prepared : object
        What ``learner.prepare(X, seed)`` returned.
    evidence : Evidence
        Facts known so far; grows with every answer.
    seed : int
    askable : ndarray of bool, shape (n_rows,), or None
        Rows that may be shown; None: all.
    budget : int or None
        Largest number of questions; None: no bound.
    memo : Memo
        What earlier runs over the same prepared data have computed; empty by default.
    """

    X: NDArray[Any]
    prepared: Any
    evidence: Evidence
    seed: int
    askable: NDArray[np.bool_] | None = None
    budget: int | None = None
    memo: Memo = field(default_factory=Memo)


class Learner(Protocol):
    """What `Run` needs of a learner.

    A learner may also have ``describe(state)``: sentences about its progress, for people (see `Describing`);
    ``representatives(state)``, if it treats many rows as one (see `Representing`); and
    ``column_shares(state)``, if it learns how much each column counts (see `Weighing`).
    """

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> Any:
        """Do all work that needs no answer.

        Several runs share the result, one after the other or side by side, so nobody may write to it. What
        is expensive to compute again during a run, such as a split, belongs in `Problem.memo`. Long work
        reports its progress; what `progress` raises ends it.
        """

    def start(self, problem: Problem) -> Any:
        """Return the state of a new run: an object that belongs to this run alone."""

    def ask(self, state: Any, /) -> Asking:
        """Ask until nothing is left to ask; return the final labels.

        The questions depend on X, the seed and the evidence alone: randomness comes from the seed
        and a place in the search (see `rng_at`), never from the order of calls.
        """


@runtime_checkable
class Describing(Protocol):
    """A learner that can describe its progress."""

    def describe(self, state: Any, /) -> Sequence[str]:
        """What the run has found by now, in a sentence or two that a person understands.

        Called after every answer, so it must cost little.
        """


@runtime_checkable
class Representing(Protocol):
    """A learner that treats many rows as one."""

    def representatives(self, state: Any, /) -> NDArray[np.int64] | None:
        """For each row its representative in the clustering that is shown; None before there is one."""


@runtime_checkable
class _StandingIn(Protocol):
    """A learner that has `representatives` under the old name of the method."""

    def stand_ins(self, state: Any, /) -> NDArray[np.int64] | None: ...


def find_representatives(learner: object, state: Any) -> NDArray[np.int64] | None:
    """For each row its representative, of a learner that treats many rows as one; None of any other."""
    if isinstance(learner, Representing):
        return learner.representatives(state)
    if isinstance(learner, _StandingIn):
        name = type(learner).__name__
        text = f"{name}.stand_ins is deprecated. Rename the method to representatives."
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return learner.stand_ins(state)
    return None


@runtime_checkable
class Weighing(Protocol):
    """A learner that learns how much each column counts."""

    def column_shares(self, state: Any, /) -> NDArray[np.float64] | None:
        """Share of each column of X in the distance between rows, 1 in all; None before any is known."""


def rng_at(seed: int, *place: int) -> np.random.Generator:
    """Generator for one place in a search: the same place draws the same, whatever came before."""
    return np.random.default_rng([seed, *place])


def checked_answer(answer: object, first: int, second: int) -> Answer:
    """``"yes"``, ``"no"`` or ``"unsure"``; True and False are taken as yes and no."""
    if isinstance(answer, (bool, np.bool_)):
        return "yes" if answer else "no"
    for known in ANSWERS:
        if isinstance(answer, str) and answer == known:
            return known
    raise TypeError(
        f"the answer about rows {first} and {second} is {short_repr(answer)} ({type(answer).__name__}); "
        "give 'yes', 'no', 'unsure', True or False"
    )


def __getattr__(name: str) -> Any:
    if name == "StandingIn":
        text = "StandingIn is deprecated. Use Representing, whose method is representatives."
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return _StandingIn
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
