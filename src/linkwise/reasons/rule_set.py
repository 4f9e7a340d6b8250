"""The rules of a clustering as a value, for drawings, plots and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster.trees.tree import Tree
from linkwise.reasons.clauses import Clause
from linkwise.reasons.rules import ClusterRules, Rule


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet:
    """Rules that describe a clustering, the tree that they come from, and how far they hold.

    Attributes
    ----------
    clusters : tuple of ClusterRules
        Rules, recall and precision of each cluster, in the order of the labels.
    tree : Tree
        The tests, in the units of X; its labels are positions in `clusters`.
    clauses : mapping of int to Clause
        The clause that holds for the answer yes at each inner node, in the user's units. Its number is as
        round as possible while it divides the rows of X at this node as the test does.
    labels : ndarray of shape (n_rows,)
        The clustering that is described.
    leaf_of : ndarray of shape (n_rows,)
        Node of the tree that each row reaches.
    fidelity : float
        Share of the rows that the rules put into their cluster.
    baseline : float
        Share of the rows in the largest cluster: the fidelity of no rule at all.
    is_the_clustering : bool
        Whether these rules made the clustering, as in ClusILC, rather than describe it.
    wanted : float
        The fidelity to reach; `fidelity` is lower if `max_leaves` rules do not suffice.
    max_leaves : int
        Largest number of rules that were tried.
    approximation : str or None
        What was not computed exactly: of many rows the tree grows on a sample. Counts, recall,
        precision and fidelity are of all rows.
    notes : tuple of str
        What was left out or chosen when the table was read.
    """

    clusters: tuple[ClusterRules, ...]
    tree: Tree
    clauses: Mapping[int, Clause]
    labels: NDArray[Any]
    leaf_of: NDArray[np.int32]
    fidelity: float
    baseline: float
    is_the_clustering: bool
    wanted: float = 0.0
    max_leaves: int = 0
    approximation: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, cluster by cluster."""
        return tuple(rule for cluster in self.clusters for rule in cluster.rules)

    @property
    def n_rows(self) -> int:
        """Rows that are described."""
        return len(self.leaf_of)

    def rule_of(self, row: int) -> Rule:
        """Find the rule that holds for a row.

        Parameters
        ----------
        row : int
            The position of the row.

        Returns
        -------
        Rule
            The rule.
        """
        leaf = int(self.leaf_of[row])
        return next(rule for rule in self.rules if rule.leaf == leaf)
