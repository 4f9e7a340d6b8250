"""The data of a session with the cluster of each row, as a file."""

from __future__ import annotations

import sys
from pathlib import Path

from linkwise.app.project.embeddings import is_embedding
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.output import STDOUT
from linkwise.data import Rows
from linkwise.data.joining import DELIMITED, ENDINGS, SHEET, Joined, join_file, join_side_table
from linkwise.session.session import Session
from linkwise.wording import join_names

OTHER_SHEETS = (".xls", ".ods")


def check_ending(target: Path | None) -> None:
    """Check that the name of a joined table says which kind of file it is."""
    if target in (None, STDOUT) or target.suffix.lower() in ENDINGS:
        return
    way_out = " A spreadsheet opens .xlsx." if target.suffix.lower() in OTHER_SHEETS else ""
    raise UsageError(
        f"linkwise cannot write a table into {target.name}. Choose a name that ends in "
        f"{join_names(ENDINGS, 20)}.{way_out}"
    )


def join_session(session: Session, data: Path, rows: Rows, target: Path) -> Joined:
    """Put the clusters beside the columns of the data, in the form that the ending of `target` names.

    A side table takes the place of numbers without a meaning, such as embeddings.
    """
    ending = ".csv" if target == STDOUT else target.suffix.lower()
    columns = session.cluster_columns()
    try:
        if rows.side is not None and is_embedding(rows):
            joined = join_side_table(rows.side, rows.table.ids, columns, ending)
            note = f"The new file holds the columns of {rows.side.file}, in the order of {data.name}, whose"
            joined = joined._replace(notes=[*joined.notes, f"{note} numbers are left out."])
        else:
            joined = join_file(data, rows.table, columns, ending)
            if rows.side is not None:
                joined.notes.append(f"The columns of {rows.side.file} are not in the new file.")
    except ImportError as error:
        raise UsageError(str(error)) from error
    notes = list(joined.notes)
    now = session.snapshot
    if columns.confidence is None and now.status.n_answers == 0:
        notes.append("The column 'confidence' is empty, because there are no answers yet.")
    elif columns.confidence is None:
        notes.append(
            f"The column 'confidence' is empty, because {now.learner['name']} does not estimate it. "
            "KIN does, but it forms clusters of its own: linkwise ask DATA --method kin --budget 0"
        )
    if data.suffix.lower() in DELIMITED and ending not in (*DELIMITED, SHEET):
        notes.append(f"The cells of {data.name} are written as texts, as they stand in it.")
    return Joined(joined.content, notes)


def write_joined(joined: Joined, target: Path) -> None:
    """Write a joined table to its file, or to stdout."""
    if target == STDOUT:
        sys.stdout.write(joined.content.decode())
    else:
        target.write_bytes(joined.content)
