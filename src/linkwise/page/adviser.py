"""Advice: how many rows are probably still in a wrong cluster, and when to stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.page.stopping import advise, ask_to_check

STOP = "stop here"  # in the sentences that suggest it


def give_advice(
    changes: Sequence[float],
    sentences: Sequence[str],
    confidence: NDArray[np.float64] | None,
    *,
    ended: bool,
    n_suspects: int = 0,
) -> dict[str, Any]:
    """Put the advice into words, and say how many rows may be in a wrong cluster.

    A learner that knows how certain its clusters are gives the advice in its own words, which the terminal
    shows, too. With another learner it rests on how many rows the last answers moved.

    Parameters
    ----------
    changes : sequence of float
        Shares of the rows that the last answers moved.
    sentences : sequence of str
        What the learner says about its clusters.
    confidence : ndarray of shape (n_rows,), or None
        The probability that each row is in its cluster; None if the learner does not estimate it.
    ended : bool
        Whether there are no more questions.
    n_suspects : int, default=0
        Answers that are probably wrong. While there are any, the advice is to check them before you stop.

    Returns
    -------
    dict
        ``text``; ``stop``, None while it is too early to tell; and ``wrong``, the expected share of the rows
        that are in a wrong cluster, or None.
    """
    moves = advise(changes, ended=ended, n_suspects=n_suspects)
    if confidence is None:
        return {**moves, "wrong": None}
    wrong = float(1 - confidence.mean())
    if ended:
        return {**moves, "wrong": wrong}
    text = " ".join(sentences)
    if STOP in text and n_suspects:
        return {"stop": False, "text": ask_to_check(n_suspects), "wrong": wrong}
    return {"stop": STOP in text, "text": text, "wrong": wrong}
