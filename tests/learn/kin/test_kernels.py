"""The kernels of KIN against plain ones, and its items."""

import numpy as np
import pytest

import linkwise as lw
from linkwise import native
from linkwise.learn.kin import kernels
from linkwise.learn.kin.kernels import PARTS, TREES, ForestKernel, MixedKernel
from linkwise.learn.oracles import TruthOracle
from reference import forest as twin
from reference import kin as plain

SEED = 3


@pytest.mark.parametrize("n", [2, 3, 7, 60, 300])
def test_the_kernels_are_those_of_the_definition(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 4)) * [1, 5, 0.1, 1]
    views = kernels.make_views(kernels.scale_rows(X))
    found, by_view = kernels.make_kernels(views, SEED), []
    for number, view in enumerate(views):
        median = kernels.median_distance(kernels.squared_distances(view), kernels.draw_pairs(n, SEED))
        ks = [k for k in kernels.CLUSTERINGS if k < n]
        labels = [kernels._cluster(view, k, (SEED, number, k)) for k in ks]
        (wide, narrow), (short, long), tuned, together = plain.kernels_of_view(view, median, labels)
        joined = [together] if ks else []
        by_view.append([np.mean([wide, narrow, short, long, *joined], axis=0),
                        (short + long) / 2, wide, tuned, *joined])  # fmt: skip
    mean, *families = [np.mean(each, axis=0) for each in zip(*by_view, strict=True)]
    np.testing.assert_allclose(found.mean, mean, atol=2e-4)
    assert len(found.families) == len(families)
    for one, other in zip(found.among(np.arange(n))[1:], families, strict=True):
        np.testing.assert_allclose(one.astype(float), other, atol=1e-3)
    for each in found.among(np.arange(n)):
        np.testing.assert_array_equal(each, each.T)
        assert (each.diagonal() == 1).all()


def test_a_mixture_is_the_weighted_mean():
    rng = np.random.default_rng(0)
    found = kernels.make_kernels([rng.normal(size=(600, 3))], SEED)
    weights = (0.5, 0.2, 0.0, 0.1, 0.2)
    wanted = sum(w * each for w, each in zip(weights, found.among(np.arange(600)), strict=True))
    every = np.arange(600)
    np.testing.assert_allclose(MixedKernel(found, weights).rows(every), wanted, atol=1e-6)
    np.testing.assert_array_equal(MixedKernel(found, (1.0, 0, 0, 0, 0)).rows(every), found.mean)
    np.testing.assert_array_equal(MixedKernel(found).rows(every), found.mean)


@pytest.mark.parametrize("n", [5, 130, 300])
@pytest.mark.parametrize("weights", [(), (0.5, 0.2, 0.0, 0.1, 0.2)], ids=["mean", "weighted"])
@pytest.mark.parametrize("has_forest", [False, True], ids=["no forest", "forest"])
def test_a_lower_triangle_has_the_bits_of_the_rows(n, weights, has_forest):
    """The covariance begins with the one, and the regression reads the others."""
    rng = np.random.default_rng(n)
    found = kernels.make_kernels([rng.normal(size=(n, 3))], SEED)
    forest = None
    if has_forest:
        grown = ForestKernel(rng.normal(size=(n, 3)), np.arange(5), np.arange(5) % 2, SEED)
        forest = grown.share()
    kernel, every = MixedKernel(found, weights, forest), np.arange(n)
    rows = kernel.rows(every)
    for threads in (1, 3):
        out = np.full((n, n), 7, dtype=np.float32)
        native.mix_lower(out, kernel._mean, kernel._families, kernel._factors, forest, threads)
        np.testing.assert_array_equal(np.tril(out), np.tril(rows))
        assert (out[np.triu_indices(n, 1)] == 7).all()
    np.testing.assert_array_equal(rows, rows.T)
    if forest is not None:
        leaves = np.hstack(grown._leaves)
        share = forest.factor * TREES * PARTS
        plain_mix = rows_of_mean(found, weights) * (1 - share) + share * twin.shared(leaves) / 100
        np.testing.assert_allclose(rows, plain_mix, atol=1e-6)
        assert forest.kept == pytest.approx(1 - share)


