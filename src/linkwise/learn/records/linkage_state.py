"""One run of record linkage: the model, the groups, and what they are expected to be worth."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from linkwise.constraints.belief import log_odds
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.learn.learner import Problem, Question
from linkwise.learn.pair_explanation import DoubtfulDecision, PairExplanation
from linkwise.learn.records.grouped_records import GroupedRecords, find_lean, group_records
from linkwise.learn.records.match_prior import MatchPrior
from linkwise.learn.records.pair_answers import PairAnswers, read_answers
from linkwise.learn.records.pair_model import IN_QUESTION, PairModel, RandomAnswers, fit_pair_model
from linkwise.learn.records.pairs import Pairs, compare_pairs, find_pairs, join_pairs
from linkwise.learn.records.quality import Quality, RandomPair, estimate_quality

CERTAIN = 30.0  # log-odds that an answer is right that cannot be wrong
ERROR_RATE = 0.25  # of random answers that may be wrong: a high one, so that a few of them shift little
FIRST_FITS, LATER_FITS = 5, 8  # the model is fitted anew after 5 answers, or an eighth of those that it knows
KEPT = 0.25  # of the log-odds before
REMEMBERED = 2**28  # bytes of models
N_EXPLAINED = 100  # pairs that tell how much columns count
SURE = 0.95  # probability from which a decision is not worth a look


@dataclass(slots=True, eq=False)
class RecordState:
    """One run of `RecordLinkage`.

    `log_odds` is what the model says of each of `pairs`, fitted to the first `n_fitted` answers; `model` is
    None before. `unheard` is the same, and of the pairs that it was fitted to, what it would say without
    their answers. `lean` is what the model adds to the log-odds of each pair (`find_lean`): nothing before it
    was fitted, since nobody knows whether the prior is right here. `grouping` follows from all these and from
    the answers; `grouped` tells how many there were, and how often what is believed of them had changed.
    `open` is the question that waits, with its pair if that was drawn at random; `draws` are those pairs that
    were answered.
    """

    problem: Problem
    pairs: Pairs
    log_odds: NDArray[np.float64]
    unheard: NDArray[np.float64]
    lean: float = 0.0
    model: PairModel | None = None
    n_fitted: int = 0
    grouping: GroupedRecords | None = None
    grouped: tuple[int, int] = (-1, -1)
    open: tuple[Question, RandomPair | None] | None = None
    draws: tuple[RandomPair, ...] = ()

    @property
    def evidence(self) -> Evidence:
        """The known facts."""
        return self.problem.evidence

    @property
    def certainty(self) -> float:
        """Log-odds that an answer is right."""
        evidence = self.evidence
        if not isinstance(evidence, FallibleEvidence):
            return CERTAIN
        return min(log_odds(evidence.belief.assumed_rate), CERTAIN)

    def learn(self) -> None:
        """Fit the model if there are enough new answers since it was fitted."""
        if len(self.evidence) - self.n_fitted < max(FIRST_FITS, self.n_fitted // LATER_FITS):
            return
        self.teach()

    def teach(self) -> None:
        """Fit the model to all answers; a share of what was said before stays, against jumps."""
        answers = self.read_answers()
        self.n_fitted = len(self.evidence)
        if len(answers.first) == 0:
            return
        at, pairs = find_pairs(self.pairs, answers.first, answers.second), self.pairs
        drawn = self._find_drawn()
        told = [*(part.tobytes() for part in (answers.first, answers.second, answers.match, *drawn[:2]))]
        key = blake2b(b"".join(told), digest_size=16).digest(), drawn.error_rate
        model: PairModel = self.problem.memo.get(
            "pair model",
            key,
            lambda: fit_pair_model(pairs.features, pairs.prior, at, answers.match, drawn),
            max_bytes=REMEMBERED,
        )
        kept = 0.0 if self.model is None else KEPT
        self.log_odds = (1 - kept) * model.log_odds + kept * self.log_odds
        self.unheard = self.log_odds.copy()
        self.unheard[at] = model.held_out
        self.model, self.grouping = model, None
        self.lean = find_lean(expit(self.log_odds))

    def _find_drawn(self) -> RandomAnswers:
        """The pairs that were drawn at random, and what was answered."""
        may_be_wrong = isinstance(self.evidence, FallibleEvidence)
        is_yes = np.array([draw.is_yes for draw in self.draws], dtype=bool)
        return RandomAnswers(self._place_draws(), is_yes, ERROR_RATE if may_be_wrong else expit(-CERTAIN))

    def _place_draws(self) -> NDArray[np.int64]:
        """Where the drawn pairs stand among all pairs."""
        ends = np.array([(draw.first, draw.second) for draw in self.draws], dtype=np.int64).reshape(-1, 2)
        return find_pairs(self.pairs, ends[:, 0], ends[:, 1])

    def recent_rows(self) -> NDArray[np.int64]:
        """The rows of answers that the model does not know yet."""
        recent = islice(self.evidence, self.n_fitted, None)
        return np.array([fact.pair for fact in recent], dtype=np.int64).ravel()

    def read_answers(self) -> PairAnswers:
        """Read the answers, and compare pairs that were no candidates but are told about."""
        answers = read_answers(self.evidence)
        is_new = find_pairs(self.pairs, answers.first, answers.second) < 0
        if is_new.any():
            self.add_pairs(answers.first[is_new], answers.second[is_new])
        return answers

    def add_pairs(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> None:
        """Take up pairs that are no candidates; the model says of them what their similarities say."""
        prepared = self.problem.prepared
        keys = np.unique(first * prepared.n_rows + second)
        more = compare_pairs(
            prepared.records, keys // prepared.n_rows, keys % prepared.n_rows, prepared.prior
        )
        said = more.prior if self.model is None else self.model.predict(more.features, more.prior)
        order = np.lexsort(
            (np.concatenate([self.pairs.second, more.second]), np.concatenate([self.pairs.first, more.first]))
        )
        self.pairs = join_pairs(self.pairs, more, order)
        self.log_odds = np.concatenate([self.log_odds, said])[order]
        self.unheard = np.concatenate([self.unheard, said])[order]

    def group(self) -> GroupedRecords:
        """The groups by all answers so far."""
        evidence = self.evidence
        now = len(evidence), evidence.n_revisions
        if self.grouping is None or self.grouped != now:
            answers = self.read_answers()
            self.grouping = group_records(
                self.problem.prepared.records, self.pairs, self.log_odds, answers, self.certainty, self.lean
            )
            self.grouped = now
        return self.grouping

    def quality(self) -> Quality:
        """Precision and recall of the groups."""
        grouping = self.group()
        answers = grouping.answers
        is_inside = grouping.labels[self.pairs.first] == grouping.labels[self.pairs.second]
        chance = self.match_chances()
        sizes = np.bincount(grouping.labels).astype(np.int64)
        n_inside = int((sizes * (sizes - 1) // 2).sum())
        n_others = n_inside - int(is_inside.sum())  # pairs of one group that are no candidates
        usual = float(chance[is_inside].mean()) if is_inside.any() else 0.0
        inside = float(chance[is_inside].sum()) + n_others * usual
        outside = float(chance[~is_inside].sum())
        at = self._place_draws()
        answered = np.array([draw.is_yes for draw in self.draws], dtype=np.float64)
        is_direct = np.isin(at, find_pairs(self.pairs, answers.first, answers.second))
        answered[is_direct] = chance[at[is_direct]]
        return estimate_quality(n_inside, inside, outside, self.draws, expit(self.unheard[at]), answered)

    def confidence(self) -> NDArray[np.float64]:
        """How likely each record is in its group, by the most doubtful decision about it."""
        grouping = self.group()
        is_inside = grouping.labels[self.pairs.first] == grouping.labels[self.pairs.second]
        right = expit(np.where(is_inside, grouping.score, -grouping.score))
        confidence = np.ones(len(grouping.labels))
        np.minimum.at(confidence, self.pairs.first, right)
        np.minimum.at(confidence, self.pairs.second, right)
        return confidence

    def explain(self, first: int, second: int) -> PairExplanation:
        """What each column adds to the log-odds that two records match."""
        low, high = (np.array([row]) for row in sorted((first, second)))
        pairs, at = self.pairs, int(find_pairs(self.pairs, low, high)[0])
        prepared = self.problem.prepared
        if at < 0:
            pairs, at = compare_pairs(prepared.records, low, high, prepared.prior), 0
        return self._explain_pair(pairs, at)

    def _explain_pair(self, pairs: Pairs, at: int) -> PairExplanation:
        prior: MatchPrior = self.problem.prepared.prior
        start, added = parts = prior.explain(pairs.features, at)
        if self.model is not None:
            start, added = self.model.explain(pairs.features, pairs.prior, at, parts)
        values = zip(pairs.features.names, pairs.features.values[at].tolist(), strict=True)
        missing = tuple(name.column for name, value in values if name.measure == "missing" and value > 0)
        columns = {name: part for name, part in added.items() if name}
        return PairExplanation(start, columns, added[""], missing)

    def column_effects(self) -> dict[str, float]:
        """How much each column counts: how far what it adds to a pair in question is from its mean."""
        in_question = np.flatnonzero(self.log_odds > IN_QUESTION)
        if len(in_question) == 0:
            return {}
        places = np.linspace(0, len(in_question) - 1, min(N_EXPLAINED, len(in_question)))
        found = [self._explain_pair(self.pairs, at) for at in in_question[places.astype(np.intp)].tolist()]
        added = np.array([[*one.columns.values(), one.whole] for one in found])
        effects = np.abs(added - added.mean(axis=0)).mean(axis=0)
        return dict(zip((*found[0].columns, ""), effects.tolist(), strict=True))

    def list_doubts(self, most: int) -> list[DoubtfulDecision]:
        """The least certain decisions, one for each group or pair of groups."""
        grouping, pairs = self.group(), self.pairs  # in this order: answers may be about further pairs
        order = np.argsort(np.abs(grouping.score), kind="stable")
        order = order[expit(np.abs(grouping.score[order])) < SURE]
        ends = np.sort([grouping.labels[pairs.first[order]], grouping.labels[pairs.second[order]]], axis=0)
        once = np.sort(np.unique(ends, axis=1, return_index=True)[1])[:most]
        return [
            DoubtfulDecision(int(pairs.first[at]), int(pairs.second[at]), float(expit(grouping.score[at])))
            for at in order[once].tolist()
        ]

    def match_chances(self) -> NDArray[np.float64]:
        """How likely each pair matches: by the model, or by the answers where there are any."""
        answers = self.group().answers
        chance: NDArray[np.float64] = expit(self.log_odds)
        chance[find_pairs(self.pairs, answers.first, answers.second)] = answers.match
        return chance
