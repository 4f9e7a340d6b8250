"""Rows are read alike in this process, in processes of this machine, and on dask's workers."""

import itertools
import os
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import linkwise as lw
from linkwise.data.reading import Reading
from linkwise.large import label_files, ranges, table_labels
from linkwise.large.group_table import read_groups
from linkwise.large.ranges import Lengths, Range, map_blocks, plan_ranges
from linkwise.large.table_files import BLOCK, TableFiles
from linkwise.large.table_labels import write_files
from linkwise.large.table_passes import summarize_tables
from linkwise.parallel import Engine, map_in_order

N_ROWS = 3 * BLOCK + 1000
FIELDS = ("centers", "sizes", "spread", "X", "medoids", "medoid_rows", "border_rows")

NIGHTLY = pytest.mark.slow(nightly=True)

workers = pytest.mark.parametrize("backend", ["loky", pytest.param("dask", marks=pytest.mark.slow)])


def workers_read(one, other):
    """By day processes read one form of files, and dask's workers the other; by night both read both."""
    return pytest.mark.parametrize(
        ("backend", "form"),
        [
            ("loky", one),
            pytest.param("dask", other, marks=pytest.mark.slow),
            pytest.param("loky", other, marks=NIGHTLY),
            pytest.param("dask", one, marks=NIGHTLY),
        ],
    )


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch):
    monkeypatch.setattr(ranges, "RANGE", 1)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return np.round(rng.normal(10.0 * rng.integers(3, size=(N_ROWS, 1)), 1, (N_ROWS, 2)), 3)


@pytest.fixture(scope="module")
def originals(rows, tmp_path_factory):
    """Rows in files whose ends are not those of blocks, in three forms."""
    folder = tmp_path_factory.mktemp("written")
    colour = np.array(["red", "green", "blue"])[np.arange(N_ROWS) % 3]
    frame = pl.DataFrame({"key": np.arange(N_ROWS), "x": rows[:, 0], "y": rows[:, 1], "colour": colour})
    for name in ("parquet", "csv", "npy"):
        (folder / name).mkdir()
    for number, part in enumerate(np.array_split(np.arange(N_ROWS), 3)):
        frame[part].write_parquet(folder / "parquet" / f"{number}.parquet")
        frame[part].write_csv(folder / "csv" / f"{number}.csv")
        np.save(folder / "npy" / f"{number}.npy", rows[part])
    return folder


@pytest.fixture
def files(originals, tmp_path):
    """Files of a test's own."""
    return Path(shutil.copytree(originals, tmp_path, dirs_exist_ok=True))


def bytes_of(found):
    arrays = [found.scaling.offset, found.scaling.scale, *(getattr(found, name) for name in FIELDS)]
    return [array.tobytes() for array in arrays]


def summarize_folder(folder, out, engine):
    tables = TableFiles(sorted(folder.iterdir()))
    summarize_tables(tables, Reading(id_column="key"), 10, 0, out, None, engine)
    return (out / "groups.npz").read_bytes()


# ---------------------------------------------------------------- ranges
@pytest.mark.parametrize("start", [0, 8])
def test_ranges_hold_each_row_once(start):
    for counts, is_seekable in itertools.product(
        ((31,), (8, 8, 15), (1, 1, 29), (20, 0, 11), (3, 28), (31, 0)), (True, False)
    ):
        found = plan_ranges(Lengths(counts, is_seekable), start, 4, 2)
        assert [row for part in found for row in range(*part)] == list(range(start, 31))
        assert all(part.start % 4 == 0 for part in found)


def test_the_range_of_a_file_ends_with_the_first_block_of_the_next_file():
    assert plan_ranges(Lengths((10, 3, 20), is_seekable=False), 0, 4, 2) == [
        Range(0, 12),
        Range(12, 16),
        Range(16, 33),
    ]


def test_a_file_of_csv_is_read_by_one_worker(files):
    for form, n_ranges in (("csv", 1), ("parquet", 2)):
        tables = TableFiles([files / form / f"0.{form}"])
        assert len(plan_ranges(tables.lengths(), 0, BLOCK, 1)) == n_ranges


def test_rows_of_a_function_are_read_in_this_process(rows):
    with pytest.raises(ValueError, match="come from a function"):
        lw.summarize(lambda: [rows], 5, backend="loky")
    with pytest.raises(ValueError, match="backend must be"):
        lw.summarize(rows, 5, backend="ray")


# ---------------------------------------------------------------- backends
@workers
def test_workers_change_no_bit(backend, client, rows, files):
    expected = bytes_of(lw.summarize(rows, 10))
    columns = ["x", "y"]
    for source, more in (
        (rows, {}),
        (files / "npy", {}),
        (files / "parquet", {"columns": columns}),
        (files / "csv", {"columns": columns, "id_column": "key"}),
    ):
        assert bytes_of(lw.summarize(source, 10, backend=backend, n_jobs=2, **more)) == expected


