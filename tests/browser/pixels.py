"""Whether a picture of the plot shows the rows where they are, in the colours of their clusters."""

from __future__ import annotations

import io

import numpy as np
from matplotlib.image import imread
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

MARGIN = 36  # of the plot, CSS pixels
OPAQUE = 217 / 255  # of a point


def picture(png: bytes) -> NDArray[np.float64]:
    """Of shape (height, width, 3), from 0 to 1."""
    return np.asarray(imread(io.BytesIO(png), format="png"), dtype=np.float64)[:, :, :3]


def positions(places: NDArray[np.float32], width: float, height: float) -> NDArray[np.float64]:
    """Where rows are drawn before anybody moved the plot, in pixels; one unit is as long on both axes."""
    low, high = places.min(axis=0).astype(float), places.max(axis=0).astype(float)
    scale = min((np.array([width, height]) - 2 * MARGIN) / np.maximum(high - low, 1e-6))
    return np.array([width, height]) / 2 + (places - (low + high) / 2) * [scale, -scale]


def agreement(
    shown: NDArray[np.float64],
    at: NDArray[np.float64],
    labels: NDArray[np.int64],
    colours: NDArray[np.float64],
    paper: NDArray[np.float64],
    reach: float,
) -> tuple[float, float]:
    """Share of rows that are seen in their colour, and share of the picture elsewhere that is empty.

    A row is looked at where no row of another cluster is within `reach` pixels: there one covers another.
    """
    inks = np.vstack([OPAQUE * colours + (1 - OPAQUE) * paper, paper])
    nearest = np.argmin([((shown - ink) ** 2).sum(axis=2) for ink in inks], axis=0)
    far = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    alone = ~((far < reach) & (labels[:, None] != labels[None])).any(axis=1)
    y, x = _inside(at[alone], shown.shape)
    right = (nearest[y, x] == labels[alone]).mean()
    filled = np.ones(shown.shape[:2])
    np.put(filled, np.ravel_multi_index(_inside(at, shown.shape), shown.shape[:2]), 0)
    empty = distance_transform_edt(filled) > reach
    return float(right), float((nearest[empty] == len(colours)).mean())


def _inside(at: NDArray[np.float64], shape: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row and column of the pixel under each point, in the picture."""
    x, y = np.floor(at).astype(np.int64).T
    return np.clip(y, 0, shape[0] - 1), np.clip(x, 0, shape[1] - 1)
