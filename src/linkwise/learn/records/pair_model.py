"""How probable a match is after answers: an ensemble that learns which columns matter.

Four models learn from the answered pairs: logistic regression and extremely randomised trees (Geurts, Ernst
and Wehenkel, 2006, Extremely randomized trees, Machine Learning), each once with the constraint that more
alike records never match less probably, and once free. The prior's log-odds are a feature of all, and the
logistic coefficients have a Gaussian prior around it, so few answers change little. Questions are about
doubtful pairs alone. Therefore improbable pairs, and the most similar ones, take part with the probability of
the prior: the model stays as it was where nobody asks.

The log-odds of the models are averaged, by weights that fall with their loss on held-out answers. A free
model has to be clearly better than one with constraints. It takes part only after some answers of "yes": from
doubtful pairs that all are a "no" it would learn that pairs match less the more alike they are. (Improbable
pairs take part in any case, so "yes" alone is enough.) The scale and shift of the average are then corrected
by the held-out log-odds of the pairs that were drawn at random. Others were asked about because their groups
are in doubt, and these match less often than pairs that look the same to the model.

An answer may be wrong. So each counts by the probability that its pair is a match, which the caller believes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from linkwise import native, parallel
from linkwise.learn.records.features import PairFeature, PairFeatures
from linkwise.rng import rng_at

Values = NDArray[np.float64]

IN_QUESTION = -5.0  # log-odds of the prior above which features are centred and scaled
LEAST_SCALE = 0.1  # of a feature: what hardly varies counts little
MOST_SCALED = 200_000  # pairs that tell the scale of features
FAR, N_FAR, FAR_WEIGHT = -3.0, 200, 20.0  # improbable pairs that take part, and their weight in answers
N_TOP, TOP_WEIGHT = 30, 5.0  # the most similar pairs
N_FOLDS = 5
PRECISION = 0.3  # of a logistic coefficient around 0, with constraints
FREE_PRECISION = 3.0  # without them
PRIOR_PRECISION, START_PRECISION = 10.0, 0.1  # of the coefficient of the prior around 1, and of the constant
LEAST_ANSWERS = 20  # from which trees are grown
LEAST_MATCHES = 5.0  # answers of "yes" from which free models count
N_TREES, SHARE_TRIED, MIN_LEAF = 80, 0.5, 2
NARROW = (0.01, 0.99)  # probabilities of trees
DOUBT = 3.0  # loss by which free models must be better
HEAT = 3.0  # of the weights of models: they fall by e for so much loss
LEAST_SHARE = 0.05  # of a model that counts
SCALE_PRECISION, SHIFT_PRECISION = 60.0, 1.0  # of the corrected scale around 1, and of the shift around 0
ACTIVE = -4.0  # log-odds below which trees are not asked
FLATTEST, STEEPEST, MOST_SHIFT = 0.5, 1.5, 3.0


@dataclass(frozen=True, eq=False)
class TreePart:
    """Trees, and their share of the average."""

    trees: native.ValueTrees
    share: float


class RandomAnswers(NamedTuple):
    """Answers about pairs that were drawn at random.

    `pairs` are the numbers of the pairs, `is_yes` is what was answered, and `error_rate` the share of answers
    that may be wrong.
    """

    pairs: NDArray[np.int64]
    is_yes: NDArray[np.bool_]
    error_rate: float


@dataclass(frozen=True, eq=False)
class PairModel:
    """What the answers tell about pairs.

    Attributes
    ----------
    log_odds : ndarray of float64, shape (n_pairs,)
        Log-odds of a match of each candidate pair.
    held_out : ndarray of float64, shape (n_answers,)
        Those of each answered pair by models that have not seen its answer, so that none confirms itself.
    names : tuple of PairFeature
        The features.
    constant, coefficients : float and ndarray of float64, shape (1 + n_features,)
        The logistic part, for the prior's log-odds and all features, with the shares of both models.
    line : tuple of float and ndarray of float64
        The same with the shares of trees, for pairs about which trees are not asked.
    parts : tuple of TreePart
        Trees that count.
    scale, shift : float
        Correction of the average.
    centre : ndarray of float64, shape (1 + n_features,)
        The prior's log-odds and the features of a middle pair in question.
    """

    log_odds: Values
    held_out: Values
    names: tuple[PairFeature, ...]
    constant: float
    coefficients: Values
    line: tuple[float, Values]
    parts: tuple[TreePart, ...]
    scale: float
    shift: float
    centre: Values

    def predict(self, features: PairFeatures, prior_log_odds: Values) -> Values:
        """Return the log-odds of a match of any pairs that have the same features, shape (n_pairs,)."""
        constant, coefficients = self.line
        z = constant + _apply(coefficients, prior_log_odds, features.values)
        if self.parts:
            active = np.flatnonzero(_is_active(z, prior_log_odds))
            prior, values = prior_log_odds[active], features.values[active]
            z[active] = self.constant + _apply(self.coefficients, prior, values)
            rows = _stack(prior, values)
            for part in self.parts:
                chance = part.trees.estimate(rows, parallel.n_threads())
                z[active] += part.share * logit(np.clip(chance, *NARROW))
        return self.shift + self.scale * z

    def explain(
        self,
        features: PairFeatures,
        prior_log_odds: Values,
        pair: int,
        prior_parts: tuple[float, dict[str, float]] | None = None,
    ) -> tuple[float, dict[str, float]]:
        """Tell what each column adds to the log-odds of a pair.

        Parameters
        ----------
        features, prior_log_odds
            As for `predict`.
        pair : int
            Number of the pair.
        prior_parts : tuple of float and dict of str to float, optional
            What each column adds to the prior's log-odds, as `MatchPrior.explain` returns it. The linear part
            of the prior is then split among the columns.

        Returns
        -------
        start : float
            Log-odds of a middle pair in question; with `prior_parts` those of the prior count in its place.
        added : dict of str to float
            What each column adds; "" stands for the records as wholes, with the prior. Together with `start`
            they are what `predict` returns.

        Notes
        -----
        A logistic model adds its coefficient times the distance from a middle pair. In a tree the split by a
        feature adds the difference of the means of node and child (Saabas, 2014, Interpreting random
        forests). These sums are of probabilities, so they are stretched to the log-odds of the forest.
        """
        prior, values = prior_log_odds[pair : pair + 1], features.values[pair : pair + 1]
        row = np.r_[prior, values[0]]
        constant, coefficients = self.line
        is_active = self.parts and _is_active(constant + _apply(coefficients, prior, values), prior)[0]
        constant, coefficients = (self.constant, self.coefficients) if is_active else self.line
        centre, columns = self.centre.copy(), dict[str, float]()
        if prior_parts is not None:
            centre[0], row[0] = prior_parts[0], prior_parts[0]
            columns = {name: self.scale * float(coefficients[0]) * p for name, p in prior_parts[1].items()}
        start, added = constant + float(coefficients @ centre), coefficients * (row - centre)
        for part in self.parts if is_active else ():
            root, by_feature = _add_up_splits(part.trees, _stack(prior, values)[0])
            total = float(by_feature.sum())
            first, last = logit(np.clip([root, root + total], *NARROW)).tolist()
            start += part.share * first
            added = added + part.share * by_feature * ((last - first) / total if total else 0.0)
        for name, value in zip(("", *(name.column for name in self.names)), added.tolist(), strict=True):
            columns[name] = columns.get(name, 0.0) + self.scale * value
        return self.shift + self.scale * start, columns


@dataclass(frozen=True, eq=False)
class _Problem:
    """What all models learn from: answered pairs, then pairs with the chance of the prior."""

    rows: NDArray[np.float32]  # the prior's log-odds, and all features
    scaled: Values  # 1, the prior's log-odds, and scaled features
    chance: Values
    weight: Values
    n_answers: int
    signs: NDArray[np.int8]  # of rows
    fold: NDArray[np.int64]  # of answered pairs, -1 for the others


def _is_active(log_odds: Values, prior_log_odds: Values) -> NDArray[np.bool_]:
    """Whether trees are asked about each pair: others are improbable by the answers and without them."""
    return (log_odds > ACTIVE) | (prior_log_odds > FAR)


def _add_up_splits(trees: native.ValueTrees, row: NDArray[np.float32]) -> tuple[float, Values]:
    """The mean value of the roots, and what the splits by each feature add to it on the way of a row."""
    added, roots = np.zeros(len(row)), trees.value[trees.start[:-1]]
    for first in trees.start[:-1].tolist():
        at = first
        while (feature := int(trees.feature[at])) >= 0:
            is_left = row[feature] <= trees.threshold[at]
            child = first + int(trees.left[at] if is_left else trees.right[at])
            added[feature] += trees.value[child] - trees.value[at]
            at = child
    return float(roots.mean()), added / len(roots)


def _stack(prior: Values, values: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.column_stack([prior.astype(np.float32), values])


def _apply(coefficients: Values, prior: Values, values: NDArray[np.float32]) -> Values:
    """Multiply row by row: a sum of a product of matrices may depend on the number of threads."""
    return np.asarray(coefficients[0] * prior + np.einsum("ij,j->i", values, coefficients[1:]))


def fit_pair_model(
    features: PairFeatures,
    prior_log_odds: Values,
    pairs: NDArray[np.int64],
    chances: Values,
    drawn: RandomAnswers,
) -> PairModel:
    """Learn from answers how probable a match of each pair is.

    Parameters
    ----------
    features : PairFeatures
        Features of all candidate pairs.
    prior_log_odds : ndarray of float64, shape (n_pairs,)
        Log-odds of a match without answers.
    pairs : ndarray of int64, shape (n_answers,)
        Numbers of the answered pairs, in the order of their answers.
    chances : ndarray of float64, shape (n_answers,)
        The probability that each is a match: 1 and 0 where answers are right.
    drawn : RandomAnswers
        The answers about pairs that were drawn at random. On a screen, an answer may follow from other pairs.

    Returns
    -------
    PairModel
        Without answers its log-odds are those of the prior.
    """
    with parallel.one_blas_thread():
        return _fit_pair_model(features, prior_log_odds, pairs, chances, drawn)


def _fit_pair_model(
    features: PairFeatures,
    prior_log_odds: Values,
    pairs: NDArray[np.int64],
    chances: Values,
    drawn: RandomAnswers,
) -> PairModel:
    centre, scale = _measure_scale(features, prior_log_odds)
    free = (0.0, np.r_[1.0, np.zeros(len(scale))])
    if len(pairs) == 0:
        return PairModel(prior_log_odds, np.empty(0), features.names, *free, free, (), 1.0, 0.0, centre)
    problem = _make_problem(features, prior_log_odds, pairs, chances, centre[1:], scale)
    n, held_out, lines, forests = len(pairs), [], [], []
    for is_monotone in (True, False):
        line, held = _fit_logistic(problem, is_monotone)
        lines.append(line)
        held_out.append(held)
        if n >= LEAST_ANSWERS:
            trees, held_by_trees = _grow_trees(problem, is_monotone)
            forests.append(trees)
            held_out.append(np.where(np.isnan(held_by_trees), held, held_by_trees))
    shares = _share_weights(np.array(held_out), chances)
    average = shares @ np.array(held_out)
    by_kind = shares.reshape(2, -1)  # with constraints and free; logistic and trees
    unscaled = [_unscale(line, centre[1:], scale) for line in lines]
    logistic, every = _mix_lines(unscaled, by_kind[:, 0]), _mix_lines(unscaled, by_kind.sum(axis=1))
    of_trees = by_kind[:, 1].tolist() if forests else []
    parts = tuple(TreePart(*part) for part in zip(forests, of_trees, strict=True) if part[1] > 0)
    model = PairModel(
        prior_log_odds, average, features.names, *logistic, every, parts, scale=1.0, shift=0.0, centre=centre
    )
    log_odds = model.predict(features, prior_log_odds)
    unheard = log_odds.copy()
    unheard[pairs] = average
    shift, steepness = _calibrate(unheard[drawn.pairs], drawn)
    return replace(
        model,
        log_odds=shift + steepness * log_odds,
        held_out=shift + steepness * average,
        scale=steepness,
        shift=shift,
    )


def _measure_scale(features: PairFeatures, prior: Values) -> tuple[Values, Values]:
    """The prior's log-odds and features of a middle pair in question, and the scale of each feature."""
    near = np.flatnonzero(prior > IN_QUESTION)
    near = near if len(near) > 100 else np.arange(len(prior))
    near = near[:: -(-len(near) // MOST_SCALED) or 1]
    some = features.values[near].astype(np.float64)
    if len(some) == 0:
        return np.zeros(1 + len(features.names)), np.ones(len(features.names))
    return np.r_[prior[near].mean(), some.mean(axis=0)], np.maximum(some.std(axis=0), LEAST_SCALE)


def _make_problem(
    features: PairFeatures,
    prior: Values,
    pairs: NDArray[np.int64],
    chances: Values,
    centre: Values,
    scale: Values,
) -> _Problem:
    """Put the answered pairs before those that keep the prior's chance."""
    far = np.flatnonzero(prior < FAR)
    far = rng_at(0).choice(far, min(N_FAR, len(far)), replace=False)
    top = np.argsort(-prior, kind="stable")[:N_TOP]
    every = np.r_[pairs, far, top]
    values = features.values[every]
    return _Problem(
        _stack(prior[every], values),
        np.column_stack([np.ones(len(every)), prior[every], (values - centre) / scale]),
        np.r_[chances, expit(prior[every[len(pairs) :]])],
        np.r_[
            np.ones(len(pairs)),
            np.full(len(far), FAR_WEIGHT / max(len(far), 1)),
            np.full(len(top), TOP_WEIGHT / max(len(top), 1)),
        ],
        len(pairs),
        np.r_[1, features.signs].astype(np.int8),
        np.r_[np.arange(len(pairs)) % N_FOLDS, np.full(len(far) + len(top), -1)],
    )


def _fit_logistic(problem: _Problem, is_monotone: bool) -> tuple[Values, Values]:
    """Coefficients of scaled features, and log-odds of each answered pair without its fold."""
    d = problem.scaled.shape[1]
    centre, precision = np.zeros(d), np.full(d, PRECISION if is_monotone else FREE_PRECISION)
    centre[1], precision[1] = 1.0, max(PRIOR_PRECISION, precision[1])
    precision[0] = START_PRECISION if is_monotone else FREE_PRECISION
    low = np.where(np.r_[0, problem.signs] > 0, 0.0, -np.inf) if is_monotone else np.full(d, -np.inf)

    def fit(rows: NDArray[np.bool_], start: Values) -> Values:
        X, q, w = problem.scaled[rows], problem.chance[rows], problem.weight[rows]

        def loss(v: Values) -> tuple[float, Values]:
            z = np.einsum("ij,j->i", X, v)
            gradient = np.einsum("ij,i->j", X, w * (expit(z) - q)) + precision * (v - centre)
            value = w @ (np.logaddexp(0, z) - q * z) + 0.5 * precision @ (v - centre) ** 2
            return float(value), gradient

        bounds = np.column_stack([low, np.full(d, np.inf)])
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 60})
        return np.asarray(found.x)

    line = fit(np.ones(len(problem.weight), dtype=bool), centre)
    held = np.empty(problem.n_answers)
    for fold in range(min(N_FOLDS, problem.n_answers)):
        out = np.flatnonzero(problem.fold == fold)
        held[out] = np.einsum("ij,j->i", problem.scaled[out], fit(problem.fold != fold, line))
    return line, held


