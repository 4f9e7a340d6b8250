"""The offer to leave out columns that the answers do not depend on, and to take them in again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linkwise.errors import DataError
from linkwise.metric.column_choice import ColumnProposal
from linkwise.workspace.origin import origin_of
from linkwise.workspace.project import Project
from linkwise.workspace.recoding import can_recode, encode_by, leave_out, propose_columns

EVERY = 5  # answers between two proposals


class ColumnOffer:
    """What the page and the terminal offer about columns.

    Parameters
    ----------
    project : Project or None
        None offers nothing.

    Attributes
    ----------
    is_new : bool
        Whether the offer has changed since it was last shown; whoever shows it sets it to False.
    """

    def __init__(self, project: Project | None) -> None:
        self._project = project if project is not None and can_recode(project) else None
        self._proposal: ColumnProposal | None = None
        self._asked = -1  # answers when a proposal was last computed
        # the source as it was, and the columns that were left out
        self._before: tuple[dict[str, Any], Sequence[str]] | None = None
        self.is_new = False

    def update(self) -> None:
        """Compute a proposal, after every few answers."""
        if self._project is None:
            return
        n_answers = self._project.session.status.n_answers // EVERY
        if n_answers == self._asked:
            return
        self._asked, before = n_answers, self.describe()
        self._proposal = propose_columns(self._project)
        self.is_new = self.describe() != before

    def describe(self) -> dict[str, Any] | None:
        """Return what is offered as values for JSON; None if nothing is."""
        if self._proposal is None and self._before is None:
            return None
        return {
            "drop": [] if self._proposal is None else list(self._proposal.drop),
            "left_out": [] if self._before is None else list(self._before[1]),
        }

    def accept(self) -> tuple[Project, Path]:
        """Leave out the columns that are proposed; return the path of a copy of the session, too."""
        if self._project is None or self._proposal is None:
            raise DataError("There is no proposal any more.")
        source = origin_of(self._project.session, self._project.path)
        drop = self._proposal.drop
        self._project, backup = leave_out(self._project, drop)
        self._before, self._proposal = (source, drop), None
        return self._project, backup

    def restore(self) -> tuple[Project, Path]:
        """Take in the columns that were left out last."""
        if self._project is None or self._before is None:
            raise DataError("No columns were left out since the session was opened.")
        self._project, backup = encode_by(self._project, self._before[0])
        self._before = None
        return self._project, backup
