"""The speed of constrained clusterers beside k-means: lines, misses, and the other package's limit."""

import csv
import subprocess

import numpy as np
import pytest
from bench.speed import kmeans_family as speed

import linkwise as lw

pytestmark = pytest.mark.slow


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(speed, "QUICK", (60,))
    monkeypatch.setattr(speed, "CONSTRAINTS", (10, 20))
    monkeypatch.setattr(speed, "find_spec", lambda name: None)


@pytest.mark.slow(nightly=True)
def test_every_clusterer_has_its_lines(small, tmp_path, capsys):
    code = speed.main(["--quick", "--out", str(tmp_path)])
    with (tmp_path / "speed_kmeans_family.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    names = list(speed.clusterers())
    assert {"COPKMeans", "PCKMeans", "MPCKMeans"} <= set(names)
    assert [(line["constraints"], line["method"]) for line in lines] == [
        (count, name) for count in ("10", "20") for name in names
    ]
    for line in lines:
        assert float(line["multiple"]) == pytest.approx(
            float(line["fit_s"]) / float(line["kmeans_s"]), rel=0.1, abs=0.1
        )
    missed = sum(line["missed"] == "yes" for line in lines)
    assert code == int(missed > 0)
    assert f"{len(lines) - missed} of {len(lines)} take at most 10 times" in capsys.readouterr().out


def test_constraints_fit_the_blobs():
    X, constraints = speed.problem(50, 30)
    assert X.shape == (50, speed.FEATURES)
    assert constraints.n_constraints == 30
    for make in speed.clusterers().values():
        assert make().n_init == 1
        assert make().fit(X, constraints=constraints).n_clusters_ == speed.CLUSTERS


def test_what_is_missed():
    assert speed.build_line(9, 9, "x", 2.0, 0.1)["missed"] == "yes"
    assert speed.build_line(9, 9, "x", 1.0, 0.1)["missed"] == "-"
    late = speed.build_line(9, 9, "x", np.inf, 0.1, judged=False)
    assert (late["fit_s"], late["multiple"], late["missed"]) == ("", "inf", "")


def test_the_other_package_has_a_limit_of_time(monkeypatch):
    def late(*given, **more):
        raise subprocess.TimeoutExpired("python", 60)

    def failed(*given, **more):
        return subprocess.CompletedProcess([], 1, "", "EmptyClusters")

    def done(*given, **more):
        return subprocess.CompletedProcess([], 0, "0.25\n", "")

    for run, seconds in ((late, np.inf), (failed, np.inf), (done, 0.25)):
        monkeypatch.setattr(subprocess, "run", run)
        assert speed.peer_seconds("PCKMeans", 60, 10) == seconds


def test_the_other_package_gets_the_same_pairs(monkeypatch, capsys):
    seen = {}

    class Theirs:
        def __init__(self, n_clusters):
            seen["k"] = n_clusters

        def fit(self, X, ml, cl):
            seen.update(X=X, ml=ml, cl=cl)

    module = type("module", (), {"PCKMeans": Theirs})
    package = type("package", (), {"pairwise_constraints": module})
    monkeypatch.setitem(speed.sys.modules, "active_semi_clustering", package)
    monkeypatch.setitem(speed.sys.modules, "active_semi_clustering.semi_supervised", package)
    speed.main(["--peer", "PCKMeans", "60", "10"])
    X, constraints = speed.problem(60, 10)
    np.testing.assert_array_equal(seen["X"], X)
    assert lw.Constraints(60, seen["ml"], seen["cl"]) == constraints
    assert float(capsys.readouterr().out) >= 0
