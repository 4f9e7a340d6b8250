"""Which neighbourhood each item belongs to, by a kernel and the answers: the model of KIN.

The known items predict the others through the kernel: kernel ridge regression of the neighbourhoods'
indicators, which is the mean of a Gaussian process (Rasmussen and Williams 2006, section 2.2). Its scores
become chances by a sharpness that the answers calibrate (`linkwise.active.kin.sharpness`). The coverage of an
item is how much the known items predict in all. How far the regression is trusted follows from earlier items
with similar coverage: from how often they started a neighbourhood of their own.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, cho_factor, cho_solve, solve_triangular

from linkwise.active.kin.kernels import Matrix, Rows, Table
from linkwise.active.kin.sharpness import Sharpness, share_chances
from linkwise.parallel import one_blas_thread

RIDGE = 0.05
LIKE = 0.15  # width of the Gaussian by which coverages are similar
PRIOR = 1.0  # weight, in items, of the rule that an item without coverage is new
ROUND = 16  # items after which the posterior covariance is computed anew
MOST_KNOWN = 250  # items that nobody was asked about, and that the model learns from
MIXER = 2654435761  # Knuth's multiplier, which drives neighbouring numbers apart
TINY = 1e-9


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
        first = np.zeros(len(self.label), dtype=bool)
        first[np.unique(self.label, return_index=True)[1]] = True
        return first

    def members(self, neighbourhood: int) -> Rows:
        """The items of a neighbourhood."""
        found: Rows = self.items[self.label == neighbourhood]
        return found


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
    kernel : ndarray of shape (n_items, n_items)
    known : Known
        Of at least one item.
    n_neighbourhoods : int
        Number of neighbourhoods, with those that have no item in `known`.
    """

    def __init__(self, kernel: Matrix, known: Known, n_neighbourhoods: int) -> None:
        self.known = known
        self._there = kernel[known.items].astype(np.float64)
        self._member = np.zeros((len(known.items), n_neighbourhoods))
        self._member[np.arange(len(known.items)), known.label] = 1

    @cached_property
    def _factor(self) -> tuple[Table, bool]:
        """Cholesky factor of K_LL + λI."""
        among = self._there[:, self.known.items]
        with one_blas_thread():
            root, lower = cho_factor(among + RIDGE * np.eye(len(among)), lower=True)
        return root, lower

    @cached_property
    def inverse(self) -> Table:
        """(K_LL + λI)⁻¹."""
        with one_blas_thread():
            return np.asarray(cho_solve(self._factor, np.eye(len(self.known.items))))

    @cached_property
    def _weight(self) -> Table:
        with one_blas_thread():
            return np.asarray(cho_solve(self._factor, self._member))

    @cached_property
    def score(self) -> Table:
        """(n, k) posterior mean of the indicator of each neighbourhood."""
        with one_blas_thread():
            return np.asarray(self._there.T @ self._weight)

    @cached_property
    def coverage(self) -> Table:
        """(n,) how much the known items predict, at most 1."""
        return np.asarray(np.minimum(np.maximum(self.score, 0).sum(axis=1), 1))

    def chances(self, sharpness: Sharpness) -> Chances:
        """The chances of every item."""
        return Chances(*share_chances(self.score, sharpness))

    def without_each(self) -> Table:
        """(l, k) the score of each known item by the others alone, at least 0."""
        return np.maximum(self._member - self._weight / self.inverse.diagonal()[:, None], 0)

    def response(self, item: int, similarity: Table) -> Table:
        """(n,) how far each item's score would follow that of one more item.

        Parameters
        ----------
        item : int
        similarity : ndarray of shape (n,)
            Its kernel to all items.
        """
        with one_blas_thread():
            explained = self._there.T @ cho_solve(self._factor, similarity[self.known.items])
        left = similarity - explained
        return np.asarray(left / (left[item] + RIDGE))

    def chance_of_new(self, n_classes: float) -> Table:
        """(n,) how likely items with this coverage start a neighbourhood, from earlier ones.

        Before there are any, coverage decides, and how many of the expected classes have been met.
        """
        asked = ~np.isnan(self.known.coverage)
        similar = np.exp(-0.5 * ((self.coverage[:, None] - self.known.coverage[asked]) / LIKE) ** 2)
        was_new = self.known.is_first()[asked].astype(np.float64)
        met = min(1.0, (self.known.n_neighbourhoods + 1) / n_classes) ** 2
        chance: Table = (PRIOR * (1 - self.coverage * met) + similar @ was_new) / (
            PRIOR + similar.sum(axis=1)
        )
        return chance

    def neighbourhood_chances(self, sharpness: Sharpness) -> Table:
        """(k, k) how likely the items of each neighbourhood belong to another, without those items."""
        label, weight = self.known.label, self._weight
        score = -weight / self.inverse.diagonal()[:, None]  # right for neighbourhoods of one item
        size = np.bincount(label)[label]
        for n in np.unique(size[size > 1]).tolist():
            some = np.flatnonzero(size == n)
            of = some[np.argsort(label[some], kind="stable")].reshape(-1, n)
            score[of] = -np.linalg.solve(self.inverse[of[:, :, None], of[:, None]], weight[of])
        score[np.arange(len(score)), label] = 0
        chance = share_chances(score, sharpness)[0]
        return np.asarray(self._member.T @ chance / np.maximum(self._member.sum(axis=0), 1)[:, None])


