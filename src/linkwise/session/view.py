"""What a session holds, as one client of it sees it: to be read, not to be written to."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.learner import Labels, Learner, Progress
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.evidence import Evidence
from linkwise.errors import SessionDamagedError, SessionError
from linkwise.reasons.explanation import Explanation
from linkwise.reasons.why import Why, why
from linkwise.session.description import seed_of_learner
from linkwise.session.events import Event, evidence_of, names_of, settled
from linkwise.session.registry import build_learner
from linkwise.session.replay import Replay
from linkwise.session.status import Status, counted
from linkwise.session.store import Store
from linkwise.session.tables import Snapshot

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V", bound="SessionView")


def alone(method: Callable[Concatenate[V, P], T]) -> Callable[Concatenate[V, P], T]:
    """One thread at a time: the others wait."""

    @wraps(method)
    def guarded(self: V, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            return method(self, *args, **kwargs)

    return guarded


class SessionView:
    """The reading half of `linkwise.Session`: the events, what follows, where the learner stands."""

    def _begin(self, store: Store) -> None:
        self._lock = threading.RLock()
        self._store = store
        self._version = store.version()
        self._meta = store.meta()
        self._ids = store.ids()
        self._events = store.events()
        self._replay: Replay | None = None  # without data there is none
        self._evidence: tuple[int, Evidence] | None = None  # as of an event; used where there is no replay
        self._moved = False  # whether another client wrote since the question was last read
        self._known()  # so that a damaged file is noticed here

    def _ask_by(self, learner: Learner, rows: NDArray[Any], progress: Progress | None = None) -> None:
        if hasattr(learner, "_validate_params"):  # an estimator of scikit-learn's kind checks itself
            learner._validate_params()
        replay = Replay(learner, rows, seed_of_learner(learner, self._meta["seed"]), progress)
        replay.follow(self._events)
        self._replay = replay  # after it was seen to work

    @property
    def X(self) -> NDArray[Any] | None:
        """The data, of shape (n_rows, n_features); None where the session was opened without them."""
        return None if self._replay is None else self._replay.X

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
    @alone
    def learner(self) -> dict[str, Any]:
        """Name and parameters of what asks, as the file holds them."""
        self._catch_up()
        return dict(self._meta["learner"])

    @property
    def labels(self) -> Labels:
        """The best clustering at this moment; without data, the last that was kept, or one cluster."""
        return self._clustering()[0].labels.copy()

    @property
    def labels_are_current(self) -> bool:
        """Whether `labels` take in every event; without data they may be older."""
        return self._clustering()[1]

    @property
    @alone
    def evidence(self) -> Evidence:
        """All that is known, with what follows from it.

        To read, not to add to, and only while no other thread answers: it grows with the session.
        """
        self._catch_up()
        return self._known()

    @alone
    def why(self, first: int, second: int, *, explanation: Explanation | None = None) -> Why:
        """Why two rows are together, or apart, as of now.

        Parameters
        ----------
        first, second : int
            Two different rows.
        explanation : Explanation, optional
            Rules for the present labels, as ``explain(session.labels, X)`` gives them.

        Returns
        -------
        Why
            Without the data only answers about the rows themselves can be told, and the rules.
        """
        labels, lead = self._clustering()[0].labels, self.representatives
        return why(
            labels, first, second, constraints=self._known(), representatives=lead, explanation=explanation
        )

    @property
    @alone
    def representatives(self) -> NDArray[np.int64] | None:
        """For each row its representative, if the learner treats many rows as one.

        None without the data, and for other learners.
        """
        self._catch_up()
        return None if self._replay is None else self._asking().representatives()

    @property
    def stand_ins(self) -> NDArray[np.int64] | None:
        """Deprecated: the old name of `representatives`."""
        text = "Session.stand_ins is deprecated. Use Session.representatives."
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return self.representatives

    @property
    @alone
    def column_shares(self) -> NDArray[np.float64] | None:
        """How much each column of X counts in the distance between rows, where the learner learns that.

        None without the data, and for learners that do not.
        """
        self._catch_up()
        return None if self._replay is None else self._asking().column_shares()

    @property
    @alone
    def constraints(self) -> Constraints:
        """All yes and no answers, volunteered and imported pairs."""
        self._catch_up()
        return self._known().to_constraints()

    @property
    def history(self) -> list[Event]:
        """All that was said of pairs of rows and still holds, with its latest answer."""
        return settled(self.events)

    @property
    def names(self) -> dict[int, str]:
        """Names that were given to clusters, by the row that each was given to; the latest comes last."""
        return {row: name for row, name in names_of(self.events).items() if name}

    @property
    @alone
    def cluster_names(self) -> dict[int, str]:
        """Names of the clusters in `labels`, of those that have one.

        Where several rows that a name was given to are in one cluster, the latest name is the one it has.
        """
        labels = self._clustering()[0].labels
        latest = {int(labels[row]): name for row, name in names_of(self._events).items()}
        return {cluster: name for cluster, name in latest.items() if name}

    @property
    @alone
    def cluster_colours(self) -> list[int]:
        """The colour of each cluster in `labels`, as a number: no two clusters have the same.

        A cluster keeps its colour while it keeps most of its rows. Colours follow from the events that hold:
        they are the same when the session is opened again, and after an undo as before what it took back.
        Without the data a colour is the number of its cluster.
        """
        now, _ = self._clustering()
        if self._replay is None:
            return list(range(int(now.labels.max()) + 1))
        return list(self._replay.colours)

    @property
    @alone
    def events(self) -> list[Event]:
        """Everything that ever happened, undone or not."""
        self._catch_up()
        return list(self._events)

    @property
    @alone
    def status(self) -> Status:
        """Counts of answers, sizes of clusters, and whether asking has ended."""
        now, current = self._clustering()
        said = (now.reason, now.description) if current else (None, ())
        return counted(settled(self._events), now.labels, self._known(), *said)

    def retold(self) -> Iterator[tuple[int, Labels]]:
        """How the clustering came about: the labels after each event that holds now, one after the other.

        What was said before the first answer counts as known from the start. Each step costs what the answer
        did cost, less what the learner remembers; other threads come in between.

        Yields
        ------
        number : int
            Of the event; 0: before the first.
        labels : ndarray of shape (n_rows,)
        """
        with self._lock:
            self._catch_up()
            steps = self._asking().retold()
        while True:
            with self._lock:
                step = next(steps, None)
            if step is None:
                return
            yield step

    # ------------------------------------------------------------ the present state
    @property
    def _last(self) -> int:
        """Number of the last event that this client knows of."""
        return self._events[-1].number if self._events else 0

    def _catch_up(self) -> None:
        """Take in what is new: what other clients wrote, and what this one did not see stored."""
        version = self._store.version()
        if version == self._version and self._store.last() == self._last:
            return
        new, learner = self._store.events(after=self._last), self._store.meta()["learner"]
        if learner != self._meta["learner"]:
            if self._replay is not None:
                self._ask_by(build_learner(learner, self._replay.X.shape[1]), self._replay.X)
            self._meta["learner"], self._moved = learner, True
        self._events += new
        self._moved = self._moved or any(e.kind != "name" for e in new)
        if self._store.last() < self._last:  # a file does not forget by itself
            raise SessionDamagedError(f"{self._store.path} was replaced by an older file; open it again")
        self._version = version

    def _asking(self) -> Replay:
        """The learner, brought to the last event; after an interruption it is brought there again."""
        if self._replay is None:
            raise SessionError("the session was opened without its data; open it with Session.open(path, X)")
        if self._replay.at != self._last:
            self._replay.follow(self._events)
        return self._replay

    def _known(self) -> Evidence:
        """What is known by the last event, whether or not there is a learner."""
        if self._replay is not None and self._replay.at == self._last:
            return self._replay.evidence
        if self._evidence is None or self._evidence[0] != self._last:
            try:
                self._evidence = self._last, evidence_of(self.n_rows, settled(self._events))
            except SessionDamagedError as error:
                raise SessionDamagedError(
                    f"{self._store.name} is damaged: {error}. Restore a copy of the file."
                ) from error
        return self._evidence[1]

    @alone
    def _clustering(self) -> tuple[Snapshot, bool]:
        """The labels, and whether they take in every event."""
        self._catch_up()
        if self._replay is not None:
            return self._asking().snapshot(), True
        nothing = Snapshot(-1, None, np.zeros(self.n_rows, dtype=np.int32))
        kept = self._store.snapshot() or nothing
        return kept, kept.event == self._last
