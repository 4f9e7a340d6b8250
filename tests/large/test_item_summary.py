"""Summaries of rows that are read in chunks."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.large import chunks, group_summary, passes
from linkwise.large.chunks import open_stream

X, Y = make_blobs(1000, 3, centers=5, random_state=0)
FIELDS = ("centers", "sizes", "spread", "X", "medoids", "medoid_rows", "border_rows")


def bytes_of(found):
    arrays = [found.scaling.offset, found.scaling.scale, *(getattr(found, name) for name in FIELDS)]
    return [(array.dtype, array.shape, array.tobytes()) for array in arrays]


def small_blocks(n=64):
    return patch.object(chunks, "BLOCK", n)


def cut(table, places):
    return lambda: (part for part in np.split(table, sorted(places)))


# ---------------------------------------------------------------- laws
@settings(max_examples=30)
@given(
    st.lists(st.integers(0, len(X)), max_size=12),
    st.integers(1, 3),
    st.sampled_from([np.float32, np.float64]),
)
def test_chunks_and_threads_change_no_bit(places, n_threads, dtype):
    table = X.astype(dtype)
    with small_blocks():
        expected = bytes_of(lw.summarize(table, 10))
        with patch.dict(os.environ, OMP_NUM_THREADS=str(n_threads)):
            assert bytes_of(lw.summarize(cut(table, places), 10)) == expected


def test_a_function_of_one_block_gives_what_the_array_gives():
    assert bytes_of(lw.summarize(lambda: [X], 5)) == bytes_of(lw.summarize(X, 5))


def test_threads_change_no_bit_of_many_rows(monkeypatch):
    table = np.random.default_rng(0).normal(size=(150_000, 4)).astype(np.float32)
    found = []
    for n_threads in "13":
        monkeypatch.setenv("OMP_NUM_THREADS", n_threads)
        found.append(bytes_of(lw.summarize(table, 100)))
    assert found[0] == found[1]


def test_files_give_what_the_array_gives(tmp_path):
    (tmp_path / "arrays").mkdir()
    (tmp_path / "tables").mkdir()
    for number, part in enumerate(np.split(X, [300, 310])):
        np.save(tmp_path / "arrays" / f"{number}.npy", part)
        ids = [f"row {number} {row}" for row in range(len(part))]
        frame = pl.DataFrame({"id": ids, **{f"x{at}": part[:, at] for at in range(3)}})
        frame.write_parquet(tmp_path / "tables" / f"{number}.parquet")
    np.save(tmp_path / "all.npy", X)
    pattern = str(tmp_path / "tables" / "*.parquet")
    with small_blocks():
        expected = bytes_of(lw.summarize(X, 10))
        mapped = np.load(tmp_path / "all.npy", mmap_mode="r")
        for source in (tmp_path / "all.npy", mapped, tmp_path / "arrays"):
            assert bytes_of(lw.summarize(source, 10)) == expected
        found = lw.summarize(pattern, 10, id_column="id")
        assert bytes_of(found) == expected
        assert found.columns == ("x0", "x1", "x2")
        number, row = np.searchsorted([300, 310], found.medoid_rows, side="right"), found.medoid_rows
        row = row - np.array([0, 300, 310])[number]
        assert found.medoid_ids == [f"row {a} {b}" for a, b in zip(number, row, strict=True)]


# ---------------------------------------------------------------- what a summary holds
def test_a_summary_is_what_plain_numpy_finds():
    with small_blocks():
        found = lw.summarize(X, 10)
    scaled = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
    np.testing.assert_allclose(found.scaling.offset, X.mean(axis=0))
    np.testing.assert_allclose(found.scaling.scale, X.std(axis=0))
    square = ((scaled[:, None] - found.centers) ** 2).sum(axis=2)
    of = square.argmin(axis=1)
    np.testing.assert_array_equal(found.assign(X), of)
    np.testing.assert_array_equal(found.sizes, np.bincount(of))
    for item in range(len(found.sizes)):
        members = np.flatnonzero(of == item)
        order = members[np.argsort(square[members, item])]
        assert found.medoid_rows[item] == order[0]
        assert found.border_rows[item].tolist() == order[::-1][:3].tolist()
        assert found.spread[item] == pytest.approx(square[members, item].mean())
    np.testing.assert_array_equal(found.medoids, X[found.medoid_rows])
    np.testing.assert_allclose(found.X, scaled[found.medoid_rows], rtol=1e-6)


def test_equal_rows_make_few_items():
    table = np.repeat([[0.0, 1.0], [2.0, 1.0]], [70, 30], axis=0)
    found = lw.summarize(table, 10, scale="none")
    assert sorted(found.sizes.tolist()) == [30, 70]
    assert sorted(found.medoid_rows.tolist()) == [0, 70]
    assert sorted(found.border_rows.tolist()) == [[0, 1, 2], [70, 71, 72]]
    np.testing.assert_array_equal(found.spread, 0)


def test_few_rows_leave_border_places_free():
    found = lw.summarize(np.array([[0.0], [10.0], [11.0]]), 2)
    assert sorted(found.border_rows.tolist()) == [[0, -1, -1], [1, 2, -1]]


def test_the_sample_is_uniform_and_depends_on_the_seed():
    def sample(seed):
        table = np.arange(10_000.0)[:, None]
        with small_blocks(1000):
            stream = open_stream(table)
            return passes.survey_rows(stream, 1000, seed, "none", lambda: None).sample[:, 0]

    one, other = sample(0), sample(1)
    assert len(np.unique(one)) == len(np.unique(other)) == 1000
    assert not np.array_equal(one, other)
    np.testing.assert_array_equal(one, np.sort(one))
    for found in (one, other):
        counts = np.bincount((found // 1000).astype(int), minlength=10)
        assert counts.min() > 60
        assert counts.max() < 140


def test_timestamps_keep_their_differences():
    """float32 does not tell seconds of this century apart, but the scaled values do."""
    seconds = 1.7e9 + np.arange(100.0)
    found = lw.summarize(seconds[:, None], 100)
    assert len(found.sizes) == 100
    np.testing.assert_array_equal(np.sort(found.medoids[:, 0]), seconds)


def test_a_learner_asks_about_medoids():
    table, y = make_blobs(5000, 4, centers=6, cluster_std=0.5, random_state=1)
    found = lw.summarize(table, 200)
    oracle = lw.TruthOracle(y[found.medoid_rows])
    model = lw.KIN(random_state=0).fit(found.X, oracle=oracle, budget=30)
    assert adjusted_rand_score(y, model.labels_[found.assign(table)]) > 0.95
    session = lw.Session(found.X, ids=found.medoid_rows.tolist())
    assert session.question is not None


def test_progress_counts_the_blocks_of_both_passes():
    seen = []
    with small_blocks(400):
        lw.summarize(X, 5, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 0), (2, 0), (3, 0), (4, 6), (5, 6), (6, 6)]


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
        "lw.summarize(sys.argv[1], 10, random_state=0) if len(sys.argv) > 2 else lw.summarize\n"
        "import sklearn.utils, scipy.linalg, linkwise.cluster.kmeans.lloyd\n"
        "print(peak())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "large.npy")]
    idle, busy = (
        int(subprocess.run(each, capture_output=True, text=True, check=True).stdout)
        for each in (command, [*command, "summarize"])
    )
    assert 1024 * (busy - idle) < n_bytes / 2


# ---------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("source", "message"),
    [
        (np.empty((0, 2)), "have no rows"),
        (np.zeros(3), "shape \\(3,\\)"),
        (np.array([["a"]]), "table of numbers"),
        (np.array([[0.0, 1.0], [2.0, np.nan]]), "row 1 of the data .* holds nan in column 1"),
        (np.array([[0.0], [1e200]]), "row 1 .* holds 1e\\+200"),
        (lambda: [np.zeros((2, 2)), np.zeros((2, 3))], "Chunk 1 has 3 columns, but the rows before have 2"),
    ],
)
def test_rows_that_cannot_be_clustered(source, message):
    with pytest.raises(lw.DataError, match=message):
        lw.summarize(source, 2)


def test_values_too_large_for_32_bits_need_scaling():
    table = np.array([[0.0], [1e60], [2e60]])
    with pytest.raises(lw.DataError, match="Set scale='standard'"):
        lw.summarize(table, 2, scale="none")
    assert len(lw.summarize(table, 3).sizes) == 3


def test_rows_that_can_be_read_only_once():
    with pytest.raises(TypeError, match="cannot be read twice"):
        lw.summarize(iter([X]))
    once = iter([X])
    with pytest.raises(lw.DataError, match="have no rows"):
        lw.summarize(lambda: once)


@pytest.mark.parametrize("second", [X[:-1], X[:, :2]])
def test_rows_that_change_between_the_passes(second):
    turns = iter([[X], [second]])
    with pytest.raises(lw.DataError, match="data have changed"):
        lw.summarize(lambda: next(turns), 10)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="n_groups must be a whole number"):
        lw.summarize(X, 0)
    with pytest.raises(ValueError, match="scale must be"):
        lw.summarize(X, scale="unit")
    with pytest.raises(TypeError, match="Remove them for arrays"):
        lw.summarize(X, columns=["a"])
    with pytest.raises(lw.DataError, match="2 columns, but the summary has 3"):
        lw.summarize(X, 10).assign(X[:, :2])


def test_the_medoid_stands_for_its_item():
    found = lw.summarize(X, 20)
    np.testing.assert_array_equal(found.assign(found.medoids), np.arange(len(found.sizes)))
    assert len(X) == group_summary.SAMPLE * 20
