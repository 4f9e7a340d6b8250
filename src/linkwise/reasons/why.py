"""`why`: what put two rows together, or apart.

What people said comes first, with all that follows from it. Where nothing was said of the two rows, a method
may treat many rows as one: then it is what was said of the rows that stand for them. Where that says nothing
either, the columns decided, and the rules of an explanation tell how.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.constraints.checks import check_row
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.evidence import Evidence, Fact
from linkwise.errors import ConstraintError
from linkwise.reasons.clauses import Clause
from linkwise.reasons.explanation import Explanation, labels_of, last_step
from linkwise.reasons.rules import Name, Rule
from linkwise.reasons.sentences import percent
from linkwise.wording import count_noun

By = Literal["answers", "parts", "rules", "nothing"]
Call = Callable[[int], str]
"""How a row is called."""
NOISE = -1


@dataclass(frozen=True, slots=True, repr=False)
class Why:
    """Why two rows are together, or apart; `print` says it.

    Attributes
    ----------
    first, second : int
    clusters : tuple of (str, int or None)
        Of `first` and of `second`; None for a row in no cluster, of a clusterer that leaves rows out.
    by : {"answers", "parts", "rules", "nothing"}
        What says so: answers about the rows themselves; answers about other rows of the parts that hold
        them, or that one part holds both; rules; nothing that is known here.
    facts : tuple of Fact
        The shortest chain of answers that says so.
    parts : tuple of (int, int)
        For `first` and for `second` the row that stands for its part, and the number of rows in the part;
        empty where a method does not treat many rows as one.
    moved : tuple of Fact
        Answers that took `first` or `second` out of its part.
    against : tuple of Fact
        Answers that say the contrary, where the clustering breaks them.
    unsure : bool
        Whether nobody was sure, of the rows or of those that stand for them.
    rules : tuple of Rule
        What the explanation says of `first` and of `second`.
    parted_by : Clause or None
        The test at which their ways through the explanation's tree part: it holds for one of them only.
    fidelity : float
        Share of all rows for which the rules are right.
    """

    first: int
    second: int
    clusters: tuple[Name | None, Name | None]
    by: By
    facts: tuple[Fact, ...] = ()
    parts: tuple[tuple[int, int], ...] = ()
    moved: tuple[Fact, ...] = ()
    against: tuple[Fact, ...] = ()
    unsure: bool = False
    rules: tuple[Rule, ...] = ()
    parted_by: Clause | None = None
    fidelity: float = 1.0

    @property
    def together(self) -> bool:
        """Whether they are in one cluster."""
        return self.clusters[0] == self.clusters[1] is not None

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __repr__(self) -> str:
        return f"<Why: {self.sentences()[0]}>"

    def sentences(self, names: Call | Sequence[object] = str) -> list[str]:
        """The reason in words.

        Parameters
        ----------
        names : callable or sequence
            What a row is called: ``names(row)``, or ``names[row]``.
        """
        call: Call = names if callable(names) else lambda row: str(names[row])
        one, other = call(self.first), call(self.second)
        if self.together:
            said = [f"{one} and {other} are together, in cluster {self.clusters[0]}."]
        else:
            here, there = ("in none" if c is None else f"cluster {c}" for c in self.clusters)
            said = [f"{one} ({here}) and {other} ({there}) are apart."]
        if self.against:
            said.append(f"This breaks answers: {chain(self.against, call)}.")
        if self.by == "answers":
            said.append(f"Answers say so: {chain(self.facts, call)}.")
        else:
            said += self._by_parts(call)
        return said + self._by_rules(one, other)

    def _by_parts(self, call: Call) -> list[str]:
        """What is said of the parts that hold the rows, where there are such."""
        said = []
        if self.moved:
            said.append(
                f"Answers took {call(self.moved[0].first)} out of its part: {chain(self.moved, call)}."
            )
        if len(self.parts) == 2 and self.parts[0] == self.parts[1] and self.together and not self.facts:
            lead, size = self.parts[0]
            return [
                *said,
                f"They are in one part of {count_noun(size, 'row')}, which {call(lead)} stands for.",
            ]
        for row, (lead, size) in zip((self.first, self.second), self.parts, strict=False):
            if size > 1:
                stands = "which it stands for" if lead == row else f"which {call(lead)} stands for"
                said.append(f"{call(row)} is in a part of {size} rows, {stands}.")
        if self.facts:
            return [*said, f"Answers about rows of these parts say so: {chain(self.facts, call)}."]
        if self.unsure:
            return [*said, "Somebody was asked, and was unsure."]
        return [*said, "Nothing is known of these two parts."] if self.parts and not self.moved else said

    def _by_rules(self, one: str, other: str) -> list[str]:
        if not self.rules:
            return []
        first, second = self.rules
        how = f"The rules (right for {percent(self.fidelity)} of the rows)"
        if (first.cluster == second.cluster) != (self.clusters[0] == self.clusters[1]):
            called = [NOISE if cluster is None else cluster for cluster in self.clusters]
            rows = zip((one, other), self.rules, called, strict=True)
            strays = [f"{row} under {rule.cluster}" for row, rule, own in rows if rule.cluster != own]
            return [f"{how} do not show it: they put {' and '.join(strays)}."]
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
    constraints: Constraints | Evidence | None = None,
    stand_ins: ArrayLike | None = None,
    explanation: Explanation | None = None,
) -> Why:
    """Say why two rows are in one cluster, or in two.

    Parameters
    ----------
    clustering : array-like of shape (n_rows,), or fitted clusterer
        Labels, or what has ``labels_``, or a pipeline that ends in it.
    first, second : int
        Two different rows.
    constraints : Constraints or Evidence, optional
        What is known about pairs; by default the ``constraints_`` of a clusterer. Of contradictory ones the
        cannot-links that contradict others are left out.
    stand_ins : array-like of shape (n_rows,), optional
        For each row the row that stands for it, where a method treats many rows as one, as COBRAS does with
        the rows of a super-instance.
    explanation : Explanation, optional
        Rules to look the rows up in; of the same clustering.

    Returns
    -------
    Why

    Examples
    --------
    >>> import linkwise as lw
    >>> c = lw.Constraints(5, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)])
    >>> print(lw.why([0, 0, 0, 1, 1], 0, 3, constraints=c))
    0 (cluster 0) and 3 (cluster 1) are apart.
    Answers say so: 0 = 1 = 2 ≠ 3.
    """
    labels = labels_of(clustering)
    i, j = (check_row(row, len(labels)) for row in (first, second))
    if i == j:
        raise ConstraintError(f"row {i} is compared with itself; give two different rows")
    own = getattr(last_step(clustering), "constraints_", None)
    known = _evidence(own if constraints is None else constraints, len(labels))
    out = NOISE if getattr(last_step(clustering), "leaves_noise", False) else None
    one, other = labels[i].item(), labels[j].item()
    clusters = (None if one == out else one, None if other == out else other)
    by_rules = {} if explanation is None else _by_rules(explanation, labels, i, j)
    wanted = "yes" if clusters[0] == clusters[1] is not None else "no"
    relation = known.relation(i, j)
    if relation.verdict == wanted:
        return Why(i, j, clusters, "answers", relation.because, **by_rules)
    told: dict[str, Any] = {"against": relation.because if relation.verdict in ("yes", "no") else ()}
    told["unsure"] = relation.verdict == "unsure"
    if stand_ins is not None:
        told |= _by_parts(known, labels, _checked_stand_ins(stand_ins, len(labels)), i, j)
    rules = by_rules.get("rules", ())
    shown = bool(rules) and (rules[0].cluster == rules[1].cluster) == (one == other)
    by: By = "parts" if told.get("parts") else "rules" if shown else "nothing"
    return Why(i, j, clusters, by, **told, **by_rules)


# ---------------------------------------------------------------- parts
class Part(NamedTuple):
    """The rows that are treated as one with a row and are still where it is; itself alone if it was moved."""

    lead: int
    rows: NDArray[np.intp]
    moved: bool


def _part(labels: NDArray[Any], stand_ins: NDArray[np.int64], row: int) -> Part:
    lead = int(stand_ins[row])
    if labels[row] != labels[lead]:
        return Part(row, np.array([row]), True)
    return Part(lead, np.flatnonzero((stand_ins == lead) & (labels == labels[row])), False)


def _by_parts(
    known: Evidence, labels: NDArray[Any], stand_ins: NDArray[np.int64], i: int, j: int
) -> dict[str, Any]:
    """What is known of the parts that hold two rows."""
    one, other = _part(labels, stand_ins, i), _part(labels, stand_ins, j)
    together = bool(labels[i] == labels[j])
    told: dict[str, Any] = {"parts": tuple((part.lead, len(part.rows)) for part in (one, other))}
    if together and not one.moved and one.lead == other.lead:
        return told
    pair = _decided(known, one, other, "yes" if together else "no")
    if pair is not None:
        told["facts"] = known.relation(*pair).because
    else:
        told["unsure"] = known.verdict(one.lead, other.lead) == "unsure" or known.verdict(i, j) == "unsure"
        for row, part in ((i, one), (j, other)):
            if part.moved and (reason := _out_of_its_part(known, labels, stand_ins, row)):
                told["moved"] = reason
    return told


def _decided(known: Evidence, one: Part, other: Part, wanted: str) -> tuple[int, int] | None:
    """Two rows of two parts of which answers say what is wanted: first the rows that stand for the parts."""
    if one.lead != other.lead and known.verdict(one.lead, other.lead) == wanted:
        return one.lead, other.lead
    said = known.groups()
    here, there = (np.flatnonzero(np.isin(said.row, part.rows)) for part in (one, other))
    for a in here.tolist():
        for b in there.tolist():
            first, second = int(said.row[a]), int(said.row[b])
            if first != second and known.verdict(first, second) == wanted:
                return first, second
    return None


def _out_of_its_part(
    known: Evidence, labels: NDArray[Any], stand_ins: NDArray[np.int64], row: int
) -> tuple[Fact, ...]:
    """The answers by which a row is apart from one that is where its part is."""
    lead = int(stand_ins[row])
    stayed = np.flatnonzero((stand_ins == lead) & (labels == labels[lead]))
    pair = _decided(known, Part(row, np.array([row]), True), Part(lead, stayed, False), "no")
    return () if pair is None else known.relation(*pair).because


# ---------------------------------------------------------------- rules
def _by_rules(explanation: Explanation, labels: NDArray[Any], i: int, j: int) -> dict[str, Any]:
    """What an explanation says of two rows."""
    if len(explanation.labels) != len(labels) or (explanation.labels != labels).any():
        raise ValueError("the explanation is of another clustering; make it anew: explain(labels, X)")
    return {
        "rules": (explanation.rule_of(i), explanation.rule_of(j)),
        "parted_by": parting(explanation, i, j),
        "fidelity": explanation.fidelity,
    }


def parting(explanation: Explanation, i: int, j: int) -> Clause | None:
    """The test at which the ways of two rows part, as what holds of one of them; None where they do not."""
    ways = dict(explanation.tree.ways())
    one, other = (ways[int(explanation.leaf_of[row])] for row in (i, j))
    return next(
        (explanation.clauses[node] for (node, a), (_, b) in zip(one, other, strict=False) if a != b), None
    )


# ---------------------------------------------------------------- what people hand in
def _checked_stand_ins(stand_ins: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    found = np.asarray(stand_ins)
    if found.shape != (n_rows,) or found.dtype.kind not in "iu":
        raise ValueError(
            f"stand_ins has shape {found.shape}, dtype {found.dtype}; give one row position for each of "
            f"{n_rows} rows"
        )
    return found.astype(np.int64)


def _evidence(given: Constraints | Evidence | None, n_rows: int) -> Evidence:
    """What is known of pairs of rows."""
    if given is not None and not isinstance(given, (Constraints, Evidence)):
        raise TypeError(f"constraints is a {type(given).__name__}; give Constraints or Evidence")
    if given is not None and given.n_rows != n_rows:
        raise ValueError(f"the constraints are about {given.n_rows} rows, the clustering about {n_rows}")
    if isinstance(given, Evidence):
        return given
    if given is not None and len(given.conflicts):
        wrong = {tuple(pair) for pair in given.conflicts.tolist()}
        kept = [pair for pair in given.cannot_link.tolist() if tuple(pair) not in wrong]
        given = Constraints(n_rows, given.must_link, kept)
    return Evidence(n_rows, given)
