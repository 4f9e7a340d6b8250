"""Optional methods of a learner: a session or a run calls each that a learner has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.belief import Nearness
from linkwise.constraints.sorting import Pile, Sorting
from linkwise.data.columns.table import Table
from linkwise.learn.advice import StopAdvice
from linkwise.learn.item_labels import Shown
from linkwise.learn.learner import Learner, Problem, Progress
from linkwise.learn.pair_explanation import DoubtfulDecision, PairExplanation


@runtime_checkable
class SupportsDescribe(Protocol):
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
class SupportsAdvise(Protocol):
    """A learner that can advise when to stop."""

    def advise(self, state: Any, /) -> StopAdvice | None:
        """Advise whether to stop.

        It is called after every answer, so it must be fast.

        Parameters
        ----------
        state : object
            The state of the run.

        Returns
        -------
        StopAdvice or None
            None while nothing is known.
        """


@runtime_checkable
class SupportsConfidence(Protocol):
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


@runtime_checkable
class SupportsColumnShares(Protocol):
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
class SupportsExplainPairs(Protocol):
    """A learner that can tell which columns speak for the match of two rows."""

    def explain_pair(self, state: Any, first: int, second: int, /) -> PairExplanation:
        """Explain why two rows match or not, by what the learner knows of columns.

        Parameters
        ----------
        state : object
            The state of the run.
        first, second : int
            Two different rows.

        Returns
        -------
        PairExplanation
            What each column adds.
        """

    def column_effects(self, state: Any, /) -> dict[str, float]:
        """Measure how much each column counts.

        Parameters
        ----------
        state : object
            The state of the run.

        Returns
        -------
        dict of str to float
            How far the log-odds that a column adds to a pair in question are from their mean; "" stands for
            the rows as wholes. Empty if no pair is in question.
        """


@runtime_checkable
class SupportsListDoubts(Protocol):
    """A learner that can tell which of its decisions about groups are the least certain."""

    def list_doubts(self, state: Any, most: int, /) -> list[DoubtfulDecision]:
        """List the least certain decisions: which groups may be one, and which may be two.

        Parameters
        ----------
        state : object
            The state of the run.
        most : int
            The number of decisions to list at most.

        Returns
        -------
        list of DoubtfulDecision
            The least certain one first, and one for each group or pair of groups.
        """
        ...


@runtime_checkable
class SupportsRepresentatives(Protocol):
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


@runtime_checkable
class SupportsCurrentLabels(Protocol):
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
class SupportsChance(Protocol):
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
class SupportsExpectMoves(Protocol):
    """A learner that estimates what an answer to its question changes."""

    def expect_moves(self, state: Any, /) -> float:
        """Expect how many rows the answer to the learner's present question moves to another cluster.

        A question that checks earlier answers comes first only if it is expected to move as many. The
        evidence may have the answer already, and then it is about what was known before.

        Parameters
        ----------
        state : object
            The state of the run.

        Returns
        -------
        float
            A number of rows; all rows while nothing is known.
        """
        ...


@runtime_checkable
class SupportsNearness(Protocol):
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
class SupportsHear(Protocol):
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
class SupportsGather(Protocol):
    """A learner that chooses rows to be sorted into piles, and learns from the piles."""

    def gather(self, state: Any, m: int, held: Sequence[Pile], /) -> tuple[tuple[Pile, ...], Pile] | None:
        """Gather up to m rows that are worth sorting together. It changes nothing.

        Parameters
        ----------
        state : object
            The state of the run.
        m : int
            Largest number of rows, at least 2.
        held : sequence of tuple of int
            The rows of each screen that somebody has open. They count as if they had been sorted.

        Returns
        -------
        known : tuple of tuple of int
            Piles that are there already.
        cards : tuple of int
            The other rows; nobody holds them.
            None instead of both if no row is worth it.
        """

    def hear_sorting(self, state: Any, sorting: Sorting, /) -> Iterator[int]:
        """Take up piles, which another question may leave open meanwhile.

        Parameters
        ----------
        state : object
            The state of the run.
        sorting : Sorting
            The piles.

        Yields
        ------
        int
            Each row of ``sorting.order``. When the iterator goes on, the evidence has what follows from the
            piles for this row and those before it.
        """


@runtime_checkable
class SupportsFork(Protocol):
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
class SupportsTable(Protocol):
    """A learner that compares the columns of a table, such as texts, and not the numbers made of them."""

    def prepare_table(self, table: Table, seed: int, *, progress: Progress | None = None) -> Any:
        """Do all work that needs no answer, as `Learner.prepare` does for an array.

        Parameters
        ----------
        table : Table
            The table.
        seed : int
            Seed of all random draws.
        progress : callable, optional
            Called as ``progress(done, planned)`` during long work.

        Returns
        -------
        object
            A value that nobody writes to.
        """


def prepare_learner(
    learner: Learner,
    X: NDArray[Any],
    seed: int,
    table: Table | None = None,
    *,
    progress: Progress | None = None,
) -> Any:
    """Do all work of a learner that needs no answer, on the table that `X` was made of if it takes tables.

    Parameters
    ----------
    learner : Learner
        The learner.
    X : ndarray of shape (n_rows, n_features)
        The rows.
    seed : int
        Seed of all random draws.
    table : Table, optional
        The same rows as a table.
    progress : callable, optional
        Called as ``progress(done, planned)`` during long work.

    Returns
    -------
    object
        A value that nobody writes to.
    """
    if table is not None and isinstance(learner, SupportsTable):
        return learner.prepare_table(table, seed, progress=progress)
    return learner.prepare(X, seed, progress=progress)


def find_representatives(learner: object, state: Any) -> NDArray[np.int64] | None:
    """For each row its representative, of a learner that treats many rows as one; None of any other."""
    return learner.representatives(state) if isinstance(learner, SupportsRepresentatives) else None
