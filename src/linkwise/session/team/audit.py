"""An audit: a person answers pairs that a program answered, which shows how often and where it is wrong.

A part of the pairs is the most doubtful ones by the belief, the other part is drawn at random from the rest.
Each answer of the person stands for as many answers of the program as its part has per pair that the person
decided, so the weighted share of wrong answers has no bias. Its interval is Wilson's (1927) for the effective
number of pairs, (sum of weights)² / sum of squared weights (Kish 1965; Korn and Graubard 1998).

The distance takes the closest pairs of the program for "yes", with the share that follows from the person's
answers. A program that is wrong where the distance is wrong tells little that the rows do not tell.

References
----------
Kish, L. (1965). Survey Sampling. Wiley.

Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of
positive counts estimated from survey data. Survey Methodology, 24(2), 193-201.

Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions. Statistics in
Medicine, 17(8), 873-890.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.error_rates import SourceRate
from linkwise.constraints.facts import Answer
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.rng import rng_at
from linkwise.session.journal.events import REVISIONS, AuditPlan, Event
from linkwise.session.team.agreement import wilson_interval
from linkwise.wording import count_noun

DOUBTFUL_SHARE = 1 / 3  # of the pairs of an audit
LEAST_DOUBT = 0.05  # chance of an error from which an answer is doubtful
LEAST_CHECKED = 10  # pairs that a person decided, from which a rate is estimated
LEAST_COMPARED = 5  # pairs where the distance is wrong, and others, from which errors are compared

Pair = tuple[int, int]
Given = Mapping[Pair, tuple[Answer, int]]
"""The last answer to each pair, its lower row first, with the number of its event."""
Finding = Literal["repeats", "related", "corrects", "unclear", "few"]
CONCLUSIONS: Mapping[Finding, str] = {
    "repeats": "Its answers add little to the distances.",
    "related": "It is wrong more often where the distance is wrong.",
    "corrects": "It is mostly right where the distance is wrong, so its answers add to the distances.",
    "unclear": "These are too few pairs to tell whether its answers add to the distances.",
    "few": "These are too few pairs to tell whether its answers add to the distances.",
}


@dataclass(frozen=True, slots=True)
class DistanceComparison:
    """Whether the answers of a source only repeat the distances between rows.

    All numbers are about pairs that a person decided.

    Attributes
    ----------
    n_agreeing : int
        Pairs in which the source answers as the distance suggests.
    n_misleading, n_wrong_there : int
        Pairs in which the distance is wrong, and those of them in which the source is wrong, too.
    n_others, n_wrong_elsewhere : int
        The other pairs, and those of them in which the source is wrong.
    share, low, high : float or None
        Estimated share of wrong answers where the distance is wrong, with its 95 % interval. None if there
        are fewer than five such pairs, or fewer than five others.
    finding : {"repeats", "related", "corrects", "unclear", "few"}
        "repeats": the source is wrong in at least half of the pairs in which the distance is wrong, and more
        often than elsewhere. "corrects": it is right in most of them. "related": its errors are more frequent
        there, and it is unclear whether it is right in most. "unclear": none of these is certain. "few":
        there are too few pairs to compare.
    """

    n_agreeing: int
    n_misleading: int
    n_wrong_there: int
    n_others: int
    n_wrong_elsewhere: int
    share: float | None
    low: float | None
    high: float | None
    finding: Finding


@dataclass(frozen=True, slots=True)
class AuditReport:
    """How often a source is wrong, by a person who answered some of its pairs.

    Attributes
    ----------
    source, by : str
        Who is audited, and who answered.
    n_answers : int
        The yes and no answers of the source from which the pairs were chosen.
    n_checked : int
        Those of them that the person decided with yes or no.
    n_unsure, n_open : int
        Pairs of the audit that the person was not sure of, and those without an answer.
    n_wrong : int
        Decided pairs in which the source is wrong.
    n_yes, n_wrong_yes, n_no, n_wrong_no : int
        The decided pairs by the answer of the source, and how many of them are wrong.
    rate, low, high : float or None
        Estimated share of wrong answers with its 95 % interval, by the audit alone. None if fewer than ten
        pairs are decided, or none of the doubtful or of the other pairs.
    believed : SourceRate or None
        The same by all answers of the session, as in `Session.error_rates`. None if it gave no answer.
    distance : DistanceComparison or None
        None if the session was opened without its data.
    """

    source: str
    by: str
    n_answers: int
    n_checked: int
    n_unsure: int
    n_open: int
    n_wrong: int
    n_yes: int
    n_wrong_yes: int
    n_no: int
    n_wrong_no: int
    rate: float | None
    low: float | None
    high: float | None
    believed: SourceRate | None
    distance: DistanceComparison | None


# ---------------------------------------------------------------- answers of both
def answers_of(events: Iterable[Event], source: str) -> Given:
    """The last answer of a source to each pair; of piles the fewest pairs that they follow from."""
    return {
        pair: (answer, event.number)
        for event in events
        if event.source == source
        for pair, answer in _answers_in(event)
    }


def _answers_in(event: Event) -> Iterator[tuple[Pair, Answer]]:
    """The pairs that an event answers."""
    if event.kind in ("answer", "add") and event.answer is not None:
        yield _pair_of(event), event.answer
    elif event.kind == "sort" and event.sorting is not None:
        cards = {*event.sorting.cards}
        for fact in event.sorting.facts():
            if fact.answer != "unsure" and not cards.isdisjoint(fact.pair):
                yield (min(fact.pair), max(fact.pair)), fact.answer


def verdicts_of(remaining: Sequence[Event], settled: Sequence[Event], source: str, by: str) -> Given:
    """What a person says of each pair: their answers, and answers of the source that somebody revised."""
    revised = {event.target: event.number for event in remaining if event.kind in REVISIONS}
    found = {
        _pair_of(event): (event.answer, revised[event.number])
        for event in settled
        if event.number in revised and event.source == source and event.answer is not None
    }
    return {**found, **answers_of(settled, by)}


def _pair_of(event: Event) -> Pair:
    assert event.first is not None, "an answer has two rows"
    assert event.second is not None, "an answer has two rows"
    return min(event.first, event.second), max(event.first, event.second)


def _decided(given: Given) -> dict[Pair, tuple[Answer, int]]:
    return {pair: (answer, number) for pair, (answer, number) in given.items() if answer != "unsure"}


# ---------------------------------------------------------------- choosing the pairs
def draw_plan(
    source: str, by: str, n: int, answers: Given, verdicts: Given, evidence: FallibleEvidence, place: Pair
) -> AuditPlan:
    """Choose up to n pairs of a source that the person has not answered.

    A third of them are its most doubtful answers, yes and no by turns; the others are drawn at random.

    Parameters
    ----------
    source, by : str
    n : int
    answers, verdicts : mapping of pair to (answer, number)
        The answers of the source and of the person.
    evidence : FallibleEvidence
    place : tuple of (int, int)
        The seed of the session and the number of its last event.
    """
    seed, last = place
    left = sorted(pair for pair in _decided(answers) if pair not in verdicts)
    rng = rng_at(seed, last)
    doubtful = _find_doubtful(left, answers, evidence)[: int(DOUBTFUL_SHARE * n)] if n < len(left) else []
    others = [pair for pair in left if pair not in set(doubtful)]
    drawn = rng.permutation(len(others))[: n - len(doubtful)].tolist()
    chosen = [*((pair, True) for pair in doubtful), *((others[at], False) for at in drawn)]
    order = [chosen[at] for at in rng.permutation(len(chosen)).tolist()]
    return AuditPlan(source, by, last, tuple(pair for pair, _ in order), tuple(is_ for _, is_ in order))


def _find_doubtful(pairs: Sequence[Pair], answers: Given, evidence: FallibleEvidence) -> list[Pair]:
    """The doubtful answers, the most doubtful yes and no by turns."""
    belief = evidence.belief
    known = set(belief.rows.tolist())
    by_answer: dict[Answer, list[tuple[float, Pair]]] = {"yes": [], "no": []}
    for pair in pairs:
        answer = answers[pair][0]
        if known.issuperset(pair) and (doubt := belief.chance_of_error(*pair, answer)) >= LEAST_DOUBT:
            by_answer[answer].append((-round(doubt, 9), pair))
    ranked = [(rank, pair) for found in by_answer.values() for rank, (_, pair) in enumerate(sorted(found))]
    return [pair for _, pair in sorted(ranked)]


def list_open(plan: AuditPlan, answers: Given, verdicts: Given) -> list[Pair]:
    """The pairs of a plan that still have an answer of the source, and none of the person."""
    given = _decided(answers)
    return [pair for pair in plan.pairs if pair in given and pair not in verdicts]


# ---------------------------------------------------------------- the report
def measure_audit(
    plan: AuditPlan,
    answers: Given,
    verdicts: Given,
    believed: SourceRate | None,
    X: NDArray[np.float64] | None,
) -> AuditReport:
    """Compare the answers of a source with those of the person.

    Parameters
    ----------
    plan : AuditPlan
    answers, verdicts : mapping of pair to (answer, number)
        The answers of the source and of the person.
    believed : SourceRate or None
        What all answers say of the source.
    X : ndarray of shape (n_rows, n_features) or None
    """
    frame, checked = frame_of(plan, answers), _check_answers(plan, answers, verdicts)
    is_enough = len(checked.pairs) >= LEAST_CHECKED and not checked.misses_part
    rate = estimate_share(checked.is_wrong, checked.weights) if is_enough else None
    asked = [pair for pair in plan.pairs if pair in frame]
    share, low, high = rate or (None, None, None)
    return AuditReport(
        source=plan.source,
        by=plan.by,
        n_answers=len(frame),
        n_checked=len(checked.pairs),
        n_unsure=sum(pair in verdicts and verdicts[pair][0] == "unsure" for pair in asked),
        n_open=sum(pair not in verdicts for pair in asked),
        n_wrong=int(checked.is_wrong.sum()),
        n_yes=int(checked.is_yes.sum()),
        n_wrong_yes=int((checked.is_wrong & checked.is_yes).sum()),
        n_no=int((~checked.is_yes).sum()),
        n_wrong_no=int((checked.is_wrong & ~checked.is_yes).sum()),
        rate=share,
        low=low,
        high=high,
        believed=believed,
        distance=None if X is None else _compare_with_distance(X, list(frame), checked),
    )


class _Checked(NamedTuple):
    """The pairs of an audit that the person decided."""

    pairs: list[Pair]
    is_yes: NDArray[np.bool_]
    """Whether the source says that they belong together."""
    is_wrong: NDArray[np.bool_]
    """Whether the source is wrong."""
    weights: NDArray[np.float64]
    """How many answers of the source each stands for."""
    misses_part: bool
    """Whether nothing is known of the doubtful pairs, or of the others."""


def _check_answers(plan: AuditPlan, answers: Given, verdicts: Given) -> _Checked:
    frame, decided = frame_of(plan, answers), _decided(verdicts)
    planned = dict(zip(plan.pairs, plan.is_doubtful, strict=True))
    before = {
        pair for pair in frame.keys() & verdicts.keys() - planned.keys() if verdicts[pair][1] <= plan.after
    }
    doubtful = [pair for pair in frame if planned.get(pair, False)]
    others = [pair for pair in frame if pair not in before and not planned.get(pair, False)]
    weight: dict[Pair, float] = {pair: 1.0 for pair in frame if pair in before and pair in decided}
    misses_part = False
    for part in (doubtful, others):
        found = [pair for pair in part if pair in planned and pair in decided]
        misses_part = misses_part or bool(part and not found)
        weight |= {pair: len(part) / len(found) for pair in found}
    pairs = list(weight)
    is_yes = np.array([frame[pair] == "yes" for pair in pairs], dtype=bool)
    is_wrong = np.array([frame[pair] != decided[pair][0] for pair in pairs], dtype=bool)
    return _Checked(pairs, is_yes, is_wrong, np.array(list(weight.values()), dtype=np.float64), misses_part)


def frame_of(plan: AuditPlan, answers: Given) -> dict[Pair, Answer]:
    """The yes and no answers from which the pairs of a plan were chosen."""
    return {pair: answer for pair, (answer, number) in _decided(answers).items() if number <= plan.after}


def estimate_share(is_so: NDArray[np.bool_], weights: NDArray[np.float64]) -> tuple[float, float, float]:
    """A weighted share and its 95 % interval."""
    share = float(weights[is_so].sum() / weights.sum())
    n_effective = float(weights.sum() ** 2 / np.square(weights).sum())
    return share, *wilson_interval(share * n_effective, n_effective)


def _compare_with_distance(
    X: NDArray[np.float64], every: Sequence[Pair], checked: _Checked
) -> DistanceComparison:
    """Whether a source is wrong where the distance is wrong; `every` has all its pairs."""
    is_same = checked.is_yes ^ checked.is_wrong  # what the person says
    share_same = checked.weights[is_same].sum() / checked.weights.sum() if len(is_same) else 0.0
    n_close = round(share_same * len(every))
    most = np.sort(_measure_apart(X, every))[n_close - 1] if n_close else -1.0
    is_close = _measure_apart(X, checked.pairs) <= most
    is_misleading = is_close != is_same
    n_misleading, n_others = int(is_misleading.sum()), int((~is_misleading).sum())
    there: tuple[float, float, float] | None = None
    finding: Finding = "few"
    if min(n_misleading, n_others) >= LEAST_COMPARED:
        there, elsewhere = (
            estimate_share(checked.is_wrong[where], checked.weights[where])
            for where in (is_misleading, ~is_misleading)
        )
        finding = _judge(there, elsewhere)
    share, low, high = there or (None, None, None)
    return DistanceComparison(
        n_agreeing=int((is_close == checked.is_yes).sum()),
        n_misleading=n_misleading,
        n_wrong_there=int((checked.is_wrong & is_misleading).sum()),
        n_others=n_others,
        n_wrong_elsewhere=int((checked.is_wrong & ~is_misleading).sum()),
        share=share,
        low=low,
        high=high,
        finding=finding,
    )


def _measure_apart(X: NDArray[np.float64], pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """The squared distance between the rows of each pair."""
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return np.asarray(np.square(X[ends[:, 0]] - X[ends[:, 1]]).sum(axis=1))


def _judge(there: tuple[float, float, float], elsewhere: tuple[float, float, float]) -> Finding:
    """What two shares of wrong answers say, by the interval of their difference (Newcombe 1998)."""
    difference = there[0] - elsewhere[0]
    least = difference - sqrt((there[0] - there[1]) ** 2 + (elsewhere[2] - elsewhere[0]) ** 2)
    if there[2] < 0.5:
        return "corrects"
    if least <= 0:
        return "unclear"
    return "repeats" if there[0] >= 0.5 else "related"


# ---------------------------------------------------------------- in words
def describe_audit(report: AuditReport) -> list[str]:
    """Put a report into sentences."""
    return [_describe_counts(report), *_describe_rates(report), *_describe_distance(report)]


def _describe_counts(report: AuditReport) -> str:
    source, n_pairs = report.source, count_noun(report.n_checked, "pair")
    aside = ((report.n_unsure, "not sure"), (report.n_open, "open"))
    more = "".join(f", {number} {words}" for number, words in aside if number)
    return (
        f"Audit of {source}: {n_pairs} of {report.n_answers} checked{more}. {source} is wrong in "
        f"{report.n_wrong} of them: {report.n_wrong_yes} of {report.n_yes} that it calls the same, "
        f"{report.n_wrong_no} of {report.n_no} that it calls different."
    )


def _describe_rates(report: AuditReport) -> list[str]:
    if report.rate is None or report.low is None or report.high is None:
        return [f"These are too few pairs to estimate how often {report.source} is wrong."]
    sentence = (
        f"By the audit alone, about {report.rate:.0%} of its answers are wrong "
        f"(95 % interval: {report.low:.0%} to {report.high:.0%})"
    )
    if report.believed is None or report.believed.low == report.believed.high:
        return [f"{sentence}."]
    by_all = report.believed
    return [f"{sentence}; by all answers, {by_all.rate:.0%} ({by_all.low:.0%} to {by_all.high:.0%})."]


def _describe_distance(report: AuditReport) -> list[str]:
    found = report.distance
    if found is None or report.n_checked == 0:
        return []
    agreeing = f"{report.source} agrees with the distance in {found.n_agreeing} of {report.n_checked} pairs."
    if found.n_misleading == 0:
        return [f"{agreeing} The distance is wrong in none of them."]
    return [
        f"{agreeing} It is wrong in {found.n_wrong_there} of {count_noun(found.n_misleading, 'pair')} where "
        f"the distance is wrong, and in {found.n_wrong_elsewhere} of {count_noun(found.n_others, 'other')}. "
        f"{CONCLUSIONS[found.finding]}"
    ]
