"""The columns of a table as pages show them before the first question, or whenever a person asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from linkwise.app.page.content import PageContent
from linkwise.app.page.page_state import render_row
from linkwise.app.page.requests import RefusedRequest
from linkwise.app.project.changed_options import count_facts, name_backup
from linkwise.app.project.column_tasks import ColumnTask
from linkwise.app.project.project import Project
from linkwise.data.show.column_views import ColumnView
from linkwise.wording import shorten

LONGEST_VALUE = 600  # characters of a cell in the preview
# reasons of proposals that are about no single column
TABLE_WIDE = ("text_by", "merge_variants", "missing", "where", "transpose", "series_by")


def find_project(content: PageContent) -> Project:
    """Return the project whose columns can be changed."""
    project = content.offer.project
    if project is None:
        raise RefusedRequest("bad", "These rows have no columns that could be changed.")
    return project


def _list_kinds(task: ColumnTask, views: Sequence[ColumnView]) -> dict[str, str]:
    """The kinds of the columns that a task takes for something else."""
    return {
        new.name: new.kind for old, new in zip(views, task.take(views), strict=True) if new.kind != old.kind
    }


def describe_columns(content: PageContent) -> dict[str, Any]:
    """Return the columns, with two rows as a question shows them, as values for JSON."""
    project, session = find_project(content), content.session
    table, question = project.table, content.now.question
    pair = (0, 1) if question is None else (question.first, question.second)
    first, second = (render_row(content.view, content.labels, row) for row in pair)
    names = [name for name in table.frame.columns if name not in (table.reading.hide or ())]
    cells = [table.item(row, names) for row in pair]
    facts = count_facts(session)
    return {
        "columns": [
            {
                **asdict(view),
                "values": [shorten(each[view.name], LONGEST_VALUE) for each in cells if view.name in each],
            }
            for view in project.columns
        ],
        "tasks": [
            {**one._asdict(), "label": one.label, "kinds": _list_kinds(one, project.columns)}
            for one in content.offer.list_tasks()
        ],
        "notes": [one.reason for one in table.proposals if one.option in TABLE_WIDE],
        "reading": [note for note in project.rows.notes if note not in table.column_notes],
        "has_side_table": content.view.items.side is not None,
        "first": first,
        "second": second,
        "facts": facts,
        "backup": name_backup(project.path).name if facts else None,
    }
