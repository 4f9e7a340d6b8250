"""Files that are damaged, too large or no files at all are refused before anything is unpacked."""

from __future__ import annotations

import io
import json
import os
import socket
import threading
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest

import linkwise as lw
from linkwise import limits
from linkwise.constraints.files import read_labels
from linkwise.data import encode, from_frame, read_table
from linkwise.data.read import formats
from linkwise.errors import ConstraintError, DataError
from linkwise.text_files import read_bytes

READERS = {
    "table": (read_table, DataError),
    "pairs": (lambda path: lw.Constraints.read_csv(path, n_rows=3), ConstraintError),
    "labels": (lambda path: read_labels(path, ["0", "1", "2"]), DataError),
}
STARTS = {"table": "a,b\n1,{}\n2,3\n", "pairs": "id_a,id_b,kind\n0,{},x\n", "labels": "id,cluster\n0,{}\n"}


def refusal(reader, path):
    read, error = READERS[reader]
    with pytest.raises(error) as caught:
        read(path)
    message = str(caught.value)
    assert path.name in message
    assert len(message) < 1000
    return message


# ---------------------------------------------------------------- text
@pytest.mark.parametrize("reader", READERS)
def test_an_unbalanced_quote_names_the_line(tmp_path, reader):
    path = tmp_path / "file.csv"
    path.write_text(STARTS[reader].format('"1') + "2,1,x\n")
    assert "Line 2 cannot be read" in refusal(reader, path)


@pytest.mark.parametrize("reader", READERS)
def test_a_cell_above_the_limit_names_the_line(tmp_path, reader, monkeypatch):
    monkeypatch.setattr("linkwise.text_files.MOST_CHARACTERS", 200_000)
    path = tmp_path / "file.csv"
    path.write_text(STARTS[reader].format('"' + 200_001 * "1" + '"'))
    assert "Line 2 has a cell of more than 200000 characters" in refusal(reader, path)


def test_long_texts_are_cells(tmp_path):
    long = "word " * 40_000
    path = tmp_path / "texts.csv"
    path.write_text(f'a,text\n1,"{long}"\n2,"other, words"\n3,"word word"\n')
    assert read_table(path, text="text").item(0, ["text"]) == {"text": long}


@pytest.mark.parametrize("reader", ["pairs", "labels"])
def test_long_cells_are_refused_in_short_messages(tmp_path, reader):
    path = tmp_path / "file.csv"
    path.write_text(STARTS[reader].format(1000 * "x") + 1000 * "y" + ",1,must-link\n")
    refusal(reader, path)


@pytest.mark.parametrize(
    ("reader", "header", "name"),
    [
        ("pairs", "id_a,id_b,kind, kind", "kind"),
        ("labels", "id,cluster,id", "id"),
    ],
)
def test_columns_of_one_name_are_refused_by_name(tmp_path, reader, header, name):
    path = tmp_path / "file.csv"
    path.write_text(header + "\n" + "1,2,must-link,cannot-link\n"[: None if reader == "pairs" else 3])
    assert f"these occur twice: {name}." in refusal(reader, path)


def test_keys_of_one_name_are_refused_by_name(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"a": 2, "b": {"a": 3}, "a": 4}\n')
    message = refusal("table", path)
    assert "Line 2" in message
    assert "twice: a." in message


def test_weights_that_are_none_name_the_line(tmp_path):
    for weight in ("nan", "inf", "-1", "0", "1e999"):
        path = tmp_path / "pairs.csv"
        path.write_text(f"id_a,id_b,kind,weight\n0,1,must-link,1\n0,2,must-link,{weight}\n")
        message = refusal("pairs", path)
        assert "line 3" in message.lower()
        assert weight in message


def test_clusters_of_many_digits_are_words(tmp_path):
    path = tmp_path / "labels.csv"
    huge = "9" * 5000
    path.write_text(f"id,cluster\n0,1\n1,{huge}\n2,1\n")
    assert read_labels(path, ["0", "1", "2"]) == ["1", huge, "1"]


# ---------------------------------------------------------------- arrays
def npy(header: str, content: bytes = bytes(48)) -> bytes:
    raw = header.encode("latin-1") + b"\n"
    return b"\x93NUMPY\x01\x00" + len(raw).to_bytes(2, "little") + raw + content


GOOD = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }"


def test_the_smallest_header_is_read(tmp_path):
    (tmp_path / "rows.npy").write_bytes(npy(GOOD, np.arange(6.0).tobytes()))
    assert read_table(tmp_path / "rows.npy").frame.shape == (3, 2)


