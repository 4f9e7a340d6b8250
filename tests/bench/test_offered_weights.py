"""The measurement of offered weights: the way of an offer from the answers to the table."""

import csv

import pytest
from bench.papers import everyday, offered_weights

from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import write_reading
from linkwise.app.project.project import open_project

pytestmark = pytest.mark.slow

READINGS = [(name, options) for name, some in offered_weights.SETS.items() for options in some]


@pytest.mark.slow(nightly=True)
@pytest.mark.parametrize(("name", "options"), READINGS)
def test_each_reading_opens_its_set(name, options, tmp_path):
    everyday.make(tmp_path, name, 0.1, 0)
    reading = offered_weights.SETS[name][options]
    data = tmp_path / everyday.SETS[name].file
    with open_project(data, tmp_path / "a.linkwise", reading, MethodChoice()).session as session:
        assert session.question is not None
    same = everyday.SETS[name].fewest if options == "fewest" else everyday.SETS[name].chosen
    assert write_reading(reading) == tuple(same.split())


@pytest.mark.slow(nightly=True)
def test_accepted_weights_count_and_the_table_has_both_ways(tmp_path, monkeypatch):
    monkeypatch.setattr(offered_weights, "AT", (20, 30))
    given = ["--sets", "customers", "--rows", "0.25", "--runs", "1", "--out", str(tmp_path)]
    assert offered_weights.main(given) == 0
    with open(tmp_path / "offered_weights" / "table.csv", newline="", encoding="utf-8") as file:
        rows = {(row["options"], row["weights"]): row for row in csv.DictReader(file)}
    assert list(rows) == [(o, way) for o in ("fewest", "proposed") for way in ("without", "accepted")]
    without, accepted = rows["fewest", "without"], rows["fewest", "accepted"]
    assert float(accepted["offers"]) >= 1
    assert accepted["30"] != without["30"]
