"""Learners that treat many rows as one name a representative for each row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

import linkwise as lw
from laws.asking import few_examples, rows_and_truth
from linkwise.constraints.evidence import Evidence
from linkwise.learn.abilities import SupportsRepresentatives
from linkwise.learn.oracles import TruthOracle
from linkwise.learn.run import Run
from registry import LEARNERS, sweep

each_representing = sweep(
    tuple(entry for entry in LEARNERS if isinstance(entry.make(), SupportsRepresentatives))
)


def test_these_learners_have_representatives():
    assert {type(e.make()).__name__ for e in LEARNERS if isinstance(e.make(), SupportsRepresentatives)} == {
        "COBRA",
        "COBRAS",
    }


@pytest.mark.slow
@few_examples
@each_representing
@given(rows_and_truth(), st.sampled_from([0.0, 0.3]))
def test_rows_share_the_cluster_of_their_representative(entry, problem, unsure):
    X, y = problem
    learner, oracle = entry.make(random_state=0), TruthOracle(y, unsure=unsure, random_state=0)
    run = Run(learner, X, Evidence(len(X)), 0)
    while True:
        representatives = learner.representatives(run.state)
        labels = run.labels if run.question is None else run.question.labels
        if representatives is not None:
            np.testing.assert_array_equal(representatives[representatives], representatives)
            if run.question is not None:  # afterwards rows that were asked about may have moved
                np.testing.assert_array_equal(labels[representatives], labels)
        if run.question is None:
            break
        run.answer(oracle(run.question.first, run.question.second))


@pytest.mark.slow
@each_representing
def test_what_is_reported_of_two_rows_is_true_after_undo_and_in_another_client(entry, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = np.c_[y * 4.0, rng.normal(size=40)] + rng.normal(size=(40, 2)) * 0.4
    path = tmp_path / "s.linkwise"

    def explained(session):
        return [session.why(i, j) for i in range(0, 40, 7) for j in range(1, 40, 5) if i != j]

    with lw.Session.open(path, X, entry.make(random_state=0)) as session:
        for _ in range(8):
            if (q := session.question) is not None:
                session.answer(bool(y[q.first] == y[q.second]))
        session.add(0, 1, "cannot-link")
        session.undo()
        session.undo()
        if (q := session.question) is not None:
            session.answer(bool(y[q.first] == y[q.second]))
        here = explained(session)
        with lw.Session.open(path, X) as other:
            assert explained(other) == here
        labels = session.labels
        for reason in here:
            assert reason.together == (labels[reason.first] == labels[reason.second])
            for fact in reason.facts:
                assert fact.answer == ("yes" if y[fact.first] == y[fact.second] else "no")
    with lw.Session.open(path) as without_data:
        known = [reason for reason in here if reason.by == "answers"]
        for reason in known:
            assert without_data.why(reason.first, reason.second) == reason
        assert {without_data.why(r.first, r.second).by for r in here} <= {"answers", "nothing"}


@each_representing
def test_looking_ahead_changes_no_reason(entry):
    """Both answers are worked out while a person reads; what the session tells stays as it is."""
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    session = lw.Session(X, entry.make(random_state=0))

    def told():
        return session.why(
            0, 5
        ), None if session.representatives is None else session.representatives.tolist()

    for _ in range(12):
        before = told()
        session.look_ahead("no")
        session.look_ahead("yes")
        assert told() == before
        if (q := session.question) is not None:
            session.answer(bool(y[q.first] == y[q.second]))
