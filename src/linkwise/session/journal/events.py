"""The events of a session, what they hold, and the checks that it passes before it is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import Any, Literal, NamedTuple

from linkwise.constraints.checks import check_row
from linkwise.constraints.error_rates import AssumedRate
from linkwise.constraints.facts import Answer, Fact, check_answer, check_reliability
from linkwise.constraints.fallible import check_error_rate
from linkwise.constraints.sorting import Sorting, read_sorting
from linkwise.errors import ConstraintError, SessionError, short_repr
from linkwise.text_files import is_unicode

EventKind = Literal[
    "answer", "sort", "add", "import", "move", "done", "name", "change", "sure", "note", "undo",
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
        What it is: the ``"answer"`` to a question, rows that were sorted into piles (``"sort"``), a
        volunteered pair (``"add"``), an ``"import"`` of pairs,
        a ``"move"`` of rows to another cluster, a cluster that is ``"done"``, a ``"name"`` for a cluster, the
        ``"change"`` of an earlier answer, the confirmation that one is right (``"sure"``), a later ``"note"``
        on one, or the ``"undo"`` of an event.
        Of what is not about pairs: the ``"guidelines"``, the ``"examples"``, the pairs of an ``"audit"``, a
        ``"cost"``, another ``"learner"`` or another error ``"rate"``.
    when : str
        UTC, ISO 8601.
    first, second : int or None
        The rows of an answer or a volunteered pair; for a cluster that is named or done, and for rows that
        are moved, `first` alone is one of the rows.
    answer : {"yes", "no", "unsure"} or None
        For a change it is the new answer, for a confirmation the confirmed one.
    target : int or None
        Number of the event that is changed, confirmed, noted or undone.
    facts : tuple of Fact
        The pairs of an import, of rows that are moved, or of a cluster that is done; of rows that are sorted,
        the least set from which all others follow (see `linkwise.constraints.sorting`); of a volunteered pair
        that is certain, the pair.
    source : str
        The file of an import, the name of a cluster, who gave an answer, a volunteered pair or a note, who
        moved rows, or whose answers an audit or a cost is about.
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
        What guidelines, examples, an audit, a cost, a learner or a rate are from then on, as JSON has it. Of
        rows that are sorted, the list of those whose place was decided; the others had one before.
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
    def sorting(self) -> Sorting | None:
        """The piles of rows that were sorted; None of all other events."""
        return read_sorting(self.facts, self.value) if self.kind == "sort" else None

    @property
    def names_rows(self) -> bool:
        """Whether it says something of certain rows."""
        is_about_rows = self.kind in ("examples", "audit") and bool(self.value)
        return self.first is not None or len(self.facts) > 0 or is_about_rows


REVISIONS: tuple[EventKind, ...] = ("change", "sure")  # events about the answer of an earlier one
WITH_TARGET: tuple[EventKind, ...] = (*REVISIONS, "note")  # events about an earlier one, less the undo
SETTINGS: tuple[EventKind, ...] = ("guidelines", "examples", "audit", "cost", "learner", "rate")
ANSWERS_QUESTION: tuple[EventKind, ...] = ("answer", "sort")
"""Each of these answers a question: about a pair, or about several rows at once."""
WITH_FACTS: tuple[EventKind, ...] = ("import", "move", "done")
"""Each of these holds several pairs, which are certain."""
ABOUT_PAIRS: tuple[EventKind, ...] = (*ANSWERS_QUESTION, "add", *WITH_FACTS)
ASIDE: tuple[EventKind, ...] = ("name", "note", "guidelines", "examples", "audit", "cost")
"""No question depends on these."""
WAITING: tuple[EventKind, ...] = ("add", "import", "guidelines", "examples", "audit", "cost")
"""Of these the learner need not hear until somebody reads."""
LASTING: tuple[EventKind, ...] = ("cost", "audit")
"""These have happened and cannot be undone."""


def hold_sorting(event: Event, sorting: Sorting) -> Event:
    """The same event with the pairs and the cards of a sorting."""
    return replace(event, facts=tuple(sorting.facts()), value=list(sorting.cards))


def has_value(event: Event) -> bool:
    """Whether an event stores a value, which may be None: it is about settings, or about sorted rows."""
    return event.kind in SETTINGS or event.value is not None


# ---------------------------------------------------------------- what events hold beside pairs
MOST_NOTE = 2_000  # characters
MOST_SECONDS = 1_000_000_000  # thirty years
MOST_GUIDELINES = 10_000  # characters
MOST_EXAMPLES = 30  # in one session: everybody reads them, and a program gets them with each question
Pair = tuple[int, int]


# ---------------------------------------------------------------- beside answers
def check_source(source: object) -> str:
    """The name of a person or a program that answers, without superfluous spaces."""
    if not isinstance(source, str):
        raise TypeError(f"The source of an answer is not text: {short_repr(source)}. Pass its name.")
    if not is_unicode(source):
        raise SessionError(
            f"The source {source!a} is not valid Unicode: it holds half a character. Type it again."
        )
    return " ".join(source.split())


def check_rates(error_rate: object) -> AssumedRate:
    """The share of wrong answers of each source, by the name that `check_source` gives it."""
    if not isinstance(error_rate, Mapping):
        return check_error_rate(error_rate)
    shares: dict[object, object] = {}
    for source, share in error_rate.items():
        name = check_source(source) if isinstance(source, str) else source
        if name in shares:
            raise ValueError(f"error_rate has two entries for the source {name!r}. Use one.")
        shares[name] = share
    return check_error_rate(shares)


def check_note(note: object) -> str:
    """Check a note, and return it without spaces around it and with plain line breaks."""
    if not isinstance(note, str):
        raise TypeError(f"The note is not text: {short_repr(note)}. Pass text.")
    if not is_unicode(note):
        raise SessionError("The note is not valid Unicode: it holds half a character. Type it again.")
    lines = _plain_lines(note)
    if len(lines) > MOST_NOTE:
        raise SessionError(f"The note has {len(lines)} characters. Shorten it to {MOST_NOTE} or fewer.")
    return lines


def check_seconds(seconds: object) -> float | None:
    """Check the seconds that an answer took, and round them to milliseconds; None if they are unknown."""
    if seconds is None:
        return None
    if not isinstance(seconds, Real) or isinstance(seconds, bool):
        raise TypeError(f"seconds is not a number: {short_repr(seconds)}. Pass a number, or None.")
    duration: Any = seconds
    if not 0 <= duration <= MOST_SECONDS:  # NaN is refused, too
        raise ValueError(
            f"seconds is {short_repr(seconds)}. Pass a number from 0 to {MOST_SECONDS}, or None."
        )
    return round(float(seconds), 3)


BESIDE: dict[str, Callable[[object], Any]] = {
    "seconds": check_seconds,
    "note": check_note,
    "reliability": partial(check_reliability, answer="yes"),
}
"""What is stored beside an answer, each with its check: fields of `Event`, and columns of its table in order.

