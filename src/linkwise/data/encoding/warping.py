"""Curves as points whose distances are about those of dynamic time warping.

Warping compares two curves after it has shifted and stretched one of them in time, by at most a tenth of the
length here (Sakoe and Chiba, 1978). Its distances become points by classical scaling from landmarks (de Silva
and Tenenbaum, 2004): at most 256 curves, drawn at random. Curves of more than 128 samples are averaged to so
many first. Cost: O(n m) pairs for n curves and m landmarks, some microseconds each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise.parallel import one_blas_thread

REACH = 0.1  # of the length, by which a sample may be shifted
MOST_LANDMARKS = 256
MOST_SAMPLES = 128
MOST_COMPONENTS = 50
_AT_ONCE = 1_000_000  # numbers of a step
_NOISE_SHARE = 1e-9  # of the largest variance, below which a component is noise
_DIGITS = 9  # of a coordinate in units of the largest: below them processors differ


def place_by_warping(curves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Place curves without gaps so that their distances are about those of warping.

    There are at most 50 components, the strongest first.
    """
    short = _shorten(curves)
    n = len(short)
    chosen = np.arange(n)
    if n > MOST_LANDMARKS:
        chosen = np.sort(np.random.default_rng(0).choice(n, MOST_LANDMARKS, replace=False))
    squares = np.square(measure_warping(short, short[chosen]))
    among = squares[chosen]
    means = among.mean(axis=0)
    products = -0.5 * (among - means - means[:, None] + means.mean())
    with one_blas_thread():  # sums are then the same for any number of threads
        values, vectors = np.linalg.eigh((products + products.T) / 2)
        order = np.argsort(-values)[:MOST_COMPONENTS]
        order = order[values[order] > _NOISE_SHARE * max(float(values.max()), 1e-300)]
        strongest = vectors[:, order]
        # a direction and its contrary are one: the largest part of each is positive
        strongest *= np.sign(strongest[np.abs(strongest).argmax(axis=0), np.arange(len(order))])
        places = -0.5 * (squares - means) @ (strongest / np.sqrt(values[order]))
    unit = float(np.abs(places).max(initial=0.0)) or 1.0
    rounded: NDArray[np.float64] = np.round(places / unit, _DIGITS) * unit
    return np.ascontiguousarray(rounded)


def measure_warping(curves: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Measure the warping distance of each curve to each of some others: (n_rows, n_others).

    It is the root of the least sum of squared differences along a path through the samples of both.
    """
    n, length = curves.shape
    found = np.empty((n, len(others)))
    step = max(1, _AT_ONCE // ((length + 1) * len(others)))
    for start in range(0, n, step):
        some = curves[start : start + step]
        one, other = (
            np.ascontiguousarray(part.T)
            for part in (np.repeat(some, len(others), axis=0), np.tile(others, (len(some), 1)))
        )
        found[start : start + step] = _warp_pairs(one, other).reshape(len(some), -1)
    return found


def _warp_pairs(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distances of pairs of curves, which are the columns of two arrays of shape (n_samples, n_pairs)."""
    length, n_pairs = one.shape
    reach = max(1, round(REACH * length))
    before = np.full((length + 1, n_pairs), np.inf)
    before[0] = 0.0
    now = np.empty_like(before)
    for at in range(length):
        first, last = max(0, at - reach), min(length, at + reach + 1)
        now.fill(np.inf)
        costs = np.square(one[at] - other[first:last])
        through = costs + np.minimum(before[first:last], before[first + 1 : last + 1])
        for j in range(last - first):
            np.minimum(through[j], costs[j] + now[first + j], out=now[first + j + 1])
        before, now = now, before
    distances: NDArray[np.float64] = np.sqrt(before[-1])
    return distances


def _shorten(curves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average neighbouring samples, so that at most `MOST_SAMPLES` are left."""
    length = curves.shape[1]
    if length <= MOST_SAMPLES:
        return curves
    bounds = np.linspace(0, length, MOST_SAMPLES + 1).astype(np.int64)
    sums = np.add.reduceat(curves, bounds[:-1], axis=1)
    means: NDArray[np.float64] = sums / np.diff(bounds)
    return means
