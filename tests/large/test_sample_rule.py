"""COBS on rows that are read in chunks: it is fitted to a sample, and its rule assigns all rows."""

from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.errors import DataError
from linkwise.large import chunks
from linkwise.select.clusterings import Preset

BLOBS, Y = make_blobs(1500, 3, centers=4, cluster_std=1.0, random_state=3)
X = ((BLOBS - BLOBS.min(axis=0)) / np.ptp(BLOBS, axis=0)).astype(np.float32)
C = lw.Constraints.sample(Y, 40, random_state=0)
PAIRS = {"must_link": C.must_link, "cannot_link": C.cannot_link}
K_MEANS = Preset(clusters=(3, 4, 5), n_runs=2, n_eps=0, neighbours=(), sigmas=())
DBSCAN = Preset(clusters=(), n_runs=0, n_eps=12, min_pts=(4, 8), neighbours=(), sigmas=())
PRESETS = {"quick": "quick", "k-means": K_MEANS, "DBSCAN": DBSCAN}


def cobs(**parameters):
    return lw.COBS(**{"preset": "quick", "random_state": 0, **parameters})


def small_blocks(n=64):
    return patch.object(chunks, "BLOCK", n)


def labels_of(found, folder, rows=X):
    found.write_labels(rows, folder)
    return pl.read_parquet(folder / "*.parquet")["cluster"].to_numpy()


@pytest.mark.parametrize(
    ("preset", "noise"),
    [
        ("quick", "cluster"),
        ("k-means", "nearest"),
        ("DBSCAN", "singletons"),
        *(
            pytest.param(*case, marks=pytest.mark.slow(nightly=True))
            for case in (
                ("DBSCAN", "cluster"),
                ("DBSCAN", "nearest"),
                ("quick", "singletons"),
                ("quick", "nearest"),
            )
        ),
    ],
)
def test_a_sample_of_all_rows_gives_what_fit_gives(tmp_path, noise, preset):
    with small_blocks():
        found = lw.cluster_rows(cobs(noise=noise, preset=PRESETS[preset]), X, **PAIRS)
    model = cobs(noise=noise, preset=PRESETS[preset]).fit(X, constraints=C)
    np.testing.assert_array_equal(labels_of(found, tmp_path / "labels"), model.labels_)
    for name in ("algorithm_", "parameters_", "rule_", "n_clusters_", "violations_", "approximation_"):
        assert getattr(found.model, name) == getattr(model, name), name
    assert found.n_sampled == found.n_rows == len(X)


@pytest.mark.parametrize("preset", PRESETS)
def test_other_rows_follow_the_rule_of_the_sample(tmp_path, preset):
    with small_blocks():
        found = lw.cluster_rows(cobs(preset=PRESETS[preset]), X, **PAIRS, n_sample=300)
    assert 300 <= found.n_sampled <= 380 < found.n_rows
    labels = labels_of(found, tmp_path / "labels")
    np.testing.assert_array_equal(labels[found.constrained_rows], found.constrained_labels)
    rest = np.setdiff1d(np.arange(len(X)), found._rule.numbers)
    np.testing.assert_array_equal(labels[rest], found.predict(X[rest]))
    np.testing.assert_array_equal(found.sizes, np.bincount(labels))
    assert adjusted_rand_score(Y, labels) > 0.8
    said = f"a sample of {found.n_sampled} of 1500 rows was clustered; every other row is in the cluster of"
    assert found.model.approximation_ == f"{said} its {found.model.rule_}"
    assert not hasattr(found.model, "labels_")


def test_rows_of_noise_are_in_no_cluster(tmp_path):
    far = np.concatenate([X, np.array([[9, 9, 9], [-9, 9, 9]], dtype=np.float32)])
    found = lw.cluster_rows(cobs(preset=DBSCAN, noise="singletons"), far, **PAIRS, n_sample=100)
    labels = labels_of(found, tmp_path / "labels", far)
    n_noise = int((labels == -1).sum())
    assert n_noise > 0
    assert found.sizes.sum() == len(far) - n_noise
    assert (np.bincount(labels[labels >= 0], minlength=len(found.sizes)) == found.sizes).all()


def test_neither_chunks_nor_processes_change_anything(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    found = []
    for size, more in ((64, {}), (200, {}), (64, {"backend": "loky", "n_jobs": 2})):
        with small_blocks(size):
            one = lw.cluster_rows(cobs(), tmp_path / "rows.npy", **PAIRS, n_sample=300, **more)
        found.append((one._hash(), one.sizes.tolist(), one.constrained_labels.tolist()))
    assert found[1] == found[0]
    assert found[2] == found[0]


def test_neither_do_threads(use_threads):
    told = set()
    for n_threads in (1, 3):
        use_threads(n_threads)
        found = lw.cluster_rows(lw.COBS(preset="quick", random_state=0), X, must_link=[(0, 4)], n_sample=300)
        told.add((found._hash(), tuple(found.sizes.tolist())))
    assert len(told) == 1


def test_other_samples_have_other_labels(tmp_path):
    found = [lw.cluster_rows(cobs(random_state=seed), X, **PAIRS, n_sample=100) for seed in (0, 1)]
    found[0].write_labels(X, tmp_path / "labels")
    with pytest.raises(DataError):
        found[1].write_labels(X, tmp_path / "labels")


def test_rows_with_other_columns_are_refused(tmp_path):
    found = lw.cluster_rows(cobs(), X, **PAIRS, n_sample=100)
    with pytest.raises(DataError, match="had 3 columns before, and now 2"):
        found.write_labels(X[:, :2], tmp_path / "labels")


def test_progress_counts_clusterings():
    told = []
    lw.cluster_rows(cobs(), X, **PAIRS, n_sample=100, progress=lambda *step: told.append(step))
    assert told[-1][0] == told[-1][1] > 10


def test_fit_names_the_function_for_files():
    with pytest.raises(TypeError, match=r"linkwise\.cluster_rows"):
        cobs().fit("events/*.parquet")
