"""What asks and what answers: questions, oracles, and the one loop that drives every learner.

A learner asks in a generator that reads like its paper: ``answer = yield Question(first, second,
labels, why)``. It never sees a person, a file or a clock. `Run` drives it: answers go into Evidence
before the learner hears them, and what Evidence knows is never asked. Everything that changes while a
learner asks belongs to the state of one run, so runs over the same prepared data never disturb each other.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple, Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise import kernels
from linkwise.errors import short_repr
from linkwise.evidence import ANSWERS, Answer, Evidence, Groups
from linkwise.pairs import class_codes, is_integer

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


class Problem(NamedTuple):
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
    """

    X: NDArray[Any]
    prepared: Any
    evidence: Evidence
    seed: int
    askable: NDArray[np.bool_] | None = None
    budget: int | None = None


class Learner(Protocol):
    """What `Run` needs of a learner.

    A learner may also have ``describe(state)``: sentences about its progress, for people (see `Describing`);
    ``stand_ins(state)``, where it treats many rows as one (see `StandingIn`); and ``column_shares(state)``,
    where it learns how much each column counts (see `Weighing`).
    """

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> Any:
        """Do all work that needs no answer.

        Several runs share the result, one after the other or side by side. A learner may remember in it what
        is expensive to compute again, such as a split; what it remembers never changes a result. Long work
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
class StandingIn(Protocol):
    """A learner that treats many rows as one."""

    def stand_ins(self, state: Any, /) -> NDArray[np.int64] | None:
        """For each row the row that stands for it in what is shown; None before anything is."""


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


class Run:
    """One learner asking about one data set.

    Parameters
    ----------
    learner : Learner
    X : ndarray of shape (n_rows, n_features)
    evidence : Evidence
        Facts known so far; grows with every answer.
    seed : int
    prepared : object, optional
        What ``learner.prepare(X, seed)`` gave; made here otherwise.
    askable : ndarray of bool, shape (n_rows,), optional
        Rows that may be shown; all by default.
    budget : int, optional
        Largest number of questions; until nothing is left to ask by default.

    Attributes
    ----------
    question : Question or None
        What is asked now; None at the end.
    labels : ndarray of shape (n_rows,)
        The best clustering at this moment: the learner's, with the rows that were answered about put
        where the answers say (see `respecting`).
    reason : {"budget", "exhausted"} or None
        Why it ended.
    state : object
        What `learner.start` returned; only this run changes it.
    """

    def __init__(
        self,
        learner: Learner,
        X: NDArray[Any],
        evidence: Evidence,
        seed: int,
        *,
        prepared: Any = None,
        askable: NDArray[np.bool_] | None = None,
        budget: int | None = None,
    ) -> None:
        self.evidence = evidence
        self.budget = budget
        prepared = learner.prepare(X, seed) if prepared is None else prepared
        self.state = learner.start(Problem(X, prepared, evidence, seed, askable, budget))
        self._asking = learner.ask(self.state)
        self.question: Question | None = None
        self.labels: Labels = np.zeros(len(X), dtype=np.int32)
        self.reason: Reason | None = None
        self._counted = (self.labels, np.array([len(X)]))  # labels of the learner, rows of each
        self._advance(None)

    def answer(self, answer: Answer) -> None:
        """Take the answer to the present question and go on to the next."""
        if self.question is None:
            raise RuntimeError(f"nothing is asked any more ({self.reason}); volunteer a pair with tell()")
        self.evidence.add(self.question.first, self.question.second, answer, asked=True)
        self._advance(answer)

    def tell(self, first: int, second: int, answer: Answer, *, asked: bool = False) -> None:
        """Take a fact about any pair; if it settles the present question, go on to the next."""
        self.evidence.add(first, second, answer, asked=asked)
        if self.question is not None and {first, second} == {self.question.first, self.question.second}:
            self._advance(answer)
        else:
            self.refresh()

    def refresh(self) -> None:
        """Take in facts that were added to the evidence; go on if what is asked follows from them."""
        q = self.question
        known = None if q is None else self.evidence.verdict(q.first, q.second)
        if known is None:
            self.labels = self._shown(self._counted[0])
        else:
            self._advance(known)

    def _advance(self, answer: Answer | None) -> None:
        """Run the learner until it asks what Evidence does not know; keep within the budget."""
        try:
            question = self._asking.send(answer)  # type: ignore[arg-type]  # None starts a generator
            while (known := self._known(question)) is not None:
                question = self._asking.send(known)
        except StopIteration as end:
            self.question, self.labels, self.reason = None, self._shown(end.value), "exhausted"
            return
        self.question, self.labels = question, self._shown(question.labels)
        if self.budget is not None and self.evidence.n_questions >= self.budget:
            self._asking.close()
            self.question, self.reason = None, "budget"

    def _known(self, question: Question) -> Answer | None:
        """What Evidence knows; a question about what is no row of the data is refused, and never shown."""
        if question.first != question.second:
            self.evidence.check(question.first, question.second, "unsure")
        return self.evidence.verdict(question.first, question.second)

    def _shown(self, labels: Labels) -> Labels:
        if labels is not self._counted[0]:
            self._counted = (labels, np.bincount(labels))
        return respecting(labels, self.evidence, self._counted[1])


def respecting(labels: Labels, evidence: Grouped, sizes: NDArray[np.int64] | None = None) -> Labels:
    """Labels that contradict no answer, with as few changes as it takes.

    A learner may treat many rows as one, or show a clustering that is older than the last answer. Here
    each group of rows that belong together gets the label that most of them bear. Of two groups that
    are apart and bear the same label the smaller one gets a new label, which it shares only with groups
    that left the same label and are not its foes. Rows without an answer keep theirs.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Clusters 0, 1, ...
    evidence : Evidence
    sizes : ndarray of shape (n_clusters,), optional
        Rows of each cluster, where they are known already.

    Returns
    -------
    ndarray of shape (n_rows,)
        `labels` itself when nothing has to change.
    """
    said = evidence.groups()
    if len(said.row) == 0:
        return labels
    left = np.bincount(labels) if sizes is None else sizes  # rows of each label
    home, support = _homes(labels, said, len(left))
    crowded = said.foes[home[said.foes[:, 0]] == home[said.foes[:, 1]]]
    divided = support < np.bincount(said.number)
    if len(crowded) == 0 and not divided.any():
        return labels
    place = _new_homes(home, support, crowded, len(left))
    moved = (divided | (place != home))[said.number]
    rows = said.row[moved]
    changed = labels.copy()
    changed[rows] = place[said.number[moved]]
    n_labels = max(len(left), int(place.max()) + 1)
    left = np.pad(left, (0, n_labels - len(left)))
    left += np.bincount(changed[rows], minlength=n_labels) - np.bincount(labels[rows], minlength=n_labels)
    used = left > 0
    return changed if used.all() else (np.cumsum(used, dtype=np.int32) - 1).take(changed)


def _homes(labels: Labels, said: Groups, n_labels: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The label that most rows of each group bear, the lowest among equals, and how many bear it."""
    keys, votes = np.unique(said.number * n_labels + labels[said.row], return_counts=True)
    group, label = np.divmod(keys, n_labels)
    first = np.flatnonzero(np.diff(group, prepend=-1))  # of each group's labels
    support = np.maximum.reduceat(votes, first)
    best = np.flatnonzero(votes == support[group])[::-1]
    home = np.empty_like(support)
    home[group[best]] = label[best]  # the last one assigned is the lowest
    return home, support


