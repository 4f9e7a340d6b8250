"""Clusterers on rows that are read in chunks."""

import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from distributed import Client, LocalCluster
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.cluster.base import isolate_noise
from linkwise.large import chunks, label_files

BLOBS, Y = make_blobs(1000, 3, centers=5, cluster_std=2.5, random_state=0)
X = BLOBS.astype(np.float32)
C = lw.Constraints.sample(Y, 40, random_state=0)
PAIRS = {"must_link": C.must_link, "cannot_link": C.cannot_link}
SMALL = {**PAIRS, "n_sample": 100}
MODELS = {
    "PCKMeans": lw.PCKMeans(5, n_init=3, random_state=0),
    "MPCKMeans": lw.MPCKMeans(5, n_init=2, random_state=0),
    "a metric for each": lw.MPCKMeans(5, metric="diagonal", per_cluster=True, n_init=2, random_state=0),
    "ClusILC": lw.ClusILC(5),
    "ClusILC of the paper": lw.ClusILC.paper(4),
    "COPKMeans": lw.COPKMeans(5, random_state=0),
    "FOSC": lw.FOSC(),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def pckmeans(**parameters):
    return lw.PCKMeans(**{"n_clusters": 5, "random_state": 0, "n_init": 3, **parameters})


def small_blocks(n=64):
    return patch.object(chunks, "BLOCK", n)


def bytes_of(found):
    arrays = [found.sizes, found.constrained_rows, found.constrained_labels, found.predict(X)]
    return [found._hash(), *((each.dtype, each.tobytes()) for each in arrays)]


def labels_of(found, folder, rows=X):
    found.write_labels(rows, folder)
    return pl.read_parquet(folder / "*.parquet")["cluster"].to_numpy()


# ---------------------------------------------------------------- a sample, and all rows
@each_model
def test_a_sample_of_all_rows_gives_what_fit_gives(model, tmp_path):
    with small_blocks():
        found = lw.cluster_rows(model, X, **PAIRS)
    fitted = clone(model).fit(X, constraints=C)
    assert found.n_sampled == found.n_rows == len(X)
    np.testing.assert_array_equal(labels_of(found, tmp_path / "labels"), fitted.labels_)
    np.testing.assert_array_equal(found.predict(X), fitted.predict(X))
    for name in ("n_clusters_", "violations_", "n_features_in_"):
        assert getattr(found.model, name) == getattr(fitted, name), name


@each_model
def test_the_rows_of_the_sample_are_clustered_by_fit(model, tmp_path):
    with small_blocks():
        found = lw.cluster_rows(model, X, **SMALL)
    sampled = found._rule.numbers
    assert 100 <= found.n_sampled == len(sampled) < 200
    assert np.isin(found.constrained_rows, sampled).all()
    fitted = clone(model).fit(X[sampled], constraints=C[sampled])
    labels = labels_of(found, tmp_path / "labels")
    assert adjusted_rand_score(labels[sampled], fitted.labels_) > 0.9  # the constraints in another order
    assert found.model.violations_ == sum(each.sum() for each in C.find_violations(isolate_noise(labels)))


@each_model
def test_all_other_rows_are_assigned_by_predict(model, tmp_path):
    with small_blocks():
        found = lw.cluster_rows(model, X, **SMALL)
    labels = labels_of(found, tmp_path / "labels")
    rest = np.setdiff1d(np.arange(len(X)), found._rule.numbers)
    np.testing.assert_array_equal(labels[rest], found.predict(X[rest]))
    np.testing.assert_array_equal(labels[found.constrained_rows], found.constrained_labels)
    np.testing.assert_array_equal(found.sizes, np.bincount(labels[labels >= 0], minlength=len(found.sizes)))
    assert not hasattr(found.model, "labels_")
    assert not hasattr(found.model, "constraints_")


def test_rows_without_constraints():
    with small_blocks():
        found = lw.cluster_rows(pckmeans(), X, n_sample=100)
    assert len(found.constrained_labels) == 0
    assert found.n_sampled == 100
    assert found.sizes.sum() == len(X)


def test_categories_stay_codes(tmp_path):
    table = np.column_stack([X, Y % 3]).astype(np.float32)
    found = lw.cluster_rows(lw.ClusILC(5, nominal=[3]), table, **SMALL, scale="standard")
    tests = [test for test in found.model.tree_.tests if test is not None]
    assert any(test.equals for test in tests)
    assert labels_of(found, tmp_path / "labels", table).max() < 5


# ---------------------------------------------------------------- the same bytes
@settings(max_examples=30)
@given(
    st.lists(st.integers(0, len(X)), max_size=12),
    st.integers(1, 3),
    st.sampled_from(list(MODELS.values())[:5]),
)
def test_chunks_and_threads_change_no_bit(places, n_threads, model):
    with small_blocks():
        expected = bytes_of(lw.cluster_rows(model, X, **SMALL))
        with patch.dict("os.environ", OMP_NUM_THREADS=str(n_threads)):
            found = lw.cluster_rows(model, lambda: iter(np.split(X, sorted(places))), **SMALL)
    assert bytes_of(found) == expected


@pytest.mark.slow
def test_workers_change_no_bit(tmp_path):
    rows = np.tile(X, (140, 1)) + np.arange(140, dtype=np.float32).repeat(len(X))[:, None] / 100
    np.save(tmp_path / "rows.npy", rows)
    here = lw.cluster_rows(pckmeans(), rows, **SMALL)
    parts = here.write_labels(tmp_path / "rows.npy", tmp_path / "here")
    there = lw.cluster_rows(pckmeans(), tmp_path / "rows.npy", **SMALL, backend="loky", n_jobs=2)
    assert bytes_of(there) == bytes_of(here)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        found = lw.cluster_rows(pckmeans(), tmp_path / "rows.npy", **SMALL, backend="dask")
        written = found.write_labels(tmp_path / "rows.npy", tmp_path / "there", backend="dask")
    assert bytes_of(found) == bytes_of(here)
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in parts]


