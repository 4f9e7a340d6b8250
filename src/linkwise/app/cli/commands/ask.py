"""``linkwise ask``: a file, a session beside it, and the dialogue."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, RenderableType

from linkwise.app.cli.commands.column_key import ColumnKey
from linkwise.app.project.changed_options import ReplayNeeded
from linkwise.app.project.cluster_search import name_with_text
from linkwise.app.project.column_offer import describe_proposal
from linkwise.app.project.embeddings import is_embedding
from linkwise.app.project.exit_codes import Interrupted, break_line, say
from linkwise.app.project.group_rows import groups_folder, is_in_files
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.app.project.project import (
    Project,
    choose_files,
    open_project,
    session_words,
)
from linkwise.app.project.recent_sessions import note_opening
from linkwise.app.project.recoding import propose_columns
from linkwise.app.terminal import screen
from linkwise.app.terminal.column_dialogue import choose_columns, draw_columns
from linkwise.app.terminal.console import PairView, Terminal
from linkwise.app.terminal.dialogue import BusyContext, Ending, run_dialogue
from linkwise.app.terminal.keys import KeyReader, LineReader, Reader, is_interactive, parse_command
from linkwise.app.terminal.pair_views import add_pictures, choose_pair_view
from linkwise.app.terminal.progress import busy, show_bar
from linkwise.app.terminal.protocol import JsonLines
from linkwise.app.terminal.sorting_dialogue import SortingJson, SortingTerminal, run_sorting
from linkwise.data import Encoded
from linkwise.data.reading import Reading
from linkwise.learn.learner import Question
from linkwise.learn.pair_explanation import describe_effects
from linkwise.reasons.sentences import describe_shares
from linkwise.session.session import Session, Status
from linkwise.session.state.event_lists import write_guidelines
from linkwise.session.state.status import count_answers
from linkwise.wording import count_noun, quote_command

NOTHING_KEPT = "Interrupted. A demo keeps no answers; add --session PATH to keep them."
LONG_ROWS = 20_000  # from so many rows on the next question may take a moment


def ask(
    file: Path,
    reading: Reading,
    choice: MethodChoice,
    kept: SessionOptions,
    *,
    as_json: bool = False,
    set_size: int | None = None,
) -> None:
    """Ask about the rows of `file`, on the terminal or as a stream of JSON."""
    data, path = choose_files(file, kept.session)
    show = show_bar if is_in_files(data) or kept.n_groups else busy
    with report_early_interrupt(data, path):
        try:
            with show(f"reading {data.name}") as progress:
                project = open_project(data, path, reading, choice, kept, progress=progress)
        except ReplayNeeded as error:
            if as_json or not is_interactive() or not confirm_replay(error):
                raise
            with show(f"reading {data.name}") as progress:
                agreed = replace(kept, replay=True)
                project = open_project(data, path, reading, choice, agreed, progress=progress)
    with project.session, report_interrupt(project.session, project.path, resume_command(data, path)):
        if set_size is not None:
            _sort(project, set_size, kept.budget, as_json=as_json)
        elif as_json:
            _ask_in_json(project, kept.budget)
        else:
            _ask_on_terminal(project, kept.budget)


def confirm_replay(question: ReplayNeeded) -> bool:
    """Ask the person at the terminal whether to replay all answers with the changed options."""
    say(question.difference)
    say(f"Encode the data anew and replay all answers? A copy is kept in {question.backup}. [y/n]")
    with KeyReader(sys.stdin.fileno()) as keys:
        while (command := parse_command(keys.read() or "n")) not in ("yes", "no", "quit"):
            say("Type y or n.")
    return command == "yes"


def _ask_on_terminal(project: Project, budget: int | None) -> None:
    console = Console()
    note_opening(project.path)
    project = show_opening(project, console)
    key = ColumnKey(project, console)
    terminal = make_terminal(project, console, budget=budget, is_complete=True, current=lambda: key.project)
    with open_reader(with_suspects=project.session.status.is_fallible) as read:
        run_dialogue(
            project.session,
            terminal,
            read,
            budget=budget,
            busy=choose_spinner(project.session),
            columns=key,
        )


def show_opening(project: Project, console: Console) -> Project:
    """Show what is opened, and the columns before the first question; return the project as it is then.

    A person at the terminal may use the columns otherwise.
    """
    title, notes = describe_opening(project)
    views = project.columns if project.advice.notes else ()
    if not views:
        console.print(screen.draw_opening(title, notes), highlight=False)
    else:
        said = {*project.table.column_notes, *project.advice.notes}
        others = [note for note in notes if note not in said]
        console.print(screen.draw_opening(title, others), highlight=False)
        console.print(draw_columns(views, console.width), highlight=False)
        console.print(screen.draw_listing([("·", note) for note in project.advice.warnings]), highlight=False)
    if project.advice.command is not None:
        console.print(f"    {project.advice.command}", soft_wrap=True, highlight=False, markup=False)
    if not views or not is_interactive():
        return project
    return choose_columns(project, console)


def make_terminal(
    project: Project,
    console: Console,
    *,
    budget: int | None = None,
    is_complete: bool = False,
    current: Callable[[], Project] | None = None,
    kind: type[Terminal] = Terminal,
) -> Terminal:
    """The dialogue on a terminal, which shows the guidelines first; an audit has not all keys.

    `current` returns the project with its present columns, if these may change meanwhile.
    """
    current = current or (lambda: project)
    namer = make_row_namer(project)
    guidelines = write_guidelines(project.session.guidelines, project.session.examples, namer)
    if guidelines:
        console.print(screen.draw_guidelines(guidelines), highlight=False)
    return kind(
        console,
        make_pair_view(project),
        namer,
        budget=budget,
        commands=lambda reason, status: list_next_commands(current(), reason, status),
        counts=lambda: describe_weights(current()),
        with_guidelines=bool(guidelines),
        with_columns=is_complete,
        with_later=is_complete,
        text_of=name_with_text(namer, project.items),
        explain=lambda first, second: current().session.explain_pair(first, second),
    )


def make_json_lines(project: Project) -> JsonLines:
    """The dialogue as a stream of JSON."""
    return JsonLines(make_row_reader(project), project.session.ids.__getitem__, str(project.path))


def _ask_in_json(project: Project, budget: int | None) -> None:
    say_opening(project)
    run_dialogue(project.session, make_json_lines(project), LineReader(sys.stdin), budget=budget)


def _sort(project: Project, size: int, budget: int | None, *, as_json: bool) -> None:
    """Let the person sort several rows at once, by lines that they type."""
    if as_json:
        say_opening(project)
        lines = SortingJson(make_row_reader(project), project.session.ids.__getitem__, str(project.path))
        run_sorting(project.session, lines, LineReader(sys.stdin), size, budget=budget)
        return
    console = Console()
    note_opening(project.path)
    project = show_opening(project, console)
    terminal = make_terminal(project, console, budget=budget, kind=SortingTerminal)
    assert isinstance(terminal, SortingTerminal)
    terminal.items = project.items
    reader = LineReader(sys.stdin, is_timed=is_interactive())
    run_sorting(project.session, terminal, reader, size, budget=budget, busy=choose_spinner(project.session))


def describe_opening(project: Project) -> tuple[str, tuple[str, ...]]:
    """What is opened, what was chosen on the way, and what is said of the columns."""
    status, notes = project.session.status, (*project.notes, *project.advice.notes)
    if project.resumed:
        return f"resumed: {count_answers(status)} ({project.path})", notes
    rows = count_noun(status.n_rows, "row")
    if project.group_table is not None:
        rows = count_noun(project.group_table.summary.n_rows, "row")
    return f"{project.title}: {rows}. Answers are kept in {project.path}", notes


def say_opening(project: Project, say: Callable[[str], object] = say) -> None:
    """Say the same line by line, with the command that is proposed."""
    title, notes = describe_opening(project)
    command = project.advice.command
    for line in (title, *notes, *(() if command is None else (command,))):
        say(line)


# ---------------------------------------------------------------- the pair on the screen
def make_pair_view(project: Project) -> PairView:
    """How a pair of rows is drawn."""
    resolve_name = make_row_namer(project)
    view = (
        _make_record_view(project)
        if project.items.kind == "record"
        else choose_pair_view(project.items, resolve_name)
    )
    return add_pictures(view, project.items, resolve_name)


def _make_record_view(project: Project) -> PairView:
    resolve_name, places = make_row_namer(project), make_scale(project.rows.shown_numbers)

    def draw(question: Question, width: int, lines: int) -> RenderableType:
        first, second = project.items.fields(question.first), project.items.fields(question.second)
        rows = screen.pair_rows(first, second, places(question))
        names = (resolve_name(question.first), resolve_name(question.second))
        return screen.pair_table(names, rows, width=width, most=lines)

    return draw


def make_row_reader(project: Project) -> Callable[[int], dict[str, Any]]:
    """What a program is told of a row: its columns; of a curve its samples, with what is shown beside."""
    items, table, side = project.items, project.table, project.rows.side
    if items.kind == "series":
        return lambda row: {**items.fields(row), "series": items.content(row)}
    if side is None:
        return table.item
    is_replaced = project.encoded.features[0].role not in ("document", "image")
    return lambda row: {**table.item(row, table.shown if is_replaced else None), **side.cells(row)}


def make_scale(encoded: Encoded | None) -> Callable[[Question], dict[str, tuple[float, float]]]:
    """Where the numbers of two rows stand between the lowest and the highest of their columns."""
    if encoded is None:
        return lambda question: {}
    numeric = [j for j, feature in enumerate(encoded.features) if feature.role not in ("category", "cycle")]
    names = [encoded.features[j].source for j in numeric]
    low = encoded.X.min(axis=0)[numeric]
    spread = np.ptp(encoded.X, axis=0)[numeric]
    spread[spread == 0] = 1.0

    def places(question: Question) -> dict[str, tuple[float, float]]:
        pair = (encoded.X[[question.first, question.second]][:, numeric] - low) / spread
        return {name: (a, b) for name, a, b in zip(names, *pair.tolist(), strict=True)}

    return places


def make_row_namer(project: Project) -> Callable[[int], str]:
    """How a row is called: its id, or its position."""
    ids = project.table.ids
    return (lambda row: f"row {row}") if ids is None else (lambda row: str(ids[row]))


def describe_weights(project: Project) -> str | None:
    """Which columns count most, for learners that learn it, or which would by the answers."""
    shares = project.session.column_shares
    if shares is not None:
        return describe_shares(shares, project.encoded.features)
    if (effects := project.session.column_effects) is not None:
        return describe_effects(effects) or None
    proposal = propose_columns(project)
    return None if proposal is None else describe_proposal(proposal.less, proposal.more)


# ---------------------------------------------------------------- around the dialogue
@contextmanager
def open_reader(*, with_suspects: bool = False) -> Iterator[Reader]:
    """Single keys when a person sits at the terminal, lines otherwise."""
    if is_interactive():
        with KeyReader(sys.stdin.fileno(), with_suspects=with_suspects) as keys:
            yield keys
    else:
        yield LineReader(sys.stdin)


def choose_spinner(session: Session) -> BusyContext:
    """A spinner between an answer and the next question, for data large enough to need one."""
    return (lambda: busy("thinking")) if session.n_rows >= LONG_ROWS else nullcontext


@contextmanager
def report_early_interrupt(data: Path, path: Path) -> Iterator[None]:
    """Say on Ctrl-C before the first question that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        break_line()
        if not path.exists():
            goes_on = groups_folder(path).exists()
            raise Interrupted(
                "Interrupted before the first question. The same command"
                f" {'goes on where it was' if goes_on else 'starts again'}."
            ) from None
        kept = f"all answers are saved in {path}"
        raise Interrupted(f"Interrupted: {kept}. Go on with: {resume_command(data, path)}") from None


