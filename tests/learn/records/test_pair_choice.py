"""Which pair is asked about next."""

from __future__ import annotations

import numpy as np

from linkwise.learn.records.pair_choice import SHARE_AT_RANDOM, choose_pair, draw_pair, gather_rows

NOTHING = np.zeros(0)


def choose(
    log_odds, score=None, n_decided=None, is_inside=None, is_open=None, is_recent=None, seed=0, n_answers=0
):
    log_odds = np.asarray(log_odds, dtype=float)
    score = log_odds if score is None else np.asarray(score, dtype=float)
    n_decided = np.ones(len(log_odds)) if n_decided is None else np.asarray(n_decided, dtype=float)
    is_inside = np.zeros(len(log_odds), bool) if is_inside is None else np.asarray(is_inside)
    is_open = np.ones(len(log_odds), bool) if is_open is None else np.asarray(is_open)
    is_recent = np.zeros(len(log_odds), bool) if is_recent is None else np.asarray(is_recent)
    return choose_pair(log_odds, score, n_decided, is_inside, is_open, is_recent, seed, n_answers)


def choose_best(*args, **kwargs):
    """The first choice that is not drawn at random."""
    return next(
        choice.pair
        for number in range(100)
        if (choice := choose(*args, **kwargs, n_answers=number)).drawn is None
    )


def test_the_most_doubtful_decision_is_asked_about():
    assert choose_best([3.0, 0.1, -4.0]) == 1
    assert choose_best([1.0, 1.0], n_decided=[1, 9]) == 1, "it decides nine pairs"
    assert choose_best([0.0, 3.0], score=[2.0, 2.0]) == 0, "the pair itself is more doubtful"


def test_settled_and_known_pairs_are_not_asked_about():
    assert choose([0.0, 0.0], score=[20.0, -20.0]) is None
    assert choose([0.0, 1.0], is_open=[False, True]).pair == 1
    assert choose(NOTHING) is None


def test_a_share_is_drawn_with_the_chance_that_is_told():
    log_odds = np.array([0.0, 2.0, -2.0, 4.0])
    choices = [choose(log_odds, n_answers=number) for number in range(4000)]
    drawn = [choice for choice in choices if choice.drawn is not None]
    assert len(drawn) == round(4000 * SHARE_AT_RANDOM)
    chance = {choice.pair: choice.drawn for choice in drawn}
    assert abs(sum(chance.values()) - 1) < 1e-9
    counts = np.bincount([choice.pair for choice in drawn], minlength=4) / len(drawn)
    assert np.allclose(counts, [chance[pair] for pair in range(4)], atol=0.03)


def test_pairs_of_which_the_model_is_sure_are_drawn_if_they_are_inside():
    log_odds, is_inside = np.array([0.0, 30.0, 30.0, -30.0]), np.array([False, True, True, False])
    choices = [
        choose(log_odds, log_odds.clip(-4, 4), is_inside=is_inside, n_answers=at) for at in range(1000)
    ]
    drawn = np.bincount([one.pair for one in choices if one.drawn is not None], minlength=4)
    assert drawn[0] > drawn[1] > 30
    assert abs(drawn[1] - drawn[2]) < 30
    assert drawn[3] < 10


def test_the_same_place_gives_the_same_choice():
    log_odds = np.linspace(-3, 3, 50)
    assert [choose(log_odds, n_answers=7) for _ in range(3)] == [choose(log_odds, n_answers=7)] * 3


def test_groups_that_were_just_asked_about_wait():
    log_odds = [0.0, 1.0, 5.0]
    assert choose_best(log_odds) == 0
    assert choose_best(log_odds, is_recent=[True, False, False]) == 1
    assert choose_best(log_odds[::2], is_recent=[True, False]) == 0, "nothing else is in doubt"


def gather(pairs, labels, start=(), most=9, closed=()):
    """Rows of a screen, by pairs (row, row, score)."""
    first, second, score = (np.array(column) for column in zip(*pairs, strict=True))
    is_open = np.ones(len(pairs), bool)
    is_open[list(closed)] = False
    return gather_rows(
        first, second, np.array(labels), score.astype(float), np.ones(len(pairs)), is_open, start, most
    )


def test_a_screen_begins_with_the_most_doubtful_decision_and_goes_on_with_what_may_belong_there():
    pairs = [(0, 1, 4.0), (2, 3, -0.1), (3, 4, -1.0), (3, 5, -3.0)]
    assert gather(pairs, range(6)) == [2, 3, 4, 5, 0, 1]
    assert gather(pairs, range(6), most=3) == [2, 3, 4]
    assert gather(pairs, range(6), most=5) == [2, 3, 4, 5], "a pair does not fit"
    assert gather(pairs, range(6), closed=[1, 2]) == [3, 5, 0, 1]


def test_a_screen_begins_with_given_rows():
    pairs = [(0, 1, 3.0), (2, 3, -0.1)]
    assert gather(pairs, range(4), start=(0, 1)) == [0, 1, 2, 3]
    assert gather(pairs, range(4), start=(0, 1), most=2) == [0, 1]


def test_a_group_has_one_row_on_a_screen_or_two_if_it_may_be_split():
    pairs = [(0, 1, 9.0), (1, 2, -0.5), (0, 2, -0.5)]
    assert gather(pairs, [0, 0, 1]) in ([0, 2], [1, 2])
    assert gather([(0, 1, 0.1), (1, 2, -5.0)], [0, 0, 1]) == [0, 1, 2]


def test_a_pair_is_drawn_from_what_is_not_settled():
    score, is_open = np.array([0.0, 1.0, 20.0]), np.array([False, True, True])
    assert draw_pair(score, score, score > 0, is_open, 0, 0) == (1, 1.0)
    assert draw_pair(score, score, score > 0, np.zeros(3, bool), 0, 0) is None
