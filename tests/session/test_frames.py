"""Sessions about frames: begun, printed, opened again with the same frame, and joined to it."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linkwise as lw
from app.page.test_column_tasks import write_contacts
from commands import linkwise, no_screen
from linkwise.app.page.presented_items import present_session
from linkwise.errors import DataMismatchError, SessionError

__all__ = ["linkwise", "no_screen"]

N = 40


def orders():
    """A frame with an id, an amount with a heavy tail, a category, a date and gaps."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "order": [f"O-{row:02d}" for row in range(N)],
            "price": np.where(np.arange(N) % 9 == 0, np.nan, rng.lognormal(4, 1.5, N)),
            "shop": rng.choice(["north", "south"], N),
            "sent": pd.date_range("2024-01-01", periods=N, freq="7D", tz="Europe/Rome")[rng.permutation(N)],
        }
    )


CONVERSIONS = {
    "pandas": lambda df: df,
    "string": lambda df: df.astype({"order": "string", "shop": "string"}),
    "nullable": lambda df: df.convert_dtypes(),
    "category": lambda df: df.astype({"shop": "category"}),
    "index": lambda df: df.set_index("order"),
    "polars": pl.from_pandas,
    "pyarrow": lambda df: pa.Table.from_pandas(df, preserve_index=False),
    "rows": lambda df: lw.read(df, id="order"),
}


@pytest.fixture
def saved(tmp_path):
    """The file of a session that was begun with a pandas frame, with one answer."""
    path = tmp_path / "orders.linkwise"
    with lw.Session(orders(), lw.COBRAS(random_state=0), id="order") as session:
        session.answer("different")
        session.save(path)
    return path


@pytest.mark.parametrize("convert", CONVERSIONS.values(), ids=CONVERSIONS)
def test_the_same_frame_opens_the_session_again(convert, saved):
    with lw.Session.open(saved, convert(orders())) as session:
        assert session.ids == orders()["order"].to_list()
        assert session.history[0].answer == "no"
        session.answer("same")
    with lw.Session.open(saved, orders()) as session:
        assert [event.answer for event in session.history] == ["no", "yes"]


def test_a_frame_is_read_as_it_was_when_the_session_began(tmp_path):
    path, frame = tmp_path / "s.linkwise", orders()
    rows = lw.read(frame, id="order", drop="sent", as_is=True, impute="median")
    with lw.Session(rows, lw.COBRAS(random_state=0)) as session:
        session.save(path)
        stored, X = session.source, session.X
    assert stored["choices"]["drop"] == ["sent"]
    assert stored["impute"] == "median"
    assert "proposed" not in stored
    with lw.Session.open(path, frame) as session:
        assert session.X.tolist() == X.tolist()
        assert session.source == stored


def test_another_order_or_other_values_are_no_silent_change(saved):
    with pytest.raises(DataMismatchError, match="begun with other ids"):
        lw.Session.open(saved, orders()[::-1])
    with pytest.raises(DataMismatchError, match="begun with other data"):
        lw.Session.open(saved, orders().assign(shop="north").assign(shop=lambda df: ["north", "south"] * 20))


def test_other_choices_take_over_with_recode(saved):
    fewer = lw.read(orders(), id="order", drop=["sent"])
    with lw.Session.open(saved, fewer, recode=True) as session:
        assert session.source["choices"]["drop"] == ["sent"]
        assert session.history[0].answer == "no"
    with lw.Session.open(saved, orders()) as session:  # as it is read since
        assert session.X.tolist() == fewer.X.tolist()
        session.recode(orders()[::-1])
        assert session.ids == orders()["order"].to_list()[::-1]
        assert session.items.ids == tuple(session.ids)
        session.recode(lw.read(orders(), id="order"))
        assert session.X.shape[1] == fewer.shape[1] + 1
        assert session.source["choices"]["drop"] == []


def test_the_command_line_goes_on_with_a_session_of_python(saved, tmp_path, linkwise):
    data = tmp_path / "orders.csv"
    orders().assign(sent=lambda df: df["sent"].dt.tz_convert("UTC")).to_csv(data, index=False)
    done = linkwise("ask", data, "--session", saved, "--terminal", said="y\nq\n")
    assert done.exit_code == 0, done.output
    with lw.Session.open(saved, orders()) as session:
        assert [event.answer for event in session.history] == ["no", "yes"]


