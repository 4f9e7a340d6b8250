"""Every state of the page is looked at by axe-core, in light and in dark: it may find nothing.

What depends on the width of the window is looked at on a large screen and on a phone, too.
"""

from __future__ import annotations

import importlib.util
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.served import Served

from browser.layout import MISFITS
from browser.presenters import READ_MS, Bundled, crowd, doubtful, press_early, read, shown_as
from linkwise.app.cli.commands.start import prepare_start
from linkwise.data.show.items import image_items, series_items, text_items, value_items
from linkwise.errors import DataError
from linkwise.learn.cobras.cobras import COBRAS
from linkwise.session.session import Session
from patience import patience
from session.session_examples import OF_ANOTHER_PILE, misplace

AXE = importlib.util.find_spec("axe_playwright_python")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice", "experimental"]
SCHEMES = {"light": TAGS, "dark": ["color-contrast"]}  # in the dark all but the colours is as in the light
# what is looked at beside the width of the window; test_layout.py looks at more widths
WIDTHS: dict[int, list[str]] = {1440: [], 390: ["target-size", "scrollable-region-focusable"]}
# behind a dialog nothing can be reached
RUN = """(rules) => axe.run(
  document.querySelector("dialog[open]") || document, { resultTypes: ["violations"], runOnly: rules },
).then((found) => found.violations.flatMap((rule) => rule.nodes.map((node) =>
  `${rule.id}: ${node.html.slice(0, 160)} ` +
  [...node.any, ...node.all, ...node.none].map((check) => check.message).join("; "))))"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(AXE is None, reason='install it: pip install "linkwise[dev]"'),
]


class Look:
    """What axe-core finds, state by state."""

    def __init__(self):
        self.script = Path(AXE.submodule_search_locations[0], "axe.min.js").read_text(encoding="utf-8")
        self.wrong = []

    def __call__(self, page, state):
        if not page.evaluate("() => 'axe' in window"):
            page.evaluate(self.script)
        for scheme, rules in SCHEMES.items():
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            self.wrong += [f"{state}, {scheme}: {wrong}" for wrong in page.evaluate(RUN, rules)]
        size = page.viewport_size
        for width, rules in WIDTHS.items():
            page.set_viewport_size({**size, "width": width})
            found = page.evaluate(MISFITS)
            found += page.evaluate(RUN, rules) if rules else []
            self.wrong += [f"{state}, {width} pixels: {wrong}" for wrong in found]
        page.set_viewport_size(size)


@pytest.fixture
def look():
    found = Look()
    yield found
    assert not found.wrong, "\n".join(found.wrong)


def shut(page):
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


def test_the_start_page(browse, look, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name in ("wine", "a file with a long name that goes on and on, and on " * 3):
        with Session([[0.0], [1.0], [8.0]], COBRAS(random_state=0), source={"file": "none.csv"}) as session:
            session.save(tmp_path / f"{name}.linkwise")
    (tmp_path / "fruit.csv").touch()
    server = Served(prepare_start(tmp_path).begin)
    page = browse(server, ready=".lw-start:visible")
    assert page.get_by_text("Its data file is missing.").count() == 2
    look(page, "start")
    page.get_by_label("Path of a file or a folder").fill("none.csv")
    page.keyboard.press("Enter")
    page.wait_for_selector(".lw-start .lw-notice:visible")
    look(page, "start, and a file that is not there")
    server.close()


def test_a_session_from_its_first_question_to_its_end(served, browse, look):
    page = browse(served(Bundled("wine", answers=12, budget=14)))
    look(page, "question")
    page.keyboard.press("w")
    page.keyboard.press("g")
    look(page, "why and guess")
    page.keyboard.press("a")
    page.keyboard.type("a note")
    look(page, "a note")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.wait_for_selector("dialog")
    look(page, "help")
    page.evaluate("() => document.activeElement.blur()")
    look(page, "help without the focus")
    shut(page)
    page.keyboard.press("h")
    page.wait_for_selector(".lw-history li")
    look(page, "history")
    page.get_by_role("button", name="Add a note: ").first.click()
    page.locator("dialog textarea").fill("a later note")
    look(page, "a note on an earlier answer")
    page.get_by_role("button", name="Save the note").click()
    page.wait_for_selector(".lw-history .lw-note-text")
    look(page, "history with a note")
    shut(page)
    page.keyboard.press("e")
    page.wait_for_selector(".lw-results .lw-marking")
    look(page, "results")
    shut(page)
    page.get_by_role("button", name="Show rules").click()
    page.wait_for_selector(".lw-rules li")
    page.locator(".lw-swatch").first.click()
    page.locator(".lw-name").first.fill("Barolo")
    page.keyboard.press("Enter")
    page.wait_for_selector(".lw-swatch[aria-pressed=true]")
    look(page, "rules, a name, one cluster alone in the plot")
    page.get_by_role("button", name="Rows of").first.click()
    page.wait_for_selector(".lw-member > *")
    page.keyboard.press(" ")
    look(page, "the rows of a cluster")
    page.get_by_role("button", name="Split…").click()
    page.wait_for_selector("dialog .lw-cards li")
    look(page, "split a cluster")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Done…").click()
    page.wait_for_selector("dialog >> text=is done")
    look(page, "done?")
    page.keyboard.press("Escape")
    shut(page)
    page.get_by_role("button", name="Merge").first.press("Enter")
    page.wait_for_selector("dialog .lw-choices")
    look(page, "merge with")
    shut(page)
    for place, button in enumerate(("Select as first", "Select as second")):
        page.locator(".lw-link").nth(place).click()
        page.wait_for_selector("dialog")
        if not place:
            look(page, "an item")
        page.get_by_role("button", name=button).click()
    page.get_by_role("button", name="Explain their clusters").click()
    page.wait_for_selector(".lw-map .lw-explanation:visible")
    look(page, "two rows chosen, and why")
    page.get_by_role("button", name="Clear").click()
    page.wait_for_selector(".lw-axes >> text=No axes:")  # without being asked
    look(page, "a map by neighbours")
    read(page)
    page.keyboard.press("l")
    page.wait_for_selector(".lw-notice:visible")
    look(page, "a question for later")
    press_early(page, "s")
    page.wait_for_selector(".lw-notice[data-tone=warn]")
    look(page, "a key that came too soon")
    read(page)
    page.keyboard.press("s")
    page.wait_for_selector(".lw-finish:visible")
    look(page, "end")
    page.set_viewport_size({"width": 360, "height": 740})
    look(page, "end on a phone")


@pytest.mark.slow(nightly=True)
def test_pictures_texts_curves_and_a_contradiction(served, browse, look):
    X = np.array([[0, 0], [0, 1], [9, 9], [9, 8], [9, 7]], dtype=float)
    curves = np.where(X[:, :1] > 5, np.nan, X[:, :1]) + np.arange(12)
    kinds = {
        "pictures": image_items(np.arange(5 * 64).reshape(5, 8, 8)),
        "texts": text_items([f"text number {n}, " * 40 for n in range(5)]),
        "texts with pictures": replace(
            text_items([f"text number {n}" for n in range(5)]),
            pixels=np.arange(5 * 64, dtype=np.uint8).reshape(5, 8, 8).__getitem__,
        ),
        "curves": series_items(curves, lambda row: {"place": "here"}),
    }
    for name, items in kinds.items():
        session = Session(X, COBRAS(random_state=0))
        session.add(0, 2, "cannot-link")
        page = browse(served(lambda session=session, items=items: shown_as(session, X, items)))
        look(page, name)
    for row, button in ((0, "Select as first"), (2, "Select as second")):
        page.get_by_role("button", name=f"row {row}", exact=True).first.click()
        page.get_by_role("button", name=button).click()
    page.get_by_role("button", name="Mark as same").click()
    page.wait_for_selector(".lw-chain")
    look(page, "contradiction")
    shut(page)
    page.locator(".lw-title").click()
    page.set_viewport_size({"width": 360, "height": 740})
    look(page, "curves on a phone")
    page.keyboard.press("u")
    page.wait_for_function("() => document.querySelector('.lw-notice').textContent.startsWith('Taken back')")
    page.keyboard.press("h")
    page.wait_for_selector(".lw-drawer .lw-soft:visible >> text=There are no answers yet")
    look(page, "empty history")


def test_rows_that_are_sorted(served, browse, look):
    page = browse(served(Bundled("wine", answers=12)))
    page.get_by_role("button", name="Sort several").click()
    page.wait_for_selector(".lw-known")
    look(page, "a screen")
    for key in "n1ns":
        page.keyboard.press(key)
    look(page, "some cards in piles")
    page.keyboard.press("Enter")
    page.wait_for_selector(".lw-notice[data-tone=warn]")
    look(page, "cards are missing")
    page.keyboard.press("m")
    page.keyboard.press("?")
    page.wait_for_selector("dialog")
    look(page, "help while sorting")
    shut(page)
    page.get_by_role("button", name="More of").first.click()
    page.wait_for_selector("dialog")
    look(page, "more of a card")
    shut(page)
    page.set_viewport_size({"width": 360, "height": 740})
    look(page, "a screen on a phone")
    page.locator(".lw-loose .lw-card-name").first.focus()
    for _ in range(page.locator(".lw-loose [data-card]").count()):
        page.keyboard.press("s")
    page.wait_for_function("() => document.querySelector('.lw-loose').hidden")
    look(page, "every card has a place")
    page.set_viewport_size({"width": 1200, "height": 900})
    page.wait_for_timeout(READ_MS)
    page.get_by_role("button", name="Done").click()
    page.wait_for_selector(".lw-loose [data-card]")
    page.keyboard.press("h")
    page.get_by_role("button", name="Sort again: ").click()
    page.wait_for_selector(".lw-sorting-bar button:text('Cancel'):visible")
    look(page, "an earlier screen that is sorted again")


@pytest.mark.slow(nightly=True)
def test_pictures_texts_and_curves_that_are_sorted(served, browse, look):
    X = np.arange(12.0)[:, None] * [1, 2]
    kinds = {
        "pictures": image_items(np.arange(12 * 64).reshape(12, 8, 8)),
        "texts": text_items([f"text number {n}, " * (40 if n % 2 else 1) for n in range(12)]),
        "texts with pictures": replace(
            text_items([f"text number {n}" for n in range(12)]),
            pixels=np.arange(12 * 64, dtype=np.uint8).reshape(12, 8, 8).__getitem__,
        ),
        "curves": series_items(X[:, :1] + np.arange(12), lambda row: {"place": "here"}),
    }
    for name, items in kinds.items():
        session = Session(X, COBRAS(random_state=0))
        session.add(0, 11, "cannot-link")
        page = browse(served(lambda session=session, items=items: shown_as(session, X, items)))
        page.get_by_role("button", name="Sort several").click()
        page.wait_for_selector(".lw-loose [data-card]")
        look(page, f"{name} to sort")
        for key in "n1s":
            page.keyboard.press(key)
        look(page, f"{name} in piles")
        page.set_viewport_size({"width": 360, "height": 740})
        look(page, f"{name} in piles on a phone")


@pytest.mark.slow(nightly=True)
def test_answers_that_are_probably_wrong(served, browse, look):
    session = doubtful()
    for number in (1, 2):
        session.set_sure(number)
    page = browse(served(lambda: shown_as(session, session.X, value_items(session.X, ("x", "y")))))
    look(page, "a number of suspects")
    page.get_by_role("button", name="2 answers are probably wrong.").click()
    page.wait_for_selector(".lw-suspects li")
    look(page, "suspects")
    page.get_by_role("button", name="I am sure (row 0 and row 2: different)").click()
    page.wait_for_selector("dialog .lw-notice:visible")
    look(page, "suspects, and a confirmation that was not stored")
    page.set_viewport_size({"width": 360, "height": 740})
    look(page, "suspects on a phone")


@pytest.mark.slow(nightly=True)
def test_pairs_that_need_a_review(served, browse, look):
    session = doubtful()
    for row in (0, 20):
        session.add(row, row + 2, "must-link", source="anna")
    page = browse(served(lambda: shown_as(session, session.X, value_items(session.X, ("x", "y")))))
    look(page, "a number of pairs to review")
    page.keyboard.press("?")
    page.wait_for_selector("dialog >> text=Review: decide pairs")
    shut(page)
    page.keyboard.press("r")
    page.wait_for_selector(".lw-opinions li")
    look(page, "a pair to review, and another one")
    page.set_viewport_size({"width": 360, "height": 740})
    look(page, "a review on a phone")
    for n_left in (1, 0):
        read(page)
        page.keyboard.press("s")
        page.wait_for_function(
            "n => document.querySelectorAll('dialog .lw-choices button').length < 2 &&"
            " document.querySelectorAll('dialog .lw-opinions li:is(:not([hidden] *))').length > 0 === n > 0",
            arg=n_left,
        )
    look(page, "no pair to review any more")
    session = misplace(OF_ANOTHER_PILE)
    page = browse(served(lambda: shown_as(session, session.X, value_items(session.X, ("x", "y")))))
    page.keyboard.press("r")
    page.wait_for_selector("dialog .lw-pile")
    look(page, "a card to review")
    shut(page)
    page.get_by_role("button", name="1 answer is probably wrong.").click()
    page.wait_for_selector(".lw-suspects li")
    look(page, "a card among the suspects")


@pytest.mark.slow(nightly=True)
def test_many_clusters(served, browse, look):
    page = browse(served(crowd(20)))  # axe-core compares every control with every other
    assert page.locator(".lw-legend").is_visible()
    assert page.locator(".lw-clusters").evaluate("list => list.scrollHeight > list.clientHeight")
    look(page, "many clusters")
    page.get_by_label("Search clusters").fill("row 7")
    page.wait_for_selector(".lw-hits:visible")
    page.locator(".lw-swatch").first.click()
    look(page, "a search, and one cluster alone")
    page.get_by_role("button", name="Merge").first.press("Enter")
    page.wait_for_selector("dialog .lw-choices")
    look(page, "merge with one of many")
    page.locator("dialog").get_by_label("Search clusters").fill("row 8")
    page.wait_for_function("() => document.querySelectorAll('.lw-choices button').length === 1")
    look(page, "a search in a dialog")
    page.keyboard.press("Escape")
    assert page.locator("dialog .lw-choices button").count() == 19  # it clears the field, and then closes
    shut(page)
    page.get_by_label("Search clusters").fill("")
    one, other = (page.locator(".lw-size").nth(n).bounding_box() for n in (0, 1))
    page.mouse.move(one["x"], one["y"])
    page.mouse.down()
    page.mouse.move(other["x"], other["y"], steps=4)
    page.mouse.up()
    page.wait_for_selector("dialog")
    look(page, "the question whether to merge")
    shut(page)
    page.set_viewport_size({"width": 360, "height": 740})
    look(page, "many clusters on a phone")


class Waits:
    """A presenter that begins when it is let; or cannot."""

    def __init__(self):
        self.may, self.broken = threading.Event(), False
        self.begin = Bundled("iris", answers=1)

    def __call__(self):
        assert self.may.wait(patience())
        if self.broken:
            raise DataError("There is no column “income”; columns are “age” and “height”.")
        return self.begin()


@pytest.fixture
def visit(chromium):
    """A page of a browser, not yet on its way."""
    context = chromium.new_context()
    context.set_default_timeout(1000 * patience())
    yield context.new_page()
    context.close()


def test_what_stands_where_the_page_does_not(visit, look):
    """At the access, before the data are read, and without a connection."""
    begin = Waits()
    server = Served(begin, password="correct horse")
    try:
        visit.goto(f"{server.address()}host.js")
        look(visit, "before the login")
        visit.goto(server.address())
        visit.fill("#password", "wrong")
        visit.click("button")
        visit.wait_for_selector("text=not the password")
        look(visit, "wrong password")
        visit.fill("#password", "correct horse")
        visit.click("button")
        visit.wait_for_selector(".lw-placeholder")
        look(visit, "loading")
        begin.may.set()
        visit.wait_for_selector(".lw-cluster")
    finally:
        begin.may.set()
        server.close()
    visit.wait_for_selector(".lw-banner:visible")
    look(visit, "connection lost")


def test_data_that_cannot_be_read(visit, look):
    begin = Waits()
    begin.broken = True
    server = Served(begin)
    try:
        visit.goto(server.address())
        visit.wait_for_selector(".lw-placeholder")
        begin.may.set()
        visit.wait_for_selector(".lw-failed")
        look(visit, "data that cannot be read")
    finally:
        begin.may.set()
        server.close()


def test_faults_are_found(visit, look):
    wide = "<div style='width: 1000px'><button>a</button></div>"
    visit.set_content(f"<html lang='en'><title>t</title><main><h1>t</h1><input>{wide}</main></html>")
    look(visit, "faults")
    found = {wrong.partition(": <")[0] for wrong in look.wrong}
    assert "faults, light: label" in found
    assert [wrong for wrong in found if wrong.startswith("faults, 390 pixels: html")]
    assert not [wrong for wrong in found if wrong.startswith("faults, 1440 pixels")]
    look.wrong.clear()
