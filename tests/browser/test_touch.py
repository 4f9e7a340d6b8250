"""On a phone: fingers answer, open a row, move and zoom the plot, and scroll the page."""

from __future__ import annotations

import numpy as np
import pytest

from browser.pixels import positions
from browser.presenters import QUESTION, blobs, read

pytestmark = pytest.mark.slow

PHONE = {
    "viewport": {"width": 390, "height": 760},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 2,
}
SHOWN = "() => document.querySelector('.lw-points').toDataURL()"


@pytest.fixture
def phone(served, browse):
    page = browse(served(blobs()), **PHONE)
    read(page)
    return page


def touch(page, *moves):
    """Fingers go down, move and leave; each of `moves` says where they are."""
    session = page.context.new_cdp_session(page)
    for number, fingers in enumerate([*moves, []]):
        kind = "touchStart" if number == 0 else "touchMove" if fingers else "touchEnd"
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(fingers)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_timeout(30)
    session.detach()


def middle(page):
    page.locator(".lw-scatter").scroll_into_view_if_needed()
    page.wait_for_timeout(200)
    box = page.locator(".lw-scatter").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_tap_answers_once(phone):
    before = phone.evaluate(QUESTION)
    read(phone)
    phone.get_by_role("button", name="Different", exact=True).tap()
    phone.wait_for_function(f"before => {QUESTION} !== before", arg=before)
    read(phone)
    assert phone.evaluate(QUESTION) == f"Question {int(before.split()[1]) + 1}"


def test_two_taps_at_once_answer_once(phone):
    before = int(phone.evaluate(QUESTION).split()[1])
    phone.evaluate("""() => { const button = document.querySelector(".lw-unsure");
        const again = () => button.click();  // the next question is there this moment
        document.querySelector(".linkwise").addEventListener("linkwise:drawn", again, {once: true}); }""")
    phone.get_by_role("button", name="Not sure", exact=True).tap()
    phone.wait_for_selector(".lw-notice[data-tone=warn]")
    for _ in range(3):
        read(phone)
    assert phone.evaluate(QUESTION) == f"Question {before + 1}"


def test_a_tap_opens_a_row(served, browse):
    server = served(blobs())
    phone = browse(server, **PHONE)
    middle(phone)
    box = phone.locator(".lw-scatter").bounding_box()
    places = np.frombuffer(server.hub.presenter.places(), "<f4").reshape(-1, 2)
    x, y = positions(places, box["width"], box["height"])[0] + [box["x"], box["y"]]
    phone.touchscreen.tap(x, y)
    phone.wait_for_selector("dialog")
    assert phone.locator("dialog h2").inner_text().startswith("row ")
    assert phone.locator("dialog").evaluate("box => box.scrollWidth <= box.clientWidth")


def test_a_finger_moves_the_plot_and_two_zoom_it(phone):
    x, y = middle(phone)
    whole = phone.evaluate(SHOWN)
    touch(phone, [(x, y)], [(x + 20, y)], [(x + 60, y)])
    moved = phone.evaluate(SHOWN)
    assert moved != whole
    touch(phone, [(x - 20, y), (x + 20, y)], [(x - 50, y), (x + 50, y)], [(x - 90, y), (x + 90, y)])
    assert phone.evaluate(SHOWN) not in (whole, moved)
    phone.get_by_role("button", name="Fit all rows").tap()
    phone.wait_for_timeout(100)
    assert phone.evaluate(SHOWN) == whole
    assert phone.locator("dialog").count() == 0  # neither was a tap


def test_a_finger_across_the_plot_scrolls_the_page(phone):
    x, y = middle(phone)
    before = phone.evaluate("() => scrollY")
    touch(phone, [(x, y)], *([(x, y - 15 * step)] for step in range(1, 9)))
    phone.wait_for_timeout(200)
    assert phone.evaluate("() => scrollY") > before + 50
