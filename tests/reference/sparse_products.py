"""Products of sparse rows, from the whole tables."""

from __future__ import annotations

import numpy as np


def largest_products(table, counts, of, k, block=None, source=None):
    """The k other rows with the largest products, lower rows first among equals; -1 where none is left."""
    table = np.asarray(table, np.float64) * counts
    found = np.full((len(of), k), -1)
    for at, i in enumerate(of):
        product = sum_products(table, np.full(len(table), i), np.arange(len(table)))
        product[i] = 0
        if block is not None:
            product[block != block[i]] = 0
        if source is not None:
            product[source == source[i]] = 0
        best = sorted(np.flatnonzero(product > 0), key=lambda j: (-product[j], j))[:k]
        found[at, : len(best)] = best
    return found


def column_work(table, block=None):
    """The sum over blocks of the squared number of rows that have a value in each column."""
    table = np.asarray(table)
    block = np.zeros(len(table)) if block is None else block
    return sum(((table != 0) & (block == value)[:, None]).sum(axis=0) ** 2.0 for value in np.unique(block))


def sum_products(table, first, second):
    """Products of pairs of rows, added from the first column to the last."""
    table = np.asarray(table, np.float64)
    total = np.zeros(len(first))
    for column in table.T:
        total += column[first] * column[second]
    return total
