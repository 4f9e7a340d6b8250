"""Classes and ids as pandas, polars, pyarrow and NumPy hold them: what is missing is unknown."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linkwise as lw
from linkwise.data import from_frame

DAY = dt.date(2024, 1, 1)
NOON = dt.datetime(2024, 1, 1, 12)
NO_DAY = dt.date(2024, 1, 2)
LABELS = {
    "list of None": ["a", "a", "b", None, None],
    "list of NaN": ["a", "a", "b", np.nan, float("nan")],
    "list of NaT": ["a", "a", "b", pd.NaT, pd.NaT],
    "list of NA": ["a", "a", "b", pd.NA, pd.NA],
    "list of masked": [1, 1, 2, np.ma.masked, np.ma.masked],
    "list of decimals": [Decimal(1), Decimal("1.0"), Decimal(2), Decimal("NaN"), Decimal("sNaN")],
    "list of dates": [DAY, DAY, NO_DAY, None, pd.NaT],
    "NumPy dates": np.array(["2024-01-01", "2024-01-01", "2024-01-02", "NaT", "NaT"], dtype="M8[s]"),
    "masked numbers": np.ma.array([1, 1, 2, 1, 1], mask=[0, 0, 0, 1, 1]),
    "masked words": np.ma.array(["a", "a", "b", "a", "a"], mask=[0, 0, 0, 1, 1]),
    "pandas str": pd.Series(["a", "a", "b", None, None], dtype="str"),
    "pandas string": pd.Series(["a", "a", "b", None, pd.NA], dtype="string"),
    "pandas string of arrow": pd.Series(["a", "a", "b", None, pd.NA], dtype="string[pyarrow]"),
    "pandas objects": pd.Series(["a", "a", "b", None, pd.NA], dtype=object),
    "pandas Int64": pd.Series([1, 1, 2, None, None], dtype="Int64"),
    "pandas boolean": pd.Series([True, True, False, None, None], dtype="boolean"),
    "pandas category": pd.Series(["a", "a", "b", None, None], dtype="category"),
    "pandas Categorical": pd.Categorical(["a", "a", "b", None, None]),
    "pandas Index": pd.Index(["a", "a", "b", None, None]),
    "pandas array": pd.array(["a", "a", "b", None, None], dtype="string"),
    "pandas times": pd.Series(pd.to_datetime([DAY, DAY, NO_DAY, None, None])).dt.tz_localize("Europe/Rome"),
    "pandas arrow decimal": pd.Series(
        [Decimal(1), Decimal(1), Decimal(2), None, None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))
    ),
    "pandas sparse": pd.Series(pd.arrays.SparseArray([1.0, 1.0, 2.0, np.nan, np.nan])),
    "polars words": pl.Series(["a", "a", "b", None, None]),
    "polars dates": pl.Series([DAY, DAY, NO_DAY, None, None]),
    "polars times": pl.Series([NOON, NOON, dt.datetime(2024, 1, 2), None, None]),
    "polars decimals": pl.Series([Decimal(1), Decimal(1), Decimal(2), None, None]),
    "polars categories": pl.Series(["a", "a", "b", None, None], dtype=pl.Categorical),
    "polars NaN": pl.Series([1.0, 1.0, 2.0, float("nan"), None]),
    "arrow words": pa.chunked_array([["a", "a", "b"], [None, None]]),
    "arrow dates": pa.array([DAY, DAY, NO_DAY, None, None]),
    "arrow decimals": pa.array([Decimal(1), Decimal(1), Decimal(2), None, None]),
    "arrow dictionary": pa.array(["a", "a", "b", None, None]).dictionary_encode(),
}


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
def test_a_missing_class_is_unknown(y):
    known = lw.Constraints.from_labels(y)
    assert known.must_link.tolist() == [[0, 1]]
    assert known.cannot_link.tolist() == [[0, 2]]
    drawn = lw.Constraints.sample(y, 3, random_state=0)  # all pairs of rows of known class
    assert drawn.must_link.tolist() == [[0, 1]]
    assert drawn.cannot_link.tolist() == [[0, 2], [1, 2]]
    oracle = lw.TruthOracle(y)
    assert [oracle(0, 1), oracle(0, 2), oracle(0, 3), oracle(3, 4)] == ["yes", "no", "unsure", "unsure"]


@pytest.mark.parametrize("name", ["list of NA", "pandas string", "pandas objects", "polars words"])
def test_classes_that_are_confused_are_found_beside_missing_ones(name):
    oracle = lw.TruthOracle(LABELS[name], noise=0.3, hard="classes", confused=("a", "b"))
    assert oracle.codes.tolist() == [0, 0, 1, -1, -1]


IDS = {
    "floats": [1.0, 2.0, 30.0],
    "NumPy": np.array([1, 2, 30], dtype=np.float32),
    "pandas floats": pd.Series([1.0, 2.0, 30.0], index=[7, 8, 9]),
    "pandas Int64": pd.Series([1, 2, 30], dtype="Int64"),
    "polars": pl.Series([1.0, 2.0, 30.0]),
    "arrow": pa.chunked_array([[1.0, 2.0, 30.0]]),
    "words": ["1", "2", "30"],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_an_id_is_the_same_text_wherever_it_is_given(ids, tmp_path):
    session = lw.Session([[0.0], [1.0], [9.0]], ids=ids)
    assert session.ids == ["1", "2", "30"]
    path = tmp_path / "pairs.csv"
    pairs = lw.Constraints(3, must_link=[(0, 2)])
    pairs.to_csv(path, ids=ids)
    assert path.read_text() == "id_a,id_b,kind\n1,30,must-link\n"
    assert lw.Constraints.read_csv(path, ids=ids).must_link.tolist() == [[0, 2]]
    if not isinstance(ids, list):
        frame = pl.DataFrame({"id": np.asarray(ids), "size": [0.0, 1.0, 9.0]})
        assert from_frame(frame).ids == ("1", "2", "30")
        assert session.join(frame, id_column="id")["cluster"].len() == 3


@pytest.mark.parametrize(
    "ids",
    [
        ["a", None, "c"],
        pd.Series(["a", pd.NA, "c"], dtype="string", index=[3, 4, 5]),
        pl.Series(["a", None, "c"]),
    ],
    ids=["list", "pandas", "polars"],
)
def test_a_missing_id_is_named(ids, tmp_path):
    for take in (
        lambda: lw.Session([[0.0], [1.0], [9.0]], ids=ids),
        lambda: lw.Constraints(3).to_csv(tmp_path / "pairs.csv", ids=ids),
    ):
        with pytest.raises(lw.ConstraintError, match=r"Row 1 has no id: .*\. Pass one id for each row\."):
            take()
