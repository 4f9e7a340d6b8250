"""How the studies of presets score a method: data, constraints and the measure of each paper."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, rand_score
from sklearn.preprocessing import minmax_scale

import linkwise as lw
from bench.papers.halkidi_runs import draw_of_rows
from bench.suites.constraint_sets import draw_constraints
from bench.suites.folds import draw_rows
from bench.suites.tasks import encode_classes, read_classes_csv


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
    model = make(len(np.unique(y)), random_state=run)
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
