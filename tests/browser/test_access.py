"""For everybody: names of controls, focus, contrast, colours, small screens, several views on one page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from browser.presenters import Bundled, press, read

pytestmark = pytest.mark.slow

UNNAMED = """() => [...document.querySelectorAll("button, input, [role=img], [role=region], dialog, section")]
  .filter((node) => !(node.getAttribute("aria-label") || node.textContent.trim() && node.tagName === "BUTTON"
    || document.getElementById(node.getAttribute("aria-labelledby") || "")?.textContent))
  .map((node) => node.outerHTML.slice(0, 120))"""
TWICE = """() => { const all = [...document.querySelectorAll("[id]")].map((node) => node.id);
  return all.filter((id, i) => all.indexOf(id) !== i); }"""
RESOLVED = """(name) => { const probe = document.createElement("span");
  document.querySelector(".linkwise").append(probe);
  probe.style.color = `var(--lw-${name})`;
  const found = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(Number);
  probe.remove();
  return found; }"""
TEXTS = [
    ("ink", "card"), ("ink", "paper"), ("ink", "well"), ("ink", "tint"),
    ("soft", "card"), ("soft", "paper"), ("soft", "well"),
    ("soft", "warn-tint"), ("accent", "card"), ("accent", "well"), ("on-accent", "accent"),
    ("warn", "warn-tint"), ("warn", "paper"),
    ("good", "card"), ("card", "ink"),
]  # fmt: skip
# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB: protanopia, deuteranopia
BLIND = [
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
]
# Ottosson (2020): Oklab, in which equal distances look about equal
TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


@pytest.fixture(scope="module")
def server(served):
    return served(Bundled("wine", answers=12))


def linear(rgb):
    value = np.asarray(rgb, dtype=float) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """The contrast ratio of WCAG 2."""
    light = sorted(float(linear(rgb) @ [0.2126, 0.7152, 0.0722]) for rgb in (one, other))
    return (light[1] + 0.05) / (light[0] + 0.05)


def to_lab(colours, eye=None):
    """Colours in Oklab, as an eye sees them that may be colour-blind."""
    seen = linear(colours) if eye is None else np.clip(linear(colours) @ np.transpose(eye), 0, 1)
    return np.cbrt(seen @ np.transpose(TO_CONES)) @ np.transpose(TO_LAB)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(server, browse, scheme):
    page = browse(server, color_scheme=scheme)
    seen = {
        name: page.evaluate(RESOLVED, name) for name in {name for pair in TEXTS for name in pair} | {"edge"}
    }
    low = {pair: contrast(seen[pair[0]], seen[pair[1]]) for pair in TEXTS}
    assert min(low.values()) >= 4.5, {pair: value for pair, value in low.items() if value < 4.5}
    assert contrast(seen["edge"], seen["card"]) >= 3  # of what a button ends with


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_clusters_can_be_distinguished(server, browse, scheme):
    page = browse(server, color_scheme=scheme)
    card = page.evaluate(RESOLVED, "card")
    colours = [page.evaluate(RESOLVED, f"cluster-{i}") for i in range(12)]
    assert min(contrast(colour, card) for colour in colours) >= 3
    for eye in [np.eye(3), *BLIND]:
        lab = to_lab(colours, eye)
        far = np.hypot.reduce((lab[:, None] - lab[None]).transpose(2, 0, 1))
        assert far[np.triu_indices(12, 1)].min() > 0.06
    assert (
        page.evaluate("() => getComputedStyle(document.querySelector('.linkwise')).colorScheme")
        == "light dark"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_shade_is_seen_and_belongs_to_its_family(server, browse, scheme):
    """It is clearly nearer to the first colour of its family than to that of another one."""
    page = browse(server, color_scheme=scheme)
    first = [page.evaluate(RESOLVED, f"cluster-{i}") for i in range(12)]
    shades = [[page.evaluate(RESOLVED, f"cluster-{i}-{k}") for k in (1, 2, 3)] for i in range(12)]
    card = page.evaluate(RESOLVED, "card")
    assert min(contrast(colour, card) for family in shades for colour in family) >= 3
    lab, grey = to_lab(first), to_lab([page.evaluate(RESOLVED, "cluster-none")])[0]
    for number, family in enumerate(shades):
        found = to_lab([first[number], *family])
        far = np.hypot.reduce((found[:, None] - lab[None]).transpose(2, 0, 1))
        others = np.delete(far, number, axis=1).min(axis=1)
        assert (far[:, number] < 0.75 * others).all()
        assert np.hypot.reduce((found - grey).T).min() > 0.05
        within = np.hypot.reduce((found[:, None] - found[None]).transpose(2, 0, 1))
        assert within[np.triu_indices(4, 1)].min() > 0.04
        hue = np.arctan2(found[:, 2], found[:, 1])
        assert np.abs(np.angle(np.exp(1j * (hue - hue[0])))).max() < np.radians(25)


def test_everything_has_a_name(server, browse):
    page = browse(server)
    assert page.evaluate(UNNAMED) == []
    for opener in ("h", "?"):
        page.keyboard.press(opener)
        page.wait_for_selector("dialog")
        page.wait_for_timeout(200)
        assert page.evaluate(UNNAMED) == []
        assert page.evaluate(TWICE) == []
        page.keyboard.press("Escape")
    assert page.locator("html").get_attribute("lang") == "en"


def test_focus_is_kept_in_a_dialog_and_comes_back(server, browse):
    page = browse(server)
    opener = page.locator(".lw-link").first
    opener.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog")
    reached = set()
    for key in ["Tab"] * 8 + ["Shift+Tab"] * 8:
        page.keyboard.press(key)
        assert page.evaluate("() => document.querySelector('dialog').contains(document.activeElement)")
        reached.add(page.evaluate("() => document.activeElement.textContent"))
    assert {"Select as first", "Select as second", "×"} <= reached
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert opener.evaluate("node => node === document.activeElement")


def test_every_control_can_be_reached_and_its_focus_is_seen(server, browse):
    page = browse(server)
    count = page.locator("main :is(button, input):visible").count()
    seen = 0
    for _ in range(count + 10):
        page.keyboard.press("Tab")
        kind = page.evaluate("() => document.activeElement.tagName")
        if kind in ("BUTTON", "INPUT"):
            seen += 1
            assert page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") == "solid"
        if seen == count:
            break
    assert seen == count


@pytest.mark.parametrize("width", [320, 390])
def test_phone_needs_no_scrolling_sideways(served, browse, server, width):
    fits = "() => document.documentElement.scrollWidth <= innerWidth"
    page = browse(server, viewport={"width": width, "height": 760}, has_touch=True)
    assert page.evaluate(fits)
    for opener in ("h", "?"):
        page.keyboard.press(opener)
        page.wait_for_selector("dialog")
        assert page.evaluate(fits)
        assert page.locator("dialog").evaluate("box => box.scrollWidth <= box.clientWidth")
        page.keyboard.press("Escape")
    bar = page.locator(".lw-question > .lw-answers").bounding_box()
    assert bar["y"] + bar["height"] <= 760  # the buttons are in sight
    done = browse(served(Bundled("wine", answers=2, budget=2)), viewport={"width": width, "height": 760})
    assert done.evaluate(fits)


def test_no_movement_where_none_is_wanted(server, browse):
    page = browse(server, reduced_motion="reduce")
    moves = "all => all.some((node) => getComputedStyle(node).animationName !== 'none')"
    assert not page.locator(".linkwise *").evaluate_all(moves)


def test_two_views_on_one_page(server, browse):
    """As in a notebook: the module twice, each with its own model, in a page with keys of its own."""
    page = browse(server)
    page.evaluate((Path(__file__).parent / "second_view.js").read_text().partition("\n")[2])
    assert page.evaluate(TWICE) == []
    second = page.locator("#second .linkwise")
    assert (
        page.evaluate("() => document.activeElement.closest('#second')") is None
    )  # a notebook keeps its focus
    second.locator(".lw-eyebrow").click()
    read(page)
    page.keyboard.press("n")
    assert [{k: m[k] for k in ("do", "question", "answer")} for m in page.evaluate("() => sent")] == [
        {"do": "answer", "question": "0:0-1", "answer": "no"}
    ]
    page.evaluate("() => gone()")
    assert page.locator("#second *").count() == 0


def test_announcements_are_heard_while_a_dialog_is_open(server, browse):
    """A modal dialog hides everything else from screen readers, the live region of the page, too."""
    page = browse(server)
    tools = page.context.new_cdp_session(page)

    def count_regions():
        nodes = tools.send("Accessibility.getFullAXTree")["nodes"]
        return sum(node.get("role", {}).get("value") == "status" and not node["ignored"] for node in nodes)

    assert count_regions() == 1
    page.keyboard.press("h")
    line = page.locator(".lw-history > li").first
    line.wait_for()
    assert count_regions() == 1
    rows = line.locator(".lw-link").all_inner_texts()
    line.get_by_role("button", name="Not sure", exact=True).click()
    page.wait_for_function(
        "start => document.querySelector('dialog > [role=status]').textContent.startsWith(start)",
        arg=f"Saved: {rows[0]} and {rows[1]} are now “not sure”. ",
    )
    assert " moved. Next question: " in page.locator("dialog > [role=status]").inner_text()
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert count_regions() == 1
    page.keyboard.press("u")
    page.wait_for_function(
        "() => document.querySelector('.linkwise > [role=status]').textContent.startsWith('Taken back')"
    )
    tools.detach()


def test_a_lost_connection_is_heard_while_a_dialog_is_open(server, browse):
    routes = []

    def pass_on(route):
        route.connect_to_server()
        routes.append(route)

    page = browse(server, before=lambda p: p.route_web_socket("**/ws", pass_on))
    page.keyboard.press("?")
    page.evaluate("""() => { window.heard = [];
        const live = document.querySelector("dialog > [role=status]");
        new MutationObserver(() => heard.push(live.textContent)).observe(live, {childList: true}); }""")
    routes[0].close()
    page.wait_for_function("() => heard.at(-1) === 'Connected again.'")
    assert page.evaluate("() => heard[0]").startswith("The connection is lost.")


def test_what_comes_next_is_announced(server, browse):
    page = browse(server)
    live = page.locator(".linkwise > [role=status]")
    assert live.get_attribute("aria-live") == "polite"
    assert live.inner_text() == ""  # the first connection is not announced
    press(page, "s")
    page.wait_for_function(
        "start => new RegExp(start).test(document.querySelector('[role=status]').textContent)",
        arg=r"^Saved\. (No row|1 row|\d+ rows) moved\. Next question: ",
    )
    press(page, "u")
