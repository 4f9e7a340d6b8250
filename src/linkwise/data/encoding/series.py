"""Encode curves as points. Each row is a series of measurements at the same times.

The distance is Euclidean, sample by sample, and nothing is shifted or stretched in time unless warping is
asked for (`linkwise.data.encoding.warping`). By default each
curve is first scaled to mean 0 and standard deviation 1, so that its shape counts. Its level and size often
depend on the instrument (Keogh and Kasetty, 2002, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.data.encoding.encoded import Encoded, Feature
from linkwise.data.encoding.warping import REACH, place_by_warping
from linkwise.errors import DataError
from linkwise.wording import count_noun, join_names

_FLAT = 1e-12  # deviation, as a share of the largest value, below which a curve is a straight level

SCALES = {
    "standard": "Each curve is brought to mean 0 and deviation 1, so that its shape counts and not its level"
    " or size. --scale none keeps these.",
    "unit": "Each curve is brought to run from 0 to 1, so that its shape counts and not its level or size.",
    "none": "Curves keep their level and size.",
}


def encode_series(
    curves: NDArray[Any],
    scale: str = "standard",
    names: Sequence[str] | None = None,
    *,
    warp: bool = False,
) -> Encoded:
    """Encode curves as points.

    Parameters
    ----------
    curves : ndarray of shape (n_rows, n_samples)
        The curves, with NaN for a missing value. Missing values are interpolated linearly between their
        neighbours; before the first and after the last known value the curve is level.
    scale : {"standard", "unit", "none"}, default="standard"
        "standard" gives each curve mean 0 and standard deviation 1, "unit" maps each to the range 0 to 1, and
        "none" leaves them as they are. A constant curve becomes 0 under the first two.
    names : sequence of str, optional
        Names of the samples. The default is their positions.
    warp : bool, default=False
        Whether curves are compared by dynamic time warping, which shifts and stretches one of them by at most
        a tenth of its length. Points whose distances are about those of warping take the place of the
        samples.

    Returns
    -------
    Encoded
        One row for each curve, one column for each sample, or at most 50 columns with `warp`.

    Raises
    ------
    DataError
        A value is infinite, a curve has no value, or all curves are the same, or become so by warping.
    ValueError
        `scale` is not one of its choices.
    """
    if scale not in SCALES:
        raise ValueError(f"scale must be 'standard', 'unit' or 'none', not {scale!r}.")
    X = np.array(curves, dtype=np.float64)
    _check_curves(X)
    notes = _fill_gaps(X)
    shift, size = _level_and_size(X, scale)
    flat = size <= _FLAT * np.abs(X).max(axis=1)
    X -= shift[:, None]
    X /= np.where(flat, 1.0, size)[:, None]
    if scale != "none":
        X[flat] = 0.0
        if flat.any():
            notes.append(f"{count_noun(int(flat.sum()), 'curve')} never change: they become a line at 0.")
    if np.ptp(X, axis=0).max() == 0:
        kept = "" if scale == "none" else " once each is scaled. --scale none keeps their level and size"
        raise DataError(f"All curves are the same{kept}.")
    if warp:
        return _warp(X, (SCALES[scale], *notes))
    named = names or [f"sample {k}" for k in range(1, X.shape[1] + 1)]
    features = tuple(Feature(name, name, None, "sample") for name in named)
    compared = f"Curves of {X.shape[1]} samples are compared sample by sample (Euclidean distance)."
    return Encoded(X, features, (compared, SCALES[scale], *notes))


def _warp(X: NDArray[np.float64], notes: Sequence[str]) -> Encoded:
    """Compare curves by warping, in units of the largest value, whose squares are floats."""
    unit = float(np.abs(X).max())
    places = place_by_warping(X / unit) * unit
    if places.shape[1] == 0:
        raise DataError(
            "No curves differ once they are warped. Remove --warp (in Python, warp=True) to compare"
            " samples at the same times."
        )
    features = tuple(
        Feature(f"component {k}", f"component {k}", None, "sample") for k in range(1, places.shape[1] + 1)
    )
    compared = (
        f"Curves of {X.shape[1]} samples are compared by dynamic time warping, within {REACH:.0%} of their"
        f" length: {count_noun(len(features), 'component')}."
    )
    return Encoded(places, features, (compared, *notes))


def _check_curves(X: NDArray[np.float64]) -> None:
    infinite = np.argwhere(np.isinf(X))
    if len(infinite):
        row, at = infinite[0].tolist()
        raise DataError(
            f"Curves hold {count_noun(len(infinite), 'infinite value')}, the first in row {row} at sample"
            f" {at + 1} (rows counted from 0). Clear such cells, or remove the row."
        )
    if np.abs(np.nan_to_num(X)).max(initial=0.0) > 1e150:
        raise DataError("Curves hold values beyond 1e150, whose squares no float holds. Use a larger unit.")
    without = np.flatnonzero(np.isnan(X).all(axis=1))
    if len(without):
        raise DataError(
            f"{count_noun(len(without), 'curve')} without any value: rows {join_names(without.tolist(), 5)}"
            " (counted from 0). Remove these rows."
        )


def _fill_gaps(X: NDArray[np.float64]) -> list[str]:
    """Fill the gaps of every curve in place, and return a note."""
    gaps = np.isnan(X)
    rows = np.flatnonzero(gaps.any(axis=1))
    times = np.arange(X.shape[1])
    for row in rows:
        known = ~gaps[row]
        X[row] = np.interp(times, times[known], X[row, known])
    if len(rows) == 0:
        return []
    return [
        f"{count_noun(int(gaps.sum()), 'missing value')} in {count_noun(len(rows), 'curve')} put on the line"
        " between the neighbours."
    ]


def _level_and_size(X: NDArray[np.float64], scale: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if scale == "standard":
        return X.mean(axis=1), X.std(axis=1)
    if scale == "unit":
        return X.min(axis=1), np.ptp(X, axis=1)
    return np.zeros(len(X)), np.ones(len(X))
