"""What each difference between a default and the printed method does.

    python -m bench run presets --data DIR [--only METHOD,METHOD] [--settings "A;B"] [--runs N] [--jobs N]
    python -m bench run presets --words [--only METHOD,METHOD]

For each method: the default, the default with one setting changed to that of the printed method, the printed
method (`paper()`), and the authors' program (`authors()`) if it differs. Each run has its own constraints or
answers. The score is the one of the method's paper; the effect is the mean less that of the default. Small
experiments, which say how large an effect is and not which method is best. ``--settings`` measures these
alone; the other lines of a table stay as they are. ``--words`` measures nothing: it writes the tables of
differences anew, after a change of their words.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans

import linkwise as lw
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.preset_scores import (
    measure_ari,
    measure_halkidi,
    measure_nmi,
    measure_questions,
    measure_rand,
    measure_weight_questions,
)
from bench.papers.preset_tables import write_table
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row, read_rows
from linkwise.cluster.feature_weights.feature_weights import MANY
from linkwise.select.clusterings import Preset

FIELDS = ("method", "setting", "task", "run")
Settings = dict[str, Callable[..., Any]]


class Study(NamedTuple):
    """The settings of one method, and how they are compared."""

    settings: Settings
    """Name and ``make(k, random_state)``; the first is the default."""
    tasks: tuple[str, ...]
    """``set:amount``, where the amount is that of constraints, questions or percent."""
    measure: Callable[[Callable[..., Any], str, float, int, Path], float]
    uses: tuple[str, ...]


# ---------------------------------------------------------------- what is compared
def change(make: Callable[..., Any], **setting: Any) -> Callable[..., Any]:
    return partial(make, **setting)


def learner(make: Callable[..., Any], **setting: Any) -> Callable[..., Any]:
    """A learner that finds the number of clusters."""
    return lambda _, random_state: make(**setting, random_state=random_state)


@cache
def make_pool_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for the clusterings among which COBS chooses: most settings and tasks share them."""
    return tempfile.TemporaryDirectory(prefix="linkwise_pools_")


def selection(make: Callable[..., Any], **setting: Any) -> Callable[..., Any]:
    """COBS or ActiveCOBS, which find the number of clusters."""
    return lambda _, random_state: make(**setting, cache=make_pool_folder().name, random_state=random_state)


class MappedKMeans:
    """k-means of rows that a metric learner has mapped."""

    def __init__(self, learner: Any, k: int, seed: int) -> None:
        self.learner = learner
        self.k_means = KMeans(k, n_init=10, random_state=seed)

    def fit(self, X: np.ndarray, *, constraints: lw.Constraints) -> MappedKMeans:
        """Learn the metric, and cluster under it."""
        self.labels_ = self.k_means.fit_predict(self.learner.fit_transform(X, constraints=constraints))
        return self


def metric(make: Callable[..., Any], **setting: Any) -> Callable[..., Any]:
    """A metric learner, before k-means."""
    return lambda k, random_state: MappedKMeans(make(**setting, random_state=random_state), k, random_state)


def tree(make: Callable[..., Any], **setting: Any) -> Callable[..., Any]:
    """ClusILC, which draws nothing."""
    return lambda k, random_state: make(k, **setting)


BOOSTING = tuple(f"{name}:{percent}" for name in ("iris", "sonar", "glass") for percent in (1, 5))
PAIRS = tuple(f"{name}:{n}" for name in ("iris", "wine", "ionosphere", "sonar") for n in (20, 50))
QUESTIONS = tuple(f"{name}:{n}" for name in ("iris", "wine", "ionosphere", "sonar") for n in (25, 50))
PRINTED_MIN_PTS = Preset(min_pts=tuple(range(2, 21)))
FW = lw.FeatureWeightClustering
AFW = lw.ActiveFeatureWeights
WEIGHT_QUESTIONS: Settings = {
    "default": AFW,
    "one_by_one=True": change(AFW, one_by_one=True),
    "enforce=False": change(AFW, enforce=False),
    f"max_evals={MANY}": change(AFW, max_evals=MANY),
    "estimator=FeatureWeightClustering(center=False)": change(AFW, estimator=FW(center=False)),
    "estimator=FeatureWeightClustering.paper()": change(AFW, estimator=FW.paper()),
    "paper()": AFW.paper,
}
WEIGHT_TASKS = tuple(
    f"{name}:{n}" for name in ("iris", "wine", "ionosphere", "soybean_small") for n in (25, 50)
)

