"""Descriptions of clusters within a number of lines."""

import numpy as np

import linkwise as lw
from linkwise.reasons.shortened import MOST_LINES, MOST_RULES, shorten_clusters, shorten_rules


def test_large_clusters_with_their_largest_rules_stay():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    labels = np.minimum(rng.geometric(0.3, 600), 12)
    found = lw.explain(labels, X, max_leaves=120)
    shown = shorten_rules(found.clusters)
    assert sum(1 + len(lines) for lines in shown.clusters) <= MOST_LINES
    assert max(len(lines) for lines in shown.clusters) <= MOST_RULES + 2
    assert shown.clusters[0][0].startswith("cluster 1: ")
    assert any("more rules (" in line for lines in shown.clusters for line in lines)
    assert shown.rest.endswith("--all shows everything.")
    everything = shorten_rules(found.clusters, show_all=True)
    assert sum(len(lines) - 1 for lines in everything.clusters) >= len(found.rules)


def test_a_few_lines_stay_as_they_are():
    clusters = [["cluster 0: 3 rows", "  a"], ["cluster 1: 9 rows", "  b"]]
    assert shorten_clusters(clusters, [3, 9]) == (clusters, "")


def test_the_largest_clusters_stay_in_their_order():
    clusters = [[f"cluster {at}: {at} rows", "  typical rows: r"] for at in range(40)]
    shown = shorten_clusters(clusters, list(range(40)))
    assert [lines[0] for lines in shown.clusters] == [lines[0] for lines in clusters[20:]]
    assert shown.rest == "20 more clusters are not described. --all shows everything."
