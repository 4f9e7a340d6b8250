"""PCKMeans as the paper has it, slow and obvious: every choice looks at the whole objective.

Basu, Banerjee and Mooney (2004), with components that move as wholes. A constraint is (i, j, price), the
price a function of the two clusters.
"""

from __future__ import annotations

import numpy as np


def total(costs, labels, must, cannot):
    """What a labelling costs: distances, must-links between clusters, cannot-links within one."""
    found = sum(costs[i, h] for i, h in enumerate(labels))
    found += sum(price(labels[i], labels[j]) for i, j, price in must if labels[i] != labels[j])
    return found + sum(price(labels[i], labels[j]) for i, j, price in cannot if labels[i] == labels[j])


def conditional_modes(costs, labels, must, cannot, group, order, max_sweeps=100):
    """Rows in order, then components in order, each to where all costs least, while any can gain."""
    labels = list(labels)
    components = list(dict.fromkeys(group[i] for i in order))
    blocks = [[i] for i in order]
    blocks += [np.flatnonzero(group == g) for g in components if (group == g).sum() > 1]
    for _ in range(max_sweeps):
        moved = False
        for block in blocks:
            options = []
            for h in range(costs.shape[1]):
                tried = list(labels)
                for i in block:
                    tried[i] = h
                options.append(total(costs, tried, must, cannot))
            best, now = min(options), total(costs, labels, must, cannot)
            if best < now - 1e-9 * max(abs(best), abs(now)):
                moved = True
                for i in block:
                    labels[i] = options.index(best)
        if not moved:
            break
    return np.array(labels)


def pckmeans(X, centers, constraints, w, rng, max_iter):
    """(labels, centres, objective after each iteration) from given centres, until these stand still.

    None once a cluster is empty, of which the paper says nothing.
    """
    n, k = len(X), len(centers)
    named = np.unique(np.r_[constraints.must_link.ravel(), constraints.cannot_link.ravel()])
    named = named[np.argsort(((X[named] - X.mean(axis=0)) ** 2).sum(axis=1))]
    place = {row: at for at, row in enumerate(named)}
    must, cannot = (
        [
            (place[i], place[j], lambda g, h, p=w * weight: p)
            for (i, j), weight in zip(pairs, weights, strict=True)
        ]
        for pairs, weights in (
            (constraints.must_link, constraints.must_link_weight),
            (constraints.cannot_link, constraints.cannot_link_weight),
        )
    )
    labels, objectives = None, []
    for _ in range(max_iter + 1):
        costs = ((X[:, None] - centers[None]) ** 2).sum(axis=2)
        nearest = costs.argmin(axis=1)
        first = nearest if labels is None else labels
        order = rng.permutation(len(named))
        group = constraints.component[named]
        settled = conditional_modes(costs[named], first[named], must, cannot, group, order)
        labels = nearest.copy()
        labels[named] = settled
        paid = total(np.zeros((len(named), k)), settled, must, cannot)
        objectives.append(costs[np.arange(n), labels].sum() + paid)
        if len(np.unique(labels)) < k:
            return None
        used, centers = centers, np.stack([X[labels == h].mean(axis=0) for h in range(k)])
        if len(objectives) > 1 and np.allclose(centers, used, rtol=0, atol=1e-14):
            break
    return labels, used, objectives
