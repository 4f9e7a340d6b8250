"""Where KIN shows what has no place yet: items that facts speak of, but no question led to.

What belongs together goes together, to the likeliest neighbourhood that it is not known to be apart from.
What is sure enough counts as known for the rest, and bars what is apart from it from the same neighbourhood.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linkwise.active.kin.kernels import Rows
from linkwise.active.kin.model import Chances, Known, Model, Table
from linkwise.active.kin.placement import Mask, Standing

ROUNDS = 3
SURE = 0.5  # probability from which a part counts as known


class Shown(NamedTuple):
    """Where everything likeliest belongs."""

    at: Chances
    """Of all items; of those that wait, what their part has in common."""
    place: Rows
    """Neighbourhood of each item that waits, where it counts as known; else -1."""
    first: Rows
    """Likeliest neighbourhood of all items, by what has a place alone."""


def shown(standing: Standing, model: Callable[[Known], Model]) -> Shown:
    """Where everything likeliest belongs, given what waits.

    Parameters
    ----------
    standing : Standing
        With a neighbourhood.
    model : callable
        The model of known items.
    """
    known, part = standing.known, standing.part
    at = model(known).chances
    first = at.home.argmax(axis=1)
    if len(part) == 0:
        return Shown(at, part, first)  # no part, no place
    place, barred = np.full(len(standing.barred), -1), standing.barred.copy()
    for _ in range(ROUNDS):
        chance = _open_chances(at, standing, barred)
        if not _join(chance, place, barred, standing.foes):
            break
        more = place[part] >= 0
        at = model(_with(known, standing.waiting[more], place[part[more]])).chances
    home = at.home.copy()
    home[standing.waiting] = _open_chances(at, standing, barred)[part]
    return Shown(at._replace(home=home), place[part], first)


def agreement(labels: NDArray[np.integer], standing: Standing) -> float:
    """How far labels agree with what is known of the items that wait: Cohen's kappa.

    Of all pairs of rows that is the adjusted Rand index; here it is of the pairs that are known, where parts
    and neighbourhoods speak by their first items. Pairs of one kind alone tell nothing beyond chance, so one
    of each kind is taken to agree and one not.
    """
    lead = standing.waiting[np.unique(standing.part, return_index=True)[1]]
    first = standing.known.items[standing.known.founders()]
    together = labels[standing.waiting] == labels[lead[standing.part]]
    one, other = standing.foes[standing.foes[:, 0] < standing.foes[:, 1]].T
    part, home = np.nonzero(standing.barred)
    apart = np.concatenate(
        [labels[lead[one]] != labels[lead[other]], labels[lead[part]] != labels[first[home]]]
    )
    n_together = len(together) - len(lead)  # the first items agree with themselves
    joined, parted = together.sum() - len(lead) + 1, apart.sum() + 1
    return kappa(joined, n_together + 2 - joined, len(apart) + 2 - parted, parted)


def kappa(joined: float, divided: float, mixed: float, parted: float) -> float:
    """Cohen's kappa (1960) of pairs that belong together, and are or are not, and of pairs that do not."""
    n = joined + divided + mixed + parted
    by_chance = (joined + divided) * (joined + mixed) + (mixed + parted) * (divided + parted)
    return float((n * (joined + parted) - by_chance) / (n * n - by_chance))


def _open_chances(at: Chances, standing: Standing, barred: Mask) -> Table:
    """(n_parts, k) means over the items of each part, given that it is not where it is barred from."""
    part = standing.part
    member = csr_array((1 / np.bincount(part)[part], (part, np.arange(len(part)))))
    chance = np.where(barred, 0, member @ at.home[standing.waiting])
    rest = chance.sum(axis=1) + member @ at.new[standing.waiting]
    return np.asarray(chance / np.maximum(rest, 1e-9)[:, None])


def _join(chance: Table, place: Rows, barred: Mask, foes: Rows) -> bool:
    """Give parts that are sure enough their place, the surest first; whether there was one."""
    best = chance.max(axis=1, initial=0).round(9)
    starts = np.searchsorted(foes[:, 0], np.arange(len(place) + 1))
    joined = False
    for a in np.argsort(-best, kind="stable").tolist():
        if best[a] < SURE:
            break
        left = np.where(barred[a], 0, chance[a])
        to = int(left.argmax())
        if place[a] < 0 and left[to] >= SURE:
            place[a], joined = to, True
            barred[foes[starts[a] : starts[a + 1], 1], to] = True
    return joined


def _with(known: Known, items: Rows, home: Rows) -> Known:
    covered = np.concatenate([known.covered, np.full(len(items), np.nan)])
    return Known(np.concatenate([known.items, items]), np.concatenate([known.home, home]), covered)
