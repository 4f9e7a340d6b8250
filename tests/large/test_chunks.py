"""Files that are read in chunks, and what is wrong with them."""

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pytest

import linkwise as lw
from linkwise.large import chunks, table_files
from linkwise.large.chunks import open_stream, read_blocks

TABLE = pl.DataFrame({"key": ["a", "b", "c"], "x": [1, 2, 3], "y": [0.5, 0.25, 0.0]})


@pytest.fixture
def folder(tmp_path):
    TABLE.write_parquet(tmp_path / "part-1.parquet")
    TABLE.write_parquet(tmp_path / "part-0.parquet")
    return tmp_path


def read_all(*args, **kwargs):
    return list(open_stream(*args, **kwargs).chunks())


def test_blocks_are_cut_from_the_beginning(monkeypatch):
    monkeypatch.setattr(chunks, "BLOCK", 4)
    table = np.arange(20.0).reshape(10, 2)
    stream = open_stream(lambda: [table[:1], table[1:1], table[1:7], table[7:]])
    blocks = list(read_blocks(stream))
    assert [(block.first, len(block.rows)) for block in blocks] == [(0, 4), (4, 4), (8, 2)]
    np.testing.assert_array_equal(np.concatenate([block.rows for block in blocks]), table)


def test_columns_of_parquet_are_chosen_by_name(folder):
    (chunk, more) = read_all(folder, columns=["y", "x"], id_column="key")
    np.testing.assert_array_equal(chunk.rows, [[0.5, 1], [0.25, 2], [0, 3]])
    assert chunk.ids.tolist() == ["a", "b", "c"]
    assert (chunk.first, more.first) == (0, 3)


def test_a_long_file_is_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "PARQUET_ROWS", 100)
    pl.DataFrame({"x": np.arange(250)}).write_parquet(tmp_path / "one.parquet", row_group_size=70)
    found = read_all(tmp_path / "one.parquet")
    assert [chunk.first for chunk in found] == [0, 100, 200]
    assert np.concatenate([chunk.rows for chunk in found])[:, 0].tolist() == list(range(250))


def test_a_list_of_paths_keeps_its_order(tmp_path):
    for number in range(3):
        np.save(tmp_path / f"{number}.npy", np.full((2, 1), number))
    found = read_all([tmp_path / "2.npy", str(tmp_path / "[01].npy")])
    assert np.concatenate([chunk.rows for chunk in found])[:, 0].tolist() == [2, 2, 0, 0, 1, 1]


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file '.*none\.npy'"):
        open_stream(tmp_path / "none.npy")
    with pytest.raises(lw.DataError, match="names no file"):
        open_stream(str(tmp_path / "*.parquet"))
    (tmp_path / "a.xlsx").write_text("x\n1\n")
    with pytest.raises(lw.DataError, match=r"ending of 'a.xlsx' is unknown"):
        open_stream(tmp_path / "a.xlsx")


