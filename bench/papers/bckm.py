"""Tables 2 to 4 of Okabe and Yamada (2018): NMI and times of BCKM, CKM, RCKM and rivals; BCKM's rounds.

    python -m bench run bckm --data DIR [--sets N] [--seeds N] [--features raw|standardized]
        [--only "METHOD;METHOD"] [--tasks TASK,TASK] [--jobs N]

The protocol of the paper: constraints are 1, 5 and 10 % of all pairs of rows, drawn at random. There are ten
such sets with ten starts each. The score is the NMI with the geometric mean of the entropies, on all rows.
The number of clusters is the number of classes. (ecoli has 8; the paper's table says 7, and the line "ecoli,
7 clusters" shows the result for 7.) Each trial has one start, as in the paper. CKM runs in two versions: with
constraints in random order, as described, and row by row, as in the authors' program, which gives their
figures. A figure is reached if it is at most 0.05 lower than printed; figures that are more than 0.05 higher
are counted apart. The exit status is 1 if fewer than 30 of BCKM's 36 figures are reached.

Rivals run only if --only names them:

- "BSTC": BoostCluster. "BSTC, printed" has lengths in their own units and as many directions as features,
  as in the paper.
- "KBST": KernelBoost.
- "PCP": with linkwise's Gaussian graph of local scales. "PCP, linear" has the paper's products of rows, with
  those below 0 as 0.
- "SPCL": with linkwise's graph of nearest rows.
- "ITML": before k-means. It leaves out the texts, where its matrix would have thousands of columns.

They take dense rows. If BCKM runs too, Table 3 is printed in multiples of its time: processor seconds here,
and the authors' MATLAB in the paper.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score
from sklearn.pipeline import make_pipeline

import linkwise as lw
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.papers.bckm_data import CLUSTERS, TEXTS, load, names
from bench.results import write_csv
from linkwise.experiments.cell_store import Cell, Row

PERCENT = ("1", "5", "10")
METHODS = ("BCKM", "CKM", "CKM, authors", "RCKM")
RIVALS = ("BSTC", "BSTC, printed", "KBST", "PCP", "PCP, linear", "SPCL", "ITML")
MANY = 10_000  # directions: all there are
SEVEN = "ecoli, 7 clusters"
TOLERANCE = 0.05
WANTED = 30  # of BCKM's figures
FIELDS = ("task", "features", "method", "percent", "set")
COLUMNS = ("task", "features", "method", "percent", "nmi", "sd", "paper", "paper_sd", "reached", "rounds")


def make_model(method: str, k: int, kernel: str, seed: int) -> Any:
    """A method with one start a trial; the final k-means, which the paper leaves open, has ten."""
    if method == "CKM":
        return lw.CKM(k, kernel=kernel, n_init=1, random_state=seed)
    if method == "CKM, authors":
        return lw.CKM.authors(k, kernel=kernel, random_state=seed)
    if method in RIVALS:
        return make_rival(method, k, seed)
    return (lw.BCKM if method == "BCKM" else lw.RCKM)(k, kernel=kernel, random_state=seed)


def make_rival(method: str, k: int, seed: int) -> Any:
    """A rival of the paper's, in our version or as the paper ran it."""
    if method == "BSTC, printed":
        return lw.BoostCluster(k, n_components=MANY, whiten=False, random_state=seed)
    if method == "PCP, linear":
        return lw.PCP(k, kernel="precomputed", random_state=seed)
    if method == "ITML":
        return make_pipeline(lw.ITML(random_state=seed), KMeans(k, n_init=1, random_state=seed))
    made = {"BSTC": lw.BoostCluster, "KBST": lw.KernelBoost, "PCP": lw.PCP, "SPCL": lw.SPCL}
    return made[method](k, random_state=seed)


def is_feasible(method: str, task: str) -> bool:
    """Whether it ends within the hour."""
    return method != "ITML" or task not in TEXTS