@workers_read("parquet", "csv")
def test_workers_change_no_byte_of_the_items_of_tables(backend, client, files, form):
    expected = summarize_folder(files / form, files / "here", Engine())
    assert summarize_folder(files / form, files / "there", Engine(backend, 2)) == expected
    assert read_groups(files / "there").summary.n_rows == N_ROWS


@workers
def test_an_error_of_a_worker_names_the_file(backend, client, files):
    path = files / "npy" / "1.npy"
    values = np.load(path)
    values[7, 1] = np.nan
    np.save(path, values)
    with pytest.raises(lw.DataError, match=r"1\.npy: row \d+ of the data .* holds nan"):
        lw.summarize(files / "npy", 10, backend=backend, n_jobs=2)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["dask"])
def test_the_number_of_workers_changes_no_bit(backend, files):
    from distributed import Client, LocalCluster

    expected = bytes_of(lw.summarize(files / "npy", 10))
    for n_workers in (1, 4):
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0"
            ) as cluster,
            Client(cluster),
        ):
            assert bytes_of(lw.summarize(files / "npy", 10, backend=backend)) == expected


@workers_read("npy", "csv")
def test_workers_write_the_same_labels(backend, client, files, form, monkeypatch):
    monkeypatch.setattr(label_files, "PART", BLOCK)
    more = {} if form == "npy" else {"columns": ["x", "y"], "id_column": "key"}
    found = lw.summarize(files / form, 10, **more)
    clusters = np.arange(len(found.sizes)) % 3
    here = found.write_labels(files / form, clusters, files / "here")
    there = found.write_labels(files / form, clusters, files / "there", backend=backend, n_jobs=2)
    assert len(here) == 4
    assert [path.read_bytes() for path in there] == [path.read_bytes() for path in here]


@workers_read("parquet", "csv")
def test_workers_write_the_same_labels_of_tables(backend, client, files, form, monkeypatch):
    monkeypatch.setattr(table_labels, "PART", 40_000)
    summarize_folder(files / form, files / "items", Engine())
    items, tables = read_groups(files / "items"), TableFiles(sorted((files / form).iterdir()))
    clusters = np.arange(len(items.frame)) % 3
    written = [
        write_files(tables, items, clusters, {0: "first"}, files / name, None, engine).paths
        for name, engine in (("here", Engine()), ("there", Engine(backend, 2)))
    ]
    assert len(written[0]) == 6
    assert [path.read_bytes() for path in written[1]] == [path.read_bytes() for path in written[0]]
    keys = pl.concat([pl.read_parquet(path) for path in written[1]])["key"]
    assert keys.to_list() == list(range(N_ROWS))


def test_ids_of_an_empty_file_have_the_type_of_the_others(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"key": [f"k{n}" for n in range(3000)], "x": rng.normal(size=3000)})
    (tmp_path / "data").mkdir()
    frame.write_parquet(tmp_path / "data" / "0.parquet")
    frame.clear().write_parquet(tmp_path / "data" / "1.parquet")
    summarize_folder(tmp_path / "data", tmp_path / "items", Engine())
    items, tables = read_groups(tmp_path / "items"), TableFiles(sorted((tmp_path / "data").iterdir()))
    clusters = np.zeros(len(items.frame), dtype=int)
    paths = write_files(tables, items, clusters, {}, tmp_path / "out", None, Engine()).paths
    assert [len(pl.read_parquet(path)) for path in paths] == [3000, 0]
    assert [pl.read_parquet(path).schema["key"] for path in paths] == [pl.String, pl.String]


def die_once(shared, task):
    """Work as a machine that fails once."""
    marker = Path(shared["folder"]) / "failed"
    if task == 3 and not marker.exists():
        marker.touch()
        os._exit(1)
    return shared["offset"] + task


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["dask"])
def test_a_lost_worker_changes_nothing(backend, client, tmp_path):
    shared = {"folder": str(tmp_path), "offset": 0.5}
    found = list(map_in_order(die_once, shared, list(range(8)), Engine(backend)))
    assert found == [0.5 + task for task in range(8)]
    assert (tmp_path / "failed").exists()


def read_numbers(start, stop):
    return iter(range(start, 10 if stop is None else stop))


def test_work_that_is_ended_early_begins_no_more_blocks():
    seen = []
    found = map_blocks(read_numbers, seen.append, [10], 2, 1)
    next(found)
    next(found)
    found.close()
    assert seen == [2, 3]


def test_results_come_in_the_order_of_the_blocks():
    found = map_blocks(
        partial(read_numbers), float, Lengths((10,), is_seekable=True), 2, 1, Engine("loky", 2)
    )
    assert list(found) == [float(at) for at in range(2, 10)]
