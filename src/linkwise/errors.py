"""What linkwise raises and warns of: what was given, what is wanted, the way out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAX_REPR = 60  # characters of a value in a message


def short_repr(value: object) -> str:
    """What was given, for a message: the value if it is short, else its type and size."""
    kind, shape = type(value).__name__, getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{kind} of shape {shape}"
    if isinstance(value, (list, tuple, set, frozenset, dict)) and len(value) > MAX_REPR // 3:
        return f"{kind} of {len(value)} items"
    text = repr(value)
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
        Rows joined by must-links, in order; its first and last row are also required apart.
        Empty when the reason is no such chain.
    reason : str
        Where too few clusters are the reason: what cannot be, without the rows and the way out.
    rows : tuple of int
        The rows that make it so.
    """

    def __init__(
        self, message: str, chain: Sequence[int] = (), *, reason: str = "", rows: Sequence[int] = ()
    ) -> None:
        super().__init__(message)
        self.chain, self.reason, self.rows = tuple(chain), reason, tuple(rows)


class ConstraintWarning(UserWarning):
    """Constraints were accepted, but the user will want to know something about them."""


class NothingAskedWarning(UserWarning):
    """A learner had neither an oracle nor constraints, so the clusters follow from the rows alone."""


class DataError(ValueError):
    """A table or an array that cannot be clustered as given."""


class SessionError(RuntimeError):
    """A session cannot do what was asked of it."""


class DataMismatchError(SessionError):
    """The data are not those that the session was made for."""


class SessionLockedError(SessionError):
    """Another process holds the session file and did not let go in time."""


class SessionDamagedError(SessionError):
    """The file is no linkwise session, or part of it is broken."""


class StaleAnswerError(SessionError):
    """An answer to a question that is no longer the present one.

    Attributes
    ----------
    question : Question or None
        The question that the session asks now.
    """

    def __init__(self, message: str, question: Any = None) -> None:
        super().__init__(message)
        self.question = question
