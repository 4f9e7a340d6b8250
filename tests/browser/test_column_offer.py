"""Weights of columns by the answers: one click applies them, another takes them back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from app.cli.test_answers_follow import COMPARED, write_requests
from app.cli.test_column_proposal import write_orders
from browser.test_axe import Look, look, pytestmark  # noqa: F401  # `look` is a fixture
from linkwise.app.page.opening import present_project
from linkwise.app.page.presenter import Presenter
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import open_project
from linkwise.data.reading import Reading


def orders(folder: Path) -> Presenter:
    data = folder / "orders.csv"
    groups = write_orders(data)
    project = open_project(data, folder / "orders.csv.linkwise", Reading(), MethodChoice())
    for _ in range(35):
        question = project.session.question
        assert question is not None
        first, second = (groups[project.session.ids[row]] for row in (question.first, question.second))
        project.session.answer(first == second)
    return present_project(project)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_click_applies_weights_and_another_takes_them_back(
    served: Any,
    browse: Any,
    tmp_path: Path,
    look: Look,  # noqa: F811
    width: int,
) -> None:
    page = browse(served(lambda: orders(tmp_path)), viewport={"width": width, "height": 720})
    offer = page.locator(".lw-column-offer")
    offer.get_by_text(re.compile("would count less: shop, day. .* would count more: size.")).wait_for()
    question, progress, plot = (
        page.locator(each).bounding_box() for each in (".lw-question", ".lw-progress", ".lw-map")
    )
    assert (question["x"] < plot["x"]) == (width == 1280), "the wide layout has two columns"
    if width == 1280:
        assert question["y"] + question["height"] <= 720
        assert plot["y"] + plot["height"] < progress["y"]
        assert offer.bounding_box()["y"] + offer.bounding_box()["height"] <= 720
    if width == 1280:
        look(page, "weights that are offered")
    axes = page.locator(".lw-axes").inner_text()
    offer.get_by_role("button", name="Apply these weights").click()
    offer.get_by_text("Your answers weigh these columns: size, shop, day.").wait_for()
    assert "orders.csv-before.linkwise" in page.locator(".lw-notice").first.inner_text()
    assert page.locator(".lw-axes").inner_text() != axes
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if width == 1280:
        look(page, "weights that were applied")
    offer.get_by_role("button", name="Take the weights back").click()
    page.wait_for_function("words => document.querySelector('.lw-axes').innerText === words", arg=axes)


def requests(folder: Path) -> Presenter:
    data = folder / "requests.csv"
    topics = write_requests(data)
    project = open_project(data, folder / "r.linkwise", Reading(columns=COMPARED), MethodChoice())
    for _ in range(24):
        question = project.session.question
        assert question is not None
        first, second = (topics[project.session.ids[row]] for row in (question.first, question.second))
        project.session.answer(first == second)
    return present_project(project)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_click_opens_the_columns_that_the_answers_follow_and_another_compares_by_them(
    served: Any,
    browse: Any,
    tmp_path: Path,
    look: Look,  # noqa: F811
    width: int,
) -> None:
    page = browse(served(lambda: requests(tmp_path)), viewport={"width": width, "height": 720})
    offer = page.locator(".lw-column-offer")
    offer.get_by_text(re.compile("Your answers do not follow the compared columns")).wait_for()
    assert page.get_by_text(re.compile("probably wrong")).count() == 0
    if width == 1280:
        look(page, "columns that the answers follow")
    assert not offer.get_by_role("button", name="Apply these weights").is_visible()
    offer.get_by_role("button", name="Choose other columns").click()
    page.wait_for_selector(".lw-table tbody tr")
    lines = page.locator(".lw-table tbody tr")
    uses = lines.evaluate_all("lines => lines.map((line) => line.dataset.use)")
    assert uses == ["id", *["show"] * len(COMPARED), "compare"]
    message = lines.filter(has=page.get_by_text("message", exact=True))
    assert message.locator(".lw-soft").inner_text().startswith("Proposed: your answers follow it")
    if width == 1280:
        look(page, "columns that are proposed by the answers")
    assert "A change replays all 24 answers." in page.locator("dialog .lw-foot").inner_text()
    page.get_by_role("button", name="Apply").click()
    page.wait_for_selector("dialog", state="detached")
    offer.get_by_role("button", name="Take the task back").wait_for()
    assert offer.get_by_text(re.compile("Your answers do not follow")).count() == 0
    assert "r-before.linkwise" in page.locator(".lw-notice").first.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
