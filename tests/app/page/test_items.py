"""Items and places: what is shown of a row, and where it stands."""

import base64
import datetime as dt
import io

import numpy as np
import polars as pl
import pytest

import linkwise as lw
from linkwise.app.page.cards import (
    RowView,
    compare_rows,
    create_namer,
    locate_numbers,
    numeric_columns,
    view_numbers,
    view_rows,
)
from linkwise.app.page.opening import present_demo, present_project
from linkwise.app.page.row_places import RowPlaces, scale_places
from linkwise.data import encode, from_frame, image_items, record_items
from linkwise.data.demo_sets import load_demo
from linkwise.data.show.items import value_items
from linkwise.data.show.side_table import read_side_table, show_side_table
from linkwise.datasets import load
from linkwise.errors import DataError


def test_records_show_all_columns_and_where_numbers_stand():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"id": ["a", "b", "c"], "income": [10, 20, 30], "plan": ["<b>x", "y", "y"], "class": ["p", "q", "p"]}
    )
    table = from_frame(frame)
    encoded = encode(table)
    items = RowView(
        record_items(table), create_namer(table.ids), locate_numbers(encoded.X, numeric_columns(encoded))
    )
    shown = items.render(1)
    assert (shown["row"], shown["name"]) == (1, "b")
    fields = {f["name"]: (f["value"], f["place"]) for f in shown["fields"]}
    assert fields == {"income": ("20", 0.5), "plan": ("y", None), "class": ("q", None)}
    found = compare_rows(items.render(0), items.render(1), None)
    assert found == {
        "differing": {"income": "plain", "plan": "plain", "class": "plain"}, "content": None, "only_shown": []
    }  # fmt: skip
    assert compare_rows(items.render(1), items.render(1), None)["differing"] == {}


def test_what_is_missing_stands_nowhere_on_the_scale():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["a", "b", "c"], "income": [10.0, None, 30.0], "age": [1, 2, 3]})
    table = from_frame(frame)
    encoded = encode(table, impute="median")
    items = RowView(
        record_items(table), create_namer(table.ids), locate_numbers(encoded.X, numeric_columns(encoded))
    )
    assert items.render(1)["fields"][0]["value"] == "missing"
    where = [{f["name"]: f["place"] for f in items.render(row)["fields"]} for row in range(3)]
    assert where == [{"income": 0.0, "age": 0.0}, {"income": None, "age": 0.5}, {"income": 1.0, "age": 1.0}]


def test_a_missing_number_of_an_array_is_a_word():
    assert value_items([[1.0, np.nan]], ("a", "b")).fields(0) == {"a": "1", "b": "missing"}


def test_a_constant_column_stands_at_the_left():
    X = np.array([[1.0, 5.0], [3.0, 5.0]])
    items = view_numbers(X, ("a", "b"))
    assert [f["place"] for f in items.render(1)["fields"]] == [1.0, 0.0]


def test_pictures_come_as_they_are():
    image = pytest.importorskip("PIL.Image")
    digits = load("digits")
    shown = RowView(image_items(digits.images)).render(7)
    kind, data = shown["image"].split(",")
    assert kind == "data:image/png;base64"
    seen = np.asarray(image.open(io.BytesIO(base64.b64decode(data))))
    assert seen.tolist() == np.rint(digits.images[7] * (255 / 16)).tolist()


@pytest.mark.slow
def test_presenters_of_demos():
    from linkwise.app.cli.commands.demo import open_demo_session

    kinds = {"iris": "record", "digits": "image", "messages": "text", "loads": "series"}
    for name, kind in kinds.items():
        data = load_demo(name)
        presenter = present_demo(open_demo_session(data, 0, None), data, budget=5)
        state = presenter.state()
        assert (state["kind"], state["title"], state["budget"], state["rows"]) == (kind, name, 5, len(data.X))
        assert state["learner"] == f"{lw.KIN.__name__}, seed 0"
        reply = presenter.handle({"id": "1", "do": "rules"})
        assert reply.body["ok"] == (kind in ("record", "text"))


def test_a_desk_of_a_data_file(tmp_path):
    from linkwise.app.project.method_choice import MethodChoice
    from linkwise.app.project.project import open_project
    from linkwise.data.reading import Reading

    data = tmp_path / "people.csv"
    data.write_text("id,age,plan\n" + "".join(f"p{i},{20 + i},{'ab'[i % 2]}\n" for i in range(12)))
    open_project(data, tmp_path / "s.linkwise", Reading(), MethodChoice()).session.close()
    project = open_project(
        data, tmp_path / "s.linkwise", Reading(), MethodChoice()
    )  # one that goes on tells it, too
    presenter = present_project(project)
    state = presenter.state()
    assert any("'id'" in note for note in state["notes"]), state["notes"]
    assert (state["title"], state["place"]) == ("people.csv", str(tmp_path / "s.linkwise"))
    assert state["question"]["first"]["name"].startswith("p")
    reply = presenter.handle({"id": "1", "do": "rules"})
    assert reply.body["ok"]
    presenter.close()


# ---------------------------------------------------------------- places
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1), (5, 1), (3, 5)])
def test_any_rows_have_places(shape):
    places = RowPlaces(np.random.default_rng(0).normal(size=shape)).current
    assert places.shape == (shape[0], 2)
    assert places.dtype == np.float32
    assert np.abs(places).max() <= 1


def test_identical_rows_stand_in_the_middle():
    places = RowPlaces(np.full((4, 3), 7.0))
    assert places.current.tolist() == [[0, 0]] * 4
    assert places.axes == ""


