"""Nothing is wider than what is around it: data in many languages, every state, windows of any width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from browser.layout import WIDTHS, find_misfits
from linkwise.app.page.opening import present_project
from linkwise.app.page.presenter import Presenter
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import open_project
from linkwise.data.reading import Reading

pytestmark = pytest.mark.slow

N_ROWS = 48
LONG_NAME = "number of complaints about late deliveries in the last four quarters"
LONG_WORD = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz" * 2
HEBREW = ("תלונה על משלוח שאיחר מאוד", "שאלה על החשבון האחרון", "בקשה להחזר כספי מלא")


def columns_of(world: str) -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    kind = [row % 3 for row in range(N_ROWS)]
    near = [round(float(place), 3) for place in np.array(kind) * 3 + rng.normal(0, 0.3, N_ROWS)]
    if world == "long names":
        return {f"{LONG_NAME}, {n}": [f"{LONG_NAME} {(at + n) % 3}" for at in kind] for n in range(3)} | {
            LONG_NAME: near
        }
    if world == "long words":
        return {
            LONG_WORD: [f"{LONG_WORD}{at}" for at in kind],
            f"{LONG_WORD}x": near,
            "https://example.org/" + "a" * 90: [f"https://example.org/{at}/" + "b" * 120 for at in kind],
        }
    if world == "right to left":
        return {
            "פניה": [f"{HEBREW[at]} {row}" for row, at in enumerate(kind)],
            "ערך": near,
            "סוג": [HEBREW[at] for at in kind],
        }
    if world == "texts":
        words = [LONG_NAME.split()[row % 7 :] for row in range(N_ROWS)]
        return {
            "text": [f"{HEBREW[at]} {LONG_WORD} {' '.join(words[row])}. " * 4 for row, at in enumerate(kind)]
        }
    assert world == "sixty columns"
    return {f"measured at point {n}": [round(value * (n % 7 + 1), 3) for value in near] for n in range(60)}


def serve_world(folder: Path, world: str) -> Presenter:
    """A table whose first clusters have long names, after answers enough for some clusters."""
    data = folder / f"{world}.csv"
    pl.DataFrame({"id": [f"{world} {row}" for row in range(N_ROWS)], **columns_of(world)}).write_csv(data)
    reading = Reading(text="text") if world == "texts" else Reading()
    project = open_project(data, folder / f"{world}.linkwise", reading, MethodChoice())
    session = project.session
    for _ in range(6):
        if (question := session.question) is not None:
            session.answer(question.first % 3 == question.second % 3, note=LONG_WORD)
    for cluster in range(2):
        row = int(np.flatnonzero(session.labels == cluster)[0])
        session.set_name(row, (LONG_WORD, LONG_NAME)[cluster])
    return present_project(project)


def shut(page: Any) -> None:
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


WORLDS = ("long names", "long words", "right to left", "sixty columns", "texts")


@pytest.mark.parametrize(
    ("world", "widths"),
    [
        # by day each world at the narrowest width and at one more
        *(
            pytest.param(world, (WIDTHS[0], WIDTHS[at]), id=f"{world}, day")
            for at, world in enumerate(WORLDS, 1)
        ),
        *(
            pytest.param(world, WIDTHS, id=f"{world}, night", marks=pytest.mark.slow(nightly=True))
            for world in WORLDS
        ),
    ],
)
def test_every_state_fits_at_every_width(
    served: Any, browse: Any, tmp_path: Path, world: str, widths: tuple[int, ...]
) -> None:
    page, found = browse(served(lambda: serve_world(tmp_path, world))), []

    def look(state: str) -> None:
        found.extend(f"{state}, {misfit}" for misfit in find_misfits(page, widths))

    if page.locator("dialog").count():
        look("columns")
        page.get_by_role("button", name="Start").click()
        page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("w")
    page.keyboard.press("g")
    page.wait_for_selector(".lw-explanation:visible")
    look("question, why and guess")
    page.get_by_role("button", name="Sort several").click()
    page.wait_for_selector(".lw-loose [data-card]")
    for key in "n1s":
        page.keyboard.press(key)
    look("rows to sort")
    page.get_by_role("button", name="Two at a time").click()
    for width in (480, 760, 900):  # as in the cell of a notebook
        page.evaluate("width => { document.querySelector('.linkwise').style.width = `${width}px`; }", width)
        found.extend(f"{width} pixels of a wide window: {misfit}" for misfit in find_misfits(page, [1440]))
    page.evaluate("() => { document.querySelector('.linkwise').style.width = ''; }")
    for key, shows in (("?", "dialog"), ("h", ".lw-history li"), ("e", ".lw-results .lw-marking")):
        page.keyboard.press(key)
        page.wait_for_selector(shows)
        look(f"key {key}")
        shut(page)
    page.get_by_role("button", name="Show rules").click()
    page.wait_for_selector(".lw-rules > *")
    look("rules")
    page.get_by_role("button", name="Rows of").first.click()
    page.wait_for_selector(".lw-member > *")
    page.keyboard.press(" ")
    look("rows of a cluster")
    page.get_by_role("button", name="Split…").click()
    page.wait_for_selector("dialog .lw-cards li")
    look("split")
    page.keyboard.press("Escape")
    shut(page)
    page.get_by_role("button", name="Merge").first.press("Enter")
    page.wait_for_selector("dialog .lw-choices")
    look("merge with")
    page.locator("dialog .lw-choices button").first.click()
    page.wait_for_selector("dialog .lw-cards")
    look("merge")
    shut(page)
    page.locator(".lw-link").first.click()
    page.wait_for_selector("dialog")
    look("a row")
    shut(page)
    assert not found, "\n".join(found)


def test_misfits_are_found(browse: Any, served: Any, tmp_path: Path) -> None:
    page = browse(served(lambda: serve_world(tmp_path, "right to left")))
    assert find_misfits(page, [1440]) == []
    page.evaluate("() => { document.querySelector('.lw-answer').style.width = '2000px'; }")
    assert any(".lw-answer" in misfit for misfit in find_misfits(page, [1440]))
