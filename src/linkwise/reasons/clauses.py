"""The test of a tree as a condition on a column, in the units and words of the user's table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from math import floor, inf, isfinite
from operator import and_
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster.trees.tree import Condition, Tree, Way
from linkwise.data import Feature
from linkwise.data.columns.cycles import format_place
from linkwise.reasons.round_numbers import format_number, round_between

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SURE_DIGITS = 12  # reliable digits of a value that was scaled and is scaled back
ULPS = 8  # by which such a value may be wrong
UNITS_PER_DAY = (1.0, 24.0, 24.0 * 60, 24.0 * 3600, 24.0 * 3600 * 1000)  # days, hours, minutes, ... in a day

Kind = Literal["number", "day", "moment", "hour", "season"]


@dataclass(frozen=True, slots=True)
class Between:
    """A number or a date lies above one bound and does not exceed another.

    Attributes
    ----------
    column : str
    above, up_to : float
        Infinite for no bound; days since 1970-01-01 for dates, hours for times of day, and days since 1
        January for seasons.
    kind : {"number", "day", "moment", "hour", "season"}
        A moment is a date with a time of day, an hour is a time of day and a season is a day of the year; no
        row lies exactly on a bound that is a moment or an hour.
    unit : str
        Of the numbers, or the time zone of the moments.
    """

    column: str
    above: float = -inf
    up_to: float = inf
    kind: Kind = "number"
    unit: str = ""

    def __str__(self) -> str:
        name, unit = quote_word(self.column), f" {self.unit}" if self.unit else ""
        if self.kind == "number":
            low, high = format_number(self.above), f"{format_number(self.up_to)}{unit}"
            if isfinite(self.above) and isfinite(self.up_to):
                return f"{low} < {name} ≤ {high}"
            return f"{name} > {low}{unit}" if isfinite(self.above) else f"{name} ≤ {high}"
        first, last = ("after", "up to") if self.kind in ("day", "season") else ("from", "before")
        parts = [
            f"{word} {_format_time(bound, self.kind)}{unit}"
            for word, bound in ((first, self.above), (last, self.up_to))
            if isfinite(bound)
        ]
        return f"{name} " + " and ".join(parts)

    def otherwise(self) -> Between:
        """The opposite clause, of a lower bound alone."""
        return replace(self, above=-inf, up_to=self.above)

    def __and__(self, other: Between) -> Between:
        return replace(self, above=max(self.above, other.above), up_to=min(self.up_to, other.up_to))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        low, high = (
            None
            if not isfinite(bound)
            else bound
            if self.kind == "number"
            else _format_time(bound, self.kind)
            for bound in (self.above, self.up_to)
        )
        return {"column": self.column, "above": low, "up_to": high} | (
            {"unit": self.unit} if self.unit else {}
        )


@dataclass(frozen=True, slots=True)
class Among:
    """A word is one of several.

    Attributes
    ----------
    column : str
    words : frozenset of str
    known : tuple of str
        All words of the column.
    """

    column: str
    words: frozenset[str]
    known: tuple[str, ...]

    def __str__(self) -> str:
        name = quote_word(self.column)
        inside = [quote_word(word) for word in self.known if word in self.words]
        outside = [quote_word(word) for word in self.known if word not in self.words]
        if len(inside) == 1:
            return f"{name} = {inside[0]}"
        if len(inside) <= len(outside) or not outside:
            return f"{name} is {_either(inside)}"
        return f"{name} is not {_either(outside)}"

    def otherwise(self) -> Among:
        """The opposite clause."""
        return replace(self, words=frozenset(self.known) - self.words)

    def __and__(self, other: Among) -> Among:
        return Among(self.column, self.words & other.words, self.known)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"column": self.column, "among": [word for word in self.known if word in self.words]}


Clause = Between | Among


def _either(words: list[str]) -> str:
    if not words:
        return "none of its words"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def quote_word(word: str) -> str:
    """A word as it is; in quotes if it could be confused with the text around it."""
    plain = " ".join(word.split()) == word and word.isprintable() and '"' not in word
    if plain and word and "," not in word and not {"or", "and"} & set(word.split()):
        return word
    quoted = json.dumps(word, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in quoted)


def _format_time(days: float, kind: Kind) -> str:
    """A place in a cycle, a day, or a moment with as many digits of its time as needed."""
    if kind in ("hour", "season"):
        return format_place(days, kind)
    moment = EPOCH + timedelta(microseconds=round(days * 86_400e6))
    if kind == "day" and moment.time() == EPOCH.time():
        return moment.date().isoformat()
    precision = "microseconds" if moment.microsecond else "seconds" if moment.second else "minutes"
    return moment.replace(tzinfo=None).isoformat(" ", timespec=precision)


# ---------------------------------------------------------------- from a tree
def describe_tests(tree: Tree, X: NDArray[Any], features: tuple[Feature, ...]) -> dict[int, Clause]:
    """The clause for the answer yes at each inner node of a tree.

    A threshold is shown as the roundest number that divides the rows of X at this node in the same way.
    """
    found: dict[int, Clause] = {}
    stack = [(0, np.arange(len(X)))]
    while stack:
        node, rows = stack.pop()
        test = tree.tests[node]
        if test is None:
            continue
        found[node] = _clause(test, X, rows, features)
        holds = test.holds(X, rows)
        stack += [(int(tree.yes[node]), rows[holds]), (int(tree.no[node]), rows[~holds])]
    return found


def _clause(
    test: Condition, X: NDArray[Any], rows: NDArray[np.intp], features: tuple[Feature, ...]
) -> Clause:
    """The clause for the answer yes to a test, given some rows of X."""
    feature = features[test.column]
    if test.equals:
        return _word(test, X[:, test.column], feature)
    if feature.category is not None:
        siblings = tuple(
            f.category for f in features if f.source == feature.source and f.category is not None
        )
        known = ("false", "true") if feature.name == feature.source else siblings
        return Among(feature.source, frozenset([feature.category]), known)
    here = X[rows, test.column].astype(np.float64)
    low, high = (_in_own_units(bound, feature) for bound in gap(here, test.value))
    if feature.cycle == "hour":
        return Between(feature.source, above=24 * _between(low / 24, high / 24), kind="hour")
    if feature.cycle == "season":
        return Between(feature.source, above=_day(low, high), kind="season")
    if feature.role != "date":
        return Between(feature.source, above=round_between(low, high), unit=feature.unit)
    whole = _in_own_units(X[:, test.column].astype(np.float64), feature)
    kind: Kind = "day" if np.array_equal(whole, np.round(whole)) else "moment"
    bound = _day(low, high) if kind == "day" else _between(low, high)
    return Between(feature.source, above=bound, kind=kind, unit=feature.unit)


def _word(test: Condition, column: NDArray[Any], feature: Feature) -> Among:
    if feature.categories:
        at = int(test.value)
        inside = feature.categories[at] if 0 <= at < len(feature.categories) else format_number(test.value)
        return Among(feature.source, frozenset([inside]), feature.categories)
    known = np.union1d(column.astype(np.float64), [test.value]).tolist()
    return Among(feature.source, frozenset([format_number(test.value)]), tuple(map(format_number, known)))


def gap(x: NDArray[np.float64], threshold: float) -> tuple[float, float]:
    """The largest value up to a threshold, and the smallest above it; the threshold if there is none."""
    low, high = float(x[x <= threshold].max(initial=-inf)), float(x[x > threshold].min(initial=inf))
    return low if isfinite(low) else threshold, high if isfinite(high) else threshold


def _in_own_units(value: Any, feature: Feature) -> Any:
    """Values as they were before scaling, without the digits that scaling added."""
    if (feature.offset, feature.scale, feature.log_shift) == (0.0, 1.0, None):
        return value
    raw = np.asarray(feature.to_original(value), dtype=np.float64)
    is_log = feature.log_shift is not None  # the exponential multiplies an error by the size of the logarithm
    size = np.maximum(np.abs(raw), 64 * np.abs(raw) if is_log else abs(feature.offset))
    place = 10.0 ** (SURE_DIGITS - 1 - np.floor(np.log10(np.maximum(size, 1e-290))))
    tidy = np.round(raw * place) / place
    found = np.where(np.abs(tidy - raw) <= ULPS * np.spacing(size), tidy, raw)
    return float(found) if found.ndim == 0 else found


def _day(low: float, high: float) -> float:
    """A whole day that divides two others."""
    return float(max(floor(low + (high - low) / 2), round(low)))


def _between(low: float, high: float) -> float:
    """A round moment between two others, in the largest unit that has one."""
    middle = low + (high - low) / 2
    for step in UNITS_PER_DAY:
        for count in (floor(middle * step), floor(middle * step) + 1):
            if low < count / step < high:
                return count / step
    return middle


def clauses_by_answer(clauses: Mapping[int, Clause]) -> dict[tuple[int, bool], Clause]:
    """The clause for each answer at each inner node, given those for the answer yes."""
    opposites = {(node, False): clause.otherwise() for node, clause in clauses.items()}
    return opposites | {(node, True): clause for node, clause in clauses.items()}


def merge_clauses(way: Way, clauses: Mapping[tuple[int, bool], Clause]) -> tuple[Clause, ...]:
    """Merge the clauses of all tests on a path into one per column, in order of their first test."""
    by_column: dict[str, list[Clause]] = {}
    for step in way:
        clause = clauses[step]
        by_column.setdefault(clause.column, []).append(clause)
    return tuple(reduce(and_, clauses_of_column) for clauses_of_column in by_column.values())
