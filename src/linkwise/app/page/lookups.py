"""Requests of pages that change nothing: rows, searches, histories, reasons and exports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from linkwise.app.page import requests
from linkwise.app.page.answer_list import (
    serialize_event,
    serialize_suspect,
)
from linkwise.app.page.cluster_descriptions import (
    ClusterDescriptions,
    describe_by_rules,
    describe_by_side_table,
    describe_by_words,
)
from linkwise.app.page.cluster_list import MOST_CLUSTERS, ClusterSummary
from linkwise.app.page.exports import export_constraints, export_labels, export_session
from linkwise.app.page.rendering import (
    describe_doubts,
    render_cluster,
    render_hits,
    render_pair,
    render_row,
)
from linkwise.app.page.requests import RefusedRequest, Request
from linkwise.app.page.row_values import summarize_rows
from linkwise.app.page.session_state import SessionState
from linkwise.app.page.team_report import describe_team
from linkwise.app.project.cluster_search import cluster_names, create_matcher, find_rows, name_with_text
from linkwise.reasons.near_rows import describe_near_rows
from linkwise.reasons.shown_clusters import WORTH
from linkwise.session.team.review import ReviewCase

EXPORTS = ("labels", "constraints", "session", "rules")


class Lookups(SessionState):
    """The requests that only read; see `linkwise.app.page.presenter.Presenter`."""

    def _item(self, request: Request) -> dict[str, Any]:
        return {
            "items": [
                render_row(self._view, self._labels, row)
                for row in requests.read_rows(request, self._session.n_rows)
            ]
        }

    def _find(self, request: Request) -> dict[str, Any]:
        """Find clusters by name, number or row, and describe those that the state does not list."""
        matches = create_matcher(requests.read_text(request, "text"))
        hits = find_rows(matches, name_with_text(self._view.name, self._view.items), self._labels)
        unlisted = [
            c
            for c in self._clusters[MOST_CLUSTERS:]
            if c.number in hits or any(map(matches, cluster_names(c.number, c.name)))
        ]
        described = unlisted[:MOST_CLUSTERS]
        shown = [c.number for c in (*self._clusters[:MOST_CLUSTERS], *described) if c.number in hits]
        return {
            "labels": self._counter,
            "rows": [{"cluster": number, **render_hits(self._view, hits[number])} for number in shown],
            "clusters": [render_cluster(self._view, c) for c in described],
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

    def _render_case(self, case: ReviewCase) -> dict[str, Any]:
        """Both rows, who answered what and when, what speaks against it, and what is believed."""
        return {
            **render_pair(self._view, self._labels, case),
            "answers": [self._serialize(event) for event in case.answers],
            "doubts": describe_doubts(self._view, case),
            "believed": case.believed,
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
        near = []
        if why.by == "nothing" and self._columns is None:
            near = describe_near_rows(self._labels, self._X, first, second, self._view.name)
        return {"text": " ".join([*why.sentences(self._view.name), *near])}

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

    def _describe(self) -> ClusterDescriptions:
        if not self._has_rules():
            raise RefusedRequest("bad", "These rows have neither columns nor texts, so there are no rules.")
        if self._rules is None or self._rules[0] != self._counter:
            self._rules = self._counter, self._describe_anew()
        return self._rules[1]

    def _describe_anew(self) -> ClusterDescriptions:
        found, items = None, self._view.items
        if self._columns is not None:
            found = describe_by_rules(self._labels, self._columns, self._session.constraints)
        if items.side is not None and (found is None or (found.fidelity or 0) < WORTH):
            return describe_by_side_table(self._labels, self._X, items.side, self._view.name)
        return found or describe_by_words(self._labels, items)

    def _add_values(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Add a line about each row to the fields of pairs."""
        for entry in entries:
            rows = [row for row in (entry["first"], entry["second"]) if row is not None]
            entry["values"] = summarize_rows(self._view, rows)
        return entries

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

    ACTIONS: ClassVar[dict[str, Callable[[Any, Request], Any]]] = {
        "item": _item, "find": _find, "history": _history, "suspects": _list_suspects,
        "review": _list_cases, "team": lambda self, _: {"report": describe_team(self._session)},
        "rules": _list_rules, "profiles": _list_profiles, "why": _why, "export": _export,
    }  # fmt: skip
