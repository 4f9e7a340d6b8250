"""Files that a page exports."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from linkwise.app.project.output import write_labels
from linkwise.session.session import Session
from linkwise.types import Labels


def export_labels(session: Session, labels: Labels) -> bytes:
    """Return the cluster of each row as CSV."""
    file = io.StringIO()
    write_labels(session.ids, labels.tolist(), file, names=session.cluster_names)
    return file.getvalue().encode()


def export_constraints(session: Session) -> bytes:
    """Return all answered pairs as CSV."""
    file = io.StringIO()
    session.constraints.to_csv(file, ids=session.ids)
    return file.getvalue().encode()


def export_session(session: Session) -> bytes:
    """Return a copy of the session file."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy.linkwise")
        session.save_copy(copy)
        return copy.read_bytes()
