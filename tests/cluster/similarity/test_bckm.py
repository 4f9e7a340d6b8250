"""CKM, BCKM and RCKM against a plain transcription, and what their parts promise."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.pairwise import rbf_kernel

import linkwise as lw
from linkwise import native
from linkwise.cluster.similarity.co_membership import CoMembership
from linkwise.cluster.similarity.rounds import Centers, LabelledRows
from linkwise.cluster.similarity.spaces import (
    Similarities,
    SpaceMeans,
    Vectors,
    center_products,
    make_space,
    scale_locally,
    two_smallest,
)
from linkwise.cluster.similarity.weak_learner import (
    WeakClustering,
    constrained_k_means,
    list_pairs,
    order_by_priority,
)
from linkwise.errors import ConstraintWarning
from linkwise.rng import rng_at
from reference import bckm as plain


def blobs(n=60, seed=0, spread=1.0, k=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(scale=spread, size=(n, 2)) + 4 * np.column_stack([y, y % 2]), y


@st.composite
def problems(draw):
    n, k = draw(st.integers(2, 14)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    squares = rng.integers(0, 6, (n, k)).astype(float)  # with ties
    every = np.array([(i, j) for i in range(n) for j in range(i + 1, n)], dtype=np.int32)
    kept = every[rng.permutation(len(every))[: draw(st.integers(0, len(every)))]]
    return squares, kept, rng.integers(0, 2, len(kept)).astype(np.uint8), rng


# ---------------------------------------------------------------- Algorithm 2
@given(problems())
def test_a_pass_is_that_of_the_paper(problem):
    squares, pairs, must, rng = problem
    order = rng.permutation(len(pairs)).astype(np.int32)
    labels, broken = native.assign_by_priority(two_smallest(squares.copy()), pairs, must, order)
    expected = plain.one_pass(squares, pairs[order], must[order])
    np.testing.assert_array_equal(labels, expected)
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    np.testing.assert_array_equal(broken.astype(bool), same != must.astype(bool))


@settings(deadline=None)
@given(st.integers(1, 70), st.integers(1, 40), st.integers(1, 70), st.integers(0, 10**6))
def test_the_two_nearest_are_those_of_the_table(n, d, k, seed):
    rng = np.random.default_rng(seed)
    X, centers = rng.integers(-3, 4, (n, d)) / 2, rng.integers(-3, 4, (k, d)) / 2
    found = native.two_nearest(X, centers, 1)
    expected = two_smallest(native.squared_distances(X, centers, 1))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("threads", [2, 3])
def test_the_two_nearest_for_any_number_of_threads(threads):
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(30_000, 40)).astype(np.float32), rng.normal(size=(9, 40))
    for one, other in zip(
        native.two_nearest(X, centers, 1), native.two_nearest(X, centers, threads), strict=True
    ):
        assert one.tobytes() == other.tobytes()


def test_the_first_two_constraints_are_always_kept():
    """Appendix B of the paper."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        X = rng.normal(size=(6, 2))
        c = lw.Constraints.sample(rng.integers(0, 3, 6), 5, rng)
        pairs = list_pairs(c)
        order = rng.permutation(5).astype(np.int32)
        near = native.two_nearest(X, rng.normal(size=(3, 2)), 1)
        broken = native.assign_by_priority(near, pairs.ends, pairs.must, order)[1]
        assert not broken[order[:2]].any()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_similarities_know_the_distances_of_the_paper(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3))
    K = rbf_kernel(X, gamma=0.5)
    labels = np.concatenate([np.arange(k), rng.integers(0, k, 12 - k)]).astype(np.int32)
    space = Similarities(K)
    means = space.update_means(labels, space.choose_centers(k, rng, "k-means++"))
    found = space.two_nearest(means)
    squares = plain.squared_distances(K, [np.flatnonzero(labels == c) for c in range(k)])
    np.testing.assert_allclose(found.square, squares.min(axis=1), atol=1e-12)
    inertia = squares[np.arange(12), labels].sum()
    assert means.spread == pytest.approx(K.trace() - inertia)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6))
