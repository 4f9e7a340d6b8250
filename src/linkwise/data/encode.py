"""From a table to the matrix that a clusterer takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from linkwise.data.roles import Role, as_numbers, as_words, kind
from linkwise.data.table import Table
from linkwise.data.words import counted, listed, shown
from linkwise.errors import DataError

Scale = Literal["unit", "standard", "none"]
Categories = Literal["columns", "codes"]


@dataclass(frozen=True)
class Feature:
    """One column of the matrix, and the way back to the table's units.

    Attributes
    ----------
    name : str
        The source column, with "=category" where it is one of several made from that column.
    source : str
        Column of the table.
    category : str or None
        For a column of 0 and 1: the value that 1 stands for.
    role : str
        numeric, category or date (a date is in days since 1970-01-01 in original units).
    offset, scale : float
        Original value = `offset + scale * X[:, j]`.
    categories : tuple of str
        For a column of codes: the values that 0, 1, ... stand for.
    unit : str
        ``days`` for durations, ``UTC`` for moments that have a time zone.
    """

    name: str
    source: str
    category: str | None
    role: Role
    offset: float = 0.0
    scale: float = 1.0
    categories: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table as numbers.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features), float64, C-contiguous
    features : tuple of Feature
    notes : tuple of str
        What was done, in sentences.
    """

    X: NDArray[np.float64]
    features: tuple[Feature, ...]
    notes: tuple[str, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Name of each column of `X`."""
        return tuple(feature.name for feature in self.features)

    @property
    def nominal(self) -> tuple[int, ...]:
        """The columns of `X` that hold codes of categories, as `linkwise.ClusILC` takes them."""
        return tuple(at for at, feature in enumerate(self.features) if feature.categories)


def encode(
    table: Table,
    *,
    scale: Scale = "unit",
    impute: Literal["median"] | None = None,
    categories: Categories = "columns",
) -> Encoded:
    """Turn the features of a table into numbers.

    Parameters
    ----------
    table : Table
    scale : {"unit", "standard", "none"}, default="unit"
        unit: each numeric column runs from 0 to 1; standard: mean 0 and deviation 1; none: as it is.
        Categories become one column of 0 and 1 each, true/false becomes a single one; these stay
        0 and 1 whatever the scale.
    categories : {"columns", "codes"}, default="columns"
        columns: as just said, for methods that measure distances. codes: one column 0, 1, 2, ... for all
        categories of a source column, for methods that are told which columns are nominal.
    impute : "median", optional
        What to put where a value is missing: the median, or the most frequent category (the first in
        alphabetical order among equals). By default missing values are refused.

    Returns
    -------
    Encoded

    Raises
    ------
    DataError
        Infinite values; missing values without `impute`; values too large for the scale.
    """
    if scale not in ("unit", "standard", "none"):
        raise ValueError(f"scale must be 'unit', 'standard' or 'none', not {scale!r}.")
    if impute not in (None, "median"):
        raise ValueError(f"impute must be 'median' or None, not {impute!r}.")
    if categories not in ("columns", "codes"):
        raise ValueError(f"categories must be 'columns' or 'codes', not {categories!r}.")
    numbers = {name: as_numbers(table.frame[name]) for name in table.features if _is_number(table, name)}
    words = {name: as_words(table.frame[name]) for name in table.features if name not in numbers}
    _refuse_infinite(table, numbers)
    missing = _missing(table, numbers, words)
    if missing and impute is None:
        raise DataError(
            f"Values are missing: {listed(f'{n} in {name!r}' for name, n in missing.items())}."
            " Impute or drop: --impute median puts medians there, --drop COLUMN leaves a column out"
            ' (in Python: impute="median", drop=[...]).'
        )
    blocks: list[tuple[list[Feature], NDArray[np.float64]]] = []
    filled = []
    for name in table.features:
        if name in words:
            fill, block = (_one_hot if categories == "columns" else _codes)(name, words[name])
        else:
            fill, block = _scaled(name, table, numbers[name], scale)
        blocks.append(block)
        if name in missing:
            filled.append(f"{name} ({counted(missing[name], 'value')}: {fill})")
    return _joined(table, blocks, _notes(table, blocks, filled, scale, categories))


def _is_number(table: Table, name: str) -> bool:
    return table.roles[name] != "category" or kind(table.frame[name]) == "bool"


def _refuse_infinite(table: Table, numbers: dict[str, NDArray[np.float64]]) -> None:
    bad = {name: np.flatnonzero(np.isinf(values)) for name, values in numbers.items()}
    bad = {name: rows for name, rows in bad.items() if rows.size}
    if bad:
        name, rows = min(bad.items(), key=lambda item: item[1][0])
        row = int(rows[0])
        known = "" if table.ids is None else f", id '{table.ids[row]}'"
        count = sum(rows.size for rows in bad.values())
        raise DataError(
            f"Infinity in the data: first in row {row} (counted from 0{known}), column '{name}';"
            f" {count} in all. Impute or drop: empty these cells and use --impute median, or --drop COLUMN."
        )


def _missing(
    table: Table, numbers: dict[str, NDArray[np.float64]], words: dict[str, list[str | None]]
) -> dict[str, int]:
    """Count missing values in each feature that has any."""
    counts = {
        name: words[name].count(None) if name in words else int(np.isnan(numbers[name]).sum())
        for name in table.features
    }
    return {name: count for name, count in counts.items() if count}


def _filled(words: list[str | None]) -> tuple[str, list[str], NDArray[np.intp]]:
    """What stands in for a missing word, all words there are, and which of them each row has."""
    known, counts = np.unique([word for word in words if word is not None], return_counts=True)
    fill = str(known[np.argmax(counts)])
    filled = np.array([fill if word is None else word for word in words])
    return fill, known.tolist(), np.searchsorted(known, filled)


def _one_hot(name: str, words: list[str | None]) -> tuple[str, tuple[list[Feature], NDArray[np.float64]]]:
    fill, known, codes = _filled(words)
    block = (codes[:, None] == np.arange(len(known))).astype(np.float64)
    return fill, ([Feature(f"{name}={word}", name, word, "category") for word in known], block)


def _codes(name: str, words: list[str | None]) -> tuple[str, tuple[list[Feature], NDArray[np.float64]]]:
    fill, known, codes = _filled(words)
    feature = Feature(name, name, None, "category", categories=tuple(known))
    return fill, ([feature], codes[:, None].astype(np.float64))


def _scaled(
    name: str, table: Table, values: NDArray[np.float64], scale: Scale
) -> tuple[str, tuple[list[Feature], NDArray[np.float64]]]:
    known, role, series = values[~np.isnan(values)], table.roles[name], table.frame[name]
    if role == "category":  # true or false; the most frequent, false among equals
        fill = float(known.mean() > 0.5)
        feature = Feature(name, name, "true", role)
        return ("true" if fill else "false"), ([feature], np.where(np.isnan(values), fill, values)[:, None])
    fill = float(np.median(known))
    values = np.where(np.isnan(values), fill, values)
    offset, spread = _offset_and_scale(values, scale)
    if not np.isfinite(spread) or not np.isfinite(offset):
        raise DataError(f"The values of column '{name}' are too large for scale='{scale}'.")
    if kind(series) == "duration":
        feature = Feature(name, name, None, "numeric", offset, spread or 1.0, unit="days")
    else:
        zone = "UTC" if getattr(series.dtype, "time_zone", None) else ""
        feature = Feature(name, name, None, role, offset, spread or 1.0, unit=zone)
    return shown(fill), ([feature], ((values - feature.offset) / feature.scale)[:, None])


def _offset_and_scale(values: NDArray[np.float64], scale: Scale) -> tuple[float, float]:
    if scale == "none":
        return 0.0, 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        if scale == "unit":
            return float(values.min()), float(values.max() - values.min())
        return float(values.mean()), float(values.std())


def _joined(
    table: Table, blocks: list[tuple[list[Feature], NDArray[np.float64]]], notes: tuple[str, ...]
) -> Encoded:
    features = tuple(feature for some, _ in blocks for feature in some)
    X = np.empty((len(table), len(features)), dtype=np.float64)
    start = 0
    for some, block in blocks:
        X[:, start : start + len(some)] = block
        start += len(some)
    return Encoded(X, features, notes)


def _notes(
    table: Table,
    blocks: list[tuple[list[Feature], NDArray[np.float64]]],
    filled: list[str],
    scale: Scale,
    categories: Categories,
) -> tuple[str, ...]:
    notes = []
    if filled:
        notes.append(f"Missing values were filled in: {listed(filled)}.")
    if any(table.roles[name] != "category" for name in table.features):
        notes.append(
            {
                "unit": "Numeric columns are scaled to run from 0 to 1.",
                "standard": "Numeric columns are scaled to mean 0 and deviation 1.",
                "none": "Numeric columns keep their own units.",
            }[scale]
        )
    made = [
        f"{some[0].source} ({counted(len(some), 'column')})"
        for some, _ in blocks
        if some[0].category is not None
    ]
    coded = [
        f"{some[0].source} ({counted(len(some[0].categories) or 2, 'value')})"
        for some, _ in blocks
        if some[0].role == "category"
    ]
    if made and categories == "columns":
        notes.append(f"Categories are columns of 0 and 1, whatever the scale: {listed(made)}.")
    if coded and categories == "codes":
        notes.append(f"Categories are compared as equal or not: {listed(coded)}.")
    return tuple(notes)