def _grow_trees(problem: _Problem, is_monotone: bool) -> tuple[native.ValueTrees, Values]:
    """Grow trees, and the log-odds of each answered pair by trees that have not seen it."""
    d = problem.rows.shape[1]
    trees, held = native.grow_value_trees(
        problem.rows,
        problem.chance,
        problem.weight,
        problem.signs if is_monotone else np.zeros(d, dtype=np.int8),
        n_trees=N_TREES,
        max_features=max(1, int(SHARE_TRIED * d)),
        min_leaf=MIN_LEAF,
        seed=0,
        n_threads=parallel.n_threads(),
    )
    return trees, logit(np.clip(held[: problem.n_answers], *NARROW))


def _share_weights(held_out: Values, chances: Values) -> Values:
    """The share of each model, by its loss on held-out answers; free models are the second half."""
    loss = (np.logaddexp(0, held_out) - chances * held_out).sum(axis=1)
    loss[len(loss) // 2 :] += DOUBT if chances.sum() >= LEAST_MATCHES else np.inf
    share = np.exp(-(loss - loss.min()) / HEAT)
    share /= share.sum()
    share[share < LEAST_SHARE] = 0
    return np.asarray(share / share.sum())


def _calibrate(held_out: Values, drawn: RandomAnswers) -> tuple[float, float]:
    """Shift and scale of held-out log-odds, drawn towards 0 and 1.

    What linkwise believes about an answer depends on the model, so a belief would confirm the model. The
    answers therefore count as they were given, with a rate of errors.
    """
    error = np.log(drawn.error_rate), np.log1p(-drawn.error_rate)
    if_match, if_not = np.where(drawn.is_yes, *error[::-1]), np.where(drawn.is_yes, *error)

    def loss(v: Values) -> float:
        z = v[0] + v[1] * held_out
        likelihood = np.logaddexp(if_match - np.logaddexp(0, -z), if_not - np.logaddexp(0, z))
        around = SHIFT_PRECISION / 2 * v[0] ** 2 + SCALE_PRECISION / 2 * (v[1] - 1) ** 2
        return float(around - likelihood.sum())

    bounds = [(-MOST_SHIFT, MOST_SHIFT), (FLATTEST, STEEPEST)]
    shift, scale = minimize(loss, [0.0, 1.0], method="L-BFGS-B", bounds=bounds).x
    return float(shift), float(scale)


def _unscale(line: Values, centre: Values, scale: Values) -> tuple[float, Values]:
    """The constant, and coefficients of the prior's log-odds and of features as they are."""
    coefficients = line[2:] / scale
    return float(line[0] - coefficients @ centre), np.r_[line[1], coefficients]


def _mix_lines(lines: list[tuple[float, Values]], shares: Values) -> tuple[float, Values]:
    constants, coefficients = zip(*lines, strict=True)
    return float(np.dot(shares, constants)), np.asarray(shares @ np.array(coefficients))
