"""Which rows moved between clusters, and how that is told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from linkwise.session.state.moves import (
    Moves,
    count_moved_rows,
    describe_moves,
    find_moves,
    measure_change,
    name_cluster,
)

BOTH_LABELS = st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 4)), min_size=1, max_size=40)


def tell(before, after, names=None):
    steps = (np.array(step, dtype=np.int32) for step in (before, after))
    return describe_moves(find_moves(*steps), names or {})


def rows(*counts):
    """So many rows of each number: ``rows((1, 3), (2, 1))`` is 1, 1, 1, 2."""
    return [number for number, count in counts for _ in range(count)]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ([1, 1, 2], [1, 1, 2], "No row moved."),
        (rows((1, 9), (3, 9)), rows((1, 8), (3, 10)), "1 row moved from Cluster 1 to Cluster 3."),
        (rows((1, 9), (3, 9)), rows((1, 5), (3, 13)), "4 rows moved from Cluster 1 to Cluster 3."),
        (
            rows((1, 20), (3, 9), (2, 4)),
            rows((1, 10), (3, 20), (2, 3)),
            "11 rows moved: most from Cluster 1 to Cluster 3.",
        ),
        (
            rows((1, 6), (1, 3), (2, 9), (2, 4), (3, 9)),
            rows((1, 6), (2, 3), (2, 9), (3, 4), (1, 3), (3, 6)),
            "10 rows moved: 4 from Cluster 2 to Cluster 3.",
        ),
        (rows((1, 9), (4, 3)), rows((1, 12)), "3 rows moved: Cluster 4 is now part of Cluster 1."),
        (rows((1, 9)), rows((1, 5), (7, 4)), "4 rows moved: Cluster 7 is new, split off from Cluster 1."),
        (
            rows((1, 9), (2, 9)),
            rows((1, 5), (7, 4), (2, 8), (1, 1)),
            "5 rows moved: Cluster 7 is new, split off from Cluster 1 (4 rows).",
        ),
        (
            rows((1, 9), (2, 5), (3, 9)),
            rows((1, 14), (3, 8), (1, 1)),
            "6 rows moved: Cluster 2 is now part of Cluster 1 (5 rows).",
        ),
        (
            rows((1, 9), (2, 5), (3, 4), (5, 9)),
            rows((1, 18), (5, 7), (8, 2)),
            "11 rows moved: Cluster 2 is now part of Cluster 1 (5 rows). "
            "Cluster 3 is gone. Cluster 8 is new.",
        ),
        (
            rows((1, 9), (2, 5), (3, 4), (4, 3), (5, 2)),
            rows((1, 23)),
            "14 rows moved: Cluster 2 is now part of Cluster 1 (5 rows). 3 more clusters are gone.",
        ),
        (rows((-1, 4)), rows((-1, 1), (0, 3)), "3 rows moved: Cluster 0 is new."),
        (rows((0, 4), (1, 2)), rows((0, 3), (-1, 1), (1, 2)), "1 row moved from Cluster 0 to Noise."),
    ],
)
def test_moves_in_words(before, after, words):
    assert tell(before, after) == words


def test_names_stand_for_numbers():
    names = {1: "old\n wine", 3: "x" * 60}
    assert tell(rows((1, 9), (3, 9)), rows((1, 5), (3, 13)), names) == (
        f"4 rows moved from old wine to {'x' * 39}…."
    )
    assert (name_cluster(-1, {}), name_cluster(2, {2: " "})) == ("Noise", "Cluster 2")


LABELS = st.lists(st.integers(-1, 5), min_size=25, max_size=25)


@given(LABELS, LABELS)
def test_all_rows_with_another_number_moved(before, after):
    one, other = np.array(before), np.array(after)
    moves = find_moves(one, other)
    assert moves.n_rows == (one != other).sum()
    if moves.n_rows:
        between = (one == moves.source) & (other == moves.target)
        assert moves.n_between == between.sum() > 0
        assert moves.source != moves.target
    assert describe_moves(moves, {}).endswith(".")


def test_without_rows_nothing_moves():
    nothing = np.zeros(0, dtype=np.int32)
    assert find_moves(nothing, nothing) == Moves(0)


# ---------------------------------------------------------------- how many, whatever their numbers
@pytest.mark.slow
@given(pairs=BOTH_LABELS, order=st.permutations(range(6)))
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
