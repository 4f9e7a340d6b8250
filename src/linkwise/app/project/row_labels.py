"""The clusters of all rows of a session about items, written to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwise.app.project.item_files import list_files
from linkwise.app.project.item_rows import items_folder, open_tables, read_reading, read_session_items
from linkwise.constraints.evidence import Evidence
from linkwise.errors import DataError
from linkwise.large.chunks import find_files
from linkwise.large.item_table import ItemTable, read_items
from linkwise.large.mixed_items import DIVIDED, split_items
from linkwise.large.table_labels import check_files
from linkwise.parallel import SERIAL_ENGINE, Engine
from linkwise.session.session import Session
from linkwise.types import Progress
from linkwise.wording import count_noun

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

    If `new` is given, these are other rows: each gets the cluster of its nearest item. Items that the answers
    show to be mixed are divided first.

    Returns
    -------
    LabelledFiles
        The files.
    list of str
        Sentences about the items that were divided.
    """
    from linkwise.large.table_labels import take_new_tables, write_files

    items = read_session_items(path, source)
    items, told = divide_items(session, items, data, path, source, progress, engine)
    names = {int(label): name for label, name in session.cluster_names.items()}
    labels = label_items(items, session.labels, session.evidence)
    reading = read_reading(items, source)
    if new is None:
        tables = open_tables(list_files(data, path, items), reading)
    else:
        tables = open_tables(find_files(new), reading)
        items = take_new_tables(items, tables)
    is_new = new is not None
    return write_files(tables, items, labels, names, folder, progress, engine, is_new=is_new), told


# ---------------------------------------------------------------- items that the answers divide
def find_mixed(items: ItemTable, evidence: Evidence) -> list[int]:
    """Find the border rows that the answers put apart from the medoids of their items."""
    return [
        row
        for row, parent in enumerate(items.parents.tolist())
        if parent >= 0 and evidence.verdict(row, parent) == "no"
    ]


def divide_items(
    session: Session,
    items: ItemTable,
    data: Path,
    path: Path,
    source: dict[str, Any],
    progress: Progress | None = None,
    engine: Engine = SERIAL_ENGINE,
) -> tuple[ItemTable, list[str]]:
    """Divide the items that the answers show to be mixed, and store them.

    The rows of the session stay, so an undo needs nothing more: the parts of an item whose rows are not put
    apart any more get the same cluster (`label_items`).

    Returns
    -------
    ItemTable
        The items.
    list of str
        Sentences for the person.
    """
    mixed = [row for row in find_mixed(items, session.evidence) if items.steps[row] < 0]
    if not mixed:
        return items, []
    folder = items_folder(path)
    try:
        tables = open_tables(list_files(data, path, items), read_reading(items, source))
        check_files(tables, items)
        found = split_items(items, tables, mixed, folder, progress, engine)
    except (DataError, OSError) as error:
        return items, [f"{count_noun(len(mixed), 'item')} cannot be divided as the answers show: {error}"]
    told = [_describe(found, row) for row in mixed[:5]] + _describe_more(len(mixed) - 5)
    try:
        if read_items(folder).hash == items.hash:  # if rows were added meanwhile, the next command divides
            found.write(folder)
            (folder / DIVIDED).unlink(missing_ok=True)
    except DataError as error:
        told.append(f"The next command divides them again: {error}")
    return found, told


def _describe(items: ItemTable, row: int) -> str:
    """Say how an item was divided."""
    parent, names = int(items.parents[row]), items.ids
    sizes = items.summary.sizes
    n_rows = int(sizes[parent] + sizes[row])
    return (
        f"Your answers put {names[row]} apart from {names[parent]}, which stood for it. linkwise read the"
        f" {count_noun(n_rows, 'row')} of this item again: {sizes[parent]} stay with {names[parent]}, and"
        f" {sizes[row]} go with {names[row]}."
    )


def _describe_more(n: int) -> list[str]:
    return [f"{count_noun(n, 'other item')} divided, too."] if n > 0 else []


def label_items(items: ItemTable, labels: NDArray[Any], evidence: Evidence) -> NDArray[Any]:
    """Find the cluster of the rows of each item.

    A part of an item has the cluster of its border row only as long as the answers put that apart, so an undo
    gives its rows the cluster that they had.
    """
    found = np.asarray(labels).copy()
    apart = set(find_mixed(items, evidence))
    for row in np.flatnonzero(items.parents >= 0).tolist():
        if row not in apart:
            found[row] = found[items.parents[row]]
    return found
