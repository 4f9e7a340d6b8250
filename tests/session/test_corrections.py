"""Rows that are moved: what is stored, what follows, and what cannot be meant."""

from itertools import combinations

import numpy as np
import pytest

import linkwise as lw
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Fact
from linkwise.datasets import load
from linkwise.errors import ConstraintError, InfeasibleConstraintsError, SessionError
from linkwise.session.state.corrections import find_leads, pair_moved_rows

WINE, DIGITS = load("wine"), load("digits")
TRUTH = lw.TruthOracle(WINE.y)
X = (WINE.X - WINE.X.mean(axis=0)) / WINE.X.std(axis=0)


def begin(n_answers=12, learner=None, **options):
    session = lw.Session(X, learner, **options)
    for _ in range(n_answers):
        question = session.question
        session.answer(TRUTH(question.first, question.second))
    return session


def largest(session, n=2):
    numbers, sizes = np.unique(session.labels, return_counts=True)
    return numbers[np.argsort(-sizes)][:n].tolist()


@pytest.mark.parametrize("rate", [0, None], ids=["exact", "fallible"])
@pytest.mark.parametrize("learner", [lw.KIN, lw.COBRAS])
def test_moved_rows_are_where_they_were_moved(learner, rate):
    session = begin(learner=learner(random_state=0), error_rate=rate)
    source, target = largest(session)
    answered = session.evidence.groups().row
    rows = np.setdiff1d(np.flatnonzero(session.labels == source), answered)[:3]  # nothing holds them
    home = np.setdiff1d(np.flatnonzero(session.labels == source), rows)
    before, events = session.labels, session.events
    there = np.flatnonzero(before == target)
    assert session.move(rows.tolist(), target, source="anna") == 6
    assert [e.kind for e in session.events[len(events) :]] == ["move"]
    assert session.events[-1].source == "anna"
    after = session.labels
    assert len(set(after[rows].tolist())) == 1
    assert np.isin(after[there], after[rows]).any()
    assert not np.isin(after[home], after[rows]).all()
    assert session.undo().kind == "move"
    assert session.labels.tolist() == before.tolist()


def test_rows_of_their_own_are_apart_from_every_other_cluster():
    session = begin(error_rate=None)
    rows = np.flatnonzero(session.labels == largest(session)[0])[-2:].tolist()
    clusters = set(session.labels.tolist())
    n_pairs = session.move(rows, "new")
    assert n_pairs == 1 + len(clusters)
    labels, leads = session.labels, [fact.second for fact in session.events[-1].facts if fact.answer == "no"]
    assert labels[rows[0]] == labels[rows[1]]
    assert labels[rows[0]] not in labels[leads].tolist()
    assert session.status.n_volunteered == n_pairs


def test_the_learner_follows_at_once():
    """Rows are shown where they were moved: with most rows of that cluster."""
    session = lw.Session(DIGITS.X[:700], lw.KIN(random_state=0))
    classes = DIGITS.y[:700]
    for _ in range(20):
        question = session.question
        session.answer(bool(classes[question.first] == classes[question.second]))
    n_moved = 0
    for digit in range(10):
        labels = session.labels
        kind = np.array([np.bincount(classes[labels == cluster]).argmax() for cluster in labels])
        wrong = np.flatnonzero((classes == digit) & (kind != digit))
        homes = labels[(classes == digit) & (kind == digit)]
        if len(wrong) < 3 or not len(homes):
            continue
        n_moved, target = n_moved + len(wrong), int(np.bincount(homes).argmax())
        there = np.flatnonzero(labels == target)
        session.move(wrong.tolist(), target)
        assert len(set(session.labels[wrong].tolist())) == 1
        assert (session.labels[there] == session.labels[wrong[0]]).mean() > 0.5
    assert n_moved > 20


def test_a_move_is_joined_with_a_row_that_may_belong_there():
    """The cluster still holds a row that is known to differ: it does not stand for the cluster."""
    labels = np.array([0, 0, 0, 1, 1])
    evidence = Evidence(5)
    evidence.add(1, 3, "no")
    facts = pair_moved_rows([3], 0, labels, evidence.groups(), np.array([[0.0], [1.0], [2.0], [9.0], [9.0]]))
    assert Fact(3, 1, "yes") not in facts
    assert [fact.answer for fact in facts] == ["yes", "no"]


def test_rows_that_do_not_belong_here_leave():
    session = begin(error_rate=None)
    home = largest(session)[0]
    rows = np.flatnonzero(session.labels == home)[-2:].tolist()
    assert session.move(rows) == 2
    lead = session.events[-1].facts[0].second
    assert session.labels[lead] not in session.labels[rows].tolist()


