"""Explanations call the rows with label -1 no cluster, in rules as in sentences."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.reasons.cluster_names import call_cluster


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        (3, "cluster 3"),
        (np.int32(-1), "no cluster"),
        ("-1", "cluster -1"),
        ("red, or blue", 'cluster "red, or blue"'),
    ],
)
def test_a_cluster_is_called_by_its_label(cluster, words):
    assert call_cluster(cluster) == words


def test_rules_say_which_rows_are_in_no_cluster():
    X = np.arange(60.0)[:, None]
    labels = np.repeat([0, 1, -1], 20)
    explained = lw.explain(labels, X, feature_names=["size"])
    text = str(explained)
    assert "no cluster: 20 rows" in text
    assert "cluster -1" not in text
    assert "no cluster" in explained._repr_html_()
    assert ">-1<" not in explained._repr_html_()
    for part in (explained.clusters[0], explained.clusters[0].rules[0]):
        assert "no cluster" in part._repr_html_()
