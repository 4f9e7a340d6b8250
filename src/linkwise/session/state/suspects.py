"""The answers of a session that are probably wrong, and the estimated share of wrong answers.

Both follow from what is believed (`linkwise.constraints.belief`). A session file stores them with the labels,
because the search for what is believed needs the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster.metric.answer_fit import is_random
from linkwise.constraints.belief import Belief, Given, count_contradictions
from linkwise.constraints.error_rates import AssumedRate, estimate_by_tests
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer, Fact, Suspect
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.constraints.sorting import Sorting
from linkwise.session.journal.events import Event
from linkwise.session.journal.stored_clustering import (
    GRADES,
    MOST_RATE,
    Doubts,
    ErrorRate,
    Grade,
    StoredSuspect,
)
from linkwise.session.state.event_lists import add_event, fallible_facts
from linkwise.wording import join_names

MOST_NAMED = 3  # rows of a pile
MOST_MATES = 5  # of a card that fits no pile of its screen
VERY_LIKELY = 0.9  # chance of an error from which an answer is very likely wrong
LEAST_CHANCE: dict[Grade, float] = {"likely wrong": 0.5, "very likely wrong": VERY_LIKELY}
Key = tuple[int, int, Answer]
"""The rows of a fact, the lower one first, and its answer."""
OPPOSITE: dict[Answer, Answer] = {"yes": "no", "no": "yes", "unsure": "unsure"}


@dataclass(frozen=True, slots=True)
class SuspectAnswer:
    """An answer that is probably wrong.

    Attributes
    ----------
    number : int
        Number of its event in `Session.history`.
    first, second : int
        Positions of the two rows.
    answer : {"yes", "no"}
        The answer as it was given.
    grade : {"likely wrong", "very likely wrong"}
        How likely the answer is wrong.
    because : tuple of Fact
        The shortest chain of other answers that speaks against it; empty if no chain of answers does, but
        the similarity of the rows.
    card : int or None
        If rows were sorted, the one that is probably in a wrong pile: `first`. `Session.flip` moves it.
    pile : tuple of int
        The other rows of its pile.
    better_pile : tuple of int
        The rows of the pile where the card probably belongs. If it fits none of its screen, they are other
        rows with which it belongs; empty if there are none.
    """

    number: int
    first: int
    second: int
    answer: Answer
    grade: Grade
    because: tuple[Fact, ...] = ()
    card: int | None = None
    pile: tuple[int, ...] = ()
    better_pile: tuple[int, ...] = ()

    @property
    def stay(self) -> tuple[int, int, Answer]:
        """Two rows and the answer about them with which the card stays; pass them to `Session.decide`."""
        if self.pile:
            return self.first, self.pile[0], "yes"
        return self.first, (self.better_pile or (self.second,))[0], "no"

    @property
    def move(self) -> tuple[int, int, Answer]:
        """The same with which it moves."""
        if self.better_pile:
            return self.first, self.better_pile[0], "yes"
        return self.first, (self.pile or (self.second,))[0], "no"


class RecalledEvidence(FallibleEvidence):
    """Evidence as it was believed when the labels were stored: it needs no data."""

    def __init__(
        self, n_rows: int, settled: Sequence[Event], error_rate: AssumedRate, doubts: Doubts
    ) -> None:
        super().__init__(n_rows, error_rate=error_rate)
        self.doubts = doubts
        grades = {number: grade for number, grade, *pair in doubts.suspects if not pair}
        pairs = {(number, frozenset(pair)): grade for number, grade, *pair in doubts.suspects if pair}
        part_of = {row: at for at, part in enumerate(doubts.parts) for row in part}
        believed: list[Fact] = []
        self._grades: list[Grade | None] = []
        for event in settled:
            add_event(self, event)
            for fact in fallible_facts(event):
                grade = grades.get(event.number, pairs.get((event.number, frozenset(fact.pair))))
                self._grades.append(grade)
                one, other = (part_of.get(row) for row in fact.pair)
                if fact.answer != "unsure" and one is not None and other is not None:
                    fact = replace(fact, answer="yes" if one == other else "no")
                elif grade is not None:
                    fact = replace(fact, answer=OPPOSITE[fact.answer])
                believed.append(fact)
        self._rebuild(believed)

    def suspects(self) -> list[Suspect]:
        """Return the answers that are probably wrong, the most probable ones first.

        Each has the least chance of its grade.
        """
        n_given = len(self) - len(self._facts)
        found = [
            Suspect(n_given + at, fact, LEAST_CHANCE[grade])
            for at, (fact, grade) in enumerate(zip(self._facts, self._grades, strict=True))
            if grade is not None
        ]
        return sorted(found, key=lambda suspect: -suspect.chance)


def find_doubts(
    evidence: Evidence, settled: Sequence[Event], X: NDArray[np.floating] | None = None
) -> Doubts | None:
    """Find the suspects and the error rate by what is believed; None if all answers count as right.

    `X` is the data of the session, if it has them.
    """
    if isinstance(evidence, RecalledEvidence):
        return evidence.doubts
    if not isinstance(evidence, FallibleEvidence):
        return None
    events = [event for event in settled for _ in fallible_facts(event)]
    n_certain = len(evidence) - len(events)
    rates = _estimate_rates(evidence, events, n_certain, X)
    given = {_key_of(fact) for fact in evidence}
    found: list[StoredSuspect] = [
        _store_suspect(events[suspect.number - n_certain], suspect)
        for suspect in evidence.suspects()
        if not events[suspect.number - n_certain].is_sure
        and (not rates.is_misled or _find_contradiction(evidence, suspect.fact, given))
    ]
    return Doubts(rates.shown, tuple(found), _list_parts(evidence.belief))


def _list_parts(belief: Belief) -> tuple[tuple[int, ...], ...]:
    """The rows of each part of a belief."""
    return tuple(tuple(belief.rows[belief.label == part].tolist()) for part in range(belief.n_clusters))


def _store_suspect(event: Event, suspect: Suspect) -> StoredSuspect:
    """What a session file holds of a suspect of an event."""
    grade, card = GRADES[suspect.chance >= VERY_LIKELY], suspect.card
    if card is None:
        return event.number, grade
    (other,) = {*suspect.fact.pair} - {card}
    return event.number, grade, card, other


class _Rates(NamedTuple):
    """The error rate to show, and whether similarity misleads the belief about the answers."""

    shown: ErrorRate | None
    is_misled: bool


def _estimate_rates(
    evidence: FallibleEvidence, events: Sequence[Event], n_certain: int, X: NDArray[np.floating] | None
) -> _Rates:
    """Estimate the error rate by what is believed, unless similarity says nothing about the answers.

    It says nothing if the answers look random to it, or if a belief breaks far more answers than contradict
    each other. Then an answer is no suspect because of the similarity alone.
    """
    if isinstance(evidence.error_rate, float):
        return _Rates(ErrorRate(evidence.error_rate, evidence.error_rate, evidence.error_rate), False)
    if len(evidence.belief.rows) == 0:
        return _Rates(None, False)
    found = evidence.error_rates().overall  # what the search assumes is higher, so that it asks again in time
    is_misled = False
    if evidence.error_rate is None:
        given = _list_given(evidence, events, n_certain)
        by_tests = estimate_by_tests(*count_contradictions(evidence.n_rows, given))
        is_misled = found.rate > by_tests.high or (X is not None and is_random(list(evidence), X))
        found = by_tests if is_misled else found
    return _Rates(
        ErrorRate(*(min(share, MOST_RATE) for share in (found.rate, found.low, found.high))), is_misled
    )


def _list_given(evidence: Evidence, events: Sequence[Event], n_certain: int) -> Iterator[Given]:
    """The yes and no answers, and whether each is certain."""
    for at, fact in enumerate(evidence):
        event = events[at - n_certain] if at >= n_certain else None
        sorting = None if event is None else event.sorting
        if fact.answer == "unsure" or (sorting is not None and not sorting.is_least(fact)):
            continue
        look = None if event is None or sorting is None else (event.number, fact.second)
        yield Given(*fact.pair, fact.answer == "yes", event is None or event.is_sure, look)


def _find_contradiction(evidence: Evidence, fact: Fact, given: set[Key]) -> tuple[Fact, ...]:
    """The shortest chain of given answers that implies the opposite of another one, if there is one."""
    relation = evidence.relation(*fact.pair)
    is_given = all(_key_of(each) in given for each in relation.because)
    return relation.because if is_given and relation.verdict == OPPOSITE[fact.answer] else ()


def explain_suspects(evidence: Evidence, settled: Sequence[Event], doubts: Doubts) -> list[SuspectAnswer]:
    """Add to each suspect its answer, and the chain of answers that speaks against it."""
    by_number = {event.number: event for event in settled if event.kind in ("answer", "sort", "add")}
    given = {_key_of(fact) for fact in evidence}
    found = []
    for number, grade, *pair in doubts.suspects:
        fact = _fact_of(by_number.get(number), pair)
        if fact is None or fact.answer == "unsure":
            continue  # no session writes such a suspect
        suspect = SuspectAnswer(
            number, *fact.pair, fact.answer, grade, _find_contradiction(evidence, fact, given)
        )
        sorting = by_number[number].sorting
        found.append(suspect if sorting is None else _find_piles(suspect, sorting, evidence))
    return found


def _find_piles(suspect: SuspectAnswer, sorting: Sorting, evidence: Evidence) -> SuspectAnswer:
    """Add the pile of a card, and the one where it probably belongs, each with the most telling row first."""
    card, other = suspect.first, suspect.second
    own = sorted({*sorting.piles[sorting.pile_of[card]]} - {card}, key=lambda row: (row != other, row))
    groups = evidence.groups()
    mates = {*groups.rows[groups.number[np.searchsorted(groups.row, card)]].tolist()} - {card, *own}
    piles = [pile for pile in sorting.piles if card not in pile]
    better: Sequence[int] = max(piles, key=lambda pile: len(mates & {*pile}), default=())
    if 2 * len(mates & {*better}) <= len(better):
        better = sorted(mates)[:MOST_MATES]
    better = sorted(better, key=lambda row: (row != other, row not in mates, row))
    return replace(suspect, card=card, pile=tuple(own), better_pile=tuple(better))


def describe_card(suspect: SuspectAnswer, name_of: Callable[[int], str]) -> str:
    """Put into words where a misplaced card lies, and where it probably belongs."""
    where = f"a pile {_name_pile(suspect.pile, name_of)}" if suspect.pile else "a pile of its own"
    belongs = _name_pile(suspect.better_pile, name_of) if suspect.better_pile else "in a pile of its own"
    return f"It is in {where}, and probably belongs {belongs}."


def _name_pile(rows: Sequence[int], name_of: Callable[[int], str]) -> str:
    return f"with {join_names(map(name_of, rows), MOST_NAMED)}"


def _fact_of(event: Event | None, pair: Sequence[int]) -> Fact | None:
    """The pair of an answer, or one of a sorting, with what was said of it."""
    if event is None:
        return None
    if event.sorting is not None:
        piles = [event.sorting.pile_of.get(row) for row in pair]
        if len(piles) != 2 or None in piles:
            return None
        return Fact(pair[0], pair[1], "yes" if piles[0] == piles[1] else "no")
    if event.first is None or event.second is None or event.answer is None:
        return None
    return Fact(event.first, event.second, event.answer)


def _key_of(fact: Fact) -> Key:
    """What tells two facts apart, whichever of their rows comes first."""
    one, other = fact.first, fact.second
    return (one, other, fact.answer) if one < other else (other, one, fact.answer)
