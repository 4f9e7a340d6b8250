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
from urllib.request import urlopen

import pytest

from patience import patience

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
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

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None or not all(map(importlib.util.find_spec, ("jupyterlab", "playwright"))),
        reason="install them: pip install jupyterlab playwright; apt-get install -y chromium",
    ),
]


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab with one notebook."""
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": text, "outputs": [],
         "execution_count": None}
        for n, text in enumerate(CELLS)
    ]  # fmt: skip
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}
    (tmp_path / "ask.ipynb").write_text(json.dumps(notebook))
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
    yield f"http://127.0.0.1:{port}/lab/tree/ask.ipynb?token=t"
    process.terminate()
    process.wait(patience())


TEXTS = "() => [...document.querySelectorAll('.linkwise .lw-items .lw-text')].map((n) => n.textContent)"
NUMBER = "document.querySelector('.linkwise .lw-eyebrow').textContent"
FINISHED = "!document.querySelector('.linkwise .lw-finish').hidden"


def test_a_session_is_answered_by_keys_that_the_notebook_never_hears(lab):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=list(FLAGS), timeout=1000 * patience()
        )
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.set_default_timeout(1000 * patience())
        wrong = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(lab)
        page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
        run(page, 0)
        page.wait_for_selector(".linkwise .lw-cluster")
        answers = answered(page)
        assert page.locator(".jp-Notebook .jp-CodeCell").count() == len(CELLS), "no cell came or went"
        run(page, 1)
        page.wait_for_selector(".jp-OutputArea-output >> text=right:")
        told = page.inner_text(".jp-Cell >> nth=1 >> .jp-OutputArea")
        if out := os.environ.get("LINKWISE_SCREENSHOTS"):
            page.screenshot(path=os.path.join(out, "jupyterlab.png"))
        browser.close()
    assert f"answers: {answers}" in told
    assert "right: 1.0" in told
    assert wrong == []


def run(page, cell):
    """Run a cell by the button of the toolbar."""
    page.click(f".jp-Notebook .jp-Cell >> nth={cell} >> .jp-InputPrompt")
    page.click(".jp-NotebookPanel-toolbar [data-jp-item-name=run]")


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
