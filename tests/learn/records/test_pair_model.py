"""What answers about pairs teach: which columns matter, and what a column adds."""

from __future__ import annotations

from dataclasses import replace

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from linkwise.learn.records.features import PairFeatures, measure_pairs
from linkwise.learn.records.match_prior import fit_prior
from linkwise.learn.records.pair_model import PairModel, RandomAnswers, fit_pair_model
from linkwise.learn.records.records import make_records

N_SONGS, N_VERSIONS = 40, 4


def make_pairs() -> tuple[PairFeatures, np.ndarray, np.ndarray]:
    """Versions of songs: the title says little, since all match by year; features, prior and truth."""
    rng = np.random.default_rng(0)
    letters = list("abcdefghijklmnop")
    titles = [" ".join("".join(rng.choice(letters, 6)) for _ in range(3)) for _ in range(N_SONGS)]
    rows = []
    for title in titles:
        for version in range(N_VERSIONS):
            note = "".join(rng.choice(letters, 12))
            rows.append((title, note, 1960 + 30 * (version % 2)))
    table = pl.DataFrame(rows, schema=["title", "note", "year"], orient="row")
    records = make_records(nw.from_native(table), table.columns)
    n = len(rows)
    first, second = np.triu_indices(n, 1)
    near = (first // N_VERSIONS == second // N_VERSIONS) | (rng.random(len(first)) < 0.1)
    first, second = first[near], second[near]
    features = measure_pairs(records, first, second)
    is_match = (first // N_VERSIONS == second // N_VERSIONS) & (first % 2 == second % 2)
    return features, fit_prior(features).log_odds(features), is_match


@pytest.fixture(scope="module")
def problem() -> tuple[PairFeatures, np.ndarray, np.ndarray]:
    return make_pairs()


def draw_none() -> RandomAnswers:
    return RandomAnswers(np.empty(0, dtype=np.int64), np.empty(0, dtype=bool), 1e-9)


def answer(problem, n_answers: int, seed: int = 0, wrong: float = 0.0) -> tuple[PairModel, np.ndarray]:
    features, prior, is_match = problem
    rng = np.random.default_rng(seed)
    pairs = rng.choice(np.flatnonzero(prior > -3), n_answers, replace=False)
    told = is_match[pairs] != (rng.random(n_answers) < wrong)
    return fit_pair_model(features, prior, pairs, np.where(told, 1 - wrong, wrong), draw_none()), pairs


def test_without_answers_the_prior_counts(problem):
    features, prior, _ = problem
    model = fit_pair_model(features, prior, np.empty(0, dtype=np.int64), np.empty(0), draw_none())
    assert np.array_equal(model.log_odds, prior)
    assert model.predict(features, prior) == pytest.approx(prior)
    start, added = model.explain(features, prior, 3)
    assert start + sum(added.values()) == pytest.approx(prior[3])
    assert {name for name, value in added.items() if value} == {""}


@pytest.mark.parametrize("wrong", [0.0, 0.1])
def test_answers_teach_which_column_matters(problem, wrong):
    _, prior, is_match = problem
    model, pairs = answer(problem, 80, wrong=wrong)
    others = np.setdiff1d(np.flatnonzero(prior > -3), pairs)
    before, after = (
        np.mean((log_odds[others] > 0) == is_match[others]) for log_odds in (prior, model.log_odds)
    )
    assert before < 0.6
    assert after > (0.97 if wrong == 0 else 0.9)


@pytest.mark.parametrize("n_answers", [1, 2, 7, 19, 20])
def test_few_answers_are_enough_to_fit(problem, n_answers):
    model, _ = answer(problem, n_answers)
    assert np.isfinite(model.log_odds).all()
    assert model.held_out.shape == (n_answers,)


def test_improbable_pairs_stay_so(problem):
    _, prior, is_match = problem
    model, _ = answer(problem, 80)
    far = prior < -3.5
    assert far.sum() > 100
    assert not is_match[far].any()
    assert expit(model.log_odds[far]).mean() < 0.02


def test_no_answer_confirms_itself(problem):
    features, prior, is_match = problem
    _, pairs = answer(problem, 60)
    chances = is_match[pairs].astype(float)
    at = int(np.flatnonzero(chances)[0])
    one = chances.copy()
    one[at] = 0
    right, wrong = (fit_pair_model(features, prior, pairs, told, draw_none()) for told in (chances, one))
    assert wrong.log_odds[pairs[at]] < right.log_odds[pairs[at]], "the model itself follows the answer"
    assert wrong.held_out[at] > 0, "but not the part of it that has not seen the answer"


@pytest.mark.parametrize("error_rate", [1e-9, 0.25])
def test_random_answers_shift_the_model_and_others_do_not(problem, error_rate):
    """Of pairs that look the same to the model, those that are asked about on purpose match less often."""
    features, prior, _ = problem
    rng = np.random.default_rng(0)
    doubtful = np.flatnonzero(np.abs(prior) < 2)
    pairs = rng.choice(doubtful, 60, replace=False)
    told = np.r_[np.zeros(40), np.ones(20)]  # on purpose: never a match; at random: always
    drawn = RandomAnswers(pairs[40:], np.ones(20, dtype=bool), error_rate)
    plain, shifted = (fit_pair_model(features, prior, pairs, told, which) for which in (draw_none(), drawn))
    assert plain.shift == 0
    assert shifted.shift > 0.5
    assert np.all(shifted.log_odds[doubtful] > plain.log_odds[doubtful])


def test_an_answer_that_follows_shifts_the_model_too(problem):
    """On a screen, what is answered of a random pair may follow from other pairs."""
    features, prior, _ = problem
    doubtful = np.flatnonzero(np.abs(prior) < 2)
    told, others = doubtful[:20], doubtful[20:40]
    drawn = RandomAnswers(others, np.ones(20, dtype=bool), 1e-9)
    assert fit_pair_model(features, prior, told, np.zeros(20), drawn).shift > 0.5


def test_one_answer_shifts_the_model_less_if_it_may_be_wrong(problem):
    features, prior, _ = problem
    pairs = np.flatnonzero(np.abs(prior) < 2)[:30]
    moved = []
    for rate in (1e-9, 0.25):
        none, one = (
            fit_pair_model(
                features, prior, pairs, np.zeros(30), RandomAnswers(pairs, np.arange(30) < n_yes, rate)
            ).shift
            for n_yes in (0, 1)
        )
        moved.append(one - none)
    assert 0 < moved[1] < moved[0] / 2


@pytest.mark.parametrize("n_answers", [10, 60])
def test_an_explanation_adds_up_to_the_log_odds(problem, n_answers):
    features, prior, _ = problem
    model, pairs = answer(problem, n_answers)
    for pair in [*pairs[:5].tolist(), int(np.argmin(prior)), int(np.argmax(prior))]:
        start, added = model.explain(features, prior, pair)
        assert start + sum(added.values()) == pytest.approx(model.log_odds[pair], abs=1e-9)
        assert set(added) == {"", "title", "note", "year"}


def test_an_explanation_names_the_column_that_decides(problem):
    features, prior, is_match = problem
    model, _ = answer(problem, 80)
    apart = np.flatnonzero((prior > -2) & ~is_match)
    added = [model.explain(features, prior, pair)[1] for pair in apart[:10].tolist()]
    assert all(min(one, key=one.__getitem__) == "year" for one in added)


@pytest.mark.parametrize("n_answers", [0, 10, 60])
def test_columns_have_their_part_of_the_prior(n_answers):
    features, log_odds, is_match = make_pairs()
    prior = fit_prior(features)
    model, pairs = answer((features, log_odds, is_match), n_answers)
    for pair in [3, *pairs[:5].tolist(), int(np.argmin(log_odds)), int(np.argmax(log_odds))]:
        parts = prior.explain(features, pair)
        start, added = model.explain(features, log_odds, pair, parts)
        assert start + sum(added.values()) == pytest.approx(model.log_odds[pair], abs=1e-9)
        if n_answers == 0:
            assert (start, added) == (pytest.approx(parts[0]), pytest.approx(parts[1]))


def test_any_pairs_are_predicted_as_among_the_candidates(problem):
    features, prior, _ = problem
    model, _ = answer(problem, 60)
    some = np.r_[5:50, 2:4]
    fewer = replace(features, values=features.values[some], cosine=features.cosine[some])
    assert np.array_equal(model.predict(fewer, prior[some]), model.log_odds[some])


def test_the_number_of_threads_changes_no_bit(problem, use_threads):
    one, _ = answer(problem, 60)
    use_threads(3)
    other, _ = answer(problem, 60)
    assert np.array_equal(one.log_odds, other.log_odds)
    assert np.array_equal(one.held_out, other.held_out)
