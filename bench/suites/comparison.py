"""Compare methods over many tasks: ranks, their tests, and wins beyond chance."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2, permutation_test, rankdata, studentized_range, wilcoxon

SIGNIFICANT = 0.05


class RankTest(NamedTuple):
    """Whether some methods differ.

    Attributes
    ----------
    statistic, p_value : float
        `p_value` is NaN where no two scores of a task differ: there is nothing to test.
    """

    statistic: float
    p_value: float


class Wins(NamedTuple):
    """On how many tasks one method is better than another, and worse, beyond chance.

    Attributes
    ----------
    won, lost, tied : int
    """

    won: int
    lost: int
    tied: int


def rank_aligned_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """Return the average aligned rank of each method; the best is the lowest (Hodges and Lehmann, 1962).

    Parameters
    ----------
    scores : array-like of shape (n_tasks, n_methods)
        The higher the better.

    Returns
    -------
    ndarray of shape (n_methods,)
        Mean over the tasks of the place that the score, less the task's mean score, takes among all of them.
    """
    return np.asarray(_align(scores).mean(axis=0))


def friedman_test(scores: ArrayLike) -> RankTest:
    """Test by aligned ranks whether the methods differ (García et al., 2010).

    Parameters
    ----------
    scores : array-like of shape (n_tasks, n_methods)
        The higher the better; at least two of each.

    Returns
    -------
    RankTest
        The statistic follows a chi-squared distribution with ``n_methods - 1`` degrees of freedom.

    Raises
    ------
    ValueError
        There are fewer than two tasks or two methods.
    """
    given = np.asarray(scores, dtype=np.float64)
    if given.ndim != 2 or min(given.shape) < 2:
        raise ValueError(
            f"scores of shape {given.shape} cannot be tested. Pass at least 2 tasks and 2 methods."
        )
    if not np.ptp(given, axis=1).any():
        return RankTest(0.0, float("nan"))
    ranks = _align(given)
    n, k = ranks.shape
    by_method, by_task = ranks.sum(axis=0), ranks.sum(axis=1)
    above = (k - 1) * ((by_method**2).sum() - k * n**2 / 4 * (k * n + 1) ** 2)
    below = k * n * (k * n + 1) * (2 * k * n + 1) / 6 - (by_task**2).sum() / k
    statistic = float(above / below)
    return RankTest(statistic, float(chi2.sf(statistic, k - 1)))


def critical_distance(n_methods: int, n_tasks: int, alpha: float = SIGNIFICANT) -> float:
    """Return by how much two mean ranks must differ in the test of Nemenyi (Demšar, 2006, section 3.2.2).

    Parameters
    ----------
    n_methods, n_tasks : int
    alpha : float, default=0.05
        Probability of a difference where there is none.

    Returns
    -------
    float
        In units of the rank among the methods of one task, from 1 to `n_methods`; not of aligned ranks.
    """
    q = studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_tasks)))


def rank_within_tasks(scores: ArrayLike) -> NDArray[np.float64]:
    """Return the mean rank of each method among the methods of a task; the best is the lowest.

    Parameters
    ----------
    scores : array-like of shape (n_tasks, n_methods)
        The higher the better. Ties share the mean of their ranks.

    Returns
    -------
    ndarray of shape (n_methods,)
        From 1 to ``n_methods``.
    """
    return np.asarray(rankdata(-np.round(np.asarray(scores, dtype=np.float64), 12), axis=1).mean(axis=0))


def wilcoxon_tests(scores: ArrayLike) -> NDArray[np.float64]:
    """Test for each two methods whether they differ over the tasks (Demšar, 2006, section 3.1.3).

    Parameters
    ----------
    scores : array-like of shape (n_tasks, n_methods)
        The higher the better.

    Returns
    -------
    ndarray of shape (n_methods, n_methods)
        p-values of the signed-rank test (Wilcoxon, 1945) from both sides, corrected for the number of pairs
        of methods (Holm, 1979). Half of the ranks of tasks without a difference count for each method. NaN on
        the diagonal, and where two methods differ on no task.
    """
    given = np.asarray(scores, dtype=np.float64)
    n_methods = given.shape[1]
    found = np.full((n_methods, n_methods), np.nan)
    for one, other in combinations(range(n_methods), 2):
        apart = np.round(given[:, one] - given[:, other], 12)
        if apart.any():
            found[one, other] = wilcoxon(apart, zero_method="zsplit").pvalue
    above = np.triu_indices(n_methods, 1)
    found[above] = correct_by_holm(found[above])
    found.T[above] = found[above]
    return found


def correct_by_holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Correct p-values for their number (Holm, 1979).

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        NaN is no test, and stays.

    Returns
    -------
    ndarray of shape (n_tests,)
        The smallest times the number of tests, the next one times one less, and so on; at most 1, and none
        below a smaller one's.
    """
    corrected = np.array(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(corrected))
    ascending = tested[np.argsort(corrected[tested], kind="stable")]
    times = corrected[ascending] * np.arange(len(ascending), 0, -1)
    corrected[ascending] = np.minimum(np.maximum.accumulate(times), 1.0)
    return corrected


def p_value_of_pairs(differences: ArrayLike) -> float:
    """Return the p-value of paired differences by a permutation test of their signs, from both sides.

    Parameters
    ----------
    differences : array-like of shape (n_runs,)
        Score of one method less that of another, run by run.

    Returns
    -------
    float
        NaN where it cannot be tested: with fewer than two runs, with a run that has no score, or where all
        runs are alike to the last digit. All signs are tried, or 9999 of them.
    """
    apart = np.asarray(differences, dtype=np.float64)
    if len(apart) < 2 or np.isnan(apart).any() or not apart.any():
        return float("nan")
    found = permutation_test(
        (apart,), np.mean, permutation_type="samples", vectorized=True, rng=np.random.default_rng(0)
    )
    return float(found.pvalue)


def can_win(n_runs: int, alpha: float = SIGNIFICANT) -> bool:
    """Whether so many runs can give a p-value below `alpha`: with fewer, no task is won beyond chance.

    Parameters
    ----------
    n_runs : int
    alpha : float, default=0.05

    Returns
    -------
    bool
    """
    return alpha * (1 << n_runs) > 2  # the least p-value is that of two among all signs


def count_wins(one: ArrayLike, other: ArrayLike, alpha: float = SIGNIFICANT) -> Wins:
    """Count the tasks on which one method is better than another, and worse, beyond chance.

    Parameters
    ----------
    one, other : array-like of shape (n_tasks, n_runs)
        Scores; run r of both methods has the same seed.
    alpha : float, default=0.05
        A task is won where the mean is higher and the p-value of the differences is below `alpha`.

    Returns
    -------
    Wins
    """
    apart = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    sure = np.array([p_value_of_pairs(runs) < alpha for runs in apart])
    ahead = apart.mean(axis=1) > 0
    won, lost = int((sure & ahead).sum()), int((sure & ~ahead).sum())
    return Wins(won, lost, len(apart) - won - lost)


def _align(scores: ArrayLike) -> NDArray[np.float64]:
    """Rank all scores at once, each less the mean of its task."""
    given = np.asarray(scores, dtype=np.float64)
    apart = given - given.mean(axis=1, keepdims=True)
    return np.asarray(rankdata(-np.round(apart, 12)).reshape(given.shape))
