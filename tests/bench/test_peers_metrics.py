"""The comparison with metric-learn: what it is given, what is compared, what counts as agreement.

The other Python is this one, and metric-learn a module of a few lines that learns nothing.
"""

import csv
import sys

import numpy as np
import pytest
from bench.peers import metrics
from bench.suites.tasks import scale_rows

import linkwise as lw
from bench import data

pytestmark = pytest.mark.slow

STAND_IN = """
import numpy as np
class Learner:
    def __init__(self, **options): self.options = options
    def fit(self, given, *more, **bounds):
        self.d = np.shape(given)[-1]
        return self
    def get_mahalanobis_matrix(self): return 2.0 * np.eye(self.d)
class ITML(Learner): pass
class MMC(Learner): pass
class RCA(Learner): pass
"""


def made_up(name, source):
    rng = np.random.default_rng(len(name))
    y = np.repeat([0, 1], 30)
    X = rng.normal(np.array([[0.0, 0.0, 0.0], [1.0, 0.5, 0.0]])[y], 0.4)
    return data.LabelledTask(name, scale_rows(X), y, "made up")


@pytest.fixture
def small(monkeypatch, tmp_path):
    (tmp_path / "metric_learn.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(data, "load", made_up)
    monkeypatch.setattr(data, "BUNDLED", ("iris",))
    monkeypatch.setattr(metrics, "CONSTRAINTS", 40)


def test_what_the_other_is_given():
    task = made_up("iris", None)
    c = lw.Constraints(60, [(0, 1), (1, 2), (40, 41)], [(0, 40)])
    problem = metrics.build_problem(task, c)
    assert problem["chunks"][[0, 1, 2, 40, 41]].tolist() == [0, 0, 0, 1, 1]
    assert (np.delete(problem["chunks"], [0, 1, 2, 40, 41]) == -1).all()
    assert problem["must"] is c.must_link


def test_the_other_python_learns(small):
    problem = metrics.build_problem(made_up("iris", None), lw.Constraints(60, [(0, 1)], [(0, 40)]))
    given = {**problem, "methods": np.array(metrics.METHODS), "bounds": np.array([0.1, 2.0])}
    found = metrics.fit_theirs(given, sys.executable)
    for method in metrics.METHODS:
        np.testing.assert_array_equal(found[method], 2 * np.eye(3))
        assert found[f"{method} seconds"] >= 0


def test_what_takes_too_long_is_left_out(small, monkeypatch):
    monkeypatch.setattr(metrics, "PATIENCE", 1e-6)
    row = metrics.measure(("iris", "ITML", "0"), sys.executable)
    assert row["why"] == "no answer in 1e-06 s"
    assert metrics.build_line("iris", "ITML", [row])[-1] == row["why"]


def test_a_failure_of_the_other_package_is_printed(small, tmp_path):
    failing = STAND_IN.replace("return self\n", "raise ValueError('no way')\n", 1)
    (tmp_path / "metric_learn.py").write_text(failing)
    row = metrics.measure(("iris", "MMC", "0"), sys.executable)
    assert row["why"] == "no way"
    assert metrics.build_line("iris", "MMC", [row])[-1] == "no way"


def test_a_covariance_without_inverse_is_left_out(small, monkeypatch):
    monkeypatch.setattr(metrics, "CONSTRAINTS", 2)
    assert metrics.measure(("iris", "RCA", "0"), sys.executable)["why"] == "no inverse"


def test_entries_are_compared_if_there_is_one_answer():
    row = metrics.compare_metrics(
        "ITML", np.zeros((1, 2)), lw.Constraints(1), np.diag([4.0, 2.0]), np.diag([4.0, 1.0])
    )
    assert row["difference"] == "2.5e-01"
    assert not metrics.is_held(row)
    assert metrics.is_held({**row, "difference": "1.0e-08"})


def test_objectives_are_compared_if_there_are_many_answers():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]])
    c = lw.Constraints(3, [(0, 1)], [(1, 2)])
    row = metrics.compare_metrics("MMC", X, c, np.diag([1.0, 9.0]), np.diag([1.0, 1.0]))
    # at a / 2, where the must-link's squared length is a half
    assert float(row["objective"]) == pytest.approx(0.5 - np.log(np.sqrt(9 / 2) * 2), abs=1e-6)
    assert metrics.is_held(row)
    assert not metrics.is_held(metrics.compare_metrics("MMC", X, c, np.diag([1.0, 1.0]), np.diag([1.0, 9.0])))


@pytest.mark.slow(nightly=True)
def test_everything_is_written_and_disagreement_is_printed(small, tmp_path, capsys):
    arguments = ["--python", sys.executable, "--runs", "1", "--out", str(tmp_path)]
    assert metrics.main(arguments) == 1
    with (tmp_path / "metrics" / "table.csv").open() as file:
        lines = {row["method"]: row for row in csv.DictReader(file)}
    assert list(lines) == list(metrics.METHODS)
    assert lines["ITML"]["held"] == lines["RCA"]["held"] == "no"
    assert lines["MMC"]["held"] == lines["full MMC"]["held"] == "yes"  # ours is the better
    assert "40 constraints, 1 runs" in capsys.readouterr().out
