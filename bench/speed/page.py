"""From the key press to the next question shown and all points recoloured, in a browser with software WebGL.

The page, its server and its socket are the real ones. With the desk "stub" every answer gives another
question and other labels at once, so that the page alone is measured; with "cobras" the learner and its
session work, too. A key is pressed in the page; the clock stops in the frame after the new points were drawn
and one pixel of them was read back, which waits for the drawing. Software WebGL is the worst case: no
graphics card is used.

    python -m bench.speed.page [--rows 0 10000 100000 1000000] [--answers 9] [--out DIR]

Needs chromium and ``pip install playwright``.
"""

from __future__ import annotations

import argparse
import csv
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from bench.harness import RESULTS
from bench.served import Served

from linkwise.active.cobras import COBRAS
from linkwise.apps.page.desk import Desk
from linkwise.apps.page.items import of_numbers
from linkwise.apps.page.requests import Reply
from linkwise.session.session import Session

AIMS = {0: 15, 10_000: 50, 100_000: 130, 1_000_000: 1000}  # milliseconds
FIELDS = ("desk", "rows", "answers", "median_ms", "slowest_ms", "aim_ms")
MOST_FOR_COBRAS = 100_000
FLAGS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage")
PRESS = """() => new Promise((done) => {
  const root = document.querySelector(".linkwise");
  const canvas = document.querySelector(".lw-points");
  const begin = performance.now();
  root.addEventListener("linkwise:drawn", () => {
    const gl = canvas.offsetParent && canvas.getContext("webgl2");
    if (gl) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    requestAnimationFrame(() => done(performance.now() - begin));
  }, {once: true});
  root.dispatchEvent(new KeyboardEvent("keydown", {key: "n", bubbles: true}));
})"""
IDLE = "() => document.querySelector('.lw-no').getAttribute('aria-disabled') === 'false'"


# ---------------------------------------------------------------- desks
class Stub:
    """Another question and other labels after every answer, at once."""

    def __init__(self, n_rows: int) -> None:
        rng = np.random.default_rng(0)
        self._kind = rng.integers(0, 10, n_rows).astype(np.uint8)
        angle = self._kind * 0.628
        around = np.column_stack([np.cos(angle), np.sin(angle)]) * 0.7 + rng.normal(0, 0.07, (n_rows, 2))
        self._places = np.clip(around, -1, 1).astype("<f4")
        self._n_answers = 0

    def places(self) -> bytes:
        return self._places.tobytes()

    def labels(self) -> tuple[int, bytes]:
        moved = self._kind.copy()
        moved[:: 10 + self._n_answers] = self._n_answers % 10
        return self._n_answers + 1, moved.tobytes()

    def state(self) -> dict[str, Any]:
        n = self._n_answers
        items = [
            {
                "row": r,
                "name": f"c{r}",
                "cluster": 0,
                "fields": [{"name": "x", "value": str(n), "place": 0.5}],
            }
            for r in (2 * n, 2 * n + 1)
        ]
        question = {
            "id": str(n),
            "first": items[0],
            "second": items[1],
            "differ": [],
            "why": "",
            "guess": "no",
        }
        counts = dict.fromkeys(("yes", "unsure", "volunteered", "imported", "done", "inferred"), 0)
        sizes = np.bincount(self._kind, minlength=10).tolist()
        return {
            "protocol": 1, "title": "stub", "kind": "record", "place": None, "rows": len(self._kind),
            "wide": False, "labels": n + 1, "event": n, "busy": False, "question": question,
            "ended": None, "budget": None, "counts": {"answers": n, "no": n, **counts},
            "changes": [0.1] * min(n, 20),
            "advice": {"stop": None, "text": ""}, "seconds": None, "more_clusters": 0, "learner": "stub",
            "description": [], "undo": None,
            "clusters": [
                {"cluster": k, "size": size, "name": "", "done": False,
                 "exemplar": k, "exemplars": [k], "short": [f"c{k}"]}
                for k, size in enumerate(sizes)
            ],
        }  # fmt: skip

    def handle(self, request: dict[str, Any]) -> Reply:
        self._n_answers += 1
        return Reply({"re": request["id"], "ok": True}, changed=True)

    def look_ahead(self, wanted: Callable[[], bool]) -> None:
        """Nothing is to be worked out."""

    def moved(self) -> bool:
        return False

    def close(self) -> None:
        """Nothing is open."""


def cobras(n_rows: int) -> Desk:
    """COBRAS on ten blobs in ten dimensions, in memory."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (10, 10))[rng.integers(0, 10, n_rows)] + rng.normal(0, 0.08, (n_rows, 10))
    names = [f"x{j}" for j in range(10)]
    return Desk(Session(X, COBRAS(random_state=0)), X, of_numbers(X, names), title="blobs")


# ---------------------------------------------------------------- the clock
@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise SystemExit("chromium is missing: apt-get install -y chromium")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()


def times(browser: Any, begin: Callable[[], Any], answers: int) -> list[float]:
    """Milliseconds of each answer, the first two left out."""
    server = Served(begin)
    try:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(180_000)
        page.goto(server.address())
        page.wait_for_selector(".lw-cluster")
        taken = []
        for _ in range(answers + 2):
            page.wait_for_function(IDLE)
            page.wait_for_timeout(150)
            taken.append(float(page.evaluate(PRESS)))
        page.close()
        return taken[2:]
    finally:
        server.close()


def row_of(desk: str, n_rows: int, taken: list[float]) -> dict[str, Any]:
    return {
        "desk": desk, "rows": n_rows, "answers": len(taken), "median_ms": f"{median(taken):.0f}",
        "slowest_ms": f"{max(taken):.0f}", "aim_ms": AIMS.get(n_rows, "") if desk == "stub" else "",
    }  # fmt: skip


def measure(rows: list[int], answers: int) -> Iterator[dict[str, Any]]:
    with chromium() as browser:
        for n_rows in rows:
            yield row_of("stub", n_rows, times(browser, lambda n=n_rows: Stub(n), answers))
        for n_rows in rows:
            if 0 < n_rows <= MOST_FOR_COBRAS:
                yield row_of("cobras", n_rows, times(browser, lambda n=n_rows: cobras(n), answers))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=list(AIMS))
    parser.add_argument("--answers", type=int, default=9)
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR")
    options = parser.parse_args()
    folder = options.out / "speed_page"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "page.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        print("".join(f"{name:>12}" for name in FIELDS))
        for row in measure(options.rows, options.answers):
            writer.writerow(row)
            file.flush()
            print("".join(f"{row[name]:>12}" for name in FIELDS), flush=True)


if __name__ == "__main__":
    main()
