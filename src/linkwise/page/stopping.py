"""How much an answer changed the clustering, and whether more answers are worth the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.item_labels import count_shared_rows
from linkwise.asking.learner import Labels
from linkwise.wording import NO_MORE_QUESTIONS, count_noun

WINDOW = 10  # answers that advice looks back on
STILL = 0.01  # share of the rows that may move while the clustering counts as settled


def count_moved_rows(before: Labels, after: Labels) -> int:
    """Return how many rows moved from one clustering to the next.

    There are two ways to count: the rows that left the largest part of their old cluster, and the rows that
    joined the largest part of their new one. The result is the larger of the two counts. When a cluster
    splits, its smaller parts therefore move; when clusters merge, the smaller ones do. The numbers of the
    clusters do not matter.

    Parameters
    ----------
    before, after : ndarray of shape (n_rows,)
        Clusters 0, 1, ...; noise is -1.
    """
    if len(before) == 0:
        return 0
    source, target, rows = count_shared_rows(before, after)
    return len(before) - min(_count_majority(source, rows), _count_majority(target, rows))


def measure_change(before: Labels, after: Labels) -> float:
    """Return the share of the rows that moved, by `count_moved_rows`."""
    return count_moved_rows(before, after) / max(1, len(before))


def _count_majority(cluster: NDArray[np.int64], counts: NDArray[np.int64]) -> int:
    """Return how many rows are in the largest part of their cluster."""
    low = cluster.min()
    largest = np.zeros(int(cluster.max() - low) + 1, dtype=np.int64)
    np.maximum.at(largest, cluster - low, counts)
    return int(largest.sum())


def advise(changes: Sequence[float], *, ended: bool, n_suspects: int = 0) -> dict[str, Any]:
    """Advise whether to stop: ``stop`` is True, False, or None while it is too early to tell.

    Parameters
    ----------
    changes : sequence of float
        The share of the rows that each answer moved, in order.
    ended : bool
        Whether there are no more questions.
    n_suspects : int, default=0
        Answers that are probably wrong. While there are any, the advice is to check them.
    """
    if ended:
        return {"stop": True, "text": f"{NO_MORE_QUESTIONS}."}
    last = changes[-WINDOW:]
    if len(last) < WINDOW:
        left = WINDOW - len(last)
        return {
            "stop": None,
            "text": f"After {left} more answer{'s' * (left > 1)}, linkwise can advise when to stop.",
        }
    if max(last) < STILL and n_suspects:
        return {
            "stop": False,
            "text": f"The last {WINDOW} answers moved fewer than 1 in 100 rows, but"
            f" {ask_to_check(n_suspects)}",
        }
    if max(last) < STILL:
        return {
            "stop": True,
            "text": f"The last {WINDOW} answers moved fewer than 1 in 100 rows. You can stop here.",
        }
    busy = sum(change >= STILL for change in last)
    return {
        "stop": False,
        "text": f"{busy} of the last {WINDOW} answers still moved rows, at most {max(last):.0%} of them. "
        "Continue.",
    }


def ask_to_check(n_suspects: int) -> str:
    """Say how many answers are probably wrong, and what to do."""
    are, them = ("is", "it") if n_suspects == 1 else ("are", "them")
    return f"{count_noun(n_suspects, 'answer')} {are} probably wrong. Check {them} before you stop."
