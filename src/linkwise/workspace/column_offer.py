"""The offer to leave out columns that the answers do not depend on, and to take them in again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.data import Table
from linkwise.errors import DataError
from linkwise.metric.column_choice import ColumnProposal
from linkwise.wording import join_names
from linkwise.workspace.project import Project
from linkwise.workspace.recoding import (
    Recoded,
    can_recode,
    leave_out,
    list_left_out,
    propose_columns,
    take_in,
)

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
        self._left_out = () if self._project is None else list_left_out(self._project)
        self._seen: Table | None = None  # the table when the first of them was left out
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
        if self._proposal is None and not self._left_out:
            return None
        return {
            "drop": [] if self._proposal is None else list(self._proposal.drop),
            "left_out": list(self._left_out),
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
        table = self._project.table
        recoded = leave_out(self._project, drop)
        self._seen = table if self._seen is None else self._seen
        self._project, self._proposal = recoded.project, None
        self._left_out = list_left_out(recoded.project)
        return recoded

    def restore(self, shown: Sequence[str]) -> Recoded:
        """Take in all columns that an offer left out, also before the session was opened.

        Parameters
        ----------
        shown : sequence of str
            The columns that the person saw; an error if others are left out by now.
        """
        if self._project is None or not self._left_out:
            raise DataError("No columns are left out that could come back.")
        if tuple(shown) != self._left_out:
            raise DataError(
                f"Other columns are left out by now: {join_names(self._left_out)}. Nothing has changed. Look"
                " at them again."
            )
        recoded = take_in(self._project, self._project.table if self._seen is None else self._seen)
        self._project, self._seen, self._left_out = recoded.project, None, ()
        return recoded
