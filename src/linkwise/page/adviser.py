"""The advice of a page: how many rows are probably still in a wrong cluster, and when to stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.page.stopping import advise, ask_to_check
from linkwise.session.status import Status, describe_advice


def give_advice(changes: Sequence[float], status: Status, *, ended: bool) -> dict[str, Any]:
    """Put the advice into words, and say how many rows may be in a wrong cluster.

    The advice of the learner comes first, in the words that the terminal shows, too. If the learner gives
    none, the advice rests on how many rows the last answers moved.

    Parameters
    ----------
    changes : sequence of float
        Shares of the rows that the last answers moved.
    status : Status
        The advice and the sentences of the learner. While it counts suspects, the advice is to check them
        before you stop.
    ended : bool
        Whether there are no more questions.

    Returns
    -------
    dict
        ``text``; ``stop``, None while it is too early to tell; and ``wrong``, the expected share of the rows
        that are in a wrong cluster, or None.
    """
    own = status.advice
    if ended or own is None:
        moves = advise(changes, ended=ended, n_suspects=status.n_suspects)
        return {**moves, "wrong": None if own is None else own.wrong}
    if own.stop and status.n_suspects:
        return {"stop": False, "text": ask_to_check(status.n_suspects), "wrong": own.wrong}
    sentences = [*status.description, *describe_advice(status)]
    return {"stop": own.stop, "text": " ".join(sentences), "wrong": own.wrong}
