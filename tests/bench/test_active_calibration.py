"""What KIN advises beside the truth, on numbers that are computed by hand."""

import pytest
from bench.papers.active_calibration import (
    CALIBRATION_HEAD,
    build_calibration,
    describe_advice,
    share_of_wrong_rows,
)

from linkwise.learn.advice import StopAdvice

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("y", "labels", "wrong"),
    [
        ([0, 0, 1, 1], [5, 5, 2, 2], 0),
        ([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 1], 2 / 6),  # cluster 1 stands for class 1 alone
        ([0, 0, 0, 0, 1], [0, 0, 1, 1, 2], 2 / 5),  # class 0 has one of its two clusters
        ([0, 1, 0, 1], [0, 0, 0, 0], 1 / 2),
    ],
)
def test_rows_outside_the_best_matching_are_wrong(y, labels, wrong):
    assert share_of_wrong_rows(y, labels) == pytest.approx(wrong)


def test_a_cell_has_all_that_the_learner_advises():
    y, labels = [0, 0, 1, 1], [0, 0, 0, 1]
    row = describe_advice(StopAdvice(True, 0.125), y, labels, 25)
    assert row.items() >= {"stop 25": "1", "wrong 25": "0.125", "true 25": "0.2500"}.items()
    assert describe_advice(StopAdvice(False, None), y, labels, 50)["stop 50"] == "0"
    assert describe_advice(StopAdvice(False, None), y, labels, 50)["wrong 50"] == ""
    unknown = describe_advice(None, y, labels, 25)
    assert list(unknown) == list(row)
    assert {unknown[name] for name in unknown if name != "true 25"} == {""}


def test_a_line_for_each_whole_group_and_number_of_answers():
    runs = [
        # after 25 answers                after 50
        ("a", ("1", "0.02", "0.0000"), ("1", "0.01", "0.0000")),
        ("a", ("1", "0.04", "0.2400"), ("1", "0.03", "0.1000")),
        ("b", ("0", "", "0.5000"), ("0", "", "0.3000")),
        ("b", ("0", "0.3", "0.2000"), ("", "", "0.2000")),
        ("c", ("0", "", "0.7500"), None),
    ]
    rows = [
        {"task": task}
        | {
            f"{name} {n}": value
            for n, values in ((25, early), (50, late))
            for name, value in zip(("stop", "wrong", "true"), values or (), strict=bool(values))
        }
        for task, early, late in runs
    ]
    lines = build_calibration(rows, {"both": ("a", "b"), "last": ("c",), "other": ("a", "d")})
    assert [dict(zip(CALIBRATION_HEAD, line, strict=True)) for line in lines] == [
        {
            "group": "both", "answers": "25", "runs": "4", "estimates": "3", "expected": "0.120",
            "true": "0.147", "difference": "0.107", "stops": "2", "right": "0.500", "worst": "0.240",
        },
        {
            "group": "both", "answers": "50", "runs": "4", "estimates": "2", "expected": "0.020",
            "true": "0.050", "difference": "0.040", "stops": "2", "right": "1.000", "worst": "0.100",
        },
        {
            "group": "last", "answers": "25", "runs": "1", "estimates": "0", "expected": "", "true": "",
            "difference": "", "stops": "0", "right": "", "worst": "",
        },
    ]  # fmt: skip
