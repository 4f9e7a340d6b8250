"""Distances by columns that are shown and not compared."""

import numpy as np
import polars as pl

from linkwise.data import from_frame
from linkwise.data.column_distances import measure_shown_columns

ROWS = np.array([0, 1, 2, 4])
FRAME = pl.DataFrame(
    {
        "name": [f"n{row}" for row in range(6)],
        "size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "age": [10.0, 20.0, None, 40.0, 60.0, 30.0],
        "city": ["Rome", "Oslo", "Rome", "Oslo", None, "Rome"],
        "day": ["2026-01-01", "2026-01-03", "2026-01-02", "2026-02-01", "2026-01-11", "2026-01-05"],
        "note": [
            "the parcel came late",
            "a late parcel",
            "my password is locked",
            "the password again",
            "locked password and account",
            "parcel with account",
        ],
        "same": ["x"] * 6,
        "gone": [1, 0, 1, 0, 1, 0],
        "unseen": [1, 0, 1, 0, 1, 0],
    }
)


def measure(**options):
    given = {"id_column": "name", "columns": ["size"], "drop": ["gone"], "hide": ["unseen"], **options}
    return measure_shown_columns(from_frame(FRAME, **given), ROWS)


def test_each_column_that_is_shown_is_measured_by_its_kind():
    found = measure()
    assert list(found) == ["age", "city", "day", "note"]
    assert np.allclose(np.sqrt(found["age"][0]), np.array([0, 10, 20, 50]) / 50)  # the median is 30
    assert (found["city"] > 0).tolist() == (np.array([0, 1, 0, 2])[:, None] != [0, 1, 0, 2]).tolist()
    assert np.allclose(np.sqrt(found["day"][0]), np.array([0, 2, 1, 10]) / 10)
    assert found["note"][0, 1] < found["note"][0, 2]
    assert found["note"][2, 3] < found["note"][1, 3]
    assert all(np.allclose(one, one.T) and not one.diagonal().any() for one in found.values())


def test_compared_columns_are_not_measured():
    assert list(measure(columns=["size", "city"])) == ["age", "day", "note"]
    assert "note" not in measure(columns=None, text=["note"])


def test_curves_have_no_other_columns():
    curves = pl.DataFrame({"kind": ["a", "b"] * 3, **{f"t{at}": np.arange(6.0) ** at for at in range(1, 15)}})
    assert measure_shown_columns(from_frame(curves, series=True), ROWS) == {}


def test_the_words_of_many_texts_are_learned_from_some(monkeypatch):
    monkeypatch.setattr("linkwise.data.column_distances.MOST_TEXTS", 3)
    assert measure()["note"].shape == (4, 4)
