"""Extremely randomised trees (Geurts, Ernst and Wehenkel 2006), slow and obvious.

What is drawn, and in which order: every tree has a stream of its own, seeded by the next word of the stream
of `seed`. Nodes are looked at from the root on, the left child with all below it before the right one. A
node draws a place among the features that are still to be tried, then, where its items differ in that
feature, a threshold. The list of the features goes through the whole tree: those in which the items of a
node do not differ go to its front, where the nodes below leave them alone, and those that were tried go
to its end.
"""

from __future__ import annotations

import numpy as np

from reference.kernels import splitmix64, words


def random_trees(rows, items, home, n_trees, seed, max_features):
    """(n, n_trees) leaves of all rows."""
    seeds = words(seed)
    grown = [Tree(rows, items, home, next(seeds), max_features).leaf for _ in range(n_trees)]
    return np.stack(grown, axis=1)


class Tree:
    """Grown as soon as it is made; `leaf` is the leaf of each row."""

    def __init__(self, rows, items, home, seed, max_features):
        self.rows, self.items, self.home, self.most = rows, items, home, max_features
        self.random = splitmix64(seed)
        self.features = list(range(rows.shape[1]))
        self.leaf, self.n_leaves = np.full(len(rows), -1), 0
        self.grow(np.arange(len(rows)), np.arange(len(items)), 0)

    def grow(self, reached, known, constant):
        """The tree below a node, which these rows reach and these known items."""
        split = None
        if len(set(self.home[known])) > 1:
            split, constant = self.best_split(known, constant)
        if split is None:
            self.leaf[reached] = self.n_leaves
            self.n_leaves += 1
            return
        feature, threshold = split
        left = self.rows[:, feature] <= threshold
        self.grow(reached[left[reached]], known[left[self.items[known]]], constant)
        self.grow(reached[~left[reached]], known[~left[self.items[known]]], constant)

    def best_split(self, known, constant):
        """Feature and threshold, or None; and how many features are known not to differ."""
        best, most = None, -1.0
        tried, end = 0, len(self.features)
        while tried < self.most and constant < end:
            at = constant + int(next(self.random) * (end - constant))
            feature = self.features[at]
            values = self.rows[self.items[known], feature]
            low, high = values.min(), values.max()
            if low == high:
                self.swap(at, constant)
                constant += 1
                continue
            end -= 1
            self.swap(at, end)
            tried += 1
            threshold = low + next(self.random) * (high - low)
            threshold = threshold if threshold < high else low
            score = purity(self.home[known], values <= threshold)
            if score > most:
                best, most = (feature, threshold), score
        return best, constant

    def swap(self, a, b):
        self.features[a], self.features[b] = self.features[b], self.features[a]


def purity(home, left):
    """Squared class counts over the size, both sides: the number of items less their Gini impurity."""
    score = []
    for side in (home[left], home[~left]):
        counts = np.unique(side, return_counts=True)[1]
        score.append(float((counts**2).sum()) / len(side))
    return score[0] + score[1]


def shared(leaves):
    """(n, n) in how many trees two rows share a leaf."""
    return (leaves[:, None] == leaves).sum(axis=2)
