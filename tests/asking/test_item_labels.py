"""Labels of items: those of the rows, and their numbers, are what arrays of all rows would say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwise as lw
from linkwise.asking.item_labels import ItemLabels, count_labels, read_labels
from linkwise.asking.learner import Question
from linkwise.asking.run import Run


@st.composite
def item_labels(draw):
    """Some items with rows, and rows with labels of their own."""
    n_items, n_rows = draw(st.integers(1, 6)), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    of = rng.integers(0, n_items, n_rows)
    rows = np.flatnonzero(rng.random(n_rows) < draw(st.sampled_from([0, 0.3, 1])))
    items = rng.integers(0, 4, n_items).astype(np.int32)
    own = rng.integers(0, 7, len(rows)).astype(np.int32)
    return ItemLabels(items, of, np.bincount(of, minlength=n_items), rows, own)


@given(item_labels())
def test_rows_have_the_labels_of_their_items_or_their_own(shown):
    labels, own = read_labels(shown), dict(zip(shown.rows.tolist(), shown.own.tolist(), strict=True))
    assert labels.dtype == np.int32
    assert labels.tolist() == [own.get(row, shown.items[item]) for row, item in enumerate(shown.of.tolist())]
    assert count_labels(shown).tolist() == np.bincount(labels).tolist()


def test_a_question_makes_its_labels_when_they_are_read():
    shown = ItemLabels(
        np.array([1, 0], np.int32),
        np.array([0, 1, 0]),
        np.array([2, 1]),
        np.array([2]),
        np.array([5], np.int32),
    )
    question = Question(0, 1, shown, "why")
    assert question.labels.tolist() == [1, 0, 5]
    assert Question(0, 1, question.labels, "why").labels.tolist() == [1, 0, 5]


@pytest.mark.parametrize("reads", [True, False])
def test_nothing_depends_on_whether_labels_are_read(reads, monkeypatch):
    X, y = draw_blobs()
    made = []
    monkeypatch.setattr(ItemLabels, "of_rows", _counted(ItemLabels.of_rows, made))
    run = Run(lw.KIN(), X, lw.Evidence(len(X)), 0, budget=25)
    while run.question is not None:
        if reads:
            assert len(run.labels) == len(X)
        run.answer("yes" if y[run.question.first] == y[run.question.second] else "no")
    assert bool(made) == reads
    again = Run(lw.KIN(), X, lw.Evidence(len(X)), 0, budget=25)
    while again.question is not None:
        again.answer("yes" if y[again.question.first] == y[again.question.second] else "no")
    np.testing.assert_array_equal(run.labels, again.labels)


def draw_blobs():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 6, 3000)
    return rng.normal(size=(3000, 4)) + 5 * rng.normal(size=(6, 4))[y], y


def _counted(function, made):
    def call(shown):
        made.append(shown)
        return function(shown)

    return call
