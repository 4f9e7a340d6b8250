"""An explanation in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from linkwise.data import Feature
from linkwise.markup import draw_block
from linkwise.reasons.cluster_names import call_cluster, name_cluster
from linkwise.reasons.rule_set import RuleSet
from linkwise.reasons.rules import ClusterRules, Rule
from linkwise.wording import count_noun, join_names


def format_percent(share: float) -> str:
    """A share in per cent; 100% and 0% only for exactly 1 and 0."""
    whole = round(100 * share)
    if share < 1 and whole == 100:
        return f"{100 * share:.1f}%" if share < 0.9995 else "over 99.9%"
    return f"{whole}%" if whole or share == 0 else "under 1%"


def describe_rules(found: RuleSet) -> str:
    """All rules, cluster by cluster."""
    return "\n".join(
        [headline(found), *(line for c in found.clusters for line in ["", *describe_cluster(c)])]
    )


def draw_rules(found: RuleSet) -> str:
    """All rules as a table for notebooks."""
    rows: list[tuple[str, str, str | int]] = []
    for cluster in found.clusters:
        name = name_cluster(cluster.cluster)
        if not cluster.rules:
            rows.append((name, "no rule of its own", cluster.n_rows))
        rows += [(name, str(rule), describe_reach(rule)) for rule in cluster.rules]
    return draw_block(headline(found), found.notes, header=("cluster", "rule", "rows"), rows=rows)


def describe_shares(shares: ArrayLike, features: Sequence[Feature], most: int = 5) -> str:
    """The columns with the `most` largest shares in a learned distance.

    Those of one source column are added up.
    """
    total = shares_by_column(shares, features)
    named = sorted(total.items(), key=lambda item: -item[1])
    largest = ", ".join(f"{name} {format_percent(share)}" for name, share in named[:most])
    rest = sum(share for _, share in named[most:])
    n_more = len(named) - most
    more = f", {count_noun(n_more, 'more column')} {format_percent(rest)}" if n_more > 0 else ""
    return f"What counts in the learned distance: {largest}{more}."


def shares_by_column(shares: ArrayLike, features: Sequence[Feature]) -> dict[str, float]:
    """The share of each column of the table."""
    total: dict[str, float] = {}
    for feature, share in zip(features, np.asarray(shares).tolist(), strict=True):
        total[feature.source] = total.get(feature.source, 0.0) + share
    return total


def headline(found: RuleSet) -> str:
    """The number of rules, and how far they hold."""
    n, rows = len(found.rules), count_noun(found.n_rows, "row")
    if found.is_the_clustering:
        return f"The clusters are {'this rule' if n == 1 else f'these {n} rules'}, for every one of {rows}."
    text = f"{count_noun(n, 'rule')} {'puts' if n == 1 else 'put'} {format_percent(found.fidelity)} of {rows}"
    text += f" into their cluster (the largest cluster alone: {format_percent(found.baseline)})."
    if found.fidelity < found.wanted:
        wanted = format_percent(found.wanted)
        text += f" No more than {found.max_leaves} rules were tried, which do not reach {wanted}."
    return text if found.approximation is None else f"{text} Approximate: {found.approximation}."


def describe_cluster(cluster: ClusterRules) -> list[str]:
    """Lines about a cluster, one for each rule."""
    parts = [f"{call_cluster(cluster.cluster)}: {count_noun(cluster.n_rows, 'row')}"]
    if not cluster.rules and cluster.n_rows:
        where = join_names(f"{name_cluster(name)} ({n})" for name, n in cluster.told_as)
        return [f"{parts[0]}, no rule; the rules put them into {where}"]
    if cluster.n_rows and (cluster.recall < 1 or cluster.precision < 1):
        parts.append(
            f"recall {format_percent(cluster.recall)}, precision {format_percent(cluster.precision)}"
        )
    joins = [
        "  if " if cluster.rules and cluster.rules[0].clauses else "  ",
        *["  or "] * (len(cluster.rules) - 1),
    ]
    lines = [
        f"{join}{rule}   ({describe_reach(rule)})" for join, rule in zip(joins, cluster.rules, strict=True)
    ]
    return [", ".join(parts), *lines]


def describe_reach(rule: Rule) -> str:
    """The number of rows and constraints of a rule."""
    text = count_noun(rule.n_rows, "row")
    if rule.n_right < rule.n_rows:
        text += f", {rule.n_right} right"
    if rule.n_constraints:
        text += f"; {rule.n_satisfied} of {count_noun(rule.n_constraints, 'pair')}"
    return text
