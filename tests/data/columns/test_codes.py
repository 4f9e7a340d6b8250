"""Numbers that are codes: proposed as categories, and compared so when the user says so."""

import pandas as pd
import polars as pl
import pytest

from linkwise.data import encode, from_frame, read_table
from linkwise.errors import DataError

ZIPS = [8001, 8001, 4051, 3011, 4051, 8001]
SALES = [3.5, 5.0, 2.0, 7.0, 8.0, 1.0]
each_kind = pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])


def proposals(frame, **how):
    return [note for note in from_frame(frame, **how).notes if "--as-categories" in note]


@each_kind
def test_codes_are_proposed_in_one_line_and_stay_numbers(make):
    frame = make({"zip": ZIPS, "region_id": [1, 2, 3] * 2, "sales": SALES})
    assert proposals(frame) == [
        "Columns zip, region_id hold numbers that may be codes. Add --as-categories zip,region_id to compare"
        " them as equal or different (in Python, as_categories=[...])."
    ]
    assert from_frame(frame).roles["zip"] == "numeric"
    assert from_frame(frame).roles["region_id"] == "left out"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("sales", ZIPS),  # no name of a code
        ("zip", SALES),  # no whole numbers
        ("zip", [8001, 8002, 8003, 8004, 8005, 8006]),  # too many
        ("zip", [0, 1, 0, 1, 1, 0]),  # two values: their size changes nothing
    ],
)
def test_other_numbers_are_not_proposed(name, values):
    assert proposals(pl.DataFrame({name: values, "size": SALES})) == []


@each_kind
def test_codes_are_compared_as_categories(make):
    frame = make({"zip": ZIPS, "region_id": [1, 2, 3] * 2, "sales": SALES})
    table = from_frame(frame, as_categories=["zip", "region_id"])
    assert (table.roles["zip"], table.roles["region_id"]) == ("category", "category")
    assert proposals(frame, as_categories=["zip", "region_id"]) == []
    encoded = encode(table, scale="none")
    assert encoded.feature_names[:3] == ("zip=3011", "zip=4051", "zip=8001")
    assert (encoded.transform(frame) == encoded.X).all()
    assert table.item(0)["zip"] == "8001"
    assert table.choices["as_categories"] == ["zip", "region_id"]


def test_codes_with_gaps_in_pandas_keep_their_form():
    frame = pd.DataFrame({"zip": [8001, None, 8001, 3011], "size": SALES[:4]})
    encoded = encode(from_frame(frame, as_categories="zip"), categories="codes")
    assert encoded.features[0].categories == ("3011", "8001", "missing")


def test_codes_with_leading_zeros_are_categories(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "zip,size\n" + "".join(f"{zip_code},{n}\n" for n, zip_code in enumerate(["01067", "80331"] * 3))
    )
    table = read_table(path)
    assert table.roles["zip"] == "category"
    assert table.item(0)["zip"] == "01067"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"as_categories": ["zap"]}, "Did you mean 'zip'"),
        ({"as_categories": ["zip"], "drop": ["zip"]}, "a category and dropped"),
        ({"as_categories": ["id"]}, "a category and the id"),
        ({"as_categories": ["zip"], "columns": ["sales"]}, "but you compare other columns"),
        ({"as_categories": ["day"]}, "holds date, not codes"),
        ({"as_categories": ["zip"], "text": "said"}, "Remove as_categories"),
    ],
)
def test_columns_that_cannot_be_categories(how, message):
    frame = pl.DataFrame({"id": range(6), "zip": ZIPS, "sales": SALES, "said": list("abcdef")})
    days = pl.Series("day", ["2024-01-31"] * 5 + ["2024-02-01"]).str.to_date()
    with pytest.raises(DataError, match=message):
        from_frame(frame.with_columns(days), **how)


# ---------------------------------------------------------------- words
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([f"S{n % 40}" for n in range(400)], True),
        ([f"S{n % 40}" for n in range(150)], False),  # few rows for each value
        ([f"S{n % 120}" for n in range(1200)], False),  # many values
        ([f"the part of type {n % 40} is late" for n in range(400)], False),  # texts
    ],
    ids=["repeated", "rare", "many", "texts"],
)
def test_words_that_many_rows_share_are_proposed_as_categories(words, found):
    frame = pl.DataFrame(
        {"state": words, "x": [n % 7 for n in range(len(words))], "y": [n**0.5 for n in range(len(words))]}
    )
    table = from_frame(frame, propose=True)
    assert (table.reading.as_categories == ("state",)) is found
    assert ("state" in [c.name for c in table.columns if c.role == "category"]) is found
    given = from_frame(frame, propose=True, columns=["x"])
    assert given.reading.as_categories is None