# ---------------------------------------------------------------- files, ids, labels
def write_tables(folder):
    folder.mkdir()
    for number, part in enumerate(np.split(np.arange(len(X)), [300, 310])):
        frame = pl.DataFrame({"id": [f"r{row}" for row in part], **{f"x{j}": X[part, j] for j in range(3)}})
        frame.write_parquet(folder / f"{number}.parquet")


def test_files_with_ids_give_what_the_array_gives(tmp_path):
    write_tables(tmp_path / "tables")
    by_id = {kind: [(f"r{a}", f"r{b}") for a, b in pairs] for kind, pairs in PAIRS.items()}
    source = str(tmp_path / "tables" / "*.parquet")
    with small_blocks(), patch.object(label_files, "PART", 256), patch.object(label_files, "BLOCK", 64):
        expected = lw.cluster_rows(pckmeans(), X, **SMALL)
        found = lw.cluster_rows(pckmeans(), source, **by_id, id_column="id", n_sample=100)
        parts = found.write_labels(source, tmp_path / "labels")
    assert bytes_of(found)[1:] == bytes_of(expected)[1:]
    assert found.columns == ("x0", "x1", "x2")
    written = pl.concat([pl.read_parquet(part) for part in parts])
    assert len(parts) == 4
    assert written["id"].to_list() == [f"r{row}" for row in range(len(X))]
    np.testing.assert_array_equal(written["cluster"], labels_of(expected, tmp_path / "numbered"))


def test_labels_of_another_clustering_are_not_mixed(tmp_path):
    lw.cluster_rows(pckmeans(), X, **SMALL).write_labels(X, tmp_path / "labels")
    other = lw.cluster_rows(pckmeans(n_clusters=4), X, **SMALL)
    with pytest.raises(lw.DataError, match="another clustering"):
        other.write_labels(X, tmp_path / "labels")


def test_constraints_decide_the_labels_that_are_written(tmp_path):
    row = int(np.argmin(((X - X[Y == 1].mean(axis=0)) ** 2).sum(axis=1)))
    far = int(np.argmin(((X - X[Y == 0].mean(axis=0)) ** 2).sum(axis=1)))
    pair = {"must_link": [(row, far)], "must_link_weight": [1e6]}
    found = lw.cluster_rows(pckmeans(init="k-means++"), X, **pair, n_sample=100)
    assert found.predict(X[[row]])[0] != found.predict(X[[far]])[0]
    (part,) = found.write_labels(X, tmp_path / "labels")
    clusters = pl.read_parquet(part)["cluster"]
    assert clusters[row] == clusters[far]
    assert found.model.violations_ == 0


def test_columns_of_other_units_are_scaled():
    wide = X * np.float32([1, 1000, 1])
    with small_blocks():
        found = lw.cluster_rows(pckmeans(), wide, **SMALL, scale="standard")
        other = lw.cluster_rows(pckmeans(), X, **SMALL, scale="standard")
    np.testing.assert_array_equal(found.predict(wide), other.predict(X))
    np.testing.assert_array_equal(found.sizes, other.sizes)
    np.testing.assert_allclose(found.scaling.scale, wide.std(axis=0, dtype=float))


