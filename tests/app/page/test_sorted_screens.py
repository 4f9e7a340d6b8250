"""What the page shows of rows that were sorted elsewhere, such as in the terminal."""

import numpy as np

from linkwise.app.page.cards import view_numbers
from linkwise.app.page.presenter import Presenter
from linkwise.session.session import Session


def begin(rate=0):
    rng, kind = np.random.default_rng(3), np.arange(24) % 3
    X = np.column_stack([10.0 * kind, 5.0 * (kind == 1)]) + rng.normal(0, 0.2, (24, 2))
    session = Session(X, error_rate=rate)
    return Presenter(session, X, view_numbers(X, ("length", "width")), title="leaves.csv"), session


def ask(presenter, **request):
    reply = presenter.handle({"id": "a1", **request})
    assert reply.body["ok"], reply.body
    return reply.body


def test_the_history_lists_a_screen_and_undo_takes_it_back():
    presenter, session = begin()
    session.sort([[0, 3, 6], [1, 4]], unsure=[2])
    session.change(1, [[0, 3, 6], [1, 4], [2]])
    (event,) = ask(presenter, do="history")["events"]
    assert (event["kind"], event["cards"], event["piles"], event["changed"]) == ("sort", 6, 3, True)
    assert event["names"] == []
    ask(presenter, do="undo")
    ask(presenter, do="undo")
    assert session.history == []


def test_a_conflict_names_the_screen():
    presenter, session = begin()
    session.sort([[0, 3], [1, 4]])
    reply = presenter.handle({"id": "a2", "do": "add", "first": 3, "second": 4, "kind": "must-link"}).body
    assert not reply["ok"]
    links = [(link["kind"], link["event"]) for link in reply["error"]["chain"]]
    assert links == [("sort", 1), ("add", None), ("sort", 1), ("sort", 1)]


def test_a_misplaced_card_is_listed_among_the_suspects():
    presenter, session = begin(rate=None)
    for _ in range(3):
        session.sort([range(0, 18, 3), range(1, 18, 3), range(2, 18, 3)])
    session.sort([[18, 21, 0, 4], [1, 7], [2, 5]])
    assert any(suspect.number == 4 for suspect in session.suspects)
    listed = ask(presenter, do="suspects")["suspects"]
    assert len(listed) == len(session.suspects)