def transform_rows(method: str, X: Any) -> Any:
    """Rows as a method takes them."""
    if method not in RIVALS:
        return X
    rows = X.toarray() if issparse(X) else X
    return np.maximum(rows @ rows.T, 0) if method == "PCP, linear" else rows


def measure(cell: Cell, seeds: int, folder: Path) -> Row:
    """One set of constraints, several starts."""
    task, features, method, percent, number = cell
    name, k = ("ecoli", 7) if task == SEVEN else (task, CLUSTERS[task])
    rows = load(name, features, folder)
    n = len(rows.y)
    constraints = lw.Constraints.sample(rows.y, int(percent) * n * (n - 1) // 200, int(number))
    X = transform_rows(method, rows.X)
    scores, rounds = [], []
    start = process_time()
    for seed in range(seeds):
        model = make_model(method, k, rows.kernel, seed)
        with warnings.catch_warnings(action="ignore"), config_context(enable_metadata_routing=True):
            labels = model.fit_predict(X, constraints=constraints)
        scores.append(normalized_mutual_info_score(rows.y, labels, average_method="geometric"))
        rounds.append(getattr(model, "n_rounds_", 1))
    return {
        "seconds": f"{(process_time() - start) / seeds:.4g}",
        "nmi": " ".join(f"{score:.4f}" for score in scores),
        "rounds": " ".join(map(str, rounds)),
    }


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    method = cell[2].partition(",")[0]
    return {"BSTC": "BoostCluster", "KBST": "KernelBoost"}.get(method, method), "Constraints"


# ---------------------------------------------------------------- all trials
def run_trials(options: argparse.Namespace) -> int:
    folder = find_source(options).folder
    tasks = [name for name in names(folder) if options.tasks is None or name in options.tasks.split(",")]
    if folder is None or not tasks:
        raise SystemExit(f"None of {', '.join(CLUSTERS)} is there. Give the folder of data sets with --data.")
    if "ecoli" in tasks:
        tasks.insert(tasks.index("ecoli") + 1, SEVEN)
    methods = METHODS if options.only is None else tuple(options.only.split(";"))
    out = out_folder(options, "bckm")
    table_name = f"{'rivals' if set(methods) & set(RIVALS) else 'table2'}_{options.features}"
    groups = [
        (t, options.features, m, p) for t in tasks for m in methods if is_feasible(m, t) for p in PERCENT
    ]
    cells = [(*group, str(number)) for group in groups for number in range(options.sets)]
    work = partial(measure, seeds=options.seeds, folder=folder)
    found: dict[Cell, list[Row]] = {group: [] for group in groups}
    for row in run_cells(
        out / f"trials_{options.features}.csv",
        FIELDS,
        cells,
        work,
        uses=entries,
        jobs=options.jobs,
        reuse=options.reuse,
    ):
        found[tuple(row[field] for field in FIELDS[:-1])].append(row)
    lines = [build_line(group, rows) for group, rows in found.items()]
    write_csv(out / f"{table_name}.csv", COLUMNS, lines)
    print(f"\nNMI, {options.sets} x {options.seeds} trials, {options.features} features (in brackets: paper)")
    head, beside = ("task", "method", *(f"{p} %" for p in PERCENT)), build_table2(lines)
    write_csv(out / f"{table_name}_table.csv", head, beside)
    print(format_table(head, beside))
    ratios = build_table3(found)
    if ratios:
        write_csv(out / f"table3_{options.features}.csv", head, ratios)
        print("\nTime of a trial as a multiple of BCKM's (in brackets: Table 3)")
        print(format_table(head, ratios))
    print("\nRounds of BCKM (in brackets: Table 4)")
    print(format_table(("task", *(f"{p} %" for p in PERCENT)), build_table4(lines)))
    return print_reached(lines)


def build_line(group: Cell, rows: list[Row]) -> tuple[str, ...]:
    """Mean and deviation over all trials, beside the paper's."""
    task, _, method, percent = group
    scores = np.array([float(x) for row in rows for x in row["nmi"].split()])
    rounds = np.mean([int(x) for row in rows for x in row["rounds"].split()])
    paper = find_target(task, method, percent)
    held = ""
    if paper is not None:
        held = "misprint" if paper["misprint"] else "yes"
        if not paper["misprint"] and round(scores.mean(), 2) < round(float(paper["nmi"]) - TOLERANCE, 2):
            held = "no"
    printed = ("", "") if paper is None else (paper["nmi"], paper["sd"])
    spread = scores.std(ddof=1) if len(scores) > 1 else 0.0
    return (*group, f"{scores.mean():.3f}", f"{spread:.3f}", *printed, held, f"{rounds:.1f}")


def find_target(task: str, method: str, percent: str) -> Row | None:
    wanted = [task.split(",")[0], method.split(",")[0], percent]
    found = [r for r in read_target("bckm_table2.csv") if [r["task"], r["method"], r["percent"]] == wanted]
    return found[0] if found else None


def build_table2(lines: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """One line for each set and method; a star marks a miss, a dagger what is misprinted in the paper."""
    mark = {"no": " *", "misprint": " †"}
    texts: dict[tuple[str, str], list[str]] = {}
    for task, _, method, _, nmi, _, paper, _, held, _ in lines:
        texts.setdefault((task, method), []).append(f"{nmi} ({paper}){mark.get(held, '')}")
    return [(*key, *row) for key, row in texts.items()]


def build_table3(found: dict[Cell, list[Row]]) -> list[tuple[str, ...]]:
    """Times of other methods, in times of BCKM on the same constraints, beside the paper's."""
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
        if method == "BCKM" or (task, "BCKM", percent) not in ours:
            continue
        name, known = task.split(",")[0], method.split(",")[0]
        printed = paper.get((name, known, percent), np.nan) / paper.get((name, "BCKM", percent), np.nan)
        ratio = seconds / ours[task, "BCKM", percent]
        theirs = "" if np.isnan(printed) else f" [{printed:.2g}]"
        texts.setdefault((task, method), []).append(f"{ratio:.2g}{theirs}")
    return [(*key, *row) for key, row in texts.items()]


def build_table4(lines: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    paper = {(row["task"], row["percent"]): row["rounds"] for row in read_target("bckm_table4.csv")}
    texts: dict[str, list[str]] = {}
    for task, _, method, percent, *_, rounds in lines:
        if method == "BCKM":
            texts.setdefault(task, []).append(f"{rounds} ({paper.get((task.split(',')[0], percent), '')})")
    return [(task, *row) for task, row in texts.items()]


def print_reached(lines: list[tuple[str, ...]]) -> int:
    """Count the figures that are reached, and those that are higher; 1 if BCKM reaches too few."""
    code = 0
    for method in (*METHODS, *RIVALS):
        held = [line for line in lines if line[2] == method and line[8] in ("yes", "no") and line[0] != SEVEN]
        reached = sum(line[8] == "yes" for line in held)
        if held:
            higher = sum(round(float(line[4]), 2) > round(float(line[6]) + TOLERANCE, 2) for line in held)
            print(
                f"{method}: {reached} of {len(held)} figures are at most {TOLERANCE} lower than printed; "
                f"{higher} are more than {TOLERANCE} higher than printed"
            )
        if method == "BCKM" and reached < WANTED * len(held) / 36:
            code = 1
    return code


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run bckm", description="Tables 2 and 4")
    add_common_options(parser)
    parser.add_argument("--sets", type=int, default=10, metavar="N", help="sets of constraints")
    parser.add_argument("--seeds", type=int, default=10, metavar="N", help="starts with each set")
    parser.add_argument("--features", choices=["raw", "standardized"], default="raw", help="UCI tables")
    parser.add_argument("--only", metavar="A;B", help=f"methods, of {'; '.join((*METHODS, *RIVALS))}")
    parser.add_argument("--tasks", metavar="A,B", help=f"sets, of {', '.join(CLUSTERS)}")
    return run_trials(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
