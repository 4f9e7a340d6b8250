"""Numbers and colours of clusters: they stay with the rows that had them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.learn.cobras.cobras import COBRAS
from linkwise.session.journal.events import Event
from linkwise.session.session import Session
from linkwise.session.state.colours import (
    Identities,
    Identity,
    carry_identity,
    find_heirs,
    group_clusters,
    match_numbers,
    number_rows,
    show_numbers,
)

MANY = [-1] * 20  # rows without a cluster, so that there are more rows than numbers


def after(before, numbers, labels, n_given=None):
    shades = tuple((number, 0) for number in numbers)
    identity = Identity(tuple(numbers), shades, max(numbers) + 1 if n_given is None else n_given)
    steps = (np.array([*step, *MANY], np.int32) for step in (before, labels))
    return list(carry_identity(identity, *steps).numbers)


def test_what_the_learner_numbers_anew_keeps_its_numbers():
    assert after([0, 0, 1, 1, 2], [0, 1, 2], [2, 2, 0, 0, 1]) == [1, 2, 0]


def test_the_larger_part_keeps_the_number():
    assert after([0, 0, 0, 1], [0, 1], [0, 1, 1, 2]) == [2, 0, 1]


def test_the_larger_of_two_that_merge_gives_the_number():
    assert after([0, 1, 1, 2], [5, 3, 1], [0, 0, 0, 1]) == [3, 1]


def test_noise_has_no_number():
    assert after([-1, -1, 0, 0], [4], [0, 0, -1, 1]) == [5, 4]
    assert after([0, 0], [0], [-1, -1]) == []
    assert number_rows(labels(1, -1, 0), (7, 4)).tolist() == [4, -1, 7]
    assert number_rows(labels(-1), ()).tolist() == [-1]


def test_a_number_is_given_once():
    assert after([0, 0, 0, 1], [1, 4], [2, 0, 1, 3]) == [1, 5, 6, 4]
    assert after([0, 0, 1], [0, 1], [0, 0, 0], n_given=9) == [0]
    assert after([0, 0, 0], [0], [0, 0, 1], n_given=9) == [0, 9]


def test_when_as_many_numbers_as_rows_were_given_the_lowest_that_is_free_is_given_again():
    rows = 4 + len(MANY)
    assert after([0, 0, 0, 1], [1, 4], [2, 0, 1, 3], n_given=rows) == [1, 0, 2, 4]
    assert after([0, 0, 0, 1], [1, 4], [2, 0, 1, 3], n_given=rows - 1) == [1, rows - 1, 0, 4]


def test_of_equal_parts_the_first_keeps_the_number():
    assert after([0, 0, 0, 0], [3], [1, 1, 0, 0]) == [3, 4]


def test_of_equal_clusters_that_merge_the_first_gives_the_number():
    assert after([1, 0], [7, 5], [0, 0]) == [7]


# ---------------------------------------------------------------- after each event
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


def begin(identities, start):
    identities.begin([], [], start, None)


def followed():
    identities = Identities()
    begin(identities, START)
    seen = [identities.now.numbers]
    for event, before, then in ((FIRST, START, SWAPPED), (SECOND, SWAPPED, SWAPPED), (THIRD, SWAPPED, SPLIT)):
        identities.follow(event, before, then)
        seen.append(identities.now.numbers)
    assert seen == [(0, 1), (1, 0), (1, 0), (1, 0, 2)]
    assert [identity.numbers for identity in identities.list_steps()] == seen
    return identities


def test_at_the_start_a_number_is_that_of_the_learner():
    identities = Identities()
    assert identities.now == Identity((), (), 0)
    identities.begin([FIRST], [], labels(0, 2, 1, 2), None)
    assert identities.now.numbers == (0, 1, 2)
    begin(identities, labels(-1, -1))
    assert identities.now.numbers == ()


def test_what_is_added_before_the_first_answer_changes_no_numbers():
    identities = Identities()
    identities.begin([FIRST], [SECOND], SPLIT, lambda: START)
    assert identities.now.numbers == (1, 0, 2)
    identities.begin([FIRST], [SECOND], None, None)  # it is not computed again
    assert identities.now.numbers == (1, 0, 2)
    identities.begin([FIRST], [THIRD], SWAPPED, lambda: START)
    assert identities.now.numbers == (1, 0)
    identities.go_back(0)
    assert identities.now.numbers == (1, 0)


def test_numbers_follow_each_event():
    followed()


def test_steps_of_the_last_time_are_remembered():
    """Their labels are not looked at again."""
    identities = followed()
    for _ in range(2):
        begin(identities, None)
        seen = [identities.now.numbers]
        for event in (FIRST, SECOND, THIRD):
            identities.follow(event, None, labels(0, 0, 0, 0))
            seen.append(identities.now.numbers)
        assert seen == [(0, 1), (1, 0), (1, 0), (1, 0, 2)]
    identities.follow(OTHER, SPLIT, START)
    assert identities.now.numbers == (0, 1)


def test_numbers_are_computed_from_the_first_event_that_differs():
    identities = followed()
    begin(identities, None)
    identities.follow(FIRST, None, None)
    identities.follow(OTHER, SWAPPED, labels(2, 2, 1, 0))
    assert identities.now.numbers == (1, 2, 0)
    identities.follow(THIRD, labels(2, 2, 1, 0), START)
    assert identities.now.numbers == (0, 1)
    identities.begin([SECOND], [], START, None)
    assert identities.now.numbers == (0, 1)
    identities.follow(FIRST, START, SPLIT)
    assert identities.now.numbers == (1, 0, 2)


# ---------------------------------------------------------------- families
def shades_of(*steps, X=None):
    """The shades after labels that follow each other."""
    identities = Identities(X)
    steps = [labels(*step) for step in steps]
    begin(identities, steps[0])
    for number, (before, then) in enumerate(pairwise(steps), 1):
        identities.follow(answer(number, number), before, then)
    return list(identities.now.shades)


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
def test_of_twelve_clusters_each_has_a_family_of_its_own(steps):
    identities = Identities()
    steps = [labels(*step) for step in steps]
    begin(identities, steps[0])
    for number, (before, then) in enumerate(pairwise(steps), 1):
        identities.follow(answer(number, number), before, then)
        families = [family for family, _ in identities.now.shades]
        assert len(set(families)) == len(families)
        assert {shade for _, shade in identities.now.shades} <= {0}


@given(st.lists(LABELS_OF_TWENTY, min_size=2, max_size=5))
def test_no_two_clusters_share_a_number_or_shade_and_heirs_keep_theirs(steps):
    steps = [labels(*step) for step in steps]
    identities = Identities(np.arange(60.0).reshape(30, 2))
    begin(identities, steps[0])
    given_before = set(identities.now.numbers)
    for number, (before, then) in enumerate(pairwise(steps), 1):
        was = identities.now
        identities.follow(answer(number, number), before, then)
        now = identities.now
        assert len(set(now.numbers)) == len(set(now.shades)) == len(now.shades) == len(now.numbers)
        assert all(0 <= family < 12 for family, _ in now.shades)
        assert max(now.numbers, default=0) < len(then)
        heirs = find_heirs(before, then)[0]
        for new, parent in heirs.items():
            assert (now.numbers[new], now.shades[new]) == (was.numbers[parent], was.shades[parent])
        if now.n_given < len(then):
            fresh = {number for new, number in enumerate(now.numbers) if new not in heirs}
            assert not fresh & given_before
        given_before |= set(now.numbers)


# ---------------------------------------------------------------- of a session
def test_numbers_and_shades_survive_answers_undo_and_a_restart(tmp_path):
    rng = np.random.default_rng(0)
    kind = np.arange(160) % 40
    X = rng.uniform(-20, 20, (40, 3))[kind] + rng.normal(0, 0.1, (160, 3))
    path = tmp_path / "s.linkwise"
    with Session.open(path, X, COBRAS(n_init=1, random_state=0)) as session:
        seen = []
        for _ in range(90):
            seen.append((session.labels, session.cluster_shades))
            q = session.question
            session.answer(bool(kind[q.first] == kind[q.second]))
        last, shades = session.labels, session.cluster_shades
        assert len(shades) > 16
        assert any(shade for _, shade in shades.values())
        assert shades.keys() == set(last.tolist())
        for (before, was), (then, now) in pairwise(seen):
            assert all(now[number] == was[number] for number in now.keys() & was.keys())
            kept = [
                number
                for number in was
                if (before == number).sum() < 2 * ((before == number) & (then == number)).sum()
            ]
            assert len(kept) >= len(was) - 2
        with Session.open(path, X) as again:
            assert (again.labels.tolist(), again.cluster_shades) == (last.tolist(), shades)
        for found, shades in reversed(seen[-20:]):
            session.undo()
            assert (session.labels.tolist(), session.cluster_shades) == (found.tolist(), shades)
    with Session.open(path) as kept:
        assert kept.labels.tolist() == seen[-20][0].tolist()


# ---------------------------------------------------------------- numbers that stay through a replay
@given(st.lists(st.tuples(st.integers(-1, 6), st.integers(-1, 6)), min_size=1, max_size=30))
def test_clusters_keep_the_numbers_that_people_have_seen(pairs):
    before, now = (np.array(each, dtype=np.int32) for each in zip(*pairs, strict=True))
    numbers = match_numbers(before, now)
    assert sorted(numbers) == list(range(len(numbers)))
    assert max(before.max(), now.max()) < len(numbers)
    heirs, _ = find_heirs(before, now)
    for number in set(now[now >= 0].tolist()):
        assert numbers[number] == heirs[number] if number in heirs else numbers[number] > before.max()


def test_numbers_beyond_those_of_the_replay_stay():
    assert show_numbers((2, 0, 5), (1, 2, 0)) == (0, 1, 5)
    assert show_numbers((2, 0, 5), ()) == (2, 0, 5)
