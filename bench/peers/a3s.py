"""A3S where you have put it, as a learner of ``python -m bench run active``.

    python -m bench run active --data DIR --groups many --learners KIN A3S-told A3S-estimated --a3s CODAC

Deng et al. (2024), "A3S: A General Active Clustering Method with Pairwise Constraints". Its code has no
licence, so no part of it belongs to linkwise. The authors' repository (xiangtanshi/A3S) runs on the sets of
the paper; the repository edahelsinki/codac has it as a class for any rows, in ``clustering/a3s.py``. CODAC
is the folder of a copy of the latter, given by ``--a3s`` or by LINKWISE_A3S. The program needs NumPy and
scikit-learn. If it does not run with the versions of linkwise, name another Python by ``--a3s-python``.

A3S is given all classes, and asks by comparing two of them, which is what an oracle of known classes
answers. It also takes the number of clusters from them: A3S-told is A3S as it is, and to A3S-estimated the
classes seem to be √(n/2), rounded. It ends when it finds nothing more to ask, and its last clustering counts
from there on.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bench import data
from bench.suites.cell_store import Cell, Row

TOLD, ESTIMATED = "A3S-told", "A3S-estimated"
LEARNERS = (TOLD, ESTIMATED)
USES = ("bench.suites.tasks",)
"""A cell uses nothing of linkwise but its rows."""
SCRIPT = Path(__file__).with_name("a3s_theirs.py")
FILE = Path("clustering", "a3s.py")


class Program(NamedTuple):
    """Where the program is, and the Python that runs it."""

    file: Path
    python: str


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--a3s", type=Path, metavar="DIR", help="folder of codac (or LINKWISE_A3S)")
    parser.add_argument("--a3s-python", default=sys.executable, metavar="PYTHON", help="Python that runs it")


def find_program(options: argparse.Namespace) -> Program | None:
    """Find the program in the folder of the options or of the environment; None if it is not there."""
    folder = options.a3s or os.environ.get("LINKWISE_A3S")
    if not folder or not Path(folder, FILE).is_file():
        return None
    return Program(Path(folder, FILE).absolute(), options.a3s_python)


def measure(cell: Cell, where: data.Source, program: Program, at: Sequence[int]) -> Row:
    """ARI of one run after each number of questions."""
    name, learner, run = cell
    task = data.load(name, where)
    n_told = task.n_clusters if learner == TOLD else round(np.sqrt(len(task.y) / 2))
    asked, labels = run_program(task, int(n_told), max(at), int(run), program)
    last = np.searchsorted(asked, at, side="right") - 1
    scores = [f"{adjusted_rand_score(task.y, labels[i]):.4f}" for i in last]
    return dict(zip(map(str, at), scores, strict=True))


def run_program(
    task: data.LabelledTask, n_told: int, questions: int, seed: int, program: Program
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of questions, ascending from 0, and (n_numbers, n_rows) labels after each."""
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "problem.npz"), Path(folder, "found.npz")
        np.savez(
            given,
            X=np.asarray(task.X, dtype=np.float64),
            y=task.y,
            n_told=np.array(n_told),
            questions=np.array(questions),
            seed=np.array(seed),
        )
        command = [program.python, str(SCRIPT), str(program.file), str(given), str(found)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"A3S stopped with an error on {task.name}:\n{done.stderr[-2000:]}")
        with np.load(found) as held:
            return held["asked"], held["labels"]
