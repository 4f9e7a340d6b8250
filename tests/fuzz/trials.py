"""What the commands do with an input file, without a terminal: read, show, cluster, write."""

from __future__ import annotations

import io
import itertools
import shutil
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.inputs import TABLE, Case, seeds
from linkwise.app.project.data_source import read_pairs_file, read_rows, row_ids
from linkwise.app.project.exit_codes import error_sentence, exit_code
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.app.project.output import write_labels
from linkwise.app.project.project import open_project
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.files import read_labels
from linkwise.data import Rows, encode
from linkwise.data.reading import Reading
from linkwise.errors import ConstraintWarning

READINGS = [
    Reading(),
    Reading(impute="median"),
    Reading(scale="none", impute="median"),
    Reading(columns=("size", "colour"), impute="median", scale="standard"),
    Reading(id_column="id"),
    Reading(drop=("said",), impute="median"),
    Reading(text="said"),
    Reading(series=True),
    Reading(series=True, columns=("curve",), scale="none"),
]
GOOD_CODES = (0, 2, 3, 4, 5)
LONGEST = 5000  # characters of a message
LARGE = 100_000  # bytes of a file that is read in one way only


class Finding(Exception):
    """What no file should lead to."""


def try_case(case: Case, folder: Path, *, deeply: bool = False) -> str:
    """Read a case in all ways; how often that succeeded and how often it was refused.

    Parameters
    ----------
    case : Case
    folder : path
        Empty, for the files of the case.
    deeply : bool
        Whether whole commands are run, too.

    Raises
    ------
    Exception
        Anything but the errors that a person is told in one sentence.
    """
    path = _write(case, folder)
    trials = _trials(case, path)
    if deeply and _size(case) < LARGE:
        trials += _commands(case, path)
    told = [_told(trial) for trial in trials]
    return f"{told.count(True)} read, {told.count(False)} refused"


def _size(case: Case) -> int:
    return sum(map(len, case.files.values()))


def _write(case: Case, folder: Path) -> Path:
    shutil.copyfile(_good_table(), folder / "good.csv")
    place = folder / case.name if case.kind == "folder" else folder
    place.mkdir(exist_ok=True)
    for name, content in case.files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return folder / case.name


@cache
def _good_table() -> Path:
    import tempfile

    path = Path(tempfile.mkdtemp()) / "good.csv"
    path.write_bytes(next(case for case in seeds() if case.name == TABLE).files[TABLE])
    return path


