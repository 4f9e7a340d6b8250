"""Two ways to spend a minute on the page: a small run of the comparison."""

import csv

import numpy as np
from bench.papers import corrections

from linkwise import KIN, Session, datasets


def test_a_table_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(corrections, "AT", (5,))
    assert corrections.main(["--sets", "wine", "--runs", "1", "--out", str(tmp_path)]) == 0
    with open(tmp_path / "corrections" / "table.csv", newline="", encoding="utf-8") as file:
        wine, mean = csv.DictReader(file)
    assert {**wine, "set": "mean"} == mean
    assert float(wine["after corrections"]) > float(wine["ARI"])
    assert int(wine["seconds"]) > int(wine["moved"]) > 0


def test_only_wrong_rows_are_moved():
    data = datasets.load("wine")
    session = Session(data.X, KIN(random_state=0))
    corrections.answer(session, data.y, 10)
    before = session.labels
    corrections.correct(session, data.y)
    moved = {fact.first for event in session.events if event.kind == "move" for fact in event.facts}
    own = {cluster: corrections.find_class(data.y[before == cluster]) for cluster in np.unique(before)}
    assert moved
    assert all(data.y[row] != own[before[row]] or row in moved for row in moved)
