"""Sets with classes of several groups: their counts, and how far apart the groups are; they never change."""

import numpy as np
import pytest
from bench.multi_group_sets import MULTI_GROUP_SETS, blob_sizes, load_multi_group
from sklearn.metrics import pairwise_distances

from bench import data

pytestmark = pytest.mark.slow

COUNTS = {  # rows, features, groups, classes
    "blobs_6_3": (300, 20, 6, 3),
    "blobs_8_4": (300, 20, 8, 4),
    "blobs_12_6": (300, 20, 12, 6),
    "blobs_30_6": (500, 20, 30, 6),
    "blobs_40_2": (500, 20, 40, 2),
    "blobs_6_3_skewed": (300, 20, 6, 3),
    "blobs_12_6_skewed": (300, 20, 12, 6),
    "blobs_30_6_skewed": (500, 20, 30, 6),
    "blobs_40_2_skewed": (500, 20, 40, 2),
    "moons_4": (400, 2, 4, 2),
    "rings_4": (400, 2, 4, 2),
    "spirals_4": (400, 2, 4, 2),
    "digits_even": (800, 64, 10, 2),
    "digits_three": (800, 64, 10, 3),
    "iris_merged": (149, 4, 3, 2),
    "wine_merged": (178, 13, 3, 2),
    "iris_split": (149, 4, 4, 4),
    "wine_split": (178, 13, 4, 4),
}
DRAWN = [name for name in COUNTS if name.startswith(("blobs", "moons", "rings", "spirals"))]


def make(name):
    return MULTI_GROUP_SETS[name].make(np.random.default_rng(0))


def test_all_sets_are_listed():
    assert list(MULTI_GROUP_SETS) == list(COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_a_set_has_the_counts_of_its_name(name):
    n_rows, n_features, n_groups, n_classes = COUNTS[name]
    task = data.load(name, data.Source())
    assert task.X.shape == (n_rows, n_features)
    assert np.isfinite(task.X).all()
    assert np.unique(task.y).tolist() == list(range(n_classes))
    assert np.unique(make(name)[1]).tolist() == list(range(n_groups))


@pytest.mark.parametrize("name", COUNTS)
def test_a_set_is_always_the_same(name):
    task = load_multi_group(name)
    load_multi_group.cache_clear()
    again = load_multi_group(name)
    assert again is not task
    np.testing.assert_array_equal(again.X, task.X)
    np.testing.assert_array_equal(again.y, task.y)


@pytest.mark.parametrize("name", DRAWN)
def test_the_nearest_row_is_of_the_same_group(name):
    X, group = make(name)
    distance = pairwise_distances(X)
    np.fill_diagonal(distance, np.inf)
    assert (group[distance.argmin(axis=1)] == group).all()


@pytest.mark.parametrize("name", [name for name in DRAWN if name.startswith("blobs")])
def test_blobs_are_far_apart_and_those_of_a_class_as_far_as_others(name):
    X, group = make(name)
    distance, is_one = pairwise_distances(X), group[:, None] == group
    is_class = np.equal.outer(*2 * [group % MULTI_GROUP_SETS[name].n_classes])
    assert distance[is_one].max() < distance[~is_one].min()
    assert distance[is_class & ~is_one].mean() == pytest.approx(distance[~is_class].mean(), rel=0.2)


def test_sizes_of_blobs():
    equal, skewed = (blob_sizes(40, 500, is_skewed=is_skewed) for is_skewed in (False, True))
    assert equal.sum() == skewed.sum() == 500
    assert set(equal.tolist()) == {12, 13}
    assert skewed[0] / skewed[9] == pytest.approx(10**0.8, rel=0.1)
    assert skewed.min() >= 3


def test_classes_are_joined_or_split_as_the_names_tell():
    iris = data.load("iris", data.Source())
    merged, split = data.load("iris_merged", data.Source()), data.load("iris_split", data.Source())
    for task in (merged, split):
        np.testing.assert_array_equal(task.X, iris.X)
    np.testing.assert_array_equal(merged.y == 1, iris.y == 1)
    np.testing.assert_array_equal(split.y % 3, iris.y)
    halves = [iris.X[split.y == number] for number in (0, 3)]
    assert min(map(len, halves)) >= 20
