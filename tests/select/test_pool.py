"""The pool: what is in it, and that it can be kept."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import minmax_scale

from linkwise.errors import DataError
from linkwise.select.clusterings import PRESETS, Preset, assign_noise, run_task
from linkwise.select.pool import Pool, build_pool

X, y = load_iris(return_X_y=True)
X = minmax_scale(X)
SMALL = Preset(clusters=(2, 3), n_runs=3, n_eps=4, min_pts=(2, 5), neighbours=(5,), sigmas=(0.01, 0.3))


@pytest.fixture(scope="module")
def pool():
    return build_pool(X, "paper", 0, n_threads=1)


def same(one, other):
    arrays = all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("labels", "base", "base_rows", "weight", "n_failed", "noise", "sampled")
    )
    return arrays and one.candidates == other.candidates


def test_the_paper_s_pool_holds_931_clusterings(pool):
    assert PRESETS["paper"].size == 931 == len(pool.candidates) + pool.n_failed
    assert pool.multiplicity.sum() == len(pool.candidates)
    counts = {"k-means": 180, "DBSCAN": 400, "spectral, nearest neighbours": 171}
    for algorithm, count in counts.items():
        assert sum(c.algorithm == algorithm for c in pool.candidates) == count


def test_distinct_clusterings_are_kept_once_with_clusters_in_order_of_rows(pool):
    assert len(np.unique(pool.labels, axis=0)) == len(pool) < len(pool.candidates)
    for labels in pool.labels:
        assert np.array_equal(assign_noise(X, labels, "cluster"), labels)
    assert pool.labels.dtype == np.int16
    assert not pool.labels.flags.writeable
    assert [pool.makers[c].clustering for c in range(len(pool))] == list(range(len(pool)))


@pytest.mark.slow
def test_candidates_are_what_their_parameters_say(pool):
    for candidate in pool.candidates:
        found, parameters = pool.clustering(candidate.clustering), candidate.parameters
        if candidate.algorithm == "DBSCAN":
            theirs = DBSCAN(eps=parameters["eps"], min_samples=parameters["minPts"]).fit_predict(X)
            assert adjusted_rand_score(theirs, found) == 1
        else:
            assert found.max() < parameters["K"]


def test_the_k_means_runs_are_as_good_as_scikit_learns(pool):
    def inertia(labels):
        means = np.array([X[labels == c].mean(axis=0) for c in np.unique(labels)])
        return ((X - means[labels]) ** 2).sum()

    for k in (2, 5, 10):
        ours = [
            inertia(pool.clustering(c.clustering))
            for c in pool.candidates
            if c.algorithm == "k-means" and c.parameters["K"] == k
        ]
        theirs = [KMeans(k, n_init=1, random_state=run).fit(X).inertia_ for run in range(20)]
        assert np.mean(ours) <= 1.05 * np.mean(theirs)


def test_agreement_is_the_adjusted_rand_index(pool):
    for i, j in ((0, 1), (0, len(pool) - 1), (7, 40), (3, 3)):
        assert pool.agreement[i, j] == pytest.approx(adjusted_rand_score(pool.labels[i], pool.labels[j]))


def test_together_compares_labels(pool):
    pairs = np.array([[0, 1], [0, 149], [60, 3]])
    labels = [pool.clustering(c) for c in range(len(pool))]
    expected = [[one[i] == one[j] for one in labels] for i, j in pairs]
    assert pool.together(pairs).tolist() == expected


def test_the_same_seed_gives_the_same_pool_for_any_number_of_threads(pool):
    assert same(pool, build_pool(X, "paper", 0, n_threads=2))
    assert not same(build_pool(X, SMALL, 0), build_pool(X, SMALL, 1))


def test_a_pool_is_kept_whole(pool, tmp_path):
    pool.save(tmp_path / "pool.npz")
    assert same(pool, Pool.load(tmp_path / "pool.npz"))
    assert [path.name for path in tmp_path.iterdir()] == ["pool.npz"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"some text"])
def test_a_damaged_file_raises_an_error(tmp_path, content):
    (tmp_path / "pool.npz").write_bytes(content)
    with pytest.raises(DataError, match="is not a pool"):
        Pool.load(tmp_path / "pool.npz")


def test_the_cache_is_found_by_data_and_settings(tmp_path):
    first = build_pool(X, SMALL, cache=tmp_path / "pools")
    (made,) = (tmp_path / "pools").iterdir()
    when = made.stat().st_mtime_ns
    assert same(first, build_pool(X, SMALL, cache=tmp_path / "pools"))
    assert made.stat().st_mtime_ns == when
    for other in (
        {"X": X + 1e-9},
        {"seed": 1},
        {"noise": "nearest"},
        {"preset": replace(SMALL, n_runs=2)},
        {"extra": [(AgglomerativeClustering(), {"n_clusters": [3]})]},
    ):
        before = len(list((tmp_path / "pools").iterdir()))
        build_pool(**{"X": X, "preset": SMALL, "cache": tmp_path / "pools"} | other)
        assert len(list((tmp_path / "pools").iterdir())) == before + 1


@pytest.mark.parametrize("content", [b"", b"junk"])
def test_what_is_damaged_in_the_cache_is_made_anew(tmp_path, content):
    pool = build_pool(X, SMALL, cache=tmp_path)
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(content)
    assert same(pool, build_pool(X, SMALL, cache=tmp_path))
    assert same(pool, Pool.load(kept))
    kept.unlink()
    parts = kept.with_suffix("")
    parts.mkdir()
    (parts / "0.npz").write_bytes(content)
    pool.save(parts / "1.npz")  # a pool, but no part of one
    assert same(pool, build_pool(X, SMALL, cache=tmp_path))
    assert list(tmp_path.iterdir()) == [kept]


def test_other_clusterers_may_join():
    extra = [(AgglomerativeClustering(), {"n_clusters": [2, 3], "linkage": ["ward", "single"]})]
    pool = build_pool(X, SMALL, extra=extra)
    joined = [c for c in pool.candidates if c.algorithm == "AgglomerativeClustering"]
    assert len(joined) == 4
    ward = next(c for c in joined if c.parameters == {"n_clusters": 3, "linkage": "ward"})
    assert adjusted_rand_score(
        pool.clustering(ward.clustering), AgglomerativeClustering(3).fit_predict(X)
    ) == pytest.approx(1)


def test_graphs_without_edges_are_counted():
    pool = build_pool(np.eye(30), SMALL)
    assert pool.n_failed == 2  # sigma = 0.01, for two numbers of clusters


def test_progress_is_reported_and_may_end_the_work():
    told = []
    build_pool(X, SMALL, progress=lambda made, planned: told.append((made, planned)))
    assert told[-1] == (SMALL.size, SMALL.size)
    assert sorted(told) == told

    def stop(made, planned):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_pool(X, SMALL, progress=stop)


def test_of_many_rows_a_sample_is_clustered_and_the_others_follow():
    rows = X[np.unique(X, axis=0, return_index=True)[1]]
    pool = build_pool(rows, SMALL, max_rows=60)
    assert pool.sampled
    assert pool.labels.shape[1] == len(pool.base_rows) == len(pool.weight) == 60
    assert pool.base[pool.base_rows].tolist() == list(range(60))
    nearest = NearestNeighbors(n_neighbors=1).fit(rows[pool.base_rows]).kneighbors(rows)[0].ravel()
    np.testing.assert_allclose(
        np.linalg.norm(rows - rows[pool.base_rows[pool.base]], axis=1), nearest, atol=1e-12
    )
    assert len(pool.clustering(0)) == 149 == pool.n_rows


@pytest.mark.parametrize("max_rows", [5000, 150, 20])
def test_identical_rows_are_clustered_once_with_their_weight(max_rows):
    rng = np.random.default_rng(0)
    some = rng.integers(0, 4, (14, 2)).astype(float)
    copies = rng.integers(0, 14, 400)
    pool = build_pool(some[copies], SMALL, max_rows=max_rows)
    distinct, times = np.unique(some[copies], axis=0, return_counts=True)
    assert not pool.sampled  # however few may be clustered, all distinct rows are
    assert sorted(pool.weight) == sorted(times)
    assert (some[copies][pool.base_rows[pool.base]] == some[copies]).all()
    for candidate in pool.candidates:
        if candidate.algorithm == "DBSCAN":
            model = DBSCAN(eps=candidate.parameters["eps"], min_samples=candidate.parameters["minPts"])
            found = pool.clustering(candidate.clustering)
            assert adjusted_rand_score(model.fit_predict(some[copies]), found) == 1
    assert len(distinct) == len(pool.base_rows)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", pytest.param("dask", marks=pytest.mark.slow)])
def test_the_pool_is_the_same_wherever_it_is_made(backend, client):
    told = []
    extra = [(AgglomerativeClustering(), {"n_clusters": [2, 3]})]
    pool = build_pool(X, SMALL, extra=extra, backend=backend, progress=lambda *count: told.append(count))
    assert same(pool, build_pool(X, SMALL, extra=extra))
    assert told == sorted(told)
    assert told[-1] == (SMALL.size + 2, SMALL.size + 2)


@pytest.mark.parametrize("backend", ["serial", "loky", pytest.param("dask", marks=pytest.mark.slow)])
def test_what_was_made_before_an_interruption_is_not_made_again(backend, client, tmp_path, monkeypatch):
    def stop(made, planned):
        if made > SMALL.size / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_pool(X, SMALL, backend=backend, cache=tmp_path, progress=stop)
    (parts,) = tmp_path.iterdir()
    kept = len(list(parts.iterdir()))
    assert kept >= 2
    done = []
    monkeypatch.setattr(
        "linkwise.select.pool.run_task", lambda *work: done.append(work[1]) or run_task(*work)
    )
    told = []
    pool = build_pool(X, SMALL, cache=tmp_path, progress=lambda *count: told.append(count))
    n_tasks = 2 + 1 + 1 + 2  # k-means for two k, all DBSCANs, a graph of neighbours, two Gaussian ones
    assert len(done) == n_tasks - kept
    assert same(pool, build_pool(X, SMALL))
    assert told[0][0] > SMALL.size / 2
    (only,) = tmp_path.iterdir()
    assert same(pool, Pool.load(only))


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.sampled_from(["cluster", "singletons", "nearest"]))
def test_few_rows_make_a_pool_too(n, seed, noise):
    rows = np.random.default_rng(seed).integers(0, 3, (n, 2)).astype(float)
    pool = build_pool(rows, noise=noise)
    assert len(pool) >= 1
    assert np.isfinite(pool.agreement).all()
    assert pool.labels.min() == 0
    assert pool.n_clusters.max() <= n


def test_noise_is_settled_as_asked():
    rows = np.array([[0.0], [0.1], [1.0], [5.0], [5.2], [9.0]])
    labels = np.array([1, 1, -1, 0, 0, -1])
    assert assign_noise(rows, labels, "cluster").tolist() == [0, 0, 1, 2, 2, 1]
    assert assign_noise(rows, labels, "singletons").tolist() == [0, 0, 1, 2, 2, 3]
    assert assign_noise(rows, labels, "nearest").tolist() == [0, 0, 0, 1, 1, 1]
    assert assign_noise(rows, np.full(6, -1), "nearest").tolist() == [0] * 6
    assert assign_noise(rows, np.array([7, 10**12, -3, 7, 5, -1]), "cluster").tolist() == [0, 1, 2, 0, 3, 2]


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({"preset": "all"}, r"preset is unknown: 'all'\. Pass one of 'paper', 'quick', or a Preset"),
        ({"noise": "drop"}, r"noise is unknown: 'drop'\. Pass 'cluster', 'singletons' or 'nearest'"),
        ({"max_rows": 0}, r"max_rows is out of range: 0\. Pass 1 to 32767"),
        ({"backend": "threads"}, r"backend is unknown: 'threads'\. Pass one of 'serial', 'loky', 'dask'"),
        ({"backend": "dask"}, r"needs a client\. Start one first"),
    ],
)
def test_bad_arguments_raise_errors(settings_, words):
    with pytest.raises(ValueError, match=words):
        build_pool(X, **settings_)


def test_parts_of_a_preset_may_be_empty():
    only_dbscan = replace(SMALL, clusters=())
    assert {c.algorithm for c in build_pool(X, only_dbscan).candidates} == {"DBSCAN"}
    only_graphs = replace(SMALL, n_runs=0, n_eps=0)
    assert all(c.algorithm.startswith("spectral") for c in build_pool(X, only_graphs).candidates)
    with pytest.raises(ValueError, match="The preset yields no clustering of 1 row"):
        build_pool(X[:1], only_dbscan)
