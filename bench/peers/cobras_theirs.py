"""Run cobras_ts, the program of the authors of COBRAS, in another Python: read a problem, write what it found.

python cobras_theirs.py PROBLEM.npz FOUND.npz

COBRA-n is made of parts of cobras_ts, which has no COBRA of its own: all rows are split into n, and merged.
"""

import copy
import sys
import time
import warnings

import numpy as np
from cobras_ts.cluster import Cluster
from cobras_ts.clustering import Clustering
from cobras_ts.cobras_kmeans import COBRAS_kmeans


class KnownClasses:
    """Answer from known classes."""

    def __init__(self, y):
        self.y = y

    def query_points(self, first, second):
        return self.y[first] == self.y[second]

    def continue_cluster_process(self):
        return True

    def update_clustering(self, clustering):
        pass


class Cobra(COBRAS_kmeans):
    """One split into n parts and one merging phase. What is stored is the state after each answer."""

    n_super_instances = 10

    def cluster(self):
        self.start_time, self.ml, self.cl = time.time(), [], []
        rows = self.create_superinstance(list(range(len(self.data))))
        parts = self.split_superinstance(rows, self.n_super_instances)
        self.clustering = Clustering([Cluster([part]) for part in parts])
        ask = self.querier.query_points

        def ask_and_store(first, second):
            self.intermediate_results.append((labels_of(self), time.time() - self.start_time, None))
            return ask(first, second)

        self.querier.query_points = ask_and_store
        self.store_intermediate_results = False
        self.merge_containing_clusters(None)
        self.intermediate_results.append((labels_of(self), time.time() - self.start_time, None))
        before, *after = self.intermediate_results  # the state before an answer is that after the one before
        stored = after or [before]
        return self.clustering, [each[0] for each in stored], [each[1] for each in stored], self.ml, self.cl


def labels_of(program):
    return copy.copy(program.clustering.construct_cluster_labeling())


def run_fold(method, X, y, test, questions, seed):
    """Labels of the test rows and seconds after each question, and whether all pairs were training rows."""
    np.random.seed(seed)
    train = set(range(len(y))) - set(test.tolist())
    _, _, size = method.partition("-")
    program = (Cobra if size else COBRAS_kmeans)(X, KnownClasses(y), questions, train)
    if size:
        program.n_super_instances = int(size)
    _, stored, seconds, must, cannot = program.cluster()
    assert all(row in train for pair in must + cannot for row in pair)
    return np.array([np.asarray(labels)[test] for labels in stored[:questions]]), np.array(
        seconds[:questions]
    )


def main(problem, found):
    with np.load(problem) as held:
        given = dict(held)
    results = {}
    for fold in range(int(given["n_folds"])):
        labels, seconds = run_fold(
            str(given["method"]),
            given["X"],
            given["y"],
            given["test_%d" % fold],
            int(given["questions"]),
            int(given["seed"]) + fold,
        )
        results["labels_%d" % fold], results["seconds_%d" % fold] = labels, seconds
    np.savez(found, **results)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
