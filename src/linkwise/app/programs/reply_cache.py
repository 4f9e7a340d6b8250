"""The replies of language models in a file beside the session, so that the same question costs only once."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from linkwise.app.programs.chat_endpoint import Message
from linkwise.app.programs.model_prompts import PROMPT_VERSION

SUFFIX = ".replies"


def find_key(model: str, messages: Sequence[Message]) -> str:
    """The key of a reply: a hash of the model, the version of the prompt and the messages."""
    asked = json.dumps([model, PROMPT_VERSION, list(messages)], ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()


class ReplyCache:
    """Replies by key, one a line of JSON; threads may share it, and processes may append to one file.

    A line that is damaged is skipped. A reply that cannot be written is only known to this process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._texts: dict[str, str] = {}
        with suppress(FileNotFoundError), path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                with suppress(ValueError, LookupError, TypeError):
                    fields = json.loads(line)
                    self._texts[fields["key"]] = str(fields["text"])

    def get(self, key: str) -> str | None:
        """The reply with a key, if it is there."""
        return self._texts.get(key)

    def put(self, key: str, model: str, text: str) -> None:
        """Store a reply; it is written at once."""
        line = json.dumps({"key": key, "model": model, "prompt": PROMPT_VERSION, "text": text})
        with self._lock:
            self._texts[key] = text
            with suppress(OSError), self.path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
