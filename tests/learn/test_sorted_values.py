"""Which values are among others, by a table, by bisection and by NumPy."""

import numpy as np
import pytest

from linkwise.learn import super_instances


@pytest.mark.parametrize("table", [0, 2**22])
@pytest.mark.parametrize("seed", range(20))
def test_values_are_found_among_others(monkeypatch, seed, table):
    monkeypatch.setattr(super_instances, "TABLE", table)
    rng = np.random.default_rng(seed)
    few = np.unique(rng.integers(0, 40, rng.integers(0, 30)))
    values = rng.integers(0, 60, rng.integers(0, 50))
    np.testing.assert_array_equal(super_instances._among(few, values), np.isin(values, few))
    np.testing.assert_array_equal(super_instances._are_named(few, values), np.isin(few, values))
