"""Many clients at one served session, in a small form."""

import csv

import pytest
from bench.speed import load

pytestmark = pytest.mark.slow


def test_each_answer_of_several_clients_counts_once(tmp_path, monkeypatch):
    monkeypatch.setattr(load, "CLASSES", 8)
    arguments = ["--clients", "4", "--answers", "10", "--rows", "200", "--out", str(tmp_path)]
    assert load.main(arguments) == 0
    with open(tmp_path / "load" / "load.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["stored"], row["lost"], row["twice"]) == ("40", "0", "0")
    assert float(row["reply_ms"]) > 0


def test_answers_that_are_lost_or_stored_twice_are_counted():
    sent = {"ann": load.Sent([(0, 1), (2, 3)], [], [], 1), "ben": load.Sent([(4, 5)], [], [], 0)}
    stored = {"ann": [(1, 0)], "ben": [(4, 5), (4, 5)]}
    assert load.count_stored(sent, stored) == {"stored": 3, "twice": 1, "lost": 1, "refused": 1}
