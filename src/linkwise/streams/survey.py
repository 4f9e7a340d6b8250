"""The first pass over tables: what each column holds, and a uniform sample of the rows.

`linkwise.data` decides what a column is from all of its values. Here it decides from the sample and from
**witnesses**: of each column the rows with the lowest and the highest number, the first row without a value,
and the first row of each category. So a rare category is seen, numbers are scaled to their full range, and
means and deviations are exact. Medians alone are those of these rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.data.encode import Impute, Scale, check_complete, encode, median
from linkwise.data.encoded import Feature
from linkwise.data.named_columns import NamedColumns
from linkwise.data.roles import FEATURE_ROLES, MOST_NAMED_CATEGORIES, to_numbers, to_words, value_kind
from linkwise.data.table import Table, understand
from linkwise.data.weights import Metric, Weights
from linkwise.errors import DataError
from linkwise.streams.encoding import Encoding
from linkwise.streams.passes import hash_numbers, sample_key
from linkwise.streams.table_files import Block
from linkwise.wording import count_noun, join_names

if TYPE_CHECKING:
    import polars as pl

ROW = "linkwise row"  # column with the number of a row


class TableChoices(NamedTuple):
    """How the columns of tables are used; see `linkwise.data.from_frame` and `linkwise.data.encode`."""

    id_column: str | None = None
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    as_categories: tuple[str, ...] = ()
    weights: Weights | None = None
    metric: Metric | None = None
    scale: Scale = "unit"
    impute: Impute | None = None

    @property
    def as_text(self) -> tuple[str, ...]:
        """Columns whose cells stay as they are written in CSV."""
        ids = () if self.id_column is None else (self.id_column,)
        return (*ids, *self.show, *self.as_categories)


class ColumnTotals(NamedTuple):
    """What is known of a column so far."""

    n_missing: int = 0
    first_missing: int = -1
    """Number of the first row without a value; -1 if there is none."""
    first_infinite: int = -1
    where_infinite: str = ""
    n: int = 0
    """Numbers that are known, with their mean and the sum of squared deviations from it."""
    mean: float = 0.0
    squares: float = 0.0
    low: float = np.inf
    low_row: int = -1
    high: float = -np.inf
    high_row: int = -1
    words: dict[str, tuple[int, int]] | None = {}  # noqa: RUF012  # never changed, but replaced
    """How often each word occurs, and in which row first; None if there are too many."""

    @property
    def witnesses(self) -> set[int]:
        """Rows that show what the column holds."""
        first = set() if self.words is None else {row for _, row in self.words.values()}
        return (first | {self.first_missing, self.low_row, self.high_row}) - {-1}

    def add_numbers(self, values: NDArray[np.float64], block: Block) -> ColumnTotals:
        """Add a column of numbers, NaN where a value is missing."""
        found = self._add_missing(np.isnan(values), block.first)
        infinite = np.isinf(values)
        if infinite.any():
            if found.first_infinite < 0:
                row = int(infinite.argmax())
                found = found._replace(first_infinite=block.first + row, where_infinite=block.locate(row))
            return found
        known = np.flatnonzero(~np.isnan(values))
        if not known.size:
            return found
        values = values[known]
        low, high = int(values.argmin()), int(values.argmax())
        if values[low] < found.low:
            found = found._replace(low=float(values[low]), low_row=block.first + int(known[low]))
        if values[high] > found.high:
            found = found._replace(high=float(values[high]), high_row=block.first + int(known[high]))
        with np.errstate(over="ignore", invalid="ignore"):
            mean, n = float(values.mean()), found.n + len(values)
            gap, squares = mean - found.mean, float(np.square(values - mean).sum())
            return found._replace(
                n=n,
                mean=found.mean + gap * (len(values) / n),
                squares=found.squares + squares + gap**2 * (found.n * len(values) / n),
            )

    def add_words(self, series: pl.Series, block: Block) -> ColumnTotals:
        """Add a column of words."""
        import narwhals as nw

        found = self._add_missing(series.is_null().to_numpy(), block.first)
        if found.words is None:
            return found
        counts = series.drop_nulls().value_counts(sort=False, name="count")
        if len(counts) > MOST_NAMED_CATEGORIES:
            return found._replace(words=None)
        values = counts[series.name]
        words, total = to_words(nw.from_native(values, series_only=True)), dict(found.words)
        for at, (word, count) in enumerate(zip(words, counts["count"].to_list(), strict=True)):
            known = total.get(str(word))
            if known is None or known[1] >= block.first:
                row = block.first + int((series == values[at]).arg_max() or 0)
                known = (0, row) if known is None else (known[0], min(known[1], row))
            total[str(word)] = (known[0] + count, known[1])
        return found._replace(words=total if len(total) <= MOST_NAMED_CATEGORIES else None)

    def add_others(self, series: pl.Series, block: Block) -> ColumnTotals:
        """Add a column of other values, which rows are not compared by."""
        return self._add_missing(series.is_null().to_numpy(), block.first)

    def _add_missing(self, missing: NDArray[np.bool_], first: int) -> ColumnTotals:
        n_missing = int(missing.sum())
        if not n_missing:
            return self
        row = self.first_missing if self.first_missing >= 0 else first + int(missing.argmax())
        return self._replace(n_missing=self.n_missing + n_missing, first_missing=row)


class TableSurvey(NamedTuple):
    """What the first pass has found so far; `add` leaves it as it is, and returns another."""

    n_rows: int
    n_sample: int
    seed: int
    sample: NDArray[np.int64]
    """Numbers of the rows of the sample, ascending."""
    kept: Any
    """A polars.DataFrame of the sample and the witnesses, with their numbers in `ROW`; None without rows."""
    columns: dict[str, ColumnTotals]
    counts: dict[int, int]
    """Number of rows of each file, by its number."""

    @classmethod
    def start(cls, n_sample: int, seed: int) -> TableSurvey:
        """Return a survey of no rows, which will draw `n_sample` of them."""
        return cls(0, n_sample, seed, np.empty(0, dtype=np.int64), None, {}, {})

    def add(self, block: Block, as_words: Collection[str]) -> TableSurvey:
        """Add a block of rows; numbers in the columns `as_words` are taken as words."""
        import polars as pl

        columns = {
            series.name: _add_column(self.columns.get(series.name, ColumnTotals()), series, block, as_words)
            for series in block.frame.get_columns()
        }
        n_rows = self.n_rows + len(block.frame)
        sample = self._draw(np.arange(self.n_rows, n_rows))
        needed = np.union1d(sample, sorted(set().union(*(one.witnesses for one in columns.values()))))
        needed = needed.astype(np.int64)
        new = needed[needed >= self.n_rows]
        rows = block.frame[new - self.n_rows].with_columns(pl.Series(ROW, new))
        kept = rows
        if self.kept is not None:
            kept = pl.concat([self.kept.filter(pl.Series(np.isin(self.kept[ROW].to_numpy(), needed))), rows])
        counts = Counter(self.counts)
        for span in block.spans:
            counts[span.file] += span.n_rows
        return TableSurvey(n_rows, self.n_sample, self.seed, sample, kept, columns, dict(counts))

    def _draw(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the rows with the smallest hashes, of those drawn before and of some more."""
        every = np.concatenate([self.sample, numbers])
        if len(every) <= self.n_sample:
            return every
        hashes = hash_numbers(every, sample_key(self.seed))
        return np.sort(every[np.argpartition(hashes, self.n_sample - 1)[: self.n_sample]])

    @property
    def sample_rows(self) -> Any:
        """The rows of the sample, in order."""
        import polars as pl

        return self.kept.filter(pl.Series(np.isin(self.kept[ROW].to_numpy(), self.sample))).drop(ROW)

    def to_json(self) -> dict[str, Any]:
        """Return all but the arrays and the frame, in types that JSON has."""
        return {
            "n_rows": self.n_rows,
            "n_sample": self.n_sample,
            "seed": self.seed,
            "columns": {name: list(one) for name, one in self.columns.items()},
            "counts": [[file, n] for file, n in self.counts.items()],
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], sample: NDArray[np.int64], kept: Any) -> TableSurvey:
        """Make a survey of what `to_json` returned, the sample and the frame."""
        columns = {name: _restore_column(values) for name, values in stored["columns"].items()}
        counts = {int(file): int(n) for file, n in stored["counts"]}
        return cls(stored["n_rows"], stored["n_sample"], stored["seed"], sample, kept, columns, counts)


