"""Where the plot shows the rows: on two axes, or by neighbours where these hold little or on request."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.data.columns.roles import Kind
from linkwise.errors import DataError
from linkwise.reasons.sentences import format_percent
from linkwise.session.row_maps import LEAST_ROWS, MOST_MAPPED, map_by_neighbours, project_on_components
from linkwise.types import Labels

# ---------------------------------------------------------------- the plot
# Coordinates of the rows in the plot.
Places = NDArray[np.float32]
ENOUGH = 0.8  # of the variance on two axes, with which they show the rows well
MOST_PROPOSED = 20_000  # rows: more are placed by neighbours on request alone, since it takes longer
MAP_THREAD = "linkwise map"
COMPARED = {"record": "compared columns", "text": "texts", "image": "images", "series": "curves"}


def describe_axes(shares: tuple[float, float], kind: Kind) -> str:
    """Put into words what the plot shows, and how much of it; empty if all rows are the same.

    `shares` are those of the variance along each of the two axes.
    """
    across, up = (format_percent(share) for share in shares)
    if not any(shares):
        return ""
    return f"Axes: principal components of the {COMPARED[kind]} ({across} and {up} of the variance)."


def scale_places(places: ArrayLike, n_rows: int | None = None) -> Places:
    """Return coordinates moved and scaled by one factor into [-1, 1]."""
    given = np.asarray(places, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] != 2 or (n_rows is not None and len(given) != n_rows):
        wanted = f"({'n_rows' if n_rows is None else n_rows}, 2)"
        raise DataError(f"places has the shape {given.shape}. Pass two coordinates for each row: {wanted}.")
    if not np.isfinite(given).all():
        raise DataError("places holds NaN or infinity. Pass two finite coordinates for each row.")
    low, high = given.min(axis=0), given.max(axis=0)
    middle, half = low / 2 + high / 2, float((high / 2 - low / 2).max())
    return np.ascontiguousarray((given - middle) / (half or 1.0), dtype=np.float32)


# ---------------------------------------------------------------- places
NO_AXES = "No axes: rows that are alike are near each other. Rows put together by answers attract each other."
SAMPLED = f" {MOST_MAPPED} rows are placed so, and each other row lies beside the one that is most like it."
FAILED = "The rows could not be placed by neighbours"


class _Found(NamedTuple):
    """What the thread has found: places, or what went wrong."""

    places: Places | None
    problem: str = ""


class RowPlaces:
    """The places of the rows, which a thread computes anew on request.

    They begin with the `given` ones, or with the first two principal components. `current`, of shape
    (n_rows, 2), is what the plot shows, within [-1, 1]; `axes` says what it means, and is empty if the
    places were given. By neighbours is proposed where two axes hold less than `ENOUGH` of the variance,
    until somebody has chosen.
    """

    def __init__(self, X: NDArray[Any], kind: Kind = "record", given: ArrayLike | None = None) -> None:
        self._X = X
        if given is None:
            found = project_on_components(X)  # above 100 000 rows those of a sample
            self._first = scale_places(found.places), describe_axes(found.shares, kind)
            self._is_proposed = 0 < sum(found.shares) < ENOUGH and LEAST_ROWS <= len(X) <= MOST_PROPOSED
        else:
            self._first, self._is_proposed = (scale_places(given, len(X)), ""), False
        self.current, self.axes = self._first
        self._is_by_neighbours = False
        self._wanted: object | None = None  # the run whose result is wanted; a later one replaces it
        self._found: _Found | None = None
        self._lock = threading.Lock()
        self._turn = threading.Lock()  # one run at a time computes

    def describe(self) -> dict[str, Any] | None:
        """Return how the rows are placed, for JSON; None if there are too few rows for another way."""
        if len(self._X) < LEAST_ROWS:
            return None
        by = "neighbours" if self._is_by_neighbours else "axes"
        return {"by": by, "running": self._wanted is not None, "proposed": self._is_proposed}

    def start(self, labels: Labels, confidence: NDArray[np.float64], named: Sequence[int]) -> None:
        """Start to place rows by neighbours, from where they are now."""
        run = object()
        begin = self.current.copy()
        self._is_proposed = False
        with self._lock:
            self._wanted, self._found = run, None

        def work() -> None:
            with self._turn:
                if self._wanted is not run:  # by now
                    return
                try:
                    places = map_by_neighbours(self._X, labels, confidence, begin, named=named)
                    found = _Found(scale_places(places))
                except (ArithmeticError, MemoryError, ValueError) as error:
                    found = _Found(None, str(error))
            with self._lock:
                if self._wanted is run:
                    self._found = found

        threading.Thread(target=work, name=MAP_THREAD, daemon=True).start()

    def show_axes(self) -> None:
        """Show the rows on their axes again, and forget a map that is being made."""
        self._is_proposed = False
        with self._lock:
            self._wanted = self._found = None
        self.current, self.axes = self._first
        self._is_by_neighbours = False

    @property
    def has_new(self) -> bool:
        """Whether a map is done that `take_new` has not shown yet."""
        return self._found is not None

    def take_new(self) -> bool:
        """Show a map that is done; return whether there was one."""
        with self._lock:
            found, self._found = self._found, None
            if found is None:
                return False
            self._wanted = None
        if found.places is None:
            self.axes = f"{FAILED}: {found.problem}"
        else:
            self.current, self._is_by_neighbours = found.places, True
            self.axes = NO_AXES + (SAMPLED if len(self._X) > MOST_MAPPED else "")
        return True
