"""Which neighbourhood each item belongs to, by a kernel and the answers: the model of KIN.

The known items predict the others through the kernel: kernel ridge regression of the neighbourhoods'
indicators, which is the mean of a Gaussian process (Rasmussen and Williams 2006, section 2.2). Its scores
become chances by a sharpness that the answers calibrate (`linkwise.learn.kin.calibration`). The coverage of
an item is how much the known items predict in all. How far the regression is trusted follows from earlier
items with similar coverage: from how often they started a neighbourhood of their own.

A question adds an item or two to the known ones. So the inverse and the scores of the first items are kept,
and those of all follow by the Schur complement of the few that came later: O(n k) time for n items and k
neighbourhoods instead of O(n l k) for l known items.

The same regression weighs the kernels. Each predicts the neighbourhood of every known item from the others
(section 5.4.2). The mean of all kernels has an advantage, so that a few items do not settle on one kernel by
chance. The covariance of the process tells which item to ask about.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from linkwise import native, parallel
from linkwise.learn.kin.calibration import Sharpness, raise_table, share_chances
from linkwise.learn.kin.kernels import Kernels, Matrix, MixedKernel, Rows, Table
from linkwise.parallel import one_blas_thread

RIDGE = 0.05  # of the regression

LIKE = 0.15  # width of the Gaussian by which coverages are similar
PRIOR = 1.0  # weight, in items, of the rule that an item without coverage is new
ROUND = 16  # known items after which the regression is computed anew
MOST_KNOWN = 250  # items that nobody was asked about, and that the model learns from
MIXER = 2654435761  # Knuth's multiplier, which drives neighbouring numbers apart
NODES = 48  # of a polynomial for sums over coverages
NODE = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
AT_NODE = chebvander(NODE, NODES - 1)
TINY = 1e-9  # least divisor of a probability
FIRST_GUESS = 1.0  # answers about places that the first guess of the number of classes counts like

FIRST, EVERY, MORE = 24, 1.15, 3  # known items at the first weights; then EVERY times as many and MORE
SHARED = 4  # items in neighbourhoods of two and more that are needed
TEMPER, STAY = 0.25, 4.0  # weights are exp(TEMPER log-likelihood); the mean kernel has STAY more
POWERS = np.array([1.0, 1.5, 2.0, 3.0])
POWER_PRIOR = (1.6, 0.5)
UNKNOWN, FLOOR = 0.08, 0.01  # score of the unknown; least chance of what was the case

ANEW = 64  # items after which the covariance is computed anew


# ---------------------------------------------------------------- the regression on the first known items
class FirstKnown:
    """The regression on some items, by the kernel and the list of items alone, to the last bit.

    `there`, of shape (l, n_items), is their kernel to all items, and `inverse` (K_LL + λI)⁻¹.
    """

    def __init__(self, kernel: MixedKernel, items: Rows) -> None:
        self.items = items
        self.there = kernel.rows(items).astype(np.float64)
        self.inverse = _invert(self.there[:, items])
        self._last: tuple[bytes, Table] | None = None

    def score(self, label: Rows) -> Table:
        """(n, k) posterior mean of the indicator of each neighbourhood, given those of these items."""
        key = label.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = None  # before the next one takes memory, too
            self._last = key, self._compute_score(label)
        return self._last[1]

    def _compute_score(self, label: Rows) -> Table:
        k = int(label.max(initial=-1)) + 1
        weight = np.ascontiguousarray(sum_by_label(self.inverse, label, k).T)
        is_other = np.ones(self.there.shape[1], dtype=bool)
        is_other[self.items] = False
        found = np.empty((len(is_other), k))
        with one_blas_thread():
            found[is_other] = self.there[:, is_other].T @ weight
        own = -RIDGE * weight  # (K_LL + λI) W is the indicators
        own[np.arange(len(label)), label] += 1
        found[self.items] = own
        return found


def _invert(among: Table) -> Table:
    """(K_LL + λI)⁻¹ by Cholesky."""
    if len(among) == 0:
        return among
    with one_blas_thread():
        factor, failed = lapack.dpotrf((among + RIDGE * np.eye(len(among))).T, lower=0, overwrite_a=1)
        inverse, singular = lapack.dpotri(factor, lower=0, overwrite_c=1)
    assert not failed
    assert not singular
    upper = np.triu(inverse)
    return np.asarray(upper + np.triu(upper, 1).T)


def sum_by_label(table: Table, label: Rows, k: int) -> Table:
    """(k, m) sums of the rows of each label."""
    if table.size == 0:
        return np.zeros((k, table.shape[1]))
    return native.label_sums(np.ascontiguousarray(table), label.astype(np.int32), k, None, 1)[0]


# ---------------------------------------------------------------- the regression on all known items
class Known(NamedTuple):
    """The items whose neighbourhood is known."""

    items: Rows
    """(l,) in the order in which they became known."""
    label: Rows
    """(l,) neighbourhood of each, numbered in order of their first items."""
    coverage: Table
    """(l,) coverage of each when it was asked about; nan where it was not."""
    corrected: NDArray[np.bool_] | None = None
    """(l,) which of them a person has moved; None: none."""

    @property
    def n_neighbourhoods(self) -> int:
        """Number of neighbourhoods."""
        return int(self.label.max(initial=-1)) + 1

    def is_first(self) -> NDArray[np.bool_]:
        """(l,) which items are the first of their neighbourhood."""
        found, first = np.zeros(len(self.label), dtype=bool), np.full(self.n_neighbourhoods, -1)
        first[self.label[::-1]] = np.arange(len(self.label))[::-1]  # the last one assigned is the first item
        found[first[first >= 0]] = True
        return found

    def is_shared(self) -> NDArray[np.bool_]:
        """(l,) which items are in a neighbourhood of two and more."""
        return np.asarray(np.bincount(self.label)[self.label] > 1) if len(self.label) else self.is_first()

    def members(self, neighbourhood: int) -> Rows:
        """The items of a neighbourhood."""
        found: Rows = self.items[self.label == neighbourhood]
        return found


def expect_classes(known: Known, n_classes: float) -> float:
    """Expect a number of classes, given how many neighbourhoods items that were asked about have reached.

    Of K classes of one size, l random items reach K (1 - (1 - 1 / K)^l). The K for which that is what
    they have reached counts like the answers, and `n_classes`, which the rows alone suggest, like
    `FIRST_GUESS` of them. Items are chosen where they may be new, so they can speak for fewer classes,
    never for more.
    """
    n_answers, reached = int((~np.isnan(known.coverage)).sum()), known.n_neighbourhoods

    def surplus(logarithm: float) -> float:
        number = np.exp(logarithm)
        return float(number * (1 - (1 - 1 / number) ** (n_answers + 1)) - reached)

    low, high = np.log(reached), np.log(n_classes)
    if low < high and surplus(high) > 0:
        from scipy.optimize import brentq  # slow to load

        high = brentq(surplus, low, high) if surplus(low) < 0 else low
    return float(np.exp((FIRST_GUESS * np.log(n_classes) + n_answers * high) / (FIRST_GUESS + n_answers)))


class Chances(NamedTuple):
    """Which neighbourhood some items may belong to."""

    join: Table
    """(n, k) probability of each neighbourhood."""
    new: Table
    """(n,) probability that it is none of them."""


class Model:
    """The regression of neighbourhoods on the kernel.

    There are `n_neighbourhoods`, with those that have no item in `known`; `first` is the regression on
    the first of these items.
    """

    def __init__(self, kernel: MixedKernel, known: Known, n_neighbourhoods: int, first: FirstKnown) -> None:
        self.known = known
        self._k, self._first = n_neighbourhoods, first
        self._more = kernel.rows(known.items[len(first.items) :]).astype(np.float64)

    @cached_property
    def _weight_of_first(self) -> Table:
        """(m, l) how much the first items predict each of the other m."""
        with one_blas_thread():
            return np.asarray(self._more[:, self._first.items] @ self._first.inverse)

    @cached_property
    def _left(self) -> Table:
        """(m, n) the kernel of those to all items, less what the first items explain."""
        with one_blas_thread():
            return self._more - self._weight_of_first @ self._first.there

    @cached_property
    def _complement(self) -> Table:
        """(m, m) the inverse of the Schur complement."""
        among = self._left[:, self.known.items[len(self._first.items) :]]
        with one_blas_thread():
            return np.asarray(np.linalg.inv((among + among.T) / 2 + RIDGE * np.eye(len(among))))

    @cached_property
    def inverse(self) -> Table:
        """(K_LL + λI)⁻¹."""
        with one_blas_thread():
            beside = self._complement @ self._weight_of_first
            corner = self._first.inverse + self._weight_of_first.T @ beside
        return np.block([[corner, -beside.T], [-beside, self._complement]])

    @cached_property
    def score(self) -> Table:
        """(n, k) posterior mean of the indicator of each neighbourhood."""
        n_first = len(self._first.items)
        label, more = self.known.label[:n_first], self.known.label[n_first:]
        surplus = np.zeros((len(more), self._k))
        surplus[np.arange(len(more)), more] = 1
        before = self._first.score(label)
        with one_blas_thread():
            surplus -= sum_by_label(self._weight_of_first.T, label, self._k).T
            found = self._left.T @ (self._complement @ surplus)
        found[:, : before.shape[1]] += before
        return np.asarray(found)

    @cached_property
    def coverage(self) -> Table:
        """(n,) how much the known items predict, at most 1."""
        return np.minimum(native.sum_up_rows(np.ascontiguousarray(self.score)).positive, 1)

    def chances(self, sharpness: Sharpness) -> Chances:
        """The chances of every item."""
        return Chances(*share_chances(self.score, sharpness))

    def response(self, item: int, similarity: Table) -> Table:
        """(n,) how far each item's score would follow that of one more item, by its similarity to all."""
        with one_blas_thread():
            weight, n_first = self.inverse @ similarity[self.known.items], len(self._first.items)
            left = similarity - self._first.there.T @ weight[:n_first] - self._more.T @ weight[n_first:]
        return np.asarray(left / (left[item] + RIDGE))

    def chance_of_new(self, n_classes: float) -> Table:
        """(n,) how likely items with this coverage start a neighbourhood, from earlier ones.

        Before there are any, coverage decides, and how many of the expected classes have been met.
        """
        asked = ~np.isnan(self.known.coverage)
        was_new = self.known.is_first()[asked].astype(np.float64)
        amounts = np.stack([was_new, np.ones(len(was_new))], axis=1)
        n_new, n_similar = _sum_similar(self.coverage, self.known.coverage[asked], amounts).T
        met = min(1.0, (self.known.n_neighbourhoods + 1) / n_classes) ** 2
        chance: Table = (PRIOR * (1 - self.coverage * met) + n_new) / (PRIOR + n_similar)
        return chance

    def neighbourhood_chances(self, sharpness: Sharpness) -> Table:
        """(k, k) how likely the items of each neighbourhood belong to another, without those items."""
        label, weight = self.known.label, sum_by_label(self.inverse, self.known.label, self._k).T
        score = -weight / self.inverse.diagonal()[:, None]  # right for neighbourhoods of one item
        size = np.bincount(label)[label]
        for n in np.unique(size[size > 1]).tolist():
            some = np.flatnonzero(size == n)
            of = some[np.argsort(label[some], kind="stable")].reshape(-1, n)
            score[of] = -np.linalg.solve(self.inverse[of[:, :, None], of[:, None]], weight[of])
        score[np.arange(len(score)), label] = 0
        chance = share_chances(score, sharpness)[0]
        size = np.bincount(label, minlength=self._k)
        return sum_by_label(chance, label, self._k) / np.maximum(size, 1)[:, None]


