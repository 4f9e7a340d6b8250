"""The bench of the page: the desk that stands in, and the points that other tools show, too."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from bench.peers.page_blobs import N_KINDS, blobs, labels_after, rows_of
from bench.speed.page import FIELDS, Stub, build_row, write_rows

import linkwise as lw
from linkwise.app.page.cards import view_numbers
from linkwise.app.page.presenter import Presenter

pytestmark = pytest.mark.slow


def test_the_stub_says_what_a_desk_says():
    X = np.arange(24.0).reshape(12, 2)
    real, stub = (
        Presenter(lw.Session(X, lw.COBRAS(random_state=0)), X, view_numbers(X, "xy"), title="t"),
        Stub(12),
    )
    one, other = real.state(), stub.state()
    assert other.keys() == one.keys()
    for name in ("question", "counts", "advice"):
        assert other[name].keys() == one[name].keys()
    assert other["clusters"][0].keys() == one["clusters"][0].keys()
    assert other["question"]["first"].keys() == one["question"]["first"].keys()
    assert [type(each) for each in other["shades"][0]] == [type(each) for each in one["shades"][0]]
    assert len(stub.places()) == len(real.places())


def test_each_answer_of_the_stub_asks_and_shows_something_else():
    stub = Stub(1000)
    seen = set()
    for n in range(5):
        state, (counter, labels) = stub.state(), stub.labels()
        assert state["labels"] == counter
        seen.add((state["question"]["id"], labels))
        assert stub.handle({"id": str(n)}).changed
    assert len(seen) == 5


def test_blobs_move_and_stay_in_sight():
    places, kind = blobs(500)
    assert np.abs(places).max() <= 1
    assert kind.max() < N_KINDS
    assert (labels_after(kind, 3) != labels_after(kind, 4)).mean() > 0.05
    assert [row["name"] for row in rows_of(3, 500)] == ["c6", "c7"]


def test_rows_are_kept_as_they_come(tmp_path, capsys):
    row = build_row("stub", "memory", 10_000, [[10.0, 12.0], [30.0, 40.0], [11.0, 13.0]])
    write_rows(tmp_path / "a" / "page.csv", FIELDS, iter([row]))
    with open(tmp_path / "a" / "page.csv") as file:
        assert next(csv.DictReader(file)) == {name: str(value) for name, value in row.items()}
    assert (row["drawn_ms"], row["shown_ms"], row["slowest_ms"], row["aim_ms"]) == ("11", "13", "40", 50)
    assert "slowest_ms" in capsys.readouterr().out
