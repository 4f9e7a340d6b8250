"""Weigh kernels by how well each predicts the known items.

Every kernel predicts the neighbourhood of each known item from the others, by the regression of
`linkwise.learn.kin.model` without that item (Rasmussen and Williams 2006, section 5.4.2). The mean of all
kernels has an advantage, so that a few items do not settle on one kernel by chance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise.learn.kin.first_known import RIDGE
from linkwise.learn.kin.kernels import Kernels, Table
from linkwise.learn.kin.model import Known
from linkwise.learn.kin.sharpness import raise_table
from linkwise.parallel import one_blas_thread

FIRST, EVERY, MORE = 24, 1.15, 3  # known items at the first weights; then EVERY times as many and MORE
SHARED = 4  # items in neighbourhoods of two and more that are needed
TEMPER, STAY = 0.25, 4.0  # weights are exp(TEMPER log-likelihood); the mean kernel has STAY more
POWERS = np.array([1.0, 1.5, 2.0, 3.0])
POWER_PRIOR = (1.6, 0.5)
UNKNOWN, FLOOR = 0.08, 0.01  # score of the unknown; least chance of what was the case


def are_weights_due(known: Known, weighed_at: int) -> bool:
    """Whether enough items are known for the first weights, or for new ones."""
    n = len(known.items)
    return n >= FIRST and n >= weighed_at * EVERY + MORE and int(known.is_shared().sum()) >= SHARED


def weigh_kernels(kernels: Kernels, known: Known) -> tuple[float, ...]:
    """Weigh the mean kernel and the families; the weights have two digits and add up to 1.

    Parameters
    ----------
    kernels : Kernels
    known : Known
        The items to predict.
    """
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
