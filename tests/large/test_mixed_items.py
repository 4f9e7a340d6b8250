"""The cut of a mixed group, and the rows of its parts."""

import numpy as np
import polars as pl
import pytest

from linkwise.data.reading import Reading
from linkwise.large.group_table import project_rows, read_groups
from linkwise.large.mixed_groups import N_BINS, _choose_cut, split_groups
from linkwise.large.table_files import TableFiles
from linkwise.large.table_passes import summarize_tables


def counts_of(places):
    bins = np.clip(np.floor(N_BINS * np.asarray(places)), 0, N_BINS - 1).astype(int)
    return np.bincount(bins, minlength=N_BINS)


@pytest.mark.parametrize(
    ("near", "far", "low", "high"),
    [
        ([-0.3, 0.3], [0.8, 1.0], 0.35, 0.75),  # a gap
        ([-0.5, 0.6], [0.7, 1.0], 0.55, 0.75),  # a gap beyond the middle
        ([-0.5, 0.1], [1.0, 1.0], 0.25, 0.75),  # one row alone
        ([-0.5, 0.95], [1.0, 1.0], 0.25, 0.75),  # no gap in the middle half
    ],
)
def test_the_cut_is_where_fewest_rows_lie(near, far, low, high):
    cut = _choose_cut(counts_of([*np.linspace(*near, 1000), *np.linspace(*far, 20)])) / N_BINS
    assert low <= cut <= high


def test_rows_lie_on_the_way():
    rows = np.array([[1, 1], [3, 1], [2, 9], [0, 1]], dtype=np.float32)
    places = project_rows(rows, np.array([1.0, 1.0]), np.array([3.0, 1.0]))
    np.testing.assert_allclose(places, [0, 1, 0.5, -0.5])


def test_rows_beyond_the_cut_are_the_new_part(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal([k * 50, 0], 1, size=(200, 2)) for k in range(12)])
    X[rng.choice(200, 15, replace=False), 1] += 20
    pl.DataFrame(X, schema=["a", "b"]).write_parquet(tmp_path / "rows.parquet")
    tables = TableFiles([tmp_path / "rows.parquet"])
    monkeypatch.setattr("linkwise.large.table_passes.SAMPLE", 1)
    items = summarize_tables(tables, Reading(scale="none"), 30, 2, tmp_path / "items")
    border = np.flatnonzero(items.steps < 0).tolist()
    assert border
    found = split_groups(items, tables, border, tmp_path / "items")
    before, after = items.place(X).nearest, found.place(X).nearest
    for row in border:
        parent = int(items.parents[row])
        mine = np.flatnonzero(before == parent)
        places = project_rows(X[mine].astype(np.float32), items.summary.X[parent], items.summary.X[row])
        assert 0.25 <= found.cuts[row] <= 0.75
        np.testing.assert_array_equal(after[mine], np.where(places >= found.cuts[row], row, parent))
    others = ~np.isin(before, items.parents[border])
    np.testing.assert_array_equal(after[others], before[others])
    np.testing.assert_array_equal(found.summary.sizes, np.bincount(after, minlength=len(items.steps)))
    found.write(tmp_path / "items")
    np.testing.assert_array_equal(read_groups(tmp_path / "items").place(X).nearest, after)
    assert found.hash == items.hash
