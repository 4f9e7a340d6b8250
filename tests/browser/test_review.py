"""Three people answer at one session, and one of them decides what the others disagree on."""

from collections import Counter

import numpy as np
import pytest

from browser.presenters import READ_MS, pair, shown_as
from linkwise.data.show.items import value_items
from linkwise.learn.kin.kin import KIN
from linkwise.session.session import Session
from session.session_examples import OF_ANOTHER_PILE, misplace

pytestmark = pytest.mark.slow

PEOPLE = ("anna", "ben", "carla")
KIND = np.arange(60) % 3


@pytest.fixture
def team(chromium):
    """A server for three people who get second opinions on all pairs, and its session."""
    from bench.served import Served

    X = np.array([[0, 0], [3, 0], [0, 3]])[KIND] + np.random.default_rng(0).normal(0, 0.3, (60, 2))
    session = Session(X, KIN(random_state=0), error_rate=None)
    items = value_items(X, ("x", "y"))
    served = Served(lambda: shown_as(session, X, items, places=X, overlap=1.0), people=PEOPLE)
    served.wait()
    yield served, session
    served.close()


class Link:
    """The address of one person."""

    def __init__(self, address):
        self.address = lambda: address


def open_pages(served, browse):
    pages = [browse(Link(served.addresses()[person])) for person in PEOPLE]
    wait_for(pages[0], "Also here: ben, carla")
    return pages


def wait_for(page, words):
    page.locator(".lw-team", has_text=words).wait_for()


def answer(page, n, is_wrong=False):
    """Answer the question that is shown by the truth, or not, as the n-th of this person."""
    first, second = pair(page)
    page.wait_for_timeout(READ_MS)
    page.keyboard.press("y" if (KIND[first] == KIND[second]) != is_wrong else "n")
    wait_for(page, f"You: {n} ")
    return min(first, second), max(first, second)


def open_review(page, n):
    page.get_by_role("button", name=f"{n} pair").wait_for()
    page.keyboard.press("r")
    dialog = page.get_by_role("dialog", name="Review")
    dialog.locator(".lw-opinions li").first.wait_for()
    return dialog


def test_three_people_and_a_disagreement(team, browse):
    served, session = team
    anna, ben, carla = open_pages(served, browse)
    carla.keyboard.press("r")
    assert not carla.get_by_role("button", name="review").is_visible()
    assert carla.locator("dialog").count() == 0

    asked = answer(anna, 1)
    ben_asked = [answer(ben, 1)]
    while asked not in ben_asked:
        assert len(ben_asked) < 3
        is_second = tuple(sorted(pair(ben))) == asked
        ben_asked.append(answer(ben, len(ben_asked) + 1, is_wrong=is_second))

    reviews = [open_review(page, 1) for page in (anna, carla)]
    names = f"row {asked[0]}", f"row {asked[1]}"
    same = bool(KIND[asked[0]] == KIND[asked[1]])
    words = ("Same", "Different") if same else ("Different", "Same")
    for dialog in reviews:
        shown = dialog.locator(".lw-opinions li").all_inner_texts()
        assert [line.splitlines()[0] for line in shown] == [f"anna: {words[0]}", f"ben: {words[1]}"]
        assert all(line.splitlines()[1] for line in shown)  # when
        assert all(name in dialog.locator(".lw-items").inner_text() for name in names)
    n_events = len(session.history)

    carla.wait_for_timeout(READ_MS)
    carla.keyboard.press("y" if same else "n")
    for page, dialog in zip((anna, carla), reviews, strict=True):
        dialog.locator(".lw-eyebrow", has_text="No pair needs your review.").wait_for()
        assert not dialog.get_by_role("button", name="Same").is_visible()
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")
    for page in (anna, ben, carla):
        page.get_by_role("button", name="review").wait_for(state="hidden")
    decided = session.history[-1]
    assert (decided.source, decided.is_sure, {decided.first, decided.second}) == ("carla", True, set(asked))
    assert len(session.history) == n_events + 1

    # a decision is no answer to a question, and each answer counts once
    n_ben = len(ben_asked)
    for page, n in ((anna, 1), (ben, n_ben), (carla, 0)):
        wait_for(page, f"You: {n} · team: {1 + n_ben}")
    given = Counter((e.source, e.first, e.second) for e in session.events if e.kind == "answer")
    assert set(given.values()) == {1}
    assert given.total() == 1 + n_ben


