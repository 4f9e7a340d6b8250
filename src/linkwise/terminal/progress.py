"""What is shown while a person has to wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from linkwise.asking.learner import Progress


@contextmanager
def busy(what: str, counting: str = "preparing") -> Iterator[Progress | None]:
    """A spinner on stderr, when somebody watches it.

    Parameters
    ----------
    what : str
        What is done.
    counting : str
        What is done as soon as it is reported how far it is: ``preparing: 412 of 931``.

    Yields
    ------
    callable or None
        ``progress(made, planned)``; None when nobody watches.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status(what) as spinner:
        yield lambda made, planned: spinner.update(f"{counting}: {made} of {planned}")
