"""The claims of the COBRAS paper in words, each as a test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.harness import read_target
from bench.papers.cobras_measured import COBRA, METHODS, VERSIONS, Measured
from bench.papers.cobras_rivals import RIVALS

CLAIM_FIELDS = ("claim", *(field for version in VERSIONS for field in (version, f"{version}_holds")))
EARLY = 5  # "a very small number of queries"
CLEAR = 0.05  # a difference in average ARI that is called clear here; below it is small
SLOW = 2.0  # a ratio of run times that is called significant here
LIMIT = 10.0  # seconds, from the paper
SOON = 1.0  # second, within which a question is called fast here
ENOUGH = 0.5  # share of the tasks; with fewer, what was measured is shown and nothing is concluded
Verdict = tuple[str, bool | None]
"""What was measured, and whether the claim holds; None if it cannot be tested."""


def check_claims(m: Measured) -> list[tuple[str, ...]]:
    """Return a line for each claim: its words, then what was measured and the verdict in each version."""
    versions = [m.as_version(version) for version in VERSIONS]
    lines = []
    for claim in read_target("cobras_claims.csv"):
        verdicts = [CLAIMS[claim["claim"]](version) for version in versions]
        texts = [text for measured, holds in verdicts for text in (measured, name_verdict(holds))]
        lines.append((claim["words"], *texts))
    return lines


def name_verdict(holds: bool | None) -> str:
    return "not testable" if holds is None else "holds" if holds else "does not"


def _among(m: Measured, *rivals: str) -> Measured | None:
    """COBRA, COBRAS and some rivals on the tasks that all have; None if one of them has none."""
    names = [method for method in METHODS if method not in RIVALS or method in rivals]
    found = m.shared(names)
    return found if len(found.tasks) and len(found.learners) == len(names) else None


def _fewer(found: Measured, m: Measured) -> str:
    """Return the number of tasks if some are missing."""
    return "" if len(found.tasks) == len(m.tasks) else f", {len(found.tasks)} tasks"


def _at(m: Measured, learner: str, question: int) -> tuple[float, float]:
    """Average ARI and aligned rank after a question, or after the last one."""
    which, q = m.learners.index(learner), min(question, m.n_questions) - 1
    return float(m.mean()[which, q]), float(m.ranks()[which, q])


# ---------------------------------------------------------------- COBRA and COBRAS
def _ahead(rival: str, question: int) -> Callable[[Measured], Verdict]:
    """Whether COBRA has the better aligned rank: the figure from which the paper reads these claims."""

    def check(m: Measured) -> Verdict:
        if (own := _among(m)) is None:
            return "", None
        (ari, rank), (own_ari, own_rank) = _at(own, rival, question), _at(own, "COBRAS", question)
        text = f"rank {rank:.1f} / {own_rank:.1f}, ARI {ari:.3f} / {own_ari:.3f}{_fewer(own, m)}"
        return text, rank < own_rank

    return check


def _lead_is_small(m: Measured) -> Verdict:
    if (own := _among(m)) is None:
        return "", None
    lead = _at(own, "COBRA-25", 25)[0] - _at(own, "COBRAS", 25)[0]
    return f"ARI {lead:+.3f}{_fewer(own, m)}", 0 < lead < CLEAR


def _behind(rival: str, question: int) -> Callable[[Measured], Verdict]:
    def check(m: Measured) -> Verdict:
        if (own := _among(m)) is None:
            return "", None
        gap = _at(own, "COBRAS", question)[0] - _at(own, rival, question)[0]
        return f"ARI {-gap:+.3f} at {min(question, own.n_questions)}{_fewer(own, m)}", gap >= CLEAR

    return check


def _coarse_or_late(first: str, second: str, question: int) -> Callable[[Measured], Verdict]:
    """Whether one COBRA is better than another after a question."""

    def check(m: Measured) -> Verdict:
        if (own := _among(m)) is None:
            return "", None
        one, other = (_at(own, name, question)[0] for name in (first, second))
        last = min(question, own.n_questions)
        return f"ARI {one:.3f} / {other:.3f} at {last}{_fewer(own, m)}", one > other

    return check


def _overall(m: Measured) -> Verdict:
    """Whether COBRAS has a better average ARI than each COBRA over all questions."""
    if (own := _among(m)) is None:
        return "", None
    course = dict(zip(own.learners, own.mean().mean(axis=1), strict=True))
    best = max(COBRA, key=course.__getitem__)
    text = f"{best} {course[best]:.3f} / {course['COBRAS']:.3f}, 1 to {own.n_questions}{_fewer(own, m)}"
    return text, bool(course["COBRAS"] > course[best])


# ---------------------------------------------------------------- all methods
def _best_of_all(m: Measured) -> Verdict:
    """Whether COBRAS has the best aligned rank of all methods, averaged over the questions."""
    if (found := _among(m, *RIVALS)) is None:
        return "", None
    ranks = dict(zip(found.learners, found.ranks().mean(axis=1), strict=True))
    best = min((name for name in ranks if name != "COBRAS"), key=ranks.__getitem__)
    text = f"{best} {ranks[best]:.1f} / {ranks['COBRAS']:.1f}, {_extent(found)}"
    return text, _if_enough(found, m, ranks["COBRAS"] < ranks[best])


def _better_than(rival: str) -> Callable[[Measured], Verdict]:
    """Whether COBRAS has the better aligned rank and the higher ARI, averaged over the questions."""

    def check(m: Measured) -> Verdict:
        if (found := _among(m, rival)) is None:
            return "", None
        which = [found.learners.index(name) for name in (rival, "COBRAS")]
        (rank, own_rank), (ari, own_ari) = (
            values.mean(axis=1)[which] for values in (found.ranks(), found.mean())
        )
        text = f"rank {rank:.1f} / {own_rank:.1f}, ARI {ari:.3f} / {own_ari:.3f}, {_extent(found)}"
        return text, _if_enough(found, m, own_rank < rank and own_ari > ari)

    return check


def _good_early(method: str) -> Callable[[Measured], Verdict]:
    """Whether the aligned rank after very few questions is better than that of an average method."""

    def check(m: Measured) -> Verdict:
        if (found := _among(m, *({method} & set(RIVALS)))) is None:
            return "", None
        rank = _at(found, method, EARLY)[1]
        middle = (len(found.tasks) * len(found.learners) + 1) / 2
        text = f"rank {rank:.1f}, average {middle:.1f}, at {EARLY}, {len(found.tasks)} tasks"
        return text, _if_enough(found, m, rank < middle)

    return check


def _extent(m: Measured) -> str:
    return f"{len(m.tasks)} tasks, 1 to {m.n_questions}"


def _if_enough(found: Measured, m: Measured, holds: object) -> bool | None:
    return bool(holds) if len(found.tasks) >= ENOUGH * len(m.tasks) else None


# ---------------------------------------------------------------- run time
def _times(m: Measured, learner: str) -> np.ndarray:
    """Seconds of a run with 100 questions on each task; those of COBS with the pool."""
    found: np.ndarray = m.seconds[:, m.learners.index(learner)] + (m.pools if learner == "COBS" else 0.0)
    return found


def ratios(m: Measured, rival: str) -> np.ndarray:
    """Run time of COBRAS over that of a rival on each task; NaN for what was not run."""
    return _times(m, "COBRAS") / _times(m, rival)


def _slower(*slow: str, than: str, by: float = 1.0) -> Callable[[Measured], Verdict]:
    """Whether methods take longer than another on most tasks, and in the median by a factor."""

    def check(m: Measured) -> Verdict:
        texts, verdicts = [], []
        for name in slow:
            ratio = _times(m, name) / _times(m, than)
            ratio = ratio[~np.isnan(ratio)]
            if not len(ratio):
                return "", None
            more, median = int((ratio > 1).sum()), float(np.median(ratio))
            texts.append(f"{name} on {more} of {len(ratio)} tasks, median ratio {median:.1f}")
            is_enough = len(ratio) >= ENOUGH * len(m.tasks)
            verdicts.append(2 * more > len(ratio) and median >= by if is_enough else None)
        return "; ".join(texts), None if None in verdicts else all(verdicts)

    return check


def _fastest(m: Measured) -> Verdict:
    """Whether COBRA-25 is the fastest of all methods on most tasks (COBRA-10 and COBRA-50 apart)."""
    others = [name for name in METHODS if name not in COBRA]
    times = np.array([_times(m, name) for name in ("COBRA-25", *others)])
    if np.isnan(times).all(axis=1).any():
        return "", None
    times = times[:, ~np.isnan(times[0])]
    first = int((np.nanargmin(times, axis=0) == 0).sum())
    return f"on {first} of {times.shape[1]} tasks", 2 * first > times.shape[1]


def _largest(*learners: str) -> Callable[[Measured], Verdict]:
    def check(m: Measured) -> Verdict:
        at = int(np.argmax(m.sizes))
        taken = float(np.max([_times(m, learner)[at] for learner in learners]))
        return (f"{taken:.2f} s ({m.tasks[at]})", taken < LIMIT) if taken == taken else ("", None)

    return check


def _quick_questions(m: Measured) -> Verdict:
    waits = m.waits[:, m.learners.index("COBS")]
    if np.isnan(waits).all():
        return "", None
    return f"longest wait {np.nanmax(waits):.2f} s", bool(np.nanmax(waits) < SOON)


def _cannot_test(reason: str) -> Callable[[Measured], Verdict]:
    return lambda m: (reason, None)


CLAIMS: dict[str, Callable[[Measured], Verdict]] = {
    "best": _best_of_all,
    "cobra10": _ahead("COBRA-10", 10),
    "cobra25": _ahead("COBRA-25", 25),
    "cobra50": _ahead("COBRA-50", 50),
    "cobra10-early": _good_early("COBRA-10"),
    "cobra10-late": _behind("COBRA-10", 1000),
    "cobra50-early": _behind("COBRA-50", 10),
    "small-n": _coarse_or_late("COBRA-10", "COBRA-50", 10),
    "large-n": _coarse_or_late("COBRA-50", "COBRA-10", 1000),
    "cobs": _better_than("COBS"),
    "npu-mpckmeans": _better_than("NPU + MPCKMeans"),
    "npu-cosc": _better_than("NPU + COSC"),
    "npu-mpckmeans-early": _good_early("NPU + MPCKMeans"),
    "npu-cosc-early": _good_early("NPU + COSC"),
    "overall": _overall,
    "cobra25-small": _lead_is_small,
    "cobra-fastest": _fastest,
    "cobra-faster": _slower("COBRAS", than="COBRA-25"),
    "cobras-fast": _slower(*RIVALS, than="COBRAS"),
    "cobra-largest": _largest(*COBRA),
    "cobras-largest": _largest("COBRAS"),
    "npu-slow": _slower("NPU + MPCKMeans", than="COBRAS", by=SLOW),
    "cobs-slow": _slower("COBS", than="COBRAS", by=SLOW),
    "cobs-selects-fast": _quick_questions,
    "cosc-spambase": _cannot_test("one run would take a day"),
    "toy-cobra": _cannot_test("the data are not published"),
    "toy-cobras": _cannot_test("the data are not published"),
}
