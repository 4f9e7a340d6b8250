"""A data file and its session file: found, read as before, opened together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.apps.exits import WrongUse
from linkwise.apps.screen import count, quoted
from linkwise.data import Encoded, Table, encode, read_table
from linkwise.errors import DataError, DataMismatchError, SessionError
from linkwise.session.session import Session

if TYPE_CHECKING:
    from linkwise.learner import Learner

SUFFIX = ".linkwise"
SQLITE = b"SQLite format 3\0"
METHODS = {"cobras": "COBRAS", "cobra": "COBRA"}


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read and encoded; None where the command line says nothing."""

    id_column: str | None = None
    columns: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    delimiter: str | None = None
    scale: str | None = None
    impute: str | None = None

    def given(self) -> dict[str, Any]:
        """What the command line does say."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def choices(self) -> dict[str, Any]:
        """The part that is for `read_table`."""
        return {name: value for name, value in self.given().items() if name not in ("scale", "impute")}


@dataclass(frozen=True, slots=True)
class Asking:
    """What asks; None where the command line says nothing."""

    method: str | None = None
    super_instances: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """A session with the data it is about.

    Attributes
    ----------
    session : Session
    path : Path
        The session file.
    data : Path
        The data file.
    table : Table
    encoded : Encoded
    resumed : bool
        Whether the session file was there.
    notes : tuple of str
        What was chosen or brought in, for the person.
    """

    session: Session
    path: Path
    data: Path
    table: Table
    encoded: Encoded
    resumed: bool
    notes: tuple[str, ...] = field(default=())


# ---------------------------------------------------------------- which files
def session_path(path: Path) -> Path:
    """The session file that a path means: itself, or the one beside a data file."""
    if path.suffix == SUFFIX or is_session(path):
        return path
    return path.with_name(path.name + SUFFIX)


def is_session(path: Path) -> bool:
    """Whether a path holds, or by its name should hold, a session."""
    if path.suffix == SUFFIX:
        return True
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def existing_session(path: Path) -> Path:
    """The session file that a path means, which must be there."""
    found = session_path(path)
    if found.exists():
        return found
    way_out = "" if path == found else f"; begin one with: {quoted('linkwise', 'ask', path)}"
    raise FileNotFoundError(f"there is no session {found}{way_out}")


def data_path(path: Path, source: dict[str, Any]) -> Path | None:
    """The data file that a session was made for; None when it is not there."""
    if "file" not in source:
        return None
    data = Path(os.path.normpath(path.parent / source["file"]))
    return data if data.exists() else None


def data_of_session(path: Path) -> Path:
    """The data file of a session file that was given in its place."""
    with Session.open(existing_session(path)) as kept:
        source = kept.source
    data = data_path(path, source)
    if data is not None:
        return data
    if "demo" in source:
        command = quoted("linkwise", "demo", source["demo"], "--session", path)
        raise WrongUse(f"{path} is a session of a demo; go on with: {command}")
    raise FileNotFoundError(
        f"{path} was made for {source.get('file', 'data that are in no file')}, which is not there; "
        f"give the data file: linkwise ask DATA --session {quoted(path)}"
    )


# ---------------------------------------------------------------- opening
def opened(
    data: Path,
    path: Path,
    reading: Reading,
    asking: Asking,
    *,
    constraints: Path | None = None,
    old: Path | None = None,
) -> Project:
    """Open or begin the session `path` about the file `data`.

    A new session file is written only when everything that belongs into it was found good.

    Parameters
    ----------
    data, path : Path
        Data file and session file.
    reading, asking
        What the command line says; a session that is there knows the rest.
    constraints : Path, optional
        Pairs to bring in, ``id_a,id_b,kind``.
    old : Path, optional
        A session whose answers are carried over by id.
    """
    if old is not None and old.exists() and path.exists() and path.samefile(old):
        raise WrongUse(f"--from {old} is the session itself; name another one, or leave --from out")
    if path.exists():
        return _resumed(data, path, reading, asking, constraints, old)
    if not data.exists():
        raise FileNotFoundError(f"there is no file {data}")
    if not os.access(path.parent, os.W_OK):
        raise WrongUse(f"the folder {path.parent} cannot be written to; say where to keep it: --session PATH")
    source = _source(data, path, reading)
    table, encoded = _read(data, source)
    source["choices"] = table.choices
    session = Session(encoded.X, _first_learner(asking), ids=_ids(table), source=source)
    brought = _bring_in(session, constraints, old)
    session.save(path)
    return Project(session, path, data, table, encoded, False, (*table.notes, *encoded.notes, *brought))


def _resumed(
    data: Path, path: Path, reading: Reading, asking: Asking, constraints: Path | None, old: Path | None
) -> Project:
    with Session.open(path) as kept:
        source, described = kept.source, kept.learner
    if "choices" not in source:  # begun from Python: whether the data are the same is checked on opening
        source = _source(data, path, reading)
    _same_reading(path, reading, source)
    learner = _other_learner(asking, described)
    table, encoded = _read(data, source)
    try:
        session = Session.open(path, encoded.X, learner, ids=_ids(table))
    except DataMismatchError as error:
        new = data.with_name(f"{data.stem}-new{data.suffix}{SUFFIX}")
        options = _id_option(source, reading)
        command = quoted("linkwise", "ask", data, *options, "--session", new, "--from", path)
        raise DataMismatchError(f"{error}: {command}") from None
    try:
        notes = _bring_in(session, constraints, old)
    except BaseException:
        session.close()
        raise
    if learner is not None:
        notes.insert(0, f"{learner_in_words(session.learner)} asks from now on; all answers stay")
    return Project(session, path, data, table, encoded, True, tuple(notes))


def _source(data: Path, path: Path, reading: Reading) -> dict[str, Any]:
    """What the session keeps of where its data come from; the path is told from the session's folder."""
    return {
        "file": os.path.relpath(data, path.parent),
        "choices": reading.choices(),
        "scale": reading.scale or "unit",
        "impute": reading.impute,
    }


