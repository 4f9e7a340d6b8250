"""Make the pictures of the page for the README and the guide, in docs/images.

    python docs/screenshots.py

Needs chromium and ``pip install "linkwise[app,dev]"``. The session is real: a browser answers the questions
of ``linkwise serve`` about the wines that come with scikit-learn, and is photographed on the way.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from linkwise import datasets

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
FLAGS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage")
DESKTOP = {"width": 1280, "height": 800}
ANIMALS = {
    name: kind
    for kind, names in {
        "mammal": "wolf horse mouse bat squirrel dolphin seal whale",
        "bird": "sparrow eagle owl duck penguin ostrich",
        "fish": "shark trout herring eel",
        "insect": "bee wasp beetle ant butterfly",
    }.items()
    for name in names.split()
}
COUNT = "document.querySelector('.lw-eyebrow').textContent"


@contextmanager
def served(
    folder: Path, *options: str, command: tuple[str, ...] = ("serve",), home: Path | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command in a folder that serves a page, and the address that it prints."""
    words = [sys.executable, "-m", "linkwise", *command, *options, "--no-browser"]
    mine = {} if home is None else {"HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    with subprocess.Popen(
        words,
        cwd=folder,
        env={**os.environ, **mine},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = next(
            found[0] for line in process.stdout if (found := re.search(r"http://\S+token=\S+", line))
        )
        yield process, address
        process.kill()


def wine(folder: Path) -> tuple[Path, list[int]]:
    """Wine as a table, and the class of each row."""
    data = datasets.load("wine")
    lines = [",".join(("wine", *data.names))]
    lines += [f"wine {row},{','.join(f'{value:g}' for value in values)}" for row, values in enumerate(data.X)]
    file = folder / "wine.csv"
    file.write_text("\n".join(lines) + "\n")
    return file, data.y.tolist()


def answer(page: Page, classes: list[int], times: int, wrong: tuple[int, ...] = ()) -> None:
    """Answer by the classes, with the keys; `wrong` has the places of wrong answers."""
    for place in range(times):
        first, second = re.findall(r"wine (\d+)", page.locator(".lw-items").inner_text())[:2]
        before = page.evaluate(COUNT)
        page.wait_for_timeout(200)  # a key before one has read is not taken
        is_same = (classes[int(first)] == classes[int(second)]) != (place in wrong)
        page.keyboard.press("y" if is_same else "n")
        page.wait_for_function(f"before => {COUNT} !== before", arg=before)


def opened(browser: Browser, address: str, size: dict[str, int], **options: Any) -> Page:
    """A page that shows its first question, after the columns."""
    page = browser.new_context(viewport=size, device_scale_factor=2, **options).new_page()  # type: ignore[arg-type]
    page.goto(address)
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector("dialog", state="detached")
    return page


def photograph(page: Page, name: str) -> None:
    """Keep what is seen."""
    page.wait_for_timeout(400)
    with Image.open(BytesIO(page.screenshot())) as seen:  # a palette makes it a third as large
        palette = seen.convert("RGB").quantize(32, kmeans=5)
        palette.save(IMAGES / f"{name}.png", optimize=True)
    print(f"docs/images/{name}.png")


def contradict(page: Page) -> None:
    """Turn answers round in the history until one is refused."""
    page.keyboard.press("h")
    lines = page.locator(".lw-history > li")
    lines.first.wait_for()
    for line in lines.all():
        now = line.locator("[aria-pressed=true]").inner_text()
        line.locator("button", has_text="Different" if now == "Same" else "Same").click()
        page.wait_for_timeout(600)
        if page.locator(".lw-chain").count():
            return
    raise SystemExit("no answer contradicts the others")


def pictures(browser: Browser, folder: Path) -> None:
    """Most pictures, in the order in which a session comes to them."""
    file, classes = wine(folder)
    with served(folder, file.name, "--id", "wine", "--budget", "24") as (_, address):
        page = opened(browser, address, DESKTOP)
        answer(page, classes, 14)
        page.wait_for_selector(".lw-axes >> text=No axes:")
        photograph(page, "page")
        page.get_by_role("button", name="Rows of").first.click()
        page.locator(".lw-member > *").first.wait_for()
        for key in (" ", "ArrowDown", " "):
            page.keyboard.press(key)
        photograph(page, "page-rows")
        page.keyboard.press("Escape")


def picture_columns(browser: Browser, folder: Path) -> None:
    """The columns before the first answer."""
    shutil.copy(DOCS / "customers.csv", folder)
    with served(folder, "customers.csv") as (_, address):
        page = browser.new_context(viewport=DESKTOP, device_scale_factor=2).new_page()  # type: ignore[arg-type]
        page.goto(address)
        page.locator(".lw-table tbody tr").first.wait_for()
        photograph(page, "page-columns")


def picture_sorting(browser: Browser, folder: Path) -> None:
    """The second screen of animals, half sorted."""
    shutil.copy(DOCS / "animals.csv", folder)
    with served(folder, "animals.csv", "--id", "animal") as (_, address):
        page = opened(browser, address, DESKTOP)
        page.get_by_role("button", name="Sort several").click()
        names = [node.inner_text() for node in sorted_cards(page)]
        before = page.evaluate(COUNT)
        sort_animals(page, len(names))
        page.keyboard.press("Enter")
        page.wait_for_function(f"before => {COUNT} !== before", arg=before)
        page.wait_for_function(
            "before => !document.body.innerText.includes(before)", arg="Every card has a place"
        )
        sort_animals(page, len(sorted_cards(page)) - 2)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.evaluate("() => scrollTo(0, 0)")
        photograph(page, "page-sorting")


def sorted_cards(page: Page) -> list[Any]:
    """The cards without a place."""
    page.wait_for_selector(".lw-loose [data-card]")
    return page.locator(".lw-loose .lw-card-name").all()


def sort_animals(page: Page, n: int) -> None:
    """Put the next cards into the piles of their classes, with the keys."""
    for _ in range(n):
        kind = ANIMALS[page.locator("[data-current] .lw-card-name").inner_text()]
        piles = page.locator(".lw-pile:not(.lw-target)").all()
        kinds = [ANIMALS[pile.locator("strong, .lw-card-name").first.inner_text()] for pile in piles]
        page.keyboard.press(str(kinds.index(kind) + 1) if kind in kinds else "n")
        page.wait_for_timeout(50)


def picture_start(browser: Browser, folder: Path) -> None:
    """The page on which a person chooses: a session with answers, files, and the demos."""
    here = folder / "my-data"
    here.mkdir()
    file, classes = wine(here)
    with served(here, file.name, "--id", "wine", home=folder) as (_, address):
        answer(opened(browser, address, DESKTOP), classes, 24)
    for name in ("animals.csv", "customers.csv"):
        shutil.copy(DOCS / name, here)
    with served(here, command=(), home=folder) as (_, address):
        page = browser.new_context(viewport=DESKTOP, device_scale_factor=2).new_page()  # type: ignore[arg-type]
        page.goto(address)
        page.wait_for_selector(".lw-start:visible")
        photograph(page, "page-start")


def picture_contradiction(browser: Browser, folder: Path) -> None:
    """Turn an answer round where all answers are right, and photograph what speaks against it."""
    file, classes = wine(folder)
    options = ("--id", "wine", "--error-rate", "0", "--session", "certain.linkwise")
    with served(folder, file.name, *options) as (_, address):
        page = opened(browser, address, DESKTOP)
        answer(page, classes, 24)
        contradict(page)
        photograph(page, "page-contradiction")


def picture_suspects(browser: Browser, folder: Path) -> None:
    """Answer twice wrongly, and photograph the list of answers that are probably wrong."""
    file, classes = wine(folder)
    options = ("--id", "wine", "--session", "doubtful.linkwise")
    with served(folder, file.name, *options) as (_, address):
        page = opened(browser, address, DESKTOP)
        answer(page, classes, 30, wrong=(9, 17))
        page.get_by_role("button", name="probably wrong").click()
        page.locator(".lw-suspects > li").first.wait_for()
        photograph(page, "page-suspects")


def main() -> None:
    """Start a browser, and photograph."""
    names = ("chromium", "chromium-browser", "chromium-headless-shell")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        raise SystemExit("chromium is missing: apt-get install -y chromium")
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as started, tempfile.TemporaryDirectory() as folder:
        browser = started.chromium.launch(executable_path=chromium, args=list(FLAGS))
        pictures(browser, Path(folder))
        picture_sorting(browser, Path(folder))
        picture_start(browser, Path(folder))
        picture_columns(browser, Path(folder))
        picture_contradiction(browser, Path(folder))
        picture_suspects(browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
