"""Measure six invented data sets as people have them, from the command line: ARI by number of answers.

    python -m bench run everyday
    python -m bench run everyday --sets customers --rows 0.5

Each set is read without what linkwise proposes and with as few options as it takes to begin, then as
linkwise proposes, and with options chosen for it, in three runs with data drawn anew. The judge of
`bench/judge_by_truth.py` answers every question rightly.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sklearn.metrics import adjusted_rand_score

from bench.harness import add_common_options, format_table, out_folder, run_cells
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row

ROOT = Path(__file__).resolve().parents[2]
AT = (0, 25, 50, 100)  # answers
RUNS = 3  # each with data drawn anew
FIELDS = ("set", "options", "run")


class Everyday(NamedTuple):
    """How a set is read."""

    file: str
    fewest: str
    """Options without which linkwise does not begin where nothing is proposed."""
    chosen: str
    """Options for what the file holds."""


SETS: Mapping[str, Everyday] = {
    "customers": Everyday("customers.csv", "", "--id customer --merge-variants"),
    "tickets": Everyday("tickets.jsonl", "", "--id ticket --text body"),
    "products": Everyday("products.csv", "", "--id sku --text title --image picture"),
    "sensors": Everyday("sensors.csv", "", "--id sensor --series"),
    "articles": Everyday("articles.npy", "", "--show titles.csv"),
    "contacts": Everyday(
        "contacts.csv",
        "--text name",
        "--id record --text name,street,phone --text-by letters --method records",
    ),
}


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    return ("KIN", "Session", "linkwise.data", "linkwise.app.programs", "linkwise.app.project")


def measure(cell: Cell, share: float, at: Sequence[int]) -> Row:
    """ARI over all rows after some numbers of answers."""
    name, options, run = cell
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make(folder, name, share, int(run))
        return {str(n): f"{score(folder, name, options, n):.4f}" for n in at}


def make(folder: Path, name: str, share: float, seed: int) -> None:
    """Write a set into a folder."""
    maker = ROOT / "examples" / "data" / "make_everyday.py"
    command = [str(maker), str(folder), "--only", name, "--rows", str(share), "--seed", str(seed)]
    subprocess.run([sys.executable, *command], check=True)


def score(folder: Path, name: str, options: str, n_answers: int) -> float:
    """Answer until there are so many answers, and compare the clusters with the classes."""
    file, truth = SETS[name].file, folder / "truth" / f"{name}.csv"
    judge = f'"{sys.executable}" "{ROOT / "bench" / "judge_by_truth.py"}" "{truth}"'
    asking = ["ask", file, *options.split(), "--oracle", judge, "--budget", str(n_answers), "--quiet"]
    linkwise(folder, *asking)
    linkwise(folder, "export", file, "--labels", "clusters.csv", "--force")
    with open(truth, newline="", encoding="utf-8") as classes, open(folder / "clusters.csv") as clusters:
        wanted = [row["class"] for row in csv.DictReader(classes)]
        found = [row["cluster"] for row in csv.DictReader(clusters)]
    return float(adjusted_rand_score(wanted, found))


def linkwise(folder: Path, *words: str) -> str:
    """Run the command line as a person would, in a folder, and return what it prints."""
    command = [sys.executable, "-m", "linkwise", *words]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cells that are not current, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--rows", type=float, default=1.0, metavar="SHARE", help="share of the rows")
    parser.add_argument("--runs", type=int, default=RUNS)
    add_common_options(parser)
    chosen = parser.parse_args(arguments)
    folder = out_folder(chosen, "everyday")
    ways = [
        (name, way, options)
        for name in chosen.sets
        for way, options in (
            ("as it is", f"{SETS[name].fewest} --as-is".strip()),
            ("proposed", ""),
            ("chosen", SETS[name].chosen),
        )
    ]
    cells = [
        (name, options, str(run))
        for run in range(chosen.runs)
        for name, options in dict.fromkeys((name, options) for name, _, options in ways)
    ]
    work = partial(measure, share=chosen.rows, at=AT)
    rows = run_cells(
        folder / "runs.csv", FIELDS, cells, work, uses=entries, jobs=chosen.jobs, reuse=chosen.reuse
    )
    head = ("set", "which", "options", *map(str, AT))
    lines = [
        (name, way, options or "none", *(f"{mean(rows, name, options, str(n)):.3f}" for n in AT))
        for name, way, options in ways
    ]
    write_csv(folder / "table.csv", head, lines)
    print(format_table(head, lines))
    return 0


def mean(rows: Sequence[Row], name: str, options: str, column: str) -> float:
    """The mean of a column over the runs of a set with some options."""
    found = [float(row[column]) for row in rows if (row["set"], row["options"]) == (name, options)]
    return sum(found) / len(found)


if __name__ == "__main__":
    raise SystemExit(main())