Files of answers, JSON and the page have all of them.
"""


def beside_answer(event: Event) -> dict[str, Any]:
    """What is stored beside an answer, by its name."""
    return {name: getattr(event, name) for name in BESIDE}


def shorten_note(text: str) -> str:
    """Make a note of any text of a program: escape half characters, and cut what is too long."""
    plain = _plain_lines(text.encode(errors="backslashreplace").decode())
    return plain if len(plain) <= MOST_NOTE else f"{plain[: MOST_NOTE - 2].rstrip()} …"


# ---------------------------------------------------------------- guidelines and examples
def check_guidelines(text: object) -> str:
    """Check guidelines, and return them without spaces around them and with plain line breaks."""
    if not isinstance(text, str):
        raise TypeError(f"The guidelines are a {type(text).__name__}. Pass text.")
    if not is_unicode(text):
        raise SessionError("The guidelines are not valid Unicode: they hold half a character. Type it again.")
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    if len(lines) > MOST_GUIDELINES:
        raise SessionError(
            f"The guidelines have {len(lines)} characters. Shorten them to {MOST_GUIDELINES} or fewer."
        )
    return lines


def _plain_lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


class Example(NamedTuple):
    """A pair that shows what belongs together. It counts as no answer.

    Attributes
    ----------
    first, second : int
        Positions of the two rows.
    answer : {"yes", "no"}
        Whether they belong together.
    reason : str, default=""
        Why, for whoever reads it.
    """

    first: int
    second: int
    answer: Answer
    reason: str = ""


def check_example(example: object, n_rows: int) -> Example:
    """Check a tuple of two rows, an answer and perhaps a reason."""
    if not isinstance(example, (tuple, list)) or len(example) not in (3, 4):
        raise TypeError(
            f"An example is not a tuple of three or four: {short_repr(example)}. "
            "Pass (first, second, answer) or (first, second, answer, reason)."
        )
    first, second = (check_row(row, n_rows) for row in example[:2])
    if first == second:
        raise ConstraintError(f"Row {first} is compared with itself. Pass two different rows.")
    answer = check_answer(example[2], first, second)
    if answer == "unsure":
        raise TypeError(
            f"The example about rows {first} and {second} is 'unsure', which shows nothing. "
            "Pass 'yes' or 'no'."
        )
    return Example(first, second, answer, check_note(example[3]) if len(example) == 4 else "")


def drop_repeated(examples: Iterable[Example]) -> list[Example]:
    """Keep the last example about each pair."""
    by_pair: dict[frozenset[int], Example] = {}
    for example in examples:
        by_pair.pop(frozenset(example[:2]), None)
        by_pair[frozenset(example[:2])] = example
    if len(by_pair) > MOST_EXAMPLES:
        raise SessionError(
            f"These would be {len(by_pair)} examples, and a session has up to {MOST_EXAMPLES}. "
            "Remove others first."
        )
    return list(by_pair.values())


def read_examples(event: Event) -> tuple[Example, ...]:
    """The examples that an event lists."""
    return tuple(Example(*fields) for fields in event.value)


# ---------------------------------------------------------------- audits
class AuditPlan(NamedTuple):
    """The pairs of an audit of `source`, which `by` answers, in the order in which they are asked.

    Each has its lower row first. `after` is the number of the last event when the pairs were chosen.
    Those that are not doubtful were drawn at random.
    """

    source: str
    by: str
    after: int
    pairs: tuple[Pair, ...]
    is_doubtful: tuple[bool, ...]


def read_plan(event: Event) -> AuditPlan:
    """The audit that an event begins; its pairs were chosen after the event before it."""
    pairs = tuple((i, j) for i, j in event.value["pairs"])
    return AuditPlan(event.source, event.value["by"], event.number - 1, pairs, tuple(event.value["doubtful"]))


def write_plan(plan: AuditPlan) -> dict[str, Any]:
    """The value of the event that begins an audit."""
    return {"by": plan.by, "pairs": [list(pair) for pair in plan.pairs], "doubtful": list(plan.is_doubtful)}
