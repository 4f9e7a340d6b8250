"""Desks to show to a browser, and what a person does there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from fixed_labels import FixedAdvice, FixedLabels
from linkwise import datasets
from linkwise.app.page import opening
from linkwise.app.page.cards import RowView
from linkwise.app.page.presenter import Presenter
from linkwise.data.demo_sets import as_demo
from linkwise.data.show.items import Items, value_items
from linkwise.datasets import scale_to_unit
from linkwise.learn.advice import StopAdvice
from linkwise.learn.cobras.cobras import COBRAS
from linkwise.learn.kin.kin import KIN
from linkwise.learn.oracles import TruthOracle
from linkwise.session.session import Session
from linkwise.session.state.moves import describe_moves, find_moves

READ_MS = 170  # a key that comes sooner after its question is not taken
QUESTION = "document.querySelector('.lw-eyebrow').textContent"


class Bundled:
    """A bundled set, its truth, and the session on it."""

    def __init__(self, name: str, answers: int = 0, budget: int | None = None) -> None:
        self.data = datasets.load(name)
        self.oracle = TruthOracle(self.data.y)
        self.session = Session(scale_to_unit(self.data.X), COBRAS(random_state=0))
        for _ in range(answers):
            question = self.session.question
            assert question is not None
            self.session.answer(self.oracle(question.first, question.second))
        self.budget = budget

    def __call__(self) -> Presenter:
        return opening.present_demo(self.session, as_demo(self.data), budget=self.budget)

    @property
    def n_answers(self) -> int:
        return self.session.status.n_answers


def blobs(n_rows: int = 300, answers: int = 12) -> Callable[[], Presenter]:
    """Groups in the plane, with a few answers, at places that are known."""

    def begin() -> Presenter:
        rng = np.random.default_rng(0)
        kind = np.arange(n_rows) % 4
        X = np.array([[0, 0], [3, 0], [0, 2], [3, 2.5]])[kind] + rng.normal(0, 0.35, (n_rows, 2))
        session = Session(X, COBRAS(random_state=0))
        for _ in range(answers):
            if (question := session.question) is not None:
                session.answer("yes" if kind[question.first] == kind[question.second] else "no")
        return shown_as(session, X, value_items(X, ("x", "y")), places=X)

    return begin


def crowd(n_clusters: int, a_cluster: int = 4) -> Callable[[], Presenter]:
    """Many clusters at the places of a grid, the first ones a little larger."""

    def begin() -> Presenter:
        rng = np.random.default_rng(0)
        labels = np.concatenate([np.arange(n_clusters * a_cluster) % n_clusters, np.arange(n_clusters // 3)])
        side = int(np.ceil(np.sqrt(n_clusters)))
        X = np.stack([labels % side, labels // side], axis=1) + rng.normal(0, 0.1, (len(labels), 2))
        session = Session(X, FixedLabels(labels))
        return shown_as(session, X, value_items(X, ("x", "y")), places=X)

    return begin


def advised(advice: StopAdvice | None) -> Callable[[], Presenter]:
    """A learner that always gives this advice, after an answer."""

    def begin() -> Presenter:
        X = np.random.default_rng(0).random((500, 2))
        session = Session(X, FixedAdvice(np.arange(500) % 5, advice, "A is."))
        session.answer("no")
        return shown_as(session, X, value_items(X, ("x", "y")), places=X)

    return begin


def doubtful(source: str = "") -> Session:
    """Two groups that are far apart, with one wrong answer about each: answers 3 and 6."""
    X = np.random.default_rng(3).normal(size=(40, 2)) * 0.4 + np.repeat([[0, 0], [9, 9]], 20, 0)
    session = Session(X, KIN(random_state=0), error_rate=0.1)
    for row in (0, 20):
        session.add(row, row + 1, "must-link", source=source)
        session.add(row + 1, row + 2, "must-link", source=source)
        session.add(row, row + 2, "cannot-link", source=source)
    return session


def shown_as(session: Session, X: Any, items: Items, *, title: str = "things", **more: Any) -> Presenter:
    return Presenter(session, X, RowView(items, more.pop("name", "row {}".format)), title=title, **more)


def pair(page: Any) -> tuple[int, int]:
    """The rows in question, as the page names them."""
    told = page.locator(".lw-items").inner_text()
    first, second = re.findall(r"row (\d+)", told)[:2]
    return int(first), int(second)


def read(page: Any) -> None:
    """Look at the question long enough: before any key or click that answers it."""
    page.wait_for_timeout(READ_MS)


def press_early(page: Any, key: str) -> None:
    """Read, press a key that answers, and press it once more the moment the next question is shown."""
    read(page)
    page.evaluate(
        """key => { const root = document.querySelector(".linkwise");
        const press = () => root.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
        root.addEventListener("linkwise:drawn", press, {once: true});
        press(); }""",
        key,
    )


def press(page: Any, key: str) -> None:
    """Read, press a key that changes the session, and wait until the page shows the next state.

    The number of the question would not do: it stays the same when a change of an answer is undone.
    """
    read(page)
    page.evaluate("""() => { window.hasDrawn = false;
        const root = document.querySelector(".linkwise");
        root.addEventListener("linkwise:drawn", () => { hasDrawn = true; }, {once: true}); }""")
    page.keyboard.press(key)
    page.wait_for_function("() => hasDrawn")


def describe_moved(before: Any, session: Session) -> str:
    """What the page says about the rows that moved since the session had these labels."""
    return describe_moves(find_moves(before, session.labels), session.cluster_names)


def by_truth(page: Any, bundled: Bundled) -> str:
    return {"yes": "y", "no": "n"}[bundled.oracle(*pair(page))]
