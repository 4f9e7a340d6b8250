"""Runs of learners on made and real sets, followed from answer to answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from laws.asking import truth
from linkwise.constraints.fallible import make_evidence
from linkwise.learn.abilities import SupportsAdvise
from linkwise.learn.advice import StopAdvice
from linkwise.learn.run import Run
from registry import LEARNERS, Entry

Rows = NDArray[np.float64]
Classes = NDArray[np.int64]

CHECKPOINTS = (0, 5, 10, 25, 50, 100, 200)  # answers


# ---------------------------------------------------------------- sets
def load_real(
    load: Callable[..., tuple[Rows, Classes]], n_rows: int | None = None
) -> Callable[[int], tuple[Rows, Classes]]:
    """The first rows of a set of scikit-learn, whatever the seed is."""

    def first_rows(seed: int) -> tuple[Rows, Classes]:
        X, y = load(return_X_y=True)
        X = scale(X) if load is load_wine else X  # its columns have units of their own
        return np.ascontiguousarray(X[:n_rows], dtype=np.float64), y[:n_rows]

    return first_rows


def make_overlapping_blobs(seed: int) -> tuple[Rows, Classes]:
    """Five round classes, some of which overlap."""
    return make_blobs(150, centers=5, cluster_std=2.0, random_state=seed)


def make_far_groups(seed: int) -> tuple[Rows, Classes]:
    """Three classes of four round groups each, which are anywhere."""
    centres = np.random.default_rng(seed).uniform(-12, 12, (12, 2))
    X, group = make_blobs([15] * 12, centers=centres, random_state=seed)
    return X, group % 3


def make_records(seed: int) -> tuple[Rows, Classes]:
    """Fifty classes of two to five rows, of which many are as near to those of other classes."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(50), rng.integers(2, 6, 50))
    width = 0.45 * np.exp(0.4 * rng.standard_normal(50))
    return rng.standard_normal((50, 8))[y] + width[y, None] * rng.standard_normal((len(y), 8)), y


SETS: dict[str, Callable[[int], tuple[Rows, Classes]]] = {
    "iris": load_real(load_iris),
    "wine": load_real(load_wine),
    "digits": load_real(load_digits, 200),
    "blobs": make_overlapping_blobs,
    "far groups": make_far_groups,
    "records": make_records,
}


# ---------------------------------------------------------------- runs
@dataclass(frozen=True)
class FollowedRun:
    """What happened in a run of a learner.

    `scores`: the adjusted Rand index at each checkpoint; that of the end, if the run ended earlier.
    `longest_still`: the most answers in a row that changed nothing while the clustering was not the truth and
    the learner did not advise to stop.
    `advice`: what was advised after each answer, and the true share of rows in a wrong cluster.
    """

    scores: tuple[float, ...]
    n_answers: int
    longest_still: int
    advice: dict[int, tuple[StopAdvice, float]]

    def share_at_first_stop(self) -> float | None:
        """The true share of rows in a wrong cluster when it is first advised to stop; None if it never is."""
        return next((wrong for said, wrong in self.advice.values() if said.stop), None)


@cache
def follow(name: str, of: str, seed: int, noise: float, budget: int) -> FollowedRun:
    """Let a learner ask about a set, with a share of wrong answers."""
    entry = next(entry for entry in LEARNERS if entry.name == name)
    X, y = SETS[of](seed)
    learner = make_learner(entry, len(np.unique(y)), seed)
    evidence = make_evidence(len(X), None, None if noise else 0)
    run = Run(learner, X, evidence, seed, budget=budget)
    oracle = truth(y, noise=noise, random_state=seed)
    labels, score, still, longest, advice = run.labels, adjusted_rand_score(y, run.labels), 0, 0, {}
    scores = [score]
    while (q := run.question) is not None:
        run.answer(oracle(q.first, q.second))
        before, labels, n_answers = labels, run.labels, len(oracle.said)
        said = learner.advise(run.state) if isinstance(learner, SupportsAdvise) else None
        if are_equal_partitions(before, labels):
            still += score < 1 and not (said is not None and said.stop)
        else:
            still, score = 0, adjusted_rand_score(y, labels)
        longest = max(longest, still)
        scores.append(score)
        if said is not None:
            advice[n_answers] = said, share_of_wrong_rows(labels, y)
    at = tuple(scores[min(n, len(scores) - 1)] for n in CHECKPOINTS if n <= budget)
    return FollowedRun(at, len(scores) - 1, longest, advice)


def make_learner(entry: Entry, n_classes: int, seed: int):
    """A learner that is told the number of classes, unless its entry tells it too few."""
    learner = entry.make(random_state=seed)
    return learner.set_params(n_clusters=n_classes) if entry.known_k and learner.n_clusters > 2 else learner


def are_equal_partitions(some: Rows, others: Rows) -> bool:
    """Whether two clusterings differ in the numbers of their clusters at most."""
    pairs = np.unique(np.column_stack([some, others]), axis=0)
    return len(pairs) == len(np.unique(some)) == len(np.unique(others))


def share_of_wrong_rows(labels: Rows, y: Classes) -> float:
    """The share of the rows that are not in the class of their cluster, after the best matching of both."""
    classes = np.unique(y, return_inverse=True)[1]
    table = np.zeros((labels.max() + 1, classes.max() + 1), dtype=np.int64)
    np.add.at(table, (labels, classes), 1)
    return 1 - table[linear_sum_assignment(table, maximize=True)].sum() / len(y)
