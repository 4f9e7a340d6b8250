"""Features of pairs: what each measures, missing values, and new records."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from linkwise.learn.records.features import PairFeature, PairFeatures, measure_cosine, measure_pairs
from linkwise.learn.records.records import Records, append_records, make_records

PEOPLE = pl.DataFrame(
    {
        "name": ["ann lee smith", "ann smith", "bob stone", "bob stone", None, "zoe"] * 2,
        "born": [1980, 1981, 1975, 1975, 1990, None] * 2,
        "shop": ["north", "south", "north", "north", None, "south"] * 2,
    }
)


def records_of(table: pl.DataFrame) -> Records:
    return make_records(nw.from_native(table), table.columns)


def measure(records: Records, *pairs: tuple[int, int]) -> PairFeatures:
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return measure_pairs(records, first, second)


def values_of(features: PairFeatures, column: str, measure: str) -> list[float]:
    return features.values[:, features.names.index(PairFeature(column, measure))].tolist()


def test_texts_are_compared_by_words_letters_and_what_is_inside():
    features = measure(records_of(PEOPLE), (0, 1), (2, 3), (0, 2))
    assert values_of(features, "name", "inside") == pytest.approx([1, 1, 0]), (
        "ann smith is inside ann lee smith"
    )
    assert values_of(features, "name", "same") == [0, 1, 0]
    for kind in ("words", "letters"):
        part, same, other = values_of(features, "name", kind)
        assert 0 <= other < part < same == pytest.approx(1)


def test_numbers_are_compared_by_difference_and_ratio():
    records = records_of(PEOPLE)
    born = next(column for column in records.columns if column.name == "born")
    assert born.unit == 6  # of 1980, 1981, 1975, 1975, 1990
    features = measure(records, (0, 1), (2, 3))
    assert values_of(features, "born", "near") == pytest.approx([np.exp(-4 / 6), 1])
    assert values_of(features, "born", "ratio") == pytest.approx([1980 / 1981, 1])


def test_numbers_of_opposite_sign_are_not_alike_by_ratio():
    table = pl.DataFrame({"x": [-2.5, 2.5, 0.0, 0.0], "name": ["a", "b", "c", "d"]})
    features = measure(records_of(table), (0, 1), (2, 3), (0, 2))
    assert values_of(features, "x", "ratio") == [0, 1, 0]


def test_a_missing_value_is_marked_and_tells_nothing():
    features = measure(records_of(PEOPLE), (0, 4), (4, 5), (0, 1))
    assert values_of(features, "name", "missing") == [1, 1, 0]
    for name in features.names:
        if name.column == "name" and name.measure != "missing":
            assert values_of(features, *name)[:2] == [0.5, 0.5]
    assert values_of(features, "born", "missing") == [0, 1, 0]


def test_only_marks_of_missing_values_may_do_either():
    features = measure(records_of(PEOPLE), (0, 1))
    assert [name.measure for name, sign in zip(features.names, features.signs, strict=True) if not sign] == [
        "missing"
    ] * 3


def test_the_cosine_is_that_of_whole_records():
    records = records_of(PEOPLE)
    first, second = np.array([0, 2, 0]), np.array([1, 3, 2])
    features = measure_pairs(records, first, second)
    words, letters = (np.array(values_of(features, "", kind)) for kind in ("words", "letters"))
    assert features.cosine == pytest.approx((words + letters) / 2)
    assert measure_cosine(records, first, second) == pytest.approx(features.cosine)


def test_a_pair_has_the_same_features_in_either_order_and_beside_any_others():
    records = records_of(PEOPLE)
    alone, among = measure(records, (0, 1)), measure(records, (4, 2), (1, 0), (2, 3))
    assert np.array_equal(alone.values[0], among.values[1])


def test_no_pairs_have_no_features():
    features = measure(records_of(PEOPLE))
    assert features.values.shape == (0, len(features.names))
    assert len(features) == len(features.cosine) == 0


def test_new_records_are_measured_like_the_old():
    records = records_of(PEOPLE)
    new = PEOPLE[:2].with_columns(born=pl.Series([1980, 9999]))
    longer = append_records(records, nw.from_native(new))
    assert measure(longer, (12, 1)).values == pytest.approx(measure(records, (0, 1)).values), "not a new unit"
