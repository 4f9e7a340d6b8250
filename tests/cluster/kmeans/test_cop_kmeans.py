"""COP-k-means: it breaks nothing, says why it cannot, and is as good as the best assignment allows."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.cluster.kmeans.components import build_blocks
from linkwise.cluster.kmeans.feasible import find_large_clique, find_separating_labels
from linkwise.cluster.kmeans.starts import draw_link_ends
from linkwise.errors import ConstraintWarning, InfeasibleConstraintsError
from linkwise.rng import rng_at
from reference.closure import closed
from reference.cop_kmeans import cop_k_means, cop_k_means_of_clus, starts_of_clus

NODES = np.arange(100)


def int_pairs(*pairs):
    return np.array(pairs, dtype=np.int32).reshape(-1, 2)


# ---------------------------------------------------------------- against the paper, and the best there is
@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(0, 12))
def test_it_is_never_worse_than_the_paper_from_the_same_centres(seed, k, n_pairs):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    c = lw.Constraints.sample(rng.integers(0, k, 20), n_pairs, rng)
    start = X[:k]
    model = lw.COPKMeans(k, init=start, tol=0, assignment="exact").fit(X, constraints=c)
    together, apart = closed(20, c.must_link.tolist(), c.cannot_link.tolist())
    must, cannot = (np.argwhere(np.triu(pairs, 1)).tolist() for pairs in (together, apart))
    plain = cop_k_means(X, must, cannot, start, rng.permutation(20), max_iter=1)
    if plain is not None:  # one pass of the paper, judged with the centres that it began with
        first = ((X - start[plain[0]]) ** 2).sum()
        assert model.inertia_ <= first + 1e-9


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(2, 3))
def test_an_exact_assignment_is_the_cheapest_that_breaks_nothing(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(7, 2))
    c = lw.Constraints.sample(rng.integers(0, k, 7), 8, rng)
    centers = rng.normal(size=(k, 2))
    model = lw.COPKMeans(k, init=centers, max_iter=1, assignment="exact")
    labels = model.fit(X, constraints=c).labels_
    every = [np.array(way) for way in product(range(k), repeat=7)]
    right = [way for way in every if sum(v.sum() for v in c.find_violations(way)) == 0]
    final = model.cluster_centers_
    if len(final) == k:
        least = min(((X - final[way]) ** 2).sum() for way in right)
        assert ((X - final[labels]) ** 2).sum() == pytest.approx(least)


@pytest.mark.parametrize("assignment", ["exchange", "exact"])
def test_inertia_is_that_of_labels_and_centres(assignment):
    X, y = load_iris(return_X_y=True)
    c = lw.Constraints.sample(y, 60, 0)
    model = lw.COPKMeans(3, random_state=0, assignment=assignment).fit(X, constraints=c)
    assert model.inertia_ == pytest.approx(((X - model.cluster_centers_[model.labels_]) ** 2).sum())
    assert model.violations_ == model.n_failed_ == 0


def test_more_iterations_never_cost_more():
    X, y = load_digits(return_X_y=True)
    c = lw.Constraints.sample(y[:500], 200, 1)
    course = [
        lw.COPKMeans(10, init=X[:10], max_iter=i, tol=0, random_state=0).fit(X[:500], constraints=c).inertia_
        for i in range(1, 8)
    ]
    assert (np.diff(course) <= 1e-6).all()


def test_must_links_alone_are_k_means_of_weighted_means():
    X, _ = make_blobs(60, centers=3, cluster_std=3, random_state=0)
    c = lw.Constraints(60, [(0, 1), (1, 2), (5, 9)])
    model = lw.COPKMeans(3, random_state=0).fit(X, constraints=c)
    means = np.array([X[model.labels_ == g].mean(axis=0) for g in range(3)])
    np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-2)
    assert model.violations_ == 0


def test_a_feasible_problem_does_not_fail_by_bad_order():
    """A ring of even length and a row whose nearest centre its foes would take in most orders."""
    n = 40
    X = np.random.default_rng(0).normal(size=(n, 2))
    ring = [(i, (i + 1) % n) for i in range(n)]
    for seed in range(10):
        model = lw.COPKMeans(2, n_init=1, random_state=seed).fit(X, constraints=lw.Constraints(n, (), ring))
        assert model.violations_ == 0
        np.testing.assert_array_equal(model.labels_[::2], model.labels_[0])


def test_classes_of_real_rows_are_found_again():
    X, y = load_iris(return_X_y=True)
    model = lw.COPKMeans(3, random_state=0).fit(X, constraints=lw.Constraints.from_labels(y))
    assert adjusted_rand_score(y, model.labels_) == 1


# ---------------------------------------------------------------- what cannot be done
def test_two_clusters_cannot_hold_an_odd_ring():
    ring = lw.Constraints(7, [(4, 6)], [(0, 1), (1, 2), (2, 3), (3, 4), (6, 0), (5, 6)])
    with pytest.raises(lw.InfeasibleConstraintsError, match=r"odd number .*: (\d ≠ )+\d\. Ask"):
        lw.COPKMeans(2).fit(np.arange(7.0)[:, None], constraints=ring)


def test_the_ring_that_is_named_is_the_shortest():
    with pytest.raises(lw.InfeasibleConstraintsError, match=r": [789] ≠ [789] ≠ [789] ≠ [789]\."):
        find_separating_labels(
            int_pairs((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (4, 7), (7, 8), (8, 9), (9, 7)), 10, 2, NODES
        )


def test_rows_that_must_all_be_apart_are_named():
    c = lw.Constraints(6, [(0, 5)], [(0, 1), (0, 2), (5, 3), (1, 2), (1, 3), (2, 3)])
    with pytest.raises(
        lw.InfeasibleConstraintsError,
        match=r"4 rows must all be apart, .*: 0, 1, 2 and 3\. Ask",
    ):
        lw.COPKMeans(3).fit(np.arange(6.0)[:, None], constraints=c)


def test_what_only_a_full_search_shows():
    """The Grötzsch graph: no three of it are all apart, but it needs four labels."""
    outer = [(i, (i + 1) % 5) for i in range(5)]
    spokes = [(5 + i, (i + 1) % 5) for i in range(5)] + [(5 + i, (i + 4) % 5) for i in range(5)]
    graph = outer + spokes + [(10, 5 + i) for i in range(5)]
    c = lw.Constraints(11, (), graph)
    X = np.random.default_rng(0).normal(size=(11, 2))
    with pytest.raises(
        lw.InfeasibleConstraintsError, match=r"need more than 3 clusters .*all ways were tried"
    ):
        lw.COPKMeans(3).fit(X, constraints=c)
    assert lw.COPKMeans(4, random_state=0).fit(X, constraints=c).violations_ == 0


def test_one_cluster_holds_no_cannot_link():
    with pytest.raises(
        lw.InfeasibleConstraintsError, match=r"Two rows must be apart, .* 1 cluster: 1 and 2\."
    ):
        lw.COPKMeans(1).fit(np.arange(3.0)[:, None], constraints=lw.Constraints(3, (), [(1, 2)]))


def test_no_clique_is_no_clique():
    assert len(find_large_clique(int_pairs((0, 1), (1, 2), (2, 3)), 4, 2)) == 0
    assert find_large_clique(int_pairs((0, 1), (1, 2), (0, 2), (2, 3)), 4, 2).tolist() == [0, 1, 2]


def test_contradictions_are_refused_with_their_chain():
    with pytest.warns(ConstraintWarning):
        c = lw.Constraints(4, [(0, 1), (1, 2)], [(0, 2)], on_conflict="keep")
    with pytest.raises(
        lw.InfeasibleConstraintsError, match=r"COPKMeans satisfies every constraint.*0 = 1 = 2"
    ):
        lw.COPKMeans(2).fit(np.arange(4.0)[:, None], constraints=c)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_soft_breaks_few_constraints_and_warns(k):
    with pytest.warns(ConstraintWarning):
        c = lw.Constraints(
            6, [(0, 1), (1, 2)], [(0, 2), (0, 3), (0, 4), (3, 4), (3, 5), (4, 5), (0, 5)], on_conflict="keep"
        )
    with pytest.warns(ConstraintWarning, match=r"clustering breaks \d+ cannot-links? between"):
        model = lw.COPKMeans(k, on_infeasible="soft", random_state=0).fit(
            np.arange(6.0)[:, None], constraints=c
        )
    assert model.violations_ == {1: 7, 2: 3, 3: 2}[k]


def test_rows_nearer_than_squares_can_tell():
    X = np.array([[0.0], [1e-170], [1.0], [2e-170]])
    c = lw.Constraints(4, cannot_link=[(0, 1), (0, 2), (1, 2)])
    assert lw.COPKMeans(3, random_state=0).fit(X, constraints=c).violations_ == 0


# ---------------------------------------------------------------- as printed
@pytest.mark.parametrize("seed", range(40))
def test_row_after_row_as_printed(seed):
    """Wagstaff et al. (2001), Table 1: the labels of the transcription, and an error where it fails."""
    rng = np.random.default_rng(seed)
    n, k = 14, 2 + seed % 3
    X = rng.normal(size=(n, 2))
    c = lw.Constraints.sample(rng.integers(0, k, n), 4 + seed % 6, seed)
    must, cannot = (
        [(i, j) for i in range(n) for j in range(i) if c.relation(i, j) == kind]
        for kind in ("must-link", "cannot-link")
    )
    expected = cop_k_means(X, must, cannot, X[:k], range(n))
    model = lw.COPKMeans.paper(k, init=X[:k], max_iter=100)  # passes may cycle
    if expected is None:
        with pytest.raises(InfeasibleConstraintsError, match="found no cluster that breaks no constraint"):
            model.fit(X, constraints=c)
    else:
        assert adjusted_rand_score(expected[0], model.fit(X, constraints=c).labels_) == 1
        assert model.violations_ == 0


def test_some_rows_find_no_cluster_and_the_error_names_them():
    """Rows 0 and 1 take both centres; row 2 may be in neither cluster, in this order."""
    X = np.array([[0.0], [5.0], [2.0], [9.0]])
    c = lw.Constraints(4, cannot_link=[(0, 2), (1, 2)])
    with pytest.raises(InfeasibleConstraintsError, match="Row 2 found no cluster") as error:
        lw.COPKMeans.paper(2, init=X[:2]).fit(X, constraints=c)
    assert error.value.rows == (2,)
    assert lw.COPKMeans(2, init=X[:2]).fit(X, constraints=c).violations_ == 0


def test_the_mean_or_the_first_row_of_a_component_chooses():
    X = np.array([[0.0], [7.0], [10.0], [10.5], [1.0]])
    c = lw.Constraints(5, must_link=[(0, 1), (0, 3)], cannot_link=[(0, 4)])
    start = np.array([[0.0], [10.0]])
    first, mean = (
        lw.COPKMeans(2, init=start, assignment="first fit", by_first_row=by, max_iter=1).fit(X, constraints=c)
        for by in (True, False)
    )
    assert first.labels_.tolist() == [0, 0, 1, 0, 1]
    assert mean.labels_.tolist() == [1, 1, 1, 1, 0]


def test_first_fit_breaks_nothing():
    with pytest.raises(ValueError, match='assignment="first fit" breaks none'):
        lw.COPKMeans(2, assignment="first fit", on_infeasible="soft").fit(
            np.eye(3), constraints=lw.Constraints(3, [(0, 1)])
        )


def test_the_best_start_in_order():
    X, y = load_iris(return_X_y=True)
    c = lw.Constraints.sample(y, 30, 0)
    several = lw.COPKMeans(3, assignment="first fit", random_state=0).fit(X, constraints=c)
    one = lw.COPKMeans(3, assignment="first fit", n_init=1, random_state=0).fit(X, constraints=c)
    assert several.inertia_ <= one.inertia_
    squares = ((X - several.cluster_centers_[several.labels_]) ** 2).sum()
    assert several.inertia_ == pytest.approx(squares)


# ---------------------------------------------------------------- as in Clus
def starts_from(X, c, k, seed):
    return draw_link_ends(build_blocks(X, c.component), c.component_cannot_link, k, rng_at(seed, 0))


@pytest.mark.parametrize(("n_pairs", "k"), [(4, 2), (9, 2), (9, 3), (14, 3)])
def test_the_preset_of_clus_equals_its_transcription(n_pairs, k):
    answers = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(12, 2))
        c = lw.Constraints.sample(rng.integers(0, 4, 12), n_pairs, seed)
        together, apart = closed(12, c.must_link.tolist(), c.cannot_link.tolist())
        expected = cop_k_means_of_clus(X, together, apart, starts_from(X, c, k, seed))
        model = lw.COPKMeans.authors(k, max_iter=100, random_state=seed)
        if expected is None:
            with pytest.raises(InfeasibleConstraintsError, match="found no cluster"):
                model.fit(X, constraints=c)
        else:
            assert adjusted_rand_score(expected, model.fit(X, constraints=c).labels_) == 1
            answers += 1
    assert 0 < answers < 20


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("links", [[(0, 1)], [(0, 1), (1, 2), (4, 5)], [(0, 1), (2, 3), (3, 4), (0, 5)]])
def test_it_starts_at_ends_of_cannot_links_as_clus_does(k, links):
    X = np.arange(6.0)[:, None]
    c = lw.Constraints(6, [], links)
    drawn = {frozenset(starts_from(X, c, k, seed).ravel().astype(int).tolist()) for seed in range(300)}
    assert drawn == starts_of_clus(6, links, k)


def test_a_start_at_linked_rows_is_their_mean():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    c = lw.Constraints(4, [(0, 3)], [(0, 1)])
    for rows in (X, csr_array(X)):
        assert sorted(starts_from(rows, c, 2, 0).ravel().tolist()) == [1.0, 5.0]


def test_with_fewer_groups_than_clusters_a_start_is_repeated():
    c = lw.Constraints(4, [(0, 1), (1, 2)])
    starts = starts_from(np.arange(4.0)[:, None], c, 3, 0).ravel().tolist()
    assert sorted(set(starts)) == [1.0, 3.0]
    assert starts[1] == starts[2]


def test_each_start_draws_its_own_ends():
    X, y = load_iris(return_X_y=True)
    c = lw.Constraints.sample(y, 60, 0)
    one, several = (
        lw.COPKMeans(3, init="cannot-links", n_init=n, random_state=0).fit(X, constraints=c).inertia_
        for n in (1, 10)
    )
    assert several <= one
