"""Long tables, in which each row is one value of a curve: pivoted, or refused with the reason."""

import datetime
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from linkwise.data import encode, from_frame, read_table
from linkwise.errors import DataError

BY = ("house", "hour", "use")
RNG = np.random.default_rng(0)
USE = RNG.random((5, 4)).round(3)


def long_frame(use=USE):
    n, m = use.shape
    return pl.DataFrame(
        {
            "house": np.repeat([f"0{k}" for k in range(n)], m),
            "hour": np.tile(np.arange(m) + 8, n),
            "use": use.ravel(),
            "street": np.repeat(["mill", "hill", "mill", "lake", "lake"][:n], m),
            "quality": RNG.random(n * m).round(2),
        }
    )


def write(path, frame):
    {".csv": frame.write_csv, ".parquet": frame.write_parquet}[path.suffix](path)
    return path


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_rows_in_any_order_become_curves(tmp_path, ending):
    frame = long_frame().sample(fraction=1, shuffle=True, seed=1)
    table = read_table(write(tmp_path / f"t{ending}", frame), series_by=BY)
    order = frame["house"].unique(maintain_order=True).to_list()
    assert list(table.ids) == order, "and ids keep their zeros"
    assert table.frame.columns == ["house", "street", "hour 8", "hour 9", "hour 10", "hour 11"]
    assert encode(table, scale="none").X.tolist() == [USE[int(name)].tolist() for name in order]
    notes = " ".join(table.notes)
    assert "5 curves by 'house', with 4 values each by 'hour'." in notes
    assert "Columns that change within a curve are left out: quality." in notes
    assert table.kind == "series"
    again = read_table(tmp_path / f"t{ending}", **table.choices)
    assert (again.ids, again.frame.columns) == (table.ids, table.frame.columns)


def daily_frame():
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=day) for day in range(12)]
    houses = np.repeat([f"0{house}" for house in range(6)], 12)
    streets = np.repeat(["mill", "hill"] * 3, 12)
    return pl.DataFrame({"house": houses, "day": days * 6, "use": RNG.random(72).round(3), "street": streets})


def test_one_value_for_each_id_and_day_is_proposed_as_a_curve(tmp_path):
    frame = daily_frame()
    table = read_table(write(tmp_path / "t.csv", frame), propose=True)
    assert table.reading.series_by == ("house", "day", "use")
    assert (len(table), table.kind) == (6, "series")
    assert read_table(tmp_path / "t.csv", table.reading).ids == table.ids
    weekday = frame.with_columns(weekday=pl.col("day").dt.weekday())  # follows from the day
    assert len(read_table(write(tmp_path / "t.csv", weekday), propose=True)) == 6


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.with_columns(power=pl.Series(RNG.random(72))),  # which of two values?
        lambda frame: frame[:-1],
        lambda frame: frame.with_columns(house=pl.Series(RNG.permutation(frame["house"].to_numpy()))),
        lambda frame: frame.with_columns(day=pl.Series(list(range(12)) * 6)),
    ],
    ids=["values", "gap", "pairs", "numbers"],
)
def test_other_tables_with_ids_and_days_have_a_row_for_each_row(tmp_path, change):
    frame = change(daily_frame())
    table = read_table(write(tmp_path / "t.csv", frame), propose=True)
    assert (table.reading.series_by, len(table)) == (None, len(frame))


def test_an_empty_value_is_a_gap(tmp_path):
    path = write(tmp_path / "t.csv", long_frame())
    lines = path.read_text().splitlines()
    lines[6] = ",".join([*lines[6].split(",")[:2], "", *lines[6].split(",")[3:]])
    path.write_text("\n".join(lines) + "\n")
    encoded = encode(read_table(path, series_by=BY), scale="none")
    assert encoded.X[1, 1] == pytest.approx((USE[1, 0] + USE[1, 2]) / 2)
    assert "1 missing value in 1 curve" in " ".join(encoded.notes)


