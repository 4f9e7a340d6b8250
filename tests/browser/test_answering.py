"""A person at the page: answers, doubts, undoes, comes back, has two windows open."""

from __future__ import annotations

import re

import pytest
from sklearn.metrics import adjusted_rand_score

from browser.presenters import (
    QUESTION,
    Bundled,
    advised,
    by_truth,
    describe_moved,
    pair,
    press,
    press_early,
    read,
)
from linkwise.app.page.presented_items import present_session
from linkwise.learn.advice import StopAdvice
from linkwise.learn.records.linkage import RecordLinkage
from linkwise.session.session import Session
from record_worlds import draw_world

pytestmark = pytest.mark.slow

STATUS = "document.querySelector('.linkwise > [role=status]').textContent"
STOP = "You can stop here: about 12 of 500 rows may be in a wrong cluster."


@pytest.fixture(scope="module")
def wine(served):
    """A session that several tests go on with; each looks at what changes."""
    bundled = Bundled("wine", answers=6)
    return served(bundled), bundled


def test_the_end_of_a_session_by_keyboard(served, browse):
    whole = Bundled("iris")
    while (question := whole.session.question) is not None:
        whole.session.answer(whole.oracle(question.first, question.second))
    bundled = Bundled("iris", answers=whole.n_answers - 10)
    page = browse(served(bundled))
    while page.locator(".lw-finish").is_hidden():
        press(page, by_truth(page, bundled))
    assert adjusted_rand_score(bundled.data.y, bundled.session.labels) == 1
    told = page.locator(".lw-finish").inner_text()
    assert "3 clusters in 150 rows" in told
    agreement = page.locator(".lw-progress").inner_text()
    assert "Agreement with the known classes (adjusted Rand index): 1.00." in agreement
    assert [each.inner_text() for each in page.locator(".lw-size").all()] == ["50 rows · 33 %"] * 3
    assert page.evaluate("document.activeElement.className") == "linkwise"


def test_budget_ends_the_questions(served, browse):
    page = browse(served(Bundled("wine", answers=2, budget=3)))
    assert page.locator(".lw-eyebrow").inner_text() == "Question 3 of 3"
    press(page, "n")
    assert page.locator(".lw-question h2").inner_text() == "The question limit is reached"


def test_a_bar_shows_how_much_of_the_budget_is_done(served, browse):
    page = browse(served(Bundled("wine", answers=5, budget=7)))
    bar = page.get_by_role("progressbar", name="Answers of the budget")
    assert (bar.get_attribute("aria-valuenow"), bar.get_attribute("aria-valuemax")) == ("5", "7")
    press(page, "y")
    page.wait_for_function(f"{QUESTION}.startsWith('Question 7 ')")
    assert bar.get_attribute("aria-valuenow") == "6"
    told = page.locator(".lw-goal p").inner_text()
    assert re.fullmatch(r"6 of 7 answers · median [\d.]+ s per answer · about 1 minute left", told), told


@pytest.mark.parametrize(
    ("advice", "words", "stop"),
    [
        (StopAdvice(True, 0.024, n_open=3), f"A is. {STOP} 3 pairs of clusters may be one.", "true"),
        (StopAdvice(False, 0.3), "A is.", "false"),
        (None, "", "false"),
    ],
    ids=["stop", "go on", "none"],
)
def test_the_advice_is_that_of_the_learner(advice, words, stop, served, browse):
    line = browse(served(advised(advice))).locator(".lw-advice")
    assert line.inner_text() == words
    assert line.get_attribute("data-stop") == stop


def test_answer_unsure_undo(wine, browse):
    server, bundled = wine
    page = browse(server)
    n, first = bundled.n_answers, pair(page)
    press(page, "s")
    assert bundled.session.history[-1].answer == "unsure"
    press(page, by_truth(page, bundled))
    assert bundled.n_answers == n + 2
    press(page, "u")
    assert bundled.n_answers == n + 1
    before = bundled.session.labels
    press(page, "u")
    assert bundled.n_answers == n
    assert pair(page) == first
    notice, moved = page.locator(".lw-notice"), describe_moved(before, bundled.session)
    wanted = f"Taken back: “row {first[0]} and row {first[1]}: not sure”. {moved}"
    page.wait_for_function("words => document.querySelector('.lw-notice').textContent === words", arg=wanted)
    assert notice.get_attribute("data-tone") == "calm"


