"""Access control by itself, without a network: every condition of `guard` on both of its sides."""

from __future__ import annotations

import asyncio
import hashlib
import math

import pytest
from starlette.datastructures import Headers
from starlette.responses import Response

from linkwise.app.page import auth
from linkwise.app.page.auth import (
    ALWAYS,
    CSP,
    LOGIN,
    MAX_BODY,
    MAX_HEADERS,
    PLAIN_CSP,
    STYLE_HASH,
    AccessControl,
    FailedAttempts,
    Password,
    check_request,
    is_loopback,
    require_access,
)

NAME = "127.0.0.1:8888"
OWN = f"http://{NAME}"
WORD = "correct horse"


def asked(kind="http", method="GET", path="/", query="", client=("10.0.0.1", 5), **headers):
    """A request as the server hands it on; several values of a header in a list, None: not sent."""
    given = {"host": NAME} | {name.replace("_", "-"): value for name, value in headers.items()}
    lists = {name: value if isinstance(value, list) else [value] for name, value in given.items()}
    pairs = [(name, value) for name, values in lists.items() for value in values if value is not None]
    scope = {
        "type": kind,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode("latin-1"),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in pairs],
        "client": client,
        "extensions": {"websocket.http.response": {}},
    }
    return scope | ({"method": method} if kind == "http" else {})


@pytest.fixture
def access():
    found = AccessControl("127.0.0.1", 8888)
    found.new_address()
    return found


@pytest.fixture(scope="module")
def password():
    return Password(WORD)


@pytest.fixture
def locked(password):
    return AccessControl("127.0.0.1", 8888, password)


class Answer:
    """What came back: the parts of a response, or "in" for who was let in."""

    def __init__(self, access, scope, *body):
        self.sent, self.taken, self.body = [], 0, list(body)
        asyncio.run(require_access(self.app, access)(scope, self.receive, self.send))
        start = self.sent[0]
        self.status = "in" if start["type"] == "in" else start.get("status", start["type"])
        self.headers = Headers(raw=start.get("headers", []))
        self.text = b"".join(message.get("body", b"") for message in self.sent).decode()

    async def app(self, scope, receive, send):
        self.sent.append({"type": "in"})
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive(self):
        self.taken += 1
        chunk = self.body.pop(0)
        return {"type": "http.request", "body": chunk, "more_body": bool(self.body)}

    async def send(self, message):
        self.sent.append(message)


def known(access, **more):
    return {"cookie": f"{access.cookie}={access.secret}", **more}


# ---------------------------------------------------------------- secrets
def test_a_password_is_a_salted_scrypt_digest():
    kept = vars(Password("später"))
    whole = hashlib.sha512("später".encode()).digest()
    assert len(kept["_salt"]) == 16
    assert kept["_digest"] == hashlib.scrypt(whole, salt=kept["_salt"], n=16384, r=8, p=1)


def test_a_token_and_a_cookie_have_256_bits(access):
    assert access.new_address() == f"{OWN}/?token={access.token}"
    assert [len(text) for text in (access.token, access.secret)] == [math.ceil(256 / 6)] * 2
    assert access.cookie == "linkwise-8888"
    assert access.password is None
    assert access.secret not in repr(access)


def test_a_token_works_once(access):
    token = access.token
    assert [access.redeem(word) for word in ("", f"{token}x", "ü", token, token, "")] == [
        False, False, False, True, False, False,
    ]  # fmt: skip
    assert access.token is None


def test_with_a_password_there_is_no_token(locked):
    assert locked.new_address() == f"{OWN}/"
    assert locked.token is None
    assert not locked.redeem("")


@pytest.mark.parametrize(
    ("host", "port", "names"),
    [
        ("127.0.0.1", 8888, ["127.0.0.1:8888", "localhost:8888", "[::1]:8888"]),
        ("localhost", 8888, ["localhost:8888", "127.0.0.1:8888", "[::1]:8888"]),
        ("::1", 8888, ["[::1]:8888", "127.0.0.1:8888", "localhost:8888"]),
        ("127.0.0.1", 80, ["127.0.0.1:80", "localhost:80", "[::1]:80", "127.0.0.1", "localhost", "[::1]"]),
    ],
)
def test_the_names_that_are_answered_to(host, port, names):
    assert list(AccessControl(host, port).names) == names


