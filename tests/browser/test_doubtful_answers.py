"""A session whose answers may be wrong: the list of answers that are probably wrong."""

from __future__ import annotations

import pytest

from browser.presenters import doubtful, press, shown_as
from linkwise.data.show.items import value_items
from session.session_examples import OF_ANOTHER_PILE, misplace

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


def test_a_misplaced_card_is_moved_and_another_one_confirmed(served, browse):
    session = misplace(OF_ANOTHER_PILE)
    page = browse(served(lambda: shown_as(session, session.X, value_items(session.X, ("x", "y")))))
    page.get_by_role("button", name="1 answer is probably wrong.").press("Enter")
    dialog = page.get_by_role("dialog", name="Answers that are probably wrong")
    line = dialog.get_by_role("listitem")
    line.wait_for()
    shown = line.inner_text()
    assert shown.startswith("row 16\n")
    assert "anna put this card into a pile that is likely wrong." in shown
    assert (
        "It is in a pile with row 0, row 6, row 7, and probably belongs with row 10, row 17, row 18." in shown
    )
    for button, words in (
        ("I am sure", "Saved: row 16 stays in its pile. This is certain from now on."),
        ("Move card", "Saved: row 16 is in the pile where it probably belongs."),
    ):
        dialog.get_by_role("button", name=f"{button} (row 16)").press("Enter")
        page.wait_for_function(
            "words => document.querySelector('dialog > [role=status]').textContent.startsWith(words)",
            arg=words,
        )
        line.wait_for(state="detached")
        if button == "I am sure":
            session.undo()
            line.wait_for()
    assert session.history[1].sorting.piles == ((0, 6, 7), (16, 10, 17, 18))
