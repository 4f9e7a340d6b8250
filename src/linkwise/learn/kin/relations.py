"""Open relations: how likely two components are one, and what an answer about them is worth.

Two components are one with the chance r that the regression gives, if it finds that likely. Otherwise they
look different, and r is the far rate (`linkwise.learn.kin.calibration`), whatever the regression says,
because its small chances say little: on coil20 none of 60 pairs was one, though it gave more than 0.1 to 38
of them.

The worth of a question is the number of pairs of rows that its answer is expected to correct. For components
with n and n' rows in all, of which e and e' are trusted to be there, that is

    r (e e' - t n n')    if they are shown apart, and
    (1 - r) t e e'       if they are shown together,

where t is the chance from which a pair of rows gains by being together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.learn.kin.calibration import RATES
from linkwise.learn.kin.kernels import Mask, Table
from linkwise.learn.kin.posterior import Posterior, open_chances

LIKELY = 0.3  # chance by the regression from which a relation is likely enough for a question
TOGETHER = 0.3  # chance from which a pair of rows gains by being together
CLOSEST = 1 - 1e-9  # largest chance that two clusters are one, so that its logarithm is finite
TINY = 1e-9


def likely_chances(posterior: Posterior) -> Table:
    """(k, k) chances by the regression that two components are one; 0 where it does not find that likely."""
    among = open_chances(posterior)
    larger = np.maximum(among, among.T)
    return np.asarray(np.where(larger >= LIKELY, larger, 0))


def relation_chances(posterior: Posterior) -> Table:
    """(k, k) r of each two components: 0 where they are known to differ, and 1 on the diagonal."""
    one: Table = np.maximum(likely_chances(posterior), posterior.learned.far_rate.mean())
    one[posterior.placement.apart] = 0
    np.fill_diagonal(one, 1)
    return one


def largest_part_chances(posterior: Posterior, labels: NDArray[np.integer]) -> Table:
    """(rates, C) how likely each cluster is the largest part of its class, for each far rate.

    The chance that two clusters are one is the largest chance of any two of their components, and 0 if two of
    these are known to differ. For a cluster without a component it is the far rate.
    """
    size = np.bincount(labels, posterior.task.items.size)
    order = np.argsort(-size, kind="stable")
    near, is_open = _relate_clusters(posterior, labels)
    near, larger = near[np.ix_(order, order)], np.tril(is_open[np.ix_(order, order)], -1)
    is_near = larger & (near > 0)
    by_near = np.log1p(-np.where(is_near, np.minimum(near, CLOSEST), 0)).sum(axis=1)
    n_far = (larger & ~is_near).sum(axis=1)
    found = np.empty((len(RATES), len(size)))
    found[:, order] = np.exp(np.multiply.outer(np.log1p(-RATES), n_far) + by_near)
    return found


def count_open_pairs(posterior: Posterior, labels: NDArray[np.integer], least: float) -> int:
    """Count the pairs of clusters whose union is expected to move at least so many rows."""
    near, is_open = _relate_clusters(posterior, labels)
    size = np.bincount(labels, posterior.task.items.size)
    one = np.where(is_open, np.maximum(near, posterior.learned.far_rate.mean()), 0)
    return int(np.count_nonzero(np.triu(one * np.minimum.outer(size, size) >= least, 1)))


def _relate_clusters(posterior: Posterior, labels: NDArray[np.integer]) -> tuple[Table, Mask]:
    """(C, C) the likely chances that two clusters are one, and whether their relation is open."""
    known, n_clusters = posterior.known, int(labels.max()) + 1
    of = labels[known.items[known.is_first()]]
    near, is_open = np.zeros((n_clusters, n_clusters)), np.ones((n_clusters, n_clusters), dtype=bool)
    np.maximum.at(near, (of[:, None], of), likely_chances(posterior))
    a, b = np.nonzero(posterior.placement.apart)
    is_open[of[a], of[b]] = False
    return near, is_open


def component_sizes(
    join: Table, labels: NDArray[np.integer], cluster: NDArray[np.integer], size: NDArray[Any]
) -> Table:
    """(k,) rows of each component: those of its cluster, shared among the components there by their chances.

    `join`, of shape (n, k), has these chances, `labels` the cluster of each item, `cluster` that of each
    component, and `size` the rows of each item, or the part of them that counts.
    """
    is_there = labels[:, None] == cluster
    part = np.where(is_there, join + TINY, 0)
    part *= (size / np.maximum(part.sum(axis=1), TINY))[:, None]
    return np.asarray(part.sum(axis=0))


def relation_worths(posterior: Posterior, labels: NDArray[np.integer], join: Table, trust: Table) -> Table:
    """(k, k) pairs of rows that an answer about two components is expected to correct."""
    known, one, size = posterior.known, relation_chances(posterior), posterior.task.items.size
    cluster = labels[known.items[known.is_first()]]
    rows = component_sizes(join, labels, cluster, size)
    trusted = component_sizes(join, labels, cluster, size * trust)
    right, gain = np.multiply.outer(trusted, trusted), np.multiply.outer(rows, rows) * TOGETHER
    is_joined = cluster[:, None] == cluster
    worth = np.where(is_joined, (1 - one) * TOGETHER * right, one * (right - gain))
    worth[posterior.placement.apart] = 0
    return np.asarray(worth)
