"""Rows and constraints for tests of metric learners."""

import numpy as np

import linkwise as lw


def a_problem(seed, n=20, d=4, n_pairs=14):
    """Rows in several units, and constraints of a random kind and weight between them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d) + 5
    c = lw.Constraints.sample(rng.integers(0, 3, n), n_pairs, random_state=seed)
    must, cannot = (rng.uniform(0.5, 2, len(p)) for p in (c.must_link, c.cannot_link))
    return X, lw.Constraints(n, c.must_link, c.cannot_link, must_link_weight=must, cannot_link_weight=cannot)
