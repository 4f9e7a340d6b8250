"""The presenter: one session as a page shows it. It handles requests and returns the state.

It knows neither network nor notebook; `hub` connects it to both. Labels and places are bytes, everything else
is JSON. When it confirms an answer, the answer is on the disk.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score

from linkwise.asking.learner import Labels, Question
from linkwise.constraints.checks import CONSTRAINT_KINDS
from linkwise.constraints.evidence import ANSWERS, Answer
from linkwise.data import Encoded
from linkwise.errors import (
    ConstraintError,
    DataError,
    InfeasibleConstraintsError,
    SessionError,
    SessionLockedError,
    StaleAnswerError,
)
from linkwise.page import requests
from linkwise.page.adviser import give_advice
from linkwise.page.answer_list import (
    AnswerList,
    check_owner,
    describe_suspect,
    serialize_chain,
    serialize_event,
    serialize_guidelines,
    serialize_suspect,
)
from linkwise.page.cards import RowView, list_differing_fields
from linkwise.page.cluster_descriptions import (
    ClusterDescriptions,
    choose_profiler,
    describe_by_rules,
    describe_by_words,
)
from linkwise.page.cluster_list import MOST_CLUSTERS, ClusterSummary, find_exemplars, summarize_clusters
from linkwise.page.earlier_moves import EarlierMoves
from linkwise.page.exports import export_constraints, export_labels, export_session
from linkwise.page.recent_moves import RecentMoves
from linkwise.page.requests import PERSONAL, RefusedRequest, Reply, Request
from linkwise.page.row_values import summarize_rows
from linkwise.page.scatter import project_rows, scale_places
from linkwise.page.stopping import measure_change
from linkwise.page.team_report import describe_team
from linkwise.reasons.profiles import Profiles
from linkwise.session.agreement import measure_pace
from linkwise.session.events import ASIDE, Event
from linkwise.session.leases import OpenQuestion
from linkwise.session.moves import describe_moves, find_moves
from linkwise.session.review import ReviewCase
from linkwise.session.session import Session
from linkwise.session.status import Status, count_suspects, describe_errors
from linkwise.wording import NO_MORE_QUESTIONS
from linkwise.workspace.cluster_search import RowHits, cluster_names, create_matcher, find_rows
from linkwise.workspace.method_choice import learner_phrase

PROTOCOL = 1
EXPORTS = ("labels", "constraints", "session", "rules")
MOVING_ACTIONS = (
    "answer",
    "undo",
    "take_back",
    "change",
    "sure",
    "decide",
    "add",
    "merge",
    "done",
)  # may move rows
SHOWN_CHANGES = 20
ONE_BYTE, TWO_BYTES = 255, 65_535  # the highest value stands for noise


class Presenter:
    """A session as a page shows it.

    Threads may share a presenter: each call waits for the previous one.

    Parameters
    ----------
    session : Session
        Opened with its data; closed by `close`.
    X : ndarray of shape (n_rows, n_features)
        The data of the session.
    view : RowView
        How rows are shown.
    title : str
    place : str, optional
        Path of the session file. By default the session is in memory.
    places : array-like of shape (n_rows, 2), optional
        Coordinates of the rows in the plot. By default the first two principal components.
    columns : Encoded, optional
        The rows in their original units, for rules.
    notes : sequence of str
        How the data were read.
    budget : int, optional
        The number of answers after which no more questions are asked.
    classes : array-like of shape (n_rows,), optional
        The known class of each row. Nobody sees them; at the end the page shows how well the clusters agree.
    overlap : float, default=0.0
        The share of questions that a second person gets, too (`linkwise.Session.questions`).
    gold : str, default=""
        The source of an import whose pairs people get now and then.
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
    ) -> None:
        self._session, self._X, self._view, self._columns = session, X, view, columns
        self._title, self._place, self._budget, self._classes = title, place, budget, classes
        self._notes = list(notes)
        self._overlap, self._gold = overlap, gold
        self._person = ""  # whose request is handled
        self._lock = threading.RLock()
        self._coordinates, self._axes = (
            project_rows(X, view.items.kind) if places is None else (scale_places(places, len(X)), "")
        )
        self._shares: dict[int, float] = {}  # of rows that an event moved, by its number
        self._earlier = EarlierMoves(session)
        self._has_new_shares = False  # whether the earlier moves have not been shown yet
        self._guidelines = session.guidelines, session.examples
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

    # ------------------------------------------------------------ what a page shows
    def places(self) -> bytes:
        """Return two float32 a row, little endian, within [-1, 1]."""
        return self._coordinates.astype("<f4").tobytes()

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
            self._has_new_shares = False
            session = self._session
            self._guidelines = session.guidelines, session.examples
            status, history = session.status, session.history
            ended = self._end_reason()
            answers = [e for e in history if e.kind == "answer" and e.answer != "unsure"]
            changes = [self._shares[e.number] for e in answers if e.number in self._shares][-SHOWN_CHANGES:]
            listed, advise = self._list_answers(), partial(give_advice, changes, status)
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
                "advice": advise(ended=ended is not None),
                "axes": self._axes,
                "clusters": [self._cluster(c) for c in self._clusters[:MOST_CLUSTERS]],
                "rules": self._has_rules(),
                "profiles": self._profile is not None,
                "more_clusters": max(0, len(self._clusters) - MOST_CLUSTERS),
                "learner": learner_phrase(session.learner),
                "description": [] if status.advice is not None else list(status.description),
                "notes": self._notes,
                "undo": None if listed.last is None else self._serialize(listed.last),
                "errors": self._describe_errors(status),
                "n_suspects": status.n_suspects,
                "n_review": len(self._find_cases("")),
                **serialize_guidelines(*self._guidelines, self._view.name),
                **({PERSONAL: self._personal_states(people, ended, advise)} if people or self._here else {}),
            }
            return found

    def _personal_states(
        self, people: Sequence[str], ended: str | None, advise: Callable[..., dict[str, Any]]
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
                "advice": advise(ended=ended is not None and question is None),
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
        if status.n_suspects or not status.n_answers + status.n_volunteered:
            return describe_errors(status)
        return f"{describe_errors(status)} {count_suspects(status)}".strip() if status.is_fallible else ""

    def agreement(self) -> float | None:
        """Return the adjusted Rand index of clusters and classes; None without classes."""
        return None if self._classes is None else float(adjusted_rand_score(self._classes, self._labels))

    def has_changed(self) -> bool:
        """Return whether something was written since the last state, by this program or another."""
        with self._lock:
            is_waiting = self._has_waiting and self._end_reason() is None  # for what others hold
            is_older = self._last_event() != self._event or self._has_new_guidelines()
            return self._has_new_shares or is_older or is_waiting

    def _has_new_guidelines(self) -> bool:
        return (self._session.guidelines, self._session.examples) != self._guidelines

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

    def close(self) -> None:
        """Close the session."""
        with self._lock:
            self._session.close()

    # ------------------------------------------------------------ requests
    def handle(self, request: Any, person: str = "") -> Reply:
        """Handle a request of a page, perhaps of a certain person. Whatever it contains, there is a reply."""
        name = requests.request_id(request)
        with self._lock:
            before, self._person = self._event, person
            if person and isinstance(request, dict) and request.get("do") == "answer":
                return self._store_answer(request)
            try:
                if not isinstance(request, dict) or name is None:
                    raise RefusedRequest("bad", "A request is an object with an id of at most 64 characters.")
                body, file = self._run(request)
            except RefusedRequest as error:
                reply = requests.refuse(request, error.kind, error.text, **error.more)
                return replace(reply, changed=self._has_new_event(before))
            return Reply({"re": name, "ok": True, **body}, file, changed=self._has_new_event(before))

    def _store_answer(self, request: Request) -> Reply:
        """Store the answer of one of several people; what follows from it is computed with the next state.

        So it is confirmed at once, and answers that come together are followed up together.
        """
        try:
            body, _ = self._run(request, follows=False)
        except RefusedRequest as error:
            reply = requests.refuse(request, error.kind, error.text, **error.more)
        else:
            reply = Reply(
                {"re": requests.request_id(request), "ok": True, "follows": self._last_event(), **body}
            )
        return replace(reply, changed=self._last_event() != self._event)

    def _run(self, request: Request, *, follows: bool = True) -> tuple[dict[str, Any], bytes | None]:
        """Return the result of a request, with a file if there is one."""
        do = requests.read_choice(request, "do", tuple(self.ACTIONS))
        try:
            if follows and do in MOVING_ACTIONS:
                self._refresh()  # rows that another program moved do not count
            before = self._labels
            result = self.ACTIONS[do](self, request)
        except StaleAnswerError as error:
            raise RefusedRequest("stale", str(error)) from None
        except InfeasibleConstraintsError as error:
            if self._session.status.is_fallible:  # only what is certain conflicts, and the text names it
                raise RefusedRequest("bad", str(error)) from None
            raise RefusedRequest(
                "contradiction", str(error), chain=self._chain(request, error.chain)
            ) from None
        except ConstraintError as error:
            raise RefusedRequest("bad", str(error)) from None
        except SessionLockedError as error:
            raise RefusedRequest("locked", str(error)) from None
        except DataError as error:
            raise RefusedRequest("bad", str(error)) from None
        except (SessionError, OSError) as error:
            raise RefusedRequest("failed", str(error)) from None
        body, file = result if isinstance(result, tuple) else (result, None)
        if follows and do in MOVING_ACTIONS and self._try_refresh():
            names = self._session.cluster_names
            body = {**body, "moved": describe_moves(find_moves(before, self._labels), names)}
        return body, file

    def _has_new_event(self, before: int) -> bool:
        if self._try_refresh():
            with suppress(SessionError):  # shown with the next state
                return self._event != before or self._has_new_guidelines()
        return self._event != before

    def _try_refresh(self) -> bool:
        """Refresh after an action, which is stored already; return whether the session could be read."""
        with suppress(SessionError):
            self._refresh()
            return True
        return False

    # ------------------------------------------------------------ actions that change the session
    def _answer(self, request: Request) -> dict[str, Any]:
        answer: Answer = requests.read_choice(request, "answer", ANSWERS)
        question, remark = requests.read_text(request, "question"), requests.read_remark(request)
        has_ended = RefusedRequest(
            "ended", f"{NO_MORE_QUESTIONS}. You can still mark pairs or export the clusters."
        )
        if self._is_spent() or (not self._person and self._session.question is None):
            raise has_ended
        try:
            self._session.answer(answer, question_id=question, source=self._person, **remark)
        except StaleAnswerError:
            if self._end_reason() is None:
                raise
            raise has_ended from None
        return {}

    def _undo(self, request: Request) -> dict[str, Any]:
        if not self._person:
            event = self._session.undo()
        else:
            own = self._last_of(self._person)
            event = None if own is None else self._session.undo(own.number)
        return {"undone": None if event is None else self._serialize(event)}

    def _take_back(self, request: Request) -> dict[str, Any]:
        event = self._session.undo(self._read_own(request))
        return {"undone": None if event is None else self._serialize(event)}

    def _change(self, request: Request) -> dict[str, Any]:
        answer: Answer = requests.read_choice(request, "answer", ANSWERS)
        self._session.change(self._read_own(request), answer)
        return {}

    def _write_note(self, request: Request) -> dict[str, Any]:
        note = requests.read_note(request)
        self._session.note(requests.read_integer(request, "event"), note, source=self._person)
        return {}

    def _confirm(self, request: Request) -> dict[str, Any]:
        self._session.set_sure(self._read_own(request))
        return {}

    def _read_own(self, request: Request) -> int:
        """Return the number of an event; of several people, each may change only their own answers."""
        number = requests.read_integer(request, "event")
        if self._person:
            events = {event.number: event for event in self._session.events}
            check_owner(events, number, self._person)
        return number

    def _decide(self, request: Request) -> dict[str, Any]:
        answer: Answer = requests.read_choice(request, "answer", ANSWERS)
        first, second = self._read_pair(request)
        if not any({first, second} == {case.first, case.second} for case in self._find_cases(self._person)):
            raise RefusedRequest("bad", "This pair needs no review any more.")
        note = requests.read_note(request)
        self._session.decide(first, second, answer, source=self._person, note=note)
        return {}

    def _add(self, request: Request) -> dict[str, Any]:
        kind = requests.read_choice(request, "kind", CONSTRAINT_KINDS)
        first, second = self._read_pair(request)
        note = requests.read_note(request)
        self._session.add(first, second, kind, source=self._person, note=note)
        return {}

    def _merge(self, request: Request) -> dict[str, Any]:
        one, other = (self._find_cluster(request, name) for name in ("first", "second"))
        if one is other:
            raise RefusedRequest("bad", "A cluster cannot be merged with itself. Choose another one.")
        # whoever merges two clusters means it
        self._session.add(
            one.exemplars[0], other.exemplars[0], "must-link", is_sure=True, source=self._person
        )
        return {"first": one.exemplars[0], "second": other.exemplars[0]}

    def _set_done(self, request: Request) -> dict[str, Any]:
        return {"rows": self._session.set_done(self._find_cluster(request, "cluster").exemplars[0])}

    def _set_example(self, request: Request) -> dict[str, Any]:
        """Make a pair an example of what belongs together, or remove it from the examples."""
        answer = requests.read_choice(request, "answer", ("yes", "no", "none"))
        pair = self._read_pair(request)
        if answer == "none":
            self._session.remove_example(*pair)
        else:
            self._session.add_example(*pair, answer == "yes", requests.read_note(request))
        return {}

    def _name(self, request: Request) -> dict[str, Any]:
        name = requests.read_text(request, "name")
        self._session.set_name(self._find_cluster(request, "cluster").exemplars[0], name)
        return {}

    # ------------------------------------------------------------ actions that only read
    def _item(self, request: Request) -> dict[str, Any]:
        return {"items": [self._render_row(row) for row in requests.read_rows(request, self._session.n_rows)]}

    def _find(self, request: Request) -> dict[str, Any]:
        """Find clusters by name, number or row, and describe those that the state does not list."""
        matches = create_matcher(requests.read_text(request, "text"))
        hits = find_rows(matches, self._view.name, self._labels)
        unlisted = [
            c
            for c in self._clusters[MOST_CLUSTERS:]
            if c.number in hits or any(map(matches, cluster_names(c.number, c.name)))
        ]
        described = unlisted[:MOST_CLUSTERS]
        shown = [c.number for c in (*self._clusters[:MOST_CLUSTERS], *described) if c.number in hits]
        return {
            "labels": self._counter,
            "rows": [{"cluster": number, **self._hits(hits[number])} for number in shown],
            "clusters": [self._cluster(c) for c in described],
            "more": len(unlisted) - len(described),
        }

    def _history(self, request: Request) -> dict[str, Any]:
        limit = (
            requests.read_integer(request, "limit", requests.MOST_EVENTS + 1) if "limit" in request else 50
        )
        before = None if request.get("before") is None else requests.read_integer(request, "before")
        listed = self._list_answers()
        events = [e for e in listed.events if before is None or e.number < before]
        newest = [serialize_event(e, listed.changed, self._view.name) for e in events[::-1][:limit]]
        return {"events": self._add_values(newest), "more": len(events) > len(newest)}

    def _list_suspects(self, request: Request) -> dict[str, Any]:
        suspects = self._session.suspects
        listed = suspects[: requests.MOST_EVENTS]
        sources = {event.number: event.source for event in self._session.history}
        return {
            "suspects": self._add_values(
                [
                    serialize_suspect(suspect, sources.get(suspect.number, ""), self._view.name)
                    for suspect in listed
                ]
            ),
            "more": len(suspects) - len(listed),
        }

    def _list_cases(self, request: Request) -> dict[str, Any]:
        """List the pairs that wait for a review, with all about one of them: the given pair or the first."""
        cases = self._find_cases(self._person)
        asked = set(self._read_pair(request)) if "first" in request else set()
        shown = next((case for case in cases if {case.first, case.second} == asked), None)
        listed = cases[: requests.MOST_EVENTS]
        name_row = self._view.name
        return {
            "cases": [
                {
                    "first": case.first,
                    "second": case.second,
                    "names": [name_row(case.first), name_row(case.second)],
                }
                for case in listed
            ],
            "more": len(cases) - len(listed),
            "shown": self._render_case(shown or cases[0]) if cases else None,
        }

    def _list_rules(self, request: Request) -> dict[str, Any]:
        described = self._describe()
        clusters = [{"cluster": cluster, "text": lines} for cluster, lines in described.clusters.items()]
        return {"clusters": clusters, "fidelity": described.fidelity, "notes": described.notes}

    def _list_profiles(self, request: Request) -> dict[str, Any]:
        """Say in a line what distinguishes each cluster. Pages ask after they show the state."""
        if self._profile is not None and self._profiles[0] != self._counter:
            self._profiles = self._counter, self._profile(self._labels)
        found = [{"cluster": number, "text": text} for number, text in self._profiles[1].items()]
        return {"labels": self._counter, "profiles": found}

    def _why(self, request: Request) -> dict[str, Any]:
        first, second = self._read_pair(request)
        if first == second:
            raise RefusedRequest("bad", "First and second are the same row. Choose two rows.")
        why = self._session.why(first, second)
        return {"text": " ".join(why.sentences(self._view.name))}

    def _export(self, request: Request) -> tuple[dict[str, Any], bytes]:
        what = requests.read_choice(request, "what", EXPORTS)
        stem = Path(self._title).stem or "linkwise"
        exports: dict[str, tuple[str, str, Callable[[], bytes]]] = {
            "labels": ("clusters.csv", "text/csv", lambda: export_labels(self._session, self._labels)),
            "constraints": ("pairs.csv", "text/csv", lambda: export_constraints(self._session)),
            "session": ("linkwise", "application/vnd.sqlite3", lambda: export_session(self._session)),
            "rules": ("rules.txt", "text/plain", lambda: f"{self._describe().text}\n".encode()),
        }
        ending, kind, export = exports[what]
        name = f"{stem}.{ending}" if what == "session" else f"{stem}-{ending}"
        return {"name": name, "type": kind}, export()

    ACTIONS: ClassVar[dict[str, Callable[[Any, Request], Any]]] = {
        "answer": _answer, "undo": _undo, "take_back": _take_back, "change": _change, "sure": _confirm,
        "note": _write_note,
        "decide": _decide,
        "add": _add, "merge": _merge, "done": _set_done, "name": _name,
        "example": _set_example, "team": lambda self, _: {"report": describe_team(self._session)},
        "item": _item, "find": _find, "history": _history, "suspects": _list_suspects,
        "review": _list_cases,
        "rules": _list_rules, "profiles": _list_profiles, "why": _why, "export": _export,
    }  # fmt: skip

    # ------------------------------------------------------------ the present state
    def _refresh(self) -> None:
        """Read what is new in the session, from this program or another."""
        last = self._last_event()
        if last == self._event:
            return
        labels, shades = self._session.labels, self._session.cluster_shades
        if self._event >= 0:
            new = [e.number for e in self._session.events if self._event < e.number and e.kind not in ASIDE]
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
        return None if q is None else self._render_question(name, q, q.expected)

    def _question_for(self, person: str, n_others: int) -> dict[str, Any] | None:
        """The question of one person; None if others hold all that are worth asking now."""
        found = self._session.questions(
            1, to=person, overlap=self._overlap, gold=self._gold, n_others=n_others
        )
        return self._render_question(found[0].id, found[0]) if found else None

    def _render_question(
        self, name: str | None, q: Question | OpenQuestion, expected: Answer | None = None
    ) -> dict[str, Any]:
        first, second = self._render_row(q.first), self._render_row(q.second)
        likely = "yes" if self._labels[q.first] == self._labels[q.second] else "no"
        return {
            "id": name,
            "first": first,
            "second": second,
            "differing": list_differing_fields(first, second),
            "why": q.why,
            "guess": expected or likely,
        }

    def _render_case(self, case: ReviewCase) -> dict[str, Any]:
        """Both rows, who answered what and when, what speaks against it, and what is believed."""
        first, second = self._render_row(case.first), self._render_row(case.second)
        return {
            "first": first,
            "second": second,
            "differing": list_differing_fields(first, second),
            "answers": [self._serialize(event) for event in case.answers],
            "doubts": [
                describe_suspect(suspect, event.source, self._view.name)
                for suspect in case.suspects
                for event in case.answers
                if event.number == suspect.number
            ],
            "believed": case.believed,
        }

    def _render_row(self, row: int) -> dict[str, Any]:
        return {**self._view.render(row), "cluster": int(self._labels[row])}

    def _cluster(self, cluster: ClusterSummary) -> dict[str, Any]:
        return {
            "cluster": cluster.number,
            "size": cluster.size,
            "name": cluster.name,
            "exemplar": cluster.exemplars[0],
            "exemplars": list(cluster.exemplars),
            "exemplar_names": [self._view.name(row) for row in cluster.exemplars],
            "done": cluster.done,
            "answered": cluster.n_answered,
        }

    def _hits(self, hits: RowHits) -> dict[str, Any]:
        return {"count": hits.count, "rows": hits.rows, "names": [self._view.name(row) for row in hits.rows]}

    def _read_pair(self, request: Request) -> tuple[int, int]:
        n_rows = self._session.n_rows
        first, second = (requests.read_integer(request, name, n_rows) for name in ("first", "second"))
        return first, second

    def _find_cluster(self, request: Request, name: str) -> ClusterSummary:
        number = requests.read_integer({name: request.get(name, None)}, name)
        found = next((c for c in self._clusters if c.number == number), None)
        if found is None:
            raise RefusedRequest("bad", f"Cluster {number} does not exist any more.")
        return found

    def _serialize(self, event: Event) -> dict[str, Any]:
        return serialize_event(event, self._list_answers().changed, self._view.name)

    def _list_answers(self) -> AnswerList:
        """Return the events that hold, listed once after each event."""
        last = self._last_event()
        if self._answers[0] != last:
            self._answers = last, AnswerList.of(self._session)
        return self._answers[1]

    def _chain(self, request: Request, chain: Sequence[int]) -> list[dict[str, Any]]:
        """Return the links of a conflict, each with its event."""
        changed = request.get("event") if request.get("do") == "change" else None
        links = serialize_chain(
            self._session.history, chain, self._asked_pair(request), changed, self._view.name
        )
        return self._add_values(links)

    def _add_values(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Add a line about each row to the fields of pairs."""
        for entry in entries:
            rows = [row for row in (entry["first"], entry["second"]) if row is not None]
            entry["values"] = summarize_rows(self._view, rows)
        return entries

    def _asked_pair(self, request: Request) -> frozenset[int]:
        """Return the two rows of a refused request."""
        do = request.get("do")
        if do == "merge":
            pair = [self._find_cluster(request, name).exemplars[0] for name in ("first", "second")]
        elif do == "change":
            event = next(e for e in self._session.history if e.number == request["event"])
            pair = [row for row in (event.first, event.second) if row is not None]
        elif do == "add":
            pair = [request["first"], request["second"]]
        else:
            pair = []
        return frozenset(pair)

    def _has_rules(self) -> bool:
        return self._columns is not None or self._view.items.kind == "text"

    def _describe(self) -> ClusterDescriptions:
        if not self._has_rules():
            raise RefusedRequest("bad", "These rows have neither columns nor texts, so there are no rules.")
        if self._rules is None or self._rules[0] != self._counter:
            if self._columns is not None:
                found = describe_by_rules(self._labels, self._columns, self._session.constraints)
            else:
                found = describe_by_words(self._labels, self._view.items)
            self._rules = self._counter, found
        return self._rules[1]
