"""Clusterers on rows that are read in chunks."""

import subprocess
import sys
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from distributed import Client, LocalCluster
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

import linkwise as lw
from linkwise.cluster.kmeans import icm, metric_learning
from linkwise.cluster.kmeans.components import add_implied
from linkwise.cluster.kmeans.penalised import PenalisedRun
from linkwise.large import chunks, label_files, stream_models
from linkwise.large.metric_passes import refine_mpckmeans
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at

BLOBS, Y = make_blobs(1000, 3, centers=5, cluster_std=2.5, random_state=0)
X = BLOBS.astype(np.float32)
C = lw.Constraints.sample(Y, 40, random_state=0)
PAIRS = {"must_link": C.must_link, "cannot_link": C.cannot_link}
SMALL = {**PAIRS, "n_sample": 100}


def pckmeans(**parameters):
    return lw.PCKMeans(5, **{"random_state": 0, "n_init": 3, **parameters})


def small_blocks(n=64):
    return patch.object(chunks, "BLOCK", n)


def bytes_of(found):
    arrays = [found.model.cluster_centers_, found.sizes, found.constrained_rows, found.constrained_labels]
    arrays.append(getattr(found.model, "metrics_", np.zeros(0)))
    found_bytes = [(each.dtype, each.shape, each.tobytes()) for each in arrays]
    return [*found_bytes, getattr(found.model, "objective_", None)]


def all_labels(found, rows=X):
    labels = found.predict(rows)
    labels[found.constrained_rows] = found.constrained_labels
    return labels


def assert_same_model(found, model, rows=X):
    np.testing.assert_array_equal(all_labels(found, rows), model.labels_)
    np.testing.assert_array_equal(found.sizes, np.bincount(model.labels_))
    np.testing.assert_allclose(found.model.cluster_centers_, model.cluster_centers_, rtol=1e-6, atol=1e-6)
    assert found.model.objective_ == pytest.approx(model.objective_)
    for name in ("n_iter_", "n_clusters_", "violations_", "w_"):
        assert getattr(found.model, name) == pytest.approx(getattr(model, name)), name


# ---------------------------------------------------------------- as in memory
@pytest.mark.parametrize("w", ["scale", 0.5])
def test_a_sample_of_all_rows_gives_what_fit_gives(w):
    with small_blocks():
        found = lw.cluster_rows(pckmeans(w=w), X, **PAIRS)
    model = pckmeans(w=w).fit(X, constraints=C)
    assert_same_model(found, model)
    assert found.model.cluster_centers_.tobytes() == model.cluster_centers_.tobytes()
    assert found.n_sampled == found.n_rows == len(X)


@pytest.mark.parametrize("w", ["scale", 0.5, 0.0])
@pytest.mark.parametrize("seed", range(3))
def test_passes_give_what_fit_gives_from_the_same_centres(w, seed):
    """`fit` keeps the run from the given centres unless plain k-means satisfies more constraints."""
    starts = []
    fit = lw.PCKMeans.fit

    def remember(self, *args, **more):
        fit(self, *args, **more)
        starts.append(self.cluster_centers_.copy())
        return self

    with small_blocks(), patch.object(lw.PCKMeans, "fit", remember):
        found = lw.cluster_rows(pckmeans(w=w, tol=0, random_state=seed), X, **SMALL)
    model = pckmeans(w=w, init=starts[0], tol=0, random_state=seed).fit(X, constraints=C)
    assert found.n_sampled < 200
    assert found.model.n_iter_ > 1
    if not (model.fell_back_ or found.model.fell_back_):
        assert_same_model(found, model)
    else:
        assert w == 0.0


def test_rows_without_constraints_give_plain_k_means():
    with small_blocks():
        found = lw.cluster_rows(pckmeans(tol=0), X, n_sample=100)
    centers = found.model.cluster_centers_
    labels = ((X[:, None].astype(float) - centers) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(found.predict(X), labels)
    np.testing.assert_allclose(centers, [X[labels == k].mean(axis=0, dtype=float) for k in range(5)])


def test_an_empty_cluster_takes_the_farthest_row_as_in_memory():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(300, 1)), [[50.0], [60.0]]]).astype(np.float32)
    init = np.array([[0.0], [1000.0], [2000.0]])
    with small_blocks(), patch.object(lw.PCKMeans, "fit", lambda self, *args, **more: pretend(self, init)):
        found = lw.cluster_rows(lw.PCKMeans(3, random_state=0), rows, n_sample=10)
    model = lw.PCKMeans(3, init=init, random_state=0).fit(rows)
    np.testing.assert_array_equal(found.predict(rows), model.labels_)
    assert len(found.sizes) == 3


