"""How much a clustering changed, and the advice when to stop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from linkwise.page.stopping import advise, count_moved_rows, measure_change

LABELS = st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 4)), min_size=1, max_size=40)


@given(pairs=LABELS, order=st.permutations(range(6)))
def test_numbers_of_clusters_do_not_matter_and_no_more_move_than_a_matching_says(pairs, order):
    before, after = np.array(pairs, dtype=np.int32).T
    share = measure_change(before, after)
    renamed = np.array(order, dtype=np.int32)[after + 1]
    assert measure_change(before, renamed) == pytest.approx(share)
    assert measure_change(after, before) == pytest.approx(share)
    assert measure_change(before, np.array(order, dtype=np.int32)[before + 1]) == 0
    table = np.zeros((6, 6))
    np.add.at(table, (before + 1, after + 1), 1)
    matched = table[linear_sum_assignment(-table)].sum()
    assert 0 <= share <= 1 - matched / len(pairs) + 1e-12


def test_splits_and_merges_count_with_their_smaller_part():
    one, split = np.zeros(10, np.int32), np.array([0] * 7 + [1] * 3, np.int32)
    assert measure_change(one, split) == pytest.approx(0.3)
    assert measure_change(split, one) == pytest.approx(0.3)
    assert count_moved_rows(one, split) == count_moved_rows(split, one) == 3
    assert measure_change(np.arange(2000, dtype=np.int32), np.arange(2000, dtype=np.int32)[::-1]) == 0


def test_the_larger_count_holds_where_clusters_split_and_merge_at_once():
    before = np.array([0] * 6 + [1] * 4, np.int32)
    after = np.array([0] * 3 + [1] * 3 + [1] * 4, np.int32)
    assert count_moved_rows(before, after) == count_moved_rows(after, before) == 3
    before, after = np.array([0, 0, 0, 1, 1, 2], np.int32), np.array([0, 0, 1, 1, 1, 1], np.int32)
    # one row leaves the largest part of cluster 0; two rows join a larger part of cluster 1
    assert count_moved_rows(before, after) == count_moved_rows(after, before) == 2


def test_nothing_moves_where_nothing_changes_or_nothing_is_there():
    labels = np.array([0, 0, 1], np.int32)
    assert count_moved_rows(labels, labels.copy()) == 0
    assert count_moved_rows(labels[:0], labels[:0]) == 0
    assert measure_change(labels[:0], labels[:0]) == 0


def test_advice():
    assert advise([0.5] * 9, ended=False)["stop"] is None
    assert "After 1 more answer, " in advise([0.5] * 9, ended=False)["text"]
    assert advise([0.5] + [0.0] * 10, ended=False)["stop"] is True
    told = advise([0.0] * 8 + [0.2, 0.01], ended=False)
    assert told["stop"] is False
    assert told["text"].startswith("2 of the last 10 answers still moved rows, at most 20%")
    assert advise([], ended=True)["stop"] is True


@pytest.mark.parametrize(
    ("n", "words"),
    [(1, "1 answer is probably wrong. Check it"), (3, "3 answers are probably wrong. Check them")],
)
def test_nobody_is_advised_to_stop_while_answers_are_doubted(n, words):
    told = advise([0.0] * 10, ended=False, n_suspects=n)
    assert told["stop"] is False
    assert f"fewer than 1 in 100 rows, but {words} before you stop." in told["text"]
    assert advise([0.5] * 10, ended=False, n_suspects=n) == advise([0.5] * 10, ended=False)
    assert advise([], ended=True, n_suspects=n)["stop"] is True
