"""Clustering trees on rows that are read in chunks."""

from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from distributed import Client, LocalCluster
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

import linkwise as lw
from linkwise.large import chunks, label_files, tree_models, tree_passes

BLOBS, Y = make_blobs(1000, 3, centers=5, cluster_std=2.5, random_state=0)
X = BLOBS.astype(np.float32)
FEW = np.clip(np.round(X), -8, 8).astype(np.float32)  # so few values that each is an edge
C = lw.Constraints.sample(Y, 40, random_state=0)
PAIRS = {"must_link": C.must_link, "cannot_link": C.cannot_link}
SMALL = {**PAIRS, "n_sample": 300}
MODELS = {
    "clusters": lw.ClusILC(5),
    "leaves": lw.ClusILC(max_leaves=7, gamma=0.2, min_samples_leaf=20),
    "beam": lw.ClusILC(4, beam_width=3, max_depth=4),
    "any label": lw.ClusILC.paper(4, max_leaves=9),
    "raw": lw.ClusILC.authors(5, gamma=0.9),
}


def small_blocks(n=64):
    return patch.object(chunks, "BLOCK", n)


def bytes_of(found):
    model = found.model
    arrays = [model.heuristics_, model.tree_.label, found.sizes, found.constrained_labels]
    return [model.tree_.tests, *((each.dtype, each.tobytes()) for each in arrays)]


def assert_same_tree(found, model, rows):
    assert found.model.tree_.tests == model.tree_.tests
    np.testing.assert_array_equal(found.model.tree_.label, model.tree_.label)
    np.testing.assert_allclose(found.model.heuristics_, model.heuristics_, rtol=1e-9)
    for name in ("n_clusters_", "n_leaves_", "violations_", "n_features_in_"):
        assert getattr(found.model, name) == getattr(model, name), name
    np.testing.assert_array_equal(found.predict(rows), model.labels_)
    np.testing.assert_array_equal(found.sizes, np.bincount(model.labels_))
    np.testing.assert_array_equal(found.constrained_labels, model.labels_[found.constrained_rows])


# ---------------------------------------------------------------- as in memory
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_tree_is_that_of_fit_if_each_value_is_an_edge(model):
    with small_blocks():
        found = lw.cluster_rows(model, FEW, **SMALL)
    assert found.n_sampled < len(FEW)
    assert not hasattr(model, "tree_")
    assert_same_tree(found, model.fit(FEW, constraints=C), FEW)
    del model.tree_


@pytest.mark.filterwarnings("ignore:A cannot-link separates rows .*, which are identical")
@pytest.mark.parametrize("seed", range(8))
def test_the_tree_is_that_of_fit_on_other_rows(seed):
    rng = np.random.default_rng(seed)
    d, y = 1 + seed % 4, rng.integers(0, 4, 600)
    rows = np.clip(np.round(rng.normal(size=(600, d)) + y[:, None] * rng.normal(size=d)), -2, 4)
    c = lw.Constraints.sample(y, 5 * seed, random_state=seed)
    pairs = {"must_link": c.must_link, "cannot_link": c.cannot_link}
    model = lw.ClusILC(2 + seed % 3, gamma=0.3)
    with small_blocks():
        found = lw.cluster_rows(model, rows, **pairs, n_sample=400)
    assert_same_tree(found, model.fit(rows.astype(np.float32), constraints=c), rows)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_sample_of_all_rows_gives_what_fit_gives(model):
    with small_blocks():
        found = lw.cluster_rows(model, X, **PAIRS)
    assert found.n_sampled == found.n_rows == len(X)
    assert_same_tree(found, lw.ClusILC(**model.get_params()).fit(X, constraints=C), X)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_heuristic_counts_all_rows(model):
    """Cuts are between bins, but each counts exactly what it does."""
    with small_blocks(), patch.object(tree_passes, "EDGES", 20):
        found = lw.cluster_rows(model, X, **SMALL)
    features = X.astype(float) - X.mean(axis=0, dtype=float)
    if model.standardize:
        features /= np.sqrt((features**2).sum(axis=0))
    leaves = found.model.tree_.apply(X)
    within = sum(
        ((features[leaves == leaf] - features[leaves == leaf].mean(axis=0)) ** 2).sum()
        for leaf in np.unique(leaves)
    )
    labels = found.predict(X)
    root = lw.ClusILC(gamma=model.gamma, standardize=model.standardize, max_leaves=1).fit(X, constraints=C)
    implied = found_implied(labels)
    expected = (1 - model.gamma) * within / (features**2).sum() + model.gamma * implied
    assert root.heuristic_ > found.model.heuristic_ == pytest.approx(expected, rel=1e-6)
    assert min(np.bincount(leaves, minlength=1)[np.unique(leaves)]) >= model.min_samples_leaf


