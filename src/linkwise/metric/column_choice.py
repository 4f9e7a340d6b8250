"""Find the columns that say nothing about which rows belong together, from answered pairs.

The model is a logistic regression of "these two belong together" on the differences of two rows in each
column, with weights that are at least 0 and drawn to 0 (ridge). L-BFGS-B fits it. A column can be left out if
its weight is small in the fit to all pairs and in most fits to parts of them. This is proposed only if the
plain distance over the other columns predicts held-out answers clearly better than over all columns.

Cost: O(rows · features), and O(pairs · columns) for each step of some thirty fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from linkwise.metric.differences import Array, Pairs, feature_spreads

LEAST_PAIRS = 20
LEAST_OF_EACH = 4  # must-links, and cannot-links
_MOST_PAIRS = 2000  # more are thinned out
_MOST_COLUMNS = 60  # above this no person can judge a proposal
_PARTS = 10  # of the cross-validation
_PENALTY = 1.0  # of the squared weights of columns whose mean squared difference is 1
_SMALL = 0.25  # of the largest weight
_MOST_PARTS = 0.8  # share of the parts in which a weight must be small
_LEAST_GAIN = 2.0  # nats of log-likelihood over all held-out answers
_LEAST_ERRORS = 1.0  # the gain in standard errors


@dataclass(frozen=True, slots=True)
class ColumnProposal:
    """Columns that the answers say nothing for.

    Attributes
    ----------
    drop : tuple of str
        The columns to leave out, in the order of the table.
    keep : tuple of str
        The others.
    weights : dict of str to float
        The fitted weight of each column, where columns are scaled to the same mean squared difference; the
        largest is 1.
    gain : float
        The log-likelihood of held-out answers over that with all columns, in nats, 0 or more.
    n_pairs : int
        The number of answered pairs.
    """

    drop: tuple[str, ...]
    keep: tuple[str, ...]
    weights: dict[str, float]
    gain: float
    n_pairs: int


def propose_columns(
    X: NDArray[np.floating], sources: Sequence[str], must_links: Pairs, cannot_links: Pairs
) -> ColumnProposal | None:
    """Propose columns to leave out.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The encoded rows.
    sources : sequence of str, length n_features
        The column of the table from which each feature comes; features of one column are added up.
    must_links, cannot_links : ndarray of shape (n_pairs, 2)
        The rows of the answered pairs.

    Returns
    -------
    ColumnProposal or None
        None if there are fewer than 20 pairs, fewer than 4 of a kind, a single column or more than 60, or if
        no choice of columns predicts held-out answers clearly better than all columns.
    """
    names = list(dict.fromkeys(sources))
    if not 2 <= len(names) <= _MOST_COLUMNS or min(len(must_links), len(cannot_links)) < LEAST_OF_EACH:
        return None
    if len(must_links) + len(cannot_links) < LEAST_PAIRS:
        return None
    pairs = np.concatenate([must_links, cannot_links])
    is_together = np.arange(len(pairs)) < len(must_links)
    taken = np.unique(np.linspace(0, len(pairs) - 1, _MOST_PAIRS).astype(int))
    pairs, is_together = pairs[taken], is_together[taken].astype(float)
    members = np.array([[source == name for name in names] for source in sources], dtype=float)
    mean = 2 * feature_spreads(X) ** 2 @ members  # of the squared difference between any two rows
    if not (np.isfinite(mean).all() and (mean > 0).sum() > 1):
        return None
    differences = (X[pairs[:, 0]].astype(float) - X[pairs[:, 1]]) ** 2 @ members
    return _choose_columns(differences, mean, is_together, names)


def _choose_columns(
    differences: Array, mean: Array, is_together: Array, names: list[str]
) -> ColumnProposal | None:
    """Cross-validate the choice; `differences` has the shape (pairs, columns)."""
    scaled = differences / np.where(mean > 0, mean, 1.0)
    weights = _fit(scaled, is_together)[1:]
    parts = np.arange(len(is_together)) % _PARTS  # the must-links come first, so that each part has its share
    votes, gains = np.zeros(len(names)), np.zeros(len(is_together))
    everything = np.ones(len(names), dtype=bool)
    for part in range(_PARTS):
        held, fitted = parts == part, parts != part
        small = _are_small(_fit(scaled[fitted], is_together[fitted])[1:])
        votes += small
        for keep, sign in ((everything, 1.0), (~small, -1.0)):
            distance = differences @ keep / mean[keep].sum()
            intercept, slope = _fit(distance[fitted, None], is_together[fitted])
            gains[held] += sign * _losses(intercept - slope * distance[held], is_together[held])
    drop = _are_small(weights) & (votes >= _MOST_PARTS * _PARTS)
    error = float(gains.std()) * len(gains) ** 0.5
    gain = float(gains.sum())
    if not drop.any() or gain < _LEAST_GAIN or gain < _LEAST_ERRORS * error:
        return None
    return ColumnProposal(
        drop=tuple(name for name, is_out in zip(names, drop, strict=True) if is_out),
        keep=tuple(name for name, is_out in zip(names, drop, strict=True) if not is_out),
        weights=dict(zip(names, (weights / weights.max()).tolist(), strict=True)),
        gain=gain,
        n_pairs=len(gains),
    )


def _fit(differences: Array, is_together: Array) -> Array:
    """The intercept, and the weight of each column, which lowers the chance that two rows belong together."""

    def objective(parameters: Array) -> tuple[float, Array]:
        weights = parameters[1:]
        score = parameters[0] - differences @ weights
        residual = expit(score) - is_together
        loss = _losses(score, is_together).sum() + _PENALTY / 2 * weights @ weights
        return loss, np.concatenate([[residual.sum()], _PENALTY * weights - residual @ differences])

    start = np.concatenate([[0.0], np.full(differences.shape[1], 0.3)])
    bounds = [(None, None)] + [(0.0, None)] * differences.shape[1]
    found: Array = minimize(objective, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    return found


def _losses(score: Array, is_together: Array) -> Array:
    """The negative log-likelihood of each answer."""
    found: Array = np.logaddexp(0.0, score) - is_together * score
    return found


def _are_small(weights: Array) -> NDArray[np.bool_]:
    """Which weights are small beside the largest; none if all are 0."""
    found: NDArray[np.bool_] = weights < _SMALL * weights.max()
    return found
