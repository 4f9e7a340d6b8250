"""The offer to leave out columns that the answers do not depend on, and to take them in again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.data import Table
from linkwise.errors import DataError
from linkwise.metric.column_choice import ColumnProposal
from linkwise.wording import join_names
from linkwise.workspace.origin import origin_of
from linkwise.workspace.project import Project
from linkwise.workspace.recoding import Recoded, can_recode, encode_by, leave_out, propose_columns

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
        # the source and the table as they were at first, and all columns that were left out since
        self._before: tuple[dict[str, Any], Table, tuple[str, ...]] | None = None
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
            "left_out": [] if self._before is None else list(self._before[2]),
        }

    def accept(self, shown: Sequence[str]) -> Recoded:
        """Leave out the columns that are proposed.

        Parameters
        ----------
        shown : sequence of str
            The columns that the person saw; an error if another proposal holds by now.
        """
        if self._project is None or self._proposal is None:
            raise DataError("There is no proposal any more.")
        drop = tuple(self._proposal.drop)
        if tuple(shown) != drop:
            raise DataError(
                f"The proposal has changed meanwhile: it is now to leave out {join_names(drop)}. Nothing was"
                " left out. Look at the new proposal."
            )
        source = origin_of(self._project.session, self._project.path)
        recoded = leave_out(self._project, drop)
        first = (source, self._project.table, ()) if self._before is None else self._before
        self._before = (*first[:2], (*first[2], *drop))
        self._project, self._proposal = recoded.project, None
        return recoded

    def restore(self, shown: Sequence[str]) -> Recoded:
        """Take in all columns that were left out since the session was opened.

        Parameters
        ----------
        shown : sequence of str
            The columns that the person saw; an error if others are left out by now.
        """
        if self._project is None or self._before is None:
            raise DataError("No columns were left out since the session was opened.")
        source, table, left_out = self._before
        if tuple(shown) != left_out:
            raise DataError(
                f"Other columns are left out by now: {join_names(left_out)}. Nothing has changed. Look at"
                " them again."
            )
        recoded = encode_by(self._project, source, table)
        self._project, self._before = recoded.project, None
        return recoded
