"""Count the files of linkwise that a few walks open, and the calls between these files.

A walk opens a file if it calls a function in it. Calls from libraries do not count. A generator counts each
time that it continues. More rows take more calls, because many functions are called for each cell.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Self

import numpy as np

import linkwise as lw
from linkwise.app.cli.commands.session import export
from linkwise.app.page.opening import present_project
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.app.project.project import Project, new_session_path, open_project
from linkwise.data import encode, read_table
from linkwise.data.reading import Reading

SOURCE = str(Path(lw.__file__).parent)
N_ROWS, N_GROUPS, N_ANSWERS, N_PAIRS = 300, 3, 4, 50  # row i belongs to group i % 3
Action = Callable[[], object]


class Customers(ExitStack):
    """A folder with a CSV file of customers, and the sessions that are opened in it."""

    def __enter__(self) -> Self:
        """Write the file. The groups overlap."""
        super().__enter__()
        rng, group = np.random.default_rng(0), np.arange(N_ROWS)[:, None] % N_GROUPS
        numbers = rng.normal(100 + 20 * group, 12, (N_ROWS, 4)).round(1).astype(str)
        words = np.take(["north", "south", "west"], rng.binomial(2, 0.1 + 0.4 * group, (N_ROWS, 3)))
        rows = "".join(f"K{row},{','.join([*numbers[row], *words[row]])}\n" for row in range(N_ROWS))
        self.file = Path(self.enter_context(TemporaryDirectory())) / "customers.csv"
        self.file.write_text(f"id,age,income,visits,spent,lives,works,travels\n{rows}")
        return self

    def open(self) -> Project:
        """Open the file and its session as ``linkwise ask`` does."""
        options = Reading(), MethodChoice(), SessionOptions()
        project = open_project(self.file, new_session_path(self.file, None), *options)
        self.enter_context(project.session)
        return project


def prepare_question(customers: Customers) -> Action:
    """CSV -> first question."""
    return lambda: customers.open().session.question


def prepare_table(customers: Customers) -> Action:
    """CSV -> read_table."""
    return lambda: read_table(customers.file)


def prepare_encoding(customers: Customers) -> Action:
    """Table -> encode."""
    table = read_table(customers.file)
    return lambda: encode(table)


def prepare_answer(customers: Customers) -> Action:
    """First answer on the page -> session file -> next state."""
    presenter = present_project(customers.open())
    request = {"id": "1", "do": "answer", "answer": "yes", "question": presenter.state()["question"]["id"]}
    return lambda: (presenter.handle(request), presenter.state())


def prepare_export(customers: Customers) -> Action:
    """Session with a few answers -> export --join."""
    with customers.open().session as session:
        while (question := session.question) and session.status.n_answers < N_ANSWERS:
            session.answer("yes" if (question.first - question.second) % N_GROUPS == 0 else "no")
    return lambda: export(customers.file, join=customers.file.with_name("joined.csv"))


def prepare_fit(customers: Customers) -> Action:
    """Numbers and pairs -> PCKMeans.fit."""
    X = encode(read_table(customers.file)).X
    pairs = np.random.default_rng(1).choice(N_ROWS, (N_PAIRS, 2), replace=False)
    is_linked = np.ptp(pairs % N_GROUPS, axis=1) == 0
    constraints = lw.Constraints(N_ROWS, must_link=pairs[is_linked], cannot_link=pairs[~is_linked])
    clusterer = lw.PCKMeans(N_GROUPS, random_state=0)
    return lambda: clusterer.fit(X, constraints=constraints)


PREPARED = (prepare_question, prepare_table, prepare_encoding, prepare_answer, prepare_export, prepare_fit)
WALKS = {prepare.__name__.removeprefix("prepare_"): prepare for prepare in PREPARED}


def count_calls(action: Action) -> dict[str, int]:
    """Return the files that an action opens, each with the number of calls from other files."""
    calls: list[tuple[str, str]] = []  # several threads may append at once

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            calls.append((frame.f_back.f_code.co_filename if frame.f_back else "", frame.f_code.co_filename))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    crossing = Counter(called for caller, called in calls if caller.startswith(SOURCE) and caller != called)
    opened = sorted({called for _, called in calls})
    return {Path(file).relative_to(SOURCE).as_posix(): crossing[file] for file in opened}


def count_walk(name: str) -> dict[str, int]:
    """Count a walk. It has run once before, in another folder, so that imports do not count."""
    with Customers() as first, Customers() as second, redirect_stderr(StringIO()):
        WALKS[name](first)()
        return count_calls(WALKS[name](second))


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", choices=WALKS, help="list the files of one walk")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    found = {name: count_walk(name) for name in WALKS if options.files in (name, None)}
    if options.json:
        print(json.dumps(found))
    elif options.files:
        print("\n".join(f"{n:6}  {file}" for file, n in found[options.files].items()))
    else:
        print(f"{'walk':71}{'files':>6}{'calls between files':>22}")
        for name, files in found.items():
            print(f"{name:10}{WALKS[name].__doc__.rstrip('.'):61}{len(files):6}{sum(files.values()):22}")


if __name__ == "__main__":
    main()
