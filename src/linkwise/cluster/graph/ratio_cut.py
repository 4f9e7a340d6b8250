"""Find the best ratio cut of a graph into two, with a price for broken cannot-links.

Rangapuram and Hein (2012), sections 2 to 4. Of a set C of nodes, neither empty nor all,

    F(C) = (cut(C) + gamma broken(C)) / balance(C)

is minimised, where broken(C) counts the broken cannot-links. The balance is vol(C) vol(rest) / vol(all), so
that cut / balance is cut / vol(C) + cut / vol(rest), or it is the smaller volume. The minimum is also that of
a ratio of functions of vectors f, F(f) = (R1(f) - R2(f)) / S(f), all of them convex and of degree 1:

    R1(f) = sum over edges of w_ij |f_i - f_j| + gamma q (max f - min f)
    R2(f) = gamma sum over the q pairs of |f_i - f_j|

and S the Lovász extension of the balance; for some threshold the set {f > t} is no worse than f. RatioDCA
takes R2 and S as linear at the vector it has, solves what is left, which is convex, and never makes the ratio
rise. The descents are native code (`linkwise.native.cuts`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from linkwise import native
from linkwise.native import CutGraph

Floats = NDArray[np.float64]
Balance = Literal["ncut", "cheeger"]


class CutProblem(NamedTuple):
    """A graph to be cut."""

    weights: sp.csr_array
    """(m, m) symmetric, no loops."""
    volume: Floats
    """(m,) of the nodes, above 0."""
    apart: NDArray[np.int64]
    """(q, 2) pairs of nodes."""
    balance: Balance

    def to_native(self) -> CutGraph:
        """Return the arrays of the native code."""
        edges = self.weights
        return CutGraph(
            edges.indptr.astype(np.int64),
            edges.indices.astype(np.int32),
            np.ascontiguousarray(edges.data, dtype=np.float64),
            np.ascontiguousarray(self.volume, dtype=np.float64),
            self.apart.astype(np.int32, order="C"),
            self.balance == "ncut",
        )


def find_splits(problem: CutProblem, start: Floats, max_iter: int) -> NDArray[np.bool_]:
    """Run RatioDCA from a start with growing prices until no cannot-link is broken.

    The start, of shape (m,), must not be constant. Returns the best set of nodes for each price, each
    once.
    """
    first = np.ascontiguousarray(start, dtype=np.float64)
    return native.ratio_splits(problem.to_native(), first, max_iter=max_iter).astype(bool)
