"""The columns of a table on the terminal: shown before the first question, and used as a person chooses."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from linkwise.app.project.column_tasks import ColumnTask, TaskName, find_copies, list_tasks
from linkwise.app.project.method_choice import learner_phrase
from linkwise.app.project.project import Project
from linkwise.app.project.recoding import read_otherwise
from linkwise.app.terminal.screen import truncate_names
from linkwise.data.show.column_views import ColumnView, Kind, Use
from linkwise.errors import DataError
from linkwise.wording import strip_controls

MOST_COLUMNS = 20  # in the table; others are counted
LONGEST_NAME, LONGEST_EXAMPLE = 20, 22
_USES: dict[str, Use] = {"c": "compare", "s": "show", "i": "id", "x": "ignore"}
_KINDS: dict[str, Kind] = {"n": "number", "a": "amount", "g": "category", "t": "text"}
_LETTERS: dict[TaskName, str] = {"answers": "a", "duplicates": "d", "texts": "t", "records": "r"}
_START, _STOP = ("", "y", "yes"), ("q", "quit", "n", "no")


def draw_columns(views: Sequence[ColumnView], width: int) -> RenderableType:
    """Draw the columns with their kind, use, influence and an example; of many columns only some."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold underline")
    table.add_column("", justify="right", style="dim")
    table.add_column("column", no_wrap=True)
    for title in ("kind", "use"):
        table.add_column(title, no_wrap=True)
    for title in ("missing", "influence"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("such as", no_wrap=True)
    table.add_column("why", overflow="fold", style="dim", max_width=max(24, width - 84))
    shown = _choose_shown(views)
    names = truncate_names([strip_controls(view.name) for _, view in shown], LONGEST_NAME)
    for (number, view), name in zip(shown, names, strict=True):
        style = "" if view.use == "compare" else "dim"
        table.add_row(
            str(number),
            Text(name, style=style),
            Text(view.kind, style=style),
            Text(view.use, style="bold" if view.is_proposed else style),
            f"{view.missing:.0%}" if view.missing else "",
            "" if view.influence is None else f"{view.influence:.0%}",
            Text(_shorten(view.example, LONGEST_EXAMPLE), style=style),
            Text(strip_controls(view.reason)),
        )
    rest = len(views) - len(shown)
    return Group(table, Text(f"… {rest} more columns", style="dim")) if rest else table


def _choose_shown(views: Sequence[ColumnView]) -> list[tuple[int, ColumnView]]:
    """The columns to show with their numbers, in their order: those with a reason first, then the others."""
    numbered = list(enumerate(views, 1))
    if len(views) <= MOST_COLUMNS:
        return numbered
    first = sorted(numbered, key=lambda one: (not one[1].reason, -(one[1].influence or 0.0)))
    return sorted(first[:MOST_COLUMNS], key=lambda one: one[0])


def _shorten(text: str, most: int) -> str:
    text = " ".join(strip_controls(text).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def choose_columns(project: Project, console: Console) -> Project:
    """Ask whether to start, and change uses and kinds of columns until the person does."""
    tasks = _list_tasks(project)
    while (line := _read_line(console, _describe_start(tasks))) not in _START:
        if line in _STOP:
            raise KeyboardInterrupt
        views = project.columns
        if line in tasks:
            try:
                project = read_otherwise(project, tasks[line].take(views), tasks[line].name).project
            except DataError as error:
                console.print(f"Nothing has changed. {error}", markup=False, highlight=False)
                continue
            tasks = _list_tasks(project)
            console.print(draw_columns(project.columns, console.width), highlight=False)
            console.print(
                f"Questions are chosen by {learner_phrase(project.session.learner)}.", highlight=False
            )
            continue
        if not (line.isdecimal() and 1 <= int(line) <= len(views)):
            others = f", {', '.join(tasks)}" if tasks else ""
            console.print(f"Type Enter to start, q to stop{others}, or a number from 1 to {len(views)}.")
            continue
        view = views[int(line) - 1]
        changed = _change(view, _read_line(console, _describe_choice(view)))
        if changed is None:
            console.print("Nothing has changed.")
            continue
        try:
            chosen = [changed if one.name == view.name else _free_id(one, changed) for one in views]
            project = read_otherwise(project, chosen).project
        except DataError as error:
            console.print(f"Nothing has changed. {error}", markup=False, highlight=False)
            continue
        console.print(draw_columns(project.columns, console.width), highlight=False)
    return project


def _list_tasks(project: Project) -> dict[str, ColumnTask]:
    """The tasks that the columns look like, by the letter that chooses each."""
    found = list_tasks(project.columns, copies=find_copies(project), learner=project.session.learner["name"])
    return {_LETTERS[task.name]: task for task in found}


def _describe_start(tasks: Mapping[str, ColumnTask]) -> str:
    """What a person may type before the first question."""
    words = [f"{letter} {task.label.lower()}" for letter, task in tasks.items()]
    return f"Start? [{', '.join(['Y/n', *words])}, or number of a column] "


def _describe_choice(view: ColumnView) -> str:
    """What a person may type for a column."""
    kinds = [f"{key} {kind}" for key, kind in _KINDS.items() if kind in view.kinds and len(view.kinds) > 1]
    uses = [f"{key} {use}" for key, use in _USES.items()]
    return f"{strip_controls(view.name)}: {', '.join([*uses, *kinds])}? "


def _change(view: ColumnView, line: str) -> ColumnView | None:
    """The column as a key says; None if the key says nothing about it."""
    if line in _USES:
        return replace(view, use=_USES[line])
    kind = _KINDS.get(line)
    return replace(view, kind=kind, use="compare") if kind in view.kinds and kind is not None else None


def _free_id(view: ColumnView, changed: ColumnView) -> ColumnView:
    """Another column, which stops being the id where the changed one becomes it."""
    return replace(view, use="show") if changed.use == view.use == "id" else view


def _read_line(console: Console, prompt: str) -> str:
    """Read a line; the end of input starts."""
    console.print(prompt, end="", markup=False, highlight=False, soft_wrap=True)
    return sys.stdin.readline().strip().lower()
