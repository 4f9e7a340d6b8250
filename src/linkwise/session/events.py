"""The events of a session, which of them still count, and the evidence that they give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from linkwise.constraints.closure import format_chain
from linkwise.constraints.evidence import Answer, Evidence, Fact
from linkwise.errors import ConstraintError, InfeasibleConstraintsError, SessionDamagedError
from linkwise.wording import strip_full_stop

EventKind = Literal["answer", "add", "import", "done", "name", "change", "undo"]


@dataclass(frozen=True, slots=True)
class Event:
    """One action of a person, or of a program on their behalf.

    Attributes
    ----------
    number : int
        Position in the session, from 1.
    kind : {"answer", "add", "import", "done", "name", "change", "undo"}
        An answer to a question, a volunteered pair, an import of pairs, a cluster marked as done, a name
        for a cluster, a change of an earlier answer, or the undo of any of these.
    when : str
        UTC, ISO 8601.
    first, second : int or None
        The rows of an answer or a volunteered pair; for a cluster that is named or done, `first` alone is
        a row of it.
    answer : {"yes", "no", "unsure"} or None
        For a change it is the new answer.
    target : int or None
        Number of the event that is changed or undone.
    facts : tuple of Fact
        The pairs of an import, or of a cluster that is done.
    source : str
        The file of an import, or the name of a cluster.
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


def drop_undone(events: Sequence[Event]) -> list[Event]:
    """Drop the events that were undone; changes stay events of their own."""
    undone = {e.target for e in events if e.kind == "undo"}
    gone = undone | {e.number for e in events if e.kind == "change" and e.target in undone}
    return [e for e in events if e.kind != "undo" and e.number not in gone]


def settle_events(events: Sequence[Event]) -> list[Event]:
    """Keep the events about pairs that still count, and give each its latest answer."""
    return apply_changes(drop_undone(events))


def apply_changes(left: Sequence[Event]) -> list[Event]:
    """Keep the events about pairs among those that are not undone, and give each its latest answer."""
    latest = {e.target: e.answer for e in left if e.kind == "change"}
    return [
        replace(e, answer=latest[e.number]) if e.number in latest else e
        for e in left
        if e.kind not in ("change", "name")
    ]


def names_of(events: Sequence[Event]) -> dict[int, str]:
    """Names of clusters by the row that each was given to, the latest last; a removed name is empty."""
    names: dict[int, str] = {}
    for event in drop_undone(events):
        if event.kind == "name" and event.first is not None:
            names.pop(event.first, None)
            names[event.first] = event.source
    return names


def facts_of(event: Event) -> tuple[Fact, ...]:
    """The pairs of an event, with their answers."""
    if event.kind in ("import", "done"):
        return event.facts
    if event.first is None or event.second is None or event.answer is None:
        raise SessionDamagedError(
            f"Event {event.number} of the session ({event.kind}) has no pair or no answer"
        )
    return (Fact(event.first, event.second, event.answer),)


def evidence_of(n_rows: int, events: Sequence[Event]) -> Evidence:
    """The evidence that settled events give."""
    evidence = Evidence(n_rows)
    for event in events:
        try:
            for fact in facts_of(event):
                evidence.add(*fact, asked=event.kind == "answer")
        except (ConstraintError, TypeError) as error:  # no session writes such an event
            raise SessionDamagedError(
                f"Event {event.number} of the session is wrong. {strip_full_stop(error)}"
            ) from error
    return evidence


@contextmanager
def name_rows_by_id(ids: Sequence[str] | None) -> Iterator[None]:
    """Name the rows of a contradiction by the ids that the person knows."""
    try:
        yield
    except InfeasibleConstraintsError as error:
        if not error.chain:
            raise
        words = format_chain(error.chain, str if ids is None else ids.__getitem__)
        raise InfeasibleConstraintsError(
            f"This contradicts earlier answers: {words}. "
            "Leave it out, or undo or change one of these answers.",
            error.chain,
        ) from None
