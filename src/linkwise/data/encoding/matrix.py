"""From a table to the matrix that a clusterer takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from linkwise import limits
from linkwise.data.cells import format_cell
from linkwise.data.columns.curves import read_curves
from linkwise.data.columns.cycles import cycle_of, read_places
from linkwise.data.columns.log_scale import choose_shift
from linkwise.data.columns.picture_paths import find_pictures
from linkwise.data.columns.roles import Role, to_numbers, to_words, value_kind
from linkwise.data.columns.short_texts import note_short_texts
from linkwise.data.columns.table import COLUMNS, Table
from linkwise.data.columns.uses import check_paths
from linkwise.data.encoding.cycle_columns import encode_cycle
from linkwise.data.encoding.encoded import (
    Encoded,
    Feature,
    block_of,
    list_directions,
    name_missing,
    scale_to_unit_norm,
)
from linkwise.data.encoding.images import encode_pictures
from linkwise.data.encoding.series import encode_series
from linkwise.data.encoding.texts import encode_texts
from linkwise.data.reading import Impute, Scale, Weights
from linkwise.errors import DataError
from linkwise.wording import count_noun, join_names, quote_command

if TYPE_CHECKING:
    import narwhals as nw

Categories = Literal["columns", "codes"]
Block = tuple[list[Feature], NDArray[np.float64]]
"""Columns of the matrix that one column of the table becomes, of shape (n_rows, n_features)."""


_CIRCLES = (
    "Each cycle is a circle, on which the end touches the beginning, such as 23:59 and 0:00. It counts as"
    " much as one number."
)


def encode(
    table: Table,
    *,
    scale: Scale | None = None,
    impute: Impute | None = None,
    categories: Categories = "columns",
) -> Encoded:
    """Turn the features of a table into numbers.

    Parameters
    ----------
    table : Table
        The table, as `read_table` or `from_frame` returns it.
    scale : {"unit", "standard", "none"}, optional
        The scale of numeric columns; by default that of the reading of the table. "unit" (the default for
        records) maps each column to the range 0 to 1, "standard" gives it mean 0 and standard deviation 1,
        and "none" leaves it as it is. A category becomes a column of 0 and 1, and true/false a single one,
        whatever the scale. For series the default is "standard"; see `encode_series`. Texts have no scale.
    impute : {"median"}, optional
        The value for a missing cell; by default that of the reading of the table. A number or date gets the
        median of its column, and a place in a cycle the middle of the circle. Missing categories and truth
        values are a category of their own, called "missing", or with "median" the most frequent one, of
        equally frequent ones the first in alphabetical order.
    categories : {"columns", "codes"}, default="columns"
        How categories are encoded. "columns" makes a column of 0 and 1 for each category, for methods that
        measure distances. "codes" makes one column with the values 0, 1, 2, ... for each source column, for
        methods that take a list of nominal columns.

    Returns
    -------
    Encoded
        The matrix, what each of its columns means, and notes about the choices made.

    Raises
    ------
    TypeError
        `table` is not a `Table`.
    DataError
        The table has infinite values, values too large for the scale, or texts, pictures or series that
        cannot be encoded (see `encode_texts`, `encode_series`).
    ImportError
        The rows are compared by pictures or by the meaning of texts, and a package for it is missing.
    ValueError
        `scale`, `impute` or `categories` is not one of its choices, or does not apply to this kind of data.
    """
    if not isinstance(table, Table):
        raise TypeError(f"table is a {type(table).__name__}. Pass linkwise.data.from_frame(frame).")
    if scale not in (None, "unit", "standard", "none"):
        raise ValueError(f"scale must be 'unit', 'standard' or 'none', not {scale!r}.")
    if impute not in (None, "median"):
        raise ValueError(f"impute must be 'median' or None, not {impute!r}.")
    if categories not in ("columns", "codes"):
        raise ValueError(f"categories must be 'columns' or 'codes', not {categories!r}.")
    scale, impute = scale or table.reading.scale, impute or table.reading.impute
    texts, pictures = (
        [name for name in table.features if table.roles[name] == role] for role in ("document", "image")
    )
    others = tuple(name for name in table.features if name not in (*texts, *pictures))
    if categories == "codes" and (texts or pictures) and others:
        what = "Texts" if texts else "Pictures"
        raise ValueError(f"{what} have no codes, and these rows hold {what.lower()}. Remove categories.")
    if table.kind == "series" or not others:
        _check_no_scale(table, scale, impute)
    if table.kind == "series":
        return _encode_series(table, scale)
    parts = [_encode_column_of_texts(table, name) for name in texts]
    for name in pictures:
        check_paths(table.frame[name])
        parts.append(encode_pictures(find_pictures(table.frame[name], table.folder), name))
    if others:
        parts.insert(0, _encode_records(table, others, scale or "unit", impute, categories))
    return _join_parts(table, parts) if categories == "columns" or texts or pictures else parts[0]


def _encode_column_of_texts(table: Table, name: str) -> Encoded:
    """Encode a column of texts, with a note where another way is usually better."""
    unit = table.reading.text_by
    found = encode_texts(to_words(table.frame[name]), name, unit or "words", table.ids)
    return replace(
        found, notes=(*found.notes, *(note_short_texts(table.frame[name]) if unit is None else ()))
    )


def _join_parts(table: Table, parts: Sequence[Encoded]) -> Encoded:
    """Put the columns of records, texts and pictures side by side, each block with its share."""
    features = [feature for part in parts for feature in part.features]
    X = parts[0].X if len(parts) == 1 else np.hstack([part.X for part in parts])
    X, weighed, notes = weigh_blocks(X, features, table.reading.weights)
    return Encoded(X, weighed, (*(note for part in parts for note in part.notes), *notes))


def _encode_records(
    table: Table, names: Sequence[str], scale: Scale, impute: str | None, categories: Categories
) -> Encoded:
    """Encode the features called `names`, which hold no texts to compare."""
    features = set(names)
    columns = {series.name: series for series in table.frame.iter_columns() if series.name in features}
    directions = _list_directions(table, names) if categories == "columns" else set()
    cycles = {
        name: read_places(columns[name], cycle_of(name).kind)
        for name in names
        if table.roles[name] == "cycle"
    }
    numbers = {
        name: to_numbers(series)
        for name, series in columns.items()
        if name not in cycles and _is_numeric(table.roles[name], series, with_missing=impute is None)
    }
    words = {
        name: to_words(series)
        for name, series in columns.items()
        if name not in numbers and name not in cycles
    }
    _check_finite(table, numbers)
    missing = _count_missing(names, numbers | cycles, words)
    if categories == "columns":
        _check_size(table, names, words)
    merged, log = bool(table.reading.merge_variants), set(table.reading.log or ())
    if log & directions:
        raise DataError(
            f"The cosine compares the numbers in {join_names(sorted(log & directions))} as they are. Add"
            " --metric euclidean, or remove --log (in Python, metric and log)."
        )
    blocks: list[Block] = []
    filled = []
    for name in names:
        if name in words:
            fill, block = _encode_words(name, words[name], impute, categories, merged)
        elif name in cycles:
            fill, block = encode_cycle(name, cycles[name], impute, scale, categories)
        else:
            own = "none" if name in directions else scale
            fill, block = _scale_column(columns[name], table.roles[name], numbers[name], own, name in log)
        if name in directions:
            block = ([replace(feature, is_direction=True) for feature in block[0]], block[1])
        blocks.append(block)
        if name in missing:
            filled.append(f"{name} ({count_noun(missing[name], 'value')}: {fill})")
    has_own = impute is None and any(name in missing for name in words)
    scaled = [
        name for name in names if table.roles[name] not in ("category", "cycle") and name not in directions
    ]
    encoded = _join_blocks(table, blocks, _describe_choices(blocks, scaled, scale, categories))
    told = [*_describe_logs(encoded.features), *normalize_directions(encoded.X, encoded.features)]
    gaps = describe_gaps(filled, has_own=has_own)
    if directions:
        told.insert(0, _describe_directions(encoded.features))
    if cycles and categories == "columns":
        told.insert(0, _CIRCLES)
    return replace(encoded, notes=(*gaps, *encoded.notes, *told))


def _list_directions(table: Table, names: Sequence[str]) -> set[str]:
    """The columns whose rows are compared by the cosine: those of lists, or else all."""
    if table.reading.metric != "cosine":
        return set()
    return {name for name in names if table.roles[name] == "vector"} or set(names)


def _describe_directions(features: Sequence[Feature]) -> str:
    directions = [feature for feature in features if feature.is_direction]
    lists = [name for name in dict.fromkeys(map(block_of, directions)) if name is not None]
    which = f"each list of {join_names(lists)}" if lists else f"each row of {len(directions)} numbers"
    return (
        f"Compared by the cosine: {which} is scaled to norm 1."
        " --metric euclidean compares the numbers column by column."
    )


def _describe_logs(features: Sequence[Feature]) -> list[str]:
    logs = [feature for feature in features if feature.log_shift is not None]
    added = [f"{one.log_shift:g} in {one.source}" for one in logs if one.log_shift]
    if not logs:
        return []
    first = f" Because of zeros, the smallest positive value is added first: {join_names(added)}."
    return [f"Compared by logarithms: {join_names(one.source for one in logs)}.{first if added else ''}"]


def _is_numeric(role: Role, series: nw.Series[Any], *, with_missing: bool) -> bool:
    """Whether a feature is encoded as a number, as truth values are unless missing is a third one."""
    is_truth = value_kind(series) == "bool" and not (with_missing and series.null_count())
    return role != "category" or is_truth


def describe_gaps(filled: Sequence[str], *, has_own: bool, of: str = "") -> list[str]:
    """Note what stands for missing values, and the option that changes it for categories of their own."""
    if not filled:
        return []
    change = " --impute median fills in the most frequent category instead." if has_own else ""
    return [f"Missing values were filled in{of}: {join_names(filled)}.{change}"]


def _check_no_scale(table: Table, scale: Scale | None, impute: str | None) -> None:
    """Refuse what texts and series do not have."""
    if impute is not None:
        raise ValueError(
            f"impute={impute!r} is for records, but these rows are of kind {table.kind!r}. Remove impute."
        )
    if table.kind == "text" and scale is not None:
        raise ValueError(
            f"scale={scale!r} is not for texts, which all become points of unit length. Remove scale."
        )
    if table.kind == "image" and scale is not None:
        raise ValueError(f"scale={scale!r} is not for pictures. Remove scale.")


def _encode_series(table: Table, scale: Scale | None) -> Encoded:
    curves = read_curves(table.frame, table.columns)
    names = table.features if len(table.features) > 1 else None
    return encode_series(curves, scale or "standard", names, warp=bool(table.reading.warp))


def _check_finite(table: Table, numbers: dict[str, NDArray[np.float64]]) -> None:
    bad = {name: np.flatnonzero(np.isinf(values)) for name, values in numbers.items()}
    bad = {name: rows for name, rows in bad.items() if rows.size}
    if bad:
        name, rows = min(bad.items(), key=lambda item: item[1][0])
        row = int(rows[0])
        known = "" if table.ids is None else f", id '{table.ids[row]}'"
        count = sum(rows.size for rows in bad.values())
        raise DataError(
            f"The data hold {count_noun(count, 'infinite value')}, the first in row {row} (counted from"
            f" 0{known}), column '{name}'. Empty these cells, which then count as missing, or"
            " remove the column with --drop (in Python, drop=[...])."
        )


def _count_missing(
    names: Sequence[str], numbers: dict[str, NDArray[np.float64]], words: dict[str, list[str | None]]
) -> dict[str, int]:
    """Count missing values in each feature that has any."""
    counts = {
        name: words[name].count(None) if name in words else int(np.isnan(numbers[name]).sum())
        for name in names
    }
    return {name: count for name, count in counts.items() if count}


def _check_size(table: Table, names: Sequence[str], words: dict[str, list[str | None]]) -> None:
    """Raise if the matrix is too large once each category has a column."""
    made = {name: len({word for word in column if word is not None}) for name, column in words.items()}
    n_columns = len(names) - len(made) + sum(made.values())
    if len(table) * n_columns > limits.MOST_CELLS:
        widest = sorted(made, key=made.__getitem__, reverse=True)
        raise DataError(
            f"{count_noun(len(table), 'row')} would have {n_columns} columns, as each category becomes one:"
            f" {join_names(f'{made[name]} of {name!r}' for name in widest)}."
            f" At most {limits.MOST_CELLS} cells can be clustered."
            " Drop the columns that have most, or cluster a sample of the rows."
        )


def _encode_words(
    name: str, words: list[str | None], impute: str | None, categories: Categories, merged: bool
) -> tuple[str, Block]:
    """Encode a category; missing values become a category of their own, or the most frequent word."""
    known, counts = np.unique([word for word in words if word is not None], return_counts=True)
    if impute is None:
        fill = name_missing(known.tolist())
        known = np.unique([*known.tolist(), fill]) if None in words else known
    else:
        fill = str(known[np.argmax(counts)])
    codes = np.searchsorted(known, np.array([fill if word is None else word for word in words]))
    values = known.tolist()
    if categories == "codes":
        feature = Feature(
            name,
            name,
            None,
            "category",
            categories=tuple(values),
            missing=fill,
            has_merged_variants=merged,
        )
        return fill, ([feature], codes[:, None].astype(np.float64))
    block = (codes[:, None] == np.arange(len(known))).astype(np.float64)
    features = [
        Feature(
            f"{name}={word}",
            name,
            word,
            "category",
            missing=fill,
            has_merged_variants=merged,
        )
        for word in values
    ]
    return fill, (features, block)


def _scale_column(
    series: nw.Series[Any], role: Role, values: NDArray[np.float64], scale: Scale, by_log: bool
) -> tuple[str, Block]:
    name, known = series.name, values[~np.isnan(values)]
    if role == "category":  # true or false; the most frequent, false among equals
        fill = float(known.mean() > 0.5)
        feature = Feature(name, name, "true", role, missing=fill)
        return ("true" if fill else "false"), ([feature], np.where(np.isnan(values), fill, values)[:, None])
    fill = median(known)
    values = np.where(np.isnan(values), fill, values)
    shift = choose_shift(values) if by_log else None
    if shift is not None:
        values = np.log(values + shift)
    offset, spread = _offset_and_scale(values, scale)
    if not np.isfinite(spread) or not np.isfinite(offset):
        raise DataError(
            f"The values of column '{name}' are too large for scale='{scale}'. Use a larger unit."
        )
    told = format_cell(fill)
    if value_kind(series) == "duration":
        feature = Feature(name, name, None, "numeric", offset, spread or 1.0, unit="days", missing=fill)
    else:
        told = _format_moment(fill) if role == "date" else told
        zone = "UTC" if getattr(series.dtype, "time_zone", None) else ""
        feature = Feature(
            name, name, None, role, offset, spread or 1.0, unit=zone, missing=fill, log_shift=shift
        )
    return told, ([feature], ((values - feature.offset) / feature.scale)[:, None])


def _format_moment(days: float) -> str:
    """Write days since 1970-01-01 as a date, with the time unless it is midnight."""
    moment = np.datetime64("1970-01-01", "s") + np.timedelta64(round(days * 86_400), "s")
    return str(moment).replace("T", " ").removesuffix(" 00:00:00")


def median(values: NDArray[np.float64]) -> float:
    """Return the median of numbers, also of huge ones."""
    with np.errstate(over="ignore"):
        found = float(np.median(values))
    return found if np.isfinite(found) else 2 * float(np.median(values / 2))


def _offset_and_scale(values: NDArray[np.float64], scale: Scale) -> tuple[float, float]:
    if scale == "none":
        return 0.0, 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        if scale == "unit":
            return float(values.min()), float(values.max() - values.min())
        return float(values.mean()), float(values.std())


def _join_blocks(table: Table, blocks: list[Block], notes: tuple[str, ...]) -> Encoded:
    features = tuple(feature for some, _ in blocks for feature in some)
    X = np.empty((len(table), len(features)), dtype=np.float64)
    start = 0
    for some, block in blocks:
        X[:, start : start + len(some)] = block
        start += len(some)
    return Encoded(X, features, notes)


def _describe_choices(
    blocks: list[Block],
    scaled: Sequence[str],
    scale: Scale,
    categories: Categories,
) -> tuple[str, ...]:
    notes = []
    if scaled:
        notes.append(
            {
                "unit": "Numeric columns are scaled to run from 0 to 1.",
                "standard": "Numeric columns are scaled to mean 0 and deviation 1.",
                "none": "Numeric columns keep their own units.",
            }[scale]
        )
    made = [
        f"{some[0].source} ({count_noun(len(some), 'column')})"
        for some, _ in blocks
        if some[0].category is not None
    ]
    coded = [
        f"{some[0].source} ({count_noun(len(some[0].categories) or 2, 'value')})"
        for some, _ in blocks
        if some[0].role == "category"
    ]
    if made and categories == "columns":
        notes.append(f"Categories are one-hot encoded: {join_names(made)}.")
    if coded and categories == "codes":
        notes.append(f"Categories are compared as equal or not: {join_names(coded)}.")
    return tuple(notes)


# ---------------------------------------------------------------- blocks, and their shares of the distance
# Each column of texts, of pictures and of lists is a block, and all other columns together are one. 20
# topics and 384 numbers differ in scale, so that one would drown the other. So with several blocks each is
# scaled to the same mean squared distance between two rows. Within the block of all other columns, each
# column is scaled in the same way, for a category would otherwise count several times as much as a number.


def normalize_directions(X: NDArray[np.float64], features: Sequence[Feature]) -> list[str]:
    """Scale the rows of each block of directions to norm 1, in place.

    Note the rows that are zero, and stay so.
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

    Also return its columns, and notes on the shares. With several blocks, the mean squared distance
    between two rows is the weight of the block in each of them. Without, each column keeps its scale,
    times the root of its weight. "none" leaves the blocks as they are.
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
        f"{shares}: {join_names(names)}. --weight {quote_command(f'{blocks[-1] or COLUMNS}=2')} doubles one,"
        " and --weight none leaves all scales as they are."
    )
