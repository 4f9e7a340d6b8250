"""Tasks that the columns of a table look like, and the uses of the columns for each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from linkwise.cluster.metric.answer_fit import AnswerFit
from linkwise.data.show.column_views import ColumnView, Use

TaskName = Literal["answers", "texts", "records"]
_OF_RECORDS = ("number", "amount", "category", "date")


class ColumnTask(NamedTuple):
    """A task, what a button says, and the use of each column that is free to be compared."""

    name: TaskName
    label: str
    uses: dict[str, Use]

    def take(self, views: Sequence[ColumnView]) -> list[ColumnView]:
        """Return the columns with the uses that the task has for them."""
        return [replace(view, use=self.uses.get(view.name, view.use)) for view in views]


def list_tasks(views: Sequence[ColumnView], fit: AnswerFit | None = None) -> list[ColumnTask]:
    """List the tasks that a table looks like, first to compare by the columns that the answers follow."""
    free = [view for view in views if view.use in ("compare", "show")]
    tasks = []
    if fit is not None:
        names = [one.name for one in fit.predictors]
        tasks.append(ColumnTask("answers", "Compare by what your answers follow", _compare(free, names)))
    texts = [view.name for view in free if view.kind == "text"]
    records = [view.name for view in free if view.kind in _OF_RECORDS]
    if texts and len(records) >= 2 and all(view.kind != "curve" for view in views):
        tasks.append(ColumnTask("texts", "Group texts", _compare(free, texts)))
        tasks.append(ColumnTask("records", "Group records", _compare(free, records)))
    return tasks


def _compare(free: Sequence[ColumnView], names: Collection[str]) -> dict[str, Use]:
    return {view.name: "compare" if view.name in names else "show" for view in free}
