"""The status of a session: counts, cluster sizes, and the sentences of the learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwise.asking.learner import Labels
from linkwise.constraints.evidence import Evidence
from linkwise.session.events import Event
from linkwise.wording import count_noun


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a session.

    Attributes
    ----------
    n_rows : int
    n_answers, n_yes, n_no, n_unsure : int
        Answers to questions that are not undone.
    n_volunteered, n_imported : int
        Pairs that were volunteered or imported.
    n_done : int
        Clusters that were marked as done: all their rows belong together.
    n_inferred : int
        Pairs of rows without an answer that follow from the answers.
    cluster_sizes : tuple of int
        Rows of each cluster, in order of cluster number.
    reason : str or None
        Why there is no question any more; None while there is one, or if the session was opened without
        its data.
    description : tuple of str
        Sentences of the learner about its state; empty if it has none, or if the stored labels are older
        than the last answer.
    """

    n_rows: int
    n_answers: int
    n_yes: int
    n_no: int
    n_unsure: int
    n_volunteered: int
    n_imported: int
    cluster_sizes: tuple[int, ...]
    reason: str | None
    description: tuple[str, ...] = ()
    n_done: int = 0
    n_inferred: int = 0


def build_status(
    history: Sequence[Event],
    labels: Labels,
    known: Evidence,
    reason: str | None,
    description: tuple[str, ...] = (),
) -> Status:
    """Count the settled events, the pairs that follow from them, and the rows of each cluster."""
    answers = [e.answer for e in history if e.kind == "answer"]
    return Status(
        n_rows=len(labels),
        n_answers=len(answers),
        n_yes=answers.count("yes"),
        n_no=answers.count("no"),
        n_unsure=answers.count("unsure"),
        n_volunteered=sum(e.kind == "add" for e in history),
        n_imported=sum(len(e.facts) for e in history if e.kind == "import"),
        n_done=sum(e.kind == "done" for e in history),
        n_inferred=known.n_inferred,
        cluster_sizes=tuple(np.bincount(labels - labels.min(initial=0)).tolist()),
        reason=reason,
        description=description,
    )


def count_answers(status: Status) -> str:
    """Put the counts into words: ``3 answers: 2 same, 1 different, 0 not sure; 3 pairs imported``."""
    text = count_noun(status.n_answers, "answer")
    if status.n_answers:
        text += f": {status.n_yes} same, {status.n_no} different, {status.n_unsure} not sure"
    numbers = ((status.n_volunteered, "added"), (status.n_imported, "imported"))
    others = [f"{count_noun(number, 'pair')} {how}" for number, how in numbers if number]
    return "; ".join([text, *([", ".join(others)] if others else [])])
