"""Values that differ by rounding errors are equal, and the first of them counts."""

import numpy as np

from linkwise.learn.kin.shown import _join
from linkwise.learn.kin.ties import first_largest


def test_the_first_of_values_that_are_equal_but_for_rounding_counts():
    assert first_largest(np.array([[0.1, 0.3, 0.1 + 0.2], [0.0, 0.2, 0.1]])).tolist() == [1, 1]
    assert first_largest(np.array([0.5, 0.500001, 0.4]), 5) == 0


def test_a_component_joins_the_first_of_two_neighbourhoods_that_are_equally_likely():
    place, excluded = np.full(1, -1), np.zeros((1, 2), dtype=bool)
    chance = np.array([[0.5 - 1e-13, 0.5 + 1e-13]])
    assert _join(chance, place, excluded, np.empty((0, 2), dtype=np.int64))
    assert place.tolist() == [0]
