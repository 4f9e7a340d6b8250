"""Bar-Hillel et al. (2003), plainly: chunklet by chunklet, row by row."""

import numpy as np


def within_covariance(X, must_link):
    """Covariance of the rows about the means of their chunklets, and the number of rows in chunklets."""
    chunklets = []
    for i, j in must_link:
        joined = [c for c in chunklets if i in c or j in c]
        chunklets = [c for c in chunklets if c not in joined] + [set().union({i, j}, *joined)]
    covariance, rows = np.zeros((X.shape[1],) * 2), 0
    for chunklet in chunklets:
        mean = sum(X[i] for i in chunklet) / len(chunklet)
        for i in chunklet:
            covariance += np.outer(X[i] - mean, X[i] - mean)
            rows += 1
    return covariance / rows, rows
