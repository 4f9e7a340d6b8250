"""Chances by the answers: the sharpness of scores, and the weights of similarities."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from linkwise.active.kin import pair_model, sharpness
from linkwise.active.kin.pair_model import PairWeights, expect_weights, fit_pair_weights
from linkwise.active.kin.sharpness import Calibration, PlaceAnswer, Sharpness, share_chances


def answer(score, asked, is_yes, open_=None):
    score = np.array(score)
    return PlaceAnswer(score, asked, np.arange(len(score)) if open_ is None else np.array(open_), is_yes)


def calibrate(answers):
    found = Calibration.begin()
    for each in answers:
        found = found.learn(each)
    return found.best()


def test_without_answers_the_prior_decides():
    assert calibrate([]) == Sharpness(1.5, 0.08)


def test_right_guesses_sharpen_and_wrong_ones_blunt():
    right = calibrate([answer([0.6, 0.3], 0, True)] * 40)
    wrong = calibrate([answer([0.6, 0.3], 0, n % 2 == 0) for n in range(40)])
    assert right.power > wrong.power
    assert right.unknown < wrong.unknown


def test_noes_about_all_raise_the_score_of_the_unknown():
    noes = [answer([0.4, 0.2], 0, False), answer([0.4, 0.2], 1, False, [1])] * 20
    assert calibrate(noes).unknown == sharpness.UNKNOWN.max()


def test_older_answers_count_less():
    right, wrong = answer([0.6, 0.3], 0, True), answer([0.6, 0.3], 0, False)
    assert (
        calibrate([*[right] * 30, *[wrong] * 30]).unknown > calibrate([*[wrong] * 30, *[right] * 30]).unknown
    )


def test_chances_add_up():
    score = np.random.default_rng(0).normal(0.2, 0.3, (20, 4))
    join, new = share_chances(score, Sharpness(2.0, 0.1))
    assert join.sum(axis=1) + new == pytest.approx(np.ones(20))
    assert (join[score <= 0] == 0).all()
    assert share_chances(np.zeros((3, 0)), Sharpness(2.0, 0.1))[1].tolist() == [1, 1, 1]


# ---------------------------------------------------------------- pairs
@pytest.mark.parametrize("seed", range(5))
def test_weights_have_the_highest_posterior(seed):
    rng = np.random.default_rng(seed)
    n, classes = 12, 6.0
    phi, psi = rng.normal(size=(n, n)), rng.exponential(size=(n, n))
    home = rng.integers(0, 3, n)
    together = (home[:, None] == home).astype(float)
    upper = np.triu_indices(n, 1)
    mean = pair_model.PRIOR @ (1, np.log(classes))

    def loss(w):
        p = expit(w[0] + w[1] * phi[upper] + w[2] * psi[upper])
        t = together[upper]
        fit = (t * np.log(p) + (1 - t) * np.log(1 - p)).sum() * min(1, 10 / n)
        return -fit + (((w - mean) / pair_model.DEVIATION) ** 2).sum() / 2

    best = minimize(loss, mean, tol=1e-12).x
    expected = np.maximum(best, [-np.inf, 0.2, 0])
    assert np.array(fit_pair_weights(phi, psi, together, classes)) == pytest.approx(expected, abs=1e-4)


def test_without_pairs_the_prior_decides():
    none = np.zeros((1, 1))
    assert fit_pair_weights(none, none, none, 10.0) == pytest.approx(expect_weights(10.0))


def test_more_classes_make_strangers_less_likely_together():
    few, many = expect_weights(3.0), expect_weights(100.0)
    assert few.chances(np.zeros(1), np.zeros(1))[0] > many.chances(np.zeros(1), np.zeros(1))[0]
    assert many.shared > few.shared


def test_similarity_never_speaks_against():
    phi = np.array([[0.0, 5.0], [5.0, 0.0]])
    found = fit_pair_weights(np.tile(phi, (8, 8)), np.zeros((16, 16)), np.zeros((16, 16)), 5.0)
    assert found.similarity >= pair_model.LEAST[1]
    assert PairWeights(0.0, 1.0, 1.0).chances(np.ones(1), np.zeros(1))[0] == pytest.approx(expit(1.0))
