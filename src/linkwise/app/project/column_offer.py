"""What the answers say about columns: weights, or other columns; and the columns used otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from linkwise.app.project.column_tasks import LABELS, ColumnTask, TaskName, find_copies, list_tasks
from linkwise.app.project.project import Project
from linkwise.app.project.recoding import (
    Recoded,
    can_recode,
    find_task,
    list_weighed_columns,
    propose_columns,
    read_otherwise,
    take_back,
    weigh_columns,
)
from linkwise.cluster.metric.answer_fit import AnswerFit
from linkwise.cluster.metric.column_choice import ColumnProposal
from linkwise.data.show.column_views import Kind, Use
from linkwise.errors import DataError
from linkwise.wording import join_names, merge_full_stops

EVERY = 5  # answers between two proposals
MOST_NAMES = 5  # in a sentence


class ColumnOffer:
    """What the page and the terminal offer about columns; nothing without a project.

    `fit` has the columns that the answers follow, if they do not follow the compared ones. `is_new` tells
    whether the offer has changed since it was last shown; whoever shows it sets it to False.
    """

    def __init__(self, project: Project | None) -> None:
        self._project = project if project is not None and can_recode(project) else None
        self._proposal: ColumnProposal | None = None
        self.fit: AnswerFit | None = None
        self._asked = -1  # answers when a proposal was last computed
        self._weighed = () if self._project is None else list_weighed_columns(self._project)
        self._task = "" if self._project is None else name_task(self._project)
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
        self.fit = self._project.session.find_predictors(self._project.rows)
        self._proposal = propose_columns(self._project) if self.fit is None else None
        self.is_new = self.describe() != before

    def describe(self) -> dict[str, Any] | None:
        """Return what is offered as values for JSON; None if nothing is."""
        if self._proposal is None and self.fit is None and not self._weighed and not self._task:
            return None
        return {
            "follows": "" if self.fit is None else describe_fit(self.fit),
            "less": [] if self._proposal is None else list(self._proposal.less),
            "more": [] if self._proposal is None else list(self._proposal.more),
            "weighed": list(self._weighed),
            "task": "" if self._weighed else self._task,
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
        """Take back all weights of offers, else the last task, also of those before the session was opened.

        `shown` are the columns, or the task, that the person saw; an error if there are others by now.
        """
        now = self._weighed or ((self._task,) if self._task else ())
        if self._project is None or not now:
            raise DataError("Nothing can be taken back.")
        if tuple(shown) != now:
            raise DataError(f"By now you can take back {join_names(now)} instead. Nothing has changed.")
        recoded = take_back(self._project)
        self._follow(recoded.project)
        return recoded

    def read(self, choices: Mapping[str, tuple[Use, Kind]], task: TaskName | None = None) -> Recoded:
        """Use columns otherwise, perhaps for another task; those without a choice stay as they are."""
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
        recoded = read_otherwise(self._project, chosen, task)
        self._follow(recoded.project)
        self._asked = -1
        return recoded

    def list_tasks(self) -> list[ColumnTask]:
        """The tasks that the columns look like; first to compare by those that the answers follow."""
        if self._project is None:
            return []
        copies = find_copies(self._project)
        return list_tasks(self._project.columns, self.fit, copies, self._project.session.learner["name"])

    def follow_answers(self, shown: Sequence[str]) -> Recoded:
        """Compare rows by the columns that the answers follow, which are `shown` to the person, or raise."""
        if self._project is None or self.fit is None or tuple(shown) != self.fit.names:
            raise DataError("The answers follow other columns by now. Nothing has changed.")
        task = next(one for one in self.list_tasks() if one.name == "answers")
        recoded = read_otherwise(self._project, task.take(self._project.columns), task.name)
        self._follow(recoded.project)
        return recoded

    def _follow(self, project: Project) -> None:
        """Go on with the rows as they are read now."""
        self._project, self._proposal, self.fit = project, None, None
        self._weighed, self._task = list_weighed_columns(project), name_task(project)


def name_task(project: Project) -> str:
    """What the button of the last task says; empty if there is none that could be taken back."""
    return next((label for name, label in LABELS.items() if name == find_task(project)), "")


def describe_fit(fit: AnswerFit) -> str:
    """Say that the answers do not follow the compared columns, and which they follow.

    For example ``Your answers do not follow the compared columns (age). They follow word: by word, pairs
    that you called the same are more alike than other pairs in 98% of all cases, and by the compared columns
    in 44%.``
    """
    first, compared = fit.predictors[0], join_names(fit.compared, MOST_NAMES)
    return (
        f"Your answers do not follow the compared columns ({compared})."
        f" They follow {join_names(fit.names, MOST_NAMES)}: by {first.name}, pairs that you called the same"
        f" are more alike than other pairs in {first.share:.0%} of all cases, and by the compared columns"
        f" in {fit.share:.0%}."
    )


def describe_proposal(less: Sequence[str], more: Sequence[str]) -> str:
    """Say which columns would count less and which more."""
    parts = (
        f"Columns that your answers seem not to depend on would count less: {join_names(less, MOST_NAMES)}."
        if less
        else "",
        f"Columns that would count more: {join_names(more, MOST_NAMES)}." if more else "",
    )
    return merge_full_stops(" ".join(filter(None, parts)))
