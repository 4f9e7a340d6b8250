"""Tables 2 to 4 of Okabe and Yamada (2018): NMI and times of BCKM, CKM, RCKM and rivals; BCKM's rounds.

    python -m bench run bckm --data DIR [--sets N] [--seeds N] [--features raw|standardized]
        [--only "METHOD;METHOD"] [--tasks TASK,TASK] [--unprinted] [--jobs N]

The protocol of the paper: constraints are 1, 5 and 10 % of all pairs of rows, drawn at random. There are ten
such sets with ten starts each. The score is the NMI with the geometric mean of the entropies, on all rows.
The number of clusters is the number of classes. (ecoli has 8; the paper's table says 7, and the line "ecoli,
7 clusters" shows the result for 7.)

Each method runs in up to three versions:

- "METHOD, letter": what the paper prints, and nothing else. A trial has one start (Section 5.2: ten sets of
  initial centres, one hundred trials), so the final k-means has one start, too, and all rounds of BCKM and
  RCKM start from the same centres. BCKM, CKM and RCKM are `paper()`.
- "METHOD": the default of linkwise.
- "METHOD, authors": `authors()`, which follows the authors' public program. It has one start, too.

What the paper says of its rivals (Section 5.1) decides their letter:

- "BSTC" (BoostCluster): 100 rounds, as many directions as features, k-means inside and kernel k-means at the
  end. It is `paper()`: the rows themselves on directions times the roots of their eigenvalues.
- "KBST" (KernelBoost): 100 rounds, as many Gaussians as clusters, all columns, kernel k-means at the end.
  Mixtures take must-links only ("basically", Section 6.2).
- "PCP": the graph has the products of rows as weights (UCI and texts; those below 0 count as 0, since the
  Laplacian needs weights of 0 or more) or a Gaussian with the scales of the 7th neighbour (shapes).
- "SPCL": the same full graph, and as many eigenvectors as features, without the constant one.
- "ITML": the default values of its authors' program (`authors()`), before k-means.

No letter returns a clustering without constraints because it satisfies more of them, as our defaults do.

Rivals run only where the paper prints a figure of theirs, unless --unprinted is given; then the tables have
the name "rivals". ITML leaves out the texts in any case, where its matrix would have thousands of columns.
Rivals take dense rows.

Cells run set by set, the texts last, so an interrupted run has whole sets. The tables have all cells that are
finished, and say how many sets and starts each line rests on. A line without cells of today's code stays as
it was measured. Table 3 is printed in multiples of the time of
BCKM: processor seconds here, and the authors' MATLAB in the paper.

The exit status is 1 if the letter of BCKM reproduces fewer than 25 of its 36 figures: within 0.05, to both
sides.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from time import process_time
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score
from sklearn.pipeline import make_pipeline

import linkwise as lw
from bench.figures import TOLERANCE, Figure
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.papers.bckm_data import CLUSTERS, TEXTS, Features, Set, load, names
from bench.results import add_earlier, write_csv
from bench.suites.cell_store import Cell, Row, read_rows
from bench.suites.code_keys import fingerprint
from bench.suites.constraint_sets import draw_constraints
from linkwise.cluster.graph.spcl import embed_affinities, overwrite_affinities
from linkwise.cluster.kmeans.lloyd import k_means
from linkwise.cluster.similarity.spaces import Kernel, pairwise_squares, scale_locally

PERCENT = ("1", "5", "10")
OURS = ("BCKM", "CKM", "RCKM")
LETTER = ", letter"
VERSIONS = (LETTER, "", ", authors")
METHODS = tuple(name + version for name in OURS for version in VERSIONS)
RIVALS = (
    "BSTC, letter",
    "BSTC",
    "KBST, letter",
    "KBST",
    "PCP, letter",
    "PCP",
    "SPCL, letter",
    "SPCL",
    "ITML, letter",
    "ITML",
)
MANY = 10_000  # directions, or columns: all there are
ROUNDS = 100
REFERENCE = "BCKM, letter"
SEVEN = "ecoli, 7 clusters"
WANTED = 25  # of BCKM's figures
FIELDS = ("task", "features", "method", "percent", "set")
COLUMNS = (
    "task", "features", "method", "percent", "sets", "starts", "nmi", "sd", "paper", "paper_sd", "verdict",
    "rounds", "seconds",
)  # fmt: skip


class PrintedSPCL:
    """SPCL as the paper ran it: a full graph, as many eigenvectors as features, one start of k-means."""

    def __init__(self, n_clusters: int, seed: int, *, skip_constant: bool = True) -> None:
        self.n_clusters = n_clusters
        self.seed = seed
        self.skip_constant = skip_constant

    def fit_predict(self, X: np.ndarray, constraints: lw.Constraints) -> np.ndarray:
        """Cluster the rows."""
        weights = csr_array(scale_locally(pairwise_squares(X)))
        affinity = overwrite_affinities(weights, np.arange(len(X)), constraints)
        self.embedding_ = embed_affinities(affinity, min(X.shape), skip_constant=self.skip_constant)
        return k_means(self.embedding_, self.n_clusters, self.seed, n_init=1).labels


def make_model(method: str, k: int, kernel: Kernel, seed: int) -> Any:
    """A method in one of its versions; what has a preset has one start of its final k-means there."""
    name, _, version = method.partition(", ")
    if name not in OURS:
        return make_rival(method, k, seed)
    model: Any = {"BCKM": lw.BCKM, "CKM": lw.CKM, "RCKM": lw.RCKM}[name]
    if not version:
        return model(k, kernel=kernel, random_state=seed)
    preset = model.paper if version == "letter" else model.authors
    return preset(k, kernel=kernel, n_init=1, random_state=seed)


def make_rival(method: str, k: int, seed: int) -> Any:
    """A rival of the paper's, in our version or as the paper ran it."""
    if method.startswith("ITML"):
        learn = lw.ITML.authors if method.endswith(LETTER) else lw.ITML
        return make_pipeline(learn(random_state=seed), KMeans(k, n_init=1, random_state=seed))
    if method == "SPCL, letter":
        return PrintedSPCL(k, seed)
    name, _, version = method.partition(", ")
    made: Any = {"BSTC": lw.BoostCluster, "KBST": lw.KernelBoost, "PCP": lw.PCP, "SPCL": lw.SPCL}[name]
    printed = {
        "BSTC": {"n_components": MANY, "n_estimators": ROUNDS, "n_init": 1},
        "KBST": {"n_components": MANY, "n_estimators": ROUNDS, "n_init": 1, "with_cannot_links": False},
        "PCP": {"n_init": 1},
    }
    if name == "BSTC" and version:
        made = lw.BoostCluster.paper
    return made(k, random_state=seed, **(printed[name] if version else {}))


