"""A person sorts several rows at once: with keys, with the mouse, with fingers, in two windows."""

from __future__ import annotations

import re

import numpy as np
import pytest

from browser.presenters import READ_MS, shown_as
from linkwise.data.show.items import value_items
from linkwise.learn.kin.kin import KIN
from linkwise.session.session import Session

pytestmark = pytest.mark.slow

KINDS = 3
PHONE = {"viewport": {"width": 390, "height": 760}, "has_touch": True, "is_mobile": True}
NOTICE = "() => document.querySelector('.lw-question > .lw-notice').textContent"
FOCUSED = (
    "() => document.activeElement.closest('[data-card]')?.dataset.card ?? document.activeElement.textContent"
)


class World:
    """Rows in three groups, by their numbers, and the session about them."""

    def __init__(self, **options):
        rng = np.random.default_rng(0)
        self.X = np.array([[0, 0], [3, 0], [0, 3]])[np.arange(60) % KINDS] + rng.normal(0, 0.3, (60, 2))
        self.session = Session(self.X, KIN(random_state=0), **options)

    def __call__(self):
        return shown_as(self.session, self.X, value_items(self.X, ("x", "y")), places=self.X)

    def sort(self, n=1):
        for _ in range(n):
            screen = self.session.sets(9)[0]
            kinds = [[row for row in screen.rows if row % KINDS == kind] for kind in range(KINDS)]
            self.session.sort(kinds, question_id=screen.id)
        return self


@pytest.fixture
def world():
    return World()


@pytest.fixture
def page(world, served, browse):
    return begin(browse(served(world)))


def begin(page):
    page.get_by_role("button", name="Sort several").click()
    page.wait_for_selector(".lw-loose [data-card]")
    return page


def cards(page, place=".lw-board"):
    """The rows of the cards there, in order."""
    found = page.locator(f"{place} [data-card]").evaluate_all("nodes => nodes.map((n) => n.dataset.card)")
    return [int(row) for row in found]


def known(page):
    """The row that stands for each known pile."""
    texts = page.locator(".lw-known strong").all_inner_texts()
    return [int(re.search(r"\d+", text)[0]) for text in texts]


def piles(page):
    """The cards of each pile, new and known ones."""
    n = page.locator(".lw-pile:not(.lw-target)").count()
    return [cards(page, f".lw-pile[data-pile='{at}']") for at in range(n)]


def heard(page):
    return page.locator(".linkwise > [role=status]").inner_text()


def sort_by_keys(page):
    """Place each card by its kind, the current one first, without the last key."""
    pile_of = {}
    for at, row in enumerate(known(page)):
        pile_of.setdefault(row % KINDS, at + 1)
    for _ in range(len(cards(page, ".lw-loose"))):
        kind = int(page.locator("[data-current]").get_attribute("data-card")) % KINDS
        if kind not in pile_of:
            pile_of[kind] = page.locator(".lw-pile:not(.lw-target)").count() + 1
            page.keyboard.press("n")
        else:
            page.keyboard.press(str(pile_of[kind]))


def wait_for_other_cards(page, before):
    page.wait_for_function(
        "before => { const now = [...document.querySelectorAll('.lw-loose [data-card]')];"
        " return now.length && now.map((n) => n.dataset.card).join() !== before; }",
        arg=",".join(map(str, before)),
    )


def finish(page, before, key="Enter"):
    page.wait_for_timeout(READ_MS)
    page.keyboard.press(key)
    wait_for_other_cards(page, before)


def test_keys_sort_a_screen_into_one_answer(world, page):
    shown = cards(page)
    assert len(shown) == 9
    assert page.evaluate(FOCUSED) == str(shown[0])
    sort_by_keys(page)
    assert cards(page, ".lw-loose") == []
    assert page.evaluate(FOCUSED).startswith("Done")
    assert heard(page).endswith("Every card has a place. Press Enter to finish.")
    finish(page, shown)
    (event,) = world.session.history
    assert event.kind == "sort"
    assert {row % KINDS for row in event.sorting.piles[0]} == {event.sorting.piles[0][0] % KINDS}
    assert sorted(event.sorting.order) == sorted(shown)
    assert event.seconds > 0
    assert page.evaluate(NOTICE).startswith(f"Saved: 9 cards sorted into {len(event.sorting.piles)} piles.")
    assert heard(page).startswith("Saved: 9 cards sorted into")
    assert page.locator(".lw-eyebrow").inner_text() == "Question 2"
    assert page.get_by_text("1 screen with 9 cards").is_visible()
    assert page.evaluate(FOCUSED) == str(cards(page, ".lw-loose")[0])
    page.keyboard.press("h")
    line = page.locator(".lw-history > li")
    line.wait_for()
    assert line.locator(".lw-description span").first.inner_text() == (
        f"9 cards sorted into {len(event.sorting.piles)} piles"
    )


