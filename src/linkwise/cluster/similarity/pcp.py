"""PCP: constraints propagated along a graph of the rows, by a semidefinite program.

Li, Liu and Tang (2008), "Pairwise constraint propagation by semidefinite programming for semi-supervised
classification". Rows become points on a sphere: must-linked rows become the same point, cannot-linked ones
are at right angles, and rows that are near in the graph stay near. With K their inner products and L the
normalized Laplacian,

    minimize <L, K>  where  K is positive semidefinite, K_ii = 1, K_ij = 1 for must-links, 0 for cannot-links,

and kernel k-means on K gives the clusters.

Kept: the program. The graph is Gaussian; its scale is local, the distance to a row's 7th neighbour
(Zelnik-Manor and Perona 2004), so no width has to be chosen. Changed, and why:

- K_ij = 1 makes two unit vectors equal: rows joined by must-links are one vector from the start, so there is
  one unknown vector for each component. Identical rows share a vector, too, unless a cannot-link parts them;
  else the few rows of a pile that have constraints would leave the others behind.
- K = VV' with few columns, found by an augmented Lagrangian and L-BFGS (Burer and Monteiro 2003), not an
  interior point method with n² unknowns: the paper's solver took half an hour for 569 rows with a tenth of
  all pairs, this one takes a fraction of a second. The dual gives a lower bound on <L, K>. If the bound is
  far away, the search continues with the direction that the dual shows to be missing, until that brings no
  gain; with thousands of cannot-links the bound may stay some percent below.
- k-means of the rows of V is that kernel k-means.
- A cannot-link within a component is ignored and counted among the violations. Weights of constraints only
  matter for the comparison with the clustering without constraints.
- Without constraints all rows would be one point. Then, and if it satisfies more constraints
  (``fell_back_``), the result is the clustering by k eigenvectors of L (Ng, Jordan and Weiss 2002).

Cost: O(n² d) for the graph; for m components, q cannot-links between them and V of r columns O(m² r + q r) a
step, some hundreds of them, and O(m³) for each bound.
"""

from __future__ import annotations

import warnings
from math import inf
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from linkwise.cluster import points
from linkwise.cluster.base import ScoredByConstraints
from linkwise.cluster.kmeans.components import compact_labels
from linkwise.cluster.nearest_row import NearestRowClusterer
from linkwise.cluster.similarity.rounds import prefer_more_satisfied
from linkwise.cluster.similarity.spaces import (
    MOST_SIMILARITIES,
    check_similarities,
    pairwise_squares,
    scale_locally,
)
from linkwise.constraints.closure import find_components
from linkwise.constraints.constraints import Constraints
from linkwise.errors import DataError
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at
from linkwise.types import Labels, Progress

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]

MOST = 2000  # components
_COLUMNS = 20  # of V to begin with, at least
_PATIENCE = 10  # multipliers set before V gets more columns
_LBFGS_STEPS = 200  # of L-BFGS between two multipliers
_SAME = 1e-9  # singular values of V, in shares of the largest, that are rounding


def _has_rows(model: PCP) -> bool:
    return model.kernel != "precomputed"


