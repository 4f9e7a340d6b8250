"""Places in the order of their values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import native


@given(st.integers(1, 300), st.integers(0, 10**6), st.sampled_from(["few", "near", "any", "signs"]))
def test_equal_values_keep_the_given_order(n, seed, kind):
    rng = np.random.default_rng(seed)
    values = {
        "few": lambda: rng.choice([-2.5, 0.0, 1e-300, 1e300], n),
        "near": lambda: 1.5 + rng.integers(0, 5, n) * np.finfo(float).eps,  # alike in their upper bits
        "any": lambda: rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
        "signs": lambda: rng.choice([-0.0, 0.0, -5e-324, 5e-324, np.inf, -np.inf], n),
    }[kind]()
    given_order = rng.permutation(n)
    expected = given_order[np.argsort(-values[given_order], kind="stable")]
    found = native.order_descending(values, given_order)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("order", [[0, 1, 3], [-1, 0, 1]])
def test_places_beyond_the_values_raise_an_error(order):
    with pytest.raises(ValueError, match=r"given holds .* Pass 0 to 2"):
        native.order_descending(np.zeros(3), np.array(order))


def test_places_and_values_are_as_many():
    with pytest.raises(ValueError, match=r"given must have shape \(3\)"):
        native.order_descending(np.zeros(3), np.arange(2))
