"""Cells are run once, however a run ended; where data come from; tables."""

import argparse
from functools import partial

import pytest
from bench.data import Source

from bench import harness

FIELDS = ("task", "seed")
CELLS = [("a", "0"), ("a", "1"), ("b", "0")]


def log_and_measure(log, cell):
    with log.open("a") as file:
        file.write("".join(cell) + "\n")
    return {"value": f'{cell[0]} says "{cell[1]}", or so'}


@pytest.fixture
def work(tmp_path):
    return partial(log_and_measure, tmp_path / "log")


def run(tmp_path, work, cells=CELLS, **more):
    rows = harness.run_cells(tmp_path / "cells.csv", FIELDS, cells, work, **{"uses": ("KIN",), **more})
    log = tmp_path / "log"
    ran = log.read_text().split() if log.exists() else []
    log.unlink(missing_ok=True)
    return rows, ran


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_cell_is_run_once(tmp_path, work, jobs, monkeypatch):
    for name in harness.THREADS:
        monkeypatch.setenv(name, "1")  # set by the harness for its processes; restored after the test
    rows, ran = run(tmp_path, work, CELLS[:2], jobs=jobs)
    assert sorted(ran) == ["a0", "a1"]
    rows, ran = run(tmp_path, work, jobs=jobs)
    assert ran == ["b0"]
    assert [(row["task"], row["seed"]) for row in rows] == CELLS
    assert rows[1]["value"] == 'a says "1", or so'


def test_a_line_without_its_end_is_no_cell(tmp_path, work):
    run(tmp_path, work)
    path = tmp_path / "cells.csv"
    path.write_text(path.read_text()[:-3])
    rows, ran = run(tmp_path, work)
    assert ran == ["b0"]
    assert len(harness.read_csv(path)) == len(rows) == 3


def test_cells_of_other_code_are_run_again(tmp_path, work, monkeypatch):
    run(tmp_path, work)
    monkeypatch.setattr(harness, "fingerprint", lambda *entries: "00000000")
    assert run(tmp_path, work)[1] == ["a0", "a1", "b0"]
    assert run(tmp_path, work)[1] == []


def test_cells_of_other_code_can_be_reused(tmp_path, work, monkeypatch):
    run(tmp_path, work, CELLS[:2])
    monkeypatch.setattr(harness, "fingerprint", lambda *entries: "00000000")
    assert run(tmp_path, work, reuse=True)[1] == ["b0"]
    assert run(tmp_path, work)[1] == ["a0", "a1"]
    rows, ran = run(tmp_path, work, reuse=True)
    assert ran == []
    assert [row["code"] for row in rows] == ["00000000"] * 3


def test_only_cells_that_use_what_changed_are_run_again(tmp_path, work, monkeypatch):
    def uses(cell):
        return ("KIN",) if cell[0] == "a" else ("PCP",)

    run(tmp_path, work, uses=uses)
    before = harness.fingerprint
    monkeypatch.setattr(harness, "fingerprint", lambda *names: "0" if names == ("PCP",) else before(*names))
    assert run(tmp_path, work, uses=uses)[1] == ["b0"]


def test_a_cell_that_fails_keeps_those_before(tmp_path, work):
    def failing(cell):
        if cell == CELLS[1]:
            raise RuntimeError("broken")
        return work(cell)

    with pytest.raises(RuntimeError, match="broken"):
        run(tmp_path, failing)
    (tmp_path / "log").unlink()
    assert run(tmp_path, work)[1] == ["a1", "b0"]


def test_the_option_goes_before_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWISE_DATA", str(tmp_path))
    given = argparse.Namespace(data=None, openml=False)
    assert harness.find_source(given) == Source(tmp_path, False)
    given.data = tmp_path / "other"
    with pytest.raises(SystemExit, match=r"is no folder\. Give the folder of data sets with --data"):
        harness.find_source(given)
    monkeypatch.delenv("LINKWISE_DATA")
    assert harness.find_source(argparse.Namespace(data=None, openml=True)) == Source(None, True)


def test_table_puts_numbers_right_and_words_left():
    told = harness.format_table(("task", "x", "why"), [("iris", "0.5", "b"), ("a", "-10.25", "")])
    assert told == "task       x  why\niris     0.5  b\na     -10.25"
