"""Rows of a data file that differ from those with which its session was begun."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from linkwise.app.project.changed_options import ChangedOptions, count_facts, name_backup, recall_options
from linkwise.app.project.options import write_reading
from linkwise.data import Rows
from linkwise.data.reading import Reading
from linkwise.errors import DataMismatchError
from linkwise.session.session import Session
from linkwise.wording import quote_command, strip_full_stop


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session file that a command opens again, and what its answers are about.

    `command` are the words that open it: ``("ask", "animals.csv")``, with ``--session`` if it is
    elsewhere. `answers` are those so far, in words. With `is_free` it can go on with other rows, because
    no answer names one yet.
    """

    command: tuple[object, ...]
    data: Path
    path: Path
    has_ids: bool
    answers: str
    is_free: bool


def describe_stored(
    session: Session, command: tuple[object, ...], data: Path, path: Path, *, is_of_groups: bool
) -> StoredSession:
    """Describe a session that is open."""
    answers = count_facts(session)
    is_bound = not session.has_ids and any(event.names_rows for event in session.events)
    is_free = not (answers or is_of_groups or is_bound)
    return StoredSession(command, data, path, session.has_ids, answers, is_free)


def open_on_rows(
    begin: Callable[..., Session],
    rows: Rows,
    stored: StoredSession,
    changed: ChangedOptions | None,
    before: Reading,
    *,
    is_replayed: bool,
) -> tuple[Session, list[str]]:
    """Open a session, with its answers replayed if the rows have changed and that is wanted.

    ``begin(recode=..., backup=...)`` opens it. `changed` are options for the data that differ from those
    `before`, which the command for a new session repeats. A session without answers needs no consent.
    Returns the session, and sentences about what has changed.
    """
    backup = changed.backup if changed is not None and changed.answers else None
    try:
        session = begin(recode=changed is not None, backup=backup)
        return session, [] if changed is None else [changed.describe_change(backup), *rows.notes]
    except DataMismatchError as error:
        if changed is not None:
            raise _add_carry_over(error, stored, changed.now) from None
        if not (stored.is_free or (is_replayed and stored.has_ids)):
            raise _describe_mismatch(rows.encoded.X, stored, before) from None
    backup = name_backup(stored.path) if stored.answers else None
    try:
        session = begin(recode=True, backup=backup)
    except DataMismatchError as error:
        raise _add_carry_over(error, stored, before) from None
    return session, [_describe_replay(stored, backup), *rows.notes]


def read_options(source: dict[str, Any], path: Path, reading: Reading) -> Reading:
    """The options of a session, with the id column that the command line names."""
    before = recall_options(source, path)
    return replace(before, id_column=reading.id_column or before.id_column)


def _describe_mismatch(X: NDArray[Any], stored: StoredSession, before: Reading) -> DataMismatchError:
    """Say how the rows differ, and how to go on with the answers."""
    with Session.open(stored.path) as session:
        difference = session.find_difference(X)
    other = "ids" if difference is None else f"data: {difference}"
    what = f"{stored.path} was begun with other {other}."
    if not stored.has_ids:
        why = (
            f"{what} Its rows have no ids, so nothing tells which row is which. Restore {stored.data.name}. "
            "Only if no row was inserted, removed or moved, carry the answers over by position"
        )
        return _add_carry_over(why, stored, before)
    return DataMismatchError(
        f"{what} Restore {stored.data.name}, or replay all answers on its present rows, which keeps the "
        f"session as it is now in {name_backup(stored.path).name}: "
        f"{quote_command('linkwise', *stored.command, '--replay')}"
    )


def _add_carry_over(why: object, stored: StoredSession, now: Reading) -> DataMismatchError:
    """Add to a reason the command that carries the answers over to a new session."""
    data = stored.data
    new = data.with_name(f"{data.stem}-new{data.suffix}.linkwise")
    words = (stored.command[0], data, *write_reading(now), "--session", new, "--from", stored.path)
    return DataMismatchError(f"{strip_full_stop(why)}: {quote_command('linkwise', *words)}")


def _describe_replay(stored: StoredSession, backup: Path | None) -> str:
    """Say that the rows have changed, and where the session is as it was."""
    if backup is None:
        return f"{stored.data.name} has changed; no answer is affected, because there is none yet"
    return (
        f"{stored.answers} replayed on the present rows of {stored.data.name}, and the session as it was is "
        f"kept in {backup.name}"
    )