def _restore_column(values: Sequence[Any]) -> ColumnTotals:
    found = ColumnTotals(*values)
    words = found.words
    return found._replace(
        words=None if words is None else {word: (n, row) for word, (n, row) in words.items()}
    )


def _add_column(
    totals: ColumnTotals, series: pl.Series, block: Block, as_words: Collection[str]
) -> ColumnTotals:
    import narwhals as nw

    column = nw.from_native(series, series_only=True)
    kind = value_kind(column)
    if kind == "words" or (series.name in as_words and kind == "number"):
        return totals.add_words(series, block)
    if kind == "bool":
        return totals.add_numbers(to_numbers(column), block)
    if kind in ("number", "date", "duration"):
        return totals.add_numbers(to_numbers(column), block)
    return totals.add_others(series, block)


# ---------------------------------------------------------------- what was learned
def learn_encoding(survey: TableSurvey, choices: TableChoices) -> Encoding:
    """Decide how rows become numbers.

    Parameters
    ----------
    survey : TableSurvey
        What was found in all rows.
    choices : TableChoices
        How columns are used.

    Returns
    -------
    Encoding
        The encoding.

    Raises
    ------
    DataError
        No column is left to compare rows by, or it has missing or infinite values.
    """
    import narwhals as nw

    frame = survey.kept.sort(ROW).drop(ROW)
    names = NamedColumns(choices.id_column, choices.columns, (), (), choices.show, choices.hide)
    if choices.columns == ("all",) and "all" not in frame.columns:
        names = names._replace(columns=None, takes_all=True)
    table = understand(
        nw.from_native(frame, eager_only=True),
        names,
        as_categories=choices.as_categories,
        weights=choices.weights,
        metric=choices.metric,
    )
    used = [name for name in table.features if table.roles[name] in FEATURE_ROLES]
    if any(table.roles[name] == "vector" for name in used):
        raise DataError("Lists cannot be compared in data of this size. Make a column of each number.")
    _check_values(survey, used, choices.impute)
    encoded = encode(table, scale=choices.scale, impute=choices.impute)
    features = tuple(
        _take_exact(feature, encoded.X[:, at], survey.columns[feature.source], choices.scale)
        for at, feature in enumerate(encoded.features)
    )
    fills = {name: _find_fill(name, table, features, survey) for name in used} if choices.impute else {}
    told = [note for note in encoded.notes if not note.startswith("Missing values")]
    filled = [
        f"{name} ({count_noun(survey.columns[name].n_missing, 'value')}: {_write_fill(fills[name])})"
        for name in fills
        if survey.columns[name].n_missing
    ]
    if filled:
        told.insert(0, f"Missing values are filled in, by the median of a sample: {join_names(filled)}.")
    dropped = table.choices | {"drop": list(choices.drop)}
    return Encoding(table.columns, features, fills, dropped, (*table.notes, *told))