def test_undo_takes_back_the_screen_and_shows_its_cards_where_they_lay(world, page):
    shown = cards(page)
    sort_by_keys(page)
    before = piles(page)
    finish(page, shown)
    page.get_by_role("button", name="Undo", exact=True).click()
    page.wait_for_function(f"() => ({NOTICE})().includes('where you put them')")
    assert world.session.history == []
    assert piles(page) == before
    page.keyboard.press("u")  # one of them goes elsewhere
    assert len(cards(page, ".lw-loose")) == 1
    page.keyboard.press("s")
    finish(page, shown)
    (event,) = world.session.history
    assert len(event.sorting.unsure) == 1


def test_known_piles_come_first_with_their_cluster(world, served, browse):
    world.sort(2)
    world.session.set_name(int(np.flatnonzero(world.session.labels == world.session.labels[0])[0]), "Origin")
    page = begin(browse(served(world)))
    rows = known(page)
    assert rows
    heads = page.locator(".lw-pile:not(.lw-target) .lw-pile-head").all_inner_texts()
    names = world.session.cluster_names
    for head, row, number in zip(heads, rows, range(1, 9), strict=False):
        label = int(world.session.labels[row])
        assert head.split("\n")[0] == str(number)
        assert (names.get(label) or f"Cluster {label}") in head
    first = page.locator(".lw-pile").first.bounding_box()
    assert first["y"] < page.locator(".lw-loose").bounding_box()["y"]


def test_enter_says_which_cards_are_missing(world, page):
    first, *others = cards(page)
    page.keyboard.press("n")
    for _ in range(6):
        page.keyboard.press("1")
    page.keyboard.press("Enter")
    names = ", ".join(f"row {row}" for row in others[-2:])
    assert page.evaluate(NOTICE) == f"{names} still need a place. Press S if you are not sure."
    assert heard(page) == page.evaluate(NOTICE)
    assert page.evaluate(FOCUSED) == str(others[-2])
    page.get_by_role("button", name="Done").dispatch_event("click")
    assert names in page.evaluate(NOTICE)
    assert world.session.history == []
    assert piles(page)[0][0] == first


def test_steps_go_back_one_by_one_and_store_nothing(world, page):
    shown = cards(page)
    for key in ("n", "1", "s"):
        page.keyboard.press(key)
    for left, at in ((7, 2), (8, 1), (9, 0)):
        page.keyboard.press("u")
        assert len(cards(page, ".lw-loose")) == left
        assert page.evaluate(FOCUSED) == str(shown[at])
    page.keyboard.press("u")
    assert "Use Undo" in page.evaluate(NOTICE)
    assert world.session.events == []


def test_arrows_go_from_card_to_card_and_backspace_takes_one_out(page):
    shown = cards(page)
    page.keyboard.press("ArrowRight")
    assert page.evaluate(FOCUSED) == str(shown[1])
    page.keyboard.press("n")
    assert piles(page) == [[shown[1]]]
    page.locator(".lw-pile .lw-card-name").focus()
    page.keyboard.press("Backspace")
    assert piles(page) == []
    page.keyboard.press("ArrowDown")
    below = page.evaluate(FOCUSED)
    assert below not in (str(shown[0]), str(shown[1]))
    page.keyboard.press("ArrowUp")
    assert page.evaluate(FOCUSED) == str(shown[1])


def test_a_number_without_a_pile_says_so(page):
    page.keyboard.press("4")
    assert page.evaluate(NOTICE) == "There is no pile 4. Press N for a new one."
    page.keyboard.press("m")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    assert len(piles(page)) == 1


