"""Many clusters: they are searched, ordered, told apart and merged, with the keyboard and by fingers."""

from __future__ import annotations

import numpy as np
import pytest

from browser.presenters import Bundled, crowd, press
from browser.test_touch import PHONE, touch

pytestmark = pytest.mark.slow

NUMBERS = """() => [...document.querySelectorAll(".lw-cluster")].map((row) =>
  Number(row.querySelector(".lw-name").placeholder.split(" ")[1]))"""
COLOURS = """() => Object.fromEntries([...document.querySelectorAll(".lw-cluster")].map((row) =>
  [row.querySelector(".lw-name").placeholder.split(" ")[1],
   getComputedStyle(row.querySelector(".lw-swatch"), "::before").backgroundColor]))"""
LEGEND = "Clusters with similar colours lie near each other"
FIELD = "Search clusters by name, number or row"
LIVE = ".linkwise > [role=status]"


@pytest.fixture(scope="module")
def server(served):
    return served(crowd(60))


def find(page, text, count):
    """Type a text, and wait until the page announces how many clusters it is about."""
    page.evaluate(f"() => document.querySelector('{LIVE}').replaceChildren()")
    page.get_by_label(FIELD).fill(text)
    page.wait_for_function(
        f"words => document.querySelector('{LIVE}').textContent.trim() === words", arg=count
    )
    assert page.locator(".lw-found").inner_text() == count


def test_few_clusters_need_no_search(served, browse):
    page = browse(served(Bundled("iris", answers=12)))
    assert not page.get_by_label(FIELD).is_visible()
    assert not page.get_by_label("Order of the clusters").is_visible()
    page.keyboard.press("/")
    assert page.evaluate("() => document.activeElement.className") == "linkwise"


def test_clusters_are_found_by_number_name_and_row(server, browse):
    page = browse(server)
    labels = server.hub.presenter._content.labels
    assert page.locator(".lw-cluster").count() == 60
    assert not page.locator(".lw-found").is_visible()
    find(page, "cluster 7", "1 of 60 clusters")
    assert page.evaluate(NUMBERS) == [7]
    assert page.locator(".lw-hits:visible").count() == 0
    find(page, "row 77", "1 of 60 clusters")
    assert page.evaluate(NUMBERS) == [labels[77]]
    assert page.locator(".lw-hits").inner_text().split("\n") == ["found", "row 77"]
    find(page, "ROW", "60 of 60 clusters")
    sizes = np.bincount(labels)
    assert page.locator(".lw-hits").first.inner_text().endswith(f"and {sizes.max() - 3} more")
    page.get_by_role("button", name="row 77", exact=True).last.click()
    assert page.locator("dialog h2").inner_text() == "row 77"
    page.keyboard.press("Escape")
    find(page, "nobody", "0 of 60 clusters")
    assert page.evaluate(NUMBERS) == []
    find(page, "7", "1 of 60 clusters")  # also by row 7, but not by row 77
    page.get_by_label(FIELD).fill("")
    assert len(page.evaluate(NUMBERS)) == 60
    assert not page.locator(".lw-found").is_visible()


def test_the_order(server, browse):
    page = browse(server)
    sizes = np.bincount(server.hub.presenter._content.labels).tolist()
    by_size = sorted(range(60), key=lambda k: (-sizes[k], k))
    assert page.evaluate(NUMBERS) == by_size
    page.get_by_label("Order of the clusters").select_option("By number")
    assert page.evaluate(NUMBERS) == list(range(60))
    page.get_by_label("Order of the clusters").select_option("Least answered first")
    assert page.evaluate(NUMBERS) == by_size
    assert page.locator(".lw-size").first.inner_text() == "5 rows · 0 rows answered"
    page.get_by_label("Order of the clusters").select_option("Largest first")
    assert page.evaluate(NUMBERS) == by_size


def test_an_answer_updates_what_was_found(served, browse):
    server = served(crowd(30))
    page = browse(server)
    page.get_by_label("Order of the clusters").select_option("Least answered first")
    find(page, "row 1", "1 of 30 clusters")
    assert page.locator(".lw-size").inner_text() == "5 rows · 0 rows answered"
    page.locator(".lw-eyebrow").click()
    press(page, "n")
    page.wait_for_function("() => document.querySelector('.lw-size').textContent.endsWith('1 row answered')")
    assert page.locator(".lw-hits").inner_text().split("\n") == ["found", "row 1"]


def test_the_keyboard_searches_and_comes_back(server, browse):
    page = browse(server)
    page.keyboard.press("/")
    page.keyboard.type("cluster 9")
    assert page.evaluate(NUMBERS) == [9]
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.ariaLabel") == "Show only Cluster 9 in the plot"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("() => document.activeElement.type") == "search"
    page.keyboard.press("Escape")
    assert page.get_by_label(FIELD).input_value() == ""
    assert len(page.evaluate(NUMBERS)) == 60
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.className") == "linkwise"


