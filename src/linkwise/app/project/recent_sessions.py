"""The sessions of a folder, and those that were opened lately, for the page on which linkwise starts.

Which were opened lately is noted for each user: the paths of a few session files, and when each was opened.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from linkwise.app.project.origin import origin_of
from linkwise.app.project.project import SUFFIX, data_path
from linkwise.errors import SessionError
from linkwise.session.session import Session
from linkwise.whole_files import write_whole

MOST_NOTED = 20
MOST_LISTED = 12


def find_notes() -> Path:
    """The file in the user's folder for such notes, which may not exist yet."""
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".local/state") / "linkwise/recent.json"


def note_opening(session: Path) -> None:
    """Note that a session was opened; do nothing if the user's folder cannot be written."""
    with suppress(OSError, RuntimeError):  # RuntimeError: there is no home
        notes, path = find_notes(), str(session.resolve())
        now = datetime.now(UTC).isoformat(timespec="seconds")
        others = [entry for entry in _read_notes(notes) if entry[0] != path]
        notes.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with write_whole(notes) as free:
            free.write_text(json.dumps([[path, now], *others][:MOST_NOTED]), encoding="utf-8")


def _read_notes(notes: Path) -> list[list[str]]:
    """Paths and times, the latest first; none if the file is not what linkwise writes."""
    try:
        found = json.loads(notes.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    entries = found if isinstance(found, list) else []
    return [each for each in entries if isinstance(each, list) and [*map(type, each)] == [str, str]]


def list_sessions(folder: Path) -> list[dict[str, Any]]:
    """Describe the sessions of a folder and those opened lately, the last changed first."""
    noted: Iterable[Path] = ()
    with suppress(RuntimeError):
        noted = [Path(path) for path, _ in _read_notes(find_notes())]
    found = dict.fromkeys([*_find_beside(folder), *noted])
    changed = {path: when for path in found if (when := _changed(path)) is not None}
    latest = sorted(changed, key=changed.__getitem__, reverse=True)
    return [_describe_session(path, changed[path]) for path in latest[:MOST_LISTED]]


def _find_beside(folder: Path) -> list[Path]:
    """Where sessions of a folder and of the folders in it may be."""
    try:
        inside = [Path(entry) for entry in os.scandir(folder)]
    except OSError:
        return []
    return [path if path.suffix == SUFFIX else path / f"session{SUFFIX}" for path in inside]


def _changed(path: Path) -> float | None:
    """When a file was changed; None if there is none any more."""
    with suppress(OSError, ValueError):
        if path.is_file():
            return path.stat().st_mtime
    return None


def abbreviate_folder(folder: Path) -> str:
    """A folder as shells write it, with a tilde for the user's own."""
    with suppress(ValueError, RuntimeError):
        return f"~/{folder.relative_to(Path.home())}".removesuffix("/.")
    return str(folder)


def _describe_session(path: Path, changed: float) -> dict[str, Any]:
    when = datetime.fromtimestamp(changed, UTC).isoformat(timespec="seconds")
    shown = {"path": str(path), "data": path.stem, "folder": abbreviate_folder(path.parent), "when": when}
    try:
        with Session.open(path) as session:
            source, status = origin_of(session, path), session.snapshot.status
    except (SessionError, OSError):
        return {**shown, "problem": "This session cannot be read."}
    is_demo, data = "demo" in source, data_path(path, source)
    if is_demo:
        shown["data"] = f"demo {source['demo']}"
    elif "file" in source:
        shown["data"] = Path(source["file"]).name
    is_there = is_demo or (data is not None and data.exists())
    return {
        **shown,
        "answers": status.n_answers,
        "clusters": sum(number >= 0 for number in status.cluster_numbers),
        "problem": None if is_there else "Its data file is missing.",
    }
