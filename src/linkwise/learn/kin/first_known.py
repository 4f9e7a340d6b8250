"""The regression on the first known items, from which that on a few more follows.

A question adds an item or two to the known ones. So the inverse and the scores of the first items are kept,
and those of all follow by the Schur complement of the few that came later: O(n k) time for n items and k
neighbourhoods instead of O(n l k) for l known items.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from linkwise import native
from linkwise.learn.kin.kernels import Rows, Table
from linkwise.learn.kin.mixed_kernel import MixedKernel
from linkwise.parallel import one_blas_thread

RIDGE = 0.05


class FirstKnown:
    """The regression on some items.

    It depends on the kernel and the list of items alone, to the last bit.

    Parameters
    ----------
    kernel : MixedKernel
    items : ndarray of shape (l,)

    Attributes
    ----------
    there : ndarray of shape (l, n_items)
        Their kernel to all items.
    inverse : ndarray of shape (l, l)
        (K_LL + λI)⁻¹.
    """

    def __init__(self, kernel: MixedKernel, items: Rows) -> None:
        self.items = items
        self.there = kernel.rows(items).astype(np.float64)
        self.inverse = _invert(self.there[:, items])
        self._last: tuple[bytes, Table] | None = None

    def score(self, label: Rows) -> Table:
        """(n, k) posterior mean of the indicator of each neighbourhood, given those of these items."""
        key = label.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = None  # before the next one takes memory, too
            self._last = key, self._compute_score(label)
        return self._last[1]

    def _compute_score(self, label: Rows) -> Table:
        k = int(label.max(initial=-1)) + 1
        weight = np.ascontiguousarray(sum_by_label(self.inverse, label, k).T)
        is_other = np.ones(self.there.shape[1], dtype=bool)
        is_other[self.items] = False
        found = np.empty((len(is_other), k))
        with one_blas_thread():
            found[is_other] = self.there[:, is_other].T @ weight
        own = -RIDGE * weight  # (K_LL + λI) W is the indicators
        own[np.arange(len(label)), label] += 1
        found[self.items] = own
        return found


def _invert(among: Table) -> Table:
    """(K_LL + λI)⁻¹ by Cholesky."""
    if len(among) == 0:
        return among
    with one_blas_thread():
        factor, failed = lapack.dpotrf((among + RIDGE * np.eye(len(among))).T, lower=0, overwrite_a=1)
        inverse, singular = lapack.dpotri(factor, lower=0, overwrite_c=1)
    assert not failed
    assert not singular
    upper = np.triu(inverse)
    return np.asarray(upper + np.triu(upper, 1).T)


def sum_by_label(table: Table, label: Rows, k: int) -> Table:
    """(k, m) sums of the rows of each label."""
    if table.size == 0:
        return np.zeros((k, table.shape[1]))
    return native.label_sums(np.ascontiguousarray(table), label.astype(np.int32), k, None, 1)[0]
