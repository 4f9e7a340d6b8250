"""Items that a session has beside X: what its page shows of each row."""

import numpy as np
import polars as pl
import pytest

import linkwise as lw
from linkwise.page.presented_items import present_session

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
