"""One line about each cluster: what distinguishes it most from all other rows.

For a table these are one or two columns with their values, for texts the telling words. Rules say more, and
take longer: `linkwise.explain`. Above 10 000 rows, or 2000 texts, profiles are those of a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from math import erf, floor, log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.data import Encoded, Feature
from linkwise.data.columns.cycles import PERIODS, CycleKind, format_place, to_coordinates
from linkwise.errors import DataError
from linkwise.reasons.clauses import EPOCH, quote_word
from linkwise.reasons.round_numbers import format_number
from linkwise.reasons.sentences import format_percent
from linkwise.reasons.telling_words import LONGEST_WORD, TextCounts, count_texts, rank_words
from linkwise.types import Labels

MOST_ROWS = 10_000
MOST_TEXTS = 2_000
MOST_COLUMNS = 2  # of a profile
MOST_WORDS = 4
SMALLEST_DIFFERENCE = 0.25  # of the difference of a column; below, it distinguishes nothing
SECOND = 0.6  # of the difference of the best column that the second one needs
QUARTILES = (25, 75)
INNER = (0.1, 0.9)

Profiles = dict[int, str]
"""A line about each cluster, by its number."""


class Trait(NamedTuple):
    """How much a column distinguishes a cluster, from 0 to 1, and a function that puts it into words."""

    difference: float
    describe: Callable[[], str]


def create_profiler(columns: Encoded) -> Callable[[Labels], Profiles]:
    """Return a function that takes labels and returns a line about each cluster by the columns of a table.

    The line is empty for a cluster that nothing distinguishes. `columns` are in their original units.
    """
    rows = _sample(len(columns.X), MOST_ROWS)
    X = columns.X if rows is None else columns.X[rows]

    def profile(labels: Labels) -> Profiles:
        found = labels if rows is None else labels[rows]
        numbers, group = np.unique(found, return_inverse=True)
        size = np.bincount(group, minlength=len(numbers))
        traits: list[list[Trait]] = [[] for _ in numbers]
        if len(numbers) > 1:
            for at, feature in enumerate(columns.features):
                for of_cluster, trait in zip(traits, _compare(X[:, at], feature, group, size), strict=True):
                    of_cluster.extend(trait)
        lines = {int(number): _join(each) for number, each in zip(numbers, traits, strict=True)}
        return {number: lines.get(number, "") for number in np.unique(labels).tolist()}

    return profile


def create_text_profiler(text_of: Callable[[int], str], n_rows: int) -> Callable[[Labels], Profiles]:
    """Return a function that profiles clusters of texts by their telling words."""
    rows = _sample(n_rows, MOST_TEXTS)
    counted: list[TextCounts] = []  # once, when the first profiles are asked for

    def profile(labels: Labels) -> Profiles:
        if not counted:
            try:
                counted.append(
                    count_texts([text_of(row) for row in (range(n_rows) if rows is None else rows.tolist())])
                )
            except DataError:  # no text has a word
                return {}
        found = labels if rows is None else labels[rows]
        told = rank_words(counted[0], found, MOST_WORDS) if found.min() < found.max() else []
        lines = {int(str(each.cluster)): ", ".join(word.word for word in each.words) for each in told}
        return {number: lines.get(number, "") for number in np.unique(labels).tolist()}

    return profile


def _sample(n_rows: int, most: int) -> NDArray[np.int64] | None:
    """Return rows at random, in order; None for all rows."""
    if n_rows <= most:
        return None
    return np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))


def _join(traits: list[Trait]) -> str:
    """Put the strongest traits into a line."""
    best = sorted(traits, key=lambda trait: -trait.difference)[:MOST_COLUMNS]
    kept = [
        trait for trait in best if trait.difference >= max(SMALLEST_DIFFERENCE, SECOND * best[0].difference)
    ]
    return " · ".join(trait.describe() for trait in kept)


# ---------------------------------------------------------------- columns
def _compare(
    x: NDArray[np.float64], feature: Feature, group: NDArray[np.intp], size: NDArray[np.intp]
) -> list[list[Trait]]:
    """Compare each cluster with all other rows in one column: at most one trait a cluster."""
    name = quote_word(feature.source)
    if feature.categories:
        return _compare_codes(x, feature.categories, name, group, size)
    if feature.category is not None:
        return _compare_codes(x, ("", feature.category), name, group, size)
    if feature.cycle is not None:
        return _compare_places(x, feature.cycle, name, group, size)
    if feature.role not in ("numeric", "date"):
        return [[] for _ in size]
    return _compare_numbers(x, feature, name, group, size)


def _compare_numbers(
    x: NDArray[np.float64], feature: Feature, name: str, group: NDArray[np.intp], size: NDArray[np.intp]
) -> list[list[Trait]]:
    """Compare the means of both groups of rows, and how many others lie where most rows of a cluster do.

    The first misses clusters in the middle, and the second is the same in all columns for a single row.
    """
    n, scale = len(x), float(np.abs(x).max()) or 1.0
    rest = np.maximum(n - size, 1)
    sums, squares = np.bincount(group, x / scale), np.bincount(group, (x / scale) ** 2)
    mean, others = sums / size, (sums.sum() - sums) / rest
    spread = squares / size - mean**2 + (squares.sum() - squares) / rest - others**2
    apart = np.abs(mean - others) / np.sqrt(np.maximum(spread / 2, 1e-24))
    low, high = _inner_range(x, group, size)
    is_within = np.bincount(group, (x >= low[group]) & (x <= high[group]))
    in_order = np.sort(x)
    covered = np.searchsorted(in_order, high, "right") - np.searchsorted(in_order, low) - is_within
    alone = is_within / size - covered / rest
    difference = [(erf(a / 2) + b) / 2 for a, b in zip(apart.tolist(), alone.tolist(), strict=True)]

    def describe(at: int) -> str:
        inside = _describe_range(x[group == at], x[group != at], feature)
        outside = _describe_range(x[group != at], x[group == at], feature)
        return f"{name} {inside} (others {outside})"

    return [[Trait(difference[at], partial(describe, at))] for at in range(len(size))]


def _compare_places(
    x: NDArray[np.float64], kind: CycleKind, name: str, group: NDArray[np.intp], size: NDArray[np.intp]
) -> list[list[Trait]]:
    """Compare how many rows lie near the middle of a cluster, where most of its rows do."""
    points, period = to_coordinates(x, kind), PERIODS[kind]
    sums = np.stack([np.bincount(group, points[:, at]) for at in (0, 1)], axis=1)
    rest = np.asarray(sums.sum(axis=0) - sums, dtype=np.float64)
    middles, others = _find_middles(np.asarray(sums, dtype=np.float64), period), _find_middles(rest, period)
    traits: list[list[Trait]] = []
    for at, middle in enumerate(middles.tolist()):
        away = np.abs((x - middle + period / 2) % period - period / 2)
        reach = np.percentile(away[group == at], 100 * (INNER[1] - INNER[0]))
        is_near = away <= reach
        near = int(is_near[group == at].sum())
        difference = near / size[at] - (int(is_near.sum()) - near) / max(len(x) - int(size[at]), 1)
        here, there = format_place(middle, kind), format_place(float(others[at]), kind)
        line = f"{name} around {here} (others around {there})"
        traits.append([Trait(difference, partial(str, line))])
    return traits


def _find_middles(sums: NDArray[np.float64], period: float) -> NDArray[np.float64]:
    """The middle of places from the sums of their coordinates, to a quarter of an hour or to the day."""
    middles = np.arctan2(sums[:, 0], sums[:, 1]) * (period / (2 * np.pi))
    steps = 4 if period == PERIODS["hour"] else 1
    rounded: NDArray[np.float64] = (np.round(middles * steps) / steps) % period
    return rounded


def _inner_range(
    x: NDArray[np.float64], group: NDArray[np.intp], size: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds between which the middle 80 % of each group lie."""
    in_order = x[np.lexsort((x, group))]
    start = np.cumsum(size) - size
    last = size - 1
    return in_order[start + (INNER[0] * last).astype(np.intp)], in_order[
        start + np.ceil(INNER[1] * last).astype(np.intp)
    ]


