"""The session: ask, answer and undo, with every answer stored at once.

The state of a session is the replay of the events in its store. An answer is a fact about a pair of rows:
it counts even if another learner, or a newer version of the same one, would have asked another question.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from linkwise.constraints.error_rates import AssumedRate
from linkwise.constraints.facts import GivenAnswer, check_answer, check_reliability
from linkwise.errors import (
    DataMismatchError,
    SessionError,
    SessionLockedError,
    StaleAnswerError,
)
from linkwise.learn.item_labels import read_labels
from linkwise.learn.learner import Learner, Question
from linkwise.session.journal.description import (
    check_ids,
    check_items,
    data_difference,
    describe_learner,
    fingerprint,
    seed_of_learner,
    to_json_value,
)
from linkwise.session.journal.events import Event, EventKind, Place
from linkwise.session.journal.registry import build_learner
from linkwise.session.journal.store import Store, WriteConflict, read_time
from linkwise.session.journal.stored_clustering import StoredClustering
from linkwise.session.journal.values import Remark, check_note, check_rates, check_seconds, check_source
from linkwise.session.state.recode import match_rows, move_events
from linkwise.session.state.settings import begin_settings
from linkwise.session.state.status import Status
from linkwise.session.team.leases import Leases, OpenQuestion
from linkwise.session.transfer import SessionTransfer
from linkwise.session.view import synchronized
from linkwise.types import Labels, Progress
from linkwise.validation import check_rows

__all__ = ["OpenQuestion", "Session", "Status"]

DEFAULT_LEARNER = {"name": "KIN", "parameters": {"random_state": 0}}


BY_ID = (
    "carry the answers over by id, with ids=... and recode=True, or on the command line with linkwise ask "
    "DATA --replay."
)


class Session(SessionTransfer):
    """The answers of one person or one team about one data set.

    Threads may share a session: each call waits until the previous one returns. Each process opens the file
    for itself: what one of them stores, the others see at their next call.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The data. Session files keep a fingerprint of them, not the values.
    learner : Learner, optional
        The learner that chooses the questions, for example ``COBRAS(random_state=0)``;
        by default ``KIN(random_state=0)``.
    ids : sequence of str, optional
        The id of every row, for files that are exported; by default the positions of the rows.
    source : dict, optional
        Where the data come from; stored with the session, as JSON.
    error_rate : float, None or mapping of str to float or None, default=0
        Share of the answers that are wrong, below 0.5; None estimates it. Unless it is 0, answers may
        contradict each other, the session checks doubtful ones by further questions, and `suspects` lists
        those that are probably wrong. Imported pairs are certain. A mapping has the share of each source, or
        None to estimate it; the entry "" counts for all other sources. The answers of a source whose share
        is 0 are certain.
    items : table, list of str or Path, ndarray or linkwise.data.Items, optional
        The items that a person sees, one for each row of X, as for `linkwise.widget`. They are neither
        compared nor stored. By default the columns of X.
    progress : callable, optional
        ``progress(done, total)``, called while the learner prepares, if it reports its progress. An exception
        that it raises ends the work, and nothing is stored.

    Raises
    ------
    TypeError
        `source` is not a dict, `learner` is not a learner, or `error_rate` has a source that is not text.
    ValueError
        `error_rate` is out of range, or it has two entries for one source.
    DataError
        `items` has another number of rows than X, or cannot be shown.

    Examples
    --------
    >>> import linkwise as lw
    >>> session = lw.Session([[0.0], [0.1], [5.0], [5.1]], lw.COBRAS(random_state=0))
    >>> while (q := session.question) is not None:
    ...     session.answer(abs(q.first - q.second) == 1 and q.first + q.second != 3)
    >>> session.labels.tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self,
        X: ArrayLike,
        learner: Learner | None = None,
        *,
        ids: Sequence[object] | None = None,
        source: dict[str, Any] | None = None,
        error_rate: AssumedRate = 0,
        items: Any = None,
        progress: Progress | None = None,
    ) -> None:
        rows, rate = check_rows(X), check_rates(error_rate)
        check_items(items, len(rows))
        if source is not None and not isinstance(source, dict):
            raise TypeError(f"source is a {type(source).__name__}. Pass a dict.")
        learner = build_learner(DEFAULT_LEARNER) if learner is None else learner
        meta = {
            "data": fingerprint(rows),
            "learner": describe_learner(learner),
            "seed": seed_of_learner(learner),
            "source": to_json_value(source or {}, "source"),
        }
        if rate != 0:
            meta["error_rate"] = rate
        self._load(Store.new(meta, check_ids(ids, len(rows))))
        self._items = items
        self._start_learner(learner, rows, begin_settings(meta), progress)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A session cannot be pickled, because it holds an open file. Pass the path of a copy, written"
            " by session.save_copy(path), and open it there by Session.open(path, X)."
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        X: ArrayLike | None = None,
        learner: Learner | None = None,
        *,
        ids: Sequence[object] | None = None,
        source: dict[str, Any] | None = None,
        error_rate: AssumedRate | Literal["stored"] = "stored",
        recode: bool = False,
        backup: str | os.PathLike[str] | None = None,
        items: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Open a session file, or begin one.

        Parameters
        ----------
        path : path
            If there is no such file, it is created; then X and learner are required.
        X : array-like of shape (n_rows, n_features), optional
            The data that the session was begun with, up to rounding. Without them the session asks nothing,
            but you can read its answers, constraints and last labels, and undo answers.
        learner : Learner, optional
            By default the stored one. Another learner takes over and keeps every answer.
        ids : sequence of str, optional
            As for the class; if the file exists, they must equal its ids, unless `recode` is True.
        source : dict, optional
            As for the class; if the file exists, its own source stays, unless `recode` is True.
        error_rate : float, None, mapping or "stored", default="stored"
            As for the class. "stored" means the rate in the file, and 0 for a new file. Another rate takes
            over and keeps every answer.
        recode : bool, default=False
            Whether X may hold the rows of the session in another encoding: other columns, another scale, or
            the rows in another order. All events are then replayed on X, and the file stores it at once, with
            `ids` and `source` if they are given. Rows are known by their ids; if the session has none, or
            `ids` is None, by their positions. Other clients must open the file again.
        backup : path, optional
            A new file for a copy of the session as it was before `recode` changed it.
        items : table, list of str or Path, ndarray or linkwise.data.Items, optional
            As for the class. The file does not contain them, so give them each time.
        progress : callable, optional
            As for the class.

        Returns
        -------
        Session
            The session, which keeps the file open until `close`.

        Raises
        ------
        DataMismatchError
            X or the ids differ from those that the session was begun with. With `recode`: rows that events
            are about are not in X, or their number differs and there are no ids.
        InfeasibleConstraintsError
            Answers contradict each other whose `error_rate` is 0.
        SessionDamagedError
            The file is not a session, or it is damaged.
        SessionLockedError
            Another process is writing and does not finish in time.
        DataError
            `items` has another number of rows than X, or cannot be shown.
        FileNotFoundError
            There is no such file, and `X` or `learner` is missing.
        """
        if not Path(path).exists():
            if X is None or learner is None:
                raise FileNotFoundError(
                    f"There is no session file {os.fspath(path)}. Pass X and a learner to begin one."
                )
            rate = 0 if error_rate == "stored" else error_rate
            session = cls(X, learner, ids=ids, source=source, error_rate=rate, items=items, progress=progress)
            try:
                session.save(path)
                return session
            except SessionError:
                if not Path(path).exists():
                    raise
                session.close()  # another client has just begun the same file: open it
        session = cls.__new__(cls)
        store = Store.open(path)
        try:
            session._load(store)
            kept = (session._ids, store.snapshot()) if recode else None
            moved = session._move_rows(X, ids, source) if recode else {}
            check_items(items, session.n_rows)
            session._items = items
            session._resume(X, learner, ids, progress, error_rate, moved, backup, kept)
        except BaseException:
            store.close()
            raise
        return session

    def _move_rows(
        self, X: ArrayLike | None, ids: Sequence[object] | None, source: dict[str, Any] | None
    ) -> dict[str, Any]:
        """Let the events name the rows of X in place of those that the file has; nothing is stored.

        Returns
        -------
        dict
            The settings that change; empty if X holds the same data under the same ids.
        """
        if X is None:
            raise SessionError("Another encoding needs the data. Open it with Session.open(path, X).")
        rows = check_rows(X)
        names = self._ids if ids is None else check_ids(ids, len(rows))
        is_bound = any(event.names_rows for event in self._events)
        n_before = self.n_rows if is_bound else len(rows)  # otherwise any rows will do
        here = match_rows(None if ids is None else self._ids, names, n_before, len(rows))
        kept = self._meta["source"] if source is None else to_json_value(source, "source")
        has_same_rows = data_difference(self._meta["data"], rows) is None
        if has_same_rows and names == self._ids and kept == self._meta["source"]:
            return {}
        self._events = move_events(self._events, here, self._ids)
        self._ids = names
        changes = {"data": fingerprint(rows), "source": kept}
        if not has_same_rows:
            changes["known"] = self._last_number
        if any(here.get(row) != row for row in range(self.n_rows)):
            changes["moves"] = self._meta.get("moves", 0) + 1  # questions about rows as they were are stale
        self._meta |= changes
        self._forget_derived()
        return changes

    def _resume(
        self,
        X: ArrayLike | None,
        learner: Learner | None,
        ids: Sequence[object] | None,
        progress: Progress | None,
        error_rate: AssumedRate | Literal["stored"],
        moved: dict[str, Any],
        backup: str | os.PathLike[str] | None,
        kept: tuple[list[str] | None, StoredClustering | None] | None,
    ) -> None:
        """Start the learner; then store what changes, among it the settings of rows that were moved."""
        path, stored = self._store.path, self._settings()
        if ids is not None and self._ids != [str(i) for i in ids]:
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
        difference = data_difference(self._meta["data"], rows)
        if difference is not None:
            raise DataMismatchError(
                f"{path} was begun with other data: {difference}. Open it with the data that it was begun "
                f"with, or {BY_ID}"
            )
        current = build_learner(stored.learner, rows.shape[1]) if learner is None else learner
        described = stored.learner if learner is None else describe_learner(learner)
        if rate != stored.error_rate:
            self._check_agreement(self._settled_events(), rate)
        self._start_learner(current, rows, replace(stored, learner=described, error_rate=rate), progress)
        if moved:
            if kept is not None and kept[1] is not None:
                moved |= self._keep_numbers(kept[0], kept[1].labels)
            self._replace_data(moved, backup)
        wanted: dict[EventKind, Any] = {} if learner is None else {"learner": described}
        if rate != stored.error_rate:
            wanted["rate"] = rate
        self._store_choice(wanted)  # only after the learner has started

    def _store_choice(self, wanted: Mapping[EventKind, Any]) -> None:
        """Store which learner asks and which error rate it assumes, as events, where they are new."""
        while True:
            now = self._settings()
            known = {"learner": now.learner, "rate": now.error_rate}
            new = [(kind, value) for kind, value in wanted.items() if value != known[kind]]
            if not new:
                return
            chosen = [Event(0, kind, read_time(), value=value) for kind, value in new]
            with suppress(WriteConflict):
                self._events = [*self._events, *self._store.append_all(chosen, after=self._last_number)]
                self._follow()
                return
            self._events = [*self._events, *self._store.events(after=self._last_number)]
            if "rate" in wanted:
                self._check_agreement(self._settled_events(), wanted["rate"])

    def _keep_numbers(self, ids: list[str] | None, labels: Labels) -> dict[str, Any]:
        """Let clusters keep their numbers where rows were added after those that were there.

        Returns
        -------
        dict
            The settings that change.
        """
        n_before = len(labels)
        if ids is None or self._ids is None or len(self._ids) == n_before or self._ids[:n_before] != ids:
            return {}
        before = np.full(self.n_rows, -1, dtype=np.int32)
        before[:n_before] = labels
        assert self._replay is not None, "only a session with data takes other rows"
        self._meta["numbers"] = self._replay.keep_numbers(before)
        return {"numbers": self._meta["numbers"]}

    def _replace_data(self, changes: dict[str, Any], backup: str | os.PathLike[str] | None) -> None:
        """Store the events with the rows that they name now, after a copy of the file if one is wanted."""
        if backup is not None:
            self._store.copy_to(backup)
        assert self._replay is not None, "only a session with data takes other rows"
        try:
            self._store.replace_data(changes, self._ids, self._events, self._replay.snapshot())
        except WriteConflict:
            raise SessionLockedError(
                f"{self._store.path} is in use by another process. Close that process, or try again."
            ) from None
        self._leases = Leases(n_moves=self._meta.get("moves", 0))  # no longer of the rows as they were

    @synchronized
    def recode(
        self,
        X: ArrayLike,
        *,
        ids: Sequence[object] | None = None,
        source: dict[str, Any] | None = None,
        backup: str | os.PathLike[str] | None = None,
        items: Any = None,
        progress: Progress | None = None,
    ) -> None:
        """Replace the data by another encoding of the same rows, and replay all answers on it.

        It does what `open` does with ``recode=True``, for a session that is open already.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
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
        self._catch_up()
        if self._replay is None:
            raise SessionError("Another encoding needs the data. Open it with Session.open(path, X).")
        before = self._events, self._ids, dict(self._meta), self._replay
        try:
            changes = self._move_rows(X, ids, source)
            check_items(items, self.n_rows)
            if changes:
                rows = check_rows(X)
                now = self._settings()
                self._start_learner(build_learner(now.learner, rows.shape[1]), rows, now, progress)
                changes |= self._keep_numbers(before[1], read_labels(before[3].shown))
                self._replace_data(changes, backup)
        except BaseException:
            self._events, self._ids, self._meta, self._replay = before
            self._forget_derived()
            raise
        if items is not None or self._ids != before[1]:
            self._items = items

    # ------------------------------------------------------------ asking and answering
    @property
    @synchronized
    def question(self) -> Question | None:
        """The present question; None when nothing is left to ask."""
        self._catch_up()
        question = self._current_replay().question
        self._has_changed = False
        return question

    @property
    @synchronized
    def question_id(self) -> str | None:
        """An identifier of the present question, so that an answer can name its question."""
        return self._question_id(self.question)

    @synchronized
    def answer(
        self,
        answer: GivenAnswer,
        *,
        question_id: str | None = None,
        source: str = "",
        seconds: float | None = None,
        note: str = "",
        reliability: float | None = None,
    ) -> None:
        """Answer the present question; return after the answer is safely stored.

        Parameters
        ----------
        answer : {"same", "different", "unsure", "yes", "no"} or bool
            Whether the two rows belong together. True means "yes" and False means "no".
        question_id : str, optional
            The `question_id` of the question that the person saw, or the id of one of `questions`. Without
            it, an error is raised if another client has written anything since this one last read
            `question`.
        source : str, default=""
            Who answers: the name of a person or a program.
        seconds : float, optional
            How long the answer took, in seconds, from the moment when the question was shown.
        note : str, default=""
            What you want to remember about the answer, up to 2000 characters. The session keeps both
            beside the answer, and no learner sees them. `note` changes a note later.
        reliability : float, optional
            The probability that the answer is right, from 0.5 to 1, as a program estimates it. Where answers
            may be wrong, it can only lower what the answer counts: an answer never counts more than the error
            rate of its source allows. It does not apply to ``"unsure"``.

        Raises
        ------
        StaleAnswerError
            The session asks another question now; the error holds it. Nothing is stored.
        InfeasibleConstraintsError
            The answer to one of several open questions contradicts other answers. Nothing is stored.
        SessionError
            There is no question left, the session was opened without its data, the note is too long, or
            `source` or `note` is not valid Unicode. Nothing was stored.
        TypeError
            `source` or `note` is not a string, or `seconds` or `reliability` is not a number.
        ValueError
            `seconds` is negative or not finite, or `reliability` is out of range.
        """
        name = check_source(source)
        remark: Remark = {"seconds": check_seconds(seconds), "note": check_note(note)}
        if reliability is not None:
            checked_reliability = check_reliability(reliability, "yes")
            remark["reliability"] = None if answer == "unsure" else checked_reliability
        self._catch_up()
        if question_id is not None and self._has_other_place(question_id):
            self._answer_open(answer, question_id, name, remark)
            return
        q = self._current_replay().question
        if question_id is not None and question_id != self._question_id(q):
            raise self._stale_error()
        if question_id is None and self._has_changed:
            raise self._stale_error()
        if q is None:
            raise SessionError(
                f"There is no question to answer ({self._current_replay().reason}). "
                "Volunteer pairs with add()."
            )
        checked = check_answer(answer, q.first, q.second)
        first, second = self._current_evidence().check(q.first, q.second, checked, source=name)
        start = self._last_start()
        while start == self._last_start():  # else another client changed what is asked
            with suppress(WriteConflict):
                return self._write(
                    "answer", first=first, second=second, answer=checked, source=name, **remark
                )
            self._catch_up()
        raise self._stale_error()

    def _has_other_place(self, question_id: str) -> bool:
        """Whether `questions` gave a question elsewhere than where the session asks now."""
        found = self._leases.find(question_id, self.n_rows, self._last_number)
        return found is not None and found[2] != Place(self._last_start(), 0)

    def _answer_open(self, answer: GivenAnswer, question_id: str, source: str, remark: Remark) -> None:
        """Store the answer to a question that `questions` gave; it may be late."""
        found = self._leases.find(question_id, self.n_rows, self._last_number)
        if found is None:
            raise self._stale_error()
        i, j, place = found
        checked = check_answer(answer, i, j)

        def check_open() -> dict[str, Any]:
            if self._is_answered(i, j, place.start, source):
                raise self._stale_error()
            first, second = self._checking_evidence().check(i, j, checked, source=source)
            fields = {"first": first, "second": second, "answer": checked, "source": source, "place": place}
            return {**fields, **remark}

        self._write_checked("answer", check_open)

    @synchronized
    def look_ahead(self, answer: GivenAnswer, *, stop: Callable[[], bool] = bool) -> bool:
        """Compute what would follow an answer to the present question, while the person still thinks.

        Nothing is stored or changed. If the person gives that answer, the next question comes sooner.

        Parameters
        ----------
        answer : {"same", "different", "unsure", "yes", "no"} or bool
            The answer to try.
        stop : callable, optional
            Called from time to time; the work ends when it returns True.

        Returns
        -------
        bool
            Whether the work was completed.
        """
        self._catch_up()
        replay = self._current_replay()
        q = replay.question
        return q is not None and replay.foresee(check_answer(answer, q.first, q.second), stop)

    # ------------------------------------------------------------ files
    @synchronized
    def save(self, path: str | os.PathLike[str]) -> None:
        """Move a session from memory to a file; later answers are stored there.

        Parameters
        ----------
        path : path
            The new file.

        Raises
        ------
        SessionError
            The session has a file already.
        """
        if self._store.path is not None:
            raise SessionError(f"The session is stored in {self._store.path} already. Use save_copy(path).")
        self.save_copy(path)
        memory, self._store = self._store, Store.open(path)
        self._version = -1  # other clients may write from now on
        memory.close()

    @synchronized
    def save_copy(self, path: str | os.PathLike[str]) -> None:
        """Write a complete copy; the session continues with its own file.

        Parameters
        ----------
        path : path
            The new file.
        """
        self._save_snapshot(always=True)
        self._store.copy_to(path)

    @synchronized
    def close(self) -> None:
        """Store the labels and close the file; calling it again does nothing."""
        try:
            self._save_snapshot(always=True)
        finally:
            self._store.close()

    def call_after_close(self, callback: Callable[[], object]) -> None:
        """Call a function once the file is closed, such as one that frees what the session used.

        Parameters
        ----------
        callback : callable
            Takes no arguments.
        """
        self._store.call_after_close(callback)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------ names of questions
    def _question_id(self, question: Question | None) -> str | None:
        if question is None:
            return None
        return self._leases.name(Place(self._last_start(), 0), question.first, question.second)

    def _stale_error(self) -> StaleAnswerError:
        question = self.question
        if question is None:
            text = "The answer is not stored: there is no question any more. Volunteer pairs with add()."
        else:
            text = "The answer is not stored: the session asks another question now. Answer that one."
        return StaleAnswerError(text, question)
