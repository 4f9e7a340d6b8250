"""The answers of a session as a page lists them, and conflicts with the events that cause them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from linkwise.app.page.requests import RefusedRequest
from linkwise.constraints.facts import Answer, Fact
from linkwise.constraints.sorting import Sorting
from linkwise.session.journal.events import Event, Example, beside_answer
from linkwise.session.snapshot import Snapshot
from linkwise.session.state.event_lists import facts_of, find_undoable
from linkwise.session.state.suspects import SuspectAnswer, describe_card
from linkwise.wording import answer_word, join_names, merge_full_stops

Namer = Callable[[int], str]
"""Returns the name of a row."""
Key = tuple[frozenset[int], Answer]
"""The rows of an answer, and what it says."""
NO_NAME = "no name"


class AnswerList(NamedTuple):
    """The events of a session that hold: in order, each answer in its present form, and names of clusters.

    `changed` are the numbers of the answers that were changed. An undo takes the `last` one back, which
    may be a change that `events` does not list.
    """

    events: list[Event]
    changed: frozenset[int]
    last: Event | None = None

    @classmethod
    def of(cls, now: Snapshot) -> AnswerList:
        """List the events of a session."""
        remaining = now.remaining_events
        names = [event for event in remaining if event.kind == "name"]
        changed = frozenset(e.target for e in remaining if e.kind == "change" and e.target is not None)
        events = sorted([*now.history, *names], key=lambda event: event.number)
        return cls(events, changed, find_undoable(remaining))


def serialize_event(event: Event, changed: frozenset[int], name_row: Namer) -> dict[str, Any]:
    """Return one event as values for JSON; `changed` has the numbers of the answers that were changed."""
    return {
        "number": event.number,
        "kind": event.kind,
        "when": event.when,
        "first": event.first,
        "second": event.second,
        "names": [name_row(row) for row in (event.first, event.second) if row is not None],
        "answer": event.answer,
        "pairs": len(event.facts),
        **_count_piles(event.sorting),
        "text": event.source,
        "changed": event.number in changed,
        "target": event.target,
        "sure": event.is_sure and event.number not in changed,
        **beside_answer(event),
        "note_author": event.note_author,
    }


def _count_piles(sorting: Sorting | None) -> dict[str, int]:
    """How many cards were sorted into how many piles; empty for other events."""
    return {} if sorting is None else {"cards": len(sorting.cards), "piles": len(sorting.piles)}


def check_owner(events: Mapping[int, Event], number: int, person: str) -> None:
    """Raise `RefusedRequest` if an event is an answer of somebody else, or about one, or an import."""
    event = events.get(number)
    while event is not None and event.kind != "note" and event.target is not None:
        event = events.get(event.target)
    if event is None or event.kind in ("done", "name", "guidelines", "examples"):
        return
    if event.kind == "import":
        raise RefusedRequest("bad", "Nobody can take back imported pairs on this page.")
    if event.source != person:
        who = event.source or "Nobody on this page"
        only = "Only " if event.source else ""
        raise RefusedRequest("bad", f"{only}{who} can change this answer or take it back.")


def serialize_guidelines(guidelines: str, examples: Sequence[Example], name_row: Namer) -> dict[str, Any]:
    """Return what "belong together" means here as fields of a state; none if nobody wrote it down."""
    listed = [
        {
            "first": each.first,
            "second": each.second,
            "names": [name_row(each.first), name_row(each.second)],
            "answer": each.answer,
            "reason": each.reason,
        }
        for each in examples
    ]
    return {
        **({"guidelines": guidelines} if guidelines else {}),
        **({"examples": listed} if listed else {}),
    }


def list_sources(history: Sequence[Event], facts: Sequence[Fact]) -> dict[Key, str]:
    """Name who gave some answers; nothing if one person gave all answers."""
    if len({event.source for event in history if event.kind in ("answer", "sort", "add")}) < 2:
        return {}
    found: dict[Key, list[str]] = {_key_of(fact): [] for fact in facts}
    for event in history:
        for fact in facts_of(event):
            if (key := _key_of(fact)) in found:
                found[key].append(event.source or NO_NAME)
    return {key: join_names(dict.fromkeys(names)) for key, names in found.items() if names}


def _key_of(fact: Fact) -> Key:
    """What tells two answers apart, whichever of their rows comes first."""
    return frozenset(fact.pair), fact.answer


def describe_sources(history: Sequence[Event], facts: Sequence[Fact], name_row: Namer) -> list[str]:
    """Put into words who gave some answers; nothing if one person gave all answers."""
    pairs: dict[str, list[str]] = {}
    for (rows, _), source in list_sources(history, facts).items():
        pairs.setdefault(source, []).append(" and ".join(name_row(row) for row in sorted(rows)))
    listed = "; ".join(f"{source} ({', '.join(about)})" for source, about in pairs.items())
    return [f"These answers are from {listed}."] if listed else []


def serialize_suspect(suspect: SuspectAnswer, history: Sequence[Event], name_row: Namer) -> dict[str, Any]:
    """Return an answer that is probably wrong as values for JSON, with its source and the reason in words."""
    return {
        "event": suspect.number,
        "first": suspect.first,
        "second": suspect.second,
        "names": [name_row(suspect.first), name_row(suspect.second)],
        "answer": suspect.answer,
        "source": next((event.source for event in history if event.number == suspect.number), ""),
        "grade": suspect.grade,
        "reason": describe_doubt(suspect, history, name_row),
        "card": suspect.card,
        "place": "" if suspect.card is None else describe_card(suspect, name_row),
    }


def describe_suspect(suspect: SuspectAnswer, source: str, history: Sequence[Event], name_row: Namer) -> str:
    """Put into words whose answer is probably wrong, and what speaks against it."""
    doubt = describe_doubt(suspect, history, name_row)
    if suspect.card is not None:
        places = merge_full_stops(describe_card(suspect, name_row))
        return f"The pile of {name_row(suspect.card)} is {suspect.grade}. {places} {doubt}"
    whose = f"of {source}" if source else "without a name"
    return f"The answer {whose} is {suspect.grade}. {doubt}"


def describe_doubt(suspect: SuspectAnswer, history: Sequence[Event], name_row: Namer) -> str:
    """Put into words what speaks against an answer, and who said so if several people answered."""
    sources = list_sources(history, suspect.because)
    against = []
    for fact in suspect.because:
        source = sources.get(_key_of(fact))
        words = f"{answer_word(fact.answer)} for {name_row(fact.first)} and {name_row(fact.second)}"
        against.append(f"{words} ({source})" if source else words)
    if not against:
        return "The similarity of the rows speaks against it."
    if len(against) == 1:
        return merge_full_stops(f"Another answer speaks against it: {against[0]}.")
    return merge_full_stops(f"Other answers speak against it: {'; '.join(against)}.")


def serialize_chain(
    history: Sequence[Event], chain: Sequence[int], new: frozenset[int], changed: object, name_row: Namer
) -> list[dict[str, Any]]:
    """Return the links of a conflict, each with its event.

    Must-links join the rows of `chain`, in order; the first and the last are also required apart. `new`
    are the two rows of the answer that was just given, whose link has no event yet. The old answer of the
    event `changed` does not count.
    """
    events = {
        (min(fact.pair), max(fact.pair), fact.answer): event
        for event in history
        if event.number != changed
        for fact in facts_of(event)
    }
    pairs = [(i, j, "yes") for i, j in pairwise(chain)]
    pairs += [(chain[0], chain[-1], "no")] if len(chain) > 1 else []
    return [_link(i, j, answer, events, new, name_row) for i, j, answer in pairs]


def _link(
    i: int, j: int, answer: str, events: dict[Any, Event], new: frozenset[int], name_row: Namer
) -> dict[str, Any]:
    event = None if new == {i, j} else events.get((min(i, j), max(i, j), answer))
    return {
        "first": i,
        "second": j,
        "names": [name_row(i), name_row(j)],
        "answer": answer,
        "event": None if event is None else event.number,
        "kind": "add" if event is None else event.kind,
        "source": "" if event is None else event.source,
    }