@example(614)  # two passes reach the same clusters under other numbers
def test_inner_products_do_what_the_rows_do(seed):
    """More features than rows: the same passes on a matrix of similarities."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 4))
    y = rng.integers(0, 3, 20)
    pairs = list_pairs(lw.Constraints.sample(y, 15, rng))
    order = order_by_priority(pairs, pairs.weight, np.random.default_rng(1))
    share = pairs.weight / 15
    found = []
    for space in (Vectors(X), Similarities(center_products(native.squared_distances(X, X, 1)))):
        means = space.choose_centers(3, np.random.default_rng(2), "k-means++")
        found.append(constrained_k_means(space, means, pairs, order, share, 100))
    np.testing.assert_array_equal(found[0].labels, found[1].labels)
    assert found[0].spread == pytest.approx(found[1].spread)


class PassByPass:
    """A space whose passes run one by one."""

    def __init__(self, space):
        self.n, self.two_nearest, self.update_means = space.n, space.two_nearest, space.update_means

    def run_passes(self, means, plan):
        return None


@settings(deadline=None, max_examples=80)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["repeat", "stable", "first rise"]),
    st.sampled_from([None, 1, 3]),
    st.booleans(),
)
def test_all_passes_in_one_call_do_what_single_ones_do(seed, convergence, patience, with_similarities):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 40)), int(rng.integers(1, 7))
    X = rng.integers(-9, 10, (n, 2)) / 4
    pairs = list_pairs(lw.Constraints.sample(rng.integers(0, 3, n), min(2 * n, n * (n - 1) // 2), rng))
    share = rng.permutation(np.arange(1, 1 + len(pairs.must)) / 1024)  # sums are exact in any order
    order = order_by_priority(pairs, np.log(share), rng)
    space = (
        Similarities(center_products(native.squared_distances(X, X, 1))) if with_similarities else Vectors(X)
    )
    means = space.choose_centers(k, np.random.default_rng(1), "k-means++")
    one, other = (
        constrained_k_means(
            any_space, means, pairs, order, share, 20, convergence=convergence, patience=patience
        )
        for any_space in (space, PassByPass(space))
    )
    assert one.labels.dtype == other.labels.dtype
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.broken, other.broken)
    assert (one.loss, one.n_passes) == (other.loss, other.n_passes)
    assert one.spread == pytest.approx(other.spread, rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 10**6), st.integers(2, 8), st.booleans())
def test_passes_of_the_program_are_those_of_a_plain_one(seed, k, with_similarities):
    """Without the squared lengths of rows, and with clusters that stay empty; the origin is far away."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 2)) + rng.normal(scale=4.0, size=2)
    pairs = list_pairs(lw.Constraints.sample(rng.integers(0, 3, 24), 30, rng))
    order = rng.permutation(30).astype(np.int32)
    share = np.full(30, 1 / 30)
    rows = rng.choice(24, k, replace=False)
    if with_similarities:
        lengths = (X**2).sum(axis=1)
        space = Similarities(center_products(native.squared_distances(X, X, 1)), lengths)
        means = SpaceMeans((space.K[:, rows].copy(), space.K.diagonal()[rows].copy()), 0.0)
    else:
        space = Vectors(X)
        means = space.at(X[rows])
    found = constrained_k_means(
        space, means, pairs, order, share, 100, convergence="first rise", full_distances=False, refill=False
    )
    wanted = plain.program_k_means(X @ X.T, rows, pairs.ends[order], pairs.must[order] > 0)
    np.testing.assert_array_equal(found.labels, wanted)


def test_rows_far_from_the_origin_come_first_in_the_program():
    """Two rows at equal distance from the only near centre may not share a cluster; the farther one stays."""
    X = np.array([[9.0, 0.0], [11.0, 0.1], [30.0, 0.0]])
    c = lw.Constraints(3, cannot_link=[(0, 1)])
    pairs = list_pairs(c)
    centers = np.array([[10.0, 0.0], [30.0, 0.0]])
    run = pairs, np.zeros(1, dtype=np.int32), np.ones(1), 1
    space = Vectors(X)
    printed, program = (
        constrained_k_means(space, space.at(centers), *run, full_distances=full) for full in (True, False)
    )
    assert (printed.labels.tolist(), program.labels.tolist()) == ([0, 1, 1], [1, 0, 1])


