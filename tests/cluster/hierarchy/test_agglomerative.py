"""ConstrainedAgglomerative: the merges, the tree, dead ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree, fcluster, is_valid_linkage, linkage
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise import native
from linkwise.cluster.hierarchy import agglomerative
from linkwise.native.agglomerate import LINKAGES
from reference import agglomerative as reference

each_linkage = pytest.mark.parametrize("name", LINKAGES)


@st.composite
def problems(draw):
    """Rows in general position, some pairs by hidden classes.

    On a line two rows that are linked are, on average, equally far from all rows between them.
    """
    n, d = draw(st.integers(2, 14)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    y = rng.integers(0, draw(st.integers(1, 4)), n)
    return rng.normal(size=(n, d)), lw.Constraints.sample(
        y, draw(st.integers(0, min(12, n * (n - 1) // 2))), 0
    )


def groups(labels):
    return {frozenset(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels)}


@each_linkage
@given(problem=problems(), k=st.integers(1, 4), most=st.none() | st.floats(0, 2))
def test_the_merges_are_those_of_the_definition(name, problem, k, most):
    X, constraints = problem
    begun = groups(constraints.component)
    limit = np.inf if most is None else most
    wanted, heights = reference.merges(
        X, begun, constraints.cannot_link.tolist(), min(k, len(X)), name, limit
    )
    model = lw.ConstrainedAgglomerative(min(k, len(X)), linkage=name, distance_threshold=most)
    try:
        model.fit(X, constraints=constraints)
    except lw.InfeasibleConstraintsError:
        assert len(wanted) > k
        return
    assert model.violations_ == 0
    if not model.fell_back_:
        assert groups(model.labels_) == wanted
        n_begun = len(X) - len(begun)
        assert (model.distances_[:n_begun] == 0).all()
        assert model.distances_[n_begun:] == pytest.approx(heights)


@each_linkage
def test_without_constraints_it_is_scipys(name):
    X, _ = make_blobs(80, centers=5, cluster_std=3.0, random_state=0)
    tree = linkage(X, name)
    model = lw.ConstrainedAgglomerative(1, linkage=name).fit(X)
    assert model.distances_ == pytest.approx(tree[:, 2])
    for k in (2, 3, 7):
        found = lw.ConstrainedAgglomerative(k, linkage=name).fit(X)
        assert adjusted_rand_score(cut_tree(tree, k).ravel(), found.labels_) == 1
        theirs = AgglomerativeClustering(k, linkage=name).fit_predict(X)
        assert adjusted_rand_score(theirs, found.labels_) == 1
    far = float(tree[39:41, 2].mean())
    cut = lw.ConstrainedAgglomerative(1, linkage=name, distance_threshold=far).fit(X)
    assert adjusted_rand_score(fcluster(tree, far, "distance"), cut.labels_) == 1
    assert cut.n_clusters_ > 1


@each_linkage
@given(problem=problems())
def test_the_tree_can_be_drawn(name, problem):
    X, constraints = problem
    constraints = lw.Constraints(len(X), constraints.must_link)
    model = lw.ConstrainedAgglomerative(1, linkage=name).fit(X, constraints=constraints)
    n, counts = len(X), []
    for a, b in model.children_.tolist():
        counts.append(sum(1 if node < n else counts[node - n] for node in (a, b)))
    tree = np.column_stack([model.children_, model.distances_, counts]).astype(float)
    assert is_valid_linkage(tree)
    assert counts[-1:] in ([n], [])


def test_ten_pairs_part_what_a_chain_joins():
    X, y = make_moons(200, noise=0.12, random_state=0)
    plain = lw.ConstrainedAgglomerative(2, linkage="single").fit(X)
    c = lw.Constraints.sample(y, 10, 0)
    told = lw.ConstrainedAgglomerative(2, linkage="single").fit(X, constraints=c)
    assert adjusted_rand_score(y, plain.labels_) < 0.1
    assert adjusted_rand_score(y, told.labels_) > 0.9
    assert told.violations_ == 0


def test_a_dead_end_is_left_by_other_groups():
    """0 and 1 are nearest, but when they are one, three clusters are left of which every two are apart."""
    X = np.array([[0.0], [1.0], [10.0], [20.0]])
    c = lw.Constraints(4, cannot_link=[(0, 2), (1, 3), (2, 3)])
    model = lw.ConstrainedAgglomerative(2).fit(X, constraints=c)
    assert (model.fell_back_, model.n_clusters_, model.violations_) == (True, 2, 0)
    assert not lw.ConstrainedAgglomerative(3).fit(X, constraints=c).fell_back_


def test_a_threshold_is_no_dead_end():
    X = np.array([[0.0], [1.0], [10.0], [20.0]])
    model = lw.ConstrainedAgglomerative(2, distance_threshold=2.0).fit(X)
    assert model.labels_.tolist() == [0, 0, 1, 2]
    assert not model.fell_back_


@each_linkage
@pytest.mark.parametrize("threshold", [1e200, 10**400])
@pytest.mark.parametrize("unit", [1e-100, 1.0])
def test_any_large_threshold_merges_all(name, threshold, unit):
    X = np.arange(4.0)[:, None] * unit
    model = lw.ConstrainedAgglomerative(1, linkage=name, distance_threshold=threshold).fit(X)
    assert model.n_clusters_ == 1


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(agglomerative, "MOST", 10)
    with pytest.raises(lw.DataError, match=r"at most 10.* COPKMeans"):
        lw.ConstrainedAgglomerative(2).fit(np.arange(11.0)[:, None])
    pairs = lw.Constraints(11, [(0, 1)])
    assert lw.ConstrainedAgglomerative(2).fit(np.arange(11.0)[:, None], constraints=pairs).n_clusters_ == 2


@each_linkage
def test_in_parts_the_distances_are_the_same(name, monkeypatch):
    X, y = make_blobs(60, random_state=0)
    c = lw.Constraints.sample(y, 25, 0)
    whole = lw.ConstrainedAgglomerative(3, linkage=name).fit(X, constraints=c)
    monkeypatch.setattr(agglomerative, "CELLS", 300)
    parts = lw.ConstrainedAgglomerative(3, linkage=name).fit(X, constraints=c)
    np.testing.assert_array_equal(whole.labels_, parts.labels_)
    np.testing.assert_allclose(whole.distances_, parts.distances_)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            (np.zeros((2, 3)), np.ones(2, np.int64), "ward", 1),
            ValueError,
            r"distances must have shape \(2, 2\)",
        ),
        ((np.zeros((2, 2)), np.ones(3, np.int64), "ward", 1), ValueError, r"size must have shape \(2\)"),
        ((np.zeros((2, 2)), np.ones(2), "ward", 1), TypeError, "size .* int64"),
        ((np.zeros((2, 2)), np.ones(2, np.int64), "ward", 0), ValueError, "n_clusters must be at least 1"),
    ],
)
def test_native_code_rejects_bad_arguments(arguments, error, words):
    with pytest.raises(error, match=words):
        native.agglomerate(*arguments)
