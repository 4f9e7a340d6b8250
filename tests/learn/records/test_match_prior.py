"""The prior of matches: its curve, and what the candidates tell without answers."""

from __future__ import annotations

from dataclasses import replace

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from linkwise.learn.records.features import PairFeatures, measure_pairs
from linkwise.learn.records.match_prior import chance_of_cosine, fit_prior, log_odds_of_cosine
from linkwise.learn.records.records import make_records

N_PEOPLE = 60


def make_pairs(n_people: int = N_PEOPLE) -> PairFeatures:
    """All pairs of records of people, two each with another spelling; what is noted is drawn at random."""
    rng = np.random.default_rng(0)
    letters = list("abcdefghijklmnop")
    names = ["".join(rng.choice(letters, 8)) + " " + "".join(rng.choice(letters, 6)) for _ in range(n_people)]
    notes = [" ".join("".join(rng.choice(letters, 7)) for _ in range(2)) for _ in range(6)]
    rows = [(name[:-copy] + "x", rng.choice(notes)) for name in names for copy in (1, 2)]
    table = pl.DataFrame(rows, schema=["name", "note"], orient="row")
    records = make_records(nw.from_native(table), table.columns)
    first, second = np.triu_indices(2 * n_people, 1)
    return measure_pairs(records, first, second)


def test_more_alike_records_match_more_probably():
    chance = chance_of_cosine(np.linspace(0, 1, 101))
    assert (np.diff(chance) > 0).all()
    assert chance[0] < 0.001
    assert chance[-1] > 0.98


def test_candidates_tell_which_column_matters():
    features = make_pairs()
    prior = fit_prior(features)
    name, note = prior.weights["name"], prior.weights["note"]
    assert np.ptp(name) > 2 * np.ptp(note), "notes are drawn at random"


def test_the_expected_number_of_matches_stays_that_of_the_curve():
    features = make_pairs()
    expected = expit(fit_prior(features).log_odds(features)).sum()
    assert expected == pytest.approx(chance_of_cosine(features.cosine).sum())


def test_the_prior_of_a_pair_does_not_depend_on_the_pairs_beside_it():
    features = make_pairs()
    prior = fit_prior(features)
    some = replace(features, values=features.values[5:9], cosine=features.cosine[5:9])
    assert np.array_equal(prior.log_odds(some), prior.log_odds(features)[5:9])


@pytest.mark.parametrize("n_pairs", [0, 1, 3])
def test_few_pairs_stay_near_the_curve(n_pairs):
    features = make_pairs(4)
    some = replace(features, values=features.values[:n_pairs], cosine=features.cosine[:n_pairs])
    found = fit_prior(some).log_odds(some)
    assert found.shape == (n_pairs,)
    assert np.abs(found - log_odds_of_cosine(some.cosine)).max(initial=0) < 1


def test_columns_add_up_to_the_prior_of_a_pair():
    features = make_pairs()
    prior = fit_prior(features)
    log_odds = prior.log_odds(features)
    for pair in (int(log_odds.argmax()), int(log_odds.argmin()), 7):
        start, added = prior.explain(features, pair)
        assert set(added) == {"", "name", "note"}
        assert start + sum(added.values()) == pytest.approx(log_odds[pair])
