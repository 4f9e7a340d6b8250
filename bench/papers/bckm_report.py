"""Claims, differences and a picture of Okabe and Yamada (2018), from the trials that were measured.

    python -m bench run bckm_report

It runs no method. It reads what `bench.papers.bckm`, `bench.papers.bckm_figures` and
`bench.papers.bckm_text_times` wrote, and writes

- ``claims.csv``: the claims of the paper in words (`bench.papers.bckm_claims`). Versions without trials keep
  their columns,
- ``differences.csv``: each printed figure of BCKM, CKM and RCKM beside ours, with standard errors over sets
  of constraints, and the distance in standard errors of a difference ("z"). The paper has ten sets, too, so
  its standard error is taken as ours for ten sets. A distance below 2 may be chance. Figures that rest on
  fewer than three sets of constraints are left out. Lines of versions without trials stay as they are,
- ``chosen.csv``: readings that were chosen by their result, on sets of constraints that did not choose them,
- ``comparisons.csv``: in how many settings BCKM is better than CKM and RCKM by default,
- ``table2_ours.csv``: the lines of BCKM, CKM and RCKM in Table 2,
- ``printed.png``: our figures over those printed, in three versions.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from math import hypot, inf, sqrt
from pathlib import Path

import numpy as np

from bench.figures import SHARE, TOLERANCE
from bench.harness import format_table
from bench.papers.bckm import OURS, PERCENT, SEVEN, VERSIONS, group_trials
from bench.papers.bckm_claims import COLUMNS, MANY, READING, Place, Trials, check_claims, list_means
from bench.papers.bckm_printed import read_figures
from bench.papers.bckm_readings import KINDS
from bench.plots import save_small
from bench.results import RESULTS, add_earlier, write_csv
from bench.suites.cell_store import Row, read_rows
from bench.suites.results import COLOURS

SETS = 10  # of constraints, in the paper
CHOSEN = (  # file, method, reading, and the kinds of data
    ("readings.csv", "BCKM", "authors() + same centres", ("UCI", "texts")),
    ("readings.csv", "BCKM", "authors() + same centres + random labels", ("shapes",)),
    ("rival_readings.csv", "BSTC", "random labels", ("UCI",)),
    ("rival_readings.csv", "CKM", "authors() until labels repeat", ("UCI", "shapes")),
    ("rival_readings.csv", "ITML", "random rows", ("UCI",)),
    ("rival_readings.csv", "KBST", "three rounds + random rows", ("UCI",)),
)
CHOSEN_FIELDS = ("task", "method", "percent", "reading", "sets", "starts", "nmi", "rounds", "rounds_error")
VERSIONS_TOLD = tuple(version.strip(", ") or "default" for version in VERSIONS)
RIVAL = "PCP, letter"  # that claims of every version are about
EQUAL = 0.01  # NMI
COMPARISONS = ("than", "better", "equal", "worse", "settings", "equal_on", "worse_on")
DIFFERENCES = ("table", "task", "method", "percent", "version", "printed", "ours", "error", "z", "within")


def read_trials(path: Path, *, reuse: bool) -> dict[Place, list[Row]]:
    """Finished cells by data set, method and percent."""
    return {(t, m, p): rows for (t, _, m, p), rows in group_trials(path, reuse=reuse).items() if t != SEVEN}


def build_differences(results: Path, cells: Mapping[Place, list[Row]]) -> list[tuple[str, ...]]:
    """Lines of ``differences.csv``."""
    lines: list[tuple[str, ...]] = []
    for figure in read_figures(results):
        percent = figure.setting.split(" ")[0]
        column = "nmi" if figure.table == "Table 2" else "rounds"
        for version, told in zip(VERSIONS, VERSIONS_TOLD, strict=True) if figure.method in OURS else ():
            rows = cells.get((figure.task, figure.method + version, percent), [])
            means = [np.mean([float(x) for x in row[column].split()]) for row in rows]
            if len(means) < MANY:
                continue
            ours, spread = float(np.mean(means)), float(np.std(means, ddof=1))
            error = spread / sqrt(len(means))
            of_difference = hypot(error, spread / sqrt(SETS), 0.005 / sqrt(3))  # the last: rounded in print
            z = (ours - figure.printed) / of_difference if of_difference else inf
            tolerance = SHARE * figure.printed if figure.is_count else TOLERANCE
            is_within = abs(round(ours, 2) - figure.printed) <= tolerance + 1e-9
            lines.append((
                figure.table, figure.task, figure.method, figure.setting, told,
                f"{figure.printed:.2f}", f"{ours:.3f}", f"{error:.3f}", f"{z:.1f}",
                "tolerance" if is_within else "chance" if abs(z) < 2 else "neither",
            ))  # fmt: skip
    return lines


def list_chosen(folder: Path) -> list[tuple[str, ...]]:
    """List the means of readings that were chosen by their result."""
    return [
        (
            row["task"],
            method,
            row["percent"],
            reading,
            row["sets"],
            row["starts"],
            row["nmi"],
            row.get("rounds", ""),
            row.get("rounds_error", ""),
        )
        for file, method, reading, kinds in CHOSEN
        for row in read_rows(folder / file)
        if row["reading"] == reading and row.get("method", method) == method
        if any(row["task"] in KINDS[kind] for kind in kinds)
    ]


def count_differences(lines: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Count figures by table, method and version: within the tolerance, within chance, and neither."""
    counts: dict[tuple[str, str, str], list[int]] = {}
    for table, _, method, _, version, *_, within in lines:
        found = counts.setdefault((table, method, version), [0, 0, 0])
        found[("tolerance", "chance", "neither").index(within)] += 1
    return [(*key, *map(str, found)) for key, found in counts.items()]


