"""Access to the page: it is for whoever has the address from the terminal, as in Jupyter.

The address carries a token that works once. It is exchanged for a cookie that scripts cannot read and other
sites cannot send. Every request must also name this server as its host and come from no other page: a foreign
site can make a browser call this server, but not under its name. Where linkwise listens to other machines, a
password replaces the token. If several people answer, each has a token and a cookie of their own, which also
show who it is; then there is no password. A refusal never repeats anything from the request.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import ipaddress
import re
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 64 * 1024
MAX_HEADERS = 16 * 1024
BODY_S = 10.0  # how long a body may take to come
LEAST_PASSWORD = 8
LOGIN = "/login"
FILE = "/file"  # where a start page sends a file
PERSON = "linkwise.person"  # in the scope of a request: who sends it

STYLE = """
:root { color-scheme: light dark; font: 17px/1.6 system-ui, sans-serif }
body { max-width: 34rem; margin: 18vh auto; padding: 0 1.5rem }
h1 { font-size: 1.3rem; font-weight: 600 }
input, button { font: inherit; padding: .4em .8em; margin: .6em .4em 0 0 }
"""
STYLE_HASH = "sha256-" + base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
AGAIN = '<meta http-equiv="refresh" content="0; url=/">'
FORM = """<form method="post" action="/login">
<label for="password">The password that linkwise was started with</label><br>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus>
<button>Log in</button>
</form>
"""

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PLAIN_CSP = (
    f"default-src 'none'; style-src '{STYLE_HASH}'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
ALWAYS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
NAMED = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9]([a-z0-9.-]{0,252}[a-z0-9])?)(:[0-9]{1,5})?")


def render_message(title: str, text: str, *, again: bool = False, form: bool = False) -> str:
    """Return a page with a heading and a sentence; `again` reloads the first page, `form` asks a password."""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{AGAIN if again else ""}'
        f"<title>{title}</title><style>{STYLE}</style>\n"
        f"<main>\n<h1>{title}</h1>\n<p>{text}</p>\n{FORM if form else ''}</main></html>\n"
    )


# ---------------------------------------------------------------- secrets
class Password:
    """A password, kept as its scrypt digest."""

    def __init__(self, text: str) -> None:
        self._salt = secrets.token_bytes(16)
        self._digest = self._digest_of(text)

    def _digest_of(self, text: str) -> bytes:
        whole = hashlib.sha512(text.encode()).digest()  # scrypt alone takes no notice of zeros at the end
        return hashlib.scrypt(whole, salt=self._salt, n=2**14, r=8, p=1)

    def fits(self, text: str) -> bool:
        """Return whether this is the password; takes about 50 ms either way."""
        return hmac.compare_digest(self._digest_of(text), self._digest)


class FailedAttempts:
    """Wrong tokens and passwords of the last minute; after too many, no more are checked.

    So many are allowed from `each` address, and from all together.
    """

    def __init__(
        self,
        each: int = 10,
        together: int = 60,
        seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.each, self.together, self.seconds, self.clock = each, together, seconds, clock
        self._wrong: deque[tuple[float, str]] = deque()

    def note(self, address: str) -> None:
        """Count a wrong attempt."""
        self._wrong.append((self.clock(), address))

    def forget(self, address: str) -> None:
        """Forget the attempts of an address that was right in the end."""
        self._wrong = deque(one for one in self._wrong if one[1] != address)

    def wait(self, address: str) -> int:
        """Return the seconds until this address may try again."""
        now = self.clock()
        while self._wrong and self._wrong[0][0] <= now - self.seconds:
            self._wrong.popleft()
        own = [when for when, who in self._wrong if who == address]
        if len(own) < self.each and len(self._wrong) < self.together:
            return 0
        oldest = own[-self.each] if len(own) >= self.each else self._wrong[-self.together][0]
        return max(1, round(oldest + self.seconds - now))


@dataclass
class AccessControl:
    """Decides which browsers have access.

    With a password there is no token, and any name is answered to: the names of a machine, or of a proxy
    before it, are not known here. Of several `people`, each has a token and a cookie. By default one
    person or one team answers without names.
    """

    host: str
    port: int
    password: Password | None = None
    attempts: FailedAttempts = field(default_factory=FailedAttempts)
    people: tuple[str, ...] = ()
    token: str | None = None
    largest_file: int = 0  # bytes of a file that a page may send
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def __post_init__(self) -> None:
        self._tokens: dict[str, str] = {}  # of people whose address was not opened yet
        self._secrets = {person: secrets.token_urlsafe(32) for person in self.people}

    @property
    def is_open_to_others(self) -> bool:
        """Whether other machines have access, so that the host names of requests are not known here."""
        return self.password is not None or bool(self.people and not is_loopback(self.host))

    @property
    def cookie(self) -> str:
        """The name of the cookie. Browsers share cookies between ports, so it contains the port."""
        return f"linkwise-{self.port}"

    @property
    def names(self) -> tuple[str, ...]:
        """The host names that are accepted without a password, the usual one first."""
        given = f"[{self.host}]" if ":" in self.host else self.host
        hosts = dict.fromkeys((given, "127.0.0.1", "localhost", "[::1]"))
        return tuple(f"{host}:{self.port}" for host in hosts) + (tuple(hosts) if self.port == 80 else ())

    def new_address(self) -> str:
        """Return the address to open. Without a password it has a new token, and older tokens expire."""
        if self.password is not None:
            return f"http://{self.names[0]}/"
        self.token = secrets.token_urlsafe(32)
        return f"http://{self.names[0]}/?token={self.token}"

    def new_addresses(self) -> dict[str, str]:
        """Return an address for each person. They have new tokens, and older tokens expire."""
        self._tokens = {person: secrets.token_urlsafe(32) for person in self.people}
        return {person: f"http://{self.names[0]}/?token={token}" for person, token in self._tokens.items()}

    def redeem_person(self, token: str) -> str | None:
        """Return whose token this is, and use it up."""
        for person, own in self._tokens.items():
            if hmac.compare_digest(token.encode(), own.encode()):
                del self._tokens[person]
                return person
        return None

    def redeem(self, token: str) -> bool:
        """Return whether this is the token, and use it up."""
        if self.token is None or not hmac.compare_digest(token.encode(), self.token.encode()):
            return False
        self.token = None
        return True

    def knows(self, headers: Headers) -> bool:
        """Return whether the browser has the cookie, or that of a person if people have names."""
        if self.people:
            return bool(self.find_person(headers))
        return _holds(self._held_cookies(headers), self.secret)

    def find_person(self, headers: Headers) -> str:
        """Return whose cookie the browser has; empty if it is nobody's, or people have no names."""
        held = self._held_cookies(headers)
        return next((person for person, secret in self._secrets.items() if _holds(held, secret)), "")

    def _held_cookies(self, headers: Headers) -> list[str]:
        pairs = (part.partition("=") for line in headers.getlist("cookie") for part in line.split(";"))
        return [value.strip() for name, _, value in pairs if name.strip() == self.cookie]

    def with_cookie(self, response: Response, *, person: str = "", secure: bool = False) -> Response:
        """Set the cookie, or that of a person."""
        secret = self._secrets[person] if person else self.secret
        response.set_cookie(self.cookie, secret, httponly=True, samesite="strict", secure=secure)
        return response


