"""What the page says after an answer, about clusters, and about pairs that are selected."""

from __future__ import annotations

import re
from threading import Event

import numpy as np
import pytest

from browser.pixels import positions
from browser.presenters import Bundled, blobs
from patience import patience

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(served):
    return served(blobs())


# ---------------------------------------------------------------- what an answer moved
WATCH = """() => { window.outlines = [];
    const node = document.querySelector(".lw-scatter");
    const ink = () => { const canvas = document.querySelector(".lw-overlay");
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        return pixels.filter((value, at) => at % 4 === 3 && value > 128).length; };
    new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(
        () => outlines.push([node.dataset.moved ?? null, ink(), performance.now()])))
    ).observe(node, {attributeFilter: ["data-moved"]}); }"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_rows_that_moved_are_outlined_for_a_second(served, browse, motion):
    server = served(Bundled("iris", answers=8))
    page = browse(server, reduced_motion=motion)
    page.evaluate(WATCH)
    before = server.hub.presenter._content.labels
    page.get_by_role("button", name="Merge").first.press("Enter")  # a row moves when its line arrives
    page.locator("dialog .lw-choices button").first.click()
    page.locator("dialog").get_by_role("button", name="Merge", exact=True).click()
    page.wait_for_function("() => outlines.length === 2")
    moved = int((before != server.hub.presenter._content.labels).sum())
    assert moved > 0
    (shown, with_rings, begin), (gone, without, end) = page.evaluate("() => outlines")
    assert (shown, gone) == (str(moved), None)
    assert with_rings > without + 20 * moved
    assert end - begin > 500
    words = page.locator(".lw-notice").first.inner_text()
    assert re.search(rf"{moved} rows? moved.* Cluster \d+ .*Cluster \d+\.$", words)


def test_the_axes_are_named_unless_the_places_are_given(served, browse, server):
    page = browse(served(Bundled("wine")))
    words = page.locator(".lw-axes").inner_text()
    assert words.startswith("Axes: principal components of the compared columns (")
    assert words.endswith("% of the variance).")
    assert browse(server).locator(".lw-axes").is_hidden()


# ---------------------------------------------------------------- what distinguishes a cluster
def test_each_cluster_has_a_line_that_follows_the_answers(served, browse):
    server = served(Bundled("iris", answers=8))
    page = browse(server)
    page.wait_for_function("() => document.querySelector('.lw-profile').textContent")
    n_clusters = page.locator(".lw-cluster").count()
    assert page.locator(".lw-profile:visible").count() == n_clusters > 1
    assert "petal" in page.locator(".lw-profile").first.inner_text()
    assert "(others " in page.locator(".lw-profile").first.inner_text()
    before = page.locator(".lw-profile").first.inner_text()
    page.get_by_role("button", name="Merge").first.press("Enter")
    page.locator("dialog .lw-choices button").first.click()
    page.locator("dialog").get_by_role("button", name="Merge", exact=True).click()
    page.wait_for_function(
        """before => { const line = document.querySelector(".lw-profile");
        return line.textContent !== before; }""",
        arg=before,
    )


@pytest.mark.parametrize("width", [1440, 390])
def test_no_cluster_moves_when_the_lines_arrive(served, browse, width):
    """The lines come after the list, and a click on a button must not miss."""
    release = Event()

    def begin():
        presenter = Bundled("iris", answers=8)()
        profile = presenter._content.profile

        def wait(labels):
            release.wait(patience(20))
            return profile(labels)

        presenter._content.profile = wait
        return presenter

    page = browse(served(begin), viewport={"width": width, "height": 900})
    tops = "() => [...document.querySelectorAll('.lw-cluster')].map(row => row.offsetTop)"
    before = page.evaluate(tops)
    assert page.evaluate("() => document.querySelector('.lw-profile').textContent") == ""
    release.set()
    page.wait_for_function("() => document.querySelector('.lw-profile').textContent")
    assert page.evaluate(tops) == before
    assert len(before) > 2


def test_clusters_of_pictures_show_typical_ones(served, browse):
    page = browse(served(Bundled("digits", answers=6)))
    page.wait_for_selector(".lw-strip img")
    first = page.locator(".lw-cluster").first.locator(".lw-strip")
    page.wait_for_function(
        "() => document.querySelectorAll('.lw-cluster:first-child .lw-strip img').length === 5"
    )
    name = first.locator("img").first.get_attribute("alt")
    first.locator("button").first.click()
    assert name.endswith(page.locator("dialog h2").inner_text())


# ---------------------------------------------------------------- pairs
def test_ctrl_click_pairs_two_rows(server, browse):
    page = browse(server)
    places = np.frombuffer(server.hub.presenter.places(), "<f4").reshape(-1, 2)
    box = page.locator(".lw-overlay").bounding_box()
    at = positions(places, box["width"], box["height"])
    alone = np.argsort(-np.sort(((at[:, None] - at) ** 2).sum(axis=2), axis=1)[:, 1])[:3].tolist()

    def click(row, *keys):
        page.locator(".lw-overlay").click(
            position={"x": float(at[row, 0]), "y": float(at[row, 1])}, modifiers=list(keys)
        )

    chosen = page.locator(".lw-chosen p")
    click(alone[0], "Control")
    page.wait_for_function("() => !document.querySelector('.lw-chosen').hidden")
    assert chosen.inner_text() == f"First: row {alone[0]} · Second: select a point"
    click(alone[1], "Meta")
    page.get_by_role("button", name="Mark as same").wait_for()
    assert chosen.inner_text() == f"First: row {alone[0]} · Second: row {alone[1]}"
    click(alone[0], "Control")
    page.wait_for_function("() => document.querySelector('.lw-chosen p').textContent.includes('select')")
    assert chosen.inner_text() == f"First: row {alone[1]} · Second: select a point"
    assert page.locator("dialog").count() == 0
    click(alone[2])
    assert page.locator("dialog h2").inner_text() == f"row {alone[2]}"


def test_the_history_shows_the_values_of_the_rows(served, browse):
    page = browse(served(Bundled("iris", answers=3)))
    page.keyboard.press("h")
    lines = page.locator(".lw-history > li").first.locator(".lw-values > span")
    lines.first.wait_for()
    assert lines.count() == 2
    assert all("sepal length (cm) " in line.inner_text() for line in lines.all())
