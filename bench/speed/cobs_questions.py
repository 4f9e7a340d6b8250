"""The time between two questions of ActiveCOBS: medians in milliseconds.

choose   Find the most divided pair of a sample, with given weights. For comparison, the same as a product in
         NumPy, a float64 for each pair and clustering, if that takes less than a gigabyte.
step     From an answer to the next question with its labels: evidence, tally, choice, labels. 2100 rows in
         19 features, 931 clusterings, 1000 pairs, 60 answers.
import   The same after 100 000 constraints about 100 000 rows, for ActiveCOBS and for COBRAS; 15 answers.

Rows are blobs. A clustering assigns each row to the nearest of 2 to 10 random rows; of more than 5000 rows it
clusters 5000. In the large sample labels are random. Known classes answer.

    python -m bench run speed_cobs_questions [--quick] [--out DIR]

--quick leaves out the large sample and the import.
"""

# ruff: noqa: E402  # threads are set before NumPy is loaded
from __future__ import annotations

import os

for _variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from bench.results import RESULTS, write_csv
from bench.suites.constraint_sets import draw_constraints, draw_row_pairs
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances_argmin

import linkwise as lw
from bench import harness
from linkwise.constraints.evidence import Evidence
from linkwise.learn.learner import Learner
from linkwise.learn.run import Run
from linkwise.select.active_cobs import OpenPairs
from linkwise.select.pool import Candidate, Pool

FIELDS = ("what", "clusterings", "pairs", "threads", "first_ms", "median_ms", "most_ms", "numpy_ms")
GIGABYTE = 10**9
Line = tuple[Any, ...]


def random_pool(X: np.ndarray, how_many: int, n_base: int) -> Pool:
    """Clusterings of the first rows, each around random ones; the other rows follow any of them."""
    rng = np.random.default_rng(0)
    rows = np.arange(n_base)
    starts = (X[rng.choice(n_base, rng.integers(2, 11), replace=False)] for _ in range(how_many))
    labels = np.array([pairwise_distances_argmin(X[rows], s) for s in starts], dtype=np.int16)
    return pool_of(labels, (np.arange(len(X)) % n_base).astype(np.int32))


def pool_of(labels: np.ndarray, base: np.ndarray) -> Pool:
    candidates = tuple(Candidate("random rows", {"number": c}, c) for c in range(len(labels)))
    rows = np.arange(labels.shape[1])
    weight = np.bincount(base, minlength=len(rows))
    return Pool(labels, base, rows, weight, candidates, 0, "cluster", len(base) > len(rows))


def time_steps(work: Callable[[], object]) -> float:
    begin = perf_counter()
    work()
    return (perf_counter() - begin) * 1e3


def choose(pool: Pool, n_pairs: int, threads: int, repeats: int) -> Line:
    """The first figure is for the sample, which serves many questions."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    pairs = draw_row_pairs(np.arange(pool.n_rows), n_pairs, 0)
    weights = np.full(len(pool), 1 / len(pool))
    opened: list[OpenPairs] = []
    first = time_steps(lambda: opened.append(OpenPairs(pool, pairs)))
    times = [time_steps(lambda: opened[0].most_divided(weights)) for _ in range(repeats)]
    numpy_ms = ""
    if len(pool) * n_pairs * 8 < GIGABYTE:
        together = pool.together(pairs).astype(np.float64)
        plain = (time_steps(lambda: np.abs(2 * (together @ weights) - 1).argmin()) for _ in range(repeats))
        numpy_ms = f"{median(plain):.3f}"
    return "choose", len(pool), n_pairs, threads, *figures(first, times), numpy_ms


def questions(what: str, learner: Learner, X: np.ndarray, y: np.ndarray, n: int, **known: Any) -> Line:
    """The first figure is for the first question, the pool being given."""
    os.environ["OMP_NUM_THREADS"] = "1"
    pool = known.pop("pool", None)
    begin = perf_counter()
    run = Run(learner, X, Evidence(len(X), known.get("constraints")), 0, prepared=pool)
    first = (perf_counter() - begin) * 1e3
    oracle, times = lw.TruthOracle(y), []
    for _ in range(n):
        assert run.question is not None
        answer = oracle(run.question.first, run.question.second)
        times.append(time_steps(lambda given=answer: run.answer(given)))
    size = ("", "") if pool is None else (len(pool), getattr(learner, "n_candidates", ""))
    return what, *size, 1, *figures(first, times), ""


def figures(first: float, times: list[float]) -> tuple[str, str, str]:
    return f"{first:.3f}", f"{median(times):.3f}", f"{max(times):.3f}"


def measure_lines(quick: bool) -> Iterator[Line]:
    X, y = make_blobs(2100, 19, centers=7, cluster_std=4.0, random_state=0)
    pool = random_pool(X, 931, len(X))
    for threads in (1, 2):
        yield choose(pool, 1000, threads, 201)
    yield questions("step", lw.ActiveCOBS(), X, y, 60, pool=pool)
    if quick:
        return
    drawn = np.random.default_rng(0).integers(0, 6, (10_000, len(X)), dtype=np.int16)
    large = pool_of(drawn, np.arange(len(X), dtype=np.int32))
    for threads in (1, 2):
        yield choose(large, 100_000, threads, 21)
    X, y = make_blobs(100_000, 10, centers=20, cluster_std=2.0, random_state=0)
    c = draw_constraints(y, 100_000, random_state=0)
    pool = random_pool(X, 200, 5000)
    yield questions("import, ActiveCOBS", lw.ActiveCOBS(), X, y, 15, pool=pool, constraints=c)
    yield questions("import, COBRAS", lw.COBRAS(random_state=0), X, y, 15, constraints=c)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_cobs_questions",
        description="Time the questions of ActiveCOBS.",
    )
    parser.add_argument("--quick", action="store_true", help="without the large sample and the import")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    options = parser.parse_args()
    lines = list(measure_lines(options.quick))
    print(harness.format_table(FIELDS, lines))
    write_csv(options.out / "speed_cobs_questions.csv", FIELDS, lines)


if __name__ == "__main__":
    main()
