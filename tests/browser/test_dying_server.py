"""The server dies in the middle; nothing that was marked saved is lost."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pytest
from bench.served import Served

from browser.presenters import QUESTION, blobs, press, read
from linkwise.session.session import Session
from patience import patience
from running_command import start_command

pytestmark = pytest.mark.slow

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=\S+")


def serve(data: Path, port: int = 0) -> tuple[Any, str]:
    """`linkwise serve`, and the address that it prints."""
    process = start_command("serve", data.name, "--no-browser", "--port", port, cwd=data.parent)
    for line in process.stdout:
        if found := ADDRESS.search(line):
            return process, found[0]
    raise AssertionError("no address was printed")


def test_a_page_of_before_asks_for_the_password_again(browse, monkeypatch):
    first = Served(blobs(), password="correct horse")
    try:
        page = browse_with(browse, first, "correct horse")
        assert page.locator(".lw-banner").is_hidden()
    finally:
        first.close()
    second = Served(blobs(), port=first.port, password="correct horse")
    try:
        page.wait_for_function(
            "() => document.querySelector('.lw-banner').textContent.includes('Reload this page to log in')"
        )
        page.reload()
        page.fill("#password", "correct horse")
        page.click("button")
        page.wait_for_selector(".lw-cluster")
        assert page.locator(".lw-banner").is_hidden()
    finally:
        second.close()


def browse_with(browse, server, password):
    """A page that was let in by the password."""

    def log_in(page):
        page.goto(server.address())
        page.fill("#password", password)
        page.click("button")
        page.wait_for_selector(".lw-cluster")

    return browse(server, before=log_in)


def test_after_a_failure_it_does_not_say_that_the_connection_is_lost(browse):
    begin, broken = blobs(), []

    def failing():
        presenter = begin()

        def state(people):
            if broken:
                raise RuntimeError("the disk went away")
            return type(presenter).state(presenter, people)

        presenter.state = state
        return presenter

    server = Served(failing)
    try:
        page = browse(server)
        read(page)
        broken.append(True)
        page.keyboard.press("s")
        page.wait_for_function(
            "() => document.querySelector('.lw-banner').textContent.startsWith('linkwise stopped')"
        )
        assert page.locator(".lw-saved").inner_text() == "Stopped"
        assert "could not" not in page.locator(".lw-question h2").inner_text()
    finally:
        server.close()


@pytest.fixture
def animals(tmp_path):
    data = tmp_path / "animals.csv"
    data.write_bytes((Path(__file__).parents[2] / "docs" / "animals.csv").read_bytes())
    return data


def test_killed_and_started_again(chromium, animals):
    process, address = serve(animals)
    port = int(ADDRESS.match(address)[1])
    try:
        context = chromium.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(1000 * patience())
        page = context.new_page()
        page.goto(address)
        page.get_by_role("button", name="Start").click()
        for key in "nsy":
            press(page, key)
        page.wait_for_selector(".lw-saved[data-is=saved]")
        asked = page.locator(".lw-items").inner_text()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        page.wait_for_selector(".lw-banner:visible")
        assert (
            page.locator(".lw-banner")
            .inner_text()
            .startswith("The connection is lost. Every answer marked as saved is in the session file.")
        )
        page.keyboard.press("n")  # is not taken while nobody can store it
        process, address = serve(animals, port)
        page.wait_for_selector(".lw-banner", state="visible")
        context.new_page().goto(address)  # lets this browser in again
        page.wait_for_selector(".lw-banner", state="hidden")
        page.wait_for_function("asked => document.querySelector('.lw-items').innerText === asked", arg=asked)
        assert page.evaluate(QUESTION) == "Question 4"
        read(page)
        page.keyboard.press("n")
        page.wait_for_function(f"() => {QUESTION}.startsWith('Question 5')")
        page.wait_for_function(
            "() => document.querySelector('[role=status]').textContent.startsWith('Saved')"
        )
        context.close()
    finally:
        process.kill()
        process.communicate()
    with Session.open(Path(f"{animals}.linkwise")) as kept:
        assert [event.answer for event in kept.history] == ["no", "unsure", "yes", "no"]
