"""The dialogue as a stream: one JSON object a line on stdout, words for people on stderr.

``question``: id, ids and rows of the pair, both items, why, counts. ``state``: the command, counts
and clusters. ``clusters``: those that were asked for. ``refused``: a command stores nothing.
``suspects``: the answers that are probably wrong. ``guidelines``: their text, and examples if there are any.
``note``: the note for the next answer. ``later``: whether another question comes first. ``summary``: the end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from linkwise.app.project.exit_codes import say
from linkwise.app.project.output import can_encode
from linkwise.app.terminal.cluster_query import list_clusters
from linkwise.app.terminal.dialogue import Ending, Revision
from linkwise.constraints.facts import Answer
from linkwise.learn.learner import Question
from linkwise.session.journal.events import WITH_FACTS, Event, Example, beside_answer
from linkwise.session.session import Status
from linkwise.session.state.suspects import SuspectAnswer
from linkwise.types import Labels


class JsonLines:
    """Writes the dialogue as JSON lines.

    `item` returns the values of a row by column, and `id_of` its id. `session` is the path of the file,
    for the summary.
    """

    def __init__(
        self, item: Callable[[int], dict[str, Any]], id_of: Callable[[int], str], session: str
    ) -> None:
        self.item = item
        self.id_of = id_of
        self.session = session

    def ask(self, question: Question, name: str, status: Status) -> None:
        """Write one question."""
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
        """Write nothing: a program needs no prompt."""

    def confirm_answer(self, answer: Answer, status: Status, moved: str) -> None:
        """Write the state after an answer."""
        emit(type="state", done=answer, moved=moved, **state(status))

    def confirm_later(self, *, has_other: bool) -> None:
        """Write whether another question comes first."""
        emit(type="later", other=has_other)

    def confirm_undo(self, event: Event | None, status: Status, moved: str) -> None:
        """Write the state after an undo."""
        undone = None if event is None else event_as_json(event, self.id_of)
        emit(type="state", done="undo", undone=undone, moved=moved, **state(status))

    def reject(self, why: str) -> None:
        """Write why nothing is stored."""
        emit(type="refused", why=why)

    def help(self, question: Question) -> None:
        """Write the keys for people, to stderr."""
        keys = "y same, n different, s not sure, l later, a note, u undo, q quit"
        say(f"{keys}. Why this question: {question.why}")

    def show_clusters(self, wanted: str, labels: Labels, names: Mapping[int, str]) -> None:
        """Write clusters, the largest first."""
        listing = list_clusters(wanted, labels, names, self.id_of)
        clusters = [
            {"cluster": c.number, "rows": c.size, "name": c.name or None}
            | ({"found": c.found.count, "ids": [self.id_of(row) for row in c.found.rows]} if c.found else {})
            for c in listing.clusters
        ]
        emit(type="clusters", of=listing.n_clusters, clusters=clusters, more=listing.n_more)

    def show_guidelines(self, guidelines: str, examples: Sequence[Example]) -> None:
        """Write what "belong together" means in this session."""
        emit(type="guidelines", text=guidelines, **examples_as_json(examples, self.id_of))

    def confirm_note(self, note: str) -> None:
        """Write the note that goes with the answer to the present question."""
        emit(type="note", text=note)

    def show_suspects(self, suspects: Sequence[SuspectAnswer], status: Status) -> None:
        """Write the answers that are probably wrong, each with the answers that speak against it."""
        rate = None if status.error_rate is None else status.error_rate._asdict()
        emit(type="suspects", error_rate=rate, suspects=[self._suspect(suspect) for suspect in suspects])

    def confirm_revision(self, action: Revision, suspect: SuspectAnswer, status: Status, moved: str) -> None:
        """Write the state after a suspect was turned round or confirmed."""
        emit(type="state", done=action, suspect=self._suspect(suspect), moved=moved, **state(status))

    def _suspect(self, suspect: SuspectAnswer) -> dict[str, Any]:
        return {
            "event": suspect.number,
            "ids": [self.id_of(suspect.first), self.id_of(suspect.second)],
            "answer": suspect.answer,
            "grade": suspect.grade,
            "because": [
                [self.id_of(fact.first), self.id_of(fact.second), fact.answer] for fact in suspect.because
            ],
            **card_as_json(suspect, self.id_of),
        }

    def end(self, reason: Ending | str, status: Status) -> None:
        """Write the summary."""
        emit(type="summary", reason=reason, session=self.session, **state(status))


def emit(**values: Any) -> None:
    """Write one JSON object on one line, at once."""
    text = json.dumps(values, ensure_ascii=False)
    if not can_encode(text):
        text = json.dumps(values)
    print(text, file=sys.stdout, flush=True)


def counts(status: Status) -> dict[str, int]:
    """Number of answers, by kind."""
    return {
        "answers": status.n_answers,
        "yes": status.n_yes,
        "no": status.n_no,
        "unsure": status.n_unsure,
        "screens": status.n_screens,
        "brought_in": status.n_volunteered + status.n_imported,
    }


def state(status: Status) -> dict[str, Any]:
    """Counts, the rows of each cluster, and the sentences of the learner."""
    return {
        **counts(status),
        "rows": status.n_rows,
        "clusters": list(status.cluster_sizes),
        "cluster_numbers": list(status.cluster_numbers),
        "description": list(status.description),
        "advice": None if status.advice is None else asdict(status.advice),
        **_errors(status),
    }


def _errors(status: Status) -> dict[str, Any]:
    """The share of wrong answers and the number of suspects, if answers may be wrong."""
    if not status.is_fallible:
        return {}
    rate = None if status.error_rate is None else status.error_rate._asdict()
    return {"error_rate": rate, "suspects": status.n_suspects}


def examples_as_json(examples: Sequence[Example], id_of: Callable[[int], str]) -> dict[str, Any]:
    """The field `examples`; without examples there is none."""
    listed = [
        {"ids": [id_of(each.first), id_of(each.second)], "answer": each.answer, "reason": each.reason}
        for each in examples
    ]
    return {"examples": listed} if listed else {}


def card_as_json(suspect: SuspectAnswer, id_of: Callable[[int], str]) -> dict[str, Any]:
    """Which card is misplaced, with the rows of its pile and of the better one; empty of a pair."""
    if suspect.card is None:
        return {}
    pile, better = ([id_of(row) for row in rows] for rows in (suspect.pile, suspect.better_pile))
    return {"card": id_of(suspect.card), "pile": pile, "better_pile": better}


def event_as_json(event: Event, id_of: Callable[[int], str]) -> dict[str, Any]:
    """One event, with the ids of its rows."""
    fields: dict[str, Any] = {"event": event.number, "kind": event.kind, "when": event.when}
    if event.first is not None and event.second is not None:
        fields["ids"] = [id_of(event.first), id_of(event.second)]
    if event.answer is not None:
        fields["answer"] = event.answer
    if event.kind in WITH_FACTS:
        fields["pairs"] = len(event.facts)
    if event.sorting is not None:
        fields["piles"] = [[id_of(row) for row in pile] for pile in event.sorting.piles]
        fields["unsure"] = [id_of(row) for row in event.sorting.unsure]
    if event.source:
        fields["name" if event.kind == "name" else "source"] = event.source
    fields |= {name: value for name, value in beside_answer(event).items() if value not in (None, "")}
    if event.note_author != event.source:
        fields["note_author"] = event.note_author
    return fields
