"""Descriptions of clusters that fit a few screens: the largest clusters and the rules of the most rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwise.reasons.rules import ClusterRules
from linkwise.reasons.sentences import describe_cluster
from linkwise.wording import count_noun

MOST_LINES = 60
MOST_RULES = 3  # of a cluster, if all do not fit
HINT = "--all shows everything."


class Shortened(NamedTuple):
    """The lines about each cluster that is shown, in their order, and a sentence about the others."""

    clusters: list[list[str]]
    rest: str


def shorten_rules(clusters: Sequence[ClusterRules], *, show_all: bool = False) -> Shortened:
    """Describe clusters by their rules in at most 60 lines: first the large clusters with their large rules.

    With `show_all` there is no limit.
    """
    described = [describe_cluster(cluster) for cluster in clusters]
    if show_all or _count_lines(described) <= MOST_LINES:
        return Shortened(described, "")
    cut = [_leave_out_rules(cluster, lines) for cluster, lines in zip(clusters, described, strict=True)]
    return _keep_largest(cut, [cluster.n_rows if cluster.rules else -1 for cluster in clusters])


def shorten_clusters(
    clusters: Sequence[list[str]], sizes: Sequence[int], *, show_all: bool = False
) -> Shortened:
    """Show the lines about the clusters with the most rows, in at most 60 lines."""
    if show_all or _count_lines(clusters) <= MOST_LINES:
        return Shortened(list(clusters), "")
    return _keep_largest(clusters, sizes)


def _leave_out_rules(cluster: ClusterRules, lines: list[str]) -> list[str]:
    """Keep the rules of the most rows."""
    left = cluster.rules[MOST_RULES:]
    if not left:
        return lines
    n_rows = sum(rule.n_rows for rule in left)
    more = f"  and {count_noun(len(left), 'more rule')} ({count_noun(n_rows, 'row')})"
    return [*lines[: 1 + MOST_RULES], more]


def _keep_largest(clusters: Sequence[list[str]], sizes: Sequence[int]) -> Shortened:
    kept: set[int] = set()
    left = MOST_LINES
    for at in sorted(range(len(clusters)), key=lambda at: -sizes[at]):
        left -= 1 + len(clusters[at])
        if left < 0:
            break
        kept.add(at)
    n_left = len(clusters) - len(kept)
    noun = "more cluster is" if n_left == 1 else "more clusters are"
    rest = f"{n_left} {noun} not described. {HINT}" if n_left else f"Some rules are left out. {HINT}"
    return Shortened([lines for at, lines in enumerate(clusters) if at in kept], rest)


def _count_lines(clusters: Sequence[list[str]]) -> int:
    return sum(1 + len(lines) for lines in clusters)
