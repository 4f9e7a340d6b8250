"""The one loop that drives every learner.

Answers go into Evidence before the learner hears them, and what Evidence knows is never asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.consistency import respecting
from linkwise.asking.learner import Labels, Learner, Problem, Question, Reason
from linkwise.asking.memo import Memo
from linkwise.constraints.evidence import Answer, Evidence


class Run:
    """One learner asking about one data set.

    Parameters
    ----------
    learner : Learner
    X : ndarray of shape (n_rows, n_features)
    evidence : Evidence
        Facts known so far; grows with every answer.
    seed : int
    prepared : object, optional
        What ``learner.prepare(X, seed)`` gave; made here otherwise.
    askable : ndarray of bool, shape (n_rows,), optional
        Rows that may be shown; all by default.
    budget : int, optional
        Largest number of questions; until nothing is left to ask by default.
    memo : Memo, optional
        What earlier runs over the same prepared data have computed; a new one by default. It may be cleared
        at any moment without changing a result.

    Attributes
    ----------
    question : Question or None
        What is asked now; None at the end.
    labels : ndarray of shape (n_rows,)
        The best clustering at this moment: the learner's, with the rows that were answered about put
        where the answers say (see `respecting`).
    reason : {"budget", "exhausted"} or None
        Why it ended.
    state : object
        What `learner.start` returned; only this run changes it.
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
        prepared = learner.prepare(X, seed) if prepared is None else prepared
        memo = Memo() if memo is None else memo
        self.state = learner.start(Problem(X, prepared, evidence, seed, askable, budget, memo))
        self._asking = learner.ask(self.state)
        self.question: Question | None = None
        self.labels: Labels = np.zeros(len(X), dtype=np.int32)
        self.reason: Reason | None = None
        self._counted = (self.labels, np.array([len(X)]))  # labels of the learner, rows of each
        self._advance(None)

    def answer(self, answer: Answer) -> None:
        """Take the answer to the present question and go on to the next."""
        if self.question is None:
            raise RuntimeError(f"nothing is asked any more ({self.reason}); volunteer a pair with tell()")
        self.evidence.add(self.question.first, self.question.second, answer, asked=True)
        self._advance(answer)

    def tell(self, first: int, second: int, answer: Answer, *, asked: bool = False) -> None:
        """Take a fact about any pair; if it settles the present question, go on to the next."""
        self.evidence.add(first, second, answer, asked=asked)
        if self.question is not None and {first, second} == {self.question.first, self.question.second}:
            self._advance(answer)
        else:
            self.refresh()

    def refresh(self) -> None:
        """Take in facts that were added to the evidence; go on if what is asked follows from them."""
        q = self.question
        known = None if q is None else self.evidence.verdict(q.first, q.second)
        if known is None:
            self.labels = self._shown(self._counted[0])
        else:
            self._advance(known)

    def _advance(self, answer: Answer | None) -> None:
        """Run the learner until it asks what Evidence does not know; keep within the budget."""
        try:
            question = self._asking.send(answer)  # type: ignore[arg-type]  # None starts a generator
            while (known := self._known(question)) is not None:
                question = self._asking.send(known)
        except StopIteration as end:
            self.question, self.labels, self.reason = None, self._shown(end.value), "exhausted"
            return
        self.question, self.labels = question, self._shown(question.labels)
        if self.budget is not None and self.evidence.n_questions >= self.budget:
            self._asking.close()
            self.question, self.reason = None, "budget"

    def _known(self, question: Question) -> Answer | None:
        """What Evidence knows; a question about what is no row of the data is refused, and never shown."""
        if question.first != question.second:
            self.evidence.check(question.first, question.second, "unsure")
        return self.evidence.verdict(question.first, question.second)

    def _shown(self, labels: Labels) -> Labels:
        if labels is not self._counted[0]:
            self._counted = (labels, np.bincount(labels))
        return respecting(labels, self.evidence, self._counted[1])
