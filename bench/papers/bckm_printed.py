"""The printed figures of Okabe and Yamada (2018), Tables 2 and 4, beside ours.

Nine figures of CKM are left out: its lines on tr11, tr12 and tr23 in Table 2 are copies of its lines on
sonar, ecoli and libras. Table 3 has times of MATLAB programs, which nothing here can reproduce.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure
from bench.harness import read_target
from bench.suites.cell_store import Row, read_rows

Cells = dict[tuple[str, str, str], Row]


def read_figures(results: Path) -> Iterator[Figure]:
    """All figures that can be compared."""
    cells = read_cells(results / "bckm" / "table2_raw.csv")
    for row in read_target("bckm_table2.csv"):
        if not row["misprint"]:
            place = row["task"], row["method"], row["percent"]
            yield place_figure("Table 2", cells, place, float(row["nmi"]), "nmi")
    for row in read_target("bckm_table4.csv"):
        place = row["task"], "BCKM", row["percent"]
        yield place_figure("Table 4", cells, place, float(row["rounds"]), "rounds")


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
    return Figure(table, task, method, f"{percent} %", printed, letter, default, authors)


def find_mean(cells: Cells, place: tuple[str, str, str], column: str) -> float | None:
    """A mean, or None if it was not measured."""
    return float(cells[place][column]) if place in cells else None
