"""Points that change colour with every answer, for the page and for other tools. Needs NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

N_KINDS = 10


def blobs(n_rows: int) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Places within [-1, 1], and ten kinds."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, N_KINDS, n_rows).astype(np.uint8)
    angle = kind * 0.628
    around = np.column_stack([np.cos(angle), np.sin(angle)]) * 0.7 + rng.normal(0, 0.07, (n_rows, 2))
    return np.clip(around, -1, 1).astype("<f4"), kind


def labels_after(kind: NDArray[np.uint8], n_answers: int) -> NDArray[np.uint8]:
    """Clusters after so many answers; each answer moves up to a tenth of the rows."""
    moved = kind.copy()
    moved[:: 10 + n_answers] = n_answers % N_KINDS
    return moved


def rows_of(n_answers: int, n_rows: int) -> list[dict[str, Any]]:
    """The two rows in question, as columns and values."""
    return [{"name": f"c{row % n_rows}", "x": str(n_answers)} for row in (2 * n_answers, 2 * n_answers + 1)]
