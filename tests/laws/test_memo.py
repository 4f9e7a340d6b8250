"""A memo may be cleared at any moment without changing a result, and no run writes to what was prepared."""

from dataclasses import astuple, fields, is_dataclass

import joblib
import numpy as np
from sklearn.datasets import load_wine, make_blobs

from linkwise.constraints.evidence import Evidence
from linkwise.constraints.fallible import make_evidence
from linkwise.learn.abilities import (
    SupportsAdvise,
    SupportsColumnShares,
    SupportsConfidence,
    SupportsDescribe,
    SupportsExplainPairs,
    SupportsRepresentatives,
)
from linkwise.learn.memo import Memo
from linkwise.learn.oracles import TruthOracle
from linkwise.learn.run import Run
from registry import LEARNERS, each_learner

N_ANSWERS = 12
X, Y = (np.ascontiguousarray(array[::2]) for array in load_wine(return_X_y=True))


class Forgetful(Memo):
    """A memo that keeps nothing at all."""

    def get(self, topic, place, compute, *, max_values=None, max_bytes=None):
        return compute()


def report(learner, run):
    """Everything that a learner asks and shows at this moment."""
    q, state = run.question, run.state
    optional = (
        (SupportsDescribe, lambda: tuple(learner.describe(state))),
        (SupportsRepresentatives, lambda: learner.representatives(state)),
        (SupportsColumnShares, lambda: learner.column_shares(state)),
        (SupportsExplainPairs, lambda: list(learner.column_effects(state).values())),
        (SupportsConfidence, lambda: learner.confidence(state)),
        (SupportsAdvise, lambda: [] if (found := learner.advise(state)) is None else astuple(found)),
    )
    shown = [read() if isinstance(learner, kind) else None for kind, read in optional]
    asked = None if q is None else (q.first, q.second, q.why, q.expected, q.labels.tolist())
    return asked, run.labels.tolist(), [None if s is None else np.asarray(s).tolist() for s in shown]


def ask_and_answer(entry, X, y, memo, before_each=lambda: None, error_rate=0):
    """What a run of some answers asks and shows, question after question."""
    learner, oracle = entry.make(random_state=0), TruthOracle(y, unsure=0.1, random_state=0)
    run, found = Run(learner, X, make_evidence(len(X), None, error_rate), 0, memo=memo), []
    for _ in range(N_ANSWERS):
        before_each()
        found.append(report(learner, run))
        if run.question is None:
            break
        before_each()
        run.answer(oracle(run.question.first, run.question.second))
    return found


def values_of(prepared):
    """The fields of a dataclass, without the properties that follow from them; anything else as it is."""
    return [getattr(prepared, f.name) for f in fields(prepared)] if is_dataclass(prepared) else prepared


@each_learner
def test_a_memo_that_is_cleared_before_each_question_changes_nothing(entry):
    memo = Memo()
    kept = ask_and_answer(entry, X, Y, memo)
    assert ask_and_answer(entry, X, Y, memo) == kept  # with all that the first run has left
    cleared = Memo()
    assert ask_and_answer(entry, X, Y, cleared, cleared.clear) == kept
    assert ask_and_answer(entry, X, Y, Forgetful()) == kept


@each_learner
def test_beliefs_may_be_forgotten_at_any_moment(entry):
    rows, classes, memo = np.ascontiguousarray(X[::2]), Y[::2], Memo()
    kept = ask_and_answer(entry, rows, classes, memo, error_rate=None)
    assert ask_and_answer(entry, rows, classes, memo, error_rate=None) == kept
    assert ask_and_answer(entry, rows, classes, memo, memo.clear, error_rate=None) == kept
    other = ask_and_answer(entry, rows, classes, Memo(), error_rate=0.2)
    assert ask_and_answer(entry, rows, classes, memo, error_rate=0.2) == other


@each_learner
def test_runs_that_show_other_rows_share_a_memo(entry):
    learner = entry.make(random_state=0)
    prepared = learner.prepare(X, 0)

    def ask(askable, memo):
        run = Run(learner, X, Evidence(len(X)), 0, prepared=prepared, askable=askable, memo=memo)
        asked = []
        while run.question is not None and len(asked) < 15:
            q = run.question
            asked.append((q.first, q.second, q.labels.tolist()))
            run.answer("yes" if Y[q.first] == Y[q.second] else "no")
        return asked

    shown = [None, np.arange(len(X)) % 2 > 0, np.arange(len(X)) % 3 > 0]
    alone = [ask(askable, Memo()) for askable in shown]
    memo = Memo()
    for at in (0, 1, 2, 0):
        assert ask(shown[at], memo) == alone[at]


@each_learner
def test_no_run_writes_to_what_was_prepared(entry):
    learner = entry.make(random_state=0)
    prepared = learner.prepare(X, 0)
    before = joblib.hash(values_of(prepared))
    run = Run(learner, X, Evidence(len(X)), 0, prepared=prepared)
    for _ in range(N_ANSWERS):
        if run.question is None:
            break
        report(learner, run)
        run.answer("yes" if Y[run.question.first] == Y[run.question.second] else "no")
    assert joblib.hash(values_of(prepared)) == before


def test_a_memo_of_kin_may_be_cleared_where_items_are_small_clusters():
    rows, classes = make_blobs(2300, centers=6, cluster_std=2.5, random_state=0)
    entry = next(entry for entry in LEARNERS if entry.name == "KIN")
    cleared = Memo()
    assert ask_and_answer(entry, rows, classes, cleared, cleared.clear) == ask_and_answer(
        entry, rows, classes, Memo()
    )