def _check_values(survey: TableSurvey, used: Sequence[str], impute: str | None) -> None:
    infinite = [survey.columns[name] for name in used if survey.columns[name].first_infinite >= 0]
    if infinite:
        first = min(infinite, key=lambda one: one.first_infinite)
        name = next(name for name in used if survey.columns[name] is first)
        raise DataError(
            f"{first.where_infinite} holds an infinite value in column '{name}'. Empty these cells and add"
            " --impute median, or leave the column out with --drop."
        )
    if impute is None:
        missing = {name: survey.columns[name].n_missing for name in used}
        check_complete({name: n for name, n in missing.items() if n})


def _take_exact(feature: Feature, values: NDArray[np.float64], found: ColumnTotals, scale: str) -> Feature:
    """Replace the mean and deviation of a sample by those of all rows."""
    is_number = feature.category is None and not feature.is_direction
    if scale != "standard" or not is_number or not found.n:
        return feature
    spread, exact = float(values.std()), float(np.sqrt(found.squares / found.n))
    if not np.isfinite(exact) or not np.isfinite(found.mean):
        raise DataError(f"The values of column '{feature.source}' are too large for scale='standard'.")
    return replace(feature, offset=found.mean, scale=(exact / spread) if spread and exact else feature.scale)


def _find_fill(name: str, table: Table, features: Sequence[Feature], survey: TableSurvey) -> float | str:
    """What a missing value of a column counts as."""
    feature, found = next(one for one in features if one.source == name), survey.columns[name]
    if feature.missing is not None:
        return feature.missing
    if feature.category is None:
        values = to_numbers(table.frame[name])
        return median(values[~np.isnan(values)])
    if feature.category == "true" and feature.name == name:
        return float(found.mean > 0.5)
    words = found.words or {}
    return min(words, key=lambda word: (-words[word][0], word))


def _write_fill(fill: float | str) -> str:
    return fill if isinstance(fill, str) else f"{fill:g}"
