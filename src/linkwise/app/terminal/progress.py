"""The spinner and the bar that show progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from linkwise.types import Progress


@contextmanager
def busy(what: str, counting: str = "preparing") -> Iterator[Progress | None]:
    """Show a spinner on stderr if it is a terminal; yield ``progress(done, total)``, or None.

    Once progress is reported, the work is described as ``preparing: 412 of 931``, with `counting` first.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status(what) as spinner:
        yield lambda made, planned: spinner.update(f"{counting}: {made} of {planned}")


@contextmanager
def show_bar(what: str) -> Iterator[Progress | None]:
    """Show a bar on stderr if it is a terminal, with the time left.

    Yield ``progress(done, total)``, or None.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)
