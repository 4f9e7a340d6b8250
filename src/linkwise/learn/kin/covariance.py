"""Posterior covariance of the kernel, by which KIN chooses the item to ask about."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from linkwise import native, parallel
from linkwise.learn.kin.first_known import RIDGE
from linkwise.learn.kin.kernels import Matrix, Rows, Table
from linkwise.learn.kin.mixed_kernel import MixedKernel
from linkwise.parallel import one_blas_thread

ANEW = 64  # items after which it is computed anew


class Covariance:
    """Posterior covariance of a kernel, given the items that were asked about; updated item by item.

    The same arguments give the same result, to the last bit: the covariance is computed anew for a number of
    first items and for each `ANEW` more, and updated item by item in between. Only the lower triangle of its
    table counts. Another kernel uses the same table, because it takes time to make a new one.
    """

    def __init__(self) -> None:
        self._now: Matrix | None = None
        self._key = b""
        self._items: list[int] | None = None

    def uncertainty_reductions(
        self, kernel: MixedKernel, key: bytes, n_first: int, items: Rows, weight: Table
    ) -> Table:
        """Compute how much a question about each item would lessen the weighted uncertainty of all.

        Parameters
        ----------
        kernel : MixedKernel
        key : bytes
            A short name for the kernel.
        n_first : int
            Number of items that were known when the kernel began to count.
        items : ndarray of shape (l,)
            The items that were asked about.
        weight : ndarray of shape (n_items,)
            How uncertain each item is.
        """
        wanted, n_threads = items.tolist(), parallel.n_threads()
        n_first = n_first if n_first <= len(wanted) else 0
        start = n_first + (len(wanted) - n_first) // ANEW * ANEW
        done, self._items = self._items, None  # so an interruption leaves no half-made update
        if self._now is None or len(self._now) != len(kernel):
            self._now, done = np.empty((len(kernel),) * 2, dtype=np.float32), None
        if done is None or self._key != key or len(done) < start or done != wanted[: len(done)]:
            done, self._key = wanted[:start], key
            _condition_on_first(self._now, kernel, items[:start])
        total = None
        for item in wanted[len(done) :]:
            total = native.condition_on(self._now, item, RIDGE, weight, n_threads)
        if total is None:
            total = native.weighted_squares(self._now, weight, n_threads)
        self._items = wanted
        gain: Table = total / (self._now.diagonal().astype(np.float64) + RIDGE)
        return gain


def _condition_on_first(out: Matrix, kernel: MixedKernel, items: Rows) -> None:
    """K - K_L' (K_LL + λI)⁻¹ K_L."""
    kernel.fill_lower(out)
    if len(items):
        there = kernel.rows(items).astype(np.float64)
        among = there[:, items] + RIDGE * np.eye(len(items))
        with one_blas_thread():
            root = np.linalg.cholesky(among)
            half = blas.dtrsm(1, root.T, there.T, side=1, overwrite_b=1).T.astype(np.float32)
            blas.ssyrk(-1, half.T, 1, out.T, lower=0, overwrite_c=1)
