"""Halkidi, Gunopulos, Vazirgiannis, Kumar and Domeniconi (2008): the framework and its rivals.

    python -m bench run halkidi --data DIR [--runs N] [--jobs N] [--only PARTS]

The score is the Rand index on all rows in 10 runs, with 5 % of the rows as must-links and 6 % as
cannot-links. All methods get the singular value decomposition of the rows, which is not centred, as the paper
does (Figure 5), or the columns (Figure 6). Our default decomposes the rows by itself, and centres them. Table
I has one-tailed t-tests of Figure 5, for two samples of equal variance. Two samples without variance have no
p-value; the table calls them not testable. Figure 8 adds constraints, Figure 9 removes dimensions, and Figure
10 shows the time by number of rows and of constraints. Figures 1 and 4 show made-up sets. The claims of the
text are checked with all of these, and `readings` repeats Table I under other readings of what the paper
leaves open. The reading that fits best was chosen by its result, so further runs judge it: `chosen` repeats
Table I in three times as many, of which the first part chose it. Its claims rest on the second part, which
has as many runs as the paper; a test with more runs would find smaller differences. Spam has this part only.
Results go to bench/results/halkidi.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.papers.halkidi_claims import CLAIM_FIELDS, check_claims
from bench.papers.halkidi_readings import (
    CHOSEN,
    CHOSEN_FIELDS,
    COUNT_FIELDS,
    READING_FIELDS,
    READING_TESTS,
    ROUNDS_OF_RUNS,
    count_readings,
    list_chosen,
    list_reading_settings,
    list_readings,
    list_tests,
    translate,
)
from bench.papers.halkidi_runs import (
    BLOBS,
    COMPETITORS,
    FIELDS,
    FILES,
    LINKAGES,
    METHODS,
    OURS,
    PRINTED,
    Setting,
    entries,
    measure,
    names,
)
from bench.papers.halkidi_tests import Found, format_p, judge_test, one_tailed, read_values
from bench.plots import Panel, plot_panels
from bench.results import write_csv
from bench.suites.summaries import mean_of

RUNS = 10
PERCENTS = (5, 10, 20, 30, 40, 50)
DIMENSIONS = {  # that are tuned; the last are all there are
    "ionosphere": (2, 3, 4, 5, 7, 10, 15, 20, 33),
    "diabetes": (2, 3, 4, 5, 6, 7, 8),
    "soybean": (2, 3, 4, 5, 7, 10, 15, 20),
}
ROWS = (500, 1000, 2000, 4000, 8000, 16000)
MORE = ("ionosphere", "diabetes", "soybean")  # Figure 8
LARGE = "spam"  # the chosen reading runs fewer times there
WANTED = ("1", "5", "8", "9", "10", "readings")

ACCURACY = ("task", "space", *METHODS)
TABLE1 = (
    "task", "competitor", "theirs", "printed p", "letter", "letter p", "letter conclusion",
    "default", "default p", "default conclusion",
)  # fmt: skip


# ---------------------------------------------------------------- what is run
def accuracy_settings(tasks: Sequence[str]) -> list[Setting]:
    return [Setting(t, space=s, method=m) for t in tasks for s in ("svd", "columns") for m in METHODS]


def shape_settings(_: Sequence[str]) -> list[Setting]:
    who = {"groups": ("KMeans", *LINKAGES), "lines": ("KMeans",), "rings": ("KMeans",)}
    return [Setting(task, method=m) for task in who for m in (*who[task], PRINTED, OURS)]


def more_constraints(tasks: Sequence[str]) -> list[Setting]:
    who = (*COMPETITORS[1:], PRINTED, OURS)
    return [Setting(t, method=m, must=p, cannot=p) for t in tasks if t in MORE for m in who for p in PERCENTS]


def fewer_dimensions(tasks: Sequence[str]) -> list[Setting]:
    who = (PRINTED, OURS)
    return [
        Setting(t, method=m, dimensions=d)
        for t in tasks if t in DIMENSIONS for m in who for d in DIMENSIONS[t]
    ]  # fmt: skip


def timing_settings(tasks: Sequence[str]) -> list[Setting]:
    who = (PRINTED, OURS)
    rows = [Setting(f"{BLOBS}{n}", method=m, must=10, cannot=10) for m in who for n in ROWS]
    iris = [Setting("iris", method=m, must=p, cannot=p) for m in who for p in PERCENTS]
    return rows + (iris if "iris" in tasks else [])


PARTS = {
    "1": shape_settings,
    "5": accuracy_settings,
    "8": more_constraints,
    "9": fewer_dimensions,
    "10": timing_settings,
    "readings": list_reading_settings,
}


def chosen_settings(tasks: Sequence[str]) -> list[Setting]:
    """Table I by the chosen reading."""
    return [CHOSEN.setting(task, method) for task in tasks for method in (*COMPETITORS, CHOSEN.ours)]


def run(
    settings: Iterable[Setting], path: Path, folder: Path | None, *, runs: range, jobs: int, reuse: bool
) -> Found:
    """Return the rows of every setting, run by run."""
    cells = {s.cell(r): s for s in settings for r in runs}
    found: Found = {}
    work = partial(measure, folder=folder)
    for row in run_cells(path, FIELDS, cells, work, uses=entries, jobs=jobs, reuse=reuse):
        found.setdefault(cells[tuple(row[f] for f in FIELDS)], []).append(row)
    return found


# ---------------------------------------------------------------- what comes of it
def accuracy_lines(found: Found) -> list[tuple[str, ...]]:
    """Mean Rand index of each method, with its standard error."""
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for s, rows in found.items():
        mean = mean_of(read_values(rows))
        lines.setdefault((s.task, s.space), {})[s.method] = f"{mean.value:.3f} ± {mean.error:.3f}"
    return [(*key, *(texts.get(method, "not run") for method in METHODS)) for key, texts in lines.items()]


def table1_lines(found: Found) -> list[tuple[str, ...]]:
    """Table I: mean Rand index, p of "ours is greater", and whether the conclusion is the printed one."""
    lines = []
    tasks = {s.task for s in found}
    for row in read_target("halkidi_table1.csv"):
        for competitor in COMPETITORS if row["task"] in tasks else ():
            theirs = read_values(found[Setting(row["task"], method=competitor)])
            printed = float(row[competitor])
            line = [row["task"], competitor, f"{theirs.mean():.3f}", f"{printed:.2g}"]
            for method in (PRINTED, OURS):
                ours = read_values(found[Setting(row["task"], method=method)])
                p = one_tailed(ours, theirs)[0]
                line += [f"{ours.mean():.3f}", format_p(p), judge_test(p, printed)]
            lines.append(tuple(line))
    return lines


def curve_lines(found: Found, field: str, of: str) -> list[tuple[str, ...]]:
    """Means over what changes along the axis `of`, a line for each point."""
    lines: list[tuple[str, ...]] = []
    for s, rows in found.items():
        mean = mean_of(read_values(rows, field))
        lines.append((s.task, s.method, str(getattr(s, of)), f"{mean.value:.4f}", f"{mean.error:.4f}"))
    return lines


def shape_lines(found: Found) -> list[tuple[str, ...]]:
    """Mean Rand index and satisfied share of the constraints of made-up sets."""
    return [
        (s.task, s.method, *(f"{read_values(rows, field).mean():.3f}" for field in ("rand", "satisfied")))
        for s, rows in found.items()
    ]


def build_panels(found: Found, field: str, of: str, ylabel: str) -> list[Panel]:
    """One panel for each set, with the curves of all methods over `of`."""
    panels = []
    for task in dict.fromkeys(s.task for s in found):
        curves: dict[str, np.ndarray] = {}
        errors: dict[str, np.ndarray] = {}
        mine = {s: rows for s, rows in found.items() if s.task == task}
        at = sorted({getattr(s, of) for s in mine})
        for method in dict.fromkeys(s.method for s in mine):
            means = [
                mean_of(read_values(rows, field))
                for s, rows in sorted(mine.items(), key=lambda item: getattr(item[0], of))
                if s.method == method
            ]
            curves[method] = np.array([mean.value for mean in means])
            errors[method] = np.array([mean.error for mean in means])
        panels.append(Panel(task, ylabel, curves, at=at, errors=errors))
    return panels


def build_time_panels(found: Found) -> list[Panel]:
    """Seconds by number of rows, and by percent of the rows of iris."""
    sized: Found = {
        s._replace(task="four columns, by number of rows", dimensions=int(s.task.removeprefix(BLOBS))): rows
        for s, rows in found.items() if s.task.startswith(BLOBS)
    }  # fmt: skip
    title = "iris, by percent of the rows as constraints of each kind"
    iris = {s._replace(task=title): rows for s, rows in found.items() if s.task == "iris"}
    return [
        *build_panels(sized, "seconds", "dimensions", "seconds"),
        *build_panels(iris, "seconds", "must", "seconds"),
    ]


# ---------------------------------------------------------------- the command
def write_and_print(title: str, fields: Sequence[str], lines: list[tuple[str, ...]], path: Path) -> None:
    write_csv(path, fields, lines)
    print(f"\n{title}\n{format_table(fields, lines)}", flush=True)


def write_part(part: str, found: Found, out: Path) -> None:
    """Write and print what one part found."""
    plot = find_spec("matplotlib") is not None
    fields: tuple[str, ...] = ("task", "method", "rand", "satisfied")
    if part == "1":
        write_and_print("Figures 1 and 4, and two rings", fields, shape_lines(found), out / "shapes.csv")
    elif part == "5":
        write_and_print("Figures 5 and 6: Rand index", ACCURACY, accuracy_lines(found), out / "accuracy.csv")
        write_and_print("Table I", TABLE1, table1_lines(found), out / "table1.csv")
    elif part == "readings":
        write_csv(out / "readings_tests.csv", READING_TESTS, list_tests(found))
        write_csv(out / "readings_counts.csv", COUNT_FIELDS, count_readings(found))
        write_and_print("Readings of Table I", READING_FIELDS, list_readings(found), out / "readings.csv")
    elif part == "10":
        fields = ("task", "method", "must", "seconds", "error")
        write_and_print(
            "Figure 10: seconds", fields, curve_lines(found, "seconds", "must"), out / "figure10.csv"
        )
        if plot:
            plot_panels(out / "figure10.png", build_time_panels(found), "")
    else:
        of = "must" if part == "8" else "dimensions"
        fields = ("task", "method", of, "rand", "error")
        lines = curve_lines(found, "rand", of)
        write_and_print(f"Figure {part}: Rand index over {of}", fields, lines, out / f"figure{part}.csv")
        if plot:
            label = "percent of the rows as constraints of each kind" if part == "8" else "dimensions"
            plot_panels(out / f"figure{part}.png", build_panels(found, "rand", of, "Rand index"), label)


def run_figures(options: argparse.Namespace) -> int:
    folder, out = find_source(options).folder, out_folder(options, "halkidi")
    here, wanted = names(folder), options.only.split(",")
    if missing := [name for name in FILES if name not in here]:
        print(f"Missing sets: {', '.join(missing)}. Pass their folder with --data.")
    print("Protein, the 116 rows of Xing et al. (2002), are not available.")
    run_part = partial(run, path=out / "runs.csv", folder=folder, jobs=options.jobs, reuse=options.reuse)
    found: Found = {}
    for part in WANTED:
        if part in wanted and (settings := PARTS[part](here)):
            part_found = run_part(settings, runs=range(options.runs))
            write_part(part, part_found, out)
            found |= part_found
    if "chosen" in wanted:
        small = [task for task in here if task != LARGE]
        runs = range(len(ROUNDS_OF_RUNS) * options.runs)
        rows = run_part(chosen_settings(small), runs=runs)
        if LARGE in here:
            rows |= run_part(chosen_settings([LARGE]), runs=range(options.runs, 2 * options.runs))
        lines = list_chosen(rows, here)
        write_and_print("Table I by the chosen reading", CHOSEN_FIELDS, lines, out / "chosen.csv")
    if set(WANTED[:5]) <= set(wanted) and set(FILES) <= set(here):
        chosen = None
        if "chosen" in wanted:
            stand_ins = {s: translate(s) for s in found if s.method != OURS}
            runs = range(options.runs, 2 * options.runs)
            rows = run_part(dict.fromkeys(stand_ins.values()), runs=runs)
            chosen = {s: rows[other] for s, other in stand_ins.items()}
        write_and_print("Claims", CLAIM_FIELDS, check_claims(found, chosen), out / "claims.csv")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run halkidi", description="Halkidi et al. (2008)")
    add_common_options(parser)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    parser.add_argument(
        "--only",
        default=",".join((*WANTED, "chosen")),
        metavar="A,B",
        help="figures: 1 (with 4), 5 (with 6, 7 and Table I), 8, 9, 10; readings; chosen (Table I by the"
        " chosen reading, in three times as many runs). With 1, 5, 8, 9 and 10 the claims are checked, too",
    )
    return run_figures(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
