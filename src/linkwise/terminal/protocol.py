"""The dialogue as a stream: one JSON object a line on stdout, words for people on stderr.

``question``: id, ids and rows of the pair, both items, why, counts. ``state``: what was done, counts
and clusters. ``refused``: what was said was not stored. ``summary``: the end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from linkwise.asking.learner import Question
from linkwise.constraints.evidence import Answer
from linkwise.session.events import Event
from linkwise.session.session import Status
from linkwise.terminal.dialogue import Ending
from linkwise.workspace.exit_codes import say


class JsonLines:
    """Writes the dialogue as JSON lines.

    Parameters
    ----------
    item : callable
        What a row holds, by column.
    id_of : callable
        Id of a row.
    session : str
        Path of the session file, for the summary.
    """

    def __init__(
        self, item: Callable[[int], dict[str, Any]], id_of: Callable[[int], str], session: str
    ) -> None:
        self.item = item
        self.id_of = id_of
        self.session = session

    def ask(self, question: Question, name: str, status: Status) -> None:
        """One question."""
        rows = [question.first, question.second]
        emit(
            type="question",
            id=name,
            rows=rows,
            ids=[self.id_of(row) for row in rows],
            items=[self.item(row) for row in rows],
            why=question.why,
            **counts(status),
        )

    def prompt(self) -> None:
        """A program needs none."""

    def saved(self, said: Answer, status: Status) -> None:
        """State after an answer."""
        emit(type="state", done=said, **state(status))

    def taken_back(self, event: Event | None, status: Status) -> None:
        """State after an undo."""
        undone = None if event is None else event_as_json(event, self.id_of)
        emit(type="state", done="undo", undone=undone, **state(status))

    def refused(self, why: str) -> None:
        """Nothing was stored."""
        emit(type="refused", why=why)

    def help(self, question: Question) -> None:
        """Words are for people."""
        say(f"y yes, n no, s unsure, u undo, q quit. Why this question: {question.why}")

    def end(self, reason: Ending | str, status: Status) -> None:
        """Summary."""
        emit(type="summary", reason=reason, session=self.session, **state(status))


def emit(**values: Any) -> None:
    """One JSON object on one line, at once."""
    print(json.dumps(values, ensure_ascii=False), file=sys.stdout, flush=True)


def counts(status: Status) -> dict[str, int]:
    """How many answers, of which kind."""
    return {
        "answers": status.n_answers,
        "yes": status.n_yes,
        "no": status.n_no,
        "unsure": status.n_unsure,
        "brought_in": status.n_volunteered + status.n_imported,
    }


def state(status: Status) -> dict[str, Any]:
    """Counts, the rows of each cluster, and what the learner says."""
    return {
        **counts(status),
        "rows": status.n_rows,
        "clusters": list(status.cluster_sizes),
        "description": list(status.description),
    }


def event_as_json(event: Event, id_of: Callable[[int], str]) -> dict[str, Any]:
    """One thing that was said, with the ids of its rows."""
    told: dict[str, Any] = {"event": event.number, "kind": event.kind, "when": event.when}
    if event.first is not None and event.second is not None:
        told["ids"] = [id_of(event.first), id_of(event.second)]
    if event.answer is not None:
        told["answer"] = event.answer
    if event.kind in ("import", "done"):
        told["pairs"] = len(event.facts)
    if event.source:
        told["name" if event.kind == "name" else "source"] = event.source
    return told
