"""When a page offers to sort several rows at once: by the seconds of the person."""

import pytest

from linkwise.app.page.sorting_offer import (
    ENOUGH_PAIRS,
    ENOUGH_SCREENS,
    PAIRS_REPLACED,
    SortingOffer,
    offer_sorting,
)
from linkwise.constraints.facts import Fact
from linkwise.learn.gathering import SCREEN_SIZE
from linkwise.session.journal.events import Event

START = SortingOffer(SCREEN_SIZE, None, PAIRS_REPLACED[SCREEN_SIZE])


def pair(seconds, source=""):
    return Event(1, "answer", "", first=0, second=1, answer="no", source=source, seconds=seconds)


def screen(n_rows, seconds, source=""):
    facts = tuple(Fact(0, row, "yes") for row in range(1, n_rows))
    return Event(1, "sort", "", facts=facts, value=list(range(n_rows)), source=source, seconds=seconds)


def offer(*events, gathers=True, **more):
    return offer_sorting(events, gathers=gathers, **more)


def times(event, n):
    return [event] * n


def test_screens_are_offered_before_anything_is_known():
    assert offer() == START
    assert offer(*times(pair(2.0), 50)) == START, "of screens nothing is known"
    assert offer(*times(pair(None), 50), *times(screen(9, None), 50)) == START, "nobody took the time"
    assert offer(*times(pair(2.0), 50), *times(screen(9, 500.0), ENOUGH_SCREENS - 1)) == START


@pytest.mark.parametrize(
    "more", [{"gathers": False}, {"is_check": True}, {"is_narrow": True}, {"n_rows": 3}, {"n_rows": 0}]
)
def test_pairs_are_better(more):
    assert offer(*times(pair(9.0), 20), *times(screen(9, 1.0), 20), **more) == SortingOffer()


def test_a_screen_of_four_rows_is_enough():
    assert offer(n_rows=4) == START


@pytest.mark.parametrize(("size", "replaced"), PAIRS_REPLACED.items())
def test_a_screen_is_worth_the_pairs_that_it_replaces(size, replaced):
    pairs = times(pair(4.0), ENOUGH_PAIRS)
    slower = offer(*pairs, *times(screen(size, 4.0 * replaced + 0.1), ENOUGH_SCREENS))
    assert slower.size is None
    assert 0.9 < slower.factor < 1
    quicker = offer(*pairs, *times(screen(size, 2.0 * replaced), ENOUGH_SCREENS))
    assert quicker == SortingOffer(size, pytest.approx(2.0), replaced)


def test_the_size_is_the_quickest_one_that_was_tried():
    pairs = times(pair(4.0), ENOUGH_PAIRS)
    nine, twelve = times(screen(9, 21.0), ENOUGH_SCREENS), times(screen(12, 20.0), ENOUGH_SCREENS)
    assert offer(*pairs, *nine, *twelve) == SortingOffer(12, pytest.approx(2.0), 10.0)
    assert offer(*nine, *twelve) == SortingOffer(12, None, 10.0), "nothing is known of pairs"


def test_a_screen_with_fewer_rows_than_asked_for_replaces_fewer_pairs():
    found = offer(*times(pair(4.0), ENOUGH_PAIRS), *times(screen(7, 4.0), ENOUGH_SCREENS))
    assert found.size == 9
    assert PAIRS_REPLACED[6] < found.factor < PAIRS_REPLACED[9]


def test_screens_of_other_sizes_say_nothing():
    assert offer(*times(pair(4.0), 9), *times(screen(3, 900.0), 9), *times(screen(40, 900.0), 9)) == START


def test_only_the_last_answers_count_and_only_those_of_the_person():
    late = [*times(screen(9, 500.0), 30), *times(screen(9, 7.0), 30), *times(pair(4.0), 30)]
    assert offer(*late).factor == pytest.approx(4.0)
    slow = [*times(screen(9, 500.0, "anna"), 30), *times(pair(4.0, "anna"), 30)]
    assert offer(*late, *slow).factor == pytest.approx(4.0)
    assert offer(*late, *slow, source="anna").size is None
    assert offer(*late, *slow, source="ben") == START
