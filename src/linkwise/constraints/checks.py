"""Check pairs of rows, their weights and ids, and merge duplicates."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
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
from linkwise.wording import count_noun, shorten

ConstraintKind = Literal["must-link", "cannot-link"]
CONSTRAINT_KINDS: tuple[ConstraintKind, ConstraintKind] = ("must-link", "cannot-link")
MAX_ROWS = 2**31 - 1  # a pair of rows then fits into an integer of 64 bits
MAX_WEIGHT = 1e300  # sums of larger weights would overflow


def is_integer(value: object) -> bool:
    """Whether the type of a value is an integer type; booleans are not."""
    if type(value) is int:  # a check against a protocol costs more than the rest of an oracle's answer
        return True
    if isinstance(value, np.ndarray):
        return value.shape == () and value.dtype.kind in "iu"
    return isinstance(value, SupportsIndex) and not isinstance(value, (bool, np.bool_))


def is_sequence(value: object) -> bool:
    """Whether a value is an ordered collection of values; texts and sets are not."""
    if isinstance(value, (list, tuple)):
        return True
    plain = isinstance(value, (str, bytes, set, frozenset)) or not isinstance(value, Iterable)
    return not plain and getattr(value, "ndim", 1) == 1


def check_row_count(n_rows: object) -> int:
    """Return `n_rows` as an int; raise unless it is an integer from 0 to `MAX_ROWS`."""
    if isinstance(n_rows, bool) or not isinstance(n_rows, (int, np.integer)):
        raise TypeError(
            f"n_rows is not an integer: {short_repr(n_rows)} ({type(n_rows).__name__})."
            " Pass the number of rows."
        )
    if not 0 <= n_rows <= MAX_ROWS:
        raise ConstraintError(
            f"n_rows is out of range: {short_repr(int(n_rows))}."
            f" Pass the number of rows, 0 or more, at most {MAX_ROWS}."
        )
    return int(n_rows)


def check_row(row: object, n_rows: int) -> int:
    """Return the position of one row as an int; raise unless it is an integer from 0 to `n_rows` - 1."""
    if isinstance(row, bool) or not isinstance(row, (int, np.integer)):
        raise TypeError(
            f"A row position is not an integer: {short_repr(row)} ({type(row).__name__})."
            " Pass positions that count from 0."
        )
    if not 0 <= row < n_rows:
        raise ConstraintError(
            f"There is no row {short_repr(int(row))}: the rows are 0 to {n_rows - 1}. Positions count from 0."
        )
    return int(row)


def check_pairs(given: Any, n: int, kind: ConstraintKind) -> tuple[Pairs, int]:
    """Return `given` as an (m, 2) array of existing rows, and m."""
    pairs = _as_integers(given, kind)
    outside = np.flatnonzero(((pairs < 0) | (pairs >= n)).any(axis=1))
    if len(outside):
        at = int(outside[0])
        row = next(int(v) for v in pairs[at] if not 0 <= v < n)
        raise ConstraintError(
            f"{kind} {at} names row {row}, but the rows are 0 to {n - 1} (n_rows={n})."
            " Positions count from 0."
        )
    return pairs, len(pairs)


def _as_integers(given: Any, kind: ConstraintKind) -> Pairs:
    """Return pairs as int64; check a list entry by entry, since NumPy converts True and 3.0 to integers."""
    if given is None:
        raise TypeError(f"The {kind}s are None. Pass pairs of row positions, or () for none.")
    if not hasattr(given, "__array__"):
        if not isinstance(given, Iterable):
            raise TypeError(f"The {kind}s are not a list of pairs: {short_repr(given)}. Pass row positions.")
        given = list(given)
        for at, pair in enumerate(given):
            _check_pair(pair, at, kind)
    pairs = np.asarray(given)
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ConstraintError(f"The {kind}s have shape {pairs.shape}. Pass pairs, shape (n_pairs, 2).")
    if pairs.dtype.kind in "uO" and all(isinstance(v, SupportsIndex) for v in pairs.ravel()):
        far = [(at, v) for at, v in enumerate(pairs.ravel().tolist()) if v > np.iinfo(np.int64).max]
        if far:
            raise ConstraintError(_describe_far_row(kind, far[0][0] // 2, str(far[0][1])))
    if pairs.dtype.kind not in "iu":
        raise TypeError(f"{kind} 0 holds {pairs.dtype} values. Pass row positions, which are integers.")
    return pairs.astype(np.int64)


def _check_pair(pair: Any, at: int, kind: ConstraintKind) -> None:
    """Raise unless an entry of a list is a pair of row positions."""
    ends = list(pair) if is_sequence(pair) else []
    if len(ends) != 2:
        raise ConstraintError(f"{kind} {at} is not a pair: {short_repr(pair)}. Pass two row positions.")
    for value in ends:
        if type(value) is not int and not is_integer(value):
            raise TypeError(
                f"{kind} {at} holds {short_repr(value)} ({type(value).__name__})."
                " Pass row positions, which are integers."
            )
        if not -MAX_ROWS <= value <= MAX_ROWS:  # NumPy would convert it to a float or an object
            raise ConstraintError(_describe_far_row(kind, at, short_repr(int(value))))


def _describe_far_row(kind: ConstraintKind, at: int, row: str) -> str:
    return f"{kind} {at} names row {row}, but data have at most {MAX_ROWS} rows. Positions count from 0."


def check_weights(given: ArrayLike | None, n_pairs: int, name: str) -> NDArray[np.float64]:
    """Return one weight for each pair, above 0 and at most `MAX_WEIGHT`; all are 1 by default."""
    if given is None:
        return np.ones(n_pairs)
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ConstraintError(
            f"{name} holds no weights: {short_repr(given)}. Pass one number above 0 for each pair."
        ) from None
    if weights.shape != (n_pairs,):
        raise ConstraintError(
            f"{name} has shape {weights.shape} for {n_pairs} pairs. Pass one weight for each pair."
        )
    wrong = np.flatnonzero(~((weights > 0) & (weights <= MAX_WEIGHT)))
    if len(wrong):
        raise ConstraintError(
            f"{name}[{wrong[0]}] is {weights[wrong[0]]}. Pass weights above 0, at most {MAX_WEIGHT:g}."
        )
    return weights


LocatedPairs = tuple[Pairs, NDArray[np.float64], NDArray[np.int64]]


def drop_self_pairs(pairs: Pairs, weights: NDArray[np.float64], kind: ConstraintKind) -> LocatedPairs:
    """Drop pairs of a row with itself; return the others, their weights and their positions in `pairs`.

    A dropped must-link causes a warning; a cannot-link of a row with itself raises an error.
    """
    itself = pairs[:, 0] == pairs[:, 1]
    positions = np.arange(len(pairs))
    if not itself.any():
        return pairs, weights, positions
    at = int(np.flatnonzero(itself)[0])
    row = int(pairs[at, 0])
    if kind == "cannot-link":
        raise InfeasibleConstraintsError(
            f"cannot-link {at} separates row {row} from itself. Remove it.", (row, row)
        )
    warnings.warn(
        f"must-link {at} joins row {row} to itself. {count_noun(int(itself.sum()), 'such pair')} dropped.",
        ConstraintWarning,
        stacklevel=3,
    )
    return pairs[~itself], weights[~itself], positions[~itself]


def merge_duplicates(
    pairs: Pairs, weights: NDArray[np.float64], positions: NDArray[np.int64], n: int
) -> tuple[Pairs, NDArray[np.float64], NDArray[np.int64], int]:
    """Merge equal pairs; return the pairs sorted, lower row first, and how many were dropped.

    A merged pair has the largest of its weights and the first of its positions.
    """
    ordered = np.sort(pairs, axis=1)
    _, first, inverse = np.unique(ordered[:, 0] * n + ordered[:, 1], return_index=True, return_inverse=True)
    strongest = np.zeros(len(first))
    np.maximum.at(strongest, inverse.ravel(), weights)
    return ordered[first], strongest, positions[first], len(pairs) - len(first)


# ---------------------------------------------------------------- labels and files
def index_ids(ids: Sequence[str]) -> dict[str, int]:
    """Map every id to the position of its row; raise if two rows have the same id."""
    position = {name: row for row, name in enumerate(ids)}
    if len(position) < len(ids):
        row = next(r for r, name in enumerate(ids) if position[name] != r)
        raise ConstraintError(
            f"Rows {row} and {position[ids[row]]} have the same id: {shorten(ids[row])!r}."
            " Use a different id for each row."
        )
    return position


def check_ids(ids: Any) -> list[str]:
    """Return the ids of all rows as texts; raise if one is missing."""
    if not is_sequence(ids):
        raise TypeError(f"ids is not a sequence: {short_repr(ids)}. Pass the id of every row.")
    convert = next((name for name in ("to_pylist", "to_list", "tolist") if hasattr(ids, name)), None)
    values = list(ids) if convert is None else getattr(ids, convert)()
    missing = next((row for row, value in enumerate(values) if is_missing(value)), None)
    if missing is not None:
        raise ConstraintError(f"Row {missing} has no id: {values[missing]!r}. Pass one id for each row.")
    return list_names(map(write_id, values), "ids")


def write_id(value: Any) -> Any:
    """Return an id without the fraction that missing values elsewhere gave it: 7 for 7.0."""
    is_float = isinstance(value, (float, np.floating))
    return int(value) if is_float and value.is_integer() and abs(value) < 2**63 else value


def list_names(names: Iterable[object], argument: str) -> list[str]:
    """Return names as texts; raise if one is an integer with more digits than Python writes."""
    try:
        return [str(name) for name in names]
    except ValueError:
        raise ValueError(f"{argument} holds a number with too many digits. Use shorter names.") from None


def is_missing(value: Any) -> bool:
    """Whether one value is none: None, NaN, NaT, pandas' NA or NumPy's masked."""
    if value is None or type(value).__name__ in ("NAType", "MaskedConstant"):  # they refuse to be compared
        return True
    try:
        differs = value != value
    except ArithmeticError:  # Decimal("sNaN")
        return True
    return type(differs).__name__ in ("bool", "bool_") and bool(differs)


def encode_classes(y: ArrayLike) -> NDArray[np.int64]:
    """Number classes 0 .. k-1; an unknown class (-1, or a missing value of any library) becomes -1."""
    values = list_labels(y)
    if values.ndim != 1:
        raise ValueError(f"The labels have shape {values.shape}. Pass one label for each row.")
    if values.dtype.kind == "O":
        listed = values.tolist()
        unknown = np.array([is_missing(v) or v == -1 for v in listed], dtype=bool)
        number: dict[object, int] = {}
        known = zip(listed, unknown.tolist(), strict=True)
        values = np.array(
            [-1 if is_unknown else number.setdefault(v, len(number)) for v, is_unknown in known],
            dtype=np.int64,
        )
    elif values.dtype.kind in "mM":
        unknown = np.isnat(values)
    else:
        unknown = (
            (values != values) | (values == -1) if values.dtype.kind in "iuf" else np.zeros(len(values), bool)
        )
    codes = np.full(len(values), -1, dtype=np.int64)
    codes[~unknown] = np.unique(values[~unknown], return_inverse=True)[1].ravel()
    return codes


def list_labels(y: ArrayLike) -> NDArray[Any]:
    """Return labels as an array, of objects where an array of another type would lose what is missing."""
    if np.ma.isMaskedArray(y):
        found = y.data.astype(object)
        found[np.ma.getmaskarray(y)] = None
        return found
    if not isinstance(y, (np.ndarray, list, tuple)) and hasattr(y, "dtype"):
        import narwhals as nw  # costs a tenth of a second, and arrays do without

        series = nw.from_native(y, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            return np.fromiter(series.to_list(), dtype=object, count=len(series))
    if isinstance(y, (list, tuple)) and any(value is np.ma.masked for value in y):
        return np.array([None if value is np.ma.masked else value for value in y], dtype=object)
    values = np.asarray(y)
    if values.dtype.kind == "U" and not hasattr(y, "__array__"):
        return np.asarray(y, dtype=object)  # NumPy converts -1 and NaN in a list of texts to texts
    return values
