"""The measurement of learners beside each other, on tiny inputs."""

import csv

import numpy as np
import pytest
from bench.papers import active as bench

from bench import data


@pytest.fixture
def small(monkeypatch):
    """Three groups that are easy to tell apart, under the names of two sets, and few questions."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 8)
    X = rng.normal([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 0.5, (8, 3, 2)).swapaxes(0, 1).reshape(-1, 2)
    monkeypatch.setattr(data, "load", lambda name, source: data.Task(name, data.to_unit(X), y, "made up"))
    monkeypatch.setattr(data, "names", lambda source: ["iris", "wine"])
    monkeypatch.setattr(bench, "GROUPS", {"first": ("iris", "wine"), "second": ("glass",)})
    monkeypatch.setattr(bench, "AT", (10, 25))


def test_all_learners_are_measured_and_groups_held_against_their_aims(small, tmp_path, capsys):
    assert bench.main(["--runs", "2", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    with (tmp_path / "active" / "table.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["task"], line["learner"]) for line in lines] == [
        (task, learner) for task in ("iris", "wine", "first") for learner in bench.USUAL
    ]
    assert {line["25"] for line in lines} == {"1.00"}
    assert [line["met"] for line in lines if line["task"] == "first"] == ["yes", "", ""]
    assert lines[-3]["aim"] == "0.52 0.63"
    assert "COBRAS" in printed


def test_a_missed_aim_is_told():
    aims = bench.aims_of("second", "KIN")
    assert aims == [0.49, 0.58, 0.67, 0.77, 0.88]
    assert bench.met(np.array([0.486, 0.6, 0.7, 0.8, 0.9]), aims) == "yes"
    assert bench.met(np.array([0.484, 0.6, 0.7, 0.8, 0.9]), aims) == "no"
    assert bench.aims_of("second", "COBRAS") == []


def test_targets_are_about_what_is_measured():
    for row in bench.read_target("active.csv"):
        assert row["group"] in bench.GROUPS
        assert row["learner"] in bench.LEARNERS
        assert row["source"]
