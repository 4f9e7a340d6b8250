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

from linkwise.data.columns.cycles import cycle_of
from linkwise.data.columns.named_columns import list_names
from linkwise.data.columns.roles import FEATURE_ROLES, MOST_NAMED_CATEGORIES, to_numbers, to_words, value_kind
from linkwise.data.columns.table import understand
from linkwise.data.columns.variants import match_spellings
from linkwise.data.encoding.cycle_columns import MIDDLE
from linkwise.data.encoding.encoded import Feature
from linkwise.data.encoding.matrix import describe_gaps, encode
from linkwise.data.encoding.texts import learn_texts
from linkwise.data.reading import Reading
from linkwise.errors import DataError
from linkwise.large.encoding import Encoding
from linkwise.large.passes import find_bound, hash_numbers, sample_key
from linkwise.large.table_files import Block
from linkwise.wording import count_noun

if TYPE_CHECKING:
    import polars as pl

HEAD = 2000  # cells that show whether a column has too many words to count
ROW = "linkwise row"  # column with the number of a row


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

    @classmethod
    def of(cls, series: pl.Series, block: Block, as_words: Collection[str]) -> ColumnTotals:
        """Collect what is known of the rows of a block."""
        import narwhals as nw

        column = nw.from_native(series, series_only=True)
        kind = value_kind(column)
        if kind == "words" or (series.name in as_words and kind == "number"):
            return _count_missing(series.is_null().to_numpy(), block)._replace(
                words=_count_words(series, block.first)
            )
        if kind in ("bool", "number", "date", "duration"):
            return _add_up(to_numbers(column), block)
        return _count_missing(series.is_null().to_numpy(), block)

    def merge(self, more: ColumnTotals) -> ColumnTotals:
        """Add what is known of later rows."""
        is_finite = self.first_infinite < 0
        with np.errstate(over="ignore", invalid="ignore"):
            n, gap = self.n + more.n, more.mean - self.mean
            mean = self.mean + gap * (more.n / n) if more.n else self.mean
            between = gap**2 * (self.n * more.n / n) if more.n else 0.0
        return ColumnTotals(
            self.n_missing + more.n_missing,
            self.first_missing if self.first_missing >= 0 else more.first_missing,
            more.first_infinite if is_finite else self.first_infinite,
            more.where_infinite if is_finite else self.where_infinite,
            n,
            mean,
            self.squares + more.squares + between,
            *((more.low, more.low_row) if more.low < self.low else (self.low, self.low_row)),
            *((more.high, more.high_row) if more.high > self.high else (self.high, self.high_row)),
            _merge_words(self.words, more.words),
        )


def _count_missing(missing: NDArray[np.bool_], block: Block) -> ColumnTotals:
    n_missing = int(missing.sum())
    return ColumnTotals(n_missing, block.first + int(missing.argmax()) if n_missing else -1)


def _add_up(values: NDArray[np.float64], block: Block) -> ColumnTotals:
    """Add up numbers, NaN where a value is missing."""
    found = _count_missing(np.isnan(values), block)
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        return found._replace(first_infinite=block.first + row, where_infinite=block.locate(row))
    known = np.flatnonzero(~np.isnan(values))
    if not known.size:
        return found
    values = values[known]
    low, high = int(values.argmin()), int(values.argmax())
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values.mean())
        squares = float(np.square(values - mean).sum())
    return found._replace(
        n=len(values),
        mean=mean,
        squares=squares,
        low=float(values[low]),
        low_row=block.first + int(known[low]),
        high=float(values[high]),
        high_row=block.first + int(known[high]),
    )


def _count_words(series: pl.Series, first: int) -> dict[str, tuple[int, int]] | None:
    """How often each word occurs, and in which row first; None if there are too many."""
    import narwhals as nw
    import polars as pl

    if series[:HEAD].n_unique() > MOST_NAMED_CATEGORIES + 1:  # one may be a missing value
        return None
    counts = (
        pl.DataFrame({"word": series, "row": np.arange(first, first + len(series))})
        .filter(pl.col("word").is_not_null())
        .group_by("word")
        .agg(pl.len().alias("n"), pl.col("row").min())
        .sort("row")
    )
    if len(counts) > MOST_NAMED_CATEGORIES:
        return None
    total: dict[str, tuple[int, int]] = {}
    words = to_words(nw.from_native(counts["word"], series_only=True))
    for word, n, row in zip(words, counts["n"].to_list(), counts["row"].to_list(), strict=True):
        before = total.get(str(word), (0, row))
        total[str(word)] = (before[0] + n, before[1])
    return total


