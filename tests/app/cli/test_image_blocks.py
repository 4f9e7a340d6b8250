"""`--image` on the command line: one run by texts, pictures and columns, and what does not go with it."""

import re

import numpy as np
import pytest
from PIL import Image

from linkwise.app.page.opening import present_project
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import open_project
from linkwise.data.reading import Reading
from linkwise.session.session import Session

N = 12


@pytest.fixture
def path(tmp_path):
    (tmp_path / "pictures").mkdir()
    lines = ["sku,title,price,picture"]
    for i in range(N):
        shade = np.full((8, 8), 20 * (i % 3), np.uint8)
        shade[:, :4] = 200
        Image.fromarray(shade + np.uint8(i)).save(tmp_path / f"pictures/p{i}.png")
        title = f"{'oak chair' if i % 2 else 'red lamp'} {'tall' if i % 3 else 'small'}"
        lines.append(f"s{i},{title},{i % 2 + i / 99},pictures/p{i}.png")
    (tmp_path / "goods.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "goods.csv"


def words(text):
    return " ".join(text.split())


def test_texts_pictures_and_columns_in_one_run(path, tmp_path, linkwise):
    options = ("--id", "sku", "--text", "title", "--image", "picture", "--columns", "price")
    begun = words(linkwise("ask", path, *options, "--weight", "picture=2", said="n\ny\nq\n").stdout)
    assert "columns (price), title (texts), picture (pictures). Weights are picture 2." in begun
    assert re.search(r"picture +picture +compare +50%", begun)
    resumed = linkwise("ask", path, said="q\n")
    assert "resumed: 2 answers" in resumed.stdout
    other = linkwise("ask", path, "--weight", "picture=1", "--replay", said="q\n")
    assert other.exit_code == 0, other.stderr
    with Session.open(tmp_path / "goods.csv.linkwise") as kept:
        assert kept.source["choices"]["image"] == ["picture"]
    for command in ("explain", "status"):
        done = linkwise(command, path)
        assert done.exit_code == 0, done.stderr
    out = linkwise("export", path, "--labels", tmp_path / "clusters.csv")
    assert out.exit_code == 0, out.stderr


def test_pictures_are_compared_without_an_option(path, linkwise):
    begun = words(linkwise("ask", path, "--id", "sku", "--text", "title", said="q\n").stdout)
    assert "paths of pictures" in begun
    assert "--id sku --text title --image picture" in begun


def test_rules_leave_pictures_out(path, linkwise):
    linkwise("ask", path, "--id", "sku", "--image", "picture", "--columns", "price", said="n\ny\nn\nq\n")
    done = linkwise("explain", path)
    assert done.exit_code == 0, done.stderr
    assert "price" in done.stdout


@pytest.mark.parametrize("more", [{}, {"columns": ("price",)}])
def test_the_page_shows_the_pictures(path, more):
    session = path.with_name("s.linkwise")
    project = open_project(
        path, session, Reading(id_column="sku", image=("picture",), **more), MethodChoice()
    )
    presenter = present_project(project)
    item = presenter.state()["question"]["first"]
    assert item["image"].startswith("data:image/png;base64,")
    assert "picture" not in {field["name"] for field in item["fields"]}
    presenter.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--image", "picture", "--series"), "Remove --series"),
        (("--image", "picture", "--impute", "median"), "--image compares rows by pictures alone."),
        (
            ("--image", "picture", "--groups", "5"),
            "--image is for data that are read at once, and these rows are grouped.",
        ),
    ],
)
def test_what_does_not_go_with_pictures(path, linkwise, options, message):
    done = linkwise("ask", path, *options)
    assert done.exit_code == 2
    assert message in words(done.stderr)


def test_without_pillow(path, linkwise, monkeypatch):
    monkeypatch.setattr("linkwise.data.read.picture_files.find_spec", lambda name: None)
    done = linkwise("ask", path, "--image", "picture")
    assert done.exit_code == 2
    assert 'pip install "linkwise[app]"' in done.stderr
