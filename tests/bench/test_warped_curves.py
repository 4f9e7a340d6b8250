"""The measurement of warped curves: the sets, and the way to the table."""

import csv

import numpy as np
import pytest
from bench.papers import warped_curves

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", warped_curves.SETS)
def test_sets_are_curves_with_classes(name):
    curves, classes = warped_curves.SETS[name](0)
    assert len(curves) == len(classes) >= 200
    assert np.isfinite(curves).all()
    assert 3 <= len(set(classes)) <= 6


@pytest.mark.slow(nightly=True)
def test_the_table_has_both_ways(tmp_path, monkeypatch):
    monkeypatch.setattr(warped_curves, "AT", (0, 5))
    given = ["--sets", "cylinder, bell, funnel", "--runs", "1", "--out", str(tmp_path)]
    assert warped_curves.main(given) == 0
    with open(tmp_path / "warped_curves" / "table.csv", newline="", encoding="utf-8") as file:
        rows = {row["way"]: row for row in csv.DictReader(file)}
    assert list(rows) == list(warped_curves.WAYS)
    assert float(rows["warped"]["0"]) > float(rows["sample by sample"]["0"])
