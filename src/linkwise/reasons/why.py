"""Why two rows are together, or apart.

Answers come first, with all that follows from them. If no answer decides about the two rows, a method may
have treated many rows as one; then answers about their representatives may decide. Otherwise the columns
decided, and the rules of an explanation show how.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.constraints.checks import check_row
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Fact
from linkwise.errors import ConstraintError
from linkwise.markup import draw_block
from linkwise.reasons.clauses import Clause
from linkwise.reasons.cluster_names import NOISE, call_cluster, name_cluster
from linkwise.reasons.explanation import Explanation, last_step, read_labels
from linkwise.reasons.rules import Name, Rule
from linkwise.reasons.sentences import format_percent
from linkwise.wording import count_noun, merge_full_stops

By = Literal["answers", "parts", "rules", "nothing"]
Call = Callable[[int], str]
"""The name of a row."""


@dataclass(frozen=True, slots=True, repr=False)
class Why:
    """Why two rows are together, or apart; `print` shows it in words.

    Attributes
    ----------
    first, second : int
        Positions of the two rows.
    clusters : tuple of (str, int or None)
        The clusters of `first` and of `second`; None for a row that the clusterer leaves in no cluster.
    by : {"answers", "parts", "rules", "nothing"}
        The reason: answers that determine the relation of the two rows ("answers"); answers about the parts
        that contain them, or the fact that one part contains both ("parts"); the rules of an explanation
        ("rules"); or no known reason ("nothing"). A part is a super-instance or an item.
    facts : tuple of Fact
        The shortest chain of answers from which the relation follows.
    parts : tuple of (int, int)
        For `first` and for `second` the representative of its part, and the number of rows in the part;
        empty if the method does not treat many rows as one.
    moved : tuple of Fact
        Answers that took `first` or `second` out of its part.
    against : tuple of Fact
        Answers that the clustering breaks.
    unsure : bool
        Whether the answer about the rows, or about their representatives, is "unsure".
    rules : tuple of Rule
        The rules of the explanation for `first` and for `second`.
    parted_by : Clause or None
        The test at which their paths through the explanation's tree separate: only one of the rows passes it.
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

    def _repr_html_(self) -> str:
        first, *others = self.sentences()
        return draw_block(first, others)

    def sentences(self, names: Call | Sequence[object] = str) -> list[str]:
        """The reason in words.

        Parameters
        ----------
        names : callable or sequence
            The name of a row: ``names(row)``, or ``names[row]``.

        Returns
        -------
        list of str
            The sentences.
        """
        call: Call = names if callable(names) else lambda row: str(names[row])
        one, other = call(self.first), call(self.second)
        if self.together:
            lines = [f"{one} and {other} are together, in {call_cluster(self.clusters[0])}."]
        else:
            here, there = (call_cluster(NOISE if c is None else c) for c in self.clusters)
            lines = [f"{one} ({here}) and {other} ({there}) are apart."]
        if self.against:
            lines.append(f"This contradicts answers: {chain(self.against, call)}.")
        if self.by == "answers":
            lines.append(f"Answers decide: {chain(self.facts, call)}.")
        else:
            lines += self._by_parts(call)
        return [*map(merge_full_stops, lines + self._by_rules(one, other))]

    def _by_parts(self, call: Call) -> list[str]:
        """Sentences about the parts that hold the rows, if there are parts."""
        lines = []
        if self.moved:
            lines.append(
                f"Answers took {call(self.moved[0].first)} out of its part: {chain(self.moved, call)}."
            )
        if len(self.parts) == 2 and self.parts[0] == self.parts[1] and self.together and not self.facts:
            lead, size = self.parts[0]
            return [
                *lines,
                f"They are in one part of {count_noun(size, 'row')}, represented by {call(lead)}.",
            ]
        for row, (lead, size) in zip((self.first, self.second), self.parts, strict=False):
            if size > 1:
                by = "by itself" if lead == row else f"by {call(lead)}"
                lines.append(f"{call(row)} is in a part of {size} rows, represented {by}.")
        if self.facts:
            return [*lines, f"Answers about rows of these parts decide: {chain(self.facts, call)}."]
        if self.unsure:
            return [*lines, "The answer about them was unsure."]
        return [*lines, "No answer compares these two parts."] if self.parts and not self.moved else lines

    def _by_rules(self, one: str, other: str) -> list[str]:
        if not self.rules:
            return []
        first, second = self.rules
        how = f"The rules (right for {format_percent(self.fidelity)} of the rows)"
        if (first.cluster == second.cluster) != (self.clusters[0] == self.clusters[1]):
            called = [NOISE if cluster is None else cluster for cluster in self.clusters]
            rows = zip((one, other), self.rules, called, strict=True)
            strays = [
                f"{row} under {name_cluster(rule.cluster)}" for row, rule, own in rows if rule.cluster != own
            ]
            return [f"{how} do not show it: they put {' and '.join(strays)}."]
        if first.leaf == second.leaf:
            return [f"{how} describe both: {first}."]
        lines = [f"{how} describe {one}: {first}.", f"They describe {other}: {second}."]
        return lines if self.parted_by is None else [*lines, f"Only one of them has: {self.parted_by}."]


