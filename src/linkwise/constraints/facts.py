"""Answers about pairs of rows, and the relations and groups that follow from them, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import short_repr

Answer = Literal["yes", "no", "unsure"]
GivenAnswer = Answer | Literal["same", "different"] | bool
"""What a person or a program may give as an answer, see `check_answer`."""
ANSWERS: tuple[Answer, ...] = get_args(Answer)
MEANINGS: dict[str, Answer] = {**{answer: answer for answer in ANSWERS}, "same": "yes", "different": "no"}
"""What a word of an answer means."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One answer about one pair of rows.

    Two facts are equal if their pair, answer, source, reliability and share are, whatever `asked` and `when`.

    Attributes
    ----------
    first, second : int
        Row positions.
    answer : {"yes", "no", "unsure"}
        Whether the rows belong together.
    source : str
        Who gave the answer: the name of a person or a program. Empty if that is unknown.
    asked : bool
        Whether it answers a question.
    when : str or None
        UTC time of the answer, ISO 8601; None if that is unknown.
    reliability : float or None
        The probability that the answer is right, by its source; None if it gave none.
    share : float
        How much of an answer it counts where answers may be wrong: below 1 if it is one of several that come
        from one look at a row (see `linkwise.constraints.sorting`).
    """

    first: int
    second: int
    answer: Answer
    source: str = ""
    asked: bool = field(default=False, compare=False)
    when: str | None = field(default=None, compare=False)
    reliability: float | None = None
    share: float = 1.0

    @property
    def pair(self) -> tuple[int, int]:
        """Both rows."""
        return self.first, self.second

    def __repr__(self) -> str:
        source = f", source={self.source!r}" if self.source else ""
        reliability = "" if self.reliability is None else f", reliability={self.reliability!r}"
        share = "" if self.share == 1 else f", share={self.share!r}"
        about = f"first={self.first!r}, second={self.second!r}, answer={self.answer!r}"
        return f"Fact({about}{source}{reliability}{share})"


def check_reliability(reliability: object, answer: Answer) -> float | None:
    """Check the probability that an answer is right; None if it is unknown, as for ``"unsure"``."""
    if reliability is None or answer == "unsure":
        return None
    if not isinstance(reliability, Real) or isinstance(reliability, bool):
        raise TypeError(f"reliability is not a number: {short_repr(reliability)}. Pass a number, or None.")
    share: Any = reliability
    if not 0.5 <= share <= 1:
        raise ValueError(
            f"reliability is out of range: {short_repr(reliability)}. Pass the probability that the answer "
            "is right, from 0.5 to 1. Below 0.5 the opposite answer is more probable."
        )
    return float(reliability)


class Suspect(NamedTuple):
    """An answer that is probably wrong.

    Attributes
    ----------
    number : int
        Position among the facts, from 0.
    fact : Fact
        The answer as it was given.
    chance : float
        Estimated probability that it is wrong.
    card : int or None
        One of its rows, if somebody sorted rows and put this one into a wrong pile.
    """

    number: int
    fact: Fact
    chance: float
    card: int | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """What is known about two rows.

    Attributes
    ----------
    verdict : {"yes", "no", "unsure"} or None
        ``"unsure"``: nothing follows, and a person was not sure. None: nothing is known.
    because : tuple of Fact
        The shortest chain of answers from which the verdict follows.
    """

    verdict: Answer | None
    because: tuple[Fact, ...] = ()


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of must-linked rows, and the cannot-links between them.

    Groups are numbered in the order of their first rows. Rows without an answer are in no group.

    Attributes
    ----------
    row : ndarray of shape (n,)
        The rows that have an answer, ascending.
    number : ndarray of shape (n,)
        Group of each of these rows.
    cannot_link : ndarray of shape (n_cannot_links, 2)
        Pairs of groups that a cannot-link separates, each once, lower number first; ascending.
    """

    row: NDArray[np.int64]
    number: NDArray[np.int64]
    cannot_link: NDArray[np.int64]

    def __post_init__(self) -> None:
        for array in (self.row, self.number, self.cannot_link):
            array.flags.writeable = False

    @cached_property
    def rows(self) -> tuple[NDArray[np.int64], ...]:
        """Rows of each group, ascending."""
        ordered = self.row[np.argsort(self.number, kind="stable")]
        ordered.flags.writeable = False
        ends = np.cumsum(np.bincount(self.number)).tolist()
        return tuple(ordered[a:b] for a, b in pairwise([0, *ends]))

    @cached_property
    def apart(self) -> frozenset[tuple[int, int]]:
        """Pairs of groups that a cannot-link separates, lower number first."""
        return frozenset(zip(*self.cannot_link.T.tolist(), strict=True))

    @cached_property
    def both_ways(self) -> NDArray[np.int64]:
        """The cannot-links, each both ways round; ascending."""
        n, (one, other) = len(self.row), self.cannot_link.T
        key = np.sort(np.concatenate([one * n + other, other * n + one]))
        both = np.stack(np.divmod(key, max(n, 1)), axis=1)
        both.flags.writeable = False
        return both


def check_answer(answer: object, first: int, second: int) -> Answer:
    """Convert an answer to ``"yes"``, ``"no"`` or ``"unsure"``; True means yes and False means no."""
    if isinstance(answer, (bool, np.bool_)):
        return "yes" if answer else "no"
    if isinstance(answer, str) and answer in MEANINGS:
        return MEANINGS[answer]
    raise TypeError(
        f"The answer about rows {first} and {second} is unknown: {short_repr(answer)}"
        f" ({type(answer).__name__}). Pass 'same' or 'yes', 'different' or 'no', 'unsure', True or False."
    )
