"""Pairs of rows as people hand them over: checked, made distinct, read from files, drawn at random."""

from __future__ import annotations

import csv
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any, Literal, SupportsIndex, TextIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.closure import Pairs
from linkwise.errors import (
    ConstraintError,
    ConstraintWarning,
    DataError,
    InfeasibleConstraintsError,
    short_repr,
)
from linkwise.text_files import read_records, shortened

Kind = Literal["must-link", "cannot-link"]
KINDS: tuple[Kind, Kind] = ("must-link", "cannot-link")

MOST_ROWS = 2**31 - 1  # so that a pair of rows has a number of 64 bits

HEAVIEST = 1e300  # weight; sums of more would overflow

FORMULA = re.compile(r"'*[=+\-@\t\r]")  # how a cell begins that a spreadsheet would compute
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


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


def row_count(n_rows: object) -> int:
    """`n_rows` as an int, from 0 to `MOST_ROWS`."""
    if isinstance(n_rows, bool) or not isinstance(n_rows, (int, np.integer)):
        raise TypeError(
            f"n_rows={short_repr(n_rows)} ({type(n_rows).__name__}); give the number of rows, an integer"
        )
    if not 0 <= n_rows <= MOST_ROWS:
        raise ConstraintError(
            f"n_rows={short_repr(int(n_rows))}; give the number of rows, 0 or more, at most {MOST_ROWS}"
        )
    return int(n_rows)


def checked_row(row: object, n_rows: int) -> int:
    """The position of one row as an int."""
    if isinstance(row, bool) or not isinstance(row, (int, np.integer)):
        raise TypeError(f"row {short_repr(row)} ({type(row).__name__}); row positions are integers")
    if not 0 <= row < n_rows:
        raise ConstraintError(f"row {short_repr(int(row))}; the rows are 0 to {n_rows - 1}")
    return int(row)


def checked_pairs(given: Any, n: int, kind: Kind) -> tuple[Pairs, int]:
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


def _as_integers(given: Any, kind: Kind) -> Pairs:
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


def _check_pair(pair: Any, at: int, kind: Kind) -> None:
    """Raise what makes an entry of a list no pair of rows."""
    ends = list(pair) if is_sequence(pair) else []
    if len(ends) != 2:
        raise ConstraintError(f"{kind} {at} is {short_repr(pair)}; give pairs of two row positions")
    for value in ends:
        if type(value) is not int and not is_integer(value):
            raise TypeError(
                f"{kind} {at} holds {short_repr(value)} ({type(value).__name__}); row positions are integers"
            )
        if not -MOST_ROWS <= value <= MOST_ROWS:  # NumPy would make fractions of it, or objects
            raise ConstraintError(f"{kind} {at} names row {short_repr(int(value))}, more than any data have")


def checked_weights(given: ArrayLike | None, n_pairs: int, name: str) -> NDArray[np.float64]:
    """One weight a pair, above 0 and at most `HEAVIEST`; 1 where none is given."""
    if given is None:
        return np.ones(n_pairs)
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ConstraintError(f"{name} is {short_repr(given)}; give one weight a pair, above 0") from None
    if weights.shape != (n_pairs,):
        raise ConstraintError(f"{name} has shape {weights.shape} for {n_pairs} pairs; give one weight a pair")
    wrong = np.flatnonzero(~((weights > 0) & (weights <= HEAVIEST)))
    if len(wrong):
        raise ConstraintError(
            f"{name}[{wrong[0]}] is {weights[wrong[0]]}; weights are above 0, at most {HEAVIEST:g}"
        )
    return weights


Parts = tuple[Pairs, NDArray[np.float64], NDArray[np.int64]]


def without_self_pairs(pairs: Pairs, weights: NDArray[np.float64], kind: Kind) -> Parts:
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


def distinct(
    pairs: Pairs, weights: NDArray[np.float64], positions: NDArray[np.int64], n: int
) -> tuple[Pairs, NDArray[np.float64], NDArray[np.int64], int]:
    """Distinct pairs, lower row first, sorted; the largest weight and first position of each."""
    ordered = np.sort(pairs, axis=1)
    _, first, inverse = np.unique(ordered[:, 0] * n + ordered[:, 1], return_index=True, return_inverse=True)
    strongest = np.zeros(len(first))
    np.maximum.at(strongest, inverse.ravel(), weights)
    return ordered[first], strongest, positions[first], len(pairs) - len(first)


# ---------------------------------------------------------------- labels and files
def checked_ids(ids: Any) -> list[str]:
    """The id of every row as text."""
    if not is_sequence(ids):
        raise TypeError(f"ids is {short_repr(ids)}; give a sequence with the id of every row")
    return [str(name) for name in ids]


def class_codes(y: ArrayLike) -> NDArray[np.int64]:
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


