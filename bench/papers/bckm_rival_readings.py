"""What Okabe and Yamada (2018) leave open about CKM and rivals of BCKM: readings, beside Table 2.

    python -m bench run bckm_rival_readings --data DIR [--tasks TASK,TASK] [--only METHOD]
        [--changes "CHANGE;CHANGE"] [--sets N] [--first N] [--seeds N] [--jobs N]

Each reading changes one thing of the letter (`bench.papers.bckm`), or two, joined by "+". The paper does not
say from where the kernel k-means at the end starts: here from random rows, or from random labels; the letter
draws rows far apart. BoostCluster may see centred rows on unit directions. The mixtures of KernelBoost may
take cannot-links, too, or have no prior, as in its authors' program. Its boosting may end after three of the
hundred rounds: the times in Table 3 fall with more constraints, as if it ended early. SPCL may keep the
eigenvector that is constant before rows are scaled. CKM has no k-means at the end; it may be that of the
authors' program, which ends when the inertia does not fall, or the same until labels repeat, as the text has
it.

The gap is the mean distance to the printed figures.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn import config_context
from sklearn.metrics import normalized_mutual_info_score
from sklearn.pipeline import Pipeline

import linkwise as lw
from bench.figures import TOLERANCE
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.bckm import (
    PERCENT,
    PrintedSPCL,
    find_target,
    is_printed,
    make_rival,
    prepare_rows,
    undo_fallback,
)
from bench.papers.bckm_data import CLUSTERS, load, names
from bench.papers.bckm_readings import LETTER, kernel_k_means
from bench.results import add_earlier, write_csv
from bench.suites.cell_store import Cell, Row, read_rows
from bench.suites.code_keys import fingerprint
from bench.suites.constraint_sets import draw_constraints
from linkwise.cluster.similarity import kernel_boost

CENTRED = "centred, unit directions"
BOTH, NO_PRIOR, THREE = "must-links and cannot-links", "no prior", "three rounds"
CONSTANT = "constant eigenvector"
PROGRAM, PROGRAM_REPEATS = "authors()", "authors() until labels repeat"
CHANGES: dict[str, tuple[str, ...]] = {
    "CKM": (LETTER, PROGRAM, PROGRAM_REPEATS),
    "BSTC": (LETTER, CENTRED),
    "ITML": (LETTER,),
    "KBST": (LETTER, BOTH, NO_PRIOR, THREE),
    "PCP": (LETTER,),
    "SPCL": (LETTER, CONSTANT),
}
ROWS, LABELS = "random rows", "random labels"
ENDS = (LETTER, ROWS, LABELS)
FAINT = 1e-3  # what is left of a prior, since a covariance may be singular
USES = ("BoostCluster", "KernelBoost", "PCP", "SPCL", "CKM", "ITML", "Constraints")
FIELDS = ("task", "method", "change", "percent", "set")
COLUMNS = ("task", "method", "percent", "reading", "sets", "starts", "printed", "nmi", "sd")
GAPS = ("method", "reading", "figures", "within", "gap")


def make_reading(method: str, change: str, k: int, seed: int) -> Any:
    """A rival of the letter with changed parameters."""
    if method == "SPCL":
        return PrintedSPCL(k, seed, skip_constant=change != CONSTANT)
    model = make_rival(f"{method}, letter", k, seed)
    if change == CENTRED:
        model.set_params(center=True, scale_directions=False)
    elif change == BOTH:
        model.set_params(with_cannot_links=True)
    elif change == THREE:
        model.set_params(n_estimators=3)
    return model


def make_ckm(change: str, k: int, kernel: str, seed: int) -> lw.CKM:
    """CKM in a reading."""
    shared: dict[str, Any] = {"kernel": kernel, "random_state": seed}
    if change == LETTER:
        return lw.CKM.paper(k, **shared)
    return lw.CKM.authors(k, **shared, **({"convergence": "stable"} if change == PROGRAM_REPEATS else {}))


def change_prior(change: str) -> AbstractContextManager[Any]:
    """Let the mixtures of KernelBoost have hardly any prior, if a reading says so."""
    prior = kernel_boost.prior_covariance
    if change != NO_PRIOR:
        return nullcontext()
    return patch.object(kernel_boost, "prior_covariance", lambda *args: FAINT * prior(*args))


def measure(cell: Cell, seeds: int, folder: Path) -> Row:
    """One set of constraints, several starts: NMI for each end."""
    task, method, change, percent, number = cell
    rows, k = load(task, "raw", folder), CLUSTERS[task]
    X, is_kernel = prepare_rows(f"{method}, letter", rows)
    n = len(rows.y)
    constraints = draw_constraints(rows.y, percent=int(percent), random_state=int(number))
    scores: dict[str, list[float]] = {end: [] for end in ((LETTER,) if method == "CKM" else ENDS)}
    for seed in range(seeds):
        if method == "CKM":
            with warnings.catch_warnings(action="ignore"):
                labels = make_ckm(change, k, rows.kernel, seed).fit_predict(rows.X, constraints=constraints)
            scores[LETTER].append(score(rows.y, labels))
            continue
        model = make_reading(method, change, k, seed)
        if is_kernel:
            model.set_params(kernel="precomputed")
        routed = config_context(enable_metadata_routing=True)  # for the pipeline of ITML
        with warnings.catch_warnings(action="ignore"), change_prior(change), routed:
            labels = model.fit_predict(X, constraints=constraints)
        if getattr(model, "fell_back_", False):
            labels = undo_fallback(model, k, seed)
        K, rng = compute_kernel(model, X), np.random.default_rng([int(number), seed])
        first = rng.choice(n, k, replace=False)
        near = (np.diag(K)[first] - 2 * K[:, first]).argmin(axis=1)
        ends = labels, kernel_k_means(K, near), kernel_k_means(K, rng.integers(0, k, n))
        for name, end in zip(scores, ends, strict=True):
            scores[name].append(score(rows.y, end))
    return {"nmi": json.dumps({name: [round(x, 4) for x in values] for name, values in scores.items()})}


def score(y: np.ndarray, labels: np.ndarray) -> float:
    """The paper's NMI."""
    return float(normalized_mutual_info_score(y, labels, average_method="geometric"))