def _holds(held: list[str], secret: str) -> bool:
    return any(hmac.compare_digest(value.encode(), secret.encode()) for value in held)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# ---------------------------------------------------------------- before the login
def require_access(app: ASGIApp, access: AccessControl) -> ASGIApp:
    """Return `app` for browsers with access, with security headers on every response."""

    async def check_access(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                for name, value in ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = check_request(scope, access) or await _let_in(scope, receive, access)
        if refusal is None:
            scope[PERSON] = access.find_person(Headers(scope=scope))
            await app(scope, receive, send_with_headers)
        elif scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
        else:
            await refusal(scope, receive, send_with_headers)

    return check_access


def check_request(scope: Scope, access: AccessControl) -> Response | None:
    """Return the refusal of a request that is wrong whatever its token or cookie; None if it is right."""
    headers = Headers(scope=scope)
    host, origins = _host_of(headers, access), headers.getlist("origin")
    if host is None:
        return create_refusal(403, "This is not the name of this page", _only_here(access))
    ours = (f"http://{host}", f"https://{host}") if access.is_open_to_others else (f"http://{host}",)
    must = scope["type"] == "websocket" or scope["method"] == "POST"
    if len(origins) > 1 or (must and not origins) or any(origin not in ours for origin in origins):
        return create_refusal(403, "Another page asks for this one", _only_here(access))
    if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
        return create_refusal(403, "Another page asks for this one", _only_here(access))
    target = len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"")
    if target + sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADERS:
        return create_refusal(431, "Too much was sent", "The head of the request is longer than 16 KiB.")
    length, most = headers.get("content-length", "0"), MAX_BODY
    if scope["type"] == "http" and scope["path"] == FILE:
        most = max(most, access.largest_file)
    if not length.isascii() or not length.isdigit() or int(length[:20]) > most:
        return create_refusal(413, "Too much was sent", f"A request may bring {most // 1024} KiB at most.")
    if scope["type"] == "http" and scope["method"] not in _methods(scope, access):
        answer = create_refusal(405, "This cannot be done here", "This page can be read, and no more.")
        answer.headers["Allow"] = ", ".join(_methods(scope, access))
        return answer
    return None


def _host_of(headers: Headers, access: AccessControl) -> str | None:
    """Return the host name in the request; None if it is not one of ours."""
    hosts = [host.lower() for host in headers.getlist("host")]
    if len(hosts) != 1 or NAMED.fullmatch(hosts[0]) is None:
        return None
    return hosts[0] if access.is_open_to_others or hosts[0] in access.names else None