@pytest.mark.parametrize("fortran", [False, True])
@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<i2", "?", "<f2"])
def test_arrays_are_read_as_numpy_reads_them(tmp_path, fortran, kind):
    X = np.array([[1, 0], [0, 1], [1, 1]]).astype(kind, order="F" if fortran else "C")
    np.save(tmp_path / "rows.npy", X)
    np.savez_compressed(tmp_path / "rows.npz", rows=X)
    for name in ("rows.npy", "rows.npz"):
        frame = read_table(tmp_path / name).frame
        np.testing.assert_array_equal(np.stack([frame["x0"].to_numpy(), frame["x1"].to_numpy()], axis=1), X)


@pytest.mark.parametrize(
    "header",
    [
        GOOD.replace("}", ""),
        GOOD.replace("(3, 2)", "(3, 2"),
        GOOD.replace("(3, 2)", "'''"),
        GOOD.replace("(3, 2)", "(3L, 2"),
        GOOD.replace("<f8", "<f99999999999"),
        GOOD.replace("<f8", "f8,f8"),
        GOOD.replace("'<f8'", "'\\z'"),
        GOOD.replace("'<f8'", "[('a',)]"),
        "(" * 300 + ")" * 300,
        "{" + "1:" * 3000 + "}",
        GOOD + " " * 70_000,
        "",
    ],
)
def test_damaged_headers_of_arrays(tmp_path, header):
    raw = npy(header[:60_000])
    (tmp_path / "rows.npy").write_bytes(raw)
    assert "NumPy array" in refusal("table", tmp_path / "rows.npy")
    with zipfile.ZipFile(tmp_path / "rows.npz", "w") as archive:
        archive.writestr("X.npy", raw)
    assert "NumPy array" in refusal("table", tmp_path / "rows.npz")


@pytest.mark.parametrize("shape", [(10**12, 3), (3, 10**4), (10**30, 10**30), (4, 2), (-3, -2), (2, 2)])
def test_a_shape_that_the_file_does_not_hold(tmp_path, shape):
    raw = npy(GOOD.replace("(3, 2)", str(shape)))
    (tmp_path / "rows.npy").write_bytes(raw)
    message = refusal("table", tmp_path / "rows.npy")
    assert "shape" in message or "cells" in message
    with zipfile.ZipFile(tmp_path / "rows.npz", "w") as archive:
        archive.writestr("X.npy", raw)
    refusal("table", tmp_path / "rows.npz")


def test_a_small_archive_of_a_large_array_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "FREE_BYTES", 100_000)
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, X=np.zeros((100_000, 10)))
    assert "keep" in refusal("table", path) or "Drop" in refusal("table", path)
    monkeypatch.setattr(limits, "MOST_EXPANSION", 2000)
    with pytest.raises(DataError, match="constant"):
        read_table(path)


def test_arrays_that_are_not_used_are_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "FREE_BYTES", 100_000)
    path = tmp_path / "rows.npz"
    np.savez_compressed(path, X=np.eye(3), other=np.zeros((10_000_000,)))
    assert len(read_table(path)) == 3


def test_two_arrays_of_one_name_are_refused(tmp_path):
    content = io.BytesIO()
    np.save(content, np.eye(3))
    with zipfile.ZipFile(tmp_path / "rows.npz", "w") as archive:
        archive.writestr("X.npy", content.getvalue())
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("X.npy", content.getvalue())
    assert "twice: X" in refusal("table", tmp_path / "rows.npz")


# ---------------------------------------------------------------- size
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_100_000_columns_are_refused_before_they_are_read(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(formats, "parse_columns", None)
    assert "The table has 100000 columns, but at most 65536 can be read." in refusal(
        "table", wide(tmp_path, ending, 100_000)
    )


def wide(tmp_path, ending, n_columns):
    path = tmp_path / f"wide.{ending}"
    names = [f"c{j}" for j in range(n_columns)]
    if ending == "jsonl":
        path.write_text("".join(json.dumps({name: at}) + "\n" for at, name in enumerate(names)))
    elif ending == "csv":
        path.write_text("\n".join([",".join(names), *[",".join(["1"] * n_columns)] * 2]) + "\n")
    elif ending == "parquet":
        pl.DataFrame({name: [1, 2] for name in names}).write_parquet(path)
    elif ending == "npy":
        np.save(path, np.ones((2, n_columns)))
    else:
        np.savez(path, X=np.ones((2, n_columns)))
    return path


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "npy", "npz"])
def test_more_columns_than_the_limit(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(limits, "MOST_COLUMNS", 5)
    assert "6 columns, but at most 5" in refusal("table", wide(tmp_path, ending, 6))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "npy", "npz"])
