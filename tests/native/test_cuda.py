"""The kernel for graphics cards, run by the processor thread for thread, and on a card where there is one."""

import subprocess
import sys
import sysconfig
import types

import numpy as np
import pytest

from linkwise import native
from linkwise.native import cuda

# What CUDA brings, for a C++ compiler: the threads of a block are threads of the machine.
SHIM = r"""
#include <barrier>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>
#define __global__
#define __shared__ static
struct Place { int x; };
static thread_local Place threadIdx, blockIdx;
static std::barrier<>* meeting;
static void __syncthreads() { meeting->arrive_and_wait(); }
static double __longlong_as_double(long long bits) { double x; std::memcpy(&x, &bits, 8); return x; }
static double __dadd_rn(double a, double b) { return a + b; }
static double __dsub_rn(double a, double b) { return a - b; }
static double __dmul_rn(double a, double b) { return a * b; }
static int min(int a, int b) { return a < b ? a : b; }
"""
LAUNCH = r"""
extern "C" void launch(int blocks, const ROW* X, const double* points, long long n, int d, int k,
                       long long* of, double* square) {
    std::barrier<> all(SIDE * SIDE);
    meeting = &all;
    std::vector<std::thread> threads;
    for (int t = 0; t < SIDE * SIDE; ++t)
        threads.emplace_back([=] {
            for (int b = 0; b < blocks; ++b) {
                threadIdx.x = t, blockIdx.x = b;
                nearest(X, points, n, d, k, of, square);
                __syncthreads();
            }
        });
    for (auto& one : threads) one.join();
}
"""


class Emulated:
    """As much of CuPy as the wrapper asks for."""

    asarray = staticmethod(lambda array: np.ascontiguousarray(array).view(OnCard))
    empty = staticmethod(lambda shape, dtype=np.float64: np.empty(shape, dtype).view(OnCard))


class OnCard(np.ndarray):
    """An array that pretends to lie on a card."""

    def get(self):
        return np.asarray(self)


@pytest.fixture(scope="session")
def emulated_card(tmp_path_factory):
    """A card whose threads the processor runs."""
    import ctypes

    compiler = (sysconfig.get_config_var("CXX") or "c++").split()[0]
    folder, kernels = tmp_path_factory.mktemp("cuda"), {}
    for dtype, name in ((np.float32, "float"), (np.float64, "double")):
        source, library = folder / f"{name}.cpp", folder / f"{name}.so"
        source.write_text(SHIM + cuda.CODE + LAUNCH)
        flags = ["-std=c++20", "-O1", "-w", "-ffp-contract=off", "-pthread", "-shared", "-fPIC"]
        defined = [f"-DROW={name}", f"-DSIDE={cuda.SIDE}", f"-DEACH={cuda.EACH}"]
        subprocess.run([compiler, *flags, *defined, "-o", library, source], check=True)
        kernels[np.dtype(dtype)] = _launcher(ctypes.CDLL(str(library)).launch, ctypes)
    return cuda.Gpu("emulated", Emulated, kernels)


def _launcher(launch, ctypes):
    kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_int, ctypes.c_int)
    launch.argtypes = [ctypes.c_int, *kinds, ctypes.c_void_p, ctypes.c_void_p]

    def run(blocks, threads, arguments):
        assert threads == (cuda.SIDE**2,)
        values = [one.ctypes.data if isinstance(one, np.ndarray) else int(one) for one in arguments]
        launch(blocks[0], *values)

    return run


def draw(n, d, k, dtype, lattice):
    rng = np.random.default_rng([n, d, k])
    X = rng.integers(0, 3, (n, d)) if lattice else rng.normal(size=(n, d))
    points = rng.integers(0, 3, (k, d)) if lattice else rng.normal(size=(k, d))
    return X.astype(dtype), points.astype(np.float64)


CASES = [(1, 1, 1), (5, 3, 7), (256, 16, 8), (257, 17, 9), (600, 33, 21), (900, 2, 300)]


@pytest.mark.parametrize(
    ("dtype", "lattice"),
    [
        (np.float32, True),
        (np.float64, False),
        pytest.param(np.float32, False, marks=pytest.mark.slow(nightly=True)),
        pytest.param(np.float64, True, marks=pytest.mark.slow(nightly=True)),
    ],
)
@pytest.mark.parametrize(("n", "d", "k"), CASES)
def test_a_card_finds_the_same_points_and_distances_to_the_bit(n, d, k, dtype, lattice, emulated_card):
    X, points = draw(n, d, k, dtype, lattice)
    wanted = native.nearest_points(X, points, 1)
    for card in filter(None, (emulated_card, cuda.find_gpu())):
        found = cuda.nearest_points_on_card(card, X, points)
        for one, other in zip(found, wanted, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def test_rows_pass_through_the_card_part_by_part(emulated_card, monkeypatch):
    monkeypatch.setattr(cuda, "ROWS", 100)
    X, points = draw(350, 4, 9, np.float32, False)
    found = cuda.nearest_points_on_card(emulated_card, X, points)
    for one, other in zip(found, native.nearest_points(X, points, 1), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_row_beyond_all_numbers_has_the_first_point(emulated_card):
    X = np.full((3, 2), 1e200)
    nearest, square = cuda.nearest_points_on_card(emulated_card, X, np.zeros((9, 2)))
    assert nearest.tolist() == [0, 0, 0]
    assert np.isinf(square).all()


def pretend(monkeypatch, card):
    """Let CuPy be a module whose card computes as `card` does."""
    properties = {"name": b"A card"}
    device = types.SimpleNamespace(id=0)
    kernels = iter([card.kernels[np.dtype(t)] for t in (np.float32, np.float64)])

    class RawKernel:
        def __init__(self, *arguments, options):
            self.run = next(kernels)

        def compile(self):
            pass

        def __call__(self, *arguments):
            self.run(*arguments)

    runtime = types.SimpleNamespace(getDeviceProperties=lambda number: properties)
    module = types.SimpleNamespace(
        asarray=Emulated.asarray,
        empty=Emulated.empty,
        RawKernel=RawKernel,
        cuda=types.SimpleNamespace(runtime=runtime, Device=lambda: device),
    )
    monkeypatch.setitem(sys.modules, "cupy", module)


@pytest.fixture
def no_memory_of_cards():
    cuda.find_gpu.cache_clear()
    yield
    cuda.find_gpu.cache_clear()


@pytest.mark.usefixtures("no_memory_of_cards")
def test_a_card_that_computes_right_is_taken(emulated_card, monkeypatch):
    pretend(monkeypatch, emulated_card)
    assert cuda.find_gpu().name == "A card"


@pytest.mark.usefixtures("no_memory_of_cards")
def test_a_card_that_computes_otherwise_is_not_taken(emulated_card, monkeypatch):
    def wrong(blocks, threads, arguments):
        emulated_card.kernels[np.dtype(np.float32)](blocks, threads, arguments)
        arguments[-1][0] *= 1 + 2**-50

    pretend(
        monkeypatch, emulated_card._replace(kernels={**emulated_card.kernels, np.dtype(np.float32): wrong})
    )
    assert cuda.find_gpu() is None


@pytest.mark.usefixtures("no_memory_of_cards")
def test_without_cupy_there_is_no_card(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert cuda.find_gpu() is None