def _methods(scope: Scope, access: AccessControl) -> tuple[str, ...]:
    can_log_in = access.password is not None and scope["path"] == LOGIN
    can_send_file = access.largest_file > 0 and scope["path"] == FILE
    return ("GET", "HEAD", "POST") if can_log_in or can_send_file else ("GET", "HEAD")


async def _let_in(scope: Scope, receive: Receive, access: AccessControl) -> Response | None:
    """Return the response to a browser without the cookie; None if it has the cookie."""
    headers = Headers(scope=scope)
    token = "" if scope["type"] == "websocket" else _token_of(scope)
    if access.knows(headers):
        # another person may have used this browser before
        person = access.redeem_person(token) if token and scope["method"] == "GET" else None
        if person is not None:
            return access.with_cookie(_to_page(), person=person)
        return _to_page() if token else None
    if scope["type"] == "websocket":
        return _unknown(access)
    if access.password is not None:
        return await _by_password(scope, receive, access, access.password)
    if not token:
        return _unknown(access, again=scope["path"] == "/" and headers.get("sec-fetch-site") == "cross-site")
    address = _address_of(scope)
    if wait := access.attempts.wait(address):
        return _too_many(wait)
    person = access.redeem_person(token) if scope["method"] == "GET" else None
    if person is not None:
        return access.with_cookie(_to_page(), person=person)
    if scope["method"] == "GET" and access.redeem(token):
        return access.with_cookie(_to_page())
    if scope["method"] == "GET":
        access.attempts.note(address)
    return _unknown(access)


def _token_of(scope: Scope) -> str:
    """Return the token in the address of the page."""
    if scope["path"] != "/":
        return ""
    try:
        given = parse_qs(scope["query_string"].decode("ascii"), max_num_fields=8).get("token", [])
    except ValueError:
        return ""
    return given[0] if len(given) == 1 else ""


def _address_of(scope: Scope) -> str:
    return str((scope.get("client") or ("?",))[0])


# ---------------------------------------------------------------- by password
async def _by_password(scope: Scope, receive: Receive, access: AccessControl, password: Password) -> Response:
    from starlette.concurrency import run_in_threadpool

    if scope["method"] != "POST":
        if scope["path"] in ("/", LOGIN):
            return _ask_password("")
        return create_refusal(
            403, "Log in first", "Open the first page of this address; it asks for the password."
        )
    address = _address_of(scope)
    if wait := access.attempts.wait(address):
        return _too_many(wait)
    try:
        body = await asyncio.wait_for(_body(receive), BODY_S)
    except TimeoutError:
        return create_refusal(408, "That took too long", "Send the password again.")
    if body is None:
        return create_refusal(413, "Too much was sent", "A request may bring 64 KiB at most.")
    try:
        given = parse_qs(body.decode("utf-8"), max_num_fields=8, errors="strict").get("password", [""])[0]
    except ValueError:
        given = ""
    access.attempts.note(address)  # before it is looked at: many at once count as many
    if not await run_in_threadpool(password.fits, given):
        return _ask_password("That was not the password.")
    access.attempts.forget(address)
    secure = Headers(scope=scope).get("origin", "").startswith("https:")
    return access.with_cookie(_to_page(), secure=secure)


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request; None if it is too long."""
    body, more = b"", True
    while more and len(body) <= MAX_BODY:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return None if len(body) > MAX_BODY else body


# ---------------------------------------------------------------- what is answered
def create_refusal(
    status: int, title: str, text: str, *, again: bool = False, form: bool = False
) -> Response:
    """Return a page that explains why the page itself is not shown."""
    headers = {"Content-Security-Policy": PLAIN_CSP}
    if form:  # under no-referrer a form would be sent with the origin "null"
        headers["Referrer-Policy"] = "same-origin"
    page = render_message(title, text, again=again, form=form)
    return Response(page, status, headers, media_type="text/html")


def _to_page() -> Response:
    return Response(status_code=303, headers={"Location": "/"})


def _only_here(access: AccessControl) -> str:
    if access.is_open_to_others:
        return "Open linkwise in a window of its own, by its address."
    return f"linkwise answers on this computer alone, as {access.names[0]}. Open the address that it printed."


def _unknown(access: AccessControl, *, again: bool = False) -> Response:
    """`again`: by a link from another site a browser keeps the cookie back, from our own page it does not."""
    if access.password is not None:
        return create_refusal(
            403, "Log in first", "Open the first page of this address; it asks for the password."
        )
    if access.people:
        text = "Open the address that you were given; it works once. Ask for a new one if you used it before."
        return create_refusal(403, "linkwise does not know this browser", text, again=again)
    text = (
        "Open the address that linkwise printed in its terminal; it works once. "
        "For another browser press Enter there, and a new one is printed."
    )
    return create_refusal(403, "linkwise does not know this browser", text, again=again)


def _too_many(wait: int) -> Response:
    answer = create_refusal(429, "Too many wrong tries", f"Wait {wait} seconds, then try again.")
    answer.headers["Retry-After"] = str(wait)
    return answer


def _ask_password(text: str) -> Response:
    return create_refusal(403 if text else 200, "linkwise", text, form=True)