def test_progress_is_that_of_the_fit():
    seen = []
    lw.cluster_rows(pckmeans(), X, **SMALL, progress=lambda *now: seen.append(now))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.slow(nightly=True)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak from /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    n_bytes = 96 * 2**20
    with (tmp_path / "large.npy").open("wb") as file:
        shape = (n_bytes // 16, 4)
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
        part = np.random.default_rng(0).normal(size=(shape[0] // 32, 4)).astype(np.float32)
        for _ in range(32):
            part.tofile(file)
    code = (
        "import re, sys, linkwise as lw\n"
        "def peak(): return int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
        "model = lw.PCKMeans(3, max_iter=2, n_init=1, random_state=0)\n"
        "pairs = {'must_link': [(0, 6_000_000)], 'n_sample': 1000}\n"
        "lw.cluster_rows(model, sys.argv[1], **pairs) if sys.argv[2:] else lw.cluster_rows\n"
        "import sklearn.utils, scipy.linalg, linkwise.large.row_clusters\n"
        "print(peak())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "large.npy")]
    idle, busy = (
        int(subprocess.run(each, capture_output=True, text=True, check=True).stdout)
        for each in (command, [*command, "cluster"])
    )
    assert 1024 * (busy - idle) < n_bytes / 2


def test_the_model_is_not_changed():
    model = pckmeans()
    lw.cluster_rows(model, X, **PAIRS)
    assert not hasattr(model, "cluster_centers_")


# ---------------------------------------------------------------- errors and warnings
@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"must_link": [(0, 1000)]}, lw.ConstraintError, "No row has the number 1000 \\(1 such number"),
        ({"must_link": [(0, 1.5)]}, TypeError, "names the row 1.5, which is no number"),
        ({"must_link": [(0, 1, 2)]}, lw.ConstraintError, "one has 3 entries"),
        ({"must_link": ["ab"]}, TypeError, "but one is 'ab'. Pass a list of pairs"),
        ({"must_link": C}, TypeError, "must_link=c.must_link"),
        ({"must_link": [(7, 7)]}, lw.ConstraintError, "must-link 0 names row 7 twice"),
        (
            {"must_link": [(900, 800), (800, 700)], "cannot_link": [(700, 900)]},
            lw.InfeasibleConstraintsError,
            "contradict each other: 700 = 800 = 900, but 700 ≠ 900",
        ),
        ({"n_sample": 0}, ValueError, "n_sample must be"),
        ({"scale": "unit"}, ValueError, "scale must be"),
        ({"backend": "spark"}, ValueError, "backend must be"),
        ({"n_sample": 3}, lw.DataError, "n_samples=3 should be >= n_clusters=5"),
    ],
)
def test_wrong_arguments(more, error, message):
    with pytest.raises(error, match=message):
        lw.cluster_rows(pckmeans(), X, **more)


def test_a_learner_names_the_way():
    with pytest.raises(TypeError, match=r"model is a KIN.*linkwise\.summarize"):
        lw.cluster_rows(lw.KIN(), X)
    with pytest.raises(TypeError, match="model is a KMeans"):
        lw.cluster_rows(KMeans(2), X)


def test_ids_that_are_absent_or_twice(tmp_path):
    frame = pl.DataFrame({"id": ["a", "b", "b", "c"], "x": [0.0, 1.0, 2.0, 3.0]})
    frame.write_parquet(tmp_path / "rows.parquet")
    for pair, message in ((("a", "d"), "No row has the id 'd'"), (("a", "b"), "Two rows have the id 'b'")):
        with pytest.raises(lw.ConstraintError, match=message):
            lw.cluster_rows(lw.PCKMeans(2), tmp_path / "rows.parquet", must_link=[pair], id_column="id")


def test_a_cannot_link_of_identical_rows_is_named_by_number():
    rows = X.copy()
    rows[900] = rows[20]
    with pytest.warns(lw.ConstraintWarning, match="rows 20 and 900, which are identical"):
        lw.cluster_rows(pckmeans(), rows, cannot_link=[(20, 900)], n_sample=100)


@pytest.mark.parametrize("second", [X[:-1], X[:, :2]])
def test_rows_that_change_between_the_passes(second):
    turns = iter([[X], [X], [second]])
    with pytest.raises(lw.DataError, match="data have changed"):
        lw.cluster_rows(pckmeans(), lambda: next(turns), **SMALL)
