"""The printed figures of Okabe and Yamada (2018), Tables 2 and 4, beside ours.

Nine figures of CKM are left out: its lines on tr11, tr12 and tr23 in Table 2 are copies of its lines on
sonar, ecoli and libras. Table 3 has times of MATLAB programs, which nothing here can reproduce.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench.figures import Figure
from bench.harness import read_target
from bench.suites.cell_store import Row, read_rows

Cells = dict[tuple[str, str, str], Row]


def read_figures(results: Path) -> Iterator[Figure]:
    """All figures that can be compared."""
    cells = read_cells(results / "bckm" / "table2_raw.csv")
    errors = read_errors(results / "bckm")
    chosen = {
        (row["task"], row["method"], row["percent"]): row
        for row in read_rows(results / "bckm" / "chosen.csv")
    }
    for row in read_target("bckm_table2.csv"):
        if not row["misprint"]:
            place = row["task"], row["method"], row["percent"]
            figure = place_figure("Table 2", cells, place, float(row["nmi"]), "nmi")
            yield add_reading(figure, chosen.get(place), "nmi")
    for row in read_target("bckm_table4.csv"):
        place = row["task"], "BCKM", row["percent"]
        figure = place_figure("Table 4", cells, place, float(row["rounds"]), "rounds")
        figure = replace(figure, is_count=True, errors=errors.get(place, {}))
        yield add_reading(figure, chosen.get(place), "rounds")


def read_cells(path: Path) -> Cells:
    """Means of all trials by data set, method and percent."""
    return {(row["task"], row["method"], row["percent"]): row for row in read_rows(path)}


def place_figure(
    table: str, cells: Cells, place: tuple[str, str, str], printed: float, column: str
) -> Figure:
    """Place a printed figure beside ours."""
    task, method, percent = place
    default = find_mean(cells, place, column)
    letter = find_mean(cells, (task, f"{method}, letter", percent), column)
    authors = find_mean(cells, (task, f"{method}, authors", percent), column)
    named = {"letter": f"{method}, letter", "authors": f"{method}, authors"}
    found = {version: cells.get((task, name, percent)) for version, name in named.items()}
    runs = {version: tell_runs(row) for version, row in found.items() if row}
    return Figure(table, task, method, f"{percent} %", printed, letter, default, authors, runs=runs)


def tell_runs(row: Row) -> str:
    """Say what a mean rests on."""
    starts = "1 start" if row["starts"] == "1" else f"{row['starts']} starts"
    return f"{row['sets']} sets of constraints, {starts}"


def read_errors(folder: Path) -> dict[tuple[str, str, str], dict[str, float]]:
    """Standard errors of rounds by version."""
    errors: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in read_rows(folder / "differences.csv"):
        if row["table"] == "Table 4":
            place = row["task"], row["method"], row["percent"].split(" ")[0]
            errors.setdefault(place, {})[row["version"]] = float(row["error"])
    return errors


def add_reading(figure: Figure, row: Row | None, column: str) -> Figure:
    """Add what a reading gives that was chosen by its result, in runs that did not choose it."""
    if row is None:
        return figure
    errors = dict(figure.errors)
    if figure.is_count:
        errors["reading"] = float(row["rounds_error"] or 0)
    runs = {**figure.runs, "reading": tell_runs(row)}
    return replace(figure, reading=float(row[column]), runs=runs, errors=errors)


def find_mean(cells: Cells, place: tuple[str, str, str], column: str) -> float | None:
    """A mean, or None if it was not measured."""
    return float(cells[place][column]) if place in cells else None