def is_printed(method: str, task: str) -> bool:
    """Whether the paper prints figures of a method on a set."""
    return find_target(task, method, PERCENT[0]) is not None


def is_feasible(method: str, task: str) -> bool:
    """Whether it ends within the hour."""
    return not method.startswith("ITML") or task not in TEXTS


def prepare_rows(method: str, rows: Set) -> tuple[Any, bool]:
    """Rows as a method takes them, and whether they are similarities."""
    if method in METHODS:
        return rows.X, False
    X = rows.X.toarray() if issparse(rows.X) else rows.X
    if method == "PCP, letter" and rows.kernel == "linear":
        return np.maximum(X @ X.T, 0), True
    return X, False


def measure(cell: Cell, seeds: int, folder: Path) -> Row:
    """One set of constraints, several starts."""
    task, features, method, percent, number = cell
    name, k = ("ecoli", 7) if task == SEVEN else (task, CLUSTERS[task])
    rows = load(name, cast(Features, features), folder)
    constraints = draw_constraints(rows.y, percent=int(percent), random_state=int(number))
    X, is_kernel = prepare_rows(method, rows)
    scores, rounds = [], []
    start = process_time()
    for seed in range(seeds):
        model = make_model(method, k, cast(Kernel, rows.kernel), seed)
        if is_kernel:
            model.set_params(kernel="precomputed")
        with warnings.catch_warnings(action="ignore"), config_context(enable_metadata_routing=True):
            labels = model.fit_predict(X, constraints=constraints)
            if method in RIVALS and method.endswith(LETTER) and getattr(model, "fell_back_", False):
                labels = undo_fallback(model, k, seed)
        scores.append(normalized_mutual_info_score(rows.y, labels, average_method="geometric"))
        rounds.append(getattr(model, "n_rounds_", 1))
    return {
        "seconds": f"{(process_time() - start) / seeds:.4g}",
        "nmi": " ".join(f"{score:.4f}" for score in scores),
        "rounds": " ".join(map(str, rounds)),
    }


def undo_fallback(model: Any, k: int, seed: int) -> np.ndarray:
    """The result of a rival where linkwise returned another clustering, which satisfies more constraints."""
    if isinstance(model, lw.PCP):
        labels: np.ndarray = KMeans(k, n_init=1, random_state=seed).fit_predict(model.embedding_)
        return labels
    *_, labels = model.staged_labels()
    return labels


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    method = cell[2].partition(",")[0]
    return {"BSTC": "BoostCluster", "KBST": "KernelBoost"}.get(method, method), "Constraints"


