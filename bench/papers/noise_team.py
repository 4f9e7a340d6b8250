"""A team answers KIN's questions: three people and a program, each with an error rate of its own.

The members answer in random order, and equally often. A second team has an adversary besides, all of whose
answers are wrong. KIN gets the answers with the names of their sources, and estimates a rate for each
(``KIN-sources``); or it gets the answers without names, and estimates one rate (``KIN``). Beside them stands
KIN with one person who is never wrong, and is believed (``exact``). `bench.papers.noise` runs it with
``--team``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bench import data
from bench.papers.noise_report import Table
from bench.papers.noise_runs import find_tasks, load, prepare_learner
from bench.suites.cell_store import Cell, Row
from linkwise import TruthOracle
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.learn.run import Run

MEMBERS = {"anna": 0.05, "ben": 0.1, "carla": 0.2, "program": 0.15}
ADVERSARY = "adversary"
TEAMS: dict[str, dict[str, float]] = {
    "exact": {"exact": 0.0},
    "team": MEMBERS,
    "with adversary": {**MEMBERS, ADVERSARY: 1.0},
}
SOURCES = "KIN-sources"
WAYS = (
    ("exact", "KIN"),
    ("team", SOURCES),
    ("team", "KIN"),
    ("with adversary", SOURCES),
    ("with adversary", "KIN"),
)
EACH = 100  # answers of each member
AT = (50, 100, 200, 400)  # answers of all together
FIELDS = ("task", "team", "learner", "run")
CLOSE = 0.03  # a rate that is as close to the share of wrong answers is recovered


class Rate(NamedTuple):
    """What is known of a member in the end of a run."""

    estimated: float
    wrong: float
    """Share of wrong answers."""
    is_inside: bool
    """Whether that share is in the interval of the estimate."""
    n_answers: int


def list_team_cells(tasks: Sequence[str], runs: int) -> list[Cell]:
    """The cells of some sets; first run 0 of all."""
    return [(task, *way, str(run)) for run in range(runs) for task in tasks for way in WAYS]


def choose_tasks(
    chosen: Sequence[str] | None, groups: Mapping[str, Sequence[str]], where: data.Source
) -> list[str]:
    """The sets that were named, or those of the groups that are there."""
    there = find_tasks(where)
    return list(chosen) if chosen else [task for group in groups.values() for task in group if task in there]


def measure_team(cell: Cell, where: data.Source, at: Sequence[int]) -> Row:
    """ARI after some numbers of answers; in the end the rate of each member, and its wrong answers.

    Each member gives as many answers, at least `EACH`, unless the learner has no more questions.
    """
    name, team, way, number = cell
    seed, rates = int(number), TEAMS[team]
    task, (model, X, prepared) = load(name, where), prepare_learner("KIN", name, seed, where)
    members = {
        source: TruthOracle(task.y, noise=rate, random_state=seed + 1000 * place)
        for place, (source, rate) in enumerate(rates.items(), 1)
    }
    n_each = max(EACH, -(-max(at) // len(members)))
    turns = np.random.default_rng(seed).permutation(np.repeat(list(members), n_each)).tolist()
    evidence = Evidence(len(X)) if team == "exact" else FallibleEvidence(len(X))
    run = Run(model, X, evidence, seed, prepared=prepared, budget=len(turns))
    curve, is_wrong = [adjusted_rand_score(task.y, run.labels)], []
    for source in turns:
        question = run.question
        if question is None:
            break
        answer = members[source](question.first, question.second)
        run.answer(answer, source=source if way == SOURCES else "")
        is_wrong.append(members[source].is_wrong(question.first, question.second, answer))
        curve.append(adjusted_rand_score(task.y, run.labels))
    row = {str(n): f"{curve[min(n, len(is_wrong))]:.4f}" for n in (0, *at)}
    row["questions"] = str(len(is_wrong))
    for source in TEAMS["with adversary"]:  # all rows of the file have the same columns
        row |= dict.fromkeys((f"{of} {source}" for of in ("answers", "wrong", "rate", "inside")), "")
    if isinstance(evidence, FallibleEvidence):
        found, by = evidence.error_rates(), np.array(turns[: len(is_wrong)])
        for source in set(by.tolist()):
            rate = found.by_source.get(source, found.overall)
            wrong = np.array(is_wrong)[by == source]
            row[f"answers {source}"] = str(len(wrong))
            row[f"wrong {source}"] = f"{wrong.mean():.4f}"
            row[f"rate {source}"] = f"{rate.rate:.4f}"
            row[f"inside {source}"] = str(int(rate.low <= wrong.mean() <= rate.high))
    return row


def read_rates(row: Row) -> dict[str, Rate]:
    """What a run tells of each member that answered."""
    return {
        source: Rate(
            float(row[f"rate {source}"]),
            float(row[f"wrong {source}"]),
            row[f"inside {source}"] == "1",
            int(row[f"answers {source}"]),
        )
        for source in TEAMS["with adversary"]
        if row[f"wrong {source}"]
    }


def count_close(rates: Sequence[Rate]) -> tuple[str, str, str]:
    """The mean distance of some rates to the shares of wrong answers, and how many are close and inside."""
    if not rates:
        return "", "", ""
    apart = np.array([abs(rate.estimated - rate.wrong) for rate in rates])
    n = len(rates)
    return (
        f"{apart.mean():.3f}",
        f"{(apart <= CLOSE).sum()}/{n}",
        f"{sum(rate.is_inside for rate in rates)}/{n}",
    )


def build_team(rows: Sequence[Row], at: Sequence[int]) -> Table:
    """A line for each set and way: mean ARI, mean estimated and true rates, and how far they are apart."""
    sources = list(TEAMS["with adversary"])
    head = (
        "task",
        "team",
        "learner",
        *map(str, (0, *at)),
        "answers each",
        *sources,
        "error",
        "close",
        "inside",
    )
    lines = []
    for task in dict.fromkeys(row["task"] for row in rows):
        for team, way in WAYS:
            found = _choose(rows, [task], team, way)
            if not found:
                continue
            rates = [read_rates(row) for row in found]
            by_source = {source: [each[source] for each in rates if source in each] for source in sources}
            everything = [rate for each in by_source.values() for rate in each]
            means = {
                source: " of ".join(f"{value:.3f}" for value in np.mean([rate[:2] for rate in each], axis=0))
                for source, each in by_source.items()
                if each
            }
            n_each = np.mean([int(row["questions"]) / len(TEAMS[team]) for row in found])
            aris = (f"{np.mean([float(row[str(n)]) for row in found]):.3f}" for n in (0, *at))
            members = (means.get(source, "") for source in sources)
            lines.append((task, team, way, *aris, f"{n_each:.0f}", *members, *count_close(everything)))
    return head, lines


def build_team_summary(rows: Sequence[Row], groups: Mapping[str, Sequence[str]], at: Sequence[int]) -> Table:
    """A line for each group of sets and way: mean ARI, and the loss to one person without errors.

    Only runs count that all ways have. The rates are those of members with at least `EACH` answers.
    """
    head = ("group", "team", "learner", "runs", *map(str, (0, *at)), *(f"loss {n}" for n in at),
            "error", "close", "inside")  # fmt: skip
    lines = []
    for group, tasks in groups.items():
        runs = [{(row["task"], row["run"]) for row in _choose(rows, tasks, *way)} for way in WAYS]
        shared = set.intersection(*runs)
        if not shared:
            continue
        exact = {}
        for team, way in WAYS:
            found = [row for row in _choose(rows, tasks, team, way) if (row["task"], row["run"]) in shared]
            ari = {n: float(np.mean([float(row[str(n)]) for row in found])) for n in (0, *at)}
            exact = exact or ari  # the first way
            rates = [rate for row in found for rate in read_rates(row).values() if rate.n_answers >= EACH]
            losses = (f"{exact[n] - ari[n]:.3f}" for n in at)
            lines.append((group, team, way, str(len(found)), *(f"{ari[n]:.3f}" for n in (0, *at)), *losses,
                          *count_close(rates)))  # fmt: skip
    return head, lines


def _choose(rows: Sequence[Row], tasks: Sequence[str], team: str, way: str) -> list[Row]:
    return [row for row in rows if row["task"] in tasks and (row["team"], row["learner"]) == (team, way)]
