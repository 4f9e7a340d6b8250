"""Evidence: answers about pairs as they arrive, and all that follows from them.

Must-links are an equivalence, and a cannot-link holds between whole groups of must-linked rows.
Both are kept up to date answer by answer, by groups and pairs of groups, never as all pairs.
Learners ask evidence two things only: the relation of two rows, and the groups.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.checks import check_row, check_row_count
from linkwise.constraints.closure import (
    Pairs,
    format_chain,
    shortest_chain,
    shortest_chain_apart,
    shortest_contradiction,
)
from linkwise.constraints.constraints import Constraints
from linkwise.errors import ConstraintError, InfeasibleConstraintsError, short_repr

Answer = Literal["yes", "no", "unsure"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)


class Fact(NamedTuple):
    """One answer about one pair of rows."""

    first: int
    second: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class Relation:
    """What is known of two rows.

    Attributes
    ----------
    verdict : {"yes", "no", "unsure"} or None
        ``"unsure"``: nothing follows, and a person did not know. None: nothing is known.
    because : tuple of Fact
        The shortest chain of answers from which the verdict follows.
    """

    verdict: Answer | None
    because: tuple[Fact, ...] = ()


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of must-linked rows and which of them are apart; rows without an answer are left out.

    Groups are numbered in order of their first rows.

    Attributes
    ----------
    row : ndarray of shape (n,)
        The rows that an answer speaks of, ascending.
    number : ndarray of shape (n,)
        Group of each of them.
    foes : ndarray of shape (n_cannot_links, 2)
        Pairs of groups that are required apart, lower number first; one pair may stand there many times.
    """

    row: NDArray[np.int64]
    number: NDArray[np.int64]
    foes: NDArray[np.int64]

    @cached_property
    def rows(self) -> tuple[NDArray[np.int64], ...]:
        """Rows of each group, ascending."""
        ordered = self.row[np.argsort(self.number, kind="stable")]
        ends = np.cumsum(np.bincount(self.number)).tolist()
        return tuple(ordered[a:b] for a, b in pairwise([0, *ends]))

    @cached_property
    def apart(self) -> frozenset[tuple[int, int]]:
        """Pairs of group numbers, lower first, that are required apart."""
        return frozenset(zip(*self.foes.T.tolist(), strict=True))


