"""Blocks of columns, and the shares of the squared distance that they take.

Each column of texts, of pictures and of lists is a block, and all other columns together are one. 20 topics
and 384 numbers differ in scale, so that one would drown the other. So with several blocks each is scaled to
the same mean squared distance between two rows. Within the block of all other columns, each column is scaled
in the same way, for a category would otherwise count several times as much as a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from linkwise.data.columns.weights import COLUMNS
from linkwise.data.encoding.encoded import Feature, block_of, list_directions, scale_to_unit_norm
from linkwise.data.reading import Weights
from linkwise.errors import DataError
from linkwise.wording import count_noun, join_names


def normalize_directions(X: NDArray[np.float64], features: Sequence[Feature]) -> list[str]:
    """Scale the rows of each block of directions to norm 1, in place, and note the rows without any.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float64
        The matrix, which is changed.
    features : sequence of Feature
        The meaning of its columns.

    Returns
    -------
    list of str
        A note on rows that are zero. They stay zero.
    """
    empty: set[int] = set()
    for at in list_directions(features):
        empty.update(np.flatnonzero(~X[:, at].any(axis=1)).tolist())
        X[:, at] = scale_to_unit_norm(X[:, at])
    if not empty:
        return []
    which = f"{'row' if len(empty) == 1 else 'rows'} {join_names(sorted(empty), 5)}, counted from 0"
    return [f"{count_noun(len(empty), 'row')} of zeros cannot be scaled and stay zero: {which}."]


def weigh_blocks(
    X: NDArray[np.float64], features: Sequence[Feature], weights: Weights | None
) -> tuple[NDArray[np.float64], tuple[Feature, ...], list[str]]:
    """Scale each block to its share of the squared distance.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float64
        The rows as numbers.
    features : sequence of Feature
        The meaning of the columns of `X`.
    weights : dict of str to float, "none" or None
        Weights of blocks and of columns, 1 where a name is missing. "none" leaves the blocks as they are.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features), float64
        With several blocks, the mean squared distance between two rows is the weight of the block in each of
        them. Without several blocks each column keeps its scale, times the root of its weight.
    features : tuple of Feature
        The meaning of its columns.
    notes : list of str
        Sentences on the shares.

    Raises
    ------
    DataError
        The values are too large to measure distances.
    """
    blocks = [block_of(feature) for feature in features]
    order = list(dict.fromkeys(blocks))
    if weights == "none":
        return X, tuple(features), []
    # columns of weight 0 are not compared and not here
    given = {name: weight for name, weight in (weights or {}).items() if weight > 0}
    if not given and len(order) < 2:
        return X, tuple(features), []
    factors = np.ones(len(features))
    for block in order:
        at = np.array([one == block for one in blocks])
        if block is None:
            columns = [one for one in features if block_of(one) is None]
            factors[at] = _weigh_columns(X[:, at], columns, given, are_equal=len(order) > 1)
        spread = _mean_squared_distance(X[:, at] * factors[at]) if len(order) > 1 else 1.0
        is_named = block is not None or all(one.source != COLUMNS for one in features)
        weight = given.get(COLUMNS if block is None else block, 1.0) if is_named else 1.0
        factors[at] *= np.sqrt(weight / (spread or 1.0))
    weighed = tuple(
        replace(one, scale=one.scale / factor) for one, factor in zip(features, factors.tolist(), strict=True)
    )
    return X * factors, weighed, [_describe_shares(features, order, given)]


def _weigh_columns(
    X: NDArray[np.float64], features: Sequence[Feature], weights: Mapping[str, float], *, are_equal: bool
) -> NDArray[np.float64]:
    """A factor for each column: the root of its weight, for the same share if that is asked for."""
    factors = np.ones(len(features))
    are_equal = are_equal and not any(one.is_direction for one in features)
    for source in dict.fromkeys(feature.source for feature in features):
        at = np.array([feature.source == source for feature in features])
        spread = _mean_squared_distance(X[:, at]) if are_equal else 1.0
        factors[at] = np.sqrt(weights.get(source, 1.0) / (spread or 1.0))
    return factors


def _mean_squared_distance(X: NDArray[np.float64]) -> float:
    """Mean of the squared distances between two different rows."""
    n_rows = len(X)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = 2 * float(X.var(axis=0).sum()) * n_rows / (n_rows - 1)
    if not isfinite(spread):
        raise DataError("The values are too large to measure distances. Use a larger unit.")
    return spread


def _describe_shares(
    features: Sequence[Feature], blocks: Sequence[str | None], weights: Mapping[str, float]
) -> str:
    told = join_names((f"{name} {weight:g}" for name, weight in weights.items()), 12)
    if len(blocks) < 2:
        return f"Columns count in the squared distance by these weights: {told}."
    names = []
    for block in blocks:
        mine = [feature for feature in features if block_of(feature) == block]
        sources = list(dict.fromkeys(feature.source for feature in mine))
        if block is None:
            equally = "equally " if len(sources) > 1 and not mine[0].is_direction else ""
            names.append(f"{COLUMNS} ({equally}{join_names(sources, 5)})")
        else:
            what = {"document": "texts", "image": "pictures"}.get(mine[0].role, "lists")
            names.append(f"{block} ({what})")
    shares = f"Each of {len(blocks)} blocks takes the same share of the squared distance"
    if weights:
        return f"{shares}, times its weight: {join_names(names)}. Weights are {told}."
    return (
        f"{shares}: {join_names(names)}. --weight {blocks[-1] or COLUMNS}=2 doubles one,"
        " and --weight none leaves all scales as they are."
    )
