"""How sure KIN is of what it shows, and how much the next answer is likely to change.

What an answer changes is what the model would say after it: where the item that is asked about belongs moves
the score of all others, as in Gaussian process regression, by its covariance with them. Each place that the
item may have counts by its probability.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise.active.kin.model import TINY, Chances, Known, Model, Table, model_of
from linkwise.active.kin.state import Field, Prepared
from linkwise.asking.learner import Labels
from linkwise.constraints.evidence import Evidence

POWERS = (1, 1.5, 2, 3, 4, 6, 8)
ITEMS_A_POWER = 8  # so many known items more allow a power that is one higher
MISTAKEN = 0.05  # probability that is left for what seems impossible
UNLIKELY = 0.01  # probability below which a place is left out
LITTLE = 0.002  # share of the rows; if an answer is likely to change fewer, it changes hardly anything
FEW = 0.05  # share of the rows; if no more may be in a wrong cluster then, asking may end


def certainty(field: Field) -> Table:
    """(n_rows,) how likely the cluster that each row is shown in is its own; 0 while nothing is known."""
    known = field.known()
    if len(known.items) == 0:
        return np.zeros(len(field.items.of))
    sure = _certainty_of(field.item_labels().astype(np.int64), field.model(), field.shown().at)
    sure[known.items] = 1
    found: Table = sure.take(field.items.of)
    return found


def certainty_unasked(prepared: Prepared, evidence: Evidence, labels: Labels) -> Table:
    """(n_rows,) the same of labels that nobody was asked for, given the rows that constraints name."""
    row = evidence.groups().row
    found = np.zeros(len(labels))
    if len(row) == 0:
        return found
    first, of = prepared.items.first, prepared.items.of
    items = np.unique(of[row] if prepared.items.centers is None else of[row[first[of[row]] == row]])
    if len(items):
        _, begun, home = np.unique(labels[first[items]], return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(begun))
        known = Known(items, rank[home], np.full(len(items), np.nan))
        number = np.full(int(labels.max()) + 1, known.n_homes)
        number[labels[first[items]]] = known.home
        model = model_of(prepared.kernel, known)
        found = _certainty_of(number[labels[first]], model, model.chances).take(of)
    found[row] = 1
    return found


def _certainty_of(labels: NDArray[np.int64], model: Model, at: Chances) -> Table:
    """(n_items,) how likely the label of each is right; labels beyond those of the model are of no home."""
    n_homes = at.home.shape[1]
    inside = np.minimum(labels, n_homes - 1)
    belongs = at.home.sum(axis=1, keepdims=True)
    home = belongs * _sharpened(at.home, _sharpness(model))
    sure = home[np.arange(len(labels)), inside]
    return np.asarray(np.where(labels < n_homes, sure, np.maximum(at.new, home.max(axis=1))))


def _sharpness(model: Model) -> float:
    """The power of the shares by which known items are best told from the others alone.

    Regression shrinks what it says towards nothing, so that its shares are too even; how much so is seen on
    the items whose neighbourhood is known. Few items allow little.
    """
    told = model.without_each()
    many = np.bincount(model.known.home)[model.known.home] > 1
    powers = [power for power in POWERS if power <= 1 + len(told) / ITEMS_A_POWER]
    own = np.arange(len(told)), model.known.home
    fits = [np.log(_sharpened(told, power)[own][many] + MISTAKEN).sum() for power in powers]
    return float(powers[int(np.argmax(fits))])


def _sharpened(share: Table, power: float) -> Table:
    """Powers of shares, as shares."""
    raised = (share / np.maximum(share.max(axis=1, keepdims=True), TINY)) ** power
    return np.asarray(raised / np.maximum(raised.sum(axis=1, keepdims=True), TINY))


def outlook(field: Field, unsure: float) -> list[str]:
    """How many rows the answer to the present question is likely to move, in a sentence.

    Parameters
    ----------
    field : Field
    unsure : float
        Rows that may be in a wrong cluster: where these are many nobody is told to stop.
    """
    rows, n_rows = expected_changes(field), len(field.items.of)
    if rows is None:
        return []
    if rows < LITTLE * n_rows:
        ends = ": you may stop here" if unsure <= FEW * n_rows else ""
        return [f"The next answer is likely to change hardly anything{ends}."]
    what = "less than one row" if round(rows) == 0 else about(rows, "row")
    return [f"The next answer is likely to change the cluster of {what}."]


def about(number: float, noun: str) -> str:
    """A number and what is counted, large ones to two digits: ``1 row``, ``3400 rows``."""
    whole = round(number)
    rough = whole if whole < 100 else round(whole, 2 - len(str(whole)))
    return f"{rough} {noun}" if rough == 1 else f"{rough} {noun}s"


def expected_changes(field: Field) -> float | None:
    """The expected number of rows whose cluster the answer changes; None where nothing is asked."""
    if len(field.known().items) == 0 or field.asked is None:
        return None
    if field.placing >= 0 and not field.is_known(field.placing):
        return _by_place(field, field.placing)
    return _by_joining(field, *field.asked)


def _by_place(field: Field, item: int) -> float:
    """By where an item belongs."""
    model, size = field.model(), field.items.size
    place, score = field.place_of(item), model.score
    follows = model.response(item, field.kernel()[0][item].astype(np.float64))
    now, total = score.argmax(axis=1), 0.0
    for home in np.flatnonzero(place.home > UNLIKELY).tolist():
        then = score - np.outer(follows, score[item])
        then[:, home] += follows
        total += float(place.home[home]) * float(size[then.argmax(axis=1) != now].sum())
    if place.new > UNLIKELY:
        then = score - np.outer(follows, score[item])
        total += place.new * float(size[follows > then.max(axis=1)].sum())
    return total


def _by_joining(field: Field, first: int, second: int) -> float:
    """By whether the neighbourhoods of two items are one: the rows of the smaller one."""
    known, labels = field.known(), field.item_labels()
    at = np.flatnonzero(np.isin(known.items, (first, second)))
    homes = np.unique(known.home[at])
    if len(homes) < 2:
        return 0.0
    a, b = homes.tolist()
    alike = field.alike()
    rows = min(float(field.items.size[labels == home].sum()) for home in (a, b))
    return float(max(alike[a, b], alike[b, a])) * rows