def _new_homes(
    home: NDArray[np.int64], support: NDArray[np.int64], crowded: NDArray[np.int64], fresh: int
) -> NDArray[np.int64]:
    """Label of every group such that no two foes share one; groups with more support stay."""
    if len(crowded) == 0:
        return home
    hostile = np.flatnonzero(np.bincount(crowded.ravel()))
    order = hostile[np.argsort(-support[hostile], kind="stable")]
    rank = np.empty(len(home), dtype=np.int32)
    rank[order] = np.arange(len(order))
    one, other = rank[crowded[:, 0]], rank[crowded[:, 1]]
    colour = kernels.greedy_colours(np.minimum(one, other), np.maximum(one, other), len(order))
    leaves = order[colour > 0]
    annex = home[leaves] * len(order) + colour[colour > 0]  # shared by those that left the same label
    _, first, of = np.unique(annex, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = fresh + np.arange(len(first))  # new labels in order of first use
    place = home.copy()
    place[leaves] = number[of]
    return place


class TruthOracle:
    """Answer from known classes, with errors and doubts if wanted.

    An answer depends on the pair and the seed alone, so asking again gives the same answer.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class of every row; pairs with an unknown row (-1) are answered ``"unsure"``.
    noise : float
        Probability that a yes becomes a no, or a no a yes.
    unsure : float
        Probability of ``"unsure"``.
    random_state : int, optional
        Seed of errors and doubts.

    Examples
    --------
    >>> oracle = TruthOracle(["a", "a", "b"])
    >>> oracle(0, 1), oracle(0, 2)
    ('yes', 'no')
    """

    def __init__(
        self, y: ArrayLike, *, noise: float = 0.0, unsure: float = 0.0, random_state: int | None = None
    ) -> None:
        for name, value in (("noise", noise), ("unsure", unsure)):
            if not (isinstance(value, Real) and 0 <= value <= 1):
                raise ValueError(f"{name}={short_repr(value)}; give a probability, 0 to 1")
        self.codes = class_codes(y)
        self.noise, self.unsure = noise, unsure
        self.seed = int(np.random.default_rng(random_state).integers(2**31))

    def __call__(self, first: int, second: int) -> Answer:
        """Answer whether two rows have the same class."""
        for row in (first, second):
            if not is_integer(row):
                raise TypeError(f"row {short_repr(row)} ({type(row).__name__}); row positions are integers")
            if not 0 <= row < len(self.codes):
                raise IndexError(f"row {row}; the oracle knows rows 0 to {len(self.codes) - 1}")
        if min(self.codes[first], self.codes[second]) < 0:
            return "unsure"
        same = bool(self.codes[first] == self.codes[second])
        if self.noise or self.unsure:
            wrong, doubt = rng_at(self.seed, min(first, second), max(first, second)).random(2)
            if doubt < self.unsure:
                return "unsure"
            same ^= bool(wrong < self.noise)
        return "yes" if same else "no"


class History:
    """Labels after each question, built on demand from what changed.

    ``history[q - 1]`` is the clustering after q questions. Kept as differences, so a hundred
    clusterings of 10⁶ rows cost about as much as what changed between them.
    """

    def __init__(self, start: Labels) -> None:
        self._start = start
        self._last = start
        self._changes: list[tuple[NDArray[np.int32] | None, Labels]] = []

    def append(self, labels: Labels) -> None:
        """Add the labels after one more question."""
        rows = np.empty(0, np.int32) if labels is self._last else np.flatnonzero(labels != self._last)
        if 2 * len(rows) > len(labels):
            self._changes.append((None, labels))
        else:
            self._changes.append((rows.astype(np.int32), labels[rows]))
        self._last = labels

    def __len__(self) -> int:
        return len(self._changes)

    @overload
    def __getitem__(self, at: int) -> Labels: ...
    @overload
    def __getitem__(self, at: slice) -> list[Labels]: ...
    def __getitem__(self, at: int | slice) -> Labels | list[Labels]:
        if isinstance(at, slice):
            return [self[number] for number in range(len(self))[at]]
        number = range(len(self))[at]
        labels = self._start.copy()
        for rows, values in self._changes[: number + 1]:
            labels[slice(None) if rows is None else rows] = values
        return labels
