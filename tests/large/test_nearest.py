"""Where the nearest centres are found: on a card for much work; otherwise by the processor."""

import numpy as np
import pytest

from linkwise import native
from linkwise.large import nearest
from linkwise.native import cuda

ROWS, CENTERS = np.arange(40.0).reshape(20, 2), np.arange(8.0).reshape(4, 2)


@pytest.fixture
def calls(monkeypatch):
    """A card that remembers what it was asked."""
    made = []

    def compute(card, rows, centers):
        made.append(len(rows))
        return native.nearest_points(rows, centers, 1)

    monkeypatch.setattr(cuda, "find_gpu", lambda: cuda.Gpu("A card", None, {}))
    monkeypatch.setattr(cuda, "nearest_points_on_card", compute)
    return made


def test_little_work_stays_on_the_processor(calls):
    nearest.nearest_centers(ROWS, CENTERS)
    assert calls == []


def test_much_work_goes_to_the_card(calls, monkeypatch):
    monkeypatch.setattr(nearest, "LEAST_WORK", ROWS.size * len(CENTERS))
    nearest.nearest_centers(ROWS, CENTERS)
    assert calls == [len(ROWS)]


def test_where_a_card_fails_the_processor_goes_on(calls, monkeypatch):
    def fail(card, rows, centers):
        calls.append(len(rows))
        raise MemoryError

    monkeypatch.setattr(cuda, "nearest_points_on_card", fail)
    monkeypatch.setattr(nearest, "LEAST_WORK", 0)
    found = nearest.nearest_centers(ROWS, CENTERS)
    assert calls == [len(ROWS)]
    for one, other in zip(found, native.nearest_points(ROWS, CENTERS, 1), strict=True):
        np.testing.assert_array_equal(one, other)


def test_without_a_card_the_processor_finds_them(calls, monkeypatch):
    monkeypatch.setattr(cuda, "find_gpu", lambda: None)
    monkeypatch.setattr(nearest, "LEAST_WORK", 0)
    found = nearest.nearest_centers(ROWS, CENTERS)
    assert calls == []
    np.testing.assert_array_equal(found[0], native.nearest_points(ROWS, CENTERS, 1)[0])
