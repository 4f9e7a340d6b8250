"""The team on its page: how often each is wrong and whether they agree, examples, and rows that moved."""

import re

import numpy as np
import pytest

from browser.presenters import READ_MS, pair, shown_as
from browser.test_axe import Look, look, pytestmark  # noqa: F401  # `look` is a fixture
from linkwise.data.show.items import value_items
from linkwise.learn.kin.kin import KIN
from linkwise.session.journal.events import Example
from linkwise.session.session import Session

PEOPLE = ("anna", "ben", "carl")
Y = np.arange(60) % 3


@pytest.fixture(scope="module")
def team(chromium):
    """A server for three people, two of whom have given many answers, and its session."""
    from bench.served import Served

    rng = np.random.default_rng(0)
    X = np.array([[0, 0], [3, 0], [0, 3]])[Y] + rng.normal(0, 0.3, (60, 2))
    session = Session(X, KIN(random_state=0), error_rate=None)
    for person, n, n_wrong in (("anna", 24, 1), ("ben", 20, 3), ("carl", 4, 0)):
        for row in range(1, n + 1):
            is_same = (Y[0] == Y[row]) != (row <= n_wrong)
            session.add(0, row, "must-link" if is_same else "cannot-link", source=person)
    session.set_examples([(6, 9, True, "in the same corner")])
    served = Served(lambda: shown_as(session, X, value_items(X, ("x", "y")), places=X), people=PEOPLE)
    served.wait()
    yield served, session
    served.close()


@pytest.fixture
def anna(team, browse):
    """The page of anna, after the examples have opened by themselves."""
    served, _ = team

    class Link:
        def address(self):
            return served.addresses()["anna"]

    page = browse(Link())
    page.get_by_role("dialog", name="Guidelines").wait_for()
    shut(page)
    return page


def shut(page):
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


def test_the_team_dialog_says_who_errs_and_who_agrees(anna, look):  # noqa: F811
    anna.keyboard.press("t")
    dialog = anna.get_by_role("dialog", name="Team")
    dialog.locator(".lw-report li").first.wait_for()
    each, both = (part.inner_text() for part in dialog.locator(".lw-report").all())
    assert re.search(r"anna\s+Wrong in about \d+ % of the answers, probably (between|at most) \d", each)
    assert re.search(r"carl\s+Not known yet: it takes 10 answers of same or different", each)
    assert "anna and ben" in both
    assert re.search(r"The same answer in 18 of 20 shared questions\. Kappa 0\.\d\d, probably between", both)
    assert re.search(r"anna and carl\s+The same answer in 3 of 4 shared questions\.\n", both)
    assert dialog.get_by_text("Kappa is shown from 10 shared questions on.").is_visible()
    look(anna, "team")
    anna.set_viewport_size({"width": 360, "height": 740})
    look(anna, "team on a phone")
    assert anna.evaluate(
        "() => { const d = document.querySelector('dialog'); return d.scrollWidth <= d.clientWidth }"
    )
    anna.keyboard.press("Tab")
    assert anna.evaluate("() => document.activeElement.closest('dialog') !== null")
    shut(anna)


def test_the_team_dialog_opens_from_the_progress_panel_by_keyboard(anna):
    anna.get_by_role("button", name="Team").focus()
    anna.keyboard.press("Enter")
    anna.get_by_role("dialog", name="Team").locator(".lw-report li").first.wait_for()
    shut(anna)
    assert anna.evaluate("() => document.activeElement.textContent").startswith("Team")


def test_a_pair_becomes_an_example_in_one_action(team, anna, look):  # noqa: F811
    _, session = team
    anna.keyboard.press("i")
    dialog = anna.get_by_role("dialog", name="Guidelines")
    dialog.locator(".lw-marking button").first.wait_for()
    assert "in the same corner" in dialog.inner_text()
    look(anna, "guidelines with an example")
    names = [f"row {row}" for row in pair(anna)]
    dialog.get_by_role("group", name="Make the present question an example").get_by_role(
        "button", name="Different"
    ).press("Enter")
    dialog.locator("li", has_text=names[0]).filter(has_text=names[1]).wait_for()
    assert session.examples[-1].answer == "no"
    assert {f"row {row}" for row in session.examples[-1][:2]} == set(names)
    dialog.locator(".lw-notice", has_text="are an example of “different”").wait_for()
    dialog.get_by_role("button", name="Remove the example: row 6 and row 9").press("Enter")
    dialog.get_by_text("in the same corner").wait_for(state="detached")
    assert anna.evaluate("() => document.activeElement.closest('dialog') !== null")
    shut(anna)
    anna.keyboard.press("h")
    anna.locator(".lw-history li").first.wait_for()
    mark = anna.get_by_role("button", name="Use as an example: row 0 and row 4").first
    mark.press("Enter")
    anna.get_by_role("button", name="Remove example: row 0 and row 4").first.wait_for()
    look(anna, "history with an example")
    assert session.examples[-1][:3] == Example(0, 4, "no")[:3]
    shut(anna)


def test_each_person_is_told_how_many_rows_moved(anna):
    anna.wait_for_timeout(READ_MS)
    anna.keyboard.press("n")
    anna.locator(".lw-card .lw-notice", has_text=re.compile(r"rows? moved")).first.wait_for()
