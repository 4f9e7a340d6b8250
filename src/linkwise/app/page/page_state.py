"""The state of a session as pages show it, and rows, questions, clusters and advice as values for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from linkwise.app.page.answer_list import describe_suspect, serialize_guidelines
from linkwise.app.page.cards import RowView, choose_fields, compare_rows
from linkwise.app.page.content import MOST_CLUSTERS, ClusterSummary, PageContent
from linkwise.app.page.requests import PERSONAL
from linkwise.app.page.sorting_offer import MEASURED_LEARNER, SIZES, offer_sorting
from linkwise.app.project.changed_options import count_facts
from linkwise.app.project.cluster_search import RowHits
from linkwise.app.project.method_choice import learner_phrase
from linkwise.constraints.facts import Answer
from linkwise.constraints.sorting import Sorting
from linkwise.learn.advice import StopAdvice
from linkwise.learn.gathering import SCREEN_SIZE
from linkwise.learn.learner import Question
from linkwise.learn.pair_explanation import PairExplanation
from linkwise.learn.verification import CHECK
from linkwise.session.journal.events import ANSWERS_QUESTION
from linkwise.session.state.status import (
    Status,
    count_suspects,
    describe_advice,
    describe_errors,
    describe_own_errors,
)
from linkwise.session.state.suspects import SuspectAnswer
from linkwise.session.team.agreement import measure_pace, measure_recent_pace
from linkwise.session.team.leases import OpenQuestion, Screen
from linkwise.session.team.team import ReviewCase
from linkwise.types import Labels
from linkwise.wording import NO_MORE_QUESTIONS

PROTOCOL = 1
SHOWN_CHANGES = 20
MOST_SHOWN = 3  # rows of a pile beside a card that is reviewed


def render_state(content: PageContent, people: Sequence[str] = ()) -> dict[str, Any]:
    """Return everything that is shown, except labels and places, as values for JSON.

    With people it has a part for each of them, which they are shown in place of the common one.
    """
    now, view, ended = content.now, content.view, content.end_reason()
    status, undo = now.status, content.list_answers().last
    has_people = bool(people or content.people)
    question = None if ended else render_present_question(content)
    return {
        "protocol": PROTOCOL,
        "title": content.title,
        "kind": view.items.kind,
        "place": content.place,
        "rows": content.session.n_rows,
        "two_bytes": content.needs_two_bytes(),
        "labels": content.counter,
        "shades": [[number, *shade] for number, shade in sorted(content.shades.items())],
        "event": content.event,
        "busy": False,
        "question": question,
        "sorting": render_offers(content, "", question),
        "ended": ended,
        "agreement": content.agreement(),
        "budget": content.budget,
        "seconds_per_answer": measure_recent_pace(now.history, SHOWN_CHANGES),
        "counts": _render_counts(status),
        "changes": _list_changes(content),
        "advice": render_advice(status, ended=ended is not None),
        "axes": content.places.axes,
        "map": None if people else content.places.describe(),
        "clusters": [render_cluster(view, c) for c in content.clusters[:MOST_CLUSTERS]],
        "rules": content.has_rules(),
        "profiles": content.profile is not None,
        "columns": None if people else content.offer.describe(),
        "table": None if people else _render_table(content),
        "more_clusters": max(0, len(content.clusters) - MOST_CLUSTERS),
        "learner": learner_phrase(now.learner),
        "description": [] if status.advice is not None else list(status.description),
        "notes": content.notes,
        "undo": None if undo is None else content.serialize(undo),
        "errors": _join_errors(status, describe_errors(status)),
        "n_suspects": status.n_suspects,
        "n_review": len(content.find_cases("")),
        **serialize_guidelines(now.guidelines, now.examples, view.name),
        **({PERSONAL: _render_people(content, people, ended)} if has_people else {}),
    }


def render_present_question(content: PageContent) -> dict[str, Any] | None:
    """Return the present question; another one if it was put off, and None if nothing is left to ask."""
    q = content.now.question
    if q is not None and content.session.list_postponed():
        return _render_own_question(content, "", 0)
    if q is None:
        return None
    return render_question(content, q, content.now.question_id, q.expected)


def _render_own_question(content: PageContent, person: str, n_others: int) -> dict[str, Any] | None:
    """Return the question of one person; None if others hold all that are worth asking now."""
    found = content.find_question(person, n_others)
    return None if found is None else render_question(content, found, found.id, None)


def _render_table(content: PageContent) -> dict[str, Any] | None:
    """Whether the columns wait to be confirmed, and a number that changes with them; None without columns."""
    if content.offer.project is None:
        return None
    return {"is_new": not count_facts(content.session), "encoding": content.encoding}


def _join_errors(status: Status, errors: str) -> str:
    """Add to a sentence about wrong answers that none seems wrong; a button counts the others."""
    if not status.is_fallible or status.n_suspects:
        return errors
    return f"{errors} {count_suspects(status)}".strip()


def _render_counts(status: Status) -> dict[str, int]:
    return {
        "answers": status.n_answers,
        "yes": status.n_yes,
        "no": status.n_no,
        "unsure": status.n_unsure,
        "screens": status.n_screens,
        "cards": status.n_cards,
        "added": status.n_volunteered,
        "imported": status.n_imported,
        "done": status.n_done,
        "inferred": status.n_inferred,
    }


def _list_changes(content: PageContent) -> list[float]:
    """The shares of the rows that the last answers moved."""
    answers = [e for e in content.now.history if e.kind in ANSWERS_QUESTION and e.answer != "unsure"]
    return [content.shares[e.number] for e in answers if e.number in content.shares][-SHOWN_CHANGES:]


def _render_people(
    content: PageContent, people: Sequence[str], ended: str | None
) -> dict[str, dict[str, Any]]:
    """What each person is shown: their own question, undo and counts.

    After the last question of the learner they still get second opinions and gold pairs.
    """
    history, status = content.now.history, content.now.status
    rates = content.session.error_rates.by_source if status.is_fallible else {}
    counts = Counter(event.source for event in history if event.kind in ANSWERS_QUESTION)
    paces = measure_pace(history)
    for person in content.people - set(people):
        content.session.release(person)
    content.people = set(people)
    states = {}
    # whoever has answered least waits least
    for at, person in enumerate(sorted(people, key=counts.__getitem__), 1):
        question = None if ended == "budget" else _render_own_question(content, person, len(people) - at)
        own, has_ended = content.last_of(person), ended is not None and question is None
        states[person] = {
            "question": question,
            "sorting": render_offers(content, person, question),
            "ended": (ended or "waiting") if question is None else None,
            "advice": render_advice(status, ended=has_ended),
            "errors": _join_errors(status, describe_own_errors(rates.get(person))),
            "seconds_per_answer": None,  # the pace of all together is nobody's
            "undo": None if own is None else content.serialize(own),
            "n_review": len(content.find_cases(person)),
            "team": {
                "you": person,
                "own": counts[person],
                "all": counts.total(),
                "here": list(people),
                "median_seconds": paces.get(person),
            },
            "moves": content.moves.list_of(history, person),
        }
    return states


def render_row(view: RowView, labels: Labels, row: int) -> dict[str, Any]:
    """Return a row with its cluster."""
    return {**view.render(row), "cluster": int(labels[row])}


def render_pair(view: RowView, labels: Labels, pair: Question | OpenQuestion | ReviewCase) -> dict[str, Any]:
    """Return two rows, and how they differ."""
    first, second = render_row(view, labels, pair.first), render_row(view, labels, pair.second)
    return {"first": first, "second": second, **compare_rows(first, second, view.compared)}


def render_question(
    content: PageContent,
    question: Question | OpenQuestion,
    name: str | None,
    expected: Answer | None,
) -> dict[str, Any]:
    """Return a question with its reason, the likelier answer, and what each column says of it."""
    labels = content.labels
    likely = "yes" if labels[question.first] == labels[question.second] else "no"
    found = content.session.explain_pair(question.first, question.second)
    return {
        "id": name,
        **render_pair(content.view, labels, question),
        "why": question.why,
        "guess": expected or likely,
        "parts": None if found is None else serialize_parts(found),
    }


def render_screen(content: PageContent, screen: Screen) -> dict[str, Any]:
    """Return a screen as a page shows it."""
    return {"id": screen.id, "why": screen.why, **_render_cards(content, screen.known, screen.cards)}


def render_sorted(content: PageContent, number: int, sorting: Sorting) -> dict[str, Any]:
    """Return the screen of an event, and the piles in which its rows lie."""
    known = [[row] for row in sorting.order if row not in sorting.cards]
    return {
        "id": f"event {number}",
        "why": "",
        **_render_cards(content, known, sorting.cards),
        "event": number,
        "lies": {"piles": sorting.piles, "unsure": sorting.unsure},
    }


def render_doubt(content: PageContent, suspect: SuspectAnswer) -> dict[str, Any]:
    """Return a card as a loose one, beside a few rows of its pile and of the better one."""
    piles = [rows[:MOST_SHOWN] for rows in (suspect.pile, suspect.better_pile)]
    return {"id": "", "why": "", **_render_cards(content, piles, [suspect.first])}


def _render_cards(
    content: PageContent, piles: Sequence[Sequence[int]], rows: Sequence[int]
) -> dict[str, Any]:
    """Return rows to sort, those of known piles first, and the columns by which they differ most."""
    view, labels = content.view, content.labels
    known = [[render_row(view, labels, row) for row in pile] for pile in piles]
    cards = [render_row(view, labels, row) for row in rows]
    everything = [*(row for pile in known for row in pile), *cards]
    return {"known": known, "cards": cards, "columns": choose_fields(everything, view.compared)}


def render_offers(
    content: PageContent, person: str, question: Mapping[str, Any] | None, n_rows: int | None = None
) -> dict[str, Any]:
    """Return which screens a person is offered, on a wide page and on a narrow one; see `offer_sorting`."""
    history = content.now.history
    gathers = content.session.gathers and content.now.learner["name"] == MEASURED_LEARNER
    is_check = question is not None and question["why"].startswith(CHECK)
    offers = {
        name: offer_sorting(
            history, person, gathers=gathers, is_check=is_check, is_narrow=is_narrow, n_rows=n_rows
        )._asdict()
        for name, is_narrow in (("wide", False), ("narrow", True))
    }
    return {"sizes": list(SIZES), "start": SCREEN_SIZE, **offers}


def serialize_parts(found: PairExplanation) -> dict[str, Any]:
    """Return what speaks for and against the match of two rows, in words and column by column."""
    columns = [{"name": name, "part": part} for name, part in found.columns.items()]
    return {"text": " ".join(found.sentences()), "columns": columns, "whole": found.whole}


def render_advice(status: Status, *, ended: bool) -> dict[str, Any]:
    """Return the fields of `StopAdvice` and a ``text``, in which the advice follows the learner's sentences.

    ``stop`` is None if the learner gives no advice. `ended` tells whether there are no more questions.
    """
    fields = asdict(status.advice or StopAdvice(False, None))
    if ended:
        return {**fields, "stop": True, "text": f"{NO_MORE_QUESTIONS}."}
    if status.advice is None:
        return {**fields, "stop": None, "text": ""}
    return {**fields, "text": " ".join([*status.description, *describe_advice(status)])}


def describe_case(content: PageContent, case: ReviewCase) -> list[str]:
    """Put into words what speaks against the answers about a pair."""
    return [
        describe_suspect(suspect, event.source, content.now.history, content.view.name)
        for suspect in case.suspects
        for event in case.answers
        if event.number == suspect.number
    ]


def render_cluster(view: RowView, cluster: ClusterSummary) -> dict[str, Any]:
    """Return one entry of the list of clusters."""
    return {
        "cluster": cluster.number,
        "size": cluster.size,
        "name": cluster.name,
        "exemplar": cluster.exemplars[0],
        "exemplars": list(cluster.exemplars),
        "exemplar_names": [view.name(row) for row in cluster.exemplars],
        "done": cluster.done,
        "answered": cluster.n_answered,
    }


def render_hits(view: RowView, hits: RowHits) -> dict[str, Any]:
    """Return the rows that a search found in a cluster."""
    return {"count": hits.count, "rows": hits.rows, "names": [view.name(row) for row in hits.rows]}
