"""Record linkage by dedupe and Splink, on the tables and by the answers of `bench.papers.records`.

    python -m bench run peers_records --python PEERS/bin/python --checkouts DIR

The programs need an environment of their own: ``pip install dedupe splink pandas "BTrees<6" "zope.index<7"``.
They get the same columns as linkwise, as text. dedupe learns from right answers to its own questions. Splink
learns without answers, and is told how many pairs match; it has one number, under 0. The table of linkwise is
``records/table.csv``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.records import AT, SCORES, score
from bench.papers.records_sets import SETS, find_table, read_classes, read_frame
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row, read_cells

PROGRAMS = ("dedupe", "Splink")
FIELDS = ("set", "program", "run")
USES = ("bench.suites.scores",)
SCRIPT = Path(__file__).with_name("records_theirs.py")
WAIT = 1800  # seconds for a run; a program that takes longer has no result


def measure(cell: Cell, python: str, checkouts: Path) -> Row:
    """Scores of one run of a program after each number of answers for which it has groups."""
    name, program, run = cell
    classes = read_classes(name, checkouts)
    frame = read_frame(name, checkouts)
    texts = {
        column: ["" if value is None else str(value) for value in frame[column].to_list()]
        for column in frame.columns
        if column not in ("id", SETS[name].origin)
    }
    problem = {
        "program": program,
        "columns": texts,
        "classes": classes.tolist(),
        "at": [n for n in AT if n],
        "seed": int(run),
    }
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "problem.json"), Path(folder, "found.json")
        given.write_text(json.dumps(problem))
        try:
            subprocess.run([python, str(SCRIPT), str(given), str(found)], check=True, timeout=WAIT)
        except subprocess.TimeoutExpired as error:
            print(f"{program} on {name}: {error}", file=sys.stderr)
            return {}
        labels = json.loads(found.read_text())
    return {
        f"{kind} {n}": f"{value:.4f}"
        for n, groups in labels.items()
        for kind, value in score(classes, np.array(groups, dtype=np.int32)).items()
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure the cells that are not current, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", required=True, help="a Python with dedupe and Splink")
    parser.add_argument("--checkouts", type=Path, metavar="DIR", help="folder of the files")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS), choices=PROGRAMS)
    parser.add_argument("--runs", type=int, default=1)
    add_common_options(parser)
    given = parser.parse_args(arguments)
    checkouts = given.checkouts or (find_source(given).folder or Path()) / "checkouts"
    sets = [name for name in given.sets if find_table(name, checkouts).exists()]
    folder = out_folder(given, "records")
    cells = [
        (name, program, str(run)) for name in sets for program in given.programs for run in range(given.runs)
    ]
    work = partial(measure, python=given.python, checkouts=checkouts)
    file = folder / "peers_runs.csv"
    run_cells(file, FIELDS, cells, work, uses=USES, jobs=given.jobs, reuse=given.reuse)
    every = [(name, program, str(run)) for name in SETS for program in PROGRAMS for run in range(given.runs)]
    rows = read_cells(file, FIELDS, every, uses=USES, reuse=given.reuse)
    lines = []
    for name, program in dict.fromkeys((row["set"], row["program"]) for row in rows):
        some = [row for row in rows if (row["set"], row["program"]) == (name, program)]
        for kind in SCORES:
            values = [[float(row.get(f"{kind} {n}") or "nan") for row in some] for n in AT]
            shown = ("" if np.isnan(found).any() else f"{np.mean(found):.3f}" for found in values)
            lines.append((name, SETS[name].role, program, str(len(some)), kind, *shown))
    head = ("set", "role", "program", "runs", "score", *map(str, AT))
    write_csv(folder / "peers.csv", head, lines)
    print(format_table(head, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