def test_two_known_piles_are_joined_by_keys(world, served, browse):
    world.session.sort([[0, 6], [1, 7]])
    world.session.sort([[3, 9], [4, 10]])
    page = browse(served(world))
    page.get_by_role("button", name="Sort several").click()
    page.get_by_label("Rows on a screen").select_option("16")
    page.wait_for_function("() => document.querySelectorAll('[data-card]').length > 9")
    rows = known(page)
    one, other = next((a, b) for a in rows for b in rows if a < b and a % KINDS == b % KINDS)
    page.locator(".lw-card-name").first.focus()
    for key in ("m", str(rows.index(one) + 1), str(rows.index(other) + 1)):
        page.keyboard.press(key)
    assert heard(page).startswith("The two piles are one: pile ")
    assert len(piles(page)) == len(rows) - 1
    before = cards(page)
    for _ in before:
        page.keyboard.press("s")
    finish(page, before)
    assert world.session.evidence.verdict(one, other) == "yes"


def drag(page, source, target):
    start, end = source.bounding_box(), target.bounding_box()
    page.mouse.move(start["x"] + 20, start["y"] + 12)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + 20, steps=6)
    label = page.locator(".lw-dragging").inner_text()
    page.mouse.up()
    return label


def test_the_mouse_drags_cards_onto_piles(world, page):
    one, two, three, *_ = cards(page)
    card = lambda row: page.locator(f"[data-card='{row}']")  # noqa: E731
    pile = lambda name: page.locator(f"[data-pile='{name}']")  # noqa: E731
    assert drag(page, card(one), pile("new")) == f"row {one}: new pile?"
    assert piles(page) == [[one]]
    assert drag(page, card(two), pile("0")) == f"row {two}: pile 1?"
    assert drag(page, card(three), pile("doubt")) == f"row {three}: not sure?"
    assert piles(page) == [[one, two]]
    assert cards(page, "[data-pile=doubt]") == [three]
    drag(page, card(three), pile("new"))
    assert piles(page) == [[one, two], [three]]
    drag(page, pile("1").locator(".lw-pile-head"), pile("0"))
    assert piles(page) == [[one, two, three]]
    drag(page, card(two), page.locator(".lw-loose"))
    assert piles(page) == [[one, three]]
    before = piles(page)
    box = card(two).bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] - 90, steps=4)
    page.keyboard.press("Escape")  # the person gave up
    page.mouse.up()
    assert piles(page) == before
    assert page.locator(".lw-dragging").count() == 0


def test_a_tap_on_a_card_and_one_on_a_pile_place_it(world, served, browse):
    page = browse(served(world), **PHONE)
    page.get_by_role("button", name="Sort several").tap()
    page.wait_for_selector(".lw-loose [data-card]")
    shown = cards(page)
    page.locator(f"[data-card='{shown[4]}']").tap()
    page.get_by_role("button", name="New pile").last.tap()
    assert piles(page) == [[shown[4]]]
    page.locator(f"[data-card='{shown[2]}']").tap()
    page.get_by_role("button", name="Pile 1: New pile").tap()
    assert piles(page) == [[shown[4], shown[2]]]
    for _ in range(7):
        page.get_by_role("button", name="Not sure").tap()
    page.wait_for_timeout(READ_MS)
    page.get_by_role("button", name="Done").tap()
    page.wait_for_function(f"() => ({NOTICE})().startsWith('Saved: 9 cards')")
    assert world.session.history[0].sorting.piles == ((shown[2], shown[4]),)


def test_what_a_finger_touches_is_large_enough(world, served, browse):
    world.sort(1)
    page = browse(served(world), **PHONE)
    page.get_by_role("button", name="Sort several").tap()
    page.wait_for_selector(".lw-loose [data-card]")
    for selector in (".lw-pile", ".lw-loose [data-card]", ".lw-sorting-bar button"):
        for node in page.locator(selector).all():
            box = node.bounding_box()
            assert min(box["width"], box["height"]) >= 44, selector
    for gone in ("New pile", "Not sure", "Pile 1: "):  # the piles stay in sight while the cards scroll
        page.locator(".lw-loose [data-card]").last.scroll_into_view_if_needed()
        assert page.get_by_role("button", name=gone).last.is_visible()


def test_a_reload_keeps_the_cards_where_they_lie(world, page):
    shown = cards(page)
    for key in ("n", "n", "1", "s"):
        page.keyboard.press(key)
    before = piles(page)
    page.reload()
    page.wait_for_selector(".lw-loose [data-card]")
    assert piles(page) == before == [[shown[0], shown[2]], [shown[1]]]
    assert cards(page, "[data-pile=doubt]") == [shown[3]]
    assert page.evaluate(NOTICE) == "Your cards lie where you put them before."
    page.keyboard.press("u")
    assert cards(page, "[data-pile=doubt]") == []


