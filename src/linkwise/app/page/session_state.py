"""The state of a session as pages show it: everything that they get without asking."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score

from linkwise.app.page.answer_list import (
    AnswerList,
    serialize_event,
    serialize_guidelines,
)
from linkwise.app.page.cards import RowView
from linkwise.app.page.cluster_descriptions import (
    ClusterDescriptions,
    choose_profiler,
)
from linkwise.app.page.cluster_list import MOST_CLUSTERS, ClusterSummary, find_exemplars, summarize_clusters
from linkwise.app.page.earlier_moves import EarlierMoves
from linkwise.app.page.recent_moves import RecentMoves
from linkwise.app.page.rendering import (
    render_advice,
    render_cluster,
    render_question,
)
from linkwise.app.page.requests import PERSONAL
from linkwise.app.page.row_places import RowPlaces
from linkwise.app.project.column_offer import ColumnOffer
from linkwise.app.project.method_choice import learner_phrase
from linkwise.app.project.project import Project
from linkwise.data import Encoded
from linkwise.reasons.profiles import Profiles
from linkwise.session.journal.events import Event
from linkwise.session.session import Session
from linkwise.session.state.event_facts import is_aside
from linkwise.session.state.moves import measure_change
from linkwise.session.state.status import Status, describe_doubts, describe_errors
from linkwise.session.team.agreement import measure_pace, measure_recent_pace
from linkwise.session.team.review import ReviewCase
from linkwise.types import Labels

PROTOCOL = 1
SHOWN_CHANGES = 20
ONE_BYTE, TWO_BYTES = 255, 65_535  # the highest value stands for noise


class SessionState:
    """The state of a session; see `linkwise.app.page.presenter.Presenter`."""

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
        self._session, self._X, self._view, self._columns = session, X, view, columns
        self._title, self._place, self._budget, self._classes = title, place, budget, classes
        self._notes = list(notes)
        self._overlap, self._gold = overlap, gold
        self._columns_offer = ColumnOffer(project)
        self._person = ""  # whose request is handled
        self._lock = threading.RLock()
        self._places = RowPlaces(X, view.items.kind, places)
        self._shares: dict[int, float] = {}  # of rows that an event moved, by its number
        self._earlier = EarlierMoves(session)
        self._has_new_shares = False  # whether the earlier moves have not been shown yet
        self._moves = RecentMoves()
        self._has_waiting = False  # whether somebody waits for a question
        self._here: set[str] = set()  # people who look at a page, as of the last state
        self._counter = 0
        self._labels: Labels = session.labels
        self._shades = session.cluster_shades
        self._typical: dict[int, tuple[int, ...]] = {}
        self._clusters: tuple[ClusterSummary, ...] = ()
        self._rules: tuple[int, ClusterDescriptions] | None = None
        self._profile = choose_profiler(columns, view.items, session.n_rows)
        self._profiles: tuple[int, Profiles] = (-1, {})
        self._answers: tuple[int, AnswerList] = (-1, AnswerList([], frozenset()))
        self._event = -1
        self._refresh()

    def _show_encoding(self, X: NDArray[Any], view: RowView, columns: Encoded | None) -> None:
        """Show the rows in another encoding, on which the session was replayed."""
        self._X, self._view, self._columns = X, view, columns
        self._places = RowPlaces(X, view.items.kind)
        self._shares, self._earlier = {}, EarlierMoves(self._session)
        self._profile, self._profiles = choose_profiler(columns, view.items, self._session.n_rows), (-1, {})
        self._rules, self._answers = None, (-1, AnswerList([], frozenset()))
        self._event = -1  # so that everything is read again
        self._refresh()

    def places(self) -> bytes:
        """Return two float32 a row, little endian, within [-1, 1]."""
        return self._places.current.astype("<f4").tobytes()

    def take_new_places(self) -> bytes | None:
        """Return the places if a map by neighbours is done since the last call; None otherwise."""
        with self._lock:
            return self.places() if self._places.take_new() else None

    def labels(self) -> tuple[int, bytes]:
        """Return a number that changes with the labels, and the cluster of each row in one byte or two."""
        with self._lock:
            most, form = (TWO_BYTES, "<u2") if self._needs_two_bytes() else (ONE_BYTE, "u1")
            numbers = np.where(self._labels < 0, most, self._labels % most)
            return self._counter, numbers.astype(form).tobytes()

    def state(self, people: Sequence[str] = ()) -> dict[str, Any]:
        """Return everything that is shown, except labels and places, as values for JSON.

        With people it has a part for each of them, which they are shown in place of the common one.
        """
        with self._lock:
            self._refresh()
            self._has_new_shares = self._columns_offer.is_new = False
            session = self._session
            status, history = session.status, session.history
            ended = self._end_reason()
            answers = [e for e in history if e.kind == "answer" and e.answer != "unsure"]
            changes = [self._shares[e.number] for e in answers if e.number in self._shares][-SHOWN_CHANGES:]
            listed = self._list_answers()
            found = {
                "protocol": PROTOCOL,
                "title": self._title,
                "kind": self._view.items.kind,
                "place": self._place,
                "rows": session.n_rows,
                "two_bytes": self._needs_two_bytes(),
                "labels": self._counter,
                "shades": [[number, *shade] for number, shade in sorted(self._shades.items())],
                "event": self._event,
                "busy": False,
                "question": None if ended else self._question(),
                "ended": ended,
                "agreement": None if ended is None else self.agreement(),
                "budget": self._budget,
                "seconds_per_answer": measure_recent_pace(history, SHOWN_CHANGES),
                "counts": {
                    "answers": status.n_answers,
                    "yes": status.n_yes,
                    "no": status.n_no,
                    "unsure": status.n_unsure,
                    "added": status.n_volunteered,
                    "imported": status.n_imported,
                    "done": status.n_done,
                    "inferred": status.n_inferred,
                },
                "changes": changes,
                "advice": render_advice(status, ended=ended is not None),
                "axes": self._places.axes,
                "map": None if people else self._places.describe(),
                "clusters": [render_cluster(self._view, c) for c in self._clusters[:MOST_CLUSTERS]],
                "rules": self._has_rules(),
                "profiles": self._profile is not None,
                "columns": None if people else self._columns_offer.describe(),
                "more_clusters": max(0, len(self._clusters) - MOST_CLUSTERS),
                "learner": learner_phrase(session.learner),
                "description": [] if status.advice is not None else list(status.description),
                "notes": self._notes,
                "undo": None if listed.last is None else self._serialize(listed.last),
                "errors": self._describe_errors(status),
                "n_suspects": status.n_suspects,
                "n_review": len(self._find_cases("")),
                **serialize_guidelines(session.guidelines, session.examples, self._view.name),
                **({PERSONAL: self._personal_states(people, ended, status)} if people or self._here else {}),
            }
            return found

    def _personal_states(
        self, people: Sequence[str], ended: str | None, status: Status
    ) -> dict[str, dict[str, Any]]:
        """What each person is shown: their own question, undo and counts.

        After the last question of the learner they still get second opinions and gold pairs.
        """
        history = self._session.history
        counts = Counter(event.source for event in history if event.kind == "answer")
        paces = measure_pace(history)
        for person in self._here - set(people):
            self._session.release(person)
        self._here = set(people)
        states = {}
        # whoever has answered least waits least
        for at, person in enumerate(sorted(people, key=counts.__getitem__), 1):
            question = None if ended == "budget" else self._question_for(person, len(people) - at)
            own = self._last_of(person)
            states[person] = {
                "question": question,
                "ended": (ended or "waiting") if question is None else None,
                "advice": render_advice(status, ended=ended is not None and question is None),
                "undo": None if own is None else self._serialize(own),
                "n_review": len(self._find_cases(person)),
                "team": {
                    "you": person,
                    "own": counts[person],
                    "all": counts.total(),
                    "here": list(people),
                    "median_seconds": paces.get(person),
                },
                "moves": self._moves.list_of(history, person),
            }
        self._has_waiting = any(state["ended"] == "waiting" for state in states.values())
        return states

    def _find_cases(self, person: str) -> list[ReviewCase]:
        """The pairs that wait for a review by a person, without those that only they answered."""
        cases = self._session.review(person)
        return [case for case in cases if any(event.source != person for event in case.answers)]

    def _last_of(self, person: str) -> Event | None:
        """The last answer or pair of a person that is not undone."""
        own = (e for e in reversed(self._session.history) if e.kind in ("answer", "add"))
        return next((event for event in own if event.source == person), None)

    @staticmethod
    def _describe_errors(status: Status) -> str:
        """The share of wrong answers in words, or that none seems wrong; a button counts the suspects."""
        return describe_errors(status) if status.n_suspects else describe_doubts(status)

    def agreement(self) -> float | None:
        """Return the adjusted Rand index of clusters and classes; None without classes."""
        return None if self._classes is None else float(adjusted_rand_score(self._classes, self._labels))

    def has_changed(self) -> bool:
        """Return whether something was written since the last state, by this program or another."""
        with self._lock:
            is_waiting = self._has_waiting and self._end_reason() is None  # for what others hold
            is_older = self._last_event() != self._event
            is_newer = self._columns_offer.is_new
            return self._has_new_shares or is_newer or is_older or is_waiting

    def look_ahead(self, stop: Callable[[], bool]) -> None:
        """Compute what follows each answer, the likelier one first, until `stop` returns True."""
        with self._lock:
            question = None if self._end_reason() else self._question()
            if question is not None:
                likely = question["guess"]
                for answer in (likely, "no" if likely == "yes" else "yes"):
                    self._session.look_ahead(answer, stop=stop)
            if self._earlier.advance(stop):
                self._has_new_shares = len(self._earlier.shares) > len(self._shares)
                self._shares = self._earlier.shares | self._shares
            if not (stop() or self._here):
                self._columns_offer.update()

    def close(self) -> None:
        """Close the session."""
        with self._lock:
            self._session.close()

    def _refresh(self) -> None:
        """Read what is new in the session, from this program or another."""
        last = self._last_event()
        if last == self._event:
            return
        labels, shades = self._session.labels, self._session.cluster_shades
        if self._event >= 0:
            events = self._session.events
            new = [e.number for e in events[self._event :] if not is_aside(e, events)]
            share = measure_change(self._labels, labels)
            if self._here:
                self._moves.note(new, self._labels, labels, self._session.cluster_names)
            self._shares |= {number: share if number == new[-1] else 0.0 for number in new}
        is_new = self._event < 0 or shades != self._shades or not np.array_equal(labels, self._labels)
        if is_new:
            self._labels, self._shades, self._counter = labels, shades, self._counter + 1
            self._typical = find_exemplars(labels, self._X)
        self._clusters = summarize_clusters(self._labels, self._typical, self._session)
        self._event = last

    def _last_event(self) -> int:
        events = self._session.events
        return events[-1].number if events else 0

    def _needs_two_bytes(self) -> bool:
        return int(self._labels.max(initial=0)) >= ONE_BYTE

    def _end_reason(self) -> str | None:
        if self._session.question is None:
            return "exhausted"
        return "budget" if self._is_spent() else None

    def _is_spent(self) -> bool:
        """Whether there are as many answers as the budget allows."""
        return self._budget is not None and self._session.status.n_answers >= self._budget

    def _question(self) -> dict[str, Any] | None:
        name, q = self._session.question_id, self._session.question
        if q is not None and self._session.list_postponed():
            return self._question_for("", 0)
        return None if q is None else render_question(self._view, self._labels, q, name, q.expected)

    def _question_for(self, person: str, n_others: int) -> dict[str, Any] | None:
        """The question of one person; None if others hold all that are worth asking now."""
        found = self._session.questions(
            1, to=person, overlap=self._overlap, gold=self._gold, n_others=n_others
        )
        if not found:
            return None
        return render_question(self._view, self._labels, found[0], found[0].id, None)

    def _serialize(self, event: Event) -> dict[str, Any]:
        return serialize_event(event, self._list_answers().changed, self._view.name)

    def _list_answers(self) -> AnswerList:
        """Return the events that hold, listed once after each event."""
        last = self._last_event()
        if self._answers[0] != last:
            self._answers = last, AnswerList.of(self._session)
        return self._answers[1]

    def _has_rules(self) -> bool:
        items = self._view.items
        return self._columns is not None or items.kind == "text" or items.side is not None
