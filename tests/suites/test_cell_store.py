"""Cells are run once, however a run ended."""

import time
from functools import partial

import pytest
from bench.suites import cell_store

from patience import patience

FIELDS = ("task", "seed")
CELLS = [("a", "0"), ("a", "1"), ("b", "0")]


def log_and_measure(log, cell):
    with log.open("a") as file:
        file.write("".join(cell) + "\n")
    return {"value": f'{cell[0]} says "{cell[1]}", or so'}


@pytest.fixture
def work(tmp_path):
    return partial(log_and_measure, tmp_path / "log")


def run(tmp_path, work, wanted=CELLS, **more):
    rows = cell_store.run_cells(tmp_path / "cells.csv", FIELDS, wanted, work, **{"uses": ("KIN",), **more})
    log = tmp_path / "log"
    ran = log.read_text().split() if log.exists() else []
    log.unlink(missing_ok=True)
    return rows, ran


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_cell_is_run_once(tmp_path, work, jobs, monkeypatch):
    for name in cell_store.THREADS:
        monkeypatch.setenv(name, "1")  # set for the processes; restored after the test
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
    assert len(cell_store.read_rows(path)) == len(rows) == 3


def test_cells_of_other_code_are_run_again(tmp_path, work, monkeypatch):
    run(tmp_path, work)
    monkeypatch.setattr(cell_store, "fingerprint", lambda *entries: "00000000")
    assert run(tmp_path, work)[1] == ["a0", "a1", "b0"]
    assert run(tmp_path, work)[1] == []


def test_cells_of_other_code_can_be_reused(tmp_path, work, monkeypatch):
    run(tmp_path, work, CELLS[:2])
    monkeypatch.setattr(cell_store, "fingerprint", lambda *entries: "00000000")
    assert run(tmp_path, work, reuse=True)[1] == ["b0"]
    assert run(tmp_path, work)[1] == ["a0", "a1"]
    rows, ran = run(tmp_path, work, reuse=True)
    assert ran == []
    assert [row["code"] for row in rows] == ["00000000"] * 3


def test_only_cells_that_use_what_changed_are_run_again(tmp_path, work, monkeypatch):
    def uses(cell):
        return ("KIN",) if cell[0] == "a" else ("PCP",)

    run(tmp_path, work, uses=uses)
    before = cell_store.fingerprint
    monkeypatch.setattr(
        cell_store, "fingerprint", lambda *names: "0" if names == ("PCP",) else before(*names)
    )
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


def test_progress_counts_the_cells_that_had_to_run(tmp_path, work):
    run(tmp_path, work, CELLS[:1])
    told = []
    run(tmp_path, work, progress=lambda *counts: told.append(counts))
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_a_new_field_becomes_a_column(tmp_path):
    path = tmp_path / "cells.csv"
    for row in ({"a": "1", "b": "2"}, {"a": "3", "c": "4"}, {"c": "5"}):
        cell_store.append_row(path, row)
    assert path.read_text() == "a,b,c\n1,2,\n3,,4\n,,5\n"
    assert [file.name for file in tmp_path.iterdir()] == ["cells.csv"]


def test_a_line_of_another_length_is_no_cell(tmp_path, work):
    run(tmp_path, work)
    path = tmp_path / "cells.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2] + ",1", "b,0", ""]))
    assert run(tmp_path, work)[1] == ["a1", "b0"]


def test_finished_cells_are_not_written_again_to_cut_off_a_line(tmp_path, work, monkeypatch):
    run(tmp_path, work)
    path = tmp_path / "cells.csv"
    path.write_text(path.read_text()[:-3])
    monkeypatch.setattr(type(path), "write_text", None)  # a full disk would leave an empty file
    assert len(cell_store.read_rows(path)) == 2
    assert path.read_bytes().endswith(b"\n")


def measure_slowly_or_fail(folder, cell):
    """The first cell fails while the second one runs, which ends all the same."""
    started, failed = folder / "started", folder / "failed"
    if cell == CELLS[0]:
        wait_for(started)
        failed.touch()
        raise ArithmeticError("no number")
    if cell == CELLS[1]:
        started.touch()
        wait_for(failed)
        time.sleep(0.2)
    return {"value": "1"}


def wait_for(path):
    deadline = time.monotonic() + patience()
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_cells_that_run_while_another_fails_are_kept(tmp_path, monkeypatch):
    for name in cell_store.THREADS:
        monkeypatch.setenv(name, "1")
    work = partial(measure_slowly_or_fail, tmp_path)
    with pytest.raises(ArithmeticError, match="no number"):
        cell_store.run_cells(tmp_path / "cells.csv", FIELDS, CELLS[:2], work, uses=("KIN",), jobs=2)
    kept = cell_store.read_cells(tmp_path / "cells.csv", FIELDS, CELLS, uses=("KIN",))
    assert [(row["task"], row["seed"], row["value"]) for row in kept] == [("a", "1", "1")]


def test_finished_cells_are_read_without_a_run(tmp_path, work):
    assert cell_store.read_cells(tmp_path / "cells.csv", FIELDS, CELLS, uses=("KIN",)) == []
    rows, _ = run(tmp_path, work, CELLS[1:])
    assert cell_store.read_cells(tmp_path / "cells.csv", FIELDS, CELLS, uses=("KIN",)) == rows
    assert not (tmp_path / "log").exists()