def test_what_follows_already_is_no_event():
    session = lw.Session([[0.0], [0.1], [5.0], [5.1]], lw.COBRAS(random_state=0))
    session.add(0, 2, "cannot-link")
    n_events, cluster = len(session.events), int(session.labels[0])
    assert session.move([0], cluster) == 0
    assert len(session.events) == n_events


@pytest.mark.parametrize(
    ("rows", "to", "error", "words"),
    [
        ([], 1, SessionError, "no rows to move"),
        ([0], 99, SessionError, "Cluster 99 does not exist"),
        ([0], True, SessionError, "to is True"),
        ([0], "old", SessionError, "to is 'old'"),
        ([400], "new", ConstraintError, "400"),
    ],
    ids=["nothing", "nowhere", "bool", "word", "no row"],
)
def test_what_cannot_be_moved(rows, to, error, words):
    session = begin(4)
    n_events = len(session.events)
    with pytest.raises(error, match=words):
        session.move(rows, to)
    assert len(session.events) == n_events


def test_somebody_stays():
    session = begin(12)
    rows = np.flatnonzero(session.labels == largest(session)[0])
    with pytest.raises(SessionError, match="none stays"):
        session.move(rows)


def test_certain_answers_are_not_overruled():
    session = lw.Session([[0.0], [0.1], [5.0], [5.1]], lw.COBRAS(random_state=0))
    session.add(0, 1, "must-link")
    session.add(0, 2, "cannot-link")
    cluster = int(session.labels[2])
    with pytest.raises(InfeasibleConstraintsError):
        session.move([0], cluster)


def test_a_cluster_is_led_by_its_largest_group_of_answers():
    evidence = Evidence(8)
    for pair in ((1, 2), (2, 3), (5, 6)):
        evidence.add(*pair, "yes")
    labels = np.array([0, 0, 0, 0, 1, 1, 1, -1], dtype=np.int32)
    values = np.arange(8.0)[:, None]
    assert find_leads(labels, evidence.groups(), values) == {0: 1, 1: 5}
    assert find_leads(labels, evidence.groups(), values, without=[1, 5]) == {0: 2, 1: 4}
    assert find_leads(labels, evidence.groups(), values, without=[4, 5, 6]) == {0: 1}
    assert pair_moved_rows([7], 1, labels, evidence.groups(), values) == [Fact(7, 5, "yes")]
    with pytest.raises(SessionError, match="no cluster cannot leave"):
        pair_moved_rows([7], None, labels, evidence.groups(), values)


@pytest.mark.parametrize("learner", [lw.KIN, lw.COBRAS, lw.ThresholdLinkage], ids=lambda one: one.__name__)
@pytest.mark.parametrize("to", ["new", None, "largest"])
def test_the_moved_rows_leave_and_not_those_that_stand_for_their_cluster(learner, to):
    session = begin(6, learner(random_state=0) if learner is not lw.ThresholdLinkage else learner())
    labels = session.labels
    home = int(np.bincount(labels).argsort()[-2])
    answered = session.evidence.groups().row
    rows = np.setdiff1d(np.flatnonzero(labels == home), answered)[:3].tolist()
    stayed = np.setdiff1d(np.flatnonzero(labels == home), rows)
    target = int(np.bincount(labels).argmax()) if to == "largest" else to
    session.move(rows, target)
    found = session.labels
    lead = next(
        fact.second
        for fact in session.events[-1].facts
        if fact.answer == "no" and labels[fact.second] == home
    )
    assert found[lead] not in found[rows].tolist()
    assert (found[stayed] == found[lead]).mean() > 0.5
    if to == "largest":
        assert set(found[rows].tolist()) == {int(np.bincount(found[labels == target]).argmax())}


def test_an_added_pair_merges_clusters_at_once():
    """The learner follows it before its next question, as far as it would after it."""
    session = lw.Session(DIGITS.X[:600], lw.KIN(random_state=0))
    for _ in range(15):
        question = session.question
        session.answer(bool(DIGITS.y[question.first] == DIGITS.y[question.second]))
    labels, classes = session.labels, DIGITS.y[:600]
    kind = {
        cluster: int(np.bincount(classes[labels == cluster]).argmax())
        for cluster in np.unique(labels).tolist()
    }
    one, other = next(pair for pair in combinations(kind, 2) if kind[pair[0]] == kind[pair[1]])
    rows = [int(np.flatnonzero((labels == at) & (classes == kind[at]))[0]) for at in (one, other)]
    session.add(*rows, "must-link")
    together = session.labels == session.labels[rows[0]]
    assert together[labels == one].mean() > 0.9
    assert together[labels == other].mean() > 0.9
