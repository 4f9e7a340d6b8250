"""What happened in a session, what of it still holds, and what is known by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from linkwise.constraints.closure import format_chain
from linkwise.constraints.evidence import Answer, Evidence, Fact
from linkwise.errors import ConstraintError, InfeasibleConstraintsError, SessionDamagedError

EventKind = Literal["answer", "add", "import", "done", "name", "change", "undo"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that a person, or a program on their behalf, did.

    Attributes
    ----------
    number : int
        Position in the session, from 1.
    kind : {"answer", "add", "import", "done", "name", "change", "undo"}
        An answer to a question, a volunteered pair, a set of pairs brought in together, all rows of a
        cluster said to belong together, a cluster named, an earlier answer changed, one of these
        taken back.
    when : str
        UTC, ISO 8601.
    first, second : int or None
        Rows, for an answer or a volunteered pair; `first` alone for a cluster that is named or done: the
        row that it is known by.
    answer : {"yes", "no", "unsure"} or None
        For a change, the new answer.
    target : int or None
        Number of the event that is changed or undone.
    facts : tuple of Fact
        The pairs of an import, or of a cluster that is done.
    source : str
        Where an import came from; the name of a cluster.
    """

    number: int
    kind: EventKind
    when: str
    first: int | None = None
    second: int | None = None
    answer: Answer | None = None
    target: int | None = None
    facts: tuple[Fact, ...] = ()
    source: str = ""


def holding(events: Sequence[Event]) -> list[Event]:
    """Events that were not undone, in order; changes are still events of their own."""
    undone = {e.target for e in events if e.kind == "undo"}
    gone = undone | {e.number for e in events if e.kind == "change" and e.target in undone}
    return [e for e in events if e.kind != "undo" and e.number not in gone]


def settled(events: Sequence[Event]) -> list[Event]:
    """What holds of all that was said of pairs, each with its latest answer."""
    left = holding(events)
    latest = {e.target: e.answer for e in left if e.kind == "change"}
    return [
        replace(e, answer=latest[e.number]) if e.number in latest else e
        for e in left
        if e.kind not in ("change", "name")
    ]


def names_of(events: Sequence[Event]) -> dict[int, str]:
    """Names of clusters by the row that each was given to, the latest last; empty where it was taken away."""
    names: dict[int, str] = {}
    for event in holding(events):
        if event.kind == "name" and event.first is not None:
            names.pop(event.first, None)
            names[event.first] = event.source
    return names


def facts_of(event: Event) -> tuple[Fact, ...]:
    """The pairs that an event speaks of."""
    if event.kind in ("import", "done"):
        return event.facts
    if event.first is None or event.second is None or event.answer is None:
        raise SessionDamagedError(
            f"event {event.number} of the session ({event.kind}) names no pair or no answer"
        )
    return (Fact(event.first, event.second, event.answer),)


def evidence_of(n_rows: int, events: Sequence[Event]) -> Evidence:
    """All that is known by settled events."""
    evidence = Evidence(n_rows)
    for event in events:
        try:
            for fact in facts_of(event):
                evidence.add(*fact, asked=event.kind == "answer")
        except (ConstraintError, TypeError) as error:  # no session writes such an event
            raise SessionDamagedError(f"event {event.number} of the session cannot hold: {error}") from error
    return evidence


@contextmanager
def in_ids(ids: Sequence[str] | None) -> Iterator[None]:
    """Tell a contradiction by the ids that the person knows."""
    try:
        yield
    except InfeasibleConstraintsError as error:
        if not error.chain:
            raise
        words = format_chain(error.chain, str if ids is None else ids.__getitem__)
        raise InfeasibleConstraintsError(
            f"this contradicts what is known: {words}; leave it out, or undo or change one of these answers",
            error.chain,
        ) from None
