"""The offer to weigh columns by the answers, to take the weights back, and to use columns otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from linkwise.app.project.project import Project
from linkwise.app.project.recoding import (
    Recoded,
    can_recode,
    list_weighed_columns,
    propose_columns,
    read_otherwise,
    take_back,
    weigh_columns,
)
from linkwise.cluster.metric.column_choice import ColumnProposal
from linkwise.data.show.column_views import Kind, Use
from linkwise.errors import DataError
from linkwise.wording import join_names

EVERY = 5  # answers between two proposals
MOST_NAMES = 5  # in a sentence


class ColumnOffer:
    """What the page and the terminal offer about columns; nothing without a project.

    `is_new` tells whether the offer has changed since it was last shown; whoever shows it sets it to
    False.
    """

    def __init__(self, project: Project | None) -> None:
        self._project = project if project is not None and can_recode(project) else None
        self._proposal: ColumnProposal | None = None
        self._asked = -1  # answers when a proposal was last computed
        self._weighed = () if self._project is None else list_weighed_columns(self._project)
        self.is_new = False

    @property
    def project(self) -> Project | None:
        """The project, whose file can be read otherwise; None if it cannot."""
        return self._project

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
        if self._proposal is None and not self._weighed:
            return None
        return {
            "less": [] if self._proposal is None else list(self._proposal.less),
            "more": [] if self._proposal is None else list(self._proposal.more),
            "weighed": list(self._weighed),
        }

    def accept(self, shown: Sequence[str]) -> Recoded:
        """Weigh the columns as it is proposed.

        `shown` are those that the person saw, the ones that count less first; an error if another
        proposal holds by now.
        """
        if self._project is None or self._proposal is None:
            raise DataError("There is no proposal any more.")
        less, more = self._proposal.less, self._proposal.more
        if tuple(shown) != (*less, *more):
            raise DataError(
                f"The proposal has changed meanwhile. {describe_proposal(less, more)} No weight has changed."
            )
        recoded = weigh_columns(self._project, self._proposal.weights)
        self._follow(recoded.project)
        return recoded

    def restore(self, shown: Sequence[str]) -> Recoded:
        """Take back all weights of offers, also of those before the session was opened.

        `shown` are the columns that the person saw; an error if others are weighed by now.
        """
        if self._project is None or not self._weighed:
            raise DataError("There are no earlier weights that could come back.")
        if tuple(shown) != self._weighed:
            raise DataError(
                f"The answers weigh other columns by now: {join_names(self._weighed)}. Nothing has changed."
                " Look at them again."
            )
        recoded = take_back(self._project)
        self._follow(recoded.project)
        return recoded

    def read(self, choices: Mapping[str, tuple[Use, Kind]]) -> Recoded:
        """Use columns otherwise.

        Parameters
        ----------
        choices : dict of str to (str, str)
            The use and the kind of some columns; the others stay as they are.
        """
        if self._project is None:
            raise DataError("The columns of these rows cannot be changed.")
        views = self._project.columns
        if missing := choices.keys() - {view.name for view in views}:
            raise DataError(f"Column '{min(missing)}' is not in the table. Look at the columns again.")
        chosen = [
            replace(view, use=use, kind=kind)
            for view in views
            for use, kind in (choices.get(view.name, (view.use, view.kind)),)
        ]
        recoded = read_otherwise(self._project, chosen)
        self._follow(recoded.project)
        self._asked = -1
        return recoded

    def _follow(self, project: Project) -> None:
        """Go on with the rows as they are read now."""
        self._project, self._proposal = project, None
        self._weighed = list_weighed_columns(project)


def describe_proposal(less: Sequence[str], more: Sequence[str]) -> str:
    """Say which columns would count less and which more."""
    parts = (
        f"Columns that your answers seem not to depend on would count less: {join_names(less, MOST_NAMES)}."
        if less
        else "",
        f"Columns that would count more: {join_names(more, MOST_NAMES)}." if more else "",
    )
    return " ".join(filter(None, parts))
