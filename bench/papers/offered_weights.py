"""Measure the weights of columns that linkwise offers while it asks: ARI with and without them.

    python -m bench run offered_weights
    python -m bench run offered_weights --sets customers --runs 1

Each set of `everyday` that is a table is read once without any weight, and once more where each offer of
weights is accepted as soon as it comes. Run N has the rows of seed N. All answers are right.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.metrics import adjusted_rand_score

from bench.harness import add_common_options, format_table, out_folder, run_cells
from bench.papers.everyday import SETS as FILES
from bench.papers.everyday import make, mean
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from linkwise.app.project.column_offer import ColumnOffer
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import Project, open_project
from linkwise.data.reading import Reading

AT = (20, 40, 60, 100)  # answers
FIELDS = ("set", "options", "way", "run")
WAYS = ("without", "accepted")

SETS: Mapping[str, Mapping[str, Reading]] = {
    "customers": {
        "fewest": Reading(),
        "proposed": Reading(id_column="customer", merge_variants=True),
    },
    "tickets": {"fewest": Reading()},
    "products": {"fewest": Reading()},
}


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    return ("KIN", "Session", "linkwise.data", "linkwise.app.project.column_offer")


def measure(cell: Cell, share: float, at: Sequence[int]) -> Row:
    """ARI over all rows after some numbers of answers, and how many offers came."""
    name, options, way, run = cell
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make(folder, name, share, int(run))
        with open(folder / "truth" / f"{name}.csv", newline="", encoding="utf-8") as file:
            classes = [row["class"] for row in csv.DictReader(file)]
        choice = MethodChoice(seed=int(run))
        data = folder / FILES[name].file
        project = open_project(data, folder / "a.linkwise", SETS[name][options], choice)
        with project.session:
            return answer(project, classes, at, accepts=way == "accepted")


def answer(project: Project, classes: Sequence[str], at: Sequence[int], *, accepts: bool) -> Row:
    """Answer rightly; return the ARI after some numbers of answers, and how many offers came."""
    session, offer, n_offers, row = project.session, ColumnOffer(project), 0, Row()
    for n in range(1, max(at) + 1):
        question = session.question
        if question is not None:
            session.answer(classes[question.first] == classes[question.second])
        offer.update()
        found = offer.describe()
        if found is not None and offer.is_new and (found["less"] or found["more"]):
            n_offers += 1
            if accepts:
                offer.accept([*found["less"], *found["more"]])
        offer.is_new = False
        if n in at:
            row[str(n)] = f"{adjusted_rand_score(classes, session.labels):.4f}"
    return row | {"offers": str(n_offers)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cells that are not current, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--rows", type=float, default=1.0, metavar="SHARE", help="share of the rows")
    parser.add_argument("--runs", type=int, default=7)
    add_common_options(parser)
    chosen = parser.parse_args(arguments)
    folder = out_folder(chosen, "offered_weights")
    kinds = [(name, options, way) for name in chosen.sets for options in SETS[name] for way in WAYS]
    cells = [(*kind, str(run)) for kind in kinds for run in range(chosen.runs)]
    work = partial(measure, share=chosen.rows, at=AT)
    rows = run_cells(
        folder / "runs.csv", FIELDS, cells, work, uses=entries, jobs=chosen.jobs, reuse=chosen.reuse
    )
    columns = (*map(str, AT), "offers")
    lines = [
        (*kind, *(f"{average(rows, kind, column):.{1 if column == 'offers' else 3}f}" for column in columns))
        for kind in kinds
    ]
    head = ("set", "options", "weights", *columns)
    write_csv(folder / "table.csv", head, lines)
    print(format_table(head, lines))
    return 0


def average(rows: Sequence[Row], kind: tuple[str, str, str], column: str) -> float:
    """The mean of a column over the runs."""
    name, options, way = kind
    return mean([row for row in rows if row["way"] == way], name, options, column)


if __name__ == "__main__":
    raise SystemExit(main())
