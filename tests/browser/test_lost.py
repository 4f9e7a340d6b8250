"""The server dies in the middle; nothing that was marked saved is lost."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from browser.desks import QUESTION
from linkwise.session.session import Session

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=\S+")


def serve(data: Path, port: int = 0) -> tuple[subprocess.Popen[str], str]:
    """`linkwise serve`, and the address that it prints."""
    command = [sys.executable, "-m", "linkwise", "serve", data.name, "--no-browser", "--port", str(port)]
    process = subprocess.Popen(
        command,
        cwd=data.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if found := ADDRESS.search(line):
            return process, found[0]
    raise AssertionError("no address was printed")


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
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector(".lw-cluster")
        for key in "nsy":
            before = page.evaluate(QUESTION)
            page.keyboard.press(key)
            page.wait_for_function(f"before => {QUESTION} !== before", arg=before)
        page.wait_for_selector(".lw-saved[data-is=saved]")
        asked = page.locator(".lw-items").inner_text()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        page.wait_for_selector(".lw-banner:visible")
        assert (
            page.locator(".lw-banner")
            .inner_text()
            .startswith("Connection lost. Every answer marked saved is in the file.")
        )
        page.keyboard.press("n")  # is not taken while nobody can store it
        process, address = serve(animals, port)
        page.wait_for_selector(".lw-banner", state="visible")
        context.new_page().goto(address)  # lets this browser in again
        page.wait_for_selector(".lw-banner", state="hidden", timeout=30_000)
        page.wait_for_function("asked => document.querySelector('.lw-items').innerText === asked", arg=asked)
        assert page.evaluate(QUESTION) == "Question 4"
        page.keyboard.press("n")
        page.wait_for_function(f"() => {QUESTION} === 'Question 5'")
        page.wait_for_function(
            "() => document.querySelector('[role=status]').textContent.startsWith('Saved')"
        )
        context.close()
    finally:
        process.kill()
        process.communicate()
    with Session.open(Path(f"{animals}.linkwise")) as kept:
        assert [event.answer for event in kept.history] == ["no", "unsure", "yes", "no"]
