"""Splits of super-instances: what is remembered, what cannot be split, and rows that may not be shown."""

import numpy as np
import pytest

from linkwise.constraints.evidence import Evidence
from linkwise.learn import super_instances
from linkwise.learn.super_instances import RECENT, Partition, Splitter, SuperInstance, SuperInstanceState


@pytest.fixture
def runs(monkeypatch):
    """The places whose k-means were computed."""
    seen = []

    def k_means(X, k, place, **options):
        seen.append(place)
        return plain(X, k, place, **options)

    plain = super_instances.k_means
    monkeypatch.setattr(super_instances, "k_means", k_means)
    return seen


def rows_of(parts):
    return [part.rows.tolist() for part in parts]


X = np.random.default_rng(0).normal(size=(40, 2))


def test_a_split_is_computed_once_and_only_a_few_are_kept_whole(runs):
    splitter = Splitter(X, 0, 1, None)
    whole = splitter.whole()
    assert (whole.place, whole.n_askable, whole.rows.tolist()) == ((), 40, list(range(40)))
    first = splitter.split(whole, 2)
    assert splitter.split(whole, 2) is first
    for k in range(3, 2 + RECENT):
        splitter.split(whole, k)
    assert splitter.split(whole, 2) is first
    splitter.split(whole, 2 + RECENT)
    again = splitter.split(whole, 2)  # the parts were given up, their labels were not
    assert again is not first
    assert rows_of(again) == rows_of(first)
    assert [part.place for part in again] == [(2, 0), (2, 1)]
    assert len(runs) == len(set(runs)) == 1 + RECENT
    other = Splitter(X, 0, 1, None, splitter.memo)
    assert rows_of(other.split(other.whole(), 2)) == rows_of(first)
    assert len(runs) == 1 + RECENT


def test_a_super_instance_with_one_row_to_show_is_not_split(runs):
    askable = np.zeros(40, bool)
    askable[7] = True
    splitter = Splitter(X, 0, 1, askable)
    whole = splitter.whole()
    assert (whole.representative, whole.n_askable) == (7, 1)
    assert splitter.split(whole, 3) == [whole]
    assert runs == []
    askable[8] = True
    splitter = Splitter(X, 0, 1, askable)
    assert len(splitter.split(splitter.whole(), 3)) <= 2
    assert len(runs) == 1


def test_parts_without_a_row_to_show_go_to_their_neighbour():
    """Four clear groups on a line; nobody may be asked about the first and the last."""
    line = np.repeat([0.0, 10.0, 20.0, 31.0], 3)[:, None] + np.tile([0.0, 0.1, 0.2], 4)[:, None]
    askable = np.repeat([False, True, True, False], 3)
    splitter = Splitter(line, 0, "auto", askable)
    whole = splitter.whole()
    parts = splitter.split(whole, 4)
    assert sorted(rows_of(parts)) == [list(range(6)), list(range(6, 12))]
    for part in parts:
        assert part.n_askable == 3
        np.testing.assert_allclose(part.mean, line[part.rows].mean(axis=0))
        assert askable[part.representative]
        assert part.representative in part.rows


def test_a_split_that_leaves_one_part_is_none():
    """Of two groups one may be shown: the other goes to it, and what is left is the whole."""
    line = np.array([[0.0], [0.1], [9.0], [9.1]])
    splitter = Splitter(line, 0, 1, np.array([True, True, False, False]))
    whole = splitter.whole()
    assert splitter.split(whole, 2) == [whole]


def test_rows_that_nobody_may_be_asked_about_have_no_representative():
    splitter = Splitter(X, 0, 1, np.zeros(40, bool))
    assert (splitter.whole().representative, splitter.whole().n_askable) == (-1, 0)


@pytest.mark.parametrize(("second", "parts"), [([1.0, 2.0], 1), ([1.0, 3.0], 2), ([0.0, 3.0], 2)])
def test_two_rows_are_split_where_they_differ_in_any_column(runs, second, parts):
    splitter = Splitter(np.array([[1.0, 2.0], second]), 0, 1, None)
    assert len(splitter.split(splitter.whole(), 2)) == parts
    assert runs == []


def test_rows_of_a_part_are_taken_from_the_data_once():
    splitter = Splitter(X, 0, 1, None)
    part = splitter.split(splitter.whole(), 2)[0]
    taken = splitter._take(part.rows)
    assert splitter._take(part.rows) is taken
    np.testing.assert_array_equal(taken, X[part.rows])
    assert splitter._take(splitter.whole().rows) is X


def test_a_part_with_a_representative_keeps_its_rows():
    """Its own representative lies farther from its mean than that of another part."""
    line = np.array([[-10.0], [0.0], [0.0], [3.0], [9.0]])
    labels = np.array([0, 0, 0, 1, 2], np.uint16)
    means = super_instances._means(line, labels)
    given = super_instances._give_away(line, labels, means, np.array([0, 3, -1]))
    assert given.tolist() == [0, 0, 0, 1, 1]


def test_each_row_has_the_representative_of_its_super_instance():
    splitter = Splitter(X, 0, 1, None)
    parts = splitter.split(splitter.whole(), 3)
    partition = Partition.of(list(parts), len(X))
    partition.replace(1, splitter.split(parts[1], 2))
    shown = partition.row_representatives()
    assert shown.shape == (40,)
    for part in partition.instances:
        assert set(shown[part.rows].tolist()) == {part.representative}
    assert sorted(row for part in partition.instances for row in part.rows.tolist()) == list(range(40))


def test_the_closest_pair_is_asked_about_and_the_reason_given():
    line = np.array([[0.0], [1.0], [5.0]])
    splitter = Splitter(line, 0, "auto", None)
    partition = Partition.of(splitter.split(splitter.whole(), 3), 3)
    question = next(super_instances.merge(SuperInstanceState(splitter, partition, Evidence(3)), None))
    assert {question.first, question.second} == {0, 1}
    assert question.why.startswith("They represent the two closest parts of the data")
    assert question.labels.tolist() == [0, 1, 2]


@pytest.mark.parametrize("values", [[], [0], [5, 0, 5, 2, 0, 2]])
def test_distinct_values_are_those_of_numpy(values):
    found = super_instances._distinct(np.array(values, dtype=np.int64))
    assert found.tolist() == np.unique(np.array(values, dtype=np.int64)).tolist()


def test_of_pairs_that_are_as_close_the_first_is_asked_about():
    corners = np.eye(40)  # all equally far from each other
    single = [SuperInstance((i,), np.array([i]), corners[i], i, 1) for i in range(40)]
    partition, evidence = Partition.of(single, 40), Evidence(40)
    state = SuperInstanceState(Splitter(corners, 0, 1, None), partition, evidence)
    asking = super_instances.merge(state, None)
    for second in (1, 2, 3):
        question = next(asking)
        assert (question.first, question.second) == (0, second)
        evidence.add(0, second, "no")
    one, other = np.arange(20), np.arange(20, 40)
    corners[:10] *= 2  # the rows from 10 on are nearer to the others, and all as near
    assert super_instances._pair_to_show(corners, one, other, evidence) == (10, 20)


@pytest.mark.parametrize("table", [0, 2**22])
def test_values_are_found_among_others_by_a_table_and_by_bisection(monkeypatch, table):
    monkeypatch.setattr(super_instances, "TABLE", table)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        few = np.unique(rng.integers(0, 40, rng.integers(0, 30)))
        values = rng.integers(0, 60, rng.integers(0, 50))
        np.testing.assert_array_equal(super_instances._among(few, values), np.isin(values, few))
        np.testing.assert_array_equal(super_instances._are_named(few, values), np.isin(few, values))
