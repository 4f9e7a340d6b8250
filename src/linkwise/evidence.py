"""Evidence: answers about pairs as they arrive, and all that follows from them.

Must-links are an equivalence, and a cannot-link holds between whole groups of must-linked rows.
Both are kept up to date answer by answer, by groups and pairs of groups, never as all pairs.
Learners ask evidence two things only: the relation of two rows, and the groups.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from linkwise.closure import Pairs, chain_in_words, shortest_chain, shortest_chain_apart
from linkwise.constraints import Constraints
from linkwise.errors import ConstraintError, InfeasibleConstraintsError
from linkwise.pairs import row_count

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


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of must-linked rows and which of them are apart; rows without an answer are left out.

    Attributes
    ----------
    rows : tuple of ndarray
        Rows of each group, ascending; groups in order of their first rows.
    apart : frozenset of (int, int)
        Pairs of group numbers, lower first, that are required apart.
    """

    rows: tuple[NDArray[np.int64], ...]
    apart: frozenset[tuple[int, int]]


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
        self.n_rows = row_count(n_rows)
        self.n_questions = 0
        self._pairs = array("q")  # first, second, first, second, ...
        self._answers = bytearray()  # index into ANSWERS
        self._group: dict[int, int] = {}  # row -> group, for rows with a yes or a no
        self._members: dict[int, list[int]] = {}
        self._apart: dict[int, set[int]] = {}
        self._unsure: set[tuple[int, int]] = set()
        self._next_group = self.n_rows  # smaller numbers are components of adopted constraints
        self._groups: Groups | None = None
        if constraints is not None:
            self.add_constraints(constraints)

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[Fact]:
        for at, code in enumerate(self._answers):
            yield Fact(self._pairs[2 * at], self._pairs[2 * at + 1], ANSWERS[code])

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
        if answer not in ANSWERS:
            raise TypeError(f"the answer about rows {i} and {j} is {answer!r}; give 'yes', 'no' or 'unsure'")
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
        if constraints.n_rows != self.n_rows:
            raise ConstraintError(
                f"the constraints are about {constraints.n_rows} rows, the data have {self.n_rows}; "
                "build them with n_rows=len(X)"
            )
        if len(constraints.conflicts):
            i, j = (int(row) for row in constraints.conflicts[0])
            chain = shortest_chain(self.n_rows, constraints.must_link, i, j)
            raise InfeasibleConstraintsError(
                f"the constraints contradict each other: {chain_in_words(chain)}; remove one of them", chain
            )
        Constraints(  # raises on a contradiction with what is known
            self.n_rows,
            np.vstack([self._linked("yes"), constraints.must_link]),
            np.vstack([self._linked("no"), constraints.cannot_link]),
        )

    def _adopt(self, c: Constraints) -> None:
        """Fill empty evidence from constraints, whose closure is known already."""
        pairs = np.vstack([c.must_link, c.cannot_link])
        self._pairs.frombytes(np.ascontiguousarray(pairs, dtype=np.int64).tobytes())
        self._answers.extend(bytes(len(c.must_link)) + bytes([1]) * len(c.cannot_link))
        touched = np.unique(pairs)
        group = c.component[touched]
        order = np.argsort(group, kind="stable")
        numbers, starts = np.unique(group[order], return_index=True)
        self._group = dict(zip(touched.tolist(), group.tolist(), strict=True))
        parts = np.split(touched[order], starts[1:])
        self._members = {g: rows.tolist() for g, rows in zip(numbers.tolist(), parts, strict=True)}
        for a, b in c.component_cannot_link.tolist():
            self._apart.setdefault(a, set()).add(b)
            self._apart.setdefault(b, set()).add(a)
        self._groups = None

    # ------------------------------------------------------------ what is known
    def verdict(self, first: int, second: int) -> Answer | None:
        """What is given or follows for two rows: "yes", "no", "unsure" or None."""
        if first == second:
            return "yes"
        a, b = self._group.get(first, -1), self._group.get(second, -2)
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
            return Relation(verdict, self._together(shortest_chain(self.n_rows, self._linked("yes"), i, j)))
        near, far = self._chain_apart(i, j)
        return Relation(verdict, (*self._together(near), Fact(near[-1], far[0], "no"), *self._together(far)))

    def groups(self) -> Groups:
        """All groups of must-linked rows that an answer speaks of, and which of them are apart."""
        if self._groups is None:
            order = sorted(self._members, key=lambda g: min(self._members[g]))
            number = {g: at for at, g in enumerate(order)}
            self._groups = Groups(
                tuple(np.array(sorted(self._members[g]), dtype=np.int64) for g in order),
                frozenset(
                    (number[a], number[b])
                    for a, others in self._apart.items()
                    for b in others
                    if number[a] < number[b]
                ),
            )
        return self._groups

    def to_constraints(self) -> Constraints:
        """All yes and no answers as constraints."""
        return Constraints(self.n_rows, self._linked("yes"), self._linked("no"))

    # ------------------------------------------------------------ the closure
    def _row(self, row: int) -> int:
        if isinstance(row, bool) or not isinstance(row, (int, np.integer)):
            raise TypeError(f"row {row!r} ({type(row).__name__}); row positions are integers")
        if not 0 <= row < self.n_rows:
            raise ConstraintError(f"row {row}; the rows are 0 to {self.n_rows - 1}")
        return int(row)

    def _group_of(self, row: int) -> int:
        if row not in self._group:
            self._group[row] = self._next_group
            self._members[self._next_group] = [row]
            self._next_group += 1
        return self._group[row]

    def _join(self, i: int, j: int) -> None:
        """Merge two groups, the smaller into the larger, with all that they are apart from."""
        big, small = self._group_of(i), self._group_of(j)
        if len(self._members[big]) < len(self._members[small]):
            big, small = small, big
        for row in self._members[small]:
            self._group[row] = big
        self._members[big] += self._members.pop(small)
        for other in self._apart.pop(small, ()):
            self._apart[other].discard(small)
            self._apart[other].add(big)
            self._apart.setdefault(big, set()).add(other)

    def _part(self, i: int, j: int) -> None:
        a, b = self._group_of(i), self._group_of(j)
        self._apart.setdefault(a, set()).add(b)
        self._apart.setdefault(b, set()).add(a)

    # ------------------------------------------------------------ reasons
    def _linked(self, answer: Answer) -> Pairs:
        pairs = np.frombuffer(self._pairs.tobytes(), dtype=np.int64).reshape(-1, 2)
        chosen: Pairs = pairs[np.frombuffer(bytes(self._answers), dtype=np.uint8) == ANSWERS.index(answer)]
        return chosen

    def _together(self, chain: tuple[int, ...]) -> tuple[Fact, ...]:
        return tuple(Fact(a, b, "yes") for a, b in pairwise(chain))

    def _chain_apart(self, i: int, j: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shortest i = ... = a and b = ... = j such that an answer says a ≠ b."""
        return shortest_chain_apart(self.n_rows, self._linked("yes"), self._linked("no"), i, j)

    def _contradiction(self, i: int, j: int, answer: Answer) -> InfeasibleConstraintsError:
        if answer == "no":
            chain = shortest_chain(self.n_rows, self._linked("yes"), i, j)
        else:  # a = ... = i, and now i = j, and j = ... = b, although a ≠ b
            near, far = self._chain_apart(i, j)
            chain = (*reversed(near), *reversed(far))
        return InfeasibleConstraintsError(
            f"the answer contradicts earlier ones: {chain_in_words(chain)}; "
            "undo or change one of them, or answer 'unsure'",
            chain,
        )
