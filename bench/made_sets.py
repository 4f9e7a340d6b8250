"""Made-up sets of unit vectors with many small classes, as descriptors of faces or objects have them.

Classes are points of a sphere, and rows lie around them. The spread is set so that a given share of the
rows has a nearest row of its own class. In uneven sets the axes differ in variance, the spread is turned,
every row was seen by one of six cameras that shift it, and some rows are far off.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from bench.suites.tasks import Classes, LabelledTask, Rows

HALVINGS = 14
CAMERAS = 6


class Shape(NamedTuple):
    """What a made-up set is like."""

    n_classes: int
    n_features: int
    sizes: tuple[int, int]
    """The smallest and largest number of rows of a class."""
    agreement: float
    """Share of the rows whose nearest row is of their class."""
    is_uneven: bool = False


SHAPES = {
    "s20": Shape(20, 64, (5, 50), 0.93),
    "s30": Shape(30, 256, (10, 50), 0.78, is_uneven=True),
    "s40": Shape(40, 128, (5, 30), 0.90, is_uneven=True),
    "s60": Shape(60, 256, (8, 25), 0.97, is_uneven=True),
    "s100": Shape(100, 256, (8, 24), 0.90, is_uneven=True),
    "s100b": Shape(100, 128, (5, 30), 0.80),
    "s150": Shape(150, 256, (5, 15), 0.85, is_uneven=True),
    "s200": Shape(200, 128, (5, 14), 0.93),
}


@cache
def load_made(name: str) -> LabelledTask:
    """Make a set; the name gives the seed."""
    X, y = make_rows(SHAPES[name], np.random.default_rng(sum(map(ord, name))))
    return LabelledTask(name, X, y, "made up, unit length")


def make_rows(shape: Shape, rng: np.random.Generator) -> tuple[Rows, Classes]:
    """Draw the rows of a set and their classes."""
    n_features = shape.n_features
    low, high = shape.sizes
    y = np.repeat(np.arange(shape.n_classes), rng.integers(low, high + 1, shape.n_classes))
    axes = np.arange(1, n_features + 1) ** (-0.5 if shape.is_uneven else 0.0)
    centres = rng.standard_normal((shape.n_classes, n_features)) * axes
    widths = np.exp((0.3 if shape.is_uneven else 0.15) * rng.standard_normal(shape.n_classes))
    turn = np.linalg.qr(rng.standard_normal((n_features, n_features)))[0] if shape.is_uneven else None
    spread = rng.standard_normal((len(y), n_features)) * axes
    if turn is not None:
        spread = 0.6 * spread + 0.8 * (rng.standard_normal((len(y), n_features)) * axes) @ turn
        cameras = rng.standard_normal((CAMERAS, n_features)) * axes
        spread += 0.7 * cameras[rng.integers(0, CAMERAS, len(y))]
        spread *= (1 + 0.3 * rng.standard_t(4, len(y))[:, None]).clip(0.3, 3)
    spread *= widths[y][:, None]
    return place_rows(centres[y], spread, y, shape.agreement), y


def place_rows(centres: Rows, spread: Rows, y: Classes, agreement: float) -> Rows:
    """Return unit rows around their centres, as far off as the share of agreeing neighbours allows."""
    near, far = 0.05, 8.0
    for _ in range(HALVINGS):
        middle = (near * far) ** 0.5
        if agreeing_share(scale_to_unit(centres + middle * spread), y) > agreement:
            near = middle
        else:
            far = middle
    return scale_to_unit(centres + (near * far) ** 0.5 * spread)


def scale_to_unit(X: Rows) -> Rows:
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def agreeing_share(X: Rows, y: Classes) -> float:
    """Return the share of the rows whose nearest row is of their class."""
    cosines = X @ X.T
    np.fill_diagonal(cosines, -np.inf)
    return float((y[cosines.argmax(axis=1)] == y).mean())
