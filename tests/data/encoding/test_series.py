"""Curves as points: how they are read, scaled and filled, and what cannot be used."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.data import encode, from_frame, items_of, read_table
from linkwise.data.encoding.series import encode_series
from linkwise.errors import DataError

RNG = np.random.default_rng(3)
WAVES = np.sin(np.linspace(0, 6, 20) + np.array([[0.0], [0.1], [3.0], [3.1]])) * [[1], [5], [2], [3]] + [
    [0],
    [9],
    [-4],
    [2],
]


# ---------------------------------------------------------------- as points
def test_shape_counts_and_not_level_or_size():
    X = encode_series(WAVES).X
    assert np.allclose(X.mean(axis=1), 0)
    assert np.allclose(X.std(axis=1), 1)
    near = np.linalg.norm(X[0] - X[1])
    assert near < 0.2 * np.linalg.norm(X[0] - X[2])
    assert np.allclose(encode_series(7 * WAVES - 100).X, X)


def test_unit_and_none():
    X = encode_series(WAVES, "unit").X
    assert (X.min(axis=1) == 0).all()
    assert np.allclose(X.max(axis=1), 1)
    assert np.array_equal(encode_series(WAVES, "none").X, WAVES)


def test_gaps_are_on_the_line_between_neighbours():
    curves = np.array([[np.nan, 1, np.nan, np.nan, 4, np.nan], [0, 1, 2, 3, 5, 4.0]])
    encoded = encode_series(curves, "none")
    assert encoded.X[0].tolist() == [1, 1, 2, 3, 4, 4]
    assert "4 missing values in 1 curve" in encoded.notes[-1]
    assert np.isnan(curves).sum() == 4  # what was given stays


def test_flat_curves_become_zero():
    encoded = encode_series(np.array([[1e9] * 5, [0.1] * 5, [1, 2, 3, 4, 5.0]]))
    assert not encoded.X[:2].any()
    assert "2 curves never change" in encoded.notes[-1]


@given(st.integers(0, 2**32 - 1), st.sampled_from(["standard", "unit", "none"]))
@settings(max_examples=30, deadline=None)
def test_points_are_finite_whatever_the_gaps(seed, scale):
    rng = np.random.default_rng(seed)
    curves = rng.normal(size=(6, 9)) * 10.0 ** rng.integers(-6, 6)
    curves[rng.random((6, 9)) < 0.4] = np.nan
    curves[np.isnan(curves).all(axis=1), 0] = 1.0
    assert np.isfinite(encode_series(curves, scale).X).all()


@pytest.mark.parametrize(
    ("curves", "said"),
    [
        ([[1, np.inf], [0, 1]], "row 0 at sample 2"),
        ([[1, 2], [np.nan, np.nan]], r"1 curve without any value: rows 1"),
        ([[1, 2, 3], [1, 2, 3]], "All curves are the same once each is scaled. --scale none keeps"),
        ([[1, 2, 3], [11, 12, 13]], "--scale none keeps"),
        ([[1e200, 1], [1, 2]], "1e150"),
    ],
)
def test_curves_that_cannot_be_used(curves, said):
    with pytest.raises(DataError, match=said):
        encode_series(np.array(curves, dtype=float))


def test_unknown_scale():
    with pytest.raises(ValueError, match="scale must be"):
        encode_series(WAVES, "log")


# ---------------------------------------------------------------- columns of numbers
WIDE = pl.DataFrame({"id": ["a", "b", "c"], "city": ["x", "y", "z"], "t0": [0, 0, 0], "t1": [1.0, None, 3.0],
                     "t2": [2.0, 5.0, 1.0], "class": [0, 1, 1]})  # fmt: skip


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_columns_of_numbers_are_the_samples_in_order(make):
    table = from_frame(make(WIDE.to_dict(as_series=False)), series=True)
    assert (table.kind, table.features) == ("series", ("t0", "t1", "t2"))
    assert table.shown == ("city", "class")
    assert "columns t0, t1, t2; only shown: city, class." in table.notes[-1]
    items = items_of(table)
    assert items.kind == "series"
    assert items.content(1) == [0.0, None, 5.0]
    assert items.fields(1) == {"city": "y", "class": "1"}
    assert encode(table).feature_names == ("t0", "t1", "t2")


def test_named_columns_come_in_the_order_of_the_table():
    table = from_frame(WIDE, series=True, columns=["class", "t2", "t1"])
    assert table.features == ("t1", "t2", "class")
    assert items_of(table).content(2) == [3.0, 1.0, 1.0]


def test_choices_give_the_same_table_again(tmp_path):
    path = tmp_path / "wide.csv"
    WIDE.write_csv(path)
    table = read_table(path, series=True, drop=["city"])
    assert table.choices["series"] is True
    again = read_table(path, **json.loads(json.dumps(table.choices)))
    assert again.notes == table.notes
    assert np.array_equal(encode(again).X, encode(table).X)


def test_records_know_nothing_of_series(tmp_path):
    assert "series" not in from_frame(WIDE, columns=["t1", "t2"]).choices


def test_gaps_are_not_imputed():
    with pytest.raises(ValueError, match="impute"):
        encode(from_frame(WIDE, series=True), impute="median")


@pytest.mark.parametrize(
    ("frame", "how", "said"),
    [
        ({"a": [1, 2], "b": ["x", "y"]}, {}, "the only column of numbers is a"),
        ({"a": ["u", "v"], "b": ["x", "y"]}, {}, "no column of numbers"),
        (
            {"a": [1, 2], "b": ["x", "y"], "c": [3, 4]},
            {"columns": ["a", "b"]},
            "'b' cannot be part of a curve",
        ),
        ({"a": [1, 2], "c": [3, 4]}, {"columns": ["a", "d"]}, "no column 'd'"),
        ({"a": [1], "c": [3]}, {}, "1 row"),
    ],
)
def test_tables_without_curves(frame, how, said):
    with pytest.raises(DataError, match=said):
        from_frame(pl.DataFrame(frame), series=True, **how)


# ---------------------------------------------------------------- lists
def written(tmp_path, rows, name="lists.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_lists_in_json_lines(tmp_path):
    rows = [{"id": "a", "n": 1, "c": [1, 2.5, None]}, {"id": "b", "n": 2, "c": [3, 2, 1]}]
    table = read_table(written(tmp_path, rows), series=True)
    assert (table.features, table.shown, table.ids) == (("c",), ("n",), ("a", "b"))
    assert items_of(table).content(0) == [1.0, 2.5, None]
    assert encode(table).feature_names == ("sample 1", "sample 2", "sample 3")


def test_lists_in_parquet(tmp_path):
    pl.DataFrame({"id": ["a", "b"], "c": [[1.0, 2.0], [2.0, 1.0]]}).write_parquet(tmp_path / "l.parquet")
    assert items_of(read_table(tmp_path / "l.parquet", series=True)).content(1) == [2.0, 1.0]


@pytest.mark.parametrize("form", ["[1, 2, 3.5]", "[1 2  3.5]", "[1;2;3.5]", " [ 1,2, 3.5 ] "])
def test_lists_written_in_text_files(tmp_path, form):
    path = tmp_path / "l.csv"
    path.write_text(f'id,c\na,"{form}"\nb,"[3,null,0]"\n')
    items = items_of(read_table(path, series=True))
    assert (items.content(0), items.content(1)) == ([1.0, 2.0, 3.5], [3.0, None, 0.0])


@pytest.mark.parametrize(
    ("curves", "said"),
    [
        ([[1, 2, 3], [1, 2, 3], [1, 2]], "most have 3 values, but row 2 has 2"),
        ([[1, 2], None, [2, 1]], "Row 1 .* has no curve"),
        ([[1, 2], [1, "much"], [2, 1]], "Row 1 .*Use a list of numbers"),
        ([[1, 2], [1, [3]], [2, 1]], "Row 1 .*Use a list of numbers"),
        ([[1, 2], [True, 3], [2, 1]], "Row 1 .*Use a list of numbers"),
        ([[1], [2], [3]], "at least 2 samples"),
        ([[], [], []], "at least 2 samples"),
        ([[1, 2], {"a": 1}, [2, 1]], "Row 1 .*Use a list of numbers"),
        ([[1, 2], [1, 1e999], [2, 1]], "infinite"),
    ],
)
def test_lists_that_are_no_curves(tmp_path, curves, said):
    path = written(tmp_path, [{"id": k, "c": curve} for k, curve in enumerate(curves)])
    with pytest.raises(DataError, match=said):
        encode(read_table(path, series=True))


def test_one_of_several_columns_of_lists_must_be_named(tmp_path):
    path = written(tmp_path, [{"a": [1, 2], "b": [3, 4]}, {"a": [2, 1], "b": [4, 4]}])
    with pytest.raises(DataError, match="--columns NAME"):
        read_table(path, series=True)
    assert items_of(read_table(path, series=True, columns="b")).content(0) == [3.0, 4.0]
