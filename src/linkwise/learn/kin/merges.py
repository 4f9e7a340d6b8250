"""The clusterings of a hierarchy."""

from __future__ import annotations

import numpy as np

from linkwise.learn.kin.kernels import Rows


def label_merges(n: int, merges: Rows) -> Rows:
    """Label n things after merges of `linkwise.native.agglomerate`, in the order of their first ones.

    Parameters
    ----------
    n : int
    merges : ndarray of shape (m, 2)
        The cluster that stays, and the one that is put into it; each has the number of its first one.
    """
    first = np.arange(n)
    first[merges[:, 1]] = merges[:, 0]
    while (further := first[first]).tobytes() != first.tobytes():
        first = further
    found: Rows = (np.cumsum(first == np.arange(n)) - 1)[first]
    return found
