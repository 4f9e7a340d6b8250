"""Weigh columns by how much the answered pairs depend on them.

The model is a logistic regression of "these two belong together" on the differences of two rows in each
column, with weights that are at least 0 and drawn to 0 (ridge). L-BFGS-B fits it. The proposed weight of a
column is the mean of its fitted weight, scaled so that all columns together count as much as they do now, and
1. So few answers never leave a column out. Weights are proposed only if the distance with them predicts
held-out answers clearly better than the distance without.

Cost: O(rows · features), and O(pairs · columns) for each step of some thirty fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from linkwise.cluster.metric.differences import Array, Pairs, feature_spreads

LEAST_PAIRS = 20
LEAST_OF_EACH = 4  # must-links, and cannot-links
_MOST_PAIRS = 2000  # more are thinned out
_MOST_COLUMNS = 60  # above this no person can judge a proposal
_PARTS = 10  # of the cross-validation
_PENALTY = 1.0  # of the squared weights of columns whose mean squared difference is 1
_LEAST_GAIN = 2.0  # nats of log-likelihood over all held-out answers
_LEAST_ERRORS = 1.0  # the gain in standard errors
_SHRINKAGE = 0.5  # share of 1 in the mean of the fitted weight and 1
_LESS, _MORE = 2 / 3, 3 / 2  # weights that change how much a column counts noticeably


@dataclass(frozen=True, slots=True)
class ColumnProposal:
    """Weights of columns by the answers.

    Attributes
    ----------
    weights : dict of str to float
        The factor of each column in the squared distance, at least 0.5, in the order of the table. With these
        factors the columns together count as much as without.
    less : tuple of str
        The columns that count clearly less, the largest change of the distance first.
    more : tuple of str
        The columns that count clearly more, in the same order.
    gain : float
        The log-likelihood of held-out answers over that without weights, in nats.
    n_pairs : int
        The number of answered pairs.
    """

    weights: dict[str, float]
    less: tuple[str, ...]
    more: tuple[str, ...]
    gain: float
    n_pairs: int


def propose_columns(
    X: NDArray[np.floating], sources: Sequence[str], must_links: Pairs, cannot_links: Pairs
) -> ColumnProposal | None:
    """Propose weights for columns of the table, whose features are added up by their `sources`.

    None if there are fewer than 20 pairs, fewer than 4 of a kind, a single column or more than 60, if the
    weights do not predict held-out answers clearly better, or if they change no column clearly.
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
    return _choose_weights(differences, mean, is_together, names)


def _choose_weights(
    differences: Array, mean: Array, is_together: Array, names: list[str]
) -> ColumnProposal | None:
    """Cross-validate the weights; `differences` has the shape (pairs, columns)."""
    parts = np.arange(len(is_together)) % _PARTS  # the must-links come first, so that each part has its share
    gains = np.zeros(len(is_together))
    for part in range(_PARTS):
        held, fitted = parts == part, parts != part
        found = _fit_weights(differences[fitted], mean, is_together[fitted])
        for weights, sign in ((np.ones(len(names)), 1.0), (found, -1.0)):
            distance = differences @ weights / mean.sum()
            intercept, slope = _fit(distance[fitted, None], is_together[fitted])
            gains[held] += sign * _losses(intercept - slope * distance[held], is_together[held])
    gain, error = float(gains.sum()), float(gains.std()) * len(gains) ** 0.5
    if gain < _LEAST_GAIN or gain < _LEAST_ERRORS * error:
        return None
    weights = _fit_weights(differences, mean, is_together)
    by_change = np.argsort(-mean * np.abs(weights - 1), kind="stable").tolist()
    less = tuple(names[at] for at in by_change if weights[at] < _LESS)
    more = tuple(names[at] for at in by_change if weights[at] > _MORE)
    if not (less or more):
        return None
    by_name = dict(zip(names, weights.tolist(), strict=True))
    return ColumnProposal(weights=by_name, less=less, more=more, gain=gain, n_pairs=len(gains))


def _fit_weights(differences: Array, mean: Array, is_together: Array) -> Array:
    """The shrunken weight of each column; all are 1 if the answers depend on no column."""
    scale = np.where(mean > 0, mean, 1.0)
    fitted = _fit(differences / scale, is_together)[1:] / scale
    total = fitted @ mean
    if total <= 0:
        return np.ones(len(mean))
    shrunken: Array = _SHRINKAGE + (1 - _SHRINKAGE) * fitted * (mean.sum() / total)
    return np.where(mean > 0, shrunken, 1.0)


def _fit(differences: Array, is_together: Array) -> Array:
    """The intercept, and the weight of each column, which lowers the chance that two rows belong together."""
    from scipy.optimize import minimize  # slow to load

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
