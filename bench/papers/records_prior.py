"""Learn the curve by which record linkage expects matches before any answer.

    python -m bench run records_prior --checkouts DIR

A logistic regression of "match" on 1, c and c², for the 24 nearest records of each record by words and by
letters, where c is the mean cosine of whole records. Every set weighs the same. The last line is the curve of
``linkwise.learn.records.match_prior``; the others leave one set out, and say how well they fit it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from bench.harness import add_common_options, find_source, format_table, out_folder
from bench.papers.records_sets import PRIOR_SETS, read_classes, read_records
from bench.results import write_csv
from linkwise import native
from linkwise.learn.records.features import measure_cosine

NEAREST = 24
SAMPLE = 5000  # rows whose nearest are looked for
STRENGTH = 1e4  # weight of a set
HEAD = ("left out", "constant", "slope", "bend", "pairs", "recall", "expected / true", "log loss")

Pool = tuple[NDArray[np.float64], NDArray[np.bool_], float]


def make_pool(name: str, checkouts: Path) -> Pool:
    """The cosine of each pair, whether it matches, and the share of the true matches of the sample."""
    records, classes = read_records(name, checkouts), read_classes(name, checkouts)
    n = len(records)
    rows = np.sort(np.random.default_rng(0).choice(n, min(SAMPLE, n), replace=False)).astype(np.int64)
    found = []
    for matrix in (records.letters, records.words):
        counts = np.ones(matrix.shape[1], dtype=bool)
        nearest = native.largest_products(matrix, counts, rows, NEAREST, None, None, 1)
        first, second = np.repeat(rows, nearest.shape[1]), nearest.ravel().astype(np.int64)
        found.append(np.stack([first, second], axis=1)[second >= 0])
    pairs = np.vstack(found)
    pairs.sort(axis=1)
    first, second = np.ascontiguousarray(np.unique(pairs, axis=0).T)
    is_match = classes[first] == classes[second]
    every, others = (np.bincount(one) for one in (classes, np.delete(classes, rows)))
    n_true = count_pairs(every) - count_pairs(others)  # with a row of the sample
    return measure_cosine(records, first, second), is_match, float(is_match.sum() / n_true)


def count_pairs(sizes: NDArray[np.int64]) -> int:
    """Pairs inside groups of these sizes."""
    return int((sizes * (sizes - 1) // 2).sum())


def fit_curve(pools: Sequence[Pool]) -> tuple[float, float, float]:
    """The three numbers of the curve."""
    cosine = np.concatenate([pool[0] for pool in pools])
    is_match = np.concatenate([pool[1] for pool in pools])
    weight = np.concatenate([np.full(len(pool[0]), STRENGTH / len(pool[0])) for pool in pools])
    X = np.column_stack([cosine, cosine**2])
    mean, scale = X.mean(axis=0), X.std(axis=0)
    model = LogisticRegression(max_iter=2000).fit((X - mean) / scale, is_match, sample_weight=weight)
    slopes = model.coef_[0] / scale
    return float(model.intercept_[0] - mean @ slopes), float(slopes[0]), float(slopes[1])


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit all curves, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checkouts", type=Path, metavar="DIR", help="folder of the files")
    add_common_options(parser)
    given = parser.parse_args(arguments)
    checkouts = given.checkouts or (find_source(given).folder or Path()) / "checkouts"
    pools = {name: make_pool(name, checkouts) for name in PRIOR_SETS}
    lines = []
    for name in (*PRIOR_SETS, ""):
        curve = fit_curve([pool for other, pool in pools.items() if other != name])
        line = [name or "none", *(f"{value:.2f}" for value in curve)]
        if name:
            cosine, is_match, recall = pools[name]
            chance = 1 / (1 + np.exp(-(curve[0] + curve[1] * cosine + curve[2] * cosine**2)))
            ratio, loss = chance.sum() / is_match.sum(), log_loss(is_match, chance)
            line += [str(len(cosine)), f"{recall:.3f}", f"{ratio:.2f}", f"{loss:.4f}"]
        lines.append(line + [""] * (len(HEAD) - len(line)))
    write_csv(out_folder(given, "records_prior") / "table.csv", HEAD, lines)
    print(format_table(HEAD, lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