STUDIES = {
    "ckm": Study(
        {
            "default": lw.CKM,
            "n_init=1": change(lw.CKM, n_init=1),
            'convergence="stable"': change(lw.CKM, convergence="stable"),
            "patience=None": change(lw.CKM, patience=None),
            "fallback=False": change(lw.CKM, fallback=False),
            'init="farthest"': change(lw.CKM, init="farthest"),
            'convergence="first rise"': change(lw.CKM, convergence="first rise"),
            'ties="columns"': change(lw.CKM, ties="columns"),
            "full_distances=False": change(lw.CKM, full_distances=False),
            "refill=False": change(lw.CKM, refill=False),
            "paper()": lw.CKM.paper,
            "authors()": lw.CKM.authors,
        },
        BOOSTING,
        measure_nmi,
        ("CKM", "Constraints"),
    ),
    "bckm": Study(
        {
            "default": lw.BCKM,
            "same_centers=True": change(lw.BCKM, same_centers=True),
            "last_starts=1": change(lw.BCKM, last_starts=1),
            "first_tries=1, later_tries=1": change(lw.BCKM, first_tries=1, later_tries=1),
            'convergence="stable"': change(lw.BCKM, convergence="stable", last_starts=10),
            "patience=None": change(lw.BCKM, patience=None),
            "fallback=False": change(lw.BCKM, fallback=False),
            'init="farthest"': change(lw.BCKM, init="farthest"),
            'convergence="first rise"': change(lw.BCKM, convergence="first rise", last_starts=10),
            'ties="columns"': change(lw.BCKM, ties="columns"),
            "full_distances=False": change(lw.BCKM, full_distances=False),
            "refill=False": change(lw.BCKM, refill=False),
            "paper()": lw.BCKM.paper,
            "authors()": lw.BCKM.authors,
        },
        BOOSTING,
        measure_nmi,
        ("BCKM", "Constraints"),
    ),
    "rckm": Study(
        {
            "default": lw.RCKM,
            "same_centers=True": change(lw.RCKM, same_centers=True),
            'convergence="stable"': change(lw.RCKM, convergence="stable"),
            "patience=None": change(lw.RCKM, patience=None),
            'weights="equal"': change(lw.RCKM, weights="equal"),
            "fallback=False": change(lw.RCKM, fallback=False),
            'init="farthest"': change(lw.RCKM, init="farthest"),
            'convergence="first rise"': change(lw.RCKM, convergence="first rise"),
            "full_distances=False": change(lw.RCKM, full_distances=False),
            "refill=False": change(lw.RCKM, refill=False),
            "paper()": lw.RCKM.paper,
            "authors()": lw.RCKM.authors,
        },
        BOOSTING,
        measure_nmi,
        ("RCKM", "Constraints"),
    ),
    "mpckmeans": Study(
        {
            "default": lw.MPCKMeans,
            'metric="diagonal", per_cluster=True': change(lw.MPCKMeans, metric="diagonal", per_cluster=True),
            "shrinkage=0": change(lw.MPCKMeans, shrinkage=0.0),
            "must_link_start=False": change(lw.MPCKMeans, must_link_start=False),
            "settle_first=False": change(lw.MPCKMeans, settle_first=False),
            "component_moves=False": change(lw.MPCKMeans, component_moves=False),
            'farthest="all"': change(lw.MPCKMeans, farthest="all"),
            "implied=True": change(lw.MPCKMeans, implied=True),
            "n_init=1": change(lw.MPCKMeans, n_init=1),
            'metric="diagonal", search="file order"': change(
                lw.MPCKMeans, metric="diagonal", search="file order"
            ),
            "fallback=False": change(lw.MPCKMeans, fallback=False),
            "paper()": lw.MPCKMeans.paper,
            "authors()": lw.MPCKMeans.authors,
        },
        PAIRS,
        measure_ari,
        ("MPCKMeans", "Constraints"),
    ),
    "copkmeans": Study(
        {
            "default": lw.COPKMeans,
            "n_init=1": change(lw.COPKMeans, n_init=1),
            'assignment="first fit"': change(lw.COPKMeans, assignment="first fit"),
            'assignment="first fit", by_first_row=True': change(
                lw.COPKMeans, assignment="first fit", by_first_row=True
            ),
            "tol=0": change(lw.COPKMeans, tol=0.0),
            'init="cannot-links"': change(lw.COPKMeans, init="cannot-links"),
            "paper()": lw.COPKMeans.paper,
            "authors()": lw.COPKMeans.authors,
        },
        PAIRS,
        measure_ari,
        ("COPKMeans", "Constraints"),
    ),
    "boost_cluster": Study(
        {
            "default": lw.BoostCluster,
            "center=False": change(lw.BoostCluster, center=False),
            "whiten=False": change(lw.BoostCluster, whiten=False),
            "scale_directions=True": change(lw.BoostCluster, scale_directions=True),
            "fallback=False": change(lw.BoostCluster, fallback=False),
            "paper()": lw.BoostCluster.paper,
        },
        BOOSTING,
        measure_nmi,
        ("BoostCluster", "Constraints"),
    ),
    "kernel_boost": Study(
        {
            "default": lw.KernelBoost,
            "with_cannot_links=False": change(lw.KernelBoost, with_cannot_links=False),
            "n_components=1000": change(lw.KernelBoost, n_components=1000),
        },
        BOOSTING,
        measure_nmi,
        ("KernelBoost", "Constraints"),
    ),
    "spcl": Study(
        {
            "default": lw.SPCL,
            "skip_constant=True": change(lw.SPCL, skip_constant=True),
            "sigma=1": change(lw.SPCL, sigma=1.0),
        },
        BOOSTING,
        measure_nmi,
        ("SPCL", "Constraints"),
    ),
    "cosc": Study(
        {
            "default": lw.COSC,
            "max_nodes=None": change(lw.COSC, max_nodes=None),
            "n_runs=5": change(lw.COSC, n_runs=5),
            'search="program"': change(lw.COSC, search="program"),
            "authors()": lw.COSC.authors,
        },
        PAIRS,
        measure_ari,
        ("COSC", "Constraints"),
    ),
    "itml": Study(
        {
            "default": metric(lw.ITML),
            'bounds="histogram"': metric(lw.ITML, bounds="histogram"),
            "tol=0.01": metric(lw.ITML, tol=0.01),
            "max_projections=100000": metric(lw.ITML, max_projections=100_000),
            'order="random"': metric(lw.ITML, order="random"),
            "authors()": metric(lw.ITML.authors),
        },
        BOOSTING,
        measure_nmi,
        ("ITML", "Constraints"),
    ),
    "feature_weights": Study(
        {
            "default": FW,
            "center=False": change(FW, center=False),
            "sequential=False": change(FW, sequential=False),
            'start="newton"': change(FW, start="newton"),
            'start="mmc"': change(FW, start="mmc"),
            "delta=0.1": change(FW, delta=0.1),
            'delta=0.1, step_base="weight"': change(FW, delta=0.1, step_base="weight"),
            "sweeps=1": change(FW, sweeps=1),
            f"max_evals={MANY}": change(FW, max_evals=MANY),
            's_dbw_factor="printed"': change(FW, s_dbw_factor="printed"),
            "constraint_weight=1": change(FW, constraint_weight=1.0),
            "clusterer=KMeans()": change(FW, clusterer=KMeans()),
            "paper()": FW.paper,
            "paper(center=True)": change(FW.paper, center=True),
            "paper(sequential=False)": change(FW.paper, sequential=False),
        },
        tuple(f"{name}:5" for name in ("iris", "wine", "ionosphere", "soybean_small", "diabetes")),
        measure_halkidi,
        ("FeatureWeightClustering", "Constraints"),
    ),
    "active_feature_weights": Study(
        WEIGHT_QUESTIONS, WEIGHT_TASKS, measure_weight_questions, ("ActiveFeatureWeights", "TruthOracle")
    ),
    "active_feature_weights_scaled": Study(
        WEIGHT_QUESTIONS,
        WEIGHT_TASKS,
        partial(measure_weight_questions, scaled=True),
        ("ActiveFeatureWeights", "TruthOracle"),
    ),
    "clusilc": Study(
        {
            "default": tree(lw.ClusILC),
            "standardize=False": tree(lw.ClusILC, standardize=False),
            'label_rule="any"': tree(lw.ClusILC, label_rule="any"),
            "count_repeats=True": tree(lw.ClusILC, count_repeats=True),
            'bound="largest"': tree(lw.ClusILC, bound="largest"),
            "paper()": tree(lw.ClusILC.paper),
            "authors()": tree(lw.ClusILC.authors),
        },
        tuple(f"{name}:{n}" for name in ("iris", "wine", "ionosphere") for n in (20, 100)),
        measure_rand,
        ("ClusILC", "Constraints"),
    ),
    "cobras": Study(
        {
            "default": learner(lw.COBRAS),
            "n_init=10": learner(lw.COBRAS, n_init=10),
            "max_split=None": learner(lw.COBRAS, max_split=None),
            'descend="random"': learner(lw.COBRAS, descend="random"),
            'descend="smallest"': learner(lw.COBRAS, descend="smallest"),
            "impure_first=False": learner(lw.COBRAS, impure_first=False),
            "split_within_budget=False": learner(lw.COBRAS, split_within_budget=False),
            "askable_means=True": learner(lw.COBRAS, askable_means=True),
            "enforce=False": learner(lw.COBRAS, enforce=False),
            'first_merge="parts"': learner(lw.COBRAS, first_merge="parts"),
            "paper()": learner(lw.COBRAS.paper),
            "authors()": learner(lw.COBRAS.authors),
        },
        QUESTIONS,
        measure_questions,
        ("COBRAS", "TruthOracle"),
    ),
    "cobra": Study(
        {
            "default": learner(lw.COBRA),
            "n_init=10": learner(lw.COBRA, n_init=10),
            "askable_means=True": learner(lw.COBRA, askable_means=True),
            "enforce=False": learner(lw.COBRA, enforce=False),
            "paper()": learner(lw.COBRA.paper),
        },
        QUESTIONS,
        measure_questions,
        ("COBRA", "TruthOracle"),
    ),
    "npu": Study(
        {
            "default": lw.NPU,
            'trees="best splits"': change(lw.NPU, trees="best splits"),
            'ties="random"': change(lw.NPU, ties="random"),
            "last_is_implied=False": change(lw.NPU, last_is_implied=False),
            "enforce=False": change(lw.NPU, enforce=False),
            "estimator=MPCKMeans.paper()": change(lw.NPU, estimator=lw.MPCKMeans.paper()),
            "paper()": lw.NPU.paper,
        },
        tuple(f"{name}:{n}" for name in ("iris", "wine", "sonar") for n in (25, 50)),
        measure_questions,
        ("NPU", "MPCKMeans", "TruthOracle"),
    ),
    "cobs": Study(
        {
            "default": selection(lw.COBS),
            'tie="random"': selection(lw.COBS, tie="random"),
            "preset=Preset(min_pts=range(2, 21))": selection(lw.COBS, preset=PRINTED_MIN_PTS),
            "preset=Preset(by_degree=True)": selection(lw.COBS, preset=Preset(by_degree=True)),
            'noise="singletons"': selection(lw.COBS, noise="singletons"),
            "paper()": selection(lw.COBS.paper),
        },
        tuple(f"{name}:{n}" for name in ("iris", "wine") for n in (5, 10, 25)),
        measure_ari,
        ("COBS", "Constraints"),
    ),
    "active_cobs": Study(
        {
            "default": selection(lw.ActiveCOBS),
            'tie="random"': selection(lw.ActiveCOBS, tie="random"),
            "enforce=False": selection(lw.ActiveCOBS, enforce=False),
            "preset=Preset(min_pts=range(2, 21))": selection(lw.ActiveCOBS, preset=PRINTED_MIN_PTS),
            "preset=Preset(by_degree=True)": selection(lw.ActiveCOBS, preset=Preset(by_degree=True)),
            'noise="singletons"': selection(lw.ActiveCOBS, noise="singletons"),
            "paper()": selection(lw.ActiveCOBS.paper),
        },
        tuple(f"{name}:{n}" for name in ("iris", "wine") for n in (5, 10, 25)),
        measure_questions,
        ("ActiveCOBS", "TruthOracle"),
    ),
}


