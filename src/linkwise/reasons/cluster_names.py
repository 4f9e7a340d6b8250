"""What explanations call a cluster."""

from __future__ import annotations

from linkwise.reasons.clauses import quote_word

NOISE = -1


def name_cluster(cluster: object) -> str:
    """``3``, ``"red, or blue"``; ``no cluster`` for the rows with label -1."""
    return "no cluster" if cluster == NOISE else quote_word(str(cluster))


def call_cluster(cluster: object) -> str:
    """``cluster 3``, ``cluster "red, or blue"``; ``no cluster`` for the rows with label -1."""
    name = name_cluster(cluster)
    return name if cluster == NOISE else f"cluster {name}"
