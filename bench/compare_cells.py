"""Short measurements of speed that two versions of linkwise can run: `bench.compare` runs them in turn.

    python bench/compare_cells.py NAME [SCALE]

A cell uses names that an older version has, too, and it prints the processor seconds of its work as JSON.
What it prepares is not counted. This file imports nothing else of the repository.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

Work = Callable[[], object]
"""The work that is timed, once everything is prepared."""


def make_blobs(n: int, n_features: int = 10, n_classes: int = 5) -> tuple[Any, Any]:
    from sklearn.datasets import make_blobs

    return make_blobs(n, n_features, centers=n_classes, cluster_std=2.0, random_state=0)


def draw_constraints(y: Any, n_pairs: int) -> Any:
    """Random pairs of rows with the relation of their classes."""
    import numpy as np

    import linkwise as lw

    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(y), (2 * n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:n_pairs]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return lw.Constraints(len(y), pairs[same].tolist(), pairs[~same].tolist())


def fit_learner(name: str, n: int, n_classes: int, budget: int, **parameters: Any) -> Work:
    import linkwise as lw

    X, y = make_blobs(n, n_classes=n_classes)
    model = getattr(lw, name)(random_state=0, **parameters)
    return lambda: model.fit(X, oracle=lw.TruthOracle(y), budget=budget)


def fit_clusterer(name: str, n: int, n_pairs: int, **parameters: Any) -> Work:
    import linkwise as lw

    X, y = make_blobs(n)
    constraints = draw_constraints(y, n_pairs)
    model = getattr(lw, name)(**parameters)
    return lambda: model.fit(X, constraints=constraints)


def close_facts(n: int) -> Work:
    """Evidence about `n` rows with twice as many answers."""
    import numpy as np

    import linkwise as lw

    y = np.random.default_rng(0).integers(0, 20, n)
    pairs = np.random.default_rng(1).integers(0, n, (2 * n, 2)).tolist()

    def work() -> None:
        evidence = lw.Evidence(n)
        for first, second in pairs:
            if first != second:
                evidence.add(first, second, "yes" if y[first] == y[second] else "no")

    return work


def answer_session(n: int, answers: int) -> Work:
    """A session without a file, with a person who may err."""
    import linkwise as lw

    X, y = make_blobs(n)
    truth = lw.TruthOracle(y)

    def work() -> None:
        with lw.Session(X) as session:
            for _ in range(answers):
                question = session.question
                if question is None:
                    return
                session.answer(truth(question.first, question.second))

    return work


def add_doubtful_pairs(n: int, n_pairs: int) -> Work:
    """Pairs that may be wrong, with the labels after each."""
    import linkwise as lw

    X, y = make_blobs(n)
    pairs = draw_constraints(y, n_pairs)
    kinds = (pairs.must_link, "must-link"), (pairs.cannot_link, "cannot-link")

    def work() -> None:
        with lw.Session(X, lw.KIN(random_state=0), error_rate=None) as session:
            for some, kind in kinds:
                for first, second in some.tolist():
                    session.add(first, second, kind)
                    _ = session.labels

    return work


def believe_at_once(n: int, n_answers: int) -> Work:
    """A belief of many doubtful answers, by distances, from the start."""
    from linkwise.constraints.belief import measure_nearness
    from linkwise.constraints.fallible import FallibleEvidence

    X, y = make_blobs(n)
    pairs = draw_constraints(y, n_answers)

    def work() -> None:
        evidence = FallibleEvidence(n)
        for some, answer in ((pairs.must_link, "yes"), (pairs.cannot_link, "no")):
            for first, second in some.tolist():
                evidence.add(first, second, answer)
        evidence.believe(measure_nearness(X))

    return work


def explain_clusters(n: int, n_columns: int) -> Work:
    """Rules of clusters."""
    import linkwise as lw

    X, y = make_blobs(n, n_columns)
    return lambda: lw.explain(y, X)


def propose_for_table(n: int) -> Work:
    """What the values of a table propose: 20 columns of numbers, and 5 of words."""
    import numpy as np
    import polars as pl

    from linkwise.data import read_table

    X, _ = make_blobs(n, 25)
    words = np.array(list("abcde"))[X[:, 20:].astype(int) % 5]
    columns = {f"x{j}": X[:, j] for j in range(20)} | {f"c{j}": words[:, j] for j in range(5)}
    folder = TemporaryDirectory()
    path = Path(folder.name) / "table.parquet"
    pl.DataFrame(columns).write_parquet(path)

    def work() -> None:
        with folder:
            read_table(path, propose=True)

    return work


CELLS: dict[str, Callable[[float], Work]] = {
    "KIN, before the first question, 1500 rows": lambda s: fit_learner("KIN", int(1500 * s), 20, 0),
    "KIN, 60 questions, 700 rows": lambda s: fit_learner("KIN", int(700 * s), 20, int(60 * s)),
    "KIN, 200 questions, 100 classes": lambda s: fit_learner("KIN", int(900 * s), 100, int(200 * s)),
    "KIN, 30 questions, 50 000 rows": lambda s: fit_learner("KIN", int(50_000 * s), 10, int(30 * s)),
    "COBRAS, 100 questions, 20 000 rows": lambda s: fit_learner("COBRAS", int(20_000 * s), 10, int(100 * s)),
    "MinMax, 60 questions, 1000 rows": lambda s: fit_learner(
        "MinMax", int(1000 * s), 5, int(60 * s), n_clusters=5
    ),
    "NPU, 20 questions, 500 rows": lambda s: fit_learner(
        "NPU", int(500 * s), 5, int(20 * s), n_clusters=5, estimator="mpckmeans"
    ),
    "COBS, 200 rows": lambda s: fit_clusterer("COBS", max(60, int(200 * s)), 50, random_state=0),
    "ClusILC, 4000 rows": lambda s: fit_clusterer("ClusILC", int(4000 * s), int(400 * s)),
    "BCKM, 2000 rows, 40 000 pairs": lambda s: fit_clusterer(
        "BCKM", int(2000 * s), int(40_000 * s), n_clusters=5, random_state=0
    ),
    "MPCKMeans, 3000 rows, 6000 pairs": lambda s: fit_clusterer(
        "MPCKMeans", int(3000 * s), int(6000 * s), n_clusters=5, random_state=0
    ),
    "PCKMeans, 100 000 rows": lambda s: fit_clusterer(
        "PCKMeans", int(100_000 * s), int(10_000 * s), n_clusters=5, random_state=0
    ),
    "FOSC, 40 000 rows": lambda s: fit_clusterer("FOSC", int(40_000 * s), int(100 * s)),
    "COSC, 400 rows": lambda s: fit_clusterer(
        "COSC", int(400 * s), int(100 * s), n_clusters=3, random_state=0
    ),
    "ClusILC as printed, 2000 rows": lambda s: fit_clusterer(
        "ClusILC", int(2000 * s), int(400 * s), n_clusters=5, standardize=False, label_rule="any"
    ),
    "explain, 20 000 rows": lambda s: explain_clusters(int(20_000 * s), 20),
    "A table of 100 000 rows": lambda s: propose_for_table(int(100_000 * s)),
    "Belief, 600 answers at once": lambda s: believe_at_once(int(400 * s), int(600 * s)),
    "Session, 40 doubtful pairs, 400 rows": lambda s: add_doubtful_pairs(int(400 * s), int(40 * s)),
    "Evidence, 10 000 rows": lambda s: close_facts(int(10_000 * s)),
    "Session, 30 answers, 400 rows": lambda s: answer_session(int(400 * s), int(30 * s)),
}
"""The work of each cell, by its name and a scale of its size (1 in comparisons)."""


def measure(name: str, scale: float = 1.0) -> float:
    """Processor seconds of the work of a cell."""
    work = CELLS[name](scale)
    before = process_time()
    work()
    return process_time() - before


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)))
