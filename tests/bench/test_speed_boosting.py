"""The bench of learned similarities: its lines."""

import csv

import pytest
from bench.speed import boosting

pytestmark = pytest.mark.slow


@pytest.mark.slow(nightly=True)
def test_a_line_for_each_size_and_method(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(boosting, "MOST", 80)
    assert boosting.main(["--sizes", "60", "90", "--repeats", "1", "--out", str(tmp_path)]) == 0
    with (tmp_path / "speed_boosting" / "times.csv").open() as file:
        lines = list(csv.DictReader(file))
    few = ["KMeans", "BCKM", "BoostCluster", "KernelBoost"]
    assert [line["method"] for line in lines] == [*few, "PCP", *few]
    assert all(float(line["seconds"]) >= 0 for line in lines)
    assert "times_bckm" in capsys.readouterr().out