def test_the_way_to_answer_and_the_size_are_remembered(world, page):
    page.keyboard.press("n")
    page.get_by_label("Rows on a screen").select_option("6")
    page.wait_for_function("() => document.querySelectorAll('[data-card]').length === 6")
    assert page.locator(".lw-question > .lw-notice[data-tone=warn]:visible").count() == 0
    page.reload()
    page.wait_for_selector(".lw-loose [data-card]")
    assert len(cards(page)) == 6
    page.get_by_role("button", name="Two at a time").click()
    assert page.locator(".lw-yes").is_visible()
    assert not page.locator(".lw-board").is_visible()
    page.reload()
    page.wait_for_selector(".lw-cluster")
    assert page.locator(".lw-yes").is_visible()
    page.wait_for_timeout(READ_MS)
    page.keyboard.press("n")
    page.wait_for_function("() => document.querySelector('.lw-eyebrow').textContent === 'Question 2'")
    assert world.session.history[0].answer == "no"
    page.get_by_role("button", name="Sort several").click()
    page.wait_for_selector(".lw-loose [data-card]")
    assert page.get_by_label("Rows on a screen").input_value() == "6"


def test_two_windows_show_the_same_cards_and_store_them_once(world, page, served):
    shown = cards(page)
    page.keyboard.press("n")
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector(".lw-loose [data-card]")  # it knows the choice, and not where the cards lie
    assert cards(other) == shown
    other.locator(".lw-card-name").first.focus()
    sort_by_keys(other)
    finish(other, shown)
    wait_for_other_cards(page, shown[1:])
    assert len(world.session.history) == 1
    assert page.evaluate(NOTICE).startswith("These rows were sorted or answered elsewhere")
    assert cards(page) == cards(other)
    assert piles(page) == piles(other)


def test_a_contradiction_is_shown_and_the_cards_stay(served, browse):
    world = World(error_rate=0)
    page = begin(browse(served(world)))
    shown = cards(page)
    for key in ("n", *"1" * 8):
        page.keyboard.press(key)
    # meanwhile somebody else says that two of the rows differ, which the page hears of with the reply
    world.session.add(shown[0], shown[1], "cannot-link")
    page.wait_for_timeout(READ_MS)
    page.keyboard.press("Enter")
    page.wait_for_selector(".lw-chain")
    assert page.locator(".lw-chain > li").count() == 2
    page.get_by_role("button", name="Keep the earlier answers").click()
    assert len(world.session.history) == 1


def test_sorting_is_offered_on_a_wide_page_until_the_person_chose(world, served, browse):
    words = "You can also sort 9 rows at once"
    server = served(world)
    assert not browse(server, **PHONE).get_by_text(words).is_visible()
    page = browse(server)
    assert page.get_by_text(words).is_visible()
    page.get_by_role("button", name="Sort several").click()
    page.wait_for_selector(".lw-loose [data-card]")
    assert not page.get_by_text(words).is_visible()
    page.get_by_role("button", name="Two at a time").click()
    assert not page.get_by_text(words).is_visible()


def test_two_at_a_time_is_offered_where_it_was_faster(world, served, browse):
    world.sort(3)
    for _ in range(3):
        screen = world.session.sets(9)[0]
        kinds = [[row for row in screen.rows if row % KINDS == kind] for kind in range(KINDS)]
        world.session.sort(kinds, question_id=screen.id, seconds=70.0)
    for row in range(6):
        question = world.session.question
        is_same = question.first % KINDS == question.second % KINDS
        world.session.answer("yes" if is_same else "no", seconds=2.0 + row / 10)
    page = browse(served(world))
    page.get_by_role("button", name="Sort several").click()
    page.wait_for_selector(".lw-board:visible")
    words = page.locator(".lw-how + .lw-soft, .lw-ask + .lw-soft").inner_text()
    assert re.fullmatch(r"At your pace so far, two at a time is about \d+\.\d times as fast\.", words)


