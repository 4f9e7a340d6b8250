"""A fork of a run goes on as the run itself would, and what happens to one changes nothing in the other."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from linkwise.constraints.fallible import make_evidence
from linkwise.learn.abilities import SupportsDescribe, SupportsFork, find_representatives
from linkwise.learn.memo import Memo
from linkwise.learn.oracles import TruthOracle
from linkwise.learn.run import Run
from registry import each_learner

X, Y = load_iris(return_X_y=True)
X, Y = np.ascontiguousarray(X[::3]), Y[::3]
X[1] = X[0]  # two rows are one point
N_ANSWERS = 12
REPLAYED = ("ExploreConsolidate", "MinMax", "NPU", "ActiveFeatureWeights", "ActiveCOBS", "COBS")


def report(run):
    """What a run asks and shows."""
    q, evidence = run.question, run.evidence
    asked = None if q is None else (q.first, q.second, q.why, q.labels.tolist())
    believed = list(evidence.read_believed(0))
    shown = run.labels.tolist(), run.reason, run.chance(), describe_state(run)
    return asked, shown, believed, evidence.n_questions


def describe_state(run):
    """What the learner tells of its state: sentences, and the representative of each row."""
    learner, lead = run._learner, find_representatives(run._learner, run.state)
    sentences = list(learner.describe(run.state)) if isinstance(learner, SupportsDescribe) else []
    return sentences, None if lead is None else lead.tolist()


def go_on(run, oracle, n_answers):
    """What a run asks and shows, question after question."""
    found = []
    for _ in range(n_answers):
        found.append(report(run))
        if run.question is None:
            break
        run.answer(oracle(run.question.first, run.question.second))
        run.tell(3, 4, "unsure", asked=True)
        run.update_labels()
    return found


@each_learner
@pytest.mark.parametrize(
    ("unsure", "error_rate"),
    [
        (0.1, None),
        (0.5, 0),
        *(pytest.param(*case, marks=pytest.mark.slow(nightly=True)) for case in ((0.1, 0), (0.5, None))),
    ],
)
def test_a_fork_goes_on_as_the_run_itself(entry, unsure, error_rate):
    learner, oracle = entry.make(random_state=0), TruthOracle(Y, unsure=unsure, random_state=0)
    evidence = make_evidence(len(X), None, error_rate)
    run = Run(learner, X, evidence, 0, memo=Memo())
    if not isinstance(learner, SupportsFork):
        assert run.fork() is None
        return
    for _ in range(N_ANSWERS // 3):
        before = report(run)
        fork, quick = run.fork(), run.fork(shows_labels=False)
        led_ahead = go_on(fork, oracle, N_ANSWERS)
        go_on(quick, oracle, 3)
        assert report(run) == before
        assert go_on(run.fork(), oracle, N_ANSWERS) == led_ahead
        go_on(run, oracle, 2)
        assert report(run) == led_ahead[min(2, len(led_ahead) - 1)]


@each_learner
def test_which_learners_can_be_forked(entry):
    is_replayed = entry.name.startswith(REPLAYED)
    assert isinstance(entry.make(random_state=0), SupportsFork) is not is_replayed
