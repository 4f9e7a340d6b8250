"""A browser, and presenters that it is shown; without chromium or playwright these tests are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from bench.served import Served

from browser.tabs import Tabs
from patience import patience

HERE = Path(__file__).parent
# the shell draws no windows of its own, which take a third of the time
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))), None
)
FLAGS = (
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",  # only the plot needs WebGL: in software it takes twice the time
    "--disable-dev-shm-usage",
)

RUNNING = ExitStack()  # the browser, from the first test that asks for it to the last one in this folder


@cache
def start_chromium() -> Any:
    """A browser with software WebGL."""
    playwright = pytest.importorskip("playwright.sync_api", reason='install it: pip install "linkwise[dev]"')
    if CHROMIUM is None:
        pytest.skip("install chromium: apt-get install -y chromium")
    started = RUNNING.enter_context(playwright.sync_playwright())
    browser = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS), timeout=1000 * patience())
    RUNNING.callback(browser.close)
    return browser


@cache
def open_tabs() -> Tabs:
    """Its tabs."""
    return Tabs(start_chromium())


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the browser before tests of other folders: its event loop runs as long as it does."""
    if nextitem is None or HERE not in nextitem.path.parents:
        RUNNING.close()
        start_chromium.cache_clear()
        open_tabs.cache_clear()


@pytest.fixture(scope="module")
def chromium() -> Any:
    """A browser that all tests here share."""
    return start_chromium()


@pytest.fixture(scope="module")
def tabs() -> Tabs:
    """Its tabs."""
    return open_tabs()


@pytest.fixture(scope="module")
def served() -> Iterator[Callable[[Callable[[], Any]], Served]]:
    """Serve presenters until the end of the module."""
    with ExitStack() as stack:

        def serve(begin: Callable[[], Any]) -> Served:
            server = Served(begin)
            stack.callback(server.close)
            server.wait()
            return server

        yield serve


@pytest.fixture
def browse(chromium: Any, tabs: Tabs) -> Iterator[Callable[..., Any]]:
    """Open pages that are ready, with options of a browser's context; errors of scripts fail the test.

    `script` runs before those of the page. `before` may do anything with the page, which no other test gets.
    """
    lent, own = [], []

    def open_page(
        server: Served,
        *,
        script: str | None = None,
        before: Callable[[Any], Any] | None = None,
        ready: str = ".lw-cluster",
        **options: Any,
    ) -> Any:
        if before is None:
            lent.append(tab := tabs.lend(script, options))
        else:
            own.append(tab := Tabs(chromium).lend(script, options))
            before(tab.page)
        tab.page.goto(server.address())
        tab.page.wait_for_selector(ready)
        return tab.page

    yield open_page
    for tab in lent:
        tabs.take_back(tab)
    for tab in own:
        tab.page.context.close()
    assert not [error for tab in (*lent, *own) for error in tab.errors]
