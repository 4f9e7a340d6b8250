"""Tasks that the columns of a table look like: the uses of the columns, and the learner, for each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from linkwise.app.project.method_choice import DEFAULT_LEARNER, RECORDS, MethodChoice, build_next_learner
from linkwise.app.project.project import Project
from linkwise.cluster.metric.answer_fit import AnswerFit
from linkwise.data.columns.near_copies import find_near_copies
from linkwise.data.reading import Reading
from linkwise.data.show.column_views import ColumnView, Use
from linkwise.learn.learner import Learner
from linkwise.methods import LEARNERS

TaskName = Literal["answers", "duplicates", "texts", "records"]
TASKS: tuple[TaskName, ...] = ("answers", "duplicates", "texts", "records")
LABELS: dict[TaskName, str] = {
    "answers": "Compare by what your answers follow",
    "duplicates": "Find duplicates",
    "texts": "Group texts",
    "records": "Group records",
}
_OF_RECORDS = ("number", "amount", "category", "date")


class ColumnTask(NamedTuple):
    """A task, and the use of each column that is free to be compared.

    `changes_learner` tells whether another learner chooses the questions for it.
    """

    name: TaskName
    uses: dict[str, Use]
    changes_learner: bool = False

    @property
    def label(self) -> str:
        """What a button says."""
        return LABELS[self.name]

    def take(self, views: Sequence[ColumnView]) -> list[ColumnView]:
        """Return the columns with the uses that the task has for them."""
        return [
            replace(
                view, use=use, kind="text" if self.name == "duplicates" and use == "compare" else view.kind
            )
            for view in views
            for use in (self.uses.get(view.name, view.use),)
        ]


def list_tasks(
    views: Sequence[ColumnView], fit: AnswerFit | None = None, copies: Sequence[str] = (), learner: str = ""
) -> list[ColumnTask]:
    """List the tasks that a table looks like, first to compare by the columns that the answers follow.

    `copies` are the columns that identify records of the same things, and `learner` is the class of the
    learner of now.
    """
    free = [view for view in views if view.use in ("compare", "show")]
    is_for_records = learner == LEARNERS[RECORDS].class_name
    tasks = []
    if fit is not None:
        tasks.append(ColumnTask("answers", _compare(free, fit.names)))
    if any(view.kind == "curve" for view in views):
        return tasks
    alike = [view.name for view in free if view.name in copies and "text" in (view.kind, *view.kinds)]
    if alike:
        tasks.append(ColumnTask("duplicates", _compare(free, alike), not is_for_records))
    texts = [view.name for view in free if view.kind == "text"]
    records = [view.name for view in free if view.kind in _OF_RECORDS]
    if (texts and len(records) >= 2) or alike:
        if texts:
            tasks.append(ColumnTask("texts", _compare(free, texts), is_for_records))
        if records:
            tasks.append(ColumnTask("records", _compare(free, records), is_for_records))
    return tasks


def find_copies(project: Project) -> tuple[str, ...]:
    """The columns that identify records of the same things; none if the rows are no such records."""
    table = project.table
    shown = table.frame.drop([name for name, role in table.roles.items() if role in ("cycle", "vector")])
    copies = find_near_copies(shown, table.reading.id_column)
    return () if copies is None else copies.columns


def read_for_task(reading: Reading, name: TaskName | None) -> Reading:
    """Compare texts of duplicates by their letters, and texts of other tasks as is usual."""
    if name == "duplicates":
        return replace(reading, text_by="letters")
    is_by_letters = name in ("texts", "records") and reading.text_by == "letters"
    return replace(reading, text_by=None) if is_by_letters else reading


def choose_learner(project: Project, name: TaskName | None) -> Learner | None:
    """The learner of a task; None if the one of now goes on."""
    now, of_records = project.session.learner, LEARNERS[RECORDS].class_name
    if name == "duplicates" and now["name"] != of_records:
        return build_next_learner(MethodChoice(RECORDS), now)
    if name in ("texts", "records") and now["name"] == of_records:
        return build_next_learner(MethodChoice(DEFAULT_LEARNER), now)
    return None


def _compare(free: Sequence[ColumnView], names: Collection[str]) -> dict[str, Use]:
    return {view.name: "compare" if view.name in names else "show" for view in free}
