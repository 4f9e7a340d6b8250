"""Columns of lists as vectors: compared if they are named, and never shown."""

import json

import numpy as np
import polars as pl
import pytest

from linkwise.app.page.opening import present_project
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import open_project
from linkwise.data import encode, from_frame, read_table
from linkwise.data.reading import Reading
from linkwise.errors import DataError

N = 10
POINTS = np.random.default_rng(5).normal(0, 0.2, (N, 4)).round(3) + 3.0 * (np.arange(N) % 2)[:, None]
TABLE = {"id": [f"b{i}" for i in range(N)], "e": POINTS.tolist(), "title": [f"title {i}" for i in range(N)]}


@pytest.mark.parametrize("form", ["parquet", "array", "jsonl", "pandas"])
def test_the_numbers_of_a_named_column_are_the_matrix(tmp_path, form):
    frame, path = pl.DataFrame(TABLE), tmp_path / "t.parquet"
    if form == "pandas":
        table = from_frame(
            pytest.importorskip("pandas").DataFrame(TABLE, index=range(5, 5 + N)), columns=["e"]
        )
    else:
        if form == "jsonl":
            path = tmp_path / "t.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dicts()))
        else:
            whole = frame.with_columns(pl.col("e").cast(pl.Array(pl.Float64, 4)))
            (whole if form == "array" else frame).write_parquet(path)
        table = read_table(path, columns=["e"])
        again = read_table(path, **table.choices)
        assert again.choices == table.choices
    assert table.features == ("e[0]", "e[1]", "e[2]", "e[3]")
    found = encode(table, scale="none")
    assert np.array_equal(found.X, POINTS)
    assert np.array_equal(found.transform(frame[:3]), POINTS[:3])
    assert table.item(2) == {"title": "title 2"}
    assert "Rows are compared by the 4 numbers in each list of 'e', which are not shown." in table.notes


def test_a_column_of_lists_that_is_not_named_is_left_out_as_before():
    table = from_frame(pl.DataFrame({**TABLE, "size": range(N)}))
    assert table.features == ("size",)
    (note,) = (note for note in table.notes if "'e' is left out" in note)
    assert "(4 numbers, which are compared only if you name the column)" in note


def test_the_page_shows_the_other_columns(tmp_path):
    path = tmp_path / "books.parquet"
    pl.DataFrame(TABLE).write_parquet(path)
    session = tmp_path / "s.linkwise"
    for reading in (Reading(columns=("e",)), Reading()):
        project = open_project(path, session, reading, MethodChoice())
        presenter = present_project(project)
        first = presenter.state()["question"]["first"]
        assert [(f["name"], f["value"]) for f in first["fields"]] == [("title", f"title {first['row']}")]
        presenter.close()


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ([[1.0, 2], [1], [2, 3]], r"row 0 has 2 numbers, and row 1 has 1 .*Pass lists of one length"),
        ([[1.0, 2], None, [2, 3]], r"has no list in 1 of 3 rows \(rows 1, counted from 0\)\. Remove"),
        ([[1.0, 2]] * 3, r"All lists of column 'e' are the same\. Compare by"),
    ],
)
def test_lists_that_are_no_vectors(lists, said):
    with pytest.raises(DataError, match=said):
        from_frame(pl.DataFrame({"e": lists, "title": ["a", "b", "c"]}), columns=["e"])


def test_a_name_that_is_taken_is_an_error():
    with pytest.raises(DataError, match=r"e\[0\]"):
        from_frame(pl.DataFrame({"e": [[1.0, 2], [2.0, 1]], "e[0]": [1, 2]}), columns=["e"])
