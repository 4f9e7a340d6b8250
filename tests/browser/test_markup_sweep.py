"""Markup in every text that people, programs and files bring: the page shows it as text everywhere."""

import threading

import numpy as np
import polars as pl
import pytest
from bench.served import Served

from browser.presenters import READ_MS, shown_as
from linkwise.data.encoding.matrix import encode
from linkwise.data.readers import from_frame
from linkwise.data.show.items import Items
from linkwise.errors import DataError
from linkwise.learn.kin.kin import KIN
from linkwise.session.session import Session
from patience import patience

pytestmark = pytest.mark.slow

EVIL = "<x-evil>\"'&amp;<img src=x onerror='window.hit=1'><script>window.hit=2</script></x-evil>"
PEOPLE = (f"anna {EVIL}", f"ben {EVIL}")
KIND = np.arange(24) % 3
FOUND = """() => [
  document.querySelectorAll("x-evil, img[src='x'], script:not([src]), [onerror]").length,
  window.hit ?? null,
]"""


class Link:
    """The address of one person."""

    def __init__(self, address):
        self.address = lambda: address


@pytest.fixture
def page(browse):
    X = np.array([[0, 0], [3, 0], [0, 3]])[KIND] + np.random.default_rng(0).normal(0, 0.2, (24, 2))
    session = Session(X, KIN(random_state=0), error_rate=None)
    for person, n_wrong in ((PEOPLE[0], 0), (PEOPLE[1], 2), (f"judge {EVIL}", 1)):
        for row in range(1, 12):
            is_same = (KIND[0] == KIND[row]) != (row <= n_wrong)
            session.add(0, row, "must-link" if is_same else "cannot-link", source=person)
    for row in range(3):
        session.set_name(row, f"{EVIL} {row}")
    session.set_guidelines(f"Guidelines {EVIL}")
    session.set_examples([(12, 15, True, f"reason {EVIL}"), (12, 16, False, EVIL)])
    items = Items("record", lambda row: {f"column {EVIL}": f"{EVIL} {row}"}, lambda _: None)
    letters = [f"{kind} {EVIL}" for kind in KIND]
    table = from_frame(pl.DataFrame({f"column {EVIL}": X[:, 0], f"letter {EVIL}": letters}))
    more = {
        "columns": encode(table, scale="none", categories="codes"),
        "title": EVIL,
        "name": lambda row: f"row {row} {EVIL}",
        "places": X,
        "notes": [EVIL],
    }
    served = Served(lambda: shown_as(session, X, items, overlap=1.0, **more), people=PEOPLE)
    served.wait()
    addresses = served.addresses()
    other = browse(Link(addresses[PEOPLE[1]]))
    assert other.evaluate(FOUND) == [0, None]
    yield browse(Link(addresses[PEOPLE[0]]))
    served.close()


def check(page, where, text=EVIL):
    """Nothing has become an element, and the text is there."""
    page.locator(where, has_text=text).first.wait_for()
    assert page.evaluate(FOUND) == [0, None]


def shut(page):
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


def test_all_texts_stay_texts(page):
    page.get_by_role("dialog", name="Guidelines").locator("li").first.wait_for()
    check(page, "dialog")
    assert page.locator("dialog").inner_text().count(EVIL) >= 5
    shut(page)
    page.locator(".lw-team", has_text="ben").wait_for()
    for where in (".lw-title", ".lw-items", ".lw-team"):
        check(page, where)
    assert EVIL in page.locator(".lw-name").first.input_value()
    assert page.title() == f"{EVIL} · linkwise"
    page.keyboard.press("a")
    page.get_by_role("textbox", name="Note on your next answer").fill(f"note {EVIL}")
    page.keyboard.press("Enter")
    page.wait_for_timeout(READ_MS)
    page.keyboard.press("y")
    page.locator(".lw-team", has_text="You: 1 ").wait_for()
    for key in ("w", "g"):
        page.keyboard.press(key)
        page.wait_for_timeout(50)
        assert page.evaluate(FOUND) == [0, None]
    for key, shown in (("h", ".lw-history .lw-note-text"), ("t", ".lw-report li"), ("?", ".lw-keys")):
        page.keyboard.press(key)
        page.locator(f"dialog {shown}").first.wait_for()
        check(page, "dialog")
        shut(page)
    page.keyboard.press("r")
    page.get_by_role("dialog", name="Review").locator("h3, li, .lw-items").first.wait_for()
    check(page, "dialog")
    shut(page)
    page.get_by_role("button", name="Show rules").click()
    page.locator(".lw-rules li").first.wait_for()
    check(page, ".lw-rules", "<x-evil>")  # a rule puts names in quotes


def test_an_error_is_shown_as_text(chromium):
    may = threading.Event()

    def begin():
        assert may.wait(patience())
        raise DataError(f"{EVIL} has no rows.")

    context, served = chromium.new_context(), Served(begin)
    try:
        page = context.new_page()
        page.goto(served.address())
        page.wait_for_selector(".lw-placeholder")
        may.set()
        check(page, ".lw-failed")
    finally:
        may.set()
        context.close()
        served.close()
