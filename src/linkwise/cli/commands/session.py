"""``status``, ``undo`` and ``export``: what can be done with a session file alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from linkwise.session.events import Event
from linkwise.session.session import Session
from linkwise.session.status import count_answers
from linkwise.terminal import screen
from linkwise.terminal.console import event_in_words
from linkwise.terminal.progress import busy
from linkwise.terminal.protocol import emit, event_as_json, state
from linkwise.wording import NOTHING_TO_UNDO, strip_controls
from linkwise.workspace.exit_codes import UsageError, say
from linkwise.workspace.method_choice import learner_phrase
from linkwise.workspace.origin import origin_of
from linkwise.workspace.output import STDOUT, check_apart, check_free, is_same_file, open_output, write_labels
from linkwise.workspace.project import data_path, find_session, open_with_current_labels

REASONS = {
    None: "questions are left",
    "exhausted": "there are no more questions",
    "budget": "the budget is used up",
    "stopped": "questions are left",
}
STALE = "These are the clusters before the last change. linkwise ask and linkwise export update them."


# ---------------------------------------------------------------- status
def status(path: Path, *, as_json: bool = False) -> None:
    """Print where a session stands."""
    found = find_session(path)
    with Session.open(found) as session:
        if as_json:
            emit(type="status", **_status_as_json(session, found))
            return
        console = Console()
        for what, words in _list_facts(session, found):
            console.print(f"{what:<10}{strip_controls(words)}", markup=False, highlight=False)
        console.print(
            screen.draw_cluster_bars(session.status.cluster_sizes, width=console.width), highlight=False
        )
        if not session.labels_are_current:
            console.print(STALE, markup=False, highlight=False)


def _list_facts(session: Session, path: Path) -> list[tuple[str, str]]:
    now, source, history = session.status, origin_of(session, path), session.history
    facts = [("session", str(path))]
    if "file" in source:
        data = data_path(path, source)
        facts.append(("data", str(data) if data else f"{source['file']} (not there)"))
    facts += [("method", learner_phrase(session.learner)), ("answers", count_answers(now))]
    if history:
        name = session.ids.__getitem__
        facts.append(("last", f"{event_in_words(history[-1], name)}, {_format_time(history[-1])}"))
    if session.labels_are_current:
        facts.append(("state", REASONS[now.reason]))
    facts += [("", said) for said in now.description]
    return facts


def _format_time(event: Event) -> str:
    return f"{event.when[:10]} {event.when[11:16]} UTC"


def _status_as_json(session: Session, path: Path) -> dict[str, Any]:
    now = session.status
    current = session.labels_are_current
    return {
        "session": str(path),
        "data": origin_of(session, path).get("file"),
        "learner": session.learner,
        **state(now),
        "labels_are_current": current,
        "left_to_ask": now.reason != "exhausted" if current else None,
    }


# ---------------------------------------------------------------- undo
def undo(path: Path, *, as_json: bool = False) -> None:
    """Take back the last thing that was said, and print what it was."""
    found = find_session(path)
    with Session.open(found) as session:
        event = session.undo()
        name = session.ids.__getitem__
        if as_json:
            undone = None if event is None else event_as_json(event, name)
            emit(type="state", done="undo", undone=undone, **_status_as_json(session, found))
        elif event is None:
            print(f"{NOTHING_TO_UNDO} This session has no answers.")
        else:
            print(f"taken back: {event_in_words(event, name)}")
            print(f"left: {count_answers(session.status)}")


# ---------------------------------------------------------------- export
def export(
    path: Path,
    *,
    labels: Path | None = None,
    constraints: Path | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Write the clusters and the pairs of a session; the clusters to stdout when no file is named."""
    found = find_session(path)
    with Session.open(found) as kept:
        needed = [(found, "the session itself"), (data_path(found, origin_of(kept, found)), "its data")]
    check_apart((labels, constraints), needed)
    check_free((labels, constraints), force=force)
    if labels is not None and constraints is not None and is_same_file(labels, constraints):
        raise UsageError(f"Clusters and pairs cannot both go to {labels}. Name two files.")
    with busy("bringing the clusters up to date") as progress:
        session, stale = open_with_current_labels(found, progress)
    with session:
        if stale and (constraints is None or labels is not None):
            say(stale)
        if labels is not None:
            with open_output(labels) as file:
                write_labels(session.ids, session.labels.tolist(), file, names=session.cluster_names)
        if constraints is not None:
            with open_output(constraints) as file:
                session.constraints.to_csv(file, ids=session.ids)
        if as_json:
            emit(type="export", current=stale is None, **_export_as_json(session, labels, constraints))
        elif labels is None and constraints is None:
            write_labels(session.ids, session.labels.tolist(), sys.stdout, names=session.cluster_names)
        else:
            for what, target in (("clusters", labels), ("pairs", constraints)):
                if target not in (None, STDOUT):
                    say(f"{what} written to {target}")


def _export_as_json(session: Session, labels: Path | None, constraints: Path | None) -> dict[str, Any]:
    """Paths of what was written; everything itself when nothing was."""
    if labels is not None or constraints is not None:
        return {name: str(p) for name, p in (("labels", labels), ("constraints", constraints)) if p}
    ids, held = session.ids, session.constraints
    pairs = [("must-link", held.must_link), ("cannot-link", held.cannot_link)]
    return {
        "labels": dict(zip(ids, session.labels.tolist(), strict=True)),
        "constraints": [[ids[i], ids[j], kind] for kind, rows in pairs for i, j in rows.tolist()],
    }
