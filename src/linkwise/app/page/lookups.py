"""Requests of pages that change nothing: rows, searches, histories, reasons and exports."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from linkwise.app.page import requests
from linkwise.app.page.answer_list import describe_sources, serialize_event, serialize_suspect
from linkwise.app.page.cards import summarize_rows
from linkwise.app.page.cluster_descriptions import (
    ClusterDescriptions,
    describe_by_rules,
    describe_by_side_table,
    describe_by_words,
)
from linkwise.app.page.cluster_members import halve_cluster, list_members
from linkwise.app.page.content import MOST_CLUSTERS, ClusterSummary, PageContent
from linkwise.app.page.page_state import (
    describe_case,
    render_cluster,
    render_doubt,
    render_hits,
    render_pair,
    render_row,
    render_sorted,
)
from linkwise.app.page.requests import RefusedRequest, Request
from linkwise.app.page.results import describe_results, write_table
from linkwise.app.page.table_columns import describe_columns
from linkwise.app.page.team_report import describe_team
from linkwise.app.project.cluster_search import cluster_names, create_matcher, find_rows, name_with_text
from linkwise.app.project.output import write_labels
from linkwise.constraints.sorting import Sorting
from linkwise.reasons.near_rows import describe_near_rows
from linkwise.reasons.shown_clusters import WORTH
from linkwise.session.session import Session
from linkwise.session.team.team import ReviewCase

EXPORTS = ("table", "labels", "constraints", "session", "rules")
Lookup = Callable[[PageContent, Request], Any]
"""Returns the result of a request, perhaps with a file."""


def _show_rows(content: PageContent, request: Request) -> dict[str, Any]:
    return {
        "items": [
            render_row(content.view, content.labels, row)
            for row in requests.read_rows(request, content.session.n_rows)
        ]
    }


def _find(content: PageContent, request: Request) -> dict[str, Any]:
    """Find clusters by name, number or row, and describe those that the state does not list."""
    matches = create_matcher(requests.read_text(request, "text"))
    hits = find_rows(matches, name_with_text(content.view.name, content.view.items), content.labels)
    unlisted = [
        c
        for c in content.clusters[MOST_CLUSTERS:]
        if c.number in hits or any(map(matches, cluster_names(c.number, c.name)))
    ]
    described = unlisted[:MOST_CLUSTERS]
    shown = [c.number for c in (*content.clusters[:MOST_CLUSTERS], *described) if c.number in hits]
    return {
        "labels": content.counter,
        "rows": [{"cluster": number, **render_hits(content.view, hits[number])} for number in shown],
        "clusters": [render_cluster(content.view, c) for c in described],
        "more": len(unlisted) - len(described),
    }


def _list_history(content: PageContent, request: Request) -> dict[str, Any]:
    limit = requests.read_integer(request, "limit", requests.MOST_EVENTS + 1) if "limit" in request else 50
    before = None if request.get("before") is None else requests.read_integer(request, "before")
    listed = content.list_answers()
    events = [e for e in listed.events if before is None or e.number < before]
    newest = [serialize_event(e, listed.changed, content.view.name) for e in events[::-1][:limit]]
    return {"events": add_values(content, newest), "more": len(events) > len(newest)}


def _show_sorted(content: PageContent, request: Request) -> dict[str, Any]:
    """Return a screen that was sorted, with its cards where they lie."""
    sorting = read_sorted(content, request)
    return {"screen": render_sorted(content, request["event"], sorting)}


def _list_suspects(content: PageContent, _: Request) -> dict[str, Any]:
    suspects = content.now.suspects
    listed = suspects[: requests.MOST_EVENTS]
    return {
        "suspects": add_values(
            content,
            [serialize_suspect(suspect, content.now.history, content.view.name) for suspect in listed],
        ),
        "more": len(suspects) - len(listed),
    }


def _list_cases(content: PageContent, request: Request) -> dict[str, Any]:
    """List the pairs that wait for a review, with all about one of them: the given pair or the first."""
    cases = content.find_cases(content.person)
    shown = find_case(cases, content, request) if "first" in request else None
    listed = cases[: requests.MOST_EVENTS]
    name_row = content.view.name
    return {
        "cases": [
            {
                "first": case.first,
                "second": case.second,
                "card": _card_of(case),
                "names": [name_row(row) for row in _rows_of(case)],
            }
            for case in listed
        ],
        "more": len(cases) - len(listed),
        "shown": _render_case(content, shown or cases[0]) if cases else None,
    }


def find_case(cases: Sequence[ReviewCase], content: PageContent, request: Request) -> ReviewCase | None:
    """Return the case of the pair, and perhaps the card, that a request names; None if it waits no longer."""
    pair, card = {*read_pair(content, request)}, request.get("card")
    return next((c for c in cases if {c.first, c.second} == pair and _card_of(c) == card), None)


def _card_of(case: ReviewCase) -> int | None:
    return None if case.misplaced is None else case.misplaced.card


def _rows_of(case: ReviewCase) -> tuple[int, ...]:
    """The rows that a case is about: one card, or a pair."""
    card = _card_of(case)
    return (case.first, case.second) if card is None else (card,)


def _render_case(content: PageContent, case: ReviewCase) -> dict[str, Any]:
    """Both rows, who answered what and when, what speaks against it, and what is believed.

    For a card that may be misplaced, there is also a screen with its pile and the better one.
    """
    suspect = case.misplaced
    return {
        **render_pair(content.view, content.labels, case),
        "screen": None if suspect is None else render_doubt(content, suspect),
        "answers": [content.serialize(event) for event in case.answers],
        "doubts": describe_case(content, case),
        "believed": case.believed,
    }


def _list_rules(content: PageContent, _: Request) -> dict[str, Any]:
    described = _describe(content)
    clusters = [{"cluster": cluster, "text": lines} for cluster, lines in described.clusters.items()]
    return {"clusters": clusters, "fidelity": described.fidelity, "notes": described.notes}


def _list_profiles(content: PageContent, _: Request) -> dict[str, Any]:
    """Say in a line what distinguishes each cluster. Pages ask after they show the state."""
    if content.profile is not None and content.profiles[0] != content.counter:
        content.profiles = content.counter, content.profile(content.labels)
    found = [{"cluster": number, "text": text} for number, text in content.profiles[1].items()]
    return {"labels": content.counter, "profiles": found}


def _list_members(content: PageContent, request: Request) -> dict[str, Any]:
    text = requests.read_text(request, "text") if "text" in request else ""
    return list_members(content, find_cluster(content, request, "cluster"), text)


def _halve(content: PageContent, request: Request) -> dict[str, Any]:
    return halve_cluster(content, find_cluster(content, request, "cluster"))


def _explain(content: PageContent, request: Request) -> dict[str, Any]:
    first, second = read_pair(content, request)
    if first == second:
        raise RefusedRequest("bad", "First and second are the same row. Choose two rows.")
    why = content.session.why(first, second)
    near, found = [], content.session.explain_pair(first, second)
    if found is not None:
        near = found.sentences()
    elif why.by == "nothing" and content.columns is None:
        near = describe_near_rows(content.labels, content.X, first, second, content.view.name)
    answers = (*why.against, *why.facts, *why.moved)
    sources = describe_sources(content.now.history, answers, content.view.name)
    return {"text": " ".join([*why.sentences(content.view.name), *sources, *near])}


def _export(content: PageContent, request: Request) -> tuple[dict[str, Any], bytes]:
    what = requests.read_choice(request, "what", EXPORTS)
    if what == "table":
        return write_table(content, requests.read_text(request, "ending"))
    stem = Path(content.title).stem or "linkwise"
    exports: dict[str, tuple[str, str, Callable[[], bytes]]] = {
        "labels": ("clusters.csv", "text/csv", lambda: _export_labels(content)),
        "constraints": ("pairs.csv", "text/csv", lambda: _export_constraints(content.session)),
        "session": ("linkwise", "application/vnd.sqlite3", lambda: _export_session(content.session)),
        "rules": ("rules.txt", "text/plain", lambda: f"{_describe(content).text}\n".encode()),
    }
    ending, kind, export = exports[what]
    name = f"{stem}.{ending}" if what == "session" else f"{stem}-{ending}"
    return {"name": name, "type": kind}, export()


def _describe(content: PageContent) -> ClusterDescriptions:
    if not content.has_rules():
        raise RefusedRequest("bad", "These rows have neither columns nor texts, so there are no rules.")
    if content.rules is None or content.rules[0] != content.counter:
        content.rules = content.counter, _describe_anew(content)
    return content.rules[1]


def _describe_anew(content: PageContent) -> ClusterDescriptions:
    found, items = None, content.view.items
    if content.columns is not None:
        found = describe_by_rules(content.labels, content.columns, content.session.constraints)
    if items.side is not None and (found is None or (found.fidelity or 0) < WORTH):
        return describe_by_side_table(content.labels, content.X, items.side, content.view.name)
    return found or describe_by_words(content.labels, items)


def add_values(content: PageContent, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add a line about each row to the fields of pairs."""
    for entry in entries:
        rows = [row for row in (entry["first"], entry["second"]) if row is not None]
        entry["values"] = summarize_rows(content.view, rows)
    return entries


