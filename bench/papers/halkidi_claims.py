"""What Halkidi et al. (2008) say in words about their figures, each beside our result.

Each claim is checked for the printed method and for our default, beside the same rivals, and for the reading
that was chosen by its result, beside the rivals of that reading. "More accurate"
compares means, as the figures do; "increases", "significant" and "does not help" are the one-tailed t-test of
Table I at 5 %.
Two Rand indices are alike if they differ by at most 0.05. A time is linear if a rising line explains 98 % of
the variance of its means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from bench.figures import TOLERANCE
from bench.harness import read_target
from bench.papers.halkidi_runs import BLOBS, COMPETITORS, FILES, LINKAGES, OURS, PRINTED, Setting
from bench.papers.halkidi_tests import NOT_TESTABLE, SIGNIFICANT, Found, one_tailed, read_values

CLAIM_FIELDS = (
    "claim", "where", "letter", "letter_holds", "default", "default_holds", "reading", "reading_holds",
)  # fmt: skip
Verdict = tuple[str, bool | None]
Check = Callable[[Found, str], Verdict]
ALMOST_ALL = 0.9
NOT_RUN = "not run"
FEW = 7  # dimensions, the number that the text names
FOUND = 0.95  # the Rand index of classes that are found
STRAIGHT = 0.98  # least share of the variance that a line explains


def check_claims(found: Found, chosen: Found | None) -> list[tuple[str, ...]]:
    """The paper's words, what was found and whether it holds: as printed, by default, by the chosen reading.

    `chosen` has the results of the reading under the settings of the letter; None leaves it out.
    """
    lines = []
    for claim in read_target("halkidi_claims.csv"):
        texts: list[str] = []
        for results, method in ((found, PRINTED), (found, OURS), (chosen, PRINTED)):
            if results is None:
                texts += ["", ""]
                continue
            try:
                measured, holds = CLAIMS[claim["claim"]](results, method)
            except KeyError:  # a setting that was not run
                texts += [NOT_RUN, NOT_RUN]
                continue
            texts += [measured, NOT_TESTABLE if holds is None else "holds" if holds else "does not"]
        lines.append((claim["words"], claim["where"], *texts))
    return lines


def rand(found: Found, task: str, method: str, **setting: Any) -> np.ndarray:
    """The Rand index of every run of a setting."""
    return read_values(found[Setting(task, method=method, **setting)])


def is_greater(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether the test finds that ours is greater; samples without variance show nothing."""
    return one_tailed(ours, theirs)[0] < SIGNIFICANT


def count(pairs: Iterable[tuple[str, bool]]) -> Verdict:
    """How many of the named comparisons are so, which are not, and whether all are."""
    named = list(pairs)
    others = [name for name, so in named if not so]
    exceptions = f" (not {', '.join(others)})" if 0 < len(others) <= 3 else ""
    return f"{len(named) - len(others)} of {len(named)}{exceptions}", not others


# ---------------------------------------------------------------- Figures 1 and 4
def finds(task: str, *rivals: str) -> Check:
    """The rivals do not find the classes of a made-up set, and the method does."""

    def check(found: Found, method: str) -> Verdict:
        means = {name: float(rand(found, task, name).mean()) for name in (*rivals, method)}
        text = ", ".join(f"{means[name]:.2f}" for name in rivals) + f" / {means[method]:.2f}"
        return text, means[method] >= FOUND > max(means[name] for name in rivals)

    return check


def rings(found: Found, method: str) -> Verdict:
    satisfied = read_values(found[Setting("rings", method=method)], "satisfied")
    return f"at most {satisfied.max():.0%} satisfied", bool(satisfied.max() < 1)


# ---------------------------------------------------------------- Figures 5 to 7, Table I
def outperforms(tasks: Iterable[str], spaces: Iterable[str]) -> Check:
    """The mean is greater than that of each rival."""

    def check(found: Found, method: str) -> Verdict:
        return count(
            (
                f"{task}: {rival}",
                bool(
                    rand(found, task, method, space=space).mean()
                    > rand(found, task, rival, space=space).mean()
                ),
            )
            for task in tasks for space in spaces for rival in COMPETITORS
        )  # fmt: skip

    return check


