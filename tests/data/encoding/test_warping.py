"""Curves that are compared by dynamic time warping."""

import numpy as np
import polars as pl
import pytest
from scipy.spatial.distance import pdist

from linkwise.data import encode, encode_series, from_frame, read_table
from linkwise.data.encoding import warping
from linkwise.data.encoding.warping import measure_warping, place_by_warping
from linkwise.errors import DataError

RNG = np.random.default_rng(0)
WALKS = RNG.normal(size=(30, 40)).cumsum(axis=1)


def warp_plainly(a, b):
    """The recurrence of Sakoe and Chiba (1978), with squared differences."""
    length, reach = len(a), max(1, round(0.1 * len(a)))
    cost = np.full((length + 1, length + 1), np.inf)
    cost[0, 0] = 0
    for i in range(length):
        for j in range(max(0, i - reach), min(length, i + reach + 1)):
            before = min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
            cost[i + 1, j + 1] = (a[i] - b[j]) ** 2 + before
    return np.sqrt(cost[-1, -1])


@pytest.mark.parametrize("at_once", [1, 500, 1_000_000])
def test_distances_follow_the_recurrence(monkeypatch, at_once):
    monkeypatch.setattr(warping, "_AT_ONCE", at_once)
    found = measure_warping(WALKS, WALKS[:4])
    expected = [[warp_plainly(a, b) for b in WALKS[:4]] for a in WALKS]
    np.testing.assert_allclose(found, expected)


def test_points_have_about_these_distances():
    points = place_by_warping(WALKS)
    wanted = measure_warping(WALKS, WALKS)[np.triu_indices(len(WALKS), 1)]
    assert np.corrcoef(pdist(points), wanted)[0, 1] > 0.98
    assert place_by_warping(WALKS[::-1])[::-1] == pytest.approx(points, abs=1e-6)


def test_landmarks_place_the_others(monkeypatch):
    all_points = place_by_warping(WALKS)
    monkeypatch.setattr(warping, "MOST_LANDMARKS", 20)
    assert np.corrcoef(pdist(place_by_warping(WALKS)), pdist(all_points))[0, 1] > 0.95


def test_a_late_curve_is_near():
    t = np.linspace(0, 1, 60)
    peaks = np.array([np.exp(-(((t - at) / 0.04) ** 2)) for at in (0.45, 0.5, 0.5, 0.9)])
    peaks[2] *= -1
    plain, warped = (encode_series(peaks, warp=warp).X for warp in (False, True))
    near, other = ([np.linalg.norm(X[0] - X[k]) for k in (1, 2)] for X in (plain, warped))
    assert near[0] > 0.5 * near[1]
    assert other[0] < 0.2 * other[1]


@pytest.mark.parametrize("length", [2, 128, 129, 1000])
def test_curves_of_any_length(length):
    curves = RNG.normal(size=(5, length)).cumsum(axis=1)
    encoded = encode_series(curves, warp=True)
    assert len(encoded.X) == 5
    assert 1 <= encoded.X.shape[1] <= 4
    assert np.isfinite(encoded.X).all()


@pytest.mark.parametrize("factor", [1e-140, 1e140])
def test_very_small_and_very_large_curves(factor):
    found = encode_series(factor * WALKS, "none", warp=True).X
    np.testing.assert_allclose(
        found, factor * encode_series(WALKS, "none", warp=True).X, rtol=1e-6, atol=1e-6 * factor
    )


def test_tables_keep_the_choice(tmp_path):
    path = tmp_path / "walks.csv"
    pl.DataFrame({f"t{k:02}": WALKS[:, k] for k in range(40)}).write_csv(path)
    table = read_table(path, series=True, warp=True)
    assert table.choices["warp"] is True
    encoded = encode(table)
    assert "dynamic time warping, within 10% of their length: 17 components." in encoded.notes[0]
    assert (encode(read_table(path, **table.choices)).X == encoded.X).all()
    assert table.kind == "series"
    with pytest.raises(DataError, match="warp is about curves"):
        from_frame(pl.DataFrame({"a": [1.0, 2.0]}), warp=True)


def test_curves_that_differ_only_by_a_shift():
    steps = np.array([[0.0] * (5 + late) + [1.0] * (15 - late) for late in (0, 1, 1)])
    assert encode_series(steps, "none").X.shape == (3, 20)
    with pytest.raises(DataError, match=r"No curves differ once they are warped. Remove --warp"):
        encode_series(steps, "none", warp=True)
