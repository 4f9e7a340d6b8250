"""What pages show of a session: its snapshot, the list of its clusters, and what rows moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.app.page.answer_list import AnswerList, serialize_event
from linkwise.app.page.cards import RowView
from linkwise.app.page.cluster_descriptions import ClusterDescriptions, choose_profiler
from linkwise.app.page.row_moves import EarlierMoves, RecentMoves
from linkwise.app.page.row_places import RowPlaces
from linkwise.app.project.column_offer import ColumnOffer
from linkwise.app.project.project import Project
from linkwise.constraints.facts import Groups
from linkwise.data import Encoded
from linkwise.reasons.profiles import Profiles
from linkwise.session.journal.events import ANSWERS_QUESTION, Event
from linkwise.session.session import Session
from linkwise.session.snapshot import Snapshot
from linkwise.session.state.event_lists import is_aside
from linkwise.session.state.moves import measure_change
from linkwise.session.team.leases import OpenQuestion
from linkwise.session.team.team import ReviewCase
from linkwise.types import Labels

# ---------------------------------------------------------------- clusters
# The list of clusters: sizes, names and typical rows.
MOST_CLUSTERS = 200  # in the list
EXEMPLARS = 5
SAMPLE = 20_000  # rows among which exemplars are searched
FEW_ROWS = 4096  # rows among which the first row of each cluster is looked for first


@dataclass(frozen=True, slots=True)
class ClusterSummary:
    """One cluster; its number is its label, -1 for noise.

    `exemplars` are rows near its mean, the nearest first; above 20 000 rows those of a sample. `done`
    tells whether all its rows are known to belong together.
    """

    number: int
    size: int
    exemplars: tuple[int, ...]
    name: str
    done: bool
    n_answered: int


def summarize_clusters(
    labels: Labels, typical: Mapping[int, tuple[int, ...]], now: Snapshot
) -> tuple[ClusterSummary, ...]:
    """Return all clusters, the largest first; `typical` has the exemplars of these labels."""
    numbers, first, sizes = _count_rows(labels)
    names, components = now.names, now.components
    done = _find_complete(labels, components, dict(zip(numbers.tolist(), sizes.tolist(), strict=True)))
    answered = np.bincount(np.searchsorted(numbers, labels[components.row]), minlength=len(numbers))
    found = [
        ClusterSummary(number, size, typical.get(number, (row,)), names.get(number, ""), number in done, n)
        for number, row, size, n in zip(
            numbers.tolist(), first.tolist(), sizes.tolist(), answered.tolist(), strict=True
        )
    ]
    return tuple(sorted(found, key=lambda c: (-c.size, c.number)))


def _count_rows(labels: Labels) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the clusters, with the first row and the number of rows of each."""
    low = min(int(labels.min(initial=0)), 0)
    shifted = labels - low if low else labels
    sizes = np.bincount(shifted)
    there = np.flatnonzero(sizes)
    first = np.full(len(sizes), len(labels), dtype=np.int64)
    begin, step = 0, FEW_ROWS
    while begin < len(labels) and (first[there] == len(labels)).any():  # most begin near the first row
        part, found = shifted[begin : begin + step], np.full_like(first, len(labels))
        found[part[::-1]] = np.arange(begin, begin + len(part))[::-1]  # of equal ones the last is kept
        first, begin, step = np.minimum(first, found), begin + step, 4 * step
    return there + low, first[there], sizes[there]


def find_exemplars(labels: Labels, X: NDArray[Any]) -> dict[int, tuple[int, ...]]:
    """Return rows near the mean of each cluster, the nearest first; above 20 000 rows those of a sample."""
    rows = np.arange(len(X))
    if len(X) > SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(len(X), SAMPLE, replace=False))
    found = labels[rows]
    order = np.argsort(found, kind="stable")
    starts = np.flatnonzero(np.diff(found[order], prepend=found.min(initial=0) - 1))
    parts = np.split(rows[order], starts[1:])
    typical = {}
    for number, part in zip(found[order[starts]].tolist(), parts, strict=True):
        distance = ((X[part] - X[part].mean(axis=0)) ** 2).sum(axis=1)
        nearest = np.argsort(distance, kind="stable")[:EXEMPLARS]
        typical[number] = tuple(part[nearest].tolist())
    return typical


