"""Compare the advice of KIN with the truth: the share of wrong rows, and whether to stop.

The runs are those of `bench.papers.active`. The true share of wrong rows is what the best one-to-one matching
of clusters and classes leaves over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from bench.suites.cell_store import Row
from linkwise.learn.advice import StopAdvice

CALIBRATED_AT = (25, 50, 100)
"""Numbers of answers after which the advice is compared."""
FEW_WRONG = 0.1
"""The largest true share of wrong rows with which the advice to stop is right."""
CALIBRATION_HEAD = (
    "group", "answers", "runs", "estimates", "expected", "true", "difference", "stops", "right", "worst",
)  # fmt: skip
"""Columns of the table.

"estimates" is the number of runs in which KIN estimates the share of wrong rows. "expected" is the mean of
these estimates, "true" the mean true share in the same runs, and "difference" the mean distance of both.
"stops" is the number of runs in which KIN advises to stop, "right" the part of them with few wrong rows, and
"worst" the largest true share of wrong rows among them.
"""


def describe_advice(advice: StopAdvice | None, y: ArrayLike, labels: ArrayLike, n_answers: int) -> Row:
    """Columns of a cell: every field of the advice, empty if unknown, and the true share of wrong rows."""
    given = {} if advice is None else asdict(advice)
    values = {field.name: given.get(field.name) for field in fields(StopAdvice)}
    row = {f"{name} {n_answers}": "" if value is None else f"{value:g}" for name, value in values.items()}
    return {**row, f"true {n_answers}": f"{share_of_wrong_rows(y, labels):.4f}"}


def share_of_wrong_rows(y: ArrayLike, labels: ArrayLike) -> float:
    """The share of the rows outside the best one-to-one matching of clusters and classes."""
    counts = contingency_matrix(y, labels)
    return 1 - float(counts[linear_sum_assignment(counts, maximize=True)].sum() / counts.sum())


def build_calibration(rows: Iterable[Row], groups: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """A line for each whole group and number of answers, out of the cells of one learner."""
    by_task: dict[str, list[Row]] = {}
    for row in rows:
        by_task.setdefault(row["task"], []).append(row)
    lines = []
    for group, tasks in groups.items():
        found = [row for task in tasks for row in by_task.get(task, ())]
        for n in CALIBRATED_AT if by_task.keys() >= set(tasks) else ():
            if all(row.get(f"true {n}") for row in found):
                lines.append((group, str(n), *summarise_advice(found, n)))
    return lines


def summarise_advice(rows: Sequence[Row], n_answers: int) -> tuple[str, ...]:
    """The columns from "runs" on; means are empty where there is nothing to average."""
    columns = [f"{name} {n_answers}" for name in ("stop", "wrong", "true")]
    stop, expected, true = np.array([[float(row[column] or "nan") for column in columns] for row in rows]).T
    is_known, ends = ~np.isnan(expected), true[stop == 1]
    expected, beside = expected[is_known], true[is_known]
    return (
        str(len(rows)),
        str(len(expected)),
        *(_format_mean(values) for values in (expected, beside, np.abs(expected - beside))),
        str(len(ends)),
        _format_mean(ends <= FEW_WRONG),
        f"{ends.max():.3f}" if len(ends) else "",
    )


def _format_mean(values: np.ndarray) -> str:
    return f"{values.mean():.3f}" if len(values) else ""