# ---------------------------------------------------------------- the command
def measure(cell: Cell, folder: Path) -> Row:
    """One fit."""
    method, setting, task, run = cell
    study = STUDIES[method]
    name, _, amount = task.partition(":")
    return {"score": f"{study.measure(study.settings[setting], name, float(amount), int(run), folder):.4f}"}


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    return STUDIES[cell[0]].uses


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_common_options(parser)
    parser.add_argument("--only", help="methods, by commas")
    parser.add_argument("--settings", help="settings, by semicolons; the others keep their figures")
    parser.add_argument("--runs", type=int, default=10, help="runs of each setting on each task")
    parser.add_argument("--words", action="store_true", help="write the tables from means that are there")
    options = parser.parse_args(arguments)
    methods = list(STUDIES) if options.only is None else options.only.split(",")
    out = out_folder(options, "presets")
    if options.words:
        for method in methods:
            write_table(out, method)
        return 0
    folder = find_source(options).folder
    if folder is None:
        raise SystemExit("Pass the folder of data sets with --data.")
    for method in methods:
        study = STUDIES[method]
        cells = [
            (method, setting, task, str(run))
            for setting in study.settings
            if options.settings is None or setting in options.settings.split(";")
            for task in study.tasks
            for run in range(options.runs)
        ]
        found = run_cells(
            out / f"{method}_cells.csv",
            FIELDS,
            cells,
            partial(measure, folder=folder),
            uses=entries,
            jobs=options.jobs,
            reuse=options.reuse,
        )
        earlier = read_rows(out / f"{method}.csv") if options.settings else []
        head, lines = build_table(method, found, earlier)
        write_csv(out / f"{method}.csv", head, lines)
        write_table(out, method)
        print(format_table(head, lines))
    return 0


