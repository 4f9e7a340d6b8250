"""Rows as numbers, and the way back to their original units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from linkwise.data.column_names import unknown_column
from linkwise.data.columns.cycles import Cycle, CycleKind, add_cycles, cycle_of, read_places, to_coordinates
from linkwise.data.columns.roles import Role, to_numbers, to_words, value_kind
from linkwise.data.columns.table import Table
from linkwise.data.columns.variants import match_spellings
from linkwise.data.columns.vectors import expand_lists
from linkwise.errors import DataError
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw


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
        numeric, category or date (a date is in days since 1970-01-01 in original units); cycle for a time in
        a cycle; document for a topic of texts, sample for a value of curves, image for what is measured of
        pictures.
    offset, scale : float
        Original value = `offset + scale * X[:, j]`, or its exponential less `log_shift`.
    categories : tuple of str
        For a column of codes: the values that 0, 1, ... stand for.
    unit : str
        ``days`` for durations, ``UTC`` for moments that have a time zone.
    missing : str or None
        For a category: the value that a missing cell counts as. None if it is an error.
    has_merged_variants : bool
        For a category: whether spellings that differ only in case, spaces or accents are one value.
    is_direction : bool
        Whether each row of these numbers is scaled to norm 1, so that original values are those of a row
        with norm 1.
    log_shift : float or None
        For a column that is compared by its logarithm: what was added to the values before. None for another
        column.
    cycle : {"hour", "weekday", "season"} or None
        The cycle of a time. Its original value is a place in it: hours from 0 to 24, or days since 1 January
        of a year without a leap day; a day of the week is a code.
    coordinate : {"sin", "cos"} or None
        For a cycle whose places are on a circle: which of both coordinates on the unit circle.
    """

    name: str
    source: str
    category: str | None
    role: Role
    offset: float = 0.0
    scale: float = 1.0
    categories: tuple[str, ...] = ()
    unit: str = ""
    missing: str | None = None
    has_merged_variants: bool = False
    is_direction: bool = False
    log_shift: float | None = None
    cycle: CycleKind | None = None
    coordinate: Literal["sin", "cos"] | None = None

    def to_original(self, x: Any) -> Any:
        """Return values of this column of the matrix in the units of the table."""
        raw = self.offset + self.scale * x
        return raw if self.log_shift is None else np.exp(raw) - self.log_shift


def block_of(feature: Feature) -> str | None:
    """Return the column of texts, pictures or lists that a feature was made from; None for another column."""
    if feature.role in ("document", "image"):
        return feature.source
    return feature.source.rpartition("[")[0] if feature.role == "vector" else None


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table as numbers.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features), float64, C-contiguous
        The matrix that a clusterer takes.
    features : tuple of Feature
        The meaning of each column of `X`.
    notes : tuple of str
        Sentences on the choices made.
    """

    X: NDArray[np.float64]
    features: tuple[Feature, ...]
    notes: tuple[str, ...]

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("An Encoded is not an array. Pass its matrix, encode(table).X.")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Name of each column of `X`."""
        return tuple(feature.name for feature in self.features)

    @property
    def nominal(self) -> tuple[int, ...]:
        """The columns of `X` that hold codes of categories, as `linkwise.ClusILC` takes them."""
        return tuple(at for at, feature in enumerate(self.features) if feature.categories)

    def transform(self, rows: Any) -> NDArray[np.float64]:
        """Encode new rows as the table was encoded.

        Parameters
        ----------
        rows : Table or DataFrame
            At least one row, with the columns of the table. A word that was not in the table belongs to none
            of its categories.

        Returns
        -------
        ndarray of shape (n_rows, n_features), float64
            The rows in the columns of `X`.

        Raises
        ------
        DataError
            A column is missing or holds words instead of numbers, or values are missing or infinite.
        """
        return _encode_rows(self.features, rows)


# ---------------------------------------------------------------- new rows
def _encode_rows(features: Sequence[Feature], rows: Any) -> NDArray[np.float64]:
    """Encode new rows in the columns of `features`; an unknown word belongs to no category."""
    import narwhals as nw

    frame = rows.frame if isinstance(rows, Table) else nw.from_native(rows, eager_only=True)
    lists = {feature.source.rpartition("[")[0] for feature in features if feature.role == "vector"}
    frame = expand_lists(frame, [name for name in frame.columns if name in lists]).frame
    frame = add_cycles(frame, [one for one in list_cycles(features) if one.name not in frame.columns])
    for feature in features:
        if feature.role in ("document", "sample", "image"):
            raise DataError(
                "Texts, curves and images can only be encoded together. Encode old and new rows at once."
            )
        if feature.source not in frame.columns:
            raise DataError(unknown_column(feature.source, frame.columns))
    words = _known_words(features)
    columns = [_encode_column(one, frame[one.source], words.get(one.source, ())) for one in features]
    X = np.stack(columns, axis=1) if columns else np.empty((len(frame), 0))
    for at in list_directions(features):
        X[:, at] = scale_to_unit_norm(X[:, at]) / [features[j].scale for j in at]
    return X


