"""The command: the address first, an end in words, and nothing lost however it ends."""

from __future__ import annotations

import re
import signal
import stat
import sys
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from websockets.sync.client import connect

from linkwise.app.cli.commands import serve
from linkwise.session.session import Session
from patience import patience, wait_until
from pseudo_terminal import on_terminal
from running_command import start_command

from .conftest import View

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}")


class Served:
    """A process that serves a page."""

    def __init__(self, process):
        self.process = process
        self.address = process.stdout.readline().rstrip("\n")
        self._open = ExitStack()

    def cookie(self, address=None):
        """What the browser gets that opens the address."""
        parts = urlsplit(address or self.address)
        connection = HTTPConnection(parts.hostname, parts.port, timeout=patience())
        connection.request("GET", f"/?{parts.query}")
        response = connection.getresponse()
        connection.close()
        return response.status, (response.getheader("set-cookie") or "").partition(";")[0]

    def view(self):
        """The page, after the address was opened."""
        status, cookie = self.cookie()
        assert status == 303
        return self.view_with(cookie).ready()

    def view_with(self, cookie):
        """The page of a browser that was let in before."""
        port = urlsplit(self.address).port
        socket = connect(
            f"ws://127.0.0.1:{port}/ws",
            additional_headers={"Origin": f"http://127.0.0.1:{port}", "Cookie": cookie},
            proxy=None,
            open_timeout=patience(),
        )
        return View(self._open.enter_context(socket))

    def ended(self, number=None):
        """Exit code and what was said, after a signal."""
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=patience())
        return self.process.returncode, out, err

    def close(self):
        self._open.close()
        if not self.process.stdout.closed:
            self.process.kill()
            self.process.communicate()


@contextmanager
def served(*arguments, is_cold=False, **environment):
    page = Served(start_command("serve", *arguments, "--no-browser", is_cold=is_cold, **environment))
    try:
        yield page
    finally:
        page.close()


# ---------------------------------------------------------------- the address
@pytest.mark.slow
def test_the_address_stands_alone_on_the_first_line(fruit):
    with served(fruit.path, is_cold=True, COLUMNS="40") as page:
        assert ADDRESS.fullmatch(page.address)
        view = page.view()
        assert view.state["title"] == fruit.path.name
        assert view.state["place"] == str(fruit.session)
        code, out, err = page.ended(signal.SIGTERM)
    assert out == ""
    assert "This address works once" in err
    assert f"{fruit.path.name}: 30 rows. Answers are kept in {fruit.session}" in err
    assert code == 130


@pytest.mark.slow
def test_the_address_is_there_before_anything_is_read(tmp_path):
    with served(tmp_path / "none.csv") as page:
        assert ADDRESS.fullmatch(page.address)
        code, _, err = page.ended()
    assert code == 3
    assert "There is no file" in err
    assert "Traceback" not in err


def test_the_address_works_once(fruit):
    with served(fruit.path) as page:
        assert [page.cookie()[0], page.cookie()[0]] == [303, 403]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--columns", ","], 2, "empty name"),
        (["--constraints", "none.csv"], 3, "none.csv"),
    ],
)
def test_what_is_wrong_with_the_options_ends_the_page_with_its_code(fruit, options, code, told):
    with served(fruit.path, *options) as page:
        found, _, err = page.ended()
    assert found == code
    assert told in err


# ---------------------------------------------------------------- the end
@pytest.mark.slow
def test_ctrl_c_says_what_is_saved_and_how_to_go_on(fruit):
    with served(fruit.path) as page:
        view = page.view()
        for said in ("no", "unsure"):
            assert view.answer(said)["ok"]
        code, _, err = page.ended(signal.SIGINT)
    assert code == 130
    assert err.splitlines()[-1] == (
        f"linkwise: Interrupted: 2 answers saved in {fruit.session}. Go on with: linkwise serve {fruit.path}"
    )
    with Session.open(fruit.session) as session:
        assert [event.answer for event in session.history] == ["no", "unsure"]


