"""Halkidi, Gunopulos, Vazirgiannis, Kumar and Domeniconi (2008): the framework and its rivals.

    python -m bench run halkidi --data DIR [--runs N] [--jobs N] [--only FIGURES]

The score is the Rand index on all rows in 10 runs, with 5 % of the rows as must-links and 6 % as
cannot-links. Figures 5 and 6 compare the methods with and without a singular value decomposition before
them. Table I has one-tailed t-tests of the figures with the decomposition, for two samples of equal variance.
The paper does not name the kind of test, so the table also has the paired test. Samples without variance have
no p-value; the table calls them not testable. Figure 8 adds constraints, Figure 9 removes dimensions, and
Figure 10 shows the time by number of rows and of constraints. Results go to bench/results/halkidi.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import ttest_ind, ttest_rel

from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.papers.halkidi_runs import (
    BLOBS,
    COMPETITORS,
    FIELDS,
    FILES,
    METHODS,
    OURS,
    PRINTED,
    Setting,
    entries,
    measure,
    names,
)
from bench.results import write_csv
from linkwise.experiments.summaries import mean_of

RUNS = 10
SIGNIFICANT = 0.05
NOT_TESTABLE = "not testable"
FEATURES = ("raw", "unit")
SPACES = ("svd", "columns")
PERCENTS = (5, 10, 20, 30, 40, 50)
DIMENSIONS = {  # that are tuned; the last are all there are
    "ionosphere": (2, 3, 4, 5, 7, 10, 15, 20, 33),
    "diabetes": (2, 3, 4, 5, 6, 7, 8),
    "soybean": (2, 3, 4, 5, 7, 10, 15, 20),
}
ROWS = (500, 1000, 2000, 4000, 8000, 16000)
MORE = ("ionosphere", "diabetes", "soybean")  # Figure 8
WANTED = ("5", "8", "9", "10")

ACCURACY = ("task", "features", "space", *METHODS)
TESTS = (
    "task", "features", "who", "ours", "competitor", "theirs", "p", "p_paired", "printed", "verdict"
)  # fmt: skip
Found = dict[Setting, list[dict[str, str]]]


# ---------------------------------------------------------------- what is run
def accuracy_settings(tasks: Sequence[str]) -> list[Setting]:
    return [Setting(t, f, s, m) for t in tasks for f in FEATURES for s in SPACES for m in METHODS]


def more_constraints(tasks: Sequence[str]) -> list[Setting]:
    who = (*COMPETITORS[1:], PRINTED, OURS)
    return [Setting(t, "raw", "svd", m, p, p) for t in tasks if t in MORE for m in who for p in PERCENTS]


def fewer_dimensions(tasks: Sequence[str]) -> list[Setting]:
    who = (PRINTED, OURS)
    return [
        Setting(t, "raw", "svd", m, dimensions=d)
        for t in tasks if t in DIMENSIONS for m in who for d in DIMENSIONS[t]
    ]  # fmt: skip


def timing_settings(tasks: Sequence[str]) -> list[Setting]:
    rows = [Setting(f"{BLOBS}{n}", "raw", "columns", m, 10, 10) for m in (PRINTED, OURS) for n in ROWS]
    iris = [Setting("iris", "raw", "svd", m, p, p) for m in (PRINTED, OURS) for p in PERCENTS]
    return rows + (iris if "iris" in tasks else [])


def run(
    settings: Iterable[Setting], path: Path, folder: Path | None, *, runs: int, jobs: int, reuse: bool
) -> Found:
    """Return the rows of every setting, run by run."""
    cells = {s.cell(r): s for s in settings for r in range(runs)}
    found: Found = {}
    work = partial(measure, folder=folder)
    for row in run_cells(path, FIELDS, cells, work, uses=entries, jobs=jobs, reuse=reuse):
        found.setdefault(cells[tuple(row[f] for f in FIELDS)], []).append(row)
    return found


# ---------------------------------------------------------------- what comes of it
def read_values(rows: Sequence[dict[str, str]], field: str = "rand") -> np.ndarray:
    return np.array([float(row[field]) for row in rows])


def accuracy_lines(found: Found) -> list[tuple[str, ...]]:
    """Mean Rand index of each method, with its standard error."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for s, rows in found.items():
        mean = mean_of(read_values(rows))
        lines.setdefault(s[:3], []).append(f"{mean.value:.3f} ± {mean.error:.3f}")
    return [(*key, *texts) for key, texts in lines.items()]


