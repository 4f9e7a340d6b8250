"""What each difference between a default and the printed method does.

    python -m bench run presets --data DIR [--only METHOD,METHOD] [--runs N] [--jobs N]

For each method: the default, the default with one setting changed to that of the printed method, the printed
method (`paper()`), and the authors' program (`authors()`) if it differs. Each run has its own constraints or
answers. The score is the one of the method's paper; the effect is the mean less that of the default. Small
experiments, which say how large an effect is and not which method is best.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, rand_score
from sklearn.preprocessing import minmax_scale

import linkwise as lw
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.halkidi_runs import draw_of_rows
from bench.results import write_csv
from linkwise.cluster.feature_weights.feature_weights import MANY
from linkwise.experiments.cell_store import Cell, Row
from linkwise.experiments.constraint_sets import draw_constraints
from linkwise.experiments.folds import draw_rows
from linkwise.experiments.tasks import encode_classes, read_classes_csv

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


# ---------------------------------------------------------------- data and scores
@cache
def load(name: str, folder: Path, scaled: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes."""
    X, classes, columns = read_classes_csv(folder / f"{name}.csv")
    X = X[:, [at for at, column in enumerate(columns) if column != "id"]]
    return np.ascontiguousarray(minmax_scale(X) if scaled else X), encode_classes(classes)


def _fit(make: Callable[..., Any], X: Any, y: Any, c: lw.Constraints, run: int) -> np.ndarray | None:
    k = len(np.unique(y))
    with warnings.catch_warnings(action="ignore"):
        try:
            return np.asarray(make(k, random_state=run).fit(X, constraints=c).labels_)
        except lw.InfeasibleConstraintsError:
            return None


def measure_nmi(make: Callable[..., Any], name: str, percent: float, run: int, folder: Path) -> float:
    """NMI (geometric) with a percentage of all pairs, rows unscaled (Okabe and Yamada 2018)."""
    X, y = load(name, folder, False)
    c = draw_constraints(y, percent=percent, random_state=run)
    return float(normalized_mutual_info_score(y, _fit(make, X, y, c, run), average_method="geometric"))


def measure_ari(make: Callable[..., Any], name: str, n_pairs: float, run: int, folder: Path) -> float:
    """ARI on all rows with random pairs, columns scaled to [0, 1]."""
    X, y = load(name, folder, True)
    labels = _fit(make, X, y, draw_constraints(y, int(n_pairs), random_state=run), run)
    return float("nan") if labels is None else float(adjusted_rand_score(y, labels))


def measure_halkidi(make: Callable[..., Any], name: str, _: float, run: int, folder: Path) -> float:
    """Rand index with 5 % must-links and 6 % cannot-links (Halkidi et al. 2008, section 4.2.1)."""
    X, y = load(name, folder, False)
    return float(rand_score(y, _fit(make, X, y, draw_of_rows(y, 5, 6, run), run)))


def measure_rand(make: Callable[..., Any], name: str, n_pairs: float, run: int, folder: Path) -> float:
    """Rand index on all rows with random pairs, columns unscaled (Struyf and Džeroski 2007)."""
    X, y = load(name, folder, False)
    return float(rand_score(y, _fit(make, X, y, draw_constraints(y, int(n_pairs), random_state=run), run)))


