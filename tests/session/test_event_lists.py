"""The lists of a session are the same, whether its events come one by one or all at once."""

from hypothesis import given
from hypothesis import strategies as st

from linkwise.constraints.facts import Fact
from linkwise.session.journal.events import SETTINGS, Event, Place
from linkwise.session.state.event_lists import (
    EventLists,
    Settings,
    apply_settings,
    drop_undone,
    settle_events,
)

WHEN = "2026-01-01T00:00:00.000+00:00"
SOURCES = ("", "anna", "ben")
KINDS = (
    "answer", "answer", "answer", "add", "import", "move", "done", "name", "change", "sure", "undo",
    *SETTINGS,
)  # fmt: skip
BEGUN = Settings({"name": "KIN", "parameters": {}})
VALUES = {
    "guidelines": st.sampled_from(["", "By colour."]),
    "examples": st.sampled_from([[], [[0, 1, "yes", "both red"]]]),
    "audit": st.sampled_from([{"by": "eva", "pairs": [[0, 1]], "doubtful": [True]}]),
    "cost": st.sampled_from([0.5, 1]),
    "learner": st.sampled_from([{"name": "COBRAS", "parameters": {}}]),
    "rate": st.sampled_from([None, 0.1]),
}
ANSWERS = st.sampled_from(["yes", "no", "unsure"])


@st.composite
def stories(draw):
    """Events as sessions store them: a place and a target are earlier events."""
    events = []
    for _ in range(draw(st.integers(1, 14))):
        number = len(events) + 1
        kind, source = draw(st.sampled_from(KINDS)), draw(st.sampled_from(SOURCES))
        first, second = draw(st.sampled_from([(0, 1), (2, 1), (3, 0)]))
        if kind in ("change", "sure", "undo"):
            known = [e.number for e in events if e.kind in ("answer", "add", "import")]
            known += [e.number for e in events if e.kind in SETTINGS and kind == "undo"]
            if not known:
                continue
            answer = None if kind == "undo" else draw(ANSWERS)
            events.append(Event(number, kind, WHEN, answer=answer, target=draw(st.sampled_from(known))))
        elif kind in ("import", "move", "done"):
            events.append(Event(number, kind, WHEN, facts=(Fact(first, second, draw(ANSWERS)),)))
        elif kind in SETTINGS:
            events.append(Event(number, kind, WHEN, source=source, value=draw(VALUES[kind])))
        elif kind == "name":
            events.append(Event(number, kind, WHEN, first=first, source="ripe"))
        else:
            is_early = kind == "answer" and draw(st.booleans())
            place = Place(draw(st.integers(0, number - 1)), draw(st.integers(0, 3))) if is_early else None
            events.append(Event(number, kind, WHEN, first, second, draw(ANSWERS), source=source, place=place))
    return events


def describe(lists):
    return lists.remaining, lists.settled, lists.ordered, lists.last_answers, lists.settings


@given(stories(), st.integers(1, 5))
def test_it_does_not_matter_how_many_events_come_at_once(events, step):
    one, other = EventLists(BEGUN), EventLists(BEGUN)
    for end in range(step, len(events) + step, step):
        one.follow(events[:end])
    other.follow(events)
    assert describe(one) == describe(other)
    assert one.remaining == drop_undone(events)
    assert one.settled == settle_events(events)
    assert one.settings == apply_settings(BEGUN, drop_undone(events))
    assert sorted(one.ordered, key=lambda event: event.number) == one.settled


def test_answers_are_ordered_by_their_questions():
    given_places = [Place(0, 2), None, Place(0, 1), Place(1, 1)]
    events = [
        Event(number, "answer", WHEN, number, 0, "no", place=place)
        for number, place in enumerate(given_places, 1)
    ]
    lists = EventLists(BEGUN)
    for end in range(len(events) + 1):
        lists.follow(events[:end])
    assert [event.number for event in lists.ordered] == [3, 1, 2, 4]
    assert lists.n_rebuilds == 0


def test_an_answer_to_a_pair_that_was_imported_is_gold():
    events = [
        Event(1, "import", WHEN, facts=(Fact(0, 1, "yes"),)),
        Event(2, "answer", WHEN, 0, 1, "no", source="anna", place=Place(1, 1)),
    ]
    lists = EventLists(BEGUN)
    for end in (1, 2):
        lists.follow(events[:end])
    assert lists.settled[1].gold == "yes"
    assert lists.n_rebuilds == 0
    assert lists.last_answers == {frozenset((0, 1)): {"anna": 2}}
