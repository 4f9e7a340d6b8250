"""Few rows, equal rows, odd tables, contradictions, and what clusterers refuse, in which words."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import linkwise as lw
from laws.clustering import blobs, breaking_is_told, check_result, kept
from laws.test_edges import REFUSED
from linkwise.cluster.base import FewerClustersWarning
from registry import (
    each_clusterer,
    each_dense,
    each_forgiving,
    each_hard,
    each_kmeans,
    each_sparse,
)


# ---------------------------------------------------------------- few or equal rows
@each_clusterer
def test_one_row_is_one_cluster(entry):
    model = entry.make(1, random_state=0).fit([[3.0, 4.0]], constraints=lw.Constraints(1))
    assert model.labels_.tolist() == [0]
    assert (model.n_clusters_, model.violations_) == (1, 0)


@each_kmeans
def test_more_clusters_than_rows(entry):
    with pytest.raises(ValueError, match=r"n_samples=1 should be >= n_clusters=2"):
        entry.make(2).fit([[3.0, 4.0]])
    with pytest.raises(ValueError, match=r"n_samples=3.*n_clusters=8"):
        entry.make(8).fit(np.eye(3))


@each_kmeans
def test_as_many_clusters_as_rows(entry):
    model = entry.make(3, random_state=0).fit(np.eye(3))
    assert sorted(model.labels_.tolist()) == [0, 1, 2]


@each_kmeans
def test_more_clusters_than_distinct_rows(entry):
    X = np.array([[0.0, 1.0], [0.0, 1.0], [-0.0, 1.0], [5.0, 5.0]])
    with pytest.warns(ConvergenceWarning, match=r"only 2 distinct rows, .*n_clusters=3"):
        model = entry.make(3, random_state=0).fit(X, constraints=lw.Constraints(4, [(0, 1)]))
    assert model.labels_.tolist() in ([0, 0, 0, 1], [1, 1, 1, 0])
    assert model.n_clusters_ == 2


@each_kmeans
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_rows_that_are_all_identical(entry, dtype):
    X = np.full((12, 3), 7, dtype=dtype)
    constraints = lw.Constraints(12, [(0, 1), (1, 2)])
    with pytest.warns(ConvergenceWarning, match="1 distinct row"):
        model = entry.make(3, random_state=0).fit(X, constraints=constraints)
    assert model.labels_.tolist() == [0] * 12
    assert entry.make(1, random_state=0).fit(X).labels_.tolist() == [0] * 12


@each_kmeans
def test_one_cluster_holds_all(entry):
    X, _ = blobs(20)
    model = entry.make(1, random_state=0).fit(X, constraints=lw.Constraints(20, [(0, 1)]))
    assert model.labels_.tolist() == [0] * 20


@each_kmeans
def test_a_single_feature(entry):
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    model = entry.make(2, random_state=0).fit(X, constraints=lw.Constraints(4, [(0, 1)], [(1, 2)]))
    check_result(model, X, lw.Constraints(4))
    assert model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]


@each_kmeans
@pytest.mark.parametrize("apart", [[(0, 1)], [(0, 2)], [(0, 1), (0, 2)]])
def test_a_single_feature_and_a_row_a_cluster(entry, apart):
    X = np.array([[0.3], [0.8], [0.4]])
    model = entry.make(3, random_state=0).fit(X, constraints=lw.Constraints(3, (), apart))
    assert sorted(model.labels_.tolist()) == [0, 1, 2]


@cache
def labels_of_a_table(entry):
    """A plain array with constraints, and the labels that a clusterer finds; tests share them."""
    X, y = blobs(spread=3.0)
    constraints = lw.Constraints.sample(y, 20, 0)
    labels = entry.make(3, random_state=0).fit(X, constraints=constraints).labels_
    for shared in (X, labels):
        shared.setflags(write=False)
    return X, constraints, labels


@each_clusterer
@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda X: X.tolist(),
        lambda X: pd.DataFrame(X, columns=["a", "b"]),
        lambda X: X[::-1][::-1],
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: np.lib.stride_tricks.as_strided(X, X.shape, X.strides, writeable=False),
    ],
    ids=["Fortran order", "list", "DataFrame", "view", "every other column", "read-only"],
)
def test_any_table_of_numbers_will_do(entry, convert):
    X, constraints, labels = labels_of_a_table(entry)
    found = entry.make(3, random_state=0).fit(convert(X.copy()), constraints=constraints).labels_
    np.testing.assert_array_equal(found, labels)


@each_clusterer
def test_names_of_columns_are_kept(entry):
    X, _ = blobs()
    model = entry.make(3, random_state=0).fit(pd.DataFrame(X, columns=["a", "b"]))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.n_features_in_ == 2


@each_clusterer
def test_whole_numbers_are_numbers(entry):
    X, y = blobs(spread=3.0)
    X = np.round(X * 10).astype(int)
    constraints = lw.Constraints.sample(y, 20, 0)
    one = entry.make(3, random_state=0).fit(X, constraints=constraints)
    other = entry.make(3, random_state=0).fit(X.astype(float), constraints=constraints)
    np.testing.assert_array_equal(one.labels_, other.labels_)


# ---------------------------------------------------------------- constraints that cannot all hold
TRIANGLE = [(0, 1), (1, 2), (0, 2)]
ALL_APART = [(i, j) for i in range(5) for j in range(i + 1, 5)]


@each_hard
def test_contradictions_are_refused_with_the_chain(entry):
    X, _ = blobs(12)
    constraints = kept(12, [(3, 7), (7, 9)], [(3, 9)])
    with pytest.raises(lw.InfeasibleConstraintsError, match=r"3 = 7 = 9.*3 ≠ 9") as refused:
        entry.make(3).fit(X, constraints=constraints)
    assert refused.value.chain == (3, 7, 9)


@each_hard
@pytest.mark.parametrize(
    ("k", "apart", "words"),
    [
        (1, [(4, 7)], "4.*7"),
        (2, TRIANGLE, r"odd number of rows.*circle.*only 2 clusters: \d( ≠ \d)+\."),
        (
            2,
            [(i, (i + 1) % 7) for i in range(7)],
            r"odd number of rows.*circle.*only 2 clusters: \d( ≠ \d)+\.",
        ),
        (3, ALL_APART, r"4 rows must all be apart, but there are only 3 clusters: .*\."),
    ],
)
def test_too_few_clusters_are_refused_with_the_reason(entry, k, apart, words):
    X, _ = blobs(12)
    model = entry.make(k, random_state=0)
    with pytest.raises(lw.InfeasibleConstraintsError, match=words):
        model.fit(X, constraints=lw.Constraints(12, (), apart))
    assert not hasattr(model, "labels_")


@each_hard
@pytest.mark.parametrize(
    ("k", "apart"), [(2, [(i, i + 1) for i in range(11)]), (3, TRIANGLE), (5, ALL_APART)]
)
def test_what_can_be_kept_is_kept(entry, k, apart):
    X, _ = blobs(12)
    model = entry.make(k, random_state=0).fit(X, constraints=lw.Constraints(12, (), apart))
    assert model.violations_ == 0


@each_forgiving
@pytest.mark.parametrize(
    ("k", "must", "apart", "least"),
    [
        (3, [(3, 7), (7, 9)], [(3, 9)], 1),
        (3, [(3, 7)], [(3, 7)], 1),
        (1, [], [(4, 7)], 1),
        (2, [], TRIANGLE, 1),
        (3, [], ALL_APART, 2),
    ],
)
def test_soft_ones_go_on_and_say_what_is_broken(entry, k, must, apart, least):
    X, _ = blobs(12)
    constraints = kept(12, must, apart)
    with breaking_is_told():
        model = entry.make(k, random_state=0).fit(X, constraints=constraints)
    check_result(model, X, constraints)
    assert not entry.is_kmeans or model.violations_ >= least


@each_clusterer
def test_identical_rows_apart_are_reported(entry):
    X = np.array([[0.0, 0.0], [0.0, 0.0], [9.0, 9.0], [8.0, 9.0]])
    constraints = lw.Constraints(4, (), [(0, 1)])
    with pytest.warns(lw.ConstraintWarning, match="separates rows 0 and 1, which are identical"):
        model = entry.make(2, random_state=0).fit(X, constraints=constraints)
    check_result(model, X, constraints)


@each_hard
def test_identical_rows_apart_are_parted_by_hard_ones(entry):
    X = np.array([[0.0, 0.0], [0.0, 0.0], [9.0, 9.0], [8.0, 9.0]])
    with pytest.warns(lw.ConstraintWarning):
        model = entry.make(2, random_state=0).fit(X, constraints=lw.Constraints(4, (), [(0, 1)]))
    assert model.labels_[0] != model.labels_[1]


# ---------------------------------------------------------------- what is refused
@each_clusterer
def test_what_cannot_be_clustered_is_named(entry):
    for X, kind, words in REFUSED:
        if not scipy.sparse.issparse(X):
            model = entry.make(1)
            with pytest.raises(kind, match=words):
                model.fit(X)
            assert not hasattr(model, "labels_")


@each_dense
def test_sparse_rows_are_refused_where_they_will_not_do(entry):
    with pytest.raises(TypeError, match=r"sparse, but dense data is required by \w+\. .*toarray"):
        entry.make(1).fit(scipy.sparse.csr_array(np.eye(3)))


@each_sparse
def test_wrong_values_of_sparse_rows_are_named(entry):
    X = np.eye(4)
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN/infinity: 1 value, the first in row 2, column 1"):
        entry.make(2).fit(scipy.sparse.csr_array(X))


@each_clusterer
def test_values_beyond_squares_are_refused(entry):
    for low, high in ((-1e200, 1e200), (0.0, 1e-200)):
        with pytest.raises(lw.DataError, match="Rescale X"):
            entry.make(2).fit([[low], [high], [low]])


@each_clusterer
def test_constraints_that_are_none_of_these_rows(entry):
    for constraints, kind, words in (
        ([(0, 1)], TypeError, r"constraints is a list\. Build it with linkwise.Constraints\(len\(X\)"),
        (lw.Constraints(4), ValueError, "about 4 rows, but X has 3"),
        (lw.Constraints(2), ValueError, "about 2 rows, but X has 3"),
    ):
        with pytest.raises(kind, match=words):
            entry.make(2).fit(np.eye(3), constraints=constraints)


SETTINGS = [
    ("n_clusters", 0),
    ("n_clusters", 2.5),
    ("n_init", 0),
    ("random_state", -1),
    ("init", "best"),
    ("tol", -1.0),
]


@each_kmeans
def test_no_such_setting(entry):
    for setting, value in SETTINGS:
        with pytest.raises(ValueError, match=setting):
            entry.make(2).set_params(**{setting: value}).fit(np.eye(3))


@each_kmeans
def test_centres_of_another_shape_are_refused(entry):
    for init in (np.zeros((3, 2)), np.zeros((2, 3)), np.zeros(2), np.full((2, 2), np.nan)):
        with pytest.raises(ValueError, match="init"):
            entry.make(2, init=init).fit([[0.0, 1.0], [2.0, 3.0], [4.0, 6.0]])


@each_clusterer
def test_new_rows_that_cannot_be_predicted(entry):
    model = entry.make(2, random_state=0)
    with pytest.raises(NotFittedError):
        model.predict(np.eye(2))
    model.fit(blobs()[0])
    with pytest.raises(ValueError, match=r"3 features, but .* is expecting 2"):
        model.predict(np.eye(3))
    with pytest.raises(ValueError, match="NaN"):
        model.predict([[np.nan, 1.0]])
    with pytest.raises(ValueError, match="about 9 rows, but X has 2"):
        model.score(np.eye(2), constraints=lw.Constraints(9))


@each_clusterer
def test_a_failed_fit_keeps_what_was_there(entry):
    X, _ = blobs()
    model = entry.make(3, random_state=0).fit(X)
    before = model.labels_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((60, 2), np.nan))
    np.testing.assert_array_equal(model.labels_, before)


@each_kmeans
def test_given_centres_are_as_many_as_were_wanted_though_rows_repeat(entry):
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    with pytest.warns(FewerClustersWarning):
        model = entry.make(3, init=[[0.0], [1.0], [2.0]], random_state=0).fit(X)
    assert model.n_clusters_ == 2


@each_kmeans
def test_new_rows_are_checked_as_those_before(entry):
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = entry.make(2, random_state=0).fit(X)
    for value, words in (
        (1e200, "Squared distances of X are out of range"),
        (np.nan, "first in row 0, column 1"),
    ):
        with pytest.raises(ValueError, match=words):
            model.predict([[0.0, value]])
