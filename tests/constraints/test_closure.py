"""Components of must-links and shortest chains, against plain searches."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from linkwise.constraints import closure
from linkwise.constraints.closure import (
    find_components,
    format_chain,
    shortest_chain,
    shortest_chain_apart,
    shortest_contradiction,
)
from reference.closure import closed, steps, steps_apart


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 14))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    pairs = st.lists(pair, max_size=18) if n > 1 else st.just([])
    return n, as_pairs(draw(pairs)), as_pairs(draw(pairs))


def as_pairs(pairs):
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


@pytest.mark.slow
@given(graphs())
def test_components_equal_those_of_the_closure_matrix(problem):
    n, must, _ = problem
    found = find_components(n, must)
    assert found.dtype == np.int64
    together = closed(n, must, [])[0]
    np.testing.assert_array_equal(found[:, None] == found, together)
    firsts = np.unique(found, return_index=True)[1]
    assert (np.diff(firsts) > 0).all()  # numbered by first row


@pytest.mark.slow
@given(graphs())
def test_chains_are_valid_and_shortest(problem):
    n, must, _ = problem
    linked = {frozenset(p) for p in must.tolist()}
    for i in range(n):
        far = steps(n, must.tolist(), i)
        for j in range(n):
            chain = shortest_chain(n, must, i, j)
            if far[j] == np.inf:
                assert chain == ()
                continue
            assert (chain[0], chain[-1], len(chain)) == (i, j, far[j] + 1)
            assert all(frozenset(step) in linked for step in itertools.pairwise(chain))


@pytest.mark.slow
@given(graphs())
def test_separating_chains_cross_one_cannot_link_and_are_shortest(problem):
    n, must, cannot = problem
    linked = {frozenset(p) for p in must.tolist()}
    for i in range(n):
        for j in range(n):
            near, far = shortest_chain_apart(n, must, cannot, i, j)
            fewest = steps_apart(n, must.tolist(), cannot.tolist(), i, j)
            if fewest == np.inf:
                assert (near, far) == ((), ())
                continue
            assert len(near) + len(far) - 1 == fewest
            assert (near[0], far[-1]) == (i, j)
            assert frozenset((near[-1], far[0])) in {frozenset(p) for p in cannot.tolist()}
            for chain in (near, far):
                assert all(frozenset(step) in linked for step in itertools.pairwise(chain))


@pytest.mark.slow
@given(graphs())
def test_the_reported_contradiction_is_the_shortest(problem):
    n, must, cannot = problem
    found = shortest_contradiction(n, must, cannot)
    lengths = [steps(n, must.tolist(), i)[j] for i, j in cannot.tolist()]
    shortest = min(lengths, default=np.inf)
    assert found == () if shortest == np.inf else len(found) == shortest + 1


@pytest.mark.parametrize("seed", range(20))
def test_the_shortest_of_hundreds_of_contradictions_is_reported(seed):
    rng = np.random.default_rng(seed)
    n, at = 300, np.arange(1, 300)
    before = at - 1 if seed % 2 else rng.integers(0, at)  # a chain, or a random tree
    more = rng.integers(0, n, (rng.integers(0, 200), 2))
    must = np.vstack([np.column_stack([before, at]), more[more[:, 0] != more[:, 1]]])
    apart = shortest_path(csr_array((np.ones(len(must)), must.T), (n, n)), directed=False, unweighted=True)
    cannot = rng.integers(0, n, (1000, 2))
    cannot = cannot[apart[tuple(cannot.T)] > rng.integers(0, 4)]
    found = shortest_contradiction(n, must, cannot)
    assert len(found) == apart[tuple(cannot.T)].min() + 1
    assert apart[found[0], found[-1]] == len(found) - 1


def test_the_shortest_of_many_contradictions_may_come_last():
    chain = as_pairs([(row, row + 1) for row in range(299)])
    far = [(row, row + 150) for row in range(149)]
    assert shortest_contradiction(300, chain, as_pairs([*far, (298, 299)])) == (298, 299)


@pytest.mark.parametrize("shape", ["chain", "star", "two stars", "random"])
def test_many_contradictions_in_many_rows_are_compared(shape):
    """All of 20 000 cannot-links; a search from each through all rows would take hours."""
    rng, n = np.random.default_rng(0), 100_000
    at = np.arange(1, n)
    before = {
        "chain": at - 1,
        "star": np.zeros(n - 1, dtype=np.int64),
        "two stars": np.where(at < 2, 0, at % 2),
        "random": rng.integers(0, at),
    }[shape]
    must = np.column_stack([before, at])
    cannot = rng.integers(2, n, (20_000, 2))
    cannot = cannot[cannot[:, 0] != cannot[:, 1]]
    found = shortest_contradiction(n, must, cannot)
    assert len(found) >= 3 if "star" in shape else len(found) >= 2
    assert {*found[:: len(found) - 1]} in [set(pair) for pair in cannot.tolist()]


def test_repeated_links_do_not_lengthen_chains():
    must = np.array([(0, 1)] * 5 + [(0, 2), (2, 3), (3, 4)])
    assert shortest_contradiction(5, must, np.array([(2, 4), (0, 1)])) == (0, 1)


def test_the_first_of_equally_short_contradictions_is_reported():
    """Many twigs at one row and one at the end of each; the first half of the contradictions is longer."""
    n = 201
    must = np.array([(0, i) for i in range(1, n)] + [(i, i + n) for i in range(1, n)])
    longer = [(i, i % (n - 1) + 1 + n) for i in range(1, n)]
    short = [(i, i + 1) for i in range(1, n - 1)]
    assert shortest_contradiction(2 * n, must, np.array([*longer, *short])) == (1, 0, 2)


def test_the_search_skips_chains_that_cannot_be_shortest(monkeypatch):
    """On a path the bound is the length: after the nearest pair no other is looked at."""
    seen = []

    def steps_between(graph, first, second, **options):
        seen.append((first, second))
        return plain(graph, first, second, **options)

    plain = closure._steps_between
    monkeypatch.setattr(closure, "_steps_between", steps_between)
    must = np.array([(i, i + 1) for i in range(60)])
    far = [(i, i + 9) for i in range(50)]
    assert shortest_contradiction(61, must, np.array([*far, (20, 23), (30, 33), *far])) == (20, 21, 22, 23)
    assert seen == [(20, 23)]
    assert shortest_contradiction(61, must, np.array([(5, 9)])) == (5, 6, 7, 8, 9)
    assert seen == [(20, 23)], "one contradiction alone is the shortest"


@pytest.mark.parametrize(("fewer_than", "found"), [(np.inf, 5), (6, 5), (5, 5), (3, 3)])
def test_steps_are_counted_from_both_ends(fewer_than, found):
    path = closure._build_graph(9, np.array([(i, i + 1) for i in range(8)] + [(i + 1, i) for i in range(8)]))
    assert closure._steps_between(path, 2, 7, fewer_than=fewer_than) == found


def test_chains_are_written_in_words():
    assert format_chain((3, 7, 9)) == "3 = 7 = 9, but 3 ≠ 9"
    assert format_chain((0, 1), "ab".__getitem__) == "a = b, but a ≠ b"
    twelve = format_chain(range(12))
    assert twelve.count("=") == 11
    assert format_chain(range(13)) == "0 = 1 = 2 = 3 = 4 = (3 more rows) = 8 = 9 = 10 = 11 = 12, but 0 ≠ 12"
    long = format_chain(range(1000))
    assert long == ("0 = 1 = 2 = 3 = 4 = (990 more rows) = 995 = 996 = 997 = 998 = 999, but 0 ≠ 999")
