"""Record linkage: which records of a table are about the same person or thing.

Pairs of records are what is learned. Those that may match are found by what they share (`candidates`),
compared column by column (`features`), and have a chance of a match without any answer (`match_prior`).
Answers teach a model of pairs which columns count (`pair_model`). Records are grouped by correlation
clustering: two groups become one while the mean log-odds of their pairs, plus what the answers about them
say, is positive. The evidence of the model is averaged, since its errors go together; answers are
independent, so they are added. A question is about the most doubtful decision between two groups, or is
drawn at random (`pair_choice`), and from the latter precision and recall are estimated (`quality`).

Related are dedupe's active learning (Bilenko, 2006, Learnable similarity functions and their application to
record linkage and clustering), the model of Fellegi and Sunter (1969, A theory for record linkage, JASA), and
correlation clustering of pairs (Bansal, Blum and Chawla, 2004, Correlation clustering, Machine Learning). The
combination is linkwise's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from linkwise.constraints.belief import Nearness
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.sorting import Pile, Sorting
from linkwise.data.columns.roles import Column, find_id
from linkwise.data.columns.table import Table
from linkwise.data.read.frames import to_narwhals
from linkwise.data.show.rows import Rows
from linkwise.data.sources import is_frame
from linkwise.errors import DataError
from linkwise.learn.advice import StopAdvice
from linkwise.learn.base import ActiveLearner
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.learner import Asking, Problem, Question
from linkwise.learn.pair_explanation import DoubtfulDecision, PairExplanation
from linkwise.learn.records.grouped_records import NO_CANDIDATE
from linkwise.learn.records.linkage_state import RecordState
from linkwise.learn.records.new_records import place_new_records
from linkwise.learn.records.pair_choice import (
    AT_RANDOM,
    BEST,
    ChosenPair,
    choose_pair,
    draw_pair,
    gather_rows,
)
from linkwise.learn.records.pairs import PreparedRecords, find_pairs, prepare_records
from linkwise.learn.records.quality import Quality, RandomPair, Share
from linkwise.learn.records.records import check_that_some_match, list_compared, make_records
from linkwise.types import Labels, Progress
from linkwise.wording import count_noun

UNKNOWN = -7.0  # log-odds of a pair that is no candidate, where single rows are compared
DOUBT = 0.05  # of the model, where it judges answers that may be wrong
LEAST_DRAWS = 10  # that tell how good the groups are
GOOD, SURELY = 0.05, 0.15  # shares of wrong pairs, expected and at most, below which to stop


class RecordLinkage(ActiveLearner):
    """Active record linkage: learn from answers which records are about the same person or thing.

    Parameters
    ----------
    origin : str, optional
        A column that tells where a record comes from. Two records of one origin never match.
    same : str, optional
        A column in which matching records agree.
    random_state : int, RandomState or None, default=None
        Seed of the random draws.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,), int32
        Group of each record.
    quality_ : Quality
        Estimated precision and recall of the pairs in one group, each with an interval.
    columns_ : dict of str to float
        How much each column counts: how far the log-odds that it adds to a pair in question are from their
        mean, on average. "" stands for the records as wholes.
    n_clusters_, n_questions_, history_, reason_, constraints_, violations_, suspects_
        As for `COBRAS`.

    Raises
    ------
    DataError
        X is an array, a column is missing, or `origin` or `same` is empty or leaves no pair that may match.

    Notes
    -----
    Memory and time grow with the number of pairs that may match, which the data decide.

    Examples
    --------
    >>> import pandas as pd
    >>> import linkwise as lw
    >>> people = pd.DataFrame({"name": ["Ann Stone", "Ann Stoone", "Bob Hill"]})
    >>> lw.RecordLinkage(random_state=0).fit(people, oracle=lw.TruthOracle([0, 0, 1])).labels_.tolist()
    [0, 0, 1]
    """

    leaves_noise: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "origin": [str, None],
        "same": [str, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        origin: str | None = None,
        same: str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.origin = origin
        self.same = same
        self.random_state = random_state

    @property
    def enforce(self) -> bool:
        """Whether rows whose labels contradict an answer are moved: only if there is no `origin`."""
        return self.origin is None

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> PreparedRecords:
        """Refuse an array, since records are compared column by column."""
        raise DataError(
            f"RecordLinkage compares the columns of a table, and X is an array of shape {np.shape(X)}. Pass a"
            " DataFrame or linkwise.read(X), or use ThresholdLinkage, which compares rows of numbers."
        )

    def prepare_table(self, table: Table, seed: int, *, progress: Progress | None = None) -> PreparedRecords:
        """Find the pairs of records that may match, and compare them."""
        names = list_compared(table)
        records = make_records(table.frame, names, origin=self.origin, same=self.same)
        check_that_some_match(records)
        return prepare_records(records, seed, progress)

    def start(self, problem: Problem) -> RecordState:
        """Learn from what is known before the first question."""
        pairs = problem.prepared.pairs
        state = RecordState(problem, pairs, pairs.prior, pairs.prior)
        state.teach()
        return state

    def fork(self, state: RecordState, problem: Problem) -> RecordState:
        """Copy a run; the copy first yields the question that is open."""
        return replace(state, problem=problem)

    def ask(self, state: RecordState) -> Asking:
        """Ask until every decision is settled."""
        while True:
            if state.open is None:
                state.learn()
                choice = _choose(state)
                if choice is None:
                    return state.group().labels
                state.open = _make_question(state, choice), _record_draw(state, choice)
            question, draw = state.open
            answer = yield question
            if draw is not None and answer != "unsure":
                state.draws = (*state.draws, draw._replace(is_yes=answer == "yes"))
            state.open = None

    def gather(
        self, state: RecordState, m: int, held: Sequence[Pile]
    ) -> tuple[tuple[Pile, ...], Pile] | None:
        """Gather records whose groups are in doubt with each other, and two that were drawn at random."""
        grouping, pairs = state.group(), state.pairs
        is_busy = np.zeros(len(grouping.labels), dtype=bool)
        is_busy[[row for rows in held for row in rows]] = True
        is_open = _find_open(state) & ~is_busy[pairs.first] & ~is_busy[pairs.second]
        drawn = _draw(state)
        start = () if drawn is None or not is_open[drawn.pair] else _name_rows(state, drawn)
        score, n_decided = grouping.score + state.lean, grouping.n_decided
        rows = gather_rows(pairs.first, pairs.second, grouping.labels, score, n_decided, is_open, start, m)
        known = [found.tolist() for found in state.evidence.groups().rows]
        component = {row: number for number, found in enumerate(known) for row in found}
        piles: dict[int, Pile] = {}
        for row in rows:
            if row in component:
                piles[component[row]] = (*piles.get(component[row], ()), row)
        return (tuple(piles.values()), tuple(row for row in rows if row not in component)) if rows else None

    def hear_sorting(self, state: RecordState, sorting: Sorting) -> Iterator[int]:
        """Take up piles; the pair that was drawn for them tells how good the groups were."""
        choice = _draw(state)
        draw = None if choice is None else _record_draw(state, choice)
        yield from sorting.order
        if draw is not None and sorting.pile_of.keys() >= {draw.first, draw.second}:
            is_yes = sorting.pile_of[draw.first] == sorting.pile_of[draw.second]
            state.draws = (*state.draws, draw._replace(is_yes=is_yes))
        state.learn()

    def current_labels(self, state: RecordState) -> Labels:
        """The groups by all answers so far."""
        return state.group().labels

    def chance(self, state: RecordState, first: int, second: int) -> float:
        """The probability that two records are in one group."""
        score = state.group().score
        ends = np.array([min(first, second)]), np.array([max(first, second)])
        at = int(find_pairs(state.pairs, *ends)[0])
        return float(expit(NO_CANDIDATE if at < 0 else score[at]))

    def confidence(self, state: RecordState) -> NDArray[np.float64] | None:
        """The probability that each record is in its group: that of the most doubtful decision about it."""
        return state.confidence()

    def explain_pair(self, state: RecordState, first: int, second: int) -> PairExplanation:
        """What each column adds to the log-odds that two records match."""
        return state.explain(first, second)

    def column_effects(self, state: RecordState) -> dict[str, float]:
        """How much each column counts: how far the log-odds that it adds are from their mean."""
        return state.column_effects()

    def list_doubts(self, state: RecordState, most: int) -> list[DoubtfulDecision]:
        """The least certain decisions: which groups may be one, and which may be two."""
        return state.list_doubts(most)

    def nearness(self, state: RecordState) -> Nearness:
        """How likely records match, by the model; most groups are tiny."""
        log_odds, pairs = state.unheard, state.pairs

        def chances(rows: NDArray[np.int64]) -> NDArray[np.float64]:
            first, second = np.sort(np.meshgrid(rows, rows, indexing="ij"), axis=0)
            at = find_pairs(pairs, first.ravel(), second.ravel())
            said = np.where(at < 0, UNKNOWN, log_odds[at]).reshape(first.shape)
            found: NDArray[np.float64] = expit(said)
            np.fill_diagonal(found, 1.0)
            return found

        key = blake2b(log_odds.tobytes(), digest_size=16).digest()
        return Nearness(chances, doubt=DOUBT, chances=chances, n_expected=np.inf, key=key)

    def describe(self, state: RecordState) -> tuple[str, ...]:
        """How many groups there are, and how good they probably are."""
        return describe_groups(state.group().labels, state.quality(), len(state.draws))

    def advise(self, state: RecordState) -> StopAdvice | None:
        """Whether to stop, and how many records are probably in a wrong group."""
        return advise_to_stop(state.quality(), len(state.draws))

    # ------------------------------------------------------------ as an estimator
    def _take_rows(self, X: object) -> tuple[NDArray[Any], Table]:
        """The table to link, and a placeholder for numbers, which nobody reads."""
        table = read_records_table(X)
        self.feature_names_in_ = np.array(list_compared(table), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        return np.arange(float(len(table)))[:, None], table

    def _cluster_unasked(self, X: NDArray[Any], table: Table | None, evidence: Evidence, seed: int) -> Labels:
        """Link records by what the given pairs teach."""
        assert table is not None, "`_take_rows` returns it"
        state = self.start(Problem(X, self.prepare_table(table, seed), evidence, seed))
        self._keep_more(X, state)
        labels = state.group().labels
        return enforce_answers(labels, evidence) if self.enforce else labels

    def _keep_more(self, X: NDArray[Any], state: RecordState) -> None:
        """Keep the records and the model, which new records are compared by."""
        self.quality_ = state.quality()
        self.columns_ = state.column_effects()
        self._fitted = state

    def predict(self, X: object) -> Labels:
        """Predict the groups of new records, from the old ones and among themselves.

        Parameters
        ----------
        X : DataFrame, Rows or Table of n_new_rows rows
            New records, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_new_rows,), int32
            Group of each record: one of `labels_`, or a number from `n_clusters_` on for a group of new
            records alone. The groups of `fit` stay as they are.
        """
        check_is_fitted(self, "labels_")
        return place_new_records(self._fitted, self.labels_, read_records_table(X).frame)

    def explain(self, first: int, second: int) -> PairExplanation:
        """Explain which columns speak for the match of two records, and which against it.

        Parameters
        ----------
        first, second : int
            Positions of two different records of `fit`.

        Returns
        -------
        PairExplanation
            What each column adds to the log-odds of a match, by what the model learned. Without answers it is
            what the candidates of the table tell.

        Raises
        ------
        ValueError
            A position is not that of a record, or both are the same.
        TypeError
            A position is not an integer.
        """
        check_is_fitted(self, "labels_")
        n_rows = len(self.labels_)
        for name, row in (("first", first), ("second", second)):
            if isinstance(row, bool) or not isinstance(row, Integral):
                raise TypeError(f"{name} is {row!r}, which is no position. Pass an integer.")
            if not 0 <= row < n_rows:
                raise ValueError(f"{name} is {row}, and there are {n_rows} records. Pass 0 to {n_rows - 1}.")
        if first == second:
            raise ValueError(f"first and second are both {first}. Pass two different records.")
        return self._fitted.explain(first, second)


def _choose(state: RecordState) -> ChosenPair | None:
    """Choose the next pair among those that may be shown and of which nothing is known."""
    grouping, pairs = state.group(), state.pairs  # in this order: answers may be about further pairs
    is_busy = np.zeros(int(grouping.labels.max()) + 1, dtype=bool)
    is_busy[grouping.labels[state.recent_rows()]] = True
    return choose_pair(
        state.log_odds,
        grouping.score + state.lean,
        grouping.n_decided,
        grouping.labels[pairs.first] == grouping.labels[pairs.second],
        _find_open(state),
        is_busy[grouping.labels[pairs.first]] | is_busy[grouping.labels[pairs.second]],
        state.problem.seed,
        len(state.evidence),
    )


def _draw(state: RecordState) -> ChosenPair | None:
    """Draw a pair at random for the next screen."""
    grouping, pairs = state.group(), state.pairs
    is_inside = grouping.labels[pairs.first] == grouping.labels[pairs.second]
    score = grouping.score + state.lean
    seed, n_answers = state.problem.seed, len(state.evidence)
    return draw_pair(state.log_odds, score, is_inside, _find_open(state), seed, n_answers)


def _name_rows(state: RecordState, choice: ChosenPair) -> tuple[int, int]:
    return int(state.pairs.first[choice.pair]), int(state.pairs.second[choice.pair])


def _find_open(state: RecordState) -> NDArray[np.bool_]:
    """Whether each pair may be shown, and nothing is known of it."""
    pairs = state.pairs
    is_open = ~state.evidence.has_verdict(np.column_stack([pairs.first, pairs.second]))
    if (askable := state.problem.askable) is not None:
        is_open &= askable[pairs.first] & askable[pairs.second]
    return is_open


def _make_question(state: RecordState, choice: ChosenPair) -> Question:
    first, second = _name_rows(state, choice)
    why = BEST if choice.drawn is None else AT_RANDOM
    return Question(first, second, state.group().labels, why)


def _record_draw(state: RecordState, choice: ChosenPair) -> RandomPair | None:
    """A pair that was drawn at random, as its records are grouped before its answer; None for another."""
    if choice.drawn is None:
        return None
    labels = state.group().labels
    first, second = _name_rows(state, choice)
    return RandomPair(first, second, choice.drawn, bool(labels[first] == labels[second]))


def describe_groups(labels: Labels, quality: Quality, n_draws: int) -> tuple[str, ...]:
    """How many groups there are, and how good they probably are."""
    sizes = np.bincount(labels)
    groups, alone = int((sizes > 1).sum()), int((sizes == 1).sum())
    alone_too = f"{count_noun(alone, 'record')} alone"
    found = f"There are {count_noun(groups, 'group')} of several records, and {alone_too}."
    if n_draws < LEAST_DRAWS:
        return (found,)
    right, complete = (_write_share(share) for share in quality)
    return (
        found,
        f"Of the pairs in one group {right} match, and {complete} of all matches are in one group, by"
        f" {count_noun(n_draws, 'question')} drawn at random.",
    )


def _write_share(share: Share) -> str:
    return f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%})"


def advise_to_stop(quality: Quality, n_draws: int) -> StopAdvice | None:
    """Whether to stop; None while too few pairs were drawn at random to tell how good the groups are.

    The share of rows in a wrong group is taken to be that of wrong pairs: mostly it is smaller.
    """
    if n_draws < LEAST_DRAWS:
        return None
    wrong, most = quality.wrong, quality.most_wrong
    return StopAdvice(wrong <= GOOD and most <= SURELY, wrong, most)


def read_records_table(X: object) -> Table:
    """Take a table of records; all columns of a frame are compared, but not its id."""
    if isinstance(X, Rows):
        return X.table
    if isinstance(X, Table):
        return X
    if not is_frame(X):
        raise DataError(
            f"RecordLinkage compares the columns of a table, and X is a {type(X).__name__}. Pass a DataFrame"
            " or linkwise.read(X), or use ThresholdLinkage, which compares rows of numbers."
        )
    frame = to_narwhals(X)
    id_column = find_id(frame, None, set())
    columns = [
        Column(name, "id" if name == id_column else "text", "compared as it is") for name in frame.columns
    ]
    return Table(None, frame, tuple(columns), ())
