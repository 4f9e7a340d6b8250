"""Descriptions of clusters: rules on columns, or the words of texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from linkwise.asking.learner import Labels
from linkwise.constraints.constraints import Constraints
from linkwise.data import Encoded, Items
from linkwise.reasons.explanation import explain
from linkwise.reasons.profiles import Profiles, create_profiler, create_text_profiler
from linkwise.reasons.rules import Name
from linkwise.reasons.sentences import describe_cluster, describe_rules
from linkwise.reasons.telling_words import telling_words


class ClusterDescriptions(NamedTuple):
    """Descriptions of all clusters.

    Attributes
    ----------
    clusters : dict of str or int to list of str
        The lines about each cluster.
    fidelity : float or None
        Share of the rows that the rules put into their clusters; None without rules.
    notes : list of str
        What was chosen, and what was left out.
    text : str
        Everything, for a file.
    """

    clusters: dict[Name, list[str]]
    fidelity: float | None
    notes: list[str]
    text: str


def describe_by_rules(labels: Labels, columns: Encoded, constraints: Constraints) -> ClusterDescriptions:
    """Describe clusters by rules on the columns of a table."""
    found = explain(labels, columns, constraints=constraints if constraints.n_constraints else None)
    notes = [*found.notes, *([found.approximation] if found.approximation else [])]
    lines = {cluster.cluster: describe_cluster(cluster) for cluster in found.clusters}
    return ClusterDescriptions(lines, found.fidelity, notes, describe_rules(found))


def describe_by_words(labels: Labels, items: Items) -> ClusterDescriptions:
    """Describe clusters of texts by the words that distinguish them."""
    words = telling_words(labels, [str(items.content(row)) for row in range(len(labels))])
    lines = {cluster.cluster: cluster.lines() for cluster in words}
    text = "\n\n".join("\n".join(each) for each in lines.values())
    return ClusterDescriptions(lines, None, ["These words tell the clusters apart best."], text)


def choose_profiler(
    columns: Encoded | None, items: Items, n_rows: int
) -> Callable[[Labels], Profiles] | None:
    """Return a function that says in a line what distinguishes each cluster; None for other kinds of rows."""
    if columns is not None:
        return create_profiler(columns)
    if items.kind == "text":
        return create_text_profiler(lambda row: str(items.content(row)), n_rows)
    return None
