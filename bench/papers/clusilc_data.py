"""The twelve data sets of Struyf and Džeroski (2007), with the counts of their Table 1.

Columns are unscaled, since the paper names no scaling. hayes-roth has the paper's four clusters, although
only three classes occur. The paper shows its numbers of constraints only on the axes of a figure. Ours go
as far as its text implies: past 300 for the small sets, and for yeast to trees of 773 nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from bench.harness import read_target
from bench.suites.cell_store import Row
from bench.suites.tasks import encode_classes, read_classes_csv
from linkwise.errors import DataError

SETS: dict[str, Row] = {row["task"]: row for row in read_target("clusilc_datasets.csv")}
SMALL, LARGE = (20, 50, 100, 200, 300, 500), (100, 300, 600, 1000, 2000)
MANY_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Set:
    """Rows, classes, the number of clusters to make."""

    X: np.ndarray
    y: np.ndarray
    k: int


def names(folder: Path | None) -> list[str]:
    """The sets that this folder holds."""
    if folder is None:
        return []
    return [name for name, row in SETS.items() if (folder / f"{row['file']}.csv").exists()]


def counts(name: str) -> tuple[int, ...]:
    """Numbers of constraints to draw."""
    return LARGE if int(SETS[name]["rows"]) > MANY_ROWS else SMALL


@cache
def load(name: str, folder: Path) -> Set:
    """A set; kept for the rest of the process.

    Raises
    ------
    DataError
        The table has other counts than the paper's.
    """
    row = SETS[name]
    X, classes, columns = read_classes_csv(folder / f"{row['file']}.csv")
    X = np.ascontiguousarray(X[:, [at for at, column in enumerate(columns) if column != "id"]])
    wanted = (int(row["rows"]), int(row["features"]))
    if X.shape != wanted:
        raise DataError(
            f"{row['file']}.csv has {X.shape} rows and features; the paper's {name} has {wanted}."
        )
    return Set(X, encode_classes(classes), int(row["clusters"]))
