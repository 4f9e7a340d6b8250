"""Figures 2 to 4 of Okabe and Yamada (2018): what happens in the rounds of BCKM.

    python -m bench run bckm_figures --data DIR [--sets N] [--tasks TASK,TASK] [--versions VERSION,VERSION]
        [--jobs N]

- Figure 2: NMI of the clustering by the votes so far, by round, on ecoli, glass and tr11. A run that ends
  early keeps its last value.
- Figure 3: the share of constraints that a round satisfies, by their place in its order of priority, on all
  data sets. Rounds that satisfy everything are left out. Places are counted together up to powers of two:
  1, 2, 3 to 4, 5 to 8 and so on.
- Figure 4: the clusterings of ecoli with 10 % of all pairs, in the first two principal components of the
  rows; below them the rows in the first two principal components of the kernel after some of the rounds.

Constraints are 1, 5 and 10 % of all pairs of rows, as in `bench.papers.bckm`; the numbers are means over sets
of constraints, with one start each. BCKM runs as printed ("letter", which the pictures show), by default and
as the authors' program. ``single.csv`` has the runs with one round: their NMI, and that of this round, which
is a run of CKM. Sets and versions that do not run keep their lines.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score

import linkwise as lw
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.bckm_data import CLUSTERS, load, names
from bench.plots import COLOURS, save_small
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row, read_rows
from bench.suites.constraint_sets import draw_constraints
from linkwise.cluster.similarity.co_membership import CoMembership
from linkwise.cluster.similarity.weak_learner import list_pairs, order_by_priority
from linkwise.rng import rng_at

PERCENT = ("1", "5", "10")
CURVES = ("ecoli", "glass", "tr11")  # the paper's choice for Figure 2
PICTURED = "ecoli"  # in Figure 4
ROUNDS = 100
VERSIONS = ("letter", "default", "authors")
FIELDS = ("task", "version", "percent", "set")
COLUMNS = 4
ENDS = ("end", "first")
SINGLE = ("task", "version", "percent", "runs", "one_round", "nmi", "first")

Line = tuple[str, ...]


def measure(cell: Cell, folder: Path) -> Row:
    """One run of BCKM: its NMI by round, and what share of each twentieth of the constraints is satisfied."""
    task, version, percent, number = cell
    rows = load(task, "raw", folder)
    constraints = draw_constraints(rows.y, percent=int(percent), random_state=int(number))
    model = make_bckm(version, CLUSTERS[task], rows.kernel, int(number))
    with warnings.catch_warnings(action="ignore"):
        model.fit(rows.X, constraints=constraints)
    scores = []
    if task in CURVES:
        scores = [score(rows.y, labels) for labels in model.staged_labels()]
    shares = satisfied_shares(model, constraints, int(number))
    return {
        "rounds": str(model.n_rounds_),
        "first": f"{score(rows.y, model.hypotheses_[:, 0]):.4f}",
        "end": f"{score(rows.y, model.labels_):.4f}",
        "nmi": " ".join(f"{value:.4f}" for value in scores),
        "satisfied": " ".join(f"{value:.4f}" for value in shares),
    }


def make_bckm(version: str, k: int, kernel: Any, seed: int) -> lw.BCKM:
    """BCKM as printed or as the authors' program, where a trial has one start, or by default."""
    parameters: dict[str, Any] = {"kernel": kernel, "n_rounds": ROUNDS, "random_state": seed}
    if version == "letter":
        return lw.BCKM.paper(k, n_init=1, **parameters)
    if version == "authors":
        return lw.BCKM.authors(k, n_init=1, **parameters)
    return lw.BCKM(k, **parameters)


def score(y: np.ndarray, labels: np.ndarray) -> float:
    """NMI with the geometric mean of the entropies."""
    return float(normalized_mutual_info_score(y, labels, average_method="geometric"))


def satisfied_shares(model: Any, constraints: lw.Constraints, seed: int) -> list[float]:
    """Shares of satisfied constraints by place in the order of priority, means over the rounds."""
    pairs = list_pairs(constraints)
    bins = np.ceil(np.log2(np.arange(len(pairs.weight)) + 1)).astype(np.int64)
    found = []
    for t, priority in enumerate(model.staged_priorities()):
        labels = model.hypotheses_[:, t]
        together = labels[pairs.ends[:, 0]] == labels[pairs.ends[:, 1]]
        satisfied = together == pairs.must.astype(bool)
        if satisfied.all():
            continue
        order = order_by_priority(pairs, np.log(priority), rng_at(seed, 0, t, 0), model.ties)
        found.append(np.bincount(bins, weights=satisfied[order]) / np.bincount(bins))
    return np.mean(found, axis=0).tolist() if found else []


