"""A chat model behind an OpenAI-compatible address, on this machine or elsewhere.

One request is one attempt: whoever asks decides about repetitions, by the error. A `ProgramError` says that
no question can be answered, such as a wrong key; an `UnusableReplyError` concerns one question.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from linkwise.app.programs.replies import UnusableReplyError
from linkwise.errors import ProgramError
from linkwise.wording import join_names, shorten

Message = dict[str, Any]

MOST_BYTES = 1 << 24  # of a reply
MOST_DELAY_S = 120.0  # that an endpoint may ask for; if it asks for more, the run ends
BUSY_DELAY_S = (
    10.0  # before the next attempt at an endpoint that is busy, or loads a model, and names no time
)
LIST_TIMEOUT_S = 10.0
MOST_NAMED = 5
OPTIONAL: dict[str, Any] = {"temperature": 0, "response_format": {"type": "json_object"}}
"""Parts of a request that some endpoints refuse; it is then sent without them."""
REFUSING = (400, 404, 415, 422, 501)  # statuses with which they do
BUSY = (408, 409, 425, 429)


class Completion(NamedTuple):
    """What a model wrote, and how many tokens it read and wrote.

    `fault` says why there is no text; with `is_refusal` the model does not want to reply.
    """

    text: str
    n_read: int
    n_written: int
    fault: str = ""
    is_refusal: bool = False


class ChatEndpoint:
    """Sends messages to a model; threads may share it.

    `key` is sent as a bearer token, and `key_variable` is the environment variable that holds it, for
    messages. A request may take `timeout` seconds.
    """

    def __init__(
        self, base_url: str, model: str, *, key: str = "", key_variable: str = "", timeout: float = 60.0
    ) -> None:
        self.base_url, self.model = base_url.rstrip("/"), model
        self._key, self._key_variable, self._timeout = key, key_variable, timeout
        proxies = [urllib.request.ProxyHandler({})] if is_on_this_machine(base_url) else []
        self._opener = urllib.request.build_opener(_NoRedirects, *proxies)
        self._left_out: frozenset[str] = frozenset()  # what the endpoint has refused
        self._has_replied = False

    def write_body(
        self, messages: Sequence[Message], left_out: frozenset[str] = frozenset()
    ) -> dict[str, Any]:
        """Return the fields of a request."""
        optional = {name: value for name, value in OPTIONAL.items() if name not in left_out}
        return {"model": self.model, "messages": list(messages), **optional}

    def complete(self, messages: Sequence[Message]) -> Completion:
        """Let the model write the next message; send the request again without what the endpoint refuses."""
        left_out = self._left_out
        while True:
            try:
                reply = self._post(self.write_body(messages, left_out))
            except _StatusError as error:
                refused = self._find_refused(error, left_out)
                if not refused:
                    raise self._explain(error) from None
                left_out |= refused
                continue
            completion = read_completion(reply)
            self._has_replied, self._left_out = True, left_out
            return completion

    # ------------------------------------------------------------ errors
    def _find_refused(self, error: _StatusError, left_out: frozenset[str]) -> frozenset[str]:
        """The optional parts that an error names; all of them if a first request fails without a reason."""
        sent = OPTIONAL.keys() - left_out
        if error.status not in REFUSING:
            return frozenset()
        named = frozenset(name for name in sent if name in error.message)
        is_unclear = error.status in (400, 422) and not self._has_replied
        return named or (frozenset(sent) if is_unclear else frozenset())

    def _explain(self, error: _StatusError) -> Exception:
        """What an error status means for the run or for the question."""
        status, at = error.status, self.base_url
        about = f"{status}: {error.message}" if error.message else f"{status}"
        if status in (401, 403):
            return ProgramError(f"{at} does not accept the key ({about}). {self._advise_key()}")
        if 300 <= status < 400:
            target = error.location or "another address"
            return ProgramError(f"{at} redirects to {target}. Pass the address that answers as --base-url.")
        if status in (404, 405) and not self._has_replied:
            return ProgramError(f"{at} has no model {self.model!r} ({about}). {self._advise_model()}")
        if status in BUSY or status >= 500:
            usual = BUSY_DELAY_S if status in (429, 503) else 0.0
            delay = usual if error.retry_after is None else error.retry_after
            if delay > MOST_DELAY_S:
                return ProgramError(
                    f"{at} wants no request for {delay:.0f} s ({about}). Run the same command again later."
                )
            return UnusableReplyError(f"The endpoint is busy or failed ({about})", delay=delay)
        return UnusableReplyError(f"The endpoint refused the request ({about})", is_final=True)

    def _advise_key(self) -> str:
        if self._key:
            return f"Set {self._key_variable} to a valid key."
        return f"Set {self._key_variable}, or pass another variable as --key-variable."

    def _advise_model(self) -> str:
        """Name the models that the endpoint has, or say what an address looks like."""
        names = self._list_models()
        if names and self.model not in names:
            return f"Use one that it has: {join_names(names, MOST_NAMED)}."
        return "Check --model, and that --base-url ends as the server documents it, mostly in /v1."

    def _list_models(self) -> list[str]:
        """The models of the endpoint; none if it does not list them."""
        request = urllib.request.Request(f"{self.base_url}/models", headers=self._headers())
        with suppress(OSError, ValueError, LookupError, TypeError, http.client.HTTPException):
            with self._opener.open(request, timeout=LIST_TIMEOUT_S) as response:
                listed = json.loads(response.read(MOST_BYTES))
            return [one["id"] for one in listed["data"] if isinstance(one["id"], str)]
        return []

    # ------------------------------------------------------------ one request
    def _headers(self) -> dict[str, str]:
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return {"Content-Type": "application/json", "Accept": "application/json", **key}

    def _post(self, body: Mapping[str, Any]) -> Any:
        """Send one request and return the JSON of the reply."""
        url, end = f"{self.base_url}/chat/completions", time.monotonic() + self._timeout
        request = urllib.request.Request(url, json.dumps(body).encode(), self._headers())
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                content = _read(response, end)
        except urllib.error.HTTPError as error:
            raise self._read_status(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise self._explain_silence(error) from None
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            if not self._has_replied and content.lstrip()[:1] == b"<":
                raise ProgramError(
                    f"{url} is a web page, not a model. Pass the address of the interface as --base-url,"
                    " such as http://localhost:11434/v1."
                ) from None
            begin = content[:80].decode(errors="replace")
            raise UnusableReplyError(f"The endpoint sent no JSON, but {begin!r}") from None

    def _read_status(self, error: urllib.error.HTTPError) -> _StatusError:
        content = b""
        with suppress(OSError, http.client.HTTPException), error:
            content = error.read(MOST_BYTES)
        message = _read_message(content)
        if self._key:
            message = message.replace(self._key, "…")
        wait = _read_delay(error.headers.get("Retry-After", ""))
        return _StatusError(error.code, message, wait, error.headers.get("Location", ""))

    def _explain_silence(self, error: Exception) -> Exception:
        """What it means that there is no reply; an endpoint that has replied before gets further requests."""
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(cause, TimeoutError):
            return UnusableReplyError(f"No reply within {self._timeout:g} s. Set --timeout to wait longer.")
        text = (isinstance(cause, OSError) and cause.strerror) or f"{type(cause).__name__}: {cause}"
        if self._has_replied or isinstance(cause, (ConnectionResetError, http.client.HTTPException)):
            return UnusableReplyError(f"The connection broke ({text})")
        return ProgramError(
            f"No server answers at {self.base_url} ({text}). Start the server, or pass another --base-url."
        )


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: it would take the key and the rows to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _StatusError(Exception):
    """A reply with an error status."""

    def __init__(self, status: int, message: str, retry_after: float | None, location: str) -> None:
        super().__init__(message)
        self.status, self.message, self.retry_after, self.location = status, message, retry_after, location


# ---------------------------------------------------------------- addresses
def is_on_this_machine(base_url: str) -> bool:
    """Whether an address is of this machine, so that nothing leaves it."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


