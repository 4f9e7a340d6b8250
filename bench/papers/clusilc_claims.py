"""The claims of Struyf and Džeroski (2007), each beside our result.

The paper prints no table, so only the claims of section 4.2 can be compared. Each is checked for three
versions: both methods as printed, with our defaults, and as in the authors' program. A number that a claim
contains counts as found if ours is at most half as much again and at least two thirds of it: it depends on
the numbers of constraints, which the paper shows only on the axes of a figure. Seconds are of another
machine, so only the data set that a claim names is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bench.harness import read_target
from bench.papers.clusilc_curves import (
    CLEAR,
    Found,
    average_curve,
    counts_in,
    format_difference,
    join_names,
    judge_difference,
    largest_tree,
    less,
    longest_fit,
    mean,
    refused_share,
    tasks_in,
    values,
)
from bench.papers.clusilc_data import SETS
from bench.papers.clusilc_runs import VERSIONS
from bench.suites.cell_store import Row

Verdict = tuple[str, bool | None]
"""What was found, and whether the claim holds; None where it cannot be tested."""
Further = Mapping[str, Sequence[Row]]
"""The tables ``ends`` and ``draws`` of `clusilc_further`, by name."""
Check = Callable[[Found, str, Further], Verdict]
"""Of the trials, a version, and the further tables."""
Measure = Callable[[Found, str, str], float]
"""Of the trials, a data set, and a version of ClusILC."""
NO_ANSWER = ("wine", "heart-statlog", "liver-disorders", "ionosphere")
SEVERAL = ("image", "pendig")
ONE = 0.99  # a Rand index that is as good as 1
TRIALS = 60  # sets of constraints, in the paper
FACTOR = 1.5  # between a number of the text and ours
NOTHING: Verdict = ("", None)


def check_claims(found: Found, further: Further | None = None) -> list[tuple[str, ...]]:
    """The paper's words, and what was found and whether it holds for each version."""
    lines = []
    for claim in read_target("clusilc_claims.csv"):
        texts: list[str] = []
        for version, methods in VERSIONS.items():
            known = tasks_in(found, methods)
            measured, holds = CLAIMS[claim["claim"]](found, version, further or {}) if known else NOTHING
            texts += [measured, "not testable" if holds is None else "holds" if holds else "does not"]
        lines.append((claim["words"], *texts))
    return lines


# ---------------------------------------------------------------- beside COP-k-means
def held_out(found: Found, task: str, version: str) -> str:
    """ClusILC beside COP-k-means on the tenth fold."""
    return judge_difference(average_curve(less(found, task, *VERSIONS[version], "cv")))


def cv(words: str) -> Check:
    """Whether the sets of which the paper says so are so."""

    def check(found: Found, version: str, further: Further) -> Verdict:
        tasks = tasks_in(found, VERSIONS[version])
        named = [task for task in tasks if SETS[task]["in_words"] == words]
        confirmed = [task for task in named if held_out(found, task, version) == words]
        others = [f"{task} {held_out(found, task, version)}" for task in named if task not in confirmed]
        exceptions = f" (but {join_names(others)})" if others else ""
        return f"{len(confirmed)} of {len(named)}{exceptions}", confirmed == named if named else None

    return check


def surpasses(found: Found, version: str, further: Further) -> Verdict:
    """COP-k-means with the most constraints, or where the curve goes on until its Rand index is 1."""
    tree, rival = VERSIONS[version]
    tasks = tasks_in(found, (tree, rival))
    gaps = {task: less(found, task, rival, tree, "rand")[:, -1] for task in tasks}
    ahead = [task for task, gap in gaps.items() if judge_difference(mean(gap)) == "better"]
    leads = {
        row["task"]: float(row["rand"]) - float(row["trees"])
        for row in _ends_of(version, further)
        if row["trees"]
    }
    late = [task for task in gaps if task not in ahead and leads.get(task, 0.0) >= CLEAR]
    others = [task for task in gaps if task not in (*ahead, *late)]
    n = len(ahead) + len(late)
    parts = [f"{n} of {len(gaps)}, not on {join_names(others)}"]
    parts += [f"on {task} only past {counts_in(found, task)[-1]}" for task in late]
    return ", ".join(parts), 3 * n >= 2 * len(gaps)


def rises(found: Found, version: str, further: Further) -> Verdict:
    """Over the curve, or where the curve goes on until the Rand index is 1."""
    rival = VERSIONS[version][1]
    gaps = {task: values(found, task, rival, "rand") for task in tasks_in(found, (rival,))}
    up = [task for task, v in gaps.items() if _clearly_positive(v[:, -1] - v[:, 0])]
    at_end = {row["task"] for row in _ends_of(version, further) if float(row["rand"]) >= ONE}
    late = [task for task in gaps if task not in up and task in at_end]
    others = [task for task in gaps if task not in (*up, *late)]
    parts = [f"{len(up) + len(late)} of {len(gaps)}"]
    parts += [f"not on {join_names(others)}"] if others else []
    parts += [f"on {task} only past {counts_in(found, task)[-1]}" for task in late]
    return ", ".join(parts), not others


def becomes_one(found: Found, version: str, further: Further) -> Verdict:
    """By curves that go on until the Rand index is 1."""
    own = _ends_of(version, further)
    there = [row["task"] for row in own if float(row["rand"] or 0) >= ONE]
    if not own:
        return NOTHING
    return f"{len(there)} of {len(own)} with up to {max(int(row['constraints']) for row in own)}", len(
        there
    ) == len(own)


