"""A snapshot: everything that a session shows, as of one event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Groups
from linkwise.learn.item_labels import read_labels
from linkwise.learn.learner import Question
from linkwise.markup import draw_block
from linkwise.session.journal.events import Event, Example
from linkwise.session.journal.journal import Journal
from linkwise.session.journal.stored_clustering import Doubts, StoredClustering
from linkwise.session.state.colours import Shade
from linkwise.session.state.session_state import SessionState
from linkwise.session.state.status import Status, build_status, count_answers, describe_status
from linkwise.session.state.suspects import SuspectAnswer, explain_suspects
from linkwise.session.team.questionnaire import Questionnaire
from linkwise.types import Labels
from linkwise.wording import count_noun, shorten

OLDER_LABELS = "The clusters are older than the last change. Session.open(path, X) brings them up to date."


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that a session shows, as of one event, whoever answers meanwhile. It cannot be changed.

    Attributes
    ----------
    event : int
        Number of the last event; 0 before the first.
    labels_are_current : bool
        Whether the labels follow from every event; without data they may be older.
    labels : ndarray of shape (n_rows,)
        The cluster of each row (see `Session.labels`).
    names : mapping of int to str
        Names of clusters, by their numbers in `labels`.
    shades : mapping of int to (int, int)
        The colour family of each cluster, and its shade (see `Session.cluster_shades`).
    confidence : ndarray of shape (n_rows,) or None
        The probability that each row is in its cluster (see `Session.confidence`).
    status : Status
        Counts of answers, sizes of clusters, the advice of the learner and the error rate.
    components : Groups
        The rows that answers join or separate.
    question : Question or None
        The present question; None if nothing is left to ask, or without data.
    question_id : str or None
        Its identifier.
    learner : mapping of str to object
        Name and parameters of the learner.
    guidelines : str
        What "belong together" means here; empty if nobody wrote it down.
    examples : tuple of Example
        A few pairs that show what belongs together.
    history : tuple of Event
        The events about pairs that still count, each with its latest answer and note.
    remaining_events : tuple of Event
        The events that are not undone.
    events : tuple of Event
        All events, undone or not.
    """

    event: int
    labels_are_current: bool
    labels: Labels
    names: Mapping[int, str]
    shades: Mapping[int, tuple[int, int]]
    confidence: NDArray[np.float64] | None
    status: Status
    components: Groups
    question: Question | None
    question_id: str | None
    learner: Mapping[str, Any]
    guidelines: str
    examples: tuple[Example, ...]
    history: tuple[Event, ...] = field(repr=False)
    remaining_events: tuple[Event, ...] = field(repr=False)
    events: tuple[Event, ...] = field(repr=False)
    believed: tuple[Evidence, Doubts] | None = field(repr=False)

    @cached_property
    def suspects(self) -> tuple[SuspectAnswer, ...]:
        """The answers that are probably wrong, the most probable ones first."""
        if self.believed is None:
            return ()
        evidence, doubts = self.believed
        return tuple(explain_suspects(evidence, self.history, doubts))

    def _repr_html_(self) -> str:
        status, names = self.status, self.names
        sizes = zip(status.cluster_numbers, status.cluster_sizes, strict=True)
        rows = [(label, names.get(label, ""), size) if names else (label, size) for label, size in sizes]
        counted = f"{count_noun(len(rows), 'cluster')} of {count_noun(status.n_rows, 'row')}"
        return draw_block(
            f"{self.learner['name']}: {counted}",
            [*describe_status(status), *([] if self.labels_are_current else [OLDER_LABELS])],
            header=("cluster", "name", "rows") if names else ("cluster", "rows"),
            rows=rows,
        )