class Evidence:
    """Answers about pairs of rows, closed under what follows from them.

    Parameters
    ----------
    n_rows : int
    constraints : Constraints, optional
        What is known before the first answer.

    Attributes
    ----------
    n_rows : int
    n_questions : int
        Number of answers that were given to questions (``unsure`` counts), rather than volunteered.
    """

    def __init__(self, n_rows: int, constraints: Constraints | None = None) -> None:
        self.n_rows = check_row_count(n_rows)
        self.n_questions = 0
        self._pairs = array("q")  # first, second, first, second, ...
        self._answers = bytearray()  # index into ANSWERS
        self._group = array("q", np.arange(self.n_rows, dtype=np.int64).tobytes())  # one of its rows
        self._members: dict[int, list[int]] = {}  # of groups with two rows or more
        self._apart: dict[int, set[int]] = {}
        self._unsure: set[tuple[int, int]] = set()
        self._groups: Groups | None = None
        if constraints is not None:
            self.add_constraints(constraints)

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[Fact]:
        return self.since(0)

    def since(self, number: int) -> Iterator[Fact]:
        """All facts from one number on, in the order in which they came."""
        for at in range(number, len(self)):
            yield Fact(self._pairs[2 * at], self._pairs[2 * at + 1], ANSWERS[self._answers[at]])

    # ------------------------------------------------------------ what arrives
    def add(self, first: int, second: int, answer: Answer, *, asked: bool = False) -> None:
        """Take one answer; what it contradicts is named and nothing is changed.

        Parameters
        ----------
        first, second : int
            Two different rows.
        answer : {"yes", "no", "unsure"}
        asked : bool
            Whether it answers a question; it then counts in `n_questions`.

        Raises
        ------
        InfeasibleConstraintsError
            The answer contradicts what follows from earlier ones.
        """
        i, j = self.check(first, second, answer)
        known = self.verdict(i, j)
        self._pairs.extend((i, j))
        self._answers.append(ANSWERS.index(answer))
        self.n_questions += asked
        if answer == "unsure":
            self._unsure.add((min(i, j), max(i, j)))
        elif answer != known:
            self._join(i, j) if answer == "yes" else self._part(i, j)
            self._groups = None

    def check(self, first: int, second: int, answer: Answer) -> tuple[int, int]:
        """Raise what `add` would raise, change nothing; the two rows as plain integers."""
        i, j = self._row(first), self._row(second)
        if not (isinstance(answer, str) and answer in ANSWERS):
            raise TypeError(
                f"the answer about rows {i} and {j} is {short_repr(answer)}; give 'yes', 'no' or 'unsure'"
            )
        if i == j:
            raise ConstraintError(f"row {i} is compared with itself; give two different rows")
        if answer != "unsure" and self.verdict(i, j) not in (None, "unsure", answer):
            raise self._contradiction(i, j, answer)
        return i, j

    def add_constraints(self, constraints: Constraints) -> None:
        """Take a whole set of constraints at once; all of it or, on a contradiction, nothing."""
        self.check_constraints(constraints)
        if constraints.n_constraints == 0:
            return
        if len(self) == 0:
            self._adopt(constraints)
            return
        for i, j in constraints.must_link.tolist():
            self.add(i, j, "yes")
        for i, j in constraints.cannot_link.tolist():
            self.add(i, j, "no")

    def check_constraints(self, constraints: Constraints) -> None:
        """Raise what `add_constraints` would raise, change nothing."""
        if not isinstance(constraints, Constraints):
            raise TypeError(f"constraints is {short_repr(constraints)}; give linkwise.Constraints")
        if constraints.n_rows != self.n_rows:
            raise ConstraintError(
                f"the constraints are about {constraints.n_rows} rows, the data have {self.n_rows}; "
                "build them with n_rows=len(X)"
            )
        if len(constraints.conflicts):
            chain = shortest_contradiction(self.n_rows, constraints.must_link, constraints.conflicts)
            raise InfeasibleConstraintsError(
                f"the constraints contradict each other: {format_chain(chain)}; remove one of them", chain
            )
        Constraints(  # raises on a contradiction with what is known
            self.n_rows,
            np.vstack([self.answered("yes"), constraints.must_link]),
            np.vstack([self.answered("no"), constraints.cannot_link]),
        )

    def _adopt(self, c: Constraints) -> None:
        """Fill empty evidence from constraints, whose closure is known already."""
        pairs = np.vstack([c.must_link, c.cannot_link])
        self._pairs.frombytes(np.ascontiguousarray(pairs, dtype=np.int64).tobytes())
        self._answers.extend(bytes(len(c.must_link)) + bytes([1]) * len(c.cannot_link))
        first = _first_rows(c.component)
        self._group = array("q", first[c.component].tobytes())
        linked = np.flatnonzero(np.bincount(c.must_link.ravel()))
        order = linked[np.argsort(c.component[linked], kind="stable")]
        starts = np.flatnonzero(np.diff(c.component[order], prepend=-1)).tolist()
        for a, b in pairwise([*starts, len(order)]):
            self._members[int(order[a])] = order[a:b].tolist()
        for a, b in first[c.component_cannot_link].tolist():
            self._apart.setdefault(a, set()).add(b)
            self._apart.setdefault(b, set()).add(a)
        self._groups = None

    # ------------------------------------------------------------ what is known
    def verdict(self, first: int, second: int) -> Answer | None:
        """What is given or follows for two rows: "yes", "no", "unsure" or None.

        Nothing is known of rows that do not exist; an answer about them is refused by `check`.
        """
        if first == second:
            return "yes"
        try:
            a, b = self._group[first], self._group[second]
        except (IndexError, TypeError):
            return None
        if first < 0 or second < 0:
            return None
        if a == b:
            return "yes"
        if b in self._apart.get(a, ()):
            return "no"
        return "unsure" if (min(first, second), max(first, second)) in self._unsure else None

    def relation(self, first: int, second: int) -> Relation:
        """The verdict on two rows and the shortest chain of answers that it follows from."""
        i, j = self._row(first), self._row(second)
        verdict = self.verdict(i, j)
        if i == j or verdict is None:
            return Relation(verdict)
        if verdict == "unsure":
            return Relation(verdict, (Fact(i, j, "unsure"),))
        if verdict == "yes":
            return Relation(verdict, self._together(shortest_chain(self.n_rows, self.answered("yes"), i, j)))
        near, far = self._chain_apart(i, j)
        return Relation(verdict, (*self._together(near), Fact(near[-1], far[0], "no"), *self._together(far)))

    def groups(self) -> Groups:
        """All groups of must-linked rows that an answer speaks of, and which of them are apart."""
        if self._groups is None:
            group, cannot = self._group_of_each(), self.answered("no")
            named = np.zeros(self.n_rows, dtype=bool)
            named[self.answered("yes").ravel()] = named[cannot.ravel()] = True
            row = np.flatnonzero(named)
            of = group[row]
            first, number = np.empty_like(group), np.empty_like(group)
            first[of[::-1]] = row[::-1]
            leads = of[first[of] == row]
            number[leads] = np.arange(len(leads))
            one, other = number[group[cannot[:, 0]]], number[group[cannot[:, 1]]]
            foes = np.stack([np.minimum(one, other), np.maximum(one, other)], axis=1)
            self._groups = Groups(row, number[of], foes)
        return self._groups

    @property
    def n_inferred(self) -> int:
        """Pairs of rows that nobody spoke of, and that are known to be together or apart all the same."""
        groups = self.groups()
        sizes = np.bincount(groups.number).astype(np.int64)
        foes = np.unique(groups.foes, axis=0)
        known = (sizes * (sizes - 1) // 2).sum() + (sizes[foes[:, 0]] * sizes[foes[:, 1]]).sum()
        said = np.sort(np.vstack([self.answered("yes"), self.answered("no")]), axis=1)
        return int(known) - len(np.unique(said, axis=0))

    def answered(self, answer: Answer, since: int = 0) -> Pairs:
        """The pairs that were answered so, in order, from answer number `since` on; shape (n, 2)."""
        pairs = np.array(self._pairs[2 * since :], dtype=np.int64).reshape(-1, 2)
        chosen: Pairs = pairs[np.frombuffer(bytes(self._answers[since:]), np.uint8) == ANSWERS.index(answer)]
        return chosen

    def known(self, pairs: Pairs, since: int = 0) -> NDArray[np.bool_]:
        """Whether something is known of each pair, a doubt too; with `since`, of those it is new for.

        Parameters
        ----------
        pairs : ndarray of shape (n, 2)
            Two different rows each.
        since : int
            What was known before answer number `since` may be left out: only pairs that later answers
            touch are looked at.

        Returns
        -------
        ndarray of shape (n,)
        """
        group = self._group_of_each()
        changed = np.zeros(self.n_rows, dtype=bool)
        changed[group[self._pairs[2 * since :]]] = True
        touched = np.flatnonzero(changed[group[pairs]].any(axis=1))
        known = np.zeros(len(pairs), dtype=bool)
        known[touched] = [self.verdict(i, j) is not None for i, j in pairs[touched].tolist()]
        return known

    def to_constraints(self) -> Constraints:
        """All yes and no answers as constraints."""
        return Constraints(self.n_rows, self.answered("yes"), self.answered("no"))

    # ------------------------------------------------------------ the closure
    def _row(self, row: int) -> int:
        return check_row(row, self.n_rows)

    def _group_of_each(self) -> NDArray[np.int64]:
        """Group of every row; a view that must not outlive the next answer."""
        return np.frombuffer(self._group, dtype=np.int64)

    def _join(self, i: int, j: int) -> None:
        """Merge two groups: of the one with less to move, all rows and all that they are apart from."""
        small, big = sorted((self._group[i], self._group[j]), key=self._size)
        moved = self._members.pop(small, [small])
        for row in moved:
            self._group[row] = big
        self._members.setdefault(big, [big]).extend(moved)
        for other in self._apart.pop(small, ()):
            self._apart[other].remove(small)
            self._apart[other].add(big)
            self._apart.setdefault(big, set()).add(other)

    def _size(self, group: int) -> int:
        return len(self._members.get(group, ())) + len(self._apart.get(group, ()))

    def _part(self, i: int, j: int) -> None:
        a, b = self._group[i], self._group[j]
        self._apart.setdefault(a, set()).add(b)
        self._apart.setdefault(b, set()).add(a)

    # ------------------------------------------------------------ reasons
    def _together(self, chain: tuple[int, ...]) -> tuple[Fact, ...]:
        return tuple(Fact(a, b, "yes") for a, b in pairwise(chain))

    def _chain_apart(self, i: int, j: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shortest i = ... = a and b = ... = j such that an answer says a ≠ b."""
        return shortest_chain_apart(self.n_rows, self.answered("yes"), self.answered("no"), i, j)

    def _contradiction(self, i: int, j: int, answer: Answer) -> InfeasibleConstraintsError:
        if answer == "no":
            chain = shortest_chain(self.n_rows, self.answered("yes"), i, j)
        else:  # a = ... = i, and now i = j, and j = ... = b, although a ≠ b
            near, far = self._chain_apart(i, j)
            chain = (*reversed(near), *reversed(far))
        return InfeasibleConstraintsError(
            f"the answer contradicts earlier ones: {format_chain(chain)}; "
            "undo or change one of them, or answer 'unsure'",
            chain,
        )


def _first_rows(component: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first row of each component."""
    first = np.empty(component.max() + 1, dtype=np.int64)
    first[component[::-1]] = np.arange(len(component))[::-1]
    return first
