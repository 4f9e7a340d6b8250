"""Store the clusterings of a run, one after each question."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

from linkwise.types import Labels


class History:
    """Labels after each question, rebuilt on demand from the changes.

    ``history[q - 1]`` is the clustering after q questions. Only the differences are stored, so the memory
    of a hundred clusterings of 10⁶ rows depends on how many labels change between them.

    Parameters
    ----------
    start : ndarray of shape (n_rows,)
        Labels before the first question.
    """

    def __init__(self, start: Labels) -> None:
        self._start = start
        self._last = start
        self._changes: list[tuple[NDArray[np.int32] | None, Labels]] = []

    def append(self, labels: Labels) -> None:
        """Append the labels after one more question.

        Parameters
        ----------
        labels : ndarray of shape (n_rows,)
            Cluster of every row.
        """
        rows = np.empty(0, np.int32) if labels is self._last else np.flatnonzero(labels != self._last)
        if 2 * len(rows) > len(labels):
            self._changes.append((None, labels))
        else:
            self._changes.append((rows.astype(np.int32), labels[rows]))
        self._last = labels

    def __len__(self) -> int:
        return len(self._changes)

    @overload
    def __getitem__(self, at: int) -> Labels: ...
    @overload
    def __getitem__(self, at: slice) -> list[Labels]: ...
    def __getitem__(self, at: int | slice) -> Labels | list[Labels]:
        if isinstance(at, slice):
            return [self[number] for number in range(len(self))[at]]
        number = range(len(self))[at]
        labels = self._start.copy()
        for rows, values in self._changes[: number + 1]:
            labels[slice(None) if rows is None else rows] = values
        return labels
