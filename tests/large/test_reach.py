"""How far the rows of groups reach, and which rows fit none of them."""

import numpy as np
import pytest

from linkwise.large.reach import (
    ENOUGH,
    MARGIN,
    count_distances,
    find_limits,
    find_reach,
    find_unit,
    place_rows,
)


def reach_of(distances, unit=None):
    """The reach of one group whose rows have these distances."""
    square = np.square(np.asarray(distances, dtype=float))
    unit = find_unit(float(square.mean())) if unit is None else unit
    of = np.zeros(len(square), dtype=np.int64)
    return float(find_reach(count_distances(of, square, 1, unit), np.array([square.max()]), unit)[0])


@pytest.mark.parametrize("scale", [1e-12, 1.0, 3e9])
def test_99_of_100_rows_lie_within_the_reach(scale):
    distances = scale * np.abs(np.random.default_rng(0).normal(size=50_000))
    exact = np.quantile(distances, 0.99)
    assert exact <= reach_of(distances) <= 2**0.25 * exact * 1.001


def test_the_reach_of_few_rows_is_that_of_the_farthest_one():
    distances = np.linspace(0.1, 3, 99)
    assert reach_of(distances) == pytest.approx(3)
    assert reach_of([0.0, 0.0]) == 0


def test_distances_beyond_the_bins():
    """Items that are far smaller or larger than most fall into the first or last bin."""
    assert reach_of(1e-9 * np.linspace(1, 2, 1000), unit=0) == pytest.approx(2e-9)
    assert reach_of(1e9 * np.linspace(1, 2, 1000), unit=0) == pytest.approx(2e9)


def test_counts_of_parts_add_up():
    rng = np.random.default_rng(0)
    of, square = rng.integers(5, size=1000), rng.exponential(size=1000)
    whole = count_distances(of, square, 5, 0)
    parts = [count_distances(of[at], square[at], 5, 0) for at in np.array_split(np.arange(1000), 7)]
    np.testing.assert_array_equal(sum(parts), whole)


CENTERS = np.array([[0.0], [10.0], [30.0], [70.0]])


def test_limits_are_at_least_typical():
    reach, sizes = np.array([1.0, 3.0, 0.0, 4.0]), np.array([100, ENOUGH, 1000, ENOUGH - 1])
    typical = MARGIN * 2.0
    np.testing.assert_allclose(find_limits(reach, sizes, CENTERS), [typical, MARGIN * 3, typical, MARGIN * 4])
    np.testing.assert_allclose(find_limits(reach, sizes, CENTERS, 5.0), [5, 5, 5, MARGIN * 4])


def test_where_all_items_have_equal_rows_a_row_fits_up_to_the_middle():
    zero, many = np.zeros(4), np.full(4, 1000)
    np.testing.assert_allclose(
        find_limits(zero, many, CENTERS), 7.5
    )  # half of 15, the median of 10, 10, 20 and 40
    lone = find_limits(np.zeros(1), np.array([9]), np.array([[5.0]]))
    assert 0 < lone[0] < 1e-4


@pytest.mark.parametrize("d", [1, 2, 7])
def test_a_row_fits_if_it_is_within_the_limit_of_any_item(d):
    rng = np.random.default_rng(d)
    rows = rng.normal(size=(400, d)).astype(np.float32) * 3
    centers, limits = rng.normal(size=(20, d)), rng.exponential(0.6, size=20)
    found = place_rows(rows, centers, limits)
    between = np.sqrt(((rows[:, None].astype(float) - centers) ** 2).sum(axis=2))
    np.testing.assert_array_equal(found.nearest, between.argmin(axis=1))
    expected = (between <= limits).any(axis=1)
    assert 0 < expected.sum() < len(rows)
    np.testing.assert_array_equal(found.fits, expected)