@pytest.mark.slow
def test_nothing_is_lost_when_the_server_is_killed(fruit):
    answers = []
    for _ in range(2):
        with served(fruit.path) as page:
            view = page.view()
            assert [view.state["counts"][name] for name in ("yes", "no")] == [
                answers.count("y"),
                answers.count("n"),
            ]
            for _ in range(5):
                first, second = (view.state["question"][which]["name"] for which in ("first", "second"))
                answers.append(fruit.same(first, second))
                assert view.answer("yes" if answers[-1] == "y" else "no")["ok"]
            page.process.kill()
            page.process.wait()
    with Session.open(fruit.session) as session:
        assert [event.answer[0] for event in session.history] == answers


def test_nothing_of_two_people_is_lost_when_the_server_is_killed(fruit):
    """Killed between two answers, while the second one is on its way."""
    acknowledged = []
    for last_person in ("anna", "ben", "anna"):
        with served(fruit.path, "--annotators", "anna,ben", "--overlap", "0.5") as page:
            lines = [page.address, page.process.stdout.readline()]
            views = {}
            for person, address in (line.split() for line in lines):
                page.address = address
                views[person] = page.view()
            for view in views.values():
                view.until(lambda view: view.state["team"]["here"] == ["anna", "ben"])
                assert view.state["team"]["all"] == len(acknowledged)
            for person, view in [*views.items()] * 2:
                view.until(lambda view: view.state["question"] is not None)
                asked, answer = read_question(view, fruit)
                assert view.answer(answer)["ok"]
                acknowledged.append((person, *asked, answer))
            last = views[last_person]
            last.until(lambda view: view.state["question"] is not None)
            pair, answer = read_question(last, fruit)
            late = last_person, *pair, answer
            last.say("answer", question=last.state["question"]["id"], answer=answer)
            page.process.kill()
            page.process.wait()
        with Session.open(fruit.session) as session:
            stored = [(e.source, *sorted((e.first, e.second)), e.answer) for e in session.history]
        assert stored in (acknowledged, [*acknowledged, late])  # the late one may be stored already
        acknowledged = stored
    given = [(source, pair) for source, *pair, _ in acknowledged]
    assert len(given) >= 12
    assert all(given.count(one) == 1 for one in given)


def read_question(view, fruit):
    """The rows of the question that is shown, and its answer by the truth."""
    first, second = (view.state["question"][which] for which in ("first", "second"))
    answer = "yes" if fruit.same(first["name"], second["name"]) == "y" else "no"
    return sorted((first["row"], second["row"])), answer


@pytest.mark.slow
def test_the_terminal_and_the_page_go_on_with_one_session(fruit, linkwise):
    with served(fruit.path) as page:
        view = page.view()
        assert view.answer("no")["ok"]
        assert linkwise("undo", fruit.path).exit_code == 0
        view.until(lambda v: v.state["counts"]["answers"] == 0)
        linkwise("ask", fruit.path, said="n\ns\nq\n")
        view.until(lambda v: v.state["counts"]["answers"] == 2)
        assert view.answer("no")["ok"]


# ---------------------------------------------------------------- host, port, password
def test_a_port_that_is_taken_is_reported(fruit):
    with served(fruit.path) as page:
        port = urlsplit(page.address).port
        with served(fruit.path, "--port", port) as other:
            code, out, err = other.ended()
    assert (code, other.address, out) == (2, "", "")
    assert f"port {port}" in err
    assert "Remove --port" in err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.1", "example.org"])
def test_other_machines_need_a_password(fruit, host):
    with served(fruit.path, "--host", host) as page:
        code, _, err = page.ended()
    assert (code, page.address) == (2, "")
    assert "--password-file" in err


@pytest.mark.parametrize("text", ["", "short", "seven77\nlonger than that"])
def test_a_short_password_is_refused(fruit, tmp_path, text):
    (tmp_path / "password").write_text(text)
    with served(fruit.path, "--host", "0.0.0.0", "--password-file", tmp_path / "password") as page:
        code, _, err = page.ended()
    assert code == 2
    assert "is too short. A password has 8 letters or more." in err
    assert "seven77" not in err


