"""The experiment of the COBRAS paper: tables, pictures and claims from the cells of all learners.

Van Craenendonck, Dumančić, Van Wolputte and Blockeel (2018), section 4. The paper prints no ARI, so only
its claims can be compared (`bench.papers.cobras_claims`). The cells come from ``cobras_protocol`` (COBRA and
COBRAS), ``cobras_rivals`` (COBS and NPU) and ``peers_cobras`` (the authors' program). What was not run is
left out, and only whole repetitions count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from bench import data
from bench.harness import format_table
from bench.papers.cobras_claims import CLAIM_FIELDS, check_claims, ratios
from bench.papers.cobras_measured import METHODS, VERSIONS, Measured
from bench.papers.cobras_pictures import draw_ari, draw_ranks, draw_ratios
from bench.papers.cobras_rivals import RIVALS
from bench.papers.cobras_runs import TIMED
from bench.results import write_csv

UNCOUNTED = "yeast"  # the paper lists 15 UCI sets and counts 14; this is the 15th of its list
SHOWN = (10, 25, 50, 100, 250)
COURSES = (50, 100, 150, 200, 250)
CURVE_AT = (*range(1, 20), *range(20, 251, 5))
GROUPS = {"UCI": data.UCI, "faces": data.FACES, "texts": data.NEWS}


def write_report(m: Measured, folder: Path, plot: bool) -> str:
    """Write tables and claims as CSV, draw the figures, and return what is printed."""
    full = m.select(m.complete())
    write_csv(folder / "coverage.csv", ("learner", "tasks", "repetitions", "questions"), coverage_lines(m))
    write_csv(folder / "table.csv", ("questions", *full.learners), mean_lines(full))
    write_csv(folder / "courses.csv", ("tasks", "mean of questions", *full.learners), course_lines(full))
    curves = ((f"{q + 1}", *_three(full.mean()[:, q])) for q in shown_on_curves(full))
    write_csv(folder / "mean_ari.csv", ("questions", *full.learners), curves)
    rank_fields = ("version", "tasks", "questions", *METHODS)
    write_csv(folder / "aligned_ranks.csv", rank_fields, rank_lines(m))
    fields = (
        "task",
        "learner",
        "repetitions",
        *(f"ari_{q}" for q in shown(m)),
        "ari_mean",
        "seconds",
        "wait_s",
    )
    tasks = list(task_lines(m))
    write_csv(folder / "tasks.csv", fields, tasks)
    times = list(time_lines(m))
    write_csv(folder / "times.csv", ("task", "rows", "COBRAS", *(f"/ {name}" for name in _TIMED)), times)
    claims = check_claims(m)
    write_csv(folder / "claims.csv", CLAIM_FIELDS, claims)
    if plot:
        draw_ari(folder / "curves.png", m)
        draw_ranks(folder / "ranks.png", m, "tasks")
        draw_ratios(folder / "times.png", m)
    parts = [
        f"What was run\n{format_table(('learner', 'tasks', 'repetitions', 'questions'), coverage_lines(m))}",
        f"Average ARI, learners that were run on all tasks\n"
        f"{format_table(('questions', *full.learners), mean_lines(full))}",
        f"Mean over the first questions\n"
        f"{format_table(('tasks', 'questions', *full.learners), course_lines(full))}",
        f"Each task\n{format_table(fields, tasks)}",
        f"Seconds of COBRAS.paper() for {TIMED} questions, and ratios\n"
        f"{format_table(('task', 'rows', 'COBRAS', *_TIMED), times)}",
        "The paper's claims (two figures: the rival / COBRAS; a difference: the rival less COBRAS)\n"
        f"{format_table(CLAIM_FIELDS, claims)}",
    ]
    return "\n\n".join(parts)


_TIMED = ("COBRA-25", *RIVALS)


def _three(values: Iterable[float]) -> list[str]:
    return ["" if np.isnan(value) else f"{value:.3f}" for value in values]


def shown(m: Measured) -> list[int]:
    """Numbers of questions at which tables stop."""
    return [q for q in SHOWN if q <= m.n_questions]


def shown_on_curves(m: Measured) -> list[int]:
    """Positions on curves that are written."""
    return [q - 1 for q in CURVE_AT if q <= m.n_questions]


def coverage_lines(m: Measured) -> list[tuple[str, ...]]:
    """On how many tasks, how often and with how many questions each learner was run."""
    lines = []
    for at, name in enumerate(m.learners):
        there = m.has(name)
        if there.any():
            counts = m.repetitions[there, at]
            least, most = counts.min(), counts.max()
            times = f"{least}" if least == most else f"{least} to {most}"
            questions = int((~np.isnan(m.ari[there, at])).sum(axis=1).max())
            lines.append((name, str(int(there.sum())), times, str(questions)))
    return lines


def mean_lines(m: Measured) -> list[tuple[str, ...]]:
    """Average ARI after some numbers of questions."""
    return [(str(q), *_three(m.mean()[:, q - 1])) for q in shown(m)]


def course_lines(m: Measured) -> list[tuple[str, ...]]:
    """Average ARI over the first questions: on all tasks, without the uncounted one, and by kind of data."""
    groups = {
        "all": m.tasks,
        f"without {UNCOUNTED}": [task for task in m.tasks if task != UNCOUNTED],
        "without faces": [task for task in m.tasks if task not in data.FACES],
        **{name: [task for task in m.tasks if task in members] for name, members in GROUPS.items()},
    }
    return [
        (name, f"1 to {q}", *_three(m.select(m.learners, tasks).mean()[:, :q].mean(axis=1)))
        for name, tasks in groups.items()
        for q in COURSES
        if tasks and q <= m.n_questions
    ]


def rank_lines(m: Measured) -> Iterator[tuple[str, ...]]:
    """Aligned ranks of the paper's methods for each version: of those run on all tasks, then of all."""
    for version in VERSIONS:
        named = m.as_version(version)
        complete = [name for name in METHODS if name in named.complete()]
        run = [name for name in METHODS if named.has(name).any()]
        for names in dict.fromkeys((tuple(complete), tuple(run))):
            found = named.shared(names)
            if "COBRAS" not in found.learners or not found.tasks:
                continue
            ranks = dict(zip(found.learners, found.ranks(), strict=True))
            for q in shown_on_curves(found):
                yield (
                    version,
                    str(len(found.tasks)),
                    str(q + 1),
                    *(f"{ranks[name][q]:.2f}" if name in ranks else "" for name in METHODS),
                )


def task_lines(m: Measured) -> Iterator[tuple[str, ...]]:
    """One line for each task and learner that was run on it."""
    for t, task in enumerate(m.tasks):
        for a, learner in enumerate(m.learners):
            if m.repetitions[t, a]:
                yield (
                    task,
                    learner,
                    str(m.repetitions[t, a]),
                    *_three(m.ari[t, a, q - 1] for q in shown(m)),
                    f"{np.nanmean(m.ari[t, a]):.3f}",
                    f"{m.seconds[t, a]:.3f}",
                    f"{m.waits[t, a]:.3f}",
                )


def time_lines(m: Measured) -> Iterator[tuple[str, ...]]:
    """Processor time of COBRAS for each task, and its ratio to that of rivals (Figure 4)."""
    named = m.as_version("letter")
    columns = [ratios(named, rival) for rival in _TIMED]
    seconds = named.seconds[:, named.learners.index("COBRAS")]
    for t in np.argsort(m.sizes, kind="stable"):
        values = ("" if np.isnan(column[t]) else f"{column[t]:.3f}" for column in columns)
        yield (m.tasks[t], str(m.sizes[t]), f"{seconds[t]:.3f}", *values)
