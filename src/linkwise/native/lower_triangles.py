"""Add to the lower triangles of symmetric tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_range, check_writable
from linkwise.native.library import library

Matrix = NDArray[np.float32]


def add_gaussians(
    wide: Matrix,
    narrow: Matrix,
    tuned: Matrix,
    squares: Matrix,
    scale: np.float32,
    near: NDArray[np.float32],
    n_threads: int,
) -> None:
    """Add three Gaussian kernels of squared distances to three tables.

    Parameters
    ----------
    wide : (n, n) float32, C-contiguous
        Gets exp(scale * squares) below its diagonal and on it.
    narrow : (n, n) float32, C-contiguous
        Gets the fourth power of that, a Gaussian of half the width.
    tuned : (n, n) float32, C-contiguous
        Gets exp(-squares / w w'), where w are the widths.
    squares : (n, n) float32, C-contiguous
        Squared distances, of which the lower triangle counts.
    scale : float32
        Below 0.
    near : (n,) float32
        The width of each row, above 0.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    """
    shape = (len(near), len(near))
    check_array("near", near, (None,), np.float32)
    check_array("squares", squares, shape, np.float32)
    for name, table in (("wide", wide), ("narrow", narrow), ("tuned", tuned)):
        check_array(name, table, shape, np.float32)
        check_writable(name, table)
    check_count("n_threads", n_threads)
    library.add_gaussians(wide, narrow, tuned, squares, float(scale), near, n_threads)


def add_scaled_part(
    out: Matrix, table: Matrix, scale: NDArray[np.float32], rows: NDArray[np.int64], n_threads: int
) -> None:
    """Add a table about some rows, scaled on both sides, to one about all rows.

    Parameters
    ----------
    out : (n, n) float32, C-contiguous
        Its lower triangle, diagonal included, is added to in place.
    table : (m, m) float32, C-contiguous
        Of which the lower triangle counts.
    scale : (m,) float32
        Factor of each row and column.
    rows : (m,) int64
        The rows, ascending.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    """
    check_array("out", out, (len(out), len(out)), np.float32)
    check_writable("out", out)
    check_array("rows", rows, (None,), np.int64)
    check_array("table", table, (len(rows), len(rows)), np.float32)
    check_array("scale", scale, rows.shape, np.float32)
    check_range("rows", rows, 0, len(out) - 1)
    if (np.diff(rows) <= 0).any():
        raise ValueError("rows must be ascending.")
    check_count("n_threads", n_threads)
    library.add_scaled_part(out, table, scale, rows, n_threads)
