"""Rows that are assumed to be in the only component that a "no" has left."""

from itertools import combinations

import numpy as np
import pytest

import linkwise as lw
from linkwise.constraints.evidence import Evidence
from linkwise.learn.kin.calibration import FOR_EACH_CHECK, MOST_WRONG, Checks
from linkwise.learn.kin.confidence import certainty
from linkwise.learn.run import Run

SEED = 0


def two_classes(n=60):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 3)) + 1.3 * y[:, None], y


def play(X, y, budget):
    """A run, after each answer."""
    run = Run(lw.KIN(random_state=SEED), X, Evidence(len(X)), SEED, budget=budget)
    while run.question is not None:
        run.answer("yes" if y[run.question.first] == y[run.question.second] else "no")
        yield run


def guesses(run):
    """The rows whose place is assumed now, and the first row of each place."""
    posterior = run.state.believe()
    items = posterior.placed.guesses
    return posterior.task.row[items], posterior.task.row[posterior.placed.assumed[items]]


def with_guesses(X, y):
    """A run that has just assumed its third row."""
    return next(run for run in play(X, y, 100) if len(guesses(run)[0]) == 3)


# ---------------------------------------------------------------- checks
def test_without_checks_nothing_is_assumed():
    assert not Checks().allow(0)
    assert Checks().error() > MOST_WRONG


def test_four_right_checks_allow_three_assumptions_each():
    found = Checks()
    for _ in range(4):
        assert not found.allow(0)
        found = found.learn(is_right=True)
    assert found.allow(4 * FOR_EACH_CHECK - 1)
    assert not found.allow(4 * FOR_EACH_CHECK)


def test_a_wrong_check_counts_as_much_as_ten_right_ones():
    found = Checks(n_right=4).learn(is_right=False)
    assert not found.allow(0)
    assert not found._replace(n_right=12).allow(0)
    assert found._replace(n_right=13).allow(0)


# ---------------------------------------------------------------- a run
def test_an_assumed_row_is_shown_where_it_is_assumed_and_is_not_certain():
    X, y = two_classes()
    run = with_guesses(X, y)
    rows, first = guesses(run)
    assert (run.labels[rows] == run.labels[first]).all()
    certain = certainty(run.state.believe())
    assert certain[first] == pytest.approx(1)
    assert certain[rows] == pytest.approx(1 - run.state.believe().learned.checks.error())
    assert all(run.evidence.verdict(a, b) is None for a, b in zip(rows, first, strict=True))


def test_nobody_is_asked_about_an_assumed_row_before_the_others():
    X, y = two_classes()
    n_seen = 0
    for run in play(X, y, 200):
        if run.question is not None:
            rows = guesses(run)[0]
            assert not {run.question.first, run.question.second} & set(rows.tolist())
            n_seen = max(n_seen, len(rows))
    assert n_seen > 3
    assert run.reason == "exhausted"
    assert len(guesses(run)[0]) == 0
    assert all(run.evidence.verdict(a, b) for a, b in combinations(range(len(X)), 2))
    assert lw.constraint_score(run.labels, lw.Constraints.sample(y, 300, 0)) == 1


@pytest.mark.parametrize("is_same", [True, False])
def test_a_fact_about_an_assumed_row_takes_the_place_of_the_assumption(is_same):
    X, y = two_classes()
    run = with_guesses(X, y)
    rows, first = (side.tolist() for side in guesses(run))
    run.evidence.add(rows[0], first[0], "yes" if is_same else "no")
    assert guesses(run)[0].tolist() == rows[1:]
    known = run.state.believe().known
    label = dict(zip(known.items.tolist(), known.label.tolist(), strict=True))
    item = run.state.task.items.of
    assert (label[item[rows[0]]] == label[item[first[0]]]) == is_same


def test_nothing_follows_for_the_component_from_an_assumed_row():
    """A row that differs from an assumed one may be in the component where that one is assumed to be."""
    X, y = two_classes()
    run = with_guesses(X, y)
    row, first = (int(side[0]) for side in guesses(run))
    named = run.evidence.groups().row
    other, another = np.setdiff1d(np.arange(len(X)), named)[:2].tolist()
    run.evidence.add(other, another, "yes")
    run.evidence.add(other, row, "no")
    posterior, item = run.state.believe(), run.state.task.items.of
    component = posterior.placement.component[posterior.placement.unplaced == item[other]]
    place = posterior.known.label[posterior.known.items == item[first]]
    assert not posterior.placement.excluded[component, place].any()


def test_assumptions_end_when_checks_fail():
    X, y = two_classes()
    run = with_guesses(X, y)
    for _ in range(3):
        run.state.check(is_right=False)
    assert len(guesses(run)[0]) == 0
    assert not run.state.may_assume()
