"""Encode the cycles of dates and times: as places on a circle, or in the units that a person reads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise.data.columns.cycles import WEEKDAYS, CycleKind, cycle_of, format_place, to_coordinates
from linkwise.data.encoding.encoded import Feature, encode_coordinate

RADIUS = float(np.sqrt(1 / 12))
"""The variance of even places on the circle is that of even numbers between 0 and 1."""
MIDDLE = "the middle of the circle"
"""What stands for a missing value: it is equally far from all places."""


def encode_cycle(
    name: str, places: NDArray[np.float64], impute: str | None, scale: str, categories: str
) -> tuple[str, tuple[list[Feature], NDArray[np.float64]]]:
    """Encode places in a cycle.

    Return what stands for a missing value, in words, and the columns of the matrix. With `impute`,
    missing days of the week are the most frequent one instead of a code of their own. The scale
    "standard" gives both coordinates together a variance of 1, as a number has; otherwise even places
    have the variance of numbers that are spread evenly from 0 to 1. "codes" leaves the places as they
    are.
    """
    kind = cycle_of(name).kind
    if categories == "codes":
        return _keep_places(name, places, kind, impute)
    radius = RADIUS
    if scale == "standard":
        spread = float(to_coordinates(places, kind).var(axis=0).sum())
        radius = 1 / np.sqrt(spread) if spread > 0 else 1.0
    features = [
        Feature(f"{name} {which}", name, None, "cycle", 0.0, float(1 / radius), cycle=kind, coordinate=which)
        for which in ("sin", "cos")
    ]
    return MIDDLE, (features, np.stack([encode_coordinate(one, places) for one in features], axis=1))


def _keep_places(
    name: str, places: NDArray[np.float64], kind: CycleKind, impute: str | None
) -> tuple[str, tuple[list[Feature], NDArray[np.float64]]]:
    missing = np.isnan(places)
    if kind == "weekday":
        codes = np.where(missing, len(WEEKDAYS), places)
        is_own = impute is None and bool(missing.any())
        if not is_own:
            codes = np.where(missing, np.bincount(codes.astype(np.int64), minlength=8)[:7].argmax(), codes)
        feature = Feature(
            name,
            name,
            None,
            "cycle",
            categories=(*WEEKDAYS, "missing") if is_own else WEEKDAYS,
            missing="missing" if is_own else None,
            cycle=kind,
        )
        return MIDDLE, ([feature], codes[:, None])
    fill = float(np.nanmedian(places))
    values = np.where(missing, fill, places)
    return format_place(fill, kind), ([Feature(name, name, None, "cycle", cycle=kind)], values[:, None])
