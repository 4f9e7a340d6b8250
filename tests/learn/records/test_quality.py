"""Precision and recall from pairs that were drawn at random."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.learn.records.quality import Quality, RandomPair, Share, estimate_quality


def draw_world(seed: int):
    """Pairs with their true answer, what a biased model expects, and whether they are in one group."""
    rng = np.random.default_rng(seed)
    model = rng.beta(0.5, 0.5, 2000)
    truth = rng.random(2000) < model**1.7  # the model is too sure of matches
    return model, truth, model > 0.5


def draw_pairs(model, truth, is_inside, n: int, seed: int) -> tuple[list[RandomPair], np.ndarray, np.ndarray]:
    """Pairs that are drawn at random, what the model expects of them, and their answers."""
    rng = np.random.default_rng(seed)
    weight = model * (1 - model)
    drawn = weight / weight.sum()
    chosen = rng.choice(len(model), n, p=drawn)
    pairs = [RandomPair(k, k + 1, float(drawn[k]), bool(is_inside[k])) for k in chosen.tolist()]
    return pairs, model[chosen], truth[chosen].astype(float)


def give(*draws: tuple[RandomPair, float, float]) -> tuple[list[RandomPair], np.ndarray, np.ndarray]:
    """Draws, with what was expected of each, and its answer."""
    return [pair for pair, *_ in draws], *(np.array([draw[at] for draw in draws]) for at in (1, 2))


def test_the_estimate_is_right_on_average_though_the_model_is_not():
    model, truth, is_inside = draw_world(0)
    n_inside = int(is_inside.sum())
    sums = float(model[is_inside].sum()), float(model[~is_inside].sum())
    true_precision = truth[is_inside].mean()
    true_recall = truth[is_inside].sum() / truth.sum()
    found = [
        estimate_quality(n_inside, *sums, *draw_pairs(model, truth, is_inside, 40, seed))
        for seed in range(300)
    ]
    unasked = estimate_quality(n_inside, *sums, *give())
    assert abs(unasked.precision.value - true_precision) > 0.05, "the model alone is wrong"
    assert np.mean([one.precision.value for one in found]) == pytest.approx(true_precision, abs=0.01)
    assert np.mean([one.recall.value for one in found]) == pytest.approx(true_recall, abs=0.02)
    covered = [one.precision.low <= true_precision <= one.precision.high for one in found]
    assert 0.83 <= np.mean(covered) <= 0.97


def test_without_draws_nothing_is_certain():
    quality = estimate_quality(100, 90.0, 10.0, *give())
    assert quality.precision == (0.9, 0.0, 1.0)
    assert quality.recall == (0.9, 0.0, 1.0)
    assert estimate_quality(0, 0.0, 0.0, *give()).precision.value == 1


def test_an_old_draw_does_not_count():
    pair = RandomPair(0, 1, 0.01, is_inside=True)
    draws = give(*[(pair, 0.5, 0.0)] * 5, *[(pair, 0.5, 1.0)] * 40)
    assert estimate_quality(100, 60.0, 0.0, *draws).precision.value == 1


def test_matches_that_are_expected_outside_are_in_doubt_until_pairs_there_were_drawn():
    outside = RandomPair(0, 1, 0.01, is_inside=False), 0.0, 0.0
    inside = RandomPair(0, 1, 0.01, is_inside=True), 1.0, 1.0
    few, many = (
        estimate_quality(100, 100.0, 50.0, *give(*[inside] * 10, *[outside] * n)).recall for n in (1, 30)
    )
    assert few.value == many.value
    assert few.low < many.low < many.value


def test_the_share_of_wrong_pairs():
    quality = Quality(Share(1.0, 0.9, 1.0), Share(0.5, 0.0, 1.0))
    assert quality.wrong == pytest.approx(1 / 3)
    assert quality.most_wrong == 1