def test_clusters_that_are_not_listed_are_found_named_and_merged(served, browse):
    server = served(crowd(300))
    page = browse(server)
    assert page.locator(".lw-cluster").count() == 200
    find(page, "299", "1 of 300 clusters")
    name = page.locator(".lw-name")
    assert name.get_attribute("placeholder") == "Cluster 299"
    name.fill("odd ones")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => document.querySelector('{LIVE}').textContent.includes('is named')")
    find(page, "odd", "1 of 300 clusters")
    page.get_by_role("button", name="Merge odd ones with another cluster").click()
    choices = page.locator("dialog .lw-choices button")
    assert choices.count() == 200
    page.locator("dialog").get_by_label(FIELD).fill("298")
    page.wait_for_function("() => document.querySelectorAll('.lw-choices button').length === 1")
    assert page.locator("dialog .lw-found").inner_text() == "1 of 299 clusters"
    choices.click()
    page.locator("dialog").get_by_role("button", name="Merge", exact=True).click()
    page.wait_for_function("() => document.querySelector('.lw-notice').textContent.startsWith('Saved')")
    last = server.hub.presenter._session.history[-1]
    assert (last.kind, last.answer) == ("add", "yes")
    assert {last.first % 300, last.second % 300} == {298, 299}


# ---------------------------------------------------------------- colours
def test_the_colours_of_many_clusters_are_explained(server, served, browse):
    page = browse(server)
    assert page.locator(".lw-legend").inner_text().startswith(LEGEND)
    assert len(set(page.evaluate(COLOURS).values())) > 30
    page = browse(served(Bundled("iris", answers=12)))
    assert not page.locator(".lw-legend").is_visible()


def test_a_chosen_cluster_dims_the_others_while_it_is_there(server, browse):
    page = browse(server)
    points = "() => document.querySelector('.lw-points').toDataURL()"
    page.mouse.move(5, 5)
    page.wait_for_timeout(100)
    whole = page.evaluate(points)
    find(page, "cluster 9", "1 of 60 clusters")
    page.get_by_role("button", name="Show only Cluster 9 in the plot").click()
    page.mouse.move(5, 5)
    page.wait_for_timeout(100)
    alone = page.evaluate(points)
    assert alone != whole
    find(page, "cluster 8", "1 of 60 clusters")  # the chosen one is no longer listed, and is still chosen
    page.mouse.move(5, 6)
    page.wait_for_timeout(100)
    assert page.evaluate(points) == alone
    find(page, "cluster 9", "1 of 60 clusters")
    page.locator(".lw-swatch[aria-pressed=true]").click()
    page.mouse.move(5, 5)
    page.wait_for_timeout(100)
    assert page.evaluate(points) == whole


def test_many_clusters_need_no_scrolling_sideways_on_a_phone(server, browse):
    fits = "() => document.documentElement.scrollWidth <= innerWidth"
    page = browse(server, viewport={"width": 320, "height": 760}, has_touch=True)
    for width in (320, 390):
        page.set_viewport_size({"width": width, "height": 760})
        page.get_by_label(FIELD).fill("")
        assert page.evaluate(fits)
        find(page, "row", "60 of 60 clusters")
        assert page.evaluate(fits)
        page.locator(".lw-cluster").last.scroll_into_view_if_needed()
        box = page.get_by_label(FIELD).bounding_box()
        assert 0 <= box["y"] < 200  # the search stays in sight


# ---------------------------------------------------------------- merging by dragging
def middle(page, number, what=".lw-size"):
    """The middle of a part of the row of a cluster."""
    row = page.locator(".lw-cluster", has=page.locator(f"[placeholder='Cluster {number}']"))
    row.scroll_into_view_if_needed()
    box = row.locator(what).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, first, second, what=".lw-size"):
    """Take the first cluster to the second one, and hold it there."""
    page.mouse.move(*middle(page, first, what))
    page.mouse.down()
    page.mouse.move(*middle(page, second), steps=5)


def marked(page):
    """The numbers of the clusters that are marked as dragged, and as the place to drop."""
    return page.evaluate("""() => ["source", "target"].map((what) => {
        const row = document.querySelector(`.lw-cluster[data-drag=${what}]`);
        return row && Number(row.querySelector(".lw-name").placeholder.split(" ")[1]); })""")


@pytest.mark.parametrize("what", [".lw-size", ".lw-swatch"], ids=["row", "colour"])
def test_a_cluster_that_is_dropped_on_another_is_merged_once_confirmed(served, browse, what):
    server = served(crowd(6))
    page, session = browse(server), server.hub.presenter._session
    drag(page, 1, 4, what)
    assert marked(page) == [1, 4]
    assert page.locator(".lw-dragging").inner_text() == "Merge Cluster 1 with Cluster 4?"
    page.mouse.up()
    assert marked(page) == [None, None]
    assert page.locator(".lw-dragging").count() == 0
    assert page.locator("dialog h2").inner_text() == "Merge Cluster 1 with Cluster 4?"
    page.get_by_role("button", name="Cancel").click()
    assert page.locator("dialog").count() == 0
    assert session.events == []
    assert page.locator(".lw-swatch[aria-pressed=true]").count() == 0  # it was no click
    drag(page, 1, 4, what)
    page.mouse.up()
    exemplars = [
        c["exemplar"] for n in (1, 4) for c in server.hub.presenter.state()["clusters"] if c["cluster"] == n
    ]
    page.locator("dialog").get_by_role("button", name="Merge").click()
    page.wait_for_function("() => document.querySelector('.lw-notice').textContent.startsWith('Saved')")
    assert page.locator(".lw-notice").inner_text().startswith("Saved: Cluster 1 and Cluster 4 are merged.")
    (event,) = session.events
    assert (event.kind, event.answer) == ("add", "yes")
    assert {event.first, event.second} == set(exemplars)


