"""The data of a session: other encodings of its rows, and tables with its clusters."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from linkwise.cluster.metric.answer_fit import AnswerFit, find_predictors
from linkwise.cluster.metric.column_choice import ColumnProposal, propose_columns
from linkwise.constraints.error_rates import AssumedRate
from linkwise.data.column_distances import measure_shown_columns
from linkwise.data.columns.proposals import PROPOSED, recall_proposals, store_proposals
from linkwise.data.columns.table import Table
from linkwise.data.encoding.encoded import block_of
from linkwise.data.encoding.meaning import ENCODER_HASH, hash_weights, uses_meaning
from linkwise.data.golden_records import GoldenRecords, merge_rows
from linkwise.data.joining import (
    ClusterColumns,
    check_n_rows,
    check_order,
    find_rows,
    join_frame,
    to_table,
)
from linkwise.data.reading import recall_reading, store_reading
from linkwise.data.show.rows import Rows
from linkwise.data.sources import holds_numbers, is_frame, take_rows
from linkwise.errors import DataMismatchError, SessionError
from linkwise.learn.item_labels import read_labels
from linkwise.learn.learner import Learner
from linkwise.session.journal.description import (
    check_ids,
    check_items,
    data_difference,
    describe_learner,
    fingerprint,
    to_json_value,
)
from linkwise.session.journal.events import Event, EventKind, check_rates
from linkwise.session.journal.journal import Journal
from linkwise.session.journal.registry import build_learner
from linkwise.session.journal.store import WriteConflict, read_time
from linkwise.session.journal.stored_clustering import StoredClustering
from linkwise.session.recorder import Recorder
from linkwise.session.snapshot import Snapshots
from linkwise.session.state.recode import match_rows, move_events
from linkwise.session.state.session_state import SessionState
from linkwise.session.team.questionnaire import Questionnaire
from linkwise.types import Labels, Progress
from linkwise.validation import check_rows
from linkwise.wording import count_noun

BY_ID = (
    "carry the answers over by id, with ids=... and recode=True, or on the command line with linkwise ask "
    "DATA --replay."
)


def describe_rows(
    rows: Rows, source: dict[str, Any] | None, before: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Describe how rows were read, as the source of a session holds it, with what else is told of it."""
    if source is not None and "choices" in source:  # it tells all of that itself
        return source
    proposed = store_proposals(rows.table.proposals)
    encoder = {ENCODER_HASH: hash_weights()} if uses_meaning(rows.table.reading.text_by) else {}
    read = {**store_reading(rows.table.reading), **({PROPOSED: proposed} if proposed else {}), **encoder}
    return {**(before or {}), **read, **(source or {})}


