"""The examples run as they stand, and reach what they say."""

import gzip
import json
import os
import re
import runpy
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"
LEAST = {"customers": 0.9, "news": 0.6, "faces": 0.7, "curves": 0.9, "grid_search": 0.9}  # ARI
FACES = Path(os.environ.get("LINKWISE_DATA", ""), "cmu_faces_half.npz")
NOTEBOOK_CELL = re.compile(r"^# %%( \[markdown\])?$")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Examples find their data from any folder, and leave nothing in it."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.iterdir())


def data_script(name):
    return runpy.run_path(str(FOLDER / "data" / f"{name}.py"))


def test_all_are_here_and_in_the_docs():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(LEAST)
    page = (ROOT / "docs" / "examples.rst").read_text(encoding="utf-8")
    assert re.findall(r"literalinclude:: \.\./examples/(\w+)\.py", page) == list(LEAST)


@pytest.mark.parametrize("name", LEAST)
def test_an_example_reaches_what_it_says(name, capsys):
    if name == "faces" and not FACES.is_file():
        pytest.skip("needs LINKWISE_DATA with cmu_faces_half.npz")
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("ARI ")
    found = [float(number) for number in re.findall(r"\d\.\d\d", last)]
    assert min(found) >= LEAST[name]


def test_without_the_pictures_it_says_what_to_do(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("LINKWISE_DATA", str(tmp_path))
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(FOLDER / "faces.py"))
    assert not end.value.code
    assert "LINKWISE_DATA" in capsys.readouterr().out


@pytest.mark.parametrize("name", LEAST)
def test_an_example_opens_as_a_notebook(name):
    lines = (FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# %% [markdown]"
    assert lines[1].startswith("# # ")
    assert lines[3].startswith("# You learn ")
    cells = [at for at, line in enumerate(lines) if line.startswith("# %%")]
    assert all(NOTEBOOK_CELL.match(lines[at]) for at in cells)
    for start, end in zip(cells, [*cells[1:], len(lines)], strict=True):
        if "[markdown]" in lines[start]:
            assert all(not line or line.startswith("#") for line in lines[start:end])


# ---------------------------------------------------------------- data
def test_the_data_are_small_and_their_source_is_reported():
    said = (FOLDER / "data" / "README.md").read_text(encoding="utf-8")
    files = [path for path in (FOLDER / "data").iterdir() if path.suffix in (".csv", ".gz")]
    assert len(files) == 2
    for path in files:
        assert path.stat().st_size <= 300_000
        assert f"`{path.name}`" in said


def test_the_customers_are_those_that_the_script_makes(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["make_customers.py", str(tmp_path / "made.csv")])
    data_script("make_customers")["main"]()
    made = tmp_path / "made.csv"
    assert made.read_bytes() == (FOLDER / "data" / "customers.csv").read_bytes()
    made.unlink()


def test_an_article_is_cut_to_what_its_author_wrote():
    text = (
        "From: a@b.org\nSubject: Orbits\n\nJoe (joe@b.org) writes:\n> quoted\nThe orbit decays, "
        "mail me@b.org or call +1 555 123 4567.\n  And so on.\n--\nsigned\n"
    )
    assert data_script("make_news")["body"](text) == "The orbit decays, mail or call . And so on."


def test_the_news_hold_no_address_and_are_balanced():
    with gzip.open(FOLDER / "data" / "news.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    script = data_script("make_news")
    groups = [row["group"] for row in rows]
    assert {name: groups.count(name) for name in script["GROUPS"]} == dict.fromkeys(script["GROUPS"], 80)
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert script["SHORTEST"] <= len(row["text"]) <= script["LONGEST"]
        assert not script["ADDRESS"].search(row["text"])
