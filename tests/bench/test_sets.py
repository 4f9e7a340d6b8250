"""The measurement of screens that are sorted, on a tiny input."""

import csv

import numpy as np
import pytest
from bench.papers import sets
from bench.suites.tasks import LabelledTask

from bench import data

pytestmark = pytest.mark.slow


def test_screens_are_measured_beside_pairs(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 8, axis=0), np.repeat([0, 1, 2], 8)
    monkeypatch.setattr(data, "load", lambda name, source: LabelledTask("easy", X, y, "made up"))
    arguments = ["--tasks", "iris", "--learners", "KIN", "--sizes", "pairs", "6", "--runs", "1"]
    assert sets.main([*arguments, "--misplaced", "0", "--out", str(tmp_path)]) == 0
    with open(tmp_path / "sets" / "table.csv", newline="") as file:
        pairs, six = csv.DictReader(file)
    assert (pairs["size"], six["size"]) == ("pairs", "6")
    assert six["5"] == pairs["20"] == "1.000"
    assert pairs["equal 5"] == ""
    assert int(six["answers"]) < 10


def test_equal_numbers_are_read_between_the_measured_ones():
    assert sets.find_equal(0.5, (5, 10, 20), (0.2, 0.4, 0.6)) == "15"
    assert sets.find_equal(0.1, (5, 10), (0.2, 0.4)) == "< 5"
    assert sets.find_equal(0.9, (5, 10), (0.2, 0.4)) == "> 10"
    assert sets.find_equal(0.3, (5, 10, 20), (0.2, 0.4, 0.3)) == "8"  # a curve that falls counts as level


def test_the_same_rows_are_drawn_of_a_large_set():
    rows = sets.draw_rows(5000)
    assert len(rows) == len(set(rows.tolist())) == 1000
    assert (rows == sets.draw_rows(5000)).all()
    assert sets.draw_rows(7).tolist() == list(range(7))