class SessionData:
    """The rows of a session.

    Parameters
    ----------
    journal : Journal
    state : SessionState
    recorder : Recorder
    questions : Questionnaire
    snapshots : Snapshots

    Attributes
    ----------
    items : object
        What a person sees of each row, as it was given.
    """

    def __init__(
        self,
        journal: Journal,
        state: SessionState,
        recorder: Recorder,
        questions: Questionnaire,
        snapshots: Snapshots,
    ) -> None:
        self._journal, self._state, self._recorder = journal, state, recorder
        self._questions, self._snapshots = questions, snapshots
        self.items: Any = None

    def take_rows(self, X: Any, id: str | None = None) -> Rows | None:
        """Read a frame as the session has read its data; None for an array, and for the same numbers."""
        source = self._journal.meta["source"]
        if not is_frame(X) or "choices" not in source:
            return take_rows(X, id=id)
        if id is None and holds_numbers(X) and self.find_difference(X) is None:
            return None
        rows = take_rows(X, id=id, reading=recall_reading(source))
        assert rows is not None, "frames are read"
        proposals = recall_proposals(rows.table.reading, source.get(PROPOSED, {}))
        return replace(rows, table=replace(rows.table, proposals=proposals))

    def find_difference(self, X: ArrayLike) -> str | None:
        """Describe how X differs from the data of the session.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The data to compare.

        Returns
        -------
        str or None
            A phrase; None if they are the same data, up to rounding.
        """
        return data_difference(self._journal.meta["data"], check_rows(X))

    def move_rows(
        self,
        X: ArrayLike | None,
        ids: Sequence[object] | None,
        source: dict[str, Any] | None,
        *,
        drops_ids: bool = False,
    ) -> dict[str, Any]:
        """Let the events name the rows of X in place of those that the file has; nothing is stored.

        Returns
        -------
        dict
            The settings that change; empty if X holds the same data under the same ids.
        """
        if X is None:
            raise SessionError("Another encoding needs the data. Open it with Session.open(path, X).")
        rows, journal = check_rows(X), self._journal
        names = (None if drops_ids else journal.ids) if ids is None else check_ids(ids, len(rows))
        is_bound = any(event.names_rows for event in journal.events)
        n_before = journal.n_rows if is_bound else len(rows)  # otherwise any rows will do
        here = match_rows(None if ids is None else journal.ids, names, n_before, len(rows))
        kept = journal.meta["source"] if source is None else to_json_value(source, "source")
        has_same_rows = data_difference(journal.meta["data"], rows) is None
        if has_same_rows and names == journal.ids and kept == journal.meta["source"]:
            return {}
        journal.events = move_events(journal.events, here, journal.ids)
        journal.ids = names
        changes = {"data": fingerprint(rows), "source": kept}
        if not has_same_rows:
            changes["known"] = journal.last
        if any(here.get(row) != row for row in range(journal.n_rows)):
            changes["moves"] = journal.meta.get("moves", 0) + 1  # older questions are stale
        journal.meta |= changes
        self._state.forget()
        return changes

    def resume(
        self,
        X: ArrayLike | None,
        learner: Learner | None,
        ids: Sequence[object] | None,
        progress: Progress | None,
        error_rate: AssumedRate | Literal["stored"],
        moved: dict[str, Any],
        backup: str | os.PathLike[str] | None,
        kept: tuple[list[str] | None, StoredClustering | None],
        table: Table | None,
    ) -> None:
        """Start the learner; then store what changes, among it the settings of rows that were moved."""
        path, stored = self._journal.store.path, self._state.settings
        if ids is not None and self._journal.ids != check_ids(ids, len(ids)):
            raise DataMismatchError(
                f"{path} was begun with other ids. Open it with the ids that it was begun with, or {BY_ID}"
            )
        rate = stored.error_rate if error_rate == "stored" else check_rates(error_rate)
        if X is None:
            if learner is not None:
                raise SessionError("A learner needs the data. Open it with Session.open(path, X, learner).")
            if rate != stored.error_rate:
                raise SessionError(
                    "Another error rate needs the data. Open it with Session.open(path, X, error_rate=...)."
                )
            return
        rows = check_rows(X)
        difference = data_difference(self._journal.meta["data"], rows)
        if difference is not None:
            raise DataMismatchError(
                f"{path} was begun with other data: {difference}. Open it with the data that it was begun "
                f"with, or {BY_ID}"
            )
        current = build_learner(stored.learner, rows.shape[1]) if learner is None else learner
        described = stored.learner if learner is None else describe_learner(learner)
        if rate != stored.error_rate:
            self._recorder.check_agreement(self._state.settled, rate)
        settings = replace(stored, learner=described, error_rate=rate)
        self._state.start(current, rows, settings, progress, table)
        if moved:
            if kept[1] is not None:
                moved |= self._keep_numbers(kept[0], kept[1].labels)
            self._replace_data(moved, backup)
        wanted: dict[EventKind, Any] = {} if learner is None else {"learner": described}
        if rate != stored.error_rate:
            wanted["rate"] = rate
        self._store_choice(wanted)  # only after the learner has started

    def _store_choice(self, wanted: Mapping[EventKind, Any]) -> None:
        """Store which learner asks and which error rate it assumes, as events, where they are new."""
        while True:
            now = self._state.settings
            known = {"learner": now.learner, "rate": now.error_rate}
            new = [(kind, value) for kind, value in wanted.items() if value != known[kind]]
            if not new:
                return
            chosen = [Event(0, kind, read_time(), value=value) for kind, value in new]
            with suppress(WriteConflict):
                self._recorder.write_all(chosen)
                return
            self._journal.catch_up(lambda _: None)  # the learner stays the one that was just started
            if "rate" in wanted:
                self._recorder.check_agreement(self._state.settled, wanted["rate"])

    def _keep_numbers(self, ids: list[str] | None, labels: Labels) -> dict[str, Any]:
        """Let clusters keep their numbers where rows were added after those that were there.

        Returns
        -------
        dict
            The settings that change.
        """
        n_before = len(labels)
        now = self._journal.ids
        if ids is None or now is None or len(now) == n_before or now[:n_before] != ids:
            return {}
        before = np.full(self._journal.n_rows, -1, dtype=np.int32)
        before[:n_before] = labels
        assert self._state.replay is not None, "only a session with data takes other rows"
        self._journal.meta["numbers"] = self._state.replay.keep_numbers(before)
        return {"numbers": self._journal.meta["numbers"]}

    def _replace_data(
        self, changes: dict[str, Any], backup: str | os.PathLike[str] | None, n_new: int = 0
    ) -> None:
        """Store the events with the rows that they name now, and forget leases about rows as they were.

        The last `n_new` events are not stored yet.
        """
        assert self._state.replay is not None, "only a session with data takes other rows"
        self._journal.replace_data(changes, self._state.replay.clustering(), backup, n_new)
        self._questions.begin_leases()

    def recode(
        self,
        X: ArrayLike,
        *,
        ids: Sequence[object] | None = None,
        source: dict[str, Any] | None = None,
        backup: str | os.PathLike[str] | None = None,
        items: Any = None,
        drops_ids: bool = False,
        learner: Learner | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Replace the data by another encoding of the same rows, and replay all answers on it.

        It does what `open` does with ``recode=True``, for a session that is open already.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), DataFrame or Rows
            The rows with other columns, another scale, or in another order.
        ids : sequence of str, optional
            The ids of the rows in X. By default rows are known by their positions.
        source : dict, optional
            Where the data come from now. By default it stays as it was.
        backup : path, optional
            A new file for a copy of the session as it was before.
        items : table, list of str or Path, ndarray or linkwise.data.Items, optional
            The items that a person sees, one for each row of X. By default the items of before, or the
            columns of X if `ids` have changed.
        drops_ids : bool, default=False
            Whether rows without `ids` lose the ids that the session has for them.
        learner : Learner, optional
            The learner that chooses the questions from now on, stored together with the data as one event. By
            default the present one goes on.
        progress : callable, optional
            ``progress(made, planned)`` while the learner prepares.

        Raises
        ------
        DataMismatchError
            Rows that answers are about are not in X, or the number of rows differs and there are no ids.
        DataError
            `items` has another number of rows than X, or cannot be shown.
        SessionError
            The session was opened without its data.
        SessionLockedError
            Another process is writing. The session stays as it was.
        """
        self._state.catch_up()
        if self._state.replay is None:
            raise SessionError("Another encoding needs the data. Open it with Session.open(path, X).")
        if (read := self.take_rows(X)) is not None:
            X, source = read.X, describe_rows(read, source, self._journal.meta["source"])
            ids, items = read.ids if ids is None else ids, read if items is None else items
        before = self._journal.events, self._journal.ids, dict(self._journal.meta), self._state.replay
        try:
            changes = self.move_rows(X, ids, source, drops_ids=drops_ids)
            check_items(items, self._journal.n_rows)
            chosen = self._take_learner(learner)
            if changes or chosen:
                rows = check_rows(X)
                now = self._state.settings
                current = learner if learner and chosen else build_learner(now.learner, rows.shape[1])
                self._state.start(current, rows, now, progress, None if read is None else read.table)
                changes |= self._keep_numbers(before[1], read_labels(before[3].shown))
                self._replace_data(changes, backup, len(chosen))
        except BaseException:
            self._journal.events, self._journal.ids, self._journal.meta, self._state.replay = before
            self._state.forget()
            raise
        if items is not None or self._journal.ids != before[1]:
            self.items = items

    def _take_learner(self, learner: Learner | None) -> list[Event]:
        """Let another learner be the choice of a further event, which is not stored yet."""
        described = None if learner is None else describe_learner(learner)
        if described is None or described == self._state.settings.learner:
            return []
        chosen = [Event(self._journal.last + 1, "learner", read_time(), value=described)]
        self._journal.events = [*self._journal.events, *chosen]
        self._state.forget()
        return chosen

    # ------------------------------------------------------------ tables and columns
    def propose_columns(self, sources: Sequence[str]) -> ColumnProposal | None:
        """Propose weights for columns, by how much the answers depend on each.

        The proposal is a fit to the answered pairs, and is made only if it predicts held-out answers clearly
        better than columns without weights do. It changes nothing. To apply it, read the table with these
        weights, and either replace the data of the session (`recode`) or copy the answers to another one
        (`carry_over`).

        Parameters
        ----------
        sources : sequence of str, length n_features
            The column of your table from which each column of X comes, such as
            ``[feature.source for feature in encoded.features]``. Those of one column stay together.

        Returns
        -------
        ColumnProposal or None
            A weight for each column (`weights`), and the columns that count clearly `less` or `more`. None
            without the data, with fewer than 20 answers, and if no proposal is clearly better.

        Raises
        ------
        ValueError
            `sources` does not have one name for each column of X.
        """
        X = None if self._state.replay is None else self._state.replay.X
        if X is None:
            return None
        if len(sources) != X.shape[1]:
            raise ValueError(
                f"sources has {count_noun(len(sources), 'name')}, and X has "
                f"{count_noun(X.shape[1], 'column')}. Pass one name for each column."
            )
        known = self._state.constraints()
        return propose_columns(X, sources, known.must_link, known.cannot_link)

    def find_predictors(self, rows: Rows | None = None) -> AnswerFit | None:
        """Find the columns that the answers follow, if they do not follow the compared ones.

        Parameters
        ----------
        rows : Rows, optional
            The rows of the session with all columns, as `linkwise.read` returns them. By default those that
            the session was begun or opened with.

        Returns
        -------
        AnswerFit or None
            The columns that predict the answers, the strongest first (`predictors`). None if the answers
            follow the compared columns, if no other column predicts them, with fewer than 20 answered pairs
            or fewer than 2 of a kind, and if the columns are not known.

        Raises
        ------
        DataError
            `rows` holds another number of rows than the session.

        Notes
        -----
        Where similarity by the compared columns says nothing about the answers, each other column is tested
        on the answered pairs. A column counts if chance, by permutations of the rows, does as well with any
        of the columns in at most 1 of 100 cases. To compare rows by it, pass a frame that is read so to
        `recode`.
        """
        taken = self.items if rows is None else rows
        if not isinstance(taken, Rows):
            return None
        check_items(taken, self._journal.n_rows)
        self._state.catch_up_belief()
        compared = list(dict.fromkeys(block_of(one) or one.source for one in taken.encoded.features))
        facts, table = list(self._state.evidence_now()), taken.table
        return find_predictors(facts, taken.X, compared, partial(measure_shown_columns, table))

    def join(self, frame: Any, *, id_column: str | None = None) -> Any:
        """Put the cluster of each row beside the columns of your table.

        Parameters
        ----------
        frame : DataFrame of pandas, polars or pyarrow, Table, or ndarray of shape (n_rows, n_columns)
            The rows that the session is about, in the same order.
        id_column : str, optional
            The column, or the index, with the ids of the session. The rows may then be in any order, and some
            may be missing. By default rows are matched by their position, and a column with the same ids in
            another order is an error.

        Returns
        -------
        DataFrame
            A copy of the table, of the same kind, with three more columns: `cluster` (its number in
            `labels`), `cluster_name` (missing if the cluster has no name) and `confidence` (see
            `Session.confidence`; missing if nothing estimates it). If the table has such a column already, a
            number is added to the new name, as in `cluster_2`.

        Raises
        ------
        DataError
            The table has another number of rows or another order, no column `id_column`, or an id that the
            session does not know.

        Examples
        --------
        >>> import linkwise as lw
        >>> import polars as pl
        >>> fruit = pl.DataFrame({"name": ["apple", "plum", "melon"], "size": [7.0, 4.0, 20.0]})
        >>> session = lw.Session(fruit[["size"]], ids=fruit["name"])
        >>> session.add(0, 1, "must-link")
        >>> session.join(fruit, id_column="name").columns
        ['name', 'size', 'cluster', 'cluster_name', 'confidence']
        """
        columns = self.cluster_columns()
        if id_column is None:
            if self._journal.ids is not None:
                check_order(frame, self._journal.names)
            return join_frame(frame, columns)
        return join_frame(frame, columns.take(find_rows(frame, id_column, self._journal.names)))

    def golden(
        self, frame: Any, rules: Mapping[str, str] | None = None, *, id_column: str | None = None
    ) -> GoldenRecords:
        """Merge the rows of each cluster into one golden record.

        Parameters
        ----------
        frame : DataFrame of pandas, polars or pyarrow, Table, or ndarray of shape (n_rows, n_columns)
            The rows that the session is about, as for `join`.
        rules : mapping of str to str, optional
            How the value of a column is chosen among those that are not missing. "frequent", the default,
            takes the most frequent one, of equally frequent ones the longest, and of these the first.
            "complete" takes the longest one, "first" the first, and "newest:WHEN" that of the row with the
            latest date in column WHEN.
        id_column : str, optional
            As for `join`.

        Returns
        -------
        GoldenRecords
            The golden records as a frame of the same kind, and for each column the number of clusters that
            had several values in it. Three columns are added: `n_rows`, `row_ids` and `cluster`.

        Raises
        ------
        DataError
            As for `join`, or a rule is about a column that does not exist, is no rule, or its dates are none.

        Examples
        --------
        >>> import linkwise as lw
        >>> import polars as pl
        >>> people = pl.DataFrame({"name": ["Ann", "Ann Stone", "Bob"], "age": [31.0, 31.0, 50.0]})
        >>> session = lw.Session(people[["age"]])
        >>> session.add(0, 1, "must-link")
        >>> session.add(1, 2, "cannot-link")
        >>> found = session.golden(people, {"name": "complete"})
        >>> found.frame["name"].to_list(), found.frame["row_ids"].to_list(), found.several
        (['Ann Stone', 'Bob'], ['0; 1', '2'], {'name': 1})
        """
        labels, names = self.cluster_columns().labels, self._journal.names
        if id_column is not None:
            rows = find_rows(frame, id_column, names)
            return merge_rows(frame, labels[rows], [names[row] for row in rows], rules)
        if self._journal.ids is not None:
            check_order(frame, names)
        check_n_rows(len(to_table(frame)), self.cluster_columns())
        return merge_rows(frame, labels, names, rules)

    def cluster_columns(self) -> ClusterColumns:
        """Return the columns that `join` adds: labels, names of clusters, and confidences.

        Returns
        -------
        ClusterColumns
            The cluster of each row.
        """
        now = self._snapshots.read()
        called = [now.names.get(label) for label in now.labels.tolist()]
        return ClusterColumns(now.labels.astype(np.int64), called, now.confidence)
