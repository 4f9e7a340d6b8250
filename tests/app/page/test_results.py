"""What a person takes away at the end."""

import io
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.page.test_presenter import answer, ask, make_presenter, refused
from linkwise.app.page.opening import present_project
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import open_project
from linkwise.data.reading import Reading
from linkwise.learn.kin.kin import KIN


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    kind = np.arange(30) % 2
    return pd.DataFrame(
        {"name": [f"p{i}" for i in range(30)], "age": 20 + 30 * kind + rng.integers(0, 5, 30)}
    )


@pytest.fixture
def presenter(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people.to_csv("people.csv", index=False)
    project = open_project(Path("people.csv"), Path("people.csv.linkwise"), Reading(), MethodChoice())
    made = present_project(project)
    yield made
    made.close()


def test_the_least_certain_rows_are_to_be_looked_at():
    presenter = make_presenter(learner=KIN(random_state=0))
    answer(presenter, 8)
    doubtful = ask(presenter, "results").body["doubtful"]
    confidence, labels = presenter._session.confidence, presenter._session.labels
    assert 0 < len(doubtful) <= 10
    assert [each["certainty"] for each in doubtful] == sorted(each["certainty"] for each in doubtful)
    listed = [each["row"] for each in doubtful]
    assert np.delete(confidence, listed).min() >= max(confidence[listed]) or max(confidence[listed]) < 0.95
    assert [each["cluster"] for each in doubtful] == labels[listed].tolist()


def test_without_confidence_table_or_file_nothing_is_made_up():
    presenter = make_presenter()
    answer(presenter, 8)
    found = ask(presenter, "results").body
    assert (found["doubtful"], found["tables"], found["python"]) == (None, [], "")
    assert "come from no table" in refused(presenter, do="export", what="table", ending=".csv")["text"]


@pytest.mark.parametrize(
    ("ending", "read"), [(".csv", pd.read_csv), (".xlsx", pd.read_excel), (".parquet", pd.read_parquet)]
)
def test_the_table_comes_with_its_clusters(presenter, people, ending, read):
    tables = ask(presenter, "results").body["tables"]
    assert tables[0] == [".csv", "as CSV, as it came"]
    assert {each for each, _ in tables} == {".csv", ".xlsx", ".parquet"}
    reply = ask(presenter, "export", what="table", ending=ending)
    assert reply.body["name"] == f"people-clusters{ending}"
    table = read(io.BytesIO(reply.file))
    assert table["name"].tolist() == people["name"].tolist()
    assert table["cluster"].tolist() == presenter._session.labels.tolist()


def test_other_endings_are_refused(presenter):
    assert refused(presenter, do="export", what="table", ending=".doc")["kind"] == "bad"
    assert refused(presenter, do="export", what="table")["kind"] == "bad"


def test_the_lines_of_python_run(presenter, people, tmp_path):
    code = ask(presenter, "results").body["python"]
    (tmp_path / "go_on.py").write_text(code)
    made = runpy.run_path(str(tmp_path / "go_on.py"))
    assert made["table"]["cluster"].tolist() == presenter._session.labels.tolist()
    assert len(made["pairs"]) == len(people)
    made["session"].close()
