"""Questions that tell how reliable answers are: second opinions, and pairs whose answer is known (gold).

A pair is drawn for a second opinion by a number that depends only on the seed and the pair, so the same
answers lead to the same second opinions, in whatever order they arrive. The share of pairs that are drawn
falls as the agreement becomes known. Gold pairs are spread over the questions of each person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations
from math import ceil

from linkwise.constraints.facts import Answer
from linkwise.rng import rng_at
from linkwise.session.journal.events import Event
from linkwise.session.team.agreement import wilson_interval

Pair = tuple[int, int]

WHY = "A few pairs serve to learn how reliable the answers are."
WIDE, NARROW = 0.10, 0.05  # half widths of an interval: from the first on fewer questions, at the second none
GOLD_EVERY = 10  # answers of a person among which one is to a gold pair
GOLD_START = 5  # of the first ten
SECOND, GOLD = 1, 2  # places of draws
MOST_DRAWS = 2**17  # that are remembered


@dataclass
class _Opinions:
    """Who answered which pair."""

    by_pair: dict[Pair, dict[str, Answer]] = field(default_factory=dict)  # the last answer of each source
    asked: set[Pair] = field(default_factory=set)  # pairs that were asked
    n_asked: Counter[str] = field(default_factory=Counter)  # answers to questions, gold ones included
    n_second: Counter[str] = field(default_factory=Counter)  # of these, to pairs that others had answered
    n_gold: Counter[str] = field(default_factory=Counter)
    n_unsure: Counter[str] = field(default_factory=Counter)  # of the gold ones
    n_right: Counter[str] = field(default_factory=Counter)  # of the gold ones


def choose_second_opinions(
    settled: Iterable[Event], person: str, held: Collection[Pair], share: float, seed: int
) -> list[Pair]:
    """Choose the pairs that one other source answered and that a person should answer, too.

    They are in the order of their first answers, as `settled` events are. The person gets no pair that
    they answered or volunteered before, nor one that somebody holds now. `share` is that of pairs with a
    second opinion while nothing is known of the agreement.
    """
    opinions = _collect(settled)
    known = _measure_agreement(opinions)
    chosen = []
    for pair, given in opinions.by_pair.items():
        if len(given) > 1 or person in given or pair in held or pair not in opinions.asked:
            continue
        (other,) = given
        width = max(_half_width(*known.get(source, (0, 0))) for source in (person, other))
        if other and _draw(seed, SECOND, *pair) < share * scale_share(width):
            chosen.append(pair)
    return chosen


def count_due_opinions(settled: Iterable[Event], person: str, n: int, share: float) -> int:
    """Count how many of the next n questions of a person are second opinions while there are others.

    Up to now at most that share of their answers was to pairs that others had answered.
    """
    opinions = _collect(settled)
    due = ceil(share * (opinions.n_asked[person] + n)) - opinions.n_second[person]
    return min(n, max(0, due))


def choose_gold(
    settled: Sequence[Event], person: str, held: Collection[Pair], source: str, seed: int
) -> list[Pair]:
    """Choose the gold pairs that a person should answer now.

    They are from the import of `source`, in an order that differs from person to person, and nobody holds
    them now. At most one of ten answers is to a gold pair, so the list is short or empty.
    """
    opinions = _collect(settled)
    n_gold = opinions.n_gold[person]
    n_due = (opinions.n_asked[person] + GOLD_EVERY - GOLD_START) // GOLD_EVERY - n_gold
    if n_due <= 0 or _half_width(opinions.n_right[person], n_gold - opinions.n_unsure[person]) <= NARROW:
        return []
    gold = [
        (min(fact.pair), max(fact.pair))
        for event in settled
        if event.kind == "import" and event.source == source
        for fact in event.facts
        if fact.answer != "unsure"
    ]
    left = [p for p in dict.fromkeys(gold) if p not in held and person not in opinions.by_pair.get(p, ())]
    return sorted(left, key=lambda pair: _draw(seed, GOLD, *pair, *person.encode()))[:n_due]


def scale_share(half_width: float) -> float:
    """How much of a share is left if the agreement is known within so much: 1 from 0.1 on, 0 up to 0.05."""
    return min(1.0, max(0.0, (half_width - NARROW) / (WIDE - NARROW)))


def _collect(settled: Iterable[Event]) -> _Opinions:
    found = _Opinions()
    for event in settled:
        if event.kind not in ("answer", "add") or event.first is None or event.second is None:
            continue
        pair = min(event.first, event.second), max(event.first, event.second)
        if event.answer is not None:
            given = found.by_pair.setdefault(pair, {})
            found.n_second[event.source] += event.kind == "answer" and bool(given.keys() - {event.source})
            given[event.source] = event.answer
        if event.kind == "answer":
            found.asked.add(pair)
            found.n_asked[event.source] += 1
            if event.gold is not None:
                found.n_gold[event.source] += 1
                found.n_unsure[event.source] += event.answer == "unsure"
                found.n_right[event.source] += event.answer == event.gold
    return found


def _measure_agreement(opinions: _Opinions) -> dict[str, tuple[int, int]]:
    """For each source how often it agrees with another one, and how many common answers there are."""
    n_agreeing: Counter[str] = Counter()
    n_common: Counter[str] = Counter()
    for given in opinions.by_pair.values():
        for one, other in permutations([source for source, a in given.items() if a != "unsure"], 2):
            n_common[one] += 1
            n_agreeing[one] += given[one] == given[other]
    return {source: (n_agreeing[source], n) for source, n in n_common.items()}


def _half_width(n_of: int, n: int) -> float:
    """Half the width of the 95 % interval of a share; it is 0.5 if nothing is known."""
    low, high = wilson_interval(n_of, n) if n else (0.0, 1.0)
    return (high - low) / 2


@lru_cache(maxsize=MOST_DRAWS)
def _draw(seed: int, *place: int) -> float:
    """A number from 0 up to 1 that depends only on the seed and the place."""
    return float(rng_at(seed, *place).random())
