"""Moves of nodes between clusters, against a table of all chances before each move."""

from dataclasses import astuple, dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference.belief_moves as reference
from linkwise import native


@dataclass(frozen=True, eq=False)
class Move:
    """What `native.move_believed` takes, in its order."""

    inverse: np.ndarray
    net: np.ndarray
    count: np.ndarray
    pairs: np.ndarray | None
    label: np.ndarray
    n_moved: np.ndarray
    trust: np.ndarray
    power: float = 1.5
    unknown: float = 0.1
    doubt: float = 0.05
    margin: float = 0.3
    price: float = 2.0
    answers_price: float = 0.05
    most_moves: int = 2

    def run(self, by=native):
        return by.move_believed(*(getattr(self, name) for name in self.__dataclass_fields__))


def draw_move(seed, n, n_answers, *, with_pairs, spread=1.0, n_labels=None):
    """Answers about rows of four classes, a quarter of them wrong or none."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    X = spread * rng.normal(size=(n, 2)) + 2 * rng.normal(size=(4, 2))[y]
    squares = np.square(X[:, None] - X).sum(axis=2)
    kernel = np.exp(-squares / 2)
    net, count = np.zeros((n, n)), np.zeros((n, n))
    for _ in range(n_answers):
        a, b = rng.choice(n, 2, replace=False)
        says = 2.5 if (y[a] == y[b]) ^ (rng.random() < 0.2) else -2.5
        net[[a, b], [b, a]] += says
        count[[a, b], [b, a]] += 1
    pairs = 0.9 * kernel**0.5 * (1 - np.eye(n)) if with_pairs else None
    label = np.arange(n) if n_labels is None else rng.integers(0, min(n_labels, n), n)
    return Move(
        np.linalg.inv(kernel + 0.05 * np.eye(n)),
        net,
        count,
        pairs,
        label,
        np.zeros(n, np.int64),
        np.minimum(1, np.arange(1, n + 2) / 6) ** 2 if with_pairs else np.ones(n + 1),
    )


def check(move):
    """The same partition, whatever the numbers of its clusters are, by the same number of moves."""
    (label, n_moved), (expected, expected_moves) = move.run(), move.run(reference)
    np.testing.assert_array_equal(np.equal.outer(label, label), np.equal.outer(expected, expected))
    np.testing.assert_array_equal(n_moved, expected_moves)


@settings(deadline=None, max_examples=4 * settings.default.max_examples)
@given(
    st.integers(0, 10**6),
    st.integers(1, 14),
    st.booleans(),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([(1.0, 0.05), (1.75, 0.01), (0.5, 1.0)]),
    st.sampled_from([1, 3]),
)
def test_moves_are_those_of_the_whole_table(seed, n, with_pairs, n_labels, form, most_moves):
    n_answers = 0 if n == 1 else 2 * n
    move = draw_move(seed, n, n_answers, with_pairs=with_pairs, n_labels=n_labels)
    check(replace(move, power=form[0], doubt=form[1], most_moves=most_moves))


@pytest.mark.parametrize("with_pairs", [False, True])
@pytest.mark.parametrize("n_labels", [None, 6, 60])
def test_many_nodes(with_pairs, n_labels):
    move = draw_move(1, 60, 150, with_pairs=with_pairs, n_labels=n_labels)
    check(move)
    label, n_moved = move.run()
    assert 3 < len(np.unique(label)) < 40
    assert 10 < n_moved.sum() <= 120


def test_rows_without_any_likeness_stay_where_the_first_ones_are():
    """Where all chances are equal, a cluster of its own costs what the answers in the first cluster cost."""
    n = 8
    net, count = np.zeros((n, n)), np.zeros((n, n))
    for a, b in [(0, 1), (1, 2), (4, 5)]:
        net[[a, b], [b, a]], count[[a, b], [b, a]] = 3.0, 1
    move = Move(np.eye(n), net, count, None, np.arange(n), np.zeros(n, np.int64), np.ones(n + 1), doubt=1.0)
    check(move)
    assert len(np.unique(move.run()[0])) < n


def test_what_is_given_does_not_change():
    move = draw_move(0, 9, 20, with_pairs=True)
    before = [np.copy(value) for value in astuple(move)]
    label, n_moved = move.run()
    assert label is not move.label
    assert n_moved.sum() > 0
    for value, old in zip(astuple(move), before, strict=True):
        np.testing.assert_array_equal(value, old)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"inverse": np.eye(4, 3)}, ValueError, r"inverse must have shape \(4, 4\)"),
        ({"net": np.zeros((3, 4))}, ValueError, r"net must have shape \(4, 4\)"),
        ({"count": np.zeros((4, 4), int)}, TypeError, "count .* float64"),
        ({"pairs": np.zeros((5, 5))}, ValueError, r"pairs must have shape \(4, 4\)"),
        ({"label": np.arange(1, 5)}, ValueError, r"label holds 1 to 4\. Pass 0 to 3"),
        ({"n_moved": np.zeros(3, np.int64)}, ValueError, r"n_moved must have shape \(4\)"),
        ({"trust": np.ones(4)}, ValueError, r"trust must have shape \(5\)"),
        ({"most_moves": 0}, ValueError, "most_moves must be at least 1, got 0"),
    ],
)
def test_bad_arguments_raise_errors(change, error, words):
    move = draw_move(0, 4, 5, with_pairs=True)
    with pytest.raises(error, match=words):
        replace(move, **change).run()
