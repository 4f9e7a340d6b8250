"""Leave columns out of the comparison while a session is open, and take them in again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from linkwise.data import Table
from linkwise.errors import DataError
from linkwise.metric.column_choice import ColumnProposal
from linkwise.wording import join_names
from linkwise.workspace.changed_options import check_same_positions, name_backup
from linkwise.workspace.item_rows import is_of_items
from linkwise.workspace.left_out import leave_out_columns, take_in_columns
from linkwise.workspace.origin import origin_of
from linkwise.workspace.project import Project
from linkwise.workspace.reading import read_shown_rows, row_ids


class Recoded(NamedTuple):
    """A session with other columns.

    Attributes
    ----------
    project : Project
        The same session with the other encoding.
    backup : Path
        A copy of the session as it was.
    changed : str
        A sentence about rows of the file that have changed since the session was opened; empty if none has.
    """

    project: Project
    backup: Path
    changed: str


def propose_columns(project: Project) -> ColumnProposal | None:
    """Find the columns of a table that the answers seem not to depend on; None if there are none."""
    if project.table.kind != "record" or project.encoded.features[0].role == "image":
        return None
    return project.session.propose_columns([feature.source for feature in project.encoded.features])


def can_recode(project: Project) -> bool:
    """Whether the data file can be read again with other columns."""
    source = origin_of(project.session, project.path)
    return "choices" in source and not is_of_items(source) and not project.data.is_dir()


def leave_out(project: Project, columns: Sequence[str]) -> Recoded:
    """Compare rows without some columns from now on, and replay all answers.

    Parameters
    ----------
    project : Project
        It is of no use afterwards, though the session stays open.
    columns : sequence of str
        The columns to leave out.

    Returns
    -------
    Recoded
        The session with the other encoding, and a copy of it as it was.
    """
    return encode_by(project, leave_out_columns(origin_of(project.session, project.path), columns))


def take_in(project: Project, seen: Table) -> Recoded:
    """Compare rows again by all columns that `leave_out` left out, and replay all answers.

    Parameters
    ----------
    project : Project
        It is of no use afterwards, though the session stays open.
    seen : Table
        The table with which the rows are compared, to tell changes.

    Returns
    -------
    Recoded
        The session with the other encoding, and a copy of it as it was.
    """
    return encode_by(project, take_in_columns(origin_of(project.session, project.path)), seen)


def list_left_out(project: Project) -> tuple[str, ...]:
    """The columns that `take_in` takes in."""
    return tuple(origin_of(project.session, project.path).get("left_out", ()))


def encode_by(project: Project, source: dict[str, Any], seen: Table | None = None) -> Recoded:
    """Read the rows by another source and replay all answers.

    Parameters
    ----------
    project : Project
        It is of no use afterwards, though the session stays open.
    source : dict
        How the file is read from now on.
    seen : Table, optional
        The table with which the rows are compared, to tell changes. By default that of the project.

    Returns
    -------
    Recoded
        The session with the other encoding, and a copy of it as it was.
    """
    session, path = project.session, project.path
    if not os.access(path.parent, os.W_OK):
        raise DataError(
            f"The folder {path.parent} cannot be written to, so no copy of the session fits there."
        )
    check_same_positions(session, path, project.data)
    rows = read_shown_rows(project.data, source, path.parent)
    ids, backup = row_ids(rows.table), name_backup(path)
    if len(rows.encoded.X) != session.n_rows or (ids is not None and list(map(str, ids)) != session.ids):
        raise DataError(  # whoever shows rows by their positions would show other ones
            f"{project.data.name} holds other rows than when the session was opened. Open the session again,"
            " then change its columns."
        )
    session.recode(
        rows.encoded.X,
        ids=ids,
        source=source | {"choices": rows.table.choices},
        backup=backup,
    )
    changed = _describe_changes(project.table if seen is None else seen, rows.table)
    return Recoded(replace(project, rows=rows), backup, changed)


def _describe_changes(before: Table, now: Table) -> str:
    """Say which rows have changed in the file since it was read before; empty if none has."""
    left_out = {*before.choices.get("drop", ()), *now.choices.get("drop", ())}  # read as they are written
    names = [name for name in before.frame.columns if name in now.frame.columns and name not in left_out]
    changed: set[int] = set()
    for name in names:
        pairs = zip(before.frame[name].to_list(), now.frame[name].to_list(), strict=True)
        changed |= {row for row, (old, new) in enumerate(pairs) if not _is_same(old, new)}
    if not changed:
        return ""
    rows = join_names((f"row {row}" if now.ids is None else now.ids[row] for row in sorted(changed)), 5)
    return f"The file has changed since the session was opened, and its new values count: {rows}."


def _is_same(old: Any, new: Any) -> bool:
    return old is new or old == new or (old != old and new != new)  # NaN is not equal to itself