class PCP(NearestRowClusterer):
    """Rows on a sphere: must-links together, cannot-links at right angles, neighbours near; then k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : {"rbf", "precomputed"}, default="rbf"
        The graph: a Gaussian with local scales ("rbf"), or X is a symmetric matrix of similarities, 0 or more
        ("precomputed").
    n_init : int, default=10
        Number of starts of the final k-means.
    tol : float, default=0.001
        Tolerance of the inner product of two cannot-linked rows, which should be 0; and, for each component,
        of the distance of <L, K> from its bound, or of its change by the last direction, in units of the mean
        weight of a component in the graph.
    max_iter : int, default=100
        Largest number of updates of the multipliers.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`.
    violations_ : int
        Number of constraints that `labels_` break.
    embedding_ : ndarray of shape (n_rows, n_columns)
        V: rows of length 1, whose inner products are K.
    objective_, bound_ : float
        <L, K>, and its lower bound for all K.
    n_iter_ : int
        Number of updates of the multipliers; 1 without constraints.
    fell_back_ : bool
        Whether the clustering without constraints satisfied more of them and is the result.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ends the search before it reaches `tol`.

    Notes
    -----
    All rows are placed on the sphere together, so `predict` is an approximation: the cluster of the nearest
    fitted row. With kernel "precomputed" there is none. The limits are 2000 components of
    must-links and 10 000 rows.

    References
    ----------
    Li, Liu and Tang (2008), Pairwise constraint propagation by semidefinite programming for semi-supervised
    classification. ICML.
    Burer and Monteiro (2003), A nonlinear programming algorithm for solving semidefinite programs via
    low-rank factorization.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> c = lw.Constraints.sample(y, 110, random_state=0)
    >>> model = lw.PCP(3, random_state=0).fit(X, constraints=c)
    >>> model.violations_
    0
    """

    sparse: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({"rbf", "precomputed"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Literal["rbf", "precomputed"] = "rbf",
        n_init: int = 10,
        tol: float = 1e-3,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit(self, X: Any, constraints: Constraints, k: int, seed: int, progress: Progress | None) -> Labels:
        told = progress or (lambda done, planned: None)
        with one_blas_thread():
            S, copy = build_graph(X, self.kernel)
            free = Constraints(len(S))
            self.fell_back_ = False
            if constraints.n_constraints == 0:
                number = number_components(copy, free)
                V = place_by_eigenvectors(S, number, k)
                self._keep(S, number, Optimum(V, inf, inf, 1, True))
                return self._clustered(V, number, k, seed)
            number = number_components(copy, constraints)
            joint = sum_between(S, number)
            apart = np.unique(np.sort(number[constraints.cannot_link], axis=1), axis=0)
            apart = apart[apart[:, 0] != apart[:, 1]]
            columns = max(_COLUMNS, 2 * k)
            found = solve(joint, apart, columns, rng_at(seed, 1), self.tol, self.max_iter, told)
            self._keep(S, number, found)
            labels = self._clustered(found.V, number, k, seed)
            if any(broken.any() for broken in constraints.find_violations(labels)):
                number = number_components(copy, free)
                plain = self._clustered(place_by_eigenvectors(S, number, k), number, k, seed)
                better = prefer_more_satisfied(plain, labels, constraints)
                self.fell_back_ = better is not None
                labels = labels if better is None else better
        told(self.max_iter, self.max_iter)
        return labels

    def _keep(self, S: Array, number: NDArray[np.int64], found: Optimum) -> None:
        self.embedding_ = found.V[number]
        self.n_iter_ = found.n_iter
        self.objective_ = len(S) - float(np.einsum("ij,ij", S @ self.embedding_, self.embedding_))
        self.bound_ = max(len(S) - found.most, 0.0)
        if not found.converged:
            warnings.warn(
                f"PCP: <L, K> is {self.objective_:.4g}, and its least at or above {self.bound_:.4g}, after "
                f"{found.n_iter} multipliers. Allow more with max_iter, or a tol above {self.tol:g}.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _clustered(self, V: Array, number: NDArray[np.int64], k: int, seed: int) -> Labels:
        """Run k-means on the components, weighted by their number of rows."""
        weight = np.bincount(number)
        runs = points.run_lloyd(V, points.draw_starts(V, k, seed, self.n_init, weight=weight), weight=weight)
        return compact_labels(runs.labels[int(runs.inertia.argmin())][number], k)[0]

    def _keep_rule(self, X: Any) -> None:
        if self.kernel == "rbf":
            super()._keep_rule(X)

    predict = available_if(_has_rows)(NearestRowClusterer.predict)
    score = available_if(_has_rows)(ScoredByConstraints.score)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


# ---------------------------------------------------------------- the graph
def build_graph(X: Any, kernel: str) -> tuple[Array, NDArray[np.int64]]:
    """I - L, and for each row the first that is identical.

    I - L has the weights of the graph over the roots of the degrees of both ends, and 0 on the diagonal.
    """
    n = X.shape[0]
    if n > MOST_SIMILARITIES:
        raise DataError(
            f"PCP builds a graph of all rows, and {n} are too many (at most {MOST_SIMILARITIES}). Cluster a "
            "sample, or use a method such as BCKM."
        )
    if kernel == "precomputed":
        weights, copy = _check_weights(X), np.arange(n)
    else:
        squares = pairwise_squares(X)
        copy = (squares == 0).argmax(axis=1)
        weights = scale_locally(squares)
    np.fill_diagonal(weights, 0.0)
    degree = weights.sum(axis=1)
    root = np.sqrt(np.where(degree > 0, degree, 1.0))
    weights /= root
    weights /= root[:, None]
    return weights, copy


def _check_weights(X: Any) -> Array:
    weights = check_similarities(X).copy()
    if weights.min() < 0:
        i, j = np.unravel_index(int(weights.argmin()), weights.shape)
        raise DataError(
            f"X[{i}, {j}] = {weights[i, j]:g}, but the weights of a graph are 0 or more. Pass"
            " np.maximum(X, 0)."
        )
    return weights


def number_components(copy: NDArray[np.int64], constraints: Constraints) -> NDArray[np.int64]:
    """Number the components, (n,): rows joined by must-links, and copies unless a cannot-link parts them.

    If a cannot-link lies within rows that are joined by both, copies with constraints are not joined there.
    """
    n, must_link = len(copy), constraints.must_link
    joined = find_components(n, np.vstack([must_link, _pair_with_first(copy)]))
    ends = joined[constraints.cannot_link]
    parted = np.isin(joined, ends[ends[:, 0] == ends[:, 1], 0])
    if not parted.any():
        return joined
    is_named = np.zeros(n, dtype=bool)
    is_named[must_link] = is_named[constraints.cannot_link] = True
    alone = np.where(parted & is_named, n + np.arange(n), copy)
    return find_components(n, np.vstack([must_link, _pair_with_first(alone)]))


def _pair_with_first(group: NDArray[np.int64]) -> Pairs:
    """Pair each row with the first of its group."""
    _, first, of = np.unique(group, return_index=True, return_inverse=True)
    pairs = np.column_stack([np.arange(len(group)), first[of]])
    return np.asarray(pairs[pairs[:, 0] != pairs[:, 1]])


def sum_between(S: Array, number: NDArray[np.int64]) -> Array:
    """Sum S between components, (m, m); raise if there are too many."""
    m = int(number.max()) + 1
    if m > MOST:
        raise DataError(
            f"PCP takes at most {MOST} rows or groups of must-linked rows, but there are {m}. Pass fewer "
            "rows or more must-links, or use a method such as BCKM."
        )
    if m == len(S):
        return S
    member = csr_array((np.ones(len(number)), (number, np.arange(len(number)))), shape=(m, len(number)))
    joint: Array = np.ascontiguousarray(member @ (member @ S).T)
    return joint


def place_by_eigenvectors(S: Array, number: NDArray[np.int64], k: int) -> Array:
    """Place the components by the k top eigenvectors of S, (m, k), each of length 1."""
    joint = sum_between(S, number)
    root = np.sqrt(np.bincount(number))
    m = len(joint)
    vector = eigh(joint / (root * root[:, None]), subset_by_index=[max(m - k, 0), m - 1])[1]
    length = np.linalg.norm(vector, axis=1, keepdims=True)
    places: Array = np.ascontiguousarray(vector / np.where(length > 0, length, 1.0))
    return places


# ---------------------------------------------------------------- the program
class Optimum(NamedTuple):
    """The result of the search: unit vectors V with large <S, VV'>."""

    V: Array
    """(m, r)"""
    value: float
    """<S, VV'>"""
    most: float
    """What <S, K> is at most."""
    n_iter: int
    converged: bool


def solve(
    S: Array, apart: Pairs, columns: int, rng: np.random.Generator, tol: float, max_iter: int, told: Progress
) -> Optimum:
    """Maximize <S, K> over K = VV' with unit diagonal and K_ij = 0 for all pairs that are apart.

    S is symmetric, none below 0, and each pair is in `apart` once. V has so many columns to begin with,
    drawn by `rng`.
    """
    m = len(S)
    own = float(np.trace(S))  # times K_ii, which are 1
    unit = (float(S.sum()) - own) / m or 1.0
    C, pattern = S / unit, PairPattern.from_pairs(apart, m)
    np.fill_diagonal(C, 0.0)
    V = _project_on_sphere(rng.normal(size=(m, min(m, columns))))
    y, penalty, missed = np.zeros(len(apart)), 1.0, inf
    value, most, reached, converged = 0.0, inf, -inf, False
    for n_iter in range(1, max_iter + 1):
        V = _minimize(C, pattern, y, penalty, V)
        off = pattern.products(V)
        y = y + penalty * off
        before, missed = missed, float(np.abs(off).max(initial=0.0))
        told(min(n_iter, max_iter - 1), max_iter)
        if missed > tol:
            penalty *= 1.0 if missed < before / 4 else 2.0
            if n_iter % _PATIENCE == 0:
                V = _widen(V, rng)
            continue
        value, bound, way = _bound(C, pattern, y, V)
        most = min(most, bound)
        converged = most - value <= tol * m or value - reached <= tol * m
        if converged:
            break
        reached = value
        V = _turn(_widen(V, rng) if np.linalg.svd(V, compute_uv=False)[-1] > 1e-3 else V, way)
    if not converged:
        value, bound, _ = _bound(C, pattern, y, V)
        most = min(most, bound)
    left, length, _ = np.linalg.svd(V, full_matrices=False)
    V = np.ascontiguousarray((left * length)[:, length > _SAME * length[0]])
    return Optimum(V, own + value * unit, own + most * unit, n_iter, converged)


class PairPattern(NamedTuple):
    """Pairs as a symmetric sparse matrix whose entries change."""

    apart: Pairs
    matrix: csr_array
    """(m, m)"""
    place: NDArray[np.int64]
    """Pair of each entry."""

    @classmethod
    def from_pairs(cls, apart: Pairs, m: int) -> PairPattern:
        """Create the pattern of these pairs."""
        ends = np.vstack([apart, apart[:, ::-1]])
        number = np.tile(np.arange(1, len(apart) + 1, dtype=np.float64), 2)
        matrix = csr_array((number, (ends[:, 0], ends[:, 1])), shape=(m, m))
        return cls(apart, matrix, matrix.data.astype(np.int64) - 1)

    def products(self, V: Array) -> Array:
        """Compute (q,) inner products of the vectors of each pair."""
        found: Array = np.einsum("ij,ij->i", V[self.apart[:, 0]], V[self.apart[:, 1]])
        return found

    def fill(self, values: Array) -> csr_array:
        """Return the matrix with these values of the pairs on both sides of the diagonal."""
        return csr_array((values[self.place], self.matrix.indices, self.matrix.indptr), self.matrix.shape)


def _minimize(C: Array, pattern: PairPattern, y: Array, penalty: float, V: Array) -> Array:
    """The V of least -<C, VV'> + y'g + penalty/2 g'g, with g the products of pairs, by L-BFGS."""
    shape = V.shape

    def loss(u: Array) -> tuple[float, Array]:
        U = u.reshape(shape)
        length = np.linalg.norm(U, axis=1, keepdims=True)
        W = U / length
        CW, off = C @ W, pattern.products(W)
        value = -float(np.einsum("ij,ij", CW, W)) + float(y @ off + 0.5 * penalty * (off @ off))
        slope = pattern.fill(y + penalty * off) @ W - 2 * CW
        slope -= np.einsum("ij,ij->i", slope, W)[:, None] * W
        return value, (slope / length).ravel()

    found = minimize(
        loss,
        V.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _LBFGS_STEPS, "gtol": 1e-5, "ftol": 1e-9},
    )
    return _project_on_sphere(found.x.reshape(shape))


def _bound(C: Array, pattern: PairPattern, y: Array, V: Array) -> tuple[float, float, Array]:
    """<C, VV'>, what <C, K> is at most, and the direction in which it may still grow.

    For any y and lambda, -<C, K> = <Z, K> + sum of lambda, where Z = Y - C - diag(lambda) and Y holds y/2
    at the pairs, at which K is 0; and <Z, K> is at least m times the least eigenvalue of Z, since K's trace
    is m.
    """
    Z = pattern.fill(y / 2).toarray() - C
    multiplier = np.einsum("ij,ij->i", Z @ V, V)
    Z[np.diag_indices_from(Z)] -= multiplier
    least, way = eigh(Z, subset_by_index=[0, 0])
    value = float(np.einsum("ij,ij", C @ V, V))
    return value, -float(multiplier.sum() + len(C) * min(least[0], 0.0)), way[:, 0]


def _turn(V: Array, way: Array) -> Array:
    """Rotate the vectors of V by `way` towards a direction that they hardly use."""
    column = np.linalg.svd(V, full_matrices=False)[2][-1]
    return _project_on_sphere(V + 0.1 * np.sqrt(len(V)) * way[:, None] * column)


def _widen(V: Array, rng: np.random.Generator) -> Array:
    """Double the columns of V, at most to the number of rows; new columns are near 0."""
    m, r = V.shape
    return _project_on_sphere(np.hstack([V, 1e-3 * rng.normal(size=(m, min(r, m - r)))]))


def _project_on_sphere(U: Array) -> Array:
    found: Array = U / np.linalg.norm(U, axis=1, keepdims=True)
    return found
