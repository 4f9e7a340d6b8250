"""COP-k-means as the authors of ClusILC ran it: it stops when a row finds no cluster.

Wagstaff, Cardie, Rogers and Schroedl (2001). Must-linked rows are one point, at their mean. Centres start at
random rows of cannot-links, then at random rows. Every pass takes the rows in the order of the data. Each row
gets the nearest centre that no earlier row with a cannot-link to it has taken.
"""

from __future__ import annotations

import numpy as np

from linkwise.cluster.kmeans.components import Blocks, build_blocks
from linkwise.constraints.constraints import Constraints

PASSES = 100


def cop_k_means(X: np.ndarray, constraints: Constraints, k: int, seed: int) -> np.ndarray | None:
    """Labels of the rows, or None where a row found no cluster."""
    blocks = build_blocks(X, constraints)
    foes: list[list[int]] = [[] for _ in blocks.X]
    for one, other in constraints.component_cannot_link.tolist():
        foes[one].append(other)
        foes[other].append(one)
    centers = draw_starts(blocks, constraints.component_cannot_link, k, np.random.default_rng(seed))
    before = np.empty(0)
    for _ in range(PASSES):
        labels = assign_blocks(blocks.X, centers, foes)
        if labels is None or np.array_equal(labels, before):
            break
        before, centers = labels, compute_means(blocks, labels, centers)
    return None if labels is None else labels[blocks.number]


def draw_starts(blocks: Blocks, apart: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Distinct blocks: ends of cannot-links first."""
    ends = rng.permutation(apart).ravel()
    order = np.concatenate([ends, rng.permutation(len(blocks.X))])
    first = np.sort(np.unique(order, return_index=True)[1])[:k]
    return blocks.X[order[first]]


def assign_blocks(X: np.ndarray, centers: np.ndarray, foes: list[list[int]]) -> np.ndarray | None:
    """The nearest centre that no foe before has; None where all are taken."""
    nearest = np.argsort(((X[:, None] - centers) ** 2).sum(axis=2), axis=1, kind="stable")
    labels = nearest[:, 0].tolist()
    for block, theirs in enumerate(foes):
        taken = {labels[foe] for foe in theirs if foe < block}
        free = (c for c in nearest[block].tolist() if c not in taken) if taken else iter([labels[block]])
        labels[block] = next(free, None)
        if labels[block] is None:
            return None
    return np.array(labels)


def compute_means(blocks: Blocks, labels: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Means of the clusters; an empty one keeps its centre."""
    moved = centers.copy()
    for c in np.unique(labels):
        own = labels == c
        moved[c] = np.average(blocks.X[own], axis=0, weights=blocks.weight[own])
    return moved
