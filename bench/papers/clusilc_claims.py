"""The claims of Struyf and Džeroski (2007), each beside our result.

The paper prints no table, so only the claims of section 4.2 can be compared. Each is checked twice, for
ClusILC as printed and with our defaults.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.harness import read_target
from bench.papers.clusilc_curves import (
    Found,
    average_curve,
    counts_in,
    format_difference,
    join_names,
    judge_difference,
    mean,
    refused_share,
    tasks_in,
    values,
)
from bench.papers.clusilc_data import LARGE, SETS
from bench.papers.clusilc_runs import COP, COP_PRINTED, OURS, PRINTED

Verdict = tuple[str, bool]
Check = Callable[[Found, str], Verdict]
NO_ANSWER = ("wine", "heart-statlog", "liver-disorders", "ionosphere")
SEVERAL = ("image", "pendig")
ONE = 0.99  # a Rand index that is as good as 1
MOST = 0.9  # of the sets of constraints: so many without an answer is none "for large sets"


def check_claims(found: Found) -> list[tuple[str, ...]]:
    """The paper's words, what was found and whether it holds: as printed, then with our defaults."""
    lines = []
    for claim in read_target("clusilc_claims.csv"):
        texts: list[str] = []
        for method in (PRINTED, OURS):
            measured, holds = CLAIMS[claim["claim"]](found, method)
            texts += [measured, "holds" if holds else "does not"]
        lines.append((claim["words"], *texts))
    return lines


# ---------------------------------------------------------------- beside COP-k-means
def held_out(found: Found, task: str, method: str) -> str:
    """ClusILC beside COP-k-means on the tenth fold."""
    return judge_difference(average_curve(values(found, task, method, "cv") - values(found, task, COP, "cv")))


def cv(words: str) -> Check:
    """Whether the sets of which the paper says so are so."""

    def check(found: Found, method: str) -> Verdict:
        named = [task for task in tasks_in(found) if SETS[task]["in_words"] == words]
        confirmed = [task for task in named if held_out(found, task, method) == words]
        others = [f"{task} {held_out(found, task, method)}" for task in named if task not in confirmed]
        exceptions = f" (but {join_names(others)})" if others else ""
        return f"{len(confirmed)} of {len(named)}{exceptions}", confirmed == named

    return check


def surpasses(found: Found, method: str) -> Verdict:
    """COP-k-means with the most constraints."""
    gaps = {task: _last(found, task, COP) - _last(found, task, method) for task in tasks_in(found)}
    ahead = [task for task, gap in gaps.items() if judge_difference(mean(gap)) == "better"]
    others = [task for task in gaps if task not in ahead]
    return f"{len(ahead)} of {len(gaps)}, not on {join_names(others)}", 3 * len(ahead) >= 2 * len(gaps)


def rises(found: Found, method: str) -> Verdict:
    gaps = {task: values(found, task, COP, "rand") for task in tasks_in(found)}
    up = [task for task, v in gaps.items() if _clearly_positive(v[:, -1] - v[:, 0])]
    others = [task for task in gaps if task not in up]
    return f"{len(up)} of {len(gaps)}, not on {join_names(others)}", not others


def becomes_one(found: Found, method: str) -> Verdict:
    """Only in so far as the curves reach."""
    ends = {task: mean(_last(found, task, COP)).value for task in tasks_in(found)}
    least = min(ends, key=ends.__getitem__)
    there = sum(end >= ONE for end in ends.values())
    return f"{there} of {len(ends)} end at {ONE} or more; least {least}, {ends[least]:.2f}", there == len(
        ends
    )


def needs_many(found: Found, method: str) -> Verdict:
    """With the most constraints of all it is not yet near 1."""
    ends = {task: mean(_last(found, task, COP)).value for task in SEVERAL if task in tasks_in(found)}
    text = ", ".join(f"{task} {end:.2f}" for task, end in ends.items())
    return f"{text} with {LARGE[-1]}", all(end < ONE for end in ends.values())


def no_answer(found: Found, method: str) -> Verdict:
    """Nine in ten sets of constraints, of some number, have no answer."""
    most = {task: refused_share(found, task, cop_of(method)).max() for task in tasks_in(found)}
    hit = [task for task, share in most.items() if share > MOST]
    return f"more than {MOST:.0%} refused: {join_names(hit)}", set(hit) == set(NO_ANSWER)


def redraws(found: Found, method: str) -> Verdict:
    """Sets of constraints for one answer."""
    share = refused_share(found, "wine", cop_of(method)) if "wine" in tasks_in(found) else np.zeros(1)
    needed = [f"{1 / (1 - part):.0f}" if part < 1 else "no answer" for part in share]
    worst = counts_in(found, "wine")[int(share.argmax())] if "wine" in tasks_in(found) else 0
    return f"{', '.join(needed)} sets, worst {worst}", bool(share.max() > 0.99)


def cop_of(method: str) -> str:
    """The COP-k-means that stands beside: as printed beside the printed."""
    return COP_PRINTED if method == PRINTED else COP


# ---------------------------------------------------------------- trees
def larger(found: Found, method: str) -> Verdict:
    nodes = {task: values(found, task, method, "nodes") for task in tasks_in(found)}
    up = [task for task, v in nodes.items() if _clearly_positive(v[:, -1] - v[:, 0])]
    return f"{len(up)} of {len(nodes)} sets", 3 * len(up) >= 2 * len(nodes)


def overfits(found: Found, method: str) -> Verdict:
    """On the tenth fold the curve ends clearly (two errors) below an earlier place."""
    texts, falls = [], []
    for task in ("iris", "ecoli"):
        if task in tasks_in(found):
            v = values(found, task, method, "cv")
            best = int(np.argmax([mean(column).value for column in v.T]))
            fall = mean(v[:, -1] - v[:, best])
            texts.append(f"{task} {format_difference(fall)} from {counts_in(found, task)[best]} on")
            falls.append(_clearly_positive(v[:, best] - v[:, -1]))
    return ", ".join(texts), bool(falls) and all(falls)


def extreme(field: str, pick: Callable[..., str], task: str, unit: str) -> Check:
    """The set whose greatest figure is the least, or the greatest."""

    def check(found: Found, method: str) -> Verdict:
        most = {name: float(np.nanmax(values(found, name, method, field))) for name in tasks_in(found)}
        which = pick(most, key=most.__getitem__)
        own = f"; {task} {most[task]:.3g}" if task in most and which != task else ""
        return f"{which} {most[which]:.3g}{unit}{own}", which == task

    return check


def _last(found: Found, task: str, method: str) -> np.ndarray:
    """Rand index on all rows with the most constraints."""
    return values(found, task, method, "rand")[:, -1]


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
    "smallest-tree": extreme("most_nodes", min, "iris", " nodes"),
    "largest-tree": extreme("most_nodes", max, "yeast", " nodes"),
    "shortest": extreme("most_seconds", min, "balance", " s"),
    "longest": extreme("most_seconds", max, "heart-statlog", " s"),
}
