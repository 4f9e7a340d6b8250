"""Trees that estimate values: against their twin, and what their signs promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise import native
from reference import value_trees as twin


def a_problem(n, d, seed, kind="noise"):
    """Rows, values, weights and signs."""
    rng = np.random.default_rng(seed)
    rows = rng.random((n, d)).astype(np.float32)
    if kind == "ties":
        rows = np.round(rows * 3) / 3
    elif kind == "constant":
        rows[:, rng.random(d) < 0.6] = 0.5
    value = rng.integers(0, 2, n).astype(float) if kind == "ties" else rng.random(n)
    return rows, value, rng.random(n) + 0.1, rng.integers(-1, 2, d).astype(np.int8)


def grow(problem, n_trees=5, most=3, least=1, seed=0, n_threads=1):
    return native.grow_value_trees(
        *problem, n_trees=n_trees, max_features=most, min_leaf=least, seed=seed, n_threads=n_threads
    )


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 40),
    st.integers(1, 8),
    st.integers(1, 4),
    st.integers(0, 2**64 - 1),
    st.sampled_from(["noise", "ties", "constant"]),
    st.data(),
)
def test_trees_are_those_of_the_twin(n, d, least, seed, kind, data):
    problem = a_problem(n, d, seed % 2**32, kind)
    most = data.draw(st.integers(1, d))
    trees, held = grow(problem, 3, most, least, seed)
    slow, held_by_twin = twin.grow(*problem, 3, most, least, seed)
    np.testing.assert_allclose(held, held_by_twin, rtol=1e-12)
    rows = np.random.default_rng(1).random((20, d)).astype(np.float32)
    expected = [np.mean([tree.estimate(row) for tree in slow]) for row in rows]
    np.testing.assert_allclose(trees.estimate(rows, 1), expected, rtol=1e-12)


def test_threads_change_no_bit():
    problem = a_problem(3000, 40, 0)
    some, held = grow(problem, 20, 20, 2, 7, 1)
    others, also_held = grow(problem, 20, 20, 2, 7, 4)
    assert all(np.array_equal(*pair) for pair in zip(some, others, strict=True))
    assert np.array_equal(held, also_held, equal_nan=True)
    rows = problem[0]
    assert np.array_equal(some.estimate(rows, 1), some.estimate(rows, 4))


@pytest.mark.parametrize("sign", [1, -1])
def test_estimates_follow_the_sign(sign):
    rng = np.random.default_rng(0)
    rows = rng.random((300, 4)).astype(np.float32)
    value = (rng.random(300) + np.sin(20 * rows[:, 0])).astype(float)
    trees, _ = grow((rows, value, np.ones(300), np.array([sign, 0, 0, 0], dtype=np.int8)), 30, 4)
    line = np.repeat(rows[:1], 200, axis=0)
    line[:, 0] = np.linspace(0, 1, 200)
    steps = np.diff(trees.estimate(line, 1)) * sign
    assert steps.min() >= 0
    assert steps.max() > 0


def test_trees_learn_a_value_and_know_how_well():
    rng = np.random.default_rng(0)
    rows = rng.random((400, 6)).astype(np.float32)
    value = (rows[:, 0] > rows[:, 1]).astype(float)
    trees, held = grow((rows, value, np.ones(400), np.zeros(6, dtype=np.int8)), 60, 4)
    fresh = rng.random((400, 6)).astype(np.float32)
    error = np.mean((trees.estimate(fresh, 1) - (fresh[:, 0] > fresh[:, 1])) ** 2)
    assert error < 0.08
    assert np.nanmean((held - value) ** 2) == pytest.approx(error, abs=0.03)


def test_a_weight_moves_the_estimate():
    rows = np.zeros((2, 1), dtype=np.float32)
    problem = rows, np.array([0.0, 1.0]), np.array([1.0, 1e6]), np.zeros(1, dtype=np.int8)
    trees, _ = grow(problem, 200, 1)
    assert trees.estimate(rows, 1)[0] == pytest.approx(0.75, abs=0.1), (
        "1 unless the sample lacks the second row"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weight": np.array([1.0, 0.0, 1.0])}, "weight must be positive"),
        ({"sign": np.array([2], dtype=np.int8)}, "sign holds 2 to 2"),
        ({"value": np.zeros(2)}, "value must have shape"),
        ({"n_trees": 0}, "n_trees must be at least 1"),
    ],
)
def test_bad_problems(change, words):
    given = {
        "rows": np.zeros((3, 1), "f4"),
        "value": np.zeros(3),
        "weight": np.ones(3),
        "sign": np.zeros(1, "i1"),
    }
    given |= {"n_trees": 1, "max_features": 1, "min_leaf": 1, "seed": 0, "n_threads": 1}
    with pytest.raises(ValueError, match=words):
        native.grow_value_trees(**(given | change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"feature": np.array([1, -1, -1], dtype=np.int32)}, "feature holds"),
        ({"left": np.array([0, -1, -1], dtype=np.int32)}, "later nodes"),
        ({"right": np.array([3, -1, -1], dtype=np.int32)}, "later nodes"),
        ({"start": np.array([0, 2])}, "start must rise"),
        ({"start": np.array([0])}, "one more entry"),
        ({"value": np.zeros(2)}, "value must have shape"),
    ],
)
def test_bad_trees(change, words):
    node = {"start": np.array([0, 3]), "feature": np.array([0, -1, -1], dtype=np.int32)}
    node |= {"threshold": np.zeros(3), "left": np.array([1, -1, -1], dtype=np.int32)}
    node |= {"right": np.array([2, -1, -1], dtype=np.int32), "value": np.array([0.0, 1.0, 2.0])}
    rows = np.array([[-1.0], [1.0]], dtype=np.float32)
    assert native.ValueTrees(**node).estimate(rows, 1).tolist() == [1, 2]
    with pytest.raises(ValueError, match=words):
        native.ValueTrees(**(node | change)).estimate(rows, 1)
