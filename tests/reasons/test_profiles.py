"""A line about each cluster: what distinguishes it."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.data import Encoded, Feature, encode, from_frame
from linkwise.datasets import load
from linkwise.reasons.profiles import create_profiler, create_text_profiler


def numbers(X, *names, **more):
    features = tuple(Feature(name, name, None, "numeric", **more) for name in names)
    return Encoded(np.asarray(X, dtype=float), features, ())


def labels_of(*labels):
    return np.array(labels, dtype=np.int32)


def test_the_columns_that_distinguish_a_cluster_are_named_with_their_values():
    data = load("iris")
    profiles = create_profiler(numbers(data.X, *data.names))(data.y.astype(np.int32))
    assert profiles == {
        0: "petal width (cm) 0.2–0.3 (others 1.3–2) · petal length (cm) 1.4–1.6 (others 4.4–5.5)",
        1: "petal length (cm) 4–4.6 (others 1.5–5.5) · petal width (cm) 1.2–1.5 (others 0.2–2)",
        2: "petal width (cm) 1.8–2.3 (others 0.2–1.3) · petal length (cm) 5.1–5.9 (others 1.5–4.3)",
    }


def test_a_second_column_is_named_only_if_it_distinguishes_nearly_as_well():
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], 50)
    X = np.stack([10.0 * kind, rng.normal(size=100)], axis=1)
    assert create_profiler(numbers(X, "x", "noise"))(kind.astype(np.int32)) == {
        0: "x 0 (others 10)",
        1: "x 10 (others 0)",
    }


def test_what_nothing_distinguishes_has_an_empty_line():
    X = np.random.default_rng(0).normal(size=(400, 1))
    labels = labels_of(*([0, 1] * 200))
    assert create_profiler(numbers(X, "x"))(labels) == {0: "", 1: ""}
    assert create_profiler(numbers(X, "x"))(np.zeros(400, np.int32)) == {0: ""}
    assert create_profiler(numbers(np.ones((4, 1)), "x"))(labels_of(0, 0, 5, 5)) == {0: "", 5: ""}


def test_noise_and_gaps_between_numbers_are_profiled_too():
    X = np.repeat([-5.0, 0.0, 7.0], 4)[:, None] + np.tile([0.0, 0.1, 0.2, 0.3], 3)[:, None]
    profiles = create_profiler(numbers(X, "x"))(labels_of(*[-1] * 4, *[4] * 4, *[9] * 4))
    assert list(profiles) == [-1, 4, 9]
    assert profiles[-1].startswith("x -4.9 to -4.8 (others ")
    assert profiles[9].startswith("x 7.1–7.2 (others ")


def test_a_single_row_is_distinguished_by_its_farthest_column():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[7, 1] = 40
    labels = np.zeros(50, np.int32)
    labels[7] = 3
    assert create_profiler(numbers(X, "a", "b", "c"))(labels)[3].startswith("b 40 (others ")


def test_values_are_in_the_units_of_the_table():
    X = np.repeat([0.0, 1.0], 5)[:, None]
    profile = create_profiler(numbers(X, "time", offset=100.0, scale=20.0, unit="days"))
    assert profile(labels_of(*[0] * 5, *[1] * 5))[1] == "time 120 days (others 100 days)"


@pytest.mark.parametrize("categories", ["codes", "columns"])
def test_words_and_dates(categories):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "plan": ["a", "a", "a", "b", "c", "c"] * 5,
            "since": pandas.to_datetime(["2020-01-01"] * 3 + ["2024-05-06"] * 3).tolist() * 5,
        }
    )
    columns = encode(from_frame(frame), scale="none", categories=categories)
    profiles = create_profiler(columns)(labels_of(*([0, 0, 0, 1, 1, 1] * 5)))
    assert "plan = a in 100% (others 0%)" in profiles[0]
    assert "since 2020-01-01 (others 2024-05-06)" in profiles[0]
    assert "plan = c in 67% (others 0%)" in profiles[1] or profiles[1].startswith("since 2024-05-06")


def test_columns_without_a_meaning_are_left_out():
    features = (Feature("t[0]", "t[0]", None, "sample"),)
    columns = Encoded(np.array([[0.0], [0.0], [9.0]]), features, ())
    assert create_profiler(columns)(labels_of(0, 0, 1)) == {0: "", 1: ""}


def test_of_many_rows_a_sample_is_compared():
    kind = np.arange(30_000) % 2
    columns = numbers(np.stack([kind * 3.0, kind], axis=1), "x", "y")
    labels = kind.astype(np.int32)
    labels[17] = 8  # in no sample: a cluster of one row among so many
    found = create_profiler(columns)(labels)
    assert set(found) == {0, 1, 8}
    assert found[0].startswith("x 0 (others 3)")


def test_texts_are_told_apart_by_words():
    texts = ["red apple pie", "apple tart", "fast car", "old car", "car"]
    profile = create_text_profiler(texts.__getitem__, 5)
    assert profile(labels_of(0, 0, 2, 2, 2)) == {0: "apple", 2: "car"}
    assert profile(labels_of(0, 0, 0, 0, 0)) == {0: ""}
    assert create_text_profiler(lambda row: "!", 3)(labels_of(0, 0, 1)) == {}
