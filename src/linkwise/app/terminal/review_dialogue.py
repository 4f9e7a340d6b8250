"""The dialogue with a reviewer: the pairs on which answers disagree or are probably wrong, one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.text import Text

from linkwise.app.terminal import screen
from linkwise.app.terminal.console import (
    LEAST_LINES,
    LINES_AROUND,
    MOST_LINES,
    UNNAMED,
    PairView,
    draw_note,
    event_in_words,
    note_in_words,
    suspect_in_words,
)
from linkwise.app.terminal.draft import Draft, take_note
from linkwise.app.terminal.keys import NEITHER_KEY, Reader, asks_for_guidelines, parse_command, parse_note
from linkwise.app.terminal.protocol import card_as_json, emit, event_as_json, examples_as_json, state
from linkwise.app.terminal.sorting_dialogue import draw_cards
from linkwise.data import Items
from linkwise.errors import InfeasibleConstraintsError, SessionError
from linkwise.learn.learner import Question
from linkwise.session.journal.events import Event, Example
from linkwise.session.session import Session
from linkwise.session.state.event_lists import write_guidelines
from linkwise.session.state.status import count_answers, count_suspects
from linkwise.session.state.suspects import SuspectAnswer
from linkwise.session.team.team import Decision, ReviewCase
from linkwise.wording import NOTHING_TO_UNDO, QUESTION, answer_word, count_noun, strip_controls

Ending = Literal["exhausted", "quit"]
ENDS: dict[Ending, str] = {"exhausted": "No pair needs a review.", "quit": "Stopped."}
CERTAIN = "This session treats every answer as correct, so no pair needs a review."
KEYS = (
    ("y", "Same: the two rows belong together, and this is certain from now on"),
    ("n", "Different: they do not, and this is certain from now on"),
    ("s", "Not sure: decide nothing; the review does not show you this pair again"),
    ("a", "Add a note to your decision; a note without words removes it"),
    ("u", "Undo your last decision, as often as you like"),
    ("q", "Quit; every decision is saved, and you can go on later"),
)
MOST_SHOWN = 3  # rows of a pile
CARD_QUESTION = "Where does the card ? belong: with the rows y, where it is now, or with the rows n?"
CARD_WORDS: dict[Decision, str] = {
    "yes": "It stays",
    "no": "It moves",
    "neither": "It belongs to neither",
    "unsure": "Not sure",
}
CARD_HELP = (
    "A card of a screen may lie in a wrong pile: y leaves it there, n moves it to the rows n, or to a pile "
    "of its own if there are none, and x says that it belongs to neither."
)
WHY = "Why this pair: answers disagree, or one of them is probably wrong. Your word outranks them."


class ReviewDisplay(Protocol):
    """Shows a review: a screen, or a stream of JSON."""

    def show_case(self, case: ReviewCase, question: Question, n_left: int) -> None:
        """Show a pair, and who answered what and when."""

    def prompt(self) -> None:
        """Show that the reviewer can type now."""

    def confirm_decision(self, answer: Decision, case: ReviewCase, session: Session) -> None:
        """Show that a decision is stored."""

    def confirm_undo(self, event: Event | None, session: Session) -> None:
        """Show which decision is undone; None if there is none."""

    def confirm_note(self, note: str) -> None:
        """Show the note that goes with the decision; empty if it is removed."""

    def show_guidelines(self, guidelines: str, examples: Sequence[Example]) -> None:
        """Show what "belong together" means in this session."""

    def reject(self, why: str) -> None:
        """Show why a command stores nothing."""

    def help(self) -> None:
        """Show the commands."""

    def end(self, reason: Ending, session: Session) -> None:
        """Show the end."""


def run_review(session: Session, display: ReviewDisplay, reader: Reader, reviewer: str) -> Ending:
    """Show one pair after the other until none is left or the reviewer stops; the end of input means quit.

    `reviewer` is the source of the decisions.
    """
    decided: list[int] = []
    draft = Draft(time.monotonic, is_timed=False)
    while True:
        reader.forget()
        cases = session.review(reviewer)
        if not cases:
            display.end("exhausted", session)
            return "exhausted"
        case = cases[0]
        lost = draft.begin(f"{case.first}-{case.second}")
        if lost:
            display.reject(f"Its pair was not decided, so this note has no place: {lost}")
        display.show_case(case, _make_question(session, case), len(cases))
        command = _read_command(session, display, reader, draft, case)
        if command == "quit":
            display.end("quit", session)
            return "quit"
        try:
            if command == "undo":
                display.confirm_undo(session.undo(decided.pop()) if decided else None, session)
            else:
                for each in case.resolve(command):
                    decided.append(session.decide(*each, source=reviewer, note=draft.note))
                draft.finish()
                display.confirm_decision(command, case, session)
        except InfeasibleConstraintsError as error:
            display.reject(str(error))
        except SessionError as error:
            if type(error) is not SessionError:  # locked or damaged: the review cannot go on
                raise
            display.reject(str(error))


def _make_question(session: Session, case: ReviewCase) -> Question:
    return Question(case.first, case.second, session.labels, WHY)


def _read_command(
    session: Session, display: ReviewDisplay, reader: Reader, draft: Draft, case: ReviewCase
) -> Decision | Literal["undo", "quit"]:
    while True:
        display.prompt()
        text = reader.read()
        command = "quit" if text is None else parse_command(text)
        if (text or "").lower() in (NEITHER_KEY, "neither") and "neither" in case.decisions:
            return "neither"
        if command == "help":
            display.help()
        elif command == "later":
            display.reject("A review has no key for later. Type s if you are not sure.")
        elif command is not None:
            return command
        elif (note := parse_note(text or "")) is not None:
            take_note(display, draft, note)
        elif (
            asks_for_guidelines(text or "") and (now := session.snapshot) and (now.guidelines or now.examples)
        ):
            display.show_guidelines(session.guidelines, session.examples)
        else:
            shown = repr(text) if text and text.isprintable() else "this key"
            display.reject(f"{shown} is not an answer. Type y, n, s, u, q or ?.")


def _list_card_keys(case: ReviewCase) -> str:
    neither = "x neither  " if "neither" in case.decisions else ""
    return f"y it stays  n it moves  {neither}s not sure  u undo  q quit  ? help"


def describe_opinions(case: ReviewCase, name_of: Callable[[int], str]) -> list[str]:
    """Put into words who answered what and when, what is believed, and what speaks against it."""
    lines = [
        f"{strip_controls(event.source) or UNNAMED}: "
        f"{'sorted these rows' if event.kind == 'sort' else answer_word(event.answer)}, "
        f"{event.when[:10]} {event.when[11:16]} UTC{note_in_words(event)}"
        for event in case.answers
    ]
    lines += [suspect_in_words(suspect, name_of) for suspect in case.suspects]
    if case.believed is not None and case.misplaced is None:
        lines.append(f"By all answers: {answer_word(case.believed)}")
    return lines


class ReviewTerminal:
    """Draws a review with rich.

    ``pair(question, width, lines)`` draws the two items, and `items` are what a person sees of the rows.
    `undo` is the command that takes the last decision back.
    """

    def __init__(
        self, console: Console, pair: PairView, name_of: Callable[[int], str], undo: str, items: Items
    ) -> None:
        self.console, self.pair, self.name_of, self.undo, self.items = console, pair, name_of, undo, items
        self._has_decided = False

    def show_case(self, case: ReviewCase, question: Question, n_left: int) -> None:
        """Show the pair, and who answered what and when."""
        opinions = describe_opinions(case, self.name_of)
        room = self.console.height - LINES_AROUND - len(opinions)
        self._show(Text())
        noun = "pair" if case.misplaced is None else "case"
        heading = Text.assemble((f"Review: {count_noun(n_left, noun)} left", "bold"))
        self._show(Rule(heading, align="left", style="dim"))
        if case.misplaced is None:
            self._show(Text(QUESTION))
            self._show(Text())
            self._show(self.pair(question, self.console.width, min(MOST_LINES, max(LEAST_LINES, room))))
        else:
            self._show(Text(CARD_QUESTION))
            self._show(self._draw_card(case.misplaced))
        self._show(Text())
        self._show(screen.draw_listing([("·", line) for line in opinions]))
        self._show(Text())
        self._show(screen.keys_line() if case.misplaced is None else Text(_list_card_keys(case), style="dim"))

    def _draw_card(self, suspect: SuspectAnswer) -> RenderableType:
        """Draw a card, and a few rows of its pile and of the better one, each with its key."""
        piles = (("y", suspect.pile), ("n", suspect.better_pile))
        shown = [("?", suspect.first), *((key, row) for key, rows in piles for row in rows[:MOST_SHOWN])]
        marks, rows = zip(*shown, strict=True)
        return draw_cards(self.items, rows, marks, self.name_of, self.console)

    def prompt(self) -> None:
        """Show the prompt."""
        self.console.print("> ", end="", highlight=False)
        self.console.file.flush()

    def confirm_decision(self, answer: Decision, case: ReviewCase, session: Session) -> None:
        """Show the decision."""
        self._has_decided = True
        certain = "" if answer == "unsure" else "  certain from now on"
        word = answer_word(answer) if case.misplaced is None else CARD_WORDS[answer]
        self._show(Text.assemble((word, "bold"), "  saved", certain))

    def confirm_undo(self, event: Event | None, session: Session) -> None:
        """Show which decision is undone."""
        if event is None:
            self._show(Text(f"undo  {NOTHING_TO_UNDO}"))
        else:
            self._show(
                Text.assemble(("undo", "bold"), f"  taken back: {event_in_words(event, self.name_of)}")
            )

    def confirm_note(self, note: str) -> None:
        """Show the note that goes with the decision."""
        self._show(draw_note(note, "decision"))

    def show_guidelines(self, guidelines: str, examples: Sequence[Example]) -> None:
        """Show what "belong together" means in this session."""
        self._show(screen.draw_guidelines(write_guidelines(guidelines, examples, self.name_of)))

    def reject(self, why: str) -> None:
        """Show why nothing is saved."""
        self._show(Text(f"Not saved. {why}", style="yellow"))

    def help(self) -> None:
        """Show the keys."""
        self._show(screen.draw_listing(KEYS))
        self._show(Text(WHY))
        self._show(Text(CARD_HELP))

    def end(self, reason: Ending, session: Session) -> None:
        """Show what is left."""
        status = session.status
        self._show(Text())
        self._show(Text(ENDS[reason] if status.is_fallible else CERTAIN, style="bold"))
        self._show(Text(count_answers(status)))
        if status.is_fallible:
            self._show(Text(count_suspects(status)))
        for line in screen.list_next_steps([("take back the last decision", self.undo)] * self._has_decided):
            self.console.print(line, soft_wrap=True, highlight=False)  # a command must survive copying

    def _show(self, content: RenderableType) -> None:
        self.console.print(content, highlight=False)


class ReviewLines:
    """Writes a review as JSON lines.

    ``case``: ids and rows of the pair, both items, who answered what and when. ``state`` and ``refused``
    are those of the questions (`linkwise.app.terminal.protocol`), and ``summary`` is the end.
    """

    def __init__(self, item: Callable[[int], dict[str, Any]], id_of: Callable[[int], str]) -> None:
        self.item, self.id_of = item, id_of

    def show_case(self, case: ReviewCase, question: Question, n_left: int) -> None:
        """Write one pair."""
        rows = [case.first, case.second]
        emit(
            type="case",
            rows=rows,
            ids=[self.id_of(row) for row in rows],
            items=[self.item(row) for row in rows],
            answers=[event_as_json(event, self.id_of) for event in case.answers],
            suspects=[
                {"event": s.number, "grade": s.grade, **card_as_json(s, self.id_of)} for s in case.suspects
            ],
            disputed=case.is_disputed,
            believed=case.believed,
            left=n_left,
        )

    def prompt(self) -> None:
        """Write nothing: a program needs no prompt."""

    def confirm_decision(self, answer: Decision, case: ReviewCase, session: Session) -> None:
        """Write the state after a decision."""
        emit(type="state", done=answer, **state(session.status))

    def confirm_undo(self, event: Event | None, session: Session) -> None:
        """Write the state after an undo."""
        undone = None if event is None else event_as_json(event, self.id_of)
        emit(type="state", done="undo", undone=undone, **state(session.status))

    def confirm_note(self, note: str) -> None:
        """Write the note that goes with the decision."""
        emit(type="note", text=note)

    def show_guidelines(self, guidelines: str, examples: Sequence[Example]) -> None:
        """Write what "belong together" means in this session."""
        emit(type="guidelines", text=guidelines, **examples_as_json(examples, self.id_of))

    def reject(self, why: str) -> None:
        """Write why nothing is stored."""
        emit(type="refused", why=why)

    def help(self) -> None:
        """Write nothing: the keys are for people."""

    def end(self, reason: Ending, session: Session) -> None:
        """Write the summary."""
        emit(type="summary", reason=reason, **state(session.status))
