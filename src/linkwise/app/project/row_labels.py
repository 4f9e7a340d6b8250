"""The clusters of all rows of a session about items, written to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.app.project.divided_items import divide_items, label_items
from linkwise.app.project.item_rows import open_tables, read_reading, read_session_items
from linkwise.app.project.project import data_path
from linkwise.app.project.session_files import list_files
from linkwise.large.chunks import find_files
from linkwise.parallel import SERIAL_ENGINE, Engine
from linkwise.session.session import Session
from linkwise.types import Progress

if TYPE_CHECKING:
    from linkwise.large.table_labels import LabelledFiles


def write_row_labels(
    session: Session,
    path: Path,
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

    data = data_path(path, source)
    assert data is not None  # as the session is about items
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