def test_buttons_do_what_keys_do(wine, browse):
    server, bundled = wine
    page = browse(server)
    n = bundled.n_answers
    for name, said in (("Same", "yes"), ("Different", "no"), ("Not sure", "unsure")):
        before = page.evaluate(QUESTION)
        read(page)
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_function(f"before => {QUESTION} !== before", arg=before)
        assert bundled.session.history[-1].answer == said
        press(page, "u")
    assert bundled.n_answers == n


def test_a_question_is_put_off_and_no_answer_is_stored(wine, browse):
    server, bundled = wine
    page = browse(server)
    n, first = bundled.n_answers, pair(page)
    page.keyboard.press("l")
    page.locator(".lw-notice").get_by_text("The question comes back after others.").wait_for()
    other = pair(page)
    assert {*other} != {*first}
    page.reload()
    page.wait_for_selector(".lw-cluster")
    assert pair(page) == other
    press(page, by_truth(page, bundled))
    assert {*pair(page)} != {*first}
    assert bundled.n_answers == n + 1
    second = pair(page)
    page.get_by_role("button", name="Later").click()
    page.locator(".lw-notice").get_by_text("comes back after others.").wait_for()
    assert {*pair(page)} != {*second}
    assert bundled.n_answers == n + 1
    press(page, "u")
    assert bundled.n_answers == n


def test_reload_resumes(wine, browse):
    server, _ = wine
    page = browse(server)
    press(page, "s")
    asked, shown = page.evaluate(QUESTION), pair(page)
    page.reload()
    page.wait_for_selector(".lw-cluster")
    assert (page.evaluate(QUESTION), pair(page)) == (asked, shown)
    press(page, "y")  # keys work without a click
    assert page.evaluate(QUESTION) != asked


def test_two_windows(wine, browse):
    server, bundled = wine
    page = browse(server)
    held, here = [], {}

    def slow(route):
        """A window that hears late of what the other one did."""
        there = route.connect_to_server()
        there.on_message(lambda message: held.append(message) if here.get("late") else route.send(message))
        route.on_message(there.send)
        here["route"] = route

    other = page.context.new_page()
    other.route_web_socket("**/ws", slow)
    other.goto(page.url)
    other.wait_for_selector(".lw-cluster")
    assert pair(other) == pair(page)
    press(page, "s")
    other.wait_for_function(f"asked => {QUESTION} === asked", arg=page.evaluate(QUESTION))
    assert pair(other) == pair(page)  # each sees what the other said

    here["late"], n = True, bundled.n_answers
    press(page, "s")
    read(other)
    other.keyboard.press("y")
    page.wait_for_timeout(400)
    here["late"] = False
    for message in held:
        here["route"].send(message)
    other.wait_for_selector(".lw-notice[data-tone=warn]")
    assert "was not stored" in other.locator(".lw-notice").inner_text()
    assert bundled.n_answers == n + 1
    assert bundled.session.history[-1].answer == "unsure"
    assert pair(other) == pair(page)


def test_hasty_presses_answer_once(wine, browse):
    server, bundled = wine
    sent = []
    page = browse(
        server, before=lambda p: p.on("websocket", lambda s: s.on("framesent", lambda f: sent.append(f)))
    )
    n, before = bundled.n_answers, page.evaluate(QUESTION)
    read(page)
    page.evaluate("""() => { const root = document.querySelector(".linkwise");
        for (const key of "ynyys")
          root.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true})); }""")
    page.keyboard.press("Shift")
    page.wait_for_function(f"before => {QUESTION} !== before", arg=before)
    page.wait_for_function(f"() => {STATUS}.startsWith('Saved.')")
    assert "was ignored" in page.locator(".lw-notice").inner_text()  # also after the first was saved
    assert "was ignored" in page.evaluate(STATUS)
    assert sum('"do":"answer"' in frame for frame in sent) == 1
    assert bundled.n_answers == n + 1
    assert bundled.session.history[-1].answer == "yes"


def test_a_key_before_one_has_read_is_not_taken(wine, browse):
    server, bundled = wine
    page = browse(server)
    n = bundled.n_answers
    press_early(page, "s")
    page.wait_for_selector(".lw-notice[data-tone=warn]")
    assert "before you could read" in page.locator(".lw-notice").inner_text()
    page.wait_for_function(f"() => {STATUS}.startsWith('Saved.')")
    assert bundled.n_answers == n + 1
    press(page, "s")
    assert bundled.n_answers == n + 2
    page.wait_for_selector(".lw-notice[data-tone=calm]")  # the warning is gone
    assert page.locator(".lw-notice").inner_text().endswith(" moved.")