def test_a_merge_by_dragging_can_conflict_with_an_answer(served, browse):
    server = served(crowd(6))
    page, session = browse(server), server.hub.presenter._session
    first, second = (c["exemplar"] for c in server.hub.presenter.state()["clusters"][:2])
    numbers = [c["cluster"] for c in server.hub.presenter.state()["clusters"][:2]]
    session.add(first, second, "cannot-link")
    page.wait_for_function("() => document.querySelector('.lw-progress').textContent.includes('1 added')")
    drag(page, *numbers)
    page.mouse.up()
    page.locator("dialog").get_by_role("button", name="Merge").click()
    page.wait_for_selector(".lw-chain")
    assert len(session.events) == 1


def test_what_is_dropped_elsewhere_or_given_up_stays(served, browse):
    server = served(crowd(6))
    page, session = browse(server), server.hub.presenter._session
    drag(page, 1, 4)
    page.mouse.move(200, 300)
    assert marked(page) == [1, None]
    assert page.locator(".lw-dragging").inner_text() == "Drag Cluster 1 onto another cluster"
    page.mouse.up()
    drag(page, 1, 4)
    page.keyboard.press("Escape")
    assert marked(page) == [None, None]
    page.mouse.up()
    drag(page, 1, 1)
    page.mouse.up()
    x, y = middle(page, 2)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 3, y)
    page.mouse.up()
    drag(page, 1, 4)
    session.add(0, 6, "cannot-link")  # another page splits a cluster
    page.wait_for_function("() => document.querySelector('.lw-progress').textContent.includes('1 added')")
    page.mouse.up()
    page.wait_for_timeout(100)
    assert page.locator("dialog").count() == 0
    page.locator(".lw-swatch").first.click()  # a click is a click
    assert page.locator(".lw-swatch[aria-pressed=true]").count() == 1


def test_a_name_is_written_and_not_dragged(served, browse):
    page = browse(served(crowd(6)))
    drag(page, 1, 4, ".lw-name")
    assert marked(page) == [None, None]
    page.mouse.up()
    drag(page, 1, 4, ".lw-actions")
    assert marked(page) == [None, None]
    page.mouse.up()
    page.keyboard.press("Escape")


def test_the_list_scrolls_while_a_cluster_is_dragged(server, browse):
    page = browse(server)
    first = page.evaluate(NUMBERS)[0]
    page.mouse.move(*middle(page, first))
    page.mouse.down()
    box = page.locator(".lw-clusters").bounding_box()
    page.mouse.move(box["x"] + 100, min(box["y"] + box["height"], 800) - 12, steps=4)
    page.wait_for_function("() => document.querySelector('.lw-clusters').scrollTop > 1000")
    page.wait_for_selector(".lw-cluster[data-drag=target]")
    target = marked(page)[1]
    assert target not in page.evaluate(NUMBERS)[:8]
    page.keyboard.press("Escape")
    at = page.evaluate("() => document.querySelector('.lw-clusters').scrollTop")
    page.wait_for_timeout(150)
    assert page.evaluate("() => document.querySelector('.lw-clusters').scrollTop") == at
    page.mouse.up()


def test_a_finger_drags_a_colour_and_scrolls_elsewhere(served, browse):
    server = served(crowd(6))
    page = browse(server, **PHONE)
    page.evaluate("() => document.querySelector('.lw-clusters').scrollIntoView({block: 'center'})")
    page.wait_for_timeout(200)
    box = {n: page.locator(".lw-cluster", has=page.locator(f"[placeholder='Cluster {n}']")) for n in (1, 0)}
    swatch = box[1].locator(".lw-swatch").bounding_box()
    start = swatch["x"] + 12, swatch["y"] + 12
    over = box[0].bounding_box()
    end = start[0] + 40, over["y"] + 20
    touch(page, [start], [(start[0] + 10, start[1])], [end], [end])
    assert page.locator("dialog h2").inner_text() == "Merge Cluster 1 with Cluster 0?"
    assert page.locator("dialog").evaluate("box => box.scrollWidth <= box.clientWidth")
    page.keyboard.press("Escape")
    before = page.evaluate("() => scrollY")
    x = over["x"] + over["width"] - 20
    touch(page, [(x, 500)], *([(x, 500 + 15 * step)] for step in range(1, 9)))
    page.wait_for_timeout(200)
    assert page.evaluate("() => scrollY") < before - 50
    assert page.locator("dialog").count() == 0
    assert server.hub.presenter._session.events == []
