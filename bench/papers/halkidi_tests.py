"""The t-tests of Halkidi et al. (2008), and the verdict on each."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from scipy.stats import ttest_ind, ttest_rel

from bench.papers.halkidi_runs import Setting

SIGNIFICANT = 0.05
NOT_TESTABLE = "not testable"
SAME = "same"
Found = dict[Setting, list[dict[str, str]]]


def read_values(rows: Sequence[dict[str, str]], field: str = "rand") -> np.ndarray:
    return np.array([float(row[field]) for row in rows])


def one_tailed(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    """One-tailed p-values of "ours is greater": of the two-sample and of the paired t-test.

    A test without any variance has no p-value, and gives NaN: the first if both samples are constant, the
    second if their difference is, or if they are not pairs.
    """
    two_sample = paired = float("nan")
    with warnings.catch_warnings(action="ignore"):  # runs that nearly agree lose digits, far from a p of 0.05
        if np.ptp(ours) > 0 or np.ptp(theirs) > 0:
            two_sample = float(ttest_ind(ours, theirs, alternative="greater").pvalue)
        if len(ours) == len(theirs) and np.ptp(ours - theirs) > 0:
            paired = float(ttest_rel(ours, theirs, alternative="greater").pvalue)
    return two_sample, paired


def format_p(p: float) -> str:
    """Format a p-value with two significant digits, or say that there is none."""
    return NOT_TESTABLE if np.isnan(p) else f"{p:.2g}"


def read_p(text: str) -> float:
    """Read what `format_p` wrote."""
    return float("nan") if text == NOT_TESTABLE else float(text)


def judge_test(p: float, printed: float) -> str:
    """Compare the conclusion at 5 % with the printed one, which is a win but for one exception."""
    if np.isnan(p):
        return NOT_TESTABLE
    found = "win" if p < SIGNIFICANT else "reverse" if p > 1 - SIGNIFICANT else "no win"
    if found == ("win" if printed < SIGNIFICANT else "no win"):
        return SAME
    return found
