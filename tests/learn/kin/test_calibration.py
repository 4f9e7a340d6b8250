"""Chances by the answers: the sharpness of scores, and the weights of similarities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from linkwise.learn.kin import calibration, model, prior_belief
from linkwise.learn.kin.calibration import Calibration, PlaceAnswer, Sharpness, share_chances
from linkwise.learn.kin.kernels import FULL, Kernels, MixedKernel
from linkwise.learn.kin.model import Known, are_weights_due, weigh_kernels
from linkwise.learn.kin.prior_belief import PairWeights, expect_weights, fit_pair_weights
from reference import kin as plain


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
    assert calibrate(noes).unknown == calibration.UNKNOWN.max()


def test_older_answers_count_less():
    right, wrong = answer([0.6, 0.3], 0, True), answer([0.6, 0.3], 0, False)
    assert (
        calibrate([*[right] * 30, *[wrong] * 30]).unknown > calibrate([*[wrong] * 30, *[right] * 30]).unknown
    )


def test_one_answer_never_excludes_a_sharpness():
    told = Calibration.begin().learn(answer([50.0], 0, False)).told
    assert told.min() == pytest.approx(np.log(0.005))
    assert Calibration.begin().learn(answer([0.0], 0, True)).told.min() == pytest.approx(np.log(0.005))


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
    mean = prior_belief.PRIOR @ (1, np.log(classes))

    def loss(w):
        p = expit(w[0] + w[1] * phi[upper] + w[2] * psi[upper])
        t = together[upper]
        fit = (t * np.log(p) + (1 - t) * np.log(1 - p)).sum() * min(1, 10 / n)
        return -fit + (((w - mean) / prior_belief.DEVIATION) ** 2).sum() / 2

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
    assert found.similarity >= prior_belief.LEAST[1]
    assert PairWeights(0.0, 1.0, 1.0).chances(np.ones(1), np.zeros(1))[0] == pytest.approx(expit(1.0))


# ---------------------------------------------------------------- against the plain version
@given(st.data())
def test_the_sharpness_is_the_likeliest_of_the_grid(data):
    k = data.draw(st.integers(1, 4))
    answers = []
    for _ in range(data.draw(st.integers(0, 12))):
        score = data.draw(st.lists(st.floats(-0.2, 1), min_size=k, max_size=k))
        open_ = sorted(data.draw(st.sets(st.integers(0, k - 1), min_size=1)))
        answers.append((np.array(score), data.draw(st.sampled_from(open_)), open_, data.draw(st.booleans())))
    found = calibrate([answer(*each[:2], each[3], each[2]) for each in answers])
    assert found == plain.best_sharpness(answers)


def draw_kernels(seed, n=30):
    """A mean, two families, and known items of three neighbourhoods; the first family predicts them well."""
    rng = np.random.default_rng(seed)
    label = np.r_[np.arange(4), rng.integers(0, 3, n - 4)]
    kernels = []
    for spread in (3.0, 0.7, 9.0):
        rows = rng.normal(size=(4, 2))[label] * 3 + spread * rng.normal(size=(n, 2))
        kernels.append(np.exp(-((rows[:, None] - rows) ** 2).sum(axis=2) / 2).astype(np.float32))
    return keep(*kernels), Known(np.arange(n), label, np.full(n, np.nan))


def keep(mean, *families):
    return Kernels(mean, tuple(np.rint(each * FULL).astype(np.uint16) for each in families))


@pytest.mark.parametrize("seed", range(5))
def test_kernels_are_weighed_by_what_they_predict(seed):
    kernels, known = draw_kernels(seed)
    found = weigh_kernels(kernels, known)
    among = kernels.among(known.items)
    expected = plain.weights_of_kernels(among, np.eye(4)[known.label])
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert sum(found) == pytest.approx(1)
    assert found[1] > found[2]
    mixed = MixedKernel(kernels, found).rows(known.items)
    assert mixed.dtype == np.float32
    np.testing.assert_allclose(mixed, np.tensordot(found, among, 1), atol=1e-6)
    shuffled = np.random.default_rng(seed).permutation(len(known.items))
    again = Known(
        known.items[shuffled], np.unique(known.label[shuffled], return_inverse=True)[1], known.coverage
    )
    np.testing.assert_allclose(weigh_kernels(kernels, again), found, atol=1e-12)


def test_while_nothing_is_clear_the_mean_kernel_leads():
    kernels, known = draw_kernels(0)
    found = weigh_kernels(keep(*[kernels.among(known.items)[2]] * 3), known)
    assert found[0] / found[1] == pytest.approx(np.exp(model.TEMPER * model.STAY), rel=0.03)


def test_a_mean_that_counts_alone_stays_as_it_is():
    kernels, _ = draw_kernels(0)
    mixed = MixedKernel(kernels, (1.0, 0.0, 0.0))
    np.testing.assert_array_equal(mixed.rows(np.arange(30)), kernels.mean)


@pytest.mark.parametrize(
    ("label", "weighed_at", "are_due"),
    [
        (np.arange(24) % 4, 0, True),
        (np.arange(23) % 4, 0, False),
        (np.arange(30) % 4, 24, False),
        (np.arange(31) % 4, 24, True),
        (np.r_[np.arange(27), 0, 1], 0, True),
        (np.r_[np.arange(27), 0, 0], 0, False),
        (np.empty(0, dtype=int), 0, False),
    ],
)
def test_weights_are_due_at_fixed_numbers_of_items(label, weighed_at, are_due):
    known = Known(np.arange(len(label)), label, np.full(len(label), np.nan))
    assert are_weights_due(known, weighed_at) == are_due
    kernel = np.eye(max(len(label), 1), dtype=np.float32)
    assert not are_due or len(weigh_kernels(keep(kernel, kernel), known)) == 2


def test_pairs_of_which_nothing_is_known_do_not_count():
    rng = np.random.default_rng(0)
    phi, psi = rng.normal(size=(8, 8)), rng.exponential(size=(8, 8))
    together = np.eye(8)
    one = fit_pair_weights(phi, psi, together, 5.0)
    with_more = np.full((20, 20), np.nan)
    with_more[:8, :8], with_more[range(20), range(20)] = together, 1
    wide = [np.pad(table, (0, 12), constant_values=7.0) for table in (phi, psi)]
    assert np.array(fit_pair_weights(*wide, with_more, 5.0)) == pytest.approx(np.array(one))
    nothing = np.where(np.eye(8) == 1, 1, np.nan)
    assert np.array(fit_pair_weights(phi, psi, nothing, 5.0)) == pytest.approx(np.array(expect_weights(5.0)))