def list_cells(
    tasks: Sequence[str], methods: Sequence[str], features: str, sets: int, *, unprinted: bool = False
) -> list[Cell]:
    """All cells, one set of constraints after the other and the texts last."""
    names = sorted(tasks, key=lambda task: task in TEXTS)
    return [
        (task, features, method, percent, str(number))
        for number in range(sets)
        for task in names
        for method in methods
        for percent in PERCENT
        if is_feasible(method, task)
        and (method in METHODS or unprinted or (is_printed(method, task) and task != SEVEN))
    ]


# ---------------------------------------------------------------- all trials
def run_trials(options: argparse.Namespace) -> int:
    folder = find_source(options).folder
    tasks = [name for name in names(folder) if options.tasks is None or name in options.tasks.split(",")]
    if folder is None or not tasks:
        raise SystemExit(f"None of {', '.join(CLUSTERS)} is there. Pass the folder of data sets with --data.")
    if "ecoli" in tasks:
        tasks.insert(tasks.index("ecoli") + 1, SEVEN)
    methods = (*METHODS, *RIVALS) if options.only is None else tuple(options.only.split(";"))
    out = out_folder(options, "bckm")
    name = f"{'rivals' if options.unprinted else 'table2'}_{options.features}"
    cells = list_cells(tasks, methods, options.features, options.sets, unprinted=options.unprinted)
    path = out / f"{'rivals_' if options.unprinted else ''}trials_{options.features}.csv"
    work = partial(measure, seeds=options.seeds, folder=folder)
    run_cells(path, FIELDS, cells, work, uses=entries, jobs=options.jobs, reuse=options.reuse)
    found = group_trials(path, reuse=options.reuse)
    lines = (build_line(group, rows) for group, rows in found.items())
    lines = sort_lines(add_earlier(out / f"{name}.csv", lines, 4))
    write_csv(out / f"{name}.csv", COLUMNS, lines)
    print("\nNMI: printed, and letter / default / authors (+ higher, - lower than printed, † misprint)")
    head, beside = ("task", "method", *(f"{p} %" for p in PERCENT)), build_table2(lines)
    write_csv(out / f"{name}_table.csv", head, beside)
    print(format_table(head, beside))
    ratios = build_table3(found)
    if ratios and not options.unprinted:
        write_csv(out / f"table3_{options.features}.csv", head, ratios)
        print("\nTime of a trial as a multiple of BCKM's, letter (in brackets: Table 3)")
        print(format_table(head, ratios))
    print("\nRounds of BCKM: printed (Table 4), and letter / default / authors")
    head, rounds = ("task", *(f"{p} %" for p in PERCENT)), build_table4(lines)
    print(format_table(head, rounds))
    return print_reproduced(lines)


