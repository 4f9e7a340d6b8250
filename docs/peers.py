"""Programs that take part in a suite of linkwise.experiments, each as a function of a few lines."""

from sklearn.cluster import KMeans

from linkwise import Constraints, MPCKMeans
from linkwise.experiments.constraint_sets import draw_row_pairs


def kmeans(X, constraints, n_clusters, seed):
    """k-means, which ignores the constraints."""
    return KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(X)


def random_pairs(X, oracle, budget, n_clusters, seed, askable):
    """Ask about random pairs, and give the answers to MPCKMeans."""
    answered = [(i, j, oracle(i, j)) for i, j in draw_row_pairs(askable, budget, seed).tolist()]
    must_link = [(i, j) for i, j, answer in answered if answer == "yes"]
    cannot_link = [(i, j) for i, j, answer in answered if answer == "no"]
    constraints = Constraints(len(X), must_link, cannot_link)
    return MPCKMeans(n_clusters, random_state=seed).fit(X, constraints=constraints).labels_
