"""What a person says besides answers, and how contradictions are talked over."""

from __future__ import annotations

import csv
import io
import sqlite3
import time
from contextlib import closing

import numpy as np
import pytest

from browser.presenters import Bundled, describe_moved, pair, press, shown_as
from linkwise.app.page.lookups import LOOKUPS
from linkwise.data.show.items import Items, image_items, series_items, text_items
from linkwise.learn.cobras.cobras import COBRAS
from linkwise.session.session import Session

pytestmark = pytest.mark.slow

EVIL = "<img src=x onerror='window.hit=1'><b>bold</b>&amp;\"'"


def notice(page, start):
    page.wait_for_function(
        "start => document.querySelector('.lw-notice').textContent.startsWith(start)", arg=start
    )
    return page.locator(".lw-notice").first.inner_text()


def small(said=()):
    """Eight rows in two groups; what was said about them."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [9, 8], [8, 9], [8, 8]], dtype=float)
    session = Session(X, COBRAS(random_state=0))
    for first, second, kind in said:
        session.add(first, second, kind)
    return session, X


def plain(session, X, **more):
    return shown_as(session, X, Items("record", lambda row: {"a": str(X[row, 0])}, lambda row: None), **more)


CHAIN = [(0, 1, "must-link"), (1, 2, "must-link"), (2, 4, "cannot-link")]


def volunteer(page, first, second, words):
    """Choose two rows by the dialog of an item, and say how they stand."""
    for row, button in ((first, "Select as first"), (second, "Select as second")):
        page.get_by_role("button", name=f"row {row}", exact=True).first.click()
        page.get_by_role("button", name=button).click()
    page.get_by_role("button", name=words).click()


@pytest.fixture
def chained(served, browse):
    """Rows 0, 1 and 2 are known to be together, 4 to be apart from them; all rows are exemplars."""
    session, X = small(CHAIN)
    presenter = plain(session, X)
    presenter._content._typical = {
        label: tuple(np.flatnonzero(session.labels == label).tolist()) for label in np.unique(session.labels)
    }
    presenter._content.event = -2  # look again, with these
    presenter._content.refresh()
    return browse(served(lambda: presenter)), session


def test_volunteered_pair(chained):
    page, session = chained
    before = session.labels
    volunteer(page, 5, 6, "Mark as same")
    words = notice(page, "Saved")
    assert words == f"Saved: row 5 and row 6 are marked as same. {describe_moved(before, session)}"
    last = session.history[-1]
    assert (last.first, last.second, last.answer) == (5, 6, "yes")
    assert page.locator(".lw-chosen").is_hidden()


def test_contradiction_names_the_chain_and_changes_a_link(chained):
    page, session = chained
    n = len(session.history)
    volunteer(page, 0, 4, "Mark as same")
    page.wait_for_selector(".lw-chain")
    links = {each.inner_text().split("\n")[0] for each in page.locator(".lw-chain .lw-description").all()}
    assert links == {
        "row 1 and row 0: same",
        "row 2 and row 1: same",
        "row 2 and row 4: different",
        "row 0 and row 4: same",
    }
    assert len(session.history) == n
    page.get_by_role("button", name="Change to Same (row 2 and row 4: different)").click()
    # the answer itself follows from the change
    assert notice(page, "Saved") == "Saved: row 0 and row 4 are marked as same. No row moved."
    assert page.locator("dialog").count() == 0
    assert session.labels[0] == session.labels[4]
    assert {(e.first, e.second): e.answer for e in session.history}[2, 4] == "yes"


def test_contradiction_by_taking_a_link_back(chained):
    page, session = chained
    volunteer(page, 0, 4, "Mark as same")
    page.get_by_role("button", name="Take back (row 2 and row 1: same)").click()
    assert (
        notice(page, "Saved")
        == "Saved: row 0 and row 4 are marked as same. 3 rows moved: most from Cluster 0 to Cluster 1."
    )
    assert session.labels[0] == session.labels[4] != session.labels[2]


def test_what_gave_way_already_is_reported_when_the_rest_is_left(served, browse):
    said = [(0, 1), (1, 2), (0, 3), (3, 2)]
    session, X = small([*((i, j, "must-link") for i, j in said), (1, 4, "cannot-link")])
    page = browse(served(lambda: plain(session, X)))
    volunteer(page, 0, 2, "Mark as different")
    page.wait_for_selector(".lw-chain")
    page.locator(".lw-chain button", has_text="Take back").first.click()
    page.wait_for_selector(".lw-steps")
    assert page.locator("dialog h2").inner_text() == "Your answer conflicts with another answer, too"
    assert "is taken back. You can revert this in the history." in page.locator(".lw-steps").inner_text()
    assert len(session.history) == 4
    page.get_by_role("button", name="Keep the remaining answers").click()
    page.wait_for_selector("dialog", state="detached")
    told = page.locator(".lw-notice").inner_text()
    assert told.startswith("Your last answer was not stored. Already changed:")
    assert len(session.history) == 4


def test_history_behind_a_contradiction_is_fresh(chained):
    page, session = chained
    page.keyboard.press("h")
    lines = page.locator(".lw-history > li")
    lines.first.wait_for()
    lines.first.get_by_role("button", name="Same", exact=True).click()
    page.wait_for_function(
        "() => document.querySelectorAll('.lw-history [aria-pressed=true]')[0].textContent === 'Same'"
    )
    session.add(5, 6, "must-link")  # another cell, another window
    page.wait_for_function("() => document.querySelectorAll('.lw-history > li').length === 4")


def test_a_conflict_from_the_history_ends_with_a_notice_in_the_history(chained):
    page, session = chained
    session.add(0, 2, "must-link")
    page.keyboard.press("h")
    history = page.get_by_role("dialog", name="History")
    group = history.get_by_role("group", name="Answer about row 0 and row 2")

    group.get_by_role("button", name="Different", exact=True).press("Enter")
    page.locator(".lw-chain button", has_text="Take back").first.press("Enter")
    page.wait_for_function(
        "() => document.querySelector('.lw-drawer .lw-notice').textContent.startsWith('Saved: ')"
    )
    notice = history.locator(".lw-notice")
    assert notice.is_visible()
    assert notice.inner_text().startswith("Saved: row 0 and row 2 are now “different”.")
    assert [event.answer for event in session.history] == ["yes", "no", "no"]


def test_contradiction_left_as_it_was(chained):
    page, session = chained
    before = session.history
    volunteer(page, 0, 4, "Mark as same")
    page.get_by_role("button", name="Keep the earlier answers").click()
    page.wait_for_selector("dialog", state="detached")
    assert session.history == before
    assert page.locator(".lw-chosen").is_visible()


def test_history_changes_and_takes_back(served, browse):
    bundled = Bundled("wine", answers=4)
    page = browse(served(bundled))
    page.keyboard.press("h")
    lines = page.locator(".lw-history > li")
    lines.first.wait_for()
    assert lines.count() == 4
    event = bundled.session.history[-1]
    assert (
        lines.first.locator("[aria-pressed=true]").inner_text()
        == {"yes": "Same", "no": "Different"}[event.answer]
    )
    lines.first.get_by_role("button", name="Not sure").click()
    page.wait_for_function(
        "() => document.querySelector('.lw-history [aria-pressed=true]').textContent === 'Not sure'"
    )
    assert bundled.session.history[-1].answer == "unsure"
    assert page.evaluate("() => document.activeElement.textContent") == "Not sure"  # focus stays on the line
    lines.nth(1).get_by_role("button", name="Take back").click()
    page.wait_for_function("() => document.querySelectorAll('.lw-history > li').length === 3")
    assert bundled.n_answers == 3
    page.keyboard.press("y")  # no answer: a dialog is open
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert bundled.n_answers == 3


def test_the_rows_that_moved_are_shown_and_announced(served, browse):
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    session = Session(X, COBRAS(random_state=0))
    page = browse(served(lambda: plain(session, X)))

    def check(words, live):
        assert notice(page, words) == words
        if live == above:  # the notice of the page is behind the dialog, whose own comes with the new list
            page.locator("dialog").get_by_text(words, exact=True).and_(page.locator(".lw-notice")).wait_for()
        page.wait_for_function(
            "([live, words]) => document.querySelector(live).textContent.startsWith(words)",
            arg=[live, words if "“" in words else f"Saved. {words} Next question: "],
        )

    main, above = ".linkwise > [role=status]", "dialog > [role=status]"
    first = "row {} and row {}".format(*pair(page))
    split = "Cluster 1 is new, split off from Cluster 0."
    join = "Cluster 1 is now part of Cluster 0."
    press(page, "n")
    check(f"1 row moved: {split}", main)
    press(page, "u")
    check(f"Taken back: “{first}: different”. 1 row moved: {join}", main)
    press(page, "n")
    press(page, "s")
    check("1 row moved from Cluster 0 to Cluster 1.", main)
    page.keyboard.press("h")
    line = page.locator(".lw-history > li").last
    line.wait_for()
    line.get_by_role("button", name="Same", exact=True).click()
    check(f"Saved: {first} are now “same”. 2 rows moved: {join}", above)
    line.get_by_role("button", name="Different", exact=True).click()
    check(f"Saved: {first} are now “different”. 2 rows moved: {split}", above)
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    question = page.locator(".lw-eyebrow").inner_text()
    press(page, "u")  # takes back the change, so the number of the question stays
    assert page.locator(".lw-eyebrow").inner_text() == question
    check(f"Taken back: “the change of answer 3 to Different”. 2 rows moved: {join}", main)
    page.keyboard.press("h")
    line.wait_for()
    line.get_by_role("button", name="Take back").click()
    check(f"Taken back: “{first}: same”. No row moved.", above)


def test_an_outcome_in_the_history_comes_with_the_list(served, browse, monkeypatch):
    look_up = LOOKUPS["history"]

    def look_up_slowly(content, request):
        time.sleep(0.3)
        return look_up(content, request)

    monkeypatch.setitem(LOOKUPS, "history", look_up_slowly)
    session, X = small([(0, 1, "must-link")])
    page = browse(served(lambda: plain(session, X)))
    page.keyboard.press("h")
    history = page.get_by_role("dialog", name="History")
    for answer in ("Different", "Same"):
        history.get_by_role("button", name=answer, exact=True).click()
        history.locator(".lw-notice", has_text=f"are now “{answer.lower()}”").wait_for()
        assert history.locator("[aria-pressed=true]").inner_text() == answer


def test_merge_done_and_undo(served, browse):
    bundled = Bundled("iris", answers=20)
    page = browse(served(bundled))
    n = page.locator(".lw-cluster").count()
    page.locator(".lw-cluster").first.get_by_role("button", name="Rows of").click()
    page.get_by_role("button", name="Done…").click()
    assert "marks all its" in page.locator("dialog").last.inner_text()
    page.get_by_role("button", name="Not yet").click()
    assert page.locator(".lw-done:visible").count() == 0
    page.get_by_role("button", name="Done…").click()
    page.get_by_role("button", name="Yes, it is done").click()
    notice(page, "Saved: all")
    page.get_by_role("button", name="Done…").wait_for(state="hidden")
    page.keyboard.press("Escape")
    assert page.locator(".lw-done:visible").count() == 1
    page.keyboard.press("u")
    notice(page, "Taken back")
    assert page.locator(".lw-done:visible").count() == 0
    assert page.locator(".lw-cluster").count() == n


def test_files(served, browse, tmp_path):
    bundled = Bundled("iris", answers=30)
    page = browse(served(bundled))
    got = {}
    page.get_by_role("button", name="Results").first.click()
    for what in ("labels", "constraints", "session", "rules", "picture"):
        with page.expect_download() as waiting:
            page.locator(f"[data-what={what}]").click()
        with open(waiting.value.path(), "rb") as file:
            got[waiting.value.suggested_filename] = file.read()
    labels = list(csv.reader(io.StringIO(got["iris-clusters.csv"].decode())))
    assert [int(line[-1]) for line in labels[1:]] == bundled.session.labels.tolist()
    assert len(got["iris-pairs.csv"].splitlines()) == 1 + bundled.session.constraints.n_constraints
    assert b"petal" in got["iris-rules.txt"]
    (tmp_path / "kept").write_bytes(got["iris.linkwise"])
    with closing(sqlite3.connect(tmp_path / "kept")) as store:
        assert store.execute("pragma integrity_check").fetchone() == ("ok",)


def test_rules_are_reported(served, browse):
    page = browse(served(Bundled("iris", answers=30)))
    page.get_by_role("button", name="Show rules").click()
    page.locator(".lw-rules li").first.wait_for()
    assert "petal" in page.locator(".lw-rules:visible").first.inner_text()
    page.get_by_role("button", name="Hide rules").click()
    assert page.locator(".lw-rules:visible").count() == 0


def test_markup_is_text(served, browse):
    session, X = small()
    items = Items("text", lambda row: {EVIL: f"{EVIL}{row}"}, lambda row: f"{EVIL} {row}")
    presenter = shown_as(session, X, items, title=EVIL, name=lambda row: f"row {row} {EVIL}", places=X)
    page = browse(served(lambda: presenter))
    name = page.locator(".lw-name").first
    name.fill(EVIL)
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('[role=status]').textContent.includes('is named')")
    page.keyboard.press("h")
    page.locator(".lw-history > li").first.wait_for()
    assert EVIL in page.locator(".lw-history").inner_text()
    page.keyboard.press("Escape")
    page.locator(".lw-link").first.click()
    page.wait_for_selector("dialog")
    assert EVIL in page.locator("dialog").inner_text()
    for where in (".lw-items", ".lw-clusters", ".lw-title"):
        assert EVIL in page.locator(where).inner_text()
    assert page.title() == f"{EVIL} · linkwise"
    assert page.locator("main img, main b").count() == 0
    assert page.evaluate("() => window.hit") is None


def kinds():
    rng = np.random.default_rng(0)
    curves = np.cumsum(rng.normal(size=(8, 40)), axis=1)
    curves[:, 7] = np.nan
    yield "text", text_items([f"On the {n}th day\nit rained." for n in range(8)]), ".lw-text"
    yield "image", image_items(rng.integers(0, 255, (8, 12, 12), dtype=np.uint8)), ".lw-picture"
    yield "series", series_items(curves), ".lw-curve path"


@pytest.mark.parametrize(
    ("kind", "items", "drawn"), list(kinds()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_kinds_of_items(served, browse, kind, items, drawn):
    session, X = small()
    page = browse(served(lambda: shown_as(session, X, items)))
    page.locator(drawn).first.wait_for()
    assert page.locator(f".lw-items {drawn}").count() == 2
    rows = pair(page)
    if kind == "text":
        assert [each.inner_text() for each in page.locator(".lw-text").all()] == [
            f"On the {n}th day\nit rained." for n in rows
        ]
    if kind == "series":
        paths = [each.get_attribute("d") for each in page.locator(drawn).all()]
        assert [path.count("M") for path in paths] == [2, 2]  # a gap is a gap
    press(page, "s")
    page.locator(".lw-link").first.click()
    page.locator(f"dialog {drawn}").first.wait_for(state="attached")
    assert page.locator(f"dialog {drawn}").count() == 1


def test_help_tells_how_the_data_were_read(served, browse):
    session, X = small()
    page = browse(served(lambda: plain(session, X, notes=["Column 'id' is the id.", "<b>left out</b>"])))
    page.keyboard.press("?")
    page.get_by_text("How the data were read").click()
    assert page.locator(".lw-notes li").all_inner_texts() == ["Column 'id' is the id.", "<b>left out</b>"]


def test_help_is_one_screen_and_says_where_the_answers_are(served, browse):
    session, X = small()
    session.set_guidelines("Alike.")
    path = "/home/a/projects of this year/customers.csv.linkwise"
    page = browse(
        served(lambda: plain(session, X, notes=["A note."] * 20, place=path)),
        viewport={"width": 1280, "height": 800},
    )
    page.get_by_role("dialog", name="Guidelines").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Help")
    assert dialog.evaluate("node => node.scrollHeight <= node.clientHeight")
    assert dialog.get_by_text(f"Each answer is saved at once, in {path}").is_visible()
    page.set_viewport_size({"width": 360, "height": 700})
    assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert dialog.evaluate("node => node.scrollHeight > node.clientHeight")
