"""The plot, compared by pixels with the coordinates and the labels that the presenter gave."""

from __future__ import annotations

import numpy as np
import pytest

from browser.pixels import agreement, picture, positions
from browser.presenters import blobs, crowd, press, shown_as
from linkwise.data.show.items import value_items
from linkwise.learn.cobras.cobras import COBRAS
from linkwise.learn.learner import Question
from linkwise.session.session import Session

pytestmark = pytest.mark.slow

# WebGL in software takes itself for a graphics card
CARD = """() => { const real = WebGL2RenderingContext.prototype.getParameter;
  WebGL2RenderingContext.prototype.getParameter = function (name) {
    const found = real.call(this, name);
    return typeof found === "string" && /swiftshader|llvmpipe/i.test(found) ? "a card" : found; }; }"""
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
    page.evaluate("() => document.querySelector('.lw-overlay').style.visibility = 'hidden'")
    page.wait_for_timeout(150)
    box = page.locator(".lw-scatter")
    shown = picture(box.screenshot())
    edge = box.bounding_box()
    ratio = shown.shape[1] / edge["width"]
    presenter = server.hub.presenter
    places = np.frombuffer(presenter.places(), "<f4").reshape(-1, 2)
    labels = np.frombuffer(presenter.labels()[1], "u1").astype(np.int64)
    colours = page.evaluate(COLOUR)
    paper = page.evaluate("() => getComputedStyle(document.querySelector('.lw-scatter')).backgroundColor")
    return {
        "shown": shown,
        "at": positions(places, edge["width"], edge["height"]) * ratio,
        "labels": labels,
        "colours": np.array([colours.get(str(k), [0, 0, 0]) for k in range(labels.max() + 1)]) / 255,
        "paper": np.array([float(v) for v in paper.removeprefix("rgb(").rstrip(")").split(",")]) / 255,
        "reach": 7 * ratio,
    }


def is_right(found):
    right, empty = agreement(**found)
    return right > 0.98 and empty > 0.995


@pytest.mark.parametrize(
    ("options", "script"),
    [
        ({}, None),
        pytest.param({"color_scheme": "dark"}, None, marks=pytest.mark.slow(nightly=True)),
        ({"device_scale_factor": 2, "viewport": {"width": 390, "height": 800}}, None),
        pytest.param({}, CARD, marks=pytest.mark.slow(nightly=True)),
        ({"device_scale_factor": 2, "viewport": {"width": 390, "height": 800}}, CARD),
    ],
    ids=["light", "dark", "phone", "card", "card of a phone"],
)
def test_rows_are_where_they_are(server, browse, options, script):
    found = seen(browse(server, script=script, **options), server)
    assert len(np.unique(found["labels"])) >= 3
    assert is_right(found), agreement(**found)


def test_who_draws_the_points(server, browse):
    by = "() => document.querySelector('.lw-scatter').dataset.painter"
    drawn = "() => document.querySelector('.lw-points').getContext('webgl2') !== null"
    page = browse(server, script=CARD)
    assert (page.evaluate(by), page.evaluate(drawn)) == ("card", True)
    for script in (None, NO_WEBGL):  # WebGL in software, or none
        page = browse(server, script=script)
        assert (page.evaluate(by), page.evaluate(drawn)) == ("memory", False)


@pytest.mark.parametrize("has_shapes", [False, True], ids=["discs", "shapes"])
def test_memory_draws_what_a_card_draws(server, served, browse, has_shapes):
    """Also where points are large, and at the edge."""
    server = served(crowd(40)) if has_shapes else server
    card, memory = browse(server, script=CARD), browse(server)
    x, y = seen(card, server)["at"][0]
    for _ in range(3):
        one, other = (seen(page, server)["shown"] for page in (card, memory))
        far = np.abs(one - other).max(axis=2)
        assert (one.min(axis=2) < 0.9).mean() > 0.002
        # the middle of a point is rounded to a quarter of a pixel: that shows most at a corner
        if has_shapes:
            assert (far > 0.2).sum() < 0.01 * (one.min(axis=2) < 0.9).sum()
        else:
            assert far.max() < 0.2
        for page in (card, memory):
            page.evaluate("() => document.querySelector('.lw-overlay').style.visibility = ''")
            box = page.locator(".lw-overlay").bounding_box()
            page.mouse.move(box["x"] + x, box["y"] + y)
            page.mouse.wheel(0, -800)
            page.mouse.move(0, 0)
            page.wait_for_timeout(200)


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
        press(page, key)
        found = seen(page, server)
        assert is_right(found), agreement(**found)
        numbers.add(server.hub.presenter.labels()[0])
        frames.append(found["labels"])
    assert len(numbers) > 2
    assert not np.array_equal(frames[0], frames[2])


def test_a_lost_context_comes_back(server, browse):
    page = browse(server, script=CARD)
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
    box = page.locator(".lw-overlay").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.wheel(0, -400)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30, steps=4)
    page.mouse.up()
    page.wait_for_timeout(150)
    assert not is_right(seen(page, server))
    page.get_by_role("button", name="Fit all rows").click()
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
    presenter = server.hub.presenter
    box = page.locator(".lw-overlay").bounding_box()
    at = positions(np.frombuffer(presenter.places(), "<f4").reshape(-1, 2), box["width"], box["height"])
    far = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1)) + 1e9 * np.eye(len(at))
    row = int(far.min(axis=1).argmax())
    x, y = at[row] + [box["x"] + 3, box["y"] - 2]
    page.mouse.move(x, y)
    page.wait_for_selector(".lw-tooltip:visible")
    assert page.locator(".lw-tooltip strong").inner_text() == f"row {row}"
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    page.wait_for_selector(".lw-tooltip", state="hidden")
    page.mouse.click(x, y)
    assert page.locator("dialog h2").inner_text() == f"row {row}"


