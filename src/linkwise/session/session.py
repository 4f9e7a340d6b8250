"""The session: ask, answer and undo, with every answer stored at once.

The state of a session is the replay of the events in its store. An answer is a fact about a pair of rows:
it counts even if another learner, or a newer version of the same one, would have asked another question.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from numpy.typing import ArrayLike

from linkwise.asking.learner import Learner, Progress, Question, check_answer
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.evidence import Answer, Fact
from linkwise.errors import DataMismatchError, SessionError, StaleAnswerError
from linkwise.session.description import (
    check_ids,
    data_difference,
    describe_learner,
    fingerprint,
    seed_of_learner,
    to_json_value,
)
from linkwise.session.registry import build_learner
from linkwise.session.status import Status
from linkwise.session.store import Store, WriteConflict
from linkwise.session.view import synchronized
from linkwise.session.writer import SessionWriter
from linkwise.validation import check_rows

__all__ = ["Session", "Status"]

DEFAULT_LEARNER = {"name": "KIN", "parameters": {"random_state": 0}}


class Session(SessionWriter):
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
    progress : callable, optional
        ``progress(done, total)``, called while the learner prepares, if it reports its progress. An exception
        that it raises ends the work, and nothing is stored.

    Raises
    ------
    TypeError
        `source` is not a dict, or `learner` is not a learner.

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
        progress: Progress | None = None,
    ) -> None:
        rows = check_rows(X)
        if source is not None and not isinstance(source, dict):
            raise TypeError(f"source is a {type(source).__name__}. Give a dict.")
        learner = build_learner(DEFAULT_LEARNER) if learner is None else learner
        meta = {
            "data": fingerprint(rows),
            "learner": describe_learner(learner),
            "seed": seed_of_learner(learner),
            "source": to_json_value(source or {}, "source"),
        }
        self._load(Store.new(meta, check_ids(ids, len(rows))))
        self._start_learner(learner, rows, progress)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        X: ArrayLike | None = None,
        learner: Learner | None = None,
        *,
        ids: Sequence[object] | None = None,
        source: dict[str, Any] | None = None,
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
            As for the class; if the file exists, they must equal its ids.
        source : dict, optional
            As for the class; if the file exists, its own source stays.
        progress : callable, optional
            As for the class.

        Returns
        -------
        Session
            The session, which keeps the file open until `close`.

        Raises
        ------
        DataMismatchError
            X or the ids differ from those that the session was begun with.
        SessionDamagedError
            The file is not a session, or it is damaged.
        SessionLockedError
            Another process is writing and does not finish in time.
        FileNotFoundError
            There is no such file, and `X` or `learner` is missing.
        """
        if not Path(path).exists():
            if X is None or learner is None:
                raise FileNotFoundError(
                    f"There is no session file {os.fspath(path)}. Give X and a learner to begin one."
                )
            session = cls(X, learner, ids=ids, source=source, progress=progress)
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
            session._resume(X, learner, ids, progress)
        except BaseException:
            store.close()
            raise
        return session

    def _resume(
        self,
        X: ArrayLike | None,
        learner: Learner | None,
        ids: Sequence[object] | None,
        progress: Progress | None,
    ) -> None:
        path, stored = self._store.path, self._meta["learner"]
        if ids is not None and self._ids != [str(i) for i in ids]:
            raise DataMismatchError(
                f"{path} was begun with other ids. Begin a new session and carry the answers over by id."
            )
        if X is None:
            if learner is not None:
                raise SessionError("A learner needs the data. Open it with Session.open(path, X, learner).")
            return
        rows = check_rows(X)
        difference = data_difference(self._meta["data"], rows)
        if difference is not None:
            raise DataMismatchError(
                f"{path} was begun with other data: {difference}. Open it with the data that it was begun "
                "with, or begin a new session and carry the answers over by id."
            )
        current = build_learner(stored, rows.shape[1]) if learner is None else learner
        self._start_learner(current, rows, progress)
        if learner is not None and describe_learner(learner) != stored:  # only after it has started
            self._meta["learner"] = describe_learner(learner)
            self._store.put_meta({"learner": self._meta["learner"]})
            self._save_snapshot()

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
    def answer(self, answer: Answer | bool, *, question_id: str | None = None) -> None:
        """Answer the present question; return after the answer is safely stored.

        Parameters
        ----------
        answer : {"yes", "no", "unsure"} or bool
            Whether the two rows belong together. True means "yes" and False means "no".
        question_id : str, optional
            The `question_id` of the question that the person saw. Without it, an error is raised if another
            client has written anything since this one last read `question`.

        Raises
        ------
        StaleAnswerError
            The session asks another question now; the error holds it. Nothing is stored.
        SessionError
            There is no question left, or the session was opened without its data. Nothing was stored.
        """
        self._catch_up()
        q = self._current_replay().question
        if self._has_changed if question_id is None else question_id != self._question_id(q):
            raise self._stale_error()
        if q is None:
            raise SessionError(
                f"There is no question to answer ({self._current_replay().reason}). "
                "Volunteer pairs with add()."
            )
        checked = check_answer(answer, q.first, q.second)
        first, second = self._current_evidence().check(q.first, q.second, checked)
        try:
            self._write("answer", first=first, second=second, answer=checked)
        except WriteConflict:
            raise self._stale_error() from None

    @synchronized
    def look_ahead(self, answer: Answer | bool, *, stop: Callable[[], bool] = bool) -> bool:
        """Compute what would follow an answer to the present question, while the person still thinks.

        Nothing is stored or changed. If the person gives that answer, the next question comes sooner.

        Parameters
        ----------
        answer : {"yes", "no", "unsure"} or bool
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

    def import_csv(self, path: str | os.PathLike[str]) -> int:
        """Import the pairs of a file with the columns ``id_a,id_b,kind``; return their number.

        Parameters
        ----------
        path : path
            The file. Its ids are those of the session.

        Returns
        -------
        int
            The number of pairs.
        """
        return self.import_constraints(Constraints.read_csv(path, ids=self.ids), source=Path(path).name)

    @synchronized
    def carry_over(self, path: str | os.PathLike[str]) -> tuple[int, int]:
        """Import all answers of another session, by the ids of the rows.

        Parameters
        ----------
        path : path
            The file of the other session.

        Returns
        -------
        n_pairs : int
            Number of different pairs.
        n_left_out : int
            Number of answers that are left out because an id is not among the rows.

        Raises
        ------
        SessionError
            `path` is the file of this session.
        """
        if self._store.path is not None and Path(path).exists() and self._store.path.samefile(path):
            raise SessionError(f"{os.fspath(path)} is this session itself. Name another one.")
        with Session.open(path) as other:
            names, facts = other.ids, list(other.evidence)
        position = {name: row for row, name in enumerate(self.ids)}
        here = {row: position[name] for row, name in enumerate(names) if name in position}
        moved: dict[Answer, list[tuple[int, int]]] = {"yes": [], "no": [], "unsure": []}
        for first, second, answer in facts:
            if first in here and second in here:
                moved[answer].append((here[first], here[second]))
        unsure = tuple(Fact(i, j, "unsure") for i, j in dict.fromkeys(moved["unsure"]))
        taken = self._import(Constraints(self.n_rows, moved["yes"], moved["no"]), unsure, Path(path).name)
        return taken, len(facts) - sum(map(len, moved.values()))

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
        number = next((e.number for e in reversed(self._events) if e.kind != "name"), 0)
        return f"{number}:{question.first}-{question.second}"

    def _stale_error(self) -> StaleAnswerError:
        question = self.question
        if question is None:
            text = "The answer is not stored: there is no question any more. Volunteer pairs with add()."
        else:
            text = "The answer is not stored: the session asks another question now. Answer that one."
        return StaleAnswerError(text, question)