# ---------------------------------------------------------------- what is drawn
def build_curves(found: list[Row]) -> list[Line]:
    """Lines of Figure 2: task, version, percent, round, mean NMI."""
    lines = []
    for name, rows in group_runs(found).items():
        runs = [[float(x) for x in row["nmi"].split()] for row in rows if row["nmi"]]
        if not runs:
            continue
        for at in range(max(map(len, runs))):
            mean = np.mean([run[min(at, len(run) - 1)] for run in runs])
            lines.append((*name, str(at + 1), f"{mean:.4f}"))
    return lines


def build_shares(found: list[Row]) -> list[Line]:
    """Lines of Figure 3: task, version, percent, last place of a group, mean share of satisfied ones."""
    lines = []
    for name, rows in group_runs(found).items():
        runs = [[float(x) for x in row["satisfied"].split()] for row in rows if row["satisfied"]]
        if runs:
            for at, mean in enumerate(np.mean(runs, axis=0)):
                lines.append((*name, str(2**at), f"{mean:.4f}"))
    return lines


def build_single(found: list[Row]) -> list[Line]:
    """Lines of runs with one round: task, version, percent, runs, of them with one round, NMI, its NMI."""
    lines = []
    for name, rows in group_runs(found).items():
        single = [row for row in rows if row["rounds"] == "1"]
        means = [f"{np.mean([float(row[end]) for row in single]):.4f}" if single else "" for end in ENDS]
        lines.append((*name, str(len(rows)), str(len(single)), *means))
    return lines


def add_kept(path: Path, head: tuple[str, ...], lines: list[Line], ran: set[tuple[str, str]]) -> list[Line]:
    """Write lines behind those of sets and versions that did not run, and return all of them."""
    kept = [tuple(row.values()) for row in read_rows(path) if (row["task"], row["version"]) not in ran]
    places = list(CLUSTERS)
    both = sorted([*kept, *lines], key=lambda line: (places.index(line[0]), VERSIONS.index(line[1])))
    write_csv(path, head, both)
    return both


def group_runs(found: list[Row]) -> dict[tuple[str, str, str], list[Row]]:
    """Runs by data set, version and percent, in order."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in found:
        groups.setdefault((row["task"], row["version"], row["percent"]), []).append(row)
    return groups


def fit_all(folder: Path) -> tuple[dict[str, np.ndarray], Any]:
    """Labels of Figure 4 by method, the classes first; and the BCKM among the methods."""
    rows = load(PICTURED, "raw", folder)
    k, constraints = CLUSTERS[PICTURED], draw_constraints(rows.y, percent=10, random_state=0)
    bckm = make_bckm("letter", k, "linear", 0)
    models = {
        "BCKM": bckm,
        "RCKM": lw.RCKM.paper(k, n_init=1, random_state=0),
        "CKM": lw.CKM.paper(k, random_state=0),
        "PCP": lw.PCP(k, random_state=0),
        "BSTC": lw.BoostCluster(k, random_state=0),
        "KBST": lw.KernelBoost(k, random_state=0),
        "SPCL": lw.SPCL(k, random_state=0),
    }
    with warnings.catch_warnings(action="ignore"):
        labels = {name: model.fit(rows.X, constraints=constraints).labels_ for name, model in models.items()}
    return {"TRUE LABEL": rows.y, **labels}, bckm


def kernel_components(hypotheses: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """First two principal components of the rows in the space of K, shape (n_rows, 2)."""
    K = CoMembership(hypotheses, alphas)

    def centred(v: np.ndarray) -> np.ndarray:
        product = K @ (v - v.mean())
        result: np.ndarray = product - product.mean()
        return result

    operator = LinearOperator(K.shape, matvec=centred, dtype=np.float64)
    value, vector = eigsh(operator, 2, v0=np.linspace(-1, 1, K.shape[0]))
    components: np.ndarray = vector[:, ::-1] * np.sqrt(np.maximum(value[::-1], 0))
    return components


def make_figure(high: int, wide: int, width: float, height: float) -> tuple[Any, np.ndarray]:
    """A figure without a window, and its axes in one list."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * wide, height * high), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(high, wide, squeeze=False).ravel()


