"""FOSC beside the paper's figures, on made-up sets."""

import csv

import numpy as np
import pytest
from bench.papers import fosc
from bench.suites.tasks import scale_rows

from bench import data

pytestmark = pytest.mark.slow


def made_up(name, source):
    rng = np.random.default_rng(len(name))
    y = np.repeat([0, 1, 2], 12)
    X = rng.normal(np.array([[0.0, 0.0], [3.0, 0.0], [5.0, 2.0]])[y], 0.7)
    return data.LabelledTask(name, scale_rows(X), y, "made up")


def test_a_line_for_each_set_and_number_of_pairs(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(data, "load", made_up)
    monkeypatch.setattr(data, "names", lambda source: ["iris", "wine"])
    assert fosc.main(["--runs", "2", "--out", str(tmp_path)]) == 0
    with (tmp_path / "fosc" / "fosc.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    sets = [name for name in fosc.TASKS if name in ("iris", "wine")]
    assert [(line["task"], line["pairs"]) for line in lines] == [
        (name, str(n)) for name in (*sets, "mean") for n in fosc.PAIRS
    ]
    assert {line["task"]: line["paper"] for line in lines if line["paper"]} == {
        "iris": "0.80",
        "wine": "0.53",
    }
    for n, line in zip(fosc.PAIRS, lines[-3:], strict=True):
        for way in fosc.FIELDS[3:-1]:
            of_sets = [float(one[way]) for one in lines[:6] if one["pairs"] == str(n)]
            assert float(line[way]) == pytest.approx(np.mean(of_sets), abs=0.011)
    for line in lines:
        gap = float(line["optics, larger, nearest"]) - float(line["paper"]) if line["paper"] else 0
        expected = "higher" if gap > 0.0501 else "lower" if gap < -0.0501 else "reproduced"
        assert line["verdict"] == (expected if line["paper"] else "")
    assert "hdbscan, larger, nearest" in capsys.readouterr().out
