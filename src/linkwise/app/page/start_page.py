"""The page on which linkwise starts: sessions to go on with, a file to open, and the demos."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from linkwise.app.page import requests
from linkwise.app.page.dropped_files import LARGEST_FILE, keep_file
from linkwise.app.page.requests import RefusedRequest, Reply, Request
from linkwise.data.read.endings import ENDINGS

if TYPE_CHECKING:
    from linkwise.app.page.presenter import Presenter

DEMOS = {
    "digits": "1797 images of handwritten digits",
    "wine": "178 wines with 13 measurements",
    "messages": "160 messages to a shop",
    "loads": "160 curves of electricity over a day",
}
MOST_FILES = 12
MOST_NAMES = 50
MOST_ENTRIES = 10_000  # of a folder that are looked at
LONGEST_PATH = 4096


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder; a link that leads back to itself is none."""
    with suppress(OSError):
        return entry.is_dir()
    return False


@dataclass(frozen=True, slots=True)
class Opening:
    """What a person chose to open, and how it is opened."""

    title: str
    begin: Callable[[], Presenter]


class StartPage:
    """What the page shows before anything is open, and what a person can choose there.

    It reads any path on this machine, so it is for the person who started linkwise, and nobody else.
    ``open_file(path)`` and ``open_demo(name)`` return the presenter of what was chosen.
    """

    def __init__(
        self,
        folder: Path,
        open_file: Callable[[Path], Presenter],
        open_demo: Callable[[str], Presenter],
        largest_file: int = LARGEST_FILE,
    ) -> None:
        self.folder, self.largest_file = folder, largest_file
        self._open_file, self._open_demo = open_file, open_demo

    def state(self) -> dict[str, Any]:
        """Return everything that is shown, as values for JSON."""
        # the address is printed before the imports that take long
        from linkwise.app.project.recent_sessions import abbreviate_folder, list_sessions

        return {
            "protocol": 1,
            "start": {
                "folder": abbreviate_folder(self.folder),
                "files": self._list_files(),
                "sessions": list_sessions(self.folder),
                "demos": [{"name": name, "about": about} for name, about in DEMOS.items()],
                "largest": self.largest_file,
                "endings": ENDINGS,
            },
        }

    def handle(self, request: Request) -> Reply | Opening:
        """Return the reply to a request, or what it chooses."""
        try:
            do = requests.read_choice(request, "do", ("open", "demo", "names"))
            if do == "demo":
                name = requests.read_choice(request, "name", tuple(DEMOS))
                return Opening(name, lambda: self._open_demo(name))
            text = requests.read_text(request, "path", LONGEST_PATH)
            if do == "names":
                return Reply({"re": requests.request_id(request), "ok": True, "names": self._complete(text)})
            path = self._read_path(text)
            return Opening(path.name, lambda: self._open_file(path))
        except RefusedRequest as error:
            return requests.refuse(request, error.kind, error.text)

    def _read_path(self, text: str) -> Path:
        """The path that was typed, or pasted as file managers and shells write it."""
        text = text.strip()
        if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
            text = text[1:-1]
        if text.startswith("file://"):
            text = unquote(urlsplit(text).path)
        if not text or "\0" in text:
            raise RefusedRequest("bad", "No file is given. Pass the path of a file or a folder.")
        return self.folder / os.path.expanduser(text)

    def _list_files(self) -> list[str]:
        """The data files of the folder that have no session yet."""
        from linkwise.app.project.project import SUFFIX

        names = [name for name in self._complete("") if not name.endswith("/")]
        # unlike Path.exists it takes names that get too long by the suffix
        return [name for name in names if not os.path.exists(self.folder / f"{name}{SUFFIX}")][:MOST_FILES]

    def _complete(self, text: str) -> list[str]:
        """The paths of data and folders that begin as the text does."""
        begin, slash, name = text.rpartition("/")
        folder, found = self.folder / os.path.expanduser(begin + slash), []
        try:
            with os.scandir(folder) as entries:
                for _, entry in zip(range(MOST_ENTRIES), entries, strict=False):
                    is_hidden = entry.name.startswith(".") and not name.startswith(".")
                    if is_hidden or not entry.name.lower().startswith(name.lower()):
                        continue
                    if _is_folder(entry):
                        found.append(f"{begin}{slash}{entry.name}/")
                    elif os.path.splitext(entry.name)[1].lower() in ENDINGS:
                        found.append(f"{begin}{slash}{entry.name}")
        except (OSError, ValueError):
            return []
        return sorted(found)[:MOST_NAMES]

    async def keep(self, name: str, parts: AsyncIterable[bytes]) -> Path:
        """Keep a file that the page sends in the folder in which linkwise was started."""
        return await keep_file(self.folder, name, parts, self.largest_file)
