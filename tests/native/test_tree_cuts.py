"""Cuts of spanning trees, against a tree by Kruskal's method and sums over all pairs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise import native


def draw_tables(seed, n, n_values):
    """Three symmetric tables of eighths, whose sums have no rounding errors; edges are often equal."""
    rng = np.random.default_rng(seed)
    tables = rng.integers(-n_values, n_values + 1, (3, n, n)) / 8
    return tables + tables.transpose(0, 2, 1)


def cut_plainly(strength, first, second):
    """The nodes below each edge of the largest tree, seen from node 0, with both sums."""
    n = len(strength)
    part, tree = list(range(n)), []
    for a, b in sorted(combinations(range(n), 2), key=lambda edge: -strength[edge]):
        if part[a] != part[b]:
            tree.append({a, b})
            part = [part[a] if of == part[b] else of for of in part]
    cuts = {}
    for edge in tree:
        above, grows = {0}, True
        while grows:
            more = {node for e in tree if e != edge and above & e for node in e} - above
            above, grows = above | more, bool(more)
        below = sorted(set(range(n)) - above)
        sums = [table[np.ix_(below, sorted(above))].sum() for table in (first, second)]
        cuts[tuple(below)] = sums
    return cuts


@settings(deadline=None, max_examples=3 * settings.default.max_examples)
@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([1, 20]))
def test_cuts_are_those_of_all_pairs(seed, n, n_values):
    tables = draw_tables(seed, n, n_values)
    walk, size, *sums = native.cut_largest_tree(*tables)
    assert sorted(walk.tolist()) == list(range(n))
    assert (walk[0], size[0], sums[0][0], sums[1][0]) == (0, n, 0, 0)
    found = {
        tuple(sorted(walk[at : at + size[at]].tolist())): [sums[0][at], sums[1][at]] for at in range(1, n)
    }
    assert found == cut_plainly(*tables)


def test_walk_goes_to_lower_nodes_first():
    strength = np.zeros((5, 5))
    for a, b in [(0, 3), (0, 1), (3, 2), (1, 4)]:
        strength[[a, b], [b, a]] = 1
    walk, size, across, _ = native.cut_largest_tree(strength, strength, strength)
    assert walk.tolist() == [0, 1, 4, 3, 2]
    assert size.tolist() == [5, 2, 1, 2, 1]
    assert across.tolist() == [0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("place", "table", "error", "words"),
    [
        (0, np.zeros((2, 3)), ValueError, r"strength must have shape \(2, 2\)"),
        (0, np.zeros((0, 0)), ValueError, "strength must have"),
        (0, np.full((3, 3), np.nan), ValueError, "strength holds NaN"),
        (1, np.zeros((2, 2)), ValueError, r"first must have shape \(3, 3\)"),
        (2, np.zeros((3, 3), np.float32), TypeError, "second .* float64"),
    ],
)
def test_bad_arguments_raise_errors(place, table, error, words):
    tables = [np.zeros((3, 3))] * 3
    tables[place] = table
    with pytest.raises(error, match=words):
        native.cut_largest_tree(*tables)
