"""The speed of the pool beside scikit-learn's clusterers, on few rows and few clusterings."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from bench.suites.cell_store import THREADS
from sklearn.cluster import DBSCAN

from bench import data

pytestmark = pytest.mark.slow


@pytest.fixture
def speed(monkeypatch):
    for name in THREADS:
        monkeypatch.setenv(name, "1")  # set by the module; restored after the test
    from bench.speed import cobs

    few = replace(
        cobs.PAPER, clusters=(2, 3), n_runs=2, n_eps=4, min_pts=(2, 5), neighbours=(5, 9), sigmas=(0.5, 1.0)
    )
    monkeypatch.setattr(cobs, "PAPER", few)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    task = data.LabelledTask("digits", rng.normal(4 * y[:, None], 1.0, (60, 4)), y, "made up")
    monkeypatch.setattr(data, "load", lambda name, source: task)
    return cobs


def test_every_algorithm_has_its_line(speed, tmp_path, capsys):
    speed.main(["--quick", "--out", str(tmp_path)])
    assert "60 rows, 4 features" in capsys.readouterr().out
    with (tmp_path / "speed_cobs.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["algorithm"] for line in lines] == [*speed.algorithms(speed.PAPER), "all"]
    assert [int(line["clusterings"]) for line in lines] == [4, 8, 4, 4, 20]
    assert all(float(line[field]) > 0 for line in lines for field in ("ours_s", "sklearn_s", "ratio"))
    assert lines[1]["same"] == "1.00"  # DBSCAN has no chance in it
    assert lines[0]["same"] == lines[-1]["same"] == ""


def test_a_clustering_that_differs_lowers_the_share(speed):
    X = np.ascontiguousarray(data.load("digits", None).X)
    preset, _ = speed.algorithms(speed.PAPER)["DBSCAN"]

    def other(X, p):
        labels = DBSCAN(eps=p["eps"], min_samples=p["minPts"]).fit_predict(X)
        return np.arange(len(X)) if p["minPts"] == 2 else labels

    line = speed.measure(X, "DBSCAN", preset, other)
    assert 0 < float(line["same"]) < 1