def test_the_axes_say_what_they_show():
    X = np.array([[4.0, 0.0, 0.0], [-4.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, -3.0, 0.0]])
    assert RowPlaces(X).axes == (
        "Axes: principal components of the compared columns (64% and 36% of the variance)."
    )
    assert "of the images (" in RowPlaces(X, "image").axes


def test_coordinates_keep_their_shape():
    given = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 5.0]]) + 100
    assert scale_places(given).tolist() == [[-1, -0.5], [1, -0.5], [-1, 0.5]]
    assert np.isfinite(scale_places([[-1e308, 0], [1e308, 0]])).all()


@pytest.mark.parametrize(
    ("places", "words"),
    [
        (np.zeros((3, 3)), r"\(3, 3\)\. Pass"),
        (np.zeros(3), "two"),
        ([[0, np.nan]] * 3, "NaN"),
        ([[0, 0]] * 2, "(3, 2)"),
    ],
)
def test_places_that_cannot_be_drawn_are_refused(places, words):
    with pytest.raises(DataError, match=words.replace("(3, 2)", r"\(3, 2\)")):
        scale_places(places, 3)


# ---------------------------------------------------------------- how two rows differ
def compare(frame, first=0, second=1, **options):
    """How two rows of a frame differ, as a question of the page tells it."""
    rows = lw.read(frame, as_is=True, **options)
    view = view_rows(rows, rows.ids, rows.encoded)
    return compare_rows(view.render(first), view.render(second), view.compared)


def make_houses(**columns):
    """Houses, of which the first two differ by a tenth of the range in the price and in the rooms."""
    return pl.DataFrame(
        {
            "price": [100.0, 200.0, 1100.0, 600.0] * 2,
            "rooms": [2.0, 3.0, 2.0, 12.0] * 2,
            "town": ["Bath", "Bath", "Kent", "Ely"] * 2,
            **columns,
        }
    )


def test_what_adds_most_to_the_distance_differs_most():
    assert compare(make_houses())["differing"] == {"price": "most", "rooms": "most"}
    # a category has a column for each town, so two that differ are further apart than the ends of a number
    found = compare(make_houses(town=["Bath", "Kent", "Kent", "Ely"] * 2))
    assert found["differing"] == {"price": "slight", "rooms": "slight", "town": "most"}
    assert found["only_shown"] == []
    assert compare(make_houses(), 0, 4)["differing"] == {}


@pytest.mark.parametrize(
    ("options", "grades"),
    [
        ({"weights": {"rooms": 9}}, ("plain", "most")),
        ({"weights": {"rooms": 100}}, ("slight", "most")),
        ({"weights": {"price": 1.5, "rooms": 2}}, ("most", "most")),
        ({"log": ["price"]}, ("most", "plain")),
        ({"scale": "none"}, ("most", "slight")),
    ],
    ids=["weight", "large-weight", "two-weights", "log", "scale"],
)
def test_weights_logarithms_and_scales_decide_what_differs_most(options, grades):
    assert tuple(compare(make_houses(), **options)["differing"].values()) == grades


def test_columns_that_do_not_count_are_only_shown():
    for options in ({"weights": {"rooms": 0}}, {"show": ["rooms"]}):
        found = compare(make_houses(), **options)
        assert found["only_shown"] == ["rooms"]
        assert found["differing"] == {"price": "most", "rooms": "slight"}


def test_a_text_counts_beside_columns():
    texts = ["a red parcel came late", "a blue bag was broken", "a red parcel came late", "a blue box is wet"]
    frame = pl.DataFrame({"text": texts * 3, "price": [0.0, 0.01, 1.0, 0.5] * 3, "shop": ["a", "b"] * 6})
    found = compare(frame, text=["text"], columns=["price"], show=["shop"])
    assert (found["content"], found["only_shown"]) == ("most", ["shop"])
    assert found["differing"]["price"] == "slight"
    same_text = compare(frame, 0, 2, text=["text"], columns=["price"], show=["shop"])
    assert (same_text["content"], same_text["differing"]) == ("slight", {"price": "most"})
    heavy = compare(frame, 0, 3, text=["text"], columns=["price"], weights={"columns": 1000})
    assert (heavy["content"], heavy["differing"]["price"]) == ("slight", "most")
    assert compare(frame.select("price", "shop"), 0, 2)["content"] is None


def test_a_cycle_counts_for_the_date_that_it_was_made_of():
    days = [dt.datetime(2024, 1, 1) + dt.timedelta(days=i % 28, hours=5 * i) for i in range(56)]
    frame = pl.DataFrame({"when": days, "size": [i % 8 / 7 for i in range(56)]})
    found = compare(frame, 0, 2, cycles=["when=hour"])
    assert found["differing"] == {"when": "most", "size": "plain"}
    assert found["only_shown"] == []
    found = compare(frame, 0, 2, cycles=["when=weekday"])
    assert found["differing"]["when (weekday)"] == "most"


def test_columns_of_a_side_table_are_only_shown(tmp_path):
    pl.DataFrame({"id": ["a", "b", "c"], "size": [1.0, 2.0, 9.0]}).write_csv(tmp_path / "data.csv")
    shown = {"id": ["a", "b", "c"], "size": ["S", "M", "XL"], "shop": ["Bath", "Bath", "Bath"]}
    pl.DataFrame(shown).write_csv(tmp_path / "side.csv")
    rows = lw.read(tmp_path / "data.csv")
    rows = show_side_table(rows, read_side_table(tmp_path / "side.csv", rows.table))
    view = view_rows(rows, rows.ids, rows.encoded)
    found = compare_rows(view.render(0), view.render(2), view.compared)
    assert found == {"differing": {"size": "slight"}, "content": None, "only_shown": ["size", "shop"]}