def found_implied(labels):
    """Share of the constraints, implied ones included, that labels break."""
    component, rows = C.component, np.unique(np.r_[C.must_link.ravel(), C.cannot_link.ravel()])
    apart = {frozenset(pair) for pair in C.component_cannot_link.tolist()}
    n, broken = 0, 0
    for at, a in enumerate(rows):
        for b in rows[at + 1 :]:
            if component[a] == component[b]:
                n, broken = n + 1, broken + (labels[a] != labels[b])
            elif frozenset((component[a], component[b])) in apart:
                n, broken = n + 1, broken + (labels[a] == labels[b])
    return broken / n


def test_values_of_rows_with_constraints_are_edges():
    """The sample has no row near the border that the constraints draw."""
    rows = np.r_[np.linspace(0, 1, 500), np.linspace(2, 3, 500)].astype(np.float32)[:, None]
    pair = {"cannot_link": [(40, 41)], "n_sample": 2}
    found = lw.cluster_rows(lw.ClusILC(2, gamma=1.0), rows, **pair)
    ((test, *_),) = [[each for each in found.model.tree_.tests if each is not None]]
    assert rows[40, 0] < test.value < rows[41, 0]
    assert found.model.violations_ == 0


def test_rows_without_constraints():
    with small_blocks():
        found = lw.cluster_rows(lw.ClusILC(4), FEW, n_sample=300)
    assert_same_tree(found, lw.ClusILC(4).fit(FEW), FEW)
    assert len(found.constrained_labels) == 0


def test_columns_that_do_not_vary_have_no_test():
    table = np.column_stack([np.full(len(FEW), 0.1), FEW]).astype(np.float32)
    with small_blocks():
        found = lw.cluster_rows(lw.ClusILC(5), table, **SMALL)
        alike = lw.cluster_rows(lw.ClusILC(5), table[:, :1], n_sample=300)
    assert_same_tree(found, lw.ClusILC(5).fit(table, constraints=C), table)
    assert alike.sizes.tolist() == [len(table)]


def test_columns_of_other_units_are_scaled():
    with small_blocks():
        found = lw.cluster_rows(MODELS["raw"], FEW * np.float32([1, 1024, 1]), **SMALL, scale="standard")
        other = lw.cluster_rows(MODELS["raw"], FEW, **SMALL, scale="standard")
    np.testing.assert_array_equal(found.predict(FEW * np.float32([1, 1024, 1])), other.predict(FEW))


# ---------------------------------------------------------------- passes
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_splits_that_are_read_ahead_change_nothing(model):
    passes, alone = [], []
    with small_blocks():
        found = lw.cluster_rows(model, X, **SMALL, progress=lambda *now: passes.append(now))
        with patch.object(tree_passes, "MOST", 0):
            other = lw.cluster_rows(model, X, **SMALL, progress=lambda *now: alone.append(now))
    assert bytes_of(found) == bytes_of(other)
    assert len(passes) < len(alone) or model.max_leaves is None
    assert [done for done, _ in passes] == list(range(1, len(passes) + 1))
    if model.beam_width == 1:
        assert len(passes) <= len(alone) == found.model.n_leaves_


