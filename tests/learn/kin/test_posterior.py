"""Evidence about rows as evidence about the items that show them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

import linkwise as lw
from linkwise.constraints.evidence import Evidence
from linkwise.learn.kin import kernels
from linkwise.learn.kin.posterior import ShownRowEvidence
from linkwise.learn.run import Run


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(0, 25))
def test_facts_of_shown_rows_are_those_of_all_rows(seed, n_pairs):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 12)
    evidence = Evidence(12, lw.Constraints.sample(y, n_pairs, seed))
    row = rng.permutation(12)[:7]
    facts = ShownRowEvidence(evidence, row).current()
    said = facts.groups()
    assert (np.diff(said.row) > 0).all()
    group = dict(zip(said.row.tolist(), said.number.tolist(), strict=True))
    first = [said.row[said.number == number][0] for number in range(len(set(group.values())))]
    assert first == sorted(first)
    apart = set(map(tuple, said.cannot_link.tolist()))
    for i in range(7):
        for j in range(7):
            told = evidence.verdict(int(row[i]), int(row[j])) if i != j else "yes"
            assert i == j or facts.verdict(i, j) == told
            if i in group and j in group:
                pair = (min(group[i], group[j]), max(group[i], group[j]))
                found = "yes" if group[i] == group[j] else "no" if pair in apart else None
                assert found == told
            else:
                assert told is None or i == j


@pytest.mark.slow
def test_pairs_that_are_brought_in_hold_for_the_rows_they_name(monkeypatch):
    """Small clusters are mixed here; what is said of a row is no fact about the others beside it."""
    monkeypatch.setattr(kernels, "MOST_ITEMS", 60)
    monkeypatch.setattr(kernels, "SMALL_CLUSTERS", 40)
    X, y = make_blobs(200, centers=4, cluster_std=2.5, random_state=0)
    pairs = lw.Constraints.sample(y, 150, 0)
    model = lw.KIN(random_state=0).fit(X, oracle=lw.TruthOracle(y), constraints=pairs, budget=30)
    assert model.violations_ == 0
    assert all(lw.constraint_score(labels, pairs) == 1 for labels in model.history_)


def test_the_order_of_facts_that_are_there_from_the_start_does_not_matter():
    """Two identical rows are in different classes, so facts about them contradict each other."""
    X = np.random.default_rng(0).normal(size=(14, 2))
    X[13] = X[12]
    asked = []
    for order in (1, -1):
        evidence = Evidence(14)
        for fact in [(0, 12, "yes"), (0, 13, "no"), (2, 12, "unsure")][::order]:
            evidence.add(*fact)
        run = Run(lw.KIN(random_state=0), X, evidence, 0)
        asked.append((run.question.first, run.question.second, run.labels.tolist()))
    assert asked[0] == asked[1]
