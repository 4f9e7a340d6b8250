"""Compare two ways to spend a minute on the page: correct the rows of clusters, or answer more questions.

    python -m bench run corrections --data DIR
    python -m bench run corrections --data DIR --sets digits wine --runs 1

After some answers a person opens each cluster once, looks at its least certain rows, and moves those that
are of another class than most rows of the cluster: to the cluster where most rows are of their class, or to
a new one. All that a person does takes a fixed time (`SECONDS`), which is assumed and not measured. Then the
moves are undone, and the same time goes into answers. All answers and moves are right.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from bench import data
from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.noise_runs import load
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from linkwise import KIN, Session

SETS = ("wine", "digits", "ecoli", "dermatology", "segmentation", "libras", "yeast")
AT = (5, 25, 100)  # answers before the corrections
FIELDS = ("set", "run", "answers")
SEEN = 24  # rows of a cluster that are looked at: what one screen shows
MOST_MORE = 200  # answers until those reach what the corrections reach
SECONDS = {"answer": 4.0, "open": 3.0, "look": 0.5, "select": 1.0, "move": 3.0}


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    return ("KIN", "Session")


def measure(cell: Cell, where: data.Source) -> Row:
    """ARI before, after the corrections, and after answers that take as long."""
    name, run, n_answers = cell
    task = load(name, where)
    classes = np.unique(task.y, return_inverse=True)[1]
    with Session(task.X, KIN(random_state=int(run))) as session:
        answer(session, classes, int(n_answers))
        before = adjusted_rand_score(classes, session.labels)
        n_events, (seconds, n_moved) = len(session.history), correct(session, classes)
        corrected = adjusted_rand_score(classes, session.labels)
        for _ in range(len(session.history) - n_events):
            session.undo()
        assert adjusted_rand_score(classes, session.labels) == before
        answer(session, classes, round(seconds / SECONDS["answer"]))
        answered = ari = adjusted_rand_score(classes, session.labels)
        n_more = 0
        while ari < corrected and n_more < MOST_MORE and session.question is not None:
            answer(session, classes, 1)
            n_more += 1
            ari = adjusted_rand_score(classes, session.labels)
    return {
        "before": f"{before:.4f}",
        "corrected": f"{corrected:.4f}",
        "answered": f"{answered:.4f}",
        "seconds": f"{seconds:.0f}",
        "moved": str(n_moved),
        "saved": f"{n_more * SECONDS['answer']:.0f}",
    }


def answer(session: Session, classes: NDArray[np.int64], n: int) -> None:
    """Answer some questions rightly, as far as there are any."""
    for _ in range(n):
        if (question := session.question) is None:
            return
        session.answer(bool(classes[question.first] == classes[question.second]))


def correct(session: Session, classes: NDArray[np.int64]) -> tuple[float, int]:
    """Open each cluster and move what is wrong there; return the seconds, and how many rows moved."""
    labels, confidence = session.labels, session.confidence
    assert confidence is not None
    seconds, n_moved = 0.0, 0
    for cluster in np.unique(labels[labels >= 0]).tolist():
        rows = np.flatnonzero(labels == cluster)
        listed = rows[np.argsort(confidence[rows], kind="stable")][:SEEN]
        seconds += SECONDS["open"] + SECONDS["look"] * len(listed)
        own = find_class(classes[rows])
        for kind in np.unique(classes[listed[classes[listed] != own]]).tolist():
            now = session.labels
            wrong = [
                row
                for row in listed[classes[listed] == kind].tolist()
                if find_class(classes[now == now[row]]) != kind
            ]
            if not wrong:
                continue
            groups = session.evidence.groups()  # linkwise refuses to leave joined rows behind
            joined = groups.row[np.isin(groups.number, groups.number[np.isin(groups.row, wrong)])]
            wrong = np.union1d(wrong, joined).tolist()
            homes = {
                int((now == other).sum()): other
                for other in np.unique(now[now >= 0]).tolist()
                if find_class(classes[now == other]) == kind
            }
            session.move(wrong, to=homes[max(homes)] if homes else "new")
            seconds += SECONDS["select"] * len(wrong) + SECONDS["move"]
            n_moved += len(wrong)
    return seconds, n_moved


def find_class(classes: NDArray[np.int64]) -> int:
    """Return the class of most rows."""
    return Counter(classes.tolist()).most_common(1)[0][0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cells that are not current, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--runs", type=int, default=3)
    add_common_options(parser)
    chosen = parser.parse_args(arguments)
    folder, where = out_folder(chosen, "corrections"), find_source(chosen)
    cells = [(name, str(run), str(n)) for name in chosen.sets for run in range(chosen.runs) for n in AT]
    rows = run_cells(
        folder / "runs.csv",
        FIELDS,
        cells,
        partial(measure, where=where),
        uses=entries,
        jobs=chosen.jobs,
        reuse=chosen.reuse,
    )
    columns = ("before", "corrected", "answered", "seconds", "moved", "saved")
    lines = []
    for name in (*chosen.sets, "mean"):
        for n in AT:
            some = [row for row in rows if row["answers"] == str(n) and name in (row["set"], "mean")]
            means = [float(np.mean([float(row[column]) for row in some])) for column in columns]
            lines.append(
                (name, str(n), *(f"{value:.{3 if at < 3 else 0}f}" for at, value in enumerate(means)))
            )
    head = (
        "set",
        "answers",
        "ARI",
        "after corrections",
        "after answers",
        "seconds",
        "moved",
        "seconds saved",
    )
    write_csv(folder / "table.csv", head, lines)
    print(format_table(head, lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
