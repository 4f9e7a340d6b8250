"""The rows of a cluster: how they are listed, selected by keys and pointer, moved and split."""

from __future__ import annotations

import numpy as np
import pytest

from browser.presenters import Bundled, shown_as
from linkwise.data.show.items import image_items, series_items, text_items, value_items
from linkwise.learn.kin.kin import KIN
from linkwise.session.session import Session

pytestmark = pytest.mark.slow

PLACES = np.random.default_rng(0).normal(size=(400, 2)) * 0.1
KINDS = {
    "image": lambda n: image_items(np.arange(n * 64, dtype=np.uint8).reshape(n, 8, 8)),
    "series": lambda n: series_items(np.sin(np.arange(n * 20.0)).reshape(n, 20)),
    "text": lambda n: text_items(
        [f"number {row} of many, a long text without any meaning " * 3 for row in range(n)]
    ),
    "record": lambda n: value_items(PLACES[:n], ("x", "y")),
}


def open_rows(page, at=0):
    page.locator(".lw-cluster").nth(at).get_by_role("button", name="Rows of").click()
    page.wait_for_selector(".lw-member > *")
    return page.locator(".lw-members-dialog")


def of_kind(kind, n=400):
    X = np.vstack([PLACES, PLACES + 50])[: 2 * n : 2] if n < 400 else np.r_[PLACES[:200], PLACES[200:] + 50]
    items = KINDS[kind](len(X))
    return lambda: shown_as(Session(X, KIN(random_state=0)), X, items)


@pytest.mark.parametrize(
    ("kind", "width"),
    [
        pytest.param(kind, width, marks=() if (at + (width < 400)) % 2 else pytest.mark.slow(nightly=True))
        for at, kind in enumerate(KINDS)
        for width in (1280, 390)
    ],
)
def test_only_what_is_in_sight_is_drawn(served, browse, kind, width):
    page = browse(served(of_kind(kind)))
    page.set_viewport_size({"width": width, "height": 800})
    box = open_rows(page)
    n_drawn = page.locator(".lw-member").count()
    total = int(page.locator(".lw-member").first.get_attribute("aria-setsize"))
    assert n_drawn < total
    page.locator(".lw-members").press("End")
    last = page.locator(f".lw-member[aria-posinset='{total}']")
    last.locator(".lw-member-name").wait_for()
    assert page.locator(".lw-members").get_attribute("aria-activedescendant") == last.get_attribute("id")
    assert page.locator(".lw-member").count() < total
    assert page.locator(".lw-members").get_attribute("data-kind") == kind
    assert box.evaluate("node => node.scrollWidth <= node.clientWidth + 1")


def test_rows_are_selected_by_keys_and_pointer_and_moved_back(served, browse):
    bundled = Bundled("wine", answers=12)
    page = browse(served(bundled))
    before = bundled.session.labels
    box = open_rows(page)
    members = page.locator(".lw-members")
    assert members.evaluate("node => document.activeElement === node")
    assert box.get_by_role("button", name="New cluster").get_attribute("aria-disabled") == "true"
    page.keyboard.press("y")  # answers nothing
    members.press(" ")
    members.press("Shift+ArrowDown")
    members.press("Shift+ArrowDown")
    selected = page.locator(".lw-member[aria-selected=true]")
    assert selected.count() == 3
    page.locator(".lw-member").nth(5).click()
    assert "4 rows selected." in box.inner_text()
    page.locator(".lw-member").nth(5).click()
    members.press("Control+a")
    assert selected.count() == page.locator(".lw-member").count()
    members.press("Home")
    page.locator(".lw-member").nth(0).click()
    assert bundled.n_answers == 12
    box.get_by_role("button", name="New cluster").press("Enter")
    page.wait_for_function("() => document.querySelector('.lw-members-dialog .lw-notice').textContent")
    assert (
        "cluster of their own" in box.locator(".lw-notice").inner_text() or "Not stored" in box.inner_text()
    )
    page.keyboard.press("Escape")
    if bundled.session.labels.tolist() != before.tolist():
        page.keyboard.press("u")
        page.wait_for_function(
            "() => document.querySelector('.lw-notice').textContent.startsWith('Taken back')"
        )
    assert bundled.session.labels.tolist() == before.tolist()


def test_rows_go_to_a_cluster_that_is_chosen(served, browse):
    bundled = Bundled("iris", answers=12)
    page = browse(served(bundled))
    box = open_rows(page)
    events = len(bundled.session.events)
    page.locator(".lw-member").first.click()
    box.get_by_role("button", name="Move to…").click()
    page.locator(".lw-choices button").first.click()
    page.wait_for_function("() => document.querySelector('.lw-members-dialog .lw-notice').textContent")
    told = box.locator(".lw-notice").inner_text()
    stored = bundled.session.events[events:]
    assert ("Saved: 1 row belongs to" in told) == (len(stored) == 1), told
    assert all(event.kind == "move" for event in stored)


def test_a_filter_and_a_row_that_is_opened(served, browse):
    page = browse(served(of_kind("text")))
    box = open_rows(page)
    first = page.locator(".lw-member .lw-member-name").first.inner_text()
    field = box.get_by_role("searchbox")
    field.fill(first)
    page.wait_for_function("() => document.querySelectorAll('.lw-member').length === 1")
    page.locator(".lw-members").press("Enter")
    page.get_by_role("dialog", name=first).wait_for()
    page.keyboard.press("Escape")
    field.press("Escape")
    page.wait_for_function("() => document.querySelectorAll('.lw-member').length > 1")
    assert box.is_visible()


def test_both_parts_are_seen_before_a_cluster_is_split(served, browse):
    bundled = Bundled("wine", answers=4)
    page = browse(served(bundled))
    open_rows(page)
    page.get_by_role("button", name="Split…").click()
    page.wait_for_selector(".lw-halves .lw-cards li")
    parts = page.locator(".lw-halves section")
    assert parts.count() == 2
    names = [parts.nth(at).locator(".lw-member-name").first.inner_text() for at in range(2)]
    page.get_by_role("button", name="Split", exact=True).click()
    page.wait_for_function("() => document.querySelector('.lw-notice').textContent.includes('is split')")
    rows = [int(name.split()[-1]) for name in names]
    assert bundled.session.labels[rows[0]] != bundled.session.labels[rows[1]]
    event = bundled.session.events[-1]
    assert (event.kind, {event.first, event.second}, event.answer) == ("add", {*rows}, "no")
