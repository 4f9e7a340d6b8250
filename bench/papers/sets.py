"""Measure screens of rows that are sorted into piles, beside questions about pairs.

    python -m bench run sets --data DIR
    python -m bench run sets --data DIR --sizes pairs 9 12 --learners KIN --runs 1

A screen has at most 4, 6, 9, 12 or 16 rows, and `TruthSorter` sorts it; of pairs, `TruthOracle` answers each.
Of cards, or of answers about pairs, a share is wrong, and then the learner estimates how many are. The ARI
covers all rows, of which sets have at most 1000, drawn once. `equal n` is the number of answers about pairs
after which the mean ARI is that after n screens, by straight lines between the measured numbers.

``curves.png`` shows the ARI of KIN by number of answers, and by modelled minutes: a row takes 2 seconds to
read, a card 1.5 to move, and a key 1; a question about a pair has 1.7 rows that were not just read. All rows
of a screen count as new cards. No person was timed.

    python -m bench run sets --texts --data DIR --sets bank77

``--texts`` measures 1000 texts of each set of many classes, compared by meaning, up to 200 screens of 12; the
files are those of `bench.papers.text_units`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl
from sklearn.metrics import adjusted_rand_score

from bench import data
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.noise_runs import FAMILIES
from bench.papers.text_units import find_file, read_texts
from bench.plots import Panel, plot_panels
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from linkwise import KIN, TruthOracle, TruthSorter
from linkwise.data import encode, from_frame

PAIRS = "pairs"
SIZES = (PAIRS, "4", "6", "9", "12", "16")
TASKS = (
    "iris", "wine", "dermatology", "ecoli", "segmentation", "digits", "faces_identity", "faces_pose",
    "news_similar3", "coil20", "yale", "alphadigits", "letter",
)  # fmt: skip
MISPLACED = ("0", "0.05", "0.1")
AT = (5, 10, 20)  # screens
AT_PAIRS = (5, 10, 20, 30, 40, 60, 80, 100, 130, 160, 200)
LEARNERS = ("KIN", "COBRAS")
FIELDS = ("task", "learner", "size", "misplaced", "run")
MOST_ROWS = 1000
COUNTS = ("answers", "suspects", "seconds")
TEXTS = ("bank77", "clinc_intent", "clinc_domain")
AT_TEXTS = (10, 25, 50, 100, 200)  # screens, or answers about pairs
TEXT_SIZES = (PAIRS, "12")
READ, MOVE, KEY, NEW_ROWS = 2.0, 1.5, 1.0, 1.7  # seconds for a row, a card, and a key; rows of a pair


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    checks = "linkwise.learn.run", "linkwise.constraints.fallible", "linkwise.learn.gathering"
    return cell[1], *checks, "TruthOracle" if cell[2] == PAIRS else "TruthSorter"


def draw_rows(n_rows: int, most: int = MOST_ROWS) -> np.ndarray:
    """Draw the rows of a set that are measured, the same ones in every run."""
    chosen = np.random.default_rng(0).permutation(n_rows)[:most]
    return np.sort(chosen)


def measure(cell: Cell, where: data.Source, at: Sequence[int], at_pairs: Sequence[int]) -> Row:
    """ARI after some numbers of answers, the suspects, and the processor time of an answer."""
    name, family, size, misplaced, run = cell
    task, share = data.load(name, where), float(misplaced)
    rows = draw_rows(len(task.y))
    X, y = task.X[rows], np.unique(task.y[rows], return_inverse=True)[1]
    model = FAMILIES[family](int(y.max()) + 1, int(run))
    rate = None if share else 0
    start = process_time()
    if size == PAIRS:
        oracle = TruthOracle(y, noise=share, random_state=int(run))
        model.fit(X, oracle=oracle, budget=max(at_pairs), error_rate=rate)
    else:
        sorter = TruthSorter(y, misplaced=share, random_state=int(run))
        model.fit(X, oracle=sorter, budget_screens=max(at), screen_size=int(size), error_rate=rate)
    seconds, history = process_time() - start, model.history_
    numbers = at_pairs if size == PAIRS else at
    ari = {n: adjusted_rand_score(y, history[min(n, len(history)) - 1]) for n in numbers}
    return {
        **{str(n): f"{ari[n]:.4f}" if n in ari else "" for n in sorted({*at, *at_pairs})},
        "answers": str(len(history)),
        "suspects": str(len(model.suspects_)),
        "seconds": f"{seconds / max(1, len(history)):.4f}",
    }


def measure_texts(cell: Cell, folder: Path) -> Row:
    """ARI after some numbers of answers on texts that are compared by meaning."""
    name, size, run = cell
    file = find_file(folder, name)
    assert file is not None
    texts, classes = read_texts(file, int(run), MOST_ROWS)
    X = encode(from_frame(pl.DataFrame({"text": texts}), text="text", text_by="meaning")).X
    y, most = np.unique(classes, return_inverse=True)[1], max(AT_TEXTS)
    model = KIN(random_state=int(run))
    if size == PAIRS:
        model.fit(X, oracle=TruthOracle(y), budget=most)
    else:
        model.fit(X, oracle=TruthSorter(y), budget_screens=most, screen_size=int(size))
    history = model.history_
    ari = {n: adjusted_rand_score(y, history[min(n, len(history)) - 1]) for n in AT_TEXTS}
    return {
        "rows": str(len(y)),
        "classes": str(int(y.max()) + 1),
        **{str(n): f"{value:.4f}" for n, value in ari.items()},
        "answers": str(len(history)),
        "clusters": str(model.n_clusters_),
    }


def model_seconds(size: str) -> float:
    """The seconds that an answer takes a person by the model."""
    if size == PAIRS:
        return NEW_ROWS * READ + KEY
    return int(size) * (READ + MOVE) + KEY


def draw_curves(path: Path, rows: Sequence[Row], at: Sequence[int], at_pairs: Sequence[int]) -> None:
    """Mean ARI of KIN without errors by number of answers, and by modelled minutes."""
    right = [row for row in rows if (row["learner"], row["misplaced"]) == ("KIN", "0")]
    sizes = [size for size in SIZES if any(row["size"] == size for row in right)]
    last = max(at_pairs) * model_seconds(PAIRS) / 60
    minutes = np.linspace(0.5, last, 60)
    by_number, by_minutes = dict[str, np.ndarray](), dict[str, np.ndarray]()
    for size in sizes:
        some = [row for row in right if row["size"] == size]
        numbers = at_pairs if size == PAIRS else at
        ari = np.array([np.mean([float(row[str(n)]) for row in some]) for n in numbers])
        name = "pairs" if size == PAIRS else f"screens of {size}"
        taken = np.array(numbers) * model_seconds(size) / 60
        by_number[name] = np.interp(at, numbers, ari)
        by_minutes[name] = np.interp(minutes, taken, ari, left=np.nan, right=np.nan)
    panels = [
        Panel("by number of answers", "mean ARI", by_number, at=at, xlabel="answers"),
        Panel("by modelled time", "mean ARI", by_minutes, at=minutes.tolist(), xlabel="minutes"),
    ]
    plot_panels(path, panels)


def find_equal(ari: float, numbers: Sequence[int], curve: Sequence[float]) -> str:
    """The number of answers after which a curve reaches an ARI; beyond its ends only a bound."""
    rising = np.maximum.accumulate(curve)
    if ari <= rising[0]:
        return f"< {numbers[0]}"
    if ari > rising[-1]:
        return f"> {numbers[-1]}"
    return f"{np.interp(ari, rising, numbers):.0f}"


def build_table(
    rows: Sequence[Row], at: Sequence[int], at_pairs: Sequence[int]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A line for each learner, share of misplaced cards and size: means over sets and runs."""

    def mean(chosen: Sequence[Row], column: str) -> float:
        return float(np.mean([float(row[column]) for row in chosen]))

    lines = []
    for learner, misplaced in dict.fromkeys((row["learner"], row["misplaced"]) for row in rows):
        alike = [row for row in rows if (row["learner"], row["misplaced"]) == (learner, misplaced)]
        pairs = [row for row in alike if row["size"] == PAIRS]
        curve = [mean(pairs, str(n)) for n in at_pairs] if pairs else []
        for size in dict.fromkeys(row["size"] for row in alike):
            chosen = [row for row in alike if row["size"] == size]
            found = [mean(chosen, str(n)) for n in at]
            can_compare = size != PAIRS and len(chosen) == len(pairs)
            equal = [find_equal(ari, at_pairs, curve) if can_compare else "" for ari in found]
            counts = [f"{mean(chosen, 'answers'):.0f}", f"{mean(chosen, 'suspects'):.1f}"]
            means = [f"{ari:.3f}" for ari in found]
            seconds = f"{mean(chosen, 'seconds'):.3f}"
            lines.append((learner, misplaced, size, str(len(chosen)), *means, *equal, *counts, seconds))
    head = ("learner", "misplaced", "size", "runs", *map(str, at), *(f"equal {n}" for n in at), *COUNTS)
    return head, lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cells that are not current, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", help="data sets")
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=LEARNERS)
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), choices=SIZES, help="rows of a screen")
    parser.add_argument("--misplaced", nargs="+", default=list(MISPLACED), help="shares of wrong cards")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--texts", action="store_true", help="measure texts that are compared by meaning")
    parser.add_argument("--sets", nargs="+", default=list(TEXTS), choices=TEXTS, help="those of --texts")
    add_common_options(parser)
    options = parser.parse_args(arguments)
    where, folder = find_source(options), out_folder(options, "sets")
    if options.texts:
        return run_texts(options, where, folder)
    there = data.names(where)
    tasks = options.tasks or [task for task in TASKS if task in there]
    cells = [
        (task, learner, size, misplaced, str(run))
        for run in range(options.runs)
        for task in tasks
        for learner in options.learners
        for misplaced in options.misplaced
        for size in options.sizes
    ]
    work = partial(measure, where=where, at=AT, at_pairs=AT_PAIRS)
    rows = run_cells(
        folder / "runs.csv", FIELDS, cells, work, uses=entries, jobs=options.jobs, reuse=options.reuse
    )
    head, lines = build_table(rows, AT, AT_PAIRS)
    write_csv(folder / "table.csv", head, lines)
    if {"KIN", PAIRS} <= {*options.learners, *options.sizes} and find_spec("matplotlib"):
        draw_curves(folder / "curves.png", rows, AT, AT_PAIRS)
    print(format_table(head, lines))
    return 0


