"""Open public files as their owners would, without options: is a question reached, and how good is it.

    python -m bench run firsthour --checkouts DIR
    python -m bench run firsthour --checkouts DIR --files iris tips

DIR holds <owner>+<name>/<path> for each file of `manifest.toml`. Whoever measures fetches them.

`opening.csv` has, for each file without options, whether a question was reached, the seconds of processor
time that this took without the start of Python, and everything that linkwise said. `table.csv` has the ARI
after true answers, without options and as an expert would read the file.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from sklearn.metrics import adjusted_rand_score

from bench.firsthour.files import Classes, PublicFile, copy_without_labels, read_manifest
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from linkwise.app.cli.commands.ask import describe_opening
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.app.project.project import Project, open_project
from linkwise.data.reading import Reading

AT = (0, 20, 50)  # answers
WAYS = ("alone", "chosen")
FIELDS = ("file", "way")
MEASURED = ("reached", "seconds", "options", "said", *map(str, AT))
USES = ("KIN", "RecordLinkage", "Session", "linkwise.data", "linkwise.app.project")


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    return (*USES, "linkwise.app.cli.commands.ask")


def measure(cell: Cell, checkouts: Path) -> Row:
    """Open a file and answer rightly; any error of linkwise is a result."""
    name, way = cell
    file = read_manifest()[name]
    row: Row = dict.fromkeys(MEASURED, "") | {"reached": "no"}
    with TemporaryDirectory() as scratch:
        copy, classes = copy_without_labels(file, checkouts, Path(scratch))
        started = process_time()
        try:
            project = open_file(file, copy, way)
        except Exception as error:
            return row | {"said": shorten(f"{type(error).__name__}: {error}", scratch)}
        with project.session as session:
            is_reached = session.question is not None
            row["seconds"] = f"{process_time() - started:.1f}"
            row["reached"] = "yes" if is_reached else "no"
            title, notes = describe_opening(project)
            row["said"] = shorten(" ".join((title, *notes)), scratch)
            settings = project.table.reading.settings()
            row["options"] = " ".join(f"{option}={value}" for option, value in settings.items())
            return row | judge(project, classes)


def open_file(file: PublicFile, copy: Path, way: str) -> Project:
    """Begin a session without options, or as an expert would."""
    session = copy.parent / "a.linkwise"
    if way == "alone":
        return open_project(copy, session, Reading(), MethodChoice())
    chosen, method = Reading.of(**(file.chosen or {})), MethodChoice(file.method)
    return open_project(copy, session, chosen, method, SessionOptions(as_is=True))


def judge(project: Project, classes: Classes) -> Row:
    """ARI over the rows whose class is known; nothing if linkwise has other rows than the file."""
    session, row = project.session, Row()
    if classes is None or len(session.labels) != len(classes):
        return row
    known = [at for at, one in enumerate(classes) if one]
    for n in range(max(AT) + 1):
        if n in AT:
            found = [int(session.labels[at]) for at in known]
            row[str(n)] = f"{adjusted_rand_score([classes[at] for at in known], found):.3f}"
        if n < max(AT) and (question := session.question) is not None:
            first, second = classes[question.first], classes[question.second]
            session.answer("unsure" if not first or not second else first == second)
    return row


def shorten(said: str, scratch: str) -> str:
    """What linkwise said, in one line and without the folder of the copy."""
    return " ".join(said.replace(f"{scratch}/", "").split())


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cells that are not current, and write both tables."""
    known = read_manifest()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--checkouts", type=Path, metavar="DIR", help="folder of the files  [default: checkouts in --data]"
    )
    parser.add_argument("--files", nargs="+", default=list(known), choices=known, metavar="NAME")
    add_common_options(parser)
    given = parser.parse_args(arguments)
    checkouts = given.checkouts or (find_source(given).folder or Path()) / "checkouts"
    missing = [name for name in given.files if not known[name].find(checkouts).exists()]
    if missing:
        raise SystemExit(f"{checkouts} lacks the files of {', '.join(missing)}. Fetch them first.")
    folder = out_folder(given, "firsthour")
    cells = [(name, way) for name in given.files for way in (WAYS if known[name].is_judged else WAYS[:1])]
    work = partial(measure, checkouts=checkouts)
    rows = run_cells(
        folder / "runs.csv", FIELDS, cells, work, uses=entries, jobs=given.jobs, reuse=given.reuse
    )
    write_tables(folder, {(row["file"], row["way"]): row for row in rows})
    return 0


def write_tables(folder: Path, rows: dict[tuple[str, str], Row]) -> None:
    """Write what was measured of each file, and print it with the means."""
    alone = [row for (_, way), row in rows.items() if way == "alone"]
    fields = ("file", "reached", "seconds", "options", "said")
    write_csv(folder / "opening.csv", fields, ([row[field] for field in fields] for row in alone))
    head = ("file", *(f"{way} {n}" for way in WAYS for n in AT))
    lines = [
        (row["file"], *(rows[row["file"], way][str(n)] for way in WAYS for n in AT))
        for row in alone
        if (row["file"], "chosen") in rows
    ]
    held_out = {file.name for file in read_manifest().values() if file.is_held_out}
    complete = [line for line in lines if all(line)]
    for of, some in (
        ("", [line for line in complete if line[0] not in held_out]),
        (" held out", [line for line in complete if line[0] in held_out]),
    ):
        if some:
            means = [sum(float(line[at]) for line in some) / len(some) for at in range(1, len(head))]
            lines.append((f"mean of {len(some)}{of}", *(f"{mean:.3f}" for mean in means)))
    write_csv(folder / "table.csv", head, lines)
    print(format_table(head, lines))
    n_reached = sum(row["reached"] == "yes" for row in alone)
    print(f"{n_reached} of {len(alone)} files reach a question without options.")


if __name__ == "__main__":
    raise SystemExit(main())