def _sum_similar(coverage: Table, others: Table, amounts: Table) -> Table:
    """(n, m) sums of the amounts of others, (l, m), by how similar their coverage is.

    The sums are smooth functions of a coverage from 0 to 1: a polynomial through `NODES` of their values is
    equal to them but for rounding (Trefethen 2013, Approximation theory and approximation practice).
    """
    similar = np.exp(((((NODE + 1) / 2)[:, None] - others) / LIKE) ** 2 / -2)
    with one_blas_thread():
        coefficients = AT_NODE.T @ (similar @ amounts) * (2 / NODES)
    coefficients[0] /= 2
    return np.maximum(native.chebyshev_values(2 * coverage - 1, coefficients), 0)


def _choose_taught(known: Known) -> Rows:
    """Choose the known items that the model learns from, ascending.

    Items that a person has moved are no fair sample: they lie near another cluster, whose rows they would
    pull over. So a neighbourhood takes them only until it has as many items as the others have on average,
    or one more than were asked about.
    There are at most `MOST_KNOWN` that nobody was asked about, in a fixed order, so that the next question
    is about nearly the same ones.
    """
    is_asked, is_first, k = ~np.isnan(known.coverage), known.is_first(), known.n_neighbourhoods
    size, order = np.bincount(known.label, minlength=k), np.flatnonzero(~is_asked)
    if known.corrected is not None and known.corrected.any():
        is_extra = known.corrected & ~is_asked & ~is_first
        others = -(-(size.sum() - size) // (k - 1)) if k > 1 else size
        most = np.maximum(np.bincount(known.label[is_asked], minlength=k) + 1, others)
        room = most - np.bincount(known.label[~is_extra], minlength=k)
        extra = np.flatnonzero(is_extra)
        extra = extra[np.lexsort((known.items[extra] * MIXER % 2**32, known.label[extra]))]
        label = known.label[extra]
        rank = np.arange(len(extra)) - np.searchsorted(label, np.arange(k))[label]
        order = np.union1d(order[~is_extra[order]], extra[rank < room[label]])
    if len(order) > MOST_KNOWN:
        weight = np.where(is_first, size[known.label], 0)
        mixed = known.items[order] * MIXER % 2**32
        order = order[np.lexsort((mixed, -weight[order]))[:MOST_KNOWN]]
    return np.sort(np.concatenate([order, np.flatnonzero(is_asked)]))


def fit_model(
    kernel: MixedKernel, known: Known, find_first: Callable[[MixedKernel, Rows], FirstKnown] = FirstKnown
) -> Model:
    """The model of the known items: all that were asked about, and some of the others (`_choose_taught`).

    `find_first` computes the regression on the first items, or remembers it.
    """
    k = known.n_neighbourhoods
    used = _choose_taught(known)
    if len(used) < len(known.items):
        known = Known(known.items[used], known.label[used], known.coverage[used])
    first = known.items[: len(known.items) // ROUND * ROUND]
    return Model(kernel, known, k, find_first(kernel, first))


# ---------------------------------------------------------------- the weights of the kernels
def are_weights_due(known: Known, weighed_at: int) -> bool:
    """Whether enough items are known for the first weights, or for new ones."""
    n = len(known.items)
    return n >= FIRST and n >= weighed_at * EVERY + MORE and int(known.is_shared().sum()) >= SHARED


def weigh_kernels(kernels: Kernels, known: Known) -> tuple[float, ...]:
    """Weigh the mean kernel and the families; the weights have two digits and add up to 1."""
    told = np.array([_predict_known(each, known) for each in kernels.among(known.items)])
    told[0] += STAY
    weights = np.exp(TEMPER * (told - told.max()))
    rounded = (weights / weights.sum()).round(2)
    return tuple((rounded / rounded.sum()).tolist())


def _predict_known(kernel: Table, known: Known) -> float:
    """Log-likelihood of the neighbourhoods that have several items, each item left out in turn."""
    member = np.eye(known.n_neighbourhoods)[known.label]
    with one_blas_thread():
        inverse = np.linalg.inv(kernel + RIDGE * np.eye(len(kernel)))
        left_out = member - (inverse @ member) / inverse.diagonal()[:, None]
    is_shared = known.is_shared()
    score, own = np.maximum(left_out[is_shared], 0), known.label[is_shared]
    return max(_judge_power(score, own, power) for power in POWERS)


def _judge_power(score: Table, own: NDArray[np.int64], power: float) -> float:
    raised = raise_table(score.copy(), power)
    chance = raised[np.arange(len(own)), own] / (raised.sum(axis=1) + UNKNOWN**power)
    prior = ((power - POWER_PRIOR[0]) / POWER_PRIOR[1]) ** 2 / 2
    return float(np.log(np.maximum(chance, FLOOR)).sum() - prior)


# ---------------------------------------------------------------- the variance that questions would lessen
class Covariance:
    """Posterior covariance of a kernel, given the items that were asked about; updated item by item.

    The same arguments give the same result, to the last bit: the covariance is computed anew for a number of
    first items and for each `ANEW` more, and updated item by item in between. Only the lower triangle of its
    table counts. Another kernel uses the same table, because it takes time to make a new one.
    """

    def __init__(self) -> None:
        self._now: Matrix | None = None
        self._key = b""
        self._items: list[int] | None = None

    def uncertainty_reductions(
        self, kernel: MixedKernel, key: bytes, n_first: int, items: Rows, weight: Table
    ) -> Table:
        """Compute how much a question about each item would lessen the weighted uncertainty of all.

        `key` names the kernel, and `n_first` items were known when it began to count. `items` were
        asked about, and `weight` tells how uncertain each item is.
        """
        wanted, n_threads = items.tolist(), parallel.n_threads()
        n_first = n_first if n_first <= len(wanted) else 0
        start = n_first + (len(wanted) - n_first) // ANEW * ANEW
        done, self._items = self._items, None  # so an interruption leaves no half-made update
        if self._now is None or len(self._now) != len(kernel):
            self._now, done = np.empty((len(kernel),) * 2, dtype=np.float32), None
        if done is None or self._key != key or len(done) < start or done != wanted[: len(done)]:
            done, self._key = wanted[:start], key
            _condition_on_first(self._now, kernel, items[:start])
        total = None
        for item in wanted[len(done) :]:
            total = native.condition_on(self._now, item, RIDGE, weight, n_threads)
        if total is None:
            total = native.weighted_squares(self._now, weight, n_threads)
        self._items = wanted
        gain: Table = total / (self._now.diagonal().astype(np.float64) + RIDGE)
        return gain


def _condition_on_first(out: Matrix, kernel: MixedKernel, items: Rows) -> None:
    """K - K_L' (K_LL + λI)⁻¹ K_L."""
    kernel.fill_lower(out)
    if len(items):
        there = kernel.rows(items).astype(np.float64)
        among = there[:, items] + RIDGE * np.eye(len(items))
        with one_blas_thread():
            root = np.linalg.cholesky(among)
            half = blas.dtrsm(1, root.T, there.T, side=1, overwrite_b=1).T.astype(np.float32)
            blas.ssyrk(-1, half.T, 1, out.T, lower=0, overwrite_c=1)


# ---------------------------------------------------------------- ties
def first_largest(values: Table, decimals: int = 9) -> Rows:
    """Find the largest value of each row, the first one of those that are equal when rounded."""
    return np.asarray(values.round(decimals).argmax(axis=-1))
