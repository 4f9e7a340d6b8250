"""The bench of rows that stay on disk: its lines."""

import csv

import pytest
from bench.speed import large

pytestmark = pytest.mark.slow


@pytest.mark.slow(nightly=True)
def test_a_line_for_each_size(tmp_path):
    assert large.main(["--sizes", "3000", "--out", str(tmp_path)]) == 0
    with (tmp_path / "speed_large.csv").open() as file:
        (line,) = csv.DictReader(file)
    assert line["n"] == "3000"
    assert float(line["peak_MiB"]) > 0
    assert float(line["ari"]) > 0.5
