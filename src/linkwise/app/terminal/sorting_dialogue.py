"""The dialogue with a person who sorts several rows at once into piles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from time import monotonic
from typing import Any, Protocol

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from linkwise.app.terminal import screen
from linkwise.app.terminal.console import Terminal
from linkwise.app.terminal.dialogue import BusyContext, Ending, compare_clusters, reject_errors
from linkwise.app.terminal.draft import Draft, take_note
from linkwise.app.terminal.keys import Reader, asks_for_guidelines, parse_cluster_command, parse_command
from linkwise.app.terminal.pair_views import Picture, draw_braille, find_value_range
from linkwise.app.terminal.pile_entry import HOW, PileEntryError, list_letters, parse_piles
from linkwise.app.terminal.protocol import JsonLines, counts, emit, state
from linkwise.data import Items
from linkwise.session.journal.events import Event, Example
from linkwise.session.session import Screen, Session, Status
from linkwise.types import Labels
from linkwise.wording import count_noun, strip_controls

CARD_COLUMNS, CARD_LINES = 22, 9  # of a picture or a curve
LINES_OF_CARD = 2  # of a record or a text
QUESTION = "Which of these belong together?"
KEYS = (
    ("a 1 3 / b 2", "Put cards 1 and 3 into pile a, and card 2 into pile b"),
    ("4-5 / 6", "Cards 4 and 5 are a pile of their own, and card 6 is another one"),
    ("a b 7", "Piles a and b are one, and card 7 belongs there, too"),
    ("?8", "Not sure where card 8 belongs"),
    ("*", "At the end of the line: each other card is alone"),
    ("note", "Add a note to your next answer, such as note the third was hard"),
    ("clusters", "Clusters: the largest, or those that you type, such as clusters 31-60"),
    ("u", "Undo the last screen, as often as you like"),
    ("q", "Quit; every answer is saved, and you can go on later"),
)


class SortingDisplay(Protocol):
    """Shows screens of rows: on a terminal, or as a stream of JSON."""

    def ask(self, shown: Screen, status: Status) -> None:
        """Show a screen."""

    def prompt(self) -> None:
        """Show that the person can type now."""

    def confirm_piles(self, n_piles: int, status: Status, moved: str) -> None:
        """Show that piles are stored, and which rows they moved."""

    def confirm_undo(self, event: Event | None, status: Status, moved: str) -> None:
        """Show which event is undone; None if there is nothing to undo."""

    def confirm_note(self, note: str) -> None:
        """Show the note that goes with the next answer; empty if it is removed."""

    def show_clusters(self, wanted: str, labels: Labels, names: Mapping[int, str]) -> None:
        """Show clusters."""

    def show_guidelines(self, guidelines: str, examples: Sequence[Example]) -> None:
        """Show what "belong together" means in this session."""

    def reject(self, why: str) -> None:
        """Show why a line stores nothing."""

    def help_to_sort(self, shown: Screen) -> None:
        """Show what can be typed, and why these rows are shown."""

    def end(self, reason: Ending, status: Status) -> None:
        """Show the end."""


def run_sorting(
    session: Session,
    display: SortingDisplay,
    reader: Reader,
    size: int,
    *,
    budget: int | None = None,
    busy: BusyContext = nullcontext,
    clock: Callable[[], float] = monotonic,
) -> Ending:
    """Show screens of `size` rows until the person stops, the budget is used up, or nothing is left to sort.

    A screen counts as one answer of the `budget`. The end of input counts as quitting.
    """
    draft = Draft(clock, is_timed=reader.is_timed)
    while True:
        reader.forget()
        status = session.status
        with busy():
            screens = session.sets(size)
        spent = budget is not None and status.n_answers >= budget
        if spent or not screens:
            reason: Ending = "budget" if spent else "exhausted"
            display.end(reason, status)
            return reason
        display.ask(screens[0], status)
        if lost := draft.begin(screens[0].id):
            display.reject(f"Its screen was not sorted, so this note has no place: {lost}")
        text = _read_line(session, display, reader, draft, screens[0])
        if text is None:
            display.end("quit", session.status)
            return "quit"
        before = session.snapshot
        with reject_errors(display, "These are the rows to sort now."), busy():
            if parse_command(text) == "undo":
                display.confirm_undo(session.undo(), *compare_clusters(session, before))
            else:
                piles, unsure = _find_rows(text, screens[0])
                session.sort(piles, unsure, question_id=screens[0].id, **draft.remark())
                draft.finish()
                display.confirm_piles(len(piles), *compare_clusters(session, before))


def _read_line(
    session: Session, display: SortingDisplay, reader: Reader, draft: Draft, shown: Screen
) -> str | None:
    """Read piles or ``undo``; deal with all else in between. None means quit."""
    while True:
        display.prompt()
        text = reader.read()
        if text is None or parse_command(text) == "quit":
            return None
        word, _, rest = text.strip().partition(" ")
        if parse_command(text) == "undo":
            return text
        if parse_command(text) == "help":
            display.help_to_sort(shown)
        elif word.lower() == "note":
            take_note(display, draft, rest.strip())
        elif word.lower() == "clusters" and (wanted := parse_cluster_command(text)) is not None:
            now = session.snapshot
            display.show_clusters(wanted, now.labels, now.names)
        elif asks_for_guidelines(text) and (session.guidelines or session.examples):
            display.show_guidelines(session.guidelines, session.examples)
        else:
            try:
                _find_rows(text, shown)
            except PileEntryError as error:
                display.reject(str(error))
                continue
            return text


def _find_rows(text: str, shown: Screen) -> tuple[list[list[int]], list[int]]:
    """The rows of the piles that a line names, and those of unsure cards."""
    entry = parse_piles(text, len(shown.known), len(shown.cards))
    rows = dict(zip(list_letters(len(shown.known)), map(list, shown.known), strict=True))
    rows |= {str(n): [card] for n, card in enumerate(shown.cards, 1)}
    piles = [[row for name in pile for row in rows[name]] for pile in entry.piles]
    return piles, [row for name in entry.unsure for row in rows[name]]


# ---------------------------------------------------------------- on a terminal
class SortingTerminal(Terminal):
    """Draws screens of rows with rich; `items` are what a person sees of them."""

    items: Items

    def ask(self, shown: Screen, status: Status) -> None:  # type: ignore[override]  # a screen in place of a pair
        """Show the heading and the rows, known piles first."""
        console = self.console
        marks = [*list_letters(len(shown.known)), *(str(n) for n in range(1, len(shown.cards) + 1))]
        rows = [*(pile[0] for pile in shown.known), *shown.cards]
        console.print()
        console.print(screen.draw_heading(status, self.budget), highlight=False)
        console.print(Text(QUESTION))
        console.print(draw_cards(self.items, rows, marks, self.name_of, console), highlight=False)
        console.print(Text(f"{HOW}; ? for help, u to undo, q to quit", style="dim"), highlight=False)

    def confirm_piles(self, n_piles: int, status: Status, moved: str) -> None:
        """Show that piles are stored, and the clusters that follow from them."""
        words = Text.assemble((count_noun(n_piles, "pile"), "bold"), f"  saved. {strip_controls(moved)}")
        self.console.print(words, highlight=False)
        self.console.print(
            screen.draw_cluster_bars(
                status.cluster_sizes, width=self.console.width, numbers=status.cluster_numbers
            ),
            highlight=False,
        )

    def help_to_sort(self, shown: Screen) -> None:
        """Show what can be typed, and why these rows are shown."""
        why = Text.assemble(("Why these rows: ", "bold"), shown.why)
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
        for typed, meaning in KEYS:
            table.add_row(Text(typed, style="bold"), Text(meaning))
        self.console.print(Group(table, why), highlight=False)


def draw_cards(
    items: Items, rows: Sequence[int], marks: Sequence[str], name_of: Callable[[int], str], console: Console
) -> RenderableType:
    """Draw rows, each with its mark: pictures and curves in a grid, records and texts one below the other."""
    names = [strip_controls(name_of(row)) for row in rows]
    if items.kind in ("image", "series"):
        titles = [f"{mark}: {name}" for mark, name in zip(marks, names, strict=True)]
        return _draw_grid(items, rows, titles, console.width)
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True, max_width=screen.NAME_WIDTH)
    table.add_column()
    cells = max(20, console.width - 6 - min(screen.NAME_WIDTH, max(map(len, names))))
    for mark, name, row in zip(marks, names, rows, strict=True):
        words = screen.truncate(_describe_card(items, row), LINES_OF_CARD * cells)
        table.add_row(Text(mark, style="bold"), Text(screen.truncate(name, screen.NAME_WIDTH)), Text(words))
    return table


def _describe_card(items: Items, row: int) -> str:
    """The text of a row, or its columns, on one line."""
    if items.kind == "text":
        return " ".join(strip_controls(str(items.content(row))).split())
    return " · ".join(f"{strip_controls(n)} {strip_controls(v)}" for n, v in items.fields(row).items())


def _draw_grid(items: Items, rows: Sequence[int], titles: Sequence[str], width: int) -> RenderableType:
    """Pictures or curves side by side, as many as fit into the width."""
    across = max(1, width // (CARD_COLUMNS + 2))
    table = Table.grid(padding=(0, 2, 1, 0))
    drawn = [
        Group(Text(screen.truncate(title, CARD_COLUMNS), style="bold"), one)
        for title, one in zip(titles, _draw_each(items, rows), strict=True)
    ]
    for at in range(0, len(drawn), across):
        table.add_row(*drawn[at : at + across])
    return table


def _draw_each(items: Items, rows: Sequence[int]) -> list[RenderableType]:
    if items.pixels is not None:
        return [Picture(items.pixels(row), CARD_COLUMNS, CARD_LINES) for row in rows]
    curves = [np.array(items.content(row), dtype=np.float64) for row in rows]
    low, high = find_value_range(curves)
    return [Text(draw_braille(curve, low, high, CARD_COLUMNS, 4)) for curve in curves]


# ---------------------------------------------------------------- as JSON
class SortingJson(JsonLines):
    """Writes screens of rows as JSON lines: ``screen`` in place of ``question``."""

    def ask(self, shown: Screen, status: Status) -> None:  # type: ignore[override]  # a screen in place of a pair
        """Write one screen: the piles that are there, by letter, and the cards, by number."""
        known = zip(list_letters(len(shown.known)), shown.known, strict=True)
        emit(
            type="screen",
            id=shown.id,
            known=[{"pile": letter, **self._rows(pile)} for letter, pile in known],
            cards=[{"card": n, **self._rows([card])} for n, card in enumerate(shown.cards, 1)],
            why=shown.why,
            **counts(status),
        )

    def _rows(self, rows: Sequence[int]) -> dict[str, Any]:
        return {
            "rows": list(rows),
            "ids": [self.id_of(row) for row in rows],
            "items": [self.item(row) for row in rows],
        }

    def confirm_piles(self, n_piles: int, status: Status, moved: str) -> None:
        """Write the state after a screen."""
        emit(type="state", done="sort", piles=n_piles, moved=moved, **state(status))

    def help_to_sort(self, shown: Screen) -> None:
        """Write nothing: a program needs no help."""
