"""The socket: what is sent in which order, and to whom."""

from __future__ import annotations


def test_a_new_view_gets_places_labels_and_state_in_this_order(page):
    view = page.view().ready()
    told = [what for what in view.log if what != "state"]
    assert told == ["places", "labels"]
    assert view.log[-1] == "state"
    assert len(view.places) == 12 * 2 * 4
    assert len(view.labels) == 12
    assert view.state["title"] == "leaves.csv"


def test_an_answer_reaches_all_views_before_its_reply(page):
    one, other = page.view().ready(), page.view().ready()
    one.log.clear()
    assert one.answer("no")["ok"]
    assert one.log[-2:] == ["state", "reply"]
    other.until(lambda view: view.state["event"] == 1)
    assert other.state == one.state
    assert other.labels == one.labels
