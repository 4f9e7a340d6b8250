"""Amounts that are compared by their logarithms, and shown as they are."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from linkwise.data import encode, from_frame, read_table
from linkwise.data.columns.log_scale import choose_shift
from linkwise.data.columns.proposals import propose_options
from linkwise.errors import DataError

RNG = np.random.default_rng(0)
INCOME = np.round(np.exp(RNG.normal(10, 1, 200)), 2)
AGE = RNG.integers(18, 90, 200)
each_kind = pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])


@each_kind
@pytest.mark.parametrize("scale", ["unit", "standard", "none"])
@pytest.mark.parametrize("zeros", [0, 3])
def test_rows_are_compared_by_logarithms_and_keep_their_values(make, scale, zeros):
    income = INCOME.copy()
    income[:zeros] = 0
    frame = make({"income": income, "age": AGE})
    table = from_frame(frame, log=["income"])
    encoded = encode(table, scale=scale)
    feature, x = encoded.features[0], encoded.X[:, 0]
    shift = income[income > 0].min() if zeros else 0
    assert feature.log_shift == shift
    logs = np.log(income + shift)
    spread = {"unit": np.ptp(logs), "standard": logs.std(), "none": 1}[scale]
    assert np.diff(x) == pytest.approx(np.diff(logs) / spread)
    assert feature.to_original(x) == pytest.approx(income)
    assert (encoded.transform(frame) == encoded.X).all()
    assert table.item(5)["income"] == from_frame(frame).item(5)["income"]
    assert table.choices["log"] == ["income"]
    note = next(note for note in encoded.notes if note.startswith("Compared by logarithms: income."))
    assert ("Because of zeros, the smallest positive value is added first" in note) == bool(zeros)


def test_a_median_fills_the_gaps_before_the_logarithm():
    income = [float(one) for one in INCOME]
    income[0] = None
    encoded = encode(
        from_frame(pl.DataFrame({"income": income}), log="income"), impute="median", scale="none"
    )
    assert encoded.X[0, 0] == np.log(np.median(INCOME[1:]))


def test_other_columns_are_encoded_as_without_it():
    frame = pl.DataFrame({"income": INCOME, "age": AGE})
    with_log, without = encode(from_frame(frame, log=["income"])), encode(from_frame(frame))
    assert (with_log.X[:, 1] == without.X[:, 1]).all()
    assert replace(with_log.features[1], name="age") == without.features[1]


def test_new_rows_below_the_first_ones():
    encoded = encode(from_frame(pl.DataFrame({"income": INCOME}), log=["income"]))
    with pytest.raises(
        DataError, match=r"is compared by its logarithm\. In rows 1, counted from 0, it is not above 0"
    ):
        encoded.transform(pl.DataFrame({"income": [1.0, 0.0]}))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"log": ["incom"]}, "Did you mean 'income'"),
        ({"log": ["word"]}, "'word' is not compared as a number"),
        ({"log": ["debt"]}, "'debt' holds negative numbers"),
        ({"log": ["none"]}, "'none' is not compared as a number"),
        ({"log": ["age"], "as_categories": ["age"]}, "'age' is not compared as a number"),
        ({"log": ["age"], "drop": ["age"]}, "'age' is not compared as a number"),
        ({"log": ["age"], "text": "word"}, "Remove log"),
        ({"log": ["age"], "series": True, "columns": ["age", "income"]}, "Remove log"),
    ],
)
def test_what_has_no_logarithm(how, message):
    words = [f"word {n % 7}" for n in range(200)]
    columns = {"income": INCOME, "age": AGE, "word": words, "debt": -INCOME, "none": [0] * 200}
    with pytest.raises(DataError, match=message):
        from_frame(pl.DataFrame(columns), **how)


def test_the_cosine_takes_no_logarithm():
    table = from_frame(pl.DataFrame({"income": INCOME, "age": AGE}), log=["income"], metric="cosine")
    with pytest.raises(DataError, match="The cosine compares the numbers in income as they are"):
        encode(table)


@pytest.mark.parametrize(("values", "shift"), [([3.0, 1.0], 0.0), ([0.0, 2.0, 5.0], 2.0)])
def test_the_shift(values, shift):
    assert choose_shift(np.array(values)) == shift


# ---------------------------------------------------------------- proposal
def proposed(frame, **how):
    table = from_frame(frame, **how)
    proposals = propose_options(table.frame, table.reading)
    return next((one.value for one in proposals if one.option == "log"), None)


@each_kind
def test_heavy_tails_are_proposed_until_they_are_named(make):
    frame = make({"income": INCOME, "price": np.append(INCOME[1:], 0.0), "age": AGE})
    assert proposed(frame) == ["income", "price"]
    assert proposed(frame, log=["income"]) == ["income", "price"]
    assert proposed(frame, log=["income", "price"]) is None
    assert proposed(frame, columns=["income", "age"]) == ["income"]
    assert proposed(frame, drop=["income", "price"]) is None


@pytest.mark.parametrize(
    "values",
    [np.where(np.arange(200) % 2, INCOME, 0.0), np.append(INCOME[1:], 50 * INCOME.max())],
    ids=["zeros", "one odd value beside a tail"],
)
def test_neither_zeros_nor_an_odd_value_hide_a_heavy_tail(values):
    assert proposed(pl.DataFrame({"a": values, "b": RNG.normal(size=200)})) == ["a"]


@pytest.mark.parametrize(
    "values",
    [
        AGE,
        RNG.normal(50, 10, 200).round(3),
        -INCOME,
        np.append(RNG.normal(50, 10, 199).round(3), 10_000.0),  # one odd value
        RNG.poisson(0.3, 200),  # few values
        np.round(RNG.uniform(0, 1, 200), 4),
    ],
)
def test_other_numbers_are_not_proposed(values):
    assert proposed(pl.DataFrame({"a": values, "b": RNG.normal(size=200)})) is None


def test_the_choice_gives_the_same_table_again(tmp_path):
    path = tmp_path / "t.csv"
    pl.DataFrame({"income": INCOME, "age": AGE}).write_csv(path)
    table = read_table(path, log=["income"])
    again = read_table(path, **table.choices)
    assert (encode(again).X == encode(table).X).all()
