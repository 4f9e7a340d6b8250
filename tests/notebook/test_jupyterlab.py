"""The widget in JupyterLab, with a kernel and a browser; skipped where one of them is not installed."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from patience import patience

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))), None
)
FLAGS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage", "--no-sandbox")
CELLS = [
    """import numpy as np
import linkwise as lw
rng = np.random.default_rng(3)
kind = np.arange(30) % 3
X = np.column_stack([10.0 * kind, 5.0 * (kind == 1)]) + rng.normal(0, 0.2, (30, 2))
session = lw.Session(X, lw.COBRAS(random_state=0))
lw.widget(session, items=[f"kind {k}" for k in kind], title="thirty")""",
    """print("answers:", [e.answer for e in session.history if e.kind == "answer"])
print("right:", lw.constraint_score(session.labels, lw.Constraints.from_labels(kind)))""",
]
FRAME = """import pandas as pd
import linkwise as lw
prices = [float(2 ** (row % 15)) for row in range(30)]
shops = ["north", "south", "east"] * 10
df = pd.DataFrame({"order": [f"O-{row}" for row in range(30)], "price": prices, "shop": shops})
"""
OF_FRAME = [
    f"{FRAME}page = lw.widget(df)\npage",
    f'{FRAME}session = lw.Session.open("orders.linkwise", df, lw.KIN(random_state=0))\nlw.widget(session)',
    'print("answers:", [e.answer for e in session.history])',
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None or not all(map(importlib.util.find_spec, ("jupyterlab", "playwright"))),
        reason="install them: pip install jupyterlab playwright; apt-get install -y chromium",
    ),
]


def write_notebook(path, texts):
    """Write a notebook of code cells."""
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": text, "outputs": [],
         "execution_count": None}
        for n, text in enumerate(texts)
    ]  # fmt: skip
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}
    path.write_text(json.dumps(notebook))


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab with two notebooks."""
    write_notebook(tmp_path / "ask.ipynb", CELLS)
    write_notebook(tmp_path / "frame.ipynb", OF_FRAME)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    homes = {f"JUPYTER_{what}_DIR": str(tmp_path / what) for what in ("CONFIG", "DATA", "RUNTIME")}
    options = [f"--ServerApp.port={port}", "--ServerApp.token=t", f"--ServerApp.root_dir={tmp_path}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **homes},
    )
    begun = time.monotonic()
    while True:
        try:
            urlopen(f"http://127.0.0.1:{port}/api?token=t", timeout=patience(5)).close()
            break
        except (URLError, ConnectionError):
            assert time.monotonic() - begun < patience(), "JupyterLab did not start"
            time.sleep(0.2)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(patience())


TEXTS = "() => [...document.querySelectorAll('.linkwise .lw-items .lw-text')].map((n) => n.textContent)"
FIRST = "document.querySelector('.linkwise')"
NUMBER = "document.querySelector('.linkwise .lw-eyebrow').textContent"
FINISHED = "!document.querySelector('.linkwise .lw-finish').hidden"


@pytest.fixture
def browse(lab):
    """Open a notebook; errors of scripts fail the test."""
    from playwright.sync_api import sync_playwright

    wrong = []
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=list(FLAGS), timeout=1000 * patience()
        )

        def open_notebook(name):
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.set_default_timeout(1000 * patience())
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.goto(f"{lab}/lab/tree/{name}?token=t")
            page.get_by_text("| Idle").wait_for()  # the status bar: the kernel is connected
            return page

        yield open_notebook
        browser.close()
    assert wrong == []


def test_a_session_is_answered_by_keys_that_the_notebook_never_hears(browse):
    page = browse("ask.ipynb")
    run(page, 0)
    page.wait_for_selector(".linkwise .lw-cluster")
    answers = answered(page)
    assert page.locator(".jp-Notebook .jp-CodeCell").count() == len(CELLS), "no cell came or went"
    run(page, 1)
    page.wait_for_selector(".jp-OutputArea-output >> text=right:")
    told = page.inner_text(".jp-Cell >> nth=1 >> .jp-OutputArea")
    if out := os.environ.get("LINKWISE_SCREENSHOTS"):
        page.screenshot(path=os.path.join(out, "jupyterlab.png"))
    assert f"answers: {answers}" in told
    assert "right: 1.0" in told


def test_a_frame_is_shown_and_a_session_file_outlasts_the_kernel(lab, browse):
    page = browse("frame.ipynb")
    run(page, 0)
    page.wait_for_selector(".linkwise .lw-cluster")
    shown = page.locator(".linkwise .lw-fields th[scope=row]").all_inner_texts()
    assert [words.split("\n")[0].removeprefix("≠") for words in shown] == ["price", "shop"]
    for width in (900, 700):
        page.set_viewport_size({"width": 1280 + width - find_width(page), "height": 900})
        page.wait_for_timeout(500)
        assert abs(find_width(page) - width) < 20
        assert page.evaluate(f"() => {FIRST}.scrollWidth <= {FIRST}.clientWidth")
        page.set_viewport_size({"width": 1280, "height": 900})
        page.wait_for_timeout(500)
    run(page, 1)
    second = page.locator(".linkwise").nth(1)
    second.locator(".lw-cluster").first.wait_for()
    before = second.locator(".lw-eyebrow").inner_text()
    second.focus()
    page.wait_for_timeout(500)  # a key before one has read is not taken
    page.keyboard.press("n")
    page.wait_for_function(
        "before => document.querySelectorAll('.lw-eyebrow')[1].textContent !== before", arg=before
    )
    shown = [second.locator(part).inner_text() for part in (".lw-eyebrow", ".lw-items", ".lw-tiles")]
    restart_kernel(lab)
    page.get_by_text("| Idle").wait_for()  # the status bar: the kernel is connected
    run(page, 1)
    page.wait_for_function("() => document.querySelectorAll('.linkwise')[1]?.querySelector('.lw-cluster')")
    second.get_by_text("Saved in orders.linkwise").wait_for()
    assert [second.locator(part).inner_text() for part in (".lw-eyebrow", ".lw-items", ".lw-tiles")] == shown
    run(page, 2)
    page.wait_for_selector(".jp-OutputArea-output >> text=answers: ['no']")


def find_width(page):
    """The width of the first page in its output cell."""
    return page.evaluate(f"() => {FIRST}.clientWidth")


def restart_kernel(lab):
    with urlopen(f"{lab}/api/kernels?token=t", timeout=patience(5)) as reply:
        (kernel,) = json.load(reply)
    urlopen(
        Request(f"{lab}/api/kernels/{kernel['id']}/restart?token=t", method="POST"), timeout=patience()
    ).close()


def run(page, cell):
    """Run a cell by the button of the toolbar, and wait for its number."""
    prompt = f".jp-Notebook .jp-Cell >> nth={cell} >> .jp-InputPrompt"
    page.click(prompt)
    before = page.inner_text(prompt)
    page.click(".jp-NotebookPanel-toolbar [data-jp-item-name=run]")
    while (now := page.inner_text(prompt)) == before or "*" in now:
        page.wait_for_timeout(100)


def answered(page):
    """Answer by the keys until nothing is asked; what was said."""
    said = []
    page.focus(".linkwise")
    while not page.evaluate(FINISHED):
        assert len(said) < 60, "it never ends"
        first, second = page.evaluate(TEXTS)
        said.append("yes" if first == second else "no")
        before = page.evaluate(NUMBER)
        page.wait_for_timeout(200)  # a key before one has read is not taken
        page.keyboard.press("y" if first == second else "n")
        page.wait_for_function(f"before => {FINISHED} || {NUMBER} !== before", arg=before)
    return said