def _merge_words(
    words: dict[str, tuple[int, int]] | None, more: dict[str, tuple[int, int]] | None
) -> dict[str, tuple[int, int]] | None:
    if words is None or more is None:
        return None
    total = dict(words)
    for word, (n, row) in more.items():
        before = total.get(word, (0, row))
        total[word] = (before[0] + n, before[1])
    return total if len(total) <= MOST_NAMED_CATEGORIES else None


class TableSurvey(NamedTuple):
    """What the first pass has found; `merge` leaves both as they are."""

    n_rows: int
    sample: NDArray[np.int64]
    """Numbers of the rows of the sample, ascending."""
    kept: Any
    """A polars.DataFrame of the sample and the witnesses, with their numbers in `ROW`; None without rows."""
    columns: dict[str, ColumnTotals]
    counts: dict[int, int]
    """Number of rows of each file, by its number."""

    @classmethod
    def start(cls) -> TableSurvey:
        """Return a survey of no rows."""
        return cls(0, np.empty(0, dtype=np.int64), None, {}, {})

    @classmethod
    def of(cls, block: Block, draw: Draw, as_words: Collection[str]) -> TableSurvey:
        """Survey a block of rows; numbers in the columns `as_words` are taken as words."""
        columns = {
            series.name: ColumnTotals.of(series, block, as_words) for series in block.frame.get_columns()
        }
        numbers = np.arange(block.first, block.first + len(block.frame))
        sample = numbers[hash_numbers(numbers, draw.key) <= draw.bound]
        needed = _find_needed(sample, columns)
        kept = block.frame[needed - block.first].with_columns(_number_rows(needed))
        counts = Counter[int]()
        for span in block.spans:
            counts[span.file] += span.n_rows
        return cls(len(block.frame), sample, kept, columns, dict(counts))

    def merge(self, more: TableSurvey) -> TableSurvey:
        """Add what was found in later rows."""
        import polars as pl

        columns = {
            name: self.columns.get(name, ColumnTotals()).merge(one) for name, one in more.columns.items()
        }
        sample = np.concatenate([self.sample, more.sample])
        needed = _find_needed(sample, columns)
        parts = [
            part.filter(pl.Series(np.isin(part[ROW].to_numpy(), needed)))
            for part in (self.kept, more.kept)
            if part is not None
        ]
        counts = Counter(self.counts)
        counts.update(more.counts)
        return TableSurvey(self.n_rows + more.n_rows, sample, pl.concat(parts), columns, dict(counts))

    @property
    def sample_rows(self) -> Any:
        """The rows of the sample, in order."""
        import polars as pl

        return self.kept.filter(pl.Series(np.isin(self.kept[ROW].to_numpy(), self.sample))).drop(ROW)

    def to_json(self) -> dict[str, Any]:
        """Return all but the arrays and the frame, in types that JSON has."""
        return {
            "n_rows": self.n_rows,
            "columns": {name: list(one) for name, one in self.columns.items()},
            "counts": [[file, n] for file, n in self.counts.items()],
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], sample: NDArray[np.int64], kept: Any) -> TableSurvey:
        """Make a survey of what `to_json` returned, the sample and the frame."""
        columns = {name: _restore_column(values) for name, values in stored["columns"].items()}
        counts = {int(file): int(n) for file, n in stored["counts"]}
        return cls(stored["n_rows"], sample, kept, columns, counts)


class Draw(NamedTuple):
    """How the sample is drawn: a row is in it if the hash of its number is at most `bound`."""

    key: np.uint64
    bound: np.uint64

    @classmethod
    def plan(cls, n_rows: int, n_sample: int, seed: int) -> Draw:
        """Plan a uniform sample of rows."""
        key = sample_key(seed)
        return cls(key, find_bound(n_rows, n_sample, key))


def _find_needed(sample: NDArray[np.int64], columns: Mapping[str, ColumnTotals]) -> NDArray[np.int64]:
    """The rows of the sample and the witnesses."""
    witnesses = sorted(set[int]().union(*(one.witnesses for one in columns.values())))
    return np.union1d(sample, np.array(witnesses, dtype=np.int64))


def _number_rows(numbers: NDArray[np.int64]) -> pl.Series:
    import polars as pl

    return pl.Series(ROW, numbers)


def _restore_column(values: Sequence[Any]) -> ColumnTotals:
    found = ColumnTotals(*values)
    words = found.words
    return found._replace(
        words=None if words is None else {word: (n, row) for word, (n, row) in words.items()}
    )


