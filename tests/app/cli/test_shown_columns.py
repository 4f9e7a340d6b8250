"""Columns that are shown but not compared, and compared but not shown."""

import json
import re

import numpy as np
import polars as pl
import pytest

from linkwise.app.page.opening import present_project
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import open_project
from linkwise.data import encode, from_frame, items_of, read_table
from linkwise.data.reading import Reading
from linkwise.errors import DataError

N = 12


def write_goods(folder):
    """Two groups by size and weight; price and remark say nothing."""
    path = folder / "goods.csv"
    rows = [f'g{i},{i % 2 + i / 99},{i % 2 * 5 + i / 99},"{i % 7},50 €",remark {i}' for i in range(N)]
    path.write_text("\n".join(["id,size,weight,price,remark", *rows]) + "\n", encoding="utf-8")
    return path


def test_the_page_shows_what_is_not_compared_and_hides_what_is(tmp_path):
    data, session = write_goods(tmp_path), tmp_path / "s.linkwise"
    project = open_project(data, session, Reading(show=("price",), hide=("weight",)), MethodChoice())
    assert project.encoded.feature_names == ("size", "weight")
    presenter = present_project(project)
    state = presenter.state()
    for item in (state["question"]["first"], state["question"]["second"]):
        names = {field["name"]: field["value"] for field in item["fields"]}
        assert list(names) == ["size", "price", "remark"]  # free text is shown without being asked for
        assert names["price"] == f"{item['row'] % 7},50 €"  # as it is written
    assert {"Shown, but not compared: price.", "Compared, but not shown: weight."} <= set(state["notes"])
    presenter.close()
    resumed = open_project(data, session, Reading(), MethodChoice())
    assert list(resumed.items.fields(0)) == ["size", "price", "remark"]
    resumed.session.add(0, 1, "cannot-link")
    resumed.session.close()
    with pytest.raises(UsageError, match=r"was begun with --hide weight, not --hide size"):
        open_project(data, session, Reading(hide=("size",)), MethodChoice())


def test_the_terminal_and_programs_see_the_same(tmp_path, linkwise):
    data = write_goods(tmp_path)
    done = linkwise("ask", data, "--show", "price", "--hide", "weight,remark", said="n\nq\n")
    said = done.stdout
    assert re.search(r"price +number +show ", said)
    assert "Neither compared nor shown: remark." in said
    for text in (said, linkwise("ask", data, said="q\n").stdout):
        question = text.partition("Question ")[2]
        assert "price" in question
        assert "50 €" in question
        assert "weight" not in question
        assert "remark" not in question
    question = json.loads(linkwise("ask", data, "--json", said="").stdout.splitlines()[0])
    assert [set(item) for item in question["items"]] == [{"size", "price"}] * 2
    assert linkwise("ask", data, "--show", "size", said="q\n").exit_code == 2


def test_what_is_hidden_is_compared_as_before(tmp_path):
    path = write_goods(tmp_path)
    plain, hidden = read_table(path), read_table(path, hide=["size", "price"])
    assert np.array_equal(encode(plain).X, encode(hidden).X)
    assert hidden.shown == plain.shown
    assert read_table(path, **hidden.choices).choices == hidden.choices
    assert plain.choices.keys().isdisjoint({"show", "hide"})  # session files stay as they were


def test_a_shown_id_is_no_id(tmp_path):
    table = read_table(write_goods(tmp_path), show=["id"])
    assert (table.ids, table.item(3)["id"]) == (None, "g3")


def test_curves_and_texts_have_columns_beside_them():
    frame = pl.DataFrame({"t": [1, 2], "a": [1.0, 2], "b": [2.0, 1], "note": ["x", "y"]})
    curves = from_frame(frame, series=True, show="t", hide="note")
    assert curves.features == ("a", "b")
    assert items_of(curves).fields(1) == {"t": "2"}
    for given in ({"series": True, "hide": ["b"]}, {"text": "note", "hide": ["note"]}):
        with pytest.raises(DataError, match=r"cannot be hidden|is to be the text and hidden"):
            from_frame(frame, **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"show": ["sise"]}, r"no column 'sise'\. Did you mean 'size'\?"),
        ({"hide": ["sise"]}, r"no column 'sise'\. Did you mean 'size'\?"),
        ({"show": ["size"], "hide": ["size"]}, r"'size' is to be only shown and hidden"),
        ({"show": ["size"], "columns": ["size"]}, r"'size' is to be a feature and only shown"),
        ({"show": ["size"], "drop": ["size"]}, r"'size' is to be dropped and only shown"),
        ({"hide": ["size", "weight", "price", "remark"]}, r"Nothing is left to show: .* Hide fewer"),
        ({"show": ["size", "weight", "price"]}, r"No column is left to cluster by: .*only shown"),
    ],
)
def test_uses_that_do_not_go_together(tmp_path, given, said):
    with pytest.raises(DataError, match=f"goods.csv: .*{said}"):
        read_table(write_goods(tmp_path), **given)
