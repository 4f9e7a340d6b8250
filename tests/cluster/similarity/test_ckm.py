"""What CKM promises of constraints by their priority, and what it does not."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import linkwise as lw
from laws.clustering import breaking_is_told

PRESETS = {
    "without fallback": lambda k: lw.CKM(k, n_init=3, fallback=False, random_state=0),
    "rbf": lambda k: lw.CKM(k, kernel="rbf", n_init=3, fallback=False, random_state=0),
    "as printed": lambda k: lw.CKM.paper(k, random_state=0),
    "of the authors": lambda k: lw.CKM.authors(k, random_state=0),
}


def draw_problem(seed):
    """Draw a few rows, a number of clusters, and feasible constraints whose weights all differ."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 10)), int(rng.integers(2, 4))
    y = np.r_[np.arange(k), rng.integers(0, k, n - k)]
    given = lw.Constraints.sample(y, int(rng.integers(2, n)), seed)
    weight = 1.0 + rng.permutation(given.n_constraints)
    n_must = len(given.must_link)
    weights = {"must_link_weight": weight[:n_must], "cannot_link_weight": weight[n_must:]}
    return rng.normal(size=(n, 2)), k, lw.Constraints(n, given.must_link, given.cannot_link, **weights)


def broken_by_weight(labels, constraints):
    """Whether labels break each constraint, the heaviest first."""
    weight = np.concatenate([constraints.must_link_weight, constraints.cannot_link_weight])
    return np.concatenate(constraints.find_violations(labels))[np.argsort(-weight)]


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("name", PRESETS)
def test_the_two_heaviest_constraints_hold(name, is_sparse):
    """Appendix B of Okabe and Yamada (2018)."""
    for seed in range(40):
        X, k, constraints = draw_problem(seed)
        with breaking_is_told():
            model = PRESETS[name](k).fit(csr_array(X) if is_sparse else X, constraints=constraints)
        assert not broken_by_weight(model.labels_, constraints)[:2].any()


def test_the_third_constraint_may_be_broken_though_all_can_hold():
    """Each row has a centre of its own when the must-link is reached (appendix B.3)."""
    X = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    constraints = lw.Constraints(
        3, [(0, 1)], [(0, 2), (1, 2)], must_link_weight=[1.0], cannot_link_weight=[3.0, 2.0]
    )
    model = lw.CKM(3, init=X, fallback=False).fit(X, constraints=constraints)
    assert broken_by_weight(model.labels_, constraints).tolist() == [False, False, True]
    assert lw.COPKMeans(3, random_state=0).fit(X, constraints=constraints).violations_ == 0