def _describe_range(x: NDArray[np.float64], others: NDArray[np.float64], feature: Feature) -> str:
    """Put the middle half of some values into words, as exact as the difference to others needs."""
    low, high = (feature.to_original(bound) for bound in np.percentile(x, QUARTILES))
    low, high = min(low, high), max(low, high)
    if feature.role == "date":
        first, last = ((EPOCH + timedelta(days=floor(day))).date().isoformat() for day in (low, high))
        return first if first == last else f"{first} to {last}"
    far = feature.to_original(float(np.median(x))) - feature.to_original(float(np.median(others)))
    step = max(abs(far), high - low) or abs(high) or 1.0
    place = 1 - floor(log10(step))
    first, last = (format_number(round(bound, place)) for bound in (low, high))
    unit = f" {feature.unit}" if feature.unit else ""
    if first == last:
        return f"{first}{unit}"
    return f"{first}{' to ' if low < 0 else '–'}{last}{unit}"


def _compare_codes(
    x: NDArray[np.float64],
    words: tuple[str, ...],
    name: str,
    group: NDArray[np.intp],
    size: NDArray[np.intp],
) -> list[list[Trait]]:
    """Compare the share of each word; the words of a trait are that with the largest difference."""
    codes = np.clip(x.astype(np.int64), 0, len(words) - 1)
    counts = np.zeros((len(size), len(words)))
    np.add.at(counts, (group, codes), 1)
    inside = counts / size[:, None]
    outside = (counts.sum(axis=0) - counts) / np.maximum(len(x) - size, 1)[:, None]
    difference = inside - outside
    if words[0] == "" and len(words) == 2:
        difference[:, 0] = 0
    best = difference.argmax(axis=1)

    def describe(at: int) -> str:
        word = best[at]
        text = quote_word(words[word][:LONGEST_WORD])
        here, there = format_percent(inside[at, word]), format_percent(outside[at, word])
        return f"{name} = {text} in {here} (others {there})"

    return [[Trait(float(difference[at, best[at]]), partial(describe, at))] for at in range(len(size))]
