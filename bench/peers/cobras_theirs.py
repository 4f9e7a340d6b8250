"""Run cobras_ts, the program of the authors of COBRAS, in another Python: read a problem, write the labels.

python cobras_theirs.py PROBLEM.npz FOUND.npz

COBRA-n is made of parts of cobras_ts, which has no COBRA of its own: all rows are split into n, and merged.
"""

import sys
import time
import warnings

import numpy as np
from cobras_ts.cluster import Cluster
from cobras_ts.clustering import Clustering
from cobras_ts.cobras_kmeans import COBRAS_kmeans


class KnownClasses:
    """Answer from known classes, and record the processor time of each question."""

    def __init__(self, y):
        self.y = y
        self.start = time.process_time()
        self.seconds = []

    def query_points(self, first, second):
        self.seconds.append(time.process_time() - self.start)
        return self.y[first] == self.y[second]

    def continue_cluster_process(self):
        return True

    def update_clustering(self, clustering):
        pass


class Cobra(COBRAS_kmeans):
    """One split into n parts and one merging phase. What is stored is the state after each answer."""

    n_super_instances = 10

    def cluster(self):
        self.ml, self.cl, states = [], [], []
        rows = self.create_superinstance(list(range(len(self.data))))
        parts = self.split_superinstance(rows, self.n_super_instances)
        self.clustering = Clustering([Cluster([part]) for part in parts])
        ask = self.querier.query_points

        def ask_and_store(first, second):
            states.append(labels_of(self))
            return ask(first, second)

        self.querier.query_points = ask_and_store
        self.store_intermediate_results = False
        self.merge_containing_clusters(None)
        # the state before a question is the one after the answer before it
        states.append(labels_of(self))
        return self.clustering, states[1:] or states, [], self.ml, self.cl


def labels_of(program):
    return program.clustering.construct_cluster_labeling()


def run_fold(method, X, y, test, questions, seed):
    """Labels of the test rows after each question, and seconds before each question and at the end."""
    np.random.seed(seed)  # noqa: NPY002  (the program draws from the global state)
    train = set(range(len(y))) - set(test.tolist())
    _, _, size = method.partition("-")
    querier = KnownClasses(y)
    program = (Cobra if size else COBRAS_kmeans)(X, querier, questions, train)
    if size:
        program.n_super_instances = int(size)
    _, stored, _, must, cannot = program.cluster()
    querier.seconds.append(time.process_time() - querier.start)
    assert all(row in train for pair in must + cannot for row in pair)
    return np.array([np.asarray(labels)[test] for labels in stored[:questions]]), np.array(querier.seconds)


def main(problem, found):
    with np.load(problem) as held:
        given = dict(held)
    results = {}
    for fold in range(int(given["n_folds"])):
        results[f"labels_{fold}"], results[f"seconds_{fold}"] = run_fold(
            str(given["method"]),
            given["X"],
            given["y"],
            given[f"test_{fold}"],
            int(given["questions"]),
            int(given["seed"]) + fold,
        )
    np.savez(found, **results)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
