"""Sets in which a class consists of several groups of rows that lie apart, so that no distance joins them.

In the drawn sets the groups are blobs, moons, rings or arms of a spiral. In the others they are the classes
of a set that comes with scikit-learn: digits, iris or wine. Two sets are the reverse: a class of iris or of
wine is split into two, which no gap separates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.decomposition import PCA

from bench.suites.tasks import LabelledTask, Rows, load_task, read_tasks

Groups = NDArray[np.int64]
"""The group of each row, from 0."""

MANY_GROUPS = 30
"""Number of groups from which a set of blobs has more rows."""
N_SHAPED = 400
"""Rows of a set of moons, rings or spirals."""
N_DIGITS = 800


class MultiGroupSet(NamedTuple):
    """How a set is made."""

    make: Callable[[np.random.Generator], tuple[Rows, Groups]]
    """Returns the rows and their groups."""
    n_classes: int
    """Groups whose numbers leave the same remainder are one class."""


@cache
def load_multi_group(name: str) -> LabelledTask:
    """Make a set; the name gives the seed."""
    made = MULTI_GROUP_SETS[name]
    X, group = made.make(np.random.default_rng(sum(map(ord, name))))
    return LabelledTask(name, X, group % made.n_classes, "classes of several groups")


# ---------------------------------------------------------------- drawn sets
def make_blobs(n_groups: int, rng: np.random.Generator, *, is_skewed: bool = False) -> tuple[Rows, Groups]:
    """Draw round groups in 20 dimensions, of equal or of very different size."""
    n_rows, n_features, spread = 500 if n_groups >= MANY_GROUPS else 300, 20, 0.1
    group = rng.permutation(np.repeat(np.arange(n_groups), blob_sizes(n_groups, n_rows, is_skewed=is_skewed)))
    centres = rng.standard_normal((n_groups, n_features))
    return centres[group] + spread * rng.standard_normal((n_rows, n_features)), group


def blob_sizes(n_groups: int, n_rows: int, *, is_skewed: bool) -> NDArray[np.int64]:
    """Sizes that are equal, or proportional to a power of the rank; together they are `n_rows`."""
    weight = np.arange(1, n_groups + 1) ** (-0.8 if is_skewed else 0.0)
    ends = np.round(n_rows * weight.cumsum() / weight.sum()).astype(np.int64)
    return np.diff(ends, prepend=0)


def make_moons(rng: np.random.Generator) -> tuple[Rows, Groups]:
    """Draw two pairs of moons side by side; each moon is a group."""
    seeds, half = rng.integers(2**31, size=2).tolist(), N_SHAPED // 2
    left, right = (datasets.make_moons(half, noise=0.06, random_state=seed) for seed in seeds)
    return np.vstack([left[0], right[0] + (4, 0)]), np.concatenate([left[1], right[1] + 2])


def make_rings(rng: np.random.Generator) -> tuple[Rows, Groups]:
    """Draw four rings around one centre, of radius 1 to 4."""
    ring, angle = rng.integers(4, size=N_SHAPED), rng.uniform(0, 2 * np.pi, N_SHAPED)
    radius = 1 + ring + 0.08 * rng.standard_normal(N_SHAPED)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), ring


def make_spirals(rng: np.random.Generator) -> tuple[Rows, Groups]:
    """Draw four arms that wind around each other; two opposite arms leave the same remainder."""
    arm, radius = rng.integers(4, size=N_SHAPED), rng.uniform(0.5, 2.5, N_SHAPED)
    angle = np.pi * (0.8 * radius + arm / 2)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + 0.03 * rng.standard_normal(X.shape), arm


# ---------------------------------------------------------------- relabelled sets
def draw_digits(rng: np.random.Generator) -> tuple[Rows, Groups]:
    """Draw pictures of handwritten digits; each digit is a group."""
    X, digit = datasets.load_digits(return_X_y=True)
    rows = rng.permutation(len(X))[:N_DIGITS]
    return X[rows], digit[rows].astype(np.int64)


def read_classes(name: str, _rng: np.random.Generator) -> tuple[Rows, Groups]:
    """Read a set of scikit-learn as other experiments have it; each class is a group."""
    task = load_task(read_tasks()[name])
    return task.X, task.y


def split_first_class(name: str, rng: np.random.Generator) -> tuple[Rows, Groups]:
    """Read a set, and halve its first class across the direction in which it is widest."""
    X, group = read_classes(name, rng)
    first = np.flatnonzero(group == 0)
    is_far = PCA(1).fit_transform(X[first])[:, 0] > 0
    split = group.copy()
    split[first[is_far]] = group.max() + 1
    return X, split


MULTI_GROUP_SETS = {
    "blobs_6_3": MultiGroupSet(partial(make_blobs, 6), 3),
    "blobs_8_4": MultiGroupSet(partial(make_blobs, 8), 4),
    "blobs_12_6": MultiGroupSet(partial(make_blobs, 12), 6),
    "blobs_30_6": MultiGroupSet(partial(make_blobs, 30), 6),
    "blobs_40_2": MultiGroupSet(partial(make_blobs, 40), 2),
    "blobs_6_3_skewed": MultiGroupSet(partial(make_blobs, 6, is_skewed=True), 3),
    "blobs_12_6_skewed": MultiGroupSet(partial(make_blobs, 12, is_skewed=True), 6),
    "blobs_30_6_skewed": MultiGroupSet(partial(make_blobs, 30, is_skewed=True), 6),
    "blobs_40_2_skewed": MultiGroupSet(partial(make_blobs, 40, is_skewed=True), 2),
    "moons_4": MultiGroupSet(make_moons, 2),
    "rings_4": MultiGroupSet(make_rings, 2),
    "spirals_4": MultiGroupSet(make_spirals, 2),
    "digits_even": MultiGroupSet(draw_digits, 2),
    "digits_three": MultiGroupSet(draw_digits, 3),
    "iris_merged": MultiGroupSet(partial(read_classes, "iris"), 2),
    "wine_merged": MultiGroupSet(partial(read_classes, "wine"), 2),
    "iris_split": MultiGroupSet(partial(split_first_class, "iris"), 4),
    "wine_split": MultiGroupSet(partial(split_first_class, "wine"), 4),
}
"""By name. ``blobs_30_6`` are 30 blobs in 6 classes."""
