"""The page of a session in Python: it is served, shows the items, and leaves the session open."""

import asyncio
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from threadpoolctl import ThreadpoolController

import linkwise as lw
from linkwise.app.page.auth import AccessControl
from linkwise.app.page.hub import Hub
from linkwise.app.page.presented_items import present_session
from linkwise.app.page.server import open_socket, serve_hub
from patience import patience

SCRIPT = """
import linkwise as lw
session = lw.Session([[0.0], [0.1], [5.0], [5.1]], lw.COBRAS(random_state=0))
lw.serve(session, items=["a pea", "a bean", "a pumpkin", "a melon"], browser=False)
print("ended", session.question is not None)
"""


def test_the_page_is_served_until_it_is_interrupted():
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with browser.open(address, timeout=patience(30)) as reply:
                assert "<title>" in reply.read().decode()
            process.send_signal(2)
            told, _ = process.communicate(timeout=patience(30))
        finally:
            process.kill()
    assert told.endswith("ended True\n")
    assert process.returncode == 0


def test_paths_of_pictures_are_shown(tmp_path):
    paths = [tmp_path / f"{n}.png" for n in range(4)]
    for n, path in enumerate(paths):
        Image.fromarray(np.full((8, 8, 3), 40 * n, dtype=np.uint8)).save(path)
    session = lw.Session([[0.0], [0.1], [5.0], [5.1]], lw.COBRAS(random_state=0))
    state = present_session(session, paths).state()
    assert state["kind"] == "image"


def test_items_that_do_not_fit_are_refused():
    session = lw.Session([[0.0], [0.1], [5.0], [5.1]], lw.COBRAS(random_state=0))
    with pytest.raises(lw.DataError, match="3 items for 4 rows"):
        lw.serve(session, items=[Path("a.png")] * 3, browser=False)


@pytest.mark.parametrize("port", ["x", "8000", 1.5, True, -1, 65_536, None])
def test_a_port_that_is_none(port):
    session = lw.Session([[0.0], [0.1], [5.0]], lw.COBRAS(random_state=0))
    with pytest.raises(
        lw.DataError, match=r"port is .*\. Pass a whole number from 0 to 65535, where 0 takes"
    ):
        lw.serve(session, port=port, browser=False)


def test_a_learner_of_the_page_uses_one_blas_thread():
    """It works in a thread of its own, which cannot limit the threads of OpenBLAS."""
    blas, seen = ThreadpoolController().select(user_api="blas"), []
    presenter = present_session(lw.Session([[0.0], [0.1], [5.0]], lw.COBRAS(random_state=0)))

    async def serve_a_moment():
        hub, stop, loop = Hub(""), asyncio.Event(), asyncio.get_running_loop()

        def begin():
            seen.extend(library["num_threads"] for library in blas.info())
            loop.call_soon_threadsafe(stop.set)
            return presenter

        with open_socket("127.0.0.1", 0) as sock:
            access = AccessControl("127.0.0.1", sock.getsockname()[1])
            await serve_hub(hub, access, sock, begin, stop)
        await hub.close()

    with blas.limit(limits=2):
        asyncio.run(serve_a_moment())
        assert {library["num_threads"] for library in blas.info()} == {2}
    assert set(seen) == {1}
