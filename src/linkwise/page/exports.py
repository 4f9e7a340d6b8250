"""What a page hands over as files."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from linkwise.asking.learner import Labels
from linkwise.session.session import Session
from linkwise.workspace.output import write_labels


def export_labels(session: Session, labels: Labels) -> bytes:
    """The cluster of each row, as CSV."""
    file = io.StringIO()
    write_labels(session.ids, labels.tolist(), file, names=session.cluster_names)
    return file.getvalue().encode()


def export_constraints(session: Session) -> bytes:
    """All pairs that were said, as CSV."""
    file = io.StringIO()
    session.constraints.to_csv(file, ids=session.ids)
    return file.getvalue().encode()


def export_session(session: Session) -> bytes:
    """The session itself."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy.linkwise")
        session.save_copy(copy)
        return copy.read_bytes()
