"""The one loop that drives every learner.

An answer is added to the evidence before the learner gets it, and a question whose answer follows from the
evidence is never asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.consistency import enforce_answers
from linkwise.asking.learner import Labels, Learner, Problem, Question, Reason
from linkwise.asking.memo import Memo
from linkwise.constraints.evidence import Answer, Evidence


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

    Attributes
    ----------
    question : Question or None
        The open question; None at the end.
    labels : ndarray of shape (n_rows,)
        The best clustering so far: the learner's, changed where it contradicts an answer (see
        `enforce_answers`) unless the learner's parameter `enforce` is False.
    reason : {"budget", "exhausted"} or None
        Why the run ended; None before.
    state : object
        The state that `learner.start` returned; no other run uses it.
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
    ) -> None:
        self.evidence = evidence
        self.budget = budget
        self._enforces = bool(getattr(learner, "enforce", True))
        prepared = learner.prepare(X, seed) if prepared is None else prepared
        memo = Memo() if memo is None else memo
        self.state = learner.start(Problem(X, prepared, evidence, seed, askable, budget, memo))
        self._asking = learner.ask(self.state)
        self.question: Question | None = None
        self.labels: Labels = np.zeros(len(X), dtype=np.int32)
        self.reason: Reason | None = None
        self._counted = (self.labels, np.array([len(X)]))  # the learner's labels, and the cluster sizes
        self._advance(None)

    def answer(self, answer: Answer) -> None:
        """Answer the open question and go on to the next.

        Parameters
        ----------
        answer : {"yes", "no", "unsure"}
            Whether the rows of the question belong together.

        Raises
        ------
        RuntimeError
            There is no open question.
        InfeasibleConstraintsError
            The answer contradicts earlier answers.
        """
        if self.question is None:
            raise RuntimeError(f"There is no open question ({self.reason}). Volunteer a pair with tell().")
        self.evidence.add(self.question.first, self.question.second, answer, asked=True)
        self._advance(answer)

    def tell(self, first: int, second: int, answer: Answer, *, asked: bool = False) -> None:
        """Add a fact about any pair; if it answers the open question, go on to the next.

        Parameters
        ----------
        first, second : int
            Two different rows.
        answer : {"yes", "no", "unsure"}
            Whether the rows belong together.
        asked : bool, default=False
            Whether the fact counts as the answer to a question.

        Raises
        ------
        InfeasibleConstraintsError
            The answer contradicts earlier answers.
        """
        self.evidence.add(first, second, answer, asked=asked)
        if self.question is not None and {first, second} == {self.question.first, self.question.second}:
            self._advance(answer)
        else:
            self.refresh()

    def refresh(self) -> None:
        """Take up facts that were added to the evidence; if they answer the open question, go on."""
        q = self.question
        known = None if q is None else self.evidence.verdict(q.first, q.second)
        if known is None:
            self.labels = self._enforce(self._counted[0])
        else:
            self._advance(known)

    def _advance(self, answer: Answer | None) -> None:
        """Run the learner to its next question that the evidence does not answer, within the budget."""
        try:
            question = next(self._asking) if answer is None else self._asking.send(answer)
            while (known := self._look_up(question)) is not None:
                question = self._asking.send(known)
        except StopIteration as end:
            self.question, self.labels, self.reason = None, self._enforce(end.value), "exhausted"
            return
        self.question, self.labels = question, self._enforce(question.labels)
        if self.budget is not None and self.evidence.n_questions >= self.budget:
            self._asking.close()
            self.question, self.reason = None, "budget"

    def _look_up(self, question: Question) -> Answer | None:
        """Return the answer that follows from the evidence; raise if a row does not exist."""
        if question.first != question.second:
            self.evidence.check(question.first, question.second, "unsure")
        return self.evidence.verdict(question.first, question.second)

    def _enforce(self, labels: Labels) -> Labels:
        if not self._enforces:
            return labels
        if labels is not self._counted[0]:
            self._counted = (labels, np.bincount(labels))
        return enforce_answers(labels, self.evidence, self._counted[1])