def compare_defaults(cells: Mapping[Place, list[Row]]) -> list[tuple[str, ...]]:
    """In how many settings BCKM is better than CKM and RCKM by default, equal within `EQUAL`, or worse."""
    trials = Trials("default", cells)
    lines: list[tuple[str, ...]] = []
    for rival in ("CKM", "RCKM"):
        settings: dict[str, list[str]] = {"better": [], "equal": [], "worse": []}
        for task in trials.tasks("BCKM", rival):
            for percent in PERCENT:
                gap = trials.mean(task, "BCKM", percent) - trials.mean(task, rival, percent)
                verdict = "equal" if abs(gap) <= EQUAL else "better" if gap > 0 else "worse"
                settings[verdict].append(f"{task} {percent} %")
        better, equal, worse = settings.values()
        numbers = (str(len(found)) for found in (better, equal, worse, [*better, *equal, *worse]))
        lines.append((rival, *numbers, ", ".join(equal), ", ".join(worse)))
    return lines


def select_ours(table: list[Row]) -> list[tuple[str, ...]]:
    """Lines of BCKM, CKM and RCKM, without ecoli in seven clusters."""
    return [tuple(row.values()) for row in table if row["method"] in OURS and row["task"] != SEVEN]


def list_needed(version: str) -> list[str]:
    """List the methods that have to have trials before the claims of a version are checked."""
    return [*(f"{method}{version}" for method in OURS), RIVAL]


def list_default_means(folder: Path) -> dict[Place, list[Row]]:
    """Cells of the defaults from the means of Table 2, with the errors of their rounds."""
    errors = {
        (row["task"], row["percent"].split(" ")[0]): row["error"]
        for row in read_rows(folder / "differences.csv")
        if (row["table"], row["version"]) == ("Table 4", "default")
    }
    lines = [
        {**row, "rounds_error": errors.get((row["task"], row["percent"]), "")}
        for row in read_rows(folder / "table2_raw.csv")
        if "," not in row["method"] and row["task"] != SEVEN
    ]
    return list_means(lines, "")


def keep_earlier(
    earlier: list[Row], claims: list[tuple[str, ...]], finished: Sequence[str]
) -> list[tuple[str, ...]]:
    """Take what was not checked now from the earlier table, if there is one."""
    known = {row["claim"]: row for row in earlier}
    return [
        tuple(
            text if text or name.removesuffix("_holds") in finished else known.get(claim[0], {}).get(name, "")
            for name, text in zip(COLUMNS, claim, strict=True)
        )
        for claim in claims
    ]


