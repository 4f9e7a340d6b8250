"""Which colour each cluster has, for every page on a session."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from linkwise.apps.page.changes import shared
from linkwise.learner import Labels


def colours_after(before: Labels, colours: Sequence[int], after: Labels) -> list[int]:
    """The colour of each cluster of `after`, as a number.

    Clusters are numbered anew after an answer, and a colour should stay with the rows that had it: each new
    cluster takes the colour of the old one that it shares most rows with, if that is free; the others take
    the lowest numbers that are free, in the order of the clusters. No two clusters have the same number.

    Parameters
    ----------
    before, after : ndarray of shape (n_rows,)
        Clusters 0, 1, ...; noise is -1 and has no colour.
    colours : sequence of int
        Of the clusters of `before`.
    """
    source, target, rows = shared(before, after)
    found: dict[int, int] = {}
    taken: set[int] = set()
    for at in np.lexsort((target, source, -rows)).tolist():
        old, new = int(source[at]), int(target[at])
        if min(old, new) >= 0 and new not in found and colours[old] not in taken:
            found[new] = colours[old]
            taken.add(colours[old])
    free = (colour for colour in count() if colour not in taken)
    return [found[new] if new in found else next(free) for new in range(int(after.max(initial=-1)) + 1)]
