"""Tables in Parquet and CSV files, read in parts."""

import datetime

import numpy as np
import polars as pl
import pytest

import linkwise as lw
from linkwise.large import table_files
from linkwise.large.chunks import open_stream
from linkwise.large.table_files import TableFiles

DAY = datetime.date(2024, 2, 1)


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def read(*paths, start=0, **options):
    tables = TableFiles(paths, **options)
    return pl.concat([frame for _, frame in tables.frames(list(tables.schema), start)])


@pytest.fixture
def two(tmp_path):
    head = "key,size,when,is_new,colour\n"
    one = write(
        tmp_path / "a.csv", head + '007,1,2024-02-01,true,red\n\n008,NA,2024-02-02,false,"blue, dark"\n'
    )
    return one, write(tmp_path / "b.csv", head + "009,2.5,2024-02-03,,7\n")


# ---------------------------------------------------------------- types
def test_cells_get_the_types_of_the_first_file(two):
    found = read(*two, as_text=["key"])
    assert found.to_dict(as_series=False) == {
        "key": ["007", "008", "009"],
        "size": [1.0, None, 2.5],
        "when": [DAY, DAY.replace(day=2), DAY.replace(day=3)],
        "is_new": [True, False, None],
        "colour": ["red", "blue, dark", "7"],
    }


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_size_of_batches_changes_nothing(two, monkeypatch, rows):
    expected = read(*two, as_text=["key"])
    monkeypatch.setattr(table_files, "CSV_ROWS", rows)
    assert read(*two, as_text=["key"]).equals(expected)


@pytest.mark.parametrize("start", [0, 1, 2])
def test_reading_from_a_row_on(two, start):
    assert read(*two, start=start, as_text=["key"]).equals(read(*two, as_text=["key"])[start:])


@pytest.mark.parametrize(
    ("column", "cell", "what"),
    [
        ("size", "many", "hold numbers"),
        ("size", "0012", "hold numbers"),
        ("when", "soon", "hold dates"),
        ("when", "2024-02-03 12:00", "hold dates"),
        ("is_new", "maybe", "hold true or false"),
    ],
)
def test_a_cell_of_another_type_is_named(two, tmp_path, column, cell, what):
    good = {"key": "1", "size": "2", "when": "2024-02-01", "is_new": "true", "colour": "red"}
    lines = [",".join(good), ",".join(good.values()), ",".join((good | {column: cell}).values())]
    third = write(tmp_path / "c.csv", "\n".join(lines) + "\n")
    with pytest.raises(
        lw.DataError, match=rf"c.csv: row 1 .* has '{cell}' in column '{column}'.*a.csv {what}"
    ):
        read(*two, third)


def test_numbers_with_decimal_commas_stay_text(tmp_path):
    path = write(tmp_path / "a.csv", "x;y\n1,5;1\n2,5;2\n")
    assert dict(TableFiles([path]).schema) == {"x": pl.String, "y": pl.Float64}


def test_semicolons_and_tabs_are_detected(tmp_path):
    for name, mark in (("a.csv", ";"), ("b.tsv", "\t")):
        path = write(tmp_path / name, f"x{mark}y\n1{mark}2\n3{mark}4\n")
        assert read(path).rows() == [(1.0, 2.0), (3.0, 4.0)]


# ---------------------------------------------------------------- what is wrong with a file
def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(lw.DataError, match=r"a.csv: .*empty"):
        read(write(tmp_path / "a.csv", ""))
    with pytest.raises(lw.DataError, match=r"b.csv cannot be read as CSV"):
        read(write(tmp_path / "b.csv", "x,y\n1,2\n1,2,3\n"))
    (tmp_path / "c.csv").write_bytes(b"x,y\n1,\xff\n")
    with pytest.raises(lw.DataError, match=r"c.csv"):
        read(tmp_path / "c.csv")
    assert read(write(tmp_path / "d.csv", "x,x\n1,2\n")).columns == ["x", "x_2"]


def test_files_of_two_kinds_are_refused(two, tmp_path):
    pl.DataFrame({"key": ["a"]}).write_parquet(tmp_path / "c.parquet")
    with pytest.raises(lw.DataError, match="Some files are CSV and others Parquet"):
        TableFiles([*two, tmp_path / "c.parquet"])


def test_a_file_without_a_column_is_named(two, tmp_path):
    third = write(tmp_path / "c.csv", "key,size\n1,2\n")
    with pytest.raises(lw.DataError, match=r"c.csv has no column when, is_new, colour"):
        read(*two, third)


# ---------------------------------------------------------------- summaries
def test_csv_gives_what_parquet_gives(tmp_path):
    rows = np.random.default_rng(0).normal(size=(500, 2))
    frame = pl.DataFrame({"key": [f"k{at}" for at in range(500)], "x": rows[:, 0], "y": rows[:, 1]})
    (tmp_path / "csv").mkdir()
    for number, part in enumerate((frame[:200], frame[200:])):
        part.write_csv(tmp_path / "csv" / f"{number}.csv")
    frame.write_parquet(tmp_path / "all.parquet")
    one, other = (
        lw.summarize(source, 20, id_column="key") for source in (tmp_path / "csv", tmp_path / "all.parquet")
    )
    assert one.medoid_ids == other.medoid_ids
    assert one.X.tobytes() == other.X.tobytes()
    parts = one.write_labels(tmp_path / "csv", np.arange(len(one.sizes)), tmp_path / "labels")
    assert pl.read_parquet(parts)["key"].to_list() == frame["key"].to_list()


def test_columns_of_words_are_named(two):
    with pytest.raises(lw.DataError, match=r"a.csv has columns that hold no numbers: when, colour"):
        open_stream(two, id_column="key")
