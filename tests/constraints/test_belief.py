"""What is believed when answers may be wrong, and which pair is worth another question."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise.constraints.belief import Nearness, measure_nearness
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.learn import verification as checks
from linkwise.learn.verification import choose_check
from reference.belief import PlainBelief


def gaussian(X, width):
    """A kernel between all rows."""
    return np.exp(-np.square(X[:, None] - X).sum(axis=-1) / (2 * width**2))


def nearness_of(kernel, chances=None, **options):
    part = None if chances is None else lambda rows: chances[np.ix_(rows, rows)]
    return Nearness(lambda rows: kernel[np.ix_(rows, rows)], chances=part, **options)


def assert_equal_beliefs(fast, plain):
    assert fast.rows.tolist() == plain.rows
    assert fast.label.tolist() == plain.label
    assert fast.n_clusters == plain.k
    for name in ("certainty", "posterior", "careful", "together", "net"):
        np.testing.assert_allclose(getattr(fast, name), getattr(plain, name), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose([fast.error_rate, fast.deviation], [plain.rate, plain.deviation])
    for cut, (chance, careful, side, rest) in zip(fast.cuts, plain.cuts, strict=True):
        np.testing.assert_allclose([cut.chance, cut.careful], [chance, careful], rtol=1e-6, atol=1e-7)
        assert (cut.side.tolist(), cut.rest.tolist()) == (side, rest)


def follow(seed, *, n, n_answers, noise, rate, near, constraints=0, kinds=3):
    """Answer random pairs; after each answer the belief and the next check equal those of the reference."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.integers(0, kinds, n)
    X += 1.5 * y[:, None]
    kernel = gaussian(X, rng.uniform(0.5, 1.5))
    options = {name: rng.uniform(*ends) for name, ends in near.items() if name != "chances"}
    chances = 0.9 * kernel**0.5 if "chances" in near else None
    nearness = nearness_of(kernel, chances, **options)
    known = lw.Constraints.sample(y, constraints, seed) if constraints else lw.Constraints(n)
    evidence = FallibleEvidence(n, known, error_rate=rate)
    groups = lw.constraints.evidence.Evidence(n, known).groups()
    certain = [rows.tolist() for rows in groups.rows]
    plain = PlainBelief(kernel, nearness, rate, certain, groups.apart)
    askable = None if seed % 2 else rng.random(n) < 0.8
    limits = {
        "likely": checks.LIKELY,
        "sure": checks.PLACED_FROM,
        "large": checks.LARGE,
        "least": checks.LEAST_WORTH,
    }
    answers, asked = [], {frozenset(fact.pair) for fact in evidence}
    for _ in range(n_answers):
        first, second = rng.choice(n, 2, replace=False).tolist()
        yes = bool(y[first] == y[second]) ^ bool(rng.random() < noise)
        new = tuple(row for row in (first, second) if row not in plain.rows)
        evidence.add(first, second, "yes" if yes else "no")
        evidence.believe(nearness)
        answers.append((first, second, yes))
        asked.add(frozenset((first, second)))
        plain.update(answers)
        assert_equal_beliefs(evidence.belief, plain)
        chosen = choose_check(evidence, new, nearness, askable)
        expected = plain.choose_check(new, asked, askable, **limits)
        assert (None if chosen is None else chosen[:2]) == expected


NEAR = {"power": (1.0, 2.5), "unknown": (0.03, 0.2), "doubt": (0.0, 0.4)}
EXPECTED = {**NEAR, "chances": (), "n_expected": (1.0, 12.0)}


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow(nightly=True)) for seed in range(3, 6))]
)
@pytest.mark.parametrize("rate", [None, 0.02, 0.2])
def test_the_search_equals_the_plain_one(seed, rate):
    follow(seed, n=9, n_answers=18, noise=0.2, rate=rate, near=NEAR)


@pytest.mark.parametrize("seed", range(6, 12))
def test_it_equals_the_plain_one_while_few_clusters_are_reached(seed):
    follow(seed, n=9, n_answers=15, noise=0.15, rate=None, near=EXPECTED)


@pytest.mark.parametrize("seed", range(12, 18))
@pytest.mark.parametrize("near", [NEAR, EXPECTED], ids=["by regression", "by pairs"])
def test_it_equals_the_plain_one_among_constraints(seed, near):
    follow(seed, n=9, n_answers=15, noise=0.3, rate=None, near=near, constraints=5)


def test_many_answers_equal_the_plain_one():
    follow(1, n=14, n_answers=45, noise=0.2, rate=None, near=NEAR, kinds=2)


def test_distances_say_who_is_near():
    """The width of the Gaussian is half the median of the distances that are above 0."""
    X = np.random.default_rng(0).normal(size=(7, 3))
    X[4] = X[1]
    rows = np.array([5, 1, 4, 0])
    distances = np.linalg.norm(X[rows][:, None] - X[rows], axis=-1)
    median = np.sqrt(np.median(distances[distances > 0] ** 2))
    found = measure_nearness(X).similarity(rows)
    np.testing.assert_allclose(found, gaussian(X[rows], median / 2))
    np.testing.assert_array_equal(measure_nearness(np.ones((3, 2))).similarity(np.arange(3)), np.ones((3, 3)))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6))
def test_chances_are_probabilities(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    X = rng.integers(0, 4, (n, 2)).astype(float)  # with duplicates
    evidence = FallibleEvidence(n)
    for _ in range(20):
        first, second = rng.choice(n, 2, replace=False).tolist()
        evidence.add(first, second, str(rng.choice(["yes", "no", "unsure"])))
    evidence.believe(measure_nearness(X))
    belief = evidence.belief
    for table in (belief.posterior, belief.careful):
        assert table.shape == (len(belief.rows), belief.n_clusters + 1)
        np.testing.assert_allclose(table.sum(axis=1), 1)
    assert ((belief.certainty >= 0) & (belief.certainty <= 1)).all()
    assert ((belief.together >= 0) & (belief.together <= 1 + 1e-9)).all()
    assert 0.005 <= belief.error_rate <= 0.3
    assert belief.error_rate <= belief.careful_rate <= 0.35
    names = list(dict.fromkeys(belief.label.tolist()))
    assert names == list(range(belief.n_clusters))  # in the order of their first nodes
