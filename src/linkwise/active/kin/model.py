"""What a kernel and the answers so far say of every item: the model of `linkwise.active.kin.kin`.

Items whose neighbourhood is known say by the kernel where the others belong: kernel ridge regression of the
neighbourhoods' indicators, which is the mean of a Gaussian process (Rasmussen and Williams 2006, section
2.2). How much they say, the coverage, tells how likely an item belongs to none of them, by how often that
was so at like coverage.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, cho_factor, cho_solve, solve_triangular

from linkwise.active.kin.kernels import Matrix, Rows
from linkwise.parallel import one_blas_thread

RIDGE = 0.05
LIKE = 0.15  # width of the Gaussian by which coverages are alike
PRIOR = 1.0  # weight, in events, of the rule that what is not covered is new
ROUND = 16  # items after which the posterior covariance is made anew
MOST_KNOWN = 250  # items that nobody was asked about, and that the model learns from
MIXER = 2654435761  # Knuth's multiplier: neighbouring numbers get far from each other
TINY = 1e-9

Table = NDArray[np.float64]


class Known(NamedTuple):
    """The items whose neighbourhood is known."""

    items: Rows
    """(l,) in the order in which they became known."""
    home: Rows
    """(l,) neighbourhood of each, numbered in order of their first items."""
    covered: Table
    """(l,) coverage of each when it was asked about; nan where it was not."""

    @property
    def n_homes(self) -> int:
        """Number of neighbourhoods."""
        return int(self.home.max(initial=-1)) + 1

    def founders(self) -> NDArray[np.bool_]:
        """(l,) which items are the first of their neighbourhood."""
        first = np.zeros(len(self.home), dtype=bool)
        first[np.unique(self.home, return_index=True)[1]] = True
        return first


class Chances(NamedTuple):
    """Where some items may belong."""

    home: Table
    """(n, k) probability of each neighbourhood."""
    new: Table
    """(n,) probability that it is none of them."""
    cover: Table
    """(n,) how much the known items say."""


class Model:
    """The regression of neighbourhoods on the kernel.

    Parameters
    ----------
    kernel : ndarray of shape (n_items, n_items)
    known : Known
        Of at least one item.
    n_homes : int
        Number of neighbourhoods, those included of which no item is given.
    """

    def __init__(self, kernel: Matrix, known: Known, n_homes: int) -> None:
        self.known = known
        self._there = kernel[known.items].astype(np.float64)
        self._member = np.zeros((len(known.items), n_homes))
        self._member[np.arange(len(known.items)), known.home] = 1

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
        """(n, k) how far the known items speak for each neighbourhood."""
        with one_blas_thread():
            return np.asarray(self._there.T @ self._weight)

    @cached_property
    def chances(self) -> Chances:
        """Where every item may belong."""
        return self._chances(np.maximum(self.score, 0))

    def without_each(self) -> Table:
        """(l, k) how far the other items speak for each neighbourhood of a known one; at least 0."""
        return np.maximum(self._member - self._weight / self.inverse.diagonal()[:, None], 0)

    def response(self, item: int, alike: Table) -> Table:
        """(n,) how far each item's score would follow that of one more item.

        Parameters
        ----------
        item : int
        alike : ndarray of shape (n,)
            Its kernel to all items.
        """
        with one_blas_thread():
            told = self._there.T @ cho_solve(self._factor, alike[self.known.items])
        left = alike - told
        return np.asarray(left / (left[item] + RIDGE))

    def _chances(self, score: Table) -> Chances:
        total = score.sum(axis=1)
        cover = np.minimum(total, 1)
        new = self.new_at(cover)
        return Chances(score / np.maximum(total, TINY)[:, None] * (1 - new)[:, None], new, cover)

    def new_at(self, cover: Table) -> Table:
        """How likely items so well covered belong to no neighbourhood, by what came of earlier ones."""
        asked = ~np.isnan(self.known.covered)
        alike = np.exp(-0.5 * ((cover[:, None] - self.known.covered[asked]) / LIKE) ** 2)
        was_new = self.known.founders()[asked].astype(np.float64)
        chance: Table = (PRIOR * (1 - cover) + alike @ was_new) / (PRIOR + alike.sum(axis=1))
        return chance

    def alike(self) -> Table:
        """(k, k) how likely the items of a neighbourhood belong to another, by what the rest say of them."""
        home, weight = self.known.home, self._weight
        told = -weight / self.inverse.diagonal()[:, None]  # right for who is alone
        size = np.bincount(home)[home]
        for n in np.unique(size[size > 1]).tolist():
            some = np.flatnonzero(size == n)
            of = some[np.argsort(home[some], kind="stable")].reshape(-1, n)
            told[of] = -np.linalg.solve(self.inverse[of[:, :, None], of[:, None]], weight[of])
        told[np.arange(len(told)), home] = 0
        chance = self._chances(np.maximum(told, 0)).home
        return np.asarray(self._member.T @ chance / np.maximum(self._member.sum(axis=0), 1)[:, None])


def model_of(kernel: Matrix, known: Known) -> Model:
    """The model of the known items: all that were asked about, and of the others at most `MOST_KNOWN`.

    Of these one of each neighbourhood comes first, the largest before others, and then what a fixed
    order of the items brings, so that the next question is about nearly the same ones.
    """
    k = known.n_homes
    told = np.flatnonzero(np.isnan(known.covered))
    if len(told) > MOST_KNOWN:
        founder = known.founders()
        size = np.where(founder, np.bincount(known.home)[known.home], 0)
        mixed = known.items * MIXER % 2**32
        told = told[np.lexsort((mixed[told], -size[told]))[:MOST_KNOWN]]
        kept = np.union1d(told, np.flatnonzero(~np.isnan(known.covered)))
        known = Known(known.items[kept], known.home[kept], known.covered[kept])
    return Model(kernel, known, k)


class Covariance:
    """Posterior covariance of a kernel, given the items that were asked about; goes on where it stands.

    It depends on the kernel and the list of items alone, to the last bit: it is made anew for each
    `ROUND` items, and brought up to date item by item in between.
    """

    def __init__(self, kernel: Matrix) -> None:
        self._kernel = kernel
        self._now: Matrix | None = None
        self._items: list[int] | None = None

    def given(self, items: Rows) -> Matrix:
        """The covariance given these items; valid until the next call."""
        wanted = items.tolist()
        start = len(wanted) // ROUND * ROUND
        done, self._items = self._items, None  # an interruption leaves nothing that is half done
        if self._now is None or done is None or len(done) < start or done != wanted[: len(done)]:
            self._begin(wanted[:start])
            done = wanted[:start]
        assert self._now is not None
        for item in wanted[len(done) :]:
            self._down(item)
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

    def _down(self, item: int) -> None:
        """One item more: a change of rank one, in place."""
        assert self._now is not None
        column = self._now[item].copy()
        with one_blas_thread():
            blas.sger(-1 / (float(column[item]) + RIDGE), column, column, a=self._now.T, overwrite_a=1)

    def explained(self, items: Rows, weight: Table) -> Table:
        """How much each item, if asked about next, would lessen the weighted uncertainty of all."""
        now = self.given(items)
        amount, total = weight.astype(np.float32), np.empty(len(now))
        with one_blas_thread():
            for a in range(0, len(now), 256):
                total[a : a + 256] = np.square(now[a : a + 256]) @ amount
        gain: Table = total / (now.diagonal().astype(np.float64) + RIDGE)
        return gain
