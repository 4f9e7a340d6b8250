"""The measurement of learners beside each other, on tiny inputs."""

import csv

import numpy as np
import pytest
from bench.papers import active as bench
from bench.papers import active_report as report

from bench import data
from linkwise.experiments.tasks import scale_rows


@pytest.fixture
def small(monkeypatch):
    """Three groups that are easy to tell apart, under the names of two sets, and few questions."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 8)
    X = rng.normal([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 0.5, (8, 3, 2)).swapaxes(0, 1).reshape(-1, 2)
    monkeypatch.setattr(
        data, "load", lambda name, source: data.LabelledTask(name, scale_rows(X), y, "made up")
    )
    monkeypatch.setattr(data, "names", lambda source: ["iris", "wine"])
    monkeypatch.setattr(bench, "GROUPS", {"first": ("iris", "wine"), "second": ("glass",)})
    monkeypatch.setattr(bench, "AT", (10, 25))
    monkeypatch.setattr(bench, "HEAD", ("task", "learner", "10", "25", "quartiles", "aim", "met"))


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
    assert lines[0]["quartiles"] == "1.00-1.00 1.00-1.00"
    assert "COBRAS" in printed
    with (tmp_path / "active" / "ranks.csv").open(newline="") as file:
        assert [line["learner"] for line in csv.DictReader(file)] == list(bench.USUAL)
    with (tmp_path / "active" / "duels.csv").open(newline="") as file:
        assert [(line["duel"], line["25"]) for line in csv.DictReader(file)] == [
            ("KIN : COBRAS", "0:0"),
            ("KIN : MinMax", "0:0"),
        ]
    assert (tmp_path / "active" / "curves.png").exists()


def test_bands_ranks_and_duels():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.01, (4, 10))
    rows = [
        {"task": task, "learner": learner, "run": str(run), "10": str(0.5 + gain + noise[at, run])}
        for at, (task, learner, gain) in enumerate(
            [("a", "x", 0.2), ("b", "x", -0.1), ("a", "y", 0.0), ("b", "y", 0.0)]
        )
        for run in reversed(range(10))
    ]
    runs = report.group_runs(rows, (10,))
    np.testing.assert_allclose(runs["a", "x"][:, 0], 0.7 + noise[0])
    assert report.find_learners(runs, ("a", "b"), ("x", "y", "z")) == ["x", "y"]
    np.testing.assert_allclose(
        report.average_tasks(runs, ("a", "b"), "y")[:, 0], 0.5 + noise[2:].mean(axis=0)
    )
    assert (report.quartiles(runs["a", "x"])[:, 0] == np.quantile(0.7 + noise[0], (0.25, 0.75))).all()
    assert report.duel(runs, ("a", "b"), "x", "y").tolist() == [[1], [1]]
    assert report.duel(runs, ("a", "b"), "x", "x").tolist() == [[0], [0]]
    assert report.ranks(runs, ("a", "b"), ("x", "y")).tolist() == [[2.0], [3.0]]


def test_a_missed_aim_is_marked():
    aims = bench.find_aims("second", "KIN")
    assert aims == [0.49, 0.58, 0.67, 0.77, 0.88]
    assert bench.check_aims(np.array([0.486, 0.6, 0.7, 0.8, 0.9]), aims) == "yes"
    assert bench.check_aims(np.array([0.484, 0.6, 0.7, 0.8, 0.9]), aims) == "no"
    assert bench.find_aims("second", "COBRAS") == []


def test_targets_are_about_what_is_measured():
    for row in bench.read_target("active.csv"):
        assert row["group"] in bench.GROUPS
        assert row["learner"] in bench.LEARNERS
        assert row["source"]