def test_a_frame_of_numbers_fits_a_session_about_its_array(tmp_path):
    path, frame = tmp_path / "s.linkwise", pd.DataFrame({"a": [0.0, 1.0, 50.0, 51.0], "b": 1.0})
    with lw.Session(frame.to_numpy(), lw.COBRAS(random_state=0)) as session:
        session.save(path)
    for given in (frame, pl.from_pandas(frame), frame.to_numpy()):
        with lw.Session.open(path, given) as session:
            assert session.X[:, 0].tolist() == [0, 1, 50, 51]
    rows = lw.read(frame)
    with lw.Session(rows, lw.COBRAS(random_state=0)) as session:
        session.save(tmp_path / "scaled.linkwise")
    scaled = pd.DataFrame(rows.X)
    for given in (frame, rows, rows.X, scaled, rows.table):
        with lw.Session.open(tmp_path / "scaled.linkwise", given) as session:
            np.testing.assert_array_equal(session.X, rows.X)


# ---------------------------------------------------------------- what a session prints
def test_a_session_tells_rows_answers_clusters_and_the_next_question(saved):
    session = lw.Session(
        [[0.0], [0.1], [5.0], [5.1]], lw.COBRAS(random_state=0), ids=["pea", "bean", "melon", "fig"]
    )
    q, names = session.question, session.ids
    asked = f"next question: {names[q.first]} and {names[q.second]}"
    assert repr(session) == f"<Session: 4 rows; 0 answers; 1 cluster; {asked}>"
    session.answer("different")
    q = session.question
    asked = f"next question: {names[q.first]} and {names[q.second]}"
    counted = "1 answer: 0 same, 1 different, 0 not sure"
    assert repr(session) == f"<Session: 4 rows; {counted}; 2 clusters; {asked}>"
    while session.question is not None:
        session.answer("same")
    assert repr(session).endswith("; 2 clusters; no question left>")
    session.close()
    assert repr(session) == "<Session: closed>"
    with lw.Session.open(saved) as kept:
        assert repr(kept).endswith("; opened without its data>")


def test_printing_never_fails(monkeypatch):
    def fail(_):
        raise SessionError("The file is gone.")

    session = lw.Session([[0.0], [1.0]])
    monkeypatch.setattr(type(session._snapshots), "describe", fail)
    assert repr(session) == "<Session: The file is gone.>"


# ---------------------------------------------------------------- labels and the page
def test_clusters_keep_the_index_of_the_frame():
    frame = orders().set_index("order")
    session = lw.Session(frame, lw.COBRAS(random_state=0))
    joined = session.join(frame)
    assert joined.index.equals(frame.index)
    assert joined["cluster"].to_list() == session.labels.tolist()


@pytest.mark.parametrize("name", ["order", None])
def test_rows_in_another_order_are_joined_by_the_index(name):
    frame = orders().set_index("order").rename_axis(name)
    session = lw.Session(frame, lw.COBRAS(random_state=0))
    session.answer("different")
    called = name or "index"
    with pytest.raises(lw.DataError, match=f"'{called}' has the ids .* Add id_column='{called}' to match"):
        session.join(frame[::-1])
    joined = session.join(frame[::-1][:20], id_column=called)
    assert joined["cluster"].to_list() == session.labels[::-1][:20].tolist()
    assert joined.index.equals(frame.index[::-1][:20])


def test_the_page_shows_all_columns_and_the_rules_name_them():
    rows = lw.read(orders(), id="order", drop=None, show="sent")
    session = lw.Session(rows, lw.COBRAS(random_state=0))
    assert session.items is rows
    first = present_session(session).state()["question"]["first"]
    assert {field["name"] for field in first["fields"]} == {"price", "shop", "sent"}


def test_records_of_the_same_things_are_linked_unasked(tmp_path):
    write_contacts(tmp_path / "contacts.csv")
    contacts = pd.read_csv(tmp_path / "contacts.csv")
    with lw.Session(contacts) as session:
        assert session.learner["name"] == "RecordLinkage"
        assert session.learner["parameters"]["random_state"] == 0
        session.answer("same")
        session.save(tmp_path / "c.linkwise")
    with lw.Session.open(tmp_path / "c.linkwise", contacts) as session:
        assert session.learner["name"] == "RecordLinkage"
    assert lw.Session(lw.read(contacts), lw.KIN()).learner["name"] == "KIN"
    assert lw.Session(orders()).learner["name"] == "KIN"
