"""Extremely randomised trees that estimate a value (Geurts, Ernst and Wehenkel 2006), slow and obvious.

What is drawn, and in which order: every tree has a stream of its own, seeded by the next word of the stream
of `seed`. It draws a place for each row of its bootstrap sample. Nodes are looked at from the root on, the
left child with all below it before the right one. A node draws a place among the features that are still to
be tried, then, where its rows differ in that feature, a threshold. Drawn features go to the front of the list
of all.
"""

from __future__ import annotations

import numpy as np

from reference.kernels import splitmix64, words


def grow(rows, value, weight, sign, n_trees, max_features, min_leaf, seed):
    """Trees, and the mean estimate of each row by those that have not seen it."""
    seeds = words(seed)
    trees = [
        Tree(rows.astype(float), value, weight, sign, max_features, min_leaf, next(seeds))
        for _ in range(n_trees)
    ]
    unseen = [[t.estimate(row) for t in trees if not t.count[i]] for i, row in enumerate(rows)]
    return trees, np.array([sum(one) / len(one) if one else np.nan for one in unseen])


class Tree:
    """Grown as soon as it is made; a node is a dict, with `feature`, `threshold` and sides unless a leaf."""

    def __init__(self, rows, value, weight, sign, max_features, min_leaf, seed):
        self.rows, self.value, self.sign = rows, value, sign
        self.most, self.least = max_features, min_leaf
        self.random = splitmix64(seed)
        n = len(rows)
        self.count = np.bincount([int(next(self.random) * n) for _ in range(n)], minlength=n)
        self.weight = weight * self.count
        self.features = list(range(rows.shape[1]))
        self.root = self.grow(np.flatnonzero(self.count), -np.inf, np.inf)

    def grow(self, known, low, high):
        node = {"value": min(max(self.mean(known), low), high)}
        split = self.best_split(known, low, high)
        if split is None:
            return node
        feature, threshold, left_mean, right_mean = split
        is_left = self.rows[known, feature] <= threshold
        middle = (left_mean + right_mean) / 2
        sign = self.sign[feature]
        bounds = {
            1: ((low, middle), (middle, high)),
            -1: ((middle, high), (low, middle)),
            0: ((low, high),) * 2,
        }
        left, right = bounds[int(sign)]
        node |= {"feature": feature, "threshold": threshold}
        node["left"] = self.grow(known[is_left], *left)
        node["right"] = self.grow(known[~is_left], *right)
        return node

    def mean(self, known):
        return add(self.weight[known] * self.value[known]) / add(self.weight[known])

    def best_split(self, known, low, high):
        if len(known) < 2 * self.least or len(set(self.value[known])) == 1:
            return None
        best, most, tried = None, -1.0, 0
        for f in range(len(self.features)):
            if tried == self.most:
                break
            other = f + int(next(self.random) * (len(self.features) - f))
            self.features[f], self.features[other] = self.features[other], self.features[f]
            feature = self.features[f]
            values = self.rows[known, feature]
            if values.min() == values.max():
                continue
            tried += 1
            threshold = values.min() + next(self.random) * (values.max() - values.min())
            threshold = threshold if threshold < values.max() else values.min()
            is_left = values <= threshold
            if min(is_left.sum(), (~is_left).sum()) < self.least:
                continue
            w, wy = self.weight[known], self.weight[known] * self.value[known]
            left, left_y = add(w[is_left]), add(wy[is_left])
            right, right_y = add(w) - left, add(wy) - left_y
            means = [min(max(mean, low), high) for mean in (left_y / left, right_y / right)]
            if self.sign[feature] * (means[1] - means[0]) < 0:
                continue
            score = left_y * left_y / left + right_y * right_y / right
            if score > most:
                best, most = (feature, threshold, *means), score
        return best

    def estimate(self, row):
        node = self.root
        while "feature" in node:
            node = node["left" if row[node["feature"]] <= node["threshold"] else "right"]
        return node["value"]


def add(values):
    """Add one after the other, as a loop does."""
    total = 0.0
    for value in values:
        total += value
    return total
