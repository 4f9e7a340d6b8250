"""Learners with the clusters that they are given, for tests of what is shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.learn.advice import StopAdvice
from linkwise.learn.learner import Question


class FixedLabels:
    """It asks about the first row and every other one; only the answers change its clusters."""

    def __init__(self, labels: Any) -> None:
        self.labels = np.asarray(labels, dtype=np.int32)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"n_clusters": int(self.labels.max()) + 1}

    def prepare(self, X: Any, seed: int, *, progress: Any = None) -> None:
        return None

    def start(self, problem: Any) -> int:
        return len(problem.X)

    def ask(self, n_rows: int) -> Any:
        for row in range(1, n_rows):
            yield Question(0, row, self.labels, "because")
        return self.labels


class FixedAdvice(FixedLabels):
    """It also gives the same advice and sentences whatever the answers."""

    def __init__(self, labels: Any, advice: StopAdvice | None, *sentences: str) -> None:
        super().__init__(labels)
        self.advice, self.sentences = advice, sentences

    def describe(self, state: int) -> list[str]:
        return list(self.sentences)

    def advise(self, state: int) -> StopAdvice | None:
        return self.advice
