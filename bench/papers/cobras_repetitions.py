"""Whole repetitions of the COBRAS paper's experiment, a line each.

The folds of a repetition take megabytes, and nothing needs more of them than their mean. So the file of
repetitions is what is committed: it holds what was measured, and a later run goes on from it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from bench.papers.cobras_runs import CURVE, TIMED
from bench.suites.cell_store import Cell, Row, read_rows
from bench.suites.code_keys import fingerprint

FILE = "repetitions.csv"
KEY = ("task", "learner", "repetition", "n_folds", "questions")
MEASURED = ("asked", "seconds", f"seconds_{TIMED}", "longest_wait_s")


def keep_repetitions(folder: Path, files: Iterable[str]) -> list[Row]:
    """Add the repetitions all of whose folds were run to the file of repetitions.

    Parameters
    ----------
    folder : Path
        Folder of the cells and of the file.
    files : iterable of str
        Files of cells. Of several rows of a cell the last one counts.

    Returns
    -------
    list of dict
        All kept repetitions, sorted.
    """
    kept = {_key(row): row for row in read_rows(folder / FILE)}
    for file in files:
        folds: dict[Cell, dict[str, Row]] = {}
        for row in read_rows(folder / file):
            folds.setdefault(_key(row), {})[row.get("fold", "")] = row
        for key, rows in folds.items():
            if "" in rows or len(rows) == int(key[KEY.index("n_folds")]):
                kept[key] = average_folds(list(rows.values()))
    found = [kept[key] for key in sorted(kept)]
    _write(folder / FILE, found)
    return found


def average_folds(rows: Sequence[Row]) -> Row:
    """Return the row of a repetition from those of its folds."""
    curves = np.array([row[CURVE].split() for row in rows], dtype=float)
    means = {name: f"{np.mean([float(row[name]) for row in rows]):.4f}" for name in MEASURED}
    head = {name: rows[-1][name] for name in (*KEY, "code")}
    return {**head, **means, CURVE: " ".join(f"{ari:.4f}" for ari in curves.mean(axis=0))}


def missing_cells(
    folder: Path, cells: Iterable[Cell], uses: Callable[[Cell], Sequence[str]], *, reuse: bool
) -> list[Cell]:
    """Return the cells whose repetition is not kept, or was measured with other code.

    Parameters
    ----------
    folder : Path
        Folder of the file of repetitions.
    cells : iterable of tuple of str
        Task, learner, repetition, fold if a cell is one fold, number of folds, questions.
    uses : callable
        Where a cell enters linkwise.
    reuse : bool
        Whether a repetition counts whatever has changed since.
    """
    kept = {_key(row): row["code"] for row in read_rows(folder / FILE)}

    def is_kept(cell: Cell) -> bool:
        code = kept.get((*cell[:3], *cell[-2:]))
        return code is not None and (reuse or code == fingerprint(*uses(cell)))

    return [cell for cell in cells if not is_kept(cell)]


def _key(row: Row) -> Cell:
    return tuple(row[name] for name in KEY)


def _write(path: Path, rows: Sequence[Row]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, (*KEY, "code", *MEASURED, CURVE), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue())
