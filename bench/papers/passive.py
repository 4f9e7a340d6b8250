"""Clusterers and learned metrics with random constraints, compared with other implementations.

    python -m bench run passive [--data DIR] [--runs N] [--jobs N] [--only METHOD,METHOD]
    python -m bench run passive --constraints 10,50,100 --runs 5

The protocol is that of Van Craenendonck and Blockeel (2017), section III: 50 random constraints between
rows out of 70 % of a set, all rows clustered, ARI on the rows that are in no constraint. The number of
clusters is that of the classes; features are in [0, 1], and duplicates are removed. The sets are four that
come with scikit-learn and, with ``--data``, the paper's ten. The experiment prints the mean ARI and the mean
aligned rank of the methods that ran on all sets, for each number of constraints, and the best methods on each
set. It exits with 1 if a figure of ``targets/passive.csv`` is missed.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline

import linkwise as lw
from bench import data
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.papers.cobs_runs import (
    CHOOSING,
    MOST,
    TASKS,
    Place,
    bind_place,
    choose_clustering,
    draw_pairs,
    pool_of,
)
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from bench.suites.comparison import rank_aligned_scores
from bench.suites.constraint_sets import label_pairs
from bench.suites.scores import score_elsewhere
from bench.suites.summaries import Mean, mean_of
from linkwise.cluster.base import ConstrainedClusterer
from linkwise.select.ranking import satisfied_weights

CONSTRAINTS, RUNS = 50, 25
TOLERANCE = 0.02  # of ARI: about two standard errors
FIELDS = ("origin", "task", "method", "constraints", "run")
COLUMNS = (
    "origin", "task", "method", "ari", "error", "target", "reached", "satisfied", "fell_back", "failed",
)  # fmt: skip
MOST_NAMED = 3  # methods that are named for a set
CLOSE = 0.01  # of ARI: how far from the best they are at most
Group = tuple[str, str, str]  # origin, task, method
REFUSED = "refused"
NOTHING = {"ari": "", "satisfied": "", "n_clusters": "", "fell_back": "", "failed": ""}


def methods() -> dict[str, Callable[[int, int], Any]]:
    """Who takes part, as ``make(k, seed)``: plain k-means, clusterers with constraints, learned metrics."""
    public = (getattr(lw, name) for name in lw.__all__)
    ours = [c for c in public if inspect.isclass(c) and issubclass(c, ConstrainedClusterer)]
    return {
        "KMeans": make_kmeans,
        "COBS": lambda k, seed: lw.COBS(random_state=seed),
        **{c.__name__: partial(_make_clusterer, c) for c in ours},
        "FOSC": lambda k, seed: lw.FOSC(noise="nearest"),
        "ClusILC": lambda k, seed: lw.ClusILC(k),
        "ITML + KMeans": lambda k, seed: make_pipeline(lw.ITML(random_state=seed), make_kmeans(k, seed)),
        "RCA + KMeans": lambda k, seed: make_pipeline(lw.RCA(), make_kmeans(k, seed)),
        "MMC + KMeans": lambda k, seed: make_pipeline(lw.MMC(), make_kmeans(k, seed)),
        "full MMC + KMeans": lambda k, seed: make_pipeline(lw.MMC(diagonal=False), make_kmeans(k, seed)),
    }


def make_kmeans(k: int, seed: int) -> KMeans:
    return KMeans(k, n_init=10, random_state=seed)


def _make_clusterer(clusterer: Callable[..., Any], k: int, seed: int) -> Any:
    known = inspect.signature(clusterer).parameters
    return clusterer(
        **{name: value for name, value in (("n_clusters", k), ("random_state", seed)) if name in known}
    )


# ---------------------------------------------------------------- one run
def measure(cell: Cell, place: Place) -> Row:
    """One method after random constraints."""
    origin, name, method, n_constraints, run = cell
    of_origin = place._replace(source=data.Source() if origin == "scikit-learn" else place.source)
    task = data.load(name, of_origin.source)
    pairs = draw_pairs(len(task.y), int(run))[1][: int(n_constraints)]
    constraints = label_pairs(task.y, pairs)
    try:
        labels, fell_back = cluster_task(method, task, constraints, int(run), of_origin)
    except lw.InfeasibleConstraintsError as error:  # it never is: the classes satisfy all
        return NOTHING | {"failed": str(error)}
    except lw.DataError as error:  # too many rows for this method
        return NOTHING | {"failed": f"{REFUSED}: {error}"}
    return {
        "ari": f"{score_elsewhere(task.y, labels, pairs):.4f}",
        "satisfied": f"{lw.constraint_score(labels, constraints):.4f}",
        "n_clusters": str(len(np.unique(labels))),
        "fell_back": fell_back,
        "failed": "",
    }


def cluster_task(
    method: str, task: data.LabelledTask, constraints: lw.Constraints, seed: int, place: Place
) -> tuple[np.ndarray, str]:
    """Labels, and whether the method fell back to plain k-means."""
    if method == "COBS":  # from a pool that is kept, or it would be made in each run
        pool = pool_of(task.name, place)
        _, first = choose_clustering(
            pool, constraints, satisfied_weights(pool, constraints), "agreement", seed
        )
        return pool.clustering(first), ""
    model = methods()[method](len(set(task.y)), seed)
    known = {} if method == "KMeans" else {"constraints": constraints}
    with warnings.catch_warnings(action="ignore"), config_context(enable_metadata_routing=True):
        labels = model.fit_predict(task.X, **known)
    return labels, str(int(getattr(model, "fell_back_", False)))


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    method = cell[2].removesuffix(" + KMeans").removeprefix("full ")
    if method == "COBS":
        return CHOOSING
    return *(() if method == "KMeans" else (method,)), "Constraints"


# ---------------------------------------------------------------- all runs
def list_tasks(where: data.Source) -> list[tuple[str, str]]:
    """The sets that come with scikit-learn, and those of the paper that are here."""
    papers = [] if where == data.Source() else [name for name in TASKS if name in data.names(where)]
    return [("scikit-learn", name) for name in data.BUNDLED] + [("paper", name) for name in papers]


def select_methods(only: str | None) -> list[str]:
    known = list(methods())
    wanted = known if only is None else only.split(",")
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise SystemExit(f"There is no method {', '.join(unknown)}. Choose from {', '.join(known)}.")
    return wanted


def run_methods(options: argparse.Namespace) -> int:
    where, names = find_source(options), select_methods(options.only)
    folder = out_folder(options, "passive")
    numbers = parse_numbers(options.constraints)
    groups = [(*task, method) for task in list_tasks(where) for method in names]
    cells = [(*g, str(n), str(run)) for g in groups for n in numbers for run in range(options.runs)]
    work = bind_place(measure, where, folder)
    found: dict[tuple[Group, int], list[Row]] = {(g, n): [] for g in groups for n in numbers}
    for row in run_cells(
        folder / "runs.csv", FIELDS, cells, work, uses=entries, jobs=options.jobs, reuse=options.reuse
    ):
        group = row["origin"], row["task"], row["method"]
        found[group, int(row["constraints"])].append(row)
    write_ranks(found, groups, names, numbers, folder)
    if CONSTRAINTS not in numbers:
        return 0
    lines = [build_line(group, found[group, CONSTRAINTS]) for group in groups]
    write_csv(folder / "passive.csv", COLUMNS, lines)
    print(f"\nARI on rows in none of {CONSTRAINTS} constraints, {options.runs} runs (in brackets: target)")
    beside = build_table(lines)
    write_csv(folder / "table.csv", ("origin", "task", *names), beside)
    print(format_table(("origin", "task", *names), beside))
    return print_misses(lines)


def parse_numbers(text: str) -> list[int]:
    """Numbers of constraints, ascending."""
    numbers = sorted({int(part) for part in text.split(",")})
    if not 0 < numbers[0] <= numbers[-1] <= MOST:
        raise SystemExit(f"--constraints {text} is out of range. Pass numbers from 1 to {MOST}.")
    return numbers


def write_ranks(
    found: dict[tuple[Group, int], list[Row]],
    groups: Sequence[Group],
    names: Sequence[str],
    numbers: Sequence[int],
    folder: Path,
) -> None:
    """Mean ARI and aligned rank of the methods, and which are best on each set; of runs that ended."""
    tasks = list(dict.fromkeys(group[:2] for group in groups))
    ari = np.array([[[_mean_ari(found[(*t, m), n]) for n in numbers] for m in names] for t in tasks])
    whole = [at for at in range(len(names)) if not np.isnan(ari[:, at]).any()]
    ranks = np.stack([rank_aligned_scores(ari[:, whole, at]) for at in range(len(numbers))], axis=1)
    means = ari[:, whole].mean(axis=0)
    lines = [
        (names[at], *(f"{mean:.3f}" for mean in of_mean), *(f"{rank:.1f}" for rank in of_rank))
        for at, of_mean, of_rank in zip(whole, means, ranks, strict=True)
    ]
    head = ("method", *(f"ari_{n}" for n in numbers), *(f"rank_{n}" for n in numbers))
    write_csv(folder / "ranks.csv", head, lines)
    print("\nMean ARI and mean aligned rank (the lowest is the best) by number of constraints")
    print(format_table(head, lines))
    best = [
        (*task, *(format_best(ari[i, :, at], names) for at in range(len(numbers))))
        for i, task in enumerate(tasks)
    ]
    write_csv(folder / "best.csv", ("origin", "task", *map(str, numbers)), best)
    print(f"\nBest method on each set, and methods within {CLOSE} of it")
    print(format_table(("origin", "task", *map(str, numbers)), best))


def _mean_ari(rows: Sequence[Row]) -> float:
    done = [float(row["ari"]) for row in rows if not row["failed"]]
    return float(np.mean(done)) if done else float("nan")


def format_best(ari: np.ndarray, names: Sequence[str]) -> str:
    """The best methods and what they reach."""
    most = np.nanmax(ari)
    near = [at for at in np.argsort(-ari, kind="stable").tolist() if ari[at] >= most - CLOSE]
    return f"{', '.join(names[at] for at in near[:MOST_NAMED])} {most:.2f}"


def build_line(group: Group, rows: Sequence[Row]) -> tuple[str, ...]:
    """Means of a method on a set, beside the figure to reach."""
    done = [row for row in rows if not row["failed"]]
    mean = mean_of([float(row["ari"]) for row in done]) if done else Mean(np.nan)
    target = find_target(group)
    kept = f"{np.mean([float(row['satisfied']) for row in done]):.3f}" if done else ""
    fell_back = sum(row["fell_back"] == "1" for row in done)
    figure = "" if target is None else f"{target:.2f}"
    return (
        *group,
        *mean.texts(),
        figure,
        format_reached(mean, target),
        kept,
        str(fell_back),
        str(sum(bool(row["failed"]) and not row["failed"].startswith(REFUSED) for row in rows)),
    )


def find_target(group: Group) -> float | None:
    origin, *key = group
    if origin != "scikit-learn":
        return None
    found = [row for row in read_target("passive.csv") if [row["task"], row["method"]] == key]
    return float(found[0]["ari"]) if found else None


def format_reached(mean: Mean, target: float | None) -> str:
    """Whether a mean is not below a figure by more than the tolerance, both to two digits."""
    if target is None:
        return ""
    return "yes" if round(mean.value, 2) >= round(target - TOLERANCE, 2) else "no"


def build_table(lines: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """One line for each set, methods in columns; a star marks a miss."""
    by_task: dict[tuple[str, str], list[str]] = {}
    for origin, task, _, ari, _, target, held, *_ in lines:
        text = ari.replace("nan", "") + (f" ({target})" if target else "") + (" *" if held == "no" else "")
        by_task.setdefault((origin, task), []).append(text)
    return [(*task, *texts) for task, texts in by_task.items()]


def print_misses(lines: Sequence[tuple[str, ...]]) -> int:
    """Name what is missed and what failed; 1 where there is such."""
    compared = [line for line in lines if line[6]]
    missed = [line for line in compared if line[6] == "no"]
    failed = [line for line in lines if line[9] != "0"]
    reached = len(compared) - len(missed)
    print(f"\n{reached} of {len(compared)} figures are at most {TOLERANCE} lower than their target")
    for _, task, method, ari, error, target, *_ in missed:
        print(f"missed: {method} on {task}, {ari} ± {error or '?'}, to reach {target}")
    for _, task, method, *_, count in failed:
        print(f"failed: {method} on {task}, {count} run(s)")
    return int(bool(missed or failed))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run passive", description="Random constraints.")
    add_common_options(parser)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    parser.add_argument("--constraints", default=str(CONSTRAINTS), metavar="N,N")
    parser.add_argument("--only", metavar="A,B", help=f"methods, of {', '.join(methods())}")
    return run_methods(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