# ---------------------------------------------------------------- what was learned
def learn_encoding(survey: TableSurvey, reading: Reading) -> Encoding:
    """Decide how rows become numbers, by what was found in all of them.

    Raises `DataError` if no column is left to compare rows by, or it has infinite values.
    """
    import narwhals as nw

    frame = survey.kept.sort(ROW).drop(ROW)
    names = list_names(frame.columns, replace(reading, drop=None))
    table = understand(nw.from_native(frame, eager_only=True), names, reading)
    used = [name for name in table.features if table.roles[name] in FEATURE_ROLES]
    in_file = {name: _find_file_column(name, table.roles[name]) for name in used}
    texts = [name for name in used if table.roles[name] == "document"]
    numbers = [] if reading.is_of_series else [name for name in used if name not in texts]
    _check_values(survey, list(dict.fromkeys(in_file[name] for name in numbers)))
    encoded = encode(table)
    unit = reading.text_by or "words"
    spaces = {name: learn_texts(to_words(table.frame[name]), name, unit)[1] for name in texts}
    scale = reading.scale or "unit"
    features = tuple(
        _take_exact(feature, encoded.X[:, at], survey.columns[in_file[feature.source]], scale)
        if feature.source in numbers
        else feature
        for at, feature in enumerate(encoded.features)
    )
    filled_in = [name for name in numbers if table.roles[name] != "vector"]
    fills = {name: _find_fill(name, features, survey, reading.impute) for name in filled_in}
    features = tuple(
        feature
        if feature.cycle is not None
        else replace(feature, missing=fills.get(feature.source, feature.missing))
        for feature in features
    )
    told = [note for note in encoded.notes if not note.startswith("Missing values")]
    filled = [
        f"{name} ({count_noun(survey.columns[in_file[name]].n_missing, 'value')}: {_write_fill(fills[name])})"
        for name in fills
        if survey.columns[in_file[name]].n_missing
    ]
    has_own = reading.impute is None and any(
        survey.columns[in_file[name]].n_missing and table.roles[name] == "category" for name in fills
    )
    gaps = describe_gaps(filled, has_own=has_own, of=", by medians of a sample")
    return Encoding(table.columns, features, table.reading, (*table.notes, *gaps, *told), spaces)


def _find_file_column(name: str, role: str) -> str:
    """The column of the files that a column of the table was made from."""
    if role == "vector":
        return name.rpartition("[")[0]
    return cycle_of(name).column if role == "cycle" else name


def _check_values(survey: TableSurvey, used: Sequence[str]) -> None:
    infinite = [survey.columns[name] for name in used if survey.columns[name].first_infinite >= 0]
    if infinite:
        first = min(infinite, key=lambda one: one.first_infinite)
        name = next(name for name in used if survey.columns[name] is first)
        raise DataError(
            f"{first.where_infinite} holds an infinite value in column '{name}'. Empty these cells, which"
            " then count as missing, or remove the column with --drop."
        )


def _take_exact(feature: Feature, values: NDArray[np.float64], found: ColumnTotals, scale: str) -> Feature:
    """Replace the mean and deviation of a sample by those of all rows, but for logarithms and lists."""
    is_number = feature.category is None and feature.cycle is None and not feature.is_direction
    is_number = is_number and feature.log_shift is None and feature.role != "vector"
    if scale != "standard" or not is_number or not found.n:
        return feature
    spread, exact = float(values.std()), float(np.sqrt(found.squares / found.n))
    if not np.isfinite(exact) or not np.isfinite(found.mean):
        raise DataError(f"The values of column '{feature.source}' are too large for scale='standard'.")
    return replace(feature, offset=found.mean, scale=(exact / spread) if spread and exact else feature.scale)


def _find_fill(
    name: str, features: Sequence[Feature], survey: TableSurvey, impute: str | None
) -> float | str:
    """What a missing value of a column counts as: the most frequent value of all rows where that is asked."""
    feature = next(one for one in features if one.source == name)
    if feature.missing is None:
        return MIDDLE
    found = survey.columns[name]
    if feature.category is None:
        return feature.missing
    if feature.category == "true" and feature.name == name:
        return float(found.mean > 0.5)
    if impute is None:
        return feature.missing
    match = match_spellings([one.category for one in features if one.source == name and one.category])
    counts = Counter[str]()
    for word, (n, _) in (found.words or {}).items():
        counts[match(word) if feature.has_merged_variants else word] += n
    return min(counts, key=lambda word: (-counts[word], word))


def _write_fill(fill: float | str) -> str:
    return fill if isinstance(fill, str) else f"{fill:g}"
