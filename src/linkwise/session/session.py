"""The session: ask, answer, undo; nothing that was said is ever lost.

The state is the replay of the events in the store. An answer is a fact about a pair of rows: if
another learner, or the same one after an update, would have asked something else, the answer
still counts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.closure import chain_in_words
from linkwise.constraints import Constraints
from linkwise.errors import (
    ConstraintError,
    DataMismatchError,
    InfeasibleConstraintsError,
    SessionDamagedError,
    SessionError,
    StaleAnswerError,
)
from linkwise.evidence import Answer, Evidence, Fact
from linkwise.learner import Labels, Learner, Question, Run, checked_answer
from linkwise.pairs import KINDS, Kind
from linkwise.session.described import described, fingerprint, rebuilt, same_data, seed_of_learner
from linkwise.session.events import Event, holding, settled
from linkwise.session.store import Changed, Store

SNAPSHOT_ROWS = 50_000  # up to so many rows labels are kept after every answer, above only on close


@dataclass(frozen=True, slots=True)
class Status:
    """Where a session stands.

    Attributes
    ----------
    n_rows : int
    n_answers, n_yes, n_no, n_unsure : int
        Answers to questions that hold.
    n_volunteered, n_imported : int
        Pairs that were brought unasked.
    cluster_sizes : tuple of int
        Rows of each cluster, in order of cluster number.
    reason : str or None
        Why nothing is asked any more; None while there is a question.
    """

    n_rows: int
    n_answers: int
    n_yes: int
    n_no: int
    n_unsure: int
    n_volunteered: int
    n_imported: int
    cluster_sizes: tuple[int, ...]
    reason: str | None


class Session:
    """One person's or team's answers about one data set.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    learner : Learner
        What asks, for example ``COBRAS(random_state=0)``.
    ids : sequence of str, optional
        The id of every row, for files that are exported; positions are used without it.
    source : dict, optional
        Where the data came from; kept with the session, in JSON.

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
        learner: Learner,
        *,
        ids: Sequence[str] | None = None,
        source: dict[str, Any] | None = None,
    ) -> None:
        self._begin(Store.create(None, *_head(X, learner, ids, source)), X, learner)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        X: ArrayLike | None = None,
        learner: Learner | None = None,
        *,
        ids: Sequence[str] | None = None,
        source: dict[str, Any] | None = None,
    ) -> Self:
        """Open a session file, or begin one.

        Parameters
        ----------
        path : path
            Created if there is none; then X and learner are needed.
        X : array-like of shape (n_rows, n_features), optional
            The data that the session was made for. Without them nothing can be asked, but answers,
            constraints and the last labels can be read, and answers undone.
        learner : Learner, optional
            The stored one by default; another one takes over and keeps every answer.
        ids, source
            As for the class; when the file exists, `ids` must be those it was made with.
        """
        session = cls.__new__(cls)
        if Path(path).exists():
            store = Store.open(path)
        elif X is None or learner is None:
            raise FileNotFoundError(
                f"there is no session file {os.fspath(path)}; give X and a learner to begin one"
            )
        else:
            store = Store.create(path, *_head(X, learner, ids, source))
        try:
            if ids is not None and store.ids() != list(ids):
                raise DataMismatchError(
                    f"{os.fspath(path)} was made for rows with other ids; carry its answers over by id instead"
                )
            session._begin(store, X, learner)
        except BaseException:
            store.close()
            raise
        return session

    def _begin(self, store: Store, X: ArrayLike | None, learner: Learner | None) -> None:
        self._store = store
        self._meta = store.meta()
        self._ids = store.ids()
        self._X: NDArray[Any] | None = None
        self._run: Run | None = None
        self._prepared: Any = None
        self._labels_of = 0  # the event that `labels` take in; behind `_last` if interrupted in between
        self._reload()
        if X is None:
            return
        self._X = _as_data(X)
        if not same_data(self._meta["data"], fingerprint(self._X)):
            raise DataMismatchError(
                f"the session was made for other data ({_shape_in_words(self._meta['data'])}) than these "
                f"({_shape_in_words(fingerprint(self._X))}); open it with the file it was made for, or begin a "
                "new session and carry the answers over by id"
            )
        self._take_learner(learner)
        self._replay()

    def _take_learner(self, learner: Learner | None) -> None:
        stored = self._meta["learner"]
        if learner is None:
            learner = rebuilt(stored)
        elif described(learner) != stored:
            self._meta["learner"] = described(learner)
            self._meta["seed"] = seed_of_learner(learner, self._meta["seed"])
            self._store.put_meta({key: self._meta[key] for key in ("learner", "seed")})
        self._learner = learner
        self._prepared = learner.prepare(self._data, self._meta["seed"])

    # ------------------------------------------------------------ asking and answering
    @property
    def question(self) -> Question | None:
        """What is asked now; None when nothing is left to ask."""
        self._sync()
        return self._running.question

    @property
    def question_id(self) -> str | None:
        """A name for the present question, to say later which question an answer is about."""
        q = self.question
        return None if q is None else f"{self._last}:{q.first}-{q.second}"

    def answer(self, answer: Answer | bool, *, question_id: str | None = None) -> None:
        """Answer the present question; returns after the answer is safely stored.

        Parameters
        ----------
        answer : {"yes", "no", "unsure"} or bool
        question_id : str, optional
            Name of the question that the person saw, as given by `question_id`.

        Raises
        ------
        StaleAnswerError
            Another question is asked by now; the error holds it. Nothing was stored.
        """
        q = self._running.question
        if q is None:
            raise SessionError(
                f"nothing is asked any more ({self._running.reason}); volunteer pairs with add()"
            )
        said = checked_answer(answer, q.first, q.second)
        if question_id is not None and question_id != f"{self._last}:{q.first}-{q.second}":
            self._sync()
            raise self._stale()
        try:
            event = self._store.append(
                "answer", after=self._last, first=q.first, second=q.second, answer=said
            )
        except Changed:
            self._sync()
            raise self._stale() from None
        self._took(event)
        self._running.answer(said)
        self._labels_of = self._last
        self._keep_snapshot()

    def add(self, first: int, second: int, kind: Kind) -> None:
        """Volunteer a pair: ``"must-link"`` or ``"cannot-link"``.

        Raises
        ------
        InfeasibleConstraintsError
            It contradicts what is known; the error names the chain. Nothing was stored.
        """
        if kind not in KINDS:
            raise ConstraintError(f"kind {kind!r}; allowed are {' and '.join(KINDS)}")
        said: Answer = "yes" if kind == "must-link" else "no"
        self._sync()
        with _naming(self._ids):
            first, second = self._evidence.check(first, second, said)
        self._write("add", first=first, second=second, answer=said)

    def import_constraints(self, constraints: Constraints, *, source: str = "") -> int:
        """Take a whole set of constraints as one event; returns how many pairs it holds."""
        self._sync()
        with _naming(self._ids):
            self._evidence.check_constraints(constraints)
        facts = [Fact(i, j, "yes") for i, j in constraints.must_link.tolist()]
        facts += [Fact(i, j, "no") for i, j in constraints.cannot_link.tolist()]
        self._bring_in(facts, source)
        return len(facts)

    def import_csv(self, path: str | os.PathLike[str]) -> int:
        """Take the pairs of a file with the columns ``id_a,id_b,kind``; returns how many."""
        names = [str(i) for i in (self._ids or range(self.n_rows))]
        return self.import_constraints(Constraints.read_csv(path, ids=names), source=Path(path).name)

    def carry_over(self, path: str | os.PathLike[str]) -> tuple[int, int]:
        """Take all answers of another session by the ids of the rows.

        Returns
        -------
        tuple of int
            Pairs taken, and pairs left out because an id is not among the rows here.
        """
        with Session.open(path) as other:
            names = other.ids
            facts = [Fact(*fact) for fact in other._evidence]
        position = {name: row for row, name in enumerate(self.ids)}
        known = [f for f in facts if names[f.first] in position and names[f.second] in position]
        moved = [Fact(position[names[f.first]], position[names[f.second]], f.answer) for f in known]
        self._sync()
        trial = Evidence(self.n_rows)
        with _naming(self._ids):
            for fact in (*self._evidence, *moved):
                trial.add(*fact)
        self._bring_in(moved, Path(path).name)
        return len(moved), len(facts) - len(moved)

    def _bring_in(self, facts: list[Fact], source: str) -> None:
        """One event for all facts; none if there are none, or the same import holds already."""
        same = (e for e in holding(self._events) if e.source == source and e.facts == tuple(facts))
        if facts and next(same, None) is None:
            self._write("import", facts=facts, source=source)

    def undo(self) -> Event | None:
        """Take back the last thing that was said; returns it, or None when there is nothing."""
        self._sync()
        left = holding(self._events)
        if not left:
            return None
        self._write("undo", target=left[-1].number)
        return left[-1]

    def change(self, number: int, answer: Answer | bool) -> None:
        """Change an earlier answer or volunteered pair, by the number of its event in `history`.

        Raises
        ------
        InfeasibleConstraintsError
            The new answer contradicts other answers. Nothing was stored.
        """
        self._sync()
        event = next((e for e in settled(self._events) if e.number == number), None)
        if event is None or event.first is None or event.second is None:
            raise SessionError(f"event {number} is no answer that holds; history lists those that do")
        said = checked_answer(answer, event.first, event.second)
        changed = Event(self._last + 1, "change", "", answer=said, target=number)
        with _naming(self._ids):
            _evidence_of(self.n_rows, settled([*self._events, changed]))
        self._write("change", answer=said, target=number)

    # ------------------------------------------------------------ what there is
    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return int(self._meta["data"]["shape"][0])

    @property
    def ids(self) -> list[str]:
        """The id of every row; its position, as text, where none was given."""
        return list(self._ids) if self._ids is not None else [str(row) for row in range(self.n_rows)]

    @property
    def source(self) -> dict[str, Any]:
        """Where the data came from, as given when the session was made."""
        return dict(self._meta["source"])

    @property
    def learner(self) -> dict[str, Any]:
        """Name and parameters of what asks, as the file holds them."""
        return dict(self._meta["learner"])

    @property
    def labels(self) -> Labels:
        """The best clustering at this moment; without data, the last that was kept."""
        self._sync()
        if self._run is not None:
            return self._run.labels
        kept = self._store.snapshot()
        return np.zeros(self.n_rows, dtype=np.int32) if kept is None else kept[2]

    @property
    def labels_are_current(self) -> bool:
        """Whether `labels` take in every event; without data they may be older."""
        self._sync()
        kept = self._store.snapshot()
        return self._run is not None or (kept[0] if kept else 0) == self._last

    @property
    def evidence(self) -> Evidence:
        """All that is known, with what follows from it. To read, not to add to."""
        self._sync()
        return self._evidence

    @property
    def constraints(self) -> Constraints:
        """All yes and no answers, volunteered and imported pairs."""
        return self.evidence.to_constraints()

    @property
    def history(self) -> list[Event]:
        """What was answered, volunteered and imported and still holds, with its latest answer."""
        self._sync()
        return settled(self._events)

    @property
    def events(self) -> list[Event]:
        """Everything that ever happened, undone or not."""
        self._sync()
        return list(self._events)

    @property
    def status(self) -> Status:
        """Counts of answers, sizes of clusters, and whether asking has ended."""
        history = self.history
        answers = [e.answer for e in history if e.kind == "answer"]
        labels = self.labels
        kept = None if self._run is not None else self._store.snapshot()
        return Status(
            n_rows=self.n_rows,
            n_answers=len(answers),
            n_yes=answers.count("yes"),
            n_no=answers.count("no"),
            n_unsure=answers.count("unsure"),
            n_volunteered=sum(e.kind == "add" for e in history),
            n_imported=sum(len(e.facts) for e in history),
            cluster_sizes=tuple(np.bincount(labels - min(labels.min(initial=0), 0)).tolist()),
            reason=self._run.reason if self._run is not None else (kept[1] if kept else None),
        )

    # ------------------------------------------------------------ files
    def save(self, path: str | os.PathLike[str]) -> None:
        """Move a session from memory to a file; what comes later goes there too."""
        if self._store.path is not None:
            raise SessionError(f"the session lives in {self._store.path} already; use save_copy(path)")
        self.save_copy(path)
        self._store.close()
        self._store = Store.open(path)

    def save_copy(self, path: str | os.PathLike[str]) -> None:
        """Write a complete copy; the session goes on where it is."""
        self._keep_snapshot(always=True)
        self._store.copy_to(path)

    def close(self) -> None:
        """Keep the labels and let go of the file."""
        self._keep_snapshot(always=True)
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------ replay
    @property
    def _running(self) -> Run:
        if self._run is None:
            raise SessionError("the session was opened without its data; open it with Session.open(path, X)")
        return self._run

    @property
    def _data(self) -> NDArray[Any]:
        assert self._X is not None
        return self._X

    def _reload(self) -> None:
        self._events = self._store.events()
        self._last = self._events[-1].number if self._events else 0
        self._evidence = _evidence_of(self.n_rows, settled(self._events))

    def _replay(self) -> None:
        """Run the learner through everything that holds, in order."""
        run = Run(
            self._learner, self._data, Evidence(self.n_rows), self._meta["seed"], prepared=self._prepared
        )
        for event in settled(self._events):
            _tell(run, event)
        self._run, self._evidence, self._labels_of = run, run.evidence, self._last

    def _sync(self) -> None:
        """Take in what other clients have written."""
        if self._store.last() != self._last:
            self._reload()
            if self._run is not None:
                self._replay()

    def _write(self, kind: Any, **event: Any) -> None:
        try:
            written = self._store.append(kind, after=self._last, **event)
        except Changed:
            self._sync()
            raise SessionError(
                "another client changed the session at this moment; look again and repeat"
            ) from None
        self._took(written)
        if self._run is None:
            self._reload()
        elif kind in ("undo", "change"):
            self._replay()
        else:
            _tell(self._run, written)
            self._labels_of = self._last
        self._keep_snapshot()

    def _took(self, event: Event) -> None:
        self._events.append(event)
        self._last = event.number

    def _stale(self) -> StaleAnswerError:
        return StaleAnswerError(
            "another question is asked by now; the answer was not stored", self._running.question
        )

    def _keep_snapshot(self, *, always: bool = False) -> None:
        if self._run is not None and (always or self.n_rows <= SNAPSHOT_ROWS):
            self._store.put_snapshot(self._labels_of, self._run.reason, self._run.labels)