def significant(found: Found, method: str) -> Verdict:
    """Nine in ten of the tests that have a p-value; without MPCKMeans on spam, the exception."""
    p = [
        one_tailed(rand(found, task, method), rand(found, task, rival))[0]
        for task in FILES for rival in COMPETITORS
        if (task, rival) != ("spam", "MPCKMeans")
    ]  # fmt: skip
    tested = [one for one in p if not np.isnan(one)]
    wins = sum(one < SIGNIFICANT for one in tested)
    none = len(p) - len(tested)
    text = f"{wins} of {len(tested)}" + (f", {none} {NOT_TESTABLE}" if none else "")
    return text, wins >= ALMOST_ALL * len(tested) if tested else None


def spam_undecided(found: Found, method: str) -> Verdict:
    p = one_tailed(rand(found, "spam", method), rand(found, "spam", "MPCKMeans"))[0]
    return f"p = {p:.2g}", None if np.isnan(p) else SIGNIFICANT <= p <= 1 - SIGNIFICANT


def columns_similar(found: Found, method: str) -> Verdict:
    return count(
        (
            f"{task}: {rival}",
            not is_greater(
                rand(found, task, rival, space="columns"), rand(found, task, method, space="columns")
            ),
        )
        for task in FILES for rival in COMPETITORS
        if (task, rival) != ("spam", "MPCKMeans")
    )  # fmt: skip


def columns_spam(found: Found, method: str) -> Verdict:
    ours, theirs = (rand(found, "spam", m, space="columns").mean() for m in (method, "MPCKMeans"))
    return f"{theirs:.3f} / {ours:.3f}", bool(theirs > ours)


def _gain(found: Found, task: str, method: str) -> float:
    """How much the decomposition adds to the mean."""
    return float(rand(found, task, method).mean() - rand(found, task, method, space="columns").mean())


def svd_helps(found: Found, method: str) -> Verdict:
    helped = [task for task in FILES if _gain(found, task, method) > 0]
    which = f" ({', '.join(helped)})" if helped else ""
    return f"{len(helped)} of {len(FILES)}{which}", 2 * len(helped) > len(FILES)


def svd_not(found: Found, method: str) -> Verdict:
    """No significant gain: the sign alone is chance if there is none."""
    tasks = ("ionosphere", "soybean")
    text = ", ".join(f"{task} {_gain(found, task, method):+.3f}" for task in tasks)
    both = ([rand(found, task, method, space=space) for space in ("svd", "columns")] for task in tasks)
    return text, not any(is_greater(*each) for each in both)


# ---------------------------------------------------------------- Figure 8
def _shares(found: Found, task: str, method: str) -> list[int]:
    return sorted(s.must for s in found if s.task == task and s.method == method and s.must == s.cannot)


def _more(found: Found, task: str, method: str, percent: int) -> np.ndarray:
    return rand(found, task, method, must=percent, cannot=percent)


def more_ahead(*tasks: str) -> Check:
    """The mean is greater than that of each rival, for all numbers of constraints."""

    def check(found: Found, method: str) -> Verdict:
        return count(
            (
                f"{task}: {rival} {percent} %",
                bool(
                    _more(found, task, method, percent).mean() > _more(found, task, rival, percent).mean()
                ),
            )
            for task in tasks for rival in COMPETITORS[1:] for percent in _shares(found, task, rival)
        )  # fmt: skip

    return check


def _grows(first: int, last: int, found: Found, method: str) -> tuple[str, list[bool]]:
    """What more constraints add on ionosphere and soybean, and whether significantly."""
    both = {
        task: [_more(found, task, method, percent) for percent in (last, first)]
        for task in ("ionosphere", "soybean")
    }
    text = ", ".join(f"{task} {a.mean() - b.mean():+.3f}" for task, (a, b) in both.items())
    return text, [is_greater(a, b) for a, b in both.values()]


def more_rises(found: Found, method: str) -> Verdict:
    text, greater = _grows(5, 50, found, method)
    return text, all(greater)


def more_enough(found: Found, method: str) -> Verdict:
    text, greater = _grows(30, 50, found, method)
    return text, not any(greater)


