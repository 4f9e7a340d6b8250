"""Colours of clusters: they stay with the rows that had them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linkwise.session.colours import Colours, carry_colours, count_shared_rows
from linkwise.session.events import Event


def after(before, colours, labels):
    return carry_colours(np.array(before, np.int32), colours, np.array(labels, np.int32))


def test_new_numbers_keep_colours():
    assert after([0, 0, 1, 1, 2], [0, 1, 2], [2, 2, 0, 0, 1]) == [1, 2, 0]


def test_the_larger_part_keeps_the_colour():
    assert after([0, 0, 0, 1], [0, 1], [0, 1, 1, 2]) == [2, 0, 1]


def test_the_larger_of_two_that_merge_gives_the_colour():
    assert after([0, 1, 1, 2], [5, 3, 1], [0, 0, 0, 1]) == [3, 1]


def test_noise_has_no_colour():
    assert after([-1, -1, 0, 0], [4], [0, 0, -1, 1]) == [0, 4]
    assert after([0, 0], [0], [-1, -1]) == []


def test_each_cluster_that_is_new_takes_the_lowest_free_colour():
    assert after([0, 0, 0, 1], [1, 4], [2, 0, 1, 3]) == [1, 0, 2, 4]


def test_of_equal_parts_the_first_keeps_the_colour():
    assert after([0, 0, 0, 0], [3], [1, 1, 0, 0]) == [3, 0]


def test_of_equal_clusters_that_merge_the_first_gives_the_colour():
    assert after([1, 0], [7, 5], [0, 0]) == [7]


def test_a_cluster_that_was_noise_takes_a_free_colour():
    assert after([-1, -1, -1, 0], [0], [0, 0, 0, 1]) == [1, 0]


# ---------------------------------------------------------------- the colours after each event
def answer(number, row):
    return Event(number, "answer", "", row, row + 1, "yes")


def labels(*numbers):
    return np.array(numbers, np.int32)


START = labels(0, 0, 1, 1)
SWAPPED = labels(1, 1, 0, 0)
SPLIT = labels(1, 1, 0, 2)
FIRST, SECOND, THIRD, OTHER = (answer(number, row) for number, row in enumerate((0, 1, 2, 0), 1))


def followed():
    colours = Colours()
    colours.begin([], START)
    seen = [colours.now]
    for event, before, then in ((FIRST, START, SWAPPED), (SECOND, SWAPPED, SWAPPED), (THIRD, SWAPPED, SPLIT)):
        colours.follow(event, before, then)
        seen.append(colours.now)
    assert seen == [[0, 1], [1, 0], [1, 0], [1, 0, 2]]
    return colours


def test_at_the_start_a_colour_is_the_number_of_its_cluster():
    colours = Colours()
    assert colours.now == []
    colours.begin([FIRST], labels(0, 2, 1, 2))
    assert colours.now == [0, 1, 2]
    colours.begin([], labels(-1, -1))
    assert colours.now == []


def test_colours_follow_each_event():
    followed()


def test_steps_of_the_last_time_are_remembered():
    """Their labels are not looked at again."""
    colours = followed()
    for _ in range(2):
        colours.begin([], None)
        seen = [colours.now]
        for event in (FIRST, SECOND, THIRD):
            colours.follow(event, None, labels(0, 0, 0, 0))
            seen.append(colours.now)
        assert seen == [[0, 1], [1, 0], [1, 0], [1, 0, 2]]
    colours.follow(OTHER, SPLIT, START)
    assert colours.now == [0, 1]


def test_colours_are_computed_from_the_first_event_that_differs():
    colours = followed()
    colours.begin([], None)
    colours.follow(FIRST, None, None)
    colours.follow(OTHER, SWAPPED, labels(2, 2, 1, 0))
    assert colours.now == [1, 2, 0]
    colours.follow(THIRD, labels(2, 2, 1, 0), START)
    assert colours.now == [0, 1]
    colours.begin([SECOND], START)
    assert colours.now == [0, 1]
    colours.follow(FIRST, START, SPLIT)
    assert colours.now == [1, 0, 2]


# ---------------------------------------------------------------- clusters that share rows
def counts_of(before, then):
    return [part.tolist() for part in count_shared_rows(labels(*before), labels(*then))]


def test_few_clusters_of_many_rows_share_rows():
    assert counts_of([0, 0, 1, 1, 0], [1, 1, 0, -1, 0]) == [[0, 0, 1, 1], [0, 1, -1, 0], [1, 2, 1, 1]]


def test_many_clusters_of_few_rows_share_rows():
    assert counts_of([5, -1, 5], [9, 9, 9]) == [[-1, 5], [9, 9], [1, 2]]
    assert counts_of([7, 7, 0], [-1, -1, 8]) == [[0, 7], [8, -1], [1, 2]]


def test_numbers_of_clusters_may_be_large():
    large = 2**31 - 1
    assert counts_of([0, large, 0], [large, large, 0]) == [[0, 0, large], [0, large, large], [1, 1, 1]]


LABELS = st.lists(st.integers(-1, 6), min_size=1, max_size=30)


@given(LABELS, st.data())
def test_no_two_share_one(before, data):
    then = data.draw(st.lists(st.integers(-1, 6), min_size=len(before), max_size=len(before)))
    start = list(range(max(before) + 1))
    found = after(before, start, then)
    assert len(found) == max(then) + 1
    assert len(set(found)) == len(found)
    assert after(before, start, before)[: len(start)] == start


@given(LABELS, st.data())
def test_shared_counts_rows(before, data):
    then = data.draw(st.lists(st.integers(-1, 6), min_size=len(before), max_size=len(before)))
    source, target, rows = count_shared_rows(np.array(before), np.array(then))
    found = dict(zip(zip(source.tolist(), target.tolist(), strict=True), rows.tolist(), strict=True))
    pairs = list(zip(before, then, strict=True))
    assert found == {pair: pairs.count(pair) for pair in pairs}