def pretend(model, init):
    """Set what `fit` sets, with given centres."""
    model.cluster_centers_, model.fell_back_, model.labels_ = init, False, None
    return model


# ---------------------------------------------------------------- metrics that are learned
def mpckmeans(**parameters):
    return lw.MPCKMeans(5, **{"metric": "diagonal", "random_state": 0, "n_init": 2, **parameters})


VARIANTS = [
    {},
    {"per_cluster": True},
    {"per_cluster": True, "shrinkage": 0.0, "implied": True, "component_moves": False},
]


@pytest.mark.parametrize("more", VARIANTS)
def test_metrics_of_a_sample_of_all_rows_are_those_of_fit(more):
    with small_blocks():
        found = lw.cluster_rows(mpckmeans(**more), X, **PAIRS)
    model = mpckmeans(**more).fit(X, constraints=C)
    np.testing.assert_array_equal(all_labels(found), model.labels_)
    for name in ("cluster_centers_", "metrics_"):
        assert getattr(found.model, name).tobytes() == getattr(model, name).tobytes()


@pytest.mark.parametrize("more", VARIANTS)
@pytest.mark.parametrize("seed", range(3))
def test_passes_learn_the_metrics_that_are_learned_in_memory(more, seed):
    table = np.column_stack([X, np.full(len(X), 7.5, dtype=np.float32)])
    starts = []

    def remember(source, model, start, *rest):
        starts.append(start)
        return refine_mpckmeans(source, model, start, *rest)

    model = mpckmeans(**more, fallback=False, tol=0, random_state=seed)
    with small_blocks(), patch.object(stream_models, "refine_mpckmeans", remember):
        found = lw.cluster_rows(model, table, **SMALL)
    run, metrics = learn_in_memory(table, starts[0], model, found.constrained_rows, seed)
    np.testing.assert_array_equal(all_labels(found, table), run.labels)
    np.testing.assert_allclose(found.model.cluster_centers_, run.centers, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.model.metrics_, metrics.matrices, rtol=1e-6)
    assert found.model.n_iter_ == run.n_iter > 1
    assert found.model.violations_ == sum(each.sum() for each in C.find_violations(run.labels))


def learn_in_memory(table, start, model, numbers, seed):
    """Run the iteration of `MPCKMeans` on all rows, from what it found on a sample."""
    constant = np.flatnonzero(table.min(axis=0) == table.max(axis=0))
    d, varying = table.shape[1], table.shape[1] - len(constant)
    variance = float(table.var(axis=0, dtype=float).mean()) * d / varying
    named = icm.find_named_rows(table, add_implied(C) if model.implied else C)
    if not model.component_moves:
        named = icm.separate_rows(named)
    labels = np.zeros(len(table), dtype=np.int32)
    labels[numbers] = start.labels
    with one_blas_thread():
        totals = metric_learning.find_row_totals(table, start.metrics, constant, variance)
        args = (table, named, start.metrics, model.w, model.shrinkage, totals)
        problem = metric_learning.make_metric_problem(*args)
        assign = partial(metric_learning.assign_under_metrics, problem, rng_at(seed, 0))
        first = PenalisedRun(labels, start.centers, 0.0, 0)
        return metric_learning.learn_metrics(problem, first, start.metrics, (100, 0.0), assign)[:2]


def test_without_constraints_the_metric_is_the_plain_one():
    with small_blocks():
        found = lw.cluster_rows(mpckmeans(tol=0), X, n_sample=100)
        plain = lw.cluster_rows(pckmeans(tol=0, init=found.model.cluster_centers_), X, n_sample=100)
    np.testing.assert_allclose(found.model.metrics_, 1 / X.var(axis=0, dtype=float).mean())
    assert found.model.n_clusters_ == plain.model.n_clusters_ == 5
    np.testing.assert_array_equal(found.sizes, np.bincount(found.predict(X)))


