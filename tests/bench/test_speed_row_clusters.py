"""The bench of clusterers on rows that stay on disk: its lines."""

import csv

import pytest
from bench.speed import row_clusters

pytestmark = pytest.mark.slow


@pytest.mark.slow(nightly=True)
def test_a_line_for_each_method(tmp_path):
    assert row_clusters.main(["--sizes", "30000", "--out", str(tmp_path)]) == 0
    with (tmp_path / "speed_row_clusters.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["method"] for line in lines] == list(row_clusters.METHODS)
    ari = {line["method"]: float(line["ari"]) for line in lines}
    trees = {name: value for name, value in ari.items() if name.startswith("ClusILC")}
    assert min(trees.values()) > 0.35  # thresholds on columns fit these balls badly, in memory, too
    assert all(value > 0.5 for name, value in ari.items() if name not in trees)
    assert abs(ari["ClusILC"] - ari["ClusILC.fit"]) < 0.1
    assert float(lines[0]["times_baseline"]) == 1
