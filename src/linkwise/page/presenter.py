"""The desk: one session with its items, as a page sees it. It takes requests, and gives the state.

It knows no network and no notebook: `server` and `widget` carry its words. Labels and places go as bytes,
all else as JSON. What it says was stored is on the disk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score

from linkwise.asking.learner import Labels
from linkwise.constraints.checks import CONSTRAINT_KINDS
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
from linkwise.page.answer_list import held, links, told
from linkwise.page.cards import View, differing
from linkwise.page.cluster_list import MOST_CLUSTERS, Cluster, clusters_of, exemplars
from linkwise.page.descriptions import Described, by_columns, by_words
from linkwise.page.earlier_moves import Past
from linkwise.page.exports import constraints_file, labels_file, session_file
from linkwise.page.requests import Refused, Reply, Request
from linkwise.page.scatter import framed, principal_places
from linkwise.page.stopping import advice, moved
from linkwise.session.events import Event
from linkwise.session.session import Session
from linkwise.workspace.learners import learner_in_words

PROTOCOL = 1
ANSWERS = ("yes", "no", "unsure")
EXPORTS = ("labels", "constraints", "session", "rules")
SHOWN_CHANGES = 20
ONE_BYTE, TWO_BYTES = 255, 65_535  # the highest value stands for noise


class Desk:
    """A session, as a page sees it.

    Threads may share a desk: each call waits for the one before.

    Parameters
    ----------
    session : Session
        Opened with its data; closed by `close`.
    X : ndarray of shape (n_rows, n_features)
        The data of the session.
    view : View
        The rows as they are shown.
    title : str
    place : str, optional
        Where the session is kept; in memory by default.
    places : array-like of shape (n_rows, 2), optional
        Where rows stand in the plot; by default the first two principal components.
    columns : Encoded, optional
        The rows in their own units, for rules.
    notes : sequence of str
        How the data were read.
    budget : int, optional
        Most answers that the session may hold.
    classes : array-like of shape (n_rows,), optional
        What is known of the rows and shown to nobody; at the end the page tells how well the clusters match.
    """

    def __init__(
        self,
        session: Session,
        X: NDArray[Any],
        view: View,
        *,
        title: str,
        place: str | None = None,
        places: ArrayLike | None = None,
        columns: Encoded | None = None,
        notes: Sequence[str] = (),
        budget: int | None = None,
        classes: ArrayLike | None = None,
    ) -> None:
        self._session, self._X, self._view, self._columns = session, X, view, columns
        self._title, self._place, self._budget, self._classes = title, place, budget, classes
        self._notes = list(notes)
        self._lock = threading.RLock()
        self._coordinates = principal_places(X) if places is None else framed(places, len(X))
        self._shares: dict[int, float] = {}  # of rows that moved, by the number of the event
        self._past = Past(session)
        self._untold = False  # whether what came of that is still to be shown
        self._times: list[float] = []  # from an answer to the next question, seconds
        self._counter = 0
        self._labels: Labels = session.labels
        self._colours = session.cluster_colours
        self._typical: dict[int, tuple[int, ...]] = {}
        self._clusters: tuple[Cluster, ...] = ()
        self._rules: tuple[int, Described] | None = None
        self._event = -1
        self._look()

    # ------------------------------------------------------------ what a page is given
    def places(self) -> bytes:
        """Two float32 a row, little endian, within [-1, 1]."""
        return self._coordinates.astype("<f4").tobytes()

    def labels(self) -> tuple[int, bytes]:
        """A number that changes with them; the cluster of each row, in one byte or in two (see `state`)."""
        with self._lock:
            most, form = (TWO_BYTES, "<u2") if self._wide() else (ONE_BYTE, "u1")
            named = np.where(self._labels < 0, most, self._labels % most)
            return self._counter, named.astype(form).tobytes()

    def state(self) -> dict[str, Any]:
        """All that is shown, but for labels and places; JSON can hold it."""
        with self._lock:
            self._look()
            self._untold = False
            session = self._session
            status, history = session.status, session.history
            ended = self._ended()
            answers = [e for e in history if e.kind == "answer" and e.answer != "unsure"]
            changes = [self._shares[e.number] for e in answers if e.number in self._shares][-SHOWN_CHANGES:]
            last = next((e for e in reversed(held(self._session))), None)
            return {
                "protocol": PROTOCOL,
                "title": self._title,
                "kind": self._view.items.kind,
                "place": self._place,
                "rows": session.n_rows,
                "wide": self._wide(),
                "labels": self._counter,
                "colours": self._colours,
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
                    "volunteered": status.n_volunteered,
                    "imported": status.n_imported,
                    "done": status.n_done,
                    "inferred": status.n_inferred,
                },
                "changes": changes,
                "advice": advice(changes, ended=ended is not None),
                "seconds": self._seconds(),
                "clusters": [self._cluster(c) for c in self._clusters[:MOST_CLUSTERS]],
                "rules": self._has_rules(),
                "more_clusters": max(0, len(self._clusters) - MOST_CLUSTERS),
                "learner": learner_in_words(session.learner),
                "description": list(status.description),
                "notes": self._notes,
                "undo": None if last is None else self._told(last),
            }

    def agreement(self) -> float | None:
        """Adjusted Rand index of the clusters and the classes; None where there are none."""
        return None if self._classes is None else float(adjusted_rand_score(self._classes, self._labels))

    def moved(self) -> bool:
        """Whether there is news since the state was last given: something was written, by whomever."""
        with self._lock:
            return self._untold or self._last() != self._event

    def look_ahead(self, stop: Callable[[], bool]) -> None:
        """Work out what follows either answer, the likely one first, until `stop` says to."""
        with self._lock:
            question = None if self._ended() else self._question()
            if question is not None:
                likely = question["guess"]
                for said in (likely, "no" if likely == "yes" else "yes"):
                    self._session.look_ahead(said, stop=stop)
            if self._past.go_on(stop):
                self._untold = len(self._past.shares) > len(self._shares)
                self._shares = self._past.shares | self._shares

    def close(self) -> None:
        """Keep the labels and let go of the session."""
        with self._lock:
            self._session.close()

    # ------------------------------------------------------------ requests
    def handle(self, request: Any) -> Reply:
        """Do what a page asks for; whatever it sends, the reply says what came of it."""
        asked = request.get("id") if isinstance(request, dict) else None
        name = asked if isinstance(asked, str) and len(asked) <= 64 else None
        with self._lock:
            before = self._event
            try:
                if not isinstance(request, dict) or name is None:
                    raise Refused("bad", "a request is an object with an id, a short text")
                body, file = self._done(request)
            except Refused as refusal:
                error = {"kind": refusal.kind, "text": refusal.text, **refusal.more}
                return Reply({"re": name, "ok": False, "error": error}, changed=self._moved_on(before))
            return Reply({"re": name, "ok": True, **body}, file, changed=self._moved_on(before))

    def _done(self, request: Request) -> tuple[dict[str, Any], bytes | None]:
        """The result of a request, and a file if one is asked for."""
        do = requests.word(request, "do", tuple(self.DEEDS))
        try:
            result = self.DEEDS[do](self, request)
        except StaleAnswerError as error:
            raise Refused("stale", str(error)) from None
        except InfeasibleConstraintsError as error:
            raise Refused("contradiction", str(error), chain=self._chain(request, error.chain)) from None
        except ConstraintError as error:
            raise Refused("bad", str(error)) from None
        except SessionLockedError as error:
            raise Refused("locked", str(error)) from None
        except DataError as error:
            raise Refused("bad", str(error)) from None
        except (SessionError, OSError) as error:
            raise Refused("failed", str(error)) from None
        return result if isinstance(result, tuple) else (result, None)

    def _moved_on(self, before: int) -> bool:
        with suppress(SessionError):
            self._look()
        return self._event != before

    # ------------------------------------------------------------ deeds: what is said
    def _answer(self, request: Request) -> dict[str, Any]:
        said = requests.word(request, "said", ANSWERS)
        question = requests.text(request, "question")
        if self._ended() is not None:
            raise Refused("ended", "nothing is asked any more; volunteer pairs, or export")
        begun = perf_counter()
        self._session.answer(said, question_id=question)  # type: ignore[arg-type]  # one of ANSWERS
        self._look()
        self._times.append(perf_counter() - begun)
        return {}

    def _undo(self, request: Request) -> dict[str, Any]:
        event = self._session.undo()
        return {"undone": None if event is None else self._told(event)}

    def _take_back(self, request: Request) -> dict[str, Any]:
        event = self._session.undo(requests.whole(request, "event"))
        return {"undone": None if event is None else self._told(event)}

    def _change(self, request: Request) -> dict[str, Any]:
        said = requests.word(request, "said", ANSWERS)
        self._session.change(requests.whole(request, "event"), said)  # type: ignore[arg-type]
        return {}

    def _add(self, request: Request) -> dict[str, Any]:
        kind = requests.word(request, "kind", CONSTRAINT_KINDS)
        n_rows = self._session.n_rows
        first, second = (requests.whole(request, name, n_rows) for name in ("first", "second"))
        self._session.add(first, second, kind)  # type: ignore[arg-type]  # one of KINDS
        return {}

    def _merge(self, request: Request) -> dict[str, Any]:
        one, other = (self._asked_cluster(request, name) for name in ("first", "second"))
        if one is other:
            raise Refused("bad", "a cluster cannot be merged with itself; choose another one")
        self._session.add(one.exemplars[0], other.exemplars[0], "must-link")
        return {"first": one.exemplars[0], "second": other.exemplars[0]}

    def _set_done(self, request: Request) -> dict[str, Any]:
        return {"rows": self._session.set_done(self._asked_cluster(request, "cluster").exemplars[0])}

    def _name(self, request: Request) -> dict[str, Any]:
        name = requests.text(request, "name")
        self._session.set_name(self._asked_cluster(request, "cluster").exemplars[0], name)
        return {}

    # ------------------------------------------------------------ deeds: what is told
    def _item(self, request: Request) -> dict[str, Any]:
        return {"items": [self._shown(row) for row in requests.rows(request, self._session.n_rows)]}

    def _history(self, request: Request) -> dict[str, Any]:
        limit = requests.whole(request, "limit", requests.MOST_EVENTS + 1) if "limit" in request else 50
        before = None if request.get("before") is None else requests.whole(request, "before")
        told = [e for e in held(self._session) if before is None or e.number < before]
        newest = told[::-1][:limit]
        return {"events": [self._told(e) for e in newest], "more": len(told) > len(newest)}

    def _tell_rules(self, request: Request) -> dict[str, Any]:
        told = self._described()
        clusters = [{"cluster": cluster, "text": lines} for cluster, lines in told.clusters.items()]
        return {"clusters": clusters, "fidelity": told.fidelity, "notes": told.notes}

    def _why(self, request: Request) -> dict[str, Any]:
        n_rows = self._session.n_rows
        first, second = (requests.whole(request, name, n_rows) for name in ("first", "second"))
        if first == second:
            raise Refused("bad", "this is one row; choose two")
        why = self._session.why(first, second)
        return {"text": " ".join(why.sentences(self._view.name))}

    def _export(self, request: Request) -> tuple[dict[str, Any], bytes]:
        what = requests.word(request, "what", EXPORTS)
        stem = Path(self._title).stem or "linkwise"
        made: dict[str, tuple[str, str, Callable[[], bytes]]] = {
            "labels": (f"{stem}-clusters.csv", "text/csv", lambda: labels_file(self._session, self._labels)),
            "constraints": (f"{stem}-pairs.csv", "text/csv", lambda: constraints_file(self._session)),
            "session": (f"{stem}.linkwise", "application/vnd.sqlite3", lambda: session_file(self._session)),
            "rules": (
                f"{stem}-rules.txt", "text/plain", lambda: f"{self._described().text}\n".encode()
            ),
        }  # fmt: skip
        name, kind, make = made[what]
        return {"name": name, "type": kind}, make()

    DEEDS = {  # noqa: RUF012  # a constant
        "answer": _answer, "undo": _undo, "take_back": _take_back, "change": _change, "add": _add,
        "merge": _merge, "done": _set_done, "name": _name,
        "item": _item, "history": _history, "rules": _tell_rules, "why": _why, "export": _export,
    }  # fmt: skip

    # ------------------------------------------------------------ the present state
    def _look(self) -> None:
        """Take in what is new, from here or from another program."""
        last = self._last()
        if last == self._event:
            return
        labels, colours = self._session.labels, self._session.cluster_colours
        if self._event >= 0:
            said = [e.number for e in self._session.events if self._event < e.number and e.kind != "name"]
            share = moved(self._labels, labels)
            self._shares |= {number: share if number == said[-1] else 0.0 for number in said}
        if self._event < 0 or colours != self._colours or not np.array_equal(labels, self._labels):
            self._labels, self._colours, self._counter = labels, colours, self._counter + 1
            self._typical = exemplars(labels, self._X)
        self._clusters = clusters_of(self._labels, self._typical, self._session)
        self._event = last

    def _last(self) -> int:
        events = self._session.events
        return events[-1].number if events else 0

    def _wide(self) -> bool:
        return int(self._labels.max(initial=0)) >= ONE_BYTE

    def _ended(self) -> str | None:
        if self._session.question is None:
            return "exhausted"
        spent = self._budget is not None and self._session.status.n_answers >= self._budget
        return "budget" if spent else None

    def _question(self) -> dict[str, Any] | None:
        name, q = self._session.question_id, self._session.question
        if q is None:
            return None
        first, second = self._shown(q.first), self._shown(q.second)
        likely = "yes" if self._labels[q.first] == self._labels[q.second] else "no"
        return {
            "id": name,
            "first": first,
            "second": second,
            "differ": differing(first, second),
            "why": q.why,
            "guess": q.expected or likely,
        }

    def _seconds(self) -> dict[str, float] | None:
        if not self._times:
            return None
        return {"last": self._times[-1], "median": float(np.median(self._times))}

    def _shown(self, row: int) -> dict[str, Any]:
        return {**self._view.shown(row), "cluster": int(self._labels[row])}

    def _cluster(self, cluster: Cluster) -> dict[str, Any]:
        return {
            "cluster": cluster.number,
            "size": cluster.size,
            "name": cluster.name,
            "exemplar": cluster.exemplars[0],
            "exemplars": list(cluster.exemplars),
            "short": [self._view.name(row) for row in cluster.exemplars],
            "done": cluster.done,
        }

    def _asked_cluster(self, request: Request, name: str) -> Cluster:
        number = requests.whole({name: request.get(name, None)}, name)
        found = next((c for c in self._clusters if c.number == number), None)
        if found is None:
            raise Refused("bad", f"there is no cluster {number} any more; look again")
        return found

    def _told(self, event: Event) -> dict[str, Any]:
        return told(event, self._session, self._view.name)

    def _chain(self, request: Request, chain: Sequence[int]) -> list[dict[str, Any]]:
        """The links of a contradiction, each with the event that says it."""
        changed = request.get("event") if request.get("do") == "change" else None
        return links(self._session, chain, self._just_said(request), changed, self._view.name)

    def _just_said(self, request: Request) -> frozenset[int]:
        """The two rows that a refused request speaks of."""
        do = request.get("do")
        if do == "merge":
            pair = [self._asked_cluster(request, name).exemplars[0] for name in ("first", "second")]
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

    def _described(self) -> Described:
        if not self._has_rules():
            raise Refused("bad", "rules speak of columns, and these items have none")
        if self._rules is None or self._rules[0] != self._counter:
            if self._columns is not None:
                found = by_columns(self._labels, self._columns, self._session.constraints)
            else:
                found = by_words(self._labels, self._view.items)
            self._rules = self._counter, found
        return self._rules[1]
