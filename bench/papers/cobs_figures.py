"""The printed figures of Van Craenendonck and Blockeel (2017), Tables III to V, beside ours.

What the paper ran as programs of others: COBS over the pool of the scikit-learn of 2016, MPCKMeans of WekaUT,
COSC 1.1, and the program of DBCV. Its program of FOSC is not known; HDBSCAN* is by the same authors.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.figures import Figure
from bench.harness import read_target
from bench.papers.cobs_peers import PEERS
from bench.papers.cobs_readings import MUST, PROGRAMS
from bench.suites.cell_store import Row, read_rows

PAIRS = "50 constraints"
LEFT_OUT = "the first five, by which it was chosen, left out"
LARGEST = ("optdigits389", "segmentation")
FOSC_PROGRAM = "optics, stability, nearest"  # ties as in HDBSCAN*, the program of the authors of FOSC
PROGRAM_ROWS = {  # of table3.csv that follow a program
    "dbscan_DBCV_squared": "dbscan_DBCV",
    "spectral_COBS_by_degree": "spectral_COBS",
}


class Measured(NamedTuple):
    """A figure of another version than the letter, and the runs that it rests on."""

    ari: float
    runs: str


Version = dict[tuple[str, str], Measured]
"""By task and method."""


def read_figures(results: Path) -> Iterator[Figure]:
    """All figures of the tables; the paper prints no others."""
    folder = results / "cobs"
    yield from _read_table3(folder, read_programs(results), read_chosen(folder))
    yield from _read_table4(folder)
    yield from _read_table5(folder)


def read_programs(results: Path) -> Version:
    """Table III as the programs that the paper ran, from the tables of several experiments."""
    folder = results / "cobs"
    found = {
        (row["task"], PROGRAM_ROWS[row["method"]]): Measured(float(row["letter"]), _count_runs(row["runs"]))
        for row in read_rows(folder / "table3.csv")
        if row["method"] in PROGRAM_ROWS
    }
    found |= {
        (row["task"], "fosc"): Measured(float(row[FOSC_PROGRAM]), "25 runs")
        for row in read_rows(results / "fosc" / "fosc.csv")
        if row["paper"]
    }
    return found | _read_readings(folder, *PROGRAMS)


def read_chosen(folder: Path) -> Version:
    """The F-measure of must-links alone, which is a reading, with clusterers as their programs.

    COSC 1.1 takes too long on the largest sets, where COSC as printed stands for it.
    """
    chosen = _read_readings(folder, *(f"{program} + {MUST}" for program in PROGRAMS))
    chosen |= {
        place: of
        for place, of in _read_readings(folder, MUST).items()
        if place not in chosen and place[1] == "cosc_CVCP" and place[0] in LARGEST
    }
    return {place: Measured(of.ari, f"{of.runs}, {LEFT_OUT}") for place, of in chosen.items()}


def _read_readings(folder: Path, *names: str) -> Version:
    return {
        (row["task"], row["method"]): Measured(float(row["ari"]), _count_runs(row["runs"]))
        for row in read_rows(folder / "readings.csv")
        if row["reading"] in names
    }


def _count_runs(runs: str) -> str:
    return f"{runs} runs" if runs else ""


def _read_table3(folder: Path, programs: Version, chosen: Version) -> Iterator[Figure]:
    ours = _by_task_and_method(folder / "table3.csv") | _by_task_and_method(folder / "table3_peers.csv")
    for row in read_target("cobs_table3.csv"):
        for method in row:
            if method != "task":
                place = row["task"], method
                found = ours.get(place, {})
                versions = {"authors": programs.get(place), "reading": chosen.get(place)}
                known = {version: of for version, of in versions.items() if of}
                setting = PAIRS if method.endswith(("COBS", "NumSat", "CVCP")) or method == "fosc" else ""
                table = "Table III, Q2" if method in PEERS else "Table III, Q1"
                yield Figure(
                    table, row["task"], method, setting, float(row[method]),
                    _number(found, "letter"), _number(found, "default"),
                    **{version: of.ari for version, of in known.items()},
                    runs={version: of.runs for version, of in known.items()},
                )  # fmt: skip


def _read_table4(folder: Path) -> Iterator[Figure]:
    ours = {row["task"]: row for row in read_rows(folder / "table4.csv")}
    for row in read_target("cobs_table4.csv"):
        found = ours.get(row["task"], {})
        best, both = _number(found, "best"), (_number(found, "random"), _number(found, "agreement"))
        program = _number(found, "best_by_degree"), _number(found, "by_degree")
        yield Figure(
            "Table IV", row["task"], "best of the pool", "", float(row["best"]), best, best, program[0]
        )
        yield Figure(
            "Table IV", row["task"], "COBS", PAIRS, float(row["cobs"]), *both, program[1],
            runs={"authors": _count_runs(found.get("runs", ""))},
        )  # fmt: skip


def _read_table5(folder: Path) -> Iterator[Figure]:
    ours = _by_task_and_method(folder / "table5.csv")
    by_degree = {row["task"]: row for row in read_rows(folder / "table4.csv")}
    for row in read_target("cobs_table5.csv"):
        for method in row:
            if method != "task":
                found = ours.get((row["task"], method), {})
                same = (
                    by_degree.get(row["task"], {}) if method == "cobs_u" else {}
                )  # the quantity of Table IV
                yield Figure(
                    "Table V", row["task"], method, PAIRS, float(row[method]),
                    _number(found, "letter"), _number(found, "default"), _number(same, "by_degree"),
                    runs={"authors": _count_runs(same.get("runs", ""))},
                )  # fmt: skip


def _by_task_and_method(path: Path) -> dict[tuple[str, str], Row]:
    return {(row["task"], row["method"]): row for row in read_rows(path)}


def _number(row: Row, field: str) -> float | None:
    return float(row[field]) if row.get(field) else None
