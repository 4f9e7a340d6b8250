"""The session: ask, answer and undo, with every answer stored at once.

The state of a session is the replay of the events in its journal. An answer is a fact about a pair of rows:
it counts even if another learner, or a newer version of the same one, would have asked another question.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NoReturn, Self

from numpy.typing import ArrayLike, NDArray

from linkwise.constraints.error_rates import AssumedRate
from linkwise.data.sources import take_rows
from linkwise.errors import SessionError
from linkwise.learn.learner import Learner
from linkwise.markup import draw_block
from linkwise.session.changes import Changes
from linkwise.session.data import SessionData, describe_rows
from linkwise.session.delegation import ReadPart, call_part
from linkwise.session.journal.description import check_ids, check_items, describe_session
from linkwise.session.journal.events import check_rates
from linkwise.session.journal.journal import Journal
from linkwise.session.journal.registry import build_learner
from linkwise.session.journal.store import Store
from linkwise.session.recorder import Recorder
from linkwise.session.snapshot import Snapshots
from linkwise.session.state.event_lists import begin_settings
from linkwise.session.state.session_state import SessionState
from linkwise.session.state.status import Status
from linkwise.session.team.leases import OpenQuestion, Screen
from linkwise.session.team.questionnaire import Questionnaire
from linkwise.session.team.sets import Screens
from linkwise.session.team.team import Team
from linkwise.session.transfer import Transfer
from linkwise.types import Labels, Progress
from linkwise.validation import check_rows

__all__ = ["OpenQuestion", "Screen", "Session", "Status"]

DEFAULT_LEARNER = {"name": "KIN", "parameters": {"random_state": 0}}
LINKER = {"name": "RecordLinkage", "parameters": {"random_state": 0}}  # for records of the same things


class Session:
    """The answers of one person or one team about one data set.

    Threads may share a session: each call waits until the previous one returns. Each process opens the file
    for itself: what one of them stores, the others see at their next call.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features), DataFrame of pandas, polars or pyarrow, or Rows
        The data, or what `linkwise.read` returns. An array, and a frame of numbers alone without `id`, is
        taken as it is, and nothing is scaled. `linkwise.read` reads any other frame. Session files keep a
        fingerprint of the data, not the values, and how a frame is read.
    learner : Learner, optional
        The learner that chooses the questions, for example ``COBRAS(random_state=0)``;
        by default ``KIN(random_state=0)``, or ``RecordLinkage(random_state=0)`` where `linkwise.read` finds
        that many rows are records of the same things.
    id : str, optional
        The column of a frame that names the rows, or the name of its index.
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
        compared nor stored. By default all columns of X.
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
        id: str | None = None,
        ids: Sequence[object] | None = None,
        source: dict[str, Any] | None = None,
        error_rate: AssumedRate = 0,
        items: Any = None,
        progress: Progress | None = None,
    ) -> None:
        if source is not None and not isinstance(source, dict):
            raise TypeError(f"source is a {type(source).__name__}. Pass a dict.")
        if (read := take_rows(X, id=id)) is not None:
            X, source = read.X, describe_rows(read, source)
            ids, items = read.ids if ids is None else ids, read if items is None else items
        rows, rate = check_rows(X), check_rates(error_rate)
        check_items(items, len(rows))
        table = None if read is None else read.table
        if learner is None:
            learner = build_learner(LINKER if table is not None and table.has_copies else DEFAULT_LEARNER)
        meta = describe_session(rows, learner, source or {}, rate)
        self._load(Store.new(meta, check_ids(ids, len(rows))))
        self._data.items = items
        self._state.start(learner, rows, begin_settings(meta), progress, table)

    def _load(self, store: Store) -> None:
        """Read the events of a store, and begin all parts."""
        self._lock = threading.RLock()
        self._journal = journal = Journal(store)
        self._state = state = SessionState(journal)
        self._recorder = Recorder(journal, state)
        self._team = Team(journal, state, self._recorder)
        self._questions, self._screens = self._team.questions, self._team.screens
        self._changes = Changes(journal, state, self._recorder, self._screens)
        self._transfer = Transfer(journal, state, self._recorder, self._changes)
        self._snapshots = Snapshots(journal, state, self._questions)
        self._data = SessionData(journal, state, self._recorder, self._questions, self._snapshots)

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
        id: str | None = None,
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
        X : array-like of shape (n_rows, n_features), DataFrame or Rows, optional
            The data that the session was begun with, up to rounding. A frame is read as it was then. Without
            data the session asks nothing,
            but you can read its answers, constraints and last labels, and undo answers.
        learner : Learner, optional
            By default the stored one. Another learner takes over and keeps every answer.
        id : str, optional
            As for the class; needed only to begin a session.
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
            session = cls(
                X, learner, id=id, ids=ids, source=source, error_rate=rate, items=items, progress=progress
            )
            try:
                session.save(path)
                return session
            except SessionError:
                if not Path(path).exists():
                    raise
                session.close()  # another client has just begun the same file: open it
        session, store = cls.__new__(cls), Store.open(path)
        try:
            session._load(store)
            if (read := session._data.take_rows(X, id)) is not None:
                X, ids, items = read.X, read.ids if ids is None else ids, read if items is None else items
                if recode:
                    source = describe_rows(read, source, session.source)
            table = None if read is None else read.table
            kept = (session._journal.ids, store.clustering()) if recode else (None, None)
            moved = session._data.move_rows(X, ids, source) if recode else {}
            if items is None or items is not read:  # other rows than before are refused with the data
                check_items(items, session.n_rows)
            session._data.items = items
            session._data.resume(X, learner, ids, progress, error_rate, moved, backup, kept, table)
        except BaseException:
            store.close()
            raise
        return session

    # ------------------------------------------------------------ data; these need not wait for other threads
    @property
    def X(self) -> NDArray[Any] | None:
        """The data, of shape (n_rows, n_features); None if the session was opened without them."""
        return None if self._state.replay is None else self._state.replay.X

    @property
    def path(self) -> Path | None:
        """Path of the session file; None while the session is in memory only."""
        return self._journal.store.path

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return self._journal.n_rows

    @property
    def ids(self) -> list[str]:
        """The id of every row; its position, as text, if no ids were given."""
        return self._journal.names

    @property
    def has_ids(self) -> bool:
        """Whether ids were given; without them positions identify the rows."""
        return self._journal.ids is not None

    @property
    def items(self) -> Any:
        """The items that a person sees, one for each row, as they were given; None for the columns of X."""
        return self._data.items

    @property
    def source(self) -> dict[str, Any]:
        """Where the data come from, as given when the session was begun."""
        return dict(self._journal.meta["source"])

    @property
    def is_read_only(self) -> bool:
        """Whether the file of the session can only be read, as of the time when it was opened."""
        return self._journal.store.is_read_only

    find_difference = call_part("_data", SessionData.find_difference)
    recode = call_part("_data", SessionData.recode)
    join = call_part("_data", SessionData.join)
    golden = call_part("_data", SessionData.golden)
    cluster_columns = call_part("_data", SessionData.cluster_columns)
    propose_columns = call_part("_data", SessionData.propose_columns)
    find_predictors = call_part("_data", SessionData.find_predictors)

    # ------------------------------------------------------------ asking and answering
    question = ReadPart("_questions", Questionnaire.question)
    question_id = ReadPart("_questions", Questionnaire.question_id)
    answer = call_part("_questions", Questionnaire.answer)
    look_ahead = call_part("_state", SessionState.look_ahead)
    questions = call_part("_questions", Questionnaire.questions)
    sets = call_part("_screens", Screens.sets)
    sort = call_part("_screens", Screens.sort)
    gathers = ReadPart("_screens", Screens.gathers)
    postpone = call_part("_questions", Questionnaire.postpone)
    list_postponed = call_part("_questions", Questionnaire.list_postponed)
    release = call_part("_questions", Questionnaire.release)

    # ------------------------------------------------------------ what follows from the events
    snapshot = ReadPart("_snapshots", Snapshots.show)
    labels = ReadPart("_snapshots", Snapshots.labels)
    labels_are_current = ReadPart("_snapshots", Snapshots.labels_are_current)
    confidence = ReadPart("_snapshots", Snapshots.confidence)
    cluster_names = ReadPart("_snapshots", Snapshots.cluster_names)
    cluster_shades = ReadPart("_snapshots", Snapshots.cluster_shades)
    status = ReadPart("_snapshots", Snapshots.status)
    names = ReadPart("_state", SessionState.names)
    history = ReadPart("_state", SessionState.history)
    events = ReadPart("_state", SessionState.events)
    remaining_events = ReadPart("_state", SessionState.remaining_events)
    constraints = ReadPart("_state", SessionState.constraints)
    evidence = ReadPart("_state", SessionState.evidence)
    representatives = ReadPart("_state", SessionState.representatives)
    column_shares = ReadPart("_state", SessionState.column_shares)
    column_effects = ReadPart("_state", SessionState.column_effects)
    why = call_part("_state", SessionState.why)
    list_doubts = call_part("_state", SessionState.list_doubts)
    explain_pair = call_part("_state", SessionState.explain_pair)
    guidelines = ReadPart("_state", SessionState.guidelines)
    examples = ReadPart("_state", SessionState.examples)
    learner = ReadPart("_state", SessionState.learner)
    costs = ReadPart("_state", SessionState.costs)

    # ------------------------------------------------------------ answers that may be wrong
    error_rate = ReadPart("_state", SessionState.error_rate)
    error_rates = ReadPart("_state", SessionState.error_rates)
    assumed_error_rate = ReadPart("_state", SessionState.read_assumed_rate)
    suspects = ReadPart("_state", SessionState.suspects)

    # ------------------------------------------------------------ what people say beside answers
    add = call_part("_changes", Changes.add)
    import_constraints = call_part("_changes", Changes.import_constraints)
    import_csv = call_part("_changes", Changes.import_csv)
    move = call_part("_changes", Changes.move)
    set_done = call_part("_changes", Changes.set_done)
    set_name = call_part("_changes", Changes.set_name)
    add_cost = call_part("_changes", Changes.add_cost)
    undo = call_part("_changes", Changes.undo)
    change = call_part("_changes", Changes.change)
    flip = call_part("_changes", Changes.flip)
    set_sure = call_part("_changes", Changes.set_sure)
    note = call_part("_changes", Changes.note)
    set_guidelines = call_part("_changes", Changes.set_guidelines)
    set_examples = call_part("_changes", Changes.set_examples)
    add_example = call_part("_changes", Changes.add_example)
    remove_example = call_part("_changes", Changes.remove_example)

    # ------------------------------------------------------------ people and other sessions
    agreement = call_part("_team", Team.agreement)
    audit = call_part("_team", Team.audit)
    audit_report = call_part("_team", Team.audit_report)
    review = call_part("_team", Team.review)
    recheck = call_part("_team", Team.recheck)
    decide = call_part("_team", Team.decide)
    carry_over = call_part("_transfer", Transfer.carry_over)
    combine = call_part("_transfer", Transfer.combine)

    # ------------------------------------------------------------ the file
    save = call_part("_recorder", Recorder.save)
    save_copy = call_part("_recorder", Recorder.save_copy)
    close = call_part("_recorder", Recorder.close)

    def call_after_close(self, callback: Callable[[], object]) -> None:
        """Call a function once the file is closed, such as one that frees what the session used.

        Parameters
        ----------
        callback : callable
            Takes no arguments.
        """
        self._journal.store.call_after_close(callback)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def replay_labels(self) -> Iterator[tuple[int, Labels]]:
        """Replay how the clustering came about: the labels after each event that counts, in order.

        Events before the first answer count as known from the start. Each step takes as long as the answer
        took, less what the learner remembers; other threads can work between two steps.

        Yields
        ------
        number : int
            Number of the event; 0 is the start.
        labels : ndarray of shape (n_rows,)
        """
        with self._lock:
            steps = self._state.steps()
        while True:
            with self._lock:
                step = next(steps, None)
            if step is None:
                return
            yield step

    def __repr__(self) -> str:
        with self._lock:
            if self._journal.store.is_closed:
                return "<Session: closed>"
            try:
                return f"<Session: {self._snapshots.describe()}>"
            except SessionError as error:
                return f"<Session: {error}>"

    def _repr_html_(self) -> str:
        with self._lock:
            if self._journal.store.is_closed:
                return draw_block("A session that is closed", ["Open it again with Session.open(path, X)."])
            return self._snapshots.take()._repr_html_()  # which shows no question
