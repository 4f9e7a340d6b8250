"""``linkwise`` without a command: the page on which a person chooses what to open."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from linkwise.app.cli.commands.serve import PageAddress, PageSource, check_packages, prepare_file, serve_page
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.data.reading import Reading

if TYPE_CHECKING:
    from linkwise.app.page.presenter import Presenter


def start(where: PageAddress) -> None:
    """Serve the start page, and then what is chosen there, until Ctrl-C."""
    check_packages()
    serve_page(prepare_start(Path.cwd()), where)


def prepare_start(folder: Path) -> PageSource:
    """The start page of a folder, and what is chosen there."""
    from linkwise.app.page.start_page import StartPage

    current: list[PageSource] = []  # what is open, or being read

    def begin(prepare: Callable[[], PageSource]) -> Presenter:
        try:
            current[:] = [prepare()]  # what was open before has failed later
            assert callable(current[0].begin)
            return current[0].begin()
        except Exception:
            current.clear()
            raise

    def ended(n_answers: int | None) -> str:
        return current[0].ended(n_answers) if current else "Interrupted. Nothing is changed."

    page = StartPage(
        folder,
        lambda path: begin(partial(_prepare_path, path)),
        lambda name: begin(partial(_prepare_demo, name)),
    )
    return PageSource("the recent sessions", page, ended)


def _prepare_path(path: Path) -> PageSource:
    """A data file or a session; that of a demo is no error, as it would be on the command line."""
    from linkwise.app.project.origin import origin_of
    from linkwise.app.project.project import is_session
    from linkwise.session.session import Session

    if path.is_file() and is_session(path):
        with Session.open(path) as session:
            source = origin_of(session, path)
        if "demo" in source:
            return _prepare_demo(source["demo"], path)
    return prepare_file(path, Reading(), MethodChoice(), SessionOptions())


def _prepare_demo(name: str, path: Path | None = None) -> PageSource:
    from linkwise.app.cli.commands.demo import prepare_demo

    return prepare_demo(name, path)