@pytest.mark.slow
def test_with_a_password_others_log_in(fruit):
    with served(fruit.path, "--host", "0.0.0.0", LINKWISE_PASSWORD="correct horse") as page:
        parts = urlsplit(page.address)
        assert (parts.path, parts.query) == ("/", "")
        connection = HTTPConnection("127.0.0.1", parts.port, timeout=patience())
        origin = {"Origin": f"http://127.0.0.1:{parts.port}"}
        statuses = []
        for given in ("wrong", "correct+horse"):
            connection.request("POST", "/login", f"password={given}", origin)
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
        connection.close()
        _, _, err = page.ended(signal.SIGINT)
    assert statuses == [403, 303]
    assert "not encrypted" in err
    assert "correct" not in err


# ---------------------------------------------------------------- the browser
@pytest.fixture
def browser(tmp_path):
    """A browser that writes down what it is to open."""
    opened, program = tmp_path / "opened", tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" >> {opened}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program, opened


def seen(opened):
    wait_until(lambda: opened.exists() and opened.read_text().endswith("\n"), "a browser that is opened")
    return opened.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("command", [["ask", "{}"], ["serve", "{}"], ["demo", "wine"]])
def test_where_there_is_a_browser_the_page_is_opened(fruit, browser, command):
    program, opened = browser
    command = [word.format(fruit.path) for word in command]
    with on_terminal(*command, BROWSER=str(program), DISPLAY=":7") as screen:
        screen.wait_for("\r\n")
        address = ADDRESS.search(screen.plain())[0]
        assert seen(opened) == f"{address}\n"
        screen.press("\x03")
        screen.wait_for("Interrupted")
        assert screen.ended() == 130


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "shows"),
    [
        (["ask", "{}", "--terminal"], "Start? [Y/n, or number of a column] "),
        (["ask", "{}", "--json"], '"type": "question"'),
        (["demo", "wine", "--terminal"], "Do these two belong together?"),
        (["demo", "wine", "--auto", "--budget", "2"], "questions  clusters"),
    ],
)
def test_who_wants_the_terminal_gets_no_page(fruit, browser, command, shows):
    program, opened = browser
    command = [word.format(fruit.path) for word in command]
    with on_terminal(*command, BROWSER=str(program), DISPLAY=":7") as screen:
        screen.wait_for(shows)
        assert "http://" not in screen.plain()
    assert not opened.exists()


@pytest.mark.slow
def test_enter_prints_another_address(fruit):
    with on_terminal("serve", fruit.path, "--no-browser") as screen:
        screen.wait_for("Answers are kept")
        first = ADDRESS.search(screen.plain())[0]
        screen.press("\r")
        screen.wait_for("token=")
        screen.wait_for("\r\n")
        second = ADDRESS.findall(screen.plain())[-1]
        assert first != second
        assert Served.cookie(None, first)[0] == 403
        assert Served.cookie(None, second)[0] == 303
        screen.press("\x03")
        screen.wait_for("0 answers saved")
        assert screen.ended() == 130


@pytest.mark.parametrize(
    ("tty", "environment", "platform", "there", "opens"),
    [
        (True, {"DISPLAY": ":0"}, "linux", True, True),
        (True, {"WAYLAND_DISPLAY": "wayland-0"}, "linux", True, True),
        (True, {}, "linux", True, False),
        (True, {"DISPLAY": ":0"}, "linux", False, False),
        (False, {"DISPLAY": ":0"}, "linux", True, False),
        (True, {}, "darwin", True, True),
        (True, {}, "win32", True, True),
        (True, {"SSH_CONNECTION": "1"}, "darwin", True, False),
        (True, {"SSH_CONNECTION": "1", "DISPLAY": ":10"}, "linux", True, True),
    ],
)
def test_whether_a_page_can_be_opened(monkeypatch, tty, environment, platform, there, opens):
    def get():
        if not there:
            raise serve.webbrowser.Error

    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: tty, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: tty, raising=False)
    monkeypatch.setattr(serve.webbrowser, "get", get)
    assert serve.can_open() is opens


def test_without_its_packages_the_page_says_what_to_install(monkeypatch, linkwise, fruit):
    monkeypatch.setattr(serve, "find_spec", lambda name: None if name == "starlette" else object())
    done = linkwise("serve", fruit.path)
    assert done.exit_code == 2
    assert done.stderr.endswith(
        'The page needs starlette, not installed here. Run pip install "linkwise[page]".\n'
    )
    assert not serve.can_open()