def test_an_empty_cluster_is_refilled_or_keeps_its_centre():
    X = np.array([[0.0], [1.0], [10.0], [20.0]])
    c = lw.Constraints(4, must_link=[(0, 1)])
    start = np.array([[0.0], [15.0], [100.0]])
    found = [
        lw.CKM(3, init=start, fallback=False, refill=refill).fit(X, constraints=c).n_clusters_
        for refill in (True, False)
    ]
    assert found == [3, 2]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_authors_presets_run_on_rows_and_kernels(kernel):
    X, y = blobs(40, k=3)
    c = lw.Constraints.sample(y, 60, random_state=0)
    for method in (lw.CKM, lw.RCKM, lw.BCKM):
        model = method.authors(3, kernel=kernel, random_state=0)
        assert (model.full_distances, model.refill) == (False, False)
        np.testing.assert_array_equal(
            model.fit(X, constraints=c).labels_, model.fit(csr_array(X), constraints=c).labels_
        )


def test_passes_are_the_same_for_any_number_of_threads_and_for_many_clusters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 8))
    pairs = list_pairs(lw.Constraints.sample(rng.integers(0, 5, 9000), 3000, rng))
    share, order = pairs.weight / 3000, rng.permutation(3000).astype(np.int32)
    for k in (5, 300):
        plan = (X[:k].copy(), X.mean(axis=0), pairs.ends, pairs.must, order, share, 4, 0, 10)
        one, three = native.vector_passes(X, *plan, 1), native.vector_passes(X, *plan, 3)
        assert one.labels.itemsize == (1 if k < 256 else 2)
        assert (one.labels == three.labels).all()
        assert (one.loss, one.spread, one.number) == (three.loss, three.spread, three.number)
        found = constrained_k_means(
            PassByPass(Vectors(X)), Vectors(X).at(X[:k]), pairs, order, share, 4, patience=10
        )
        assert (found.labels == one.labels).all()