@settings(max_examples=20)
@given(
    st.lists(st.integers(0, len(X)), max_size=12), st.integers(1, 3), st.sampled_from(list(MODELS.values()))
)
def test_chunks_and_threads_change_no_bit(places, n_threads, model):
    with small_blocks():
        expected = bytes_of(lw.cluster_rows(model, X, **SMALL))
        with patch.dict("os.environ", OMP_NUM_THREADS=str(n_threads)):
            found = lw.cluster_rows(model, lambda: iter(np.split(X, sorted(places))), **SMALL)
    assert bytes_of(found) == expected


def test_workers_change_no_bit(tmp_path):
    rows = np.tile(X, (140, 1)) + np.arange(140, dtype=np.float32).repeat(len(X))[:, None] / 100
    np.save(tmp_path / "rows.npy", rows)
    here = lw.cluster_rows(lw.ClusILC(5), rows, **SMALL)
    parts = here.write_labels(tmp_path / "rows.npy", tmp_path / "here")
    there = lw.cluster_rows(lw.ClusILC(5), tmp_path / "rows.npy", **SMALL, backend="loky", n_jobs=2)
    assert bytes_of(there) == bytes_of(here)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        found = lw.cluster_rows(lw.ClusILC(5), tmp_path / "rows.npy", **SMALL, backend="dask")
        written = found.write_labels(tmp_path / "rows.npy", tmp_path / "there", backend="dask")
    assert bytes_of(found) == bytes_of(here)
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in parts]


def test_labels_are_written(tmp_path):
    with small_blocks(), patch.object(label_files, "PART", 256), patch.object(label_files, "BLOCK", 64):
        found = lw.cluster_rows(lw.ClusILC(5), X, **SMALL)
        parts = found.write_labels(X, tmp_path / "labels")
        other = lw.cluster_rows(lw.ClusILC(4), X, **SMALL)
        with pytest.raises(lw.DataError, match="another clustering"):
            other.write_labels(X, tmp_path / "labels")
    written = pl.concat([pl.read_parquet(part) for part in parts])
    np.testing.assert_array_equal(written["cluster"], found.predict(X))


# ---------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lw.ClusILC(3, nominal=[0]), "Pass a column of 0 and 1 for each category"),
        (lw.ClusILC(), "Set max_leaves, or n_clusters"),
        (lw.ClusILC.paper(3), "Set max_leaves, or n_clusters"),
        (lw.ClusILC(3, gamma=2), "gamma"),
        (lw.ClusILC(1001), "n_samples=1000 should be >= n_clusters=1001"),
    ],
)
def test_models_that_cannot_be_fitted_to_chunks(model, message):
    with pytest.raises(ValueError, match=message):
        lw.cluster_rows(model, X, **SMALL)


@pytest.mark.parametrize(
    ("second", "n_good"), [(X[:-1], 2), (X[:, :2], 2), (X[:-1], 3), (X[:, :2], 3), (X * 2, 3)]
)
def test_rows_that_change_between_the_passes(second, n_good):
    turns = iter([*[[X]] * n_good, *[[second]] * 200])
    with pytest.raises(lw.DataError, match="data have changed"):
        lw.cluster_rows(lw.ClusILC(5), lambda: next(turns), **SMALL)


def test_edges_are_quantiles_of_a_sample_and_own_values():
    sample = np.arange(1000, dtype=np.float32)[:, None]
    own = np.array([[0.5], [3.0]], dtype=np.float32)
    (edges,) = tree_models.find_edges(sample, own)
    assert len(edges) <= tree_passes.EDGES + 2
    assert {0.0, 0.5, 3.0, 999.0} <= set(edges.tolist())
    assert np.diff(edges).max() <= 5