def draw_lines(path: Path, lines: list[Line], xlabel: str, ylabel: str, *, is_log: bool = False) -> None:
    """Draw a panel for each task, with a line for each percent, as printed."""
    lines = [line for line in lines if line[1] == "letter"]
    tasks = list(dict.fromkeys(line[0] for line in lines))
    wide = min(COLUMNS, len(tasks))
    figure, grid = make_figure(-(-len(tasks) // wide), wide, 2.6, 2.2)
    for axes, task in zip(grid, tasks, strict=False):
        for colour, percent in zip(COLOURS, PERCENT, strict=False):
            curve = [
                (float(at), float(value)) for name, _, p, at, value in lines if (name, p) == (task, percent)
            ]
            if curve:
                axes.plot(*zip(*curve, strict=True), color=colour, label=f"{percent} %", linewidth=1.4)
        if is_log:
            axes.set_xscale("log")
        axes.set_title(task, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
        axes.tick_params(labelsize=7)
    for axes in grid[len(tasks) :]:
        axes.set_axis_off()
    grid[0].legend(frameon=False, fontsize=8)
    figure.supxlabel(xlabel, fontsize=10)
    figure.supylabel(ylabel, fontsize=10)
    save_small(figure, path, dpi=80)


def draw_clusterings(path: Path, folder: Path) -> list[tuple[str, str, str]]:
    """Draw Figure 4; return the NMI and the number of broken constraints of each method."""
    from matplotlib import colormaps

    rows = load(PICTURED, "raw", folder)
    labels, bckm = fit_all(folder)
    constraints = draw_constraints(rows.y, percent=10, random_state=0)
    stages = sorted({1, min(5, bckm.n_rounds_), max(1, bckm.n_rounds_ - 1), bckm.n_rounds_})
    figure, grid = make_figure(3, COLUMNS, 2.4, 2.1)
    places = PCA(2).fit_transform(rows.X)
    panels = [(name, places, found) for name, found in labels.items()]
    for t in stages:
        after = kernel_components(bckm.hypotheses_[:, :t], bckm.alphas_[:t])
        panels.append((f"kernel after round {t}", after, rows.y))
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    for axes, (name, at, found) in zip(grid, panels, strict=False):
        axes.scatter(
            *at.T, c=match_classes(found, rows.y), s=5, cmap=colormaps["tab10"], vmin=0, vmax=9, linewidths=0
        )
        axes.set_title(name, fontsize=9)
        axes.set(xticks=[], yticks=[])
    save_small(figure, path, dpi=80)
    return [
        (name, f"{score(rows.y, found):.3f}", str(sum(int(v.sum()) for v in find_broken(constraints, found))))
        for name, found in labels.items()
    ]


def match_classes(labels: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Number clusters as the classes that they share most rows with, each class once."""
    shared = np.zeros((int(labels.max()) + 1, int(y.max()) + 1), dtype=np.int64)
    np.add.at(shared, (labels, y), 1)
    wide = np.pad(shared, ((0, 0), (0, max(0, len(shared) - shared.shape[1]))))
    cluster, number = linear_sum_assignment(wide, maximize=True)
    names = np.empty(len(shared), dtype=np.int64)
    names[cluster] = number
    matched: np.ndarray = names[labels]
    return matched


def find_broken(constraints: lw.Constraints, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Masks of the must-links and the cannot-links that labels break."""
    return constraints.find_violations(np.asarray(labels, dtype=np.int32))


def run(options: argparse.Namespace) -> int:
    folder = find_source(options).folder
    tasks = [name for name in names(folder) if options.tasks is None or name in options.tasks.split(",")]
    if folder is None or not tasks:
        raise SystemExit(f"None of {', '.join(CLUSTERS)} is there. Pass the folder of data sets with --data.")
    out = out_folder(options, "bckm_figures")
    versions = options.versions.split(",")
    ran = {(task, version) for task in tasks for version in versions}
    cells = [
        (task, version, percent, str(number))
        for number in range(options.sets)
        for task in tasks
        for version in versions
        for percent in PERCENT
    ]
    work = partial(measure, folder=folder)
    uses = ("BCKM", "Constraints")
    found = run_cells(
        out / "runs.csv", FIELDS, cells, work, uses=uses, jobs=options.jobs, reuse=options.reuse
    )
    head = ("task", "version", "percent", "round", "nmi")
    curves = add_kept(out / "figure2.csv", head, build_curves(found), ran)
    head = ("task", "version", "percent", "place", "satisfied")
    shares = add_kept(out / "figure3.csv", head, build_shares(found), ran)
    add_kept(out / "single.csv", SINGLE, build_single(found), ran)
    if curves:
        draw_lines(out / "figure2.png", curves, "round", "NMI")
    axis = "place in the order of priority"
    draw_lines(out / "figure3.png", shares, axis, "share of satisfied constraints", is_log=True)
    if (PICTURED, "letter") in ran:
        table = draw_clusterings(out / "figure4.png", folder)
        columns = ("method", "nmi", "violations")
        write_csv(out / "figure4.csv", columns, table)
        print(format_table(columns, table))
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run bckm_figures", description="Figures 2 to 4")
    add_common_options(parser)
    parser.add_argument("--sets", type=int, default=3, metavar="N", help="sets of constraints")
    parser.add_argument("--tasks", metavar="A,B", help=f"sets, of {', '.join(CLUSTERS)}")
    parser.add_argument("--versions", default=",".join(VERSIONS), metavar="A,B", help="versions that run")
    return run(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
