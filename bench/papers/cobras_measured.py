"""What was measured in the experiment of the COBRAS paper: ARI, ranks and times of all learners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.papers.cobras_repetitions import keep_repetitions
from bench.papers.cobras_rivals import PRINTED_NPU, RIVAL_FILES, RIVALS
from bench.papers.cobras_runs import CURVE, TIMED
from bench.suites.cell_store import Row, read_rows
from bench.suites.comparison import rank_aligned_scores

COBRA = ("COBRA-10", "COBRA-25", "COBRA-50")
PRINTED = tuple(f"{name}.paper()" for name in (*COBRA, "COBRAS"))
LEARNERS = (*COBRA, "COBRAS", *PRINTED, "COBRAS.authors()")
PROGRAM = tuple(f"{name} (program)" for name in (*COBRA, "COBRAS"))
METHODS = (*COBRA, *RIVALS, "COBRAS")
"""As the paper compares them."""
NPU_MPCKMEANS = {"NPU + MPCKMeans": PRINTED_NPU}
VERSIONS: Mapping[str, Mapping[str, str]] = {
    "letter": dict(zip((*COBRA, "COBRAS"), PRINTED, strict=True)) | NPU_MPCKMEANS,
    "default": {},
    "authors": dict(zip((*COBRA, "COBRAS"), PROGRAM, strict=True)) | NPU_MPCKMEANS,
}
"""For each version the learners that stand for the methods, if they are called otherwise."""
FILES = {
    "protocol.csv": LEARNERS,
    "program.csv": PROGRAM,
    **{file: (name,) for name, file in RIVAL_FILES.items()},
}


@dataclass(frozen=True, eq=False)
class Measured:
    """Means over the folds of whole repetitions; NaN for what was not run.

    Attributes
    ----------
    tasks, learners : sequence of str
    ari : ndarray of shape (n_tasks, n_learners, n_questions)
    seconds, waits : ndarray of shape (n_tasks, n_learners)
        Mean processor time of a run up to the 100th question, and mean longest wait in a run.
    repetitions : ndarray of shape (n_tasks, n_learners)
    sizes : ndarray of shape (n_tasks,)
        Numbers of rows.
    pools : ndarray of shape (n_tasks,)
        Seconds to build the pool of COBS.
    """

    tasks: Sequence[str]
    learners: Sequence[str]
    ari: np.ndarray
    seconds: np.ndarray
    waits: np.ndarray
    repetitions: np.ndarray
    sizes: np.ndarray
    pools: np.ndarray

    def select(self, learners: Iterable[str], tasks: Iterable[str] | None = None) -> Measured:
        """Return some of the learners and tasks."""
        names, kept = list(learners), list(self.tasks if tasks is None else tasks)
        rows = [list(self.tasks).index(task) for task in kept]
        columns = [list(self.learners).index(name) for name in names]
        grid = np.ix_(rows, columns)
        tables = (self.ari, self.seconds, self.waits, self.repetitions)
        return Measured(kept, names, *(table[grid] for table in tables), self.sizes[rows], self.pools[rows])

    def as_version(self, version: str) -> Measured:
        """Return the methods of the paper by the paper's names, in one of `VERSIONS`."""
        learners = [VERSIONS[version].get(method, method) for method in METHODS]
        chosen = self.select(learners)
        return Measured(self.tasks, METHODS, *list(vars(chosen).values())[2:])

    def has(self, learner: str) -> np.ndarray:
        """Whether each task has a learner."""
        found: np.ndarray = self.repetitions[:, self.learners.index(learner)] > 0
        return found

    def complete(self) -> list[str]:
        """Return the learners that were run on all tasks."""
        return self.common(1.0)

    def common(self, share: float) -> list[str]:
        """Return the learners that were run on a share of the tasks or more."""
        return [name for name in self.learners if self.has(name).mean() >= share]

    def shared(self, learners: Iterable[str]) -> Measured:
        """Return the tasks on which some learners were all run, and the questions that all of them got.

        Learners that were run nowhere are left out.
        """
        names = [name for name in learners if self.has(name).any()]
        there = np.all([np.full(len(self.tasks), bool(names)), *map(self.has, names)], axis=0)
        found = self.select(
            names, [task for task, is_there in zip(self.tasks, there, strict=True) if is_there]
        )
        asked = ~np.isnan(found.ari).any(axis=(0, 1))
        return Measured(found.tasks, found.learners, found.ari[:, :, asked], *list(vars(found).values())[3:])

    @property
    def n_questions(self) -> int:
        return self.ari.shape[2]

    def mean(self) -> np.ndarray:
        """Average ARI, shape (n_learners, n_questions)."""
        return self.ari.mean(axis=0)

    def ranks(self) -> np.ndarray:
        """Average aligned rank, shape (n_learners, n_questions)."""
        return np.array([rank_aligned_scores(self.ari[:, :, q]) for q in range(self.n_questions)]).T


# ---------------------------------------------------------------- from cells
def gather(folder: Path, tasks: Sequence[str], sizes: Sequence[int], questions: int) -> Measured:
    """Read the cells of all learners.

    Parameters
    ----------
    folder : Path
        Folder of the cells and of the kept repetitions.
    tasks : sequence of str
    sizes : sequence of int
        Their numbers of rows.
    questions : int
        Cells with more questions do not count. Of a learner with several numbers the largest one does.
    """
    learners = [name for names in FILES.values() for name in names]
    ari = np.full((len(tasks), len(learners), questions), np.nan)
    seconds, waits = (np.full(ari.shape[:2], np.nan) for _ in range(2))
    repetitions = np.zeros(ari.shape[:2], dtype=int)
    for (task, learner), rows in largest_runs(keep_repetitions(folder, FILES), questions).items():
        if task not in tasks or learner not in learners:
            continue
        at = tasks.index(task), learners.index(learner)
        curve = np.mean([np.array(row[CURVE].split(), float) for row in rows], axis=0)
        ari[at][: len(curve)] = curve
        seconds[at] = np.mean([float(row[f"seconds_{TIMED}"]) for row in rows])
        waits[at] = np.mean([float(row["longest_wait_s"]) for row in rows])
        repetitions[at] = len(rows)
    pools = {row["task"]: float(row["seconds"]) for row in read_rows(folder / "pools.csv")}
    built = np.array([pools.get(task, np.nan) for task in tasks])
    return Measured(tasks, learners, ari, seconds, waits, repetitions, np.array(sizes), built)


def largest_runs(repetitions: Sequence[Row], questions: int) -> dict[tuple[str, str], list[Row]]:
    """Return for each task and learner the repetitions with the most questions, up to this number of them."""
    most: dict[str, int] = {}
    for row in repetitions:
        if (asked := int(row["questions"])) <= questions:
            most[row["learner"]] = max(most.get(row["learner"], 0), asked)
    found: dict[tuple[str, str], list[Row]] = {}
    for row in repetitions:
        if int(row["questions"]) == most.get(row["learner"]):
            found.setdefault((row["task"], row["learner"]), []).append(row)
    return found
