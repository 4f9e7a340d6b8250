"""New rows are encoded as the first ones were."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import linkwise as lw
from linkwise.data import encode, from_frame
from linkwise.errors import DataError

FRAME = pl.DataFrame(
    {
        "age": [20, 31, 49, 70],
        "colour": ["red", "blue", "green", "red"],
        "member": [True, False, True, True],
        "since": pl.Series(["2024-01-05", "2024-02-01", "2024-03-01", "2024-12-31"]).str.to_date(),
    }
)
COLUMNS = list(FRAME.columns)


@pytest.mark.parametrize("scale", ["unit", "standard", "none"])
@pytest.mark.parametrize("categories", ["columns", "codes"])
def test_the_same_rows_give_the_same_numbers(scale, categories):
    encoded = encode(from_frame(FRAME, columns=COLUMNS), scale=scale, categories=categories)
    np.testing.assert_array_equal(encoded.transform(FRAME), encoded.X)
    np.testing.assert_array_equal(encoded.transform(FRAME[2:3]), encoded.X[2:3])
    np.testing.assert_array_equal(encoded.transform(from_frame(FRAME, columns=COLUMNS)), encoded.X)
    np.testing.assert_array_equal(encoded.transform(FRAME.to_pandas()[::-1]), encoded.X[::-1])


def test_unknown_words_are_none_of_the_known():
    new = pl.DataFrame({"age": [40], "colour": ["violet"], "member": [False], "since": FRAME["since"][:1]})
    columns, codes = (encode(from_frame(FRAME, columns=COLUMNS), categories=c) for c in ("columns", "codes"))
    assert columns.transform(new)[0, 1:4].tolist() == [0, 0, 0]
    assert codes.transform(new)[0, 1] == 3


def test_a_tree_judges_new_customers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"plan": rng.choice(["a", "b", "c"], 80), "age": rng.integers(18, 80, 80)})
    truth = (frame["plan"] == "b") + 2 * (frame["age"] > 60)
    encoded = encode(from_frame(frame), categories="codes")
    c = lw.Constraints.sample(truth, 60, random_state=0)
    model = lw.ClusILC(4, nominal=encoded.nominal).fit(encoded.X, constraints=c)
    some = frame[frame["plan"] != "a"]
    np.testing.assert_array_equal(
        model.predict(encoded.transform(some)), model.labels_[np.asarray(frame["plan"] != "a")]
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"drop": "age"}, "There is no column 'age'"),
        ({"age": ["x"]}, "Column 'age' holds words, such as \\['x'\\]. Pass numbers"),
        ({"age": [np.inf]}, r"Values are infinite in column 'age': rows 0, counted from 0\. Fix"),
    ],
)
def test_what_is_wrong_is_reported(change, message):
    encoded = encode(from_frame(FRAME, columns=COLUMNS))
    new = FRAME[:1]
    new = (
        new.drop(change["drop"])
        if "drop" in change
        else new.with_columns(**{k: pl.Series(v) for k, v in change.items()})
    )
    with pytest.raises(DataError, match=message):
        encoded.transform(new)
