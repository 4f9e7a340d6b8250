"""A session of many rows is timed in memory and in a file."""

import csv

import pytest
from bench.speed import session

pytestmark = pytest.mark.slow


@pytest.mark.slow(nightly=True)
def test_both_kinds_are_timed(tmp_path):
    assert session.main(["--sizes", "500", "--out", str(tmp_path)]) == 0
    with (tmp_path / "speed_session.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["kept"], row["n"]) for row in rows] == [("memory", "500"), ("file", "500")]
    assert all(float(row[name]) > 0 for row in rows for name in session.FIELDS[1:])
