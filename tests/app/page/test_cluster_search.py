"""The search for clusters: by a name, a number, or the name of a row."""

import numpy as np
import pytest

import linkwise as lw
from app.page.test_presenter import answer, ask, make_presenter, refused, rows_of
from fixed_labels import FixedLabels
from linkwise.app.page.cards import RowView
from linkwise.app.page.content import MOST_CLUSTERS
from linkwise.app.page.presenter import Presenter
from linkwise.app.project.cluster_search import MOST_HITS, cluster_names, create_matcher, find_rows
from linkwise.data.show.items import text_items, value_items


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("red", ["Reds", "dark red"]),
        (" DARK   red ", ["dark red"]),
        ("12", ["Cluster 12", "row 12", "a12b"]),
        ("cluster 1", ["Cluster 1"]),
        ("cluster", ["Cluster 1", "Cluster 12", "Cluster 112"]),
        ("2", []),
        ("r 1", ["Cluster 1"]),
        (".", []),
        ("", []),
        ("  ", []),
    ],
)
def test_a_text_is_found_anywhere_and_a_number_only_as_a_whole(text, found):
    names = ["Reds", "dark red", "Cluster 1", "Cluster 12", "Cluster 112", "row 12", "a12b"]
    assert [name for name in names if create_matcher(text)(name)] == found


def test_rows_are_found_by_cluster_and_the_first_of_them_are_listed():
    labels = np.array([0, 1, 0, 0, 0, -1, 1], dtype=np.int32)
    hits = find_rows(create_matcher("a"), ["a", "b", "A", "aa", "xa", "a", "c"].__getitem__, labels)
    assert {cluster: (hit.count, hit.rows) for cluster, hit in hits.items()} == {
        0: (4, [0, 2, 3]),
        -1: (1, [5]),
    }
    assert MOST_HITS == 3


def crowd(n_clusters):
    """Clusters of three rows and more, the later ones the larger."""
    labels = np.repeat(np.arange(n_clusters), 3 + np.arange(n_clusters) // 100)
    X = np.arange(len(labels), dtype=float)[:, None]
    session = lw.Session(X, FixedLabels(labels))
    return Presenter(session, X, RowView(value_items(X, ["x"])), title=""), labels


def test_clusters_are_called_by_name_and_by_number_and_noise_is_noise():
    assert [cluster_names(3, "reds"), cluster_names(-1, "")] == [("reds", "Cluster 3"), ("", "Noise")]


def test_what_is_found_by_row():
    presenter = make_presenter()
    answer(presenter, 20)
    labels = rows_of(presenter)
    body = ask(presenter, "find", text="row 77").body
    assert body["labels"] == presenter.state()["labels"]
    assert body["rows"] == [{"cluster": int(labels[77]), "count": 1, "rows": [77], "names": ["row 77"]}]
    assert (body["clusters"], body["more"]) == ([], 0)
    body = ask(presenter, "find", text="row").body
    assert {hit["cluster"]: hit["count"] for hit in body["rows"]} == dict(
        zip(*(found.tolist() for found in np.unique(labels, return_counts=True)), strict=True)
    )
    assert ask(presenter, "find", text="").body["rows"] == []


def test_what_is_found_by_the_text_of_a_row():
    texts = ["red apple", "green pear", "blue plum", "an apple tart"]
    labels = np.array([0, 0, 1, 1])
    X = np.arange(4.0)[:, None]
    presenter = Presenter(lw.Session(X, FixedLabels(labels)), X, RowView(text_items(texts)), title="")
    found = ask(presenter, "find", text="Apple").body["rows"]
    assert [(hit["cluster"], hit["rows"]) for hit in found] == [(0, [0]), (1, [3])]
    assert [hit["rows"] for hit in ask(presenter, "find", text="row 2").body["rows"]] == [[2]]


def test_clusters_that_are_not_listed_are_found():
    presenter, labels = crowd(300)
    listed = {c["cluster"] for c in presenter.state()["clusters"]}
    assert len(listed) == MOST_CLUSTERS
    row = int(np.flatnonzero(labels == 8)[0])
    for text, numbers in (("cluster 7", {7}), ("7", {7, int(labels[7])}), (f"row {row}", {8})):
        assert not numbers & listed
        found = ask(presenter, "find", text=text).body["clusters"]
        assert {c["cluster"]: c["size"] for c in found} == dict.fromkeys(numbers, 3)
    ask(presenter, "name", cluster=9, name="Odd ones")
    assert [c["cluster"] for c in ask(presenter, "find", text="odd").body["clusters"]] == [9]
    body = ask(presenter, "find", text="cluster").body
    assert (len(body["clusters"]), body["more"]) == (100, 0)
    assert len(ask(presenter, "find", text="row").body["rows"]) == 300


def test_of_a_great_many_clusters_some_are_described_and_the_rest_is_counted():
    presenter, _ = crowd(500)
    body = ask(presenter, "find", text="cluster").body
    assert (len(body["clusters"]), body["more"]) == (MOST_CLUSTERS, 100)


@pytest.mark.parametrize("text", [None, 3, "a" * 201, "\x1b[31m", ["a"]])
def test_what_is_no_text_is_not_searched(text):
    assert refused(make_presenter(), do="find", text=text)["kind"] == "bad"


def test_the_rows_with_an_answer_are_counted():
    presenter, labels = crowd(3)
    assert {c["cluster"]: c["answered"] for c in presenter.state()["clusters"]} == {0: 0, 1: 0, 2: 0}
    answer(presenter, 5, lw.TruthOracle(labels))
    assert {c["cluster"]: c["answered"] for c in presenter.state()["clusters"]} == {0: 3, 1: 3, 2: 0}
    ask(presenter, "undo")
    assert {c["cluster"]: c["answered"] for c in presenter.state()["clusters"]} == {0: 3, 1: 2, 2: 0}