def _tell(run: Run, event: Event) -> None:
    """Let a learner's run know of one event."""
    if event.kind == "import":
        for fact in event.facts:
            run.evidence.add(*fact)
        run.refresh()
    else:
        fact = _fact(event)
        run.tell(*fact, asked=event.kind == "answer")


def _fact(event: Event) -> Fact:
    if event.first is None or event.second is None or event.answer is None:
        raise SessionDamagedError(
            f"event {event.number} of the session ({event.kind}) names no pair or no answer"
        )
    return Fact(event.first, event.second, event.answer)


def _evidence_of(n_rows: int, events: Sequence[Event]) -> Evidence:
    evidence = Evidence(n_rows)
    for event in events:
        for fact in event.facts if event.kind == "import" else (_fact(event),):
            evidence.add(*fact, asked=event.kind == "answer")
    return evidence


def _head(
    X: ArrayLike, learner: Learner, ids: Sequence[str] | None, source: dict[str, Any] | None
) -> tuple[dict[str, Any], list[str] | None]:
    """What a new session file says of itself."""
    data = _as_data(X)
    if ids is not None:
        ids = [str(i) for i in ids]
        if len(ids) != len(data) or len(set(ids)) != len(ids):
            raise ConstraintError(
                f"{len(ids)} ids, {len(set(ids))} of them different, for {len(data)} rows; give each row its own"
            )
    meta = {
        "data": fingerprint(data),
        "learner": described(learner),
        "seed": seed_of_learner(learner, None),
        "source": source or {},
    }
    return meta, None if ids is None else list(ids)


def _as_data(X: ArrayLike) -> NDArray[Any]:
    from sklearn.utils import check_array

    return np.asarray(check_array(X, dtype=[np.float64, np.float32], order="C"))


def _shape_in_words(data: dict[str, Any]) -> str:
    return f"{data['shape'][0]} rows, {data['shape'][1]} columns"


class _naming:  # reads as a statement: with _naming(ids)
    """Tell a contradiction by the ids that the person knows."""

    def __init__(self, ids: Sequence[str] | None) -> None:
        self.ids = ids

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, InfeasibleConstraintsError) and error.chain and self.ids is not None:
            words = chain_in_words(error.chain, self.ids.__getitem__)
            raise InfeasibleConstraintsError(
                f"this contradicts what is known: {words}; undo or change one of these answers", error.chain
            ) from None