def read_pair(content: PageContent, request: Request) -> tuple[int, int]:
    """Return the two rows of a request."""
    n_rows = content.session.n_rows
    first, second = (requests.read_integer(request, name, n_rows) for name in ("first", "second"))
    return first, second


def read_sorted(content: PageContent, request: Request) -> Sorting:
    """Return the piles of the event that a request names."""
    number = requests.read_integer(request, "event")
    sorting = next((event.sorting for event in content.now.history if event.number == number), None)
    if sorting is None:
        raise RefusedRequest("bad", "These rows are not sorted any more.")
    return sorting


def find_cluster(content: PageContent, request: Request, name: str) -> ClusterSummary:
    """Return the cluster that a request names."""
    number = requests.read_integer({name: request.get(name, None)}, name)
    found = next((c for c in content.clusters if c.number == number), None)
    if found is None:
        raise RefusedRequest("bad", f"Cluster {number} does not exist any more.")
    return found


# ---------------------------------------------------------------- files
def _export_labels(content: PageContent) -> bytes:
    """Return the cluster of each row as CSV."""
    file = io.StringIO()
    write_labels(content.session.ids, content.labels.tolist(), file, names=content.now.names)
    return file.getvalue().encode()


def _export_constraints(session: Session) -> bytes:
    """Return all answered pairs as CSV."""
    file = io.StringIO()
    session.constraints.to_csv(file, ids=session.ids)
    return file.getvalue().encode()


def _export_session(session: Session) -> bytes:
    """Return a copy of the session file."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy.linkwise")
        session.save_copy(copy)
        return copy.read_bytes()


LOOKUPS: dict[str, Lookup] = {
    "item": _show_rows, "find": _find, "members": _list_members, "halves": _halve,
    "history": _list_history, "sorted": _show_sorted, "suspects": _list_suspects,
    "review": _list_cases, "team": lambda content, *_: {"report": describe_team(content.session)},
    "table": lambda content, *_: describe_columns(content),
    "results": lambda content, *_: describe_results(content),
    "rules": _list_rules, "profiles": _list_profiles, "why": _explain, "export": _export,
}  # fmt: skip
