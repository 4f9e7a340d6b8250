"""SIGTERM and Ctrl-C end the process whatever goes on, and no answer that was acknowledged is lost."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import pytest

from commands import write_fruit
from linkwise.app.cli.commands import serve
from linkwise.app.page.hub import Hub
from linkwise.app.page.row_places import MAP_THREAD
from linkwise.app.page.socket_client import SocketClient
from linkwise.session.session import Session
from patience import patience, wait_until

from .test_serve import served

ROUNDS = int(os.environ.get("LINKWISE_ROUNDS", "3"))  # of the test that ends pages at moments drawn at random
HALF_SAID = (b"", b"GET / HT", b"POST /login HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc", b"\x00\x01\r\n\r\n")


# ---------------------------------------------------------------- nobody takes the words any more
@pytest.mark.slow
def test_it_ends_when_its_terminal_takes_no_words_any_more(fruit):
    with served(fruit.path) as page:
        view = page.view()
        assert view.answer("no")["ok"]
        page.process.stderr.close()
        code, _, _ = page.ended(signal.SIGTERM)
    assert code == 130
    with Session.open(fruit.session) as session:
        assert [event.answer for event in session.history] == ["no"]


@pytest.mark.slow
def test_a_second_signal_ends_it_where_words_wait_to_be_read(fruit):
    """As on a terminal that was halted with Ctrl-S."""
    with served(fruit.path) as page:
        assert page.view().answer("no")["ok"]
        fill(page.process.pid)
        page.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not listens(page.address), "the port is closed")
        assert page.process.poll() is None
        page.process.send_signal(signal.SIGTERM)
        assert page.process.wait(patience()) == -signal.SIGTERM
    with Session.open(fruit.session) as session:
        assert [event.answer for event in session.history] == ["no"]


def fill(pid):
    """Fill the pipe that is the stderr of a process."""
    end = os.open(f"/proc/{pid}/fd/2", os.O_WRONLY | os.O_NONBLOCK)
    try:
        fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 4096)
        with suppress(BlockingIOError):
            while True:
                os.write(end, b"." * 512)
    finally:
        os.close(end)


def listens(address):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", urlsplit(address).port)) == 0


# ---------------------------------------------------------------- a limit that nothing can hold up
STUCK = """
import sys, time
from linkwise.app.cli.commands import serve
serve.LIMIT_S = float(sys.argv[1])
with serve.call_on_signal(lambda: print("asked to stop", flush=True)):
    print("runs", flush=True)
    while True:
        {}
"""


@pytest.mark.parametrize("doing", ["pass", "time.sleep(1e6)"])
@pytest.mark.parametrize(("limit", "second"), [(0.2, None), (1e6, signal.SIGINT)])
def test_what_never_stops_is_ended_by_the_kernel(doing, limit, second):
    with subprocess.Popen(
        [sys.executable, "-c", STUCK.format(doing), str(limit)], stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout.readline() == "runs\n"
        program.send_signal(signal.SIGTERM)
        assert program.stdout.readline() == "asked to stop\n"
        if second is not None:
            program.send_signal(second)
        assert program.wait(patience()) == -(second or signal.SIGALRM)


def test_ctrl_c_while_modules_are_imported_ends_without_a_traceback(tmp_path):
    slow = tmp_path / "typer.py"
    slow.write_text("import time\nprint('imports', flush=True)\ntime.sleep(1e6)\n")
    with subprocess.Popen(
        [sys.executable, "-m", "linkwise", "serve", "none.csv"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout.readline() == "imports\n"
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=patience())
    assert program.returncode == -signal.SIGINT
    assert err == ""


def test_signals_are_as_before_where_none_came():
    from linkwise.app.cli.commands.serve import SIGNALS, call_on_signal

    before = [signal.getsignal(each) for each in SIGNALS]
    with call_on_signal(lambda: None):
        assert [signal.getsignal(each) for each in SIGNALS] != before
    assert [signal.getsignal(each) for each in SIGNALS] == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_request_at_the_moment_of_the_end_does_not_keep_a_room_open():
    class Idle:
        def handle(self, request, person):
            raise AssertionError("the hub is closed")

    async def run():
        hub, view = Hub("reading"), SocketClient()
        hub.presenter = Idle()
        work = asyncio.create_task(hub.work())
        await asyncio.sleep(0)
        hub.ask(view, {"id": "1", "do": "answer"})
        await asyncio.sleep(0)
        work.cancel()
        await asyncio.wait([work], timeout=patience())
        assert work.cancelled()
        hub.worker.end()

    asyncio.run(run())


# ---------------------------------------------------------------- at any moment
@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(n, marks=pytest.mark.slow(nightly=True)) for n in range(2, ROUNDS))]
)
def test_it_ends_at_any_moment_with_every_answer_stored(tmp_path, seed):
    draw = random.Random(seed)
    big = write_fruit(tmp_path / "fruit.csv", 3000)  # KIN prepares for a second, and looks ahead
    saved = []
    with ExitStack() as stack, served(big.path) as page:
        port, cookie = urlsplit(page.address).port, page.cookie()[1]
        head = f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
        deaf = f"{head}Cookie: {cookie}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        deaf += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        for said in (*HALF_SAID, head.encode(), deaf.encode()):
            raw = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=patience()))
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            raw.sendall(said)
        moment = threading.Event()
        talk = threading.Thread(target=answer_all, args=(page, cookie, saved, moment))
        talk.start()
        if seed % 3:
            assert moment.wait(patience())
        time.sleep(draw.uniform(0, 2))
        code, _, err = page.ended(draw.choice([signal.SIGTERM, signal.SIGINT]))
        talk.join(patience())
    assert code == 130
    assert "Traceback" not in err
    if saved:
        with Session.open(big.session) as session:
            assert [event.answer for event in session.history][: len(saved)] == saved


def answer_all(page, cookie, saved, begun):
    """Answer as fast as replies come, until the page is gone; `saved`: what was acknowledged."""
    with suppress(Exception):  # whatever the end looks like from here
        view = page.view_with(cookie)
        view.ready()
        begun.set()
        while view.state["question"] is not None:
            said = ("no", "yes", "unsure")[len(saved) % 3]
            if view.answer(said)["ok"]:
                saved.append(said)


def test_a_map_in_the_making_does_not_abort_the_end(monkeypatch):
    """Python would end around its thread, whose native code then aborts the process."""
    ended, may_go = [], threading.Event()
    monkeypatch.setattr(serve, "_end_at_once", lambda *_: ended.append(True))
    thread = threading.Thread(target=may_go.wait, name=MAP_THREAD, daemon=True)
    thread.start()
    asyncio.run(serve._close_hub(Hub(""), None))
    may_go.set()
    thread.join()
    asyncio.run(serve._close_hub(Hub(""), None))
    assert ended == [True]