def _told(trial: Callable[[], object]) -> bool:
    """Whether a trial succeeded; if not, it must have ended in an error that a person can act on."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConstraintWarning)
        try:
            trial()
        except (Finding, OSError, UnicodeError):
            raise
        except Exception as error:
            if exit_code(error) is None:
                raise
            _check_message(error)
            return False
    return True


def _check_message(error: BaseException) -> None:
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__cause__) is not None:
        causes.append(cause)
    if any(isinstance(cause, MemoryError) for cause in causes):
        raise Finding("the limit of memory was reached") from error
    if not 10 < len(error_sentence(error)) < LONGEST:
        raise Finding(f"a message of {len(error_sentence(error))} characters") from error


# ---------------------------------------------------------------- ways in
def _trials(case: Case, path: Path) -> list[Callable[[], object]]:
    if case.kind == "pairs":
        return [lambda: _pairs(path, True), lambda: _pairs(path, False)]
    if case.kind == "labels":
        return [lambda: _labels(path)]
    if case.kind == "folder":
        return [lambda: _table(path, Reading()), lambda: _table(path, Reading(skip_broken=True))]
    readings = READINGS if _size(case) < LARGE else READINGS[:1]
    if case.delimiter is not None:
        readings = [Reading(delimiter=case.delimiter, impute=how) for how in (None, "median")]
    return [lambda reading=reading: _table(path, reading) for reading in readings]  # type: ignore[misc]


def _table(path: Path, reading: Reading) -> None:
    rows = read_rows(path, reading)
    _look_at(rows)
    if rows.items.kind == "record":
        coded = encode(rows.table, scale="none", impute=reading.impute, categories="codes")  # type: ignore[arg-type]
        _check(np.isfinite(coded.X).all(), "codes that are not finite")


def _look_at(rows: Rows) -> None:
    """See what a person would see, and write what leaves linkwise."""
    table, encoded = rows.table, rows.encoded
    _check(encoded.X.shape == (len(table), len(encoded.features)), "a matrix of another shape")
    _check(np.isfinite(encoded.X).all(), "numbers that are not finite")
    _check(len(table) > 1, "fewer than two rows")
    for row in (0, len(table) - 1):
        fields = rows.items.fields(row)
        for text in (*fields, *fields.values(), *table.notes, *encoded.notes):
            text.encode()
        rows.items.content(row)
        if rows.items.pixels is not None:
            rows.items.pixels(row)
    again = read_choices(table.choices)
    _check(again == table.choices, "choices that JSON cannot hold")
    ids = row_ids(table) or list(map(str, range(len(table))))
    _check(len(set(ids)) == len(table), "ids that come twice")
    _write_and_read(ids)


def read_choices(choices: dict[str, Any]) -> Any:
    """Choices as a session keeps them."""
    import json

    return json.loads(json.dumps(choices))


def _write_and_read(ids: list[str]) -> None:
    """Exports can be read back, whatever the rows are called."""
    clusters = [row % 3 for row in range(len(ids))]
    file = io.StringIO(newline="")
    write_labels(ids, clusters, file)
    pairs = Constraints(len(ids), [(0, len(ids) - 1)])
    with tempfile.TemporaryDirectory() as folder:
        some = Path(folder, "labels of ids.csv")
        some.write_bytes(file.getvalue().encode())
        _check(read_labels(some, ids) == clusters, "clusters that change when they are written")
        pairs.to_csv(some, ids=ids)
        _check(Constraints.read_csv(some, ids=ids) == pairs, "pairs that change when they are written")


def _pairs(path: Path, by_id: bool) -> None:
    ids = [f"r{row}" for row in range(24)] if by_id else None
    found = read_pairs_file(path, ids, 24)
    _check(np.isfinite(found.must_link_weight).all(), "weights that are not finite")


def _labels(path: Path) -> None:
    found = read_labels(path, [f"r{row}" for row in range(24)])
    _check(len(found) == 24, "labels of other rows")


def _check(holds: Any, what: str) -> None:
    if not holds:
        raise Finding(what)


# ---------------------------------------------------------------- whole commands
def _commands(case: Case, path: Path) -> list[Callable[[], object]]:
    good = path.with_name("good.csv")
    if case.kind == "pairs":
        asked = lambda: _asked(good, constraints=path)  # noqa: E731
        return [
            asked,
            lambda: _run("cluster", good, "--method", "pckmeans", "--clusters", 3, "--constraints", path),
        ]
    if case.kind == "labels":
        return [
            lambda: _run("explain", good, "--labels", path),
            lambda: _run("explain", good, "--labels", path, "--text", "said"),
            lambda: _run("explain", good, "--labels", path, "--rows", "r0", "r1", "--json"),
        ]
    session = path.parent / "kept.linkwise"
    return [
        lambda: _asked(path),
        lambda: _run("ask", path, "--session", session, "--budget", 2, said="y\nn\n"),
        lambda: _run("ask", session, "--json", said='{"type": "quit"}\n'),
        lambda: _run("status", session),
        lambda: _run("export", session),
        lambda: _run("explain", session),
        lambda: _run("cluster", path, "--method", "pckmeans", "--clusters", 2, "--impute", "median"),
    ]


_NUMBER = itertools.count()


def _asked(data: Path, *, constraints: Path | None = None) -> None:
    path = data.parent / f"{next(_NUMBER)}.linkwise"
    project = open_project(data, path, Reading(), MethodChoice(), SessionOptions(constraints=constraints))
    project.session.close()


def _run(*arguments: object, said: str = "") -> None:
    """A command in this process: an exit code of ours, and no traceback."""
    from typer.testing import CliRunner

    from linkwise.app.cli.main import app

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        done = CliRunner().invoke(app, [str(a) for a in arguments], input=said)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    _check(done.exit_code in GOOD_CODES, f"{arguments[0]} ended with {done.exit_code}: {done.stderr[-3000:]}")
    _check("Traceback" not in done.output, f"{arguments[0]} printed a traceback")
