"""Compare texts by words, by meaning, and by both: ARI by number of answers.

    python -m bench run text_units --data DIR
    python -m bench run text_units --data DIR --sets clinc_domain --learners KIN

500 random rows of each set, read with linkwise; all answers are right. A set is a file NAME.jsonl.gz or
texts_NAME.jsonl.gz in the folder of data sets, with an object of `text` and `class` a line. The mean is over
those that are there. Meaning needs the extra `meaning`.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.metrics import adjusted_rand_score

from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from linkwise import COBRAS, KIN, MinMax, TruthOracle
from linkwise.constraints.evidence import Evidence
from linkwise.data import encode, from_frame
from linkwise.learn.run import Run
from linkwise.validation import check_rows, resolve_seed

AT = (0, 10, 25, 50, 100)  # answers
N_ROWS = 500
FIELDS = ("set", "unit", "learner", "seed")
UNITS = ("words", "meaning", "words,meaning")
SETS = (
    "airline_reason", "clinc_domain", "clinc_banking", "agnews", "snippets", "gnad", "biomedical",
    "news_similar3", "news_different3", "bank77", "tweet",
)  # fmt: skip
AIMS = {"meaning": 0.52, "words,meaning": 0.51}  # mean ARI of KIN after 50 answers, over 14 sets
LEARNERS = ("KIN", "COBRAS", "MinMax")


def find_file(folder: Path, name: str) -> Path | None:
    """The file of a set; None if the folder has none."""
    files = (folder / f"{start}{name}.jsonl.gz" for start in ("", "texts_"))
    return next((file for file in files if file.is_file()), None)


def read_texts(file: Path, seed: int, most: int = N_ROWS) -> tuple[list[str], list[str]]:
    """Random rows of a file: their texts and their classes."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    drawn = np.random.default_rng(seed).permutation(len(rows))[:most]
    return [rows[at]["text"] for at in drawn], [rows[at]["class"] for at in drawn]


def make_learner(name: str, n_clusters: int, seed: int) -> Any:
    """A learner; MinMax is told the number of clusters."""
    if name == "MinMax":
        return MinMax(n_clusters, random_state=seed)
    return {"KIN": KIN, "COBRAS": COBRAS}[name](random_state=seed)


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    learner = cell[2]
    return (learner, *(("MPCKMeans",) if learner == "MinMax" else ()), "TruthOracle", "linkwise.data")


def measure(cell: Cell, folder: Path, at: Sequence[int]) -> Row:
    """ARI over all rows after some numbers of answers."""
    name, unit, learner, seed = cell
    file = find_file(folder, name)
    assert file is not None
    texts, classes = read_texts(file, int(seed))
    X = encode(from_frame(pl.DataFrame({"text": texts}), text="text", text_by=unit)).X
    model = make_learner(learner, len(set(classes)), int(seed))
    y, row = np.unique(classes, return_inverse=True)[1], Row()
    oracle = TruthOracle(y)
    run = Run(model, check_rows(X, model), Evidence(len(y)), resolve_seed(int(seed)), budget=max(at))
    for n in at:
        while run.evidence.n_questions < n and (question := run.question) is not None:
            run.answer(oracle(question.first, question.second))
        row[str(n)] = f"{adjusted_rand_score(y, run.labels):.4f}"
    return row


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cells that are not current, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--units", nargs="+", default=list(UNITS), choices=UNITS)
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=LEARNERS)
    parser.add_argument("--seeds", type=int, default=2)
    add_common_options(parser)
    chosen = parser.parse_args(arguments)
    source = find_source(chosen)
    folder = out_folder(chosen, "text_units", source)
    if source.folder is None:
        raise SystemExit("The texts are files. Pass their folder with --data.")
    there = [name for name in chosen.sets if find_file(source.folder, name) is not None]
    kinds = [(name, unit, learner) for learner in chosen.learners for name in there for unit in chosen.units]
    cells = [(*kind, str(seed)) for kind in kinds for seed in range(chosen.seeds)]
    work = partial(measure, folder=source.folder, at=AT)
    rows = run_cells(
        folder / "runs.csv", FIELDS, cells, work, uses=entries, jobs=chosen.jobs, reuse=chosen.reuse
    )
    head, lines = ("learner", "unit", "set", *map(str, AT)), []
    for learner in chosen.learners:
        for unit in chosen.units:
            own = [row for row in rows if (row["learner"], row["unit"]) == (learner, unit)]
            lines += [(learner, unit, name, *average([r for r in own if r["set"] == name])) for name in there]
            lines.append((learner, unit, f"mean of {len(there)}", *average(own)))
    write_csv(folder / "table.csv", head, lines)
    print(format_table(head, lines))
    at_50 = {
        (line[0], line[1]): float(line[3 + AT.index(50)]) for line in lines if line[2].startswith("mean")
    }
    missed = [unit for unit, aim in AIMS.items() if at_50.get(("KIN", unit), aim) < aim]
    for unit in missed:
        print(f"KIN by {unit}: {at_50['KIN', unit]:.3f} after 50 answers, the aim is {AIMS[unit]:.2f}")
    return 1 if missed else 0


def average(rows: Sequence[Row]) -> list[str]:
    """The mean ARI of some runs after each number of answers."""
    return [f"{np.mean([float(row[str(n)]) for row in rows]):.3f}" for n in AT]


if __name__ == "__main__":
    raise SystemExit(main())