def test_the_focus_goes_through_and_out(page):
    page.keyboard.press("n")
    seen = []
    page.locator(".lw-how button").first.focus()
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("() => document.activeElement.textContent"))
    joined = "|".join(seen)
    order = [
        joined.index(words) for words in ("1Pile 1: New pile", "NNew pile", "SNot sure", "Done", "Why this")
    ]
    assert order == sorted(order), joined
    names = page.locator(".lw-loose .lw-card-name").all_inner_texts()
    assert set(names) <= set(seen)


def test_a_card_tells_a_screen_reader_what_it_holds(page):
    first = page.locator(".lw-loose [data-card]").first
    described = first.locator("button").get_attribute("aria-describedby")
    assert page.locator(f"#{described}").inner_text().startswith("x")
    assert first.locator("button").get_attribute("aria-pressed") == "true"
    assert page.locator(".lw-loose").get_attribute("aria-labelledby")
    assert page.get_by_role("list", name="Piles").is_visible()
    assert page.get_by_role("list", name="Cards without a place (9)").is_visible()


def test_a_note_goes_with_the_screen(world, page):
    shown = cards(page)
    page.keyboard.press("a")
    page.keyboard.type("12 of these are hard")
    page.keyboard.press("Escape")
    page.locator(".lw-loose .lw-card-name").first.focus()
    sort_by_keys(page)
    finish(page, shown)
    assert world.session.history[0].note == "12 of these are hard"
    assert cards(page, ".lw-pile") == []


def test_the_help_lists_the_keys(page):
    page.keyboard.press("?")
    page.wait_for_selector("dialog")
    words = page.locator("dialog").inner_text()
    assert "Keys while you sort" in words
    assert "Put the card with the frame into this pile" in words
    assert "Same: the two rows belong together" not in words
    page.keyboard.press("1")
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    assert piles(page) == []


# ---------------------------------------------------------------- an earlier answer, sorted again
def open_again(page):
    page.keyboard.press("h")
    page.get_by_role("button", name="Sort again: ").last.click()
    page.wait_for_function("() => document.querySelector('.lw-eyebrow').textContent.startsWith('Sort again')")


def begin_again(world, served, browse, **options):
    """A page, in pairs, on which the first answer is sorted again, with its piles."""
    world.sort(2)
    page = browse(served(world), **options)
    open_again(page)
    return page, [list(pile) for pile in world.session.history[0].sorting.piles]


def test_an_earlier_screen_is_sorted_again_by_keys(world, served, browse):
    page, before = begin_again(world, served, browse)
    assert piles(page) == before
    assert heard(page) == "Your cards lie where you put them. Done replaces the piles of that answer."
    (first, *_), (other, *_), *_ = before
    assert page.evaluate(FOCUSED) == str(first)
    assert page.locator(".lw-eyebrow").inner_text() == "Sort again: answer 1"
    for gone in ("Undo", "Add a note", "Two at a time"):
        assert not page.get_by_role("button", name=gone).is_visible(), gone
    page.keyboard.press("a")
    page.keyboard.press("2")  # the first card
    page.keyboard.press("Enter")  # of which none is chosen any more
    page.wait_for_function(f"() => ({NOTICE})().startsWith('Saved: answer 1 has the new piles.')")
    assert heard(page).startswith("Saved: answer 1 has the new piles.")
    assert page.locator(".lw-yes").is_visible()
    assert page.locator(".lw-eyebrow").inner_text() == "Question 3"
    session = world.session
    assert [event.kind for event in session.events] == ["sort", "sort", "change"]
    after = session.history[0].sorting
    assert after.pile_of[first] == after.pile_of[other]
    assert sorted(after.order) == sorted(row for pile in before for row in pile)
    page.get_by_role("button", name="Undo", exact=True).click()
    page.wait_for_function(f"() => ({NOTICE})().includes('to other piles')")
    assert [list(pile) for pile in session.history[0].sorting.piles] == before
    open_again(page)
    assert piles(page) == before


