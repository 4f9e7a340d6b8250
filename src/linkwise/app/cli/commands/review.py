"""``linkwise review``: a person decides the pairs on which answers disagree or are probably wrong."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from linkwise.app.cli.commands.ask import (
    make_pair_view,
    make_row_namer,
    make_row_reader,
    open_reader,
    report_interrupt,
)
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import choose_files, find_session, open_project, session_words
from linkwise.app.terminal import screen
from linkwise.app.terminal.keys import LineReader
from linkwise.app.terminal.progress import busy
from linkwise.app.terminal.review_dialogue import ReviewLines, ReviewTerminal, run_review
from linkwise.data.reading import Reading
from linkwise.session.journal.events import check_source
from linkwise.session.state.event_lists import write_guidelines
from linkwise.wording import quote_command


def review(path: Path, session_file: Path | None = None, *, source: str, as_json: bool = False) -> None:
    """Review the session of a data file on the terminal, or as a stream of JSON."""
    reviewer = check_source(source)
    find_session(path, session_file)
    data, found = choose_files(path, session_file)
    with busy(f"reading {data.name}") as progress:
        project = open_project(data, found, Reading(), MethodChoice(), progress=progress)
    with (
        project.session as session,
        report_interrupt(
            session, found, quote_command("linkwise", "review", data, *session_words(data, found))
        ),
    ):
        if as_json:
            lines = ReviewLines(make_row_reader(project), session.ids.__getitem__)
            run_review(session, lines, LineReader(sys.stdin), reviewer)
            return
        console = Console()
        namer = make_row_namer(project)
        if guidelines := write_guidelines(session.guidelines, session.examples, namer):
            console.print(screen.draw_guidelines(guidelines), highlight=False)
        undo = quote_command("linkwise", "undo", found)
        terminal = ReviewTerminal(console, make_pair_view(project), namer, undo, project.items)
        with open_reader() as read:
            run_review(session, terminal, read, reviewer)
