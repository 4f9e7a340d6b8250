"""Missing values never stop, whatever the kind of the column and however many there are."""

from datetime import date, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.data import encode, from_frame

N = 24
KINDS = {
    "number": [n * 1.5 for n in range(N)],
    "whole": [n % 7 for n in range(N)],
    "word": ["north", "south", "east"] * (N // 3),
    "truth": [True, False, False] * (N // 3),
    "day": [date(2024, 1, 1) + timedelta(days=13 * n) for n in range(N)],
    "lasting": [timedelta(hours=n) for n in range(N)],
    "sent": [time(n % 24, 30) for n in range(N)],
    "plain": [float(n * n) for n in range(N)],  # without gaps, so that a column is always left
}
GAPPY = [kind for kind in KINDS if kind != "plain"]
MISSING = st.dictionaries(st.sampled_from(GAPPY), st.sets(st.integers(0, N - 1)), min_size=1)


def make(gaps):
    columns = {
        name: [None if row in gaps.get(name, ()) else value for row, value in enumerate(values)]
        for name, values in KINDS.items()
    }
    return pl.DataFrame(columns, schema=pl.DataFrame(KINDS).schema)


@given(MISSING, st.sampled_from([None, "median"]), st.sampled_from(["columns", "codes"]))
def test_any_share_of_any_kind_may_be_missing(gaps, impute, categories):
    frame = make(gaps)
    table = from_frame(frame)
    encoded = encode(table, impute=impute, categories=categories)
    assert np.isfinite(encoded.X).all()
    compared = {feature.source for feature in encoded.features}
    lacking = {name for name in compared if gaps.get(name)}
    told = [note for note in encoded.notes if note.startswith("Missing values were filled in")]
    assert len(told) == bool(lacking)
    assert all(f"{name} (" in told[0] for name in lacking)
    np.testing.assert_allclose(encoded.transform(frame), encoded.X, atol=1e-12)


@given(st.sets(st.integers(0, N - 1), min_size=1, max_size=N - 4))
def test_a_number_that_is_missing_is_the_median_and_a_word_is_like_no_other(rows):
    frame = make({"number": rows, "word": rows})
    encoded = encode(from_frame(frame, columns=["number", "plain"]), scale="none")
    known = [value for row, value in enumerate(KINDS["number"]) if row not in rows]
    assert (encoded.X[sorted(rows), 0] == np.median(known)).all()
    words = frame["word"].drop_nulls().n_unique()
    if words > 1:
        encoded = encode(from_frame(frame, columns=["word", "plain"]))
        own = encoded.feature_names.index("word=missing")
        assert np.flatnonzero(encoded.X[:, own]).tolist() == sorted(rows)


NOTHING = {"None": None, "NaN": float("nan"), "NA": pd.NA}


@pytest.mark.parametrize("name", NOTHING)
def test_every_way_to_say_missing_is_the_same(name):
    gap = NOTHING[name]
    frame = pd.DataFrame(
        {
            "size": pd.array([1, 2, None, 9], dtype="Int64"),
            "share": [0.5, np.nan, 0.25, 1.0],
            "kind": pd.Series(["a", gap, "b", "a"], dtype=object),
            "day": pd.to_datetime(pd.Series(["2024-01-01", None, "2024-03-01", "2024-02-01"])),
        }
    )
    expected = pl.DataFrame(
        {
            "size": [1, 2, None, 9],
            "share": [0.5, None, 0.25, 1.0],
            "kind": ["a", None, "b", "a"],
            "day": [date(2024, 1, 1), None, date(2024, 3, 1), date(2024, 2, 1)],
        }
    )
    columns = ["size", "share", "kind", "day"]
    one, other = (encode(from_frame(some, columns=columns)) for some in (frame, expected))
    assert one.feature_names == other.feature_names
    np.testing.assert_array_equal(one.X, other.X)


@pytest.mark.parametrize("make_frame", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_columns_with_one_known_value_are_only_shown_and_those_without_are_not(make_frame):
    frame = make_frame(
        {"size": [1.0, 2.0, 3.0], "none": [None] * 3, "one": [None, 7.0, None], "word": [None, None, "x"]}
    )
    table = from_frame(frame)
    assert table.features == ("size",)
    assert table.shown == ("one", "word")
    assert table.item(0) == {"size": "1", "one": "missing", "word": "missing"}
    assert from_frame(frame, show=["none"]).shown == ("none", "one", "word")