def test_sorting_again_is_given_up_and_the_next_cards_lie_as_before(world, page, served):
    world.sort(1)
    page.wait_for_selector(".lw-known")
    page.keyboard.press("s")
    page.keyboard.press("n")
    unfinished, doubted = piles(page), cards(page, "[data-pile=doubt]")
    open_again(page)
    page.keyboard.press("s")
    page.keyboard.press("u")
    page.keyboard.press("u")
    assert "No card is placed yet" in page.evaluate(NOTICE)
    page.keyboard.press("s")
    page.get_by_role("button", name="Cancel").press("Enter")
    page.wait_for_selector(".lw-loose [data-card]")
    assert piles(page) == unfinished
    assert cards(page, "[data-pile=doubt]") == doubted
    assert page.evaluate(NOTICE) == "Your cards lie where you put them before."
    assert page.evaluate(FOCUSED) == str(cards(page, ".lw-loose")[0])
    assert page.locator(".lw-eyebrow").inner_text() == "Question 2"
    assert [event.kind for event in world.session.events] == ["sort"]
    page.reload()
    page.wait_for_selector(".lw-loose [data-card]")
    assert piles(page) == unfinished


def test_known_rows_cards_and_unsure_ones_are_dragged_when_sorted_again(world, served, browse):
    world.sort(1)
    screen = world.session.sets(9)[0]
    card, unsure, *_ = screen.cards
    kinds = [
        [row for row in screen.rows if row % KINDS == kind and row not in (card, unsure)]
        for kind in range(KINDS)
    ]
    wrong = (card + 1) % KINDS
    kinds[wrong].append(card)
    world.session.sort(kinds, [unsure], question_id=screen.id)
    page = browse(served(world))
    page.keyboard.press("h")
    page.get_by_role("button", name="Sort again: ").first.click()
    page.wait_for_selector(".lw-known")
    assert cards(page, "[data-pile=doubt]") == [unsure]
    sorting = world.session.history[1].sorting
    assert sorted(known(page)) == sorted(row for row in sorting.order if row not in sorting.cards)
    shown = [[*cards(page, f".lw-pile[data-pile='{at}']")] for at in range(len(sorting.piles))]
    assert shown == [[row for row in pile if row in sorting.cards] for pile in sorting.piles]
    right = next(at for at, pile in enumerate(sorting.piles) if pile[0] % KINDS == card % KINDS)
    pile = page.locator(f"[data-pile='{right}']")
    drag(page, page.locator(f"[data-card='{card}']"), pile)
    page.get_by_role("button", name="Done").click()
    page.wait_for_function(f"() => ({NOTICE})().startsWith('Saved: answer 2 has the new piles.')")
    after = world.session.history[1].sorting
    assert {row % KINDS for row in after.piles[after.pile_of[card]]} == {card % KINDS}
    assert after.unsure == (unsure,)


def test_piles_that_contradict_a_later_answer_are_kept_until_that_is_taken_back(served, browse):
    world = World(error_rate=0)
    page, before = begin_again(world, served, browse)
    pair = (before[0][0], before[1][0])
    world.session.add(*pair, "cannot-link")
    for key in ("m", "1", "2"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.locator(".lw-card-name").first.press("Enter")
    page.wait_for_selector(".lw-chain")
    assert page.locator(".lw-eyebrow").inner_text() == "Sort again: answer 1"
    page.get_by_role("button", name="Take back").last.click()
    page.wait_for_function(f"() => ({NOTICE})().startsWith('Saved: answer 1 has')")
    assert world.session.evidence.verdict(*pair) == "yes"
    assert page.locator(".lw-yes").is_visible()


def test_an_answer_that_was_taken_back_elsewhere_is_not_sorted_again(world, served, browse):
    page, _ = begin_again(world, served, browse)
    page.keyboard.press("s")
    world.session.undo(1)
    page.locator(".lw-card-name").first.press("Enter")
    page.wait_for_function(f"() => ({NOTICE})().startsWith('These rows are not sorted any more.')")
    assert len(world.session.history) == 1
    page.get_by_role("button", name="Cancel").click()
    assert page.locator(".lw-yes").is_visible()


def test_an_earlier_screen_is_sorted_again_after_the_last_question(world, served, browse):
    world.sort(2)
    items = value_items(world.X, ("x", "y"))
    page = browse(served(lambda: shown_as(world.session, world.X, items, places=world.X, budget=2)))
    page.get_by_text("The question limit is reached").wait_for()
    open_again(page)
    assert not page.locator(".lw-finish").is_visible()
    page.keyboard.press("s")
    page.locator(".lw-card-name").first.press("Enter")
    page.get_by_text("The question limit is reached").wait_for()
    assert page.locator(".lw-finish").is_visible()
    assert not page.locator(".lw-board").is_visible()
    assert len(world.session.history[0].sorting.unsure) == 1
