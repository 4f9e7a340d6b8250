"""A snapshot: everything that a session shows, as of one event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Groups
from linkwise.learn.item_labels import Shown, read_labels
from linkwise.learn.learner import Question
from linkwise.markup import draw_block
from linkwise.session.journal.events import Event, Example
from linkwise.session.journal.journal import Journal
from linkwise.session.journal.stored_clustering import Doubts, StoredClustering
from linkwise.session.state.session_state import SessionState
from linkwise.session.state.status import Status, build_status, count_answers, describe_status
from linkwise.session.state.suspects import SuspectAnswer, explain_suspects
from linkwise.session.team.questionnaire import Questionnaire
from linkwise.types import Labels
from linkwise.wording import count_noun, shorten

OLDER_LABELS = "The clusters are older than the last change. Session.open(path, X) brings them up to date."


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that a session shows, as of one event, whoever answers meanwhile.

    Attributes
    ----------
    event : int
        Number of the last event; 0 before the first.
    labels_are_current : bool
        Whether the labels follow from every event; without data they may be older.
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
    shown: Shown = field(repr=False)
    believed: tuple[Evidence, Doubts] | None = field(repr=False)

    @cached_property
    def labels(self) -> Labels:
        """The cluster of each row, of shape (n_rows,), which cannot be written to."""
        labels = read_labels(self.shown).view()
        labels.flags.writeable = False
        return labels

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


def take_snapshot(journal: Journal, state: SessionState, questions: Questionnaire) -> Snapshot:
    """Derive everything that a session shows from the events that were read."""
    clustering, is_current = state.clustering()
    replay, evidence, doubts, settings = state.replay, state.evidence_now(), state.doubts(), state.settings
    told = clustering if is_current else StoredClustering(clustering.event, None, clustering.shown)
    history, question = tuple(state.settled), None if replay is None else replay.question
    return Snapshot(
        event=journal.last,
        labels_are_current=is_current,
        names=state.cluster_names(clustering),
        shades=state.shades(clustering),
        confidence=clustering.confidence if replay is None else replay.confidence(),
        status=build_status(
            history, told.shown, evidence, told.reason, told.description, doubts, told.advice
        ),
        components=evidence.groups(),
        question=question,
        question_id=questions.name(question),
        learner=settings.learner,
        guidelines=settings.guidelines,
        examples=settings.examples,
        history=history,
        remaining_events=tuple(state.remaining),
        events=tuple(journal.events),
        shown=clustering.shown,
        believed=None if doubts is None else (evidence.copy(), doubts),  # the evidence grows
    )


class Snapshots:
    """The snapshot of a session, taken once for each number of its last event.

    Parameters
    ----------
    journal : Journal
    state : SessionState
    questions : Questionnaire
    """

    def __init__(self, journal: Journal, state: SessionState, questions: Questionnaire) -> None:
        self._parts = journal, state, questions
        self._taken: tuple[tuple[int, int], Snapshot] | None = None  # as of a generation and an event

    def take(self) -> Snapshot:
        """Read new events, and return what follows from all."""
        journal, state, _ = self._parts
        state.catch_up()
        if state.replay is not None:
            state.follow()
        at = state.generation, journal.last
        if self._taken is None or self._taken[0] != at:
            self._taken = at, take_snapshot(*self._parts)
        return self._taken[1]

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
        return self.take().labels.copy()

    def labels_are_current(self) -> bool:
        """Whether `labels` follow from every event; without data they may be older."""
        return self.take().labels_are_current

    def confidence(self) -> NDArray[np.float64] | None:
        """The probability that each row is in its cluster, of shape (n_rows,), for learners that estimate it.

        None before the first answer, and for learners other than KIN. Without the data it is that of the last
        labels, if they were stored when the session was closed; None otherwise.
        """
        found = self.take().confidence
        return None if found is None else found.copy()

    def cluster_names(self) -> dict[int, str]:
        """Names of the clusters in `labels`, by cluster number.

        If names were given to several rows of one cluster, the cluster has the latest of them.
        """
        return dict(self.take().names)

    def cluster_shades(self) -> dict[int, tuple[int, int]]:
        """The colour family of each cluster in `labels`, from 0 to 11, and its shade within the family.

        The page draws clusters in these colours, since not more than twelve can be told apart. With up to
        twelve clusters each has a family of its own. A further cluster joins the family of the cluster that
        it split off from. A cluster keeps its shade as it keeps its number.
        """
        return dict(self.take().shades)

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
        return self.take().status