def test_lines(found: Found) -> list[tuple[str, ...]]:
    """Table I: whether ours is better than each competitor, significantly, as printed."""
    printed = {row["task"]: row for row in read_target("halkidi_table1.csv")}
    lines = []
    for s, rows in found.items():
        if s.method not in (OURS, PRINTED) or s.space != "svd":
            continue
        for competitor in COMPETITORS:
            theirs = read_values(found[s._replace(method=competitor)])
            p, paired = one_tailed(read_values(rows), theirs)
            figure = float(printed[s.task][competitor])
            ours, other = f"{read_values(rows).mean():.3f}", f"{theirs.mean():.3f}"
            judgement = judge_test(p, figure, read_values(rows).mean() - theirs.mean())
            lines.append(
                (s.task, s.features, s.method, ours, competitor, other, format_p(p), format_p(paired),
                 f"{figure:.2g}", judgement)
            )  # fmt: skip
    return lines


def one_tailed(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    """One-tailed p-values of "ours is greater": of the two-sample and of the paired t-test.

    A test without any variance has no p-value, and gives NaN: the first if both samples are constant, the
    second if their difference is.
    """
    two_sample = paired = float("nan")
    with warnings.catch_warnings(action="ignore"):  # runs that nearly agree lose digits, far from a p of 0.05
        if np.ptp(ours) > 0 or np.ptp(theirs) > 0:
            two_sample = float(ttest_ind(ours, theirs, alternative="greater").pvalue)
        if np.ptp(ours - theirs) > 0:
            paired = float(ttest_rel(ours, theirs, alternative="greater").pvalue)
    return two_sample, paired


def format_p(p: float) -> str:
    """Format a p-value with two significant digits, or say that there is none."""
    return NOT_TESTABLE if np.isnan(p) else f"{p:.2g}"


def judge_test(p: float, printed: float, difference: float) -> str:
    """Compare a p-value with the printed one, which is a significant win but for one exception."""
    if np.isnan(p):
        return NOT_TESTABLE
    if printed >= SIGNIFICANT:
        return "as printed" if p >= SIGNIFICANT else "a win here, none printed"
    if p < SIGNIFICANT:
        return "confirmed"
    if difference == 0:
        return "equal"
    return "not significant" if difference > 0 else "contrary"


def curve_lines(found: Found, field: str, of: str) -> list[tuple[str, ...]]:
    """Means over what changes along the axis `of`, a line for each point."""
    lines = []
    for s, rows in found.items():
        mean = mean_of(read_values(rows, field))
        lines.append((s.task, s.method, str(getattr(s, of)), f"{mean.value:.4f}", f"{mean.error:.4f}"))
    return lines


def write_and_print(title: str, fields: Sequence[str], lines: list[tuple[str, ...]], path: Path) -> None:
    write_csv(path, fields, lines)
    print(f"\n{title}\n{format_table(fields, lines)}", flush=True)


def run_figures(options: argparse.Namespace) -> int:
    folder, out = find_source(options).folder, out_folder(options, "halkidi")
    here, wanted = names(folder), options.only.split(",")
    if missing := [name for name in FILES if name not in here]:
        print(f"Missing sets: {', '.join(missing)}. Give their folder with --data.")
    print("Protein, the 116 rows of Xing et al. (2002), are not available.")
    start = partial(
        run, path=out / "runs.csv", folder=folder,
        runs=options.runs, jobs=options.jobs, reuse=options.reuse,
    )  # fmt: skip
    if "5" in wanted:
        found = start(accuracy_settings(here))
        write_and_print("Figures 5 and 6: Rand index", ACCURACY, accuracy_lines(found), out / "accuracy.csv")
        write_and_print("Table I", TESTS, test_lines(found), out / "table1.csv")
    for figure, settings, of in (("8", more_constraints, "must"), ("9", fewer_dimensions, "dimensions")):
        if figure in wanted and (chosen := settings(here)):
            fields = ("task", "method", of, "rand", "error")
            lines = curve_lines(start(chosen), "rand", of)
            write_and_print(
                f"Figure {figure}: Rand index over {of}", fields, lines, out / f"figure{figure}.csv"
            )
    if "10" in wanted:
        found = start(timing_settings(here))
        fields = ("task", "method", "must", "seconds", "error")
        write_and_print(
            "Figure 10: seconds", fields, curve_lines(found, "seconds", "must"), out / "figure10.csv"
        )
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run halkidi", description="Halkidi et al. (2008)")
    add_common_options(parser)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    parser.add_argument(
        "--only", default=",".join(WANTED), metavar="A,B", help="figures: 5 (with 6 and Table I), 8, 9, 10"
    )
    return run_figures(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
