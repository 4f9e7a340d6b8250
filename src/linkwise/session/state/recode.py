"""Take the events of a session to another encoding of its rows, such as other columns or another order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from linkwise.constraints.facts import Fact
from linkwise.errors import DataMismatchError
from linkwise.session.journal.events import Event
from linkwise.session.state.event_lists import drop_undone, move_value
from linkwise.wording import count_noun

MOST_NAMED = 5  # rows that an error names


def match_rows(
    before: Sequence[str] | None, now: Sequence[str] | None, n_before: int, n_now: int
) -> dict[int, int]:
    """Find the new position of each row, by its id, or by its position if one side has no ids.

    Rows that are gone are left out.
    """
    if before is not None and now is not None:
        position = {name: row for row, name in enumerate(now)}
        return {row: position[name] for row, name in enumerate(before) if name in position}
    if n_before != n_now:
        raise DataMismatchError(
            f"The session has {count_noun(n_before, 'row')}, and the data have {n_now}. Without ids on both "
            "sides rows are known by their positions. Pass the same rows, or begin a new session and carry "
            "the answers over by id."
        )
    return {row: row for row in range(n_before)}


def move_events(events: Sequence[Event], here: Mapping[int, int], names: Sequence[str] | None) -> list[Event]:
    """Let all events name the rows by their new positions.

    Pairs of audits and earlier examples whose rows are gone are left out. Raises `DataMismatchError` if
    rows of other events are gone; it names them.
    """
    used = {row for event in events for row in _rows_of(event)}
    gone = sorted(used - here.keys())
    if gone:
        shown = ", ".join(repr(str(row) if names is None else names[row]) for row in gone[:MOST_NAMED])
        more = f" and {len(gone) - MOST_NAMED} more" if len(gone) > MOST_NAMED else ""
        raise DataMismatchError(
            f"The session has answers about {count_noun(len(gone), 'row')} that the data lack: "
            f"{shown}{more}. Pass data with all of them, or begin a new session and carry the other answers "
            "over by id."
        )
    latest = next((e.number for e in reversed(drop_undone(events)) if e.kind == "examples"), 0)
    moved = [
        replace(
            event,
            first=None if event.first is None else here[event.first],
            second=None if event.second is None else here[event.second],
            facts=tuple(Fact(here[fact.first], here[fact.second], fact.answer) for fact in event.facts),
        )
        for event in events
    ]
    return [move_value(event, here, counts=event.number == latest) for event in moved]


def _rows_of(event: Event) -> set[int]:
    """The rows that an event names."""
    ends = {row for row in (event.first, event.second) if row is not None}
    return ends.union(*(fact.pair for fact in event.facts))
