"""The bench of merging: its lines."""

import csv

import pytest
from bench.speed import agglomerative

from linkwise.native.agglomerate import LINKAGES

pytestmark = pytest.mark.slow


def test_a_line_for_each_size_and_linkage(tmp_path, capsys):
    assert agglomerative.main(["--sizes", "130", "--repeats", "1", "--out", str(tmp_path)]) == 0
    with (tmp_path / "speed_agglomerative" / "times.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [(line["rows"], line["linkage"]) for line in lines] == [("130", name) for name in LINKAGES]
    assert all(float(line["scikit_learn_s"]) >= 0 for line in lines)
    assert "times_scikit_learn" in capsys.readouterr().out
