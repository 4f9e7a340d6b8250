"""A side table that a person sees in place of the compared columns: on the page, the terminal and as JSON."""

import json

import numpy as np
import polars as pl
import pytest
from PIL import Image

from linkwise.app.page.opening import present_project
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import open_project
from linkwise.data.reading import Reading
from linkwise.errors import DataError
from linkwise.session.session import Session

N = 12


def write_embeddings(folder, with_ids=True):
    """Points of two groups, by turns."""
    points = np.random.default_rng(4).normal(0, 0.2, (N, 5)) + 3.0 * (np.arange(N) % 2)[:, None]
    path = folder / "points.npz"
    np.savez(path, X=points, **({"ids": np.array([f"p{i}" for i in range(N)])} if with_ids else {}))
    return path


def write_side(folder, order=range(N), name="titles.csv", key="ids"):
    lines = [f'p{i},{"sail" if i % 2 else "bread"} {i},"€ {i},50"' for i in order]
    path = folder / name
    path.write_text("\n".join([f"{key},title,price", *lines]) + "\n", encoding="utf-8")
    return path


def open_both(data, side):
    session = data.with_name("s.linkwise")
    return open_project(data, session, Reading(show=str(side)), MethodChoice())


def fields_of(item):
    return {field["name"]: field["value"] for field in item["fields"]}


# ---------------------------------------------------------------- shown
def test_the_page_shows_the_side_table_by_id_and_nothing_that_is_compared(tmp_path):
    side = write_side(tmp_path, order=[*reversed(range(N)), 77])
    project = open_both(write_embeddings(tmp_path), side)
    presenter = present_project(project)
    state = presenter.state()
    json.dumps(state, allow_nan=False)
    assert state["kind"] == "record"
    for item in (state["question"]["first"], state["question"]["second"]):
        row = item["row"]
        assert item["name"] == f"p{row}"
        title = f"{'sail' if row % 2 else 'bread'} {row}"
        assert fields_of(item) == {"title": title, "price": f"€ {row},50"}  # as it is written
        places = {field["name"]: field["place"] for field in item["fields"]}
        assert places == {"title": None, "price": pytest.approx(row / (N - 1))}
    assert any("joined by its column 'ids': title, price. 1 row of it is" in note for note in state["notes"])
    assert presenter.handle({"id": "1", "do": "answer", "question": state["question"]["id"], "answer": "no"})
    rules = presenter.handle({"id": "2", "do": "rules"}).body
    assert "x0" not in str(rules["clusters"])
    presenter.close()


def test_the_terminal_shows_it_also_when_the_session_goes_on(tmp_path, linkwise):
    data, side = write_embeddings(tmp_path), write_side(tmp_path)
    said = linkwise("ask", data, "--show", side, said="n\nq\n").stdout
    again = [linkwise("ask", data, *option, said="q\n").stdout for option in ((), ("--show", side))]
    for text in (said, *again):
        question = text.partition("Question ")[2]
        assert "title" in question
        assert "€" in question
        assert "x0" not in question
    rules = linkwise("explain", data)
    assert rules.exit_code == 0, rules.stderr
    assert "x0" not in rules.stdout
    question = json.loads(linkwise("ask", data, "--json", said="").stdout.splitlines()[0])
    assert [set(item) for item in question["items"]] == [{"title", "price"}] * 2


def test_a_single_column_of_texts_is_shown_and_explained_as_texts(tmp_path, linkwise):
    data = write_embeddings(tmp_path)
    side = tmp_path / "texts.jsonl"
    texts = ["the bread is fresh", "a ship at sea"]
    side.write_text("".join(json.dumps({"ids": f"p{i}", "body": texts[i % 2]}) + "\n" for i in range(N)))
    project = open_both(data, side)
    presenter = present_project(project)
    first = presenter.state()["question"]["first"]
    assert (first["text"], first["fields"]) == (texts[first["row"] % 2], [])
    presenter.close()
    answers = linkwise("ask", data, "--session", project.path, said="n\nq\n")
    assert answers.exit_code == 0, answers.stderr
    assert "bread" in linkwise("explain", project.path).stdout


def test_pictures_of_a_column_of_paths(tmp_path):
    for i in range(N):
        Image.fromarray(np.full((4, 6), 20 * i, dtype=np.uint8)).save(tmp_path / f"{i} a.png")
    side = tmp_path / "photos.parquet"
    here = [f"{i} a.png" if i % 2 else (tmp_path / f"{i} a.png").as_uri() for i in range(N)]
    pl.DataFrame({"photo": here, "stars": list(range(N))}).write_parquet(side)
    project = open_both(write_embeddings(tmp_path, with_ids=False), side)
    assert project.items.kind == "image"
    assert [int(project.items.pixels(row)[0, 0]) for row in range(N)] == [20 * i for i in range(N)]
    assert project.items.fields(3) == {"stars": "3"}
    assert "joined in the order of its rows" in project.rows.notes[-1]
    project.session.close()
    (tmp_path / "3 a.png").unlink()
    with pytest.raises(DataError, match=r"1 of 12 are not there: 3 a\.png\. Pass paths"):
        open_both(write_embeddings(tmp_path, with_ids=False), side)


