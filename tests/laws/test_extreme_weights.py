"""Weights from 1e-300 to 1e300 and few rows: every clusterer and every metric ends with what it promises."""

import numpy as np
import pytest

import linkwise as lw
from cluster.metric.test_laws import LEARNERS as METRICS
from laws.clustering import check_result, kept
from registry import CLUSTERERS

SEEDS = 40
FEW = 15
WEIGHTS = (1e-300, 1e-150, 1e-9, 1.0, 1e9, 1e150, 1e300)


def problem(seed):
    """Up to eight rows, often equal or on a grid, k up to n, and constraints that need not fit."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    X = [
        rng.normal(size=(n, d)),
        rng.integers(0, 3, (n, d)).astype(float),
        np.full((n, d), 7.0),
        rng.normal(size=(n, d)) * 10.0 ** rng.integers(-100, 100, d),
    ][int(rng.integers(4))]
    k = int(rng.choice([1, min(2, n), n]))
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)]).reshape(-1, 2)
    pairs = pairs[rng.permutation(len(pairs))[: int(rng.integers(0, 2 * n))]]
    same = rng.random(len(pairs)) < rng.choice([0.0, 0.5, 1.0])
    spread = [rng.choice(WEIGHTS, len(pairs)), np.where(same, *rng.permutation([1e300, 1e-300]))]
    weight = spread[int(rng.integers(2))]
    return X, k, kept(n, pairs[same], pairs[~same], weight[same], weight[~same])


def hard_case():
    """The heaviest must-link, the lightest cannot-link."""
    X = np.random.default_rng(0).normal(size=(5, 2))
    return X, 5, kept(5, [(0, 1)], [(2, 3)], [1e300], [1e-300])


PROBLEMS = [hard_case(), *map(problem, range(SEEDS))]
by_day_and_by_night = pytest.mark.parametrize(
    "problems",
    [PROBLEMS[:FEW], pytest.param(PROBLEMS[FEW:], marks=pytest.mark.slow(nightly=True))],
    ids=["by day", "by night"],
)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of what is broken, constant, or equal
@pytest.mark.parametrize("entry", CLUSTERERS, ids=lambda entry: entry.name)
@by_day_and_by_night
def test_every_clusterer_ends(entry, problems):
    for X, k, constraints in problems:
        try:
            model = entry.make(k, random_state=0).fit(X, constraints=constraints)
        except lw.InfeasibleConstraintsError:
            assert entry.kind == "hard"
        else:
            check_result(model, X, constraints)


def is_fitted(metric, X, constraints):
    """Fit a metric; False where ITML refuses with the words that it has for what no metric can do."""
    try:
        metric.fit(X, constraints=constraints)
    except ValueError as error:
        if "No metric keeps the bounds" not in str(error):
            raise
        return False
    return True


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("make", METRICS.values(), ids=METRICS)
@by_day_and_by_night
def test_every_metric_ends(make, problems):
    for X, _, constraints in problems:
        metric = make()
        if is_fitted(metric, X, constraints):
            assert np.isfinite(metric.transform(X)).all()
