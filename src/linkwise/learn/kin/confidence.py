"""Estimate how certain the clusters of KIN are, and how many rows the next answer will probably move.

As far as the regression is trusted, a row is in its cluster with the chance of the neighbourhoods that are
there. For the rest its chance s_i follows from the mean chance r_i that it belongs together with the other
rows of the cluster: both rows must be in their place, so r_i is s_i times the mean of s, and s_i is r_i
divided by the root of the mean of r. While the regression is trusted by less than one half on average, the
estimate rests on distances, and it is too early to tell how many rows are in a wrong cluster. A row that an
answer names is in its cluster for certain, unless the answer is probably wrong: then its certainty is the
chance that what is believed in place of the answer is right. A row whose place is assumed is there with the
chance that checks give.

The number of moved rows is an expectation over the neighbourhoods that the item in question may belong to.
For each of them the model predicts the clusters after that answer, and the rows that change count by its
probability. An answer changes the score of every other item in proportion to its posterior covariance with
the item in question, as in Gaussian process regression.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.evidence import Evidence
from linkwise.learn.advice import StopAdvice
from linkwise.learn.kin.best_clustering import estimate_belonging
from linkwise.learn.kin.calibration import RATES, Calibration, share_chances, weigh_exception_rates
from linkwise.learn.kin.kernels import Mask, MixedKernel, Table
from linkwise.learn.kin.model import RIDGE, Chances, Known, first_largest, fit_model
from linkwise.learn.kin.posterior import (
    Forecast,
    Posterior,
    PreparedItems,
    current_kernel,
    current_model,
    item_chances,
    open_chances,
)
from linkwise.learn.kin.shown import find_anchors, item_labels, name_labels, pair_chances
from linkwise.parallel import one_blas_thread
from linkwise.types import Labels
from linkwise.wording import count_noun, round_number

# ---------------------------------------------------------------- relations
# Open relations: how likely two components are one, and what an answer about them is worth.
#
# Two components are one with the chance r that the regression gives, if it finds that likely. Otherwise
# they look different, and r is the far rate (`linkwise.learn.kin.calibration`), whatever the regression
# says, because its small chances say little: on coil20 none of 60 pairs was one, though it gave more than
# 0.1 to 38 of them.
#
# The worth of a question is the number of pairs of rows that its answer is expected to correct. For
# components with n and n' rows in all, of which e and e' are trusted to be there, that is
#
#    r (e e' - t n n')    if they are shown apart, and
#    (1 - r) t e e'       if they are shown together,
#
# where t is the chance from which a pair of rows gains by being together.
LIKELY = 0.3  # chance by the regression from which a relation is likely enough for a question
TOGETHER = 0.3  # chance from which a pair of rows gains by being together
CLOSEST = 1 - 1e-9  # largest chance that two clusters are one, so that its logarithm is finite
LEAST_JOIN = 1e-9


def likely_chances(posterior: Posterior) -> Table:
    """(k, k) chances by the regression that two components are one; 0 where it does not find that likely."""
    among = open_chances(posterior)
    larger = np.maximum(among, among.T)
    return np.asarray(np.where(larger >= LIKELY, larger, 0))


def relation_chances(posterior: Posterior) -> Table:
    """(k, k) r of each two components: 0 where they are known to differ, and 1 on the diagonal."""
    one: Table = np.maximum(likely_chances(posterior), posterior.learned.far_rate.mean())
    one[posterior.placement.apart] = 0
    np.fill_diagonal(one, 1)
    return one


def largest_part_chances(posterior: Posterior, labels: NDArray[np.integer]) -> Table:
    """(rates, C) how likely each cluster is the largest part of its class, for each far rate.

    The chance that two clusters are one is the largest chance of any two of their components, and 0 if two of
    these are known to differ. For a cluster without a component it is the far rate.
    """
    size = np.bincount(labels, posterior.task.items.size)
    order = np.argsort(-size, kind="stable")
    near, is_open = _relate_clusters(posterior, labels)
    near, larger = near[np.ix_(order, order)], np.tril(is_open[np.ix_(order, order)], -1)
    is_near = larger & (near > 0)
    by_near = np.log1p(-np.where(is_near, np.minimum(near, CLOSEST), 0)).sum(axis=1)
    n_far = (larger & ~is_near).sum(axis=1)
    found = np.empty((len(RATES), len(size)))
    found[:, order] = np.exp(np.multiply.outer(np.log1p(-RATES), n_far) + by_near)
    return found


def count_open_pairs(posterior: Posterior, labels: NDArray[np.integer], least: float) -> int:
    """Count the pairs of clusters whose union is expected to move at least so many rows."""
    near, is_open = _relate_clusters(posterior, labels)
    size = np.bincount(labels, posterior.task.items.size)
    one = np.where(is_open, np.maximum(near, posterior.learned.far_rate.mean()), 0)
    return int(np.count_nonzero(np.triu(one * np.minimum.outer(size, size) >= least, 1)))


def _relate_clusters(posterior: Posterior, labels: NDArray[np.integer]) -> tuple[Table, Mask]:
    """(C, C) the likely chances that two clusters are one, and whether their relation is open."""
    known, n_clusters = posterior.known, int(labels.max()) + 1
    of = labels[known.items[known.is_first()]]
    near, is_open = np.zeros((n_clusters, n_clusters)), np.ones((n_clusters, n_clusters), dtype=bool)
    np.maximum.at(near, (of[:, None], of), likely_chances(posterior))
    a, b = np.nonzero(posterior.placement.apart)
    is_open[of[a], of[b]] = False
    return near, is_open


def component_sizes(
    join: Table, labels: NDArray[np.integer], cluster: NDArray[np.integer], size: NDArray[Any]
) -> Table:
    """(k,) rows of each component: those of its cluster, shared among the components there by their chances.

    `join`, of shape (n, k), has these chances, `labels` the cluster of each item, `cluster` that of each
    component, and `size` the rows of each item, or the part of them that counts.
    """
    is_there = labels[:, None] == cluster
    part = np.where(is_there, join + LEAST_JOIN, 0)
    part *= (size / np.maximum(part.sum(axis=1), LEAST_JOIN))[:, None]
    return np.asarray(part.sum(axis=0))


def relation_worths(posterior: Posterior, labels: NDArray[np.integer], join: Table, trust: Table) -> Table:
    """(k, k) pairs of rows that an answer about two components is expected to correct."""
    known, one, size = posterior.known, relation_chances(posterior), posterior.task.items.size
    cluster = labels[known.items[known.is_first()]]
    rows = component_sizes(join, labels, cluster, size)
    trusted = component_sizes(join, labels, cluster, size * trust)
    right, gain = np.multiply.outer(trusted, trusted), np.multiply.outer(rows, rows) * TOGETHER
    is_joined = cluster[:, None] == cluster
    worth = np.where(is_joined, (1 - one) * TOGETHER * right, one * (right - gain))
    worth[posterior.placement.apart] = 0
    return np.asarray(worth)


# ---------------------------------------------------------------- certainty
UNLIKELY = 0.01  # probability below which a place is left out
LITTLE = 0.002  # share of the rows; an answer that moves fewer changes almost nothing
LEAST_TRUST = 0.5  # in the regression, on average, from which errors are estimated
TINY = 1e-12
WITHIN = 2.0  # standard deviations from the expected to the largest probable number of wrong rows
FEW = 0.05  # share of the rows; if probably no more are in a wrong cluster, asking may end


def certainty(posterior: Posterior) -> Table:
    """(n_rows,) probability that each row is in its cluster; 0 while nothing is known."""
    found: Table = item_certainty(posterior).take(posterior.task.items.of)
    return found


def item_certainty(posterior: Posterior) -> Table:
    """(n_items,) probability that the rows of each item are in their cluster; 0 while nothing is known."""
    items = posterior.task.items
    if len(posterior.known.items) == 0:
        return np.zeros(len(items.size))
    compute = partial(_item_certainty, posterior)
    certain = posterior.remember("certainty", *name_labels(posterior), compute=compute).copy()
    certain[posterior.placed.guesses] = 1 - posterior.learned.checks.error()
    _lower_doubted(certain, items.of, posterior.task.problem.evidence)
    return certain


def _item_certainty(posterior: Posterior) -> Table:
    """The same without doubts about answers."""
    known, size = posterior.known, posterior.task.items.size
    labels, pairs = item_labels(posterior), pair_chances(posterior)
    cluster = labels[known.items[known.is_first()]]
    belongs = _sum_own(pairs.join[:, : len(cluster)], labels, cluster)
    together = estimate_belonging(pairs, labels.astype(np.int64))
    by_similarity = _certainty_by_pairs(together, labels, size)
    certain = pairs.trust * belongs + (1 - pairs.trust) * by_similarity
    certain[find_anchors(posterior).items] = 1
    return certain


def _certainty_by_pairs(together: Table, labels: NDArray[np.integer], size: NDArray[np.integer]) -> Table:
    """(n_items,) chance of each to be in its cluster, by that of belonging together with the others."""
    rows = np.bincount(labels, size)
    mean = np.bincount(labels, together * size) / np.maximum(rows, 1)
    return np.asarray((together / np.sqrt(np.maximum(mean[labels], TINY))).clip(0, 1))


def is_early(posterior: Posterior) -> bool:
    """Whether answers say too little about the rows to estimate how many are in a wrong cluster."""
    size = posterior.task.items.size
    return float((pair_chances(posterior).trust * size).sum()) < LEAST_TRUST * float(size.sum())


def _lower_doubted(certain: Table, of: NDArray[np.integer], evidence: Evidence) -> None:
    """Lower, in place, the certainty of the items of a doubted answer to the chance that it is wrong."""
    for suspect in evidence.suspects():
        items = of[list(suspect.fact.pair)]
        certain[items] = np.minimum(certain[items], suspect.chance)


def certainty_unasked(prepared: PreparedItems, evidence: Evidence, labels: Labels) -> Table:
    """(n_rows,) the same for labels that come from constraints alone."""
    row = evidence.groups().row
    found = np.zeros(len(labels))
    if len(row) == 0:
        return found
    first, of = prepared.items.first, prepared.items.of
    items = np.unique(of[row] if prepared.items.centers is None else of[row[first[of[row]] == row]])
    if len(items):
        cluster, begun, label = np.unique(labels[first[items]], return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(begun))
        known = Known(items, rank[label], np.full(len(items), np.nan))
        at = fit_model(MixedKernel(prepared.kernels), known).chances(Calibration.begin().best())
        found = _label_certainty(labels[first], cluster[np.argsort(begun)], at).take(of)
    found[row] = 1
    _lower_doubted(found, np.arange(len(found)), evidence)
    return found


def _label_certainty(labels: NDArray[np.integer], cluster: NDArray[np.integer], at: Chances) -> Table:
    """(n_items,) probability that the label of each is right; `cluster` is that of each neighbourhood."""
    belongs = _sum_own(at.join, labels, cluster)
    has_neighbourhood = np.isin(labels, cluster)
    return np.asarray(np.where(has_neighbourhood, belongs, np.maximum(at.new, belongs)))


def _sum_own(join: Table, labels: NDArray[np.integer], cluster: NDArray[np.integer]) -> Table:
    """(n_items,) chance of the neighbourhoods in the cluster of each item."""
    return np.asarray(np.where(labels[:, None] == cluster, join, 0).sum(axis=1))


# ---------------------------------------------------------------- in words
def describe_expectation(n_expected: int) -> str:
    """How many clusters KIN expects before any answer."""
    if n_expected == 1:
        return "The rows alone suggest no clusters."
    return f"The rows alone suggest about {count_noun(round_number(n_expected), 'cluster')}."


def describe_certainty(n_neighbourhoods: int, n_expected: int, n_unsure: float | None, n_rows: int) -> str:
    """How many clusters the answers have reached, of how many, and how many rows may be in a wrong one."""
    clusters = count_noun(n_neighbourhoods, "cluster")
    if n_expected > n_neighbourhoods:
        clusters = f"{n_neighbourhoods} of about {count_noun(round_number(n_expected), 'cluster')}"
    if n_unsure is None:
        return (
            f"The answers have reached {clusters}. It is too early to tell how many rows are in a wrong one."
        )
    rows = "almost none" if round(n_unsure) == 0 else f"about {round_number(n_unsure)}"
    return f"The answers have reached {clusters}; {rows} of {n_rows} rows may be in a wrong one."


def describe_next_answer(expected: Forecast, n_rows: int) -> list[str]:
    """How many rows the next answer will probably move; nothing where that is not known."""
    if expected.n_changed is None:
        return []
    if moves_little(expected, n_rows):
        is_early = expected.n_unsure is None  # no answer is known to change little then
        return [] if is_early else ["The next answer will probably change almost nothing."]
    number = round_number(expected.n_changed)
    rows = "less than one row" if number == 0 else count_noun(number, "row")
    return [f"The next answer will probably change the cluster of {rows}."]


# ---------------------------------------------------------------- the next answer
def forecast(posterior: Posterior, asked: tuple[int, int] | None) -> Forecast:
    """Estimate how many rows are in a wrong cluster, and how many the next answer moves."""
    if asked not in posterior.forecasts:  # the sentences and the advice both need it
        n_unsure, most, n_open = None, None, 0
        if not is_early(posterior):
            n_unsure, most = estimate_wrong(posterior)
            least = LITTLE * len(posterior.task.items.of)
            n_open = count_open_pairs(posterior, item_labels(posterior), least)
        posterior.forecasts[asked] = Forecast(n_unsure, most, n_open, expected_changes(posterior, asked))
    return posterior.forecasts[asked]


def estimate_wrong(posterior: Posterior) -> tuple[float, float]:
    """Estimate how many rows are in a wrong cluster: the expected number, and two standard deviations more.

    A row is right if it belongs to its cluster and the cluster is the largest part of its class. Given the
    far rate, clusters are that independently of each other. An exception belongs to its cluster with a chance
    that is the share of the known items there. Beside that, the share of rows that belong to their cluster is
    as uncertain as if it were counted in a sample of as many rows as have a known place.
    """
    labels, size = item_labels(posterior), posterior.task.items.size.astype(np.float64)
    certain, weight = item_certainty(posterior).clip(0, 1), posterior.learned.far_rate.weights()
    exceptions, known = weigh_exception_rates(*predict_known(posterior)), posterior.known
    share = np.bincount(labels[known.items], minlength=int(labels.max()) + 1) / len(known.items)
    less = np.maximum(certain - share[labels], 0)  # certain are exceptions
    less[find_anchors(posterior).items] = 0
    rate = float(exceptions @ RATES)
    certain -= rate * less
    parts, right = largest_part_chances(posterior, labels), np.bincount(labels, size * certain)
    by_rate, n_rows = parts @ right, size.sum()
    mean = float(weight @ by_rate)
    in_place = right.sum() / n_rows
    variance = n_rows**2 * in_place * (1 - in_place) / len(known.items)
    variance += float(exceptions @ np.square(RATES - rate)) * float(size @ less) ** 2
    variance += float(weight @ (np.square(by_rate - mean) + (parts * (1 - parts)) @ np.square(right)))
    wrong = max(float(n_rows - mean), 0.0)  # but for rounding
    return wrong, float(min(wrong + WITHIN * np.sqrt(variance), n_rows))


def predict_known(posterior: Posterior) -> tuple[Table, Table]:
    """How likely known items belong to their neighbourhoods by the others, and the shares of items there.

    Only neighbourhoods of several items count. The kernel is the one before any answer, because one that has
    learned from these items predicts them too well. An item that resembles none of the others may belong
    anywhere.
    """
    known = current_model(posterior).known
    n, items, label = len(known.items), known.items, known.label
    indicators = np.zeros((n, posterior.known.n_neighbourhoods))
    indicators[np.arange(n), label] = 1
    with one_blas_thread():
        among = posterior.task.prepared.kernels.mean[np.ix_(items, items)].astype(np.float64)
        inverse = np.linalg.inv(among + RIDGE * np.eye(n))
        score = indicators - inverse @ indicators / inverse.diagonal()[:, None]
    join, new = share_chances(score, posterior.learned.sharpness)
    share = (indicators.sum(axis=0)[label] - 1) / max(n - 1, 1)
    is_shared = share > 0
    return (join[np.arange(n), label] + new * share)[is_shared], share[is_shared]


def moves_little(expected: Forecast, n_rows: int) -> bool:
    """Whether the next answer will probably move next to no rows; False where nothing is asked."""
    return expected.n_changed is not None and expected.n_changed < LITTLE * n_rows


def advise_to_stop(expected: Forecast, n_rows: int) -> StopAdvice:
    """Advise to stop when probably few rows are in a wrong cluster, and no question would move many."""
    if expected.n_unsure is None or expected.most_unsure is None:
        return StopAdvice(False, None)
    is_right = expected.most_unsure <= FEW * n_rows
    is_settled = is_right and expected.n_open == 0 and moves_little(expected, n_rows)
    wrong, most = (min(1.0, number / n_rows) for number in (expected.n_unsure, expected.most_unsure))
    return StopAdvice(is_settled, wrong, most, expected.n_open)


def expected_changes(posterior: Posterior, asked: tuple[int, int] | None) -> float | None:
    """The expected number of rows whose cluster the answer changes; None where nothing is asked."""
    if len(posterior.known.items) == 0 or asked is None:
        return None
    if posterior.placing >= 0 and not posterior.placed.mask[posterior.placing]:
        return _changes_by_placing(posterior, posterior.placing)
    return _changes_by_joining(posterior, *asked)


def _changes_by_placing(posterior: Posterior, item: int) -> float:
    """Rows that the place of an item moves."""
    model, size = current_model(posterior), posterior.task.items.size
    at, score = item_chances(posterior, item), model.score
    response = model.response(item, current_kernel(posterior).row(item).astype(np.float64))
    now, total = first_largest(score), 0.0
    for neighbourhood in np.flatnonzero(at.join > UNLIKELY).tolist():
        then = score - np.outer(response, score[item])
        then[:, neighbourhood] += response
        total += float(at.join[neighbourhood]) * float(size[first_largest(then) != now].sum())
    if at.new > UNLIKELY:
        then = score - np.outer(response, score[item])
        total += at.new * float(size[response.round(9) > then.max(axis=1).round(9)].sum())
    return total


def _changes_by_joining(posterior: Posterior, first: int, second: int) -> float:
    """Rows that move if the neighbourhoods of two items are one: those of the smaller one."""
    known, labels = posterior.known, item_labels(posterior)
    two = np.unique(known.label[np.isin(known.items, (first, second))])
    if len(two) < 2:
        return 0.0
    a, b = two.tolist()
    one, cluster = relation_chances(posterior), labels[known.items[known.is_first()]]
    rows = min(float(posterior.task.items.size[labels == cluster[each]].sum()) for each in (a, b))
    return float(one[a, b]) * rows
