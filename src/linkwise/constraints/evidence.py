"""Evidence: answers about pairs as they arrive, and everything that follows from them.

Must-links are an equivalence, and a cannot-link holds between whole groups of must-linked rows.
Every answer updates the groups and the pairs of groups; all pairs are never formed. Learners use two methods
only: the relation of two rows, and the groups.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from operator import index
from typing import ClassVar, NamedTuple

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
from linkwise.constraints.error_rates import ErrorRates, SourceRate
from linkwise.constraints.facts import ANSWERS, Answer, Fact, Groups, Relation, Suspect, check_reliability
from linkwise.constraints.sorting import Sorting
from linkwise.errors import ConstraintError, InfeasibleConstraintsError, short_repr

Origin = tuple[str, bool, str | None, float | None]
FEW_ROWS = 2**18  # up to which an array of all rows costs little
UNKNOWN: Origin = ("", False, None, None)  # source, asked, when, reliability


class _Named(NamedTuple):
    """What the groups need of the first answers."""

    n_answers: int
    rows: NDArray[np.int64]
    """Rows that one of these answers names, "unsure" aside, ascending."""
    apart: Pairs
    """(m, 2) the ends of a cannot-link for each pair of groups that one of them separates."""


class Evidence:
    """Answers about pairs of rows, and everything that follows from them.

    Parameters
    ----------
    n_rows : int
        Number of rows of the data.
    constraints : Constraints, optional
        Constraints that hold before the first answer.

    Attributes
    ----------
    n_rows : int
        Number of rows of the data.
    n_questions : int
        Number of answers to questions, ``"unsure"`` included; volunteered facts do not count.

    Raises
    ------
    ConstraintError
        `n_rows` is out of range, or `constraints` are about another number of rows.
    InfeasibleConstraintsError
        `constraints` contradict each other.

    Examples
    --------
    >>> evidence = Evidence(3)
    >>> evidence.add(0, 1, "yes")
    >>> evidence.add(1, 2, "no")
    >>> evidence.verdict(0, 2)
    'no'
    """

    is_fallible: ClassVar[bool] = False
    """Whether answers may be wrong; then verdicts follow from what is believed (`FallibleEvidence`)."""
    n_revisions = 0
    """Number of times that something else was believed of earlier facts than before."""

    def __init__(self, n_rows: int, constraints: Constraints | None = None) -> None:
        self.n_rows = check_row_count(n_rows)
        self.n_questions = 0
        self._pairs = array("q")  # first, second, first, second, ...
        self._answers = bytearray()  # index into ANSWERS
        self._origins: dict[int, Origin] = {}  # source, asked and when, of the facts that have any of them
        # the group of a row has the name of one of its rows: where it moved since, else as given, else itself
        self._moved: dict[int, int] = {}
        self._given_group: array[int] | None = None  # never changed, so that copies share it
        self._members: dict[int, list[int]] = {}  # rows of the groups that have two or more
        self._apart: dict[int, set[int]] = {}
        self._unsure: set[tuple[int, int]] = set()
        self.corrected: frozenset[int] = frozenset()  # rows that somebody has moved to another cluster
        self._groups: Groups | None = None
        self._named = _Named(0, np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64))
        if constraints is not None:
            self.add_constraints(constraints)

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[Fact]:
        return self.since(0)

    def since(self, number: int) -> Iterator[Fact]:
        """Yield the facts from one number on, in the order in which they came.

        Parameters
        ----------
        number : int
            Position of the first fact, from 0.

        Yields
        ------
        Fact
            One answer about one pair.
        """
        for at in range(number, len(self)):
            first, second, answer = self._pairs[2 * at], self._pairs[2 * at + 1], ANSWERS[self._answers[at]]
            yield Fact(first, second, answer, *self._origins.get(at, UNKNOWN))

    def read_believed(self, number: int) -> Iterator[Fact]:
        """Yield the facts from one number on, each with the answer that is believed: here the given one.

        Parameters
        ----------
        number : int
            Position of the first fact, from 0. Look at all of them again if `n_revisions` has changed.

        Yields
        ------
        Fact
            One answer about one pair.
        """
        return self.since(number)

    # ------------------------------------------------------------ new facts
    def add(
        self,
        first: int,
        second: int,
        answer: Answer,
        *,
        asked: bool = False,
        source: str = "",
        when: str | None = None,
        reliability: float | None = None,
    ) -> None:
        """Add one answer; if it raises an error, nothing has changed.

        Parameters
        ----------
        first, second : int
            Two different rows.
        answer : {"yes", "no", "unsure"}
            Whether the rows belong together.
        asked : bool, default=False
            Whether it answers a question; it then counts in `n_questions`.
        source : str, default=""
            Who gave the answer.
        when : str, optional
            UTC time of the answer, ISO 8601.
        reliability : float, optional
            The probability that the answer is right, from 0.5 to 1. Only `FallibleEvidence` uses it.

        Raises
        ------
        InfeasibleConstraintsError
            The answer contradicts earlier answers; the error names the shortest chain.
        ConstraintError
            A row does not exist, or both rows are the same.
        TypeError
            A position is not an integer, the answer is unknown, or the source is not text.
        ValueError
            `reliability` is out of range.
        """
        i, j = self.check(first, second, answer, source=source)
        known = self.verdict(i, j)
        origin = source, asked, when, check_reliability(reliability, answer)
        if origin != UNKNOWN:
            self._origins[len(self._answers)] = origin
        self._pairs.extend((i, j))
        self._answers.append(ANSWERS.index(answer))
        self.n_questions += asked
        if answer == "unsure":
            self._unsure.add((min(i, j), max(i, j)))
        elif answer != known:
            self._join(i, j) if answer == "yes" else self._separate(i, j)
            self._groups = None

    def add_sorted(self, sorting: Sorting, row: int, *, source: str = "", when: str | None = None) -> None:
        """Add what follows from piles for one row and those before it.

        Add all rows in the order of ``sorting.order``. Together they count as one answer to a question.

        Parameters
        ----------
        sorting : Sorting
            The piles.
        row : int
            The row whose turn it is.
        source : str, default=""
            Who sorted the rows.
        when : str, optional
            UTC time of the answer, ISO 8601.

        Raises
        ------
        InfeasibleConstraintsError, ConstraintError, TypeError
            As for `add`; what was added before stays.
        """
        n_questions = self.n_questions + (row == sorting.order[0])
        for fact in sorting.facts_about(row):
            self.add(*fact.pair, fact.answer, asked=True, source=source, when=when)
        self.n_questions = n_questions

    def check(self, first: int, second: int, answer: Answer, *, source: str = "") -> tuple[int, int]:
        """Raise the errors that `add` would raise, without changing anything.

        Parameters
        ----------
        first, second : int
            Two different rows.
        answer : {"yes", "no", "unsure"}
            Whether the rows belong together.
        source : str, default=""
            Who gave the answer.

        Returns
        -------
        tuple of two ints
            The rows as plain integers.

        Raises
        ------
        InfeasibleConstraintsError, ConstraintError, TypeError
            See `add`.
        """
        i, j = self._check_form(first, second, answer, source)
        if answer != "unsure" and self.verdict(i, j) not in (None, "unsure", answer):
            raise self._contradiction_error(i, j, answer)
        return i, j

    def _check_form(self, first: int, second: int, answer: Answer, source: str) -> tuple[int, int]:
        """Two different rows, an answer, and the name of a source."""
        i, j = self._row(first), self._row(second)
        if not (isinstance(answer, str) and answer in ANSWERS):
            raise TypeError(
                f"The answer about rows {i} and {j} is unknown: {short_repr(answer)}."
                " Pass 'yes', 'no' or 'unsure'."
            )
        if i == j:
            raise ConstraintError(f"Row {i} is compared with itself. Pass two different rows.")
        if not isinstance(source, str):
            raise TypeError(f"The source of an answer is not text: {short_repr(source)}. Pass its name.")
        return i, j

    def add_constraints(self, constraints: Constraints) -> None:
        """Add a whole set of constraints; if it raises an error, nothing has changed.

        Parameters
        ----------
        constraints : Constraints
            Constraints between the same rows.

        Raises
        ------
        InfeasibleConstraintsError
            The constraints contradict each other or earlier answers.
        ConstraintError
            The constraints are about another number of rows.
        TypeError
            `constraints` is not a `Constraints` object.
        """
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
        """Raise the errors that `add_constraints` would raise, without changing anything.

        Parameters
        ----------
        constraints : Constraints
            Constraints between the same rows.

        Raises
        ------
        InfeasibleConstraintsError, ConstraintError, TypeError
            See `add_constraints`.
        """
        if not isinstance(constraints, Constraints):
            raise TypeError(
                f"constraints is not a Constraints object: {short_repr(constraints)}."
                " Build one with linkwise.Constraints."
            )
        if constraints.n_rows != self.n_rows:
            raise ConstraintError(
                f"The constraints are about {constraints.n_rows} rows, but the data have {self.n_rows}."
                " Build them with n_rows=len(X)."
            )
        if len(constraints.conflicts):
            chain = shortest_contradiction(self.n_rows, constraints.must_link, constraints.conflicts)
            raise InfeasibleConstraintsError(
                f"The constraints contradict each other: {format_chain(chain)}. Remove one of them.", chain
            )
        if len(self) == 0:
            return
        Constraints(  # raises if they contradict earlier answers
            self.n_rows,
            np.vstack([self.pairs_with_answer("yes"), constraints.must_link]),
            np.vstack([self.pairs_with_answer("no"), constraints.cannot_link]),
        )

    def _adopt(self, c: Constraints) -> None:
        """Fill empty evidence from constraints, whose closure exists already."""
        pairs = np.vstack([c.must_link, c.cannot_link])
        self._pairs.frombytes(np.ascontiguousarray(pairs, dtype=np.int64).tobytes())
        self._answers.extend(bytes(len(c.must_link)) + bytes([1]) * len(c.cannot_link))
        first = _first_rows(c.component)
        self._given_group = array("q", first[c.component].tobytes())
        linked = np.flatnonzero(np.bincount(c.must_link.ravel()))
        order = linked[np.argsort(c.component[linked], kind="stable")]
        starts = np.flatnonzero(np.diff(c.component[order], prepend=-1)).tolist()
        for a, b in pairwise([*starts, len(order)]):
            self._members[int(order[a])] = order[a:b].tolist()
        for a, b in first[c.component_cannot_link].tolist():
            self._apart.setdefault(a, set()).add(b)
            self._apart.setdefault(b, set()).add(a)
        self._groups = None

    # ------------------------------------------------------------ queries
    def verdict(self, first: int, second: int) -> Answer | None:
        """Return what is given or follows for two rows.

        Parameters
        ----------
        first, second : int
            Row positions.

        Returns
        -------
        {"yes", "no", "unsure"} or None
            None if nothing is known, and for rows that do not exist.
        """
        if first == second:
            return "yes"
        try:
            i, j = index(first), index(second)
        except TypeError:
            return None
        if not (0 <= i < self.n_rows and 0 <= j < self.n_rows):
            return None
        a, b = self._group_of(i), self._group_of(j)
        if a == b:
            return "yes"
        if b in self._apart.get(a, ()):
            return "no"
        return "unsure" if (min(first, second), max(first, second)) in self._unsure else None

    def verdicts(self, row: int, others: list[int]) -> list[Answer | None]:
        """Return the verdicts on one row and several others; quicker than one by one.

        Parameters
        ----------
        row : int
            A row that exists.
        others : list of int
            Other rows that exist.

        Returns
        -------
        list
            What `verdict` returns for each.
        """
        own, moved, given = self._group_of(row), self._moved, self._given_group
        apart: set[int] = self._apart.get(own, set())
        of = others if given is None else [given[other] for other in others]
        groups = [moved.get(other, group) for other, group in zip(others, of, strict=True)]
        found: list[Answer | None] = [
            "yes" if group == own else "no" if group in apart else None for group in groups
        ]
        if self._unsure:
            for at, other in enumerate(others):
                if found[at] is None and (min(row, other), max(row, other)) in self._unsure:
                    found[at] = "unsure"
        return found

    def relation(self, first: int, second: int) -> Relation:
        """Return the verdict on two rows and the shortest chain of answers that it follows from.

        Parameters
        ----------
        first, second : int
            Row positions.

        Returns
        -------
        Relation
            The verdict and its reasons.

        Raises
        ------
        ConstraintError
            A row does not exist.
        TypeError
            A position is not an integer.
        """
        i, j = self._row(first), self._row(second)
        verdict = self.verdict(i, j)
        if i == j or verdict is None:
            return Relation(verdict)
        if verdict == "unsure":
            return Relation(verdict, (Fact(i, j, "unsure"),))
        if verdict == "yes":
            chain = shortest_chain(self.n_rows, self.pairs_with_answer("yes"), i, j)
            return Relation(verdict, _facts_of_chain(chain))
        near, far = self._chain_apart(i, j)
        step = Fact(near[-1], far[0], "no")
        return Relation(verdict, (*_facts_of_chain(near), step, *_facts_of_chain(far)))

    def groups(self) -> Groups:
        """Return the groups of must-linked rows that have an answer, and the cannot-links between them.

        Returns
        -------
        Groups
            The same object until an answer changes it.
        """
        if self._groups is None:
            named, n_names = self._read_named(), self.n_rows
            row, of, ends = named.rows, self._groups_of(named.rows), self._groups_of(named.apart)
            if self.n_rows > FEW_ROWS:
                names = np.unique(of)
                of, ends, n_names = np.searchsorted(names, of), np.searchsorted(names, ends), len(names)
            first, number = np.empty((2, n_names), dtype=np.int64)
            first[of[::-1]] = row[::-1]
            leads = of[first[of] == row]
            number[leads] = np.arange(len(leads))
            one, other = number[ends].T
            key = np.minimum(one, other) * len(leads) + np.maximum(one, other)
            order = np.argsort(key, kind="stable")
            kept = order[np.diff(key[order], prepend=-1) > 0]
            self._named = named._replace(apart=named.apart[kept])
            between = np.stack(np.divmod(key[kept], max(len(leads), 1)), axis=1)
            self._groups = Groups(row, number[of], between)
        return self._groups

    def _read_named(self) -> _Named:
        """Take up the answers that are new since the groups were looked at."""
        since, rows, apart = self._named
        if since == len(self._answers):
            return self._named
        yes, no = (self.pairs_with_answer(answer, since) for answer in ("yes", "no"))
        more = np.unique(np.concatenate([yes, no]))
        at = np.searchsorted(rows, more)
        is_new = np.append(rows, -1)[at] != more
        rows = np.insert(rows, at[is_new], more[is_new])
        return _Named(len(self._answers), rows, np.concatenate([apart, no]))

    def suspects(self) -> list[Suspect]:
        """Return the answers that are probably wrong; none where all answers are taken as right.

        Returns
        -------
        list of Suspect
            The most probable ones first.
        """
        return []

    def error_rates(self) -> ErrorRates:
        """Return the share of wrong answers of each source: 0 where all answers are taken as right.

        Returns
        -------
        ErrorRates
            Those of each source of a yes or no, and of all sources together.
        """
        n_answers = Counter(fact.source for fact in self if fact.answer != "unsure")
        by_source = {name: SourceRate(n_answers[name], 0, 0.0, 0.0, 0.0) for name in sorted(n_answers)}
        return ErrorRates(SourceRate(n_answers.total(), 0, 0.0, 0.0, 0.0), by_source)

    @property
    def n_inferred(self) -> int:
        """Number of pairs that have no answer of their own, but follow from other answers."""
        groups = self.groups()
        sizes = np.bincount(groups.number).astype(np.int64)
        apart = groups.cannot_link
        known = (sizes * (sizes - 1) // 2).sum() + (sizes[apart[:, 0]] * sizes[apart[:, 1]]).sum()
        given = np.sort(np.vstack([self.pairs_with_answer("yes"), self.pairs_with_answer("no")]), axis=1)
        return int(known) - len(np.unique(given, axis=0))

    def pairs_with_answer(self, answer: Answer, since: int = 0) -> Pairs:
        """Return the pairs that have one answer, in the order in which they came.

        Parameters
        ----------
        answer : {"yes", "no", "unsure"}
            The answer to look for.
        since : int, default=0
            Number of the first answer to look at, from 0.

        Returns
        -------
        ndarray of shape (n, 2), int64
            Row positions.
        """
        pairs = np.array(self._pairs[2 * since :], dtype=np.int64).reshape(-1, 2)
        chosen: Pairs = pairs[np.frombuffer(bytes(self._answers[since:]), np.uint8) == ANSWERS.index(answer)]
        return chosen

    def has_verdict(self, pairs: Pairs, since: int = 0) -> NDArray[np.bool_]:
        """Return whether each pair has a verdict; ``"unsure"`` is one.

        Parameters
        ----------
        pairs : ndarray of shape (n, 2)
            Two different rows each.
        since : int, default=0
            Look only at pairs that the answers from this number on touch. A verdict that follows from
            earlier answers alone may then be missing.

        Returns
        -------
        ndarray of shape (n,), bool
            Whether `verdict` is not None.
        """
        new = self._groups_of(np.array(self._pairs[2 * since :], dtype=np.int64))
        touched = np.flatnonzero(np.isin(self._groups_of(pairs), new).any(axis=1))
        known = np.zeros(len(pairs), dtype=bool)
        known[touched] = [self.verdict(i, j) is not None for i, j in pairs[touched].tolist()]
        return known

    def to_constraints(self) -> Constraints:
        """Convert all yes and no answers to constraints.

        Returns
        -------
        Constraints
            Must-links and cannot-links, all with weight 1.
        """
        return Constraints(self.n_rows, self.pairs_with_answer("yes"), self.pairs_with_answer("no"))

    # ------------------------------------------------------------ the closure
    def copy(self) -> Evidence:
        """Copy the evidence, so that facts can be added to one of both; quicker than `copy.deepcopy`.

        Returns
        -------
        Evidence
            The same facts, and what follows from them.
        """
        twin = Evidence.__new__(Evidence)  # a new one would number all rows
        twin.n_rows, twin.n_questions = self.n_rows, self.n_questions
        twin._given_group, twin._moved = self._given_group, self._moved.copy()
        twin._groups, twin._named, twin.corrected = self._groups, self._named, self.corrected
        twin._pairs, twin._answers = self._pairs[:], self._answers[:]
        twin._origins, twin._unsure = self._origins.copy(), self._unsure.copy()
        twin._members = {group: rows.copy() for group, rows in self._members.items()}
        twin._apart = {group: others.copy() for group, others in self._apart.items()}
        return twin

    def _row(self, row: int) -> int:
        return check_row(row, self.n_rows)

    def _group_of(self, row: int) -> int:
        """Group of a row that exists."""
        group = self._moved.get(row)
        if group is not None:
            return group
        return row if self._given_group is None else self._given_group[row]

    def _groups_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Group of each of some rows, in an array of any shape."""
        groups = rows if self._given_group is None else np.frombuffer(self._given_group, dtype=np.int64)[rows]
        if not self._moved or rows.size == 0:
            return groups
        n = len(self._moved)
        moved, to = np.fromiter(self._moved, np.int64, n), np.fromiter(self._moved.values(), np.int64, n)
        order = np.argsort(moved)
        at = order[np.minimum(np.searchsorted(moved, rows, sorter=order), n - 1)]
        return np.where(moved[at] == rows, to[at], groups)

    def _join(self, i: int, j: int) -> None:
        """Merge two groups: move the rows and the cannot-links of the one that has fewer."""
        small, big = sorted((self._group_of(i), self._group_of(j)), key=self._size)
        moved = self._members.pop(small, [small])
        for row in moved:
            self._moved[row] = big
        self._members.setdefault(big, [big]).extend(moved)
        for other in self._apart.pop(small, ()):
            self._apart[other].remove(small)
            self._apart[other].add(big)
            self._apart.setdefault(big, set()).add(other)

    def _size(self, group: int) -> int:
        return len(self._members.get(group, ())) + len(self._apart.get(group, ()))

    def _separate(self, i: int, j: int) -> None:
        a, b = self._group_of(i), self._group_of(j)
        self._apart.setdefault(a, set()).add(b)
        self._apart.setdefault(b, set()).add(a)

    # ------------------------------------------------------------ reasons

    def _chain_apart(self, i: int, j: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Find the shortest i = ... = a and b = ... = j such that a ≠ b is an answer."""
        return shortest_chain_apart(
            self.n_rows, self.pairs_with_answer("yes"), self.pairs_with_answer("no"), i, j
        )

    def _contradiction_error(self, i: int, j: int, answer: Answer) -> InfeasibleConstraintsError:
        if answer == "no":
            chain = shortest_chain(self.n_rows, self.pairs_with_answer("yes"), i, j)
        else:  # a = ... = i, and now i = j, and j = ... = b, although a ≠ b
            near, far = self._chain_apart(i, j)
            chain = (*reversed(near), *reversed(far))
        return InfeasibleConstraintsError(
            f"The answer contradicts earlier ones: {format_chain(chain)}."
            " Undo or change one of them, or answer 'unsure'.",
            chain,
        )


def _facts_of_chain(chain: tuple[int, ...]) -> tuple[Fact, ...]:
    return tuple(Fact(a, b, "yes") for a, b in pairwise(chain))


def _first_rows(component: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first row of each component."""
    first = np.empty(component.max() + 1, dtype=np.int64)
    first[component[::-1]] = np.arange(len(component))[::-1]
    return first