def build_table(
    method: str, found: list[Row], earlier: list[Row] | None = None
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The mean score of each setting on each task, without failures; their mean, the effect, the failures.

    A setting without scores keeps its line of an earlier table.
    """
    known = {row["setting"]: row for row in earlier or []}
    study = STUDIES[method]
    scores: dict[tuple[str, str], list[float]] = {}
    for row in found:
        scores.setdefault((row["setting"], row["task"]), []).append(float(row["score"]))
    failed = any(np.isnan(values).any() for values in scores.values())
    failed |= any("failed" in row for row in known.values())
    head = ("setting", *(task.replace(":", " ") for task in study.tasks), "mean", "effect")
    lines: list[tuple[str, ...]] = []
    first = float(known["default"]["mean"]) if "default" in known else None
    for setting in study.settings:
        if (setting, study.tasks[0]) not in scores:
            lines.append(tuple(known[setting].values()))
            continue
        per_task = [np.array(scores[setting, task]) for task in study.tasks]
        means = [float(np.nanmean(values)) if not np.isnan(values).all() else np.nan for values in per_task]
        mean = float(np.nanmean(means))
        first = mean if first is None else first
        line = (setting, *(f"{value:.2f}" for value in means), f"{mean:.3f}", f"{mean - first:+.3f}")
        share = np.isnan(np.concatenate(per_task)).mean()
        lines.append((*line, f"{share:.0%}") if failed else line)
    return (*head, "failed") if failed else head, lines


if __name__ == "__main__":
    sys.exit(main())
