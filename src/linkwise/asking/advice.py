"""The advice of a learner: how many rows are probably in a wrong cluster, and whether to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class StopAdvice:
    """What a learner advises after an answer.

    Attributes
    ----------
    stop : bool
        Whether further answers will probably change almost nothing.
    wrong : float or None
        The expected share of the rows that are in a wrong cluster, from 0 to 1. None while it is too early to
        tell.

    Raises
    ------
    ValueError
        `wrong` is not from 0 to 1.
    """

    stop: bool
    wrong: float | None

    def __post_init__(self) -> None:
        stop = bool(self.stop)  # numbers of NumPy cannot be stored as JSON
        wrong = None if self.wrong is None else float(self.wrong)
        if wrong is not None and not 0 <= wrong <= 1:
            raise ValueError(f"The share of rows in a wrong cluster is {wrong!r}. Give one from 0 to 1.")
        object.__setattr__(self, "stop", stop)
        object.__setattr__(self, "wrong", wrong)


@runtime_checkable
class Advising(Protocol):
    """A learner that can advise when to stop."""

    def advise(self, state: Any, /) -> StopAdvice | None:
        """Advise whether to stop.

        It is called after every answer, so it must be fast.

        Parameters
        ----------
        state : object
            The state of the run.

        Returns
        -------
        StopAdvice or None
            None while nothing is known.
        """
