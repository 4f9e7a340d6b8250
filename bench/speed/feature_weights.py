"""The time of feature weights: of one step of the hill climb, and of the whole climb.

    python -m bench run speed_feature_weights [--data DIR] [--repeats N]

A step is a clustering under one changed weight, with its score. A plain program does the same for the same
weights in the same process: scikit-learn's k-means with ten starts, then S_Dbw by its definition. Both have
one thread, since more would spin on few rows, and take turns. Times are medians of processor times.
Constraints are 11 % of the rows, as in the paper; columns are scaled to [0, 1].
"""

# ruff: noqa: E402  # threads are set before NumPy is loaded
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from bench.harness import add_common_options, find_source, format_table, out_folder
from bench.results import write_csv
from bench.suites.constraint_sets import draw_constraints
from sklearn.cluster import KMeans

import linkwise as lw
from bench import data
from linkwise.cluster.feature_weights import tuning
from linkwise.cluster.feature_weights.feature_weights import find_dimensions, s_dbw_validity

AIM = 50  # times as fast
SECONDS = {"breast_cancer": 1.0, "spambase": 10.0}  # for the whole
STEPS = ("task", "rows", "dimensions", "clusters", "step_ms", "kmeans_ms", "s_dbw_ms", "times", "aim")
WHOLE = ("task", "rows", "preset", "seconds", "aim", "evaluations", "satisfied")


def s_dbw(X: np.ndarray, labels: np.ndarray) -> float:
    """S_Dbw by its definition: every distance to every midpoint."""
    clusters = [X[labels == c] for c in np.unique(labels)]
    means = [rows.mean(axis=0) for rows in clusters]
    sigma = np.array([np.linalg.norm(rows.var(axis=0)) for rows in clusters])
    radius = np.sqrt(sigma).mean()
    ratios = []
    for i in range(len(clusters)):
        for j in range(i + 1, len(clusters)):
            both = np.vstack([clusters[i], clusters[j]])
            middle = (means[i] + means[j]) / 2
            u, one, other = (
                (np.linalg.norm(both - at, axis=1) <= radius).sum() for at in (middle, means[i], means[j])
            )
            ratios.append(u / max(one, other, 1))
    return float(sigma.mean() / np.linalg.norm(X.var(axis=0)) + np.mean(ratios))


def milliseconds(call: Callable[[], Any]) -> float:
    start = process_time()
    call()
    return 1000 * (process_time() - start)


def steps(task: data.LabelledTask, repeats: int) -> tuple[str, ...]:
    """One step beside the plain program's, for each dimension."""
    k = len(set(task.y))
    mean, components = find_dimensions(task.X, "scores")
    Z = np.ascontiguousarray((task.X - mean) @ components.T)
    aim = tuning.Aim(Z, constraints_of(task), tuning.make_k_means(k, 0, 10), s_dbw_validity)
    trials = tuning.Trials(aim, most=sys.maxsize)
    best = trials(np.ones(Z.shape[1]))
    ours, kmeans, naive = [], [], []
    for step in range(max(repeats, Z.shape[1])):
        weights = best.weights.copy()
        weights[step % len(weights)] *= 0.8 if step % 2 else 1.25
        trials(weights, best, best)  # both are warm
        ours.append(milliseconds(lambda w=weights: trials(w, best, best)))
        if step < repeats:
            rows, model = Z * np.sqrt(weights), KMeans(k, n_init=10, random_state=0)
            model.fit(rows)
            kmeans.append(milliseconds(lambda m=model, r=rows: m.fit(r)))
            naive.append(milliseconds(lambda m=model, r=rows: s_dbw(r, m.labels_)))
    times = (median(kmeans) + median(naive)) / median(ours)
    figures = [f"{median(values):.3f}" for values in (ours, kmeans, naive)]
    return task.name, str(len(Z)), str(Z.shape[1]), str(k), *figures, f"{times:.0f}", str(AIM)


def whole(task: data.LabelledTask, preset: str, repeats: int) -> tuple[str, ...]:
    """All of the tuning."""
    make = lw.FeatureWeightClustering if preset == "default" else lw.FeatureWeightClustering.paper
    c, model = constraints_of(task), make(len(set(task.y)), random_state=0)
    seconds = median(milliseconds(lambda: model.fit(task.X, constraints=c)) for _ in range(repeats)) / 1000
    kept = f"{c.n_constraints - model.violations_} of {c.n_constraints}"
    aim = str(SECONDS.get(task.name, ""))
    return task.name, str(len(task.X)), preset, f"{seconds:.3f}", aim, str(model.n_evals_), kept


def constraints_of(task: data.LabelledTask) -> lw.Constraints:
    return draw_constraints(task.y, round(0.11 * len(task.y)), random_state=0)


def tasks(where: data.Source) -> list[data.LabelledTask]:
    """wdbc, and what else there is with as many rows or columns."""
    further = [name for name in ("ionosphere", "segmentation", "spambase") if name in data.names(where)]
    return [data.load("breast_cancer", data.Source()), *(data.load(name, where) for name in further)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_feature_weights", description=__doc__)
    add_common_options(parser)
    parser.add_argument("--repeats", type=int, default=15, metavar="N")
    options = parser.parse_args(arguments)
    found, out = tasks(find_source(options)), out_folder(options, "speed_feature_weights")
    lines = [steps(task, options.repeats) for task in found]
    write_csv(out / "steps.csv", STEPS, lines)
    print(format_table(STEPS, lines), end="\n\n", flush=True)
    lines = [whole(task, preset, options.repeats) for task in found for preset in ("default", "paper")]
    write_csv(out / "whole.csv", WHOLE, lines)
    print(format_table(WHOLE, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