@pytest.mark.parametrize("seed", range(5))
def test_distances_to_centres_that_stay_need_not_be_computed_again(seed):
    """They are kept for few values only; columns of zeros make the values many, and change nothing."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(40, 4)), 5, axis=0)  # far groups soon stay
    pairs = list_pairs(lw.Constraints.sample(rng.integers(0, 6, 200), 300, rng))
    share, order = pairs.weight / 300, rng.permutation(300).astype(np.int32)
    few, many = X, np.ascontiguousarray(np.pad(X, ((0, 0), (0, 700))))
    found = [
        native.vector_passes(
            rows, rows[:6].copy(), rows.mean(axis=0), pairs.ends, pairs.must, order, share, 30, 0, 10, 1
        )
        for rows in (few, many)
    ]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_wide_rows_take_similarities_and_long_ones_do_not():
    assert isinstance(make_space(np.ones((3, 9)), "linear"), Similarities)
    assert isinstance(make_space(csr_array(np.eye(9)[:3]), "linear"), Similarities)
    assert isinstance(make_space(np.ones((9, 3)), "linear"), Vectors)


def test_local_scales_reach_to_the_seventh_neighbour():
    x = np.arange(12.0)
    squares = (x[:, None] - x) ** 2
    K = scale_locally(squares)
    assert K[0, 3] == pytest.approx(np.exp(-9 / (7 * 4)))  # the 7th neighbour of row 0 is 7 off, of row 3 4
    assert (K.diagonal() == 1).all()
    copies = scale_locally(np.zeros((5, 5)))
    assert (copies == 1).all()


def test_local_scales_of_piles_reach_to_the_nearest_different_row():
    x = np.repeat([0.0, 1.0, 4.0], 8)
    squares = (x[:, None] - x) ** 2
    K = scale_locally(squares)
    assert K[0, 8] == pytest.approx(np.exp(-1))
    assert K[0, 16] == pytest.approx(np.exp(-16 / (1 * 3)))
    np.testing.assert_allclose(scale_locally(1e-6 * squares), K)


# ---------------------------------------------------------------- Algorithm 3
@pytest.mark.parametrize("seed", range(6))
def test_weights_of_rounds_are_those_of_the_paper(seed):
    X, y = blobs(spread=2.5, seed=seed)
    c = lw.Constraints.sample(y, 200, seed)
    model = lw.BCKM(3, n_rounds=30, random_state=seed).fit(X, constraints=c)
    pairs = np.vstack([c.must_link, c.cannot_link])
    signs = np.repeat([1, -1], [len(c.must_link), len(c.cannot_link)])
    alphas, errors = plain.boosted(model.hypotheses_.T, pairs, signs)
    np.testing.assert_allclose(model.alphas_, alphas, rtol=1e-9)
    np.testing.assert_allclose(model.errors_, errors, atol=1e-12)
    assert (model.errors_ < 0.5).all()


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 12))
def test_k_means_on_labels_is_kernel_k_means_on_the_matrix(seed, k, t):
    rng = np.random.default_rng(seed)
    H = rng.integers(0, 5, (25, t)).astype(np.uint8)
    alphas = rng.random(t) + 0.1
    K = plain.kernel_of(H.T, alphas)
    rows = rng.permutation(25)[:k]
    first = (K.diagonal()[:, None] + K.diagonal()[rows] - 2 * K[:, rows]).argmin(axis=1)
    assume(len(np.unique(first)) == k)
    expected = plain.kernel_k_means(K, first)
    assume(expected is not None)
    seeds = np.zeros(1, np.uint64)
    found = native.hypotheses_k_means(H, alphas, 5, k, seeds, 100, 1, rows.astype(np.int64))
    assert found.inertia == pytest.approx(expected[1], abs=1e-8)
    assert adjusted_rand_score(expected[0], found.labels) == 1


@pytest.mark.parametrize(("threads", "dtype"), [(2, np.uint8), (3, np.uint16)])
def test_the_same_labels_for_any_number_of_threads(threads, dtype):
    rng = np.random.default_rng(0)
    H = rng.integers(0, 12, (20_000, 40)).astype(dtype)
    alphas = rng.random(40)
    seeds = np.arange(2, dtype=np.uint64)
    one, other = (native.hypotheses_k_means(H, alphas, 12, 11, seeds, 20, n) for n in (1, threads))
    np.testing.assert_array_equal(one.labels, other.labels)
    assert one.inertia == other.inertia


def test_columns_beyond_the_weights_do_not_count():
    rng = np.random.default_rng(0)
    H = rng.integers(0, 3, (40, 9)).astype(np.uint8)
    alphas, seeds = np.ones(4), np.zeros(1, np.uint64)
    part = native.hypotheses_k_means(np.ascontiguousarray(H[:, :4]), alphas, 3, 3, seeds, 50, 1)
    np.testing.assert_array_equal(
        native.hypotheses_k_means(H, alphas, 3, 3, seeds, 50, 1).labels, part.labels
    )


def test_the_kernel_as_an_operator():
    rng = np.random.default_rng(0)
    H, alphas = rng.integers(0, 4, (30, 7)).astype(np.uint8), rng.random(7)
    K = plain.kernel_of(H.T, alphas)
    operator = CoMembership(H, alphas)
    V = rng.normal(size=(30, 3))
    np.testing.assert_allclose(operator @ V, K @ V)
    np.testing.assert_allclose(operator @ V[:, 0], K @ V[:, 0])
    np.testing.assert_allclose(operator.T @ V, K @ V)
    np.testing.assert_allclose(operator.toarray(), K)
    np.testing.assert_allclose(operator.row(4), K[4])
    np.testing.assert_allclose(operator.diagonal(), K.diagonal())
    assert operator.entry(3, 8) == pytest.approx(K[3, 8])


# ---------------------------------------------------------------- what they give
def test_boosting_keeps_what_one_run_cannot():
    X, y = load_iris(return_X_y=True)
    c = lw.Constraints.sample(y, 558, 0)
    alone, boosted = (
        lw.CKM(3, random_state=0).fit(X, constraints=c),
        lw.BCKM(3, random_state=0).fit(X, constraints=c),
    )
    nmi = normalized_mutual_info_score(y, boosted.labels_, average_method="geometric")
    assert boosted.violations_ < alone.violations_
    assert nmi > 0.95


def test_a_consistent_round_is_the_last_and_weighs_most():
    X, y = blobs(spread=0.2)
    model = lw.BCKM(3, random_state=0, alpha_star=7.0).fit(X, constraints=lw.Constraints.sample(y, 50, 0))
    assert (model.reason_, model.alphas_[-1], model.errors_[-1]) == ("consistent", 7.0, 0.0)
    assert model.violations_ == 0
    assert adjusted_rand_score(y, model.labels_) == 1


def test_rounds_end_when_there_were_enough():
    X, y = blobs(spread=6.0)
    model = lw.BCKM(3, n_rounds=4, random_state=0).fit(X, constraints=lw.Constraints.sample(y, 300, 0))
    assert (model.reason_, model.n_rounds_, model.hypotheses_.shape) == ("rounds", 4, (60, 4))
    assert model.hypotheses_.dtype == np.uint8


def test_constraints_that_no_clustering_fits_warn():
    X = np.array([[0.0], [1.0], [9.0]])
    c = lw.Constraints(3, (), [(0, 1)])
    with pytest.warns(ConstraintWarning, match="The first round breaks 100% of the constraints"):
        model = lw.BCKM(1, random_state=0).fit(X, constraints=c)
    assert (model.reason_, model.n_rounds_) == ("half is broken", 1)


def test_contradictions_stop_nobody():
    X, _ = blobs()
    with pytest.warns(ConstraintWarning):
        c = lw.Constraints(60, [(0, 3), (3, 6)], [(0, 6), (0, 1), (0, 6)], on_conflict="keep")
    for method in (lw.CKM, lw.RCKM, lw.BCKM):
        assert method(3, random_state=0).fit(X, constraints=c).violations_ == 1


def test_bent_clusters_under_a_local_kernel():
    X, y = make_moons(200, noise=0.05, random_state=0)
    c = lw.Constraints.sample(y, 200, 0)
    straight, bent = (
        lw.BCKM(2, kernel=kernel, random_state=0).fit(X, constraints=c) for kernel in ("linear", "rbf")
    )
    assert adjusted_rand_score(y, bent.labels_) > 0.95
    K = scale_locally(native.squared_distances(X, X, 1))
    given = lw.BCKM(2, kernel="precomputed", random_state=0).fit(K, constraints=c)
    np.testing.assert_array_equal(given.labels_, bent.labels_)
    assert straight.hypotheses_.shape[0] == 200


def test_rounds_without_boosting():
    X, y = blobs(spread=2.5)
    c = lw.Constraints.sample(y, 150, 0)
    model = lw.RCKM(3, n_rounds=20, random_state=0).fit(X, constraints=c)
    assert (model.errors_ < 0.5).all()
    some = model.errors_ > 0
    np.testing.assert_allclose(model.alphas_[some], np.log(1 / model.errors_[some] - 1) / 2)
    equal = lw.RCKM(3, n_rounds=20, weights="equal", random_state=0).fit(X, constraints=c)
    assert (equal.alphas_ == 1).all()


def test_heavier_constraints_come_first():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    c = lw.Constraints(4, [(0, 2)], [(0, 1), (1, 2)], cannot_link_weight=[1, 1], must_link_weight=[9])
    pairs = list_pairs(c)
    assert order_by_priority(pairs, pairs.weight, np.random.default_rng(0))[0] == 0
    assert order_by_priority(pairs, np.ones(3), np.random.default_rng(0), "columns").tolist() == [1, 0, 2]
    assert (
        lw.CKM(2, random_state=0).fit(X, constraints=c).labels_[0]
        == lw.CKM(2, random_state=0).fit(X, constraints=c).labels_[2]
    )


def test_as_the_authors_program():
    model = lw.CKM.authors(3)
    assert (model.init, model.convergence, model.ties, model.n_init) == (
        "farthest",
        "first rise",
        "columns",
        1,
    )
    assert lw.BCKM.authors(3, n_rounds=9).get_params()["n_rounds"] == 9
    X, y = load_iris(return_X_y=True)
    c = lw.Constraints.sample(y, 558, 0)
    for method in (lw.CKM.authors, lw.BCKM.authors):
        np.testing.assert_array_equal(
            method(3, random_state=0).fit(X, constraints=c).labels_,
            method(3, random_state=0).fit(X, constraints=c).labels_,
        )


# ---------------------------------------------------------------- as printed
@pytest.mark.parametrize("seed", range(12))
def test_one_run_as_printed(seed):
    """Algorithm 2: the result is the last pass, also where an earlier one or plain k-means breaks less."""
    X, y = blobs(spread=2.5, seed=seed)
    c = lw.Constraints.sample(y, 60, seed)
    pairs = list_pairs(c)
    order = order_by_priority(pairs, pairs.weight, rng_at(seed, 0))
    first = X[[0, 1, 2]]
    model = lw.CKM.paper(3, init=first, random_state=seed).fit(X, constraints=c)
    expected = plain.constrained_k_means(X, first, pairs.ends[order], pairs.must[order])
    assert adjusted_rand_score(expected, model.labels_) == 1
    assert not model.fell_back_
    assert model.n_init == 1


@pytest.mark.parametrize("init", ["k-means++", "farthest"])
@pytest.mark.parametrize("same_centers", [True, False])
@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow(nightly=True)) for seed in range(3, 12))]
)
def test_rounds_as_printed(seed, same_centers, init):
    """Algorithm 3: no round is tried again, and none has more than one start."""
    X, y = blobs(spread=1.5 + seed % 3, seed=seed)
    c = lw.Constraints.sample(y, 150, seed)
    pairs = list_pairs(c)
    signs = np.where(pairs.must, 1, -1)

    def draws(t):
        rng = rng_at(seed, 0, t, 0)
        shuffled = rng.permutation(len(signs))
        return shuffled, Vectors(X).choose_centers(3, rng_at(seed, 1) if same_centers else rng, init).at

    changes = {"init": init} | ({} if same_centers else {"same_centers": False})
    model = lw.BCKM.paper(3, n_rounds=12, random_state=seed, **changes).fit(X, constraints=c)
    hypotheses, alphas, reason = plain.rounds_as_printed(X, pairs.ends, signs, draws, 12)
    assert (model.reason_, model.n_rounds_) == (reason, len(alphas))
    np.testing.assert_array_equal(model.hypotheses_.T, hypotheses)
    np.testing.assert_allclose(model.alphas_, alphas, rtol=1e-9)
    assert not model.fell_back_


@pytest.mark.parametrize(("first_tries", "later_tries"), [(1, 1), (4, 1), (1, 3)])
def test_rounds_are_tried_as_often_as_asked(monkeypatch, first_tries, later_tries):
    tried = []
    monkeypatch.setattr(
        lw.BCKM, "_run", lambda *args: tried.append(1) or WeakClustering(None, np.ones(1), 0.7, None, 1)
    )
    model = lw.BCKM(2, first_tries=first_tries, later_tries=later_tries)
    for t, expected in ((0, first_tries), (1, later_tries), (7, later_tries)):
        tried.clear()
        model._round(None, None, t)
        assert len(tried) == expected


@pytest.mark.parametrize("init", ["k-means++", "farthest"])
def test_rounds_in_random_order_from_the_same_centres(init):
    """The first pass of a round depends on its order alone; rounds are as printed (Algorithm 2)."""
    X, y = blobs(spread=2.5)
    c = lw.Constraints.sample(y, 100, 0)
    pairs = list_pairs(c)
    model = lw.RCKM.paper(3, n_rounds=8, init=init, random_state=5).fit(X, constraints=c)
    centers = Vectors(X).choose_centers(3, rng_at(5, 1), init).at
    expected = []
    for t in range(8):
        order = rng_at(5, 0, t).permutation(100)
        labels = plain.constrained_k_means(X, centers, pairs.ends[order], pairs.must[order])
        same = labels[pairs.ends[:, 0]] == labels[pairs.ends[:, 1]]
        if (same != pairs.must).mean() < 0.5:
            expected.append(labels)
    np.testing.assert_array_equal(model.hypotheses_.T, expected)


@pytest.mark.parametrize("method", [lw.BCKM, lw.RCKM])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("same_centers", [True, False])
def test_all_rounds_of_a_fit_share_their_centres_if_asked(monkeypatch, method, kernel, same_centers):
    X, y = blobs(spread=2.5)
    starts = []
    for space in (Vectors, Similarities):
        run = space.run_passes
        monkeypatch.setattr(
            space,
            "run_passes",
            lambda self, means, plan, run=run: starts.append(repr(means)) or run(self, means, plan),
        )
    parameters = {"n_rounds": 6, "kernel": kernel, "fallback": False, "random_state": 1}
    model = method(3, same_centers=same_centers, **parameters)
    model.fit(X, constraints=lw.Constraints.sample(y, 100, 0))
    assert len(starts) >= model.n_rounds_ == 6
    assert (len(set(starts)) == 1) is same_centers


def test_starts_from_the_same_centres_differ_in_order_alone():
    X, y = blobs(spread=2.0)
    c = lw.Constraints.sample(y, 6, 1)
    one, many = (
        lw.BCKM(3, same_centers=True, ties="columns", last_starts=n, random_state=0).fit(X, constraints=c)
        for n in (1, 10)
    )
    assert one.reason_ == "consistent"
    np.testing.assert_array_equal(one.labels_, many.labels_)


@pytest.mark.parametrize("convergence", ["repeat", "stable", "first rise"])
def test_patience_ends_passes_that_bring_nothing_better(convergence):
    """Only the default ends by it: the printed method passes until labels repeat."""
    X, y = blobs(200, spread=4.0)
    y[::3] = np.random.default_rng(0).integers(0, 3, len(y[::3]))
    pairs = list_pairs(lw.Constraints.sample(y, 150, 0))
    share = pairs.weight / pairs.weight.sum()
    space = Vectors(X)

    def passes(patience):
        calls = []
        watched = SimpleNamespace(
            n=space.n,
            two_nearest=lambda means: calls.append(1) or space.two_nearest(means),
            update_means=space.update_means,
            run_passes=lambda means, plan: None,
        )
        means = space.choose_centers(3, np.random.default_rng(3), "k-means++")
        order = order_by_priority(pairs, share, np.random.default_rng(3))
        found = constrained_k_means(
            watched, means, pairs, order, share, 100, convergence=convergence, patience=patience
        )
        return len(calls), found

    one, few, any_number = passes(1), passes(10), passes(None)
    assert (one[0] < few[0] < any_number[0]) == (convergence == "repeat")
    if convergence == "repeat":
        assert few[0] == few[1].n_passes + 10
        assert one[1].loss >= few[1].loss >= any_number[1].loss
    else:
        assert one[0] == few[0] == any_number[0]


@pytest.mark.parametrize("method", [partial(lw.CKM, n_init=1), lw.RCKM, lw.BCKM])
def test_patience_reaches_the_rounds(method):
    X, y = blobs(200, spread=4.0)
    y[::3] = np.random.default_rng(0).integers(0, 3, len(y[::3]))
    c = lw.Constraints.sample(y, 400, 0)
    short, long = (
        method(3, patience=patience, fallback=False, random_state=3).fit(X, constraints=c).labels_
        for patience in (1, None)
    )
    assert (short != long).any()


def test_starts_of_the_round_that_breaks_nothing():
    X, y = blobs(spread=2.0)
    c = lw.Constraints.sample(y, 6, 1)
    default, same, one = (
        lw.BCKM(3, last_starts=starts, random_state=0).fit(X, constraints=c) for starts in (None, 10, 1)
    )
    np.testing.assert_array_equal(default.labels_, same.labels_)

    def inertia(model):
        return sum(
            ((X[model.labels_ == c] - X[model.labels_ == c].mean(axis=0)) ** 2).sum() for c in range(3)
        )

    assert one.reason_ == default.reason_ == "consistent"
    assert inertia(default) < inertia(one)


@pytest.mark.parametrize("method", [lw.CKM, lw.RCKM, lw.BCKM])
@pytest.mark.parametrize(("kernel", "seed"), [("linear", 3), ("rbf", 2)])
def test_plain_k_means_is_returned_only_if_asked(method, kernel, seed):
    """Some rows have the labels of others, so that a single round breaks more than k-means does."""
    X, y = blobs(spread=0.3)
    rng = np.random.default_rng(seed)
    y[rng.permutation(60)[:6]] = rng.integers(0, 3, 6)
    c = lw.Constraints.sample(y, 400, seed)
    parameters = {"kernel": kernel, "random_state": 0, "n_init": 1}
    if method is not lw.CKM:
        parameters["n_rounds"] = 1
    default = method(3, **parameters).fit(X, constraints=c)
    without = method(3, fallback=False, **parameters).fit(X, constraints=c)
    assert default.fell_back_
    assert not without.fell_back_
    assert without.violations_ > default.violations_


def test_the_presets_say_what_they_change():
    common = {"convergence": "stable", "fallback": False}
    rounds = {"last_starts": 1, "first_tries": 1, "later_tries": 1}
    weak = {"init": "farthest", "convergence": "first rise", "full_distances": False, "refill": False}
    program = weak | {"ties": "columns"}
    for preset, expected in (
        (lw.CKM.paper, common | {"n_init": 1}),
        (lw.CKM.authors, common | {"n_init": 1} | program),
        (lw.RCKM.paper, common | {"same_centers": True}),
        (lw.RCKM.authors, common | weak | {"same_centers": True}),
        (lw.BCKM.paper, common | rounds | {"same_centers": True}),
        (lw.BCKM.authors, common | rounds | program),
    ):
        method = preset.__self__
        assert preset(4).get_params() == method(4).get_params() | expected
        assert preset(4, fallback=True).fallback is True


# ---------------------------------------------------------------- new rows
@pytest.mark.parametrize("form", [np.array, csr_array])
@pytest.mark.parametrize("n", [30, 300])
def test_the_rule_keeps_what_is_smaller_and_no_view_of_the_rows(form, n):
    X, y = blobs(n, spread=3.0)
    rows, before = form(X), form(X)
    c = lw.Constraints.sample(y, 300, random_state=0)
    model = lw.BCKM(3, n_rounds=20, last_starts=1, random_state=0).fit(rows, constraints=c)
    assert model.n_rounds_ == 20
    assert isinstance(model._rule.rounds, list if n > 20 * 3 else LabelledRows)
    expected = model.predict(before)
    every = [Centers.of(before, labels) for labels in model.hypotheses_.T]
    assert (model._rule._replace(rounds=every).find(before) == expected).all()
    rows *= 0
    assert (model.predict(before) == expected).all()


# ---------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("model", "X", "error", "words"),
    [
        (lw.BCKM(2, kernel="precomputed"), np.eye(3)[:, :2], ValueError, "a square matrix"),
        (
            lw.BCKM(2, kernel="precomputed"),
            np.triu(np.ones((3, 3))),
            ValueError,
            r"symmetric\. Pass \(X \+ X.T\)",
        ),
        (lw.BCKM(2, kernel="precomputed"), csr_array(np.eye(3)), TypeError, "Pass X.toarray"),
        (
            lw.CKM(2, kernel="rbf", init=np.ones((2, 2))),
            np.eye(3)[:, :2],
            ValueError,
            "init gives centres, but",
        ),
        (
            lw.CKM(2, init=np.ones((3, 2))),
            np.eye(3)[:, :2],
            ValueError,
            "Pass 2 centres of 2 finite features",
        ),
    ],
)
def test_bad_arguments_raise_errors(model, X, error, words):
    with pytest.raises(error, match=words):
        model.fit(X, constraints=lw.Constraints(3, (), [(0, 1)]))


def test_too_many_rows_for_similarities_raise_an_error(monkeypatch):
    monkeypatch.setattr("linkwise.cluster.similarity.spaces.MOST_SIMILARITIES", 10)
    with pytest.raises(ValueError, match=r"of 12 rows, but at most 10 .* kernel='linear'"):
        lw.BCKM(2, kernel="rbf").fit(np.arange(12.0)[:, None])


@pytest.mark.parametrize("make", [lw.BCKM, lw.RCKM, lw.CKM, lw.PCP])
def test_there_is_no_predict_where_only_similarities_are_given(make):
    assert not hasattr(make(kernel="precomputed"), "predict")
    assert not hasattr(make(kernel="precomputed"), "score")
    assert hasattr(make(), "predict")
    assert hasattr(make(kernel="rbf"), "predict")


@pytest.mark.parametrize("method", [lw.BCKM, lw.RCKM])
@pytest.mark.parametrize("light", [1e-300, 5e-324])
def test_a_round_that_breaks_what_weighs_next_to_nothing(method, light):
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    weights = {"must_link_weight": [light] * 2, "cannot_link_weight": [1, light, 1, 1]}
    c = lw.Constraints(6, [(0, 3), (1, 4)], [(0, 1), (2, 5), (1, 2), (3, 4)], **weights)
    model = method(2, random_state=0).fit(X, constraints=c)
    assert np.isfinite(model.alphas_).all()


def test_the_kernel_refuses_pairs_that_are_not_there():
    near = native.two_nearest(np.zeros((2, 1)), np.zeros((1, 1)), 1)
    pairs, must = np.array([[0, 1]], dtype=np.int32), np.ones(1, dtype=np.uint8)
    with pytest.raises(ValueError, match="order"):
        native.assign_by_priority(near, pairs, must, np.array([10**9], dtype=np.int32))


@pytest.mark.parametrize(
    "K",
    [-np.eye(4), 1 - np.eye(4), np.abs(np.arange(4.0)[:, None] - np.arange(4.0))],
    ids=["negative", "0", "far"],
)
def test_distances_instead_of_similarities_raise_errors(K):
    with pytest.raises(ValueError, match="these look like distances"):
        lw.BCKM(2, kernel="precomputed").fit(K)


@pytest.mark.slow
def test_wide_sparse_rows_are_never_made_dense(monkeypatch):
    X = csr_array((np.ones(6), (np.arange(6), np.arange(6))), shape=(6, 10**6))
    c = lw.Constraints(6, [(0, 1)], [(0, 2)])
    assert lw.BCKM(2, n_rounds=3, random_state=0).fit(X, constraints=c).violations_ == 0
    monkeypatch.setattr("linkwise.cluster.similarity.spaces.FEW_SPARSE", 3)
    assert isinstance(make_space(X, "linear"), Vectors)
