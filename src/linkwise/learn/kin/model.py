"""Which neighbourhood each item belongs to, by a kernel and the answers: the model of KIN.

The known items predict the others through the kernel: kernel ridge regression of the neighbourhoods'
indicators, which is the mean of a Gaussian process (Rasmussen and Williams 2006, section 2.2). Its scores
become chances by a sharpness that the answers calibrate (`linkwise.learn.kin.sharpness`). The coverage of an
item is how much the known items predict in all. How far the regression is trusted follows from earlier items
with similar coverage: from how often they started a neighbourhood of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.typing import NDArray
from scipy.optimize import brentq

from linkwise import native
from linkwise.learn.kin.first_known import RIDGE, FirstKnown, sum_by_label
from linkwise.learn.kin.kernels import Rows, Table
from linkwise.learn.kin.mixed_kernel import MixedKernel
from linkwise.learn.kin.sharpness import Sharpness, share_chances
from linkwise.parallel import one_blas_thread

LIKE = 0.15  # width of the Gaussian by which coverages are similar
PRIOR = 1.0  # weight, in items, of the rule that an item without coverage is new
ROUND = 16  # items after which the regression is computed anew
MOST_KNOWN = 250  # items that nobody was asked about, and that the model learns from
MIXER = 2654435761  # Knuth's multiplier, which drives neighbouring numbers apart
NODES = 48  # of a polynomial for sums over coverages
NODE = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
AT_NODE = chebvander(NODE, NODES - 1)
TINY = 1e-9  # least divisor of a probability
FIRST_GUESS = 1.0  # answers about places that the first guess of the number of classes counts like


class Known(NamedTuple):
    """The items whose neighbourhood is known."""

    items: Rows
    """(l,) in the order in which they became known."""
    label: Rows
    """(l,) neighbourhood of each, numbered in order of their first items."""
    coverage: Table
    """(l,) coverage of each when it was asked about; nan where it was not."""

    @property
    def n_neighbourhoods(self) -> int:
        """Number of neighbourhoods."""
        return int(self.label.max(initial=-1)) + 1

    def is_first(self) -> NDArray[np.bool_]:
        """(l,) which items are the first of their neighbourhood."""
        found, first = np.zeros(len(self.label), dtype=bool), np.full(self.n_neighbourhoods, -1)
        first[self.label[::-1]] = np.arange(len(self.label))[::-1]  # the last one assigned is the first item
        found[first[first >= 0]] = True
        return found

    def is_shared(self) -> NDArray[np.bool_]:
        """(l,) which items are in a neighbourhood of two and more."""
        return np.asarray(np.bincount(self.label)[self.label] > 1) if len(self.label) else self.is_first()

    def members(self, neighbourhood: int) -> Rows:
        """The items of a neighbourhood."""
        found: Rows = self.items[self.label == neighbourhood]
        return found


def expect_classes(known: Known, n_classes: float) -> float:
    """Expect a number of classes, given how many neighbourhoods items that were asked about have reached.

    Of K classes of one size, l random items reach K (1 - (1 - 1 / K)^l). The K for which that is what they
    have reached counts like the answers, and the number that the rows alone suggest like `FIRST_GUESS` of
    them. Items are chosen where they may be new, so they can speak for fewer classes, never for more.

    Parameters
    ----------
    known : Known
        At least one item.
    n_classes : float
        The number of classes that the rows alone suggest.
    """
    n_answers, reached = int((~np.isnan(known.coverage)).sum()), known.n_neighbourhoods

    def surplus(logarithm: float) -> float:
        number = np.exp(logarithm)
        return float(number * (1 - (1 - 1 / number) ** (n_answers + 1)) - reached)

    low, high = np.log(reached), np.log(n_classes)
    if low < high and surplus(high) > 0:
        high = brentq(surplus, low, high) if surplus(low) < 0 else low
    return float(np.exp((FIRST_GUESS * np.log(n_classes) + n_answers * high) / (FIRST_GUESS + n_answers)))


class Chances(NamedTuple):
    """Which neighbourhood some items may belong to."""

    join: Table
    """(n, k) probability of each neighbourhood."""
    new: Table
    """(n,) probability that it is none of them."""


class Model:
    """The regression of neighbourhoods on the kernel.

    Parameters
    ----------
    kernel : MixedKernel
    known : Known
        At least one item.
    n_neighbourhoods : int
        Number of neighbourhoods, with those that have no item in `known`.
    first : FirstKnown
        The regression on the first ones of these items.
    """

    def __init__(self, kernel: MixedKernel, known: Known, n_neighbourhoods: int, first: FirstKnown) -> None:
        self.known = known
        self._k, self._first = n_neighbourhoods, first
        self._more = kernel.rows(known.items[len(first.items) :]).astype(np.float64)

    @cached_property
    def _weight_of_first(self) -> Table:
        """(m, l) how much the first items predict each of the other m."""
        with one_blas_thread():
            return np.asarray(self._more[:, self._first.items] @ self._first.inverse)

    @cached_property
    def _left(self) -> Table:
        """(m, n) the kernel of those to all items, less what the first items explain."""
        with one_blas_thread():
            return self._more - self._weight_of_first @ self._first.there

    @cached_property
    def _complement(self) -> Table:
        """(m, m) the inverse of the Schur complement."""
        among = self._left[:, self.known.items[len(self._first.items) :]]
        with one_blas_thread():
            return np.asarray(np.linalg.inv((among + among.T) / 2 + RIDGE * np.eye(len(among))))

    @cached_property
    def inverse(self) -> Table:
        """(K_LL + λI)⁻¹."""
        with one_blas_thread():
            beside = self._complement @ self._weight_of_first
            corner = self._first.inverse + self._weight_of_first.T @ beside
        return np.block([[corner, -beside.T], [-beside, self._complement]])

    @cached_property
    def score(self) -> Table:
        """(n, k) posterior mean of the indicator of each neighbourhood."""
        n_first = len(self._first.items)
        label, more = self.known.label[:n_first], self.known.label[n_first:]
        surplus = np.zeros((len(more), self._k))
        surplus[np.arange(len(more)), more] = 1
        before = self._first.score(label)
        with one_blas_thread():
            surplus -= sum_by_label(self._weight_of_first.T, label, self._k).T
            found = self._left.T @ (self._complement @ surplus)
        found[:, : before.shape[1]] += before
        return np.asarray(found)

    @cached_property
    def coverage(self) -> Table:
        """(n,) how much the known items predict, at most 1."""
        return np.minimum(native.sum_up_rows(np.ascontiguousarray(self.score)).positive, 1)

    def chances(self, sharpness: Sharpness) -> Chances:
        """The chances of every item."""
        return Chances(*share_chances(self.score, sharpness))

    def response(self, item: int, similarity: Table) -> Table:
        """(n,) how far each item's score would follow that of one more item.

        Parameters
        ----------
        item : int
        similarity : ndarray of shape (n,)
            Its kernel to all items.
        """
        with one_blas_thread():
            weight, n_first = self.inverse @ similarity[self.known.items], len(self._first.items)
            left = similarity - self._first.there.T @ weight[:n_first] - self._more.T @ weight[n_first:]
        return np.asarray(left / (left[item] + RIDGE))

    def chance_of_new(self, n_classes: float) -> Table:
        """(n,) how likely items with this coverage start a neighbourhood, from earlier ones.

        Before there are any, coverage decides, and how many of the expected classes have been met.
        """
        asked = ~np.isnan(self.known.coverage)
        was_new = self.known.is_first()[asked].astype(np.float64)
        amounts = np.stack([was_new, np.ones(len(was_new))], axis=1)
        n_new, n_similar = _sum_similar(self.coverage, self.known.coverage[asked], amounts).T
        met = min(1.0, (self.known.n_neighbourhoods + 1) / n_classes) ** 2
        chance: Table = (PRIOR * (1 - self.coverage * met) + n_new) / (PRIOR + n_similar)
        return chance

    def neighbourhood_chances(self, sharpness: Sharpness) -> Table:
        """(k, k) how likely the items of each neighbourhood belong to another, without those items."""
        label, weight = self.known.label, sum_by_label(self.inverse, self.known.label, self._k).T
        score = -weight / self.inverse.diagonal()[:, None]  # right for neighbourhoods of one item
        size = np.bincount(label)[label]
        for n in np.unique(size[size > 1]).tolist():
            some = np.flatnonzero(size == n)
            of = some[np.argsort(label[some], kind="stable")].reshape(-1, n)
            score[of] = -np.linalg.solve(self.inverse[of[:, :, None], of[:, None]], weight[of])
        score[np.arange(len(score)), label] = 0
        chance = share_chances(score, sharpness)[0]
        size = np.bincount(label, minlength=self._k)
        return sum_by_label(chance, label, self._k) / np.maximum(size, 1)[:, None]


def _sum_similar(coverage: Table, others: Table, amounts: Table) -> Table:
    """(n, m) sums of the amounts of others, (l, m), by how similar their coverage is.

    The sums are smooth functions of a coverage from 0 to 1: a polynomial through `NODES` of their values is
    equal to them but for rounding (Trefethen 2013, Approximation theory and approximation practice).
    """
    similar = np.exp(((((NODE + 1) / 2)[:, None] - others) / LIKE) ** 2 / -2)
    with one_blas_thread():
        coefficients = AT_NODE.T @ (similar @ amounts) * (2 / NODES)
    coefficients[0] /= 2
    return np.maximum(native.chebyshev_values(2 * coverage - 1, coefficients), 0)


def fit_model(
    kernel: MixedKernel, known: Known, find_first: Callable[[MixedKernel, Rows], FirstKnown] = FirstKnown
) -> Model:
    """The model of the known items: all that were asked about, and at most `MOST_KNOWN` others.

    The others are the first item of each neighbourhood, largest neighbourhoods first, then more in a fixed
    order of the items, so that the next question is about nearly the same ones.

    Parameters
    ----------
    kernel : MixedKernel
    known : Known
    find_first : callable
        Computes the regression on the first items, or remembers it.
    """
    k = known.n_neighbourhoods
    given = np.flatnonzero(np.isnan(known.coverage))
    if len(given) > MOST_KNOWN:
        size = np.where(known.is_first(), np.bincount(known.label)[known.label], 0)
        mixed = known.items * MIXER % 2**32
        given = given[np.lexsort((mixed[given], -size[given]))[:MOST_KNOWN]]
        used = np.union1d(given, np.flatnonzero(~np.isnan(known.coverage)))
        known = Known(known.items[used], known.label[used], known.coverage[used])
    first = known.items[: len(known.items) // ROUND * ROUND]
    return Model(kernel, known, k, find_first(kernel, first))