@pytest.mark.parametrize(
    ("lines", "knows"),
    [
        (["linkwise-8888={secret}"], True),
        (["other=1; linkwise-8888={secret}; more=2"], True),
        (["other=1", " linkwise-8888 = {secret} "], True),
        (["linkwise-8888=old; linkwise-8888={secret}"], True),
        (["linkwise-8889={secret}"], False),
        (["linkwise-8888={secret}="], False),
        (["linkwise-8888="], False),
        ([], False),
    ],
)
def test_the_cookie_is_found_among_others(access, lines, knows):
    raw = [(b"cookie", line.format(secret=access.secret).encode()) for line in lines]
    assert access.knows(Headers(raw=raw)) is knows


@pytest.mark.parametrize("secure", [False, True])
def test_the_cookie_is_kept_from_scripts_and_other_sites(access, secure):
    kept = access.with_cookie(Response(), secure=secure).headers["set-cookie"].split("; ")
    assert kept[0] == f"linkwise-8888={access.secret}"
    assert {"HttpOnly", "SameSite=strict"} <= set(kept)
    assert ("Secure" in kept) is secure
    assert "Secure" not in access.with_cookie(Response()).headers["set-cookie"]


@pytest.mark.parametrize("host", ["127.0.0.2", "::1", "localhost", "10.0.0.1", "example.org"])
def test_which_hosts_are_this_machine(host):
    assert is_loopback(host) is (host in ("127.0.0.2", "::1", "localhost"))


# ---------------------------------------------------------------- wrong tries
def attempts_at(times, **limits):
    """Attempts at some seconds of a clock, each by the address beside it; and the clock."""
    clock = [0.0]
    attempts = FailedAttempts(clock=lambda: clock[0], **limits)
    for clock[0], address in times:
        attempts.note(address)
    return attempts, clock


def test_limits_of_wrong_tries():
    attempts = FailedAttempts()
    assert (attempts.each, attempts.together, attempts.seconds) == (10, 60, 60.0)


def test_the_last_tries_of_one_address_count():
    attempts, clock = attempts_at([(0, "a"), (3, "a"), (8, "a")], each=2, together=9, seconds=10.0)
    clock[0] = 9.0
    assert attempts.wait("a") == 4, "until the last but one is ten seconds old"
    clock[0] = 12.0
    assert attempts.wait("a") == 1
    clock[0] = 12.9
    assert attempts.wait("a") == 1, "never 0 while it is too soon"
    clock[0] = 13.0
    assert attempts.wait("a") == 0
    assert attempts.wait("b") == 0


def test_tries_of_all_addresses_count_together():
    times = [(0, "a"), (2, "b"), (5, "c"), (7, "d")]
    attempts, clock = attempts_at(times, each=2, together=3, seconds=10.0)
    clock[0] = 9.0
    assert [attempts.wait(who) for who in "az"] == [3, 3], "until the last but two is ten seconds old"
    clock[0] = 11.0
    assert attempts.wait("z") == 1, "as many as are allowed are left"
    clock[0] = 12.0
    assert attempts.wait("z") == 0


def test_who_was_right_in_the_end_is_forgiven_alone():
    attempts, clock = attempts_at([(0, "a"), (1, "b"), (2, "a"), (3, "b")], each=2, together=9, seconds=10.0)
    attempts.forget("a")
    assert (attempts.wait("a"), attempts.wait("b")) == (0, 8)
    clock[0] = 10.9
    assert attempts.wait("b") == 1


# ---------------------------------------------------------------- what is not even looked at
FOREIGN = "Another page asks for this one"
NOT_OURS = "This is not the name of this page"


def verdict(access, **request):
    """The status of a refusal, and its title; None: it is looked at."""
    answer = check_request(asked(**request), access)
    if answer is None:
        return None
    return answer.status_code, answer.body.decode().partition("<title>")[2].partition("</title>")[0]


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({}, None),
        ({"host": "LOCALHOST:8888"}, None),
        ({"host": [NAME, NAME]}, (403, NOT_OURS)),
        ({"host": None}, (403, NOT_OURS)),
        ({"host": "evil.example:8888"}, (403, NOT_OURS)),
        ({"origin": OWN}, None),
        ({"origin": [OWN, OWN]}, (403, FOREIGN)),
        ({"origin": [OWN, "null"]}, (403, FOREIGN)),
        ({"origin": f"https://{NAME}"}, (403, FOREIGN)),
        ({"origin": "http://localhost:8888"}, (403, FOREIGN)),
        ({"sec_fetch_site": "cross-site"}, (403, FOREIGN)),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors"}, (403, FOREIGN)),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, None),
        ({"sec_fetch_site": "same-origin", "sec_fetch_mode": "cors"}, None),
        ({"sec_fetch_site": "none"}, None),
        ({"content_length": str(MAX_BODY)}, None),
        ({"content_length": str(MAX_BODY + 1)}, (413, "Too much was sent")),
        ({"content_length": "9" * 30}, (413, "Too much was sent")),
        ({"content_length": "0" * 25}, None),
        ({"content_length": ""}, (413, "Too much was sent")),
        ({"content_length": "-1"}, (413, "Too much was sent")),
        ({"content_length": "\xb2"}, (413, "Too much was sent")),
    ],
)
def test_what_is_refused_by_its_headers(access, headers, told):
    assert verdict(access, **headers) == told


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_socket_says_its_origin(access, kind):
    assert verdict(access, kind=kind, path="/ws") == (None if kind == "http" else (403, FOREIGN))
    assert verdict(access, kind=kind, path="/ws", origin=OWN) is None


