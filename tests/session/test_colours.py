"""Colours of clusters: they stay with the rows that had them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.active.cobras.cobras import COBRAS
from linkwise.session.colours import Colours, carry_colours, count_shared_rows, find_heirs, group_clusters
from linkwise.session.events import Event
from linkwise.session.session import Session


def after(before, colours, labels):
    return carry_colours(np.array(before, np.int32), colours, np.array(labels, np.int32))


def test_new_numbers_keep_colours():
    assert after([0, 0, 1, 1, 2], [0, 1, 2], [2, 2, 0, 0, 1]) == [1, 2, 0]


def test_the_larger_part_keeps_the_colour():
    assert after([0, 0, 0, 1], [0, 1], [0, 1, 1, 2]) == [2, 0, 1]


def test_the_larger_of_two_that_merge_gives_the_colour():
    assert after([0, 1, 1, 2], [5, 3, 1], [0, 0, 0, 1]) == [3, 1]


def test_noise_has_no_colour():
    assert after([-1, -1, 0, 0], [4], [0, 0, -1, 1]) == [0, 4]
    assert after([0, 0], [0], [-1, -1]) == []


def test_each_cluster_that_is_new_takes_the_lowest_free_colour():
    assert after([0, 0, 0, 1], [1, 4], [2, 0, 1, 3]) == [1, 0, 2, 4]


def test_of_equal_parts_the_first_keeps_the_colour():
    assert after([0, 0, 0, 0], [3], [1, 1, 0, 0]) == [3, 0]


def test_of_equal_clusters_that_merge_the_first_gives_the_colour():
    assert after([1, 0], [7, 5], [0, 0]) == [7]


def test_a_cluster_that_was_noise_takes_a_free_colour():
    assert after([-1, -1, -1, 0], [0], [0, 0, 0, 1]) == [1, 0]


# ---------------------------------------------------------------- the colours after each event
LABELS_OF_TWELVE = st.lists(st.integers(-1, 11), min_size=30, max_size=30)
LABELS_OF_TWENTY = st.lists(st.integers(-1, 19), min_size=30, max_size=30)


def answer(number, row):
    return Event(number, "answer", "", row, row + 1, "yes")


def labels(*numbers):
    return np.array(numbers, np.int32)


START = labels(0, 0, 1, 1)
SWAPPED = labels(1, 1, 0, 0)
SPLIT = labels(1, 1, 0, 2)
FIRST, SECOND, THIRD, OTHER = (answer(number, row) for number, row in enumerate((0, 1, 2, 0), 1))


def followed():
    colours = Colours()
    colours.begin([], START)
    seen = [colours.now]
    for event, before, then in ((FIRST, START, SWAPPED), (SECOND, SWAPPED, SWAPPED), (THIRD, SWAPPED, SPLIT)):
        colours.follow(event, before, then)
        seen.append(colours.now)
    assert seen == [[0, 1], [1, 0], [1, 0], [1, 0, 2]]
    return colours


def test_at_the_start_a_colour_is_the_number_of_its_cluster():
    colours = Colours()
    assert colours.now == []
    colours.begin([FIRST], labels(0, 2, 1, 2))
    assert colours.now == [0, 1, 2]
    colours.begin([], labels(-1, -1))
    assert colours.now == []


def test_colours_follow_each_event():
    followed()


def test_steps_of_the_last_time_are_remembered():
    """Their labels are not looked at again."""
    colours = followed()
    for _ in range(2):
        colours.begin([], None)
        seen = [colours.now]
        for event in (FIRST, SECOND, THIRD):
            colours.follow(event, None, labels(0, 0, 0, 0))
            seen.append(colours.now)
        assert seen == [[0, 1], [1, 0], [1, 0], [1, 0, 2]]
    colours.follow(OTHER, SPLIT, START)
    assert colours.now == [0, 1]


def test_colours_are_computed_from_the_first_event_that_differs():
    colours = followed()
    colours.begin([], None)
    colours.follow(FIRST, None, None)
    colours.follow(OTHER, SWAPPED, labels(2, 2, 1, 0))
    assert colours.now == [1, 2, 0]
    colours.follow(THIRD, labels(2, 2, 1, 0), START)
    assert colours.now == [0, 1]
    colours.begin([SECOND], START)
    assert colours.now == [0, 1]
    colours.follow(FIRST, START, SPLIT)
    assert colours.now == [1, 0, 2]


# ---------------------------------------------------------------- families
def shades_of(*steps, X=None):
    """The shades after labels that follow each other."""
    colours = Colours(X)
    steps = [labels(*step) for step in steps]
    colours.begin([], steps[0])
    for number, (before, then) in enumerate(pairwise(steps), 1):
        colours.follow(answer(number, number), before, then)
    return colours.shades


def test_a_cluster_that_splits_off_joins_the_family_of_its_parent():
    twelve = [*range(12), 3, 3, 3]
    start = [(family, 0) for family in range(12)]
    assert shades_of(twelve) == start
    split = [*range(12), 3, 12, 12]
    assert shades_of(twelve, split) == [*start, (3, 1)]
    again = [*range(12), 3, 12, 13]
    assert shades_of(twelve, split, again) == [*start, (3, 1), (3, 2)]
    assert shades_of(twelve, split, again, split, again) == [*start, (3, 1), (3, 2)]


def test_a_family_that_nobody_has_is_taken_before_a_shade():
    twelve = [*range(12), 3, 3]
    merged = [0, 0, *range(1, 11), 2, 2]  # the first two clusters
    assert shades_of(twelve, merged) == [(0, 0), *((family, 0) for family in range(2, 12))]
    split = [0, 0, *range(1, 11), 2, 11]
    assert shades_of(twelve, merged, split) == [(0, 0), *((family, 0) for family in range(2, 12)), (1, 0)]


def test_the_lowest_shade_that_is_free_is_taken():
    start = [*range(12), 3, 3, 3]
    split = [*range(12), 3, 12, 13]
    back = [*range(12), 3, 3, 12]
    assert shades_of(start, split, back)[12] == (3, 2)
    assert shades_of(start, split, back, split)[12:] == [(3, 1), (3, 2)]


def test_a_cluster_that_was_noise_joins_the_smallest_family():
    start = [*range(12), 0, 0, -1]
    split = [*range(12), 0, 12, -1]
    assert shades_of(start, split, [*range(12), 0, 12, 13])[12:] == [(0, 1), (1, 1)]


def test_clusters_at_the_start_that_lie_near_each_other_share_a_family():
    place = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 5, 0, 11, 5])
    numbers = np.repeat(np.arange(16), 3)
    X = np.stack([100.0 * place[numbers], np.arange(48) % 3], axis=1)
    wanted = [*((family, 0) for family in range(12)), (5, 1), (0, 1), (11, 1), (5, 2)]
    for rows in (X, X * 1e300, X / 1e300, X.astype(np.float32)):
        assert shades_of(numbers, X=rows) == wanted
    with_noise = np.append(numbers, [-1, -1])
    assert shades_of(with_noise, X=np.vstack([X, X[:2] + 7])) == wanted
    assert shades_of(range(13), X=np.zeros((13, 2))) == [(0, shade) for shade in range(13)]
    assert shades_of(range(13))[11:] == [(11, 0), (0, 1)]  # without rows in turn


def group_plainly(numbers, X):
    """Families of clusters, by k-means that begins with the first mean and then the farthest ones."""
    means = [
        np.mean([x for x, k in zip(X, numbers, strict=True) if k == c], axis=0)
        for c in range(max(numbers) + 1)
    ]

    def far(mean, center):
        return sum((a - b) ** 2 for a, b in zip(mean, center, strict=True))

    centers = means[:1]
    while len(centers) < 12:
        gaps = [min(far(mean, center) for center in centers) for mean in means]
        centers = [*centers, means[gaps.index(max(gaps))]]
    for _ in range(10):
        families = [min(range(12), key=lambda f, mean=mean: far(mean, centers[f])) for mean in means]
        for f in set(families):
            centers[f] = np.mean([mean for mean, g in zip(means, families, strict=True) if g == f], axis=0)
    return [list(dict.fromkeys(families)).index(f) for f in families]


@pytest.mark.parametrize("seed", range(6))
def test_families_at_the_start_are_those_of_a_plain_k_means(seed):
    rng = np.random.default_rng(seed)
    numbers = np.repeat(np.arange(40), rng.integers(1, 5, 40))  # some clusters have one row
    X = rng.normal(-3, 2, (len(numbers), 3))
    order = rng.permutation(len(numbers))
    wanted = group_plainly(numbers.tolist(), X)
    assert group_clusters(labels(*numbers[order]), X[order]).tolist() == wanted
    noise = np.append(numbers, [-1] * 5)
    assert group_clusters(labels(*noise), np.vstack([X, np.full((5, 3), 1e9)])).tolist() == wanted
    assert group_clusters(labels(*numbers), 1e300 * np.minimum(X, 1e-300)).tolist() == group_plainly(
        numbers.tolist(), np.minimum(X, 0)
    )


def test_twelve_clusters_at_the_start_have_families_of_their_own_wherever_they_lie():
    assert shades_of(range(12), X=np.zeros((12, 2))) == [(family, 0) for family in range(12)]


@given(st.lists(LABELS_OF_TWELVE, min_size=1, max_size=5))
def test_with_twelve_clusters_the_family_is_the_colour(steps):
    colours = Colours()
    steps = [labels(*step) for step in steps]
    colours.begin([], steps[0])
    for number, (before, then) in enumerate(pairwise(steps), 1):
        colours.follow(answer(number, number), before, then)
        assert colours.shades == [(colour, 0) for colour in colours.now]


@given(st.lists(LABELS_OF_TWENTY, min_size=2, max_size=5))
def test_no_two_clusters_share_a_shade_and_heirs_keep_theirs(steps):
    steps = [labels(*step) for step in steps]
    colours = Colours(np.arange(60.0).reshape(30, 2))
    colours.begin([], steps[0])
    for number, (before, then) in enumerate(pairwise(steps), 1):
        was = dict(zip(colours.now, colours.shades, strict=True))
        old = dict(enumerate(colours.now))
        colours.follow(answer(number, number), before, then)
        assert len(set(colours.shades)) == len(colours.shades) == len(colours.now)
        assert all(0 <= family < 12 for family, _ in colours.shades)
        for new, parent in find_heirs(before, then)[0].items():
            assert colours.now[new] == old[parent]
            assert colours.shades[new] == was[old[parent]]


# ---------------------------------------------------------------- clusters that share rows
def counts_of(before, then):
    return [part.tolist() for part in count_shared_rows(labels(*before), labels(*then))]


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
def test_no_two_share_one(before, data):
    then = data.draw(st.lists(st.integers(-1, 6), min_size=len(before), max_size=len(before)))
    start = list(range(max(before) + 1))
    found = after(before, start, then)
    assert len(found) == max(then) + 1
    assert len(set(found)) == len(found)
    assert after(before, start, before)[: len(start)] == start


@given(LABELS, st.data())
def test_shared_counts_rows(before, data):
    then = data.draw(st.lists(st.integers(-1, 6), min_size=len(before), max_size=len(before)))
    source, target, rows = count_shared_rows(np.array(before), np.array(then))
    found = dict(zip(zip(source.tolist(), target.tolist(), strict=True), rows.tolist(), strict=True))
    pairs = list(zip(before, then, strict=True))
    assert found == {pair: pairs.count(pair) for pair in pairs}


# ---------------------------------------------------------------- of a session
def test_shades_survive_answers_undo_and_a_restart(tmp_path):
    rng = np.random.default_rng(0)
    kind = np.arange(160) % 40
    X = rng.uniform(-20, 20, (40, 3))[kind] + rng.normal(0, 0.1, (160, 3))
    path = tmp_path / "s.linkwise"
    with Session.open(path, X, COBRAS(n_init=1, random_state=0)) as session:
        seen = []
        for _ in range(90):
            seen.append((session.labels, session.cluster_colours, session.cluster_shades))
            q = session.question
            session.answer(bool(kind[q.first] == kind[q.second]))
        last = session.cluster_shades
        assert len(last) > 16
        assert any(shade for _, shade in last)
        for (before, _, shades), (then, _, after_it) in pairwise(seen):
            for new, old in find_heirs(before, then)[0].items():
                assert after_it[new] == shades[old]
        with Session.open(path, X) as again:
            assert again.cluster_shades == last
        for found, colours, shades in reversed(seen[-20:]):
            session.undo()
            assert session.labels.tolist() == found.tolist()
            assert (session.cluster_colours, session.cluster_shades) == (colours, shades)
