"""The plot, compared by pixels with the coordinates and the labels that the desk gave."""

from __future__ import annotations

import numpy as np
import pytest

from browser.desks import blobs
from browser.pixels import agreement, picture, positions

NO_WEBGL = """() => { const real = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
    return kind === "webgl2" ? null : real.call(this, kind, ...more); }; }"""
COLOUR = """() => Object.fromEntries([...document.querySelectorAll(".lw-cluster")].map((item) =>
  [item.querySelector(".lw-name").placeholder.split(" ")[1],
   getComputedStyle(item.querySelector(".lw-share i")).backgroundColor
     .match(/[\\d.]+/g).slice(0, 3).map(Number)]))"""


@pytest.fixture(scope="module")
def server(served):
    return served(blobs())


def seen(page, server):
    """What `agreement` wants to know of a page."""
    page.evaluate("() => document.querySelector('.lw-over').style.visibility = 'hidden'")
    page.wait_for_timeout(150)
    box = page.locator(".lw-scatter")
    shown = picture(box.screenshot())
    edge = box.bounding_box()
    ratio = shown.shape[1] / edge["width"]
    desk = server.room.desk
    places = np.frombuffer(desk.places(), "<f4").reshape(-1, 2)
    labels = np.frombuffer(desk.labels()[1], "u1").astype(np.int64)
    colours = page.evaluate(COLOUR)
    paper = page.evaluate("() => getComputedStyle(document.querySelector('.lw-scatter')).backgroundColor")
    return {
        "shown": shown,
        "at": positions(places, edge["width"], edge["height"]) * ratio,
        "labels": labels,
        "colours": np.array([colours[str(k)] for k in range(labels.max() + 1)]) / 255,
        "paper": np.array([float(v) for v in paper.removeprefix("rgb(").rstrip(")").split(",")]) / 255,
        "reach": 7 * ratio,
    }


def is_right(found):
    right, empty = agreement(**found)
    return right > 0.98 and empty > 0.995


@pytest.mark.parametrize(
    ("options", "before"),
    [
        ({}, None),
        ({"color_scheme": "dark"}, None),
        ({"device_scale_factor": 2, "viewport": {"width": 390, "height": 800}}, None),
        ({}, lambda page: page.add_init_script(f"({NO_WEBGL})()")),
    ],
    ids=["light", "dark", "phone", "without WebGL"],
)
def test_rows_are_where_they_are(server, browse, options, before):
    found = seen(browse(server, before=before, **options), server)
    assert len(np.unique(found["labels"])) >= 3
    assert is_right(found), agreement(**found)


def test_points_are_drawn_by_webgl_where_there_is_any(server, browse):
    drawn = "() => document.querySelector('.lw-points').getContext('webgl2') !== null"
    assert browse(server).evaluate(drawn)
    assert not browse(server, before=lambda page: page.add_init_script(f"({NO_WEBGL})()")).evaluate(drawn)


def test_the_comparison_tells_a_scrambled_plot(server, browse):
    found = seen(browse(server), server)
    assert is_right(found)
    rng = np.random.default_rng(0)
    scrambled = rng.permutation(len(found["at"]))
    assert not is_right({**found, "at": found["at"][scrambled]})
    assert not is_right({**found, "labels": found["labels"][scrambled]})
    assert not is_right({**found, "at": found["at"] + [25, 0]})
    assert not is_right({**found, "at": found["at"] * [1, -1] + [0, found["shown"].shape[0]]})
    assert not is_right({**found, "at": rng.uniform(0, 1, found["at"].shape) * found["shown"].shape[1::-1]})
    assert not is_right({**found, "shown": np.broadcast_to(found["paper"], found["shown"].shape)})
    assert not is_right({**found, "shown": found["shown"][::-1]})


def test_colours_follow_an_answer(served, browse):
    server = served(blobs(answers=0))
    page = browse(server)
    numbers, frames = set(), []
    for key in "nnnu":
        page.keyboard.press(key)
        page.wait_for_function("() => document.querySelector('.linkwise > [role=status]').textContent")
        page.evaluate("() => document.querySelector('.linkwise > [role=status]').replaceChildren()")
        found = seen(page, server)
        assert is_right(found), agreement(**found)
        numbers.add(server.room.desk.labels()[0])
        frames.append(found["labels"])
    assert len(numbers) > 2
    assert not np.array_equal(frames[0], frames[2])


def test_a_lost_context_comes_back(server, browse):
    page = browse(server)
    page.evaluate("""() => { const gl = document.querySelector(".lw-points").getContext("webgl2");
        window.ending = gl.getExtension("WEBGL_lose_context"); ending.loseContext(); }""")
    page.wait_for_timeout(150)
    assert not is_right(seen(page, server))
    page.evaluate("() => ending.restoreContext()")
    page.wait_for_timeout(300)
    assert is_right(seen(page, server))


def test_window_of_another_size(server, browse):
    page = browse(server)
    page.set_viewport_size({"width": 1000, "height": 620})
    page.wait_for_timeout(300)
    assert is_right(seen(page, server))


def test_moving_and_back(server, browse):
    page = browse(server)
    for key in ("+", "+", "-"):
        page.keyboard.press(key)
    box = page.locator(".lw-over").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.wheel(0, -400)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30, steps=4)
    page.mouse.up()
    page.wait_for_timeout(150)
    assert not is_right(seen(page, server))
    page.get_by_role("button", name="Show all").click()
    assert is_right(seen(page, server))


def test_other_clusters_are_dimmed(server, browse):
    page = browse(server)
    page.locator(".lw-cluster").first.hover()
    found = seen(page, server)
    number = int(page.locator(".lw-name").first.get_attribute("placeholder").split()[1])
    own = found["labels"] == number
    kept = {**found, "at": found["at"][own], "labels": found["labels"][own]}
    assert agreement(**kept)[0] > 0.98
    others = {**found, "at": found["at"][~own], "labels": found["labels"][~own]}
    assert agreement(**others)[0] < 0.05


def test_pointer_shows_and_opens_the_nearest_row(server, browse):
    page = browse(server)
    desk = server.room.desk
    box = page.locator(".lw-over").bounding_box()
    at = positions(np.frombuffer(desk.places(), "<f4").reshape(-1, 2), box["width"], box["height"])
    far = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1)) + 1e9 * np.eye(len(at))
    row = int(far.min(axis=1).argmax())
    x, y = at[row] + [box["x"] + 3, box["y"] - 2]
    page.mouse.move(x, y)
    page.wait_for_selector(".lw-tip:visible")
    assert page.locator(".lw-tip strong").inner_text() == f"row {row}"
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    page.wait_for_selector(".lw-tip", state="hidden")
    page.mouse.click(x, y)
    assert page.locator("dialog h2").inner_text() == f"row {row}"


def test_keyboard_reaches_rows(server, browse):
    page = browse(server)
    while page.evaluate("() => document.activeElement.className") != "lw-over":
        page.keyboard.press("Tab")
    for _ in range(60):
        if page.locator(".lw-tip").is_visible():
            break
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(100)
    name = page.locator(".lw-tip strong").inner_text()
    page.keyboard.press("Enter")
    assert page.locator("dialog h2").inner_text() == name
