"""Rows as numbers, and the way back to their original units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from linkwise.data.columns.cycles import Cycle, CycleKind, add_cycles, cycle_of, read_places, to_coordinates
from linkwise.data.columns.roles import Role, to_numbers, to_words, value_kind
from linkwise.data.columns.table import Table
from linkwise.data.columns.variants import match_spellings
from linkwise.data.columns.vectors import expand_lists
from linkwise.data.reading import unknown_column
from linkwise.errors import DataError
from linkwise.wording import join_names, merge_full_stops

if TYPE_CHECKING:
    import narwhals as nw

DIGITS = 9  # of a value that linear algebra computes: below them processors differ, and break ties otherwise


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
    missing : str, float or None
        What a missing cell counts as: a category, or a number in the units of the table. A category that no
        row of the table has belongs to none of the columns. None for a place in a cycle, which is then the
        middle of the circle, and for texts, pictures and curves.
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
    missing: str | float | None = None
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
        The matrix that a clusterer takes. It is float32 if rows are compared by the meaning of one column of
        texts alone.
    features : tuple of Feature
        The meaning of each column of `X`.
    notes : tuple of str
        Sentences on the choices made.
    """

    X: NDArray[np.float64]
    features: tuple[Feature, ...]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(merge_full_stops, self.notes)))

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
            A column is missing or holds words instead of numbers, or values are infinite.
        """
        import narwhals as nw

        frame = rows.frame if isinstance(rows, Table) else nw.from_native(rows, eager_only=True)
        return encode_rows(self.features, frame)


# ---------------------------------------------------------------- new rows
Refuse = Callable[[str, NDArray[np.intp], str], NoReturn]
"""``refuse(name, rows, what)`` raises an error about rows of a column and what they hold."""


def encode_rows(
    features: Sequence[Feature],
    frame: nw.DataFrame[Any],
    refuse: Refuse | None = None,
    others: Mapping[str, Callable[[nw.Series[Any]], NDArray[np.float64]]] = MappingProxyType({}),
) -> NDArray[np.float64]:
    """Encode rows in the columns of `features`, as the table was encoded from which these were learned.

    A word that is none of the categories belongs to none of them. `refuse` raises an error about some
    rows, by default with their positions. ``others[name](series)`` returns the numbers of a column of
    texts, before they are scaled.
    """
    refuse = refuse or _refuse_rows
    frame = complete_columns(features, frame)
    of_source: dict[str, list[int]] = {}
    for at, feature in enumerate(features):
        if feature.role in ("document", "sample", "image") and feature.source not in others:
            raise DataError(
                "Texts, curves and images can only be encoded together. Encode old and new rows at once."
            )
        if feature.source not in frame.columns:
            raise DataError(unknown_column(feature.source, frame.columns))
        of_source.setdefault(feature.source, []).append(at)
    X = np.empty((len(frame), len(features)))
    for name, places in of_source.items():
        some = [features[at] for at in places]
        if name in others:
            X[:, places] = others[name](frame[name]) / [one.scale for one in some]
            continue
        X[:, places] = _encode_column(some, frame[name], refuse)
    for block in list_directions(features):
        X[:, block] = scale_to_unit_norm(X[:, block]) / [features[at].scale for at in block]
    return X


def complete_columns(features: Sequence[Feature], frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Add the columns of a table that are made from others: the numbers of lists, and cycles."""
    lists = {feature.source.rpartition("[")[0] for feature in features if feature.role == "vector"}
    if lists:
        frame = expand_lists(
            frame, [name for name in frame.columns if name in lists], may_be_equal=True
        ).frame
    cycles = [one for one in list_cycles(features) if one.name not in frame.columns]
    return add_cycles(frame, cycles) if cycles else frame


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


