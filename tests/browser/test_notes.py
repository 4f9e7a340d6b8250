"""Notes at the page: written for the next answer or later, and how long the question was seen."""

import pytest

from browser.presenters import QUESTION, READ_MS, Bundled

pytestmark = pytest.mark.slow

PASS = """([seconds, hidden]) => {
  const now = performance.now.bind(performance);
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
  performance.now = () => now() + 1000 * seconds;
  Object.defineProperty(document, "hidden", { configurable: true, get: () => false });
  document.dispatchEvent(new Event("visibilitychange"));
}"""  # some time passes, perhaps while the page is hidden


@pytest.fixture
def wine(served, browse):
    bundled = Bundled("wine", answers=2)
    return browse(served(bundled)), bundled.session


def open_note(page):
    page.keyboard.press("a")
    return page.get_by_role("textbox", name="Note on your next answer")


def answer(page, key="s"):
    asked = page.evaluate(QUESTION)
    page.wait_for_timeout(READ_MS)
    page.keyboard.press(key)
    page.wait_for_function(f"asked => {QUESTION} !== asked", arg=asked)


def test_a_note_is_written_with_the_keyboard_and_saved_with_the_answer(wine):
    page, session = wine
    field = open_note(page)
    page.keyboard.type("yes, the same y n s")  # no key answers meanwhile
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("<b>bold</b>")
    page.keyboard.press("Enter")
    answer(page)
    last = session.history[-1]
    assert (last.answer, last.note) == ("unsure", "yes, the same y n s\n<b>bold</b>")
    assert last.seconds >= READ_MS / 1000
    assert not field.is_visible()
    answer(page)
    assert session.history[-1].note == ""
    page.keyboard.press("h")
    shown = page.locator(".lw-history .lw-note-text")
    shown.wait_for()
    assert shown.all_inner_texts() == ["Note: yes, the same y n s\n<b>bold</b>"]


def test_the_time_while_the_page_is_hidden_does_not_count(wine):
    page, session = wine
    page.evaluate(PASS, [10_000, False])
    page.evaluate(PASS, [1_000_000, True])
    answer(page)
    assert 10_000 < session.history[-1].seconds < 1_000_000
    page.evaluate(PASS, [1_000_000, True])
    answer(page)
    assert session.history[-1].seconds < 10_000  # counted anew for each question


def test_a_note_is_changed_in_the_history_and_taken_back(wine):
    page, session = wine
    number = session.history[-1].number
    page.keyboard.press("h")
    page.get_by_role("button", name="Add a note: ").first.click()
    dialog = page.get_by_role("dialog", name="Note on")
    dialog.get_by_role("textbox").fill("later")
    dialog.get_by_role("button", name="Save the note").click()
    page.locator(".lw-note-text", has_text="Note: later").wait_for()
    assert [(e.number, e.note) for e in session.history if e.note] == [(number, "later")]
    page.get_by_role("button", name="Edit the note").click()
    assert dialog.get_by_role("textbox").input_value() == "later"
    dialog.get_by_role("textbox").fill("x" * 2001)
    dialog.get_by_role("button", name="Save the note").click()
    dialog.locator(".lw-notice", has_text="The note has 2001 characters").wait_for()
    assert len(dialog.get_by_role("textbox").input_value()) == 2001
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("u")
    page.locator(".lw-notice", has_text=f"the note on answer {number}").wait_for()
    assert session.history[-1].note == ""


def test_a_note_that_is_too_long_stays_in_its_field(wine):
    page, session = wine
    n = len(session.events)
    field = open_note(page)
    field.fill("x" * 2001)
    page.keyboard.press("Escape")
    page.wait_for_timeout(READ_MS)
    page.keyboard.press("y")
    page.locator(".lw-notice", has_text="The note has 2001 characters").wait_for()
    assert len(session.events) == n
    assert field.is_visible()
    assert len(field.input_value()) == 2001
    field.fill("short")
    page.keyboard.press("Enter")
    answer(page)
    assert session.history[-1].note == "short"


def test_a_note_whose_question_is_gone_is_shown(wine):
    page, session = wine
    field = open_note(page)
    field.fill("precious")
    asked = page.evaluate(QUESTION)
    session.answer("unsure")
    page.wait_for_function(f"asked => {QUESTION} !== asked", arg=asked)
    page.locator(".lw-notice", has_text="“precious”").wait_for()
    assert not field.is_visible()
    answer(page)
    assert session.history[-1].note == ""
