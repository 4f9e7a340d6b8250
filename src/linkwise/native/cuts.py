"""Cuts of a graph: the descent of a ratio and its steps, moves of single nodes, new cuts of two clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

Floats = NDArray[np.float64]


class CutGraph(NamedTuple):
    """A graph to be cut."""

    starts: NDArray[np.int64]
    """(m + 1,) of a symmetric CSR array without loops."""
    ends: NDArray[np.int32]
    """(e,): every edge stands there twice."""
    weights: Floats
    """(e,) above 0."""
    volume: Floats
    """(m,) above 0."""
    pairs: NDArray[np.int32]
    """(q, 2) nodes to separate."""
    is_ncut: bool
    """Whether cuts are divided by the volumes of both sides, not by the smaller one."""


class RatioDescent(NamedTuple):
    """The vectors of a descent."""

    f: Floats
    """(s, m) the start and what each step found."""
    ratio: Floats
    """(s,) descending."""
    sides: NDArray[np.int32]
    """(s, m) the best set {f > t} of each, as 0 and 1."""


class RatioStep(NamedTuple):
    """The result of a step."""

    f: Floats
    """(m,) of length 1."""
    value: float
    """The objective there; infinite where none was found (the bound is 0)."""
    bound: float
    """No objective is below minus this, up to rounding."""
    n_iter: int
    dual: tuple[Floats, Floats, Floats]
    """(e / 2,), (m,) and (m,): from where a later step may start."""


def ratio_descent(graph: CutGraph, gamma: float, start: Floats, *, max_iter: int) -> RatioDescent:
    """Name what `_native.ratio_descent` returns."""
    f, ratio, sides = library.ratio_descent(*graph, gamma, start, max_iter)
    return RatioDescent(f, ratio[0], sides)


def ratio_splits(graph: CutGraph, start: Floats, *, max_iter: int) -> NDArray[np.int32]:
    """Call `_native.ratio_splits` with a graph."""
    return library.ratio_splits(*graph, start, max_iter)


def slow_vector(graph: CutGraph) -> Floats:
    """Find an approximate eigenvector, (m,), from which a cut may start: see `_native.slow_vector`."""
    found: Floats = library.slow_vector(*graph)[0]
    return found


def move_nodes(graph: CutGraph, labels: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """Move single nodes between clusters, (m,), as long as that is better: see `_native.move_nodes`."""
    found: NDArray[np.int32] = library.move_nodes(*graph, labels, k)[0]
    return found


def recut(graph: CutGraph, labels: NDArray[np.int32], k: int, *, max_iter: int) -> NDArray[np.int32]:
    """Call `_native.recut` with a graph."""
    return library.recut(*graph, labels, k, max_iter)


def ratio_step(
    starts: NDArray[np.int64],
    ends: NDArray[np.int32],
    weights: Floats,
    g: Floats,
    c: float,
    dual: tuple[Floats, Floats, Floats],
    *,
    max_iter: int,
    every: int = 10,
    gap: float = 0.1,
    least: float = 0.0,
) -> RatioStep:
    """Name what `_native.ratio_step` returns."""
    f, value, bound, n_iter, a, v, z = library.ratio_step(
        starts, ends, weights, g, c, *dual, max_iter, every, gap, least
    )
    return RatioStep(f, value, bound, n_iter, (a, v, z))
