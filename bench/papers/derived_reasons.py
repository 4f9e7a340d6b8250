"""Reasons for differences that follow from measured tables, so that they are true of today's figures.

The reasons of ``targets/explanations.toml`` come first. Chance comes after the experiments, because it says
only that a difference is no larger than that of two such experiments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import hypot, sqrt
from pathlib import Path

from bench.figures import TOLERANCE, Explanation
from bench.harness import read_target
from bench.papers.halkidi_figures import JUDGED
from bench.papers.halkidi_tests import read_p
from bench.suites.cell_store import Row, read_rows

ROUNDED = 0.005 / sqrt(3)  # standard error of a figure with two decimals

# ---------------------------------------------------------------- BCKM
OURS = ("BCKM", "CKM", "RCKM")
DIFFERENCES = "bckm/differences.csv"
CHANCE = "It may be chance: the difference is less than two standard errors over sets of constraints."
AUTHORS = {
    ("Table 2", "BCKM"): "The start, end and order of rounds of the authors' program matter",
    ("Table 2", "CKM"): "The authors' program takes constraints row by row, not at random",
    ("Table 2", "RCKM"): "All rounds of RCKM.authors() start from the same far rows",
    ("Table 4", "BCKM"): (
        "Each round of the authors' program draws its own centres and ends when the inertia does not fall"
    ),
}
"""How the authors' version differs, by table and method."""
HOW_NEAR = {
    "tolerance": f"is within {TOLERANCE}",
    "tenth": "is within a tenth of it",
    "chance": "is within two standard errors, which may be chance",
}


READINGS_OF_BCKM = "bckm/readings.csv"
CENTRES = {
    "own centres": "If each round draws centres of its own,",
    "as authors + same centres": (
        "If rounds start and end as in the authors' program, all from the same centres,"
    ),
    "as authors + same centres by k-means++": (
        "If rounds start and end as in the authors' program, all from the same centres by k-means++,"
    ),
}
"""Readings of BCKM that explain figures."""
WITHIN = {
    "Table 2": "BCKM is within 0.05.",
    "Table 4": "their number is within two standard errors, which may be chance.",
}

TRIALS = "bckm/table2_raw.csv"
RIVALS = "bckm/rival_readings.csv"
CKM_REPEATS = "authors() until labels repeat"
AS_CKM = (
    "If CKM ends when labels repeat, as in the text, and is as in the authors' program in all else, it is"
)
RIVAL_READINGS = {
    ("BSTC", "random labels"): "If the k-means at the end starts from random labels, BSTC is within 0.05.",
    ("ITML", "random rows"): "If k-means starts from random rows, ITML is within 0.05.",
    ("KBST", "random rows"): "If the k-means at the end starts from random rows, KBST is within 0.05.",
    ("KBST", "three rounds"): "If boosting ends after three of the hundred rounds, KBST is within 0.05.",
    ("KBST", "three rounds + random rows"): (
        "If boosting ends after three of the hundred rounds, and the k-means at the end starts from random"
        " rows, KBST is within 0.05."
    ),
    ("CKM", CKM_REPEATS): f"{AS_CKM} within 0.05.",
    ("SPCL", "random labels"): "If the k-means at the end starts from random labels, SPCL is within 0.05.",
}
"""Readings that explain figures, by method and reading, the first ones first."""


def derive_bckm(results: Path) -> list[Explanation]:
    """Derive reasons from readings of BCKM and its rivals, and from what ``differences.csv`` says.

    What is within the tolerance comes first, then chance.
    """
    rows = read_rows(results / DIFFERENCES)
    by_authors = [row for row in rows if row["version"] == "authors"]
    letter = [row for row in rows if row["version"] == "letter"]
    return [
        *(_explain_by_authors(row) for row in by_authors if row["within"] == "tolerance"),
        *_derive_rivals(results),
        *_derive_centres(results, "Table 2"),
        *(_place_reason(row, CHANCE) for row in letter if row["within"] == "chance"),
        *_derive_chance_of_rivals(results),
        *(_explain_by_authors(row) for row in by_authors if row["within"] == "chance"),
        *_derive_centres(results, "Table 4"),
    ]


def _derive_rivals(results: Path) -> Iterator[Explanation]:
    rows = read_rows(results / RIVALS)
    for (method, reading), reason in RIVAL_READINGS.items():
        for row in rows:
            is_read = (row["method"], row["reading"]) == (method, reading)
            if is_read and is_within(row["nmi"], row["printed"]):
                place = {"tasks": (row["task"],), "settings": (f"{row['percent']} %",)}
                yield Explanation("bckm", reason, RIVALS, "Table 2", method, **place)


