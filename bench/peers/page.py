"""Panel and Streamlit with the same content as the page, in an environment of their own.

The points and their changes are the same, and there is a question, two rows and a button "Same". One clock
times all tools: a button is clicked in the browser, and the clock stops in the first frame that shows both
another question and another picture. The apps are `page_panel` and `page_streamlit`; the experiment
`peers_page` runs them.

    python3.11 -m venv PEERS && PEERS/bin/pip install panel streamlit
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 90.0
APPS = {
    "panel": ("serve", "{app}", "--port", "{port}", "--address", "127.0.0.1"),
    "streamlit": (
        "run", "{app}", "--server.port", "{port}", "--server.address", "127.0.0.1",
        "--server.headless", "true", "--browser.gatherUsageStats", "false",
        "--server.fileWatcherType", "none",
    ),
}  # fmt: skip

# what a page shows, also within shadow roots: its question, and its pictures in small
TOOLS = """() => {
  const all = (root, found = []) => {
    for (const node of root.querySelectorAll("*")) {
      found.push(node);
      if (node.shadowRoot) all(node.shadowRoot, found);
    }
    return found;
  };
  const own = (node) => [...node.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("");
  const small = new OffscreenCanvas(48, 48).getContext("2d", { willReadFrequently: true });
  const large = (node) => node.tagName === "CANVAS" && node.width > 200 && node.offsetParent;
  window.bench = {
    question: () => all(document).map(own).find((text) => /Question \\d/.test(text)) || "",
    button: () => all(document).find((n) => n.tagName === "BUTTON" && /^\\s*Same/.test(n.textContent)),
    picture: () => all(document).filter(large).map((canvas) => {
      small.clearRect(0, 0, 48, 48);
      small.drawImage(canvas, 0, 0, 48, 48);
      return small.getImageData(0, 0, 48, 48).data.join();
    }).join("|"),
  };
}"""
CLICK = """() => new Promise((done) => {
  const before = [bench.question(), bench.picture()];
  const begin = performance.now();
  bench.button().click();
  const look = () => {
    if (bench.question() !== before[0] && bench.question() && bench.picture() !== before[1]) {
      done(performance.now() - begin);
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""
READY = "() => window.bench && bench.button() && bench.question() && bench.picture()"


@contextmanager
def run_app(python: Path, tool: str, n_rows: int) -> Iterator[str]:
    """The app of a tool, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = ROOT / "bench" / "peers" / f"page_{tool}.py"
    options = [option.format(app=app, port=port) for option in APPS[tool]]
    surroundings = {**os.environ, "PAGE_ROWS": str(n_rows), "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [python, "-m", tool, *options], env=surroundings, stdout=output, stderr=subprocess.STDOUT
        )
        address = f"http://127.0.0.1:{port}/" + ("page_panel" if tool == "panel" else "")
        try:
            if not _answers(address, process):
                output.seek(0)
                raise SystemExit(f"{tool} does not start: {output.read().decode()[-500:]}")
            yield address
        finally:
            process.terminate()
            process.wait()


def _answers(address: str, process: subprocess.Popen[bytes]) -> bool:
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends and process.poll() is None:
        try:
            urlopen(address, timeout=PATIENCE_S).close()
            return True
        except (URLError, ConnectionError):
            time.sleep(0.2)
    return False


def find_version(python: Path, tool: str) -> str:
    code = f"from importlib.metadata import version; print(version({tool!r}))"
    return subprocess.check_output([python, "-c", code], text=True).strip()


def time_clicks(browser: Any, address: str, answers: int) -> list[float]:
    """Milliseconds from click to picture, the first two left out."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(180_000)
    page.goto(address)
    page.evaluate(TOOLS)
    page.wait_for_function(READY)
    page.wait_for_timeout(2000)
    taken = []
    for _ in range(answers + 2):
        page.wait_for_timeout(700)  # until all is drawn, also where a chart comes in steps
        taken.append(float(page.evaluate(CLICK)))
    page.close()
    return taken[2:]
