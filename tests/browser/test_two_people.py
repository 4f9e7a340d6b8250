"""Two people answer at one session: each has questions, an undo and counts of their own."""

import numpy as np
import pytest

from browser.presenters import READ_MS, doubtful, pair, shown_as
from linkwise.data.show.items import value_items
from linkwise.learn.kin.kin import KIN
from linkwise.session.session import Session

pytestmark = pytest.mark.slow

GUIDELINES = "Same corner of the plane.\n<b>Colour</b> does not matter."


@pytest.fixture(scope="module")
def team(chromium):
    """A server for anna and ben, and its session."""
    from bench.served import Served

    rng = np.random.default_rng(0)
    X = np.array([[0, 0], [3, 0], [0, 3]])[np.arange(60) % 3] + rng.normal(0, 0.3, (60, 2))
    session = Session(X, KIN(random_state=0))
    session.set_guidelines(GUIDELINES)
    served = Served(
        lambda: shown_as(session, X, value_items(X, ("x", "y")), places=X), people=("anna", "ben")
    )
    served.wait()
    yield served, session
    served.close()


def wait_for(page, words):
    page.locator(".lw-team", has_text=words).wait_for()


def answer(page, key):
    """Press a key when the page takes answers, and wait for the next question."""
    page.wait_for_timeout(READ_MS)
    n = counts(page)[0]
    page.keyboard.press(key)
    wait_for(page, f"You: {n + 1} ")


def counts(page):
    words = page.locator(".lw-team strong").inner_text().replace("·", "").split()
    return int(words[1]), int(words[3])


def test_two_people_at_once(team, browse):
    served, session = team
    addresses = served.addresses()

    class Link:
        def __init__(self, person):
            self.address = lambda: addresses[person]

    pages = {person: browse(Link(person)) for person in ("anna", "ben")}
    anna, ben = pages.values()
    for page in pages.values():  # the guidelines open by themselves, once
        assert page.locator("dialog .lw-guidelines").inner_text() == GUIDELINES
        page.keyboard.press("Escape")
    wait_for(anna, "Also here: ben")
    assert pair(anna) != pair(ben)

    own = pair(ben)
    answer(anna, "n")
    answer(anna, "y")
    assert pair(ben) == own
    answer(ben, "n")
    assert [event.source for event in session.history] == ["anna", "anna", "ben"]
    wait_for(ben, "You: 1 · team: 3")
    wait_for(anna, "You: 2 · team: 3")

    anna.keyboard.press("u")  # her own last answer, though ben answered later
    wait_for(anna, "You: 1 · team: 2")
    assert sorted(event.source for event in session.history) == ["anna", "ben"]

    ben.keyboard.press("h")
    ben.wait_for_selector(".lw-history li")
    assert {"anna", "ben"} <= set(ben.locator(".lw-history").inner_text().replace("·", " ").split())
    own, other = (ben.locator(".lw-history li", has_text=f"· {who}") for who in ("ben", "anna"))
    assert own.get_by_role("button", name="Take back").count() == own.count() == 1
    assert own.get_by_role("group", name="Answer about").count() == 1
    assert other.get_by_role("button", name="Take back").count() == 0
    assert other.get_by_role("group", name="Answer about").count() == 0
    assert other.get_by_text("Different").count() == other.count() == 1
    ben.keyboard.press("Escape")
    ben.wait_for_selector("dialog", state="detached")  # keys go to it until it is gone
    ben.keyboard.press("i")
    ben.locator("dialog .lw-guidelines").wait_for()
    ben.keyboard.press("Escape")

    ben.close()
    wait_for(anna, "Nobody else")


def test_what_another_person_did_is_told_under_their_name(chromium, browse):
    from bench.served import Served

    session = doubtful("ben")
    session.add(1, 3, "must-link", source="anna")
    session.move([25, 26], "new", source="ben")
    items = value_items(session.X, ("x", "y"))
    served = Served(lambda: shown_as(session, session.X, items, places=session.X), people=("anna", "ben"))
    served.wait()
    addresses = served.addresses()

    class Link:
        def __init__(self, person):
            self.address = lambda: addresses[person]

    anna, ben = (browse(Link(person)) for person in ("anna", "ben"))
    for page, whose in ((anna, "The answer “Different” of ben"), (ben, "Your answer “Different”")):
        panel = page.locator(".lw-progress")
        panel.get_by_role("button", name="2 answers are probably wrong.").press("Enter")
        dialog = page.get_by_role("dialog", name="Answers that are probably wrong")
        shown = dialog.get_by_role("listitem").filter(has_text="row 0")
        shown.wait_for()
        assert f"{whose} is " in shown.inner_text()
        assert "Same for row 0 and row 1 (ben); Same for row 1 and row 2 (ben)." in shown.inner_text()
        assert shown.get_by_role("button", name="I am sure").count() == (page is ben)
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")
        page.keyboard.press("h")
        page.locator(".lw-history li").first.wait_for()
        lines = [line.inner_text() for line in page.locator(".lw-history li").all()]
        assert "rows moved" in lines[0]
        assert "· ben" in lines[0]
        assert "· anna" in lines[1]
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")

    assert "linkwise assumes that 10 % of your answers are wrong." in panel.inner_text()
    anna.keyboard.press("r")
    review = anna.get_by_role("dialog", name="Review")
    review.locator(".lw-opinions li").first.wait_for()
    assert review.locator(".lw-opinions li").first.inner_text().startswith("ben: ")
    assert "The answer of ben is " in review.inner_text()
    anna.keyboard.press("Escape")
    served.close()
