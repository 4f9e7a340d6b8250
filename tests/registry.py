"""Every learner and every clusterer that the laws sweep, in settings that differ in what they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

import linkwise as lw
from linkwise.select.clusterings import Preset


@dataclass(frozen=True)
class Entry:
    """A way to make an estimator.

    `exact`: asked until it is exhausted, it finds the truth among distinct rows.
    `known_k`: it is told the number of clusters: where it is `exact`, at least as many as the laws' classes.
    `by_night`: another entry runs nearly all of its code by day, and what sweeps this one is nightly.
    `is_storable`: a session can store its parameters.
    """

    name: str
    make: Callable[..., Any]
    exact: bool
    known_k: bool = False
    by_night: bool = False
    is_storable: bool = True


QUICK = lw.PCKMeans(n_init=1)
FEW = Preset(clusters=(2, 3, 4), n_runs=2, n_eps=6, min_pts=(2, 5), neighbours=(3, 8), sigmas=(0.1, 1.0))


def append_sum(X: np.ndarray) -> np.ndarray:
    """A transformation that changes the number of columns."""
    return np.column_stack([X, X.sum(axis=1)])


OF_SUMS = lw.FeatureWeightClustering(transformation=FunctionTransformer(append_sum))

LEARNERS = (
    Entry("COBRA, 1 part", lambda **seed: lw.COBRA(1, **seed), exact=False, by_night=True),
    Entry("COBRA, 6 parts", lambda **seed: lw.COBRA(6, **seed), exact=False, by_night=True),
    Entry("COBRA, 25 parts", lambda **seed: lw.COBRA(**seed), exact=False),
    Entry("COBRA, all rows", lambda **seed: lw.COBRA(10_000, n_init=1, **seed), exact=True),
    Entry("COBRAS", lambda **seed: lw.COBRAS(**seed), exact=True),
    Entry(
        "COBRAS of the paper",
        lambda **seed: lw.COBRAS.paper(enforce=True, **seed),
        exact=True,
        by_night=True,
    ),
    Entry("COBRAS, halves", lambda **seed: lw.COBRAS(max_split=2, **seed), exact=True, by_night=True),
    Entry(
        "COBRAS, smallest half",
        lambda **seed: lw.COBRAS(descend="smallest", **seed),
        exact=True,
        by_night=True,
    ),
    Entry(
        "COBRAS, largest half, largest first",
        lambda **seed: lw.COBRAS(descend="largest", impure_first=False, n_init=1, **seed),
        exact=True,
        by_night=True,
    ),
    Entry("KIN", lambda **seed: lw.KIN(**seed), exact=True),
    Entry(
        "ExploreConsolidate",
        lambda **seed: lw.ExploreConsolidate(4, estimator=QUICK, **seed),
        exact=True,
        known_k=True,
    ),
    Entry(
        "MinMax",
        lambda **seed: lw.MinMax(4, estimator=QUICK, **seed),
        exact=True,
        known_k=True,
    ),
    Entry(
        "NPU",
        lambda **seed: lw.NPU(4, estimator=QUICK, n_trees=3, **seed),
        exact=True,
        known_k=True,
    ),
    Entry(
        "NPU of the paper",
        lambda **seed: lw.NPU.paper(4, estimator=QUICK, n_trees=3, enforce=True, **seed),
        exact=True,
        known_k=True,
        by_night=True,
    ),
    Entry(
        "MinMax, 2 clusters",
        lambda **seed: lw.MinMax(2, estimator=QUICK, **seed),
        exact=False,
        known_k=True,
        by_night=True,
    ),
    Entry(
        "ActiveFeatureWeights",
        lambda **seed: lw.ActiveFeatureWeights(4, max_evals=20, **seed),
        exact=False,
        known_k=True,
    ),
    Entry(
        "ActiveFeatureWeights of the paper",
        lambda **seed: lw.ActiveFeatureWeights.paper(4, max_evals=20, enforce=True, **seed),
        exact=False,
        known_k=True,
        by_night=True,
    ),
    Entry(
        "ActiveFeatureWeights, transformed",
        lambda **seed: lw.ActiveFeatureWeights(4, max_evals=20, estimator=OF_SUMS, **seed),
        exact=False,
        known_k=True,
        by_night=True,
        is_storable=False,
    ),
    Entry("ThresholdLinkage", lambda **seed: lw.ThresholdLinkage(**seed), exact=True),
    Entry("ActiveCOBS", lambda **seed: lw.ActiveCOBS(preset=FEW, **seed), exact=False, is_storable=False),
)
STORABLE = (
    *(entry for entry in LEARNERS if entry.is_storable),
    Entry("ActiveCOBS, quick", lambda **seed: lw.ActiveCOBS(preset="quick", **seed), exact=False),
)


@dataclass(frozen=True)
class Clusterer:
    """A way to make a clusterer: ``make(k, **settings)``.

    `kind`: what the laws ask of its violations, whatever the method is. "hard": it breaks nothing, or raises.
    "soft": it never satisfies less than plain k-means from the same starts. "seeded": neither of the two.
    `is_kmeans`: without constraints it is plain k-means, it takes `init` and has `cluster_centers_`.
    `sparse`: X may be a sparse matrix.
    `by_night`: as for an `Entry`.
    """

    name: str
    make: Callable[..., Any]
    kind: Literal["hard", "soft", "seeded"]
    is_kmeans: bool = False
    sparse: bool = False
    by_night: bool = False


def cobs(k: int, **settings: Any) -> Any:
    """COBS finds the number of clusters itself."""
    return lw.COBS(**{"preset": FEW, **settings})


def without_seed(clusterer: Callable[..., Any]) -> Callable[..., Any]:
    """A clusterer that draws nothing, made as the others are: the seed is left out."""
    return lambda k, random_state=None, **settings: clusterer(k, **settings)


def fosc(k: int, random_state: object = None, **settings: Any) -> Any:
    """FOSC finds the number of clusters itself, and draws nothing."""
    return lw.FOSC(**settings)


CLUSTERERS = (
    Clusterer("COBS", cobs, "soft"),
    Clusterer("COPKMeans", lw.COPKMeans, "hard", is_kmeans=True, sparse=True),
    Clusterer(
        "COPKMeans, exact", partial(lw.COPKMeans, assignment="exact"), "hard", is_kmeans=True, sparse=True
    ),
    Clusterer(
        "COPKMeans, soft",
        partial(lw.COPKMeans, on_infeasible="soft"),
        "seeded",
        is_kmeans=True,
        sparse=True,
    ),
    Clusterer(
        "COPKMeans, from cannot-links",
        partial(lw.COPKMeans, init="cannot-links"),
        "hard",  # without constraints it starts at random rows, so it is no `is_kmeans`
        sparse=True,
        by_night=True,
    ),
    Clusterer("SeededKMeans", lw.SeededKMeans, "seeded", is_kmeans=True, sparse=True),
    Clusterer("ConstrainedKMeans", lw.ConstrainedKMeans, "seeded", is_kmeans=True, sparse=True),
    Clusterer("PCKMeans", lw.PCKMeans, "soft", is_kmeans=True, sparse=True),
    Clusterer(
        "PCKMeans, k-means++",
        partial(lw.PCKMeans, init="k-means++", n_init=3),
        "soft",
        is_kmeans=True,
        sparse=True,
        by_night=True,
    ),
    Clusterer("MPCKMeans", lw.MPCKMeans, "soft", is_kmeans=True),
    Clusterer(
        "MPCKMeans, diagonal",
        partial(lw.MPCKMeans, metric="diagonal"),
        "soft",
        is_kmeans=True,
        by_night=True,
    ),
    Clusterer(
        "MPCKMeans of the paper",
        partial(lw.MPCKMeans, metric="diagonal", per_cluster=True),
        "soft",
        is_kmeans=True,
    ),
    Clusterer(
        "MPCKMeans as printed, few pairs",
        partial(lw.MPCKMeans.paper, implied=False, farthest="extreme"),
        "seeded",
        is_kmeans=True,
    ),
    Clusterer("FeatureWeightClustering", lw.FeatureWeightClustering, "soft"),
    Clusterer(
        "FeatureWeightClustering of columns, all at once",
        partial(lw.FeatureWeightClustering, svd="none", sequential=False, max_evals=60),
        "soft",
        by_night=True,
    ),
    Clusterer(
        "FeatureWeightClustering, transformed",
        partial(lw.FeatureWeightClustering, transformation=OF_SUMS.transformation),
        "soft",
    ),
    Clusterer("CKM", lw.CKM, "soft", is_kmeans=True, sparse=True),
    Clusterer("CKM as printed", lw.CKM.paper, "seeded", is_kmeans=True, sparse=True),
    Clusterer("CKM of the authors", lw.CKM.authors, "seeded", is_kmeans=True, sparse=True, by_night=True),
    Clusterer("CKM, rbf", partial(lw.CKM, kernel="rbf"), "soft", sparse=True, by_night=True),
    Clusterer("RCKM", partial(lw.RCKM, n_rounds=5), "soft", sparse=True),
    Clusterer("BCKM", lw.BCKM, "soft", sparse=True),
    Clusterer("BCKM as printed", lw.BCKM.paper, "seeded", sparse=True, by_night=True),
    Clusterer("BCKM, rbf", partial(lw.BCKM, kernel="rbf"), "soft", sparse=True),
    Clusterer("BoostCluster", lw.BoostCluster, "soft"),
    Clusterer(
        "BoostCluster of the paper",
        partial(lw.BoostCluster, whiten=False, n_estimators=10),
        "soft",
        by_night=True,
    ),
    Clusterer("KernelBoost", partial(lw.KernelBoost, n_estimators=5), "soft"),
    Clusterer("PCP", partial(lw.PCP, tol=1e-2), "soft", sparse=True),
    Clusterer(
        "ConstrainedAgglomerative",
        without_seed(lw.ConstrainedAgglomerative),
        "hard",
    ),
    Clusterer(
        "ConstrainedAgglomerative, single",
        partial(without_seed(lw.ConstrainedAgglomerative), linkage="single"),
        "hard",
        by_night=True,
    ),
    Clusterer(
        "COSC",
        partial(lw.COSC, n_init=2, n_runs=2, max_inner_iter=100),
        "seeded",
    ),
    Clusterer(
        "COSC of the authors",
        partial(lw.COSC.authors, n_init=2, n_runs=2, max_inner_iter=100),
        "seeded",
        by_night=True,
    ),
    Clusterer("SPCL", lw.SPCL, "seeded"),
    Clusterer("ClusILC", without_seed(lw.ClusILC), "seeded"),
    Clusterer("FOSC", fosc, "soft"),
    Clusterer("FOSC, hdbscan", partial(fosc, hierarchy="hdbscan"), "soft"),
    Clusterer(
        "FOSC of the paper, no noise",
        partial(fosc, ties="larger", noise="nearest"),
        "seeded",
        by_night=True,
    ),
)


SPECTRAL_SEARCHES = (
    Clusterer("EigengapSearch", lambda k, **seed: lw.EigengapSearch(**seed), "seeded"),
    Clusterer("SelfTuningSpectral", lambda k, random_state: lw.SelfTuningSpectral(), "seeded"),
)
"""They take no constraints, so only the laws of `predict` sweep them."""


def sweep(entries: tuple[Entry, ...] | tuple[Clusterer, ...]) -> pytest.MarkDecorator:
    """Run a test once for each entry, of those `by_night` in the nightly run only."""
    return pytest.mark.parametrize(
        "entry", [pytest.param(entry, id=entry.name, marks=night_marks(entry)) for entry in entries]
    )


def night_marks(entry: Entry | Clusterer) -> tuple[pytest.MarkDecorator, ...]:
    """Marks of a test of an entry."""
    return (pytest.mark.slow(nightly=True),) if entry.by_night else ()


each_learner = sweep(LEARNERS)
each_storable_learner = sweep(STORABLE)
each_exact_learner = sweep(tuple(entry for entry in LEARNERS if entry.exact))
each_that_finds_k = sweep(tuple(entry for entry in LEARNERS if not entry.known_k))
each_clusterer = sweep(CLUSTERERS)
each_kmeans = sweep(tuple(entry for entry in CLUSTERERS if entry.is_kmeans))
each_soft = sweep(tuple(entry for entry in CLUSTERERS if entry.kind == "soft"))
each_soft_kmeans = sweep(tuple(entry for entry in CLUSTERERS if entry.kind == "soft" and entry.is_kmeans))
each_with_a_price = sweep(tuple(entry for entry in CLUSTERERS if "w" in entry.make(2).get_params()))
each_hard = sweep(tuple(entry for entry in CLUSTERERS if entry.kind == "hard"))
each_forgiving = sweep(tuple(entry for entry in CLUSTERERS if entry.kind != "hard"))
each_predictor = sweep((*CLUSTERERS, *SPECTRAL_SEARCHES))
each_sparse = sweep(tuple(entry for entry in CLUSTERERS if entry.sparse))
each_dense = sweep(tuple(entry for entry in CLUSTERERS if not entry.sparse))
