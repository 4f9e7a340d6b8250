"""Answers with a reliability of their own: it can only lower what the source of an answer counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise.constraints.belief import measure_nearness
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Fact, check_reliability
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.learn.memo import Memo
from linkwise.learn.run import Run

SOURCES = ("anna", "judge")


def believe(n, facts, nearness=None, **options):
    """Evidence that believes after each fact: (first, second, answer, source, reliability)."""
    evidence = FallibleEvidence(n, **options)
    for first, second, answer, source, reliability in facts:
        evidence.add(first, second, answer, source=source, reliability=reliability)
        evidence.believe(nearness)
    return evidence


def state(evidence):
    """All numbers of a belief, bit by bit."""
    belief = evidence.belief
    tables = (belief.rows, belief.label, belief.certainty, belief.posterior, belief.together, belief.net)
    return [table.tobytes() for table in tables], belief.error_rate, belief.deviation


@st.composite
def told_facts(draw):
    """Rows, facts without reliabilities, and what distances say."""
    n = draw(st.integers(3, 8))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    said = [
        (*draw(pair), draw(st.sampled_from(["yes", "no", "unsure"])), draw(st.sampled_from(SOURCES)))
        for _ in range(draw(st.integers(1, 16)))
    ]
    X = np.random.default_rng(draw(st.integers(0, 10**6))).normal(size=(n, 2))
    return n, said, draw(st.sampled_from([None, measure_nearness(X)]))


@settings(max_examples=40, deadline=None)
@given(told_facts(), st.sampled_from([0.3, 0.1, 0.05, {"anna": 0.2, "judge": 0.07}]))
def test_a_reliability_of_one_minus_the_rate_is_the_rate(told, rate):
    n, said, nearness = told
    rates = dict.fromkeys(SOURCES, rate) if isinstance(rate, float) else rate
    plain = believe(n, [(*fact, None) for fact in said], nearness, error_rate=rate)
    own = believe(n, [(*fact, 1 - rates[fact[3]]) for fact in said], nearness, error_rate=rate)
    assert state(own) == state(plain)


@settings(max_examples=40, deadline=None)
@given(told_facts(), st.sampled_from([None, 0.1, {"anna": 0.1, "judge": None}, {"anna": 0, "judge": None}]))
def test_no_answer_counts_more_than_its_source(told, rate):
    n, said, nearness = told
    if isinstance(rate, dict) and rate["anna"] == 0:
        said = [(*fact[:3], "judge") for fact in said]
    plain = believe(n, [(*fact, None) for fact in said], nearness, error_rate=rate)
    assert state(believe(n, [(*fact, 1.0) for fact in said], nearness, error_rate=rate)) == state(plain)
    assert state(believe(n, [(*fact, 0.9999) for fact in said], nearness, error_rate=rate)) == state(plain)


def test_a_certain_source_is_certain_whatever_it_says():
    rate = {"anna": 0, "judge": None}
    said = [(0, 1, "yes", "anna"), (1, 2, "no", "judge"), (0, 2, "no", "anna"), (0, 2, "yes", "judge")]
    plain = believe(4, [(*fact, None) for fact in said], error_rate=rate)
    doubtful = [(*fact, 0.5 if fact[3] == "anna" else None) for fact in said]
    assert state(believe(4, doubtful, error_rate=rate)) == state(plain)


def test_of_two_answers_the_less_reliable_one_is_broken():
    for weak in range(3):
        said = [(0, 1, "yes"), (1, 2, "yes"), (0, 2, "no")]
        facts = [(*fact, "judge", 0.6 if at == weak else 0.95) for at, fact in enumerate(said)]
        (suspect,) = believe(3, facts, error_rate=0.05).suspects()
        assert suspect.number == weak


def test_a_doubtful_answer_tells_less_about_its_source():
    """Whoever says that an answer is doubtful has hardly erred if it is wrong."""
    right = [(i, j, "yes", "judge", None) for i in range(6) for j in range(i)]
    wrong = [(0, 2, "no", "judge"), (1, 3, "no", "judge"), (2, 4, "no", "judge")]
    sure, doubted = (
        believe(6, right + [(*fact, reliability) for fact in wrong]).belief.error_rate
        for reliability in (None, 0.6)
    )
    assert doubted < sure


def test_reliabilities_are_kept_with_the_facts_and_copied():
    evidence = FallibleEvidence(4)
    evidence.add(0, 1, "yes", source="judge", reliability=0.8)
    evidence.add(1, 2, "unsure", source="judge", reliability=0.6)  # of which nothing follows
    evidence.believe()
    expected = [Fact(0, 1, "yes", "judge", reliability=0.8), Fact(1, 2, "unsure", "judge")]
    assert list(evidence) == list(evidence.copy()) == list(evidence.read_believed(0)) == expected
    assert repr(expected[0]) == "Fact(first=0, second=1, answer='yes', source='judge', reliability=0.8)"
    exact = Evidence(4)
    exact.add(0, 1, "yes", reliability=0.8)
    assert list(exact) == [Fact(0, 1, "yes", reliability=0.8)]


def test_runs_that_share_a_memo_do_not_share_the_belief_of_other_reliabilities():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    beliefs = []
    for memo in (None, Memo()):
        for reliability in (0.95, 0.6):
            run = Run(lw.KIN(random_state=0), X, FallibleEvidence(5, error_rate=0.05), 0, memo=memo)
            for first, second, answer in [(0, 1, "yes"), (1, 2, "yes"), (0, 2, "no")]:
                run.tell(first, second, answer, reliability=reliability if answer == "no" else None)
            beliefs.append(state(run.evidence))
    assert beliefs[:2] == beliefs[2:]
    assert beliefs[0] != beliefs[1]


@pytest.mark.parametrize("reliability", [0.49, 1.01, float("nan"), -1])
def test_a_reliability_out_of_range_is_an_error(reliability):
    for evidence in (Evidence(3), FallibleEvidence(3)):
        with pytest.raises(ValueError, match=r"reliability is out of range: .*from 0\.5 to 1"):
            evidence.add(0, 1, "yes", reliability=reliability)
        assert len(evidence) == 0


def test_a_reliability_is_a_number():
    for wrong in ("0.8", True):
        with pytest.raises(TypeError, match="reliability is not a number"):
            check_reliability(wrong, "yes")
