"""The dialogue on a terminal, drawn with rich."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from linkwise.app.terminal import screen
from linkwise.app.terminal.cluster_query import list_clusters
from linkwise.app.terminal.dialogue import Ending, Revision
from linkwise.constraints.facts import Answer, Fact
from linkwise.learn.learner import Question
from linkwise.learn.pair_explanation import PairExplanation
from linkwise.session.journal.events import Event, Example
from linkwise.session.session import Status
from linkwise.session.state.event_lists import write_guidelines
from linkwise.session.state.status import count_suspects, describe_advice, describe_errors
from linkwise.session.state.suspects import OPPOSITE, SuspectAnswer, describe_card
from linkwise.types import Labels
from linkwise.wording import (
    NO_OTHER_QUESTION,
    NOTHING_TO_UNDO,
    POSTPONED,
    QUESTION,
    answer_word,
    count_noun,
    strip_controls,
)

LINES_AROUND = 9  # lines of the screen besides the pair: heading, names, keys, prompt
CLUSTER_KEY = "c"
UNNAMED = "no source"  # of an answer or a note without one
NO_ANSWERS = "There are no answers yet."
CHECKING = "Please check: "  # the reason of a question that checks earlier answers begins so
SUSPECT_HINT = (
    "suspects back N takes answer N back, suspects turn N turns it round, suspects sure N confirms it"
)
ROW = re.compile(r"\b[Rr]ow ([AB])\b")
REVISED: dict[Revision, str] = {"turn": "turned round", "sure": "certain from now on"}
LEAST_LINES, MOST_LINES = 8, 40

PairView = Callable[[Question, int, int], RenderableType]
"""Draws a pair, given the question, the width and the number of lines."""
NextCommands = Callable[[Ending, Status], Sequence[tuple[str, str]]]


class Terminal:
    """Draws the dialogue with rich.

    ``pair(question, width, lines)`` draws the two items. ``commands(reason, status)`` gives pairs of a
    purpose and a command to type next. `counts` returns a sentence on the columns that count; None if the
    learner does not learn them. The last flags tell whether a key shows guidelines, leaves out columns,
    or puts a question off. ``explain(first, second)`` returns what each column says of a pair, for learners
    that can tell it. `text_of` returns the text in which a search for clusters looks for a row, by
    default its name.
    """

    def __init__(
        self,
        console: Console,
        pair: PairView,
        name_of: Callable[[int], str],
        *,
        budget: int | None = None,
        commands: NextCommands | None = None,
        counts: Callable[[], str | None] | None = None,
        with_guidelines: bool = False,
        with_columns: bool = False,
        with_later: bool = False,
        text_of: Callable[[int], str] | None = None,
        explain: Callable[[int, int], PairExplanation | None] | None = None,
    ) -> None:
        self.console = console
        self.pair = pair
        self.name_of = name_of
        self.text_of = name_of if text_of is None else text_of
        self.budget = budget
        self.commands = commands
        self.counts = counts
        self.explain = explain
        self.with_guidelines = with_guidelines
        self.with_columns = with_columns
        self.with_later = with_later
        self._is_fallible = False  # of the session, as of the last question

    def ask(self, question: Question, name: str, status: Status) -> None:
        """Show the heading, both items and the keys."""
        advice = [Text(sentence, style="bold") for sentence in describe_advice(status)]
        around = LINES_AROUND + sum(len(each.wrap(self.console, self.console.width)) for each in advice)
        lines = min(MOST_LINES, max(LEAST_LINES, self.console.height - around))
        self._show(Text())
        self._show(screen.draw_heading(status, self.budget))
        for sentence in advice:
            self._show(sentence)
        self._is_fallible = status.is_fallible
        if question.why.startswith(CHECKING):
            self._show(Text(name_rows(question, self.name_of), style="yellow"))
        self._show(Text(QUESTION))
        self._show(Text())
        self._show(self.pair(question, self.console.width, lines))
        self._show(Text())
        self._show(screen.keys_line(with_suspects=status.n_suspects > 0, with_later=self.with_later))

    def prompt(self) -> None:
        """Show the prompt."""
        self.console.print("> ", end="", highlight=False)
        self.console.file.flush()

    def confirm_answer(self, answer: Answer, status: Status, moved: str) -> None:
        """Show the answer and the clusters that follow from it."""
        self._show(Text.assemble((answer_word(answer), "bold"), f"  saved. {strip_controls(moved)}"))
        self._show_bars(status)

    def confirm_later(self, *, has_other: bool) -> None:
        """Show that a question comes back after others, or that there is no other."""
        self._show(Text.assemble(("later", "bold"), f"  {POSTPONED if has_other else NO_OTHER_QUESTION}"))

    def confirm_undo(self, event: Event | None, status: Status, moved: str) -> None:
        """Show which answer is undone."""
        if event is None:
            self._show(Text(f"undo  {NOTHING_TO_UNDO}"))
            return
        self._show(Text.assemble(("undo", "bold"), f"  taken back: {event_in_words(event, self.name_of)}"))
        self._show(Text(strip_controls(moved)))
        self._show_bars(status)

    def _show_bars(self, status: Status) -> None:
        """Show the clusters that follow from what was done."""
        sizes, numbers = status.cluster_sizes, status.cluster_numbers
        width = self.console.width
        self._show(screen.draw_cluster_bars(sizes, width=width, key=CLUSTER_KEY, numbers=numbers))

    def reject(self, why: str) -> None:
        """Show why nothing is saved."""
        self._show(Text(f"Not saved. {why}", style="yellow"))

    def help(self, question: Question) -> None:
        """Show the keys and the reason of the question."""
        self._show(Text("help", style="bold"))
        self._show(
            screen.help_text(
                name_rows(question, self.name_of),
                with_suspects=self._is_fallible,
                with_guidelines=self.with_guidelines,
                with_columns=self.with_columns,
                with_later=self.with_later,
            )
        )
        found = None if self.explain is None else self.explain(question.first, question.second)
        if found is not None:
            self._show(Text(strip_controls(" ".join(found.sentences()))))
            self._show(screen.draw_parts(found))

    def show_clusters(self, wanted: str, labels: Labels, names: Mapping[int, str]) -> None:
        """Show clusters, each with its number, size and name."""
        listing = list_clusters(wanted, labels, names, self.text_of)
        self._show(screen.draw_clusters(listing, self.name_of))

    def show_guidelines(self, guidelines: str, examples: Sequence[Example]) -> None:
        """Show what "belong together" means in this session."""
        self._show(screen.draw_guidelines(write_guidelines(guidelines, examples, self.name_of)))

    def confirm_note(self, note: str) -> None:
        """Show the note that goes with the answer to the present question."""
        self._show(draw_note(note, "answer"))

    def show_suspects(self, suspects: Sequence[SuspectAnswer], status: Status) -> None:
        """Show the estimated share of wrong answers, and the answers that are probably wrong."""
        if describe_errors(status):
            self._show(Text(describe_errors(status)))
        self._show(Text(count_suspects(status) or NO_ANSWERS))
        for suspect in suspects:
            self._show(Text(f"{suspect.number:>4}  {suspect_in_words(suspect, self.name_of)}"))
        if suspects:
            self._show(Text(SUSPECT_HINT, style="dim"))

    def confirm_revision(self, action: Revision, suspect: SuspectAnswer, status: Status, moved: str) -> None:
        """Show what becomes of a suspect, and the clusters that follow."""
        if suspect.card is not None:
            answer = suspect.move if action == "turn" else suspect.stay
        else:
            same = OPPOSITE[suspect.answer] if action == "turn" else suspect.answer
            answer = suspect.first, suspect.second, same
        words = _answer_in_words(Fact(*answer), self.name_of)
        self._show(Text.assemble((action, "bold"), f"  {REVISED[action]}: {words}"))
        self._show(Text(strip_controls(moved)))
        self._show_bars(status)

    def end(self, reason: Ending, status: Status) -> None:
        """Show what is reached and what to do next."""
        if reason == "quit":
            self._show(Text("quit"))
        commands = self.commands(reason, status) if self.commands else ()
        self._show(Text())
        self._show(screen.draw_ending(reason, status, width=self.console.width))
        if self.counts is not None and (sentence := self.counts()) is not None:
            self._show(Text(strip_controls(sentence)))
        self._show(Text())
        for line in screen.list_next_steps(commands):
            self.console.print(line, soft_wrap=True, highlight=False)  # a command must survive copying

    def _show(self, content: RenderableType) -> None:
        self.console.print(content, highlight=False)


def name_rows(question: Question, name_of: Callable[[int], str]) -> str:
    """The reason of a question, with the names of its rows in place of ``row A`` and ``row B``."""
    names = {"A": strip_controls(name_of(question.first)), "B": strip_controls(name_of(question.second))}
    words = ROW.sub(lambda found: names[found[1]], question.why)
    return words[:1].upper() + words[1:] if words.startswith("row ") else words


def draw_note(note: str, goes_with: str) -> Text:
    """Draw a note that is saved with the next answer or decision, or that it is removed."""
    words = f"It is saved with your {goes_with}: {strip_controls(note)}" if note else "It is removed."
    return Text.assemble(("note", "bold"), f"  {words}")


def event_in_words(event: Event, name_of: Callable[[int], str]) -> str:
    """Put an event into words: ``Same for 1042 and 2077``."""
    if event.kind == "import":
        return f"{count_noun(len(event.facts), 'pair')} imported from {strip_controls(event.source)}"
    if event.sorting is not None:
        cards = count_noun(len(event.sorting.cards), "card")
        return f"{cards} sorted into {count_noun(len(event.sorting.piles), 'pile')}{note_in_words(event)}"
    if event.kind == "change":
        to = "other piles" if event.answer is None else answer_word(event.answer)
        return f"the change of answer {event.target} to {to}"
    if event.kind == "sure":
        return f"the confirmation of answer {event.target}"
    if event.kind == "note":
        return f"the note on answer {event.target}{note_in_words(event)}"
    if event.kind == "name":
        return f"the name {strip_controls(event.source)}" if event.source else "the removal of a name"
    if event.kind in ("move", "done"):
        which = "rows that were moved" if event.kind == "move" else "a cluster that was marked as done"
        return f"{count_noun(len(event.facts), 'pair')} of {which}"
    if event.kind in ("guidelines", "examples"):
        return f"the change of the {event.kind}"
    if event.kind in ("learner", "rate"):
        chosen = strip_controls(event.value["name"]) if event.kind == "learner" else "another error rate"
        return f"the choice of {chosen}"
    first, second = (name_of(row) for row in (event.first, event.second) if row is not None)
    unasked = "" if event.kind == "answer" else ", added"
    pair = f"{strip_controls(first)} and {strip_controls(second)}"
    return f"{answer_word(event.answer)} for {pair}{unasked}{note_in_words(event)}"


def note_in_words(event: Event) -> str:
    """Put the note of an event into words, on one line: ``, note: the same shop``; empty without a note."""
    if not event.note:
        return ""
    has_other_author = event.note_author != event.source
    author = f" by {strip_controls(event.note_author) or UNNAMED}" if has_other_author else ""
    return f", note{author}: {strip_controls(event.note)}"


def suspect_in_words(suspect: SuspectAnswer, name_of: Callable[[int], str]) -> str:
    """Put a suspect into words, with the answers that speak against it."""
    answer, places = _answer_in_words(Fact(suspect.first, suspect.second, suspect.answer), name_of), ""
    if suspect.card is not None:
        answer = f"The pile of {strip_controls(name_of(suspect.card))}"
        places = f" {strip_controls(describe_card(suspect, name_of))}"
    if not suspect.because:
        return f"{answer} is {suspect.grade}, judging by the similarity of the rows.{places}"
    against = "; ".join(_answer_in_words(fact, name_of) for fact in suspect.because)
    return f"{answer} is {suspect.grade}, because of other answers: {against}{places and '.'}{places}"


def _answer_in_words(fact: Fact, name_of: Callable[[int], str]) -> str:
    first, second = (strip_controls(name_of(row)) for row in fact.pair)
    return f"{answer_word(fact.answer)} for {first} and {second}"