class Moment:
    """What follows from the events up to the present one; each part is derived when it is first read.

    It is read before the next event is stored, because what it derives from grows with the session.
    """

    def __init__(self, journal: Journal, state: SessionState, questions: Questionnaire) -> None:
        self._journal, self._state, self._questions = journal, state, questions
        self.clustering, self.is_current = state.clustering()

    @cached_property
    def labels(self) -> Labels:
        """The cluster of each row."""
        return _freeze_array(read_labels(self.clustering.shown))

    @cached_property
    def confidence(self) -> NDArray[np.float64] | None:
        """The probability that each row is in its cluster."""
        replay = self._state.replay
        found = self.clustering.confidence if replay is None else replay.confidence()
        return None if found is None else _freeze_array(found)

    @cached_property
    def names(self) -> Mapping[int, str]:
        """Names of clusters."""
        return MappingProxyType(self._state.cluster_names(self.clustering))

    @cached_property
    def shades(self) -> Mapping[int, Shade]:
        """Colours of clusters."""
        return MappingProxyType(self._state.shades(self.clustering))

    @cached_property
    def status(self) -> Status:
        """Counts, sizes and the sentences of the learner."""
        stored, state = self.clustering, self._state
        told = stored if self.is_current else StoredClustering(stored.event, None, stored.shown)
        evidence, doubts = state.evidence_now(), state.doubts()
        return build_status(
            state.settled, told.shown, evidence, told.reason, told.description, doubts, told.advice
        )

    @cached_property
    def snapshot(self) -> Snapshot:
        """All of it."""
        state, evidence, doubts = self._state, self._state.evidence_now(), self._state.doubts()
        question = None if state.replay is None else state.replay.question
        return Snapshot(
            event=self._journal.last,
            labels_are_current=self.is_current,
            labels=self.labels,
            names=self.names,
            shades=self.shades,
            confidence=self.confidence,
            status=self.status,
            components=evidence.groups(),
            question=question,
            question_id=self._questions.name(question),
            learner=_freeze(state.settings.learner),
            guidelines=state.settings.guidelines,
            examples=state.settings.examples,
            history=tuple(state.settled),
            remaining_events=tuple(state.remaining),
            events=tuple(self._journal.events),
            believed=None if doubts is None else (evidence.copy(), doubts),  # the evidence grows
        )


def _freeze_array(values: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written to."""
    view = values.view()
    view.flags.writeable = False
    return view


def _freeze(value: Any) -> Any:
    """Return a view of a mapping, and of those in it, that cannot be written to."""
    if isinstance(value, Mapping):
        return MappingProxyType({name: _freeze(one) for name, one in value.items()})
    return value


class Snapshots:
    """What a session shows: one snapshot for each number of its last event, or parts of it."""

    def __init__(self, journal: Journal, state: SessionState, questions: Questionnaire) -> None:
        self._parts = journal, state, questions
        self._moment: tuple[tuple[int, int], Moment] | None = None  # as of a generation and an event

    def read(self) -> Moment:
        """Read new events, and return what follows from all, for use before the next one."""
        journal, state, _ = self._parts
        state.catch_up()
        if state.replay is not None:
            state.follow()
        at = state.generation, journal.last
        if self._moment is None or self._moment[0] != at:
            self._moment = at, Moment(*self._parts)
        return self._moment[1]

    def take(self) -> Snapshot:
        """Read new events, and return everything that follows from all."""
        return self.read().snapshot

    # ------------------------------------------------------------ what linkwise.Session reads
    def show(self) -> Snapshot:
        """Everything that the session shows, as of its last event."""
        taken = self.take()
        self._parts[1].has_news = False  # the question is among it
        return taken

    def labels(self) -> Labels:
        """The best clustering at this moment; without data, the last one that was stored, or one cluster.

        A cluster keeps its number as long as it keeps most of its rows, and a new cluster gets a number that
        none had before. The page, the terminal and all exports show these numbers, which may have gaps. They
        depend only on the events that count: they are the same when the session is opened again, and after an
        undo they are as before. Noise is -1.
        """
        return self.read().labels.copy()

    def labels_are_current(self) -> bool:
        """Whether `labels` follow from every event; without data they may be older."""
        return self.read().is_current

    def confidence(self) -> NDArray[np.float64] | None:
        """The probability that each row is in its cluster, of shape (n_rows,), for learners that estimate it.

        None before the first answer, and for learners other than KIN. Without the data it is that of the last
        labels, if they were stored when the session was closed; None otherwise.
        """
        found = self.read().confidence
        return None if found is None else found.copy()

    def cluster_names(self) -> dict[int, str]:
        """Names of the clusters in `labels`, by cluster number.

        If names were given to several rows of one cluster, the cluster has the latest of them.
        """
        return dict(self.read().names)

    def cluster_shades(self) -> dict[int, tuple[int, int]]:
        """The colour family of each cluster in `labels`, from 0 to 11, and its shade within the family.

        The page draws clusters in these colours, since not more than twelve can be told apart. With up to
        twelve clusters each has a family of its own. A further cluster joins the family of the cluster that
        it split off from. A cluster keeps its shade as it keeps its number.
        """
        return dict(self.read().shades)

    def describe(self) -> str:
        """Return rows, answers, clusters and the next question in one line."""
        now, names = self.take(), self._parts[0].names
        status, question = now.status, now.question
        counted = count_noun(len(status.cluster_sizes), "cluster")
        if question is not None:
            ask = f"next question: {shorten(names[question.first])} and {shorten(names[question.second])}"
        elif self._parts[1].replay is None:
            ask = "opened without its data"
        else:
            ask = "no question left"
        return f"{count_noun(status.n_rows, 'row')}; {count_answers(status)}; {counted}; {ask}"

    def status(self) -> Status:
        """Counts of answers, sizes of clusters, and whether asking has ended."""
        return self.read().status
