"""The reading half of a session: answers, labels, status and reasons, as one client sees them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.cluster.metric.column_choice import ColumnProposal, propose_columns
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.error_rates import AssumedRate, ErrorRates
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.fallible import FallibleEvidence, make_evidence
from linkwise.data.joining import ClusterColumns, check_order, find_rows, join_frame
from linkwise.errors import SessionDamagedError, SessionError
from linkwise.learn.batches import Expectation
from linkwise.learn.item_labels import ItemLabels
from linkwise.learn.learner import Learner
from linkwise.markup import draw_block
from linkwise.reasons.explanation import Explanation
from linkwise.reasons.why import Why, why
from linkwise.session.journal.description import data_difference, seed_of_learner
from linkwise.session.journal.events import Event
from linkwise.session.journal.registry import build_learner
from linkwise.session.journal.store import Store
from linkwise.session.journal.stored_clustering import Doubts, ErrorRate, StoredClustering
from linkwise.session.state.colours import N_FAMILIES
from linkwise.session.state.event_facts import (
    add_event,
    certain_evidence_of,
    evidence_of,
    find_last_start,
    is_aside,
    names_of,
)
from linkwise.session.state.event_lists import EventLists
from linkwise.session.state.replay import Replay
from linkwise.session.state.settings import Settings, begin_settings
from linkwise.session.state.status import Status, build_status, describe_status
from linkwise.session.state.suspects import RecalledEvidence, SuspectAnswer, explain_suspects, find_doubts
from linkwise.session.team.leases import Leases
from linkwise.session.team.review import ReviewCase
from linkwise.types import Labels, Progress
from linkwise.validation import check_rows
from linkwise.wording import count_noun

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V", bound="SessionView")
OLDER_LABELS = "The clusters are older than the last change. Session.open(path, X) brings them up to date."


def synchronized(method: Callable[Concatenate[V, P], T]) -> Callable[Concatenate[V, P], T]:
    """Let one thread at a time run a method; the others wait."""

    @wraps(method)
    def guarded(self: V, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            return method(self, *args, **kwargs)

    return guarded


class SessionView:
    """The reading half of `linkwise.Session`: its events, its evidence and the state of the learner."""

    def _load(self, store: Store) -> None:
        self._lock = threading.RLock()
        self._store = store
        self._version = store.version()
        self._meta = store.meta()
        self._ids = store.ids()
        self._events = store.events()
        self._replay: Replay | None = None  # without data there is none
        self._leases = Leases(n_moves=self._meta.get("moves", 0))
        self._followed: tuple[dict[str, Any], AssumedRate] = ({}, 0)  # the learner and the rate of the replay
        self._items: Any = None  # what a person sees of each row, as it was given
        self._unmet: tuple[int, int, tuple[str, ...]] | None = None  # the last request that got no question
        self._has_changed = False  # whether another client wrote since the question was last read
        self._forget_derived()
        self._current_evidence()  # so that a damaged file is noticed here

    def _forget_derived(self) -> None:
        """Forget all that follows from the events."""
        self._evidence: tuple[int, Evidence] | None = None  # as of an event; used without a replay
        self._doubts: tuple[int, Doubts | None] | None = None  # the same
        self._cases: tuple[int, list[ReviewCase]] | None = None  # as of an event
        self._lists = EventLists(begin_settings(self._meta))
        self._checking: tuple[int, int, Evidence] | None = None  # rebuilds, settled events, what they give
        self._kept: tuple[int, set[frozenset[int]], list[Expectation]] = (-1, set(), [])  # see `_choose_open`

    def _start_learner(
        self, learner: Learner, rows: NDArray[Any], settings: Settings, progress: Progress | None = None
    ) -> None:
        if hasattr(learner, "_validate_params"):  # a scikit-learn estimator checks its own parameters
            learner._validate_params()
        seed = seed_of_learner(learner, self._meta["seed"])
        meta = self._meta
        numbers, known = meta.get("numbers", ()), meta.get("known", 0)
        replay = Replay(learner, rows, seed, progress, settings.error_rate, numbers, known)
        replay.follow(self._ordered_events(), self._last_number)
        self._replay = replay  # only after it has started
        self._followed = settings.learner, settings.error_rate

    @property
    def X(self) -> NDArray[Any] | None:
        """The data, of shape (n_rows, n_features); None if the session was opened without them."""
        return None if self._replay is None else self._replay.X

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return int(self._meta["data"]["shape"][0])

    @property
    def ids(self) -> list[str]:
        """The id of every row; its position, as text, if no ids were given."""
        return list(self._ids) if self._ids is not None else [str(row) for row in range(self.n_rows)]

    @property
    def has_ids(self) -> bool:
        """Whether ids were given; without them positions identify the rows."""
        return self._ids is not None

    @property
    def is_read_only(self) -> bool:
        """Whether the file of the session can only be read, as of the time when it was opened."""
        return self._store.is_read_only

    @property
    def items(self) -> Any:
        """The items that a person sees, one for each row, as they were given; None for the columns of X."""
        return self._items

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
        return data_difference(self._meta["data"], check_rows(X))

    @property
    def source(self) -> dict[str, Any]:
        """Where the data come from, as given when the session was begun."""
        return dict(self._meta["source"])

    @property
    @synchronized
    def guidelines(self) -> str:
        """What "belong together" means here, for everybody who answers; empty if nobody wrote it down."""
        self._catch_up()
        return self._settings().guidelines

    @property
    @synchronized
    def learner(self) -> dict[str, Any]:
        """Name and parameters of the learner, as the file holds them."""
        self._catch_up()
        return dict(self._settings().learner)

    @property
    def labels(self) -> Labels:
        """The best clustering at this moment; without data, the last one that was stored, or one cluster.

        A cluster keeps its number as long as it keeps most of its rows, and a new cluster gets a number that
        none had before. The page, the terminal and all exports show these numbers, which may have gaps. They
        depend only on the events that count: they are the same when the session is opened again, and after an
        undo they are as before. Noise is -1.
        """
        shown = self._clustering()[0].shown
        return shown.of_rows() if isinstance(shown, ItemLabels) else shown.copy()

    @property
    def labels_are_current(self) -> bool:
        """Whether `labels` follow from every event; without data they may be older."""
        return self._clustering()[1]

    @property
    @synchronized
    def evidence(self) -> Evidence:
        """All constraints of the session, with what follows from them.

        Only read it, add nothing to it, and only while no other thread answers: it grows with the session.
        """
        self._catch_up_belief()
        return self._current_evidence()

    @property
    @synchronized
    def error_rate(self) -> ErrorRate | None:
        """The estimated share of wrong answers with its 95 % interval, as `status` and the page show it.

        It is the rate of all sources in `error_rates`, unless linkwise doubts far more answers than
        contradict each other: then it follows from the contradictions alone. A share that was given when the
        session was opened has no interval: all three numbers are that share, or 0 if the session takes all
        answers as right. None before the first answer if the share is estimated.
        """
        self._catch_up_belief()
        doubts = self._current_doubts()
        return ErrorRate(0.0, 0.0, 0.0) if doubts is None else doubts.error_rate

    @property
    @synchronized
    def assumed_error_rate(self) -> AssumedRate:
        """The `error_rate` that the session was opened with; None if it is estimated."""
        self._catch_up()
        return self._error_rate

    @property
    @synchronized
    def error_rates(self) -> ErrorRates:
        """The estimated share of wrong answers of each source, and of all sources together.

        All are 0 if the session treats every answer as correct.
        """
        self._catch_up_belief()
        return self._current_evidence().error_rates()

    @property
    @synchronized
    def suspects(self) -> list[SuspectAnswer]:
        """The answers that are probably wrong, the most probable ones first.

        Empty if the session treats every answer as correct. Without the data, and after an event that was
        stored without them, the list follows from the answers alone.
        """
        self._catch_up_belief()
        doubts = self._current_doubts()
        if doubts is None:
            return []
        return explain_suspects(self._current_evidence(), self._settled_events(), doubts)

    @synchronized
    def why(self, first: int, second: int, *, explanation: Explanation | None = None) -> Why:
        """Explain why two rows are together or apart in the present clustering.

        Parameters
        ----------
        first, second : int
            Two different rows.
        explanation : Explanation, optional
            Rules for the present labels, as ``explain(session.labels, X)`` returns them.

        Returns
        -------
        Why
            Without the data it holds only the answers about the two rows themselves, and the rules.
        """
        labels, lead = self._clustering()[0].labels, self.representatives
        return why(
            labels,
            first,
            second,
            constraints=self._current_evidence(),
            representatives=lead,
            explanation=explanation,
        )

    @property
    @synchronized
    def representatives(self) -> NDArray[np.int64] | None:
        """The representative of each row, for learners that treat several rows as one.

        None without the data, and for other learners.
        """
        self._catch_up()
        return None if self._replay is None else self._current_replay().representatives()

    @property
    @synchronized
    def column_shares(self) -> NDArray[np.float64] | None:
        """The share of each column of X in the distance between rows, for learners that learn it.

        None without the data, and for other learners.
        """
        self._catch_up()
        return None if self._replay is None else self._current_replay().column_shares()

    @synchronized
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
        if self.X is None:
            return None
        if len(sources) != self.X.shape[1]:
            raise ValueError(
                f"sources has {count_noun(len(sources), 'name')}, and X has "
                f"{count_noun(self.X.shape[1], 'column')}. Pass one name for each column."
            )
        known = self.constraints
        return propose_columns(self.X, sources, known.must_link, known.cannot_link)

    @property
    @synchronized
    def confidence(self) -> NDArray[np.float64] | None:
        """The probability that each row is in its cluster, of shape (n_rows,), for learners that estimate it.

        None before the first answer, and for learners other than KIN. Without the data it is that of the last
        labels, if they were stored when the session was closed; None otherwise.
        """
        if self._replay is None:
            return self._clustering()[0].confidence
        self._catch_up()
        return self._current_replay().confidence()

    @synchronized
    def join(self, frame: Any, *, id_column: str | None = None) -> Any:
        """Put the cluster of each row beside the columns of your table.

        Parameters
        ----------
        frame : DataFrame of pandas, polars or pyarrow, Table, or ndarray of shape (n_rows, n_columns)
            The rows that the session is about, in the same order.
        id_column : str, optional
            The column with the ids of the session. The rows may then be in any order, and some may be
            missing. By default rows are matched by their position, and a column with the same ids in
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
            if self.has_ids:
                check_order(frame, self.ids)
            return join_frame(frame, columns)
        return join_frame(frame, columns.take(find_rows(frame, id_column, self.ids)))

    @synchronized
    def cluster_columns(self) -> ClusterColumns:
        """Return the columns that `join` adds: labels, names of clusters, and confidences.

        Returns
        -------
        ClusterColumns
            The cluster of each row.
        """
        labels, names = self._clustering()[0].labels, self.cluster_names
        called = [names.get(label) for label in labels.tolist()]
        return ClusterColumns(labels.astype(np.int64), called, self.confidence)

    @property
    @synchronized
    def constraints(self) -> Constraints:
        """All pairs answered yes or no, volunteered or imported.

        If answers may be wrong, each pair counts as it is believed.
        """
        self._catch_up_belief()
        return self._current_evidence().to_constraints()

    @property
    def history(self) -> list[Event]:
        """The events about pairs that still count, each with its latest answer and note."""
        with self._lock:
            self._catch_up()
            return list(self._settled_events())

    @property
    def names(self) -> dict[int, str]:
        """Names of clusters, by the row that each was given to; the latest comes last."""
        return {row: name for row, name in names_of(self.events).items() if name}

    @property
    @synchronized
    def cluster_names(self) -> dict[int, str]:
        """Names of the clusters in `labels`, by cluster number.

        If names were given to several rows of one cluster, the cluster has the latest of them.
        """
        shown = self._clustering()[0].shown  # reads new events
        names = names_of(self._events)
        clusters = shown.take(np.fromiter(names, np.int64, len(names)))
        latest = dict(zip(clusters.tolist(), names.values(), strict=True))
        return {cluster: name for cluster, name in latest.items() if name}

    @property
    @synchronized
    def cluster_shades(self) -> dict[int, tuple[int, int]]:
        """The colour family of each cluster in `labels`, from 0 to 11, and its shade within the family.

        The page draws clusters in these colours, since not more than twelve can be told apart. With up to
        twelve clusters each has a family of its own. A further cluster joins the family of the cluster that
        it split off from. A cluster keeps its shade as it keeps its number.
        """
        snapshot, _ = self._clustering()
        if self._replay is None:
            numbers = np.unique(snapshot.labels[snapshot.labels >= 0]).tolist()
            return {number: (at % N_FAMILIES, at // N_FAMILIES) for at, number in enumerate(numbers)}
        return dict(self._replay.shades)

    @property
    @synchronized
    def events(self) -> list[Event]:
        """All events, undone or not."""
        self._catch_up()
        return list(self._events)

    @property
    @synchronized
    def remaining_events(self) -> list[Event]:
        """The events that are not undone: about pairs, changes of answers, and names of clusters."""
        self._catch_up()
        return list(self._remaining_events())

    @property
    @synchronized
    def status(self) -> Status:
        """Counts of answers, sizes of clusters, and whether asking has ended."""
        snapshot, is_current = self._clustering()
        if not is_current:
            snapshot = StoredClustering(snapshot.event, None, snapshot.shown)
        return build_status(
            self._settled_events(),
            snapshot.shown,
            self._current_evidence(),
            snapshot.reason,
            snapshot.description,
            self._current_doubts(),
            snapshot.advice,
        )

    @synchronized
    def _repr_html_(self) -> str:
        if self._store.is_closed:
            return draw_block("A session that is closed", ["Open it again with Session.open(path, X)."])
        status, names = self.status, self.cluster_names
        sizes = zip(status.cluster_numbers, status.cluster_sizes, strict=True)
        rows = [(label, names.get(label, ""), size) if names else (label, size) for label, size in sizes]
        return draw_block(
            f"{self.learner['name']}: {count_noun(len(rows), 'cluster')} of {count_noun(self.n_rows, 'row')}",
            [*describe_status(status), *([] if self.labels_are_current else [OLDER_LABELS])],
            header=("cluster", "name", "rows") if names else ("cluster", "rows"),
            rows=rows,
        )

    def retold(self) -> Iterator[tuple[int, Labels]]:
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
            self._catch_up()
            steps = self._current_replay().labels_by_event()
        while True:
            with self._lock:
                step = next(steps, None)
            if step is None:
                return
            yield step

    # ------------------------------------------------------------ the present state
    @property
    def _last_number(self) -> int:
        """Number of the last event that this client knows of."""
        return self._events[-1].number if self._events else 0

    def _last_start(self) -> int:
        """Number of the last event on which questions depend; 0 before the first."""
        return find_last_start(self._events)

    def _catch_up(self) -> None:
        """Read new events: those of other clients, and those that this one did not see stored."""
        version = self._store.version()
        if version == self._version and self._store.last() == self._last_number:
            return
        new = self._store.events(after=self._last_number)
        before, self._events = self._events, [*self._events, *new]
        try:
            self._follow_settings()
        except BaseException:
            self._events = before
            self._forget_derived()
            raise
        if self._error_rate != 0:  # what is believed may have been stored since
            self._evidence = self._doubts = self._cases = self._checking = None
        self._has_changed = self._has_changed or any(not is_aside(e, self._events) for e in new)
        if self._store.last() < self._last_number:  # no client deletes events
            raise SessionDamagedError(
                f"{self._store.path} is an older file than the one that was opened. Open it again."
            )
        self._version = version

    def _catch_up_belief(self) -> None:
        """Read new events, and take the learner there if what is believed of them rests on the data.

        Answers to several open questions wait for the learner until somebody reads what follows from them.
        """
        self._catch_up()
        if self._replay is not None and self._error_rate != 0:
            self._current_replay()

    def _follow_settings(self, settings: Settings | None = None) -> None:
        """Go on with the learner and the error rate that count, by default those of now."""
        wanted = self._settings() if settings is None else settings
        if self._replay is None or self._followed == (wanted.learner, wanted.error_rate):
            return
        rows, is_same = self._replay.X, self._followed[0] == wanted.learner
        learner = self._replay.learner if is_same else build_learner(wanted.learner, rows.shape[1])
        self._start_learner(learner, rows, wanted)
        self._evidence = self._doubts = self._cases = self._checking = None

    def _current_replay(self) -> Replay:
        """Take the learner to the last event, also after an interruption, and return its replay."""
        if self._replay is None:
            raise SessionError("The session is open without its data. Open it with Session.open(path, X).")
        self._follow_settings()
        if self._replay.at != self._last_number:
            self._replay.follow(self._ordered_events(), self._last_number)
        return self._replay

    def _current_evidence(self) -> Evidence:
        """The evidence as of the last event, with or without a learner."""
        if self._replay is not None and self._replay.at == self._last_number:
            return self._replay.evidence
        if self._evidence is None or self._evidence[0] != self._last_number:
            try:
                self._evidence = self._last_number, self._evidence_without_replay()
            except SessionDamagedError as error:
                raise SessionDamagedError(
                    f"{self._store.name} is damaged. {error}. Restore a copy of the file."
                ) from error
        return self._evidence[1]

    def _checking_evidence(self) -> Evidence:
        """Evidence to check a new answer against; what is believed is found only if somebody reads it."""
        if self._replay is not None and self._replay.at == self._last_number:
            return self._replay.evidence
        settled, n_rebuilds = self._settled_events(), self._lists.n_rebuilds
        if self._checking is None or self._checking[0] != n_rebuilds:
            self._checking = n_rebuilds, 0, make_evidence(self.n_rows, None, self._error_rate)
        _, n_added, evidence = self._checking
        self._checking = None  # an error leaves none that is half complete
        for event in settled[n_added:]:
            add_event(evidence, event)
        self._checking = n_rebuilds, len(settled), evidence
        return evidence

    def _certain_evidence(self) -> Evidence:
        """What no new event may contradict: all facts, or the certain ones if answers may be wrong."""
        if self._error_rate == 0:
            return self._checking_evidence()
        return certain_evidence_of(self.n_rows, self._settled_events(), self._error_rate)

    def _is_current(self, stored: StoredClustering) -> bool:
        """Whether no newer event than what is stored matters to the labels."""
        newer = self._events[stored.event :]
        return stored.event >= 0 and all(is_aside(event, self._events) for event in newer)

    def _evidence_without_replay(self) -> Evidence:
        """The evidence by the events, and by what was stored of the belief with the labels."""
        settled, rate = self._ordered_events(), self._error_rate
        if rate != 0:
            stored = self._store.snapshot()
            if stored is not None and self._is_current(stored) and stored.doubts is not None:
                return RecalledEvidence(self.n_rows, settled, rate, stored.doubts)
        evidence = evidence_of(self.n_rows, settled, rate)
        if isinstance(evidence, FallibleEvidence):
            evidence.believe()
        return evidence

    @property
    def _error_rate(self) -> AssumedRate:
        """The share of wrong answers that the session assumes; None to estimate it."""
        return self._settings().error_rate

    def _current_doubts(self) -> Doubts | None:
        """Which answers are probably wrong as of the last event; None if all count as right."""
        if self._error_rate == 0:
            return None
        evidence = self._current_evidence()
        if self._replay is not None and self._replay.at == self._last_number:
            return self._replay.doubts()
        if self._doubts is None or self._doubts[0] != self._last_number:
            self._doubts = self._last_number, find_doubts(evidence, self._ordered_events())
        return self._doubts[1]

    def _derive_lists(self) -> EventLists:
        """What follows from the events alone, as of the last one."""
        self._lists.follow(self._events)
        return self._lists

    def _settings(self) -> Settings:
        """What counts beside pairs, as of the last event."""
        return self._derive_lists().settings

    def _remaining_events(self) -> list[Event]:
        """The events that are not undone."""
        return self._derive_lists().remaining

    def _settled_events(self) -> list[Event]:
        """The settled events as of the last event."""
        return self._derive_lists().settled

    def _is_answered(self, first: int, second: int, start: int, source: str | None = None) -> bool:
        """Whether the pair was answered after an event, by a certain source or by any."""
        numbers = self._derive_lists().last_answers.get(frozenset((first, second)), {})
        return any(number > start for name, number in numbers.items() if source in (None, name))

    def _ordered_events(self) -> list[Event]:
        """The settled events in the order of their questions."""
        return self._derive_lists().ordered

    @synchronized
    def _clustering(self) -> tuple[StoredClustering, bool]:
        """The labels, and whether they follow from every event."""
        self._catch_up()
        if self._replay is not None:
            return self._current_replay().snapshot(), True
        nothing = StoredClustering(-1, None, np.zeros(self.n_rows, dtype=np.int32))
        stored = self._store.snapshot() or nothing
        return stored, self._is_current(stored)
