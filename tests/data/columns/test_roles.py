"""Which columns are ids, labels, categories or text, and that it is said."""

import datetime as dt

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.constraints.checks import is_missing
from linkwise.data import from_frame, read_table
from linkwise.data.columns.roles import count_missing, to_words
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


@each_kind
@pytest.mark.parametrize(
    "name", ["id", "ID", "Id", "ids", "key", "uuid", "customer_id", "customerId", "Row ID", "index"]
)
def test_columns_taken_as_id(make, name):
    table = from_frame(make({**VALUES, name: [7, 8, 9, 10]}))
    assert table.ids == ("7", "8", "9", "10")
    assert said(table, f"Rows are identified by '{name}'")
    assert name not in table.item(0)


def test_other_columns_are_not_taken_as_id():
    table = from_frame(pl.DataFrame({**VALUES, "acid": [7, 8, 9, 10], "paid": [1, 2, 3, 4]}))
    assert table.ids is None
    assert table.features == ("a", "acid", "paid")
    assert said(table, "identified by their position")


def test_short_names_come_first_among_ids():
    table = from_frame(pl.DataFrame({**VALUES, "shop_id": [1, 2, 3, 4], "id": [5, 6, 7, 8]}))
    assert table.ids == ("5", "6", "7", "8")
    assert said(table, "'shop_id' is left out: a further id")


def test_repeated_id_like_column_is_no_feature_and_no_id():
    frame = pl.DataFrame({**VALUES, "shop_id": [1, 1, 2, 2], "key": [0, 0, 5, 7]})
    table = from_frame(frame)
    assert table.ids is None
    assert table.features == ("a", "key")
    assert said(table, "'shop_id' is left out: its name suggests an id, but its values repeat or are missing")
    assert from_frame(frame, columns=["a", "shop_id"]).features == ("a", "shop_id")


def test_dropped_or_named_columns_do_not_become_ids():
    frame = pl.DataFrame({**VALUES, "id": [7, 8, 9, 10]})
    assert from_frame(frame, drop=["id"]).ids is None
    assert from_frame(frame, columns=["a", "id"]).ids is None


@each_kind
def test_ids_must_be_unique_and_complete(make):
    message = refusal(make({**VALUES, "who": ["p", "q", "p", "p"]}), id_column="who")
    assert "'who' cannot be the id: 'p' in rows 0 and 2, 'p' in rows 0 and 3" in message
    message = refusal(make({**VALUES, "who": ["p", None, "q", None]}), id_column="who")
    assert "missing in 2 of 4 rows (rows 1, 3" in message


@given(ids=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=9, unique=True))
def test_whole_ids_keep_every_digit(ids):
    for make in KINDS:
        table = from_frame(make({"id": ids, "a": np.arange(len(ids), dtype=float)}))
        assert table.ids == tuple(map(str, ids))


@pytest.mark.parametrize(
    "name",
    [
        "class",
        "Class",
        "LABEL",
        "labels",
        "target",
        "y",
        "Cluster",
        "clusters",
        "ground_truth",
        "Ground Truth",
        "class label",
        "outcome",
        "truth",
        "true-label",
    ],
)
def test_labels_are_left_out_unless_named(name):
    frame = pl.DataFrame({**VALUES, name: [0, 1, 0, 2]})
    table = from_frame(frame)
    assert table.features == ("a",)
    assert table.shown == (name,)
    assert said(table, f"'{name}' is left out")
    assert from_frame(frame, columns=["a", name]).features == ("a", name)


def test_y_beside_x_is_a_coordinate():
    assert from_frame(pl.DataFrame({"X": [1, 2], "Y": [3, 5]})).features == ("X", "Y")
    assert from_frame(pl.DataFrame({"x1": [1, 2], "y": [3, 5]})).features == ("x1",)


def test_columns_named_are_the_only_features():
    frame = pl.DataFrame({**VALUES, "b": [5, 6, 7, 9], "c": [5, 6, 7, 8]})
    table = from_frame(frame, columns=["b"], drop=["c"])
    assert table.features == ("b",)
    assert table.shown == ("a",)
    assert table.item(1) == {"b": "6", "a": "2"}
    assert said(table, "Only the columns named are used: b.")


@pytest.mark.parametrize(
    "how",
    [
        {"columns": ["a"], "drop": ["a"]},
        {"columns": ["a"], "id_column": "a"},
        {"drop": "a", "id_column": "a"},
    ],
)
def test_one_column_has_one_use(how):
    assert "Use it in one option" in refusal(pl.DataFrame(VALUES), **how)


