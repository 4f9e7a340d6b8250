"""Labels of items: those of the rows, and their numbers, are what arrays of all rows would say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwise as lw
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.item_labels import (
    ItemLabels,
    count_labels,
    count_shared_rows,
    list_sizes,
    read_labels,
    renumber,
    replace_labels,
)
from linkwise.learn.learner import Question
from linkwise.learn.run import Run
from linkwise.session.state.colours import number_rows


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


@given(item_labels(), st.data())
def test_what_is_done_to_items_is_done_to_their_rows(shown, data):
    labels, n = read_labels(shown), len(shown)
    assert n == len(labels)
    numbers, sizes = list_sizes(shown)
    assert [numbers.tolist(), sizes.tolist()] == [
        part.tolist() for part in np.unique(labels, return_counts=True)
    ]
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1)))), dtype=np.int64)
    assert shown.take(rows).tolist() == labels[rows].tolist()
    other = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows))), int)
    replaced = replace_labels(shown, rows, other)
    assert read_labels(replaced).tolist() == replace_labels(labels, rows, other).tolist()
    places = np.array(data.draw(st.permutations(range(10))), np.int32)
    assert read_labels(renumber(replaced, places)).tolist() == places[read_labels(replaced)].tolist()
    for one, two in ((shown, replaced), (replaced, shown), (shown, shown)):
        found = count_shared_rows(one, two)
        wanted = count_shared_rows(read_labels(one), read_labels(two))
        assert [part.tolist() for part in found] == [part.tolist() for part in wanted]


@given(item_labels(), st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29), st.booleans()), max_size=12))
def test_answers_are_enforced_as_on_rows(shown, pairs):
    evidence = lw.Evidence(len(shown))
    for first, second, together in pairs:
        if max(first, second) < len(shown) and evidence.verdict(first, second) is None:
            evidence.add(first, second, "yes" if together else "no")
    used = np.unique(read_labels(shown))  # numbers without rows stay away, as from a learner
    shown = renumber(shown, np.searchsorted(used, np.arange(10)).astype(np.int32))
    enforced = enforce_answers(shown, evidence)
    labels = enforce_answers(read_labels(shown), evidence)
    assert read_labels(enforced).tolist() == labels.tolist()
    assert count_labels(enforced).tolist() == np.bincount(labels).tolist()


def test_an_item_without_rows_of_its_label_keeps_a_number_that_counts():
    nobody = np.empty(0, np.int64), np.empty(0, np.int32)
    shown = ItemLabels(np.array([0, 1], np.int32), np.array([0, 1, 1, 1]), np.array([1, 3]), *nobody)
    evidence = lw.Evidence(4)
    evidence.add(0, 1, "yes")
    evidence.add(1, 2, "yes")
    enforced = enforce_answers(shown, evidence)  # the only row of cluster 0 leaves it
    assert (read_labels(enforced).tolist(), count_labels(enforced).tolist()) == ([0] * 4, [4])


def test_an_item_without_rows_of_its_label_needs_no_new_number():
    items, own = np.array([0, 2, 3], np.int32), np.array([0, 0], np.int32)
    shown = ItemLabels(items, np.array([0, 0, 1, 2]), np.array([2, 1, 1]), np.array([2, 3]), own)
    numbered = number_rows(shown, [5])  # there is one cluster, since items 1 and 2 have no other rows
    assert (read_labels(numbered).tolist(), list_sizes(numbered)) == ([5] * 4, ([5], [4]))


def counts_of(before, then):
    return [part.tolist() for part in count_shared_rows(np.array(before, np.int32), np.array(then, np.int32))]


def test_few_clusters_of_many_rows_share_rows():
    assert counts_of([0, 0, 1, 1, 0], [1, 1, 0, -1, 0]) == [[0, 0, 1, 1], [0, 1, -1, 0], [1, 2, 1, 1]]


def test_many_clusters_of_few_rows_share_rows():
    assert counts_of([5, -1, 5], [9, 9, 9]) == [[-1, 5], [9, 9], [1, 2]]
    assert counts_of([7, 7, 0], [-1, -1, 8]) == [[0, 7], [8, -1], [1, 2]]


def test_numbers_of_clusters_may_be_large():
    large = 2**31 - 1
    assert counts_of([0, large, 0], [large, large, 0]) == [[0, 0, large], [0, large, large], [1, 1, 1]]


LABELS = st.lists(st.integers(-1, 6), min_size=1, max_size=30)


@given(LABELS, st.data())
def test_shared_counts_rows(before, data):
    then = data.draw(st.lists(st.integers(-1, 6), min_size=len(before), max_size=len(before)))
    source, target, rows = count_shared_rows(np.array(before), np.array(then))
    found = dict(zip(zip(source.tolist(), target.tolist(), strict=True), rows.tolist(), strict=True))
    pairs = list(zip(before, then, strict=True))
    assert found == {pair: pairs.count(pair) for pair in pairs}


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
    run = Run(lw.KIN(), X, lw.Evidence(len(X)), 0, budget=15)
    while run.question is not None:
        if reads:
            assert len(run.labels) == len(X)
        run.answer("yes" if y[run.question.first] == y[run.question.second] else "no")
    assert bool(made) == reads
    again = Run(lw.KIN(), X, lw.Evidence(len(X)), 0, budget=15)
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
