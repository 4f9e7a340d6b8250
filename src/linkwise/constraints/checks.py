"""Pairs of rows, their weights and ids, checked and made distinct."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.constraints.closure import Pairs
from linkwise.errors import (
    ConstraintError,
    ConstraintWarning,
    InfeasibleConstraintsError,
    short_repr,
)

ConstraintKind = Literal["must-link", "cannot-link"]
CONSTRAINT_KINDS: tuple[ConstraintKind, ConstraintKind] = ("must-link", "cannot-link")
MAX_ROWS = 2**31 - 1  # so that a pair of rows has a number of 64 bits
MAX_WEIGHT = 1e300  # weight; sums of more would overflow


def is_integer(value: object) -> bool:
    """Whether a value is a whole number by its type, and no truth value."""
    if isinstance(value, np.ndarray):
        return value.shape == () and value.dtype.kind in "iu"
    return isinstance(value, SupportsIndex) and not isinstance(value, (bool, np.bool_))


def is_sequence(value: object) -> bool:
    """Whether a value holds others in an order, and is no text."""
    if isinstance(value, (list, tuple)):
        return True
    plain = isinstance(value, (str, bytes, set, frozenset)) or not isinstance(value, Iterable)
    return not plain and getattr(value, "ndim", 1) == 1


def check_row_count(n_rows: object) -> int:
    """`n_rows` as an int, from 0 to `MAX_ROWS`."""
    if isinstance(n_rows, bool) or not isinstance(n_rows, (int, np.integer)):
        raise TypeError(
            f"n_rows={short_repr(n_rows)} ({type(n_rows).__name__}); give the number of rows, an integer"
        )
    if not 0 <= n_rows <= MAX_ROWS:
        raise ConstraintError(
            f"n_rows={short_repr(int(n_rows))}; give the number of rows, 0 or more, at most {MAX_ROWS}"
        )
    return int(n_rows)


def check_row(row: object, n_rows: int) -> int:
    """The position of one row as an int."""
    if isinstance(row, bool) or not isinstance(row, (int, np.integer)):
        raise TypeError(f"row {short_repr(row)} ({type(row).__name__}); row positions are integers")
    if not 0 <= row < n_rows:
        raise ConstraintError(f"row {short_repr(int(row))}; the rows are 0 to {n_rows - 1}")
    return int(row)


def check_pairs(given: Any, n: int, kind: ConstraintKind) -> tuple[Pairs, int]:
    """`given` as an (m, 2) array of rows in range, and m."""
    pairs = _as_integers(given, kind)
    outside = np.flatnonzero(((pairs < 0) | (pairs >= n)).any(axis=1))
    if len(outside):
        at = int(outside[0])
        row = next(int(v) for v in pairs[at] if not 0 <= v < n)
        raise ConstraintError(
            f"{kind} {at} names row {row}, but the rows are 0 to {n - 1} (n_rows={n}); positions count from 0"
        )
    return pairs, len(pairs)


def _as_integers(given: Any, kind: ConstraintKind) -> Pairs:
    """Pairs as int64; a list is looked at entry by entry, since NumPy turns True and 3.0 into numbers."""
    if given is None:
        raise TypeError(f"the {kind}s are None; give pairs of row positions, or () for none")
    if not hasattr(given, "__array__"):
        if not isinstance(given, Iterable):
            raise TypeError(f"the {kind}s are {short_repr(given)}; give pairs of row positions")
        given = list(given)
        for at, pair in enumerate(given):
            _check_pair(pair, at, kind)
    pairs = np.asarray(given)
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ConstraintError(f"{kind}s have shape {pairs.shape}; give pairs, shape (n_pairs, 2)")
    if pairs.dtype.kind in "uO" and all(isinstance(v, SupportsIndex) for v in pairs.ravel()):
        far = [(at, v) for at, v in enumerate(pairs.ravel().tolist()) if v > np.iinfo(np.int64).max]
        if far:
            raise ConstraintError(f"{kind} {far[0][0] // 2} names row {far[0][1]}, more than any data have")
    if pairs.dtype.kind not in "iu":
        raise TypeError(f"{kind} 0 holds {pairs.dtype} values; row positions are integers")
    return pairs.astype(np.int64)


def _check_pair(pair: Any, at: int, kind: ConstraintKind) -> None:
    """Raise what makes an entry of a list no pair of rows."""
    ends = list(pair) if is_sequence(pair) else []
    if len(ends) != 2:
        raise ConstraintError(f"{kind} {at} is {short_repr(pair)}; give pairs of two row positions")
    for value in ends:
        if type(value) is not int and not is_integer(value):
            raise TypeError(
                f"{kind} {at} holds {short_repr(value)} ({type(value).__name__}); row positions are integers"
            )
        if not -MAX_ROWS <= value <= MAX_ROWS:  # NumPy would make fractions of it, or objects
            raise ConstraintError(f"{kind} {at} names row {short_repr(int(value))}, more than any data have")


def check_weights(given: ArrayLike | None, n_pairs: int, name: str) -> NDArray[np.float64]:
    """One weight a pair, above 0 and at most `MAX_WEIGHT`; 1 where none is given."""
    if given is None:
        return np.ones(n_pairs)
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ConstraintError(f"{name} is {short_repr(given)}; give one weight a pair, above 0") from None
    if weights.shape != (n_pairs,):
        raise ConstraintError(f"{name} has shape {weights.shape} for {n_pairs} pairs; give one weight a pair")
    wrong = np.flatnonzero(~((weights > 0) & (weights <= MAX_WEIGHT)))
    if len(wrong):
        raise ConstraintError(
            f"{name}[{wrong[0]}] is {weights[wrong[0]]}; weights are above 0, at most {MAX_WEIGHT:g}"
        )
    return weights


LocatedPairs = tuple[Pairs, NDArray[np.float64], NDArray[np.int64]]


def drop_self_pairs(pairs: Pairs, weights: NDArray[np.float64], kind: ConstraintKind) -> LocatedPairs:
    """Pairs of two different rows, with their weights and their positions in what was given."""
    itself = pairs[:, 0] == pairs[:, 1]
    positions = np.arange(len(pairs))
    if not itself.any():
        return pairs, weights, positions
    at = int(np.flatnonzero(itself)[0])
    row = int(pairs[at, 0])
    if kind == "cannot-link":
        raise InfeasibleConstraintsError(
            f"cannot-link {at} requires row {row} apart from itself; remove it", (row, row)
        )
    warnings.warn(
        f"must-link {at} joins row {row} to itself; {int(itself.sum())} such pair(s) dropped",
        ConstraintWarning,
        stacklevel=3,
    )
    return pairs[~itself], weights[~itself], positions[~itself]


def merge_duplicates(
    pairs: Pairs, weights: NDArray[np.float64], positions: NDArray[np.int64], n: int
) -> tuple[Pairs, NDArray[np.float64], NDArray[np.int64], int]:
    """Distinct pairs, lower row first, sorted; the largest weight and first position of each."""
    ordered = np.sort(pairs, axis=1)
    _, first, inverse = np.unique(ordered[:, 0] * n + ordered[:, 1], return_index=True, return_inverse=True)
    strongest = np.zeros(len(first))
    np.maximum.at(strongest, inverse.ravel(), weights)
    return ordered[first], strongest, positions[first], len(pairs) - len(first)


# ---------------------------------------------------------------- labels and files
def check_ids(ids: Any) -> list[str]:
    """The id of every row as text."""
    if not is_sequence(ids):
        raise TypeError(f"ids is {short_repr(ids)}; give a sequence with the id of every row")
    return [str(name) for name in ids]


def encode_classes(y: ArrayLike) -> NDArray[np.int64]:
    """Classes as 0 .. k-1, unknown ones as -1."""
    values = np.asarray(y)
    if values.dtype.kind == "U" and not hasattr(y, "__array__"):
        values = np.asarray(y, dtype=object)  # NumPy makes texts of the -1 and the NaN in a list of texts
    if values.ndim != 1:
        raise ValueError(f"labels have shape {values.shape}; give one label a row")
    if values.dtype.kind == "O":
        unknown = np.array([v is None or v != v or v == -1 for v in values], dtype=bool)
        number: dict[object, int] = {}
        values = np.array([number.setdefault(v, len(number)) for v in values], dtype=np.int64)
    else:
        unknown = (
            (values != values) | (values == -1) if values.dtype.kind in "iuf" else np.zeros(len(values), bool)
        )
    codes = np.full(len(values), -1, dtype=np.int64)
    codes[~unknown] = np.unique(values[~unknown], return_inverse=True)[1].ravel()
    return codes
