"""The bench of clusterers on rows that stay on disk: its lines."""

import csv

import pytest
from bench.speed import row_clusters

pytestmark = pytest.mark.slow


@pytest.mark.slow(nightly=True)
def test_a_larger_sample_is_hardly_better(tmp_path):
    given = ["--sizes", "30000", "--sets", "easy", "--pairs", "100", "--samples", "3000", "30000"]
    assert row_clusters.main([*given, "--out", str(tmp_path)]) == 0
    with (tmp_path / "speed_row_clusters.csv").open() as file:
        lines = {(line["method"], line["sample"]): line for line in csv.DictReader(file)}
    for method in row_clusters.METHODS:
        small, large = (lines[method, sample] for sample in ("3000", "30000"))
        assert float(small["ari"]) > float(large["ari"]) - 0.05 > 0.85
        assert float(small["objective"]) == pytest.approx(float(large["objective"]), rel=0.1)
        assert small["broken"] == large["broken"] == "0"
