"""What each column is taken as, and that it is said."""

import datetime
import decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from linkwise.data import encode, from_frame, read_table
from linkwise.errors import DataError

KINDS = [pl.DataFrame, pd.DataFrame]
each_kind = pytest.mark.parametrize("make", KINDS, ids=["polars", "pandas"])
VALUES = {"a": [1.0, 2.0, 4.0, 3.0]}


def refusal(frame, **how):
    with pytest.raises(DataError) as caught:
        from_frame(frame, **how)
    return str(caught.value)


def said(table, words):
    return any(words in note for note in table.notes)


DATA = {
    "uuid": ["a", "b", "c", "d"],
    "whole": [3, 1, 2, 9007199254740993],
    "real": [0.1, 1234.5678, float("nan"), 2.0],
    "word": ["x", None, "x", "y"],
    "flag": [True, False, True, True],
    "moment": [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2, 12, 30), None,
               datetime.datetime(2024, 1, 1, 0, 0, 7)],
    "lasting": [datetime.timedelta(hours=36), datetime.timedelta(1), datetime.timedelta(2), None],
    "same": [1, 1, 1, 1],
    "void": [None, None, None, None],
    "text": ["p", "q", "r", "s"],
    "Target": ["p", "q", "p", "q"],
}  # fmt: skip


@each_kind
def test_roles(make):
    table = from_frame(make(DATA))
    assert table.roles == {
        "uuid": "id", "whole": "numeric", "real": "numeric", "word": "category", "flag": "category",
        "moment": "date", "lasting": "date", "same": "constant", "void": "constant", "text": "text",
        "Target": "label",
    }  # fmt: skip
    assert table.ids == ("a", "b", "c", "d")
    assert table.features == ("whole", "real", "word", "flag", "moment", "lasting")
    assert table.shown == ("same", "text", "Target")
    assert len(table) == table.n_rows == 4
    assert said(table, "Rows are identified by 'uuid'")
    assert said(table, "Constant columns are left out: same (always 1), void (no values).")
    assert said(table, "'text' is left out as free text: 4 different texts in 4 rows")
    assert said(table, "'Target' is left out: its name suggests known groups")
    assert said(table, "'moment' is used as a number: days since 1970-01-01")
    assert said(table, "Columns used as categories: word (2 categories), flag (true or false).")


@each_kind
def test_items(make):
    table = from_frame(make(DATA))
    assert list(table.item(0)) == [*table.features, *table.shown]
    assert table.item(0) == {
        "whole": "3", "real": "0.1", "word": "x", "flag": "true", "moment": "2024-01-01",
        "lasting": "1.5 days", "same": "1", "text": "p", "Target": "p",
    }  # fmt: skip
    assert table.item(1)["real"] == "1234.57"
    assert table.item(1)["word"] == "missing"
    assert table.item(1)["moment"] == "2024-01-02 12:30"
    assert table.item(2)["real"] == table.item(2)["moment"] == table.item(3)["lasting"] == "missing"
    assert table.item(3)["whole"] == "9007199254740993"
    assert table.item(3)["moment"] == "2024-01-01 00:00:07"
    for row in (-1, 4):
        with pytest.raises(IndexError, match=f"no row {row}: the rows are 0 to 3"):
            table.item(row)


def test_pandas_and_polars_give_the_same_table():
    one, other = (from_frame(make(DATA)) for make in KINDS)
    assert one.ids == other.ids
    assert one.columns == other.columns
    assert one.notes == other.notes
    assert one.choices == other.choices
    assert [one.item(row) for row in range(4)] == [other.item(row) for row in range(4)]
    np.testing.assert_array_equal(encode(one, impute="median").X, encode(other, impute="median").X)


def test_pandas_own_types():
    frame = pd.DataFrame(
        {
            "id": [7.0, 8.0, 9.0],
            "count": pd.array([1, None, 3], dtype="Int64"),
            "level": pd.Categorical(["lo", "hi", None]),
            "number level": pd.Categorical([1, 2, 1]),
            "flag": pd.Series([True, None, False], dtype=object),
            "day": pd.Series([datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 3)], dtype=object),
            "zoned": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-04"], utc=True),
            "mixed": pd.Series([1, "a", None], dtype=object),
        }
    )
    table = from_frame(frame, columns=["count", "level", "number level", "flag", "day", "zoned"])
    assert table.ids == ("7", "8", "9")
    assert table.features == ("count", "level", "number level", "flag", "day", "zoned")
    assert table.item(0) == {
        "count": "1", "level": "lo", "number level": "1", "flag": "true", "day": "2024-01-01",
        "zoned": "2024-01-01", "mixed": "1",
    }  # fmt: skip
    assert set(table.item(1).values()) == {"missing", "hi", "2", "a", "2024-01-02"}
    encoded = encode(table, scale="none", impute="median")
    assert encoded.feature_names == (
        "count", "level=hi", "level=lo", "number level=1", "number level=2", "flag", "day", "zoned",
    )  # fmt: skip
    np.testing.assert_array_equal(encoded.X[:, 6], [19723, 19724, 19725])
    np.testing.assert_array_equal(encoded.X[:, 7], [19723, 19724, 19726])


