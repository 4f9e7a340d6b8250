"""Pools of clusterers that take constraints themselves.

Van Craenendonck and Blockeel (2017), section III, question 4: COBS chooses among clusterings of MPCKMeans,
FOSC and COSC, with the settings of k-means, DBSCAN and spectral clustering. Constraints favour a clustering
that was fitted to them, even a bad one, so half of them fit the clusterings and the others choose.

The settings are those printed. The clusterers are linkwise's: MPCKMeans by its default, which learns one full
metric with a prior, but with one start; FOSC; and COSC with two starts. The printed ones can be given as
``extra``, with an empty preset.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster.graph.cosc import COSC
from linkwise.cluster.hierarchy.fosc import FOSC
from linkwise.cluster.kmeans.mpckmeans import MPCKMeans
from linkwise.constraints.constraints import Constraints
from linkwise.errors import ConstraintWarning
from linkwise.rng import rng_at
from linkwise.select.clusterings import Extra, Preset

LARGEST_SEED = 2**31 - 1


def list_clusterers(preset: Preset, seed: int, n_rows: int) -> Extra:
    """List the clusterers that take constraints, with the settings of a preset that so many rows allow.

    The preset has numbers of clusters and of runs, of neighbours that make a core row (FOSC), and in
    graphs (COSC). `seed` is that of the first run; the following runs use the following integers.
    """
    clusters = [k for k in preset.clusters if k <= n_rows] or [1]
    runs = [(seed + run) % LARGEST_SEED for run in range(preset.n_runs)]
    found: list[tuple[Any, dict[str, Sequence[int]]]] = [
        (MPCKMeans(n_init=1), {"n_clusters": [k], "random_state": runs}) for k in clusters
    ]
    found.append((FOSC(), {"min_samples": [m for m in preset.min_pts if m <= n_rows]}))
    found += [
        (COSC(n_init=2, n_runs=1, random_state=seed), {"n_neighbors": [k], "n_clusters": clusters})
        for k in preset.neighbours
        if k < n_rows
    ]
    return [(estimator, grid) for estimator, grid in found if all(grid.values())]


def split_into_halves(constraints: Constraints, seed: int) -> tuple[Constraints, Constraints]:
    """Split the constraints into random halves; of an odd number the second has one more."""
    n_must = len(constraints.must_link)
    in_first = np.zeros(constraints.n_constraints, dtype=bool)
    n_first = constraints.n_constraints // 2
    in_first[rng_at(seed, 1).choice(constraints.n_constraints, n_first, replace=False)] = True

    def part(chosen: NDArray[np.bool_]) -> Constraints:
        must, cannot = chosen[:n_must], chosen[n_must:]
        with warnings.catch_warnings():  # what contradicts was told when the whole was made
            warnings.simplefilter("ignore", ConstraintWarning)
            return Constraints(
                constraints.n_rows,
                constraints.must_link[must],
                constraints.cannot_link[cannot],
                must_link_weight=constraints.must_link_weight[must],
                cannot_link_weight=constraints.cannot_link_weight[cannot],
                on_conflict=constraints.on_conflict,
            )

    return part(in_first), part(~in_first)
