"""Items that a session has beside X: what its page shows of each row."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import linkwise as lw
from linkwise.app.page.presented_items import present_session
from linkwise.data import text_items

X = np.array([[0.0], [0.1], [5.0], [5.1]])
NAMES = ["a pea", "a bean", "a pumpkin", "a melon"]


def shown(session, items=None):
    state = present_session(session, items).state()
    return state["kind"], state["question"]["first"]


def test_a_page_shows_the_items_of_the_session():
    session = lw.Session(X, lw.COBRAS(random_state=0), items=NAMES)
    assert session.items is NAMES
    kind, first = shown(session)
    assert (kind, first["text"]) == ("text", NAMES[first["row"]])
    frame = pl.DataFrame({"name": NAMES, "price": [1.0, 2.0, 3.5, 4.0]})
    assert shown(session, frame)[0] == "record", "items of the page go before those of the session"
    kind, first = shown(lw.Session(X, lw.COBRAS(random_state=0), items=frame))
    assert kind == "record"
    assert {field["name"] for field in first["fields"]} >= {"price"}
    assert lw.Session(X, lw.COBRAS(random_state=0)).items is None


def test_a_file_does_not_keep_items(tmp_path):
    path = tmp_path / "s.linkwise"
    with lw.Session.open(path, X, lw.COBRAS(random_state=0), items=NAMES) as session:
        assert shown(session)[0] == "text"
    with lw.Session.open(path, X) as session:
        assert session.items is None
    with lw.Session.open(path, X, items=NAMES) as session:
        assert shown(session)[0] == "text"


def test_one_item_for_each_row(tmp_path):
    path = tmp_path / "s.linkwise"
    with pytest.raises(lw.DataError, match="There are 3 items for 4 rows"):
        lw.Session(X, items=NAMES[:3])
    with pytest.raises(lw.DataError, match="There are 3 items for 4 rows"):
        lw.Session.open(path, X, lw.COBRAS(random_state=0), items=NAMES[:3])
    assert not path.exists()
    lw.Session.open(path, X, lw.COBRAS(random_state=0)).close()
    with pytest.raises(lw.DataError, match="There are 3 items for 4 rows"):
        lw.Session.open(path, X, items=NAMES[:3])
    lw.Session.open(path, X).close()  # the error has left the file free


def test_a_single_item_for_several_rows_is_named_in_the_singular():
    with pytest.raises(lw.DataError, match="There is 1 item for 4 rows"):
        lw.Session(X, items=["a pea"])


@pytest.mark.parametrize(
    ("items", "given"),
    [
        (3, "items is 3, of type int, but a person needs one item for each of 4 rows. Pass a table"),
        ("peas", "items is 'peas', of type str"),
        (b"peas", "items is b'peas', of type bytes"),
        (dict.fromkeys(NAMES), "of type dict"),
        (set(NAMES), "of type set"),
        (iter(NAMES), "of type list_iterator"),
        (np.array(3), "of type ndarray"),
        (pl.LazyFrame({"name": NAMES}), "of type LazyFrame"),
        ([*NAMES[:3], 7], "neither texts, pictures nor curves, or that mix them, such as 7 for row 3. Pass"),
        (pd.Series([None, *NAMES[:3]]), "such as (None|nan) for row 0"),
        ([*NAMES[:3], Path("pea.png")], r"pea.png'\) for row 3"),
        ([[1.0], [2.0], NAMES[0], [3.0]], "such as 'a pea' for row 2"),
        (np.zeros(4), "such as .* for row 0"),
    ],
)
def test_items_that_cannot_be_shown_are_an_error_at_once(items, given, tmp_path):
    path = tmp_path / "s.linkwise"
    with pytest.raises(lw.DataError, match=given):
        lw.Session(X, items=items)
    with pytest.raises(lw.DataError, match="items "):
        lw.Session.open(path, X, lw.COBRAS(random_state=0), items=items)
    assert not path.exists()
    session = lw.Session(X, items=NAMES)
    with pytest.raises(lw.DataError, match="items "):
        session.recode(X * 2, items=items)
    assert session.items is NAMES


@pytest.mark.parametrize(
    "items",
    [
        NAMES,
        tuple(NAMES),
        np.array(NAMES),
        pd.Series(NAMES),
        pl.Series(NAMES),
        pd.DataFrame({"name": NAMES}),
        [Path("pea.png")] * 4,
        np.zeros((4, 3)),
        np.zeros((4, 3, 3)),
        [[1.0, 2.0]] * 4,
        [np.array([1.0, 2.0])] * 4,
        text_items(NAMES),
    ],
)
def test_items_of_all_kinds_are_taken(items):
    assert lw.Session(X, items=items).items is items


def test_items_stay_with_their_rows_when_data_are_encoded_anew():
    ids = ["p", "b", "k", "m"]
    session = lw.Session(X, lw.COBRAS(random_state=0), ids=ids, items=NAMES)
    session.recode(X * 2, ids=ids)
    assert session.items == NAMES
    with pytest.raises(lw.DataError, match="There are 3 items for 4 rows"):
        session.recode(X, ids=ids, items=NAMES[:3])
    assert session.n_rows == 4
    session.recode(X[::-1], ids=ids[::-1], items=NAMES[::-1])
    assert session.items == NAMES[::-1]
    session.recode(X, ids=ids)
    assert session.items is None, "they would stand beside other rows"
