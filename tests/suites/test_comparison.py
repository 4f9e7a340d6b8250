"""Ranks and their tests against examples worked by hand, printed tables and scipy."""

import numpy as np
import pytest
from bench.suites.comparison import (
    Wins,
    correct_by_holm,
    count_wins,
    critical_distance,
    friedman_test,
    p_value_of_pairs,
    rank_aligned_scores,
    rank_within_tasks,
    wilcoxon_tests,
)
from scipy.stats import friedmanchisquare, norm


def test_aligned_ranks_by_hand():
    # means .5 and .2; differences .3 -.3 0 | .1 0 -.1; places 1 6 3.5 | 2 3.5 5
    scores = np.array([[0.8, 0.2, 0.5], [0.3, 0.2, 0.1]])
    assert rank_aligned_scores(scores).tolist() == [1.5, 4.75, 4.25]


def test_aligned_ranks_of_equal_methods_are_equal():
    assert rank_aligned_scores(np.array([[0.1, 0.1], [0.7, 0.7]])).tolist() == [2.5, 2.5]


def test_mean_ranks_by_hand():
    assert rank_within_tasks([[0.8, 0.2, 0.5], [0.3, 0.3, 0.1]]).tolist() == [1.25, 2.25, 2.5]


def test_the_statistic_by_hand():
    # places 1 4 | 2 3: sums by method 3 7, by task 5 5; (2-1)(9+49-2*4/4*25) = 8; 2*2*5*9/6-50/2 = 5
    found = friedman_test([[0.9, 0.1], [0.8, 0.2]])
    assert found.statistic == pytest.approx(8 / 5)
    assert found.p_value == pytest.approx(0.2059, abs=1e-4)


def test_where_one_method_is_always_best_the_test_says_so_as_the_plain_one_does():
    rng = np.random.default_rng(0)
    scores = rng.random((30, 4)) * 0.1 + np.array([0.3, 0.2, 0.1, 0.0])
    assert friedman_test(scores).p_value < 1e-6
    assert friedmanchisquare(*scores.T).pvalue < 1e-6


def test_without_a_difference_the_p_value_is_uniform():
    rng = np.random.default_rng(0)
    values = [friedman_test(rng.random((20, 3))).p_value for _ in range(400)]
    assert np.mean(np.array(values) < 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(values) == pytest.approx(0.5, abs=0.06)


def test_equal_scores_cannot_be_tested():
    assert np.isnan(friedman_test([[0.5, 0.5], [0.1, 0.1]]).p_value)
    assert np.isnan(p_value_of_pairs([0.0, 0.0, 0.0]))
    assert np.isnan(p_value_of_pairs([0.3]))
    with pytest.raises(ValueError, match="Pass at least 2 tasks and 2 methods"):
        friedman_test([[0.5, 0.2]])


@pytest.mark.parametrize(
    ("n_methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (10, 3.164)]
)
def test_critical_values_of_the_printed_table(n_methods, q):
    """Demšar (2006), Table 5 (a)."""
    distance = critical_distance(n_methods, 12)
    assert distance == pytest.approx(q * np.sqrt(n_methods * (n_methods + 1) / 72), rel=1e-3)


def test_the_p_value_counts_all_signs():
    assert p_value_of_pairs([0.1, 0.2, 0.3]) == pytest.approx(2 / 8)  # only + + + and - - - are as far
    assert p_value_of_pairs([0.1] * 8) == pytest.approx(2 / 2**8)


def test_the_signed_ranks_of_a_printed_example():
    """Demšar (2006), table 2: two trees on 14 tasks, two of them without a difference; T = 12, z = -2.54."""
    one = [763, 599, 954, 628, 882, 936, 661, 583, 775, 1000, 940, 619, 972, 957]
    other = [768, 591, 971, 661, 888, 931, 668, 583, 838, 1000, 962, 666, 981, 978]
    tested = wilcoxon_tests(np.column_stack([one, other, one]) / 1000)
    assert np.isnan(np.diag(tested)).all()
    assert np.isnan(tested[0, 2])  # the same method under two names
    assert tested[0, 1] == tested[1, 0] == tested[1, 2]
    z = norm.isf(tested[0, 1] / 2 / 2)  # two pairs are tested, from both sides
    assert z == pytest.approx(2.54, abs=0.05)


def test_holm_by_hand():
    corrected = correct_by_holm([0.01, 0.04, np.nan, 0.03, 0.9])
    np.testing.assert_allclose(corrected, [0.04, 0.09, np.nan, 0.09, 0.9])
    assert correct_by_holm([0.6, 0.7]).tolist() == [1, 1]
    assert correct_by_holm([]).tolist() == []


def test_a_run_without_a_score_is_no_win():
    scores = [0.1, np.nan, 0.2, 0.3, 0.1, 0.2, 0.3]
    assert np.isnan(p_value_of_pairs(scores))
    assert count_wins([scores], [[0.0] * 7]) == Wins(0, 0, 1)


def test_wins_losses_and_what_is_chance():
    better = np.tile([0.5, 0.6, 0.7, 0.5, 0.6, 0.7, 0.5, 0.6], (3, 1))
    other = better.copy()
    other[0] -= 0.1
    other[1] += 0.1
    other[2, ::2] += 0.1
    other[2, 1::2] -= 0.1
    assert count_wins(better, other) == Wins(1, 1, 1)
