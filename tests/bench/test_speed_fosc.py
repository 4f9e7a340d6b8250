"""The bench of FOSC: its lines."""

import csv

import pytest
from bench.speed import fosc

pytestmark = pytest.mark.slow


def test_a_line_for_each_size(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(fosc, "MOST_FOR_OPTICS", 100)
    assert fosc.main(["--sizes", "60", "130", "--repeats", "1", "--out", str(tmp_path)]) == 0
    with (tmp_path / "speed_fosc" / "times.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["rows"] for line in lines] == ["60", "130"]
    assert [line["their_optics_s"] == line["times_optics"] == "" for line in lines] == [False, True]
    assert all(float(line["constrained_s"]) >= 0 for line in lines)
    assert "times_hdbscan" in capsys.readouterr().out