def test_rows_are_placed_by_neighbours_on_request(served, browse):
    server = served(blobs())
    page = browse(server)
    before = seen(page, server)["at"]
    page.get_by_role("button", name="Map by neighbours").click()
    page.wait_for_selector(".lw-axes >> text=No axes:")
    found = seen(page, server)
    assert is_right(found), agreement(**found)
    assert np.abs(found["at"] - before).max() > 20
    assert page.get_by_role("button", name="Map anew").is_visible()
    page.get_by_role("button", name="Map by axes").click()
    page.wait_for_selector("button >> text=Map by neighbours")
    assert np.abs(seen(page, server)["at"] - before).max() < 1


def test_rows_are_placed_by_neighbours_unasked_where_two_axes_hold_little(served, browse):
    X = np.random.default_rng(0).normal(size=(60, 6))
    items = value_items(X, tuple("abcdef"))
    page = browse(served(lambda: shown_as(Session(X, COBRAS(random_state=0)), X, items)))
    page.wait_for_selector(".lw-axes >> text=No axes:")
    assert page.locator(".linkwise > [role=status]").inner_text() == ""  # nobody asked: nothing is read out
    page.get_by_role("button", name="Map by axes").click()
    page.wait_for_selector(".lw-axes >> text=Axes:")
    page.wait_for_timeout(2000)  # it stays as it was chosen
    assert page.locator(".lw-axes").inner_text().startswith("Axes:")


def test_keyboard_reaches_rows(server, browse):
    page = browse(server)
    while page.evaluate("() => document.activeElement.className") != "lw-overlay":
        page.keyboard.press("Tab")
    for _ in range(60):
        if page.locator(".lw-tooltip").is_visible():
            break
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(100)
    name = page.locator(".lw-tooltip strong").inner_text()
    page.keyboard.press("Enter")
    assert page.locator("dialog h2").inner_text() == name


def test_colours_are_the_same_after_a_reload(served, browse):
    server = served(blobs(answers=0))
    page = browse(server)
    for key in "nnnyn":
        press(page, key)
    before = page.evaluate(COLOUR)
    page.reload()
    page.wait_for_selector(".lw-cluster")
    assert page.evaluate(COLOUR) == before
    assert browse(server).evaluate(COLOUR) == before


class Crowd:
    """A learner that holds two rows in three hundred to be clusters of their own, whatever it is told."""

    def __init__(self, n_clusters):
        self.n_clusters = n_clusters

    def get_params(self, deep=True):
        return {"n_clusters": self.n_clusters}

    def prepare(self, X, seed, *, progress=None):
        return None

    def start(self, problem):
        return problem.X

    def ask(self, X):
        labels = (np.arange(len(X)) % self.n_clusters).astype(np.int32)
        for row in range(1, len(X)):
            yield Question(0, row, labels, "because")
        return labels


@pytest.mark.parametrize(
    "script", [None, pytest.param(CARD, marks=pytest.mark.slow(nightly=True))], ids=["memory", "card"]
)
def test_more_clusters_than_a_byte_can_tell(served, browse, script):
    X = np.array([[i % 30, i // 30] for i in range(600)], dtype=float)
    session = Session(X, Crowd(300))
    server = served(lambda: shown_as(session, X, value_items(X, ("x", "y")), places=X))
    page = browse(server, script=script)
    state = server.hub.presenter.state()
    assert state["two_bytes"]
    press(page, "n")
    assert len(session.history) == 1
    assert page.locator(".lw-cluster").count() == 200
    assert "100 smaller clusters are not listed" in page.locator(".lw-right").inner_text()
    page.evaluate("() => document.querySelector('.lw-overlay').style.visibility = 'hidden'")
    page.wait_for_timeout(150)
    box = page.locator(".lw-scatter")
    shown, edge = picture(box.screenshot()), box.bounding_box()
    places = np.frombuffer(server.hub.presenter.places(), "<f4").reshape(-1, 2)
    x, y = np.floor(positions(places, edge["width"], edge["height"])).astype(int).T
    shades = [(family, shade % 4) for _, family, shade in server.hub.presenter.state()["shades"]]
    css = [f"cluster-{family}-{shade}" if shade else f"cluster-{family}" for family, shade in shades]
    assert len(set(css)) > 40
    palette = np.array([colour_of(page, name) for name in css])
    paper = np.array(colour_of(page, "card"))
    inks = (217 * palette + 38 * paper) / 255 / 255
    labels = server.hub.presenter._content.labels
    wanted = inks[labels]
    assert np.abs(shown[y, x] - wanted).max(axis=1).mean() < 0.03
    assert (np.abs(shown[y, x] - wanted).max(axis=1) < 0.1).mean() > 0.98


def colour_of(page, name):
    """A colour of the page as the browser has it."""
    return page.evaluate(
        """(name) => { const probe = document.createElement("span");
          document.querySelector(".linkwise").append(probe);
          probe.style.color = `var(--lw-${name})`;
          const found = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(Number);
          probe.remove();
          return found; }""",
        name,
    )
