"""Open public files as their owners would, without options: is a question reached, and how good is it?

    python -m bench run firsthour --checkouts DIR
    python -m bench run firsthour --checkouts DIR --files iris tips

DIR holds <owner>+<name>/<path> for each file of `manifest.toml`. Whoever measures fetches them.

`opening.csv` has, for each file without options, whether a question was reached, the seconds of processor time
until then, from the start of the command, and everything that linkwise said. `table.csv` has the ARI after true
answers: with what linkwise proposes applied, and as an expert would read the file.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.metrics import adjusted_rand_score

from bench.firsthour.files import PublicFile, copy_without_labels, read_manifest
from bench.harness import add_common_options, format_table, out_folder, run_cells
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import open_project
from linkwise.data.columns.proposed_options import propose_options
from linkwise.data.read.formats import read_frame
from linkwise.data.reading import Reading

AT = (0, 20, 50)  # answers
WAYS = ("proposed", "chosen")
USES = ("KIN", "RecordLinkage", "Session", "linkwise.data", "linkwise.app.project")


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    return USES


# ---------------------------------------------------------------- the opening
def measure_opening(cell: Cell, checkouts: Path) -> Row:
    """Run the command without options until its first question, and keep what it says."""
    file = read_manifest()[cell[0]]
    with TemporaryDirectory() as scratch:
        copy, _ = copy_without_labels(file, checkouts, Path(scratch))
        before = _used_seconds()
        command = [sys.executable, "-m", "linkwise", "ask", copy.name, "--terminal"]
        done = subprocess.run(
            command, cwd=scratch, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        seconds = _used_seconds() - before
    opening, question, _ = done.stdout.partition("Question 1")
    told = opening if done.returncode == 0 else done.stderr
    told = re.sub(r"\s+", " ", told).strip()
    is_reached = done.returncode == 0 and bool(question)
    return {"reached": "yes" if is_reached else "no", "seconds": f"{seconds:.1f}", "said": told}


def _used_seconds() -> float:
    """Seconds of processor time of all child processes so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# ---------------------------------------------------------------- the clusters
def measure_clusters(cell: Cell, checkouts: Path, at: Sequence[int]) -> Row:
    """ARI after some numbers of true answers, and what stopped linkwise where something did."""
    name, way = cell
    file = read_manifest()[name]
    nothing: Row = dict.fromkeys(("options", *map(str, at), "problem"), "")
    with TemporaryDirectory() as scratch:
        copy, classes = copy_without_labels(file, checkouts, Path(scratch))
        try:
            reading, method = choose_options(file, copy, way)
            row = nothing | {"options": " ".join(f"{k}={v}" for k, v in reading.settings().items())}
            project = open_project(copy, Path(scratch) / "a.linkwise", reading, MethodChoice(method))
        except Exception as error:  # any failure is a result here
            return nothing | {"problem": f"{type(error).__name__}: {error}"[:300]}
        with project.session as session:
            if classes is None or len(session.labels) != len(classes):
                n_rows = "none" if classes is None else len(classes)
                return row | {"problem": f"{len(session.labels)} rows, {n_rows} with a class"}
            known = [position for position, one in enumerate(classes) if one]
            for n in range(max(at) + 1):
                if n in at:
                    found = [int(session.labels[position]) for position in known]
                    row[str(n)] = f"{adjusted_rand_score([classes[p] for p in known], found):.3f}"
                if n < max(at) and (question := session.question) is not None:
                    first, second = classes[question.first], classes[question.second]
                    session.answer("unsure" if not first or not second else first == second)
    return row


def choose_options(file: PublicFile, copy: Path, way: str) -> tuple[Reading, str | None]:
    """How the file is read in one way, and the method."""
    if way == "chosen":
        return Reading.of(**file.chosen), file.method
    if copy.is_dir():
        return Reading(), None
    proposed = propose_options(read_frame(copy).typed)
    return Reading.of(**proposed), "records" if "text_by" in proposed else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cells that are not current, and write both tables."""
    known = read_manifest()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checkouts", type=Path, required=True, metavar="DIR", help="folder of the files")
    parser.add_argument("--files", nargs="+", default=list(known), choices=known, metavar="NAME")
    add_common_options(parser)
    given = parser.parse_args(arguments)
    folder = out_folder(given, "firsthour")
    missing = [name for name in given.files if not known[name].find(given.checkouts).exists()]
    if missing:
        raise SystemExit(f"{given.checkouts} lacks the files of {', '.join(missing)}. Fetch them first.")
    options = {"uses": entries, "jobs": given.jobs, "reuse": given.reuse}
    openings = run_cells(
        folder / "openings.csv",
        ("file",),
        [(name,) for name in given.files],
        partial(measure_opening, checkouts=given.checkouts),
        **options,
    )
    judged = [name for name in given.files if known[name].label is not None or known[name].truth]
    cells = [(name, way) for name in judged for way in WAYS]
    work = partial(measure_clusters, checkouts=given.checkouts, at=AT)
    runs = run_cells(folder / "runs.csv", ("file", "way"), cells, work, **options)
    write_tables(folder, openings, runs)
    return 0


def write_tables(folder: Path, openings: Sequence[Row], runs: Sequence[Row]) -> None:
    """Write what was measured of each file, and print it with the means."""
    fields = ("file", "reached", "seconds", "said")
    write_csv(folder / "opening.csv", fields, ([row[field] for field in fields] for row in openings))
    found = {(row["file"], row["way"]): row for row in runs}
    head = ("file", *(f"{way} {n}" for way in WAYS for n in AT))
    lines = [
        (row["file"], *(found.get((row["file"], way), {}).get(str(n), "") for way in WAYS for n in AT))
        for row in openings
    ]
    complete = [line for line in lines if all(line[1:])]
    if complete:
        means = [sum(float(line[i]) for line in complete) / len(complete) for i in range(1, len(head))]
        lines.append((f"mean of {len(complete)}", *(f"{mean:.3f}" for mean in means)))
    write_csv(folder / "table.csv", head, lines)
    print(format_table(head, lines))
    n_reached = sum(row["reached"] == "yes" for row in openings)
    print(f"{n_reached} of {len(openings)} files reach a question without options.")


if __name__ == "__main__":
    raise SystemExit(main())
