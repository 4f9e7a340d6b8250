"""Which rows are asked about beside the medoids of groups."""

import numpy as np
import polars as pl
import pytest

from linkwise.large import border_rows
from linkwise.large.border_rows import list_entries
from linkwise.large.group_totals import GROUP, N_BORDER, GroupCenters, GroupTotals
from linkwise.learn.kin import kernels

K = 30


def test_kin_can_ask_about_each_of_the_rows():
    assert border_rows.MOST_ROWS <= kernels.MOST_ITEMS


def make_totals(far):
    """Items at 0, 10, 20, ... whose medoid is their centre, and whose farthest row lies at a distance."""
    points = 10.0 * np.arange(K)[:, None]
    border = np.full((K, N_BORDER), -1)
    border[:, 0] = 100 + np.arange(K)
    squares = np.full((K, N_BORDER), -1.0)
    squares[:, 0] = np.square(far)
    rows = pl.DataFrame({"x": np.concatenate([points[:, 0], points[:, 0] + far]), GROUP: np.arange(2 * K)})
    totals = GroupTotals.start((K, 1))._replace(
        sizes=np.full(K, 50),
        medoid=np.arange(K),
        rows=points,
        far_rows=points + np.asarray(far)[:, None],
        frame=rows,
        border=border,
        border_squares=squares,
    )
    return totals, GroupCenters(points, 0)


def list_border(far, limits, n_others=0):
    entries = list_entries(
        *make_totals(np.asarray(far, dtype=float)), np.asarray(limits, dtype=float), n_others
    )
    assert entries.frame["x"].to_list() == entries.arrays["X"][:, 0].tolist()
    return entries.parents[K:].tolist()


def test_rows_beyond_the_limit_of_their_item():
    far = np.ones(K)
    far[[3, 7]] = 1.6
    assert list_border(far, np.full(K, 1.5)) == [3, 7]


def test_rows_far_beyond_the_limit_of_a_typical_item():
    far, limits = np.ones(K), np.full(K, 1.5)
    far[4], limits[4] = 3.1, 5.0
    assert list_border(far, limits) == [4]


def test_at_most_one_row_for_ten_items_the_farthest_first():
    far = np.linspace(2, 3, K)
    assert list_border(far, np.full(K, 1.5)) == [K - 3, K - 2, K - 1]


@pytest.mark.parametrize(("n_others", "expected"), [(2000 - K - 1, [K - 1]), (2000 - K, []), (5000, [])])
def test_no_more_rows_than_kin_asks_about_each(n_others, expected):
    assert list_border(np.linspace(2, 3, K), np.full(K, 1.5), n_others) == expected


def test_equal_rows_are_not_asked_about():
    """All rows of a group may lie at one place, far from its centre."""
    totals, centers = make_totals(np.full(K, 2.0))
    entries = list_entries(totals._replace(rows=totals.far_rows), centers, np.full(K, 1.5), 0)
    assert len(entries.parents) == K
