"""The events of a session, which of them still count, and the evidence that they give."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from linkwise.constraints.facts import Answer, Fact

EventKind = Literal[
    "answer", "add", "import", "done", "name", "change", "sure", "note", "undo",
    "guidelines", "examples", "audit", "cost", "learner", "rate",
]  # fmt: skip


class Place(NamedTuple):
    """The place of a question among all questions.

    Attributes
    ----------
    start : int
        Number of the last event on which questions depend when the question was chosen.
    position : int
        Position among the questions that were chosen then; 0 is the question of `Session.question`.
    """

    start: int
    position: int


@dataclass(frozen=True, slots=True)
class Event:
    """One action of a person, or of a program on their behalf.

    Attributes
    ----------
    number : int
        Position in the session, from 1.
    kind : str
        What it is: the ``"answer"`` to a question, a volunteered pair (``"add"``), an ``"import"`` of pairs,
        a cluster that is ``"done"``, a ``"name"`` for a cluster, the ``"change"`` of an earlier answer, the
        confirmation that one is right (``"sure"``), a later ``"note"`` on one, or the ``"undo"`` of an event.
        Of what is not about pairs: the ``"guidelines"``, the ``"examples"``, the pairs of an ``"audit"``, a
        ``"cost"``, another ``"learner"`` or another error ``"rate"``.
    when : str
        UTC, ISO 8601.
    first, second : int or None
        The rows of an answer or a volunteered pair; for a cluster that is named or done, `first` alone is
        a row of it.
    answer : {"yes", "no", "unsure"} or None
        For a change it is the new answer, for a confirmation the confirmed one.
    target : int or None
        Number of the event that is changed, confirmed, noted or undone.
    facts : tuple of Fact
        The pairs of an import, or of a cluster that is done; of a volunteered pair that is certain, the pair.
    source : str
        The file of an import, the name of a cluster, who gave an answer, a volunteered pair or a note, or
        whose answers an audit or a cost is about.
    is_sure : bool
        Whether the answer is certain in a session whose answers may be wrong. Only a settled event has it
        (see `settle_events`).
    place : Place or None
        The place of the question that an answer answers, if the question was one of several that were open
        at the same time.
    gold : {"yes", "no"} or None
        The right answer, if the question was about a pair that was imported before it was asked. Only a
        settled event has it.
    seconds : float or None
        How long an answer took, from the moment when the question was shown; None if that is unknown.
    note : str
        What was written about an answer or a volunteered pair; empty if nothing was. A settled event has the
        latest note. Events that differ in `seconds`, `note` and `note_source` alone are equal.
    note_source : str or None
        Who wrote the note, if it was written later than the answer. Only a settled event has it.
    reliability : float or None
        The probability that an answer is right, by its source, from 0.5 to 1; None if it gave none. A settled
        event whose answer was changed has none.
    value : object
        What guidelines, examples, an audit, a cost, a learner or a rate are from then on, as JSON has it.
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
    is_sure: bool = False
    place: Place | None = None
    gold: Answer | None = None
    seconds: float | None = field(default=None, compare=False)
    note: str = field(default="", compare=False)
    note_source: str | None = field(default=None, compare=False)
    reliability: float | None = None
    value: Any = field(default=None, hash=False)

    @property
    def note_author(self) -> str:
        """Who wrote the note; empty if that is unknown."""
        return self.source if self.note_source is None else self.note_source

    @property
    def can_wait(self) -> bool:
        """Whether the learner need not hear of it before somebody reads what follows.

        Such events may come many at a time: pairs, and answers to several open questions.
        """
        return self.kind in WAITING or self.place is not None

    @property
    def names_rows(self) -> bool:
        """Whether it says something of certain rows."""
        is_about_rows = self.kind in ("examples", "audit") and bool(self.value)
        return self.first is not None or len(self.facts) > 0 or is_about_rows


REVISIONS: tuple[EventKind, ...] = ("change", "sure")  # events about the answer of an earlier one
WITH_TARGET: tuple[EventKind, ...] = (*REVISIONS, "note")  # events about an earlier one, less the undo
SETTINGS: tuple[EventKind, ...] = ("guidelines", "examples", "audit", "cost", "learner", "rate")
ABOUT_PAIRS: tuple[EventKind, ...] = ("answer", "add", "import", "done")
ASIDE: tuple[EventKind, ...] = ("name", "note", "guidelines", "examples", "audit", "cost")
"""No question depends on these."""
WAITING: tuple[EventKind, ...] = ("add", "import", "guidelines", "examples", "audit", "cost")
"""Of these the learner need not hear until somebody reads."""
LASTING: tuple[EventKind, ...] = ("cost", "audit")
"""These have happened and cannot be undone."""
