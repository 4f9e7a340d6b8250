"""The settings of a session: guidelines, examples, audits, costs, the learner and the error rate.

They follow from events. Each event holds a whole value, so an undo brings the earlier value back. Costs are
summed. Of audits, the last one counts for each two who audit and are audited.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from linkwise.constraints.error_rates import AssumedRate
from linkwise.errors import DataMismatchError
from linkwise.session.journal.events import (
    MOST_EXAMPLES,
    SETTINGS,
    AuditPlan,
    Event,
    Example,
    read_examples,
    read_plan,
    write_plan,
)
from linkwise.wording import answer_word, strip_full_stop


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
