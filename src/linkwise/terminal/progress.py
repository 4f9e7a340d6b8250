"""The spinner that shows progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from linkwise.asking.learner import Progress


@contextmanager
def busy(what: str, counting: str = "preparing") -> Iterator[Progress | None]:
    """Show a spinner on stderr if it is a terminal.

    Parameters
    ----------
    what : str
        The work, in words.
    counting : str, default="preparing"
        The work in words once progress is reported: ``preparing: 412 of 931``.

    Yields
    ------
    callable or None
        ``progress(done, total)``; None if stderr is not a terminal.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status(what) as spinner:
        yield lambda made, planned: spinner.update(f"{counting}: {made} of {planned}")
