"""The columns that the answers of a stored session follow, and the command that compares rows by them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from linkwise.app.project.column_tasks import list_tasks
from linkwise.app.project.data_source import is_unchanged, read_shown_rows
from linkwise.app.project.group_rows import is_of_groups
from linkwise.app.project.options import AS_IS, write_reading
from linkwise.app.project.origin import origin_of
from linkwise.app.project.project import data_path, session_words
from linkwise.cluster.metric.answer_fit import AnswerFit, has_no_excess
from linkwise.data.show.column_views import read_by_views, view_columns
from linkwise.errors import DataError
from linkwise.session.session import Session
from linkwise.wording import quote_command

MOST_ROWS = 20_000  # that are read again for it


class BetterColumns(NamedTuple):
    """What the answers follow, and the command that compares rows by it."""

    fit: AnswerFit
    command: str


def find_better_columns(session: Session, path: Path) -> BetterColumns | None:
    """Find the columns that the answers follow, if these are not compared.

    The session is open without its data. The file is read again, unless there are few answers or many rows,
    or the file is another one by now.
    """
    source = origin_of(session, path)
    is_possible = "choices" in source and not is_of_groups(source) and session.n_rows <= MOST_ROWS
    data = data_path(path, source) if is_possible else None
    if data is None or not has_no_excess(list(session.evidence)) or not is_unchanged(data, source):
        return None
    try:
        rows = read_shown_rows(data, source, path.parent)
    except (DataError, ImportError, OSError):
        return None  # the session tells of itself whatever became of its data
    fit = session.find_predictors(rows)
    if fit is None:
        return None
    views = view_columns(rows.table, {})
    task = next(one for one in list_tasks(views, fit) if one.name == "answers")
    reading = read_by_views(rows.table, task.take(views))
    words = (*write_reading(reading), AS_IS.flag, "--replay", *session_words(data, path))
    return BetterColumns(fit, quote_command("linkwise", "ask", data, *words))
