"""Several sources at one session: how much each answered, and how often two of them agree.

Agreement is counted over the pairs of rows that both sources answered with yes or no. Cohen's kappa compares
it with chance.

References
----------
Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement,
20(1), 37-46.

Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of the
American Statistical Association, 22(158), 209-212.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import sqrt
from statistics import median
from typing import NamedTuple

from linkwise.constraints.error_rates import SourceRate
from linkwise.constraints.facts import Answer
from linkwise.markup import draw_block
from linkwise.session.journal.events import ANSWERS_QUESTION, Event
from linkwise.session.state.event_lists import facts_of
from linkwise.session.state.status import ENOUGH, describe_percent, describe_range, describe_share
from linkwise.wording import count_noun

DEVIATIONS = 1.959964  # on each side of a 95 % interval
Pair = tuple[int, int]


class SourceCounts(NamedTuple):
    """How much one source answered.

    Attributes
    ----------
    source : str
        Its name; empty for answers that have none.
    n_answers, n_yes, n_no, n_unsure : int
        Its answers to questions. A screen that it sorted is one answer, and neither yes, no nor unsure.
    n_volunteered : int
        The pairs that it volunteered.
    n_certain : int
        Those of all these that are certain, as the decisions of a reviewer are.
    n_gold, n_gold_right : int
        Its answers of yes or no to gold pairs, which are not among the others, and those that are right.
    median_seconds : float or None
        The median of the seconds that its answers about pairs took; None if they are unknown.
    n_screens : int
        The screens that it sorted.
    """

    source: str
    n_answers: int
    n_yes: int
    n_no: int
    n_unsure: int
    n_volunteered: int
    n_certain: int = 0
    n_gold: int = 0
    n_gold_right: int = 0
    median_seconds: float | None = None
    n_screens: int = 0

    def _repr_html_(self) -> str:
        rows = [(name.removeprefix("n_").replace("_", " "), n) for name, n in self._asdict().items() if n]
        return draw_block(self.source or "no source", rows=rows[1:] if self.source else rows)


class SourceAgreement(NamedTuple):
    """How often two sources agree on pairs that both answered with yes or no.

    Attributes
    ----------
    first, second : str
        The two sources.
    n_common : int
        Pairs that both answered.
    n_agreeing : int
        Those of them with the same answer.
    kappa : float or None
        Cohen's kappa: 1 for full agreement, 0 for as much as by chance. None if both gave one answer only, so
        that they would always agree by chance.
    low, high : float or None
        Its 95 % interval.
    """

    first: str
    second: str
    n_common: int
    n_agreeing: int
    kappa: float | None
    low: float | None
    high: float | None

    def _repr_html_(self) -> str:
        names = " and ".join(name or "no source" for name in (self.first, self.second))
        rows = [("common pairs", self.n_common), ("with the same answer", self.n_agreeing)]
        if self.kappa is None:
            return draw_block(names, rows=rows)
        kappa = ("kappa, with its 95 % interval", f"{self.kappa:.2f} ({self.low:.2f} to {self.high:.2f})")
        return draw_block(names, rows=[*rows, kappa])


def count_by_source(events: Iterable[Event]) -> list[SourceCounts]:
    """Count the settled answers and volunteered pairs of each source, in the order of their names."""
    counts: dict[str, Counter[str]] = {}
    settled = list(events)
    medians = measure_pace(settled)
    for event in settled:
        if event.kind == "answer" and event.gold is not None:
            kinds = [] if event.answer == "unsure" else ["gold", *["right"] * (event.answer == event.gold)]
            counts.setdefault(event.source, Counter()).update(kinds)
        elif event.kind in ("answer", "sort", "add"):
            kind = str(event.answer) if event.kind == "answer" else event.kind
            counts.setdefault(event.source, Counter()).update([kind, *(["sure"] if event.is_sure else [])])
    return [
        SourceCounts(
            source,
            n["yes"] + n["no"] + n["unsure"] + n["sort"],
            *(n[kind] for kind in ("yes", "no", "unsure", "add", "sure", "gold", "right")),
        )._replace(median_seconds=medians.get(source), n_screens=n["sort"])
        for source, n in sorted(counts.items())
    ]


def measure_pace(events: Iterable[Event]) -> dict[str, float]:
    """The median of the seconds per answer about a pair, of each source whose seconds are known."""
    seconds: dict[str, list[float]] = {}
    for event in events:
        if event.seconds is not None and event.kind != "sort":
            seconds.setdefault(event.source, []).append(event.seconds)
    return {source: median(found) for source, found in seconds.items()}


def measure_recent_pace(events: Sequence[Event], n_last: int) -> float | None:
    """The median of the seconds of the last answers whose seconds are known; None if there are none."""
    answers = [event for event in events if event.kind in ANSWERS_QUESTION]
    known = [event.seconds for event in answers if event.seconds is not None]
    return median(known[-n_last:]) if known else None


def measure_agreement(events: Iterable[Event]) -> list[SourceAgreement]:
    """Compare each two sources that answered a common pair.

    If a source answered a pair several times, its last answer counts. What a reviewer decided does not count:
    these pairs were chosen because answers disagree, so they would make people seem to disagree more.
    """
    answers: dict[str, dict[Pair, Answer]] = {}
    for event in events:
        if event.kind not in ("answer", "add") or (event.kind == "add" and event.is_sure):
            continue
        (fact,) = facts_of(event)
        if fact.answer != "unsure":
            answers.setdefault(event.source, {})[min(fact.pair), max(fact.pair)] = fact.answer
    found = []
    for one, other in combinations(sorted(answers), 2):
        common = answers[one].keys() & answers[other].keys()
        if common:
            table = Counter((answers[one][pair], answers[other][pair]) for pair in common)
            found.append(_compare(one, other, table))
    return found


def _compare(one: str, other: str, table: Counter[tuple[Answer, Answer]]) -> SourceAgreement:
    n = table.total()
    n_agreeing = table["yes", "yes"] + table["no", "no"]
    first_yes = (table["yes", "yes"] + table["yes", "no"]) / n
    second_yes = (table["yes", "yes"] + table["no", "yes"]) / n
    chance = first_yes * second_yes + (1 - first_yes) * (1 - second_yes)
    if chance == 1:
        return SourceAgreement(one, other, n, n_agreeing, None, None, None)
    # Cohen's interval takes the chance as fixed; Wilson's for the share does not vanish when all agree
    kappa, low, high = (
        (share - chance) / (1 - chance) for share in (n_agreeing / n, *wilson_interval(n_agreeing, n))
    )
    return SourceAgreement(one, other, n, n_agreeing, kappa, max(low, -1.0), min(high, 1.0))


def wilson_interval(n_found: float, n: float) -> tuple[float, float]:
    """The 95 % interval of the share of n that are found."""
    share, z = n_found / n, DEVIATIONS
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # at an end the interval includes it, whatever the rounding
    return max(centre - half, 0.0) if n_found else 0.0, min(centre + half, 1.0) if n_found < n else 1.0


# ---------------------------------------------------------------- in words
def describe_source(counts: SourceCounts, rate: SourceRate | None = None) -> str:
    """Put the answers of a source into words, and how often they are wrong unless they are all certain.

    For example ``24 answers: 10 same, 13 different, 1 not sure. About 1 in 12 seems wrong (at most 1 in 7).``
    The estimate needs ten answers that say yes or no.
    """
    text = count_noun(counts.n_answers, "answer")
    if counts.n_answers:
        kinds = [f"{counts.n_yes} same", f"{counts.n_no} different", f"{counts.n_unsure} not sure"]
        screens = [count_noun(counts.n_screens, "screen")] if counts.n_screens else []
        text += f": {', '.join([*(kinds if counts.n_answers > counts.n_screens else []), *screens])}"
    if counts.n_volunteered:
        text += f"; {count_noun(counts.n_volunteered, 'pair')} added"
    if counts.n_gold:
        text += f"; {counts.n_gold_right} of {count_noun(counts.n_gold, 'gold pair')} right"
    if counts.median_seconds is not None:
        text += f"; {describe_pace(counts.median_seconds)}"
    if rate is None or counts.n_certain == counts.n_answers + counts.n_volunteered + counts.n_gold:
        return text
    if rate.low == rate.high:
        return f"{text}. linkwise assumes that {describe_percent(rate.rate)} are wrong."
    if rate.n_answers < ENOUGH:
        return text
    return f"{text}. About {describe_share(rate.rate)} seems wrong ({describe_range(rate.low, rate.high)})."


def describe_pace(median_seconds: float) -> str:
    """Put the median of the seconds per answer into words: ``median 4.2 seconds per answer``."""
    digits = 1 if median_seconds < 10 else 0
    return f"median {median_seconds:.{digits}f} seconds per answer"


def describe_agreement(agreement: SourceAgreement) -> str:
    """Put the agreement of two sources into words, without their names.

    For example ``9 of 10 common pairs with the same answer, kappa 0.78 (0.34 to 0.96)``.
    """
    n_common = count_noun(agreement.n_common, "common pair")
    text = f"{agreement.n_agreeing} of {n_common} with the same answer"
    if agreement.kappa is None:
        return text
    return f"{text}, kappa {agreement.kappa:.2f} ({agreement.low:.2f} to {agreement.high:.2f})"