def test_an_unreadable_part_is_named(folder):
    whole = (folder / "part-1.parquet").read_bytes()
    (folder / "part-1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(lw.DataError, match=r"part-1.parquet cannot be read as Parquet"):
        lw.summarize(folder, columns=["x"])
    (folder / "part-2.npy").write_bytes(b"none")
    with pytest.raises(lw.DataError, match=r"part-2.npy cannot be read as an array"):
        lw.summarize(folder / "part-2.npy")


def test_a_damaged_page_of_a_part_is_named(tmp_path):
    path = tmp_path / "page.parquet"
    pl.DataFrame({"x": np.random.default_rng(0).normal(size=5000)}).write_parquet(path)
    raw = bytearray(path.read_bytes())
    raw[4:2000] = b"\xff" * 1996
    path.write_bytes(raw)
    with pytest.raises(lw.DataError, match=r"page.parquet cannot be read as Parquet"):
        lw.summarize(path)


def test_a_part_that_differs_is_named(folder):
    TABLE.drop("y").write_parquet(folder / "part-2.parquet")
    with pytest.raises(lw.DataError, match=r"part-2.parquet has no column y"):
        read_all(folder, id_column="key")
    TABLE.with_columns(y=pl.lit("text")).write_parquet(folder / "part-2.parquet")
    with pytest.raises(
        lw.DataError,
        match=r"part-2.parquet: column 'y' has type String, but in part-0.parquet it has type Float64",
    ):
        read_all(folder, id_column="key")
    TABLE.with_columns(key=pl.col("x")).write_parquet(folder / "part-2.parquet")
    with pytest.raises(
        lw.DataError,
        match=r"part-2.parquet: column 'key' has type Int64, but in part-0.parquet it has type String",
    ):
        read_all(folder, id_column="key")


def test_empty_cells_are_named(folder):
    TABLE.with_columns(y=pl.lit(None, pl.Float64)).write_parquet(folder / "part-2.parquet")
    with pytest.raises(lw.DataError, match=r"part-2.parquet: row 6 .* holds nan in column 'y'"):
        read_all(folder, id_column="key")
    TABLE.with_columns(key=pl.lit(None, pl.String)).write_parquet(folder / "part-2.parquet")
    with pytest.raises(lw.DataError, match=r"part-2.parquet: a cell of the ids in column 'key' is empty"):
        read_all(folder, id_column="key")


def test_columns_that_hold_no_numbers(folder):
    with pytest.raises(lw.DataError, match=r"hold no numbers: key. Set those to use by columns"):
        open_stream(folder)
    with pytest.raises(lw.DataError, match=r"has no column z. It has key, x, y"):
        open_stream(folder, columns=["z"])


def test_files_of_two_kinds(folder):
    np.save(folder / "a.npy", np.zeros((2, 2)))
    with pytest.raises(lw.DataError, match=r"a.npy is an array, and other files are tables"):
        open_stream(folder)
    with pytest.raises(TypeError, match=r"a.npy has no named columns"):
        open_stream(folder / "a.npy", columns=["x"])


def test_arrays_whose_rows_do_not_lie_one_after_the_other(tmp_path):
    np.save(tmp_path / "a.npy", np.asfortranarray(np.zeros((3, 2))))
    with pytest.raises(lw.DataError, match=r"Save numpy.ascontiguousarray\(array\)"):
        read_all(tmp_path / "a.npy")


def test_objects_in_an_array_are_never_loaded(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(lw.DataError, match=r"a.npy cannot be read as an array of numbers"):
        read_all(tmp_path / "a.npy")


# ---------------------------------------------------------------- batches
def test_arrow_batches_give_what_a_file_gives(tmp_path):
    table = pl.DataFrame({"key": [f"k{at}" for at in range(10)], "x": np.arange(10), "y": np.arange(10) / 4})
    table.write_parquet(tmp_path / "all.parquet")
    (expected,) = read_all(tmp_path / "all.parquet", columns=["y", "x"], id_column="key")
    for form in (
        lambda part: part.to_arrow().to_batches()[0],
        lambda part: part.to_arrow(),
        lambda part: part,
    ):
        stream = open_stream(
            lambda form=form: (form(table[at : at + 4]) for at in (0, 4, 8)),
            columns=["y", "x"],
            id_column="key",
        )
        for _ in range(2):
            found = list(stream.chunks())
            assert [chunk.first for chunk in found] == [0, 4, 8]
            np.testing.assert_array_equal(np.concatenate([chunk.rows for chunk in found]), expected.rows)
            assert np.concatenate([chunk.ids for chunk in found]).tolist() == expected.ids.tolist()
        assert stream.columns() == ("y", "x")


def test_a_batch_that_differs_is_named():
    with pytest.raises(lw.DataError, match=r"Chunk 1 has no column y. It has key, x"):
        read_all(lambda: [TABLE.drop("key"), TABLE.drop("y")])
    with pytest.raises(TypeError, match="chunk 0 is an array"):
        read_all(lambda: [np.zeros((2, 2))], id_column="key")


# ---------------------------------------------------------------- dask
@pytest.mark.parametrize("columns", [2, 3], ids=["divided columns", "whole rows"])
def test_the_partitions_of_a_dask_array(columns):
    X = np.arange(300.0).reshape(100, 3)
    rows = dask.array.from_array(X, chunks=(40, columns))
    read = [chunk.rows for chunk in open_stream(rows).chunks()]
    assert [len(part) for part in read] == [40, 40, 20]
    np.testing.assert_array_equal(np.concatenate(read), X)


def test_the_partitions_of_a_dask_data_frame():
    frame = pd.DataFrame({"key": [f"k{n}" for n in range(50)], "a": np.arange(50.0), "b": np.arange(50) ** 2})
    rows = dask.dataframe.from_pandas(frame, npartitions=3)
    stream = open_stream(rows, id_column="key")
    found = list(stream.chunks())
    assert len(found) == 3
    np.testing.assert_array_equal(np.concatenate([chunk.rows for chunk in found]), frame[["a", "b"]])
    assert [key for chunk in found for key in chunk.ids] == frame["key"].tolist()
    assert stream.columns() == ("a", "b")
    whole = lw.summarize(frame[["a", "b"]].to_numpy(), n_groups=5)
    assert lw.summarize(rows, n_groups=5, id_column="key").centers.tobytes() == whole.centers.tobytes()