def chain(facts: tuple[Fact, ...], call: Call = str) -> str:
    """Write answers, each of which begins where the previous one ends, as ``a = b = c ≠ d``."""
    signs = {"yes": "=", "no": "≠", "unsure": "?"}
    return call(facts[0].first) + "".join(f" {signs[fact.answer]} {call(fact.second)}" for fact in facts)


def why(
    clustering: Any,
    first: int,
    second: int,
    *,
    constraints: Constraints | Evidence | None = None,
    representatives: ArrayLike | None = None,
    explanation: Explanation | None = None,
) -> Why:
    """Explain why two rows are in one cluster, or in two.

    Parameters
    ----------
    clustering : array-like of shape (n_rows,), or fitted clusterer
        Labels, an estimator with ``labels_``, or a pipeline that ends in one.
    first, second : int
        Two different rows.
    constraints : Constraints or Evidence, optional
        What is known about pairs; by default the ``constraints_`` of the clusterer. Cannot-links that
        contradict must-links are left out.
    explanation : Explanation, optional
        Rules for the same clustering.
    representatives : array-like of shape (n_rows,), optional
        For each row its representative, if the method treats many rows as one, as COBRAS does with the rows
        of a super-instance.

    Returns
    -------
    Why
        The reason; `print` shows it.

    Raises
    ------
    ConstraintError
        `first` and `second` are the same row.

    Examples
    --------
    >>> import linkwise as lw
    >>> c = lw.Constraints(5, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)])
    >>> print(lw.why([0, 0, 0, 1, 1], 0, 3, constraints=c))
    0 (cluster 0) and 3 (cluster 1) are apart.
    Answers decide: 0 = 1 = 2 ≠ 3.
    """
    labels = read_labels(clustering)
    i, j = (check_row(row, len(labels)) for row in (first, second))
    if i == j:
        raise ConstraintError(f"Row {i} is compared with itself. Pass two different rows.")
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
    found: dict[str, Any] = {"against": relation.because if relation.verdict in ("yes", "no") else ()}
    found["unsure"] = relation.verdict == "unsure"
    if representatives is not None:
        found |= _by_parts(known, labels, _checked_representatives(representatives, len(labels)), i, j)
    rules = by_rules.get("rules", ())
    shown = bool(rules) and (rules[0].cluster == rules[1].cluster) == (one == other)
    by: By = "parts" if found.get("parts") else "rules" if shown else "nothing"
    return Why(i, j, clusters, by, **found, **by_rules)


# ---------------------------------------------------------------- parts
class Part(NamedTuple):
    """The rows that are treated as one with a row and are still where it is; itself alone if it was moved."""

    lead: int
    rows: NDArray[np.intp]
    moved: bool


def _part(labels: NDArray[Any], representatives: NDArray[np.int64], row: int) -> Part:
    lead = int(representatives[row])
    if labels[row] != labels[lead]:
        return Part(row, np.array([row]), True)
    return Part(lead, np.flatnonzero((representatives == lead) & (labels == labels[row])), False)


