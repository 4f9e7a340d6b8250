"""How a command ends: one sentence on stderr and an exit code; a traceback only for internal errors."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from linkwise.errors import (
    ConstraintError,
    DataError,
    DataMismatchError,
    InfeasibleConstraintsError,
    ProgramError,
    SessionError,
)
from linkwise.wording import merge_full_stops

FAULT, USAGE, BAD_DATA, CONTRADICTION, SESSION, INTERRUPTED = 1, 2, 3, 4, 5, 130


class UsageError(Exception):
    """Options of the command line are wrong, or do not go together."""


class Interrupted(Exception):
    """Ctrl-C, with a sentence on where the answers are."""


def exit_code(error: BaseException) -> int | None:
    """The exit code of an error that a person can correct; None for an internal error."""
    codes: tuple[tuple[type[BaseException], int], ...] = (
        (UsageError, USAGE),
        (InfeasibleConstraintsError, CONTRADICTION),
        (DataMismatchError, BAD_DATA),
        (SessionError, SESSION),
        (DataError, BAD_DATA),
        (ConstraintError, BAD_DATA),
        (ProgramError, BAD_DATA),
        (UnicodeError, BAD_DATA),
        (OSError, BAD_DATA),
        (Interrupted, INTERRUPTED),
        (KeyboardInterrupt, INTERRUPTED),
    )
    return next((code for kind, code in codes if isinstance(error, kind)), None)


@contextmanager
def report_errors() -> Iterator[None]:
    """Print errors and warnings in one line, and exit with the code of the error."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: say(f"note: {message}")
        try:
            yield
        except (Exception, KeyboardInterrupt) as error:
            if type(error).__module__.partition(".")[0] in ("typer", "click"):
                raise _clean_usage_error(error) from None  # typer prints what is wrong with an option
            code = exit_code(error)
            if code is None:
                traceback.print_exc()
            say(error_sentence(error) if code is not None else _fault_sentence(error))
            sys.exit(FAULT if code is None else code)


def break_line() -> None:
    """End the line on stderr where a terminal shows ^C; do nothing if stderr is closed."""
    with suppress(OSError):
        print(file=sys.stderr)


def say(text: str) -> None:
    """Print one line for the person on stderr; do nothing if stderr is closed."""
    with suppress(OSError):
        print(f"linkwise: {text}", file=sys.stderr, flush=True)


def _clean_usage_error(error: BaseException) -> BaseException:
    """Remove the prefix that the check of a value adds to typer's message."""
    if isinstance(text := getattr(error, "message", None), str):
        error.message = text.removeprefix("Value error, ")  # type: ignore[attr-defined]  # it has one
    return error


def _fault_sentence(error: BaseException) -> str:
    """Describe an internal error, and what to do."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    return (
        "This is an error in linkwise, not in your data: "
        f"{type(error).__name__} in {Path(at.filename).name}, "
        f"line {at.lineno}. All answers are saved; take back the last one with linkwise undo FILE if "
        "the error comes again. Please report the lines above, with the command."
    )


def error_sentence(error: BaseException) -> str:
    """Put an error into one line."""
    if isinstance(error, KeyboardInterrupt):
        return "Interrupted. Nothing is changed."
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, UnicodeError):
        return f"A file name or the input is not UTF-8: {error}. Rename the file, or correct the input."
    return merge_full_stops(" ".join(str(error).split()))
