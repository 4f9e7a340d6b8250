"""Which events still count, what each says by now, the evidence that they give, and the settings.

`EventLists` keeps them up to date as events are added, which costs little however many there are. After an
undo, and after an event about an earlier one, everything is derived anew.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from linkwise.constraints.closure import format_chain
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.error_rates import AssumedRate
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import ANSWERS, Answer, Fact
from linkwise.constraints.fallible import FallibleEvidence, make_evidence, rate_of_source
from linkwise.errors import (
    ConstraintError,
    DataMismatchError,
    InfeasibleConstraintsError,
    SessionDamagedError,
)
from linkwise.session.journal.events import (
    ABOUT_PAIRS,
    ASIDE,
    LASTING,
    MOST_EXAMPLES,
    REVISIONS,
    SETTINGS,
    WITH_FACTS,
    WITH_TARGET,
    AuditPlan,
    Event,
    Example,
    Place,
    read_examples,
    read_plan,
    write_plan,
)
from linkwise.wording import answer_word, strip_full_stop


# ---------------------------------------------------------------- settings
# The settings of a session: guidelines, examples, audits, costs, the learner and the error rate.
#
# They follow from events. Each event holds a whole value, so an undo brings the earlier value back. Costs
# are summed. Of audits, the last one counts for each two who audit and are audited.
@dataclass(frozen=True, slots=True)
class Settings:
    """The settings after some events.

    `audits` are the last one of each two who audit and are audited; `costs` are sums by source.
    """

    learner: dict[str, Any]
    error_rate: AssumedRate = 0
    guidelines: str = ""
    examples: tuple[Example, ...] = ()
    audits: tuple[AuditPlan, ...] = ()
    costs: Mapping[str, float] = field(default_factory=dict)


def begin_settings(meta: Mapping[str, Any]) -> Settings:
    """The settings with which a session begins."""
    return Settings(meta["learner"], meta.get("error_rate", 0))


def apply_settings(settings: Settings, events: Iterable[Event]) -> Settings:
    """The settings after some more events, none of which is undone."""
    for event in events:
        if event.kind in SETTINGS:
            settings = CHANGES[event.kind](settings, event)
    return settings


def _add_audit(settings: Settings, event: Event) -> Settings:
    plan = read_plan(event)
    others = [each for each in settings.audits if (each.source, each.by) != (plan.source, plan.by)]
    return replace(settings, audits=(*others, plan))


def _add_cost(settings: Settings, event: Event) -> Settings:
    total = settings.costs.get(event.source, 0.0) + float(event.value)
    return replace(settings, costs={**settings.costs, event.source: min(total, sys.float_info.max)})


CHANGES: dict[str, Callable[[Settings, Event], Settings]] = {
    "guidelines": lambda settings, event: replace(settings, guidelines=event.value),
    "examples": lambda settings, event: replace(settings, examples=read_examples(event)),
    "audit": _add_audit,
    "cost": _add_cost,
    "learner": lambda settings, event: replace(settings, learner=event.value),
    "rate": lambda settings, event: replace(settings, error_rate=event.value),
}
"""How an event of each kind changes the settings."""


# ---------------------------------------------------------------- values of events


def move_value(event: Event, here: Mapping[int, int], *, counts: bool) -> Event:
    """Let the rows in the value of an event have their new positions; pairs whose rows are gone are left out.

    If the event still `counts`, none of its examples may be left out.
    """
    if event.kind in ("sort", "change") and event.value is not None:
        return replace(event, value=[here[row] for row in event.value])
    if event.kind == "examples":
        examples = [each for each in read_examples(event) if counts or {*each[:2]} <= here.keys()]
        return replace(event, value=[list(each) for each in move_examples(examples, here)])
    if event.kind != "audit":
        return event
    plan = read_plan(event)
    left = [(here[i], here[j], is_) for (i, j), is_ in zip(plan.pairs, plan.is_doubtful, strict=True)
            if i in here and j in here]  # fmt: skip
    pairs = tuple((min(i, j), max(i, j)) for i, j, _ in left)
    moved = plan._replace(pairs=pairs, is_doubtful=tuple(is_doubtful for *_, is_doubtful in left))
    return replace(event, value=write_plan(moved))


# ---------------------------------------------------------------- those of another session
def select_settings(
    stored: Iterable[Event],
    settings: Settings,
    events: Sequence[Event],
    others: Settings,
    rows: Mapping[int, int],
    name: str,
) -> list[Event]:
    """Select the events of another session that change the settings of this one, but for learner and rate.

    `stored` and `events` are those of this and of the other session that are not undone, and `rows` has
    the position in this session of each row of the other one. `name` is who is meant where the other
    session has no name. The events keep the numbers of the other session.
    """
    latest = {event.kind: event for event in events}
    found: list[Event] = []
    if others.guidelines and not settings.guidelines:
        found.append(latest["guidelines"])
    known = {frozenset(each[:2]) for each in settings.examples}
    there = [each for each in others.examples if {*each[:2]} <= rows.keys()]
    new = [each for each in move_examples(there, rows) if frozenset(each[:2]) not in known]
    examples = [*settings.examples, *new][:MOST_EXAMPLES]
    if examples != list(settings.examples):
        found.append(replace(latest["examples"], value=[list(each) for each in examples]))
    begun = {(plan.source, plan.by) for plan in settings.audits}
    plans = {(plan.source, plan.by, plan.after + 1) for plan in others.audits}
    for event in events:
        if event.kind == "audit" and (event.source, event.value["by"], event.number) in plans:
            moved = _name_people(move_value(event, rows, counts=False), name)
            if (moved.source, moved.value["by"]) not in begun:
                found.append(moved)
    paid = {(event.when, event.source, event.value) for event in stored if event.kind == "cost"}
    costs = [_name_people(event, name) for event in events if event.kind == "cost"]
    return found + [event for event in costs if (event.when, event.source, event.value) not in paid]


def _name_people(event: Event, name: str) -> Event:
    """Give people without a name in an audit or a cost this one."""
    value = {**event.value, "by": event.value["by"] or name} if event.kind == "audit" else event.value
    return replace(event, source=event.source or name, value=value)


def move_examples(examples: Iterable[Example], here: Mapping[int, int]) -> list[Example]:
    """Let examples name the rows by their new positions."""
    given = list(examples)
    gone = [each for each in given if not {each.first, each.second} <= here.keys()]
    if gone:
        raise DataMismatchError(
            f"The session has an example about rows {gone[0].first} and {gone[0].second}, and the data lack "
            "one of them. Pass data with all of them, or remove the example first (remove_example)."
        )
    return [each._replace(first=here[each.first], second=here[each.second]) for each in given]


# ---------------------------------------------------------------- as a text
def write_guidelines(guidelines: str, examples: Iterable[Example], name_row: Callable[[int], str]) -> str:
    """Write guidelines and examples as one text; empty if there are none."""
    lines = [
        f"{name_row(each.first)} and {name_row(each.second)}: {answer_word(each.answer).lower()}"
        + (f" ({strip_full_stop(' '.join(each.reason.split()))})" if each.reason else "")
        for each in examples
    ]
    listed = "\n".join(["Examples:", *lines]) if lines else ""
    return "\n\n".join(part for part in (guidelines, listed) if part)


# ---------------------------------------------------------------- lists of events
class EventLists:
    """The lists that a session derives from its events, and its settings, which begin with `begun`.

    `remaining` are the events that are not undone (see `drop_undone`), `settled` those about pairs that
    still count, each with its latest answer and note (see `settle_events`), and `ordered` the same in the
    order of their questions (see `order_key`). `last_answers` has for each pair the number of the last
    answer of each source, and `last_sortings` has it for the rows of each screen. `n_rebuilds` counts how
    often everything was derived anew; meanwhile `settled` is only appended to.
    """

    def __init__(self, begun: Settings) -> None:
        self._begun = begun
        self.n_rebuilds = 0
        self._n_events = 0
        self._clear()

    def _clear(self) -> None:
        self.settings = self._begun
        self.remaining: list[Event] = []
        self.settled: list[Event] = []
        self.ordered: list[Event] = []
        self.last_answers: dict[frozenset[int], dict[str, int]] = {}
        self.last_sortings: dict[frozenset[int], dict[str, int]] = {}
        self._keys: list[tuple[float | str, ...]] = []  # of `ordered`
        self._imported: Imported = {}

    def follow(self, events: Sequence[Event]) -> None:
        """Take up the events that were added since the last call; `events` are all of them."""
        new = events[self._n_events :]
        if not new:
            return
        if any(event.kind == "undo" or event.kind in WITH_TARGET for event in new):
            self._rebuild(events)
        else:
            starts = find_starts(events, self._n_events)
            self.remaining += new
            self.settings = apply_settings(self.settings, new)
            self._add(apply_changes(new, self._imported), starts)
        self._n_events = len(events)

    def _rebuild(self, events: Sequence[Event]) -> None:
        self._clear()
        self.n_rebuilds += 1
        self.remaining = drop_undone(events)
        self.settings = apply_settings(self.settings, self.remaining)
        self._add(apply_changes(self.remaining, self._imported), find_starts(events))

    def _add(self, settled: Sequence[Event], starts: dict[int, int]) -> None:
        self.settled += settled
        for event in settled:
            key = order_key(event, starts[event.number])
            at = bisect_right(self._keys, key)
            self._keys.insert(at, key)
            self.ordered.insert(at, event)
            if event.kind == "answer" and event.first is not None and event.second is not None:
                pair = frozenset((event.first, event.second))
                self.last_answers.setdefault(pair, {})[event.source] = event.number
            elif event.sorting is not None:
                rows = frozenset(event.sorting.order)
                self.last_sortings.setdefault(rows, {})[event.source] = event.number


CONTRADICTION = "This contradicts earlier answers: {}. Remove it, or undo or change one of these answers."
Imported = dict[frozenset[int], tuple[int, Answer]]
"""The number of the event that imported each pair first, and its answer."""


def drop_undone(events: Sequence[Event]) -> list[Event]:
    """Drop the events that were undone; changes, confirmations and notes stay events of their own."""
    undone = {e.target for e in events if e.kind == "undo"}
    gone = undone | {e.number for e in events if e.kind in WITH_TARGET and e.target in undone}
    return [e for e in events if e.kind != "undo" and e.number not in gone]


def settle_events(events: Sequence[Event]) -> list[Event]:
    """Keep the events about pairs that still count, and give each its latest answer and note."""
    return apply_changes(drop_undone(events))


def apply_changes(left: Sequence[Event], imported: Imported | None = None) -> list[Event]:
    """Keep the events about pairs among those that are not undone; give each its latest answer and note.

    `imported` are the pairs that earlier events imported; those of `left` are added to it.
    """
    latest = {e.target: e for e in left if e.kind in REVISIONS}
    notes = {e.target: e for e in left if e.kind == "note"}
    known = {} if imported is None else imported
    revised = [_revise(e, latest.get(e.number)) for e in left if is_about_pairs(e)]
    return _mark_gold([_annotate(e, notes.get(e.number)) for e in revised] if notes else revised, known)


def find_starts(events: Sequence[Event], at: int = 0) -> dict[int, int]:
    """For each event from a position on, the number of the last one before it on which questions depend."""
    start = find_last_start(events[:at])
    starts = {}
    for event in events[at:]:
        starts[event.number] = start
        start = start if is_aside(event, events) else event.number
    return starts


def find_last_start(events: Sequence[Event]) -> int:
    """The number of the last event on which questions depend; 0 before the first."""
    return next((event.number for event in reversed(events) if not is_aside(event, events)), 0)


def is_aside(event: Event, events: Sequence[Event]) -> bool:
    """Whether no question depends on one of some events, which are all from the first on."""
    if event.kind == "undo" and event.target is not None:
        return events[event.target - 1].kind in ASIDE
    return event.kind in ASIDE


def order_key(event: Event, start: int) -> tuple[float | str, ...]:
    """The key that orders settled events by their questions, in whatever order the answers arrived.

    An answer without a place has the first place after the event `start` before it.
    """
    place = event.place or Place(start, 0)
    if event.sorting is not None:
        pair, answer = sorted(event.sorting.order)[:2], len(ANSWERS)
        return (place.start, 1, place.position, *pair, answer, event.source, -1.0, event.number)
    if event.kind != "answer" or event.first is None or event.second is None:
        return (event.number, 0, event.source, event.number)
    answer = ANSWERS.index(event.answer or "unsure")
    pair = sorted((event.first, event.second))
    reliability = -1.0 if event.reliability is None else event.reliability
    return (place.start, 1, place.position, *pair, answer, event.source, reliability, event.number)


def _revise(event: Event, revision: Event | None) -> Event:
    """Give an event its latest answer; whoever changes or confirms an answer means it."""
    if revision is not None and event.kind == "sort":
        return replace(event, facts=revision.facts, value=revision.value)
    if revision is not None:
        reliability = event.reliability if revision.answer == event.answer else None
        is_sure = revision.answer != "unsure"
        return replace(event, answer=revision.answer, facts=(), is_sure=is_sure, reliability=reliability)
    return replace(event, facts=(), is_sure=True) if event.kind == "add" and event.facts else event


def _annotate(event: Event, later: Event | None) -> Event:
    """Give an event the note that was written later, if there is one."""
    return event if later is None else replace(event, note=later.note, note_source=later.source)


def _mark_gold(settled: list[Event], imported: Imported) -> list[Event]:
    """Give answers to pairs that were imported before they were asked the right answer.

    A learner never asks such a pair, and only a question that was one of several has a place.
    """
    for event in settled:
        for fact in event.facts if event.kind == "import" else ():
            if fact.answer != "unsure":
                imported.setdefault(frozenset(fact.pair), (event.number, fact.answer))
    return [_mark_if_gold(event, imported) for event in settled] if imported else settled


def _mark_if_gold(event: Event, imported: Imported) -> Event:
    if event.kind != "answer" or event.place is None or event.first is None or event.second is None:
        return event
    number, answer = imported.get(frozenset((event.first, event.second)), (0, None))
    return event if answer is None or number > event.place.start else replace(event, gold=answer)


def is_about_pairs(event: Event) -> bool:
    """Whether an event says something about pairs, and is not a revision."""
    return event.kind in ABOUT_PAIRS


def find_undoable(remaining: Sequence[Event]) -> Event | None:
    """The event that an undo without a number takes back: the last one, but for those that somebody chose.

    A learner and an error rate were chosen when the session was opened, so they are undone by their numbers.
    """
    return next((e for e in reversed(remaining) if e.kind not in (*LASTING, "learner", "rate")), None)


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
    if event.kind in WITH_FACTS:
        return event.facts
    if event.kind == "sort":
        origin: dict[str, Any] = {"source": event.source, "asked": True, "when": event.when}
        return tuple(replace(fact, **origin) for fact in event.facts)
    if event.first is None or event.second is None or event.answer is None:
        raise SessionDamagedError(
            f"Event {event.number} of the session ({event.kind}) has no pair or no answer"
        )
    is_asked = event.kind == "answer" and event.gold is None
    return (
        Fact(event.first, event.second, event.answer, event.source, is_asked, event.when, event.reliability),
    )


def evidence_of(n_rows: int, events: Sequence[Event], error_rate: AssumedRate = 0) -> Evidence:
    """The evidence that settled events give if a share of the answers may be wrong."""
    evidence = make_evidence(n_rows, None, error_rate)
    for event in events:
        try:
            add_event(evidence, event)
        except (ConstraintError, TypeError) as error:  # no session writes such an event
            raise SessionDamagedError(
                f"Event {event.number} of the session is wrong. {strip_full_stop(error)}"
            ) from error
    return evidence


def add_event(evidence: Evidence, event: Event) -> None:
    """Add the facts of a settled event. If answers may be wrong, its certain facts become constraints."""
    if isinstance(evidence, FallibleEvidence):
        certain = certain_facts(event)
        if certain:
            evidence.add_constraints(constraints_of(evidence.n_rows, certain))
    sorting = event.sorting
    if sorting is not None:
        for row in sorting.order:
            evidence.add_sorted(sorting, row, source=event.source, when=event.when)
        return
    for fact in fallible_facts(event) if evidence.is_fallible else facts_of(event):
        evidence.add(
            *fact.pair,
            fact.answer,
            asked=fact.asked,
            source=fact.source,
            when=fact.when,
            reliability=fact.reliability,
        )


def certain_facts(event: Event, error_rate: AssumedRate = None) -> tuple[Fact, ...]:
    """The facts of a settled event that are right even if answers may be wrong."""
    is_certain = event.is_sure or event.kind in WITH_FACTS
    if not is_certain and rate_of_source(error_rate, event.source) != 0:
        return ()
    return tuple(fact for fact in facts_of(event) if fact.answer != "unsure")


def fallible_facts(event: Event) -> tuple[Fact, ...]:
    """The facts of a settled event that count as answers.

    An answer that is certain is among them: it answers a question, too.
    """
    if event.sorting is not None:
        return tuple(event.sorting.shared_facts())
    facts = facts_of(event)
    if event.kind in WITH_FACTS:
        return tuple(fact for fact in facts if fact.answer == "unsure")
    return facts


def certain_evidence_of(n_rows: int, events: Sequence[Event], error_rate: AssumedRate = None) -> Evidence:
    """The certain facts of settled events alone, in a session whose answers may be wrong."""
    evidence = Evidence(n_rows)
    for event in events:
        for fact in certain_facts(event, error_rate):
            evidence.add(*fact.pair, fact.answer)
    return evidence


def constraints_of(n_rows: int, facts: Sequence[Fact]) -> Constraints:
    """The constraints that yes and no facts give."""
    pairs = {answer: [fact.pair for fact in facts if fact.answer == answer] for answer in ("yes", "no")}
    return Constraints(n_rows, pairs["yes"], pairs["no"])


@contextmanager
def name_rows_by_id(ids: Sequence[str] | None, message: str = CONTRADICTION) -> Iterator[None]:
    """Name the rows of a contradiction by the ids that the person knows, in a message that has its place."""
    try:
        yield
    except InfeasibleConstraintsError as error:
        if not error.chain:
            raise
        words = format_chain(error.chain, str if ids is None else ids.__getitem__)
        raise InfeasibleConstraintsError(message.format(words), error.chain) from None
