"""Where the plot shows the rows: on two axes, or by neighbours once somebody asks for it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.app.page.scatter import Places, project_rows, scale_places
from linkwise.data.columns.roles import Kind
from linkwise.session.row_maps import LEAST_ROWS, MOST_MAPPED, map_by_neighbours
from linkwise.types import Labels

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
    places were given.
    """

    def __init__(self, X: NDArray[Any], kind: Kind, given: ArrayLike | None = None) -> None:
        self._X = X
        self._first = project_rows(X, kind) if given is None else (scale_places(given, len(X)), "")
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
        return {"by": by, "running": self._wanted is not None}

    def start(self, labels: Labels, confidence: NDArray[np.float64], named: Sequence[int]) -> None:
        """Start to place rows by neighbours, from where they are now."""
        run = object()
        begin = self.current.copy()
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

        threading.Thread(target=work, name="linkwise map", daemon=True).start()

    def show_axes(self) -> None:
        """Show the rows on their axes again, and forget a map that is being made."""
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
