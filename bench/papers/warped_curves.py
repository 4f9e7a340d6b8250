"""Compare curves sample by sample and by dynamic time warping: ARI by number of answers.

    python -m bench run warped_curves
    python -m bench run warped_curves --sets sensors --runs 1

Three kinds of invented curves whose shapes are shifted and stretched: the sensors of `everyday`, loads of
households over a day, and cylinder, bell and funnel, whose definition (Saito, 1994) is that of the set in the
UCR archive. KIN asks, and all answers are right.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from bench.harness import add_common_options, format_table, out_folder, run_cells
from bench.papers.everyday import make
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from linkwise.data import encode_series

AT = (0, 25, 50, 100)  # answers
FIELDS = ("set", "way", "run")
WAYS = ("sample by sample", "warped")
N_BELLS = 240

Curves = NDArray[np.float64]
Set = tuple[Curves, Sequence[object]]


# ---------------------------------------------------------------- sets
def read_sensors(seed: int) -> Set:
    """The sensors of the everyday sets, and their shapes."""
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make(folder, "sensors", 1.0, seed)
        curves = np.loadtxt(folder / "sensors.csv", delimiter=",", skiprows=1, usecols=range(1, 97))
        with open(folder / "truth" / "sensors.csv", newline="", encoding="utf-8") as file:
            return curves, [row["class"] for row in csv.DictReader(file)]


def draw_households(seed: int) -> Set:
    """Loads of 200 households over a day: commuters, people at home, shift workers and storage heaters."""
    rng = np.random.default_rng(seed)
    kinds, hours = rng.integers(0, 4, 200), np.arange(48) / 2
    curves = rng.normal(scale=0.3, size=(200, len(hours)))
    for row, kind in enumerate(kinds.tolist()):
        late, start = rng.normal(0, 1.2), rng.uniform(0, 24)
        peaks = (
            [(7 + late, 1.2), (19.5 + late, 2.0)],
            [(13 + late, 4.5)],
            [(start, 1.5), (start + 9, 1.5)],
            [(2 + late / 2, 2.5)],
        )[kind]
        for at, width in peaks:  # midnight joins the two ends of the day
            away = np.abs(hours - at % 24)
            curves[row] += 1.3 * np.exp(-((np.minimum(away, 24 - away) / width) ** 2))
    return curves, kinds.tolist()


def draw_bells(seed: int) -> Set:
    """Cylinders, bells and funnels of 128 samples, which begin anywhere and have any length."""
    rng = np.random.default_rng(seed)
    kinds, t = np.arange(N_BELLS) % 3, np.arange(128)
    curves = rng.normal(size=(N_BELLS, len(t)))
    for row, kind in enumerate(kinds.tolist()):
        start = rng.integers(16, 33)
        end = start + rng.integers(32, 97)
        rise = (t - start) / (end - start)
        shape = (1.0, rise, 1 - rise)[kind]
        curves[row] += (6 + rng.normal()) * shape * ((t >= start) & (t <= end))
    return curves, kinds.tolist()


SETS: Mapping[str, Callable[[int], Set]] = {
    "sensors": read_sensors,
    "households": draw_households,
    "cylinder, bell, funnel": draw_bells,
}


# ---------------------------------------------------------------- measuring
def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    return ("KIN", "Session", "linkwise.data")


def measure(cell: Cell, at: Sequence[int]) -> Row:
    """ARI over all rows after some numbers of answers."""
    name, way, run = cell
    curves, classes = SETS[name](int(run))
    X = encode_series(curves, warp=way == "warped").X
    return answer(X, classes, at, int(run))


def answer(X: ArrayLike, classes: Sequence[object], at: Sequence[int], seed: int) -> Row:
    """Answer rightly; return the ARI after some numbers of answers."""
    session, row = lw.Session(X, lw.KIN(random_state=seed)), Row()
    for before, n in pairwise((0, *at)):
        for _ in range(n - before):
            question = session.question
            if question is not None:
                session.answer(bool(classes[question.first] == classes[question.second]))
        row[str(n)] = f"{adjusted_rand_score(classes, session.labels):.4f}"
    return row


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cells that are not current, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--runs", type=int, default=5)
    add_common_options(parser)
    chosen = parser.parse_args(arguments)
    folder = out_folder(chosen, "warped_curves")
    kinds = [(name, way) for name in chosen.sets for way in WAYS]
    cells = [(*kind, str(run)) for kind in kinds for run in range(chosen.runs)]
    work = partial(measure, at=AT)
    rows = run_cells(
        folder / "runs.csv", FIELDS, cells, work, uses=entries, jobs=chosen.jobs, reuse=chosen.reuse
    )
    lines = [(*kind, *(f"{average(rows, kind, str(n)):.3f}" for n in AT)) for kind in kinds]
    head = ("set", "way", *map(str, AT))
    write_csv(folder / "table.csv", head, lines)
    print(format_table(head, lines))
    return 0


def average(rows: Sequence[Row], kind: tuple[str, str], column: str) -> float:
    """The mean of a column over the runs."""
    found = [float(row[column]) for row in rows if (row["set"], row["way"]) == kind]
    return sum(found) / len(found)


if __name__ == "__main__":
    raise SystemExit(main())