@contextmanager
def report_interrupt(session: Session, path: Path | None, go_on: str) -> Iterator[None]:
    """Say on Ctrl-C what is saved and where."""
    try:
        yield
    except KeyboardInterrupt:
        break_line()
        if path is None:
            raise Interrupted(NOTHING_KEPT) from None
        answers = count_noun(session.status.n_answers, "answer")
        raise Interrupted(f"Interrupted: {answers} saved in {path}. Go on with: {go_on}") from None


def list_next_commands(project: Project, reason: Ending, status: Status) -> list[tuple[str, str]]:
    """What can be done after the dialogue, ready to type."""
    path = project.path if session_words(project.data, project.path) else project.data
    of_groups = project.group_table is not None
    stem = project.path.stem if of_groups and not project.data.is_dir() else project.data.stem
    if of_groups and project.data.is_dir() and project.data.samefile("."):
        stem = f"../{stem}"  # a table in the folder would be taken for data
    labels = f"{stem}-clusters{'' if of_groups else '.csv'}"
    commands = [] if reason == "exhausted" else [("go on", resume_command(project.data, project.path))]
    if status.n_answers:
        commands.append(("undo the last answer", quote_command("linkwise", "undo", path)))
    described = {"record": "as rules", "text": "by words"}.get(project.items.kind, "by examples")
    if project.group_table is None and is_embedding(project.rows):
        described = "by examples"
    commands.append((f"clusters {described}", quote_command("linkwise", "explain", path)))
    return [
        *commands,
        (
            "clusters as CSV" if project.group_table is None else "clusters of all rows",
            quote_command("linkwise", "export", path, "--labels", labels),
        ),
        ("answers as pairs", quote_command("linkwise", "export", path, "--constraints", f"{stem}-pairs.csv")),
    ]


def resume_command(data: Path, path: Path, *more: str) -> str:
    """The command that goes on with a session."""
    return quote_command("linkwise", "ask", data, *session_words(data, path), *more)
