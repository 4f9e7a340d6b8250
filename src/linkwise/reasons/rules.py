"""Rules: the leaves of a tree as conditions on columns, with the rows that each of them covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster.trees.tree import Tree
from linkwise.constraints.constraints import Constraints
from linkwise.markup import draw_block
from linkwise.reasons.clauses import Clause, clauses_by_answer, merge_clauses
from linkwise.reasons.cluster_names import call_cluster
from linkwise.wording import count_noun

Name = str | int
"""The name of a cluster: its label as it was given."""


@dataclass(frozen=True, slots=True)
class Rule:
    """All rows for which some clauses hold; every row has one rule.

    Attributes
    ----------
    cluster : str or int
        The cluster of the rule.
    clauses : tuple of Clause
        At most one per column; an empty tuple means every row.
    leaf : int
        Node of the tree.
    n_rows : int
        Rows for which it holds.
    n_right : int
        Those of them that are in the cluster.
    n_constraints, n_satisfied : int
        Constraints with a row of the leaf, and those that the clustering satisfies.
    """

    cluster: Name
    clauses: tuple[Clause, ...]
    leaf: int
    n_rows: int
    n_right: int
    n_constraints: int = 0
    n_satisfied: int = 0

    def __str__(self) -> str:
        return " and ".join(map(str, self.clauses)) or "every row"

    def _repr_html_(self) -> str:
        return draw_block(
            call_cluster(self.cluster), [f"{self} ({self.n_right} of {self.n_rows} rows right)"]
        )


@dataclass(frozen=True, slots=True)
class ClusterRules:
    """A cluster with its rules.

    Attributes
    ----------
    cluster : str or int
    n_rows : int
        Rows of the cluster.
    rules : tuple of Rule
        Sorted by their number of rows, the largest first; empty if the tree is too small for the cluster.
    told_as : tuple of (str or int, int)
        Other clusters whose rules hold for rows of this one, and for how many.
    """

    cluster: Name
    n_rows: int
    rules: tuple[Rule, ...]
    told_as: tuple[tuple[Name, int], ...] = ()

    def _repr_html_(self) -> str:
        rows = [(str(rule), rule.n_rows, rule.n_right) for rule in self.rules]
        caption = f"{call_cluster(self.cluster)}: {count_noun(self.n_rows, 'row')}"
        return draw_block(caption, header=("rule", "rows", "right"), rows=rows)

    @property
    def recall(self) -> float:
        """Share of the cluster's rows for which one of its rules holds."""
        return sum(rule.n_right for rule in self.rules) / max(self.n_rows, 1)

    @property
    def precision(self) -> float:
        """Share of the rows of its rules that are in the cluster; NaN without such rows."""
        reached = sum(rule.n_rows for rule in self.rules)
        return sum(rule.n_right for rule in self.rules) / reached if reached else float("nan")


def make_rules(
    tree: Tree,
    clauses: Mapping[int, Clause],
    leaf: NDArray[np.int32],
    codes: NDArray[np.int32],
    names: Sequence[Name],
    constraints: Constraints | None = None,
) -> tuple[ClusterRules, ...]:
    """The rules of every cluster, of a tree with codes as labels.

    `clauses` has the clause for the answer yes at each inner node, `leaf` the leaf that each row reaches,
    and `codes` its cluster. Constraints are counted by leaf.
    """
    table = np.zeros((len(tree.tests), len(names)), dtype=np.int64)
    np.add.at(table, (leaf, codes), 1)
    touched, kept = _constraints_by_leaf(len(tree.tests), leaf, codes, constraints)
    by_answer = clauses_by_answer(clauses)
    rules = [
        Rule(
            names[tree.label[node]],
            merge_clauses(way, by_answer),
            node,
            int(table[node].sum()),
            int(table[node, tree.label[node]]),
            int(touched[node]),
            int(kept[node]),
        )
        for node, way in tree.ways()
    ]
    of_label = np.zeros((len(names), len(names)), dtype=np.int64)  # cluster of rows, cluster of their rule
    np.add.at(of_label, (codes, tree.label[leaf]), 1)
    found = []
    for code, name in enumerate(names):
        own = sorted((rule for rule in rules if rule.cluster == name), key=lambda rule: -rule.n_rows)
        elsewhere = [(names[c], int(of_label[code, c])) for c in np.argsort(-of_label[code], kind="stable")]
        strays = tuple((other, n) for other, n in elsewhere if n and other != name)
        found.append(ClusterRules(name, int(of_label[code].sum()), tuple(own), strays))
    return tuple(found)


def _constraints_by_leaf(
    n_nodes: int, leaf: NDArray[np.int32], codes: NDArray[np.int32], constraints: Constraints | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Constraints that have a row in each leaf, and those of them that the clustering satisfies."""
    touched, kept = np.zeros((2, n_nodes), dtype=np.int64)
    if constraints is None:
        return touched, kept
    broken = constraints.find_violations(codes)
    for pairs, wrong in zip((constraints.must_link, constraints.cannot_link), broken, strict=True):
        ends = leaf[pairs]
        for column, counts in ((0, np.ones(len(ends), bool)), (1, ends[:, 0] != ends[:, 1])):  # once a leaf
            np.add.at(touched, ends[counts, column], 1)
            np.add.at(kept, ends[counts & ~wrong, column], 1)
    return touched, kept


def as_dict(rules: ClusterRules) -> dict[str, Any]:
    """For JSON."""
    return {
        "cluster": rules.cluster,
        "rows": rules.n_rows,
        "recall": rules.recall,
        "precision": None if rules.precision != rules.precision else rules.precision,
        "rules": [
            {
                "if": [clause.as_dict() for clause in rule.clauses],
                "text": str(rule),
                "rows": rule.n_rows,
                "right": rule.n_right,
                "constraints": rule.n_constraints,
                "satisfied": rule.n_satisfied,
            }
            for rule in rules.rules
        ],
        "told_as": [{"cluster": cluster, "rows": rows} for cluster, rows in rules.told_as],
    }
