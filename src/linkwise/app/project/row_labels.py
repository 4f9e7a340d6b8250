"""The clusters of all rows of a session about groups, written to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwise.app.project.group_files import list_files
from linkwise.app.project.group_rows import groups_folder, open_tables, read_reading, read_session_groups
from linkwise.constraints.evidence import Evidence
from linkwise.errors import DataError
from linkwise.large.chunks import find_files
from linkwise.large.group_table import GroupTable, read_groups
from linkwise.large.mixed_groups import DIVIDED, split_groups
from linkwise.large.table_labels import check_files
from linkwise.parallel import SERIAL_ENGINE, Engine
from linkwise.session.session import Session
from linkwise.types import Progress
from linkwise.wording import count_noun, merge_full_stops

if TYPE_CHECKING:
    from linkwise.large.table_labels import LabelledFiles


def write_row_labels(
    session: Session,
    path: Path,
    data: Path,
    source: dict[str, Any],
    new: Path | None,
    folder: Path,
    progress: Progress | None,
    engine: Engine = SERIAL_ENGINE,
) -> tuple[LabelledFiles, list[str]]:
    """Write the cluster of every row to Parquet files named after the files of the data.

    If `new` is given, these are other rows: each gets the cluster of its nearest group. Groups that the
    answers show to be mixed are divided first. Returns the files, and sentences about the groups that
    were divided.
    """
    from linkwise.large.table_labels import take_new_tables, write_files

    groups = read_session_groups(path, source)
    groups, told = divide_groups(session, groups, data, path, source, progress, engine)
    names = {int(label): name for label, name in session.cluster_names.items()}
    labels = label_groups(groups, session.labels, session.evidence)
    reading = read_reading(groups, source)
    if new is None:
        tables = open_tables(list_files(data, path, groups), reading)
    else:
        tables = open_tables(find_files(new), reading)
        groups = take_new_tables(groups, tables)
    is_new = new is not None
    return write_files(tables, groups, labels, names, folder, progress, engine, is_new=is_new), told


# ---------------------------------------------------------------- groups that the answers divide
def find_mixed(groups: GroupTable, evidence: Evidence) -> list[int]:
    """Find the border rows that the answers put apart from the medoids of their groups."""
    return [
        row
        for row, parent in enumerate(groups.parents.tolist())
        if parent >= 0 and evidence.verdict(row, parent) == "no"
    ]


def divide_groups(
    session: Session,
    groups: GroupTable,
    data: Path,
    path: Path,
    source: dict[str, Any],
    progress: Progress | None = None,
    engine: Engine = SERIAL_ENGINE,
) -> tuple[GroupTable, list[str]]:
    """Divide the groups that the answers show to be mixed, and store them.

    Also return sentences for the person. The rows of the session stay, so an undo needs nothing more: the
    parts of a group whose rows are not put apart any more get the same cluster (`label_groups`).
    """
    mixed = [row for row in find_mixed(groups, session.evidence) if groups.steps[row] < 0]
    if not mixed:
        return groups, []
    folder = groups_folder(path)
    try:
        tables = open_tables(list_files(data, path, groups), read_reading(groups, source))
        check_files(tables, groups)
        found = split_groups(groups, tables, mixed, folder, progress, engine)
    except (DataError, OSError) as error:
        return groups, [f"{count_noun(len(mixed), 'group')} cannot be divided as the answers show: {error}"]
    told = [_describe(found, row) for row in mixed[:5]] + _describe_more(len(mixed) - 5)
    try:
        if read_groups(folder).hash == groups.hash:  # if rows were added meanwhile, the next command divides
            found.write(folder)
            (folder / DIVIDED).unlink(missing_ok=True)
    except DataError as error:
        told.append(f"The next command divides them again: {error}")
    return found, told


def _describe(groups: GroupTable, row: int) -> str:
    """Say how a group was divided."""
    parent, names = int(groups.parents[row]), groups.ids
    sizes = groups.summary.sizes
    n_rows = int(sizes[parent] + sizes[row])
    return merge_full_stops(
        f"Your answers put {names[row]} apart from {names[parent]}, which stood for it. linkwise read the"
        f" {count_noun(n_rows, 'row')} of this group again: {sizes[parent]} stay with {names[parent]}, and"
        f" {sizes[row]} go with {names[row]}."
    )


def _describe_more(n: int) -> list[str]:
    return [f"{count_noun(n, 'other group')} divided, too."] if n > 0 else []


def label_groups(groups: GroupTable, labels: NDArray[Any], evidence: Evidence) -> NDArray[Any]:
    """Find the cluster of the rows of each group.

    A part of a group has the cluster of its border row only as long as the answers put that apart, so an undo
    gives its rows the cluster that they had.
    """
    found = np.asarray(labels).copy()
    apart = set(find_mixed(groups, evidence))
    for row in np.flatnonzero(groups.parents >= 0).tolist():
        if row not in apart:
            found[row] = found[groups.parents[row]]
    return found