def test_a_reviewer_goes_through_the_queue_with_keys(team, browse):
    served, session = team
    for row in (0, 10):
        session.add(row, row + 3, "must-link", source="anna")
        session.add(row, row + 3, "cannot-link", source="ben")
    carla = browse(Link(served.addresses()["carla"]))
    dialog = open_review(carla, 2)
    queue = dialog.get_by_role("group", name="Pairs that need a review")
    assert queue.get_by_role("button").all_inner_texts() == ["row 0 and row 3", "row 10 and row 13"]
    rows = dialog.locator(".lw-items")
    queue.get_by_role("button", name="row 10 and row 13").press("Enter")
    rows.locator("th", has_text="row 13").wait_for()

    carla.wait_for_timeout(READ_MS)
    carla.keyboard.press("a")
    carla.keyboard.type("yes and no")  # letters of a note decide nothing
    carla.keyboard.press("Enter")
    carla.keyboard.press("s")
    rows.locator("th", has_text="row 3").wait_for()
    announced = dialog.locator("[role=status]").inner_text()
    assert announced.startswith("Saved: row 10 and row 13 are “not sure”.")
    assert announced.endswith("Next pair: row 0 and row 3.")
    carla.wait_for_timeout(READ_MS)
    dialog.get_by_role("button", name="Different").press("Enter")
    dialog.locator(".lw-eyebrow", has_text="No pair needs your review.").wait_for()
    decided = session.history[-2:]
    assert [(e.first, e.answer, e.source) for e in decided] == [(10, "unsure", "carla"), (0, "no", "carla")]
    assert [e.note for e in decided] == ["yes and no", ""]
    assert session.review("dora")


def test_a_key_that_comes_before_the_pair_can_be_read_decides_nothing(team, browse):
    served, session = team
    session.add(0, 3, "must-link", source="anna")
    session.add(0, 3, "cannot-link", source="ben")
    carla = browse(Link(served.addresses()["carla"]))
    carla.get_by_role("button", name="1 pair").wait_for()
    n_events = len(session.events)
    carla.evaluate(
        """() => { const root = document.querySelector(".linkwise");
        const press = (node, key) => node.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
        new MutationObserver((_, observer) => {
          const shown = document.querySelector("dialog .lw-opinions li");
          if (shown) { observer.disconnect(); press(shown, "y"); }
        }).observe(root, {childList: true, subtree: true});
        press(root, "r"); }"""
    )
    carla.locator("dialog .lw-notice[data-tone=warn]").wait_for()
    assert len(session.events) == n_events


def test_a_reviewer_moves_a_card_that_lies_loose_beside_its_piles(browse):
    from bench.served import Served

    session = misplace(OF_ANOTHER_PILE)
    session.add(20, 21, "must-link", source="anna")
    session.add(20, 21, "cannot-link", source="ben")
    items = value_items(session.X, ("x", "y"))
    served = Served(lambda: shown_as(session, session.X, items), people=PEOPLE)
    served.wait()
    try:
        carla = browse(Link(served.addresses()["carla"]))
        dialog = open_review(carla, 2)
        assert not dialog.get_by_role("button", name="Neither").is_visible(), "this case is a pair"
        carla.wait_for_timeout(READ_MS)
        carla.keyboard.press("x")
        queue = dialog.get_by_role("group", name="Pairs that need a review")
        queue.get_by_role("button", name="row 16").press("Enter")
        piles = dialog.locator(".lw-pile")
        piles.first.wait_for()
        assert [pile.locator("strong").all_inner_texts() for pile in piles.all()] == [
            ["row 0", "row 6", "row 7"],
            ["row 10", "row 17", "row 18"],
        ]
        assert dialog.locator(".lw-board > .lw-known strong").inner_text() == "row 16"
        assert dialog.locator(".lw-opinions li").inner_text().startswith("anna: sorted these rows")
        assert "It is in a pile with row 0, row 6, row 7, and probably belongs with" in dialog.inner_text()
        names = dialog.get_by_role("group", name="Your decision").get_by_role("button").all_inner_texts()
        assert [name.split("\n")[0] for name in names] == ["It stays", "It moves", "Neither", "Not sure"]
        n_events = len(session.events)
        carla.wait_for_timeout(READ_MS)
        piles.nth(1).locator(".lw-pile-head").click()
        dialog.locator(".lw-eyebrow", has_text="1 pair needs a review.").wait_for()
        event = session.history[-1]
        assert (event.first, event.second, event.answer, event.is_sure) == (16, 10, "yes", True)
        assert len(session.events) == n_events + 1
        announced = dialog.locator("[role=status]").inner_text()
        assert announced.startswith("Saved: row 16 is in the pile where it probably belongs.")
        session.undo()
        queue.get_by_role("button", name="row 16").press("Enter")
        piles.first.wait_for()
        carla.wait_for_timeout(READ_MS)
        carla.keyboard.press("x")
        dialog.locator(".lw-eyebrow", has_text="1 pair needs a review.").wait_for()
        assert (session.history[-1].second, session.history[-1].answer) == (0, "no")
    finally:
        served.close()