def test_pictures_texts_and_other_columns_stay_beside_it(tmp_path):
    data = tmp_path / "texts.csv"
    rows = [f"p{i},w{i % 3} w{i % 2} wx,t{i}" for i in range(N)]
    data.write_text("\n".join(["id,body,title", *rows]) + "\n")
    project = open_project(
        data,
        tmp_path / "t.linkwise",
        Reading(text="body", show=str(write_side(tmp_path, key="id"))),
        MethodChoice(),
    )
    assert project.items.kind == "text"
    assert project.items.content(4) == "w1 w0 wx"
    assert project.items.fields(4) == {"title (of the data)": "t4", "title": "bread 4", "price": "€ 4,50"}
    project.session.close()


# ---------------------------------------------------------------- kept
def test_the_encoding_that_was_found_is_reported(tmp_path):
    side = write_side(tmp_path)
    side.write_bytes(side.read_text(encoding="utf-8").encode("utf-16"))
    project = open_both(write_embeddings(tmp_path), side)
    project.session.close()
    said = "titles.csv is read as UTF-16. Save it as UTF-8 if it has another encoding."
    assert said in project.rows.notes
    assert project.items.fields(1)["price"] == "€ 1,50"


@pytest.mark.parametrize("harm", ["gone", "changed"])
def test_a_missing_or_changed_side_table_is_an_error_with_a_way_out(tmp_path, linkwise, harm):
    data, side = write_embeddings(tmp_path), write_side(tmp_path)
    linkwise("ask", data, "--show", side, said="n\nq\n")
    if harm == "gone":
        side.unlink()
    else:
        side.write_text(side.read_text().replace("sail", "ship"))
    for command in ("ask", "explain"):
        done = linkwise(command, data, said="q\n")
        assert done.exit_code == 3
        assert "titles.csv" in done.stderr
        assert "--show FILE --session NEW --from OLD" in done.stderr
        assert done.stdout == ""
    assert linkwise("export", data).exit_code == 0  # which shows no row
    other = write_side(tmp_path, name="other.csv")
    new = tmp_path / "new.linkwise"
    moved = linkwise("ask", data, "--show", other, "--session", new, "--from", data, said="q\n")
    assert (moved.exit_code, "1 answer taken over" in moved.stdout) == (0, True), moved.stderr


def test_another_side_table_is_no_silent_change(tmp_path, linkwise):
    data, side = write_embeddings(tmp_path), write_side(tmp_path)
    linkwise("ask", data, "--show", side, said="n\nq\n")
    done = linkwise("ask", data, "--show", write_side(tmp_path, name="other.csv"), said="q\n")
    assert done.exit_code == 2
    assert "was begun with --show" in done.stderr
    with Session.open(data.with_name("points.npz.linkwise")) as session:
        assert session.source["show"]["file"] == "titles.csv"


# ---------------------------------------------------------------- joined
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["ids,t", *(f"p{i},a" for i in range(1, N))], r"lacks 1 of 12 ids of the data: 'p0'\. Add"),
        (["ids,t", "p3,b", *(f"p{i},a" for i in range(N))], r"more than once: 'p3'\. Keep one row"),
        (["t,u", "a,b", "c,d"], r"The file has 2 rows for 12 rows of data.*Add a column 'ids'"),
        (["ids", *(f"p{i}" for i in range(N))], r"The only column is the id, 'ids'\. Add columns"),
    ],
)
def test_rows_that_cannot_be_joined(tmp_path, lines, said):
    side = tmp_path / "side.csv"
    side.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=f"side.csv: .*{said}"):
        open_both(write_embeddings(tmp_path), side)
    assert not (tmp_path / "s.linkwise").exists()


def test_positions_join_rows_without_ids(tmp_path):
    side = tmp_path / "side.csv"
    side.write_text("\n".join(["id,t", *(f"{i},n{i}" for i in reversed(range(N)))]) + "\n")
    project = open_both(write_embeddings(tmp_path, with_ids=False), side)
    assert [project.items.content(row) for row in (0, 5)] == ["n0", "n5"]
    project.session.close()


def test_options_that_do_not_fit(tmp_path, linkwise):
    data = write_embeddings(tmp_path)
    missing = r"There is no file .*nothing\.csv\. Pass a table about the same rows to --show"
    with pytest.raises(FileNotFoundError, match=missing):
        open_both(data, tmp_path / "nothing.csv")
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("id_a,id_b,kind\np0,p1,cannot-link\n")
    done = linkwise("cluster", data, "--show", write_side(tmp_path), "--constraints", pairs)
    assert (done.exit_code, "--show FILE is about what a person sees" in done.stderr) == (2, True)