def _derive_chance_of_rivals(results: Path) -> Iterator[Explanation]:
    """Derive which figures of rivals may differ by chance, of those with one start a set of constraints."""
    for row in read_rows(results / TRIALS):
        method, _, version = row["method"].partition(", ")
        if version == "letter" and method not in OURS and row["paper"] and row["starts"] == "1":
            error = float(row["sd"]) / sqrt(int(row["sets"]))
            if abs(float(row["nmi"]) - float(row["paper"])) < 2 * hypot(error, error, ROUNDED):
                place = {"tasks": (row["task"],), "settings": (f"{row['percent']} %",)}
                yield Explanation("bckm", CHANCE, TRIALS, "Table 2", method, **place)
    for row in read_rows(results / RIVALS):
        if (row["method"], row["reading"]) == ("CKM", CKM_REPEATS):
            error = float(row["sd"]) / sqrt(int(row["sets"]))  # nearly all of it between sets of constraints
            if abs(float(row["nmi"]) - float(row["printed"])) < 2 * hypot(error, error, ROUNDED):
                place = {"tasks": (row["task"],), "settings": (f"{row['percent']} %",)}
                reason = f"{AS_CKM} {HOW_NEAR['chance'].removeprefix('is ')}."
                yield Explanation("bckm", reason, RIVALS, "Table 2", "CKM", **place)


def _derive_centres(results: Path, table: str) -> Iterator[Explanation]:
    """Derive where rounds from other centres give the NMI (Table 2), or their own number (Table 4)."""
    printed = {(row["task"], row["percent"]): row["rounds"] for row in read_target("bckm_table4.csv")}
    for row in read_rows(results / READINGS_OF_BCKM):
        if row["reading"] not in CENTRES or not row["rounds_error"]:
            continue
        away = abs(float(row["rounds"]) - float(printed[row["task"], row["percent"]]))
        is_near = {
            "Table 2": is_within(row["nmi"], row["printed"]),
            "Table 4": away <= 2 * float(row["rounds_error"]),
        }
        if is_near[table]:
            place = {"tasks": (row["task"],), "settings": (f"{row['percent']} %",)}
            reason = f"{CENTRES[row['reading']]} {WITHIN[table]}"
            yield Explanation("bckm", reason, READINGS_OF_BCKM, table, "BCKM", **place)


def _explain_by_authors(row: Row) -> Explanation:
    how = AUTHORS[row["table"], row["method"]]
    near = "tenth" if row["table"] == "Table 4" and row["within"] == "tolerance" else row["within"]
    return _place_reason(row, f"{how}: {row['method']}.authors() {HOW_NEAR[near]}.")


def _place_reason(row: Row, reason: str) -> Explanation:
    place = {"tasks": (row["task"],), "settings": (row["percent"],)}
    return Explanation("bckm", reason, DIFFERENCES, row["table"], row["method"], **place)


# ---------------------------------------------------------------- COBS
FOSC, READINGS = "fosc/fosc.csv", "cobs/readings.csv"
FOSC_WAYS = {
    "optics, larger, nearest": "The same method is within 0.05 in 25 runs, as many as in the paper.",
    "optics, stability, nearest": (
        "If ties go to the more stable clusters, as in HDBSCAN* by its authors, FOSC is within 0.05."
    ),
}
ONE_METRIC = "With one metric for all clusters, the default of the program that the paper ran,"
MUST_ALONE = "With the F-measure of must-links alone {} is within 0.05."
COBS_READINGS = {
    ("mpck_CVCP", "WekaUT + F of must-links"): MUST_ALONE.format("MPCKMeans.authors()"),
    ("cosc_CVCP", "COSC 1.1 + F of must-links"): MUST_ALONE.format("COSC.authors()"),
    ("mpck_SI", "one metric"): f"{ONE_METRIC} MPCKMeans is within 0.05.",
    ("mpck_SI", "only given constraints"): "Without the constraints that follow MPCKMeans is within 0.05.",
    ("mpck_NumSat", "one metric"): f"{ONE_METRIC} MPCKMeans is within 0.05.",
    (
        "mpck_NumSat",
        "only given constraints",
    ): "Without the constraints that follow MPCKMeans is within 0.05.",
    ("mpck_CVCP", "one metric"): f"{ONE_METRIC} MPCKMeans is within 0.05.",
    ("mpck_CVCP", "F of must-links"): MUST_ALONE.format("MPCKMeans"),
    ("mpck_CVCP", "one metric + F of must-links"): (
        f"{ONE_METRIC} and the F-measure of must-links alone MPCKMeans is within 0.05."
    ),
    ("cosc_eigen", "2 clusters"): "With two clusters COSC is within 0.05.",
    ("cosc_eigen", "3 clusters"): "With three clusters COSC is within 0.05.",
    ("cosc_CVCP", "F of must-links"): MUST_ALONE.format("COSC"),
    ("cosc_NumSat", "letter"): "The same method is within 0.05 in ten runs.",
}
"""Readings that explain figures, by method and reading, the first ones first.

Those are left out that fit the whole column of the table worse than the letter.
"""
CHANCE_OF_TWO = (
    "It may be chance: the difference is less than two standard errors of one between two such experiments."
)
TABLES = {"table3_peers.csv": "Table III, Q2", "table3.csv": "Table III, Q1", "table5.csv": "Table V"}
PAPER_RUNS = 25
FEWEST = 5  # runs of a reading of which the error says something


