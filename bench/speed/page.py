"""The time from the key press to the next question with all points recoloured, without a graphics card.

The page, its server and its socket are the real ones. With the desk "stub" every answer gives another
question and other labels at once, which measures the page alone. With "real" KIN, COBRAS and MinMax answer,
with their sessions in files. A key is pressed in the page. `drawn`: the page contains the next question, and
one pixel of the new points was read back, which waits for the drawing. `shown`: the browser begins the frame
that shows this; there are 60 frames a second, so it is 8 ms later on average. The aims are for `shown`.

A browser without a graphics card has WebGL in software, if at all. The page then draws its points in
memory; `--webgl` makes it use WebGL anyway. With `--peers`, Panel and Streamlit show the same, timed by the
same clock.

    python -m bench run speed_page [--desk stub real] [--rows 0 10000 100000] [--answers 9]
    python -m bench run peers_page --peers PYTHON

Needs chromium and ``pip install playwright``; PYTHON is one with panel and streamlit.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from bench.peers import page as peers
from bench.peers.page_blobs import blobs, labels_after, rows_of
from bench.results import RESULTS
from bench.served import Served

from linkwise.app.page.cards import view_numbers
from linkwise.app.page.presenter import Presenter
from linkwise.app.page.requests import Reply
from linkwise.learn.cobras.cobras import COBRAS
from linkwise.learn.kin.kin import KIN
from linkwise.learn.known_k.min_max import MinMax
from linkwise.learn.learner import Learner
from linkwise.session.session import Session

AIMS = {0: 15, 10_000: 50, 100_000: 130, 1_000_000: 1000}  # milliseconds
REAL_ROWS, PEER_ROWS = 10_000, 10_000
FIELDS = ("desk", "points", "rows", "answers", "drawn_ms", "shown_ms", "slowest_ms", "aim_ms")
PEER_FIELDS = ("tool", "version", "rows", "answers", "shown_ms", "slowest_ms")
FLAGS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage")
PRESS = """(key) => new Promise((done) => {
  const root = document.querySelector(".linkwise");
  const canvas = document.querySelector(".lw-points");
  const begin = performance.now();
  root.addEventListener("linkwise:drawn", () => {
    const gl = canvas.offsetParent && canvas.getContext("webgl2");
    if (gl) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    else if (canvas.offsetParent) canvas.getContext("2d").getImageData(0, 0, 1, 1);
    const drawn = performance.now() - begin;
    requestAnimationFrame(() => done([drawn, performance.now() - begin]));
  }, {once: true});
  root.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
})"""
IDLE = "() => document.querySelector('.lw-no').getAttribute('aria-disabled') === 'false'"
WEBGL = """() => { const real = WebGL2RenderingContext.prototype.getParameter;
  WebGL2RenderingContext.prototype.getParameter = function (name) {
    const found = real.call(this, name);
    return typeof found === "string" ? "a card" : found; }; }"""


# ---------------------------------------------------------------- desks
class Stub:
    """Another question and other labels after every answer, at once."""

    def __init__(self, n_rows: int) -> None:
        self._places, self._kind = blobs(n_rows)
        self._n_answers = 0

    def places(self) -> bytes:
        return self._places.tobytes()

    def labels(self) -> tuple[int, bytes]:
        return self._n_answers + 1, labels_after(self._kind, self._n_answers).tobytes()

    def state(self, people: Sequence[str] = ()) -> dict[str, Any]:
        n = self._n_answers
        first, second = (
            {"row": int(row["name"][1:]), "name": row["name"], "cluster": 0,
             "fields": [{"name": "x", "value": row["x"], "place": 0.5}]}
            for row in rows_of(n, max(1, len(self._kind)))
        )  # fmt: skip
        question = {
            "id": str(n), "first": first, "second": second, "differing": {}, "content": None,
            "only_shown": [], "why": "", "guess": "no", "parts": None
        }  # fmt: skip
        counts = dict.fromkeys(
            ("yes", "unsure", "added", "imported", "done", "inferred", "screens", "cards"), 0
        )
        sizes = np.bincount(self._kind, minlength=10).tolist()
        return {
            "protocol": 1, "title": "stub", "kind": "record", "place": None, "rows": len(self._kind),
            "two_bytes": False, "labels": n + 1,
            "shades": [[kind, kind, 0] for kind in range(10)],
            "event": n, "busy": False,
            "question": question, "sorting": None, "ended": None, "agreement": None, "rules": False,
            "axes": "", "map": None, "profiles": False,
            "budget": None, "seconds_per_answer": None, "counts": {"answers": n, "no": n, **counts},
            "changes": [0.1] * min(n, 20),
            "advice": {"stop": None, "text": "", "wrong": None, "most_wrong": None, "n_open": 0},
            "more_clusters": 0, "learner": "stub",
            "description": [], "notes": [], "undo": None, "errors": "", "n_suspects": 0, "n_review": 0,
            "columns": None, "table": None,
            "clusters": [
                {"cluster": k, "size": size, "name": "", "done": False, "answered": 0,
                 "exemplar": k, "exemplars": [k], "exemplar_names": [f"c{k}"]}
                for k, size in enumerate(sizes)
            ],
        }  # fmt: skip

    def handle(self, request: dict[str, Any], person: str = "") -> Reply:
        self._n_answers += 1
        return Reply({"re": request["id"], "ok": True}, changed=True)

    def look_ahead(self, wanted: Callable[[], bool]) -> None:
        """Nothing is to be worked out."""

    def has_changed(self) -> bool:
        return False

    def take_new_places(self) -> None:
        """No map is made."""

    def close(self) -> None:
        """Nothing is open."""


def make_session(learner: Learner, n_rows: int, folder: Path) -> Presenter:
    """A learner on ten blobs in ten dimensions, in a file."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (10, 10))[rng.integers(0, 10, n_rows)] + rng.normal(0, 0.08, (n_rows, 10))
    session = Session.open(folder / f"{type(learner).__name__}-{n_rows}.linkwise", X, learner)
    return Presenter(session, X, view_numbers(X, [f"x{j}" for j in range(10)]), title="blobs")


