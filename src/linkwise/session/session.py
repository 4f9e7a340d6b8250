"""The session: ask, answer, undo; nothing that was said is ever lost.

The state is the replay of the events in the store. An answer is a fact about a pair of rows: if
another learner, or the same one after an update, would have asked something else, the answer
still counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from linkwise.asking.learner import Learner, Progress, Question, check_answer
from linkwise.constraints.checks import CONSTRAINT_KINDS, ConstraintKind, check_row
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.evidence import Answer, Fact
from linkwise.errors import ConstraintError, DataMismatchError, SessionError, StaleAnswerError
from linkwise.session.description import (
    checked_ids,
    described,
    difference_from,
    fingerprint,
    in_json,
    is_unicode,
    seed_of_learner,
)
from linkwise.session.events import Event, EventKind, evidence_of, holding, in_ids, names_of, settled
from linkwise.session.registry import build_learner
from linkwise.session.status import Status
from linkwise.session.store import Changed, Store
from linkwise.session.view import SessionView, alone
from linkwise.validation import check_rows

__all__ = ["Session", "Status"]

USUAL = {"name": "KIN", "parameters": {"random_state": 0}}  # what asks where no learner is named
SNAPSHOT_ROWS = 50_000  # up to so many rows labels are kept after every answer, above only on close


class Session(SessionView):
    """One person's or team's answers about one data set.

    Threads may share a session: each call waits for the one before. Processes open the file each for
    itself: what one of them stores, the others see at their next call.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    learner : Learner, optional
        What asks, for example ``COBRAS(random_state=0)``; None: ``KIN(random_state=0)``.
    ids : sequence of str, optional
        The id of every row, for files that are exported; positions are used without it.
    source : dict, optional
        Where the data came from; kept with the session, in JSON.
    progress : callable, optional
        ``progress(made, planned)`` while the learner prepares, where it tells. What it raises ends the
        work, and nothing is stored.

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
            raise TypeError(f"source is a {type(source).__name__}; give a dict")
        learner = build_learner(USUAL) if learner is None else learner
        meta = {
            "data": fingerprint(rows),
            "learner": described(learner),
            "seed": seed_of_learner(learner),
            "source": in_json(source or {}, "source"),
        }
        self._begin(Store.new(meta, checked_ids(ids, len(rows))))
        self._ask_by(learner, rows, progress)

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
            Created if there is none; then X and learner are needed.
        X : array-like of shape (n_rows, n_features), optional
            The data that the session was made for, up to their last bits. Without them
            nothing can be asked, but answers, constraints and the last labels can be read, and answers
            undone.
        learner : Learner, optional
            The stored one by default; another one takes over and keeps every answer.
        ids : sequence of str, optional
            As for the class; when the file exists, those it was made with.
        source : dict, optional
            As for the class; when the file exists, what it holds stays.
        progress : callable, optional
            As for the class.

        Raises
        ------
        DataMismatchError
            X or the ids are not those that the session was made for.
        SessionDamagedError
            The file is no session, or is broken.
        SessionLockedError
            Another process is writing and did not let go in time.
        """
        if not Path(path).exists():
            if X is None or learner is None:
                raise FileNotFoundError(
                    f"there is no session file {os.fspath(path)}; give X and a learner to begin one"
                )
            session = cls(X, learner, ids=ids, source=source, progress=progress)
            try:
                session.save(path)
                return session
            except SessionError:
                if not Path(path).exists():
                    raise
                session.close()  # another client has just begun the same file: open that
        session = cls.__new__(cls)
        store = Store.open(path)
        try:
            session._begin(store)
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
                f"{path} was made for rows with other ids; carry its answers over by id instead"
            )
        if X is None:
            if learner is not None:
                raise SessionError("a learner needs the data; open it with Session.open(path, X, learner)")
            return
        rows = check_rows(X)
        unlike = difference_from(self._meta["data"], rows)
        if unlike is not None:
            raise DataMismatchError(
                f"{path} was made for other data ({unlike}); open it with those it was made for, or begin a "
                "new session and carry the answers over by id"
            )
        asking = build_learner(stored, rows.shape[1]) if learner is None else learner
        self._ask_by(asking, rows, progress)
        if learner is not None and described(learner) != stored:  # after it was seen to work
            self._meta["learner"] = described(learner)
            self._store.put_meta({"learner": self._meta["learner"]})
            self._keep_snapshot()

    # ------------------------------------------------------------ asking and answering
    @property
    @alone
    def question(self) -> Question | None:
        """What is asked now; None when nothing is left to ask."""
        self._catch_up()
        question = self._asking().question
        self._moved = False
        return question

    @property
    @alone
    def question_id(self) -> str | None:
        """A name for the present question, to say later which question an answer is about."""
        return self._name_of(self.question)

    @alone
    def answer(self, answer: Answer | bool, *, question_id: str | None = None) -> None:
        """Answer the present question; returns after the answer is safely stored.

        Parameters
        ----------
        answer : {"yes", "no", "unsure"} or bool
        question_id : str, optional
            Name of the question that the person saw, as given by `question_id`. Without it, the answer
            is refused if another client wrote anything since this one last read `question`.

        Raises
        ------
        StaleAnswerError
            Another question is asked by now; the error holds it. Nothing was stored.
        """
        self._catch_up()
        q = self._asking().question
        if self._moved if question_id is None else question_id != self._name_of(q):
            raise self._stale()
        if q is None:
            raise SessionError(
                f"nothing is asked any more ({self._asking().reason}); volunteer pairs with add()"
            )
        said = check_answer(answer, q.first, q.second)
        first, second = self._known().check(q.first, q.second, said)
        try:
            self._write("answer", first=first, second=second, answer=said)
        except Changed:
            raise self._stale() from None

    @alone
    def look_ahead(self, answer: Answer | bool, *, stop: Callable[[], bool] = bool) -> bool:
        """Work out now what would follow an answer to the present question, while the person still thinks.

        Nothing is stored and nothing changes; if that answer is given, the next question comes sooner.

        Parameters
        ----------
        answer : {"yes", "no", "unsure"} or bool
        stop : callable, optional
            Asked now and then; the work ends when it says True.

        Returns
        -------
        bool
            Whether the work came to its end.
        """
        self._catch_up()
        replay = self._asking()
        q = replay.question
        return q is not None and replay.foresee(check_answer(answer, q.first, q.second), stop)

    @alone
    def add(self, first: int, second: int, kind: ConstraintKind) -> None:
        """Volunteer a pair: ``"must-link"`` or ``"cannot-link"``.

        Raises
        ------
        InfeasibleConstraintsError
            It contradicts what is known; the error names the chain. Nothing was stored.
        """
        if kind not in CONSTRAINT_KINDS:
            raise ConstraintError(f"kind {kind!r}; allowed are {' and '.join(CONSTRAINT_KINDS)}")
        said: Answer = "yes" if kind == "must-link" else "no"

        def pair() -> dict[str, Any]:
            i, j = self._known().check(first, second, said)
            return {"first": i, "second": j, "answer": said}

        self._write_checked("add", pair)

    @alone
    def import_constraints(self, constraints: Constraints, *, source: str = "") -> int:
        """Take a whole set of constraints as one event, without their weights; returns how many pairs.

        Raises
        ------
        InfeasibleConstraintsError
            They contradict what is known; the error names the chain. Nothing was stored.
        """
        if not isinstance(constraints, Constraints):
            raise TypeError(
                f"constraints is a {type(constraints).__name__}; "
                "build it with linkwise.Constraints(n_rows, must_link=[...], cannot_link=[...])"
            )
        return self._bring_in(constraints, (), source)

    def import_csv(self, path: str | os.PathLike[str]) -> int:
        """Take the pairs of a file with the columns ``id_a,id_b,kind``; returns how many."""
        return self.import_constraints(Constraints.read_csv(path, ids=self.ids), source=Path(path).name)

    @alone
    def carry_over(self, path: str | os.PathLike[str]) -> tuple[int, int]:
        """Take all answers of another session by the ids of the rows.

        Returns
        -------
        tuple of int
            Different pairs that hold here now, and answers left out because an id is not among the rows.
        """
        if self._store.path is not None and Path(path).exists() and self._store.path.samefile(path):
            raise SessionError(f"{os.fspath(path)} is this session itself; name another one")
        with Session.open(path) as other:
            names, facts = other.ids, list(other.evidence)
        position = {name: row for row, name in enumerate(self.ids)}
        here = {row: position[name] for row, name in enumerate(names) if name in position}
        moved: dict[Answer, list[tuple[int, int]]] = {"yes": [], "no": [], "unsure": []}
        for first, second, said in facts:
            if first in here and second in here:
                moved[said].append((here[first], here[second]))
        doubts = tuple(Fact(i, j, "unsure") for i, j in dict.fromkeys(moved["unsure"]))
        taken = self._bring_in(Constraints(self.n_rows, moved["yes"], moved["no"]), doubts, Path(path).name)
        return taken, len(facts) - sum(map(len, moved.values()))

    def _bring_in(self, constraints: Constraints, doubts: tuple[Fact, ...], source: str) -> int:
        """One event for all pairs, none if all of them were said before; how many pairs there are."""
        facts = (
            *(Fact(i, j, "yes") for i, j in constraints.must_link.tolist()),
            *(Fact(i, j, "no") for i, j in constraints.cannot_link.tolist()),
            *doubts,
        )

        def pairs() -> dict[str, Any] | None:
            known = self._known()
            known.check_constraints(constraints)
            said = {(*sorted(fact[:2]), fact.answer) for fact in known}
            new = any((*sorted(fact[:2]), fact.answer) not in said for fact in facts)
            # the name of a file may be no Unicode
            text = source.encode(errors="backslashreplace").decode()
            return {"facts": facts, "source": text} if new else None

        self._write_checked("import", pairs)
        return len(facts)

    @alone
    def set_done(self, row: int) -> int:
        """Say of the cluster of a row that all its rows belong together: nothing is asked inside it then.

        What is said is said of the rows that are in it now. Taken back by `undo`.

        Parameters
        ----------
        row : int
            Any row of the cluster.

        Returns
        -------
        int
            Rows of the cluster.
        """
        members: list[int] = []

        def pairs() -> dict[str, Any] | None:
            kept, current = self._clustering()
            if not current:
                raise SessionError("the clusters are older than the answers; open the session with its data")
            lead, known = self._row(row), self._known()
            members[:] = np.flatnonzero(kept.labels == kept.labels[lead]).tolist()
            facts = tuple(
                Fact(lead, other, "yes") for other in members if known.verdict(lead, other) != "yes"
            )
            return {"first": lead, "facts": facts} if facts else None

        self._write_checked("done", pairs)
        return len(members)

    @alone
    def set_name(self, row: int, name: str) -> None:
        """Name the cluster of a row; the name stays with that row. An empty name takes it away."""
        if not isinstance(name, str):
            raise TypeError(f"the name is a {type(name).__name__}; give text")
        if not is_unicode(name):
            raise SessionError(
                f"The name {name!a} is not valid Unicode: it holds half a character. Type it again."
            )
        text = " ".join(name.split())

        def named() -> dict[str, Any] | None:
            lead, names = self._row(row), names_of(self._events)
            latest = names.get(lead, "") == text and next(reversed(names), lead) == lead
            return None if latest else {"first": lead, "source": text}

        self._write_checked("name", named)

    @alone
    def undo(self, number: int | None = None) -> Event | None:
        """Take back what was said last, or an earlier event by its number in `history`.

        Returns
        -------
        Event or None
            What was taken back; None when there is nothing.
        """
        self._catch_up()
        left = holding(self._events)
        if number is not None:  # of changes the last thing said alone: others may rest on it
            left = [e for e in left if e.number == number and e.kind != "change"]
            if not left:
                raise SessionError(f"event {number} is nothing that holds; history lists what does")
        if not left:
            return None
        try:
            self._write("undo", target=left[-1].number)
        except Changed:
            raise SessionError(
                "another client changed the session at this moment; look again and repeat"
            ) from None
        return left[-1]

    @alone
    def change(self, number: int, answer: Answer | bool) -> None:
        """Change an earlier answer or volunteered pair, by the number of its event in `history`.

        Raises
        ------
        InfeasibleConstraintsError
            The new answer contradicts other answers. Nothing was stored.
        """

        def changed() -> dict[str, Any] | None:
            left = settled(self._events)
            event = next((e for e in left if e.number == number), None)
            if event is None or event.first is None or event.second is None:
                raise SessionError(f"event {number} is no answer that holds; history lists those that do")
            said = check_answer(answer, event.first, event.second)
            others = evidence_of(self.n_rows, [e for e in left if e is not event])
            others.check(event.first, event.second, said)
            return None if said == event.answer else {"answer": said, "target": number}

        self._write_checked("change", changed)

    # ------------------------------------------------------------ files
    @alone
    def save(self, path: str | os.PathLike[str]) -> None:
        """Move a session from memory to a file; what comes later goes there too."""
        if self._store.path is not None:
            raise SessionError(f"the session lives in {self._store.path} already; use save_copy(path)")
        self.save_copy(path)
        memory, self._store = self._store, Store.open(path)
        self._version = -1  # others may write from now on
        memory.close()

    @alone
    def save_copy(self, path: str | os.PathLike[str]) -> None:
        """Write a complete copy; the session goes on where it is."""
        self._keep_snapshot(always=True)
        self._store.copy_to(path)

    @alone
    def close(self) -> None:
        """Keep the labels and let go of the file; a second time does nothing."""
        try:
            self._keep_snapshot(always=True)
        finally:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------ writing
    def _row(self, row: int) -> int:
        """A row that exists, as a plain integer."""
        return check_row(row, self.n_rows)

    def _name_of(self, question: Question | None) -> str | None:
        if question is None:
            return None
        said = next((e.number for e in reversed(self._events) if e.kind != "name"), 0)
        return f"{said}:{question.first}-{question.second}"

    def _stale(self) -> StaleAnswerError:
        question = self.question
        what = "nothing is asked any more" if question is None else "another question is asked by now"
        return StaleAnswerError(f"{what}; the answer was not stored", question)

    def _write(self, kind: EventKind, **event: Any) -> None:
        """Store an event, then let the learner know."""
        self._events.append(self._store.append(kind, after=self._last, **event))
        if self._replay is not None:
            self._asking()
            self._keep_snapshot()

    def _write_checked(self, kind: EventKind, fields: Callable[[], dict[str, Any] | None]) -> None:
        """Store what is true whatever others say at this moment; if they were first it is checked again."""
        while True:
            self._catch_up()
            with in_ids(self._ids):
                event = fields()
            with suppress(Changed):
                return None if event is None else self._write(kind, **event)

    def _keep_snapshot(self, *, always: bool = False) -> None:
        """Keep the labels, for reading without data; where that fails now, a later time will do."""
        if self._replay is not None and (always or self.n_rows <= SNAPSHOT_ROWS):
            with suppress(SessionError):
                self._store.put_snapshot(self._replay.snapshot())
