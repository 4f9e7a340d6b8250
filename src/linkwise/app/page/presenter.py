"""The presenter: one session as a page shows it. It handles requests and returns the state.

It knows neither network nor notebook; `hub` connects it to both. Labels and places are bytes, everything else
is JSON. When it confirms an answer, the answer is on the disk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkwise.app.page import requests
from linkwise.app.page.answer_list import check_owner, serialize_chain
from linkwise.app.page.cards import RowView, project_columns, project_notes, view_project
from linkwise.app.page.cluster_members import MOST_MOVED
from linkwise.app.page.content import PageContent
from linkwise.app.page.lookups import LOOKUPS, add_values, find_case, find_cluster, read_pair, read_sorted
from linkwise.app.page.page_state import (
    render_offers,
    render_present_question,
    render_screen,
    render_state,
)
from linkwise.app.page.requests import PERSONAL, RefusedRequest, Reply, Request
from linkwise.app.page.sorting_offer import SIZES
from linkwise.app.page.table_columns import find_project
from linkwise.app.project.column_tasks import TASKS, TaskName
from linkwise.app.project.recoding import Recoded
from linkwise.constraints.checks import CONSTRAINT_KINDS
from linkwise.constraints.facts import ANSWERS, Answer
from linkwise.errors import (
    ConstraintError,
    DataError,
    InfeasibleConstraintsError,
    SessionError,
    SessionLockedError,
    StaleAnswerError,
)
from linkwise.session.session import Session
from linkwise.session.state.moves import describe_moves, find_moves
from linkwise.session.state.suspects import SuspectAnswer
from linkwise.wording import NO_MORE_QUESTIONS

HAS_ENDED = f"{NO_MORE_QUESTIONS}. You can still mark pairs or export the clusters."
SORT_REMARK = ("seconds", "note")  # what is stored beside piles
MOVING_ACTIONS = (
    "answer",
    "sort",
    "undo",
    "take_back",
    "change",
    "sure",
    "decide",
    "add",
    "merge",
    "move",
    "split",
    "done",
    "columns",
)  # may move rows


class Presenter:
    """A session, opened with its data, as a page shows it.

    Threads may share it: each call waits for the others. `place` is the path of the session file, if it
    has one. `places` are the coordinates of the rows in the plot, by default the first two principal
    components. `columns` are the rows in their original units, for rules. After `budget` answers no more
    questions are asked. Nobody sees the known `classes`; the page shows how well the clusters agree with
    them. `overlap` is the share of questions that a second person gets, too
    (`linkwise.Session.questions`), and `gold` the source of an import whose pairs people get now and
    then. A `project` can be read again with other weights.
    """

    def __init__(self, session: Session, X: NDArray[Any], view: RowView, **options: Any) -> None:
        self._lock = threading.RLock()
        self._session = session
        self._content = PageContent(session, X, view, **options)
        self._has_waiting = False  # whether somebody waits for a question

    @property
    def session(self) -> Session:
        """The session."""
        return self._session

    # ------------------------------------------------------------ what pages show
    def state(self, people: Sequence[str] = ()) -> dict[str, Any]:
        """Return everything that is shown, except labels and places, as values for JSON.

        With people it has a part for each of them, which they are shown in place of the common one.
        """
        with self._lock:
            content = self._content
            content.refresh()
            content.has_new_shares = content.offer.is_new = False
            found = render_state(content, people)
            shown = found.get(PERSONAL, {})
            self._has_waiting = any(each["ended"] == "waiting" for each in shown.values())
            return found

    def labels(self) -> tuple[int, bytes]:
        """Return a number that changes with the labels, and the cluster of each row in one byte or two."""
        with self._lock:
            return self._content.write_labels()

    def places(self) -> bytes:
        """Return two float32 a row, little endian, within [-1, 1]."""
        return self._content.places.current.astype("<f4").tobytes()

    def take_new_places(self) -> bytes | None:
        """Return the places if a map by neighbours is done since the last call; None otherwise."""
        with self._lock:
            return self.places() if self._content.places.take_new() else None

    def has_changed(self) -> bool:
        """Return whether something was written since the last state, by this program or another."""
        with self._lock:
            content = self._content
            is_waiting = self._has_waiting and content.end_reason() is None  # for what others hold
            is_older = self._last_event() != content.event
            return content.has_new_shares or content.offer.is_new or is_older or is_waiting

    def look_ahead(self, stop: Callable[[], bool]) -> None:
        """Compute what follows each answer, the likelier one first, until `stop` returns True."""
        with self._lock:
            content = self._content
            question = None if content.end_reason() else render_present_question(content)
            if question is not None:
                likely = question["guess"]
                for answer in (likely, "no" if likely == "yes" else "yes"):
                    self._session.look_ahead(answer, stop=stop)
            content.advance_shares(stop)
            if not (stop() or content.people):
                content.offer.update()

    def agreement(self) -> float | None:
        """Return the adjusted Rand index of clusters and classes; None without classes."""
        return self._content.agreement()

    def close(self) -> None:
        """Close the session."""
        with self._lock:
            self._session.close()

    def _last_event(self) -> int:
        events = self._session.events
        return events[-1].number if events else 0

    # ------------------------------------------------------------ requests
    def handle(self, request: Any, person: str = "") -> Reply:
        """Handle a request of a page, perhaps of a certain person. Whatever it contains, there is a reply."""
        name = requests.request_id(request)
        with self._lock:
            before, self._content.person = self._content.event, person
            if person and isinstance(request, dict) and request.get("do") == "answer":
                return self._store_answer(request)
            try:
                if not isinstance(request, dict) or name is None:
                    raise RefusedRequest("bad", "A request is an object with an id of at most 64 characters.")
                body, file = self._run(request)
            except RefusedRequest as error:
                reply = requests.refuse(request, error.kind, error.text, **error.more)
                return replace(reply, changed=self._has_new_event(before))
            moves_places = request.get("do") in ("columns", "read", "map")
            changed = self._has_new_event(before) or moves_places or request.get("do") == "later"
            return Reply({"re": name, "ok": True, **body}, file, changed, moves_places)

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
        return replace(reply, changed=self._last_event() != self._content.event)

    def _run(self, request: Request, *, follows: bool = True) -> tuple[dict[str, Any], bytes | None]:
        """Return the result of a request, with a file if there is one."""
        do = requests.read_choice(request, "do", (*LOOKUPS, *self.ACTIONS))
        content = self._content
        try:
            if follows:
                content.refresh()  # rows that another program moved do not count
            before = content.labels
            result = LOOKUPS[do](content, request) if do in LOOKUPS else self.ACTIONS[do](self, request)
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
            moves = find_moves(before, content.labels)
            body = {**body, "moved": describe_moves(moves, content.now.names)}
        return body, file

    def _has_new_event(self, before: int) -> bool:
        if self._try_refresh():
            with suppress(SessionError):  # shown with the next state
                return self._content.event != before
        return self._content.event != before

    def _try_refresh(self) -> bool:
        """Refresh after an action, which is stored already; return whether the session could be read."""
        with suppress(SessionError):
            self._content.refresh()
            return True
        return False

    def _answer(self, request: Request) -> dict[str, Any]:
        answer: Answer = requests.read_choice(request, "answer", ANSWERS)
        question, remark = requests.read_text(request, "question"), requests.read_remark(request)
        has_ended = RefusedRequest("ended", HAS_ENDED)
        if self._content.is_spent() or (not self._content.person and self._session.question is None):
            raise has_ended
        try:
            self._session.answer(answer, question_id=question, source=self._content.person, **remark)
        except StaleAnswerError:
            if self._session.question is not None and not self._content.is_spent():
                raise
            raise has_ended from None
        return {}

    def _show_screen(self, request: Request) -> dict[str, Any]:
        """Return rows to sort, the same as before until they are sorted or chosen anew; None if none wait."""
        content, person = self._content, self._content.person
        size = requests.read_size(request, SIZES)
        if requests.read_flag(request, "anew"):
            self._session.release(person)
        screens = [] if content.is_spent() else self._session.sets(size, to=person)
        shown = next(iter(screens), None)
        n_rows = 0 if shown is None else len(shown.rows)
        return {
            "screen": None if shown is None else render_screen(content, shown),
            "sorting": render_offers(content, person, None, n_rows),
        }

    def _sort(self, request: Request) -> dict[str, Any]:
        n_rows = self._session.n_rows
        screen = requests.read_text(request, "screen", requests.LONGEST_SCREEN_ID)
        piles = requests.read_piles(request, n_rows)
        unsure = requests.read_pile(request, "unsure", n_rows)
        remark = {name: given for name, given in requests.read_remark(request).items() if name in SORT_REMARK}
        if self._content.is_spent():
            raise RefusedRequest("ended", HAS_ENDED)
        self._session.sort(piles, unsure, question_id=screen, source=self._content.person, **remark)
        return {}

    def _postpone(self, request: Request) -> dict[str, Any]:
        """Ask a question later, and tell whether there is another one now."""
        name = requests.read_text(request, "question")
        self._session.postpone(name, to=self._content.person)
        self._content.find_question(self._content.person, 0)  # it comes back at once if there is no other
        return {"other": bool(self._session.list_postponed(self._content.person))}

    def _undo(self, request: Request) -> dict[str, Any]:
        if not self._content.person:
            event = self._session.undo()
        else:
            own = self._content.last_of(self._content.person)
            event = None if own is None else self._session.undo(own.number)
        return {"undone": None if event is None else self._content.serialize(event)}

    def _take_back(self, request: Request) -> dict[str, Any]:
        event = self._session.undo(self._read_own(request))
        return {"undone": None if event is None else self._content.serialize(event)}

    def _change(self, request: Request) -> dict[str, Any]:
        """Change an answer or the piles of a screen, or move one card to the pile where it belongs."""
        number, n_rows = self._read_own(request), self._session.n_rows
        if request.get("card") is not None:
            self._session.flip(self._find_card(request))
        elif "piles" in request:
            read_sorted(self._content, request)
            unsure = requests.read_pile(request, "unsure", n_rows)
            self._session.change(number, requests.read_piles(request, n_rows), unsure=unsure)
        else:
            answer: Answer = requests.read_choice(request, "answer", ANSWERS)
            self._session.change(number, answer)
        return {}

    def _write_note(self, request: Request) -> dict[str, Any]:
        note = requests.read_note(request)
        self._session.note(requests.read_integer(request, "event"), note, source=self._content.person)
        return {}

    def _confirm(self, request: Request) -> dict[str, Any]:
        number = self._read_own(request)
        if request.get("card") is None:
            self._session.set_sure(number)
        else:
            self._session.decide(*self._find_card(request).stay, source=self._content.person)
        return {}

    def _find_card(self, request: Request) -> SuspectAnswer:
        """Return the suspect that is the card of a screen."""
        number = requests.read_integer(request, "event")
        card = requests.read_integer(request, "card", self._session.n_rows)
        found = (each for each in self._content.now.suspects if (each.number, each.card) == (number, card))
        suspect = next(found, None)
        if suspect is None:
            raise RefusedRequest("bad", "This card does not seem misplaced any more.")
        return suspect

    def _read_own(self, request: Request) -> int:
        """Return the number of an event; of several people, each may change only their own answers."""
        number = requests.read_integer(request, "event")
        if self._content.person:
            events = {event.number: event for event in self._content.now.events}
            check_owner(events, number, self._content.person)
        return number

    def _decide(self, request: Request) -> dict[str, Any]:
        case = find_case(self._content.find_cases(self._content.person), self._content, request)
        if case is None:
            raise RefusedRequest("bad", "This pair needs no review any more.")
        decision = requests.read_choice(request, "answer", case.decisions)
        note = requests.read_note(request)
        for decided in case.resolve(decision):
            self._session.decide(*decided, source=self._content.person, note=note)
        return {}

    def _add(self, request: Request) -> dict[str, Any]:
        kind = requests.read_choice(request, "kind", CONSTRAINT_KINDS)
        first, second = read_pair(self._content, request)
        note = requests.read_note(request)
        self._session.add(first, second, kind, source=self._content.person, note=note)
        return {}

    def _merge(self, request: Request) -> dict[str, Any]:
        one, other = (find_cluster(self._content, request, name) for name in ("first", "second"))
        if one is other:
            raise RefusedRequest("bad", "A cluster cannot be merged with itself. Choose another one.")
        # whoever merges two clusters means it
        self._session.add(
            one.exemplars[0], other.exemplars[0], "must-link", is_sure=True, source=self._content.person
        )
        return {"first": one.exemplars[0], "second": other.exemplars[0]}

    def _move(self, request: Request) -> dict[str, Any]:
        """Move rows to another cluster, to one of their own, or out of the one that they are in."""
        how = requests.read_choice(request, "to", ("cluster", "new", "out"))
        rows = requests.read_rows(request, self._session.n_rows, MOST_MOVED)
        if self._content.counter != requests.read_integer(request, "labels"):
            raise RefusedRequest("stale", "The clusters have changed meanwhile. Look at them again.")
        to: Any = "new" if how == "new" else None
        if how == "cluster":
            to = find_cluster(self._content, request, "cluster").number
        return {"pairs": self._session.move(rows, to, source=self._content.person)}

    def _split(self, request: Request) -> dict[str, Any]:
        """Separate the most typical rows of the two halves of a cluster."""
        first, second = read_pair(self._content, request)
        if self._content.labels[first] != self._content.labels[second]:
            raise RefusedRequest("stale", "The two rows are in different clusters already.")
        self._session.add(first, second, "cannot-link", is_sure=True, source=self._content.person)
        return {}

    def _set_done(self, request: Request) -> dict[str, Any]:
        return {"rows": self._session.set_done(find_cluster(self._content, request, "cluster").exemplars[0])}

    def _choose_columns(self, request: Request) -> dict[str, Any]:
        """Apply the weights that a page showed as proposed, or take back all that were applied."""
        self._check_alone("--weight")
        action = requests.read_choice(request, "action", ("weigh", "restore"))
        shown, offer = requests.read_names(request, "columns"), self._content.offer
        recoded = offer.accept(shown) if action == "weigh" else offer.restore(shown)
        return self._show_project(recoded)

    def _read_columns(self, request: Request) -> dict[str, Any]:
        """Use the columns as a person chose."""
        self._check_alone("other options for its columns")
        find_project(self._content)
        choices = requests.read_column_choices(request)
        task: TaskName | None = None
        if request.get("task") is not None:
            task = requests.read_choice(request, "task", TASKS)
        return self._show_project(self._content.offer.read(choices, task))

    def _check_alone(self, option: str) -> None:
        """Check that nobody else answers, whose questions would change."""
        if self._content.people:
            raise RefusedRequest(
                "bad",
                "People answer here under their names, and other columns or weights would change the"
                f" questions of all. Stop the page, and start it again with {option}.",
            )

    def _show_project(self, recoded: Recoded) -> dict[str, Any]:
        """Show the rows as they are read now, and return what has happened to the session."""
        project = self._content.project = recoded.project
        self._content.show_encoding(
            project.encoded.X, view_project(project), project_columns(project), project_notes(project)
        )
        backup = None if recoded.backup is None else recoded.backup.name
        return {"backup": backup, "changed": recoded.changed}

    def _place_rows(self, request: Request) -> dict[str, Any]:
        """Start to place the rows of the plot by neighbours, or place them on their axes again."""
        by = requests.read_choice(request, "by", ("axes", "neighbours"))
        if by == "axes":
            self._content.places.show_axes()
            return {}
        if self._content.people or self._content.places.describe() is None:
            raise RefusedRequest(
                "bad",
                "Rows are placed by neighbours where one person answers and there are at least 10 rows.",
            )
        session, known = self._session, self._session.constraints
        named = np.unique(np.r_[known.must_link.ravel(), known.cannot_link.ravel()])
        confidence = session.confidence
        if confidence is None:  # nothing is known of other rows than those with answers
            confidence = np.full(session.n_rows, 0.5 if len(named) else 0.0)
            confidence[named] = 1.0
        self._content.places.start(self._content.labels, confidence, named.tolist())
        return {}

    def _set_example(self, request: Request) -> dict[str, Any]:
        """Make a pair an example of what belongs together, or remove it from the examples."""
        answer = requests.read_choice(request, "answer", ("yes", "no", "none"))
        pair = read_pair(self._content, request)
        if answer == "none":
            self._session.remove_example(*pair)
        else:
            self._session.add_example(*pair, answer == "yes", requests.read_note(request))
        return {}

    def _name(self, request: Request) -> dict[str, Any]:
        name = requests.read_text(request, "name")
        self._session.set_name(find_cluster(self._content, request, "cluster").exemplars[0], name)
        return {}

    def _chain(self, request: Request, chain: Sequence[int]) -> list[dict[str, Any]]:
        """Return the links of a conflict, each with its event."""
        changed = request.get("event") if request.get("do") == "change" else None
        links = serialize_chain(
            self._content.now.history, chain, self._asked_pair(request), changed, self._content.view.name
        )
        return add_values(self._content, links)

    def _asked_pair(self, request: Request) -> frozenset[int]:
        """Return the two rows of a refused request."""
        do = request.get("do")
        if do == "merge":
            pair = [find_cluster(self._content, request, name).exemplars[0] for name in ("first", "second")]
        elif do == "change":
            event = next(e for e in self._content.now.history if e.number == request["event"])
            pair = [row for row in (event.first, event.second) if row is not None]
        elif do in ("add", "split"):
            pair = [request["first"], request["second"]]
        else:
            pair = []
        return frozenset(pair)

    ACTIONS: ClassVar[dict[str, Callable[[Any, Request], Any]]] = {
        "answer": _answer, "later": _postpone, "screen": _show_screen, "sort": _sort,
        "undo": _undo, "take_back": _take_back, "change": _change, "sure": _confirm,
        "note": _write_note,
        "decide": _decide,
        "add": _add, "merge": _merge, "move": _move, "split": _split, "done": _set_done, "name": _name,
        "example": _set_example, "columns": _choose_columns, "read": _read_columns,
        "map": _place_rows,
    }  # fmt: skip
