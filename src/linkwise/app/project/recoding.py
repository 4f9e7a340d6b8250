"""Read the rows otherwise while a session is open: weigh columns by the answers, or use others."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from linkwise.app.project.changed_options import (
    check_same_positions,
    count_facts,
    name_backup,
    recall_options,
)
from linkwise.app.project.column_advice import Advice, advise
from linkwise.app.project.column_tasks import TaskName, choose_learner, read_for_task
from linkwise.app.project.data_source import describe_source, read_shown_rows, row_ids
from linkwise.app.project.group_rows import is_of_groups
from linkwise.app.project.origin import (
    BEFORE,
    EARLIER,
    list_weighed,
    multiply_weights,
    origin_of,
    remember_reading,
    restore_reading,
    restore_weights,
)
from linkwise.app.project.project import Project, session_words
from linkwise.cluster.metric.column_choice import ColumnProposal
from linkwise.cluster.metric.differences import feature_spreads
from linkwise.data import Table
from linkwise.data.columns.proposals import PROPOSED, recall_proposals, store_proposals
from linkwise.data.columns.table import COLUMNS
from linkwise.data.encoding.encoded import Feature, block_of
from linkwise.data.show.column_views import ColumnView, read_by_views
from linkwise.errors import DataError
from linkwise.learn.learner import Learner
from linkwise.session.journal.registry import build_learner
from linkwise.wording import join_names, merge_full_stops

MOST_RIGHT = 0.1  # expected share of rows in a wrong cluster up to which no weights are proposed


class Recoded(NamedTuple):
    """A session whose rows are read otherwise.

    `backup` is a copy of the session as it was; None if it holds nothing that a person said about rows.
    `changed` is a sentence about rows of the file that have changed since the session was opened.
    """

    project: Project
    backup: Path | None
    changed: str


def propose_columns(project: Project) -> ColumnProposal | None:
    """Find weights for the columns of a table by the answers; None if they are probably no better."""
    features, session = project.encoded.features, project.session
    if project.table.kind != "record" or features[0].role == "image" or not can_recode(project):
        return None
    if len({block_of(one) for one in features}) > 1:
        given = origin_of(session, project.path)["choices"].get("weights")
        if given == "none" or any(one.source == COLUMNS for one in features):
            return None  # the weight of a block has no name
    advice = session.status.advice
    if advice is None or (advice.wrong is not None and advice.wrong <= MOST_RIGHT):
        return None
    return session.propose_columns([_name_with_weight(one) for one in features])


def _name_with_weight(feature: Feature) -> str:
    """The column or the block of a feature, as `--weight` names it."""
    return block_of(feature) or feature.source


def can_recode(project: Project) -> bool:
    """Whether the data file can be read again with other weights."""
    source = origin_of(project.session, project.path)
    return "choices" in source and not is_of_groups(source) and not project.data.is_dir()


def weigh_columns(project: Project, weights: Mapping[str, float]) -> Recoded:
    """Compare rows by weighed columns from now on, and replay all answers.

    `weights` are factors in the squared distance. `project` is of no use afterwards, though the session
    stays open.
    """
    features = project.encoded.features
    factors = dict(weights)
    if len({block_of(one) for one in features}) > 1:  # each has a share, whatever the weights of its columns
        says = feature_spreads(project.encoded.X) ** 2
        own = [at for at, one in enumerate(features) if block_of(one) is None]
        total = sum(says[at] for at in own)
        if total > 0:
            factors[COLUMNS] = float(sum(says[at] * weights[features[at].source] for at in own) / total)
    return encode_by(project, multiply_weights(origin_of(project.session, project.path), factors))


def take_back(project: Project) -> Recoded:
    """Compare rows again by the weights from before the first offer, and replay all answers.

    Without such weights the task that was chosen last is taken back: the columns, and the learner that asked
    before. `project` is of no use afterwards, though the session stays open.
    """
    source = origin_of(project.session, project.path)
    if list_weighed_columns(project) or BEFORE not in source:
        return encode_by(project, restore_weights(source))
    return encode_by(project, restore_reading(source), earlier=source[BEFORE]["learner"])


def find_task(project: Project) -> str:
    """The task that `take_back` takes back; empty if there is none."""
    before = origin_of(project.session, project.path).get(BEFORE)
    return "" if before is None else str(before["task"])


def read_otherwise(project: Project, views: Sequence[ColumnView], task: TaskName | None = None) -> Recoded:
    """Use the columns as a person chose from now on, perhaps for another task, and replay all answers.

    `project` is of no use afterwards, though the session stays open. Raises `DataError` if the columns
    cannot be used so, or another column shall identify the rows of answers.
    """
    session, old = project.session, project.table.reading
    reading = read_for_task(read_by_views(project.table, views), task)
    if reading.id_column != old.id_column and any(event.names_rows for event in session.events):
        raise DataError(
            "The answers find their rows by their ids. Keep the id column, or begin another session."
        )
    source = origin_of(session, project.path)
    settings = describe_source(replace(reading, show=reading.shown_columns or None), project.data)
    kept = store_proposals(recall_proposals(reading, source.get(PROPOSED, {})))
    changed = {name: value for name, value in source.items() if name not in (EARLIER, PROPOSED, BEFORE)}
    before = {} if task is None else remember_reading(source, task, session.learner)
    learner = choose_learner(project, task)
    return encode_by(project, changed | settings | ({PROPOSED: kept} if kept else {}) | before, learner)


def list_weighed_columns(project: Project) -> tuple[str, ...]:
    """The columns whose weights `take_back` takes back."""
    return tuple(name for name in list_weighed(origin_of(project.session, project.path)) if name != COLUMNS)


def encode_by(
    project: Project,
    source: dict[str, Any],
    learner: Learner | None = None,
    *,
    earlier: dict[str, Any] | None = None,
) -> Recoded:
    """Read the rows by another source and replay all answers, perhaps with another learner.

    `earlier` describes a learner that asked before.

    `project` is of no use afterwards, though the session stays open.
    """
    session, path = project.session, project.path
    if not os.access(path.parent, os.W_OK):
        raise DataError(
            f"The folder {path.parent} cannot be written to, so no copy of the session fits there."
        )
    check_same_positions(session, path, project.data)
    rows = read_shown_rows(project.data, source, path.parent)
    ids, is_asked = row_ids(rows.table), any(event.names_rows for event in session.events)
    backup = name_backup(path) if is_asked else None
    has_other_ids = is_asked and ids is not None and list(map(str, ids)) != session.ids
    if len(rows.encoded.X) != session.n_rows or has_other_ids:
        raise DataError(  # whoever shows rows by their positions would show other ones
            f"{project.data.name} holds other rows than when the session was opened. Open the session again,"
            " then change its columns."
        )
    if earlier is not None:
        learner = build_learner(earlier, rows.encoded.X.shape[1])
    session.recode(
        rows,
        ids=ids,
        source=source | {"choices": rows.table.choices},
        backup=backup,
        drops_ids=not is_asked,
        learner=learner,
    )
    words, advice = session_words(project.data, path), Advice()
    if not count_facts(session):
        advice = advise(rows, project.data, words, recall_options(session.source, path), "ask")
    now = replace(project, rows=rows, advice=advice)
    return Recoded(now, backup, _describe_changes(project.table, rows.table))


def _describe_changes(before: Table, now: Table) -> str:
    """Say which rows have changed in the file since it was read before; empty if none has."""
    dropped = now.choices.get("drop", ())
    both = [name for name in before.frame.columns if name in now.frame.columns and name not in dropped]
    # a column that rows are not compared by is text
    names = [name for name in both if before.frame[name].dtype == now.frame[name].dtype]
    changed: set[int] = set()
    for name in names:
        pairs = zip(before.frame[name].to_list(), now.frame[name].to_list(), strict=True)
        changed |= {row for row, (old, new) in enumerate(pairs) if not _is_same(old, new)}
    if not changed:
        return ""
    rows = join_names((f"row {row}" if now.ids is None else now.ids[row] for row in sorted(changed)), 5)
    return merge_full_stops(
        f"The file has changed since the session was opened, and its new values count: {rows}."
    )


def _is_same(old: Any, new: Any) -> bool:
    return old is new or old == new or (old != old and new != new)  # NaN is not equal to itself
