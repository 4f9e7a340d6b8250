"""What a test of a tree says about a column, in the units and words of the user's table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from math import floor, inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster.common.tree import Condition, Tree, Way
from linkwise.data import Feature
from linkwise.reasons.roundest import roundest, shown_number

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SURE_DIGITS = 12  # of a value that was scaled and is scaled back


@dataclass(frozen=True, slots=True)
class Between:
    """A number or a date lies above one bound and does not exceed another.

    Attributes
    ----------
    column : str
    above, up_to : float
        Infinite where there is no bound; days since 1970-01-01 where `date`.
    date : bool
    """

    column: str
    above: float = -inf
    up_to: float = inf
    date: bool = False

    def __str__(self) -> str:
        name = _one_line(self.column)
        if self.date:
            parts = [(f"after {_day(self.above)}", self.above), (f"up to {_day(self.up_to)}", self.up_to)]
            return f"{name} " + " and ".join(text for text, bound in parts if isfinite(bound))
        low, high = shown_number(self.above), shown_number(self.up_to)
        if isfinite(self.above) and isfinite(self.up_to):
            return f"{low} < {name} ≤ {high}"
        return f"{name} > {low}" if isfinite(self.above) else f"{name} ≤ {high}"

    def otherwise(self) -> Between:
        """What holds where this does not, for a lower bound alone."""
        return Between(self.column, up_to=self.above, date=self.date)

    def __and__(self, other: Between) -> Between:
        low, high = max(self.above, other.above), min(self.up_to, other.up_to)
        return Between(self.column, low, high, self.date)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        shown: Callable[[float], Any] = _day if self.date else float
        low, high = (shown(bound) if isfinite(bound) else None for bound in (self.above, self.up_to))
        return {"column": self.column, "above": low, "up_to": high}


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
        name = _one_line(self.column)
        inside = [_one_line(word) for word in self.known if word in self.words]
        outside = [_one_line(word) for word in self.known if word not in self.words]
        if len(inside) == 1:
            return f"{name} = {inside[0]}"
        if len(inside) <= len(outside):
            return f"{name} is {_either(inside)}"
        return f"{name} is not {_either(outside)}"

    def otherwise(self) -> Among:
        """What holds where this does not."""
        return Among(self.column, frozenset(self.known) - self.words, self.known)

    def __and__(self, other: Among) -> Among:
        return Among(self.column, self.words & other.words, self.known)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"column": self.column, "among": [word for word in self.known if word in self.words]}


Clause = Between | Among


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _day(days: float) -> str:
    if not isfinite(days):
        return ""
    moment = EPOCH + timedelta(days=days)
    return moment.strftime("%Y-%m-%d" if days == floor(days) else "%Y-%m-%d %H:%M")


# ---------------------------------------------------------------- from a tree
def clauses_of(tree: Tree, X: NDArray[Any], features: tuple[Feature, ...]) -> dict[int, Clause]:
    """What the answer yes says at each inner node of a tree.

    A threshold is shown as the roundest number that parts the rows of X which come to the node as it does.
    """
    found: dict[int, Clause] = {}
    waiting = [(0, np.arange(len(X)))]
    while waiting:
        node, rows = waiting.pop()
        test = tree.tests[node]
        if test is None:
            continue
        found[node] = _clause(test, X, rows, features)
        holds = test.holds(X, rows)
        waiting += [(int(tree.yes[node]), rows[holds]), (int(tree.no[node]), rows[~holds])]
    return found


def _clause(
    test: Condition, X: NDArray[Any], rows: NDArray[np.intp], features: tuple[Feature, ...]
) -> Clause:
    """What yes to a test says of some rows of X."""
    feature = features[test.column]
    if test.equals:
        known = feature.categories or tuple(shown_number(v) for v in np.unique(X[:, test.column]).tolist())
        word = feature.categories[int(test.value)] if feature.categories else shown_number(test.value)
        return Among(feature.source, frozenset([word]), known)
    if feature.category is not None:
        siblings = tuple(
            f.category for f in features if f.source == feature.source and f.category is not None
        )
        known = ("false", "true") if feature.name == feature.source else siblings
        return Among(feature.source, frozenset([feature.category]), known)
    here = X[rows, test.column].astype(np.float64)
    low, high = (feature.offset + feature.scale * v for v in gap(here, test.value))
    date = feature.role == "date"
    return Between(feature.source, _day_between(low, high) if date else _round_between(low, high), date=date)


def gap(x: NDArray[np.float64], threshold: float) -> tuple[float, float]:
    """The largest value up to a threshold, and the smallest above it; the threshold where there is none."""
    low, high = float(x[x <= threshold].max(initial=-inf)), float(x[x > threshold].min(initial=inf))
    return low if isfinite(low) else threshold, high if isfinite(high) else threshold


def _round_between(low: float, high: float) -> float:
    tidy = [float(f"{bound:.{SURE_DIGITS}g}") for bound in (low, high)]
    return roundest(*tidy) if tidy[0] < tidy[1] else roundest(low, high)


def _day_between(low: float, high: float) -> float:
    """A whole day where there is one."""
    middle = floor(low + (high - low) / 2)
    return float(middle) if middle >= low else low


def simplified(way: Way, clauses: Mapping[int, Clause]) -> tuple[Clause, ...]:
    """What all tests on a way say together: one clause a column, in the order in which they come."""
    by_column: dict[str, list[Clause]] = {}
    for node, answer in way:
        clause = clauses[node] if answer else clauses[node].otherwise()
        by_column.setdefault(clause.column, []).append(clause)
    return tuple(reduce(lambda a, b: a & b, said) for said in by_column.values())  # type: ignore[operator]