def test_the_clusters_under_metrics_are_written(tmp_path):
    with small_blocks():
        found = lw.cluster_rows(mpckmeans(per_cluster=True), X, **SMALL)
        (part,) = found.write_labels(X, tmp_path / "labels")
    np.testing.assert_array_equal(pl.read_parquet(part)["cluster"], all_labels(found))


# ---------------------------------------------------------------- the same bytes
MODELS = [pckmeans(), mpckmeans(), mpckmeans(per_cluster=True)]


@settings(max_examples=30)
@given(st.lists(st.integers(0, len(X)), max_size=12), st.integers(1, 3), st.sampled_from(MODELS))
def test_chunks_and_threads_change_no_bit(places, n_threads, model):
    with small_blocks():
        expected = bytes_of(lw.cluster_rows(model, X, **SMALL))
        with patch.dict("os.environ", OMP_NUM_THREADS=str(n_threads)):
            found = lw.cluster_rows(model, lambda: iter(np.split(X, sorted(places))), **SMALL)
    assert bytes_of(found) == expected


def test_processes_change_no_bit(tmp_path):
    rows = np.tile(X, (140, 1))
    np.save(tmp_path / "rows.npy", rows)
    here = lw.cluster_rows(pckmeans(), rows, **SMALL)
    found = lw.cluster_rows(pckmeans(), tmp_path / "rows.npy", **SMALL, backend="loky", n_jobs=2)
    assert bytes_of(found) == bytes_of(here)


@pytest.mark.parametrize("model", MODELS[::2], ids=["PCKMeans", "MPCKMeans"])
@pytest.mark.slow
@pytest.mark.parametrize("backend", ["dask"])
def test_the_number_of_workers_changes_no_bit(backend, model, tmp_path):
    rows = np.tile(X, (140, 1)) + np.arange(140, dtype=np.float32).repeat(len(X))[:, None] / 100
    np.save(tmp_path / "rows.npy", rows)
    here = lw.cluster_rows(model, rows, **SMALL)
    parts = here.write_labels(tmp_path / "rows.npy", tmp_path / "here")
    for n_workers in (1, 3):
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0"
            ) as cluster,
            Client(cluster),
        ):
            found = lw.cluster_rows(model, tmp_path / "rows.npy", **SMALL, backend=backend)
            assert bytes_of(found) == bytes_of(here)
            folder = tmp_path / f"there-{n_workers}"
            written = found.write_labels(tmp_path / "rows.npy", folder, backend=backend)
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
    assert bytes_of(found) == bytes_of(expected)
    assert found.columns == ("x0", "x1", "x2")
    written = pl.concat([pl.read_parquet(part) for part in parts])
    assert len(parts) == 4
    assert written["id"].to_list() == [f"r{row}" for row in range(len(X))]
    np.testing.assert_array_equal(written["cluster"], all_labels(found))
    np.testing.assert_array_equal(np.bincount(written["cluster"]), found.sizes)


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
    np.testing.assert_array_equal(all_labels(found, wide), all_labels(other))
    np.testing.assert_allclose(found.scaling.scale, wide.std(axis=0, dtype=float))


def test_progress_counts_the_passes():
    seen = []
    found = lw.cluster_rows(pckmeans(), X, **SMALL, progress=lambda *now: seen.append(now))
    assert seen == [(done, 101) for done in range(1, found.model.n_iter_ + 2)]


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


def test_another_method_names_the_way():
    with pytest.raises(TypeError, match=r"model is a COPKMeans.*linkwise\.summarize"):
        lw.cluster_rows(lw.COPKMeans(5), X)
    with pytest.raises(ValueError, match="Set metric='diagonal'"):
        lw.cluster_rows(lw.MPCKMeans(5), X)
    with pytest.raises(ValueError, match="Set farthest='extreme'"):
        lw.cluster_rows(lw.MPCKMeans.paper(5), X)
    for model in (lw.PCKMeans(5), lw.MPCKMeans(5), lw.ClusILC(5)):
        with pytest.raises(TypeError, match=r"linkwise\.cluster_rows\(model, rows\)"):
            model.fit("events/*.parquet")


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
    turns = iter([[X], [X], [second], [second], *[[second]] * 200])
    with pytest.raises(lw.DataError, match="data have changed"):
        lw.cluster_rows(pckmeans(), lambda: next(turns), **SMALL)
