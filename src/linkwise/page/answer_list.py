"""What was said in a session, as a page lists it; contradictions with the events that cause them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from linkwise.session.events import Event, drop_undone, facts_of
from linkwise.session.session import Session

Call = Callable[[int], str]
"""How a row is called."""


def held(session: Session) -> list[Event]:
    """All that holds, names of clusters too, each answer as it is by now."""
    named = [event for event in drop_undone(session.events) if event.kind == "name"]
    return sorted([*session.history, *named], key=lambda event: event.number)


def told(event: Event, session: Session, call: Call) -> dict[str, Any]:
    """One event as JSON."""
    return {
        "number": event.number,
        "kind": event.kind,
        "when": event.when,
        "first": event.first,
        "second": event.second,
        "names": [call(row) for row in (event.first, event.second) if row is not None],
        "said": event.answer,
        "pairs": len(event.facts),
        "text": event.source,
        "changed": any(e.kind == "change" and e.target == event.number for e in drop_undone(session.events)),
        "target": event.target,
    }


def links(
    session: Session, chain: Sequence[int], new: frozenset[int], changed: object, call: Call
) -> list[dict[str, Any]]:
    """The links of a contradiction, each with the event that says it.

    Parameters
    ----------
    session : Session
    chain : sequence of int
        Rows joined by must-links, in order; the first and the last are also required apart.
    new : frozenset of int
        The two rows of which something was just said; that link has no event yet.
    changed : int or None
        The event that was to be changed, and speaks no longer for itself.
    call : callable
    """
    says = {
        (min(fact[:2]), max(fact[:2]), fact.answer): event
        for event in session.history
        if event.number != changed
        for fact in facts_of(event)
    }
    pairs = [(i, j, "yes") for i, j in pairwise(chain)]
    pairs += [(chain[0], chain[-1], "no")] if len(chain) > 1 else []
    return [_link(i, j, said, says, new, call) for i, j, said in pairs]


def _link(
    i: int, j: int, said: str, says: dict[Any, Event], new: frozenset[int], call: Call
) -> dict[str, Any]:
    event = None if new == {i, j} else says.get((min(i, j), max(i, j), said))
    return {
        "first": i,
        "second": j,
        "names": [call(i), call(j)],
        "said": said,
        "event": None if event is None else event.number,
        "kind": "add" if event is None else event.kind,
    }