def test_a_form_says_its_origin(locked):
    assert verdict(locked, method="POST", path=LOGIN) == (403, FOREIGN)
    assert verdict(locked, method="POST", path=LOGIN, origin=OWN) is None
    assert verdict(locked, method="GET", path=LOGIN) is None


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("data.example", True), ("data.example:443", True), ("[fe80::1]:80", True), ("a", True),
        ("data.example:", False), ("data.example:123456", False), ("-a", False), ("a-", False),
        ("a b", False), ("a,b", False), ("a@b", False), ("a/b", False), ("[::1", False), ("", False),
        ("a" * 254, True), ("a" * 255, False),
    ],
)  # fmt: skip
def test_with_a_password_any_name_is_answered_to_that_is_one(locked, access, name, fits):
    assert verdict(locked, host=name) == (None if fits else (403, NOT_OURS))
    assert verdict(access, host=name) == (403, NOT_OURS)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_behind_a_proxy_the_origin_may_be_encrypted(locked, scheme):
    assert verdict(locked, host="data.example", origin=f"{scheme}://data.example") is None
    assert verdict(locked, host="data.example", origin=f"{scheme}://{NAME}") == (403, FOREIGN)


@pytest.mark.parametrize("where", ["path", "query", "header"])
@pytest.mark.parametrize("over", [0, 1])
def test_a_head_of_16_kib_is_taken_and_no_byte_more(access, where, over):
    left = MAX_HEADERS + over - len("host") - len(NAME)
    if where == "path":
        request = {"path": "/" + "x" * (left - 1)}
    elif where == "query":
        request = {"query": "x" * (left - 1)}
    else:
        request = {"x": "x" * (left - 2)}
    assert verdict(access, **request) == ((431, "Too much was sent") if over else None)