def needs_many(found: Found, version: str, further: Further) -> Verdict:
    """At least as many as every other set."""
    needed = {row["task"]: int(row["constraints"]) for row in _ends_of(version, further)}
    named = {task: n for task, n in needed.items() if task in SEVERAL}
    others = {task: n for task, n in needed.items() if task not in SEVERAL}
    if not named or not others:
        return NOTHING
    most = max(others, key=others.__getitem__)
    text = ", ".join(f"{task} {n}" for task, n in (*named.items(), (most, others[most])))
    return text, min(named.values()) >= others[most]


def no_answer(found: Found, version: str, further: Further) -> Verdict:
    """With some number, fewer than one of the sets that the paper draws at first has an answer.

    The footnote means these sets: because of them the paper draws again, and then it has answers, on wine
    after 1087 sets at most.
    """
    tasks = tasks_in(found, VERSIONS[version][1:])
    hit = [task for task in tasks if max(_sets_needed(found, task, version, further)) > TRIALS]
    return f"fewer than one answer in {TRIALS} sets: {join_names(hit)}", set(hit) == set(NO_ANSWER)


def redraws(found: Found, version: str, further: Further) -> Verdict:
    """Sets of constraints for one answer."""
    if "wine" not in tasks_in(found, VERSIONS[version][1:]):
        return NOTHING
    needed = _sets_needed(found, "wine", version, further)
    most = max(needed)
    worst = counts_in(found, "wine")[needed.index(most)]
    texts = ("no answer" if n == np.inf else f"{n:.0f}" for n in needed)
    return f"{', '.join(texts)} sets, worst {worst}", worst == 300 and _is_near(most, 1087)


def _sets_needed(found: Found, task: str, version: str, further: Further) -> list[float]:
    """How many sets of constraints one answer takes, for each number.

    For the authors' version they were counted, with constraints between any rows; else all fits of the trials
    give an estimate.
    """
    if version == "authors":
        by_count = {int(r["constraints"]): r for r in further.get("draws", ()) if r["task"] == task}
        if by_count:
            return [float(by_count[count]["needed"]) for count in counts_in(found, task)]
    share = refused_share(found, task, VERSIONS[version][1])
    return [float(n) for n in np.divide(1, 1 - share, out=np.full(len(share), np.inf), where=share < 1)]


# ---------------------------------------------------------------- trees
def larger(found: Found, version: str, further: Further) -> Verdict:
    tree = VERSIONS[version][0]
    nodes = {task: values(found, task, tree, "nodes") for task in tasks_in(found, (tree,))}
    up = [task for task, v in nodes.items() if _clearly_positive(v[:, -1] - v[:, 0])]
    return f"{len(up)} of {len(nodes)} sets", 3 * len(up) >= 2 * len(nodes)


def overfits(found: Found, version: str, further: Further) -> Verdict:
    """On the tenth fold the curve ends clearly (two errors) below an earlier place."""
    tree = VERSIONS[version][0]
    texts, falls = [], []
    for task in ("iris", "ecoli"):
        if task in tasks_in(found, (tree,)):
            v = values(found, task, tree, "cv")
            best = int(np.argmax([mean(column).value for column in v.T]))
            fall = mean(v[:, -1] - v[:, best])
            from_there = f"{format_difference(fall)} from {counts_in(found, task)[best]} on"
            texts.append(f"{task} {from_there if best < v.shape[1] - 1 else 'no fall'}")
            falls.append(_clearly_positive(v[:, best] - v[:, -1]))
    return ", ".join(texts), all(falls) if falls else None


def extreme(measure: Measure, pick: Callable[..., str], task: str, printed: float | None, unit: str) -> Check:
    """The set whose greatest figure is the least, or the greatest, and about as great as printed."""

    def check(found: Found, version: str, further: Further) -> Verdict:
        tree = VERSIONS[version][0]
        most = {name: measure(found, name, tree) for name in tasks_in(found, (tree,))}
        which = pick(most, key=most.__getitem__)
        own = f"; {task} {_short(most[task])}" if task in most and which != task else ""
        near = printed is None or _is_near(most[which], printed)
        return f"{which} {_short(most[which])}{unit}{own}", which == task and near

    return check


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def _is_near(number: float, printed: float) -> bool:
    return printed / FACTOR <= number <= printed * FACTOR


def _ends_of(version: str, further: Further) -> list[Row]:
    return [row for row in further.get("ends", ()) if row["method"] == VERSIONS[version][1]]


def _clearly_positive(differences: np.ndarray) -> bool:
    found = mean(differences)
    return bool(found.value > 2 * found.error)


CLAIMS: dict[str, Check] = {
    "cv-better": cv("better"),
    "cv-worse": cv("worse"),
    "cv-comparable": cv("comparable"),
    "all-surpasses": surpasses,
    "all-rises": rises,
    "all-one": becomes_one,
    "all-large": needs_many,
    "no-answer": no_answer,
    "redraws": redraws,
    "larger": larger,
    "overfits": overfits,
    "smallest-tree": extreme(largest_tree, min, "iris", 23, " nodes"),
    "largest-tree": extreme(largest_tree, max, "yeast", 773, " nodes"),
    "shortest": extreme(longest_fit, min, "balance", None, " s"),
    "longest": extreme(longest_fit, max, "heart-statlog", None, " s"),
}
