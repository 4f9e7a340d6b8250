"""The kernel of several clusterings: the weighted number of clusterings in which two rows share a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator


class CoMembership(LinearOperator):
    """K = sum over t of alpha_t [rows i and j share a cluster in clustering t], never formed.

    Products with vectors and matrices, single entries and rows are computed when they are asked for, in
    time O(n t); `toarray` forms all n² entries. `hypotheses` are labels of shape (n_rows, n_clusterings).
    """

    def __init__(self, hypotheses: NDArray[Any], alphas: NDArray[np.float64]) -> None:
        self.hypotheses, self.alphas = hypotheses, alphas
        super().__init__(np.float64, (len(hypotheses), len(hypotheses)))

    def _matmat(self, V: NDArray[Any]) -> NDArray[np.float64]:
        product = np.zeros(V.shape)
        for labels, alpha in zip(self.hypotheses.T, self.alphas, strict=True):
            sums = np.zeros((int(labels.max()) + 1, V.shape[1]))
            np.add.at(sums, labels, V)
            product += alpha * sums[labels]
        return product

    def _adjoint(self) -> CoMembership:
        return self

    def row(self, i: int) -> NDArray[np.float64]:
        """Compute the similarities of row i to all rows, shape (n_rows,)."""
        similar: NDArray[np.float64] = (self.hypotheses == self.hypotheses[i]) @ self.alphas
        return similar

    def entry(self, i: int, j: int) -> float:
        """Compute the similarity of rows i and j."""
        return float((self.hypotheses[i] == self.hypotheses[j]) @ self.alphas)

    def diagonal(self) -> NDArray[np.float64]:
        """Return the similarity of each row to itself: the sum of the weights."""
        return np.full(self.shape[0], self.alphas.sum())

    def toarray(self) -> NDArray[np.float64]:
        """Compute all entries, shape (n_rows, n_rows)."""
        return np.stack([self.row(i) for i in range(self.shape[0])])
