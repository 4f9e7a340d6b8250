"""The dialogue on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from linkwise.asking.learner import Question
from linkwise.constraints.evidence import Answer
from linkwise.session.events import Event
from linkwise.session.session import Status
from linkwise.terminal import screen
from linkwise.terminal.dialogue import Ending
from linkwise.wording import count_noun, strip_controls

LINES_AROUND = 9  # of the screen, not about the pair: heading, names, keys, prompt
LEAST_LINES, MOST_LINES = 8, 40

PairView = Callable[[Question, int, int], RenderableType]
"""How a pair is shown, given the question, the width and the lines there are."""
NextCommands = Callable[[Ending, Status], Sequence[tuple[str, str]]]


class Terminal:
    """Draws the dialogue with rich.

    Parameters
    ----------
    console : Console
    pair : callable
        ``pair(question, width, lines)`` draws the two items.
    name_of : callable
        How a row is called.
    budget : int, optional
    commands : callable, optional
        ``commands(reason, status)`` tells what can be done next: what for, and the command.
    counts : callable, optional
        Says which columns count, where that is learned; None where it is not.
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
    ) -> None:
        self.console = console
        self.pair = pair
        self.name_of = name_of
        self.budget = budget
        self.commands = commands
        self.counts = counts

    def ask(self, question: Question, name: str, status: Status) -> None:
        """Heading, both items, keys, prompt."""
        lines = min(MOST_LINES, max(LEAST_LINES, self.console.height - LINES_AROUND))
        self._show(Text())
        self._show(screen.draw_heading(status, self.budget))
        self._show(Text("Do these two belong together?"))
        self._show(Text())
        self._show(self.pair(question, self.console.width, lines))
        self._show(Text())
        self._show(screen.keys_line())

    def prompt(self) -> None:
        """Where the answer will stand."""
        self.console.print("> ", end="", highlight=False)
        self.console.file.flush()

    def saved(self, said: Answer, status: Status) -> None:
        """The answer, and what it makes of the clusters."""
        self._show(Text.assemble((said, "bold"), "  saved"))
        self._show(screen.draw_cluster_bars(status.cluster_sizes, width=self.console.width))

    def taken_back(self, event: Event | None, status: Status) -> None:
        """Which answer was undone."""
        if event is None:
            self._show(Text("undo  nothing to take back: there is no answer yet"))
            return
        self._show(Text.assemble(("undo", "bold"), f"  taken back: {event_in_words(event, self.name_of)}"))
        self._show(screen.draw_cluster_bars(status.cluster_sizes, width=self.console.width))

    def refused(self, why: str) -> None:
        """Say why."""
        self._show(Text(f"not saved: {why}", style="yellow"))

    def help(self, question: Question) -> None:
        """Keys and reason."""
        self._show(Text("help", style="bold"))
        self._show(screen.help_text(question.why))

    def end(self, reason: Ending, status: Status) -> None:
        """What was reached and what to do next."""
        if reason == "quit":
            self._show(Text("quit"))
        commands = self.commands(reason, status) if self.commands else ()
        self._show(Text())
        self._show(screen.draw_ending(reason, status, width=self.console.width))
        if self.counts is not None and (said := self.counts()) is not None:
            self._show(Text(strip_controls(said)))
        self._show(Text())
        for line in screen.list_next_steps(commands):
            self.console.print(line, soft_wrap=True, highlight=False)  # a command must survive copying

    def _show(self, what: RenderableType) -> None:
        self.console.print(what, highlight=False)


def event_in_words(event: Event, name_of: Callable[[int], str]) -> str:
    """``yes for 1042 and 2077``, or what else happened."""
    if event.kind == "import":
        return f"{count_noun(len(event.facts), 'pair')} brought in from {strip_controls(event.source)}"
    if event.kind == "change":
        return f"the change of answer {event.target} to {event.answer}"
    if event.kind == "name":
        return f"the name {strip_controls(event.source) or 'taken away'}"
    if event.kind == "done":
        return f"{count_noun(len(event.facts), 'pair')} of a cluster that was called done"
    first, second = (name_of(row) for row in (event.first, event.second) if row is not None)
    unasked = "" if event.kind == "answer" else ", volunteered"
    return f"{event.answer} for {strip_controls(first)} and {strip_controls(second)}{unasked}"