def more_flat(found: Found, method: str) -> Verdict:
    few, many = (float(_more(found, "diabetes", method, percent).mean()) for percent in (5, 50))
    return f"{many - few:+.3f}", bool(0 <= many - few <= TOLERANCE)


# ---------------------------------------------------------------- Figure 9
def _by_dimensions(found: Found, task: str, method: str) -> dict[int, np.ndarray]:
    numbers = sorted(s.dimensions for s in found if s.task == task and s.method == method and s.dimensions)
    return {m: rand(found, task, method, dimensions=m) for m in numbers}


def few_enough(found: Found, method: str) -> Verdict:
    """The best of at most seven dimensions is not significantly worse than the best number of all."""
    texts, holds = [], []
    for task in ("ionosphere", "diabetes", "soybean"):
        values = _by_dimensions(found, task, method)
        few = max((m for m in values if m <= FEW), key=lambda m: values[m].mean())
        best = max(values, key=lambda m: values[m].mean())
        texts.append(f"{task} {values[few].mean():.3f} with {few}, {values[best].mean():.3f} with {best}")
        holds.append(best == few or not is_greater(values[best], values[few]))
    return "; ".join(texts), all(holds)


def rises_then_stays(*tasks: str) -> Check:
    """More with seven dimensions than with two, significantly, and then alike."""

    def check(found: Found, method: str) -> Verdict:
        texts, holds = [], []
        for task in tasks:
            values = _by_dimensions(found, task, method)
            gain = values[FEW].mean() - values[2].mean()
            later = [values[m].mean() - values[FEW].mean() for m in values if m > FEW]
            least, most = min(later), max(later)
            texts.append(f"{task} {gain:+.3f}, then {least:+.3f} to {most:+.3f}")
            stays = max(abs(least), abs(most)) <= TOLERANCE
            holds.append(stays and is_greater(values[FEW], values[2]))
        return "; ".join(texts), all(holds)

    return check


def protein(_: Found, __: str) -> Verdict:
    return "the set is not available", None


# ---------------------------------------------------------------- Figure 10
def _judge_line(at: list[int], means: list[float], unit: str) -> Verdict:
    """Whether a rising line explains most of the means."""
    r = float(np.corrcoef(at, means)[0, 1])
    first, last = (f"{1000 * means[end]:.0f} ms with {at[end]}{unit}" for end in (0, -1))
    return f"{first}, {last}; correlation {r:.3f}", r > 0 and r**2 >= STRAIGHT


def time_rows(found: Found, method: str) -> Verdict:
    times = {
        int(s.task.removeprefix(BLOBS)): float(read_values(rows, "seconds").mean())
        for s, rows in found.items() if s.task.startswith(BLOBS) and s.method == method
    }  # fmt: skip
    return _judge_line(list(times), list(times.values()), "")


def time_pairs(found: Found, method: str) -> Verdict:
    settings = {p: Setting("iris", method=method, must=p, cannot=p) for p in _shares(found, "iris", method)}
    means = [float(read_values(found[s], "seconds").mean()) for s in settings.values()]
    return _judge_line(list(settings), means, " %")


CLAIMS: dict[str, Check] = {
    "groups": finds("groups", "KMeans", *LINKAGES),
    "lines": finds("lines", "KMeans"),
    "outperforms": outperforms(FILES, ("svd",)),
    "significant": significant,
    "spam-undecided": spam_undecided,
    "columns-similar": columns_similar,
    "columns-spam": columns_spam,
    "svd-helps": svd_helps,
    "svd-not": svd_not,
    "svd-ahead": outperforms(("ionosphere", "soybean"), ("svd", "columns")),
    "more-ahead": more_ahead("ionosphere", "diabetes", "soybean"),
    "more-rises": more_rises,
    "more-enough": more_enough,
    "more-diabetes": more_ahead("diabetes"),
    "more-flat": more_flat,
    "few-enough": few_enough,
    "few-ionosphere": rises_then_stays("ionosphere"),
    "few-similar": rises_then_stays("diabetes", "soybean"),
    "few-protein": protein,
    "time-rows": time_rows,
    "time-pairs": time_pairs,
    "rings": rings,
}
