"""Texts compared by groups of letters, for names with typing errors."""

import polars as pl
import pytest

from linkwise.data import encode, encode_texts, from_frame, read_table
from linkwise.errors import DataError

NAMES = ["Anna Meier", "Ana Meier", "Hugo Brunner", "Hugo Bruner", "Ida Wyss", "Ida Wys", None]


def test_names_with_errors_of_typing_are_near():
    X = encode_texts(NAMES, unit="letters").X
    likeness = X @ X.T
    for at in (0, 2, 4):
        assert likeness[at].argsort()[-2:].tolist() in ([at, at + 1], [at + 1, at])
    assert not X[6].any()


def test_features_and_notes_name_the_letters():
    encoded = encode_texts(NAMES, "name", "letters")
    assert encoded.features[0].name == "letters 1"
    assert {feature.role for feature in encoded.features} == {"document"}
    assert "letter groups (those in at least 2 texts" in encoded.notes[0]
    assert "1 text holds none of these letters: row 6" in encoded.notes[1]


def test_empty_texts_raise_an_error():
    with pytest.raises(DataError, match="The texts of 'name' are empty"):
        encode_texts([None, "", " "], "name", "letters")


def test_a_table_keeps_the_choice(tmp_path):
    path = tmp_path / "names.csv"
    pl.DataFrame({"name": NAMES[:6], "town": ["Bern", "Bern", "Chur", "Chur", "Zug", "Zug"]}).write_csv(path)
    table = read_table(path, text=["name", "town"], text_by="letters")
    assert table.choices["text_by"] == "letters"
    again = read_table(path, **table.choices)
    assert (encode(again).X == encode(table).X).all()
    assert "text_by" not in read_table(path, text="name").choices


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"text_by": "letters"}, "Add text"),
        ({"text": "a", "text_by": "lines"}, "Set it to 'words', 'letters', 'meaning' or 'words,meaning'"),
    ],
)
def test_choices_that_do_not_fit_raise_an_error(how, message):
    with pytest.raises(DataError, match=message):
        from_frame(pl.DataFrame({"a": ["one two", "two three"], "b": [1, 2]}), **how)
