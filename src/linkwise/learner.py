"""What asks and what answers: questions, oracles, and the one loop that drives every learner.

A learner is a generator that reads like its paper: ``answer = yield Question(first, second, labels, why)``.
It never sees a person, a file or a clock. `Run` drives it: answers go into Evidence before the
learner hears them, and what Evidence knows is never asked.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.evidence import ANSWERS, Answer, Evidence, Groups
from linkwise.pairs import class_codes

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


class Learner(Protocol):
    """What `Run` needs of a learner.

    A learner may also have ``describe(prepared, evidence)``: sentences about where it stands, for people
    (see `Describing`).
    """

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> Any:
        """All work that needs no answer; may remember more as the run goes on.

        What takes long reports how far it is; what `progress` raises ends the work.
        """

    def run(
        self,
        X: NDArray[Any],
        prepared: Any,
        evidence: Evidence,
        seed: int,
        *,
        askable: NDArray[np.bool_] | None = None,
        budget: int | None = None,
    ) -> Asking:
        """Ask until nothing is left to ask; return the final labels.

        What is asked depends on X, the seed and the evidence alone: randomness comes from the seed
        and a place in the search (see `rng_at`), never from the order of calls.
        """


@runtime_checkable
class Describing(Protocol):
    """A learner that can say where it stands."""

    def describe(self, prepared: Any, evidence: Evidence) -> Sequence[str]:
        """What it holds of the data by now, a sentence or two that a person understands.

        Called after every answer, so it must cost little.
        """


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
        f"the answer about rows {first} and {second} is {answer!r} ({type(answer).__name__}); "
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
        self._asking = learner.run(X, prepared, evidence, seed, askable=askable, budget=budget)
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


def respecting(labels: Labels, evidence: Evidence, sizes: NDArray[np.int64] | None = None) -> Labels:
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
    home, support = _homes(labels, said)
    apart = np.array(list(said.apart), dtype=np.int64).reshape(-1, 2)
    crowded = apart[home[apart[:, 0]] == home[apart[:, 1]]]
    divided = np.flatnonzero(support < [len(rows) for rows in said.rows])
    if len(divided) == 0 and len(crowded) == 0:
        return labels
    left = np.bincount(labels) if sizes is None else sizes  # rows of each label
    place = _new_homes(home, support, crowded, len(left))
    moved = np.union1d(divided, np.flatnonzero(place != home)).tolist()
    rows = np.concatenate([said.rows[g] for g in moved])
    left = np.pad(left, (0, max(0, int(place.max()) + 1 - len(left))))
    np.subtract.at(left, labels[rows], 1)
    changed = labels.copy()
    changed[rows] = np.repeat(place[moved], [len(said.rows[g]) for g in moved])
    np.add.at(left, changed[rows], 1)
    used = left > 0
    return changed if used.all() else (np.cumsum(used, dtype=np.int32) - 1).take(changed)


def _homes(labels: Labels, said: Groups) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The label that most rows of each group bear, the lowest among equals, and how many bear it."""
    if not said.rows:
        return np.empty(0, np.int32), np.empty(0, np.int64)
    rows = np.concatenate(said.rows)
    of = np.repeat(np.arange(len(said.rows)), [len(g) for g in said.rows])
    pairs, votes = np.unique(np.column_stack([of, labels[rows]]), axis=0, return_counts=True)
    order = np.lexsort((pairs[:, 1], -votes, pairs[:, 0]))
    best = order[np.unique(pairs[order, 0], return_index=True)[1]]
    return pairs[best, 1].astype(np.int32), votes[best]


def _new_homes(
    home: NDArray[np.int32], support: NDArray[np.int64], crowded: NDArray[np.int64], fresh: int
) -> NDArray[np.int32]:
    """Label of every group such that no two foes share one; groups with more support stay."""
    foes: dict[int, list[int]] = {}
    for a, b in crowded.tolist():
        foes.setdefault(a, []).append(b)
        foes.setdefault(b, []).append(a)
    place, settled = home.copy(), set[int]()
    annexes: dict[int, list[int]] = {}  # label -> new labels of groups that left it
    for group in sorted(foes, key=lambda g: (-int(support[g]), g)):
        taken = {int(place[foe]) for foe in foes[group] if foe in settled}
        own = annexes.setdefault(int(home[group]), [])
        free = next((c for c in (int(home[group]), *own) if c not in taken), None)
        if free is None:
            free, fresh = fresh, fresh + 1
            own.append(free)
        place[group] = free
        settled.add(group)
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
            if not 0 <= value <= 1:
                raise ValueError(f"{name}={value}; give a probability, 0 to 1")
        self.codes = class_codes(y)
        self.noise, self.unsure = noise, unsure
        self.seed = int(np.random.default_rng(random_state).integers(2**31))

    def __call__(self, first: int, second: int) -> Answer:
        """Answer whether two rows have the same class."""
        for row in (first, second):
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