def measure_questions(make: Callable[..., Any], name: str, budget: float, run: int, folder: Path) -> float:
    """ARI on a tenth of the rows that no question shows (Van Craenendonck et al. 2018, section 4)."""
    X, y = load(name, folder, True)
    tenth = (len(y) // 10) / len(y)
    test = draw_rows(len(y), tenth, np.random.default_rng(run))
    askable = np.setdiff1d(np.arange(len(y)), test)
    model = make(None, random_state=run)
    model.fit(X, oracle=lw.TruthOracle(y), budget=int(budget), askable=askable)
    return float(adjusted_rand_score(y[test], model.labels_[test]))


def measure_weight_questions(
    make: Callable[..., Any], name: str, budget: float, run: int, folder: Path, scaled: bool = False
) -> float:
    """Rand index on all rows after so many questions (Halkidi et al. 2008, section 3.5)."""
    X, y = load(name, folder, scaled)
    model = make(len(np.unique(y)), random_state=run)
    model.fit(X, oracle=lw.TruthOracle(y), budget=int(budget))
    return float(rand_score(y, model.labels_))


# ---------------------------------------------------------------- what is compared
def change(make: Callable[..., Any], **setting: Any) -> Callable[..., Any]:
    return partial(make, **setting)


def learner(make: Callable[..., Any], **setting: Any) -> Callable[..., Any]:
    """A learner that finds the number of clusters."""
    return lambda _, random_state: make(**setting, random_state=random_state)


def tree(make: Callable[..., Any], **setting: Any) -> Callable[..., Any]:
    """ClusILC, which draws nothing."""
    return lambda k, random_state: make(k, **setting)


def printed_validity(rows: np.ndarray, labels: np.ndarray) -> float:
    """1 / (1 + S_Dbw) with the factor of Equation 5 as printed, a quarter of the mean."""
    return 1 / (1 + lw.s_dbw_score(rows, labels, factor="printed"))


BOOSTING = tuple(f"{name}:{percent}" for name in ("iris", "sonar", "glass") for percent in (1, 5))
PAIRS = tuple(f"{name}:{n}" for name in ("iris", "wine", "ionosphere", "sonar") for n in (20, 50))
QUESTIONS = tuple(f"{name}:{n}" for name in ("iris", "wine", "ionosphere", "sonar") for n in (25, 50))
FW = lw.FeatureWeightClustering
AFW = lw.ActiveFeatureWeights
WEIGHT_QUESTIONS: Settings = {
    "default": AFW,
    "one_by_one=True": change(AFW, one_by_one=True),
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
            "fallback=False": change(lw.CKM, fallback=False),
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
            "last_starts=1": change(lw.BCKM, last_starts=1),
            "first_tries=1, later_tries=1": change(lw.BCKM, first_tries=1, later_tries=1),
            'convergence="stable"': change(lw.BCKM, convergence="stable", last_starts=10),
            "fallback=False": change(lw.BCKM, fallback=False),
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
            "fallback=False": change(lw.RCKM, fallback=False),
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
            "fallback=False": change(lw.MPCKMeans, fallback=False),
            "paper()": lw.MPCKMeans.paper,
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
            "paper()": lw.COPKMeans.paper,
        },
        PAIRS,
        measure_ari,
        ("COPKMeans", "Constraints"),
    ),
    "feature_weights": Study(
        {
            "default": FW,
            "center=False": change(FW, center=False),
            "sequential=False": change(FW, sequential=False),
            'start="mmc"': change(FW, start="mmc"),
            "delta=0.1": change(FW, delta=0.1),
            "sweeps=1": change(FW, sweeps=1),
            "S_Dbw with the printed factor": change(FW, validity=printed_validity),
            "constraint_weight=1": change(FW, constraint_weight=1.0),
            "paper()": FW.paper,
            "paper(center=True)": change(FW.paper, center=True),
            "paper(sequential=True)": change(FW.paper, sequential=True),
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
            "askable_means=True": learner(lw.COBRA, askable_means=True),
            "enforce=False": learner(lw.COBRA, enforce=False),
            "paper()": learner(lw.COBRA.paper),
        },
        QUESTIONS,
        measure_questions,
        ("COBRA", "TruthOracle"),
    ),
    "cobs": Study(
        {
            'COBS(preset="quick")': learner(lw.COBS, preset="quick"),
            'COBS.paper(preset="quick")': learner(lw.COBS.paper, preset="quick"),
        },
        tuple(f"{name}:{n}" for name in ("iris", "wine") for n in (5, 10, 25)),
        measure_ari,
        ("COBS", "Constraints"),
    ),
    "active_cobs": Study(
        {
            'ActiveCOBS(preset="quick")': learner(lw.ActiveCOBS, preset="quick"),
            'ActiveCOBS(preset="quick", tie="random")': learner(lw.ActiveCOBS, preset="quick", tie="random"),
            'ActiveCOBS(preset="quick", enforce=False)': learner(
                lw.ActiveCOBS, preset="quick", enforce=False
            ),
            'ActiveCOBS.paper(preset="quick")': learner(lw.ActiveCOBS.paper, preset="quick"),
        },
        tuple(f"{name}:{n}" for name in ("iris", "wine") for n in (5, 10, 25)),
        measure_questions,
        ("ActiveCOBS", "TruthOracle"),
    ),
}


