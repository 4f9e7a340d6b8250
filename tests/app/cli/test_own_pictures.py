"""A table's own column of picture paths, named with --show: on the page, in the terminal and as JSON."""

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

from linkwise.app.page.opening import present_project
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.app.project.project import open_project
from linkwise.app.terminal.screen import pair_rows
from linkwise.data.reading import Reading

N = 12


def shade_of(row):
    """A shade that a terminal draws with a mark, not with a space."""
    return 100 + 10 * row


@pytest.fixture
def goods(tmp_path):
    """A table of titles, prices and pictures of one shade each."""
    lines = ["sku,title,price,picture"]
    (tmp_path / "pictures").mkdir()
    for i in range(N):
        Image.fromarray(np.full((8, 8), shade_of(i), np.uint8)).save(tmp_path / f"pictures/p{i}.png")
        lines.append(f"s{i},{'oak chair' if i % 2 else 'red lamp'} {i},{i % 2 + i / 99},pictures/p{i}.png")
    path = tmp_path / "goods.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def open_goods(path, **reading):
    session = path.with_name("s.linkwise")
    kept = SessionOptions(as_is=True)
    return open_project(path, session, Reading(id_column="sku", **reading), MethodChoice(), kept)


@pytest.mark.parametrize("kind", ["record", "text"])
def test_the_page_shows_pictures_in_place_of_their_paths(goods, kind):
    given = {"text": ("title",)} if kind == "text" else {}
    presenter = present_project(open_goods(goods, show=("picture",), **given))
    state = presenter.state()
    assert state["kind"] == kind
    item = state["question"]["first"]
    assert "picture" not in {field["name"] for field in item["fields"]}
    assert ("text" in item) == (kind == "text")
    shown = Image.open(io.BytesIO(base64.b64decode(item["image"].partition(",")[2])))
    assert np.asarray(shown).tolist() == np.full((8, 8), shade_of(item["row"])).tolist()
    rules = presenter.handle({"id": "1", "do": "rules"})  # as without pictures
    assert rules.body["ok"]
    presenter.close()


@pytest.mark.parametrize("options", [(), ("--text", "title")])
def test_the_terminal_draws_them_above_the_pair_and_programs_get_the_path(goods, linkwise, options):
    said = linkwise("ask", goods, "--as-is", "--id", "sku", "--show", "picture", *options, said="q\n").stdout
    question = said.partition("Question 1")[2]
    assert question.count("┌────────────────┐") == 2 or "░" in question or "▒" in question, question
    assert "pictures/p" not in question
    assert "price" in question or options
    line = linkwise("ask", goods, *options, "--json", said="").stdout.splitlines()[0]
    assert all(item["picture"].startswith("pictures/p") for item in json.loads(line)["items"])


def test_pictures_that_are_not_there_leave_the_paths_with_a_note(goods):
    (goods.parent / "pictures" / "p3.png").unlink()
    project = open_goods(goods, show=("picture",))
    assert project.items.fields(3)["picture"] == "pictures/p3.png"
    notes = [note for note in project.notes if "in place of the pictures" in note]
    assert len(notes) == 1
    assert "1 of 12 are not there: pictures/p3.png" in notes[0]
    project.session.close()


def test_without_show_a_path_stays_a_path(goods):
    project = open_goods(goods)
    assert project.items.fields(3)["picture"] == "pictures/p3.png"
    assert project.items.pixels is None
    project.session.close()


def test_a_field_of_one_row_alone_is_shown():
    """A picture that goes away while a person answers has a field that the other row lacks."""
    assert [row.name for row in pair_rows({"a": "1"}, {"file": "not there any more", "a": "1"})] == [
        "a",
        "file",
    ]