# ---------------------------------------------------------------- replies
def read_completion(reply: Any) -> Completion:
    """Read the message and the tokens of a reply."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    counts = usage if isinstance(usage, dict) else {}
    n_read, n_written = (_read_count(counts.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
        ending = choice.get("finish_reason")
    except (LookupError, TypeError, AttributeError):
        sent = _find_message(reply)
        return Completion(
            "", n_read, n_written, f"The endpoint sent no message{f' ({sent})' if sent else ''}"
        )
    if isinstance(text, list):  # parts
        text = "".join(part.get("text") or "" for part in text if isinstance(part, dict))
    if refusal or ending == "content_filter":
        about = f": {shorten(refusal, 200)}" if isinstance(refusal, str) else ""
        return Completion("", n_read, n_written, f"The model refused{about}", is_refusal=True)
    if not isinstance(text, str) or not text.strip():
        fault = "The reply was cut off" if ending == "length" else "The reply is empty"
        return Completion("", n_read, n_written, fault)
    return Completion(text, n_read, n_written)


def _read_count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _read(response: Any, end: float) -> bytes:
    """Read a reply that may come slowly, until a time and up to a size."""
    content = bytearray()
    while part := response.read1(1 << 16):
        content += part
        if time.monotonic() > end:
            raise TimeoutError
        if len(content) > MOST_BYTES:
            raise UnusableReplyError(f"The reply is longer than {MOST_BYTES >> 20} MB", is_final=True)
    return bytes(content)


def _read_message(content: bytes) -> str:
    """The sentence in the body of an error."""
    text = content.decode(errors="replace")
    with suppress(ValueError, RecursionError):
        return _find_message(json.loads(text))
    return shorten(" ".join(text.split()), 300)


def _find_message(found: Any) -> str:
    """The sentence in the fields of an error; empty if there is none."""
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    if isinstance(found, dict):
        return ""
    return shorten(" ".join((found if isinstance(found, str) else json.dumps(found)).split()), 300)


def _read_delay(text: str) -> float | None:
    """The seconds of a Retry-After header, which has a number or a date; None if it has neither."""
    with suppress(ValueError, OverflowError):
        seconds = float(text)
        return seconds if 0 <= seconds < float("inf") else None
    with suppress(ValueError, TypeError, IndexError):
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    return None
