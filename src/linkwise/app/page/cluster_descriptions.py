"""Descriptions of clusters: rules on columns, or the words of texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import NDArray

from linkwise.constraints.constraints import Constraints
from linkwise.data import Encoded, Items
from linkwise.data.show.items import SideTable
from linkwise.reasons.explanation import explain
from linkwise.reasons.profiles import Profiles, create_profiler, create_text_profiler
from linkwise.reasons.rules import Name
from linkwise.reasons.sentences import describe_cluster, describe_rules
from linkwise.reasons.shown_clusters import describe_shown_clusters
from linkwise.reasons.telling_words import telling_words
from linkwise.types import Labels


class ClusterDescriptions(NamedTuple):
    """Descriptions of all clusters: lines about each, and everything as a text for a file.

    `fidelity` is the share of the rows that the rules put into their clusters; None without rules.
    `notes` tell what was chosen and what was left out.
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


def describe_by_side_table(
    labels: Labels, X: NDArray[Any], side: SideTable, name: Callable[[int], str]
) -> ClusterDescriptions:
    """Describe clusters by a table that is only shown, and by their typical rows."""

    def show(row: int) -> str:
        seen = side.cells(row).values() if side.texts is None else (side.texts[row],)
        return " ".join((name(row), ", ".join(seen)))

    found = describe_shown_clusters(labels, X, side.columns, side.texts)
    lines = {one.cluster: one.lines(show) for one in found}
    note = f"{side.file} is only shown. These are its columns and words that differ, and typical rows."
    text = "\n\n".join("\n".join(each) for each in lines.values())
    return ClusterDescriptions(lines, None, [note], text)


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
    side = items.side
    if side is not None and side.texts is not None and items.kind == "record":
        by_words = create_text_profiler(side.texts.__getitem__, n_rows)
        return by_words if columns is None else _join_profilers(create_profiler(columns), by_words)
    if columns is not None:
        return create_profiler(columns)
    if items.holds_words:
        return create_text_profiler(lambda row: str(items.content(row)), n_rows)
    return None


def _join_profilers(
    first: Callable[[Labels], Profiles], second: Callable[[Labels], Profiles]
) -> Callable[[Labels], Profiles]:
    """Return a function that joins two lines about each cluster."""

    def profile(labels: Labels) -> Profiles:
        others = second(labels)
        return {
            number: " · ".join(filter(None, (text, others.get(number, ""))))
            for number, text in first(labels).items()
        }

    return profile
