"""The interface of learners: questions, problems and the methods that a run calls.

A learner asks in a generator that reads like its paper: ``answer = yield Question(first, second,
labels, why)``. It never sees a person, a file or a clock. `linkwise.asking.run.Run` drives it. Everything
that changes while a learner asks belongs to the state of one run, so runs on the same prepared data do not
disturb each other.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.item_labels import Shown, read_labels
from linkwise.asking.memo import Memo
from linkwise.constraints.belief import Nearness
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import ANSWERS, Answer, Groups
from linkwise.errors import short_repr

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

    A learner may also have ``describe(state)``: sentences about its progress, for people (see `Describing`);
    ``representatives(state)``, if it treats many rows as one (see `Representing`);
    ``column_shares(state)``, if it learns how much each column counts (see `Weighing`); and
    ``confidence(state)``, if it estimates how certain each row's cluster is (see `Rating`). With
    ``advise(state)`` it advises when to stop (see `linkwise.asking.advice.Advising`). Where answers may be
    wrong, ``nearness(state)`` helps to find those (see `Relating`), and ``current_labels(state)`` shows the
    clustering while they are checked (see `Labelling`). With ``fork(state, problem)`` a run can be tried out
    without a repetition from its start (see `Forking`), and ``hear(state, first, second)`` takes up answers
    to questions of others (see `Hearing`).
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


@runtime_checkable
class Describing(Protocol):
    """A learner that can describe its progress."""

    def describe(self, state: Any, /) -> Sequence[str]:
        """Describe in a sentence or two what the run has found, in words that a person understands.

        It is called after every answer, so it must be fast.

        Parameters
        ----------
        state : object
            The state of the run.

        Returns
        -------
        sequence of str
            The sentences.
        """


@runtime_checkable
class Representing(Protocol):
    """A learner that treats many rows as one."""

    def representatives(self, state: Any, /) -> NDArray[np.int64] | None:
        """Return the representative of each row in the clustering that is shown.

        Parameters
        ----------
        state : object
            The state of the run.

        Returns
        -------
        ndarray of int64, shape (n_rows,), or None
            Position of each row's representative; None before there is a clustering.
        """


def find_representatives(learner: object, state: Any) -> NDArray[np.int64] | None:
    """For each row its representative, of a learner that treats many rows as one; None of any other."""
    return learner.representatives(state) if isinstance(learner, Representing) else None


@runtime_checkable
class Relating(Protocol):
    """A learner that can tell how likely rows belong together, apart from the answers about them."""

    def nearness(self, state: Any, /) -> Nearness:
        """Return what the learner knows of who belongs together.

        Parameters
        ----------
        state : object
            The state of the run.

        Returns
        -------
        Nearness
            A kernel, and how its scores become probabilities.
        """


@runtime_checkable
class Estimating(Protocol):
    """A learner that estimates the answers to its questions."""

    def chance(self, state: Any, first: int, second: int, /) -> float:
        """Estimate the probability that the answer to the learner's present question is "yes".

        Parameters
        ----------
        state : object
            The state of the run.
        first, second : int
            The rows of the question.

        Returns
        -------
        float
            The chance, from 0 to 1.
        """
        ...


@runtime_checkable
class Labelling(Protocol):
    """A learner that can show its clustering between two questions."""

    def current_labels(self, state: Any, /) -> Shown:
        """Return the best clustering by now.

        Parameters
        ----------
        state : object
            The state of the run.

        Returns
        -------
        ndarray of shape (n_rows,) or ItemLabels
            Clusters 0, 1, ...
        """


@runtime_checkable
class Forking(Protocol):
    """A learner whose runs can be copied."""

    def fork(self, state: Any, problem: Problem, /) -> Any:
        """Copy the state of a run that waits for an answer, or has ended.

        ``ask`` of the copy first yields the question that is open, with nothing computed anew, and goes on
        as the run itself would.

        Parameters
        ----------
        state : object
            The state of the run.
        problem : Problem
            The problem of the copy: it has evidence of its own, with the same facts.

        Returns
        -------
        object
            The state of the copy. What happens to one of them changes nothing in the other.
        """


@runtime_checkable
class Hearing(Protocol):
    """A learner that learns as much from answers to questions that it has not asked itself."""

    def hear(self, state: Any, first: int, second: int, /) -> None:
        """Take up the answer to a question of somebody else; the evidence has it already.

        Another question may be open meanwhile, and stays open.

        Parameters
        ----------
        state : object
            The state of the run.
        first, second : int
            The rows of the question.
        """


@runtime_checkable
class Weighing(Protocol):
    """A learner that learns how much each column counts."""

    def column_shares(self, state: Any, /) -> NDArray[np.float64] | None:
        """Return how much each column counts in the distances between rows.

        Parameters
        ----------
        state : object
            The state of the run.

        Returns
        -------
        ndarray of shape (n_features,) or None
            Share of each column of X, sum 1; None before the run has learned it.
        """


@runtime_checkable
class Rating(Protocol):
    """A learner that estimates how certain the cluster of each row is."""

    def confidence(self, state: Any, /) -> NDArray[np.float64] | None:
        """Estimate the probability that each row is in its cluster.

        Parameters
        ----------
        state : object
            The state of the run.

        Returns
        -------
        ndarray of float64, shape (n_rows,), or None
            Probabilities from 0 to 1; None while nothing is known.
        """


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
