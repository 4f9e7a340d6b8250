"""Programs that take part in a suite, each as a function of a few lines."""

import numpy as np
from sklearn.cluster import KMeans

from linkwise import Constraints, MPCKMeans


def kmeans(X, constraints, n_clusters, seed):
    """k-means, which ignores the constraints."""
    return KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(X)


def random_pairs(X, oracle, budget, n_clusters, seed, askable):
    """Ask about random pairs, and give the answers to MPCKMeans."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(askable, 2, replace=False).tolist() for _ in range(budget)]
    answered = [(i, j, oracle(i, j)) for i, j in pairs]
    must_link = [(i, j) for i, j, answer in answered if answer == "yes"]
    cannot_link = [(i, j) for i, j, answer in answered if answer == "no"]
    constraints = Constraints(len(X), must_link, cannot_link)
    return MPCKMeans(n_clusters, random_state=seed).fit(X, constraints=constraints).labels_
