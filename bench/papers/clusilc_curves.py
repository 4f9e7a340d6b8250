"""Curves over numbers of constraints, and a rule for when one is better than another.

The paper reads "better" and "comparable" off its figure and gives no rule. Here two methods are compared on
the same sets of constraints. The difference of their Rand indices is averaged over a curve and over the sets
of constraints. It is clear if it is at least 0.02 and more than two standard errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bench.papers.clusilc_data import SETS
from bench.papers.clusilc_runs import FOLDS
from bench.suites.cell_store import Row
from bench.suites.summaries import Mean, mean_of

CLEAR, ERRORS = 0.02, 2.0
Found = Mapping[tuple[str, str, int], Sequence[Row]]
"""Trials by data set, method and number of constraints, in the order of the sets of constraints."""


def tasks_in(found: Found, methods: Iterable[str] = ()) -> list[str]:
    """Data sets that have trials, of all these methods."""
    here = {(task, method) for task, method, _ in found}
    tasks = {task for task, _ in here}
    return [name for name in SETS if name in tasks and all((name, method) in here for method in methods)]


def methods_in(found: Found) -> list[str]:
    return list(dict.fromkeys(method for _, method, _ in found))


def counts_in(found: Found, task: str) -> list[int]:
    return sorted({count for name, _, count in found if name == task})


def values(found: Found, task: str, method: str, field: str) -> np.ndarray:
    """One line for each set of constraints, one column for each number; NaN where there is no answer."""
    return np.array(
        [
            [float(row[field]) if row[field] else np.nan for row in found[task, method, count]]
            for count in counts_in(found, task)
        ]
    ).T


def largest_tree(found: Found, task: str, tree: str) -> float:
    """The nodes of the largest tree in all trials."""
    return float(np.nanmax(values(found, task, tree, "most_nodes")))


def longest_fit(found: Found, task: str, tree: str) -> float:
    """The seconds of the longest fit, with the number of constraints that takes longest.

    It is the median over the sets of constraints, because any single fit may have waited for other programs.
    """
    return float(np.nanmax(np.nanmedian(values(found, task, tree, "most_seconds"), axis=0)))


def less(found: Found, task: str, one: str, other: str, field: str) -> np.ndarray:
    """Values of one method less those of the other, for the sets of constraints that both have had."""
    a, b = (values(found, task, method, field) for method in (one, other))
    n_sets = min(len(a), len(b))
    return a[:n_sets] - b[:n_sets]


def mean(numbers: np.ndarray) -> Mean:
    """Mean of those that are known; of none it is unknown."""
    known = numbers[~np.isnan(numbers)]
    return mean_of(known) if len(known) else Mean(np.nan)


def means(lines: np.ndarray) -> list[Mean]:
    """Mean of each column."""
    return [mean(column) for column in lines.T]


def refused_share(found: Found, task: str, method: str) -> np.ndarray:
    """Share of the drawn sets of constraints for which there was no answer, for each number."""
    again, failed = (values(found, task, method, field).sum(axis=0) for field in ("redraws", "failed"))
    fits = len(values(found, task, method, "failed")) * (1 + FOLDS)
    return (again + failed) / (again + fits)


def average_curve(differences: np.ndarray) -> Mean:
    """Mean over the curve, then over the sets of constraints."""
    known = ~np.isnan(differences)
    totals = np.where(known, differences, 0.0).sum(axis=1)
    return mean(
        np.divide(totals, known.sum(axis=1), out=np.full(len(totals), np.nan), where=known.any(axis=1))
    )


def judge_difference(difference: Mean) -> str:
    """What a difference says in the paper's words; with a single set of constraints nothing is clear."""
    if abs(difference.value) >= CLEAR and abs(difference.value) > ERRORS * difference.error:
        return "better" if difference.value > 0 else "worse"
    return "comparable"


def format_difference(difference: Mean) -> str:
    """A difference as text."""
    error = "" if np.isnan(difference.error) else f" ± {difference.error:.3f}"
    return f"{difference.value:+.3f}{error}"


def join_names(tasks: Iterable[str]) -> str:
    """Names in a row."""
    return ", ".join(tasks) or "none"
