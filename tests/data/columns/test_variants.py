"""Spellings of one value: noticed, proposed, and merged only when asked for."""

import narwhals as nw
import pandas as pd
import polars as pl
import pytest

from linkwise.data import encode, from_frame, items_of, read_table
from linkwise.data.columns.variants import find_variants, fold_spelling
from linkwise.errors import DataError

SEGMENTS = ["Retail", "retail", "Retail ", "Retail", "Bank", "Bank", "Bank", "retail"]
PAYS = ["Y", "yes", "yes", "N", "no", "n", "Yes", "No"]
SIZES = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
each_kind = pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])


def find(words):
    found = find_variants(nw.from_native(pl.Series("c", words), series_only=True))
    return None if found is None else found.spellings


def told(table, name):
    return [note for note in table.notes if note.startswith(f"Column '{name}'")]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Retail", " retail ", True),
        ("Zürich", "ZURICH", True),
        ("Zu\u0308rich", "Zürich", True),
        ("Straße", "STRASSE", True),
        ("north  west", "North West", True),
        ("Αθήνα", "ΑΘΗΝΑ", True),
        ("Retail", "Retails", False),
        ("\u0915\u093f", "\u0915\u0940", False),
        ("\u30ab", "\u30ac", False),
        ("мой", "мои", False),
        ("a-b", "ab", False),
    ],
)
def test_spellings_that_are_variants(one, other, alike):
    assert (fold_spelling(one) == fold_spelling(other)) is alike


def test_the_most_frequent_tidy_spelling_stands_for_a_value():
    assert find(SEGMENTS) == {"Retail": ["Retail", "retail", "Retail "]}
    assert find(["b ", "b ", "B", "a"]) == {"b": ["b ", "B"]}


def test_abbreviations_are_variants_only_in_a_column_of_nothing_else():
    assert find(PAYS) == {"yes": ["yes", "Y", "Yes"], "No": ["N", "No", "n", "no"]}
    assert find(["y", "yes", "maybe"]) is None
    assert find(["T", "true", "f"]) == {"true": ["T", "true"]}
    assert find(["f", "m", "f"]) is None


@each_kind
def test_variants_are_proposed_and_nothing_changes(make):
    frame = make({"segment": SEGMENTS, "size": SIZES})
    table = from_frame(frame)
    assert told(table, "segment") == [
        "Column 'segment' has 3 spellings of 'Retail' ('Retail', 'retail', 'Retail ')."
        " Add --merge-variants to treat them as one (in Python, merge_variants=True)."
    ]
    assert table.frame["segment"].to_list() == SEGMENTS
    assert "merge_variants" not in table.choices


@each_kind
def test_merged_variants_are_one_category_and_the_note_lists_them(make):
    frame = make({"segment": SEGMENTS, "pays": PAYS, "size": SIZES})
    table = from_frame(frame, merge_variants=True)
    assert told(table, "segment") == [
        "Column 'segment': 3 cells spelled otherwise count as one value each:"
        " 'retail', 'Retail ' as 'Retail'."
    ]
    assert encode(table).feature_names == (
        "segment=Bank", "segment=Retail", "pays=No", "pays=yes", "size",
    )  # fmt: skip
    assert [items_of(table).fields(row)["segment"] for row in (1, 2)] == ["Retail", "Retail"]
    assert from_frame(frame, **table_arguments(table)).notes == table.notes
    assert list(frame["segment"]) == SEGMENTS  # the user's own table


def table_arguments(table):
    return {name: value for name, value in table.choices.items() if name != "delimiter"}


@pytest.mark.parametrize("categories", ["columns", "codes"])
def test_new_rows_may_spell_values_otherwise(categories):
    frame = pl.DataFrame({"segment": SEGMENTS, "pays": PAYS, "size": SIZES})
    encoded = encode(from_frame(frame, merge_variants=True), categories=categories)
    new = frame.with_columns(pl.col("segment").str.to_uppercase(), pl.col("pays").str.slice(0, 1))
    assert (encoded.transform(new) == encoded.X).all()
    assert (encode(from_frame(frame), categories=categories).transform(new) != encoded.X[0, 0]).any()


def test_many_spellings_of_few_values_become_a_category():
    values = [f"{'ab'[i % 2]}{' ' * (i // 2)}c" for i in range(80)]
    frame = pl.DataFrame({"kind": values, "size": list(map(float, range(80)))})
    assert from_frame(frame).roles["kind"] == "text"
    assert any("--merge-variants" in note for note in told(from_frame(frame), "kind"))
    assert from_frame(frame, merge_variants=True).roles["kind"] == "category"


def test_free_texts_ids_labels_and_columns_that_are_left_out_stay_as_they_are():
    frame = pl.DataFrame(
        {
            "id": ["a", "A", "b", "B"],
            "class": ["k", "K", "l", "l"],
            "said": ["one two", "One two", "three", "four"],
            "other": ["u", "U", "u", "U"],
            "size": SIZES[:4],
        }
    )
    table = from_frame(frame, drop=["other"], merge_variants=True)
    assert table.frame.to_native().equals(frame)
    assert not any("spell" in note for note in table.notes)


def test_a_named_column_of_too_many_spellings_says_how_to_merge_them():
    frame = pl.DataFrame({"kind": [f"a{' ' * i}b" for i in range(40)] + ["c"] * 2, "size": [0.0, 1.0] * 21})
    with pytest.raises(DataError, match="--merge-variants"):
        from_frame(frame, columns=["kind", "size"])
    assert from_frame(frame, columns=["kind", "size"], merge_variants=True).roles["kind"] == "category"


def test_files_keep_the_choice(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("segment,size\n" + "".join(f"{s},{n}\n" for s, n in zip(SEGMENTS, SIZES, strict=True)))
    table = read_table(path, merge_variants=True)
    assert table.choices["merge_variants"] is True
    assert read_table(path, **table.choices).notes == table.notes
    with pytest.raises(DataError, match="Remove merge_variants"):
        read_table(path, text="segment", merge_variants=True)