def rows_of_mean(found, weights):
    among = found.among(np.arange(len(found.mean)))
    return sum(w * each for w, each in zip(weights or (1.0,), among, strict=False))


def test_one_item_is_like_itself():
    found = kernels.make_kernels([np.zeros((1, 1))], SEED)
    assert found.mean.tolist() == [[1]]
    assert found.families == ()


def test_parts_that_nothing_connects_are_inverted_one_by_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2)) + rng.permutation(np.repeat([0.0, 40.0, 90.0], 30))[:, None]
    squares = kernels.squared_distances(X)
    graph = kernels.connect_neighbours(squares, native.smallest_columns(squares, 11, 1))
    total = np.full((90, 90), 0.5, dtype=np.float32)
    kernels.add_diffusion(total, graph, np.empty((90, 90), dtype=np.float32))
    wanted = np.full((90, 90), 0.5)
    for share in kernels.DIFFUSION:
        walk = np.linalg.inv(np.eye(90) - share * graph.toarray())
        root = np.sqrt(np.diag(walk))
        wanted += walk / np.outer(root, root)
    np.testing.assert_allclose(np.tril(total), np.tril(wanted), atol=1e-5)
    assert (total[np.tril(np.abs(X[:, :1] - X[:, 0]) > 30)] == 0.5).all()


def test_views_have_the_stated_spread():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 5)) * [1, 10, 100, 1, 1]
    X[:, 4] = 7.0
    rows, scaled, white = kernels.make_views(kernels.scale_rows(X))
    assert rows.shape == (200, 4)
    np.testing.assert_allclose(scaled.std(axis=0), 1)
    np.testing.assert_allclose(white.T @ white / 200, np.eye(white.shape[1]), atol=1e-9)
    assert white.shape[1] <= 3


@pytest.mark.parametrize("shape", [(60, 7), (60, 60), (30, 90)])
def test_whitened_rows_have_the_distances_of_the_singular_vectors(shape):
    rows = np.random.default_rng(0).standard_normal(shape)
    rows[:, :5] *= 100  # the others are below the limit
    rows = kernels.scale_rows(rows)
    left, singular, _ = np.linalg.svd(rows, full_matrices=False)
    strong = left[:, singular > kernels.WHITENED * singular[0]]
    assert strong.shape[1] == 5
    white = kernels.make_views(rows)[2]
    np.testing.assert_allclose(white @ white.T, len(rows) * strong @ strong.T, atol=1e-8)


def test_columns_that_do_not_vary_change_nothing():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 3)) + 2 * rng.normal(size=(3, 3))[y]
    asked = []
    for each in (X, np.c_[np.full(60, 9.0), X, np.zeros(60)]):
        said = []

        def oracle(i, j, said=said):
            said.append((i, j))
            return bool(y[i] == y[j])

        model = lw.KIN(random_state=SEED).fit(each, oracle=oracle, budget=25)
        asked.append((said, model.labels_.tolist(), model.proba_.tolist()))
    assert asked[0] == asked[1]


def test_more_distinct_rows_than_items(monkeypatch):
    """Up to the limit each row is an item; beyond it small clusters are, and rows that tie are one."""
    monkeypatch.setattr(kernels, "MOST_ITEMS", 50)
    monkeypatch.setattr(kernels, "SMALL_CLUSTERS", 20)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(51, 2))
    assert kernels.make_items(np.repeat(X[:50], 3, axis=0), 0).centers is None
    items = kernels.make_items(X, 0)
    assert items.centers is not None
    assert len(items.first) <= 20
    y = (X[:, 0] > 0).astype(int)
    model = lw.KIN(random_state=0).fit(X, oracle=TruthOracle(y))
    assert model.violations_ == 0
