"""The state of a session: what follows from its events, with the learner that follows them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.constraints import Constraints
from linkwise.constraints.error_rates import AssumedRate, ErrorRates
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import GivenAnswer, check_answer
from linkwise.constraints.fallible import FallibleEvidence, make_evidence
from linkwise.data.columns.table import Table
from linkwise.errors import SessionDamagedError, SessionError
from linkwise.learn.learner import Learner
from linkwise.learn.pair_explanation import DoubtfulDecision, PairExplanation
from linkwise.reasons.explanation import Explanation
from linkwise.reasons.why import Why, why
from linkwise.session.journal.description import seed_of_learner
from linkwise.session.journal.events import Event, Example
from linkwise.session.journal.journal import Journal
from linkwise.session.journal.registry import build_learner
from linkwise.session.journal.stored_clustering import Doubts, ErrorRate, StoredClustering
from linkwise.session.state.colours import N_FAMILIES, Shade
from linkwise.session.state.event_lists import (
    EventLists,
    Settings,
    add_event,
    begin_settings,
    certain_evidence_of,
    evidence_of,
    find_last_start,
    is_aside,
    names_of,
)
from linkwise.session.state.replay import Replay
from linkwise.session.state.suspects import (
    RecalledEvidence,
    SuspectAnswer,
    explain_suspects,
    find_doubts,
)
from linkwise.types import Labels, Progress


class SessionState:
    """What follows from the events of a journal. It reads the journal and stores nothing.

    Public methods of `linkwise.Session` have its lock when they are called. They read new events first, and
    the others tell what follows from those that were read.

    Parameters
    ----------
    journal : Journal

    Attributes
    ----------
    replay : Replay or None
        The learner, with its data; None without data.
    generation : int
        A number that grows when anything else than the next event of this client changes what follows.
    has_news : bool
        Whether another client wrote since the question was last read.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.replay: Replay | None = None
        self.generation = 0
        self.has_news = False
        self._followed: tuple[dict[str, Any], AssumedRate] = ({}, 0)  # the learner and the rate of the replay
        self.forget()
        self.evidence_now()  # so that a damaged file is noticed here

    def forget(self) -> None:
        """Forget all that follows from the events."""
        self._lists = EventLists(begin_settings(self._journal.meta))
        self._forget_belief()

    def _forget_belief(self) -> None:
        self.generation += 1
        self._evidence: tuple[int, Evidence] | None = None  # as of an event; used without a replay
        self._doubts: tuple[int, Doubts | None] | None = None  # the same
        self._checking: tuple[int, int, Evidence] | None = None  # rebuilds, settled events, what they give

    # ------------------------------------------------------------ following the events
    def catch_up(self) -> None:
        """Read new events: those of other clients, and those that this one did not see stored."""
        self._journal.catch_up(self._take_up)

    def _take_up(self, new: list[Event]) -> None:
        try:
            self.follow_settings()
        except BaseException:
            self.forget()
            raise
        self.generation += 1  # labels may have been stored since
        if self.rate != 0:  # and what is believed
            self._forget_belief()
        self.has_news = self.has_news or any(not is_aside(event, self._journal.events) for event in new)

    def catch_up_belief(self) -> None:
        """Read new events, and take the learner there if what is believed of them rests on the data.

        Answers to several open questions wait for the learner until somebody reads what follows from them.
        """
        self.catch_up()
        if self.replay is not None and self.rate != 0:
            self.follow()

    def start(
        self,
        learner: Learner,
        rows: NDArray[Any],
        settings: Settings,
        progress: Progress | None = None,
        table: Table | None = None,
    ) -> None:
        """Let a learner follow the events on some data from now on; `table`: what the rows were made of."""
        if hasattr(learner, "_validate_params"):  # a scikit-learn estimator checks its own parameters
            learner._validate_params()
        meta = self._journal.meta
        seed = seed_of_learner(learner, meta["seed"])
        numbers, known = meta.get("numbers", ()), meta.get("known", 0)
        replay = Replay(learner, rows, seed, progress, settings.error_rate, numbers, known, table)
        replay.follow(self.ordered, self._journal.last)
        self.replay = replay  # only after it has started
        self._followed = settings.learner, settings.error_rate
        self.generation += 1

    @property
    def is_behind(self) -> bool:
        """Whether there are events of which the learner was not told yet, because nobody has read them."""
        events = self._journal.events
        waits = bool(events) and events[-1].can_wait
        return waits or self._followed != (self.settings.learner, self.rate)

    def follow_settings(self, settings: Settings | None = None) -> None:
        """Go on with the learner and the error rate that count, by default those of now."""
        wanted = self.settings if settings is None else settings
        if self.replay is None or self._followed == (wanted.learner, wanted.error_rate):
            return
        rows, is_same = self.replay.X, self._followed[0] == wanted.learner
        learner = self.replay.learner if is_same else build_learner(wanted.learner, rows.shape[1])
        self.start(learner, rows, wanted, None, self.replay.table)
        self._forget_belief()

    def follow(self) -> Replay:
        """Take the learner to the last event, also after an interruption, and return its replay."""
        if self.replay is None:
            raise SessionError("The session is open without its data. Open it with Session.open(path, X).")
        self.follow_settings()
        if self.replay.at != self._journal.last:
            self.replay.follow(self.ordered, self._journal.last)
        return self.replay

    # ------------------------------------------------------------ lists of events, and settings
    def _follow_lists(self) -> EventLists:
        self._lists.follow(self._journal.events)
        return self._lists

    @property
    def settings(self) -> Settings:
        """What counts beside pairs."""
        return self._follow_lists().settings

    @property
    def rate(self) -> AssumedRate:
        """The share of wrong answers that the session assumes; None to estimate it."""
        return self.settings.error_rate

    @property
    def remaining(self) -> list[Event]:
        """The events that are not undone."""
        return self._follow_lists().remaining

    @property
    def settled(self) -> list[Event]:
        """The events about pairs that still count."""
        return self._follow_lists().settled

    @property
    def ordered(self) -> list[Event]:
        """The settled events in the order of their questions."""
        return self._follow_lists().ordered

    def last_start(self) -> int:
        """Number of the last event on which questions depend; 0 before the first."""
        return find_last_start(self._journal.events)

    def is_answered(self, first: int, second: int, start: int, source: str | None = None) -> bool:
        """Whether the pair was answered after an event, by a certain source or by any."""
        return _has_later(self._follow_lists().last_answers.get(frozenset((first, second))), start, source)

    def is_sorted(self, rows: Collection[int], start: int, source: str | None = None) -> bool:
        """Whether the rows of a screen were sorted after an event, by a certain source or by any."""
        return _has_later(self._follow_lists().last_sortings.get(frozenset(rows)), start, source)

    # ------------------------------------------------------------ evidence
    def evidence_now(self) -> Evidence:
        """The evidence as of the last event, with or without a learner."""
        last = self._journal.last
        if self.replay is not None and self.replay.at == last:
            return self.replay.evidence
        if self._evidence is None or self._evidence[0] != last:
            try:
                self._evidence = last, self._evidence_without_replay()
            except SessionDamagedError as error:
                raise SessionDamagedError(
                    f"{self._journal.store.name} is damaged. {error}. Restore a copy of the file."
                ) from error
        return self._evidence[1]

    def _evidence_without_replay(self) -> Evidence:
        """The evidence by the events, and by what was stored of the belief with the labels."""
        settled, rate, n_rows = self.ordered, self.rate, self._journal.n_rows
        if rate != 0:
            stored = self._journal.store.clustering()
            if stored is not None and self._is_current(stored) and stored.doubts is not None:
                return RecalledEvidence(n_rows, settled, rate, stored.doubts)
        evidence = evidence_of(n_rows, settled, rate)
        if isinstance(evidence, FallibleEvidence):
            evidence.believe()
        return evidence

    def checking_evidence(self) -> Evidence:
        """Evidence to check a new answer against; what is believed is found only if somebody reads it."""
        if self.replay is not None and self.replay.at == self._journal.last:
            return self.replay.evidence
        settled, n_rebuilds = self.settled, self._lists.n_rebuilds
        if self._checking is None or self._checking[0] != n_rebuilds:
            self._checking = n_rebuilds, 0, make_evidence(self._journal.n_rows, None, self.rate)
        _, n_added, evidence = self._checking
        self._checking = None  # an error leaves none that is half complete
        for event in settled[n_added:]:
            add_event(evidence, event)
        self._checking = n_rebuilds, len(settled), evidence
        return evidence

    def certain_evidence(self, events: Sequence[Event] | None = None) -> Evidence:
        """What no new event may contradict: all facts, or the certain ones if answers may be wrong.

        By default it is that of all settled events, and otherwise that of some of them.
        """
        if self.rate == 0:
            return self.checking_evidence() if events is None else evidence_of(self._journal.n_rows, events)
        return certain_evidence_of(
            self._journal.n_rows, self.settled if events is None else events, self.rate
        )

    def evidence_of_others(self, events: Sequence[Event]) -> Evidence:
        """What is believed if only some settled events count, by the answers alone."""
        evidence = evidence_of(self._journal.n_rows, events, self.rate)
        if isinstance(evidence, FallibleEvidence):
            evidence.believe()
        return evidence

    def doubts(self) -> Doubts | None:
        """Which answers are probably wrong as of the last event; None if all count as right."""
        if self.rate == 0:
            return None
        evidence, last = self.evidence_now(), self._journal.last
        if self.replay is not None and self.replay.at == last:
            return self.replay.doubts()
        if self._doubts is None or self._doubts[0] != last:
            self._doubts = last, find_doubts(evidence, self.ordered)
        return self._doubts[1]

    # ------------------------------------------------------------ clusters
    def clustering(self) -> tuple[StoredClustering, bool]:
        """The labels, and whether they follow from every event; without data, those that were stored last."""
        if self.replay is not None:
            return self.follow().clustering(), True
        nothing = StoredClustering(-1, None, np.zeros(self._journal.n_rows, dtype=np.int32))
        stored = self._journal.store.clustering() or nothing
        return stored, self._is_current(stored)

    def _is_current(self, stored: StoredClustering) -> bool:
        """Whether no newer event than what is stored matters to the labels."""
        events = self._journal.events
        return stored.event >= 0 and all(is_aside(event, events) for event in events[stored.event :])

    def shades(self, clustering: StoredClustering) -> dict[int, Shade]:
        """The colour family of each cluster and its shade; without data they are given in turn."""
        if self.replay is not None:
            return dict(self.replay.shades)
        numbers = np.unique(clustering.labels[clustering.labels >= 0]).tolist()
        return {number: (at % N_FAMILIES, at // N_FAMILIES) for at, number in enumerate(numbers)}

    def cluster_names(self, clustering: StoredClustering) -> dict[int, str]:
        """Names of clusters by their numbers; of several names of one cluster the latest."""
        names = names_of(self._journal.events)
        clusters = clustering.shown.take(np.fromiter(names, np.int64, len(names)))
        latest = dict(zip(clusters.tolist(), names.values(), strict=True))
        return {cluster: name for cluster, name in latest.items() if name}

    def steps(self) -> Iterator[tuple[int, Labels]]:
        """The labels after each event that counts; see `linkwise.Session.replay_labels`."""
        self.catch_up()
        return self.follow().labels_by_event()

    # ------------------------------------------------------------ what linkwise.Session reads
    def guidelines(self) -> str:
        """What "belong together" means here, for everybody who answers; empty if nobody wrote it down."""
        self.catch_up()
        return self.settings.guidelines

    def examples(self) -> tuple[Example, ...]:
        """A few pairs that show what belongs together; see `set_examples`."""
        self.catch_up()
        return self.settings.examples

    def learner(self) -> dict[str, Any]:
        """Name and parameters of the learner, as the file holds them."""
        self.catch_up()
        return dict(self.settings.learner)

    def costs(self) -> dict[str, float]:
        """What the answers of each source have cost, as far as `add_cost` was called."""
        self.catch_up()
        return dict(self.settings.costs)

    def evidence(self) -> Evidence:
        """All constraints of the session, with what follows from them.

        Only read it, add nothing to it, and only while no other thread answers: it grows with the session.
        """
        self.catch_up_belief()
        return self.evidence_now()

    def constraints(self) -> Constraints:
        """All pairs answered yes or no, volunteered or imported.

        If answers may be wrong, each pair counts as it is believed.
        """
        self.catch_up_belief()
        return self.evidence_now().to_constraints()

    def error_rate(self) -> ErrorRate | None:
        """The estimated share of wrong answers with its 95 % interval, as `status` and the page show it.

        It is the rate of all sources in `error_rates`, unless linkwise doubts far more answers than
        contradict each other: then it follows from the contradictions alone. A share that was given when the
        session was opened has no interval: all three numbers are that share, or 0 if the session takes all
        answers as right. None before the first answer if the share is estimated.
        """
        self.catch_up_belief()
        doubts = self.doubts()
        return ErrorRate(0.0, 0.0, 0.0) if doubts is None else doubts.error_rate

    def read_assumed_rate(self) -> AssumedRate:
        """The `error_rate` that the session was opened with; None if it is estimated."""
        self.catch_up()
        return self.rate

    def error_rates(self) -> ErrorRates:
        """The estimated share of wrong answers of each source, and of all sources together.

        All are 0 if the session treats every answer as correct.
        """
        self.catch_up_belief()
        return self.evidence_now().error_rates()

    def suspects(self) -> list[SuspectAnswer]:
        """The answers that are probably wrong, the most probable ones first.

        Empty if the session treats every answer as correct. Without the data, and after an event that was
        stored without them, the list follows from the answers alone.
        """
        self.catch_up_belief()
        doubts = self.doubts()
        return [] if doubts is None else explain_suspects(self.evidence_now(), self.settled, doubts)

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
        lead = self.representatives()
        return why(
            self.clustering()[0].labels,
            first,
            second,
            constraints=self.evidence_now(),
            representatives=lead,
            explanation=explanation,
        )

    def representatives(self) -> NDArray[np.int64] | None:
        """The representative of each row, for learners that treat several rows as one.

        None without the data, and for other learners.
        """
        self.catch_up()
        return None if self.replay is None else self.follow().representatives()

    def column_shares(self) -> NDArray[np.float64] | None:
        """The share of each column of X in the distance between rows, for learners that learn it.

        None without the data, and for other learners.
        """
        self.catch_up()
        return None if self.replay is None else self.follow().column_shares()

    def explain_pair(self, first: int, second: int) -> PairExplanation | None:
        """Explain which columns speak for the match of two rows, and which against it.

        Parameters
        ----------
        first, second : int
            Two different rows.

        Returns
        -------
        PairExplanation or None
            What each column adds to the log-odds of a match. None without the data, and for learners that
            cannot tell it: `RecordLinkage` can.
        """
        self.catch_up()
        return None if self.replay is None else self.follow().explain_pair(first, second)

    def column_effects(self) -> dict[str, float] | None:
        """How much each column counts for a match: how far the log-odds that it adds are from their mean.

        None without the data, and for learners that cannot tell it. "" stands for the rows as wholes.
        """
        self.catch_up()
        return None if self.replay is None else self.follow().column_effects()

    def list_doubts(self, most: int = 20) -> list[DoubtfulDecision] | None:
        """List the least certain decisions: which groups may be one, and which may be two.

        Parameters
        ----------
        most : int, default=20
            The number of decisions to list at most.

        Returns
        -------
        list of DoubtfulDecision or None
            Two rows of each decision, and the probability that they are in one group; the least certain
            first, and one for each group or pair of groups. None without the data, and for learners that
            cannot tell it: `RecordLinkage` can.
        """
        self.catch_up()
        return None if self.replay is None else self.follow().list_doubts(most)

    def history(self) -> list[Event]:
        """The events about pairs that still count, each with its latest answer and note."""
        self.catch_up()
        return list(self.settled)

    def events(self) -> list[Event]:
        """All events, undone or not."""
        self.catch_up()
        return list(self._journal.events)

    def remaining_events(self) -> list[Event]:
        """The events that are not undone: about pairs, changes of answers, and names of clusters."""
        self.catch_up()
        return list(self.remaining)

    def names(self) -> dict[int, str]:
        """Names of clusters, by the row that each was given to; the latest comes last."""
        self.catch_up()
        return {row: name for row, name in names_of(self._journal.events).items() if name}

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
        self.catch_up()
        replay = self.follow()
        q = replay.question
        return q is not None and replay.foresee(check_answer(answer, q.first, q.second), stop)


def _has_later(numbers: Mapping[str, int] | None, start: int, source: str | None) -> bool:
    """Whether one of the last answers, by their sources, came after an event; of one source or of any."""
    return any(number > start for name, number in (numbers or {}).items() if source in (None, name))
