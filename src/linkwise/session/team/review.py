"""Review: the pairs that a person should decide, because answers disagree or are probably wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer
from linkwise.session.journal.events import Event
from linkwise.session.state.suspects import SuspectAnswer

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """A pair that waits for a reviewer.

    Attributes
    ----------
    first, second : int
        Positions of the two rows, the lower one first.
    answers : tuple of Event
        The answers to this pair and whoever volunteered it, in order, each with its `source` and `when`.
    is_disputed : bool
        Whether there is both a yes and a no among them.
    suspects : tuple of SuspectAnswer
        Those of the answers that are probably wrong.
    believed : {"yes", "no"} or None
        What follows for the pair from all answers; None if nothing does.
    """

    first: int
    second: int
    answers: tuple[Event, ...]
    is_disputed: bool
    suspects: tuple[SuspectAnswer, ...]
    believed: Answer | None

    def waits_for(self, reviewer: str) -> bool:
        """Whether a reviewer has not left the pair as not sure; unlike an answer, that is no reply."""
        return not any(
            event.kind == "add" and event.answer == "unsure" and event.source == reviewer
            for event in self.answers
        )


def list_cases(
    settled: Sequence[Event], certain: Evidence, evidence: Evidence, suspects: Sequence[SuspectAnswer]
) -> list[ReviewCase]:
    """List the pairs that wait for some reviewer: first those with a yes and a no, then other suspects.

    Parameters
    ----------
    settled : sequence of Event
    certain : Evidence
        What is certain: it decides a pair, and then the pair waits no longer.
    evidence : Evidence
        All answers, for what is believed.
    suspects : sequence of SuspectAnswer
        The most probable ones first.
    """
    answers: dict[Pair, list[Event]] = {}
    for event in settled:
        pair = _pair_of(event)
        if pair is not None:
            answers.setdefault(pair, []).append(event)
    doubted: dict[Pair, list[SuspectAnswer]] = {}
    for suspect in suspects:
        pair = min(suspect.first, suspect.second), max(suspect.first, suspect.second)
        doubted.setdefault(pair, []).append(suspect)
    disputed = {pair: None for pair, given in answers.items() if {"yes", "no"} <= {e.answer for e in given}}
    cases = []
    for pair in dict.fromkeys([*disputed, *doubted]):
        if certain.verdict(*pair) in ("yes", "no"):
            continue
        believed = evidence.verdict(*pair)
        cases.append(
            ReviewCase(
                *pair,
                answers=tuple(answers.get(pair, ())),
                is_disputed=pair in disputed,
                suspects=tuple(doubted.get(pair, ())),
                believed=None if believed == "unsure" else believed,
            )
        )
    return cases


def _pair_of(event: Event) -> Pair | None:
    """The rows of an answer or a volunteered pair, the lower one first."""
    if event.kind not in ("answer", "add") or event.first is None or event.second is None:
        return None
    return min(event.first, event.second), max(event.first, event.second)
