"""The columns of a table: they open before the first answer, and a person uses them otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from app.page.test_column_tasks import write_contacts
from app.page.test_table_columns import write_people
from browser.test_axe import Look, look, pytestmark  # noqa: F401  # `look` is a fixture
from linkwise.app.page.opening import present_project
from linkwise.app.page.presenter import Presenter
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.app.project.project import open_project
from linkwise.data.reading import Reading

WIDE = 200  # columns


def people(folder: Path, answers: int = 0) -> Presenter:
    data = folder / "people.csv"
    write_people(data)
    project = open_project(data, folder / "people.csv.linkwise", Reading(), MethodChoice())
    for _ in range(answers):
        question = project.session.question
        assert question is not None
        project.session.answer(question.first % 2 == question.second % 2)
    return present_project(project)


def wide(folder: Path) -> Presenter:
    data = folder / "wide.csv"
    columns = {
        f"measurement {at}": [(row * (at + 3)) % 17 / 16 for row in range(30)] for at in range(WIDE - 1)
    }
    pl.DataFrame({"name": [f"N{row}" for row in range(30)], **columns}).write_csv(data)
    return present_project(open_project(data, folder / "wide.csv.linkwise", Reading(), MethodChoice()))


@pytest.fixture
def opened(served: Any, browse: Any) -> Callable[..., Any]:
    def open_page(begin: Callable[[], Presenter], width: int = 1440, height: int = 900) -> Any:
        page = browse(served(begin), viewport={"width": width, "height": height})
        return page

    return open_page


def line(page: Any, name: str) -> Any:
    return page.locator(".lw-table tbody tr").filter(has=page.get_by_text(name, exact=True))


def names_in(page: Any, place: str) -> list[str]:
    """The fields of two rows, without what is said of their difference."""
    found = page.locator(f"{place} .lw-fields tbody th[scope=row]").all_inner_texts()
    return [name.split(",")[0].strip("≠ \n") for name in found]


@pytest.mark.parametrize(
    "width",
    [1440, 390, *(pytest.param(width, marks=pytest.mark.slow(nightly=True)) for width in (1280, 1024))],
)
def test_the_columns_open_first_and_every_choice_shows_in_the_preview(
    opened: Any,
    tmp_path: Path,
    look: Look,  # noqa: F811
    width: int,
) -> None:
    page = opened(lambda: people(tmp_path), width)
    page.wait_for_selector(".lw-table tbody tr")
    assert page.evaluate("document.activeElement.innerText") == "Start"
    assert page.locator("dialog .lw-foot").inner_text() == "Start"
    assert names_in(page, ".lw-preview") == ["age", "income", "plan", "zip", "code", "bonus"]
    if width == 1440:
        look(page, "columns")
    assert line(page, "zip").locator(".lw-soft").inner_text().startswith("Proposed: ")
    line(page, "zip").get_by_role("button", name="Undo the proposal for zip").click()
    assert line(page, "zip").get_by_label("Kind of zip").input_value() == "number"
    assert line(page, "zip").get_by_role("button", name="Reset zip").is_visible()
    line(page, "bonus").get_by_text("Compare", exact=True).click()
    line(page, "plan").get_by_text("Ignore", exact=True).click()
    assert names_in(page, ".lw-preview") == ["age", "income", "zip", "bonus", "code"]
    if width == 1440:
        look(page, "columns that were changed")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    overlaps = """() => [...document.querySelectorAll(".lw-table-scroll, .lw-table td, .lw-table th")]
      .filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.innerText)"""
    assert page.evaluate(overlaps) == []
    page.get_by_text("How the data were read").click()
    said = page.get_by_text("Columns are separated by commas.")
    said.wait_for()
    start = page.get_by_role("button", name="Start")
    assert said.bounding_box()["y"] < start.bounding_box()["y"] < page.evaluate("innerHeight")
    start.click()
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_function("() => !document.querySelector('.lw-question').innerText.includes('plan')")
    assert names_in(page, ".lw-question") == ["age", "income", "zip", "bonus", "code"]
    assert sorted(path.suffix for path in tmp_path.iterdir() if "before" in path.name) == []


def test_rows_of_other_columns_are_placed_by_neighbours_unasked_again(opened: Any, tmp_path: Path) -> None:
    page = opened(lambda: wide(tmp_path))
    page.wait_for_selector(".lw-axes >> text=No axes:")
    page.locator(".lw-table tbody tr").nth(1).get_by_text("Ignore", exact=True).click()
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector("button >> text=Map by neighbours")
    page.wait_for_selector(".lw-axes >> text=No axes:")


def test_start_changes_nothing_by_itself(opened: Any, tmp_path: Path) -> None:
    page = opened(lambda: people(tmp_path))
    page.wait_for_selector(".lw-table tbody tr")
    page.keyboard.press("Enter")  # the button has the focus
    page.wait_for_selector("dialog", state="detached")
    assert page.locator(".lw-notice:visible").count() == 0
    page.wait_for_timeout(200)  # an answer that comes too soon is not taken
    page.keyboard.press("y")
    page.wait_for_function("() => document.querySelector('.lw-eyebrow').innerText.startsWith('Question 2')")
    page.reload()
    page.wait_for_selector(".lw-cluster")
    assert page.locator("dialog").count() == 0


def test_a_later_change_says_what_it_does_and_does_it(
    opened: Any,
    tmp_path: Path,
    look: Look,  # noqa: F811
) -> None:
    page = opened(lambda: people(tmp_path, 6))
    assert page.locator("dialog").count() == 0
    page.keyboard.press("c")
    page.wait_for_selector(".lw-table tbody tr")
    words = "A change replays all 6 answers. A copy of the session is kept in people.csv-before.linkwise."
    assert words in page.locator("dialog .lw-foot").inner_text()
    apply = page.get_by_role("button", name="Apply")
    assert apply.get_attribute("aria-disabled") == "true"
    assert line(page, "person").get_by_role("radio").count() == 1, "the answers know their rows by these ids"
    for name in ("age", "income", "plan", "zip"):
        line(page, name).get_by_text("Show", exact=True).click()
    apply.click()
    page.locator("dialog .lw-notice[data-tone=warn]").wait_for()
    assert "No column is left to compare" in page.locator("dialog .lw-notice").inner_text()
    look(page, "columns that cannot be used so")
    line(page, "age").get_by_role("button", name="Reset age").click()
    apply.click()
    page.wait_for_selector("dialog", state="detached")
    notice = page.locator(".lw-question .lw-notice")
    notice.get_by_text(
        "All answers were replayed. The session as it was is in people.csv-before.linkwise."
    ).wait_for()
    assert (tmp_path / "people.csv-before.linkwise").exists()
    page.get_by_role("button", name="Columns").click()
    line(page, "age").get_by_text("100 %").wait_for()


def test_the_keyboard_chooses(opened: Any, tmp_path: Path) -> None:
    page = opened(lambda: people(tmp_path))
    line(page, "age").get_by_role("radio", name="Compare").focus()
    page.keyboard.press("ArrowRight")
    assert line(page, "age").get_by_role("radio", name="Show").is_checked()
    assert line(page, "age").get_by_role("radiogroup", name="Use of age").count() == 1
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


@pytest.mark.parametrize("width", [1440, 390])
def test_two_hundred_columns(opened: Any, tmp_path: Path, width: int) -> None:
    page = opened(lambda: wide(tmp_path), width, 844)
    lines = page.locator(".lw-table tbody tr:visible")
    page.wait_for_selector(".lw-table tbody tr")
    assert lines.count() == WIDE
    start = page.get_by_role("button", name="Start").bounding_box()
    assert start["y"] + start["height"] <= 844, "Start is in sight"
    page.get_by_role("searchbox", name="Search the columns by name").fill("ment 17")
    assert lines.count() == 11
    lines.nth(1).get_by_text("Ignore", exact=True).click()
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_function(
        "() => !document.querySelector('.lw-question').innerText.includes('measurement 170')"
    )


def contacts(folder: Path) -> Presenter:
    data = folder / "contacts.csv"
    write_contacts(data)
    kept = SessionOptions(as_is=True)
    return present_project(
        open_project(data, folder / "c.linkwise", Reading(id_column="id"), MethodChoice(), kept)
    )


def test_a_click_finds_duplicates_with_the_learner_for_them(
    opened: Any,
    tmp_path: Path,
    look: Look,  # noqa: F811
) -> None:
    page = opened(lambda: contacts(tmp_path))
    page.wait_for_selector(".lw-table tbody tr")
    page.get_by_role("button", name="Find duplicates").click()
    assert line(page, "street").get_attribute("data-use") == "compare"
    assert line(page, "region").get_attribute("data-use") == "show"
    look(page, "columns for duplicates")
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector("dialog", state="detached")
    page.get_by_text(re.compile("RecordLinkage")).first.wait_for()
    page.keyboard.press("c")
    page.wait_for_selector(".lw-table tbody tr")
    page.get_by_role("button", name="Group records").click()
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector("dialog", state="detached")
    page.get_by_text(re.compile("KIN")).first.wait_for()