def test_keys_are_no_keys_in_a_name(wine, browse):
    server, bundled = wine
    page = browse(server)
    n = bundled.n_answers
    name = page.locator(".lw-name").first
    name.click()
    page.keyboard.type("yn suw")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('[role=status]').textContent.includes('yn suw')")
    assert bundled.n_answers == n
    assert list(bundled.session.names.values()) == ["yn suw"]
    name.fill("")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('[role=status]').textContent.includes('no name')")
    assert not bundled.session.names


def test_keys_stay_in_the_widget(wine, browse):
    server, bundled = wine
    page = browse(server)
    n = bundled.n_answers
    page.evaluate(
        "() => { window.heard = []; document.addEventListener('keydown', (e) => heard.push(e.key)); }"
    )
    for combined in ("Control+y", "Alt+n", "Meta+s"):
        page.keyboard.press(combined)
    page.evaluate("heard.length = 0")
    for key in ("w", "g", "w", "x", "ArrowDown", "+", "0"):
        page.keyboard.press(key)
    assert page.evaluate("heard") == []
    page.evaluate("document.activeElement.blur()")
    read(page)
    page.keyboard.press("y")
    assert page.evaluate("heard") == ["y"]
    assert bundled.n_answers == n


def test_guess_is_hidden_until_asked_for(wine, browse):
    server, _ = wine
    page = browse(server)
    guess, why = page.locator(".lw-guess"), page.locator(".lw-why")
    assert not guess.is_visible()
    assert not why.is_visible()
    page.keyboard.press("g")
    page.keyboard.press("w")
    assert guess.inner_text() in {f"The current clustering suggests “{it}”." for it in ("same", "different")}
    assert why.inner_text()
    press(page, "s")
    assert not guess.is_visible()


def test_the_guess_of_linked_records_has_a_bar_for_each_column(served, browse):
    world = draw_world()
    session = Session(world.table, RecordLinkage(random_state=0))
    page = browse(served(lambda: present_session(session)))
    bars = page.locator(".lw-guess .lw-part-track")
    assert not bars.first.is_visible()
    page.keyboard.press("g")
    told = page.locator(".lw-guess").inner_text()
    assert "All in all, one record is" in told
    names = page.locator(".lw-guess .lw-part-name").all_inner_texts()
    assert names == ["name", "street", "phone", "shop", "as wholes"]
    found = session.explain_pair(session.question.first, session.question.second)
    parts = [*found.columns.values(), found.whole]
    for bar, part in zip(page.locator(".lw-part").all(), parts, strict=True):
        place, track = bar.bounding_box(), bar.locator("..").bounding_box()
        middle = track["x"] + track["width"] / 2
        end = place["x"] if part > 0 else place["x"] + place["width"]
        assert end == pytest.approx(middle, abs=1), "it begins in the middle"
        assert place["width"] <= track["width"] / 2 + 1
    announced = page.evaluate(STATUS)
    assert announced.endswith("probable.") or announced.endswith("records.") or announced.endswith("record.")


def test_saved_appears_after_the_reply(wine, browse):
    server, bundled = wine
    held, here = [], {"late": False}

    def slow(route):
        there = route.connect_to_server()
        there.on_message(lambda message: held.append(message) if here["late"] else route.send(message))
        route.on_message(there.send)
        here["route"] = route

    page = browse(server, before=lambda p: p.route_web_socket("**/ws", slow))
    saved, live = page.locator(".lw-saved"), page.locator(".linkwise > [role=status]")
    read(page)
    here["late"], before = True, bundled.session.labels
    page.keyboard.press("s")
    page.wait_for_selector(".lw-saved[data-is=saving]")
    assert "Saved" not in live.inner_text()
    assert page.locator(".lw-yes").get_attribute("aria-disabled") == "true"
    page.wait_for_timeout(100)
    here["late"] = False  # after the wait: a message that comes meanwhile must not overtake the held ones
    for message in held:
        here["route"].send(message)
    page.wait_for_function(
        "() => document.querySelector('.linkwise > [role=status]').textContent.startsWith('Saved.')"
    )
    first, second = pair(page)
    moved = describe_moved(before, bundled.session)
    assert live.inner_text() == f"Saved. {moved} Next question: row {first} and row {second}."
    assert page.locator(".lw-notice").inner_text() == moved
    assert saved.get_attribute("data-is") == "memory"  # this session has no file