def fit_model(kernel: Matrix, known: Known) -> Model:
    """The model of the known items: all that were asked about, and at most `MOST_KNOWN` others.

    The others are the first item of each neighbourhood, largest neighbourhoods first, then more in a fixed
    order of the items, so that the next question is about nearly the same ones.
    """
    k = known.n_neighbourhoods
    given = np.flatnonzero(np.isnan(known.coverage))
    if len(given) > MOST_KNOWN:
        size = np.where(known.is_first(), np.bincount(known.label)[known.label], 0)
        mixed = known.items * MIXER % 2**32
        given = given[np.lexsort((mixed[given], -size[given]))[:MOST_KNOWN]]
        used = np.union1d(given, np.flatnonzero(~np.isnan(known.coverage)))
        known = Known(known.items[used], known.label[used], known.coverage[used])
    return Model(kernel, known, k)


class Covariance:
    """Posterior covariance of a kernel, given the items that were asked about; updated item by item.

    It depends on the kernel and the list of items alone, to the last bit: it is computed anew after each
    `ROUND` items, and updated item by item in between.
    """

    def __init__(self, kernel: Matrix) -> None:
        self._kernel = kernel
        self._now: Matrix | None = None
        self._items: list[int] | None = None

    def condition_on(self, items: Rows) -> Matrix:
        """Return the covariance given these items; it is valid until the next call."""
        wanted = items.tolist()
        start = len(wanted) // ROUND * ROUND
        done, self._items = self._items, None  # so an interruption leaves no half-made update
        if self._now is None or done is None or len(done) < start or done != wanted[: len(done)]:
            self._begin(wanted[:start])
            done = wanted[:start]
        assert self._now is not None
        for item in wanted[len(done) :]:
            self._add(item)
        self._items = wanted
        return self._now

    def _begin(self, items: list[int]) -> None:
        """K - K_L' (K_LL + λI)⁻¹ K_L."""
        if self._now is None:
            self._now = np.empty_like(self._kernel)
        self._now[:] = self._kernel
        if items:
            there = self._kernel[items].astype(np.float64)
            among = there[:, items] + RIDGE * np.eye(len(items))
            with one_blas_thread():
                root = np.linalg.cholesky(among)
                half = solve_triangular(root, there, lower=True).astype(np.float32)
                blas.sgemm(-1, half, half, 1, self._now.T, trans_a=1, overwrite_c=1)

    def _add(self, item: int) -> None:
        """Add an item by a change of rank one, in place."""
        assert self._now is not None
        column = self._now[item].copy()
        with one_blas_thread():
            blas.sger(-1 / (float(column[item]) + RIDGE), column, column, a=self._now.T, overwrite_a=1)

    def uncertainty_reductions(self, items: Rows, weight: Table) -> Table:
        """Compute how much a question about each item would lessen the weighted uncertainty of all."""
        now = self.condition_on(items)
        amount, total = weight.astype(np.float32), np.empty(len(now))
        with one_blas_thread():
            for a in range(0, len(now), 256):
                total[a : a + 256] = np.square(now[a : a + 256]) @ amount
        gain: Table = total / (now.diagonal().astype(np.float64) + RIDGE)
        return gain
