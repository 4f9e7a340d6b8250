"""The measurement of questions in batches, on a tiny input."""

import csv

import numpy as np
import pytest
from bench.papers import batches
from bench.suites.tasks import LabelledTask

from bench import data

pytestmark = pytest.mark.slow


@pytest.mark.slow(nightly=True)
def test_a_batch_is_measured_and_written(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 4, axis=0), np.repeat([0, 1, 2], 4)
    monkeypatch.setattr(data, "load", lambda name, source: LabelledTask("easy", X, y, "made up"))
    monkeypatch.setattr(batches, "AT", (5, 30))
    arguments = ["--tasks", "iris", "--learners", "COBRAS", "--sizes", "1", "4", "--runs", "1"]
    assert batches.main([*arguments, "--out", str(tmp_path)]) == 0
    with open(tmp_path / "batches" / "table.csv", newline="") as file:
        one, four = csv.DictReader(file)
    assert (one["size"], four["size"]) == ("1", "4")
    assert (one["group"], one["runs"]) == ("development", "1")
    assert one["30"] == four["30"] == "1.000"
    assert (one["loss 30"], four["loss 30"]) == ("0.000", "0.000")
    assert one["needless"] == "0"
