"""Evidence from answers that may be wrong: every answer stays, and what is believed follows from all.

`FallibleEvidence` reads like `Evidence`. Its groups and verdicts follow from what is believed of each pair
that was asked about (`linkwise.constraints.belief`), so they never contradict each other.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.belief import (
    LEAST_ASSUMED,
    Answers,
    Belief,
    Nearness,
    PileAnswers,
    begin_belief,
    know_nothing,
    log_odds,
)
from linkwise.constraints.belief_search import update_belief
from linkwise.constraints.closure import Pairs
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.error_rates import (
    CAREFUL_STRENGTH,
    AssumedRate,
    ErrorRates,
    estimate_rates,
    find_spare,
    share_rates,
)
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer, Fact, Groups, Relation, Suspect, check_reliability
from linkwise.constraints.sorting import SortedRows, Sorting, find_misplaced, list_rows
from linkwise.errors import short_repr

Remember = Callable[[bytes, Callable[[], Belief]], Belief]
"""``remember(key, compute)``: the belief of that key, computed if nobody has it."""

LEAST_GIVEN = 0.001  # rate that is assumed where a lower one is given
ROUNDING = 1e-9  # relative; a reliability of 1 - rate counts as that rate
HIGHEST_OF_SOURCE = 0.45  # rate that is assumed of a source whose rate is estimated, and of an answer


class FallibleEvidence(Evidence):
    """Answers of which some may be wrong, and what is believed because of them.

    After new answers call `believe`. `linkwise.learn.run.Run` does it.

    Parameters
    ----------
    n_rows : int
        Number of rows of the data.
    constraints : Constraints, optional
        Constraints that are certain.
    error_rate : float or mapping of str to float or None, optional
        Share of wrong answers, below 0.5; estimated by default. A mapping has the share of each source, or
        None to estimate it; the entry "" counts for sources that are not in it. A source whose share is 0
        is certain: its answers outrank those of others, and they may not contradict each other.

    Attributes
    ----------
    n_rows : int
        Number of rows of the data.
    n_questions : int
        Number of answers to questions, ``"unsure"`` included.
    belief : Belief
        What is believed of the rows that answers are about.

    Raises
    ------
    ConstraintError
        `n_rows` is out of range, or `constraints` are about another number of rows.
    InfeasibleConstraintsError
        `constraints` contradict each other.
    ValueError
        `error_rate` is out of range.

    Examples
    --------
    >>> evidence = FallibleEvidence(4, error_rate=0.1)
    >>> for first, second, answer in [(0, 1, "yes"), (1, 2, "yes"), (0, 2, "yes"), (0, 3, "no")]:
    ...     evidence.add(first, second, answer)
    >>> evidence.add(1, 3, "no")
    >>> evidence.add(2, 3, "yes")
    >>> evidence.believe()
    >>> [suspect.fact for suspect in evidence.suspects()]
    [Fact(first=2, second=3, answer='yes')]
    """

    is_fallible = True

    def __init__(
        self, n_rows: int, constraints: Constraints | None = None, *, error_rate: AssumedRate = None
    ) -> None:
        self._given = Evidence(n_rows, constraints)
        self._certain = self._given  # with the answers of certain sources
        self._facts: list[Fact] = []
        self._believed: list[Fact] = []
        self._answered: set[frozenset[int]] = set()  # pairs of rows
        self._sortings: list[_Sorted] = []
        self._given_groups: tuple[Groups, NDArray[np.int64], Pairs] | None = None  # see the method
        self._unbroken: tuple[int, int, Evidence] | None = None  # of a revision, with so many answers
        self._key = b""  # names the facts, in the order and the parts in which they were believed
        super().__init__(n_rows)
        self.error_rate = check_error_rate(error_rate)
        if self._has_certain_sources():
            self._certain = self._given.copy()
        self.belief: Belief = begin_belief(self._rate_of("") or None)
        self._start_closure()

    def copy(self) -> FallibleEvidence:
        """Copy the evidence with what is believed, so that facts can be added to one of both."""
        twin = copy.copy(self)
        twin._given = self._given.copy()
        twin._certain = twin._given if self._certain is self._given else self._certain.copy()
        twin._facts, twin._believed, twin._answered = [*self._facts], [*self._believed], {*self._answered}
        twin._sortings = [replace(each, facts=[*each.facts]) for each in self._sortings]
        twin._take_closure(super().copy())
        return twin

    def __len__(self) -> int:
        return len(self._given) + len(self._facts)

    def since(self, number: int) -> Iterator[Fact]:
        """Yield the facts from one number on, as they were given."""
        n_given = len(self._given)
        yield from self._given.since(number)
        yield from self._facts[max(number - n_given, 0) :]

    # ------------------------------------------------------------ new facts
    def add(
        self,
        first: int,
        second: int,
        answer: Answer,
        *,
        asked: bool = False,
        source: str = "",
        when: str | None = None,
        reliability: float | None = None,
    ) -> None:
        """Add one answer, whatever was answered before. It counts after the next call of `believe`.

        Arguments and errors are those of `Evidence.add`, but only a source that is certain can
        contradict, and only what is certain. The reliability can only lower what the answer counts:
        no answer counts more than the error rate of its source allows.
        """
        i, j = self.check(first, second, answer, source=source)
        reliability = check_reliability(reliability, answer)
        if answer != "unsure" and self._rate_of(source) == 0:
            self._certain.add(i, j, answer)
        self._facts.append(Fact(i, j, answer, source, asked, when, reliability))
        self._answered.add(frozenset((i, j)))
        self.n_questions += asked

    def add_sorted(self, sorting: Sorting, row: int, *, source: str = "", when: str | None = None) -> None:
        """Add what piles say about one row and those before it: all pairs, each with its share of an answer.

        See `Evidence.add_sorted`.
        """
        if row == sorting.order[0]:
            self.n_questions += 1
            self._sortings.append(_Sorted(sorting, source))
        for fact in sorting.shared_facts_about(row):
            i, j = self.check(*fact.pair, fact.answer, source=source)
            if fact.answer != "unsure" and self._rate_of(source) == 0:
                self._certain.add(i, j, fact.answer)
            self._sortings[-1].facts.append(len(self._facts))
            self._facts.append(replace(fact, source=source, asked=True, when=when))
            self._answered.add(frozenset((i, j)))

    def count_sorted(self) -> Counter[int]:
        """Count how often each row was a card that somebody sorted."""
        return Counter(card for each in self._sortings for card in each.sorting.cards)

    def check(self, first: int, second: int, answer: Answer, *, source: str = "") -> tuple[int, int]:
        """Raise the errors that `add` would raise, without changing anything.

        Return the rows as plain integers.
        """
        i, j = self._check_form(first, second, answer, source)
        return self._certain.check(i, j, answer) if self._rate_of(source) == 0 else (i, j)

    def _rate_of(self, source: str) -> float | None:
        """The share of wrong answers that is given for a source; None to estimate it."""
        return rate_of_source(self.error_rate, source)

    def _has_certain_sources(self) -> bool:
        return isinstance(self.error_rate, dict) and 0 in self.error_rate.values()

    def add_constraints(self, constraints: Constraints) -> None:
        """Add a whole set of constraints that are certain; if it raises an error, nothing has changed."""
        self._certain.add_constraints(constraints)
        if self._given is not self._certain:
            self._given.add_constraints(constraints)
        self._start_closure()
        self._is_current = False

    def believe(self, nearness: Nearness | None = None, remember: Remember | None = None) -> None:
        """Find what is believed now. Call it after each answer: the search starts from the last belief.

        `nearness` is what the rows say about who belongs together. ``remember(key, compute)`` returns
        the belief of a key, which names all that it follows from if `nearness` has a key; by default
        each belief is computed.
        """
        if self._is_current and len(self._facts) == len(self._believed):
            return
        said = [at for at, fact in enumerate(self._facts) if fact.answer != "unsure"]
        believed = list(self._facts)
        if said:
            facts = [self._facts[at] for at in said]
            first = np.array([fact.first for fact in facts])
            second = np.array([fact.second for fact in facts])
            rate = self._shared_rate(facts)
            if rate is not None:
                self.belief = replace(self.belief, error_rate=max(rate, LEAST_GIVEN))
            is_yes = np.array([fact.answer == "yes" for fact in facts])
            answers = Answers(first, second, is_yes, *self._weigh(facts), self._describe_piles(said))
            nearness = Nearness(know_nothing, doubt=1.0) if nearness is None else nearness
            compute = partial(update_belief, self.belief, answers, nearness, self._certain.groups(), rate)
            self._name_belief(nearness)
            self.belief = remember(self._key, compute) if remember and nearness.key else compute()
            for at, is_together in zip(said, self.belief.are_together(first, second).tolist(), strict=True):
                believed[at] = _change_answer(self._facts[at], "yes" if is_together else "no")
        self._rebuild(believed)

    def _name_belief(self, nearness: Nearness) -> None:
        """Name the next belief by the last one, the facts that are new, and what the rows say."""
        name = blake2b(self._key, digest_size=16)
        new = [
            (fact.first, fact.second, fact.answer, fact.source, fact.reliability)
            for fact in self._facts[len(self._believed) :]
        ]
        name.update(repr((self.n_rows, self.error_rate, new, nearness.key)).encode())
        if self._sortings:
            last = self._sortings[-1]
            name.update(repr((len(self._sortings), last.sorting, len(last.facts))).encode())
        for certain in (self._given, self._certain):
            name.update(certain._pairs.tobytes() + certain._answers)
        self._key = name.digest()

    def _describe_piles(self, said: list[int]) -> PileAnswers | None:
        """Which facts, by their numbers, follow from piles; None: there are no piles."""
        if not self._sortings:
            return None
        is_single = np.ones(len(self._facts), dtype=bool)
        is_least = np.ones(len(self._facts), dtype=bool)
        for each in self._sortings:
            is_single[each.facts] = False
            is_least[each.facts] = [each.sorting.is_least(self._facts[at]) for at in each.facts]
        rows = tuple(list_rows(each.sorting for each in self._sortings))
        return PileAnswers(is_single[said], is_least[said], rows)

    def _shared_rate(self, facts: list[Fact]) -> float | None:
        """The share of wrong answers that is given for the sources of some facts; None to estimate it."""
        if not isinstance(self.error_rate, dict):
            return self.error_rate
        rates = [rate for fact in facts if (rate := self._rate_of(fact.source)) != 0]
        given = [rate for rate in rates if rate is not None]
        if not given or len(given) < len(rates):
            return None
        return share_rates(given)

    def _weigh(self, facts: list[Fact]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return what each answer counts, and how much of that is left by its own reliability.

        An answer has the log odds of its source or, if they are lower, those of its own reliability. The
        second array is None if no answer has less than its source.
        """
        sources = {fact.source for fact in facts}
        assumed = self.belief.assumed_rate
        rates = {source: self._rate_of(source) for source in sources}
        if len(self._believed) and None in rates.values() and sum(rate != 0 for rate in rates.values()) > 1:
            found = self._estimate_rates(CAREFUL_STRENGTH, log_odds(assumed))
            scale = assumed / found.overall.rate  # the search assumes more errors than there probably are
            for source in sources & set(found.by_source):
                if rates[source] is None:
                    rate = scale * found.by_source[source].rate
                    rates[source] = min(max(rate, LEAST_ASSUMED), HIGHEST_OF_SOURCE)
        weight = {
            source: 0.0 if rate == 0 else log_odds(max(rate or assumed, LEAST_GIVEN)) / log_odds(assumed)
            for source, rate in rates.items()
        }
        weights = np.array([weight[fact.source] * fact.share for fact in facts])
        if all(fact.reliability is None for fact in facts):
            return weights, None
        own = np.array([_own_log_odds(fact) for fact in facts]) / log_odds(assumed)
        is_lower = own < weights * (1 - ROUNDING)
        if not is_lower.any():
            return weights, None
        share = np.divide(own, weights, out=np.ones(len(facts)), where=is_lower)
        return np.where(is_lower, own, weights), share

    def _rebuild(self, believed: list[Fact]) -> None:
        """Let the closure run over what is believed of each pair."""
        n = len(self._believed)
        if not self._is_current or believed[:n] != self._believed:
            self._start_closure()
            n = 0
        self._is_current = True
        for at, fact in enumerate(believed[n:], n):
            known = self.verdict(fact.first, fact.second)
            if fact.answer != "unsure" and known in ("yes", "no"):
                believed[at] = _change_answer(fact, known)
                if fact.share < 1:  # nothing new, and there are many pairs of piles
                    continue
            super().add(*fact.pair, believed[at].answer)
        self._believed = believed

    def _start_closure(self) -> None:
        """Let the closure run over what is certain."""
        self._take_closure(self._given.copy())
        self._groups, self._is_current = None, True
        self.n_revisions += 1

    def _take_closure(self, other: Evidence) -> None:
        """Take over the closure of other evidence, which nobody else uses."""
        self._pairs, self._answers, self._named = other._pairs, other._answers, other._named
        self._given_group, self._moved = other._given_group, other._moved
        self._members, self._apart, self._unsure = other._members, other._apart, other._unsure

    # ------------------------------------------------------------ queries
    def read_believed(self, number: int) -> Iterator[Fact]:
        """Yield the facts from one number on, each with the answer that is believed.

        Constraints come first, then answers in the order in which they came. Look at all of them
        again if `n_revisions` has changed.
        """
        yield from self._given.since(number)
        yield from self._believed[max(number - len(self._given), 0) :]

    def is_settled(self, first: int, second: int) -> bool:
        """Whether an answer about two rows was given, or follows from what is certain."""
        return (
            frozenset((first, second)) in self._answered or self._certain.verdict(first, second) is not None
        )

    def has_verdict(self, pairs: Pairs, since: int = 0) -> NDArray[np.bool_]:
        """Return whether each pair has a verdict; ``"unsure"`` is one.

        `since` is not used: a new answer may change what is believed of any pair.
        """
        return super().has_verdict(pairs)

    def relation(self, first: int, second: int) -> Relation:
        """Return the verdict on two rows, and the shortest chain of answers that it follows from.

        There is a chain if the verdict follows from answers that are believed alone.
        """
        found = self._unbroken_evidence().relation(first, second)
        return found if found.verdict == self.verdict(first, second) else super().relation(first, second)

    def _unbroken_evidence(self) -> Evidence:
        """Constraints and the answers that are believed, built once for each belief."""
        if self._unbroken is None or self._unbroken[:2] != (self.n_revisions, len(self._believed)):
            unbroken = self._given.copy()
            for given, believed in zip(self._facts, self._believed, strict=False):
                if given == believed:
                    unbroken.add(*given.pair, given.answer)
            self._unbroken = self.n_revisions, len(self._believed), unbroken
        return self._unbroken[2]

    def suspects(self) -> list[Suspect]:
        """Return the answers that are probably wrong, the most probable ones first.

        If rows were sorted, there is one for each misplaced card.
        """
        of_piles = {at for each in self._sortings for at in each.facts}
        wrong: list[tuple[int, int | None]] = [
            (at, None)
            for at, (given, believed) in enumerate(zip(self._facts, self._believed, strict=False))
            if given != believed and at not in of_piles
        ]
        wrong += [(at, card) for each in self._sortings for card, at in self._find_wrong_facts(each)]
        found = [
            Suspect(len(self._given) + at, fact, self.belief.chance_of_error(*fact.pair, fact.answer), card)
            for at, card in wrong
            for fact in (self._facts[at],)
        ]
        return sorted(found, key=lambda suspect: -suspect.chance)

    def _find_misplaced(self, sorted_rows: _Sorted) -> list[int]:
        """The cards of a sorting that are believed to belong elsewhere."""
        place = dict(zip(self.belief.rows.tolist(), self.belief.label.tolist(), strict=True))
        (rows,) = list_rows([sorted_rows.sorting])
        is_named = np.array([row in place for row in rows.row.tolist()], dtype=bool)
        named = SortedRows(*(part[is_named] for part in rows))
        label = np.array([place[row] for row in named.row.tolist()], dtype=np.int64)
        found: list[int] = named.row[find_misplaced(named, label)].tolist()
        return found

    def _find_wrong_facts(self, sorted_rows: _Sorted) -> list[tuple[int, int]]:
        """Each misplaced card, with the number of a fact about it that is not believed, if possible a yes."""
        misplaced = self._find_misplaced(sorted_rows)
        facts = [at for at in sorted_rows.facts if at < len(self._believed)]
        wrong = [at for at in facts if self._facts[at].answer != self._believed[at].answer]
        wrong.sort(key=lambda at: (self._facts[at].answer != "yes", {*self._facts[at].pair} <= {*misplaced}))
        about = {card: [at for at in wrong if card in self._facts[at].pair] for card in misplaced}
        return [(card, found[0]) for card, found in about.items() if found]

    def error_rates(self) -> ErrorRates:
        """Estimate the share of wrong answers of each source and of all together, by what is believed now."""
        return self._estimate_rates()

    def _estimate_rates(self, strength: float | None = None, most: float = 0.0) -> ErrorRates:
        """Estimate the rates. With `most` log odds an answer that has less counts for less."""
        of_piles = {at for each in self._sortings for at in each.facts}
        both = [
            pair
            for at, pair in enumerate(zip(self._facts, self._believed, strict=False))
            if pair[0].answer != "unsure" and at not in of_piles
        ]
        node, apart = self._find_given_groups()
        stars = [fact for each in self._sortings for fact in each.sorting.facts() if fact.answer != "unsure"]
        stars = [_change_answer(fact, "yes" if self.verdict(*fact.pair) == "yes" else "no") for fact in stars]
        facts = [*(believed for _, believed in both), *stars]
        ends = node[np.array([fact.pair for fact in facts], dtype=np.int64).reshape(-1, 2)]
        ends = np.concatenate([apart, ends])
        is_yes = np.array([*[False] * len(apart), *(fact.answer == "yes" for fact in facts)], dtype=bool)
        is_spare = find_spare(ends[:, 0], ends[:, 1], is_yes)[len(apart) :]
        is_broken = [given.answer != fact.answer for given, fact in both]
        sources = [given.source for given, _ in both]
        tested = {
            row for fact, is_ in zip(stars, is_spare[len(both) :], strict=True) if is_ for row in fact.pair
        }
        is_tested = is_spare[: len(both)].tolist()
        for each in self._sortings:  # each card is an answer
            misplaced = self._find_misplaced(each)
            cards = [card for card in each.sorting.cards if card in each.sorting.pile_of]
            sources += [each.source] * len(cards)
            is_broken += [card in misplaced for card in cards]
            is_tested += [card in tested for card in cards]
        given_rates = {source: self._rate_of(source) for source in sources}
        share = np.ones(len(sources))
        if most:
            share[: len(both)] = [min(1.0, _own_log_odds(given) / most) for given, _ in both]
        masks = np.array(is_broken, dtype=bool), np.array(is_tested, dtype=bool)
        return estimate_rates(sources, *masks, given_rates, strength, share)

    def _find_given_groups(self) -> tuple[NDArray[np.int64], Pairs]:
        """What constraints say: (n_rows,) a node for each group of rows, and the pairs of nodes apart.

        A yes that constraints imply is spare whatever else is known, so the rows of a group can be one. A
        pair of nodes is there at most twice, since it only matters whether a no is the only one.
        """
        groups = self._given.groups()
        if self._given_groups is None or self._given_groups[0] is not groups:
            node = np.arange(self.n_rows) + len(groups.row)
            node[groups.row] = groups.number
            ends = np.sort(node[self._given.pairs_with_answer("no")], axis=1)
            apart, count = np.unique(ends, axis=0, return_counts=True)
            self._given_groups = groups, node, np.repeat(apart, np.minimum(count, 2), axis=0)
        return self._given_groups[1:]


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Rows that were sorted, who did it, and the numbers of the facts that follow."""

    sorting: Sorting
    source: str
    facts: list[int] = field(default_factory=list)


def _own_log_odds(fact: Fact) -> float:
    """The log odds that an answer is right, by its own reliability; infinite if it has none."""
    if fact.reliability is None or fact.reliability == 1:
        return math.inf
    return log_odds(min(1 - fact.reliability, HIGHEST_OF_SOURCE))


def _change_answer(fact: Fact, answer: Answer) -> Fact:
    return fact if fact.answer == answer else replace(fact, answer=answer)


def rate_of_source(assumed: AssumedRate, source: str) -> float | None:
    """The share of wrong answers that is assumed of a source; None to estimate it."""
    if isinstance(assumed, Mapping):
        return assumed.get(source, assumed.get(""))
    return assumed


def check_error_rate(error_rate: object) -> float | dict[str, float | None] | None:
    """A share of wrong answers, None, or one of both for each source."""
    if not isinstance(error_rate, Mapping):
        return _check_share(error_rate)
    if not error_rate:
        raise ValueError("error_rate names no source: {}. Set the share of a source, or None to estimate it.")
    shares = {}
    for source, share in error_rate.items():
        if not isinstance(source, str):
            raise TypeError(f"error_rate has a source that is not text: {short_repr(source)}. Pass its name.")
        shares[source] = _check_share(share)
    if set(shares) <= {""}:  # the same for all sources
        return shares.get("")
    return 0.0 if "" in shares and set(shares.values()) == {0.0} else shares


def _check_share(error_rate: object) -> float | None:
    """A share of wrong answers, or None."""
    if error_rate is None:
        return None
    if isinstance(error_rate, bool) or not isinstance(error_rate, (int, float)) or not 0 <= error_rate < 0.5:
        raise ValueError(
            f"error_rate is not a share of wrong answers: {short_repr(error_rate)}."
            " Pass a number from 0 up to 0.5, or None to estimate it."
        )
    return float(error_rate)


def make_evidence(
    n_rows: int, constraints: Constraints | None = None, error_rate: AssumedRate = 0
) -> Evidence:
    """Make evidence from answers of which a share may be wrong, with constraints that are certain.

    If that share is 0, all answers are right; None means that it is estimated. A mapping has it for each
    source (see `FallibleEvidence`).
    """
    rate = check_error_rate(error_rate)
    if rate == 0:
        return Evidence(n_rows, constraints)
    return FallibleEvidence(n_rows, constraints, error_rate=rate)
