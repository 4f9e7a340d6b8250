"""A memo: what it keeps, and for how long."""

import numpy as np
import pytest

from linkwise.learn.memo import Memo, value_size


def counted(calls, value):
    def compute():
        calls.append(value)
        return value

    return compute


def test_a_value_is_computed_once_for_each_topic_and_place():
    memo, calls = Memo(), []
    for topic, place in [("split", (1, 2)), ("split", (1, 2)), ("split", (2, 1)), ("kernel", (1, 2))] * 2:
        assert memo.get(topic, place, counted(calls, (topic, place))) == (topic, place)
    assert calls == [("split", (1, 2)), ("split", (2, 1)), ("kernel", (1, 2))]
    assert len(memo) == 3
    memo.clear()
    assert len(memo) == 0
    memo.get("split", (1, 2), counted(calls, "again"))
    assert calls[-1] == "again"


@pytest.mark.parametrize("most", [1, 3])
def test_the_oldest_values_make_room(most):
    memo, calls = Memo(), []
    for place in range(5):
        memo.get("forest", place, counted(calls, place), max_values=most)
        assert memo.get("forest", place, counted(calls, None), max_values=most) == place
    assert len(memo) == most
    for place in range(5 - most, 5):
        memo.get("forest", place, counted(calls, None), max_values=most)
    assert calls == list(range(5))


def test_room_is_made_before_the_next_value_is():
    memo = Memo()
    memo.get("kernel", 0, lambda: "large", max_values=1)
    assert memo.get("kernel", 1, lambda: len(memo), max_values=1) == 0


def test_bytes_are_bounded_and_the_newest_value_stays():
    memo, row = Memo(), np.zeros(100)
    for place in range(4):
        memo.get("labels", place, lambda: (row, 1), max_bytes=2 * value_size((row, 1)))
    assert len(memo) == 2
    assert memo.get("labels", 9, lambda: np.zeros(10_000), max_bytes=100).shape == (10_000,)
    assert len(memo) == 1


def test_it_may_be_cleared_while_a_value_is_computed():
    memo = Memo()
    assert memo.get("split", 0, lambda: memo.clear() or "found") == "found"
    assert memo.get("split", 0, lambda: "again") == "again"
