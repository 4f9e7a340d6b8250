"""What an agent can do with a session. All replies are values for JSON."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from linkwise.app.page.cards import project_columns
from linkwise.app.page.cluster_descriptions import (
    describe_by_rules,
    describe_by_side_table,
    describe_by_words,
)
from linkwise.app.programs.model_prompts import describe_card_faults
from linkwise.app.programs.pile_replies import Piles, find_rows, list_faults, write_screen
from linkwise.app.project.output import list_answers, write_answers, write_labels
from linkwise.app.project.project import Project
from linkwise.app.terminal.protocol import state
from linkwise.constraints.facts import Answer
from linkwise.data.read.picture_files import png
from linkwise.errors import SessionError
from linkwise.reasons.explanation import MOST_CLUSTERS
from linkwise.reasons.near_rows import describe_near_rows
from linkwise.reasons.shown_clusters import describe_shown_clusters
from linkwise.session.journal.events import ANSWERS_QUESTION, shorten_note
from linkwise.session.session import Screen
from linkwise.session.state.event_lists import write_guidelines
from linkwise.session.state.status import describe_advice, describe_doubts
from linkwise.wording import count_noun, shorten

MOST_QUESTIONS = 20  # at once
MOST_EXPORTED = 1000  # rows of a table at once
MOST_PICTURES = 20  # at once
MOST_LISTED = 50  # clusters
LEAST_SURE, MOST_SURE = 0.5, 1.0
DEFAULT_GUIDELINES = (
    "There are no guidelines. Ask the person what belongs together, or compare as a careful person would."
)
ANSWERS: dict[str, Answer] = {"same": "yes", "different": "no", "not sure": "unsure"}

Word = Literal["same", "different", "not sure"]
Table = Literal["clusters", "pairs", "answers"]


@dataclass(slots=True)
class AgentTools:
    """The tools of an agent at a session.

    `read_row` returns the columns of a row as a person sees them. After `budget` answers of the session no
    more questions are asked. Methods that ask and answer take the name that is stored with the answers.
    """

    project: Project
    read_row: Callable[[int], dict[str, Any]]
    budget: int | None = None
    _screens: dict[str, Screen] = field(default_factory=dict)

    # ------------------------------------------------------------ asking
    def next_questions(self, name: str, n: int = 1) -> dict[str, Any]:
        """Return up to n questions with their rows."""
        if not 1 <= n <= MOST_QUESTIONS:
            raise ValueError(f"n is {n}. Pass a number from 1 to {MOST_QUESTIONS}.")
        n_left = self._count_left()
        found = self.project.session.questions(min(n, n_left), to=name) if n_left else []
        ids = self.project.session.ids
        questions = [
            {
                "question_id": question.id,
                "ids": [ids[question.first], ids[question.second]],
                "first": self.read_row(question.first),
                "second": self.read_row(question.second),
                "why": question.why,
            }
            for question in found
        ]
        return {"questions": questions, **({} if found else {"ended": self._describe_end()})}

    def next_set(self, name: str, size: int = 9) -> dict[str, Any]:
        """Return a screen of numbered cards to sort into piles."""
        screens = self.project.session.sets(size, to=name) if self._count_left() else []
        if not screens:
            return {"set_id": None, "cards": [], "known_piles": [], "ended": self._describe_end()}
        shown = screens[0]
        self._screens[shown.id] = shown
        fields = write_screen(shown, self.project.session.ids, self.read_row)
        cards = [{"number": each["n"], "id": each["id"], "row": each["row"]} for each in fields["items"]]
        return {"set_id": shown.id, "cards": cards, "known_piles": fields["known"], "why": shown.why}

    def find_rows_of(self, question_id: str) -> tuple[int, int]:
        """The rows of a question, by its id."""
        try:
            first, second = (int(row) for row in question_id.rpartition(":")[2].split("-"))
        except ValueError:
            first = second = -1
        if first == second or not 0 <= min(first, second) <= max(first, second) < self.project.session.n_rows:
            raise SessionError(f"There is no question {question_id!r}. Use an id of next_questions.")
        return first, second

    def _count_left(self) -> int:
        """How many answers the budget leaves."""
        if self.budget is None:
            return MOST_QUESTIONS
        return max(0, self.budget - self.project.session.status.n_answers)

    def _describe_end(self) -> str:
        """Why there is no question."""
        if not self._count_left():
            return f"The budget of {count_noun(self.budget or 0, 'answer')} is used up."
        if self.project.session.question is None:
            return "There are no more questions."
        return "Others hold the questions that are open. Ask again later."

    # ------------------------------------------------------------ answering
    def answer(
        self,
        name: str,
        question_id: str,
        answer: Word,
        reason: str = "",
        probability: float | None = None,
    ) -> dict[str, Any]:
        """Store an answer."""
        given = ANSWERS[answer]
        sure = probability if given != "unsure" else None
        if sure is not None and not LEAST_SURE <= sure <= MOST_SURE:
            raise ValueError(
                f"probability is {sure:g}. Pass how likely the answer is right, from {LEAST_SURE:g} to 1."
            )
        self.project.session.answer(
            given, question_id=question_id, source=name, note=shorten_note(reason), reliability=sure
        )
        return self._confirm()

    def sort(
        self, name: str, set_id: str, piles: list[list[int]], unsure: Sequence[int], reason: str = ""
    ) -> dict[str, Any]:
        """Store into which piles the cards of a screen were sorted."""
        shown = self._screens.get(set_id)
        if shown is None:
            raise SessionError(f"There is no set {set_id!r}. Use the id of the last next_set.")
        given = Piles(piles, [*unsure])
        if fault := describe_card_faults(list_faults(given, shown)):
            raise ValueError(f"{fault} Put each card into one pile, or into unsure.")
        rows, doubted = find_rows(given, shown)
        self.project.session.sort(rows, doubted, question_id=set_id, source=name, note=shorten_note(reason))
        return self._confirm()

    def undo(self, name: str) -> dict[str, Any]:
        """Take back the last answer of the agent; answers of others stay."""
        session = self.project.session
        own = [
            event
            for event in session.history
            if event.source == name and event.kind in ANSWERS_QUESTION and event.gold is None
        ]
        if not own:
            return {"undone": None, **self._confirm()}
        event, ids = own[-1], session.ids
        session.undo(event.number)
        rows = [event.first, event.second] if event.sorting is None else [*event.sorting.order]
        return {"undone": {"ids": [ids[row] for row in rows if row is not None]}, **self._confirm()}

    def _confirm(self) -> dict[str, Any]:
        return {"answers": self.project.session.status.n_answers}

    # ------------------------------------------------------------ what follows
    def status(self) -> dict[str, Any]:
        """Return the counts, the largest clusters and the advice of the session."""
        session = self.project.session
        now, names = session.status, session.cluster_names
        found = state(now)
        sizes, numbers = found.pop("clusters"), found.pop("cluster_numbers")
        found["advice"] = [
            *found.pop("description"),
            *describe_advice(now),
            *filter(None, [describe_doubts(now)]),
        ]
        listed = sorted(zip(numbers, sizes, strict=True), key=lambda each: -each[1])[:MOST_LISTED]
        clusters = [
            {"cluster": number, "rows": size, **({"name": names[number]} if number in names else {})}
            for number, size in listed
        ]
        return {
            "data": self.project.title,
            "session": str(self.project.path),
            **found,
            "n_clusters": len(sizes),
            "largest_clusters": clusters,
            "questions_left": now.reason != "exhausted" and self._count_left() > 0,
        }

    def explain(self, ids: Sequence[str] = ()) -> dict[str, Any]:
        """Explain why two rows are together or apart, or without rows what each cluster is."""
        if not ids:
            return self._explain_clusters()
        if len(ids) != 2 or ids[0] == ids[1]:
            raise ValueError(f"ids has {count_noun(len({*ids}), 'row')}. Pass two different rows, or none.")
        session = self.project.session
        first, second = (self.find_row(each) for each in ids)
        call = session.ids.__getitem__
        why, near = session.why(first, second), session.explain_pair(first, second)
        sentences = why.sentences(call)
        if near is not None:
            sentences += near.sentences()
        elif why.by == "nothing":
            sentences += describe_near_rows(session.labels, self.project.encoded.X, first, second, call)
        return {"ids": [*ids], "together": why.together, "sentences": sentences}

    def _explain_clusters(self) -> dict[str, Any]:
        session, items = self.project.session, self.project.items
        labels, columns = session.labels, project_columns(self.project)
        n_clusters = len({*labels.tolist()})
        if n_clusters > MOST_CLUSTERS:
            raise SessionError(
                f"There are {n_clusters} clusters, and at most {MOST_CLUSTERS} are described."
                " Pass two rows as ids."
            )
        if columns is not None:
            found = describe_by_rules(labels, columns, session.constraints)
        elif items.side is not None:
            found = describe_by_side_table(
                labels, self.project.encoded.X, items.side, session.ids.__getitem__
            )
        elif items.holds_words:
            found = describe_by_words(labels, items)
        else:
            shown = describe_shown_clusters(labels, self.project.encoded.X)
            lines = {each.cluster: each.lines(session.ids.__getitem__) for each in shown}
            return {"clusters": [{"cluster": key, "lines": each} for key, each in lines.items()]}
        clusters = [{"cluster": key, "lines": lines} for key, lines in found.clusters.items()]
        rules = {} if found.fidelity is None else {"share_of_rows_placed_right": found.fidelity}
        return {"clusters": clusters, **rules, "notes": found.notes}

    def export(self, table: Table = "clusters", start: int = 0, n: int = MOST_EXPORTED) -> dict[str, Any]:
        """Return a part of a table as CSV with its header: clusters, pairs that follow, or answers."""
        if not 1 <= n <= MOST_EXPORTED or start < 0:
            raise ValueError(
                f"start is {start} and n is {n}. Pass start from 0, and n from 1 to {MOST_EXPORTED}."
            )
        session, file = self.project.session, io.StringIO(newline="")
        if table == "clusters":
            n_all, end = session.n_rows, start + n
            write_labels(
                session.ids[start:end], session.labels[start:end].tolist(), file, names=session.cluster_names
            )
            return {"csv": file.getvalue(), "of": n_all, "next_start": end if end < n_all else None}
        if table == "pairs":
            session.constraints.to_csv(file, ids=session.ids)
        else:
            write_answers(list_answers(session), file)
        header, *lines = file.getvalue().splitlines(keepends=True)
        part = lines[start : start + n]
        end = start + len(part)
        return {
            "csv": "".join([header, *part]),
            "of": len(lines),
            "next_start": end if end < len(lines) else None,
        }

    # ------------------------------------------------------------ what is known
    def guidelines(self) -> str:
        """What belongs together, as the session has it."""
        session = self.project.session
        text = write_guidelines(session.guidelines, session.examples, session.ids.__getitem__)
        return text or DEFAULT_GUIDELINES

    def find_row(self, name: str) -> int:
        """The position of a row, by its id."""
        try:
            return self.project.session.ids.index(name)
        except ValueError:
            example = shorten(self.project.session.ids[0])
            raise SessionError(
                f"There is no row {name!r}. Use the id of a row, such as {example!r}."
            ) from None

    def describe_row(self, name: str) -> dict[str, Any]:
        """The columns of a row and its cluster."""
        row = self.find_row(name)
        return {"id": name, "cluster": int(self.project.session.labels[row]), "row": self.read_row(row)}

    @property
    def has_pictures(self) -> bool:
        """Whether the rows are images, or have one."""
        return self.project.items.pixels is not None

    def draw_pictures(self, names: Sequence[str]) -> list[bytes]:
        """The pictures of rows, by their ids, as PNG."""
        if not 1 <= len(names) <= MOST_PICTURES:
            raise ValueError(f"ids has {count_noun(len(names), 'row')}. Pass 1 to {MOST_PICTURES}.")
        pixels = self.project.items.pixels
        assert pixels is not None, "only rows with pictures are asked for them"
        return [png(pixels(self.find_row(name))) for name in names]

    # ------------------------------------------------------------ asking the person
    def write_question(self, question_id: str) -> str:
        """Write a question as a person reads it."""
        session = self.project.session
        first, second = self.find_rows_of(question_id)
        parts = ["Do these two belong together?"]
        parts += [self._write_card(row) for row in (first, second)]
        parts += [f"Guidelines: {session.guidelines}"] if session.guidelines else []
        return "\n\n".join(parts)

    def _write_card(self, row: int) -> str:
        values = [f"  {column}: {value}" for column, value in self.read_row(row).items() if value is not None]
        return "\n".join([self.project.session.ids[row], *values])
