"""The bench of spectral clustering: its lines."""

import csv

import pytest
from bench.speed import spectral

pytestmark = pytest.mark.slow


def test_a_line_for_each_size_and_number_of_clusters(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(spectral, "SLOW", 100)
    options = ("--sizes", "60", "120", "--clusters", "2", "--repeats", "1", "--out", str(tmp_path))
    assert spectral.main(options) == 0
    with (tmp_path / "speed_spectral" / "times.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [(line["rows"], line["clusters"]) for line in lines] == [("60", "2"), ("120", "2")]
    assert float(lines[0]["cosc_s"]) > 0
    assert lines[1]["cosc_s"] == lines[1]["cosc_times_spectral"] == ""
    assert float(lines[1]["spcl_times_spectral"]) > 0
    assert "spcl_times_spectral" in capsys.readouterr().out


def test_a_line_for_each_build_and_set(tmp_path, monkeypatch):
    monkeypatch.setattr(spectral, "FIT_CLUSTERS", (2, 3))
    for build in ("before", "after", "after"):
        options = ("--fits", "iris", "--build", build, "--repeats", "1", "--out", str(tmp_path))
        assert spectral.main(options) == 0
    with (tmp_path / "speed_spectral" / "fits.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [(line["build"], line["set"]) for line in lines] == [("before", "iris"), ("after", "iris")]
    assert float(lines[0]["fit_ms"]) > 0
    assert lines[0]["violations"] == "0"