@pytest.mark.parametrize(
    ("n_rows", "n_words", "role"),
    [
        (62, 30, "category"),
        (62, 31, "text"),
        (60, 30, "category"),
        (59, 30, "text"),
        (4, 2, "category"),
        (3, 2, "text"),
    ],
)
def test_when_words_are_categories(n_rows, n_words, role):
    words = [f"w{i % n_words}" for i in range(n_rows)]
    table = from_frame(pl.DataFrame({"a": range(n_rows), "word": words}))
    assert table.roles["word"] == role


def test_named_words_may_be_more():
    frame = pl.DataFrame(
        {"a": range(100), "b": [f"w{i % 50}" for i in range(100)], "c": [f"w{i}" for i in range(100)]}
    )
    table = from_frame(frame, columns=["a", "b"])
    assert table.roles == {"a": "numeric", "b": "category", "c": "left out"}
    message = refusal(frame, columns=["a", "c"])
    assert "'c' cannot be a feature: 100 different texts in 100 rows" in message


def test_numbers_stored_as_text():
    frame = pl.DataFrame(
        {"a": range(40), "b": [str(i) for i in range(40)], "c": [str(i % 3) for i in range(40)]}
    )
    table = from_frame(frame)
    assert said(table, "'b' is left out as free text: 40 different texts in 40 rows (numbers stored as text")
    assert table.roles["c"] == "category"
    assert not said(table, "'c' is taken as text")


def test_codes_stored_as_text_can_be_categories():
    frame = pl.DataFrame({"a": range(8), "zip": [f"0800{i % 6}" for i in range(8)]})
    assert said(from_frame(frame), "(codes; --as-categories compares rows by them)")
    assert from_frame(frame, as_categories=["zip"]).roles["zip"] == "category"
    assert said(
        from_frame(frame.with_columns(zip=pl.col("zip").str.replace("^0", "1"))), "numbers stored as text"
    )


def test_hints():
    frame = pl.DataFrame(
        {
            "a": range(10),
            "comma": ["$15", "$1,200"] * 2 + [None] * 6,
            "day": [f"0{i % 2 + 1}/03/2024" for i in range(10)],
            "almost": ["1", "2", "1", "2", "1", "2", "1", "2", "1", "two"],
        }
    )
    table = from_frame(frame)
    assert said(table, "'comma' is taken as text: its numbers have '$' beside them and marks")
    assert said(table, "'day' is taken as text: day and month cannot be told apart")
    assert said(table, "'almost' is taken as text: most of it is numbers, but not 'two' in row 9")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["3.4.2024", "4.3.2024"], "day and month cannot be told apart in dates such as '3.4.2024'"),
        (
            ["$15", "$1,200"],
            "its numbers have '$' beside them and marks between the thousands or decimal commas, such as"
            " '$1,200'. To use them as numbers, write digits and a decimal point alone, as 1200 or 1.200.",
        ),
    ],
)
def test_dates_and_amounts_that_may_be_read_in_two_ways_are_hinted_at_once(words, what):
    table = from_frame(pl.DataFrame({"a": range(2), "b": words}))
    assert said(table, f"'b' is taken as text: {what}")
    assert said(table, "Until then it is left out, but shown.")
    assert not said(table, "'b' is left out as free text")
    many = from_frame(pl.DataFrame({"a": range(8), "b": words * 4}))
    assert many.roles["b"] == "category"
    assert said(many, f"'b' is taken as text: {what}")
    assert not said(many, "left out")


@each_kind
@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["3.4.2024", "13.04.2024"], [dt.date(2024, 4, 3), dt.date(2024, 4, 13)]),
        (["2024-01-13", None], [dt.date(2024, 1, 13), None]),
        (["1,234.50 €", "15.00 €"], [1234.5, 15.0]),
        (["1.234,50 EUR", "-3 EUR"], [1234.5, -3.0]),
        (["12 kg", "7 kg"], [12, 7]),
        (["1.5", "?"], [1.5, None]),
        (["True", "false"], [True, False]),
    ],
    ids=str,
)
def test_texts_of_a_frame_are_read_as_those_of_a_file(make, words, values):
    table = from_frame(make({"a": range(3), "b": [*words, words[0]]}))
    found = table.frame["b"].to_list()[:2]
    known = [None if is_missing(one) else one for one in found]
    assert [one.date() if isinstance(one, dt.datetime) else one for one in known] == values
    if "kg" in str(words):
        assert table.item(0)["b"] == words[0]
        assert said(table, "Column 'b' is read as numbers: '12 kg' is 12.")