def compute_kernel(model: Any, X: np.ndarray) -> np.ndarray:
    """The matrix K that a rival fitted to rows clusters at the end."""
    if isinstance(model, Pipeline):
        Z = model[:-1].transform(X)
        return np.asarray(Z @ Z.T)
    if isinstance(model, lw.PCP | PrintedSPCL):
        return np.asarray(model.embedding_ @ model.embedding_.T)
    if isinstance(model, lw.BoostCluster):
        votes = zip(model.alphas_, model.hypotheses_.T, strict=True)
        return np.asarray(sum(alpha * (labels[:, None] == labels) for alpha, labels in votes))
    features = kernel_boost.build_features(model._stages.rounds, model._seen.Z)[model._seen.number]
    return features @ features.T


# ---------------------------------------------------------------- tables
def build_lines(found: list[Row]) -> list[tuple[str, ...]]:
    """Mean NMI by data set, method, percent and reading, beside the printed figure."""
    groups: dict[tuple[str, str, str, str], list[list[float]]] = {}
    for row in found:
        for end, scores in json.loads(row["nmi"]).items():
            reading = " + ".join(part for part in (row["change"], end) if part != LETTER) or LETTER
            groups.setdefault((row["task"], row["method"], row["percent"], reading), []).append(scores)
    lines: list[tuple[str, ...]] = []
    for (task, method, percent, reading), sets in groups.items():
        printed = find_target(task, method, percent)
        assert printed is not None
        lines.append((
            task, method, percent, reading, str(len(sets)), str(len(sets[0])), printed["nmi"],
            f"{np.mean(sets):.3f}", f"{np.std(sets):.3f}",
        ))  # fmt: skip
    return lines


def build_gaps(lines: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Figures within the tolerance, and the mean distance to the printed ones, by method and reading."""
    far: dict[tuple[str, str], list[float]] = {}
    for _, method, _, reading, _, _, printed, nmi, _ in lines:
        far.setdefault((method, reading), []).append(abs(round(float(nmi), 2) - float(printed)))
    return [
        (*key, str(len(gaps)), str(sum(gap <= TOLERANCE + 1e-9 for gap in gaps)), f"{np.mean(gaps):.3f}")
        for key, gaps in far.items()
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run bckm_rival_readings", description="Readings")
    add_common_options(parser)
    parser.add_argument("--tasks", metavar="A,B", help=f"sets, of {', '.join(CLUSTERS)}")
    parser.add_argument("--only", choices=tuple(CHANGES), help="the method, all by default")
    parser.add_argument("--changes", metavar="A;B", help="changes of the letter, all by default")
    parser.add_argument("--sets", type=int, default=10, metavar="N", help="sets of constraints")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the first of these sets")
    parser.add_argument("--seeds", type=int, default=2, metavar="N", help="starts with each set")
    options = parser.parse_args(arguments)
    folder = find_source(options).folder
    wanted = options.tasks.split(",") if options.tasks else list(CLUSTERS)
    changed = options.changes.split(";") if options.changes else None
    tasks = [name for name in names(folder) if name in wanted]
    if folder is None or not tasks:
        raise SystemExit(f"None of {', '.join(CLUSTERS)} is there. Pass the folder of data sets with --data.")
    cells = [
        (task, method, change, percent, str(number))
        for number in range(options.first, options.first + options.sets)
        for method, changes in CHANGES.items()
        if options.only in (None, method)
        for task in tasks
        if is_printed(method, task)
        for change in changes
        if changed is None or change in changed
        for percent in PERCENT
    ]
    out = out_folder(options, "bckm")
    path = out / "rival_readings_trials.csv"
    work: Callable[[Cell], Row] = partial(measure, seeds=options.seeds, folder=folder)
    run_cells(path, FIELDS, cells, work, uses=USES, jobs=options.jobs, reuse=options.reuse)
    code = fingerprint(*USES)
    trials = [row for row in read_rows(path) if options.reuse or row["code"] == code]
    lines = add_earlier(out / "rival_readings.csv", build_lines(trials), 4)
    lines.sort(key=lambda line: (line[1], list(CLUSTERS).index(line[0]), int(line[2])))
    write_csv(out / "rival_readings.csv", COLUMNS, lines)
    gaps = build_gaps(lines)
    write_csv(out / "rival_readings_gaps.csv", GAPS, gaps)
    print(format_table(GAPS, gaps))
    return 0


if __name__ == "__main__":
    sys.exit(main())
