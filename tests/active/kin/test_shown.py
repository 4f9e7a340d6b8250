"""What KIN shows where facts wait that nobody was asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, cohen_kappa_score

import linkwise as lw
from linkwise.active.kin.placement import PlacedItems, place_items
from linkwise.active.kin.shown import agreement, kappa
from linkwise.constraints.evidence import Evidence


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_kappa_is_that_of_scikit_learn(pairs):
    known, shown = np.array([*pairs, (True, False), (False, True)]).T
    counts = [np.sum((known == a) & (shown == b)) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))]
    assert kappa(*counts) == pytest.approx(cohen_kappa_score(known, shown))


@pytest.mark.parametrize("seed", range(5))
def test_agreement_tells_which_clustering_is_nearer_to_the_truth(seed):
    """Few clusters break few must-links; finer ones that are nearly right are better all the same."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 6, 400)
    coarse, fine = y % 2, np.where(rng.random(400) < 0.2, rng.integers(0, 6, 400), y)
    assert adjusted_rand_score(y, coarse) < adjusted_rand_score(y, fine) - 0.2
    groups = Evidence(400, lw.Constraints.sample(y, 300, seed)).groups()
    _, placement = place_items(PlacedItems.none(400), groups, 0)
    assert len(placement.unplaced)
    assert agreement(coarse, placement) < agreement(fine, placement)
