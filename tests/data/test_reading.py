"""One value says how a file or a table is read, with the same checks everywhere."""

import json

import numpy as np
import polars as pl
import pytest

from linkwise.data import Reading, encode, from_frame, read_table
from linkwise.errors import DataError

FRAME = pl.DataFrame(
    {
        "id": [f"k{n}" for n in range(12)],
        "size": [None, *range(11)],
        "shop": ["a", "b", "c"] * 4,
        "said": [
            f"about {word} and some words" for word in ["tea", "rice", "milk", "salt", "oil", "corn"] * 2
        ],
    }
)
READINGS = [
    Reading(),
    Reading(columns=("size", "shop"), impute="median", scale="standard", weights={"size": 2.0}),
    Reading(text=("said",), columns=("all",), impute="median", text_by="letters"),
    Reading(drop=("said",), as_categories=("size",), hide=("shop",)),
    Reading(kind="image", skip_broken=True),
]


@pytest.mark.parametrize("reading", READINGS)
def test_what_a_session_stores_gives_the_same_reading(reading):
    stored = json.loads(json.dumps(reading.to_json()))
    again = Reading.of(**stored, scale=reading.scale, impute=reading.impute)
    assert again == reading


def test_keywords_and_a_reading_are_the_same(tmp_path):
    path = tmp_path / "shops.csv"
    FRAME.write_csv(path)
    table = read_table(path, text="said", columns=["size", "shop"], impute="median")
    by_value = read_table(path, Reading(text=("said",), columns=("size", "shop"), impute="median"))
    again = read_table(path, by_value.reading)
    assert table.choices == by_value.choices == again.choices
    assert table.notes == again.notes
    assert np.array_equal(encode(table).X, encode(table, impute="median", scale="unit").X)
    assert read_table(path, Reading(text=("said",)), text_by="letters").reading.text_by == "letters"


def test_scale_and_missing_values_of_a_reading_are_those_of_the_encoder():
    frame = FRAME.drop("said")
    gaps = frame.with_columns(shop=pl.Series([None, *frame["shop"][1:]]))
    assert encode(from_frame(gaps)).feature_names[-1] == "shop=missing"
    assert encode(from_frame(gaps, impute="median")).feature_names[-1] == "shop=c"
    table = from_frame(frame, impute="median", scale="standard")
    sizes = encode(table).X[:, 0]
    assert (sizes.mean(), sizes.std()) == pytest.approx((0, 1))
    assert encode(table, scale="unit").X[:, 0].max() == 1


def test_an_unknown_option_names_the_nearest():
    with pytest.raises(TypeError, match=r"no option idcolumn .* Did you mean id_column"):
        from_frame(FRAME, idcolumn="id")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scale": "large"}, "scale is 'large'. Set it to 'unit', 'standard' or 'none'"),
        ({"impute": "mean"}, "impute is 'mean'. Set it to 'median'"),
        ({"metric": "cosine", "scale": "unit"}, "metric cosine scales each row .* Remove scale"),
        ({"series": True, "metric": "cosine"}, "series compares curves sample by sample. Remove metric"),
        ({"text": "said", "impute": "median"}, "text compares rows by their words alone. Remove impute"),
        ({"weights": {"size": -1}}, "weight of 'size' is -1. Set a number of at least 0"),
    ],
)
def test_options_that_do_not_fit(options, said):
    with pytest.raises(DataError, match=said):
        from_frame(FRAME, **options)


@pytest.mark.parametrize("rows", [{"text": "said"}, {"columns": ["size", "shop"]}, {"series": True}])
@pytest.mark.parametrize("option", [{"text_by": "words"}, {"metric": "euclidean"}, {"weights": "none"}])
def test_an_option_that_asks_for_what_holds_anyway_changes_nothing(rows, option):
    frame = FRAME.select("id", a="size", b=pl.col("size") * 2, c="size") if "series" in rows else FRAME
    usual, given = (encode(from_frame(frame.tail(11), **rows, **more)).X for more in ({}, option))
    assert np.array_equal(usual, given)


def test_a_single_name_is_a_list_of_one():
    assert Reading(text="body", columns="size") == Reading(text=("body",), columns=("size",))
    assert Reading(show="titles.csv").side_file == "titles.csv"
