"""Colours of clusters: they stay with the rows that had them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linkwise.session.colours import colours_after, shared


def after(before, colours, labels):
    return colours_after(np.array(before, np.int32), colours, np.array(labels, np.int32))


def test_new_numbers_keep_colours():
    assert after([0, 0, 1, 1, 2], [0, 1, 2], [2, 2, 0, 0, 1]) == [1, 2, 0]


def test_the_larger_part_keeps_the_colour():
    assert after([0, 0, 0, 1], [0, 1], [0, 1, 1, 2]) == [2, 0, 1]


def test_the_larger_of_two_that_merge_gives_the_colour():
    assert after([0, 1, 1, 2], [5, 3, 1], [0, 0, 0, 1]) == [3, 1]


def test_noise_has_no_colour():
    assert after([-1, -1, 0, 0], [4], [0, 0, -1, 1]) == [0, 4]
    assert after([0, 0], [0], [-1, -1]) == []


LABELS = st.lists(st.integers(-1, 6), min_size=1, max_size=30)


@given(LABELS, st.data())
def test_no_two_share_one(labels, data):
    others = data.draw(st.lists(st.integers(-1, 6), min_size=len(labels), max_size=len(labels)))
    start = list(range(max(labels) + 1))
    found = after(labels, start, others)
    assert len(found) == max(others) + 1
    assert len(set(found)) == len(found)
    assert after(labels, start, labels)[: len(start)] == start


@given(LABELS, st.data())
def test_shared_counts_rows(labels, data):
    others = data.draw(st.lists(st.integers(-1, 6), min_size=len(labels), max_size=len(labels)))
    source, target, rows = shared(np.array(labels), np.array(others))
    found = dict(zip(zip(source.tolist(), target.tolist(), strict=True), rows.tolist(), strict=True))
    pairs = list(zip(labels, others, strict=True))
    assert found == {pair: pairs.count(pair) for pair in pairs}
