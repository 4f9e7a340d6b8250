"""Solve for the largest eigenpairs of symmetric matrices, by products or by a shifted inverse.

A block Krylov method that starts anew from its best vectors (Golub and Underwood 1977; Wu and Simon 2000): a
block finds eigenvalues that coincide, and a product with many vectors costs little more than one with a
single vector. Sparse matrices are solved by it on the inverse near the largest eigenvalue, of which one
factorisation is made; small ones by a dense method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh, splu

from linkwise.rng import rng_at

Floats = NDArray[np.float64]

SMALL = 200  # rows of a component that is solved by a dense method
LARGE = 100_000  # entries of a sparse graph that is factorised only where products do not lead to the end
BEYOND = 1e-4  # how far from 1, the largest eigenvalue there can be, the shift lies
TOLERANCE = 1e-9
INVERSE_TOLERANCE = 1e-8  # relative, which tells more: eigenvalues of the inverse lie far apart
UNLIKE = 1e-3  # share of the greatest length in a block below which rounding shows in its directions
ROUNDS = 4  # in which such directions are cleaned
GUARD = 2  # vectors in a block beyond those wanted
BLOCKS = 10  # in a basis
FIRST_CHECK = 5  # products before which no basis is good enough
FASTEST = 2.5  # digits that a product can gain
INVERSE_PRODUCTS = 100
LANCZOS_VECTORS = 40
RESTARTS = 12  # of the Lanczos method on a large sparse graph, before it is factorised


class Eigenpairs(NamedTuple):
    """Eigenvalues, descending, and unit eigenvectors, one a row."""

    values: Floats
    vectors: Floats


def is_small(n: int, wanted: int) -> bool:
    """Whether a dense method is fast enough for so many vectors of a matrix of n rows."""
    return n <= max(SMALL, 4 * (wanted + GUARD))


def solve_dense(matrix: Floats, wanted: int) -> Eigenpairs:
    """The largest pairs of a symmetric matrix."""
    n = len(matrix)
    values, vectors = eigh(matrix, subset_by_index=(n - wanted, n - 1))
    return Eigenpairs(values[::-1], vectors.T[::-1])


def solve_sparse(matrix: sp.csr_array, known: Floats, wanted: int) -> Eigenpairs:
    """The largest pairs of a sparse symmetric matrix, with a known vector to its largest eigenvalue 1.

    Raises LinAlgError or RuntimeError if the solver does not converge.
    """
    n = len(known)
    if matrix.nnz > LARGE:
        try:
            values, vectors = eigsh(
                matrix, wanted, which="LA", ncv=max(LANCZOS_VECTORS, 2 * wanted),
                v0=rng_at(n).uniform(-1, 1, n), tol=TOLERANCE, maxiter=RESTARTS,
            )  # fmt: skip
            return Eigenpairs(values[::-1], vectors.T[::-1])
        except ArpackNoConvergence:
            pass
    shifted = sp.csc_array((1 + BEYOND) * sp.eye_array(n) - matrix)
    factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return solve_by_inverse(lambda block: factor.solve(block.T).T, draw_start_block(known, wanted), wanted)


def draw_start_block(root: Floats, wanted: int) -> Floats:
    """A block of random vectors, and the eigenvector that is known: the root of the degrees."""
    n = len(root)
    start = rng_at(n).uniform(-1, 1, (wanted + GUARD, n))
    start[0] = root
    return start


def solve_by_inverse(solved: Callable[[Floats], Floats], start: Floats, wanted: int) -> Eigenpairs:
    """The largest pairs of a matrix of which 1 + BEYOND - matrix can be solved."""
    found = solve_largest(solved, start, wanted, INVERSE_PRODUCTS, INVERSE_TOLERANCE)
    if found is None:
        raise np.linalg.LinAlgError("The solver did not find the eigenvectors of a graph.")
    return Eigenpairs(1 + BEYOND - 1 / found.values, found.vectors)


def solve_largest(
    product: Callable[[Floats], Floats],
    start: Floats,
    wanted: int,
    products: int,
    tolerance: float = TOLERANCE,
) -> Eigenpairs | None:
    """The largest pairs of a symmetric matrix; None where so many products do not lead there.

    Each block is orthogonal to all before it, and the matrix, seen from the basis, is diagonalised. A
    full basis is cut down to its best vectors, half of them or more.
    """
    block, n = start.shape
    room = block * max(3, min(BLOCKS, n // (2 * block)))
    basis, seen = np.empty((room, n)), np.zeros((room, room))
    new, size, check = _orthonormalise(start)[0], 0, FIRST_CHECK
    for step in range(1, products + 1):
        if size + block > room:
            values, mix = np.linalg.eigh(seen[:size, :size])
            kept = max(wanted + block, room // 2)
            basis[:kept] = mix[:, -kept:].T @ basis[:size]
            size = kept
            seen[:] = 0
            np.fill_diagonal(seen[:size, :size], values[-size:])
        now = slice(size, size + block)
        size += block
        basis[now] = new
        image = product(new)
        seen[:size, now] = basis[:size] @ image.T
        seen[now, :size] = seen[:size, now].T
        new, rest = _orthonormalise(_project_out(_project_out(image, basis[:size]), basis[:size]))
        if step == check:
            values, mix = eigh(seen[:size, :size], subset_by_index=(size - wanted, size - 1))
            error = (np.linalg.norm(rest @ mix[now], axis=0) / np.maximum(1.0, values)).max() / tolerance
            if error <= 1:
                return Eigenpairs(values[::-1], mix.T[::-1] @ basis[:size])
            check += 1 + int(np.log10(error) / FASTEST)
        new = _clean_block(new, rest, basis[:size])
    return None


def _clean_block(block: Floats, rest: Floats, basis: Floats) -> Floats:
    """Orthonormal rows orthogonal to a basis, where some were made of rounding and point anywhere."""
    for _ in range(ROUNDS):
        length = np.abs(rest.diagonal())
        if length.min() >= UNLIKE * length.max():
            break
        block, rest = _orthonormalise(_project_out(block, basis))
    return block


def _project_out(block: Floats, basis: Floats) -> Floats:
    """Project a block onto the complement of a basis."""
    return block - (block @ basis.T) @ basis


def _orthonormalise(block: Floats) -> tuple[Floats, Floats]:
    """Orthonormal rows Q and R with block' = Q' R."""
    q, r = np.linalg.qr(block.T)
    return np.ascontiguousarray(q.T), r
