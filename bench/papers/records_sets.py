"""Public tables of records with known matches, of the repositories Hai0709/LLMCER and AI-team-UoA/pyJedAI.

The files lie in folders such as ``checkouts/Hai0709+LLMCER``. Those of LLMCER are of the commit that
``bench/firsthour/manifest.toml`` names, those of pyJedAI of 619b00eb. Restaurants are two tables, each free
of duplicates, so they are linked with the table as origin. Choices were made on all sets but the test sets.
Rows that a file of true matches does not name match nobody.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from linkwise.learn.records import match_prior
from linkwise.learn.records.records import Records, make_records

FOLDER = Path("Hai0709+LLMCER") / "datasets"
TWO_TABLES = Path("AI-team-UoA+pyJedAI") / "data" / "ccer"
ORIGIN = "origin"


class RecordSet(NamedTuple):
    """One table: its files, the columns that are compared, and what it is for."""

    table: str
    matches: str
    columns: tuple[str, ...] = ()  # all but the number of a row by default
    role: str = "development"
    other: str = ""  # a second table

    @property
    def folder(self) -> Path:
        """Where its files lie."""
        return TWO_TABLES if self.other else FOLDER

    @property
    def origin(self) -> str | None:
        """The column of which records with the same value never match."""
        return ORIGIN if self.other else None


SETS = {
    "cora": RecordSet("cora/cora.csv", "cora/gt.csv"),
    "alaska": RecordSet("sigmod/alaska.csv", "sigmod/alaska_gt.csv"),
    "song": RecordSet("song/songs.csv", "song/gt.txt"),
    "music20k": RecordSet("music20K/music20K.csv", "music20K/ground_truth.txt"),
    "cora_title": RecordSet("cora/cora.csv", "cora/gt.csv", columns=("title",)),
    "song_title": RecordSet("song/songs.csv", "song/gt.txt", columns=("title",)),
    "dblp_google": RecordSet("google-DBLP/data.csv", "google-DBLP/gt.csv", role="test"),
    "citeseer": RecordSet("citesheer/Citesheer_dblp.csv", "citesheer/citesheer_gt.txt", role="test"),
    "restaurants": RecordSet("D1/rest1.csv", "D1/gt.csv", role="test", other="D1/rest2.csv"),
    "amazon_google": RecordSet("Amazon-Google/amazon_google.csv", "Amazon-Google/gt.csv", role="more"),
    "walmart_amazon": RecordSet(
        "Walmart_Amazon/walmart_amazon.csv", "Walmart_Amazon/ground_truth.csv", role="more"
    ),
    "affiliation": RecordSet("affiliation/affiliation.csv", "affiliation/ground_truth.csv", role="more"),
}
CURVES = {
    "cora": (-13.87, 32.16, -14.84),
    "alaska": (-8.82, 22.76, -8.89),
    "song": (-9.64, 24.07, -9.93),
    "music20k": (-9.59, 23.98, -9.93),
}
"""The curve of the prior that the other development sets give, as `records_prior` prints it."""
PRIOR_SETS = tuple(CURVES)
LEARNED_CURVE = match_prior.CURVE


def leave_out(name: str) -> None:
    """Expect matches by a curve that was learned without a set, or any part of it, from now on."""
    match_prior.CURVE = CURVES.get(name.partition("_")[0], LEARNED_CURVE)


def find_table(name: str, checkouts: Path) -> Path:
    """Where the table of a set is."""
    return checkouts / SETS[name].folder / SETS[name].table


@cache
def read_frame(name: str, checkouts: Path) -> pl.DataFrame:
    """The table of a set, as text and numbers."""
    if SETS[name].other:
        return read_two_tables(SETS[name], checkouts)
    frame = pl.read_csv(find_table(name, checkouts), infer_schema_length=None, encoding="utf8-lossy")
    return frame.select(["id", *SETS[name].columns]) if SETS[name].columns else frame


def read_two_tables(two: RecordSet, checkouts: Path) -> pl.DataFrame:
    """Two tables below each other, with columns that are named alike and the number of the table."""
    frames = []
    for number, file in enumerate((two.table, two.other), 1):
        frame = pl.read_csv(checkouts / two.folder / file, separator="|", infer_schema=False)
        frame = frame.rename({column: column.rpartition("#")[2] for column in frame.columns})
        frames.append(
            frame.with_columns(
                pl.lit(str(number)).alias(ORIGIN), pl.format("{}-{}", pl.lit(number), "id").alias("id")
            )
        )
    return pl.concat(frames)


def read_records(name: str, checkouts: Path) -> Records:
    """The table of a set as records."""
    frame = read_frame(name, checkouts)
    origin = SETS[name].origin
    compared = [column for column in frame.columns if column not in ("id", origin)]
    return make_records(nw.from_native(frame), compared, origin=origin)


def read_classes(name: str, checkouts: Path) -> NDArray[np.int64]:
    """The true group of each row."""
    frame = read_frame(name, checkouts)
    row = {str(value): at for at, value in enumerate(frame["id"].to_list())}
    path = checkouts / SETS[name].folder / SETS[name].matches
    text = path.read_text()
    if SETS[name].other:
        lines = [[f"{n}-{row}" for n, row in enumerate(line.split("|"), 1)] for line in text.splitlines()[1:]]
    else:
        lines = [line.split() for line in text.splitlines()] if path.suffix == ".txt" else read_pairs(text)
    pairs = [
        (row[line[0].strip()], row[other.strip()])
        for line in lines
        for other in line[1:]
        if line[0].strip() in row and other.strip() in row
    ]
    first, second = np.array(pairs).T
    graph = coo_array((np.ones(len(pairs)), (first, second)), shape=(len(row), len(row)))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def read_pairs(text: str) -> list[list[str]]:
    """Pairs of rows below a header."""
    return list(csv.reader(text.splitlines()))[1:]
