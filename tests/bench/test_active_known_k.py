"""The measurement of learners that know the number of clusters, on tiny inputs."""

import csv

import numpy as np
import pytest
from bench.papers import active_known_k as bench
from bench.suites.summaries import Mean
from bench.suites.tasks import scale_rows

from bench import data
from linkwise import NPU

pytestmark = pytest.mark.slow


@pytest.fixture
def small(monkeypatch):
    """Three groups that are easy to tell apart, and few questions."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 8)
    X = rng.normal([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 0.5, (8, 3, 2)).swapaxes(0, 1).reshape(-1, 2)
    monkeypatch.setattr(
        data, "load", lambda name, source: data.LabelledTask(name, scale_rows(X), y, "made up")
    )
    monkeypatch.setattr(bench, "AT", (2, 10))
    monkeypatch.setitem(bench.LEARNERS, "NPU", lambda k, **more: NPU(k, n_trees=3, **more))


@pytest.mark.slow(nightly=True)
def test_all_ways_are_measured(small, tmp_path, capsys):
    assert bench.main(["--runs", "2", "--tasks", "digits", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    with (tmp_path / "active_known_k" / "table.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    ways = [(line["learner"], line["estimator"]) for line in lines]
    assert len(ways) == len(set(ways)) == 7
    assert {line["10"] for line in lines} == {"1.00"}
    assert {line["aim"] for line in lines} == {""}
    for learner, _ in ways:
        assert learner in printed


def test_a_missed_aim_is_marked():
    aims = bench.find_aims(("wine", "MinMax", "mpckmeans"))
    assert bench.format_aims(aims) == "- / 0.91 / 0.94 / 0.98"
    assert bench.check_aims([Mean(v) for v in (0.1, 0.904, 0.94, 0.98)], aims) == "no"
    assert bench.check_aims([Mean(v) for v in (0.1, 0.906, 0.94, 0.98)], aims) == "yes"
    assert bench.find_aims(("digits", "NPU", "pckmeans")) == {}


def test_aims_are_about_what_is_measured():
    for row in bench.read_target("active_known_k.csv"):
        assert row["task"] in bench.TASKS
        assert row["learner"] in bench.LEARNERS
        assert row["estimator"] in bench.ESTIMATORS
        assert row["source"]
