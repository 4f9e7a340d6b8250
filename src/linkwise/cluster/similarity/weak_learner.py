"""Constrained k-means that satisfies constraints in the order of their priorities.

Okabe and Yamada (2018), "Clustering using boosted constrained k-means algorithm", Algorithm 2. Every pass
assigns all labels again: pair after pair, the constraint of highest priority first, then the rows without
constraints. Constrained labels need not lower the sum of squares, so passes may cycle: they end when labels
repeat, or after some passes without improvement (`patience`). The result is the pass that breaks least; of
equal ones the pass of least inertia. With ``convergence="stable"`` only a repetition, or `max_passes`,
ends them, and the result is the last pass, as printed (lines 40, 41). The paper has no largest number of
passes; with many constraints labels may not repeat for thousands of them.

The authors' program differs from the text in two more things: it compares two rows without the squared length
of each (``full_distances=False``), and leaves empty clusters where they are (``refill=False``).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native
from linkwise.cluster.points import fill_empty_clusters
from linkwise.cluster.similarity.spaces import PassPlan, Space, SpaceMeans
from linkwise.constraints.constraints import Constraints
from linkwise.types import Labels

ROUND_OFF = 1e-12  # two passes may reach the same clusters under other numbers: the first one counts


class PairList(NamedTuple):
    """All constraints in one list, must-links first, contradictory ones included."""

    ends: NDArray[np.int32]
    """(s, 2), the lower row first."""
    must: NDArray[np.uint8]
    """(s,) 1 for must-links."""
    weight: NDArray[np.float64]
    """(s,)"""


class WeakClustering(NamedTuple):
    """The clustering of one run of constrained k-means."""

    labels: Labels
    broken: NDArray[np.bool_]
    """(s,) whether it breaks each constraint."""
    loss: float
    """Priority of what it breaks, as a share of all."""
    spread: float
    """Sum over its clusters of rows times squared length of the mean: the larger, the less inertia."""
    n_passes: int


def list_pairs(constraints: Constraints) -> PairList:
    """Put the constraints into one list."""
    ends = np.vstack([constraints.must_link, constraints.cannot_link]).astype(np.int32)
    must = np.repeat([1, 0], [len(constraints.must_link), len(constraints.cannot_link)]).astype(np.uint8)
    weight = np.concatenate([constraints.must_link_weight, constraints.cannot_link_weight])
    return PairList(np.ascontiguousarray(ends), must, weight)


Ties = Literal["random", "columns"]
Convergence = Literal["repeat", "stable", "first rise"]
CONVERGENCES: tuple[Convergence, ...] = ("repeat", "stable", "first rise")  # by the number of native code


def order_by_priority(
    pairs: PairList, priority: NDArray[np.float64], rng: np.random.Generator, ties: Ties = "random"
) -> NDArray[np.int32]:
    """Order constraints from the highest priority to the lowest.

    Equal ones are in random order, or in the order of the columns of a matrix of constraints, which keeps all
    constraints of a row together.
    """
    first = (
        rng.permutation(len(priority))
        if ties == "random"
        else np.lexsort((pairs.ends[:, 0], pairs.ends[:, 1]))
    )
    return native.order_descending(priority, first)


def constrained_k_means(
    space: Space,
    means: SpaceMeans,
    pairs: PairList,
    order: NDArray[np.int32],
    share: NDArray[np.float64],
    max_passes: int,
    *,
    convergence: Convergence = "repeat",
    patience: int | None = 10,
    full_distances: bool = True,
    refill: bool = True,
) -> WeakClustering:
    """Run passes from given centres until they converge.

    `order` has the constraints, the highest priority first, and `share` their priorities, which add up to
    1. Passes end when labels repeat ("repeat"), or after `patience` passes without a better one, with the
    best pass; when labels repeat ("stable"), with the last pass, as printed; or when the inertia does not
    fall ("first rise"), with the pass before, as in the authors' program. Unless `full_distances`, the
    squared length of a row is left out of its distances, which matters between two rows. Unless `refill`, an
    empty cluster keeps its centre, and so the distances that it had. Passes without either run one by one.
    """
    plan = PassPlan(
        pairs.ends, pairs.must, order, share, max_passes, CONVERGENCES.index(convergence), patience or 0
    )
    passes = space.run_passes(means, plan) if full_distances and refill else None
    if passes is None:
        omitted = None if full_distances else space.square_lengths()
        return _run_pass_by_pass(space, means, pairs, plan, convergence, omitted, refill)
    return WeakClustering(
        passes.labels.astype(np.int32),
        passes.broken.view(np.bool_),
        passes.loss,
        passes.spread,
        passes.number,
    )


def _run_pass_by_pass(
    space: Space,
    means: SpaceMeans,
    pairs: PairList,
    plan: PassPlan,
    convergence: Convergence,
    omitted: NDArray[np.float64] | None,
    refill: bool,
) -> WeakClustering:
    """Run passes for which there is no native code: of sparse rows, or those of the authors' program.

    `omitted` is what to leave out of the distances of each row when two rows are compared.
    """
    ones = np.ones(space.n, dtype=np.int64)
    k = count_centers(means)
    known: set[int] = set()
    best: WeakClustering | None = None
    before: WeakClustering | None = None
    for n_passes in range(1, plan.max_passes + 1):
        near = space.two_nearest(means)
        compared = near if omitted is None else near._replace(square=near.square - omitted)
        labels, broken = native.assign_by_priority(compared, pairs.ends, pairs.must, plan.order)
        if (seen := hash(labels.tobytes())) in known:
            break
        known.add(seen)
        means = space.update_means(labels, means)
        is_broken = broken.view(np.bool_)
        loss = float(plan.share[is_broken].sum())
        now = WeakClustering(labels, is_broken, loss, means.spread, n_passes)
        if convergence == "first rise" and before is not None and not now.spread > before.spread:
            return before
        if best is None or (now.loss, -now.spread) < (best.loss, -best.spread * (1 + ROUND_OFF)):
            best = now
        elif convergence == "repeat" and plan.patience and n_passes - best.n_passes >= plan.patience:
            break
        before = now
        if means.empty and refill:
            means = space.update_means(fill_empty_clusters(labels, near.square, k, ones), means)
    assert best is not None
    return best if convergence == "repeat" or before is None else before


def count_centers(means: SpaceMeans) -> int:
    """Return the number of centres."""
    return len(means.at[1]) if isinstance(means.at, tuple) else len(means.at)
