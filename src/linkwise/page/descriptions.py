"""The clusters in words, for a page: rules on columns, or the words of texts."""

from __future__ import annotations

from typing import NamedTuple

from linkwise.asking.learner import Labels
from linkwise.constraints.constraints import Constraints
from linkwise.data import Encoded, Items
from linkwise.reasons.explanation import explain
from linkwise.reasons.rules import Name
from linkwise.reasons.sentences import describe_cluster, describe_rules
from linkwise.reasons.telling_words import telling_words


class Described(NamedTuple):
    """Clusters in words.

    Attributes
    ----------
    clusters : dict of str or int to list of str
        What is said of each cluster, line by line.
    fidelity : float or None
        Share of the rows that the rules put where they are; None where no rules are told.
    notes : list of str
        What was chosen or left out.
    text : str
        All of it, for a file.
    """

    clusters: dict[Name, list[str]]
    fidelity: float | None
    notes: list[str]
    text: str


def by_columns(labels: Labels, columns: Encoded, constraints: Constraints) -> Described:
    """Rules on the columns of a table."""
    found = explain(labels, columns, constraints=constraints if constraints.n_constraints else None)
    notes = [*found.notes, *([found.approximation] if found.approximation else [])]
    lines = {cluster.cluster: describe_cluster(cluster) for cluster in found.clusters}
    return Described(lines, found.fidelity, notes, describe_rules(found))


def by_words(labels: Labels, items: Items) -> Described:
    """The words that tell clusters of texts apart."""
    told = telling_words(labels, [str(items.content(row)) for row in range(len(labels))])
    lines = {cluster.cluster: cluster.lines() for cluster in told}
    text = "\n\n".join("\n".join(each) for each in lines.values())
    return Described(lines, None, ["These words tell the clusters apart best."], text)
