"""`why`: what put two rows together, or apart.

What people said comes first, with all that follows from it. Where nothing was said of the two rows, a method
may treat many rows as one: then it is what was said of the rows that stand for them. Where that says nothing
either, the columns decided, and the rules of an explanation tell how.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.constraints import Constraints
from linkwise.data.words import counted
from linkwise.errors import ConstraintError
from linkwise.evidence import Evidence, Fact
from linkwise.reasons.clauses import Clause
from linkwise.reasons.explanation import Explanation
from linkwise.reasons.rules import Rule
from linkwise.reasons.words import percent

By = Literal["answers", "stand-ins", "rules", "nothing"]
Call = Callable[[int], str]
"""How a row is called."""


@dataclass(frozen=True, slots=True)
class Why:
    """Why two rows are together, or apart; `print` says it.

    Attributes
    ----------
    first, second : int
    together : bool
        Whether they are in one cluster.
    by : {"answers", "stand-ins", "rules", "nothing"}
        What says so: answers about the rows themselves; answers about the rows that stand for them, or
        that one row stands for both; rules; nothing that is known here.
    facts : tuple of Fact
        The shortest chain of answers that says so.
    stand_ins : tuple of int
        The rows that stand for `first` and for `second`, where such are known.
    n_rows : int
        Rows of the part that holds both; 0 where they are in two.
    against : tuple of Fact
        Answers that say the contrary, where the clustering breaks them.
    rules : tuple of Rule
        What the explanation says of `first` and of `second`.
    parted_by : Clause or None
        The test at which their ways through the explanation's tree part: it holds for one of them only.
    fidelity : float
        Share of all rows for which the rules are right.
    """

    first: int
    second: int
    together: bool
    by: By
    facts: tuple[Fact, ...] = ()
    stand_ins: tuple[int, ...] = ()
    n_rows: int = 0
    against: tuple[Fact, ...] = ()
    rules: tuple[Rule, ...] = ()
    parted_by: Clause | None = None
    fidelity: float = 1.0

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self, call: Call = str) -> list[str]:
        """The reason in words, with rows called as `call` calls them."""
        one, other = call(self.first), call(self.second)
        said = [f"{one} and {other} are {'together' if self.together else 'apart'}."]
        if self.by == "answers":
            return [*said, f"Answers say so: {chain(self.facts, call)}.", *self._by_rules(one, other)]
        if self.against:
            said.append(f"This breaks answers: {chain(self.against, call)}.")
        else:
            said.append("No answer says so of the two themselves.")
        return said + self._by_stand_ins(call) + self._by_rules(one, other)

    def _by_stand_ins(self, call: Call) -> list[str]:
        if not self.stand_ins:
            return []
        if self.n_rows:
            part = f"one part of {counted(self.n_rows, 'row')}, treated as one"
            return [f"They are in {part}, which {call(self.stand_ins[0])} stands for."]
        rows = zip((self.first, self.second), self.stand_ins, strict=True)
        said = [f"{call(there)} stands for {call(row)}." for row, there in rows if row != there]
        if self.facts:
            return [*said, f"Answers say so of these: {chain(self.facts, call)}."]
        return [*said, "How these are related was not asked yet."]

    def _by_rules(self, one: str, other: str) -> list[str]:
        if not self.rules:
            return []
        first, second = self.rules
        how = f"The rules (right for {percent(self.fidelity)} of the rows)"
        if (first.cluster == second.cluster) != self.together:
            under = " and ".join(str(name) for name in dict.fromkeys((first.cluster, second.cluster)))
            return [f"{how} do not show it: they put them under {under}."]
        if first.leaf == second.leaf:
            return [f"{how} say of both: {first}."]
        said = [f"{how} say of {one}: {first}.", f"They say of {other}: {second}."]
        return said if self.parted_by is None else [*said, f"Only of one of them holds: {self.parted_by}."]


def chain(facts: tuple[Fact, ...], call: Call = str) -> str:
    """``a = b = c ≠ d``, from answers each of which goes on where the one before ended."""
    signs = {"yes": "=", "no": "≠", "unsure": "?"}
    return call(facts[0].first) + "".join(f" {signs[fact.answer]} {call(fact.second)}" for fact in facts)


def why(
    clustering: Any,
    first: int,
    second: int,
    *,
    evidence: Evidence | Constraints | None = None,
    stand_ins: ArrayLike | None = None,
    explanation: Explanation | None = None,
) -> Why:
    """Say why two rows are in one cluster, or in two.

    Parameters
    ----------
    clustering : array-like of shape (n_rows,), or fitted clusterer
        Labels, or what has ``labels_``.
    first, second : int
        Two different rows.
    evidence : Evidence or Constraints, optional
        What is known about pairs; by default the ``constraints_`` of a learner.
    stand_ins : array-like of shape (n_rows,), optional
        For each row the row that stands for it, where a method treats many rows as one, as COBRAS does with
        the rows of a super-instance.
    explanation : Explanation, optional
        Rules to look the rows up in; those of the same rows.

    Returns
    -------
    Why

    Examples
    --------
    >>> import linkwise as lw
    >>> c = lw.Constraints(5, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)])
    >>> print(lw.why([0, 0, 0, 1, 1], 0, 3, evidence=c))
    0 and 3 are apart.
    Answers say so: 0 = 1 = 2 ≠ 3.
    """
    labels = np.asarray(getattr(clustering, "labels_", clustering))
    i, j = (_row(row, len(labels)) for row in (first, second))
    if i == j:
        raise ConstraintError(f"row {i} is compared with itself; give two different rows")
    known = _evidence(
        getattr(clustering, "constraints_", None) if evidence is None else evidence, len(labels)
    )
    together = bool(labels[i] == labels[j])
    wanted = "yes" if together else "no"
    relation = known.relation(i, j)
    rules = () if explanation is None else _rules(explanation, i, j, len(labels))
    told: dict[str, Any] = {
        "rules": rules,
        "parted_by": None if explanation is None else parting(explanation, i, j),
        "fidelity": 1.0 if explanation is None else explanation.fidelity,
    }
    if relation.verdict == wanted:
        return Why(i, j, together, "answers", relation.because, **told)
    if relation.verdict in ("yes", "no"):
        told["against"] = relation.because
    if stand_ins is not None:
        found = _by_stand_ins(known, _checked_stand_ins(stand_ins, len(labels)), i, j, wanted)
        if found is not None:
            return Why(i, j, together, "stand-ins", *found, **told)
    shown = bool(rules) and (rules[0].cluster == rules[1].cluster) == together
    return Why(i, j, together, "rules" if shown else "nothing", **told)


def _by_stand_ins(
    known: Evidence, stand_ins: NDArray[np.int64], i: int, j: int, wanted: str
) -> tuple[tuple[Fact, ...], tuple[int, ...], int] | None:
    """Answers about rows that stand for `i` and `j`, these rows, and the size of the part that holds both.

    A row that was asked about may have left its part: then what is said of itself counts.
    """
    of_i, of_j = int(stand_ins[i]), int(stand_ins[j])
    if of_i == of_j and wanted == "yes":
        return (), (of_i, of_j), int(np.sum(stand_ins == of_i))
    for a, b in ((of_i, of_j), (i, of_j), (of_i, j)):
        relation = known.relation(a, b)
        if a != b and relation.verdict == wanted:
            return relation.because, (a, b), 0
    return ((), (of_i, of_j), 0) if wanted == "no" and of_i != of_j else None


def parting(explanation: Explanation, i: int, j: int) -> Clause | None:
    """The test at which the ways of two rows part, as what holds of one of them; None where they do not."""
    ways = dict(explanation.tree.ways())
    one, other = (ways[int(explanation.leaf_of[row])] for row in (i, j))
    return next(
        (explanation.clauses[node] for (node, a), (_, b) in zip(one, other, strict=False) if a != b), None
    )


def _rules(explanation: Explanation, i: int, j: int, n_rows: int) -> tuple[Rule, ...]:
    if explanation.n_rows != n_rows:
        raise ValueError(f"the explanation is about {explanation.n_rows} rows, the clustering about {n_rows}")
    return explanation.rule_of(i), explanation.rule_of(j)


def _checked_stand_ins(stand_ins: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    found = np.asarray(stand_ins)
    if found.shape != (n_rows,) or found.dtype.kind not in "iu":
        raise ValueError(
            f"stand_ins has shape {found.shape}, dtype {found.dtype}; give one row position for each of "
            f"{n_rows} rows"
        )
    return found.astype(np.int64)


def _evidence(given: Evidence | Constraints | None, n_rows: int) -> Evidence:
    """What is known of pairs of rows."""
    if isinstance(given, Evidence):
        known = given
    elif given is None or isinstance(given, Constraints):
        known = Evidence(n_rows, given)
    else:
        raise TypeError(f"evidence is a {type(given).__name__}; give Evidence or Constraints")
    if known.n_rows != n_rows:
        raise ValueError(f"the evidence is about {known.n_rows} rows, the clustering about {n_rows}")
    return known


def _row(row: object, n_rows: int) -> int:
    if isinstance(row, bool) or not isinstance(row, (int, np.integer)):
        raise TypeError(f"row {row!r} ({type(row).__name__}); row positions are integers")
    if not 0 <= row < n_rows:
        raise ConstraintError(f"row {row}; the rows are 0 to {n_rows - 1}")
    return int(row)
