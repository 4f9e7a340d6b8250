"""The cases of the speed of KIN, and their aims."""

import pytest
from bench.speed import kin

pytestmark = pytest.mark.slow

FOUND = {
    "setup_s": 0.3,
    "all_s": 1.0,
    "median_ms": 3.0,
    "longest_ms": 29.0,
    "data_MiB": 1.0,
    "peak_MiB": 100.0,
}


def test_every_case_has_aims_and_some_are_left_out():
    everything = kin.read_targets(None, with_many=True)
    assert all(any(row[name] for name in kin.MEASURED) for row in everything)
    few = kin.read_targets([500, 2000], with_many=False)
    assert [(row["n"], row["classes"], row["pairs"]) for row in few] == [
        ("500", "20", "0"),
        ("2000", "20", "0"),
    ]


def test_a_missed_aim_is_named_beside_its_figure():
    (target,) = kin.read_targets([2000], with_many=False)
    row = kin.finish_row(target, FOUND)
    assert set(row) == set(kin.FIELDS)
    assert (row["setup_s"], row["setup_s_aim"], row["missed"]) == ("0.3", ".25", "setup_s")
    assert kin.finish_row(target, FOUND | {"setup_s": 0.2})["missed"] == "-"


def test_given_pairs_are_measured():
    found = kin.measure("COBRAS", 60, 3, 200, 2)
    assert set(FOUND) == set(found)