def test_more_cells_than_the_limit(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(limits, "MOST_CELLS", 7)
    assert "at most 7 cells" in refusal("table", wide(tmp_path, ending, 4))


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_tables_of_nothing_much_are_not_unpacked(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(limits, "FREE_BYTES", 10_000)
    monkeypatch.setattr(limits, "MOST_EXPANSION", 20)
    path = tmp_path / f"rows.{ending}"
    if ending == "jsonl":
        path.write_text("".join(f'{{"k{at}": 1}}\n' for at in range(1000)))
    else:
        pl.DataFrame({"a": [1] * 1_000_000}).write_parquet(path)
    assert "times as many" in refusal("table", path)


def test_categories_of_more_cells_than_the_limit(monkeypatch):
    table = from_frame(pl.DataFrame({"word": list("abcdabcd"), "size": range(8)}))
    monkeypatch.setattr(limits, "MOST_CELLS", 39)
    with pytest.raises(DataError, match="word"):
        encode(table)
    assert encode(table, categories="codes").X.shape == (8, 2)
    monkeypatch.setattr(limits, "MOST_CELLS", 40)
    assert encode(table).X.shape == (8, 5)


def test_what_does_not_fit_into_memory_is_a_data_error(tmp_path, monkeypatch):
    def full(*given, **options):
        raise MemoryError

    path = wide(tmp_path, "csv", 3)
    with monkeypatch.context() as patched:
        patched.setattr("linkwise.data.read.formats.read_delimited", full)
        assert "memory of this machine" in refusal("table", path)
    monkeypatch.setattr("pathlib.Path.read_bytes", full)
    for reader in READERS:
        assert "memory of this machine" in refusal(reader, path)


# ---------------------------------------------------------------- no regular files
@pytest.mark.parametrize("reader", READERS)
def test_pipes_sockets_and_devices_are_refused_at_once(tmp_path, reader, monkeypatch):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    (tmp_path / "device.csv").symlink_to("/dev/zero")
    (tmp_path / "nothing.csv").symlink_to("/dev/null")
    assert "This is a pipe" in refusal(reader, pipe)
    assert "is a device" in refusal(reader, tmp_path / "device.csv")
    assert "is a device" in refusal(reader, tmp_path / "nothing.csv")
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.csv")
        assert "is a socket" in refusal(reader, tmp_path / "socket.csv")


def test_no_file_and_folders_stay_file_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)


def test_threads_do_not_shorten_each_others_cells(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text('a,b\n1,"' + "x" * 200_000 + '"\n2,"y"\n')
    found = []
    crew = [threading.Thread(target=lambda: found.append(len(read_table(path)))) for _ in range(8)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    assert found == [2] * 8


# ---------------------------------------------------------------- texts that UTF-8 cannot write
HALF = "b\ud800"


@pytest.mark.parametrize("where", ["id", "name", "words"])
def test_half_characters_in_a_frame_are_named(where):
    cells = {"id": ["a", "c", "d"], "size": [1.0, 2.0, 4.0], "word": ["x", "y", "x"]}
    if where == "name":
        cells[HALF] = cells.pop("size")
    else:
        cells["id" if where == "id" else "word"][1] = HALF
    columns = pd.Index(list(cells), dtype=object)
    frame = pd.DataFrame(dict(enumerate(cells.values())), dtype=object).set_axis(columns, axis=1)
    with pytest.raises(DataError, match=r"b\\ud800"):
        from_frame(frame)


def test_half_characters_in_arrays_are_named(tmp_path):
    np.savez(tmp_path / "rows.npz", X=np.eye(3), ids=np.array(["a", HALF, "c"]))
    assert r"b\ud800" in refusal("table", tmp_path / "rows.npz")


def test_ids_beyond_unicode_are_named(tmp_path):
    ids = np.array(["a", "b", "c"])
    ids.view(np.uint32)[1] = 0x800000
    np.savez(tmp_path / "rows.npz", X=np.eye(3), ids=ids)
    assert "Row 1 " in refusal("table", tmp_path / "rows.npz")


def test_moments_are_ids_whatever_the_year(tmp_path):
    ids = np.array(["2024-01-31", "0001-01-01", "30000-01-01"], dtype="M8[D]")
    np.savez(tmp_path / "rows.npz", X=np.eye(3), ids=ids)
    assert read_table(tmp_path / "rows.npz").ids == ("2024-01-31", "0001-01-01", "30000-01-01")


def test_ids_that_no_file_can_hold_are_named_and_nothing_is_written(tmp_path):
    held = lw.Constraints(3, [(0, 1)])
    with pytest.raises(ConstraintError, match=r"Row 1.*b\\ud800"):
        held.to_csv(tmp_path / "pairs.csv", ids=["a", HALF, "c"])
    assert not (tmp_path / "pairs.csv").exists()