def run_texts(options: argparse.Namespace, where: data.Source, folder: Path) -> int:
    """Measure texts, and write their table."""
    if where.folder is None:
        raise SystemExit("The texts are files. Pass their folder with --data.")
    there = [name for name in options.sets if find_file(where.folder, name) is not None]
    cells = [(name, size, str(run)) for run in range(options.runs) for name in there for size in TEXT_SIZES]
    rows = run_cells(
        folder / "texts_runs.csv",
        ("set", "size", "run"),
        cells,
        partial(measure_texts, folder=where.folder),
        uses=("KIN", "linkwise.learn.run", "linkwise.learn.gathering", "linkwise.data"),
        jobs=options.jobs,
        reuse=options.reuse,
    )
    columns = (*map(str, AT_TEXTS), "clusters")
    lines = []
    for name in there:
        for size in TEXT_SIZES:
            some = [row for row in rows if (row["set"], row["size"]) == (name, size)]
            means = (float(np.mean([float(row[column]) for row in some])) for column in columns)
            shown = (f"{mean:.0f}" if mean > 1 else f"{mean:.3f}" for mean in means)
            lines.append((name, some[0]["rows"], some[0]["classes"], size, str(len(some)), *shown))
    head = ("set", "rows", "classes", "size", "runs", *columns)
    write_csv(folder / "texts.csv", head, lines)
    print(format_table(head, lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
