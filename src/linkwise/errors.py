"""The errors and warnings of linkwise. A message says what is wrong, what was given and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAX_REPR = 60  # characters of a value in a message


def short_repr(value: object) -> str:
    """Write a value for a message: its repr if that is short, else its type and size."""
    kind, shape = type(value).__name__, getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{kind} of shape {shape}"
    if isinstance(value, (list, tuple, set, frozenset, dict)) and len(value) > MAX_REPR // 3:
        return f"{kind} of {len(value)} items"
    if isinstance(value, int) and value.bit_length() > 200:
        return f"{kind} of {value.bit_length()} bits"
    try:
        text = repr(value)
    except ValueError:  # it holds an integer with more digits than Python writes
        return kind
    if len(text) <= MAX_REPR:
        return text
    return f"{text[:MAX_REPR]}... ({kind})" if isinstance(value, str) else kind


class ConstraintError(ValueError):
    """A constraint that cannot be used as given."""


class InfeasibleConstraintsError(ConstraintError):
    """Constraints that no clustering can satisfy together.

    Attributes
    ----------
    chain : tuple of int
        Rows joined by must-links, in order; a cannot-link separates the first from the last row.
        Empty if there is another reason.
    reason : str
        If there are too few clusters: what is impossible, without the rows and without advice.
    rows : tuple of int
        The rows that make it impossible.
    """

    def __init__(
        self, message: str, chain: Sequence[int] = (), *, reason: str = "", rows: Sequence[int] = ()
    ) -> None:
        super().__init__(message)
        self.chain, self.reason, self.rows = tuple(chain), reason, tuple(rows)


class ConstraintWarning(UserWarning):
    """Constraints were accepted, but they may not be what the user intended."""


class NothingAskedWarning(UserWarning):
    """A learner has neither an oracle nor constraints, so the clusters follow from the rows alone."""


class DataError(ValueError):
    """A table or an array that cannot be clustered as given."""


class SessionError(RuntimeError):
    """An operation that the session cannot carry out."""


class DataMismatchError(SessionError):
    """The data differ from those that the session was created with."""


class SessionLockedError(SessionError):
    """Another process holds the session file and did not release it in time."""


class SessionDamagedError(SessionError):
    """The file is not a linkwise session, or it is damaged."""


class UnnamedAnswersError(ValueError):
    """Answers of another session do not say who gave them, and nobody was named.

    Attributes
    ----------
    reason : str
        Which answers, without advice.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} Pass source to say who gave them.")
        self.reason = reason


class ProgramError(RuntimeError):
    """A program that answers questions cannot be started, or it does not work."""


class StaleAnswerError(SessionError):
    """An answer to a question that is no longer open.

    Attributes
    ----------
    question : Question or None
        The open question.
    """

    def __init__(self, message: str, question: Any = None) -> None:
        super().__init__(message)
        self.question = question
