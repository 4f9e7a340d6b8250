"""Every learner that the laws sweep, in settings that differ in what they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import linkwise as lw


@dataclass(frozen=True)
class Entry:
    """A way to make an estimator.

    `exact`: asked until it is exhausted, it finds the truth among distinct rows.
    `known_k`: it is told the number of clusters, 4 here, at least as many as the laws' classes.
    """

    name: str
    make: Callable[..., Any]
    exact: bool
    known_k: bool = False


QUICK = lw.PCKMeans(n_init=1)

LEARNERS = (
    Entry("COBRA, 1 part", lambda **seed: lw.COBRA(1, **seed), exact=False),
    Entry("COBRA, 6 parts", lambda **seed: lw.COBRA(6, **seed), exact=False),
    Entry("COBRA, 25 parts", lambda **seed: lw.COBRA(**seed), exact=False),
    Entry("COBRA, all rows", lambda **seed: lw.COBRA(10_000, n_init=1, **seed), exact=True),
    Entry("COBRAS", lambda **seed: lw.COBRAS(**seed), exact=True),
    Entry("COBRAS of the paper", lambda **seed: lw.COBRAS.paper(**seed), exact=True),
    Entry("COBRAS, halves", lambda **seed: lw.COBRAS(max_split=2, **seed), exact=True),
    Entry("COBRAS, smallest half", lambda **seed: lw.COBRAS(descend="smallest", **seed), exact=True),
    Entry(
        "COBRAS, largest half, largest first",
        lambda **seed: lw.COBRAS(descend="largest", impure_first=False, n_init=1, **seed),
        exact=True,
    ),
    Entry(
        "ExploreConsolidate",
        lambda **seed: lw.ExploreConsolidate(4, estimator=QUICK, **seed),
        exact=True,
        known_k=True,
    ),
    Entry("MinMax", lambda **seed: lw.MinMax(4, estimator=QUICK, **seed), exact=True, known_k=True),
    Entry("NPU", lambda **seed: lw.NPU(4, estimator=QUICK, n_trees=3, **seed), exact=True, known_k=True),
    Entry("ActiveCOBS", lambda **seed: lw.ActiveCOBS(preset="quick", **seed), exact=False),
)


def sweep(entries: tuple[Entry, ...]) -> pytest.MarkDecorator:
    """Run a test once for each entry."""
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry.name)


each_learner = sweep(LEARNERS)
each_exact_learner = sweep(tuple(entry for entry in LEARNERS if entry.exact))
each_that_finds_k = sweep(tuple(entry for entry in LEARNERS if not entry.known_k))
