"""The bench of NPU: its lines."""

import csv

import pytest
from bench.speed import npu
from sklearn.datasets import load_iris

pytestmark = pytest.mark.slow


def test_a_line_for_each_set(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(npu, "SETS", {"iris": (load_iris, 60)})
    assert npu.main(["--questions", "3", "--repeats", "1", "--out", str(tmp_path)]) == 0
    with (tmp_path / "speed_npu" / "times.csv").open() as file:
        (line,) = csv.DictReader(file)
    assert (line["set"], line["rows"]) == ("iris", "60")
    assert float(line["question_ms"]) > 0
    assert "times_kmeans" in capsys.readouterr().out
