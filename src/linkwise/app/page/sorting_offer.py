"""Whether a page offers to sort several rows at once: where that was quicker, or may well be."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

import numpy as np

from linkwise.learn.gathering import SCREEN_SIZE
from linkwise.session.journal.events import Event

# Questions about pairs after which KIN is as good as after one screen of so many rows, by the mean ARI over
# 16 data sets.
PAIRS_REPLACED = {4: 2.5, 6: 4.5, 9: 7.0, 12: 10.0, 16: 13.0}
MEASURED_LEARNER = "KIN"  # of other learners it is not known how many pairs a screen replaces
SIZES = tuple(PAIRS_REPLACED)
LAST = 20  # answers of each kind that tell the pace
ENOUGH_PAIRS, ENOUGH_SCREENS = 5, 3  # answers of which a median says something


class SortingOffer(NamedTuple):
    """What a page offers to a person.

    Attributes
    ----------
    size : int or None
        Rows of a screen that is worth sorting; None if questions about pairs are better.
    factor : float or None
        How many times as fast as pairs the best screens were, by the seconds of the person; None as long as
        these say too little.
    pairs : float or None
        How many questions about pairs a screen of `size` replaces; None without `size`.
    """

    size: int | None = None
    factor: float | None = None
    pairs: float | None = None


def offer_sorting(
    history: Iterable[Event],
    source: str = "",
    *,
    gathers: bool,
    is_check: bool = False,
    is_narrow: bool = False,
    n_rows: int | None = None,
) -> SortingOffer:
    """Decide whether to offer screens to a person, and of which size.

    Screens are offered until the seconds of the person say that pairs are quicker. A screen replaces as many
    pairs as in `PAIRS_REPLACED`, which was measured with one learner.

    Parameters
    ----------
    history : iterable of Event
        The settled events.
    source : str, default=""
        The name of the person.
    gathers : bool
        Whether the learner gathers the rows of a screen, and is the one with which that was measured.
    is_check : bool, default=False
        Whether the present question checks earlier answers.
    is_narrow : bool, default=False
        Whether the page is as narrow as on a phone, where a few rows fill it.
    n_rows : int, optional
        Rows of the screen that would be shown, if they are known.

    Returns
    -------
    SortingOffer
    """
    is_small = n_rows is not None and n_rows < min(SIZES)
    if not gathers or is_check or is_narrow or is_small:
        return SortingOffer()
    pairs, screens = _list_paces(history, source)
    rates = {size: median(found[-LAST:]) for size, found in screens.items() if len(found) >= ENOUGH_SCREENS}
    if not rates:
        return _offer(SCREEN_SIZE)
    best = max(rates, key=rates.__getitem__)
    if len(pairs) < ENOUGH_PAIRS:
        return _offer(best)
    factor = rates[best] * median(pairs[-LAST:])
    return _offer(best, factor) if factor > 1 else SortingOffer(factor=factor)


def _offer(size: int, factor: float | None = None) -> SortingOffer:
    return SortingOffer(size, factor, PAIRS_REPLACED[size])


def _list_paces(history: Iterable[Event], source: str) -> tuple[list[float], dict[int, list[float]]]:
    """Seconds of a person per pair, and pairs that screens of each size replaced per second."""
    pairs: list[float] = []
    screens: dict[int, list[float]] = {}
    for event in history:
        if event.source != source or not event.seconds:
            continue
        if event.kind == "answer":
            pairs.append(event.seconds)
        n_rows = 0 if event.sorting is None else len(event.sorting.order)
        size = next((size for size in SIZES if n_rows <= size), None)
        if size is not None and n_rows >= min(SIZES):
            replaced = float(np.interp(n_rows, SIZES, list(PAIRS_REPLACED.values())))
            screens.setdefault(size, []).append(replaced / event.seconds)
    return pairs, screens
