"""Records of a table: kinds of columns, weights, and new rows after old ones."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from linkwise import RecordLinkage, TruthOracle
from linkwise.errors import DataError
from linkwise.learn.records.records import append_records, check_that_some_match, clean_text, make_records

PEOPLE = pl.DataFrame(
    {
        "name": ["Ann Müller", "ann muller", "Bob Stone", None, "unknown", "Carl O'Neil"],
        "born": [1980, 1980, 1975, 1990, None, 1961],
        "phone": [5551234, 5551234, 5559876, 5550000, 5551111, None],
        "shop": ["north", "south", "north", "south", "north", None],
        "nothing": [None] * 6,
    },
    schema_overrides={"nothing": pl.String},
)


def frame_of(table: pl.DataFrame) -> nw.DataFrame[pl.DataFrame]:
    return nw.from_native(table)


def test_columns_are_compared_by_what_they_hold():
    records = make_records(frame_of(PEOPLE), PEOPLE.columns, origin="shop")
    kinds = {column.name: column.kind for column in records.columns}
    assert kinds == {"name": "text", "born": "number", "phone": "text"}, "a phone is no amount"
    assert records.columns[0].missing.tolist() == [False, False, False, True, True, False]
    assert records.columns[2].texts[:2] == ["5551234", "5551234"]
    assert records.whole[0] == "ann müller 5551234"


def test_a_record_without_origin_is_alone_in_its_own():
    records = make_records(frame_of(PEOPLE), ["name"], origin="shop", same="born")
    assert records.origin is not None
    assert records.block is not None
    assert records.origin[0] == records.origin[2]
    assert records.origin[0] != records.origin[1]
    assert (records.origin == records.origin[5]).sum() == 1
    assert records.block.tolist() == [0, 0, 1, 2, 3, 4]


def test_rows_have_unit_length_and_rare_words_weigh_more():
    records = make_records(frame_of(PEOPLE), ["name"])
    lengths = np.sqrt(np.asarray(records.words.multiply(records.words).sum(axis=1)).ravel())
    assert np.allclose(lengths[[0, 1, 2, 5]], 1)
    assert lengths[3] == lengths[4] == 0
    first = dict(zip(records.words[0].indices.tolist(), records.words[0].data.tolist(), strict=True))
    words = records.weights.words
    assert first[words["müller"]] > first[words["ann"]], "two rows have Ann"


def test_new_rows_are_weighted_like_the_old():
    records = make_records(frame_of(PEOPLE), ["name", "born", "phone"], origin="shop")
    new = PEOPLE.with_columns(name=pl.Series(["Ann Müller", "zzz", "", "Bob", None, "Bob Stone"]))
    both = append_records(records, frame_of(new))
    n = len(records)
    assert len(both) == 2 * n
    assert abs(both.letters[:n] - records.letters).max() == 0
    assert abs(both.letters[n] - records.letters[0]).max() < 1e-6
    assert both.words[n + 1].nnz == 1, "the phone alone is known"
    assert both.columns[0].value[n] == records.columns[0].value[0]
    assert both.origin is not None
    assert both.origin[n] == both.origin[0]
    with pytest.raises(DataError, match="The new rows lack phone"):
        append_records(records, frame_of(new.drop("phone")))


def test_a_table_that_tells_nothing_is_refused():
    with pytest.raises(DataError, match="cannot be compared"):
        make_records(frame_of(PEOPLE), ["nothing"])
    with pytest.raises(DataError, match="shelf"):
        make_records(frame_of(PEOPLE), ["name"], origin="shelf")
    with pytest.raises(DataError, match="There is no column ''"):
        make_records(frame_of(PEOPLE), ["name"], origin="")
    with pytest.raises(DataError, match="no rows"):
        make_records(frame_of(PEOPLE.head(0)), ["name"])


@pytest.mark.parametrize(
    ("parameter", "cells", "message"),
    [
        ("origin", ["north"] * 6, "`origin` has the same value in all rows, so no two records can match"),
        ("origin", [None, ""] * 3, "`origin` is empty"),
        ("same", list("abcdef"), "`same` has another value in each row, so no two records can match"),
        ("same", [None, ""] * 3, "`same` is empty"),
    ],
)
def test_a_column_that_leaves_no_pair_or_says_nothing_is_refused(parameter, cells, message):
    table = PEOPLE.with_columns(list=pl.Series(cells))
    with pytest.raises(DataError, match=message):
        check_that_some_match(make_records(frame_of(table), ["name"], **{parameter: "list"}))
    with pytest.raises(DataError, match=message):
        RecordLinkage(**{parameter: "list"}).fit(table, oracle=TruthOracle([0] * 6))


def test_infinite_numbers_are_missing():
    table = pl.DataFrame({"name": list("abcde"), "size": [np.inf, -np.inf, 1.5, 2.0, None]})
    (_, size) = make_records(frame_of(table), table.columns).columns
    assert size.missing.tolist() == [True, True, False, False, True]


@pytest.mark.parametrize(
    ("written", "plain"),
    [("  A.B_c ", "a b c"), ("N/A", ""), ("[unknown]", ""), ("ﬁne", "fine"), ("Nan-Tes", "nan tes")],
)
def test_texts_are_cleaned(written, plain):
    assert clean_text(written) == plain
