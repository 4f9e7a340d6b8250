"""An explanation in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from linkwise.data import Feature
from linkwise.reasons.clauses import shown_word
from linkwise.reasons.rule_set import RuleSet
from linkwise.reasons.rules import ClusterRules, Rule
from linkwise.wording import count_noun, join_names


def percent(share: float) -> str:
    """Per cent, of which all and nothing are said only where they are true."""
    whole = round(100 * share)
    if share < 1 and whole == 100:
        return f"{100 * share:.1f}%" if share < 0.9995 else "over 99.9%"
    return f"{whole}%" if whole or share == 0 else "under 1%"


def in_words(found: RuleSet) -> str:
    """All rules, cluster by cluster."""
    return "\n".join([headline(found), *(line for c in found.clusters for line in ["", *cluster_lines(c)])])


def what_counts(shares: ArrayLike, features: Sequence[Feature], most: int = 5) -> str:
    """The columns that count most in a learned distance, those of one source column together.

    Parameters
    ----------
    shares : array-like of shape (n_features,)
        Of the columns of the matrix; they add up to 1.
    features : sequence of Feature
    most : int
        Columns that are named.
    """
    total = shares_by_column(shares, features)
    named = sorted(total.items(), key=lambda item: -item[1])
    told = ", ".join(f"{name} {percent(share)}" for name, share in named[:most])
    rest = sum(share for _, share in named[most:])
    more = f", {count_noun(len(named) - most, 'more column')} {percent(rest)}" if len(named) > most else ""
    return f"What counts in the learned distance: {told}{more}."


def shares_by_column(shares: ArrayLike, features: Sequence[Feature]) -> dict[str, float]:
    """How much each column of the table counts."""
    total: dict[str, float] = {}
    for feature, share in zip(features, np.asarray(shares).tolist(), strict=True):
        total[feature.source] = total.get(feature.source, 0.0) + share
    return total


def headline(found: RuleSet) -> str:
    """How many rules there are, and how far they can be trusted."""
    n, rows = len(found.rules), count_noun(found.n_rows, "row")
    if found.is_the_clustering:
        return f"The clusters are {'this rule' if n == 1 else f'these {n} rules'}, for every one of {rows}."
    said = f"{count_noun(n, 'rule')} {'puts' if n == 1 else 'put'} {percent(found.fidelity)} of {rows}"
    said += f" into their cluster (the largest cluster alone: {percent(found.baseline)})."
    if found.fidelity < found.wanted:
        said += (
            f" No more than {found.max_leaves} rules were tried, which do not reach {percent(found.wanted)}."
        )
    return said if found.approximation is None else f"{said} Approximate: {found.approximation}."


def cluster_lines(cluster: ClusterRules) -> list[str]:
    """A cluster and its rules, a line each."""
    told = [f"cluster {shown_word(str(cluster.cluster))}: {count_noun(cluster.n_rows, 'row')}"]
    if not cluster.rules and cluster.n_rows:
        where = join_names(f"{shown_word(str(name))} ({n})" for name, n in cluster.told_as)
        return [f"{told[0]}, no rule of their own; they stand under {where}"]
    if cluster.n_rows and (cluster.cover < 1 or cluster.purity < 1):
        told.append(f"cover {percent(cluster.cover)}, purity {percent(cluster.purity)}")
    joins = [
        "  if " if cluster.rules and cluster.rules[0].clauses else "  ",
        *["  or "] * (len(cluster.rules) - 1),
    ]
    lines = [f"{join}{rule}   ({reach(rule)})" for join, rule in zip(joins, cluster.rules, strict=True)]
    return [", ".join(told), *lines]


def reach(rule: Rule) -> str:
    """Rows and constraints that a rule is about."""
    said = count_noun(rule.n_rows, "row")
    if rule.n_right < rule.n_rows:
        said += f", {rule.n_right} right"
    if rule.n_constraints:
        said += f"; {rule.n_satisfied} of {count_noun(rule.n_constraints, 'pair')}"
    return said
