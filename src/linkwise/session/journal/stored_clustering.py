"""What a session file holds of the clustering: labels, words of the learner, and which answers are doubtful.

All of it follows from the events and the data. It is stored so that a session can be read without the data.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from linkwise.learn.advice import StopAdvice
from linkwise.learn.item_labels import Shown, read_labels
from linkwise.types import Labels

Grade = Literal["likely wrong", "very likely wrong"]
GRADES: tuple[Grade, ...] = get_args(Grade)
MOST_RATE = 0.5  # answers that are wrong more often would be right if they were turned round


class ErrorRate(NamedTuple):
    """The share of answers that are wrong.

    Attributes
    ----------
    estimate : float
        The estimate, or the share that the session was begun with.
    low, high : float
        Interval that contains the share with a probability of 95 %, where it is estimated.
    """

    estimate: float
    low: float
    high: float


StoredSuspect = tuple[int, Grade] | tuple[int, Grade, int, int]


class Doubts(NamedTuple):
    """What a session whose answers may be wrong stores with its labels.

    `suspects` are the numbers of the events of answers that are probably wrong, and how likely each is. If
    rows were sorted, two rows follow: a card that is probably misplaced, and a row that it was sorted with or
    apart from.

    `parts` has all rows that these answers name, those that are believed to belong together in one part. It
    is empty in a file of release 0.1.0: there the suspects are believed to be wrong, and no other answer.
    """

    error_rate: ErrorRate | None
    suspects: tuple[StoredSuspect, ...]
    parts: tuple[tuple[int, ...], ...]


class StoredClustering(NamedTuple):
    """The labels as of an event, the reason why asking ended by then, and the words of the learner.

    If answers may be wrong, it also holds which ones probably are. How certain the cluster of each row is, it
    holds only if it was stored when the session was closed.

    `event` is -1 if it is unknown after which event they were stored.
    """

    event: int
    reason: str | None
    shown: Shown
    description: tuple[str, ...] = ()
    doubts: Doubts | None = None
    advice: StopAdvice | None = None
    confidence: NDArray[np.float64] | None = None

    @property
    def labels(self) -> Labels:
        """The cluster of each row."""
        return read_labels(self.shown)
