"""The matrix: scales, categories, what is missing, and the way back."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import linkwise as lw
from linkwise.data import encode, from_frame
from linkwise.errors import DataError

DATA = {"a": [1.0, 3.0, 2.0, 5.0], "w": ["x", "y", "x", "z"], "t": [True, False, True, True]}


def table(**extra):
    return from_frame(pl.DataFrame({**DATA, **extra}), columns=["a", "w", "t", *extra])


def test_unit():
    encoded = encode(table())
    assert encoded.feature_names == ("a", "w=x", "w=y", "w=z", "t")
    np.testing.assert_array_equal(
        encoded.X, [[0, 1, 0, 0, 1], [0.5, 0, 1, 0, 0], [0.25, 1, 0, 0, 1], [1, 0, 0, 1, 1]]
    )
    assert encoded.X.dtype == np.float64
    assert encoded.X.flags.c_contiguous
    assert encoded.notes == (
        "Numeric columns are scaled to run from 0 to 1.",
        "Categories are one-hot encoded: w (3 columns), t (1 column).",
    )


def test_standard_and_none():
    unit, standard, none = (encode(table(), scale=scale).X for scale in ("unit", "standard", "none"))
    np.testing.assert_allclose(standard[:, 0].mean(), 0, atol=1e-15)
    np.testing.assert_allclose(standard[:, 0].std(), 1)
    np.testing.assert_array_equal(none[:, 0], DATA["a"])
    np.testing.assert_array_equal(standard[:, 1:], unit[:, 1:])
    np.testing.assert_array_equal(none[:, 1:], unit[:, 1:])


@pytest.mark.slow
@given(
    values=hnp.arrays(np.float64, st.integers(2, 20), elements=st.floats(-1e9, 1e9)).filter(
        lambda values: values.min() < values.max()
    ),
    scale=st.sampled_from(["unit", "standard", "none"]),
)
def test_original_units_come_back(values, scale):
    encoded = encode(from_frame(pl.DataFrame({"a": values})), scale=scale)
    (feature,) = encoded.features
    assert (feature.name, feature.source, feature.category, feature.role) == ("a", "a", None, "numeric")
    back = feature.offset + feature.scale * encoded.X[:, 0]
    np.testing.assert_allclose(back, values, rtol=1e-9, atol=1e-9 * np.abs(values).max())
    if scale == "unit":
        assert encoded.X.min() == 0
        assert encoded.X.max() == 1


def test_categories_come_back():
    features = encode(table()).features
    assert [(f.source, f.category, f.role) for f in features[1:]] == [
        ("w", "x", "category"), ("w", "y", "category"), ("w", "z", "category"), ("t", "true", "category"),
    ]  # fmt: skip
    assert all((f.offset, f.scale) == (0.0, 1.0) for f in features[1:])


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_missing_values(make):
    data = {
        "n": [1.0, None, 9.0, 3.0, float("nan")],
        "w": ["x", "y", None, "y", "x"],
        "t": pd.array([True, True, None, False, None], dtype="boolean")
        .to_numpy(object, na_value=None)
        .tolist(),
        "full": [1, 2, 3, 4, 5],
    }
    found = from_frame(make(data), columns=list(data))
    filled = "n (2 values: 3), w (1 value: missing), t (2 values: missing)"
    change = "--impute median fills in the most frequent category instead."
    assert encode(found).notes[0] == f"Missing values were filled in: {filled}. {change}"
    encoded = encode(found, impute="median", scale="none")
    np.testing.assert_array_equal(encoded.X[:, 0], [1, 3, 9, 3, 3])
    np.testing.assert_array_equal(encoded.X[2], [9, 1, 0, 1, 3])
    assert (
        encoded.notes[0]
        == "Missing values were filled in: n (2 values: 3), w (1 value: x), t (2 values: true)."
    )


def test_infinite_values():
    found = table(b=[1.0, 2.0, np.inf, 3.0], c=[1.0, -np.inf, np.nan, -np.inf])
    for impute in (None, "median"):
        with pytest.raises(
            DataError, match=r"3 infinite values, the first in row 1 .*column 'c'\. Empty these cells"
        ):
            encode(found, impute=impute)
    named = from_frame(pl.DataFrame({"id": ["p", "q"], "a": [1.0, np.inf]}))
    with pytest.raises(DataError, match=r"first in row 1 \(counted from 0, id 'q'\)"):
        encode(named)


def test_values_too_far_apart():
    with pytest.raises(DataError, match="'a' are too large for scale='unit'"):
        encode(from_frame(pl.DataFrame({"a": [-1.7e308, 1.7e308]})))


def test_unknown_choices():
    with pytest.raises(ValueError, match="scale must be"):
        encode(table(), scale="minmax")
    with pytest.raises(ValueError, match="impute must be"):
        encode(table(), impute="mean")


def test_neither_tables_nor_what_is_encoded_pass_for_arrays():
    for rows in (table(), encode(table())):
        with pytest.raises(TypeError, match=r"Pass .*encode\(table\)\.X"):
            lw.KIN().fit(rows)


def test_dates_are_days():
    days = pd.to_datetime(["1970-01-02 00:00", "1970-01-03 12:00", "1969-12-31 00:00"])
    for frame in (pd.DataFrame({"d": days}), pl.DataFrame({"d": days.to_pydatetime().tolist()})):
        encoded = encode(from_frame(frame), scale="none")
        np.testing.assert_array_equal(encoded.X[:, 0], [1, 2.5, -1])
        assert encoded.features[0].role == "date"
    lasting = pl.DataFrame({"d": days}).select(pl.col("d") - pl.col("d").first())
    np.testing.assert_array_equal(encode(from_frame(lasting), scale="none").X[:, 0], [0, 1.5, -2])


# ---------------------------------------------------------------- missing as a category
GAPS = {"size": [1.0, None, 3.0, 8.0], "kind": ["a", "a", None, "b"], "paid": [True, None, False, True]}


def test_missing_becomes_a_category_and_numbers_get_their_median():
    encoded = encode(from_frame(pl.DataFrame(GAPS)), scale="none")
    assert encoded.feature_names == (
        "size", "kind=a", "kind=b", "kind=missing", "paid=false", "paid=missing", "paid=true",
    )  # fmt: skip
    assert encoded.X[1].tolist() == [3, 1, 0, 0, 0, 1, 0]
    assert encoded.X[2].tolist() == [3, 0, 0, 1, 1, 0, 0]
    assert "kind (1 value: missing), paid (1 value: missing)" in encoded.notes[0]


@pytest.mark.parametrize("categories", ["columns", "codes"])
@pytest.mark.parametrize("impute", [None, "median"])
def test_new_rows_may_lack_what_the_first_ones_lacked(impute, categories):
    frame = pl.DataFrame(GAPS)
    encoded = encode(from_frame(frame), impute=impute, categories=categories)
    assert (encoded.transform(frame) == encoded.X).all()


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_new_rows_may_lack_what_no_other_row_lacked(make):
    frame = pl.DataFrame({"size": [1.0, 3.0, 8.0], "kind": ["a", "b", "a"], "paid": [True, True, False]})
    table, new = from_frame(pl.concat([frame] * 2)), make({name: [None] for name in frame.columns})
    assert encode(table, scale="none").transform(new).tolist() == [[3, 0, 0, 1]]
    assert encode(table, scale="none", impute="median").transform(new).tolist() == [[3, 1, 0, 1]]
    assert encode(table, scale="none", categories="codes").transform(new).tolist() == [[3, 2, 1]]


def test_the_category_of_missing_values_has_a_name_of_its_own():
    frame = pl.DataFrame({"kind": ["missing", None, "a", "a"], "size": [1.0, 2.0, 3.0, 4.0]})
    encoded = encode(from_frame(frame), categories="codes")
    assert encoded.features[0].categories == ("(missing)", "a", "missing")
    assert encoded.X[:, 0].tolist() == [2, 0, 1, 1]


def test_without_gaps_the_two_ways_to_fill_them_agree():
    frame = from_frame(pl.DataFrame(GAPS).fill_null(strategy="forward"))
    one, other = (encode(frame, impute=how) for how in ("median", None))
    assert one.feature_names == other.feature_names
    assert (one.X == other.X).all()


def test_a_date_that_is_filled_in_is_shown_as_a_date():
    days = ["2024-01-01", None, "2024-03-01", "2024-03-02"]
    table = from_frame(pl.DataFrame({"day": days}).with_columns(pl.col("day").str.to_date()))
    assert "Missing values were filled in: day (1 value: 2024-03-01)." in encode(table, impute="median").notes
    days[3] = None
    days[2] = "2024-01-02"
    table = from_frame(pl.DataFrame({"day": days}).with_columns(pl.col("day").str.to_date()))
    assert "day (2 values: 2024-01-01 12:00:00)" in " ".join(encode(table, impute="median").notes)