def sort_lines(lines: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Sort lines by data set, method and percent."""
    order = {name: at for at, name in enumerate((*METHODS, *RIVALS))}
    places = {name: at for at, name in enumerate(CLUSTERS)}
    return sorted(
        lines,
        key=lambda line: (places[line[0].split(",")[0]], line[0] == SEVEN, order[line[2]], int(line[3])),
    )


def group_trials(path: Path, *, reuse: bool) -> dict[Cell, list[Row]]:
    """Finished cells of today's code (or of any, with `reuse`), by all that they share but the set."""
    finished: dict[Cell, Row] = {}
    for row in read_rows(path):
        cell = tuple(row[field] for field in FIELDS)
        if reuse or row["code"] == fingerprint(*entries(cell)):
            finished[cell] = row
    order = {name: at for at, name in enumerate((*METHODS, *RIVALS))}
    places = {name: at for at, name in enumerate(CLUSTERS)}
    groups: dict[Cell, list[Row]] = {}
    for cell in sorted(
        finished,
        key=lambda cell: (
            places[cell[0].split(",")[0]], cell[0] == SEVEN, order[cell[2]], int(cell[3]), int(cell[4]),
        ),
    ):  # fmt: skip
        groups.setdefault(cell[:-1], []).append(finished[cell])
    return groups


def build_line(group: Cell, rows: list[Row]) -> tuple[str, ...]:
    """Mean and deviation over all trials, beside the paper's."""
    task, _, method, percent = group
    scores = np.array([float(x) for row in rows for x in row["nmi"].split()])
    rounds = np.mean([int(x) for row in rows for x in row["rounds"].split()])
    seconds = np.mean([float(row["seconds"]) for row in rows])
    paper = find_target(task, method, percent)
    verdict, printed = "", ("", "")
    if paper is not None:
        figure = Figure("Table 2", task, method, percent, float(paper["nmi"]), float(scores.mean()))
        verdict = "misprint" if paper["misprint"] else figure.verdict
        printed = (paper["nmi"], paper["sd"])
    spread = scores.std(ddof=1) if len(scores) > 1 else 0.0
    starts = str(len(rows[0]["nmi"].split()))
    return (
        *group, str(len(rows)), starts, f"{scores.mean():.3f}", f"{spread:.3f}", *printed, verdict,
        f"{rounds:.2f}", f"{seconds:.4g}",
    )  # fmt: skip


def find_target(task: str, method: str, percent: str) -> Row | None:
    return _targets().get((task.split(",")[0], method.split(",")[0], percent))


@cache
def _targets() -> dict[tuple[str, str, str], Row]:
    return {(r["task"], r["method"], r["percent"]): r for r in read_target("bckm_table2.csv")}


def build_table2(lines: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """One line for each set and method: the paper's figure, and ours in all versions."""
    marks = {"higher": " +", "lower": " -", "misprint": " †"}
    found = {
        (row["task"], row["method"], row["percent"]): row
        for row in (dict(zip(COLUMNS, line, strict=True)) for line in lines)
    }
    table = []
    for task, name in dict.fromkeys((task, method.split(",")[0]) for task, method, _ in found):
        texts = []
        for percent in PERCENT:
            ours = [found[key] for version in VERSIONS if (key := (task, name + version, percent)) in found]
            shown = " / ".join(f"{float(row['nmi']):.2f}" for row in ours)
            printed = find_target(task, name, percent)
            text = f"{printed['nmi']}: {shown}" if printed else shown
            texts.append(text + (marks.get(ours[0]["verdict"], "") if ours else ""))
        table.append((task, name, *texts))
    return table


def build_table3(found: dict[Cell, list[Row]]) -> list[tuple[str, ...]]:
    """Times of other methods, in times of BCKM's letter on the same constraints, beside the paper's."""
    paper = {
        (row["task"], row["method"], row["percent"]): float(row["seconds"])
        for row in read_target("bckm_table3_methods.csv")
    }
    ours = {
        (task, method, percent): float(np.mean([float(row["seconds"]) for row in rows]))
        for (task, _, method, percent), rows in found.items()
    }
    texts: dict[tuple[str, str], list[str]] = {}
    for (task, method, percent), seconds in ours.items():
        if method == REFERENCE or (task, REFERENCE, percent) not in ours:
            continue
        name, known = task.split(",")[0], method.split(",")[0]
        printed = paper.get((name, known, percent), np.nan) / paper.get((name, "BCKM", percent), np.nan)
        ratio = seconds / ours[task, REFERENCE, percent]
        theirs = "" if np.isnan(printed) else f" [{printed:.2g}]"
        texts.setdefault((task, method), []).append(f"{ratio:.2g}{theirs}")
    return [(*key, *row) for key, row in texts.items()]


def build_table4(lines: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """One line for each set: the rounds of BCKM, printed and in all versions."""
    paper = {(row["task"], row["percent"]): row["rounds"] for row in read_target("bckm_table4.csv")}
    found = {(row[0], row[2], row[3]): row[COLUMNS.index("rounds")] for row in lines}
    tasks = dict.fromkeys(task for task, method, _ in found if method.startswith("BCKM"))
    return [
        (
            task,
            *(
                f"{paper[task.split(',')[0], p]}: "
                + " / ".join(
                    found[key] for version in VERSIONS if (key := (task, f"BCKM{version}", p)) in found
                )
                for p in PERCENT
            ),
        )
        for task in tasks
    ]


def print_reproduced(lines: Sequence[tuple[str, ...]]) -> int:
    """Count the figures that each method reproduces; 1 if the letter of BCKM reproduces too few."""
    code, at = 0, COLUMNS.index("verdict")
    for method in (*METHODS, *RIVALS):
        verdicts = [line[at] for line in lines if line[2] == method and line[0] != SEVEN]
        judged = [verdict for verdict in verdicts if verdict in ("reproduced", "higher", "lower")]
        reproduced = judged.count("reproduced")
        if judged:
            print(
                f"{method}: {reproduced} of {len(judged)} figures are within {TOLERANCE} of those printed, "
                f"{judged.count('higher')} are higher and {judged.count('lower')} lower"
            )
        if method == REFERENCE and reproduced < WANTED * len(judged) / 36:
            code = 1
    return code


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run bckm", description="Tables 2 to 4")
    add_common_options(parser)
    parser.add_argument("--sets", type=int, default=10, metavar="N", help="sets of constraints")
    parser.add_argument("--seeds", type=int, default=10, metavar="N", help="starts with each set")
    parser.add_argument("--features", choices=["raw", "standardized"], default="raw", help="UCI tables")
    parser.add_argument("--only", metavar="A;B", help=f"methods, of {'; '.join((*METHODS, *RIVALS))}")
    parser.add_argument("--tasks", metavar="A,B", help=f"sets, of {', '.join(CLUSTERS)}")
    parser.add_argument("--unprinted", action="store_true", help="run rivals where nothing is printed, too")
    return run_trials(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