def _read(data: Path, source: dict[str, Any]) -> tuple[Table, Encoded]:
    table = read_table(data, **source["choices"])
    try:
        return table, encode(table, scale=source["scale"], impute=source["impute"])
    except DataError as error:
        raise DataError(f"{data.name}: {error}") from error


def _ids(table: Table) -> list[str] | None:
    return None if table.ids is None else list(table.ids)


def _same_reading(path: Path, reading: Reading, source: dict[str, Any]) -> None:
    """Refuse options that would change the data under answers that were given already."""
    stored = {**source["choices"], "scale": source["scale"], "impute": source["impute"]}
    for name, value in reading.given().items():
        if _plain(stored.get(name)) != _plain(value):
            option = f"--{name.removesuffix('_column').replace('_', '-')}"
            raise WrongUse(
                f"{path} was begun with {option} {_in_words(stored.get(name))}, not {_in_words(value)}; "
                f"leave {option} out to go on, or begin anew and keep the answers with: "
                + quoted(*_id_option(source, reading), "--session", f"NEW{SUFFIX}", "--from", path)
            )


def _id_option(source: dict[str, Any], reading: Reading) -> tuple[str, ...]:
    """What names the rows as they are named in the session: answers are carried over by it."""
    column = reading.id_column or source["choices"].get("id_column")
    return () if column is None else ("--id", column)


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, (list, tuple)) else value


def _in_words(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(value) or "nothing"
    return "nothing" if value is None else repr(value)


def _bring_in(session: Session, constraints: Path | None, old: Path | None) -> list[str]:
    notes = []
    if old is not None:
        if not old.exists():
            raise FileNotFoundError(f"there is no session {old} to take answers from")
        taken, left_out = session.carry_over(old)
        if left_out and not taken:
            with Session.open(old) as kept:
                theirs = kept.ids[0]
            raise DataMismatchError(
                f"none of the {count(left_out, 'answer')} in {old} fits: its rows are called {theirs!r} …, "
                f"these {session.ids[0]!r} …; name the column that calls them so: --id COLUMN"
            )
        note = f"{count(taken, 'answer')} taken over from {old.name}"
        if left_out:
            note += f", {left_out} left out because a row of theirs is not in these data"
        notes.append(note)
    if constraints is not None:
        taken = session.import_csv(constraints)
        notes.append(f"{count(taken, 'pair')} brought in from {constraints.name}")
    return notes


# ---------------------------------------------------------------- what asks
def _first_learner(asking: Asking) -> Learner:
    method = METHODS[asking.method or "cobras"]
    return _learner(method, {"random_state": 0 if asking.seed is None else asking.seed}, asking)


def _other_learner(asking: Asking, described: dict[str, Any]) -> Learner | None:
    """The learner that takes over; None when the stored one goes on."""
    if asking == Asking():
        return None
    method = METHODS[asking.method] if asking.method else described["name"]
    if method not in METHODS.values():
        raise SessionError(f"the session was made with {method}; give --method cobras or --method cobra")
    kept = described["parameters"]
    parameters = dict(kept) if method == described["name"] else {"random_state": kept["random_state"]}
    if asking.seed is not None:
        parameters["random_state"] = asking.seed
    learner = _learner(method, parameters, asking)
    from linkwise.session.described import described as as_stored

    return None if as_stored(learner) == described else learner


def _learner(method: str, parameters: dict[str, Any], asking: Asking) -> Learner:
    import linkwise

    if asking.super_instances is not None:
        if method != "COBRA":
            raise WrongUse("--super-instances belongs to --method cobra; COBRAS finds their number by asking")
        parameters["n_super_instances"] = asking.super_instances
    learner: Learner = getattr(linkwise, method)(**parameters)
    return learner


def learner_in_words(described: dict[str, Any]) -> str:
    """``COBRA, 25 super-instances, seed 0``."""
    parameters = described["parameters"]
    words = [described["name"]]
    if "n_super_instances" in parameters:
        words.append(count(parameters["n_super_instances"], "super-instance"))
    if parameters.get("random_state") is not None:
        words.append(f"seed {parameters['random_state']}")
    return ", ".join(words)


# ---------------------------------------------------------------- labels of a session
def with_current_labels(path: Path) -> tuple[Session, str | None]:
    """A session with labels as new as its answers, from the data file where that is needed.

    Returns
    -------
    Session
        To be closed by the caller.
    str or None
        Why the labels are older than the answers, if they are.
    """
    session = Session.open(path)
    if session.labels_are_current:
        return session, None
    source = session.source
    data = data_path(path, source)
    if data is None:
        return session, _stale_in_words(path, f"{source.get('file', 'the data')} is not there")
    try:
        table, encoded = _read(data, source)
        current = Session.open(path, encoded.X, ids=_ids(table))
    except (DataError, DataMismatchError) as error:
        return session, _stale_in_words(path, f"{data} cannot be used ({error})")
    session.close()
    return current, None


def _stale_in_words(path: Path, why: str) -> str:
    return (
        f"the clusters are older than the last change, because {why}; to bring them up to date: "
        f"linkwise ask DATA --session {quoted(path)} --budget 0"
    )
