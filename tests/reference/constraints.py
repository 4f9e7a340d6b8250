"""Constraints as tests see them: all relations as one table, and strategies for small sets."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from linkwise import Constraints
from reference.closure import closed

WORDS = {(True, False): "must-link", (False, True): "cannot-link", (False, False): None}


@st.composite
def truths(draw, max_rows=14):
    """Classes of rows, and some pairs of different rows."""
    n = draw(st.integers(2, max_rows))
    y = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    return y, np.array(draw(st.lists(pair, max_size=20)), dtype=int).reshape(-1, 2)


def told(y, pairs, **options):
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints(len(y), pairs[same], pairs[~same], **options)


def relations(c):
    return [[c.relation(i, j) for j in range(len(c))] for i in range(len(c))]


def brute(n, must, cannot):
    together, apart = closed(n, must, cannot)
    return [[WORDS[bool(together[i, j]), bool(apart[i, j])] for j in range(n)] for i in range(n)]
