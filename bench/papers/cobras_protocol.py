"""The experiment of the COBRAS paper: curves, ranks and claims, computed from its cells.

Van Craenendonck, Dumančić, Van Wolputte and Blockeel (2018), section 4: average ARI, aligned ranks and
the claims in words. The paper prints no ARI, so only the claims can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.harness import format_table, read_target
from bench.papers.cobras_runs import curves, seconds
from bench.plots import Panel, plot_panels
from bench.results import write_csv
from linkwise.experiments.cell_store import Row
from linkwise.experiments.comparison import rank_aligned_scores

LEARNERS = ("COBRA-10", "COBRA-25", "COBRA-50", "COBRAS", "COBRAS.paper()", "COBRAS.authors()")
JUDGED = ("COBRAS.paper()", "COBRAS.authors()", "COBRAS")
UNCOUNTED = "yeast"  # the paper lists 15 UCI sets and counts 14; this is the 15th of its list
CLAIM_FIELDS = ("claim", "letter", "letter_holds", "authors", "authors_holds", "default", "default_holds")
SHOWN = (10, 25, 50, 100)
CLEAR = 0.05  # a difference in average ARI that is called clear here; below it is small
WAIT = 10.0  # seconds, from the paper


@dataclass(frozen=True, eq=False)
class Measured:
    """All tasks after all questions.

    Attributes
    ----------
    tasks, learners : sequence of str
    ari : ndarray of shape (n_tasks, n_learners, n_questions)
    seconds, waits : ndarray of shape (n_tasks, n_learners)
        Mean time of a run and mean longest wait in it.
    largest : int
        Position of the task with most rows.
    """

    tasks: Sequence[str]
    learners: Sequence[str]
    ari: np.ndarray
    seconds: np.ndarray
    waits: np.ndarray
    largest: int

    def mean(self) -> np.ndarray:
        """Average ARI, shape (n_learners, n_questions)."""
        return self.ari.mean(axis=0)

    def ranks(self) -> np.ndarray:
        """Average aligned rank, shape (n_learners, n_questions)."""
        return np.array([rank_aligned_scores(self.ari[:, :, q]) for q in range(self.ari.shape[2])]).T

    def without(self, task: str) -> Measured:
        kept = [at for at, name in enumerate(self.tasks) if name != task]
        largest = kept.index(self.largest) if self.largest in kept else 0
        names = [self.tasks[at] for at in kept]
        return Measured(names, self.learners, self.ari[kept], self.seconds[kept], self.waits[kept], largest)


def gather(rows: Sequence[Row], tasks: Sequence[str], sizes: Sequence[int]) -> Measured:
    """Means over repetitions and folds."""
    by_curve, by_time, by_wait = curves(rows), seconds(rows), seconds(rows, "longest_wait_s")
    keys = [[(task, learner) for learner in LEARNERS] for task in tasks]
    return Measured(
        tasks,
        LEARNERS,
        np.array([[by_curve[key] for key in line] for line in keys]),
        np.array([[by_time[key] for key in line] for line in keys]),
        np.array([[by_wait[key] for key in line] for line in keys]),
        int(np.argmax(sizes)),
    )


# ---------------------------------------------------------------- claims
Verdict = tuple[str, bool]


def check_claims(m: Measured) -> list[tuple[str, ...]]:
    """(claim, then measured, holds for each of JUDGED)."""
    lines = []
    for claim in read_target("cobras_claims.csv"):
        verdicts = [CLAIMS[claim["claim"]](m, name) for name in JUDGED]
        texts = [
            text for measured, holds in verdicts for text in (measured, "holds" if holds else "does not")
        ]
        lines.append((claim["words"], *texts))
    return lines


def _at(m: Measured, learner: str, question: int) -> tuple[float, float]:
    """Average ARI and aligned rank after a question, or after the last one."""
    which, q = m.learners.index(learner), min(question, m.ari.shape[2]) - 1
    return float(m.mean()[which, q]), float(m.ranks()[which, q])


def _ahead(rival: str, question: int) -> Callable[[Measured, str], Verdict]:
    """Whether COBRA has the better aligned rank: the figure from which the paper reads these claims."""

    def check(m: Measured, cobras: str) -> Verdict:
        (ari, rank), (own_ari, own_rank) = _at(m, rival, question), _at(m, cobras, question)
        return f"rank {rank:.1f} / {own_rank:.1f}, ARI {ari:.3f} / {own_ari:.3f}", rank < own_rank

    return check


def _lead_is_small(m: Measured, cobras: str) -> Verdict:
    lead = _at(m, "COBRA-25", 25)[0] - _at(m, cobras, 25)[0]
    return f"ARI {lead:+.3f}", 0 < lead < CLEAR


def _behind(rival: str, question: int) -> Callable[[Measured, str], Verdict]:
    def check(m: Measured, cobras: str) -> Verdict:
        gap = _at(m, cobras, question)[0] - _at(m, rival, question)[0]
        return f"ARI {-gap:+.3f} at {min(question, m.ari.shape[2])}", gap >= CLEAR

    return check


def _overall(m: Measured, cobras: str) -> Verdict:
    ari, ranks = m.mean().mean(axis=1), m.ranks().mean(axis=1)
    own, rivals = m.learners.index(cobras), [m.learners.index(f"COBRA-{n}") for n in (10, 25, 50)]
    best = max(rivals, key=lambda r: ari[r])
    text = f"ARI {ari[best]:.3f} / {ari[own]:.3f}, rank {ranks[rivals].min():.1f} / {ranks[own]:.1f}"
    return text, bool(ari[own] > ari[best] and ranks[own] < ranks[rivals].min())


def _faster(m: Measured, cobras: str) -> Verdict:
    ratio = m.seconds[:, m.learners.index(cobras)] / m.seconds[:, m.learners.index("COBRA-25")]
    faster = int((ratio > 1).sum())
    text = f"COBRA-25 on {faster} of {len(ratio)} tasks, median ratio {np.median(ratio):.1f}"
    return text, 2 * faster > len(ratio)


def _largest_cobra(m: Measured, cobras: str) -> Verdict:
    taken = max(m.seconds[m.largest, m.learners.index(f"COBRA-{n}")] for n in (10, 25, 50))
    return f"{taken:.2f} s ({m.tasks[m.largest]})", bool(taken < WAIT)


def _largest_cobras(m: Measured, cobras: str) -> Verdict:
    own = m.learners.index(cobras)
    taken, wait = m.seconds[m.largest, own], m.waits[m.largest, own]
    return f"{taken:.2f} s in all, longest wait {wait:.2f} s", bool(wait < WAIT)


CLAIMS: dict[str, Callable[[Measured, str], Verdict]] = {
    "cobra10": _ahead("COBRA-10", 10),
    "cobra25": _ahead("COBRA-25", 25),
    "cobra25-small": _lead_is_small,
    "cobra50": _ahead("COBRA-50", 50),
    "cobra10-late": _behind("COBRA-10", 100),
    "cobra50-early": _behind("COBRA-50", 10),
    "overall": _overall,
    "cobra-fast": _faster,
    "largest-cobra": _largest_cobra,
    "largest-cobras": _largest_cobras,
}


# ---------------------------------------------------------------- what is written and printed
def write_report(m: Measured, folder: Path, plot: bool) -> str:
    """Write curves, ranks, tasks and claims as CSV, plot them, and tell the same in words."""
    groups = {"all": m}
    if UNCOUNTED in m.tasks:
        groups[f"without {UNCOUNTED}"] = m.without(UNCOUNTED)
    _write_curves(folder / "mean_ari.csv", {name: group.mean() for name, group in groups.items()}, m)
    _write_curves(folder / "aligned_ranks.csv", {name: group.ranks() for name, group in groups.items()}, m)
    write_csv(folder / "table.csv", ("questions", *m.learners), mean_lines(m))
    lines = task_lines(m)
    fields = ("task", "learner", *(f"ari_{q}" for q in shown(m)), "ari_mean", "seconds", "longest_wait_s")
    write_csv(folder / "tasks.csv", fields, lines)
    claims = check_claims(m)
    claim_fields = ("claim", *(field for name in JUDGED for field in (name, "")))
    write_csv(folder / "claims.csv", CLAIM_FIELDS, claims)
    if plot:
        plot_panels(folder / "curves.png", build_panels(m))
    parts = [f"ARI after {', '.join(map(str, shown(m)))} questions\n{task_table(m)}"]
    for name, group in groups.items():
        head = f"{name}: {len(group.tasks)} tasks"
        parts.append(f"{head}, average ARI\n{_over_questions(group.mean(), m, 3)}")
        parts.append(f"{head}, aligned rank\n{_over_questions(group.ranks(), m, 1)}")
    head = "The paper's claims (two figures: COBRA / COBRAS; a difference: COBRA less COBRAS)"
    parts.append(f"{head}\n{format_table(claim_fields, claims)}")
    return "\n\n".join(parts)


def mean_lines(m: Measured) -> list[tuple[str, ...]]:
    """Average ARI after some numbers of questions, and on average over all of them."""
    mean = m.mean()
    lines = [(str(q), *(f"{value:.3f}" for value in mean[:, q - 1])) for q in shown(m)]
    return [*lines, (f"mean of 1 to {mean.shape[1]}", *(f"{value:.3f}" for value in mean.mean(axis=1)))]


def shown(m: Measured) -> list[int]:
    """Numbers of questions at which tables stop."""
    return [q for q in SHOWN if q <= m.ari.shape[2]]


def task_lines(m: Measured) -> list[tuple[str, ...]]:
    """One line for each task and learner."""
    return [
        (
            task,
            learner,
            *(f"{m.ari[t, a, q - 1]:.3f}" for q in shown(m)),
            f"{m.ari[t, a].mean():.3f}",
            f"{m.seconds[t, a]:.3f}",
            f"{m.waits[t, a]:.3f}",
        )
        for t, task in enumerate(m.tasks)
        for a, learner in enumerate(m.learners)
    ]


def task_table(m: Measured) -> str:
    """One line for each task, one column for each learner."""
    rows = (
        (task, *(" ".join(f"{m.ari[t, a, q - 1]:.2f}" for q in shown(m)) for a in range(len(m.learners))))
        for t, task in enumerate(m.tasks)
    )
    return format_table(("task", *m.learners), rows)


def build_panels(m: Measured) -> list[Panel]:
    """Both figures of the paper's section on quality."""
    title = f"{len(m.tasks)} tasks"
    return [
        Panel(title, "average ARI on test rows", dict(zip(m.learners, m.mean(), strict=True))),
        Panel(title, "aligned rank (best at the top)", dict(zip(m.learners, m.ranks(), strict=True)), True),
    ]


def _over_questions(values: np.ndarray, m: Measured, digits: int) -> str:
    rows: Iterable[tuple[str, ...]] = (
        (name, *(f"{line[q - 1]:.{digits}f}" for q in shown(m)), f"{line.mean():.{digits}f}")
        for name, line in zip(m.learners, values, strict=True)
    )
    return format_table(("learner", *map(str, shown(m)), "mean"), rows)


def _write_curves(path: Path, groups: dict[str, np.ndarray], m: Measured) -> None:
    rows = (
        (name, q + 1, *(f"{v:.4f}" for v in values[:, q]))
        for name, values in groups.items()
        for q in range(values.shape[1])
    )
    write_csv(path, ("tasks", "questions", *m.learners), rows)