@pytest.mark.parametrize("path", ["/", LOGIN, "/ws"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT"])
def test_which_methods_there_are(access, locked, path, method):
    for which in (access, locked):
        methods = ["GET", "HEAD"] + ["POST"] * (which is locked and path == LOGIN)
        answer = check_request(asked(method=method, path=path, origin=OWN), which)
        assert (answer is None) is (method in methods)
        if answer is not None:
            assert (answer.status_code, answer.headers["allow"]) == (405, ", ".join(methods))


def test_a_socket_has_no_method(access):
    scope = asked(kind="websocket", path="/ws", origin=OWN)
    assert "method" not in scope
    assert check_request(scope, access) is None


# ---------------------------------------------------------------- who is let in
def test_who_holds_the_cookie_comes_in(access):
    answer = Answer(access, asked(**known(access)))
    assert answer.status == "in"
    kept = dict(Headers(raw=answer.sent[1]["headers"]))
    assert kept == {name.lower(): value for name, value in ALWAYS.items()}
    for path in ("/ws", "/"):
        socket = asked(kind="websocket", path=path, query="token=x", origin=OWN, **known(access))
        assert Answer(access, socket).status == "in", "a token means nothing to a socket"


def test_a_token_leaves_the_address_bar_of_who_is_in_already(access):
    answer = Answer(access, asked(query=f"token={access.token}", **known(access)))
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert "set-cookie" not in answer.headers
    assert access.token is not None
    assert Answer(access, asked(path="/host.js", query="token=x", **known(access))).status == "in"


def test_a_token_is_taken_once_and_gives_the_cookie(access):
    request = asked(query=f"token={access.token}")
    first, second = Answer(access, request), Answer(access, request)
    assert (first.status, first.headers["location"]) == (303, "/")
    assert access.secret in first.headers["set-cookie"]
    assert second.status == 403
    assert "set-cookie" not in second.headers
    assert len(access.attempts._wrong) == 1, "the right one is no wrong try"


@pytest.mark.parametrize(
    ("more", "noted"),
    [
        ({"query": "token=wrong"}, 1),
        ({"query": "token=wrong", "method": "HEAD"}, 0),
        ({"query": "token=wrong", "path": "/host.js"}, 0),
        ({"query": ""}, 0),
        ({"query": "token="}, 0),
        ({"query": "token={0}&token={0}"}, 0),
        ({"query": "token={0}&" + "&".join("abcdefgh")}, 0),
        ({"query": "token={0}\xe9"}, 0),
        ({"query": "token={0}", "method": "HEAD"}, 0),
        ({"query": "token={0}", "path": ""}, 0),
        ({"query": "token={0}", "kind": "websocket", "origin": OWN}, 0),
    ],
)
def test_what_opens_nothing(access, more, noted):
    token = access.token
    answer = Answer(access, asked(**{**more, "query": more["query"].format(token)}))
    assert answer.status == 403
    assert "Open the address that linkwise printed" in answer.text
    assert 'http-equiv="refresh"' not in answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert access.token == token
    assert len(access.attempts._wrong) == noted


def test_seven_more_fields_beside_the_token_are_read(access):
    assert (
        Answer(access, asked(query=f"token={access.token}&" + "&".join(f"{n}=1" for n in range(7)))).status
        == 303
    )


def test_after_too_many_wrong_tokens_none_is_looked_at(access):
    for _ in range(10):
        assert Answer(access, asked(query="token=wrong")).status == 403
    answer = Answer(access, asked(query=f"token={access.token}"))
    assert (answer.status, answer.headers["retry-after"]) == (429, "60")
    assert "<h1>Too many wrong tries</h1>" in answer.text
    assert "<p>Wait 60 seconds, then try again." in answer.text
    other = asked(query=f"token={access.token}", client=None)
    assert Answer(access, other).status == 303, "another address, even one that is not known"


@pytest.mark.parametrize(
    ("path", "headers", "again"),
    [
        ("/", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, True),
        ("/host.js", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, False),
        ("/", {"sec_fetch_site": "same-origin"}, False),
        ("/", {}, False),
    ],
)
def test_a_link_from_another_site_is_followed_a_second_time(access, path, headers, again):
    assert ('http-equiv="refresh"' in Answer(access, asked(path=path, **headers)).text) is again


def test_a_socket_that_is_refused_hears_why_where_the_server_can_say_it(access):
    scope = asked(kind="websocket", path="/ws", origin=OWN)
    assert Answer(access, scope).status == 403
    del scope["extensions"]
    assert Answer(access, scope).sent == [{"type": "websocket.close", "code": 1008}]


def test_what_is_no_request_goes_through(access):
    assert Answer(access, {"type": "lifespan"}).status == "in"


# ---------------------------------------------------------------- by password
def form(**more):
    return asked(**{"method": "POST", "path": LOGIN, "origin": OWN, **more})


@pytest.mark.parametrize("path", ["/", LOGIN, "/host.js"])
def test_the_form_is_on_two_pages(locked, path):
    answer = Answer(locked, asked(path=path))
    assert answer.status == (200 if path != "/host.js" else 403)
    assert ("<form" in answer.text) is (path != "/host.js")
    assert f"<h1>{'Log in first' if path == '/host.js' else 'linkwise'}</h1>" in answer.text
    policy = "same-origin" if path != "/host.js" else "no-referrer"
    assert answer.headers["referrer-policy"] == policy
    assert answer.headers["content-security-policy"] == PLAIN_CSP != CSP


def test_a_socket_before_the_password_is_refused(locked):
    answer = Answer(locked, asked(kind="websocket", path="/ws", origin=OWN))
    assert answer.status == 403
    assert "<h1>Log in first</h1>" in answer.text
    assert "<p>Open the first page of this address; it asks for the password." in answer.text
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    "body",
    [b"", b"password=", b"word=correct+horse", b"password=wrong", b"password=\xff", b"password=%ff",
     b"a&b&c&d&e&f&g&h&password=correct+horse"],
)  # fmt: skip
def test_a_form_without_the_password(locked, body):
    answer = Answer(locked, form(), body)
    assert answer.status == 403
    assert "That was not the password." in answer.text
    assert "<form" in answer.text
    assert "set-cookie" not in answer.headers
    assert [who for _, who in locked.attempts._wrong] == ["10.0.0.1"]


@pytest.mark.parametrize("origin", [OWN, f"https://{NAME}"])
def test_the_right_password_gives_the_cookie_and_forgives(locked, origin):
    locked.attempts.note("10.0.0.1")
    locked.attempts.note("10.0.0.2")
    answer = Answer(locked, form(origin=origin), b"pass", b"word=correct+horse&a=1")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert locked.secret in answer.headers["set-cookie"]
    assert ("Secure" in answer.headers["set-cookie"]) is origin.startswith("https")
    assert [who for _, who in locked.attempts._wrong] == ["10.0.0.2"]


def test_a_try_counts_before_it_is_looked_at(locked, monkeypatch):
    counted = []
    monkeypatch.setattr(Password, "fits", lambda self, given: counted.append(len(locked.attempts._wrong)))
    Answer(locked, form(), b"password=x")
    assert counted == [1]


def test_after_too_many_passwords_none_is_looked_at(locked):
    for _ in range(10):
        locked.attempts.note("10.0.0.1")
    answer = Answer(locked, form(), b"password=correct+horse")
    assert answer.status == 429
    assert answer.taken == 0, "nor is it read"
    assert Answer(locked, form(client=("10.0.0.2", 1)), b"password=correct+horse").status == 303


@pytest.mark.parametrize("over", [0, 1])
def test_a_body_of_64_kib_is_taken_and_no_byte_more(locked, over):
    text = b"password=correct+horse&x="
    rest = b"x" * (MAX_BODY + over - len(text))
    answer = Answer(locked, form(), text, rest, *[b""] * (3 * over))
    assert answer.status == (413 if over else 303)
    assert answer.taken == 2, "what comes after too much is left"


def test_a_form_that_does_not_come_is_not_waited_for(locked, monkeypatch):
    async def never():
        await asyncio.Event().wait()

    sent = []

    async def send(message):
        sent.append(message)

    monkeypatch.setattr(auth, "BODY_S", 0.01)
    asyncio.run(require_access(lambda *_: None, locked)(form(), never, send))
    assert sent[0]["status"] == 408


# ---------------------------------------------------------------- the words
def test_where_to_open_it_instead(access, locked):
    assert f"as {NAME}." in Answer(access, asked(host="evil.example")).text
    assert "<p>Open linkwise in a window of its own, by its address." in Answer(locked, asked(host="-")).text


def test_limits():
    assert (MAX_BODY, MAX_HEADERS, auth.BODY_S, auth.LEAST_PASSWORD) == (65536, 16384, 10.0, 8)
    assert LOGIN == "/login", "the form sends it there"


def test_what_every_page_tells_a_browser():
    policy = [part.strip() for part in auth.CSP.split(";")]
    plain = [part.strip() for part in auth.PLAIN_CSP.split(";")]
    assert policy == [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
        "img-src 'self' data: blob:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ]  # fmt: skip
    assert plain == [
        "default-src 'none'", f"style-src '{STYLE_HASH}'", "base-uri 'none'", "form-action 'self'",
        "frame-ancestors 'none'",
    ]  # fmt: skip
    assert ALWAYS == {
        "Content-Security-Policy": CSP,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Frame-Options": "DENY",
        "Cache-Control": "no-store",
    }


@pytest.mark.parametrize(
    ("request_", "title", "text"),
    [
        ({"host": "evil.example"}, NOT_OURS, f"linkwise answers on this computer alone, as {NAME}."),
        ({"origin": "null"}, FOREIGN, f"linkwise answers on this computer alone, as {NAME}."),
        ({"sec_fetch_site": "cross-site"}, FOREIGN, f"linkwise answers on this computer alone, as {NAME}."),
        ({"x": "y" * MAX_HEADERS}, "Too much was sent", "The head of the request is longer than 16 KiB."),
        ({"content_length": "-"}, "Too much was sent", "A request may bring 64 KiB at most."),
        ({"method": "PUT"}, "This cannot be done here", "This page can be read, and no more."),
        ({}, "linkwise does not know this browser", "Open the address that linkwise printed in its terminal"),
    ],
)
def test_why_nobody_is_let_in(access, request_, title, text):
    answer = Answer(access, asked(**request_))
    assert f"<h1>{title}</h1>" in answer.text
    assert f"<p>{text}" in answer.text
    assert 'http-equiv="refresh"' not in answer.text
    assert "<form" not in answer.text