def list_cycles(features: Sequence[Feature]) -> list[Cycle]:
    """Return the cycles that features were made from, each once."""
    return [cycle_of(name) for name in dict.fromkeys(one.source for one in features if one.cycle is not None)]


def list_directions(features: Sequence[Feature]) -> list[list[int]]:
    """Return the positions of the features that are scaled to norm 1 together, block by block."""
    found: dict[str | None, list[int]] = {}
    for at, feature in enumerate(features):
        if feature.is_direction:
            found.setdefault(block_of(feature), []).append(at)
    return list(found.values())


def scale_to_unit_norm(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale each row of `X` to norm 1; a row of zeros stays as it is."""
    peak = np.abs(X).max(axis=1, keepdims=True)  # first, since squares may overflow
    X = np.divide(X, peak, out=np.zeros_like(X), where=peak > 0)
    norm = np.linalg.norm(X, axis=1, keepdims=True)
    scaled: NDArray[np.float64] = np.divide(X, norm, out=np.zeros_like(X), where=norm > 0)
    return scaled


def _known_words(features: Sequence[Feature]) -> dict[str, list[str]]:
    """The values of each category."""
    known: dict[str, list[str]] = {}
    for one in features:
        words = one.categories or (() if one.category is None else (one.category,))
        known.setdefault(one.source, []).extend(words)
    return known


def _encode_column(feature: Feature, series: nw.Series[Any], known: Sequence[str]) -> NDArray[np.float64]:
    if feature.cycle is not None and feature.coordinate is not None:
        return encode_coordinate(feature, _find_known_places(feature, series))
    truth = feature.category == "true" and feature.name == feature.source
    if feature.categories or (feature.category is not None and not truth):
        return _encode_words(feature, series, known)
    if value_kind(series) in ("words", "nothing"):
        raise DataError(
            f"Column '{feature.source}' holds {value_kind(series)}, such as "
            f"{series.to_list()[:1]}. Pass"
            " numbers, as in the table that was encoded first."
        )
    values = to_numbers(series)
    _check_rows(feature, np.flatnonzero(~np.isfinite(values)))
    if feature.log_shift is not None:
        values = _take_logs(feature, values, feature.log_shift)
    return values if feature.is_direction else (values - feature.offset) / feature.scale


def _find_known_places(feature: Feature, series: nw.Series[Any]) -> NDArray[np.float64]:
    assert feature.cycle is not None
    places = read_places(series, feature.cycle)
    _check_rows(feature, np.flatnonzero(np.isnan(places)))
    return places


def encode_coordinate(feature: Feature, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Encode places in a cycle as one of both coordinates; a missing place is the centre of the circle."""
    assert feature.cycle is not None
    at = 0 if feature.coordinate == "sin" else 1
    return to_coordinates(places, feature.cycle)[:, at] / feature.scale


def _take_logs(feature: Feature, values: NDArray[np.float64], shift: float) -> NDArray[np.float64]:
    rows = np.flatnonzero(values + shift <= 0)
    if len(rows):
        raise DataError(
            f"Column '{feature.source}' is compared by its logarithm, and rows {join_names(rows, 5)}, counted"
            f" from 0, are not above {-shift or 0:g}. Fix them, or remove these rows."
        )
    return np.log(values + shift)


def _encode_words(feature: Feature, series: nw.Series[Any], known: Sequence[str]) -> NDArray[np.float64]:
    words = [feature.missing if word is None else word for word in to_words(series)]
    _check_rows(feature, [row for row, word in enumerate(words) if word is None])
    if feature.has_merged_variants:
        match = match_spellings([word for word in known if word != feature.missing])
        words = [None if word is None else match(word) for word in words]
    if feature.category is not None:
        return np.array([float(word == feature.category) for word in words]) / feature.scale
    code = {word: at for at, word in enumerate(feature.categories)}
    return np.array([float(code.get(str(word), len(code))) for word in words])


def _check_rows(feature: Feature, rows: Sequence[int] | NDArray[np.intp]) -> None:
    if len(rows):
        raise DataError(
            f"Values are missing or infinite in column '{feature.source}': rows {join_names(rows, 5)},"
            " counted from 0. Fill them in, or remove these rows."
        )
