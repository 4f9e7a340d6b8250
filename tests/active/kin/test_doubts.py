"""KIN where somebody cannot tell: one row that cannot be judged, and nothing left to ask."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.asking.run import Run
from linkwise.constraints.evidence import Evidence


def test_one_row_that_nobody_can_judge_costs_two_questions():
    X, y = load_iris(return_X_y=True)
    first = lw.KIN(random_state=0)
    run = Run(first, X, Evidence(len(X)), 0)
    blurred = run.question.second  # what the first question compares others with
    asked = []

    def oracle(i, j):
        asked.append((i, j))
        return "unsure" if blurred in (i, j) else bool(y[i] == y[j])

    model = lw.KIN(random_state=0).fit(X, oracle=oracle, budget=40)
    assert sum(blurred in pair for pair in asked) <= 3
    assert adjusted_rand_score(y, model.labels_) > 0.9


@pytest.mark.parametrize("answer", ["yes", "no", "unsure"])
def test_no_next_answer_is_described_when_nothing_is_asked(answer):
    X = np.array([[1.0, 2.0], [3.0, 4.0], [9.0, 4.0]])
    learner, evidence = lw.KIN(random_state=0), Evidence(3)
    run = Run(learner, X, evidence, 0)
    while run.question is not None:
        run.answer(answer)
    assert not any("next answer" in line for line in learner.describe(run.state))
