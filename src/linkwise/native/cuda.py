"""The nearest of some points on a graphics card, through CuPy: the same bits as `nearest_points`.

The card computes in float64 and sums a distance feature by feature, as the C++ does, without fused products.
So a result does not tell where it was computed. Cards for science compute in float64 at half their speed,
others at a 32nd or 64th of it.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

SIDE = 16  # a block has SIDE * SIDE threads; each compares EACH rows with EACH points
EACH = 4
ROWS = 2**20  # rows on the card at a time
CODE = r"""
// A block compares SIDE * EACH rows with as many points at a time, some features at a time, in shared memory.
// Its threads keep the nearest of their own points, and in the end the nearest of all.
#define SOME (SIDE * EACH)
#define FEATURES SIDE
extern "C" __global__ void nearest(const ROW* X, const double* points, long long n, int d, int k,
                                   long long* nearest, double* square) {
    __shared__ double rows[FEATURES][SOME + 1], others[FEATURES][SOME + 1];  // one more: other memory banks
    const int me = threadIdx.x, column = me % SIDE, line = me / SIDE;
    const long long start = (long long)SOME * blockIdx.x;
    const double infinity = __longlong_as_double(0x7ff0000000000000LL);
    double least[EACH];
    int which[EACH];
    for (int r = 0; r < EACH; ++r) least[r] = infinity, which[r] = 0;
    for (int first = 0; first < k; first += SOME) {
        double sums[EACH][EACH] = {};
        for (int f = 0; f < d; f += FEATURES) {
            __syncthreads();
            for (int at = me; at < SOME * FEATURES; at += SIDE * SIDE) {
                const int a = at % FEATURES, own = at / FEATURES;
                const long long row = start + own, point = first + own;
                rows[a][own] = f + a < d && row < n ? (double)X[row * d + f + a] : 0.0;
                others[a][own] = f + a < d && point < k ? points[point * d + f + a] : 0.0;
            }
            __syncthreads();
            const int width = min(FEATURES, d - f);
            for (int a = 0; a < width; ++a) {
                double x[EACH], y[EACH];
                #pragma unroll
                for (int r = 0; r < EACH; ++r)
                    x[r] = rows[a][line + SIDE * r], y[r] = others[a][column + SIDE * r];
                #pragma unroll
                for (int r = 0; r < EACH; ++r)
                    #pragma unroll
                    for (int p = 0; p < EACH; ++p) {
                        const double gap = __dsub_rn(x[r], y[p]);
                        sums[r][p] = __dadd_rn(sums[r][p], __dmul_rn(gap, gap));
                    }
            }
        }
        #pragma unroll
        for (int r = 0; r < EACH; ++r)
            #pragma unroll
            for (int p = 0; p < EACH; ++p) {
                const int point = first + column + SIDE * p;
                if (point < k && sums[r][p] < least[r]) least[r] = sums[r][p], which[r] = point;
            }
    }
    for (int r = 0; r < EACH; ++r) {
        __syncthreads();
        rows[column][line] = least[r], others[column][line] = which[r];
        __syncthreads();
        const long long row = start + me + SIDE * r;
        if (me < SIDE && row < n) {
            double best = infinity, point = 0;
            for (int c = 0; c < SIDE; ++c) {
                const bool nearer = rows[c][me] < best || (rows[c][me] == best && others[c][me] < point);
                if (nearer) best = rows[c][me], point = others[c][me];
            }
            nearest[row] = (long long)point, square[row] = best;
        }
    }
}
"""


class Gpu(NamedTuple):
    """A graphics card and what was compiled for it."""

    name: str
    cupy: Any
    kernels: dict[np.dtype[Any], Any]
    """The kernel for each type of rows."""


@cache
def find_gpu() -> Gpu | None:
    """Find a graphics card that computes as the processor does.

    None without CuPy, without a card, without a driver that fits it, or where a trial fails. The search
    takes a second or two; the next call returns what the first one found.
    """
    try:
        cupy = import_module("cupy")
        name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
        gpu = Gpu(name, cupy, {np.dtype(t): _compile(cupy, t) for t in (np.float32, np.float64)})
        return gpu if _is_right(gpu) else None
    except Exception:  # whatever a driver says, the processor can do it
        return None


def _compile(cupy: Any, dtype: type) -> Any:
    kind = "float" if dtype is np.float32 else "double"
    kernel = cupy.RawKernel(CODE, "nearest", options=(f"-DROW={kind}", f"-DSIDE={SIDE}", f"-DEACH={EACH}"))
    kernel.compile()
    return kernel


def _is_right(gpu: Gpu) -> bool:
    """Compare the card with the processor on a few rows."""
    rng = np.random.default_rng(0)
    X, points = rng.normal(size=(300, 19)), rng.normal(size=(21, 19))
    for rows in (X, X.astype(np.float32)):
        wanted, found = library.nearest_points(rows, points, 1), nearest_points_on_card(gpu, rows, points)
        if not all(map(np.array_equal, wanted, found)):
            return False
    return True


def nearest_points_on_card(
    gpu: Gpu, X: NDArray[Any], points: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find, for each row, the nearest of some points and its squared distance, as `nearest_points`.

    The result is the same to the bit. The arrays are C-contiguous. Raises an error of CuPy, for example
    where the card has too little memory.
    """
    library.nearest_points(X[:1], points, 1)  # checks both, as the processor does
    cupy, (n, d), k = gpu.cupy, X.shape, len(points)
    nearest, square = np.empty(n, dtype=np.int64), np.empty(n)
    there = cupy.asarray(points)
    for at in range(0, n, ROWS):
        part = cupy.asarray(X[at : at + ROWS])
        m = len(part)
        of, squares = cupy.empty(m, dtype=np.int64), cupy.empty(m)
        blocks = -(-m // (SIDE * EACH))
        arguments = (part, there, np.int64(m), np.int32(d), np.int32(k), of, squares)
        gpu.kernels[X.dtype]((blocks,), (SIDE * SIDE,), arguments)
        nearest[at : at + m], square[at : at + m] = of.get(), squares.get()
    return nearest, square