def test_column_of_mixed_objects():
    frame = pd.DataFrame({"a": [1, 2], "b": pd.Series([1, "x"], dtype=object)})
    assert said(from_frame(frame), "'b' is left out: values of type Object, such as 1")
    assert "'b' cannot be a feature" in refusal(frame, columns=["b"])


def test_decimals_are_numbers():
    table = from_frame(pl.DataFrame({"a": [decimal.Decimal("1.50"), decimal.Decimal("2.25")]}))
    np.testing.assert_array_equal(encode(table, scale="none").X, [[1.5], [2.25]])
    assert table.item(0) == {"a": "1.50"}


def test_pandas_names_and_index():
    frame = pd.DataFrame([[1, 2], [3, 5]], columns=[0, "b"])
    assert from_frame(frame).features == ("0", "b")
    assert frame.columns.tolist() == [0, "b"]
    assert not said(from_frame(frame), "index")
    assert said(from_frame(frame.set_axis(["p", "q"])), "reset_index() makes a column of it")


@pytest.mark.parametrize("names", [["a", "a"], [1, "1"]])
def test_repeated_names(names):
    assert f"twice: {names[1]}" in refusal(pd.DataFrame([[1, 2], [3, 4]], columns=names))


def test_repeated_names_in_arrow():
    arrow = pl.DataFrame({"a": [1, 2], "b": [3, 4]}).to_arrow().rename_columns(["a", "a"])
    assert "twice: a" in refusal(arrow)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ([[1, 2]], "is a list"),
        (pl.LazyFrame(VALUES), "collect"),
        (sparse.csr_array(np.eye(2)), "dense data is required"),
        (None, "is a NoneType"),
    ],
)
def test_other_things_are_no_tables(frame, words):
    with pytest.raises(TypeError, match=words):
        from_frame(frame)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, ">f8", np.int8, np.uint64, np.longdouble])
def test_arrays(dtype):
    X = np.array([[1, 2], [3, 5], [4, 4]], dtype=dtype)
    for array in (X, np.asfortranarray(X), X[::-1][::-1]):
        encoded = encode(from_frame(array), scale="none")
        assert encoded.feature_names == ("x0", "x1")
        np.testing.assert_array_equal(encoded.X, X.astype(float))


def test_array_of_truth_values():
    assert from_frame(np.array([[True], [False]])).roles == {"x0": "category"}


def test_narwhals_frames_are_taken_too():
    assert from_frame(nw.from_native(pl.DataFrame(VALUES))).features == ("a",)


def test_numbers_with_units_are_shown_as_written_and_compared_as_numbers(tmp_path):
    path = tmp_path / "goods.csv"
    lines = [
        "sku,price,share,size",
        "a,€ 48.39,21.5 %,2.50",
        "b,€48.390,3 %,2.5",
        "c,€ 9,4 %,1",
        "d,n/a,5 %,3",
    ]
    path.write_text("\n".join(lines), "utf-8")
    table = read_table(path, id_column="sku")
    assert table.item(0) == {"price": "€ 48.39", "share": "21.5 %", "size": "2.5"}
    assert table.item(1) == {"price": "€ 48.39", "share": "3 %", "size": "2.5"}  # equal prices look equal
    assert table.item(3)["price"] == "missing"
    assert encode(table, scale="none", impute="median").X[:, 0].tolist() == [48.39, 48.39, 9.0, 48.39]


def test_one_note_is_about_many_columns_of_texts():
    texts = {f"t{at}": [f"word{row} {at}" for row in range(40)] for at in range(7)}
    table = from_frame(pl.DataFrame({"a": range(40), **texts}))
    assert [note for note in table.notes if "free text" in note] == [
        "7 columns are left out as free text: t0 (40 different texts in 40 rows), t1 (40 different texts in"
        " 40 rows), t2 (40 different texts in 40 rows), t3 (40 different texts in 40 rows), t4 (40 different"
        " texts in 40 rows) and 2 more. They are still shown."
    ]
