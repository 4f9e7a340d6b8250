"""A team answers KIN's questions: three people and a program, each with an error rate of its own.

A random member answers each question. KIN gets the answers with the names of their sources, and estimates a
rate for each (``KIN-sources``); or it is given the four rates (``KIN-told``); or it gets the answers without
names, and estimates one rate (``KIN``). `bench.papers.noise` runs it with ``--team``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bench import data
from bench.papers.noise_report import Table
from bench.papers.noise_runs import find_tasks, load, prepare_learner
from linkwise import TruthOracle
from linkwise.asking.run import Run
from linkwise.constraints.error_rates import AssumedRate
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.experiments.cell_store import Cell, Row

TEAM = {"anna": 0.05, "ben": 0.1, "carla": 0.2, "program": 0.15}
WAYS: dict[str, AssumedRate] = {"KIN": None, "KIN-sources": None, "KIN-told": TEAM}
TASKS = ("iris", "ecoli", "ionosphere")
AT = (50, 100, 200, 400)  # answers
FIELDS = ("task", "learner", "run")
CLOSE = 0.03  # a rate that is as close to the share of wrong answers is recovered


def list_team_cells(tasks: Sequence[str], runs: int) -> list[Cell]:
    """The cells of some sets; first run 0 of all."""
    return [(task, way, str(run)) for run in range(runs) for task in tasks for way in WAYS]


def choose_tasks(chosen: Sequence[str] | None, where: data.Source) -> list[str]:
    """The sets that were named, or those of the team that are there."""
    return list(chosen) if chosen else [task for task in TASKS if task in find_tasks(where)]


def measure_team(cell: Cell, where: data.Source, at: Sequence[int]) -> Row:
    """ARI after some numbers of answers; in the end the rate of each source, and its wrong answers."""
    name, way, number = cell
    seed = int(number)
    task, (model, X, prepared) = load(name, where), prepare_learner("KIN", name, seed, where)
    members = {
        source: TruthOracle(task.y, noise=rate, random_state=seed + 1000 * place)
        for place, (source, rate) in enumerate(TEAM.items(), 1)
    }
    turns = np.random.default_rng(seed).choice(list(members), max(at)).tolist()
    evidence = FallibleEvidence(len(X), error_rate=WAYS[way])
    run = Run(model, X, evidence, seed, prepared=prepared, budget=max(at))
    curve, is_wrong = [adjusted_rand_score(task.y, run.labels)], []
    for source in turns:
        question = run.question
        if question is None:
            break
        answer = members[source](question.first, question.second)
        run.answer(answer, source="" if way == "KIN" else source)
        is_wrong.append(members[source].is_wrong(question.first, question.second, answer))
        curve.append(adjusted_rand_score(task.y, run.labels))
    rates, by = evidence.error_rates(), np.array(turns[: len(is_wrong)])
    row = {str(n): f"{curve[min(n, len(is_wrong))]:.4f}" for n in (0, *at)}
    for source in TEAM:
        found = rates.by_source.get(source, rates.overall)
        wrong = np.array(is_wrong)[by == source]
        row[f"answers {source}"] = str(len(wrong))
        row[f"wrong {source}"] = f"{wrong.mean():.4f}" if len(wrong) else ""
        row[f"rate {source}"] = f"{found.rate:.4f}"
        row[f"inside {source}"] = str(int(len(wrong) > 0 and found.low <= wrong.mean() <= found.high))
    return row


def build_team(rows: Sequence[Row], at: Sequence[int]) -> Table:
    """A line for each set and way: mean ARI, mean estimated and true rates, and how far they are apart."""
    head = ("task", "learner", *map(str, (0, *at)), "answers each", *TEAM, "error", "close", "inside")
    lines = []
    for task in dict.fromkeys(row["task"] for row in rows):
        for way in WAYS:
            found = [row for row in rows if (row["task"], row["learner"]) == (task, way)]
            if not found:
                continue
            pairs = {
                source: [(float(r[f"rate {source}"]), float(r[f"wrong {source}"])) for r in found]
                for source in TEAM
                if all(r[f"wrong {source}"] for r in found)
            }
            apart = np.array([abs(rate - wrong) for each in pairs.values() for rate, wrong in each])
            means = {source: np.mean(each, axis=0) for source, each in pairs.items()}
            lines.append(
                (
                    task,
                    way,
                    *(f"{np.mean([float(row[str(n)]) for row in found]):.3f}" for n in (0, *at)),
                    f"{np.mean([int(row[f'answers {source}']) for row in found for source in TEAM]):.0f}",
                    *(" of ".join(f"{value:.3f}" for value in means.get(source, ())) for source in TEAM),
                    f"{apart.mean():.3f}" if len(apart) else "",
                    f"{(apart <= CLOSE).sum()}/{len(apart)}",
                    f"{sum(int(row[f'inside {source}']) for row in found for source in TEAM)}/{len(apart)}",
                )
            )
    return head, lines