def _encode_column(
    features: Sequence[Feature], series: nw.Series[Any], refuse: Refuse
) -> NDArray[np.float64]:
    """Encode one column of a table, of which one or several features were made."""
    first = features[0]
    if first.cycle is not None and first.coordinate is not None:
        places = read_places(series, first.cycle)
        return np.stack([encode_coordinate(one, places) for one in features], axis=1)
    is_truth = first.category == "true" and first.name == first.source
    if first.categories or (first.category is not None and not is_truth):
        return _encode_words(features, series)
    if series.null_count() == len(series):  # of any type
        values = np.full(len(series), np.nan)
    elif value_kind(series) == "words":
        raise DataError(
            f"Column '{series.name}' holds words, such as {series.to_list()[:1]}. Pass numbers, as in the"
            " table that was encoded first."
        )
    else:
        values = to_numbers(series)
    values[np.isnan(values)] = first.missing
    if not np.isfinite(values).all():
        refuse(series.name, np.flatnonzero(~np.isfinite(values)), "infinite")
    if first.log_shift is not None:
        rows = np.flatnonzero(values + first.log_shift <= 0)
        if len(rows):
            refuse(series.name, rows, f"not above {-first.log_shift or 0:g}, so it has no logarithm")
        values = np.log(values + first.log_shift)
    return (values if first.is_direction else (values - first.offset) / first.scale)[:, None]


def encode_coordinate(feature: Feature, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Encode places in a cycle as one of both coordinates; a missing place is the centre of the circle."""
    assert feature.cycle is not None
    at = 0 if feature.coordinate == "sin" else 1
    return to_coordinates(places, feature.cycle)[:, at] / feature.scale


def _encode_words(features: Sequence[Feature], series: nw.Series[Any]) -> NDArray[np.float64]:
    """Encode a category, of which there is a feature of codes, or one for each word."""
    first = features[0]
    codes, words = _number_words(series)
    codes[codes < 0] = len(words)
    words = [*words, str(first.missing)]
    known = list(first.categories) or [str(one.category) for one in features]
    if first.has_merged_variants:
        match = match_spellings(_list_spellings(known, first.missing))
        words = [match(word) for word in words]
    position = {word: at for at, word in enumerate(known)}
    found = np.array([position.get(word, len(known)) for word in words], dtype=np.intp)[codes]
    if first.categories:
        return found.astype(np.float64)[:, None]
    return np.stack([(found == at) / one.scale for at, one in enumerate(features)], axis=1)


def name_missing(known: Sequence[str]) -> str:
    """The name of the category of missing values, which no other category has in any case."""
    name, plain = "missing", {word.strip().casefold() for word in known}
    while name in plain:
        name = f"({name})"
    return name


def _list_spellings(known: Sequence[str], missing: object) -> list[str]:
    """The words of the table, without the category that stands for missing ones."""
    others = [word for word in known if word != missing]
    return others if missing == name_missing(others) else list(known)


def _number_words(series: nw.Series[Any]) -> tuple[NDArray[np.int64], list[str]]:
    """Number the words of a column; -1 where one is missing."""
    import narwhals as nw

    if series.implementation.is_polars():  # far faster
        native = series.to_native()
        unique = native.drop_nulls().unique(maintain_order=True)
        words = [str(word) for word in to_words(nw.from_native(unique, series_only=True))]
        codes = native.replace_strict(unique, np.arange(len(unique)), default=None)
        return codes.fill_null(-1).to_numpy().astype(np.int64), words
    number: dict[str, int] = {}
    given = [-1 if word is None else number.setdefault(word, len(number)) for word in to_words(series)]
    return np.array(given, dtype=np.int64), list(number)


def _refuse_rows(name: str, rows: NDArray[np.intp], what: str) -> NoReturn:
    if what == "infinite":
        raise DataError(
            f"Values are infinite in column '{name}': rows {join_names(rows, 5)}, counted from 0. Fix these"
            " cells, or empty them."
        )
    raise DataError(
        f"Column '{name}' is compared by its logarithm. In rows {join_names(rows, 5)}, counted from 0, it is"
        f" {what}. Fix them, or remove these rows."
    )
