"""The printed figures of Van Craenendonck and Blockeel (2017), Tables III to V, beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure
from bench.harness import read_target
from bench.papers.cobs_peers import PEERS
from bench.suites.cell_store import Row, read_rows

PAIRS = "50 constraints"
PROGRAM = "WekaUT"  # the reading that follows the program that the paper ran


def read_figures(results: Path) -> Iterator[Figure]:
    """All figures of the tables; the paper prints no others."""
    folder = results / "cobs"
    yield from _read_table3(folder)
    yield from _read_table4(folder)
    yield from _read_table5(folder)


def _read_table3(folder: Path) -> Iterator[Figure]:
    ours = _by_task_and_method(folder / "table3.csv") | _by_task_and_method(folder / "table3_peers.csv")
    program = {
        (row["task"], row["method"]): row
        for row in read_rows(folder / "readings.csv") if row["reading"] == PROGRAM
    }  # fmt: skip
    for row in read_target("cobs_table3.csv"):
        for method in row:
            if method != "task":
                place = row["task"], method
                found, theirs = ours.get(place, {}), program.get(place, {})
                setting = PAIRS if method.endswith(("COBS", "NumSat", "CVCP")) or method == "fosc" else ""
                table = "Table III, Q2" if method in PEERS else "Table III, Q1"
                yield Figure(
                    table, row["task"], method, setting, float(row[method]),
                    _number(found, "letter"), _number(found, "default"),
                    _number(theirs, "ari"), runs={"authors": f"{theirs['runs']} runs"} if theirs else {},
                )  # fmt: skip


def _read_table4(folder: Path) -> Iterator[Figure]:
    ours = {row["task"]: row for row in read_rows(folder / "table4.csv")}
    for row in read_target("cobs_table4.csv"):
        found = ours.get(row["task"], {})
        best, both = _number(found, "best"), (_number(found, "random"), _number(found, "agreement"))
        yield Figure("Table IV", row["task"], "best of the pool", "", float(row["best"]), best, best)
        yield Figure("Table IV", row["task"], "COBS", PAIRS, float(row["cobs"]), *both)


def _read_table5(folder: Path) -> Iterator[Figure]:
    ours = _by_task_and_method(folder / "table5.csv")
    for row in read_target("cobs_table5.csv"):
        for method in row:
            if method != "task":
                found = ours.get((row["task"], method), {})
                yield Figure(
                    "Table V", row["task"], method, PAIRS, float(row[method]),
                    _number(found, "letter"), _number(found, "default"),
                )  # fmt: skip


def _by_task_and_method(path: Path) -> dict[tuple[str, str], Row]:
    return {(row["task"], row["method"]): row for row in read_rows(path)}


def _number(row: Row, field: str) -> float | None:
    return float(row[field]) if row.get(field) else None
