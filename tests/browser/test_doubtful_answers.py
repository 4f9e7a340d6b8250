"""A session whose answers may be wrong: the list of answers that are probably wrong."""

from __future__ import annotations

import pytest

from browser.presenters import doubtful, press, shown_as
from linkwise.data.show.items import value_items

pytestmark = pytest.mark.slow


def test_a_change_in_the_history_shows_its_notice_in_the_dialog(served, browse):
    session = doubtful()
    page = browse(served(lambda: shown_as(session, session.X, value_items(session.X, ("x", "y")))))
    page.get_by_role("button", name="History").first.press("Enter")
    dialog = page.get_by_role("dialog", name="History")
    notice = dialog.locator(".lw-notice")

    def change(pair, answer, words):
        group = dialog.get_by_role("group", name=f"Answer about {pair}")
        group.get_by_role("button", name=answer, exact=True).press("Enter")
        page.wait_for_function(
            "words => document.querySelector('dialog .lw-notice').textContent.startsWith(words)", arg=words
        )
        assert notice.is_visible()

    change("row 0 and row 2", "Same", "Saved: row 0 and row 2 are now “same”.")
    assert session.history[2].is_sure
    change("row 0 and row 1", "Different", "Saved: row 0 and row 1 are now “different”.")
    change("row 1 and row 2", "Different", "Saved: row 1 and row 2 are now “different”.")
    assert notice.get_attribute("data-tone") == ""
    change("row 0 and row 1", "Same", "Not stored. This contradicts answers that are certain:")
    assert notice.get_attribute("data-tone") == "warn"
    assert [event.answer for event in session.history[:3]] == ["no", "no", "yes"]


def test_suspects_are_confirmed_and_turned_round(served, browse):
    session = doubtful()
    for number in (4, 5):
        session.set_sure(number)
    assert {suspect.number for suspect in session.suspects} == {3, 6}
    page = browse(served(lambda: shown_as(session, session.X, value_items(session.X, ("x", "y")))))
    panel = page.locator(".lw-progress")
    assert "linkwise assumes that 10 % of the answers are wrong." in panel.inner_text()
    panel.get_by_role("button", name="2 answers are probably wrong.").press("Enter")
    dialog = page.get_by_role("dialog", name="Answers that are probably wrong")
    lines = dialog.get_by_role("listitem")
    lines.first.wait_for()
    assert lines.count() == 2
    shown = lines.filter(has_text="row 0").inner_text()
    assert "Your answer “Different” is" in shown
    assert "Same for row 0 and row 1; Same for row 1 and row 2." in shown

    def press_button(name, key, words):
        dialog.get_by_role("button", name=name).press("Enter")
        page.wait_for_selector(f"[data-key='{key}']", state="detached")
        page.wait_for_function(  # screen readers announce it
            "words => document.querySelector('dialog > [role=status]').textContent.startsWith(words)",
            arg=words,
        )
        assert page.evaluate("() => document.activeElement.tagName") == "H2"

    dialog.get_by_role("button", name="I am sure (row 20 and row 22: different)").press("Enter")
    problem = dialog.locator(".lw-notice")
    problem.wait_for()  # the other two answers are certain
    assert problem.inner_text().startswith("Not stored.")
    assert not session.history[5].is_sure
    words = "Saved: row 20 and row 22 are now “same”."
    press_button("Flip answer (row 20 and row 22: different)", "6-turn", words)
    assert session.history[5].answer == "yes"
    assert problem.is_hidden()
    words = "Saved: “row 0 and row 2: different” is certain from now on."
    press_button("I am sure (row 0 and row 2: different)", "3-sure", words)
    assert session.history[2].is_sure
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")

    n = len(session.history)
    press(page, "y")  # the keys answer again
    assert len(session.history) == n + 1