def _find_complete(labels: Labels, components: Groups, sizes: dict[int, int]) -> set[int]:
    """Return the clusters of two rows or more whose rows are all in one component."""
    if len(components.row) == 0:
        return set()
    keys, counts = np.unique(
        np.stack([labels[components.row].astype(np.int64), components.number], axis=1),
        axis=0,
        return_counts=True,
    )
    return {
        label
        for (label, _), count in zip(keys.tolist(), counts.tolist(), strict=True)
        if count == sizes[label] > 1
    }


ONE_BYTE, TWO_BYTES = 255, 65_535  # the highest value stands for noise


# ---------------------------------------------------------------- what pages show
class PageContent:
    """What pages show of a session; see `linkwise.app.page.presenter.Presenter` for the parameters.

    `now` is the snapshot at the last call of `refresh`, and `event` the number of the last event then; -1
    if everything is to be read again. `counter` changes with the labels, and `encoding` with the encoding
    of the rows. `project` is the data file with its session, as it is read now. `shares` has the share of
    the rows that moved, by the number of the event. `person` is whose request is handled, and `people` are
    those who look at a page, as of the last state.
    """

    def __init__(
        self,
        session: Session,
        X: NDArray[Any],
        view: RowView,
        *,
        title: str,
        place: str | None = None,
        places: ArrayLike | None = None,
        columns: Encoded | None = None,
        notes: Sequence[str] = (),
        budget: int | None = None,
        classes: ArrayLike | None = None,
        overlap: float = 0.0,
        gold: str = "",
        project: Project | None = None,
    ) -> None:
        self.session, self.X, self.view, self.columns = session, X, view, columns
        self.title, self._place, self.budget, self.notes = title, place, budget, list(notes)
        self._classes, self._overlap, self._gold = classes, overlap, gold
        self.project = project
        self.offer = ColumnOffer(project)
        self.places = RowPlaces(X, view.items.kind, places)
        self.person = ""
        self.people: set[str] = set()
        self.moves = RecentMoves()
        self.has_new_shares = False  # whether the earlier moves have not been shown yet
        self.counter, self.event, self.encoding = 0, -1, 0
        self.now: Snapshot = session.snapshot
        self.labels: Labels = self.now.labels
        self.shades: Mapping[int, tuple[int, int]] = self.now.shades
        self._typical: dict[int, tuple[int, ...]] = {}
        self.clusters: tuple[ClusterSummary, ...] = ()
        self._begin()

    def _begin(self) -> None:
        """Begin with what depends on the encoding of the rows."""
        self.shares: dict[int, float] = {}
        self._earlier = EarlierMoves(self.session)
        self.profile = choose_profiler(self.columns, self.view.items, self.session.n_rows)
        self.profiles: tuple[int, Profiles] = (-1, {})
        self.rules: tuple[int, ClusterDescriptions] | None = None
        self._answers: tuple[int, AnswerList] = (-1, AnswerList([], frozenset()))
        self.event = -1
        self.refresh()

    @property
    def place(self) -> str | None:
        """The path of the session file; None while the session is in memory only."""
        path = self.session.path
        return self._place or (None if path is None else str(path.absolute()))

    def show_encoding(
        self, X: NDArray[Any], view: RowView, columns: Encoded | None, notes: Sequence[str]
    ) -> None:
        """Show the rows in another encoding, on which the session was replayed."""
        self.X, self.view, self.columns, self.notes = X, view, columns, list(notes)
        self.encoding += 1
        self.places = RowPlaces(X, view.items.kind)
        self._begin()

    def refresh(self) -> None:
        """Read what is new in the session, from this program or another."""
        before, self.now = self.event, self.session.snapshot
        now, self.event = self.now, self.now.event
        if self.event == before:
            return
        if before >= 0:
            new = [e.number for e in now.events[before:] if not is_aside(e, now.events)]
            share = measure_change(self.labels, now.labels)
            if self.people:
                self.moves.note(new, self.labels, now.labels, now.names)
            self.shares |= {number: share if number == new[-1] else 0.0 for number in new}
        is_same = now.shades == self.shades and np.array_equal(now.labels, self.labels)
        if before < 0 or not is_same:
            self.labels, self.shades, self.counter = now.labels, now.shades, self.counter + 1
            self._typical = find_exemplars(now.labels, self.X)
        self.clusters = summarize_clusters(self.labels, self._typical, now)

    # ------------------------------------------------------------ labels
    def needs_two_bytes(self) -> bool:
        """Whether a byte for each label is too short."""
        return int(self.labels.max(initial=0)) >= ONE_BYTE

    def write_labels(self) -> tuple[int, bytes]:
        """Return a number that changes with the labels, and the cluster of each row in one byte or two."""
        most, form = (TWO_BYTES, "<u2") if self.needs_two_bytes() else (ONE_BYTE, "u1")
        numbers = np.where(self.labels < 0, most, self.labels % most)
        return self.counter, numbers.astype(form).tobytes()

    def agreement(self) -> float | None:
        """Return the adjusted Rand index of clusters and classes; None without classes."""
        if self._classes is None:
            return None
        from sklearn.metrics import adjusted_rand_score  # slow to load

        return float(adjusted_rand_score(self._classes, self.labels))

    def has_rules(self) -> bool:
        """Whether rules, or words, can describe the clusters."""
        items = self.view.items
        return self.columns is not None or items.holds_words or items.side is not None

    def advance_shares(self, stop: Callable[[], bool]) -> None:
        """Compute how many rows earlier answers moved, until `stop` returns True."""
        if self._earlier.advance(stop):
            self.has_new_shares = len(self._earlier.shares) > len(self.shares)
            self.shares = self._earlier.shares | self.shares

    # ------------------------------------------------------------ questions
    def end_reason(self) -> str | None:
        """Why nothing more is asked; None if something is."""
        if self.now.question is None:
            return "exhausted"
        return "budget" if self.is_spent() else None

    def is_spent(self) -> bool:
        """Whether there are as many answers as the budget allows."""
        return self.budget is not None and self.session.status.n_answers >= self.budget

    def find_question(self, person: str, n_others: int) -> OpenQuestion | None:
        """The question of one person; None if others hold all that are worth asking now."""
        found = self.session.questions(
            1, to=person, overlap=self._overlap, gold=self._gold, n_others=n_others
        )
        return found[0] if found else None

    # ------------------------------------------------------------ events
    def list_answers(self) -> AnswerList:
        """Return the events that hold, listed once after each event."""
        if self._answers[0] != self.event:
            self._answers = self.event, AnswerList.of(self.now)
        return self._answers[1]

    def serialize(self, event: Event) -> dict[str, Any]:
        """Return one event as values for JSON."""
        return serialize_event(event, self.list_answers().changed, self.view.name)

    def last_of(self, person: str) -> Event | None:
        """The last answer, screen or pair of a person that is not undone."""
        own = (e for e in reversed(self.now.history) if e.kind in (*ANSWERS_QUESTION, "add"))
        return next((event for event in own if event.source == person), None)

    def find_cases(self, person: str) -> list[ReviewCase]:
        """The pairs that wait for a review by a person, without those that only they answered."""
        cases = self.session.review(person) if self.now.status.is_fallible else []
        return [case for case in cases if any(event.source != person for event in case.answers)]
