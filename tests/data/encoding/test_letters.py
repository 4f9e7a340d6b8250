"""Texts compared by groups of letters, for names with typing errors."""

import numpy as np
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


def test_empty_cells_are_neither_alike_nor_different():
    names = [f"{a}{b}a {b}{c}o" for a in "bcdfg" for b in "mnprt" for c in "lkst"]
    X = encode_texts([*names, *names, *[None] * 30], unit="letters").X
    squared = np.square(X[:, None] - X).sum(axis=2)
    unknown, known = squared[200:, 200:], squared[200:, :200]
    assert unknown[~np.eye(30, dtype=bool)].min() > 0.2
    assert unknown[~np.eye(30, dtype=bool)].mean() == pytest.approx(1, abs=0.1)
    assert known.mean() == pytest.approx(1.5, abs=0.1)


def test_an_id_draws_the_place_of_an_empty_cell_wherever_its_row_is():
    texts, ids = [None, *NAMES], [f"k{n}" for n in range(8)]
    X = encode_texts(texts, "name", "letters", ids).X
    order = [7, 3, 0, 1, 2, 4, 5, 6]
    other = encode_texts([texts[at] for at in order], "name", "letters", [ids[at] for at in order]).X
    assert (X[[0, 7]] == other[[2, 0]]).all()
    assert (X[0] != encode_texts(texts, "town", "letters", ids).X[0]).any()


def test_records_without_any_value_are_not_identical():
    table = from_frame(
        pl.DataFrame({"a": [*NAMES, None, None], "b": [*NAMES[::-1], None, None]}),
        text=["a", "b"],
        text_by="letters",
    )
    assert len(np.unique(encode(table).X, axis=0)) == 9


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