# ---------------------------------------------------------------- the clock
@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "chromium-headless-shell")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise SystemExit("There is no chromium. Install it: apt-get install -y chromium")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()


def time_keys(
    browser: Any, begin: Callable[[], Any], answers: int, *, webgl: bool = False
) -> list[list[float]]:
    """Milliseconds of each answer until drawn and until shown, the first two left out."""
    server = Served(begin)
    try:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(180_000)
        if webgl:
            page.add_init_script(f"({WEBGL})()")
        page.goto(server.address())
        page.wait_for_selector(".lw-cluster")
        taken = []
        for number in range(answers + 2):
            page.wait_for_function(IDLE)
            page.wait_for_timeout(300)
            taken.append(page.evaluate(PRESS, "nnny"[number % 4]))
        page.close()
        return taken[2:]
    finally:
        server.close()


def build_row(desk: str, points: str, n_rows: int, taken: list[list[float]]) -> dict[str, Any]:
    drawn, shown = zip(*taken, strict=True)
    return {
        "desk": desk, "points": points, "rows": n_rows, "answers": len(taken),
        "drawn_ms": f"{median(drawn):.0f}", "shown_ms": f"{median(shown):.0f}",
        "slowest_ms": f"{max(shown):.0f}", "aim_ms": AIMS.get(n_rows, "") if desk == "stub" else "",
    }  # fmt: skip


def measure(
    desks: Sequence[str], rows: Sequence[int], answers: int, *, webgl: bool
) -> Iterator[dict[str, Any]]:
    points = "webgl" if webgl else "memory"
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        for n_rows in rows if "stub" in desks else ():
            taken = time_keys(browser, partial(Stub, n_rows), answers, webgl=webgl)
            yield build_row("stub", points, n_rows, taken)
        learners = KIN(random_state=0), COBRAS(random_state=0), MinMax(10, random_state=0)
        for learner in learners if "real" in desks else ():
            begin = partial(make_session, learner, REAL_ROWS, Path(folder))
            taken = time_keys(browser, begin, answers, webgl=webgl)
            yield build_row(type(learner).__name__, points, REAL_ROWS, taken)


def measure_peers(python: Path, answers: int) -> Iterator[dict[str, Any]]:
    """The page, Panel and Streamlit, by the clock of `bench.peers.page`."""
    with chromium() as browser:
        server = Served(partial(Stub, PEER_ROWS))
        try:
            yield build_peer_row("linkwise", "", peers.time_clicks(browser, server.address(), answers))
        finally:
            server.close()
        for tool in peers.APPS:
            with peers.run_app(python, tool, PEER_ROWS) as address:
                yield build_peer_row(
                    tool, peers.find_version(python, tool), peers.time_clicks(browser, address, answers)
                )


def build_peer_row(tool: str, version: str, taken: list[float]) -> dict[str, Any]:
    return {
        "tool": tool, "version": version, "rows": PEER_ROWS, "answers": len(taken),
        "shown_ms": f"{median(taken):.0f}", "slowest_ms": f"{max(taken):.0f}",
    }  # fmt: skip


def write_rows(path: Path, fields: Sequence[str], rows: Iterator[dict[str, Any]]) -> None:
    """Print each row when it is there, and keep it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        print("".join(f"{name:>12}" for name in fields))
        for row in rows:
            writer.writerow(row)
            file.flush()
            print("".join(f"{row[name]:>12}" for name in fields), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_page",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--desk", nargs="+", choices=("stub", "real"), default=["stub", "real"])
    parser.add_argument("--rows", type=int, nargs="+", default=list(AIMS))
    parser.add_argument("--answers", type=int, default=9)
    parser.add_argument("--webgl", action="store_true", help="use WebGL even if it runs in software")
    parser.add_argument("--peers", type=Path, metavar="PYTHON", help="also time Panel and Streamlit")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR")
    options = parser.parse_args()
    folder = options.out / "speed_page"
    if options.peers is not None:
        write_rows(folder / "peers.csv", PEER_FIELDS, measure_peers(options.peers, options.answers))
        return
    rows = measure(options.desk, options.rows, options.answers, webgl=options.webgl)
    write_rows(folder / ("webgl.csv" if options.webgl else "page.csv"), FIELDS, rows)


if __name__ == "__main__":
    main()