@pytest.mark.parametrize(
    "words",
    [
        *(["12a", "12b"], ["A-1000", "A-1001"], ["12 kg", "7 lb"], ["0151 23", "0151 4"], ["1.2.3", "1.2.4"]),
        *(["0.000,5", "1.000,5"], ["007 kg", "8 kg"], ["555 123 456", "555 123 457"]),
        *(["13.4.2024", "4.13.2024"], ["24-01-13", "13-02-24"], ["30/02/2024", "13/02/2024"]),
        ["01", "02", "03", "04", "05", "x"],
    ],
)
def test_what_the_parser_does_not_read_is_not_hinted_at(words):
    assert not said(from_frame(pl.DataFrame({"a": range(len(words)), "b": words})), "is taken as text")


def test_nothing_to_cluster_by():
    assert "All columns are constant" in refusal(pl.DataFrame({"a": [1, 1], "b": ["x", "x"]}))
    message = refusal(pl.DataFrame({"id": [1, 2], "price": ["1,500", "2,500"], "class": ["p", "q"]}))
    assert "No column is left to cluster by" in message
    assert "'class' (label" in message
    assert "decimal commas" in message
    assert "No column is left" in refusal(pl.DataFrame(VALUES), columns=[])
    places = pl.DataFrame(
        {"id": range(40), "my place": [f"{48 + n / 9:.3f}, {n / 7:.2f}" for n in range(40)]}
    )
    assert "add --text 'my place' --text-by letters (in Python, text=['my place']" in refusal(places)
    assert from_frame(places, text=["my place"], text_by="letters").features == ("my place",)
    assert "always 1 where known" in refusal(pl.DataFrame({"a": [1, None], "b": [None, 2]}))


@each_kind
def test_no_rows(make):
    assert "0 rows, but at least 2 are needed" in refusal(make({"a": []}))


def test_many_columns_are_counted_not_listed():
    frame = pl.DataFrame({f"c{j:02}": [1, 1] for j in range(40)} | {"a": [1, 2]})
    note = next(note for note in from_frame(frame).notes if "Constant" in note)
    assert note.endswith("and 32 more.")


@pytest.mark.parametrize("name", ["ID#", "Cust No", "Unnamed: 0", "recordid", "nr", "No.", "#", "rownames"])
def test_names_of_ids_and_counters(name):
    table = from_frame(pl.DataFrame({name: [4, 9, 5, 1], "size": [1, 2, 1, 3], "weight": [5, 6, 7, 9]}))
    assert table.ids == ("4", "9", "5", "1")
    assert table.features == ("size", "weight")


def test_what_an_earlier_export_added_is_not_compared():
    columns = {"size": [1, 2, 1], "cluster_2": [0, 1, 1], "cluster_name_2": ["a", "b", "b"]}
    table = from_frame(pl.DataFrame({**columns, "confidence_2": [0.9, 0.8, 1.0], "confidence": [3, 1, 2]}))
    assert table.features == ("size", "confidence")
    assert said(table, "from an earlier export")


def test_amounts_with_decimal_commas_in_quotes_are_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "a,b,c\n" + "".join(f'"{1250 + n},{n % 90 + 10}","{n},{n % 9}",{n % 4}\n' for n in range(30))
    )
    frame = read_table(path).frame
    assert frame["a"].to_list()[:2] == [1250.10, 1251.11]
    assert frame["b"].to_list()[:2] == ["0,0", "1,1"]  # may be lists


DAY = dt.datetime(2024, 1, 13)
WITH_GAPS = {
    "numbers": pl.Series([1.5, None, float("nan"), 2.0]),
    "whole numbers": pl.Series([1, None, 2]),
    "words": pl.Series(["a", None, "", "nan"]),
    "categories": pl.Series(["a", None, "b"], dtype=pl.Categorical),
    "an enumeration": pl.Series(["a", None, "b"], dtype=pl.Enum(["a", "b"])),
    "truth values": pl.Series([True, None]),
    "dates": pl.Series([DAY, None, DAY]),
    "nothing": pl.Series([None, None]),
    "objects": pl.Series([float("nan"), None, "a"], dtype=pl.Object),
    "lists": pl.Series([[1.0], None]),
    "none at all": pl.Series([1.0, 2.0]),
    "words of pandas": pd.Series(["a", None, float("nan"), 7], dtype=object),
    "numbers of pandas": pd.Series([1.5, None, 2.0]),
    "truth values of pandas": pd.Series([True, None], dtype="boolean"),
}


@pytest.mark.parametrize("kind", WITH_GAPS)
def test_missing_values_are_counted_as_one_by_one(kind):
    series = nw.from_native(WITH_GAPS[kind], series_only=True)
    assert count_missing(series) == sum(map(is_missing, series.to_list()))


@pytest.mark.parametrize("kind", ["words", "categories", "an enumeration"])
def test_words_are_the_values(kind):
    series = nw.from_native(WITH_GAPS[kind], series_only=True)
    assert to_words(series) == WITH_GAPS[kind].to_list()
