"""The one loop that drives every learner.

An answer is added to the evidence before the learner gets it, and a question whose answer follows from the
evidence is never asked. If answers may be wrong, doubtful ones are checked by further questions first, and
the learner gets what is believed in the end. After the learner's last question the doubts that are left are
checked; if the belief has changed since the learner started, it starts anew on what is believed now.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.belief import Belief, Nearness, measure_nearness
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.constraints.sorting import Sorting
from linkwise.learn.abilities import (
    SupportsChance,
    SupportsCurrentLabels,
    SupportsExpectMoves,
    SupportsFork,
    SupportsGather,
    SupportsHear,
    SupportsNearness,
)
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.item_labels import Shown, count_labels, read_labels
from linkwise.learn.learner import Learner, Problem, Question, Reason
from linkwise.learn.memo import Memo
from linkwise.learn.verification import choose_check, expect_moves
from linkwise.types import Labels

BELIEFS = 2**25  # bytes of beliefs that are remembered


class Run:
    """One learner asking about one data set.

    Parameters
    ----------
    learner : Learner
        The learner that chooses the questions.
    X : ndarray of shape (n_rows, n_features)
        The rows.
    evidence : Evidence
        The known facts; every answer adds one.
    seed : int
        Seed of all random draws.
    prepared : object, optional
        The result of ``learner.prepare(X, seed)``; computed if not given.
    askable : ndarray of bool, shape (n_rows,), optional
        Rows that questions may show; all by default.
    budget : int, optional
        Largest number of questions; by default the run goes on until no question is left.
    memo : Memo, optional
        What earlier runs over the same prepared data have computed; a new one by default. It may be cleared
        at any moment without changing a result.
    shows_labels : bool, default=True
        Whether the learner computes labels for each question. Without them it may be faster, and `labels`
        mean nothing.

    Attributes
    ----------
    question : Question or None
        The open question; None at the end.
    shown : ndarray of shape (n_rows,) or ItemLabels
        The best clustering so far: the learner's, changed where it contradicts an answer (see
        `enforce_answers`) unless the learner's parameter `enforce` is False.
    labels : ndarray of shape (n_rows,)
        The cluster of each row in `shown`, made anew at each read if `shown` is about items.
    reason : {"budget", "exhausted"} or None
        Why the run ended; None before.
    state : object
        The state that `learner.start` returned last; no other run uses it.
    """

    def __init__(
        self,
        learner: Learner,
        X: NDArray[Any],
        evidence: Evidence,
        seed: int,
        *,
        prepared: Any = None,
        askable: NDArray[np.bool_] | None = None,
        budget: int | None = None,
        memo: Memo | None = None,
        shows_labels: bool = True,
    ) -> None:
        self.evidence = evidence
        self.budget = budget
        self._enforces = bool(getattr(learner, "enforce", True))
        prepared = learner.prepare(X, seed) if prepared is None else prepared
        memo = Memo() if memo is None else memo
        self._learner, self._X, self._askable = learner, X, askable
        self._problem = Problem(X, prepared, evidence, seed, askable, budget, memo, shows_labels)
        self._begin()

    def _begin(self) -> None:
        """Start the learner, and find its first question."""
        self._start()
        self.question: Question | None = None
        self.reason: Reason | None = None
        self._learned: Shown = np.zeros(len(self._X), dtype=np.int32)  # what the learner concluded last
        self._enforced: Shown | None = None  # the same without contradictions, if somebody has asked
        self._counted: tuple[Shown, NDArray[np.int64]] = self._learned, np.array([len(self._X)])  # sizes
        self._checked: Question | None = None  # the learner's question, while its answer is checked
        self._rows: tuple[int, ...] = ()  # those that it named for the first time
        self._believe()
        self._advance(None)

    def _start(self) -> None:
        """Start the learner on what is believed; it hears the answers to its questions that are known."""
        self.state = self._learner.start(self._problem)
        self._asking = self._learner.ask(self.state)
        self._n_revisions = self.evidence.n_revisions
        self._has_ended = False  # whether the learner has asked its last question

    def fork(self, *, shows_labels: bool = True) -> Run | None:
        """Copy the run, to try out answers without a repetition from its start.

        Parameters
        ----------
        shows_labels : bool, default=True
            Whether the copy computes labels. Without them it is faster, and its `labels` mean nothing.

        Returns
        -------
        Run or None
            A run with evidence of its own; None if runs of this learner cannot be copied.
        """
        if not isinstance(self._learner, SupportsFork):
            return None
        twin = copy.copy(self)
        twin.evidence = self.evidence.copy()
        twin._problem = replace(self._problem, evidence=twin.evidence, shows_labels=shows_labels)
        twin.state = self._learner.fork(self.state, twin._problem)
        twin._asking = self._learner.ask(twin.state)
        if not self._has_ended and self.reason is None:
            next(twin._asking)  # the question that is open already
        return twin

    def restart(self) -> Run:
        """Start another run on what is known by now, which computes no labels."""
        twin = copy.copy(self)
        twin.evidence = self.evidence.copy()
        twin._problem = replace(self._problem, evidence=twin.evidence, budget=None, shows_labels=False)
        twin._begin()
        return twin

    def answer(
        self, answer: Answer, *, source: str = "", when: str | None = None, reliability: float | None = None
    ) -> None:
        """Answer the open question and go on to the next.

        Parameters
        ----------
        answer : {"yes", "no", "unsure"}
            Whether the rows of the question belong together.
        source : str, default=""
            Who gave the answer.
        when : str, optional
            UTC time of the answer, ISO 8601.
        reliability : float, optional
            The probability that the answer is right, from 0.5 to 1.

        Raises
        ------
        RuntimeError
            There is no open question.
        InfeasibleConstraintsError
            The answer contradicts earlier answers.
        """
        if self.question is None:
            raise RuntimeError(f"There is no open question ({self.reason}). Volunteer a pair with tell().")
        first, second = self.question.first, self.question.second
        self.evidence.add(
            first, second, answer, asked=True, source=source, when=when, reliability=reliability
        )
        self._hear(self.question, answer)

    def tell(
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
        """Add a fact about any pair; if it answers the open question, go on to the next.

        Parameters
        ----------
        first, second : int
            Two different rows.
        answer : {"yes", "no", "unsure"}
            Whether the rows belong together.
        asked : bool, default=False
            Whether the fact counts as the answer to a question.
        source : str, default=""
            Who gave the answer.
        when : str, optional
            UTC time of the answer, ISO 8601.
        reliability : float, optional
            The probability that the answer is right, from 0.5 to 1.

        Raises
        ------
        InfeasibleConstraintsError
            The answer contradicts earlier answers.
        """
        self.evidence.add(
            first, second, answer, asked=asked, source=source, when=when, reliability=reliability
        )
        if self.question is not None and {first, second} == {self.question.first, self.question.second}:
            self._hear(self.question, answer)
            return
        if asked and isinstance(self._learner, SupportsHear):
            self._believe()
            self._learner.hear(self.state, first, second)
        self.refresh()

    def sort(self, sorting: Sorting, *, source: str = "", when: str | None = None) -> None:
        """Add the piles into which somebody has sorted rows, as one answer.

        A learner that gathers rows takes them up one after the other, as if it had asked about each.

        Parameters
        ----------
        sorting : Sorting
            The piles.
        source : str, default=""
            Who sorted the rows.
        when : str, optional
            UTC time of the answer, ISO 8601.

        Raises
        ------
        InfeasibleConstraintsError
            The piles contradict earlier answers. Some of their pairs may have been added.
        """
        if isinstance(self._learner, SupportsGather):
            for row in self._learner.hear_sorting(self.state, sorting):
                self.evidence.add_sorted(sorting, row, source=source, when=when)
                self._believe()
        else:
            for row in sorting.order:
                self.evidence.add_sorted(sorting, row, source=source, when=when)
        self.refresh()
        self.update_labels()

    def refresh(self) -> None:
        """Take up facts that were added to the evidence; if they answer the open question, go on."""
        self._believe()
        if self._checked is not None:
            self._check()
            return
        if self._has_ended:
            self._finish(self._learned)
            return
        q = self.question
        known = None if q is None else self.evidence.verdict(q.first, q.second)
        if known is None:
            self._show(self._learned)
        else:
            self._advance(known)

    def update_labels(self) -> None:
        """Show what the learner concludes by now, if facts were added that do not answer its question."""
        if self.question is None or not self._problem.shows_labels:
            return
        if isinstance(self._learner, SupportsCurrentLabels):
            self._show(self._learner.current_labels(self.state))

    def chance(self) -> float | None:
        """The probability of "yes" to the open question; None if the learner does not estimate it."""
        if (
            self.question is None
            or self._checked is not None
            or not isinstance(self._learner, SupportsChance)
        ):
            return None
        return self._learner.chance(self.state, self.question.first, self.question.second)

    def _hear(self, question: Question, answer: Answer) -> None:
        """Go on after the answer to the open question."""
        if not isinstance(self.evidence, FallibleEvidence):
            self._advance(answer)
            return
        if self._has_ended:
            self.refresh()
            return
        if self._checked is None:
            known = self.evidence.belief.rows
            self._checked = question
            self._rows = tuple(row for row in (question.first, question.second) if row not in known)
        self._believe()
        self._check()

    def _believe(self) -> None:
        if isinstance(self.evidence, FallibleEvidence):
            self.evidence.believe(self._nearness(), self._remember_belief)

    def _remember_belief(self, key: bytes, compute: Callable[[], Belief]) -> Belief:
        return self._problem.memo.get("belief", key, compute, max_bytes=BELIEFS)

    def _nearness(self) -> Nearness:
        """What the learner knows about who belongs together, or else what distances say."""
        if isinstance(self._learner, SupportsNearness):
            return self._learner.nearness(self.state)
        return measure_nearness(self._X)

    def _check(self) -> None:
        """Ask about what is doubtful, or tell the learner what is believed."""
        assert isinstance(self.evidence, FallibleEvidence)
        assert self._checked is not None
        chosen = choose_check(self.evidence, self._rows, self._nearness(), self._askable, self._expect_moves)
        if chosen is None:  # also at the end of the budget, so that the learner hears the last answer
            question, self._checked = self._checked, None
            self._advance(self.evidence.verdict(question.first, question.second))
            return
        labels = self._learned
        if self._problem.shows_labels and isinstance(self._learner, SupportsCurrentLabels):
            labels = self._learner.current_labels(self.state)
        self._show(labels)
        if self._is_spent():
            self._end("budget")
        else:
            first, second, why = chosen
            self.question = Question(first, second, self.shown, why)

    def _expect_moves(self) -> float:
        """How many rows the learner's next answer is expected to move: about as many as its last one."""
        if isinstance(self._learner, SupportsExpectMoves):
            return self._learner.expect_moves(self.state)
        return expect_moves(self.evidence)

    def _is_spent(self) -> bool:
        return self.budget is not None and self.evidence.n_questions >= self.budget

    def _end(self, reason: Reason) -> None:
        self._asking.close()
        self.question, self.reason = None, reason

    def _advance(self, answer: Answer | None) -> None:
        """Run the learner to its next question that the evidence does not answer, within the budget."""
        try:
            question = next(self._asking) if answer is None else self._asking.send(answer)
            while (known := self._look_up(question)) is not None:
                question = self._asking.send(known)
        except StopIteration as end:
            self._has_ended = True
            self._finish(end.value)
            return
        self.question, self.reason = question, None
        self._show(question.shown)
        if self._is_spent():
            self._end("budget")

    def _finish(self, labels: Shown) -> None:
        """Go on after the learner's last question: start it anew, check what is doubtful, or end."""
        self.question, self.reason = None, "exhausted"
        self._show(labels)
        if not isinstance(self.evidence, FallibleEvidence):
            return
        if self.evidence.n_revisions != self._n_revisions:
            self._start()
            self._advance(None)  # starts the learner once only: nothing is believed anew meanwhile
            return
        rows = tuple(self.evidence.belief.rows.tolist())
        chosen = choose_check(self.evidence, rows, self._nearness(), self._askable)
        if chosen is None:
            return
        first, second, why = chosen
        self.question, self.reason = Question(first, second, self.shown, why), None
        if self._is_spent():
            self._end("budget")

    def _look_up(self, question: Question) -> Answer | None:
        """Return the answer that follows from the evidence; raise if a row does not exist."""
        if question.first != question.second:
            self.evidence.check(question.first, question.second, "unsure")
        return self.evidence.verdict(question.first, question.second)

    @property
    def shown(self) -> Shown:
        """The best clustering so far; computed when it is read, since most of them never are."""
        if self._enforced is None:
            self._enforced = self._enforce()
        return self._enforced

    @property
    def labels(self) -> Labels:
        """The cluster of each row in `shown`."""
        return read_labels(self.shown)

    def _show(self, labels: Shown) -> None:
        """Take labels of the learner, or the same again after other answers."""
        self._learned, self._enforced = labels, None

    def _enforce(self) -> Shown:
        if not (self._problem.shows_labels and self._enforces):
            return self._learned
        if self._learned is not self._counted[0]:
            self._counted = (self._learned, count_labels(self._learned))
        moved = np.array(sorted(self.evidence.corrected), dtype=np.int64)
        return enforce_answers(self._learned, self.evidence, self._counted[1], moved)