WHAT = {  # what the printed method, or the authors' program, does instead of the default
    "n_init=1": "One start, instead of several of which the best counts.",
    'convergence="stable"': "A run returns its last pass, instead of the pass that breaks least.",
    "fallback=False": "Plain k-means is never returned, even if it satisfies more constraints.",
    "last_starts=1": "The round that breaks nothing has one start, instead of ten.",
    "first_tries=1, later_tries=1": "A round that breaks half of the priority is not tried again.",
    "same_centers=True": "All rounds start from the same centres, instead of each from its own.",
    'metric="diagonal", per_cluster=True': "Each cluster has its own weights of the features.",
    "shrinkage=0": "The metric has no prior.",
    "must_link_start=False": "No second start under the metric of the must-links.",
    "settle_first=False": "The metric is learned from the first iteration on.",
    "component_moves=False": "Only single rows move, no components.",
    'farthest="all"': "The farthest pair is sought among all rows, instead of the extreme ones.",
    "implied=True": "Constraints that follow from others are added.",
    'assignment="first fit"': "Rows take the nearest centre allowed, in order, and a start may fail.",
    'assignment="first fit", by_first_row=True': "The first row of a component chooses, instead of its mean.",
    "center=False": "The rows are decomposed without centring them.",
    "sequential=False": "All dimensions are tuned together, instead of two first and then one more each.",
    'start="mmc"': "The climb starts at the metric of the constraints alone.",
    "delta=0.1": "Weights change in steps of 10 %, instead of by factors from 0 to 4.",
    "sweeps=1": "One pass over the dimensions, instead of up to ten.",
    "S_Dbw with the printed factor": "Equation 5 divides by four times the number of pairs (a misprint).",
    "constraint_weight=1": "Not printed: w of Equation 3 is 1, not the number of constraints.",
    "one_by_one=True": "A round adds one dimension, also from eight dimensions on.",
    f"max_evals={MANY}": "An answer may take any number of clusterings, instead of up to 60.",
    "estimator=FeatureWeightClustering(center=False)": "The rows are decomposed without centring them.",
    "estimator=FeatureWeightClustering.paper()": "The weights are tuned by the printed method.",
    "standardize=False": "The columns count as they are, instead of equally.",
    'label_rule="any"': "A side of a split may get any old label, instead of one that a must-link leads to.",
    "n_init=10": "Ten starts of k-means for any number of rows.",
    "max_split=None": "A split may have any number of parts, instead of up to 16.",
    'descend="random"': "The split level is sought in a random half.",
    'descend="smallest"': "The split level is sought in the smaller half (the authors' program).",
    "impure_first=False": "The largest super-instance is split first, even if another is impure.",
    "split_within_budget=False": "A split may have more parts than questions are left.",
    "askable_means=True": "Means and medoids are those of the training rows.",
    "enforce=False": "No row leaves its super-instance because of an answer.",
    'first_merge="parts"': "The first merging is shown when it ends, not from question to question.",
}
PRESET_WHAT = {
    "default": "",
    "paper()": "All that the paper prints.",
    "authors()": "All that the authors' program does.",
    "paper(center=True)": "The same on centred rows.",
    "paper(sequential=True)": "The same in rounds of one dimension more each (Section 3.5).",
    'COBS(preset="quick")': "",
    'ActiveCOBS(preset="quick")': "",
    'COBS.paper(preset="quick")': "Ties are broken by chance.",
    'ActiveCOBS(preset="quick", enforce=False)': "No row changes its cluster because of an answer.",
    'ActiveCOBS.paper(preset="quick")': "All that the paper prints.",
    'ActiveCOBS(preset="quick", tie="random")': "Ties are broken by chance.",
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
    parser.add_argument("--runs", type=int, default=10, help="runs of each setting on each task")
    options = parser.parse_args(arguments)
    folder = find_source(options).folder
    if folder is None:
        raise SystemExit("Give the folder of data sets with --data.")
    methods = list(STUDIES) if options.only is None else options.only.split(",")
    out = out_folder(options, "presets")
    for method in methods:
        study = STUDIES[method]
        cells = [
            (method, setting, task, str(run))
            for setting in study.settings
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
        head, lines = build_table(method, found)
        write_csv(out / f"{method}.csv", head, lines)
        write_csv(out / f"{method}_effects.csv", EFFECTS, list_effects(head, lines))
        print(format_table(head, lines))
    return 0


def build_table(method: str, found: list[Row]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The mean score of each setting on each task, without failures; their mean, the effect, the failures."""
    study = STUDIES[method]
    scores: dict[tuple[str, str], list[float]] = {}
    for row in found:
        scores.setdefault((row["setting"], row["task"]), []).append(float(row["score"]))
    failed = any(np.isnan(values).any() for values in scores.values())
    head = ("setting", *(task.replace(":", " ") for task in study.tasks), "mean", "effect")
    lines: list[tuple[str, ...]] = []
    first = None
    for setting in study.settings:
        per_task = [np.array(scores[setting, task]) for task in study.tasks]
        means = [float(np.nanmean(values)) if not np.isnan(values).all() else np.nan for values in per_task]
        mean = float(np.nanmean(means))
        first = mean if first is None else first
        line = (setting, *(f"{value:.2f}" for value in means), f"{mean:.3f}", f"{mean - first:+.3f}")
        share = np.isnan(np.concatenate(per_task)).mean()
        lines.append((*line, f"{share:.0%}") if failed else line)
    return (*head, "failed") if failed else head, lines


EFFECTS = ("setting", "as printed", "mean", "effect")


def list_effects(head: tuple[str, ...], lines: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The table of the documentation: each setting, what it means, its mean score and effect."""
    at = head.index("mean")
    what = WHAT | PRESET_WHAT
    return [
        (f"``{line[0]}``" if "S_Dbw" not in line[0] else line[0], what[line[0]], *line[at : at + 2])
        for line in lines
    ]


if __name__ == "__main__":
    sys.exit(main())
