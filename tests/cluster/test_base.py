"""What a clusterer inherits: it writes `_fit` alone."""

from typing import ClassVar

import numpy as np
import pytest

import linkwise as lw
from linkwise.cluster.base import ConstrainedClusterer

X = np.arange(6.0)[:, None]


class Halves(ConstrainedClusterer):
    """The first rows and the others: it draws nothing and takes no time."""

    _parameter_constraints: ClassVar = {}

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def _fit(self, X, constraints, k, seed, progress):
        return np.arange(len(X)) * k // len(X)


class Drawn(Halves):
    """One that takes a seed."""

    def __init__(self, n_clusters=2, random_state=None):
        super().__init__(n_clusters)
        self.random_state = random_state


def test_what_draws_nothing_leaves_the_generator_of_numpy_alone():
    before = np.random.get_state()  # noqa: NPY002
    assert Halves().fit(X).labels_.tolist() == [0, 0, 0, 1, 1, 1]
    lw.ConstrainedAgglomerative(2).fit(X)
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    assert np.random.get_state()[2] == before[2]  # noqa: NPY002
    Drawn().fit(X)
    assert np.random.get_state()[2] != before[2]  # noqa: NPY002
    assert "random_state" not in Halves().get_params()


def test_progress_is_reported_for_a_method_that_does_not():
    reported = []
    Halves().fit(X, progress=lambda *at: reported.append(at))
    assert reported == [(1, 1)]

    def stop(done, planned):
        raise KeyboardInterrupt

    model = Halves()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, progress=stop)
    assert not hasattr(model, "labels_")


def test_progress_of_a_method_is_passed_on_unchanged():
    class Steady(Halves):
        def _fit(self, X, constraints, k, seed, progress):
            for done in (1, 2):
                progress(done, 2)
            return super()._fit(X, constraints, k, seed, progress)

    reported = []
    Steady().fit(X, progress=lambda *at: reported.append(at))
    assert reported == [(1, 2), (2, 2)]