def test_times_are_numbers_or_dates_in_order(tmp_path):
    days = [datetime.date(2024, 1, day) for day in (9, 10, 2)]
    frame = pl.DataFrame({"id": ["a"] * 3 + ["b"] * 3, "day": days * 2, "v": [1.0, 2, 3, 5, 4, 6]})
    for ending in (".csv", ".parquet"):
        table = read_table(write(tmp_path / f"t{ending}", frame), series_by=("id", "day", "v"))
        assert table.frame.columns == ["id", "day 2024-01-02", "day 2024-01-09", "day 2024-01-10"]
        assert encode(table, scale="none").X.tolist() == [[3, 1, 2], [6, 5, 4]]
    floats = frame.with_columns(pl.Series("day", [0.5, 10.0, 2.0] * 2))
    table = read_table(write(tmp_path / "t.parquet", floats), series_by=("id", "day", "v"))
    assert table.frame.columns == ["id", "day 0.5", "day 2.0", "day 10.0"]


KINDS = {
    "polars": lambda f: f,
    "pandas": lambda f: pd.DataFrame(f.to_dict(as_series=False)),
    "pyarrow": lambda f: f.to_arrow(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_in_memory_becomes_curves_of_the_same_kind(tmp_path, kind):
    frame = long_frame()
    frame = set_cell(frame, "use", 6, None)
    given = KINDS[kind](frame)
    table = from_frame(given, series_by=BY)
    assert isinstance(table.frame.to_native(), type(given))
    read = read_table(write(tmp_path / "t.parquet", frame), series_by=BY)
    assert (table.ids, table.frame.columns, table.notes) == (read.ids, read.frame.columns, read.notes)
    assert [column.role for column in table.columns] == [column.role for column in read.columns]
    assert encode(table).X.tolist() == encode(read).X.tolist()
    assert table.item(1) == read.item(1)
    assert table.choices == read.choices
    assert from_frame(given, series_by=BY, drop=["street"]).frame.columns == read.frame.columns


@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_times_and_values_too(kind):
    frame = pl.DataFrame(
        {"id": [3, 3, 4, 4], "day": ["2024-01-10", "2024-01-09"] * 2, "v": ["1,5", "2", "3", ""]}
    )
    table = from_frame(KINDS[kind](frame), series_by=("id", "day", "v"))
    assert table.ids == ("3", "4")
    assert table.frame.columns == ["id", "day 2024-01-09", "day 2024-01-10"]
    assert encode(table, scale="none").X.tolist() == [[2, 1.5], [3, 3]]


def test_kinds_of_pandas():
    frame = pd.DataFrame(
        {
            "at": pd.to_datetime(["2024-01-01 12:00", "2024-01-01 13:00"] * 2),
            "name": pd.Categorical(["a", "a", "b", "b"]),
            "v": pd.array([1, None, 3, 4], dtype="Int64"),
            "room": ["hall", "hall", None, None],
        },
        index=list("wxyz"),
    )
    table = from_frame(frame, series_by=("name", "at", "v"))
    assert table.ids == ("a", "b")
    assert table.frame.columns == ["name", "room", "at 2024-01-01 12:00:00", "at 2024-01-01 13:00:00"]
    assert encode(table, scale="none").X.tolist() == [[1, 1], [3, 4]]
    assert table.notes[0].startswith("The index of the frame is not used")
    array = np.column_stack([[1, 1, 2, 2], [0, 1, 0, 1], [5, 6, 7, 9]])
    assert encode(from_frame(array, series_by=("x0", "x1", "x2")), scale="none").X.tolist() == [
        [5, 6],
        [7, 9],
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"series_by": ("house", "hours", "use")}, "There is no column 'hours'"),
        ({"series_by": ("house", "street", "use")}, r"in order of time.*in Python, series_by="),
        ({"series_by": BY, "id_column": "street"}, "names the column of ids, 'house'"),
        ({"series_by": BY, "text": "street"}, "text compares rows by their words. Remove series_by"),
    ],
)
def test_a_table_in_memory_that_does_not_fit(more, message):
    with pytest.raises(DataError, match=message):
        from_frame(long_frame(), **more)


def test_without_polars_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r'series_by needs polars: pip install "linkwise\[app\]"'):
        from_frame(KINDS["pandas"](long_frame()), series_by=BY)