def derive_cobs(results: Path) -> list[Explanation]:
    """Derive which ways of FOSC, and which readings of the other rivals, are within the tolerance.

    Then which figures are no further away than chance.
    """
    return [
        *_derive_fosc(results),
        *_derive_readings(results),
        *_derive_chance(results / "cobs"),
        *_derive_chance_of_readings(results),
    ]


def _derive_chance(folder: Path) -> Iterator[Explanation]:
    """Derive which figures of the letter may differ by chance: the paper's have as many runs."""
    for file, table in TABLES.items():
        for row in read_rows(folder / file):
            if row["letter_error"] and row["paper"]:
                error = float(row["letter_error"])
                away = abs(float(row["letter"]) - float(row["paper"]))
                if away < 2 * hypot(error, error, ROUNDED):
                    place = {"table": table, "method": row["method"], "tasks": (row["task"],)}
                    yield Explanation("cobs", CHANCE_OF_TWO, f"cobs/{file}", **place)


def _derive_chance_of_readings(results: Path) -> Iterator[Explanation]:
    """Derive which figures of readings may differ by chance."""
    rows = read_rows(results / READINGS)
    for (method, reading), reason in COBS_READINGS.items():
        found = [
            row["task"]
            for row in rows
            if (row["method"], row["reading"]) == (method, reading)
            and int(row.get("runs") or 0) >= FEWEST
            and is_chance(row)
        ]
        if found:
            told = reason.replace("is within 0.05", "is within two standard errors, which may be chance")
            yield Explanation("cobs", told, READINGS, method=method, tasks=found)


def is_chance(row: Row) -> bool:
    """Whether a reading is within two standard errors of a difference to 25 runs of the paper."""
    error = float(row["error"])
    of_paper = error * sqrt(int(row["runs"]) / PAPER_RUNS)
    return abs(float(row["ari"]) - float(row["printed"])) < 2 * hypot(error, of_paper, ROUNDED)


def _derive_fosc(results: Path) -> Iterator[Explanation]:
    rows = [row for row in read_rows(results / FOSC) if row["paper"]]
    for way, reason in FOSC_WAYS.items():
        if tasks := [row["task"] for row in rows if is_within(row[way], row["paper"])]:
            yield Explanation("cobs", reason, FOSC, method="fosc", tasks=tasks)


def _derive_readings(results: Path) -> Iterator[Explanation]:
    rows = read_rows(results / READINGS)
    for (method, reading), reason in COBS_READINGS.items():
        if tasks := select_within(rows, method, reading):
            yield Explanation("cobs", reason, READINGS, method=method, tasks=tasks)


def select_within(rows: Iterable[Row], method: str, reading: str) -> list[str]:
    """The data sets on which a reading of a method is within the tolerance."""
    return [
        row["task"]
        for row in rows
        if (row["method"], row["reading"]) == (method, reading) and is_within(row["ari"], row["printed"])
    ]


def is_within(ours: str, printed: str) -> bool:
    """Whether a figure is within the tolerance of the printed one, to two decimals."""
    return abs(round(float(ours), 2) - float(printed)) <= TOLERANCE + 1e-9


# ---------------------------------------------------------------- Halkidi et al.
CHOSEN = "halkidi/chosen.csv"
THIRTY = "By the reading p is within 0.05 in all thirty runs, of which ten often have too little power."


def derive_halkidi(results: Path) -> list[Explanation]:
    """Derive which p-values the chosen reading gives in all its runs, and not in the part that judges it."""
    return [
        Explanation("halkidi", THIRTY, CHOSEN, "Table I", row["competitor"], tasks=(row["task"],))
        for row in read_rows(results / CHOSEN)
        if is_near_p(row, "all") and not is_near_p(row, JUDGED)
    ]


def is_near_p(row: Row, part: str) -> bool:
    """Whether a p-value is within the tolerance of the printed one in a part of the runs."""
    return bool(row[f"{part} p"]) and abs(read_p(row[f"{part} p"]) - float(row["printed p"])) <= TOLERANCE
