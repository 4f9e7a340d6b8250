"""Places of rows by their neighbours, and what answers do to them."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from linkwise.session import row_maps
from linkwise.session.row_maps import choose_mapped, map_by_neighbours, measure_pulled, project_on_components

RNG = np.random.default_rng(0)
Y = np.arange(120) % 6
X = 4.0 * np.eye(6)[Y] + RNG.normal(scale=0.6, size=(120, 6))
START = project_on_components(X).places
LABELS = Y.astype(np.int32)
NOTHING, CERTAIN = np.zeros(120), np.ones(120)


def neighbour_purity(places, y=Y, k=8):
    near = NearestNeighbors(n_neighbors=k + 1).fit(places).kneighbors(places, return_distance=False)[:, 1:]
    return (y[near] == y[:, None]).mean()


def test_neighbours_stay_neighbours_and_the_map_resembles_its_start():
    places = map_by_neighbours(X, LABELS, NOTHING, START)
    assert places.shape == (120, 2)
    assert neighbour_purity(places) > 0.98 > neighbour_purity(START)
    long = np.column_stack([np.linspace(-3, 3, 80), RNG.uniform(-1, 1, 80), RNG.uniform(-1, 1, 80)])
    start = project_on_components(long).places
    found = map_by_neighbours(long, LABELS[:80], NOTHING[:80], start)
    assert np.corrcoef(found[:, 0], start[:, 0])[0, 1] > 0.9


def test_clusters_pull_by_as_much_as_they_are_certain():
    labels = (np.arange(120) // 6 % 2).astype(np.int32)  # nothing that the values show
    plain, pulled = (map_by_neighbours(X, labels, sure, START) for sure in (NOTHING, CERTAIN))
    assert neighbour_purity(pulled, labels) > neighbour_purity(plain, labels) + 0.2
    half = measure_pulled(X, labels, np.full(120, 0.5))
    alone, sure = measure_pulled(X, labels, NOTHING), measure_pulled(X, labels, CERTAIN)
    together = (labels[:, None] == labels) & ~np.eye(120, dtype=bool)
    assert sure[together] == pytest.approx(0.5 * alone[together])
    assert half[together] == pytest.approx(0.875 * alone[together])
    assert (sure[~together] == alone[~together]).all()


def test_rows_beyond_the_most_lie_beside_the_nearest(monkeypatch):
    monkeypatch.setattr(row_maps, "MOST_MAPPED", 60)
    named = [3, 7, 119]
    mapped = choose_mapped(120, named, np.random.default_rng(0))
    assert len(mapped) == len(set(mapped.tolist())) == 60
    assert set(named) <= set(mapped.tolist())
    assert len(choose_mapped(120, range(100), np.random.default_rng(0))) == 60
    places = map_by_neighbours(X, LABELS, NOTHING, START, named=named)
    assert neighbour_purity(places) > 0.95
    assert len(np.unique(places, axis=0)) == 120


@pytest.mark.parametrize(
    "rows", [np.zeros((12, 3)), np.r_[np.zeros((11, 3)), np.ones((1, 3))], 1e300 * X, X[:10]]
)
def test_rows_that_say_little(rows):
    labels = np.zeros(len(rows), dtype=np.int32)
    places = map_by_neighbours(
        rows,
        labels,
        np.ones(len(rows)),
        project_on_components(rows / rows.max()).places if rows.any() else np.zeros((len(rows), 2)),
    )
    assert np.isfinite(places).all()


def test_the_map_is_the_same_for_any_number_of_threads(use_threads):
    found = set()
    for n_threads in (1, 2):
        use_threads(n_threads)
        found.add(map_by_neighbours(X, LABELS, CERTAIN, START).tobytes())
    assert len(found) == 1
