"""`extract`: every kind of hierarchy, and those that are none."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import HDBSCAN, OPTICS, AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.native.agglomerate import LINKAGES
from reference import fosc as reference

X, Y = make_blobs(120, centers=4, cluster_std=1.2, random_state=0)
C = lw.Constraints.sample(Y, 30, 0)
GOLDEN = sorted((Path(__file__).parents[2] / "golden" / "fosc").glob("*.json"))


def agree(one, other):
    np.testing.assert_array_equal(np.asarray(one) < 0, np.asarray(other) < 0)
    assert adjusted_rand_score(one, other) == 1


def satisfied(labels, constraints):
    alone = np.where(labels < 0, len(labels) + np.arange(len(labels)), labels)
    return constraints.n_constraints - sum(int(broken.sum()) for broken in constraints.find_violations(alone))


# ---------------------------------------------------------------- what holds a hierarchy
@pytest.mark.parametrize("name", LINKAGES)
def test_one_hierarchy_in_many_forms(name):
    matrix = linkage(X, name)
    known = lw.extract(matrix, C)
    assert known.dtype == np.int32
    for other in (
        matrix.tolist(),
        pd.DataFrame(matrix),
        AgglomerativeClustering(1, linkage=name, compute_distances=True).fit(X),
        lw.ConstrainedAgglomerative(1, linkage=name).fit(X),
    ):
        agree(lw.extract(other, C), known)


@pytest.mark.parametrize("hierarchy", ["optics", "hdbscan"])
def test_fosc_holds_its_own(hierarchy):
    model = lw.FOSC(hierarchy=hierarchy).fit(X)
    for constraints in (None, C):
        for ties in ("stability", "larger"):
            fitted = lw.FOSC(hierarchy=hierarchy, ties=ties).fit(X, constraints=constraints)
            np.testing.assert_array_equal(lw.extract(model, constraints, ties=ties), fitted.labels_)


@pytest.mark.parametrize("min_samples", [1, 4, 9])
def test_fosc_knows_its_size(min_samples):
    model = lw.FOSC(min_samples=min_samples).fit(X)
    np.testing.assert_array_equal(lw.extract(model), model.labels_)


def test_scikit_learns_hdbscan_knows_its_size():
    model = HDBSCAN(min_cluster_size=7, min_samples=4, copy=True).fit(X)
    ours = lw.FOSC(7, min_samples=4, hierarchy="hdbscan")
    np.testing.assert_array_equal(lw.extract(model, C), ours.fit(X, constraints=C).labels_)
    np.testing.assert_array_equal(
        lw.extract(model, C, min_cluster_size=12),
        ours.set_params(min_cluster_size=12).fit(X, constraints=C).labels_,
    )


def test_the_package_hdbscan():
    """Its tree is an object with to_numpy."""
    tree = SimpleNamespace(to_numpy=lambda: linkage(X, "single"))
    known = lw.extract(linkage(X, "single"), C, min_cluster_size=5)
    agree(lw.extract(SimpleNamespace(single_linkage_tree_=tree, min_cluster_size=5), C), known)
    agree(lw.extract(tree, C, min_cluster_size=5), known)


def test_scikit_learns_optics():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    y = np.random.default_rng(1).integers(0, 2, 40)
    c = lw.Constraints.sample(y, 15, 0)
    model = OPTICS(min_samples=3).fit(rows)
    labels = lw.extract(model, c, min_cluster_size=3)
    cuts = reference.cuts_of_plot(model.ordering_.tolist(), model.reachability_[model.ordering_])
    top = reference.Cluster(set(range(40)), cuts, 3)
    wanted = top.best(c.must_link.tolist(), c.cannot_link.tolist(), "stability", False)[2]
    assert {frozenset(np.flatnonzero(labels == k).tolist()) for k in range(labels.max() + 1)} == {
        frozenset(rows) for rows in wanted
    }


@pytest.mark.parametrize("k", [2, 4])
def test_what_was_not_merged_is_apart_at_the_top(k):
    model = lw.ConstrainedAgglomerative(k, linkage="single").fit(X, constraints=C)
    found = lw.extract(model, min_cluster_size=2)
    for cluster in range(found.max() + 1):
        assert len(set(model.labels_[found == cluster])) == 1
    agree(lw.extract(model, allow_single_cluster=True, min_cluster_size=len(X)), np.zeros(len(X)))


def test_clusters_are_those_of_a_cut_where_pairs_say_so():
    matrix = linkage(X, "average")
    cut = fcluster(matrix, 4, "maxclust")
    agree(lw.extract(matrix, lw.Constraints.from_labels(cut)), cut)


def test_rows_of_one_height_stay_together():
    """Heights may go down by rounding; what is left of them is one merge."""
    matrix = np.array([[0, 1, 1.0, 2], [2, 4, 1.0 - 1e-12, 3], [3, 5, 9.0, 4]])
    assert lw.extract(matrix, min_cluster_size=2).tolist() == [0, 0, 0, 0]


# ---------------------------------------------------------------- R
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_no_fewer_pairs_than_r(path):
    """R adds up shares of all pairs, so that rounding decides some ties, and leaves pairs of noise out."""
    kept = json.loads(path.read_text())
    _, y = load_wine(return_X_y=True)
    same = 0
    for case in kept["cases"]:
        constraints = lw.Constraints.sample(y, case["n_pairs"], case["seed"])
        ours = lw.extract(kept["linkage"], constraints, ties="larger", min_cluster_size=kept["min_pts"])
        theirs = np.array(case["labels"]) - 1
        assert satisfied(ours, constraints) >= satisfied(theirs, constraints)
        same += int(adjusted_rand_score(theirs, ours) == 1)
    assert same == kept["same"]


# ---------------------------------------------------------------- what is refused
GOOD = linkage(X[:5])


def changed(at, value):
    matrix = GOOD.copy()
    matrix[at] = value
    return matrix


@pytest.mark.parametrize(
    ("hierarchy", "error", "words"),
    [
        (linkage(X, "centroid"), lw.DataError, "heights of the hierarchy decrease: .* ward"),
        (changed((3, 2), 0.0), lw.DataError, "decrease: merge 3 at 0 contains one"),
        (changed((0, 2), np.nan), lw.DataError, "Merge 0 .* height nan"),
        (changed((0, 2), -1.0), lw.DataError, "Merge 0 .* height -1"),
        (changed((1, 0), 9), lw.DataError, r"Merge 1 .* with 5 rows it can only join 0 to 5"),
        (changed((1, slice(0, 2)), GOOD[0, :2]), lw.DataError, "twice"),
        (np.eye(3)[0], TypeError, r"array of shape \(3,\)\. Pass a linkage matrix"),
        ("single", TypeError, r"is a str\. Pass a linkage matrix"),
        (HDBSCAN(copy=True), TypeError, r"HDBSCAN is not fitted, or holds no hierarchy\. Pass"),
        (KMeans(2).fit(X), TypeError, "KMeans is not fitted, or holds no hierarchy"),
        (HDBSCAN, TypeError, "is a class: HDBSCAN"),
        (AgglomerativeClustering(2).fit(X), TypeError, "compute_distances=True"),
    ],
)
def test_objects_without_a_hierarchy_raise_errors(hierarchy, error, words):
    with pytest.raises(error, match=words):
        lw.extract(hierarchy)


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ({"constraints": lw.Constraints(4)}, ValueError, "about 4 rows, but the hierarchy holds 120"),
        ({"constraints": [(0, 1)]}, TypeError, r"is a list\. Build it with linkwise\.Constraints"),
        ({"min_cluster_size": 1}, ValueError, "at least 2 rows"),
        ({"min_cluster_size": 2.5}, TypeError, "not a number of rows"),
        ({"min_cluster_size": True}, TypeError, "not a number of rows"),
        ({"ties": "first"}, ValueError, "'stability' or 'larger'"),
    ],
)
def test_bad_arguments_raise_errors(more, error, words):
    with pytest.raises(error, match=words):
        lw.extract(linkage(X), **more)


@pytest.mark.parametrize("node", [0.7, np.nan, np.inf])
def test_nodes_must_be_integers(node):
    with pytest.raises(lw.DataError, match="Number the rows from 0"):
        lw.extract(np.array([[node, 1, 1.0, 2]]))
