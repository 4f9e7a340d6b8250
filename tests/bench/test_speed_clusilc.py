"""The speed of ClusILC beside a transcription and scikit-learn's trees: lines, aims, limits."""

import csv
import subprocess

import numpy as np
import pytest
from bench.suites.cell_store import THREADS

import linkwise as lw

pytestmark = pytest.mark.slow


@pytest.fixture
def speed(monkeypatch, tmp_path):
    for name in THREADS:
        monkeypatch.setenv(name, "1")  # set by the module; restored after the test
    from bench.papers import clusilc_data
    from bench.speed import clusilc

    y = np.arange(40) % 3
    X = np.random.default_rng(0).normal(4 * y[:, None], 1.0, (40, 3))
    tables = {name: clusilc_data.Set(X, y, 3) for name in ("iris", "wine")}
    monkeypatch.setattr(clusilc, "load", lambda name, folder: tables[name])
    monkeypatch.setattr(clusilc, "names", lambda folder: list(tables))
    monkeypatch.setattr(clusilc, "COUNTS", (10, 30))
    monkeypatch.setattr(clusilc, "PRINTED", "wine")
    return clusilc


def test_every_set_has_its_lines(speed, monkeypatch, tmp_path, capsys):
    times = {("iris", 10): 2.0, ("iris", 30): 4.0, ("wine", 10): np.inf}  # wine with 30 is not tried
    monkeypatch.setattr(speed, "transcription_seconds", lambda task, count, *given: times[task, count])
    monkeypatch.setattr(speed, "LARGE", ((600, 5, 40),))
    code = speed.main(["--data", str(tmp_path), "--out", str(tmp_path), "--repeats", "1", "--large"])
    with (tmp_path / "speed_clusilc" / "sets.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["task"], line["constraints"]) for line in lines] == [
        ("iris", "10"), ("iris", "30"), ("wine", "10"), ("wine", "30"), ("wine, as printed", "30"),
        ("blobs, 5 leaves", "40"),
    ]  # fmt: skip
    assert [line["transcription"] for line in lines] == ["2", "4", "", "", "", ""]
    for line in lines:
        own, other = float(line["processor"]), float(line["sklearn"])
        assert float(line["ratio"]) == pytest.approx(own / other, rel=0.1, abs=0.1)
    assert lines[-1]["leaves"] == "5"
    assert code == 0  # no aim for so few rows
    assert "0 of 0 aims missed" in capsys.readouterr().out


def test_an_aim_is_missed(speed, monkeypatch):
    rows = speed.load("iris", None)
    monkeypatch.setattr(speed, "time_in_turns", lambda tasks, repeats: [(0.008, 0.006), (0.002, 0.002)])
    line = speed.measure_line("iris", rows, 100, lw.ClusILC(3), 1, lambda: 0.6)
    named = dict(zip(speed.FIELDS, line, strict=True))
    assert (named["aim"], named["missed"], named["times"], named["ratio"]) == ("0.005", "yes", "100", "3.0")
    monkeypatch.setattr(speed, "time_in_turns", lambda tasks, repeats: [(0.008, 0.004), (0.002, 0.002)])
    assert speed.measure_line("iris", rows, 100, lw.ClusILC(3), 1, lambda: np.inf)[-1] == ""
    assert speed.find_aim("wine", 100) == ""


def test_scikit_learn_has_as_many_leaves(speed):
    rows = speed.load("iris", None)
    assert speed.sklearn_tree(rows.X, 7)().get_n_leaves() == 7


def test_the_transcription_has_a_limit_of_time(speed, monkeypatch, tmp_path):
    def late(*given, **more):
        raise subprocess.TimeoutExpired("python", more["timeout"])

    monkeypatch.setattr(subprocess, "run", late)
    assert speed.transcription_seconds("iris", 10, tmp_path, 1.0) == np.inf


def test_the_transcription_gets_the_same_problem(speed, tmp_path, capsys):
    assert speed.main(["--data", str(tmp_path), "--transcribed", "iris", "10"]) == 0
    assert float(capsys.readouterr().out) > 0


def test_without_data_nothing_is_measured(speed, monkeypatch, tmp_path):
    monkeypatch.setattr(speed, "names", lambda folder: [])
    with pytest.raises(SystemExit, match="None of iris, hayes-roth"):
        speed.main(["--data", str(tmp_path)])
