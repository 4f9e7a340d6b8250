"""The dialogue between a session and a person.

It depends on neither screen nor keys: a `Display` shows it, and a `Reader` reads the commands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import monotonic
from typing import Any, Literal, Protocol

from linkwise.app.terminal.draft import Draft, take_note
from linkwise.app.terminal.keys import (
    COLUMNS_KEY,
    Reader,
    SuspectCommand,
    asks_for_guidelines,
    parse_cluster_command,
    parse_command,
    parse_note,
    parse_suspect_command,
)
from linkwise.constraints.facts import Answer
from linkwise.errors import InfeasibleConstraintsError, SessionError, StaleAnswerError
from linkwise.learn.learner import Question
from linkwise.session.journal.events import Event, Example
from linkwise.session.session import Session, Status
from linkwise.session.snapshot import Snapshot
from linkwise.session.state.moves import describe_moves, find_moves
from linkwise.session.state.suspects import SuspectAnswer
from linkwise.types import Labels
from linkwise.wording import STALE_ANSWER

Ending = Literal["exhausted", "budget", "quit"]
Revision = Literal["turn", "sure"]
SUSPECT_FORMS = "Type suspects, or suspects with back, turn or sure and a number, such as suspects back 3."
Clock = Callable[[], float]
BusyContext = Callable[[], AbstractContextManager[Any]]


class ColumnChoice(Protocol):
    """Proposes weights of columns, or other columns, by the answers, and applies them."""

    def update(self) -> None:
        """Compute a proposal."""

    def announce(self) -> None:
        """Show a proposal that is new."""

    def press(self) -> None:
        """Apply what is proposed, or take weights back, and show what came of it."""


class RejectingDisplay(Protocol):
    """Shows why something is not stored."""

    def reject(self, why: str) -> None:
        """Show why a command stores nothing."""


class Display(Protocol):
    """Shows the dialogue: a screen, or a stream of JSON."""

    def ask(self, question: Question, question_id: str, status: Status) -> None:
        """Show a question and its identifier (see ``Session.question_id``)."""

    def prompt(self) -> None:
        """Show that the person can type now."""

    def confirm_answer(self, answer: Answer, status: Status, moved: str) -> None:
        """Show that an answer is safely stored, and which rows it moved."""

    def confirm_later(self, *, has_other: bool) -> None:
        """Show that a question comes back after others, or that there is no other."""

    def confirm_undo(self, event: Event | None, status: Status, moved: str) -> None:
        """Show which event is undone, and which rows that moved; None if there is nothing to undo."""

    def reject(self, why: str) -> None:
        """Show why a command stores nothing."""

    def help(self, question: Question) -> None:
        """Show the commands, and the reason of the question."""

    def show_clusters(self, wanted: str, labels: Labels, names: Mapping[int, str]) -> None:
        """Show the largest clusters, a range of them, or those that a text finds."""

    def show_guidelines(self, guidelines: str, examples: Sequence[Example]) -> None:
        """Show what "belong together" means in this session."""

    def confirm_note(self, note: str) -> None:
        """Show the note that goes with the answer to the present question; empty if it is removed."""

    def show_suspects(self, suspects: Sequence[SuspectAnswer], status: Status) -> None:
        """Show the answers that are probably wrong."""

    def confirm_revision(self, action: Revision, suspect: SuspectAnswer, status: Status, moved: str) -> None:
        """Show that a suspect is turned round or confirmed, and which rows that moved."""

    def end(self, reason: Ending, status: Status) -> None:
        """Show the end."""


def run_dialogue(
    session: Session,
    display: Display,
    reader: Reader,
    *,
    budget: int | None = None,
    busy: BusyContext = nullcontext,
    clock: Clock = monotonic,
    columns: ColumnChoice | None = None,
) -> Ending:
    """Ask until the person stops, the budget is used up, or nothing is left to ask.

    The session may hold at most `budget` answers. `busy` gives a context manager for work that may take a
    while, to show progress, and `clock` the time in seconds. `columns` proposes other weights or other
    columns. The end of input counts as quitting.
    """
    draft = Draft(clock, is_timed=reader.is_timed)
    while True:
        reader.forget()
        now = session.snapshot
        status, (question_id, question) = now.status, _find_question(session, now)
        if question is None or question_id is None:
            return _finish(display, "exhausted", status, draft)
        if budget is not None and status.n_answers >= budget:
            return _finish(display, "budget", status, draft)
        _show_question(display, draft, question, question_id, status, columns)
        has_columns = columns is not None
        while (command := _read_command(display, reader, session, draft, has_columns=has_columns)) == "help":
            display.help(question)
        if command == "quit":
            return _finish(display, "quit", session.status, draft)
        if command == "columns":
            if columns is not None:
                with busy():
                    columns.press()
            continue
        with reject_errors(display, "This is the current question."):
            before = session.snapshot
            if command == "later":
                with busy():
                    session.postpone(question_id)
                    _find_question(session, before)  # it comes back at once if there is no other
                    has_other = bool(session.list_postponed())
                display.confirm_later(has_other=has_other)
            elif command == "undo":
                with busy():
                    undone = session.undo()
                display.confirm_undo(undone, *compare_clusters(session, before))
            elif isinstance(command, SuspectCommand):
                _revise(session, display, command, busy)
            else:
                with busy():
                    session.answer(command, question_id=question_id, **draft.remark())
                draft.finish()
                display.confirm_answer(command, *compare_clusters(session, before))


def run_audit(
    session: Session,
    display: Display,
    reader: Reader,
    source: str,
    n: int,
    *,
    busy: BusyContext = nullcontext,
    clock: Clock = monotonic,
) -> Ending:
    """Ask a person up to n pairs that the program `source` answered.

    See `Session.audit` and `run_dialogue`.
    """
    given: list[int] = []  # numbers of the events of this audit
    draft = Draft(clock, is_timed=reader.is_timed)
    while len(given) < n:
        reader.forget()
        with busy():
            open_pairs = session.audit(source, n - len(given))
        if not open_pairs:
            break
        asked = open_pairs[0]
        now = session.snapshot
        question = Question(asked.first, asked.second, now.labels, asked.why)
        display.ask(question, asked.id, now.status)
        _report_lost_note(display, draft.begin(asked.id))
        while (command := _read_command(display, reader, session, draft)) == "help":
            display.help(question)
        assert command != "columns", "an audit has no key for columns"
        if command == "later":
            display.reject("The pairs of an audit come in a fixed order.")
            continue
        if command == "quit":
            _report_lost_note(display, draft.note)
            return "quit"
        with reject_errors(display, "This is the next pair."):
            before = session.snapshot
            if command == "undo":
                with busy():
                    undone = session.undo(given[-1]) if given else None
                del given[-1:]
                display.confirm_undo(undone, *compare_clusters(session, before))
            elif isinstance(command, SuspectCommand):
                _revise(session, display, command, busy)
            else:
                with busy():
                    session.answer(command, question_id=asked.id, **draft.remark())
                draft.finish()
                given.append(_find_last_answer(session, asked.first, asked.second))
                display.confirm_answer(command, *compare_clusters(session, before))
    _report_lost_note(display, draft.note)
    return "exhausted"


def _find_question(session: Session, now: Snapshot) -> tuple[str | None, Question | None]:
    """The identifier and the question to ask now: another than the present one if that was put off."""
    if now.question is None or not session.list_postponed():
        return now.question_id, now.question
    found = session.questions(1)
    if not found:
        return now.question_id, now.question
    return found[0].id, Question(found[0].first, found[0].second, now.labels, found[0].why)


@contextmanager
def reject_errors(display: RejectingDisplay, now: str) -> Iterator[None]:
    """Show errors after which the dialogue goes on; `now` says what is shown then."""
    try:
        yield
    except StaleAnswerError:
        display.reject(f"{STALE_ANSWER} {now}")
    except InfeasibleConstraintsError as error:
        display.reject(str(error))
    except SessionError as error:
        if type(error) is not SessionError:  # locked or damaged: the dialogue cannot go on
            raise
        display.reject(str(error))


def _find_last_answer(session: Session, first: int, second: int) -> int:
    """The number of the last answer about two rows."""
    return next(
        event.number
        for event in reversed(session.history)
        if event.kind == "answer" and {event.first, event.second} == {first, second}
    )


def _revise(session: Session, display: Display, command: SuspectCommand, busy: BusyContext) -> None:
    """Take a suspect back, turn it round, or confirm it."""
    before = session.snapshot
    suspect = next((one for one in before.suspects if one.number == command.number), None)
    if suspect is None:
        display.reject(f"{command.number} is not the number of a suspect. Type suspects to list them.")
    elif command.action == "back":
        with busy():
            undone = session.undo(suspect.number)
        display.confirm_undo(undone, *compare_clusters(session, before))
    elif command.action == "turn":
        with busy():
            session.flip(suspect)
        display.confirm_revision("turn", suspect, *compare_clusters(session, before))
    else:
        with busy():
            if suspect.card is None:
                session.set_sure(suspect.number)
            else:
                session.decide(*suspect.stay)
        display.confirm_revision("sure", suspect, *compare_clusters(session, before))


def _show_question(
    display: Display,
    draft: Draft,
    question: Question,
    question_id: str,
    status: Status,
    columns: ColumnChoice | None,
) -> None:
    """Show what is new about columns, and the question; what the next one shows is computed meanwhile."""
    if columns is not None:
        columns.announce()
    display.ask(question, question_id, status)
    _report_lost_note(display, draft.begin(question_id))
    if columns is not None:
        columns.update()


def compare_clusters(session: Session, before: Snapshot) -> tuple[Status, str]:
    """The status of now, and which rows have moved since."""
    now = session.snapshot
    return now.status, describe_moves(find_moves(before.labels, now.labels), now.names)


def _read_command(
    display: Display, reader: Reader, session: Session, draft: Draft, *, has_columns: bool = False
) -> Answer | Literal["undo", "later", "quit", "help", "columns"] | SuspectCommand:
    """Read the next command; notes and lists are dealt with in between. The end of input means quit."""
    while True:
        display.prompt()
        text = reader.read()
        if text is None:
            return "quit"
        command = parse_command(text)
        if command is not None:
            return command
        if has_columns and text.strip().lower() == COLUMNS_KEY:
            return "columns"
        wanted = parse_cluster_command(text)
        if wanted is not None:
            now = session.snapshot
            display.show_clusters(wanted, now.labels, now.names)
            continue
        note = parse_note(text)
        if note is not None:
            take_note(display, draft, note)
            continue
        now = session.snapshot
        if asks_for_guidelines(text) and (now.guidelines or now.examples):
            display.show_guidelines(now.guidelines, now.examples)
            continue
        suspect = parse_suspect_command(text) if now.status.is_fallible else None
        if isinstance(suspect, str):
            display.reject(f"{suspect!r} is unknown. {SUSPECT_FORMS}")
            continue
        if suspect is not None and suspect.action == "list":
            display.show_suspects(now.suspects, now.status)
            continue
        if suspect is not None:
            return suspect
        shown = repr(text) if text.isprintable() and text else "this key"
        display.reject(f"{shown} is not an answer. Type y, n, s, u or q, or ? for all keys.")


def _report_lost_note(display: Display, note: str) -> None:
    """Show a note whose question is gone, so that its text is not lost."""
    if note:
        display.reject(f"Its question was not answered, so this note has no place: {note}")


def _finish(display: Display, reason: Ending, status: Status, draft: Draft) -> Ending:
    _report_lost_note(display, draft.note)
    display.end(reason, status)
    return reason