def _by_parts(
    known: Evidence, labels: NDArray[Any], representatives: NDArray[np.int64], i: int, j: int
) -> dict[str, Any]:
    """The fields of `Why` about the parts that hold two rows."""
    one, other = _part(labels, representatives, i), _part(labels, representatives, j)
    together = bool(labels[i] == labels[j])
    found: dict[str, Any] = {"parts": tuple((part.lead, len(part.rows)) for part in (one, other))}
    if together and not one.moved and one.lead == other.lead:
        return found
    pair = _deciding_pair(known, one, other, "yes" if together else "no")
    if pair is not None:
        found["facts"] = known.relation(*pair).because
    else:
        found["unsure"] = known.verdict(one.lead, other.lead) == "unsure" or known.verdict(i, j) == "unsure"
        for row, part in ((i, one), (j, other)):
            if part.moved and (reason := _moving_answers(known, labels, representatives, row)):
                found["moved"] = reason
    return found


def _deciding_pair(known: Evidence, one: Part, other: Part, wanted: str) -> tuple[int, int] | None:
    """Two rows of two parts with the wanted verdict, the representatives first; None if there are none."""
    if one.lead != other.lead and known.verdict(one.lead, other.lead) == wanted:
        return one.lead, other.lead
    groups = known.groups()
    here, there = (np.flatnonzero(np.isin(groups.row, part.rows)) for part in (one, other))
    for a in here.tolist():
        for b in there.tolist():
            first, second = int(groups.row[a]), int(groups.row[b])
            if first != second and known.verdict(first, second) == wanted:
                return first, second
    return None


def _moving_answers(
    known: Evidence, labels: NDArray[Any], representatives: NDArray[np.int64], row: int
) -> tuple[Fact, ...]:
    """The answers that hold a row apart from a row that is still in its part."""
    lead = int(representatives[row])
    stayed = np.flatnonzero((representatives == lead) & (labels == labels[lead]))
    pair = _deciding_pair(known, Part(row, np.array([row]), True), Part(lead, stayed, False), "no")
    return () if pair is None else known.relation(*pair).because


# ---------------------------------------------------------------- rules
def _by_rules(explanation: Explanation, labels: NDArray[Any], i: int, j: int) -> dict[str, Any]:
    """The fields of `Why` about the rules for two rows."""
    if len(explanation.labels) != len(labels) or (explanation.labels != labels).any():
        raise ValueError("The explanation belongs to another clustering. Make a new one: explain(labels, X).")
    return {
        "rules": (explanation.rule_of(i), explanation.rule_of(j)),
        "parted_by": dividing_clause(explanation, i, j),
        "fidelity": explanation.fidelity,
    }


def dividing_clause(explanation: Explanation, i: int, j: int) -> Clause | None:
    """The test at which the paths of two rows part, as the clause that holds for one; None: nowhere."""
    ways = dict(explanation.tree.ways())
    one, other = (ways[int(explanation.leaf_of[row])] for row in (i, j))
    return next(
        (explanation.clauses[node] for (node, a), (_, b) in zip(one, other, strict=False) if a != b), None
    )


# ---------------------------------------------------------------- checks
def _checked_representatives(representatives: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    found = np.asarray(representatives)
    if found.shape != (n_rows,) or found.dtype.kind not in "iu":
        raise ValueError(
            f"representatives has shape {found.shape} and dtype {found.dtype}. Pass one row position "
            f"for each of {n_rows} rows."
        )
    return found.astype(np.int64)


def _evidence(given: Constraints | Evidence | None, n_rows: int) -> Evidence:
    """What is known of pairs of rows."""
    if given is not None and not isinstance(given, (Constraints, Evidence)):
        raise TypeError(f"The constraints are a {type(given).__name__}. Pass Constraints or Evidence.")
    if given is not None and given.n_rows != n_rows:
        raise ValueError(
            f"The constraints are about {given.n_rows} rows, but the clustering is about {n_rows}. "
            "Pass constraints about the same rows."
        )
    if isinstance(given, Evidence):
        return given
    if given is not None and len(given.conflicts):
        wrong = {tuple(pair) for pair in given.conflicts.tolist()}
        kept = [pair for pair in given.cannot_link.tolist() if tuple(pair) not in wrong]
        given = Constraints(n_rows, given.must_link, kept)
    return Evidence(n_rows, given)
