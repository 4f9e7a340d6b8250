"""How a command ends: one plain sentence on stderr and an exit code, never a traceback."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from linkwise.errors import (
    DataMismatchError,
    InfeasibleConstraintsError,
    SessionError,
)

USAGE, BAD_DATA, CONTRADICTION, SESSION, INTERRUPTED = 2, 3, 4, 5, 130


class WrongUse(Exception):
    """What was asked for on the command line cannot be done as asked."""


class Interrupted(Exception):
    """Ctrl-C, with what became of the answers in words."""


def exit_code(error: BaseException) -> int | None:
    """The exit code for an error that a person can do something about; None for a fault of ours."""
    codes: tuple[tuple[type[BaseException], int], ...] = (
        (WrongUse, USAGE),
        (InfeasibleConstraintsError, CONTRADICTION),
        (DataMismatchError, BAD_DATA),
        (SessionError, SESSION),
        (ValueError, BAD_DATA),  # DataError, ConstraintError and what scikit-learn refuses
        (OSError, BAD_DATA),
        (Interrupted, INTERRUPTED),
        (KeyboardInterrupt, INTERRUPTED),
    )
    return next((code for kind, code in codes if isinstance(error, kind)), None)


@contextmanager
def plainly() -> Iterator[None]:
    """Say errors and warnings in one line and exit with the code that belongs to them."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: say(f"note: {message}")
        try:
            yield
        except BrokenPipeError:
            raise  # whoever read the output has seen enough
        except (Exception, KeyboardInterrupt) as error:
            code = exit_code(error)
            if code is None:
                raise
            say(_sentence(error))
            sys.exit(code)


def say(text: str) -> None:
    """One line for the person, beside the output."""
    print(f"linkwise: {text}", file=sys.stderr, flush=True)


def _sentence(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; nothing was changed"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())