def set_cell(frame, column, row, value):
    cells = frame[column].to_list()
    cells[row] = value
    return frame.with_columns(pl.Series(column, cells))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: pl.concat([f, f[5:6]]), r"several values at one time: '01' at 9\. Keep one value"),
        (lambda f: set_cell(f, "hour", 6, None), r"1 row without a value in 'hour': 6 \(counted from 0\)"),
        (lambda f: set_cell(f, "house", 6, None), "1 row without a value in 'house': 6"),
        (lambda f: f[:-1], "need a value at each of the 4 times: '04' has 3, none at 11. Add rows"),
        (
            lambda f: set_cell(f, "hour", 6, 99),
            "each of the 5 times: '00' has 4, none at 99, '01' has 4, none",
        ),
        (lambda f: f.with_columns(hour=pl.lit("noon")), "cannot be put in order of time, because it holds"),
        (
            lambda f: set_cell(
                f.with_columns(hour=pl.lit("2024-01-01 08:00")), "hour", 6, "2024-01-01 24:00"
            ),
            r"in order of time, because it holds '2024-01-01 24:00' in row 6 \(counted from 0\)",
        ),
        (
            lambda f: f.with_columns(use=pl.lit("much")),
            "'use' holds values such as 'much', which is no number",
        ),
        (lambda f: f.filter(pl.col("hour") == 8), "A curve needs at least 2 samples"),
        (lambda f: f.filter(pl.col("house") == "00"), "The table has 1 row"),
        (lambda f: f[:0], "row"),  # a text file without rows is refused before
    ],
    ids=[
        "twice",
        "no time",
        "no id",
        "short",
        "other times",
        "words",
        "one word",
        "no numbers",
        "one",
        "alone",
        "none",
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_what_makes_no_curves(tmp_path, ending, change, message):
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path / f"t{ending}", change(long_frame())), series_by=BY)


@pytest.mark.parametrize(
    ("by", "more", "message"),
    [
        (("house", "hours", "use"), {}, "There is no column 'hours'. Did you mean 'hour'"),
        (("house", "hour"), {}, "--series-by has house, hour. Use three columns"),
        (("house", "hour", "hour"), {}, "Use three columns"),
        (BY, {"id_column": "street"}, "--series-by names the column of ids, 'house', and --id another one"),
        (BY, {"text": "street"}, "text compares rows by their words. Remove series_by"),
    ],
)
def test_columns_that_do_not_fit(tmp_path, by, more, message):
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path / "t.csv", long_frame()), series_by=by, **more)


def test_columns_that_are_carried_may_be_dropped(tmp_path):
    path = write(tmp_path / "t.csv", long_frame())
    assert "street" not in read_table(path, series_by=BY, drop=["street"]).item(0)
    assert read_table(path, series_by=BY).item(0)["street"] == "mill"


def test_kinds_of_ids_and_times_in_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    moments = pl.Series("at", [0, 3, 0, 3]).cast(pl.Datetime("ns"))
    frame = pl.DataFrame({"id": [7, 7, 8, 8], "at": moments, "v": [1.0, 2.0, 5.0, 3.0]})
    frame = frame.with_columns(pl.col("v").cast(pl.Decimal(10, 2)))
    table = read_table(write(path, frame), series_by=("id", "at", "v"))
    assert table.ids == ("7", "8")
    assert encode(table, scale="none").X.tolist() == [[1, 2], [5, 3]]
    decimals = frame.with_columns(pl.Series("at", ["0.5", "2", "0.5", "2"]).cast(pl.Decimal(10, 2)))
    assert read_table(write(path, decimals), series_by=("id", "at", "v")).frame.columns[1:] == [
        "at 0.5",
        "at 2.0",
    ]
    for kind in (pl.Duration("ms"), pl.Binary):
        odd = frame.with_columns(
            pl.Series("id", [b"a", b"a", b"b", b"b"] if kind == pl.Binary else [1, 1, 2, 2], kind)
        )
        with pytest.raises(DataError, match="which cannot name curves"):
            read_table(write(path, odd), series_by=("id", "at", "v"))
    same = decimals.with_columns(pl.Series("at", [0, 1, 0, 1])).rename({"id": "at 1"})
    with pytest.raises(DataError, match="The column of ids, 'at 1', has the name of a time"):
        read_table(write(path, same), series_by=("at 1", "at", "v"))