def draw_printed(path: Path, results: Path) -> None:
    """Draw our NMI over the printed one: a panel for each version, a colour for each method."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figures = [figure for figure in read_figures(results) if figure.table == "Table 2"]
    methods = list(dict.fromkeys(figure.method for figure in figures))
    picture = Figure(figsize=(10.5, 4.2), layout="constrained")
    FigureCanvasAgg(picture)
    grid = picture.subplots(1, 3, sharex=True, sharey=True)
    titles = {"letter": "as printed", "default": "linkwise's default", "authors": "authors()"}
    for axes, (version, title) in zip(grid, titles.items(), strict=True):
        axes.fill_between([0, 1], [-TOLERANCE, 1 - TOLERANCE], [TOLERANCE, 1 + TOLERANCE], color="0.9")
        for method, colour in zip(methods, (*COLOURS, "0.5"), strict=False):
            points = [
                (figure.printed, value)
                for figure in figures
                if figure.method == method and (value := getattr(figure, version)) is not None
            ]
            if points:
                size = 22 if method in OURS else 9
                axes.scatter(*zip(*points, strict=True), s=size, color=colour, label=method, linewidths=0)
        axes.set(title=title, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        axes.spines[["top", "right"]].set_visible(False)
    grid[1].set_xlabel("printed NMI")
    grid[0].set_ylabel("our NMI")
    names = grid[0].get_legend_handles_labels()
    picture.legend(*names, loc="outside lower center", ncols=len(names[1]), frameon=False)
    save_small(picture, path, dpi=90)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run bckm_report", description="Claims of BCKM")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument(
        "--reuse", action="store_true", help="use finished cells even if linkwise has changed since"
    )
    options = parser.parse_args(arguments)
    results = options.out
    out, drawn = results / "bckm", results / "bckm_figures"
    cells = read_trials(out / "trials_raw.csv", reuse=options.reuse)
    finished = [
        told
        for version, told in zip(VERSIONS, VERSIONS_TOLD, strict=True)
        if all(any(method == wanted for _, method, _ in cells) for wanted in list_needed(version))
    ]
    figures = {
        "curves": read_rows(drawn / "figure2.csv"),
        "shares": read_rows(drawn / "figure3.csv"),
        "single": read_rows(drawn / "single.csv"),
        "text_times": read_rows(out / "text_times.csv"),
    }
    chosen = list_chosen(out)
    write_csv(out / "chosen.csv", CHOSEN_FIELDS, chosen)
    means = list_means(dict(zip(CHOSEN_FIELDS, line, strict=True)) for line in chosen)
    by_means = [READING] if means and "authors" in finished else []
    if "default" not in finished and (defaults := list_default_means(out)):
        means |= defaults
        by_means.append("default")
    claims = check_claims({**cells, **means}, figures, finished, by_means)
    claims = keep_earlier(read_rows(out / "claims.csv"), claims, finished)
    write_csv(out / "claims.csv", COLUMNS, claims)
    print(format_table(COLUMNS, claims))
    if "default" in finished:
        write_csv(out / "comparisons.csv", COMPARISONS, compare_defaults(cells))
    if missing := set(VERSIONS_TOLD) - set(finished):
        print(f"Claims stay as they are of: {', '.join(sorted(missing))}. They need trials of {RIVAL}, too.")
    differences = add_earlier(out / "differences.csv", build_differences(results, cells), 5)
    places = {(f.table, f.task, f.method, f.setting): at for at, f in enumerate(read_figures(results))}
    differences.sort(key=lambda line: (places[line[:4]], VERSIONS_TOLD.index(line[4])))
    write_csv(out / "differences.csv", DIFFERENCES, differences)
    head = ("table", "method", "version", "within the tolerance", "within chance", "neither")
    counts = count_differences(differences)
    write_csv(out / "differences_counts.csv", head, counts)
    if table := read_rows(out / "table2_raw_table.csv"):
        write_csv(out / "table2_ours.csv", tuple(table[0]), select_ours(table))
    draw_printed(out / "printed.png", results)
    print(format_table(head, counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