def random_pairs(n: int, wanted: int, rng: np.random.Generator) -> Pairs:
    """`wanted` distinct unordered pairs out of n rows, uniformly: a numbered pair is (i, j), i > j."""
    total = n * (n - 1) // 2
    number = rng.choice(total, size=wanted, replace=False, shuffle=True)
    high = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) // 2).astype(np.int64)
    high -= number < high * (high - 1) // 2  # the root may be off by one for large numbers
    high += number >= high * (high + 1) // 2
    return np.column_stack([number - high * (high - 1) // 2, high]).astype(np.int64)


def positions_of(ids: Sequence[str]) -> dict[str, int]:
    """Row position of every id; ids must be unique."""
    position = {name: row for row, name in enumerate(ids)}
    if len(position) < len(ids):
        row = next(r for r, name in enumerate(ids) if position[name] != r)
        raise ConstraintError(
            f"the id {ids[row]!r} stands in rows {row} and {position[ids[row]]}; ids are unique"
        )
    return position


def safe_cell(text: str) -> str:
    """`text` for a cell of CSV: behind an apostrophe where a spreadsheet would take it for a formula."""
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def row_named(cell: str, position: Mapping[str, int]) -> int | None:
    """The row that a cell names, as `safe_cell` wrote it or plain; None if there is none."""
    if cell.startswith("'") and FORMULA.match(cell) and cell[1:] in position:
        return position[cell[1:]]
    return position.get(cell)


def write_pairs(
    target: str | os.PathLike[str] | TextIO, rows: Iterable[Sequence[str]], *, weighted: bool = False
) -> None:
    """Write ``id_a,id_b,kind`` lines, with a column of weights when there are any."""
    rows = [[safe_cell(cell) for cell in row] for row in rows]
    # up to Python 3.12 the writer leaves a carriage return bare, and the reader then ends the line there
    bare = any("\r" in cell for row in rows for cell in row)
    with ExitStack() as stack:
        if isinstance(target, (str, os.PathLike)):
            target = stack.enter_context(open(target, "w", newline="", encoding="utf-8"))
        writer = csv.writer(target, lineterminator="\n", quoting=csv.QUOTE_ALL if bare else csv.QUOTE_MINIMAL)
        writer.writerow(["id_a", "id_b", "kind", *(["weight"] if weighted else [])])
        writer.writerows(rows)


def read_pairs(
    path: str | os.PathLike[str], position: dict[str, int]
) -> Iterator[tuple[int, int, int, Kind, float]]:
    """Line number, row, row, kind and weight of every line of a CSV file of pairs."""
    name = os.fspath(path)
    try:
        records = read_records(path)
    except DataError as error:
        raise ConstraintError(f"{name}: {error}") from error
    if not records:
        raise ConstraintError(f"{name} is empty; its first line must be id_a,id_b,kind")
    header = [cell.strip() for cell in records[0][1]]
    missing = [h for h in ("id_a", "id_b", "kind") if h not in header]
    if missing:
        there = shortened(",".join(header), 200)
        raise ConstraintError(f"{name} line 1: no column {missing[0]!r} in {there!r}; wanted id_a,id_b,kind")
    for number, line in records[1:]:
        if not line:
            continue
        if len(line) != len(header):
            raise ConstraintError(f"{name} line {number}: {len(line)} values, {len(header)} columns")
        cells = dict(zip(header, line, strict=True))
        yield number, *_pair_of(name, number, cells, position)


def _pair_of(
    name: str, number: int, cells: dict[str, str], position: dict[str, int]
) -> tuple[int, int, Kind, float]:
    rows = []
    for column in ("id_a", "id_b"):
        row = row_named(cells[column], position)
        row = row_named(cells[column].strip(), position) if row is None else row
        if row is None:
            some = ", ".join(repr(shortened(known)) for known in islice(position, 2))
            raise ConstraintError(
                f"{name} line {number}: {column} {shortened(cells[column])!r} is not among the rows, which"
                f" are called {some}, …; mend the id, or name the column of such ids (--id, in Python ids=)"
            )
        rows.append(row)
    kind = next((k for k in KINDS if k == cells["kind"].strip()), None)
    if kind is None:
        raise ConstraintError(
            f"{name} line {number}: kind {shortened(cells['kind'])!r}; allowed are {' and '.join(KINDS)}"
        )
    written = cells.get("weight", "").strip() or "1"
    try:
        weight = float(written)
    except ValueError:
        raise ConstraintError(f"{name} line {number}: weight {shortened(written)!r} is no number") from None
    if not 0 < weight < float("inf"):
        raise ConstraintError(
            f"{name} line {number}: weight {shortened(written)!r}; weights are finite and above 0"
        )
    return rows[0], rows[1], kind, weight
