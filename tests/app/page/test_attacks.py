"""What is tried to come in without leave, or to do harm once inside; each attack is one test."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from contextlib import ExitStack
from urllib.parse import quote

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from linkwise.app.page import auth, server
from linkwise.app.page.auth import (
    ALWAYS,
    MAX_BODY,
    STYLE,
    AccessControl,
    FailedAttempts,
    Password,
    is_loopback,
    render_message,
    require_access,
)
from linkwise.app.page.hub import Hub
from linkwise.app.page.server import MOST_DEEP, STATIC, open_socket, serve_hub
from linkwise.app.page.start_page import StartPage
from linkwise.errors import DataError
from patience import patience, wait_until

from .conftest import small_presenter

MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


@pytest.fixture(scope="module")
def inside(still):
    """A view that was let in, for requests that change nothing."""
    return still.view().ready()


def head_of(text: str) -> dict[str, str]:
    """The headers of a response by their names."""
    pairs = (line.partition(": ") for line in text.split("\r\n")[1:])
    return {name.lower(): value for name, _, value in pairs}


# ---------------------------------------------------------------- the name of the page
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",  # our port is not 80
        "127.0.0.1:{other}",
        "localhost:{other}",
        "localhost.evil.example:{port}",
        "127.0.0.1.evil.example:{port}",
        "evil.example#127.0.0.1:{port}",
        "127.0.0.1:{port}@evil.example",
        "evil.example@127.0.0.1:{port}",
        "127.0.0.2:{port}",
        "0.0.0.0:{port}",
        "[::]:{port}",
        "[::ffff:127.0.0.1]:{port}",
        "2130706433:{port}",
        "0x7f.1:{port}",
        "localhost.:{port}",
        "127.0.0.1:0{port}",
        "127.0.0.1:{port},evil.example",
        "",
        None,
    ],
)
def test_another_name_is_refused(still, host):
    named = host and host.format(port=still.port, other=still.port + 1)
    head = f"Host: {named}\r\n" if named is not None else ""
    got = still.send(f"GET / HTTP/1.1\r\n{head}Cookie: {still.cookie}\r\nConnection: close\r\n\r\n")
    assert got.split(b" ")[1] in (b"403", b"400")  # 400: no HTTP without a Host
    assert b"evil" not in got


def test_two_names_are_refused(still):
    host = f"Host: 127.0.0.1:{still.port}\r\nHost: evil.example\r\n"
    got = still.send(f"GET / HTTP/1.1\r\n{host}Cookie: {still.cookie}\r\nConnection: close\r\n\r\n")
    assert got.split(b" ")[1] in (b"403", b"400")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_our_own_names_are_answered_to(still, name):
    status, _, _ = still.get("/nothing-here", Cookie=still.cookie, Host=f"{name}:{still.port}")
    assert status == 404


# ---------------------------------------------------------------- other pages
ORIGINS = [
    "http://evil.example",
    "https://evil.example",
    "null",
    "http://127.0.0.1",
    "http://127.0.0.1:{other}",
    "https://127.0.0.1:{port}",
    "http://localhost:{port}",  # ours as well, but not the one that is called
    "http://127.0.0.1:{port}.evil.example",
    "http://127.0.0.1:{port}@evil.example",
    "http://evil.example/http://127.0.0.1:{port}",
    "file://",
    "chrome-extension://abcdefghijklmnop",
    "http://127.0.0.1:{port}/",
    " ",
]


@pytest.mark.parametrize("origin", ORIGINS)
def test_another_page_is_refused_whatever_it_holds(still, origin):
    said = origin.format(port=still.port, other=still.port + 1)
    status, _, text = still.get("/host.js", Cookie=still.cookie, Origin=said)
    assert status == 403
    assert "evil" not in text


@pytest.mark.parametrize("origin", [*ORIGINS, None])
def test_no_socket_for_another_page(still, origin):
    said = origin and origin.format(port=still.port, other=still.port + 1)
    with pytest.raises(InvalidStatus) as refusal:
        still.view(Origin=said)
    assert refusal.value.response.status_code == 403


def test_two_origins_are_refused(still):
    status, _, _ = still.get("/host.js", Cookie=f"{still.cookie}\r\nOrigin: {still.origin}", Origin="null")
    assert status == 403


@pytest.mark.parametrize("mode", ["no-cors", "cors", "websocket", "nested-navigate", ""])
def test_what_another_site_loads_is_refused(still, mode):
    fetch = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": mode or None}
    status, _, _ = still.get("/widget.js", Cookie=still.cookie, **fetch)
    assert status == 403


def test_the_socket_has_a_foreign_name_refused(still):
    status, _, _ = still.get(
        "/ws",
        Host="evil.example",
        Origin="http://evil.example",
        Cookie=still.cookie,
        Connection="Upgrade",
        Upgrade="websocket",
        Sec_WebSocket_Version="13",
        Sec_WebSocket_Key="AAAAAAAAAAAAAAAAAAAAAA==",
    )
    assert status == 403


# ---------------------------------------------------------------- token and cookie
PATHS = [*STATIC, "/ws", "/login", "/nothing-here", "/favicon.ico"]


@pytest.mark.parametrize("path", PATHS)
def test_without_a_cookie_nothing_is_shown(still, path):
    status, _, text = still.get(path)
    assert status == 403
    assert "Open the address that linkwise printed" in text


@pytest.mark.parametrize(
    "cookie",
    [
        "{name}=",
        "{name}=wrong",
        "{name}={secret}x",
        "{name}={half}",
        "{name}={upper}",
        "other={secret}",
        "{name}x={secret}",
        "{secret}",
        "{name}={token}",
        '{name}="{secret}"',
        "{name}=%00{secret}",
        "{name}=\xff\xfe",
    ],
)
def test_a_wrong_cookie_lets_nobody_in(still, cookie):
    access = still.access
    secret = access.secret
    said = cookie.format(
        name=access.cookie, secret=secret, half=secret[:20], upper=secret.swapcase(), token=access.token
    )
    head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{still.port}\r\nCookie: {said}\r\nConnection: close\r\n\r\n"
    got = still.send(head.encode("latin-1"))
    assert got.split(b" ")[1] == b"403"


def test_no_socket_without_a_cookie(still):
    with pytest.raises(InvalidStatus) as refusal:
        still.view(Cookie="")
    assert refusal.value.response.status_code == 403
    assert refusal.value.response.headers["X-Frame-Options"] == "DENY"


def test_a_token_does_not_open_a_socket_or_a_file(page):
    token = page.access.token
    assert page.get(f"/host.js?token={token}")[0] == 403
    assert page.get(f"/ws?token={token}")[0] == 403
    assert page.access.token == token


def test_the_token_is_turned_into_a_strict_cookie_once(page):
    path = page.address.removeprefix(page.origin)
    status, head, body = page.get(path)
    assert (status, body) == (303, "")
    headers = head_of(head)
    assert headers["location"] == "/"
    kept = headers["set-cookie"].split("; ")
    assert kept[0] == page.cookie
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(kept)
    assert "Domain" not in headers["set-cookie"]
    assert page.get(path)[0] == 403, "used up"
    assert page.get(path, Cookie=page.cookie)[0] == 303, "the browser that holds the cookie comes in"


@pytest.mark.parametrize(
    "token",
    ["", "x", "%00", "{token}x", "{less}", "{swapped}", "{token}%20", "%ff%fe", "{token}&token={token}"],
)
def test_a_wrong_token_is_refused_and_the_right_one_still_works(page, token):
    right = page.access.token
    wrong = token.format(token=right, less=right[:-1], swapped=right.swapcase())
    assert page.get(f"/?token={wrong}")[0] == 403
    assert page.get(f"/?token={right}")[0] == 303


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}],
)
def test_what_is_refused_does_not_use_up_the_token(page, headers):
    path = page.address.removeprefix(page.origin)
    assert page.get(path, **headers)[0] == 403
    assert page.get(path, method="HEAD")[0] == 403
    assert page.get(path)[0] == 303


def test_a_new_address_ends_the_one_before(page):
    old, new = page.access.token, page.access.new_address()
    assert page.get(f"/?token={old}")[0] == 403
    assert page.get(new.removeprefix(page.origin))[0] == 303


def test_tokens_cannot_be_tried_out(page):
    right = page.access.token
    answers = [page.get(f"/?token=wrong{n}") for n in range(page.access.attempts.each + 1)]
    assert [status for status, _, _ in answers] == [403] * page.access.attempts.each + [429]
    assert int(head_of(answers[-1][1])["retry-after"]) > 0
    assert page.get(f"/?token={right}")[0] == 429, "the right one is not told from a wrong one"


def test_wrong_tries_are_forgotten_after_a_while():
    now = [0.0]
    attempts = FailedAttempts(each=2, together=3, seconds=10.0, clock=lambda: now[0])
    assert attempts.wait("a") == 0
    attempts.note("a")
    now[0] = 4.0
    attempts.note("a")
    assert attempts.wait("a") == 6
    assert attempts.wait("b") == 0
    attempts.note("b")
    assert attempts.wait("c") > 0, "many addresses are as many hands of one"
    now[0] = 20.0
    assert attempts.wait("a") == 0


def test_secrets_are_long_and_never_the_same():
    accesses = [AccessControl("127.0.0.1", 1) for _ in range(3)]
    addresses = {access.new_address() for access in accesses} | {accesses[0].new_address()}
    assert len(addresses) == 4
    assert len({access.secret for access in accesses}) == 3
    assert all(len(access.secret) == len(access.token or "") == 43 for access in accesses)
    assert accesses[0].secret not in repr(accesses[0])


def test_a_link_from_another_site_reloads_once_so_that_the_cookie_comes_along(still):
    across = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert 'http-equiv="refresh"' in still.get("/", **across)[2]
    assert 'http-equiv="refresh"' not in still.get("/", Sec_Fetch_Site="same-origin")[2]
    assert 'http-equiv="refresh"' not in still.get("/")[2]


# ---------------------------------------------------------------- paths and methods
@pytest.mark.parametrize(
    "path",
    [
        "/../guard.py",
        "/..%2fguard.py",
        "/%2e%2e/guard.py",
        "/%2e%2e%2f%2e%2e%2fetc/passwd",
        "/static/../../presenter.py",
        "//etc/passwd",
        "/\\..\\guard.py",
        "/host.js/../../guard.py",
        "/host.js%00.html",
        "/host.js/",
        "/HOST.JS",
        "/index.html.bak",
        "/.git/config",
        "/static/",
        "/%c0%ae%c0%ae/guard.py",
        "/....//guard.py",
        "/server.py",
        "http://evil.example/host.js",
        "/ws/",
    ],
)
def test_nothing_but_the_listed_files_is_found(still, path):
    status, _, text = still.get(path, Cookie=still.cookie)
    assert status in (404, 403, 400, 307)
    assert "import" not in text
    assert "root:" not in text
    assert "evil" not in text


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "FOO"]
)
@pytest.mark.parametrize("path", ["/", "/ws"])
def test_there_is_nothing_to_do_but_to_read(still, method, path):
    status, head, _ = still.get(path, method, Cookie=still.cookie, Origin=still.origin)
    assert status == 405
    assert head_of(head)["allow"] == "GET, HEAD"


# ---------------------------------------------------------------- too much
def test_a_long_body_is_refused_before_it_is_read(still):
    length = str(MAX_BODY + 1)
    assert still.get("/", Cookie=still.cookie, Content_Length=length)[0] == 413


@pytest.mark.parametrize("length", ["-1", "1e9", "٣", "0x10", "9" * 40, "1, 2"])
def test_a_length_that_is_none_is_refused(still, length):
    head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{still.port}\r\nContent-Length: {length}\r\nConnection: close"
    assert still.send(f"{head}\r\nCookie: {still.cookie}\r\n\r\n").split(b" ")[1] in (b"400", b"413")


@pytest.mark.parametrize("what", ["one long header", "many headers", "a long path", "a long query"])
def test_a_long_head_is_refused(still, what):
    path, more = "/", ""
    if what == "one long header":
        more = f"X-Long: {'x' * 70_000}\r\n"
    elif what == "many headers":
        more = "".join(f"X-{n}: {'y' * 50}\r\n" for n in range(1000))
    else:
        path = f"/{'?' * (what == 'a long query')}{'z' * 70_000}"
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{still.port}\r\nCookie: {still.cookie}\r\n{more}\r\n"
    assert still.send(head).split(b" ")[1] in (b"400", b"431")
    assert still.get("/nothing", Cookie=still.cookie)[0] == 404, "still there"


def test_a_refusal_arrives_however_much_is_still_on_its_way(still):
    head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{still.port}\r\nX-Long: {'x' * 8_000_000}\r\n\r\n"
    assert still.send(head).startswith(b"HTTP/1.1 400")


def go_on_sending(raw):
    while True:
        raw.sendall(b"x" * 1000)
        time.sleep(0.01)


def test_who_goes_on_after_a_refusal_is_cut_off(pages, monkeypatch):
    monkeypatch.setattr(server, "SILENT_S", 0.2)
    with socket.create_connection(("127.0.0.1", pages().port), timeout=patience()) as raw:
        raw.sendall(b"no request\r\n\r\n")
        while raw.recv(65536):
            pass
        with pytest.raises(ConnectionError):
            go_on_sending(raw)


@pytest.mark.parametrize(
    "garbage", [b"\x00" * 64, b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"\r\n" * 9]
)
def test_what_is_no_http_does_no_harm(still, garbage):
    with socket.create_connection(("127.0.0.1", still.port), timeout=patience()) as raw:
        raw.sendall(garbage)
    assert still.get("/nothing", Cookie=still.cookie)[0] == 404


# ---------------------------------------------------------------- silence
def test_hundreds_of_silent_connections_hold_up_nobody(page, monkeypatch):
    monkeypatch.setattr(server, "SILENT_S", patience())  # so that none ends by itself
    with ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection(("127.0.0.1", page.port), timeout=patience()))
            for _ in range(400)
        ]
        assert page.get("/nothing", Cookie=page.cookie)[0] == 404
        assert page.view().until(lambda view: "question" in view.state)
        silent[0].settimeout(patience())
        assert silent[0].recv(1) == b"", "the longest silent one made room"
        silent[-1].setblocking(False)
        with pytest.raises(BlockingIOError):
            silent[-1].recv(1)


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1"])
def test_silence_ends(pages, monkeypatch, sent):
    monkeypatch.setattr(server, "SILENT_S", 0.2)
    with socket.create_connection(("127.0.0.1", pages().port), timeout=patience()) as raw:
        raw.sendall(sent)
        assert raw.recv(1) == b""


def test_a_password_may_not_take_for_ever(pages, monkeypatch):
    monkeypatch.setattr(auth, "BODY_S", 0.2)
    page = pages(password="correct horse")
    head = f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nOrigin: http://127.0.0.1:{page.port}\r\n"
    assert page.send(head + "Content-Length: 100\r\n\r\npassword=").startswith(b"HTTP/1.1 408")


# ---------------------------------------------------------------- the socket
@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (json.dumps({"id": "1", "do": "x" * MAX_BODY}), 1009),
        (b"\x00" * (MAX_BODY + 1), 1009),
        (b'{"id":"1","do":"undo"}', 1003),
        (b"", 1003),
    ],
)
def test_a_frame_that_no_page_sends_ends_the_socket(still, frame, code):
    view = still.view().ready()
    view.socket.send(frame)
    with pytest.raises(ConnectionClosed):
        view.until(lambda v: False)
    assert view.socket.close_code == code
    assert still.view().ready().state["event"] == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "7",
        '"undo"',
        "[]",
        '[{"id": "1", "do": "undo"}]',
        "{}",
        '{"do": "undo"}',
        '{"id": "1"}',
        '{"id": 1, "do": "undo"}',
        '{"id": null, "do": "undo"}',
        '{"id": "", "do": "undo"}',
        '{"id": ["1"], "do": "undo"}',
        '{"id": "1", "do": null}',
        '{"id": "1", "do": ["undo"]}',
        '{"id": "1", "do": {"undo": 1}}',
        '{"id": "1", "do": "undo", "x": NaN}',
        '{"id": "1", "do": "undo", "x": Infinity}',
        '{"id": "1", "do": "undo", "x": -Infinity}',
        '{"id": "1", "do": "undo", "x": ' + "9" * 5000 + "}",
        '{"id": "1", "do": "undo", "x": ' + "[" * 20_000 + "]" * 20_000 + "}",
        '{"id": "1", "do": "undo", "x": ' + '{"a":' * (MOST_DEEP + 1) + "1" + "}" * (MOST_DEEP + 1) + "}",
        "{'id': '1', 'do': 'undo'}",
        '{"id": "1", "do": "undo"} {"id": "2", "do": "undo"}',
        '{"id": "' + "x" * 65 + '", "do": "undo"}',
        "<script>alert(1)</script>",
    ],
)
def test_what_is_no_request_is_reported(still, text):
    view = still.view().ready()
    view.socket.send(text)
    view.until(lambda v: None in v.replies)
    assert view.replies[None]["ok"] is False
    assert view.replies[None]["error"]["kind"] == "bad"
    assert view.ask("item", rows=[0])["ok"], "the socket goes on"


WRONG = [None, True, -1, 2**53, 10**400, 1.5, "0", "x", [], {}, MARKUP]
FIELDS = {
    "answer": {"question": "q", "answer": "yes"},
    "take_back": {"event": 1},
    "change": {"event": 1, "answer": "no"},
    "add": {"first": 0, "second": 1, "kind": "must-link"},
    "merge": {"first": 0, "second": 1},
    "done": {"cluster": 0},
    "name": {"cluster": 0, "name": "n"},
    "item": {"rows": [0]},
    "find": {"text": "n"},
    "history": {"before": 1, "limit": 5},
    "why": {"first": 0, "second": 1},
    "export": {"what": "labels"},
}
LEGAL = {"name": ["0", "x", MARKUP], "text": ["0", "x", MARKUP], "before": [None, 2**53]}


@pytest.mark.parametrize(
    ("do", "field", "wrong"),
    [
        (do, field, wrong)
        for do, fields in FIELDS.items()
        for field in fields
        for wrong in WRONG
        if not any(type(wrong) is type(one) and wrong == one for one in LEGAL.get(field, []))
    ],
)
def test_a_wrong_value_in_a_field_changes_nothing(inside, do, field, wrong):
    reply = inside.ask(do, **{**FIELDS[do], field: wrong})
    assert reply["ok"] is False
    assert reply["error"]["kind"] in ("bad", "stale")
    assert "Traceback" not in reply["error"]["text"]
    assert inside.ask("history")["events"] == []


@pytest.mark.parametrize("do", ["", "close", "__class__", "_answer", "DEEDS", "handle", "eval", MARKUP])
def test_an_unknown_deed_is_refused(still, do):
    reply = still.view().ready().ask(do)
    assert (reply["ok"], reply["error"]["kind"]) == (False, "bad")


@pytest.mark.parametrize("rows", [[], [12], [-1], list(range(51)), ["0"], [0.0], [True], [None], "all"])
def test_rows_that_are_not_there_are_refused(still, rows):
    assert still.view().ready().ask("item", rows=rows)["error"]["kind"] == "bad"


def test_a_flood_of_requests_is_answered_in_words(still):
    view = still.view().ready()
    names = [view.say("item", rows=[0]) for _ in range(400)]
    view.until(lambda v: all(name in v.replies for name in names))
    kinds = {reply.get("error", {}).get("kind") for reply in view.replies.values()}
    assert kinds <= {None, "failed"}


# ---------------------------------------------------------------- what every response carries
def responses(page):
    access = page.access
    yield page.get("/")
    yield page.get("/?token=wrong")
    yield page.get(f"/?token={access.token}")
    yield page.get("/nothing", Cookie=page.cookie)
    yield page.get("/nothing", Host="evil.example")
    yield page.get("/", "POST", Cookie=page.cookie, Origin=page.origin)
    yield page.get("/", Content_Length=str(MAX_BODY + 1))
    yield from (page.get(path, Cookie=page.cookie) for path in STATIC)


def test_every_response_carries_what_keeps_the_page_to_itself(page):
    for _, head, _ in responses(page):
        headers = head_of(head)
        assert headers.keys() >= {name.lower() for name in ALWAYS}
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        policy = dict(
            part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";")
        )
        assert policy["default-src"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        assert policy["base-uri"] == "'none'"
        assert "unsafe" not in headers["content-security-policy"]
        assert "*" not in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers
        assert not {"server", "x-powered-by", "date"} & headers.keys()


def test_pages_of_ours_hold_no_script_and_no_style_in_attributes(still):
    for path in STATIC:
        status, head, text = still.get(path, Cookie=still.cookie)
        assert status == 200
        assert head_of(head)["content-type"].startswith(STATIC[path][1])
        if path == "/":
            assert not re.search(r"<script(?![^>]*\bsrc=)|\bstyle=|\bon\w+=|javascript:", text, re.IGNORECASE)


def test_the_plain_page_may_use_its_own_style_only():
    text = render_message("a", "b", again=True, form=True)
    assert text.count("<style>") == 1
    assert f"<style>{STYLE}</style>" in text
    assert "<script" not in text


# ---------------------------------------------------------------- by password
def test_the_password_opens_the_page(pages):
    page = pages(password="correct horse")
    assert "token" not in page.address
    status, head, text = page.get("/")
    assert status == 200
    assert 'type="password"' in text
    assert head_of(head)["referrer-policy"] == "same-origin", "else the form would come from the origin null"
    status, head, _ = log_in(page, "correct+horse")
    assert status == 303
    assert page.cookie in head
    assert "Secure" not in head


def log_in(page, password, **headers):
    return page.get(
        "/login",
        "POST",
        f"password={password}",
        **{"Origin": page.origin, "Content_Type": "application/x-www-form-urlencoded", **headers},
    )


@pytest.mark.parametrize(
    "given", ["", "wrong", "correct", "correct+horse+", "Correct+horse", "%00", "%ff%fe", "correct+horse%00"]
)
def test_a_wrong_password_is_refused(pages, given):
    page = pages(password="correct horse")
    status, head, text = log_in(page, given)
    assert status == 403
    assert "set-cookie" not in head.lower()
    assert "not the password" in text


def test_passwords_cannot_be_tried_out(pages):
    page = pages(password="correct horse")
    answers = [log_in(page, f"wrong{n}")[0] for n in range(page.access.attempts.each + 1)]
    assert answers == [403] * page.access.attempts.each + [429]
    assert log_in(page, "correct+horse")[0] == 429


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example"])
def test_the_password_comes_from_our_form_only(pages, origin):
    page = pages(password="correct horse")
    assert log_in(page, "correct+horse", Origin=origin)[0] == 403


def test_with_a_password_there_is_no_token_and_nothing_without_the_cookie(pages):
    page = pages(password="correct horse")
    for path in ("/host.js", "/widget.js", "/ws", "/nothing"):
        assert page.get(path)[0] == 403
    assert page.get("/?token=")[0] == 200
    assert page.get("/?token=None")[0] == 200, "the form, no more"
    with pytest.raises(InvalidStatus):
        page.view(Cookie="")
    assert page.view().ready().state["event"] == 0


def test_a_proxy_with_tls_gives_its_own_name_and_gets_a_secure_cookie(pages):
    page = pages(password="correct horse")
    status, head, _ = log_in(page, "correct+horse", Host="data.example", Origin="https://data.example")
    assert status == 303
    assert "Secure" in head
    assert log_in(page, "correct+horse", Host="data.example", Origin="https://evil.example")[0] == 403


def test_a_long_form_is_refused(pages):
    page = pages(password="correct horse")
    assert log_in(page, "x" * (MAX_BODY + 1))[0] == 413
    body = "password=" + "x" * MAX_BODY
    chunks = f"{len(body):x}\r\n{body}\r\n0\r\n\r\n"
    assert page.get("/login", "POST", chunks, Origin=page.origin, Content_Length=None,
                    Transfer_Encoding="chunked")[0] == 413  # fmt: skip


def test_a_password_is_kept_as_a_digest():
    password = Password("correct horse")
    assert password.fits("correct horse")
    assert not password.fits("correct hors")
    assert "correct" not in repr(vars(password))
    assert vars(Password("correct horse"))["_digest"] != vars(password)["_digest"]


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.7", False),
        ("localhost.example", False),
        ("example", False),
        ("", False),
    ],
)
def test_only_a_loopback_is_this_machine_alone(host, here):
    assert is_loopback(host) is here


# ---------------------------------------------------------------- access control by itself
def test_a_server_that_cannot_refuse_sockets_in_words_closes_them():
    async def never(scope, receive, send):
        raise AssertionError("let in")

    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "websocket", "path": "/ws", "headers": [(b"host", b"127.0.0.1:8888")]}
    asyncio.run(require_access(never, AccessControl("127.0.0.1", 8888))(scope, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_a_page_in_the_background_of_another_site_cannot_keep_the_owner_out(page):
    across = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}
    for n in range(page.access.attempts.each + 5):
        assert page.get(f"/?token=guess{n}", **across)[0] == 403
    assert page.get(page.address.removeprefix(page.origin))[0] == 303


# ---------------------------------------------------------------- the start page
@pytest.fixture
def start(pages, tmp_path):
    """A start page with a small limit for files, and the folder in which it keeps them."""
    folder = tmp_path / "inside"
    folder.mkdir()

    def refuse(_chosen):
        raise DataError("nothing is opened here")

    return pages(StartPage(folder, refuse, refuse, largest_file=4 * MAX_BODY))


def send_file(page, name="a.csv", content="x", **headers):
    sent = {"Origin": page.origin, "Cookie": page.cookie, **headers}
    page.view().until(lambda view: view.state.get("start"))
    return page.get(f"/file?name={quote(name)}", "POST", content, **sent)


def list_files(folder):
    """All files and folders in a folder and beside it."""
    return sorted(str(path.relative_to(folder.parent)) for path in folder.parent.rglob("*"))


@pytest.mark.parametrize("origin", [*ORIGINS, None])
def test_no_other_page_sends_a_file(start, tmp_path, origin):
    said = origin and origin.format(port=start.port, other=start.port + 1)
    assert send_file(start, Origin=said)[0] == 403
    assert list_files(tmp_path / "inside") == ["inside"]


def test_nobody_sends_a_file_without_the_cookie_or_under_another_name(start, tmp_path):
    assert send_file(start, Cookie=None)[0] == 403
    assert send_file(start, Cookie=None, content="x" * MAX_BODY * 2)[0] == 403
    assert send_file(start, Host="evil.example", Origin="http://evil.example")[0] == 403
    assert send_file(start, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="cors")[0] == 403
    assert start.get("/file?name=a.csv", Cookie=start.cookie)[0] == 405
    assert list_files(tmp_path / "inside") == ["inside"]


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("../a.csv", "a.csv"),
        ("../../a.csv", "a.csv"),
        ("/etc/a.csv", "a.csv"),
        ("C:\\data\\a.csv", "a.csv"),
        ("..\\..\\a.csv", "a.csv"),
        (".a.csv", "a.csv"),
        ("a\x00\n\u202eb.csv", "ab.csv"),
        ("a.csv. ", "a.csv"),
        ("~/a.csv", "a.csv"),
        (f"{'ü' * 300}.csv", f"{'ü' * 98}.csv"),
        (MARKUP + ".csv", "script><img src=x onerror=alert(2)>\"'&.csv"),
    ],
)
def test_a_name_leads_nowhere_else(start, tmp_path, name, stored):
    status, _, text = send_file(start, name)
    assert status == 200
    assert json.loads(text)["path"] == str(tmp_path / "inside" / stored)
    assert list_files(tmp_path / "inside") == ["inside", f"inside/{stored}"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        ".csv",
        "../",
        "a",
        "a.py",
        "a.csv.py",
        "a.csv/../b.sh",
        ".bashrc",
        "a.csv.linkwise",  # with an answer file of its own, a session could change
        "a.csv.linkwise-wal",
        "a.csv.linkwise-journal",
        "a.csv\x00.exe",
        "csv",
    ],
)
def test_only_data_are_kept(start, tmp_path, name):
    status, _, text = send_file(start, name)
    assert status == 400
    assert "is not a data file" in json.loads(text)["text"]
    assert list_files(tmp_path / "inside") == ["inside"]


def test_a_link_is_not_followed(start, tmp_path):
    folder = tmp_path / "inside"
    (folder / "a.csv").symlink_to(tmp_path / "outside.csv")
    status, _, text = send_file(start)
    assert (status, json.loads(text)["path"]) == (200, str(folder / "a 2.csv"))
    assert not (tmp_path / "outside.csv").exists()


def test_a_file_that_is_too_large_leaves_nothing(start, tmp_path):
    most = 4 * MAX_BODY
    assert send_file(start, content="x" * most)[0] == 200
    assert send_file(start, "b.csv", "x" * (most + 1))[0] == 413
    body = f"{most + 1:x}\r\n{'x' * (most + 1)}\r\n0\r\n\r\n"
    status, _, text = send_file(start, "b.csv", body, Content_Length=None, Transfer_Encoding="chunked")
    assert (status, "MiB" in text) == (400, True)
    assert list_files(tmp_path / "inside") == ["inside", "inside/a.csv"]


def test_half_a_file_leaves_nothing(start, tmp_path):
    view = start.view().until(lambda view: view.state.get("start"))
    head = f"POST /file?name=a.csv HTTP/1.1\r\nHost: 127.0.0.1:{start.port}\r\nOrigin: {start.origin}\r\n"
    with socket.create_connection(("127.0.0.1", start.port), timeout=patience()) as raw:
        raw.sendall(f"{head}Cookie: {start.cookie}\r\nContent-Length: 100\r\n\r\nhalf".encode())
        wait_until(lambda: len(list_files(tmp_path / "inside")) == 2, "the file is begun")
    wait_until(lambda: list_files(tmp_path / "inside") == ["inside"], "the file is removed")
    assert view.ask("names", path="")["names"] == []


def test_no_file_is_sent_to_a_page_about_data(still, pages):
    sent = {"Origin": still.origin, "Cookie": still.cookie}
    assert still.get("/file?name=a.csv", "POST", "x", **sent)[0] == 405
    guarded = pages(password="correct horse")
    assert log_in(guarded, "correct+horse")[0] == 303
    assert (
        guarded.get("/file?name=a.csv", "POST", "x", Origin=guarded.origin, Cookie=guarded.cookie)[0] == 405
    )


def test_a_page_about_data_opens_nothing_else(inside):
    for request in ({"do": "open", "path": "/etc/passwd"}, {"do": "demo", "name": "wine"}, {"do": "names"}):
        assert inside.ask(**request)["error"]["kind"] == "bad"


def test_after_something_is_open_no_file_is_kept_and_nothing_else_opened(pages, tmp_path):
    page = pages(StartPage(tmp_path, lambda _: small_presenter(), lambda _: small_presenter()))
    view = page.view().until(lambda view: view.state.get("start"))
    assert view.ask("demo", name="wine")["ok"]
    sent = {"Origin": page.origin, "Cookie": page.cookie}
    assert page.get("/file?name=a.csv", "POST", "x", **sent)[0] == 409
    assert view.ask("open", path="/etc/passwd")["error"]["kind"] == "bad"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "access",
    [
        AccessControl("127.0.0.1", 80, Password("correct horse")),
        AccessControl("127.0.0.1", 80, people=("anna",)),
        AccessControl("192.168.1.7", 80),
    ],
    ids=["password", "people", "another address"],
)
def test_a_start_page_is_for_its_owner_alone(tmp_path, access):
    page = StartPage(tmp_path, lambda _: small_presenter(), lambda _: small_presenter())
    with open_socket("127.0.0.1", 0) as sock, pytest.raises(ValueError, match="nobody else may have access"):
        asyncio.run(serve_hub(Hub(""), access, sock, page, asyncio.Event()))


@pytest.mark.parametrize(
    ("do", "field", "wrong"),
    [
        *(("open", "path", wrong) for wrong in [None, 7, [], {}, "", "  ", "''", "x" * 5000, "a\x00b"]),
        *(("names", "path", wrong) for wrong in [None, 7, [], {}, "x" * 5000]),
        *(("demo", "name", wrong) for wrong in [None, 7, [], {}, "", "none", "../wine", MARKUP]),
        *(("undo", "path", wrong) for wrong in ["a.csv"]),
    ],
)
def test_a_wrong_request_to_the_start_page_opens_nothing(start, do, field, wrong):
    view = start.view().until(lambda view: view.state.get("start"))
    reply = view.ask(do, **{field: wrong})
    assert (reply["ok"], reply["error"]["kind"]) == (False, "bad")
    assert "nothing is opened" not in reply["error"]["text"]
    assert "start" in view.state
