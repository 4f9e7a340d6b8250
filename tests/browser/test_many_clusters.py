"""Many clusters: they are searched, ordered, told apart and merged, with the keyboard and by fingers."""

from __future__ import annotations

import numpy as np
import pytest

from browser.presenters import Bundled, crowd, press

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
    labels = server.hub.presenter._labels
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
    sizes = np.bincount(server.hub.presenter._labels).tolist()
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
