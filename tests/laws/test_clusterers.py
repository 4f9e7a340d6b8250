"""What holds for every clusterer that takes constraints."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from laws.asking import few_examples, partition
from laws.clustering import (
    CENTERS,
    blobs,
    breaking_is_told,
    check_result,
    colourable,
    plain_labels,
    problems,
    unnamed,
    weight_satisfied,
)
from linkwise.cluster import points
from registry import (
    CLUSTERERS,
    LEARNERS,
    each_clusterer,
    each_forgiving,
    each_hard,
    each_kmeans,
    each_soft,
    each_soft_kmeans,
    each_sparse,
    each_with_a_price,
)


# ---------------------------------------------------------------- without constraints
@each_kmeans
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_constraints_it_is_plain_k_means_from_the_same_centres(entry, dtype):
    X = np.random.default_rng(0).normal(size=(80, 3)).astype(dtype)
    model = entry.make(4, init=X[:4], random_state=0).fit(X)
    start = X[:4].astype(np.float64)[None]
    np.testing.assert_array_equal(model.labels_, plain_labels(X, start, model))


@each_kmeans
def test_without_constraints_it_is_plain_k_means_from_the_same_draws(entry):
    X = np.random.default_rng(1).normal(size=(80, 3))
    model = entry.make(4, random_state=7).fit(X)
    starts = points.draw_starts(X, 4, 7, model.n_init)
    np.testing.assert_array_equal(model.labels_, plain_labels(X, starts, model))


@each_clusterer
def test_no_constraints_may_be_said_in_two_ways(entry):
    X, _ = blobs()
    model = entry.make(3, random_state=0).fit(X)
    empty = entry.make(3, random_state=0).fit(X, constraints=lw.Constraints(len(X)))
    np.testing.assert_array_equal(model.labels_, empty.labels_)
    assert model.violations_ == empty.violations_ == 0


@each_clusterer
def test_classes_are_no_part_of_the_clustering(entry):
    X, y = blobs()
    model = entry.make(3, random_state=0)
    np.testing.assert_array_equal(model.fit(X).labels_, model.fit(X, y).labels_)


# ---------------------------------------------------------------- what constraints do
@few_examples
@each_forgiving
@given(problems(conflicts=True, weights=True))
def test_attributes_say_what_they_should(entry, problem):
    X, k, constraints = problem
    with breaking_is_told():
        model = entry.make(k, random_state=0).fit(X, constraints=constraints)
    check_result(model, X, constraints)
    if entry.is_kmeans:
        assert model.n_clusters_ <= k


@pytest.mark.filterwarnings("ignore:The first round breaks")
@few_examples
@each_soft
@given(problems(conflicts=True, weights=True))
def test_constraints_are_never_worse_than_none(entry, problem):
    X, k, constraints = problem
    without = weight_satisfied(entry.make(k, random_state=0).fit(X), constraints)
    model = entry.make(k, random_state=0).fit(X, constraints=constraints)
    assert weight_satisfied(model, constraints) >= without * (1 - 1e-12)


@each_soft
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow(nightly=True)) for seed in range(2, 5))]
)
def test_more_pairs_of_real_rows_are_never_worse_than_none(entry, seed):
    X, y = blobs(spread=5.0, seed=seed)
    constraints = lw.Constraints.sample(y, 40, seed)
    without = weight_satisfied(entry.make(3, random_state=seed).fit(X), constraints)
    model = entry.make(3, random_state=seed).fit(X, constraints=constraints)
    assert weight_satisfied(model, constraints) >= without


@few_examples
@each_soft_kmeans
@given(problems(conflicts=True))
def test_a_fall_back_is_plain_k_means_and_is_reported(entry, problem):
    X, k, constraints = problem
    plain = entry.make(k, init=X[:k], random_state=0).fit(X)
    model = entry.make(k, init=X[:k], random_state=0).fit(X, constraints=constraints)
    assert plain.fell_back_ is False
    if model.fell_back_:
        np.testing.assert_array_equal(model.labels_, plain.labels_)


@settings(max_examples=40)
@each_hard
@given(problems(conflicts=True))
def test_hard_ones_break_nothing_or_say_why_they_cannot(entry, problem):
    X, k, constraints = problem
    model = entry.make(k, random_state=0)
    if not colourable(constraints, k):
        with pytest.raises(lw.InfeasibleConstraintsError, match=r"\w+ .*\d"):
            model.fit(X, constraints=constraints)
        assert not hasattr(model, "labels_")
        return
    model.fit(X, constraints=constraints)
    check_result(model, X, constraints)
    assert model.violations_ == 0


@each_clusterer
def test_pairs_that_fit_the_clusters_are_kept(entry):
    X, y = blobs()
    constraints = lw.Constraints.sample(y, 30, 0)
    model = entry.make(3, random_state=0).fit(X, constraints=constraints)
    assert model.violations_ == 0
    if entry.is_kmeans:
        assert partition(model.labels_) == partition(y)


@each_clusterer
def test_all_rows_in_constraints(entry):
    X, y = blobs()
    constraints = lw.Constraints.from_labels(y)
    model = entry.make(3, random_state=0).fit(X, constraints=constraints)
    assert partition(model.labels_) == partition(y)


@each_clusterer
def test_nothing_that_is_given_changes_or_is_remembered(entry):
    X, y = blobs(spread=4.0)
    before, constraints = X.copy(), lw.Constraints.sample(y, 30, 0)
    model = entry.make(3, random_state=0).fit(X, constraints=constraints)
    np.testing.assert_array_equal(X, before)
    assert constraints == lw.Constraints.sample(y, 30, 0)
    fresh = entry.make(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.fit(X).labels_, fresh.labels_)


# ---------------------------------------------------------------- what changes nothing
@each_clusterer
@pytest.mark.parametrize(
    "seed", [int, np.random.RandomState, pytest.param(np.int64, marks=pytest.mark.slow(nightly=True))]
)
def test_the_same_seed_gives_the_same(entry, seed):
    X, y = blobs(spread=5.0)
    constraints = lw.Constraints.sample(y, 40, 0)
    one, other = (entry.make(3, random_state=seed(3)).fit(X, constraints=constraints) for _ in range(2))
    np.testing.assert_array_equal(one.labels_, other.labels_)


@pytest.mark.slow
@each_clusterer
def test_the_number_of_threads_changes_nothing(entry, use_threads):
    X, y = blobs(700, spread=5.0)
    constraints = lw.Constraints.sample(y, 100, 0)
    found = []
    for threads in (1, 3):
        use_threads(threads)
        found.append(entry.make(3, random_state=0).fit(X, constraints=constraints).labels_)
    np.testing.assert_array_equal(found[0], found[1])


@each_kmeans
@pytest.mark.parametrize("n_pairs", [0, 30])
def test_the_order_of_the_rows_changes_nothing(entry, n_pairs):
    X, y = blobs(spread=1.5)
    constraints = lw.Constraints.sample(y, n_pairs, 0)
    order = np.random.default_rng(0).permutation(len(X))
    one = entry.make(3, init=CENTERS, random_state=0).fit(X, constraints=constraints)
    other = entry.make(3, init=CENTERS, random_state=0).fit(X[order], constraints=constraints[order])
    np.testing.assert_array_equal(other.labels_, one.labels_[order])


@each_kmeans
def test_the_order_of_the_centres_changes_their_numbers_only(entry):
    X, y = blobs(spread=1.5)
    constraints = lw.Constraints.sample(y, 20, 0)
    one = entry.make(3, init=CENTERS, random_state=0).fit(X, constraints=constraints)
    other = entry.make(3, init=CENTERS[::-1], random_state=0).fit(X, constraints=constraints)
    assert partition(one.labels_) == partition(other.labels_)


@each_clusterer
@pytest.mark.parametrize(
    "power", [-300, 300, *(pytest.param(power, marks=pytest.mark.slow(nightly=True)) for power in (-30, 30))]
)
def test_the_unit_of_the_rows_changes_nothing(entry, power):
    """Powers of two, so that no tie is decided otherwise."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 1000, (40, 2)) * 2.0, rng.integers(0, 3, 40)
    constraints = lw.Constraints.sample(y, 20, 0)
    one = entry.make(3, random_state=0).fit(X, constraints=constraints)
    other = entry.make(3, random_state=0).fit(X * 2.0**power, constraints=constraints)
    np.testing.assert_array_equal(one.labels_, other.labels_)


@each_clusterer
def test_where_the_rows_lie_changes_nothing(entry):
    X, y = blobs(spread=1.5)
    constraints = lw.Constraints.sample(y, 30, 0)
    one = entry.make(3, random_state=0).fit(X, constraints=constraints)
    other = entry.make(3, random_state=0).fit(X - 1000.0, constraints=constraints)
    assert partition(one.labels_) == partition(other.labels_)


@each_clusterer
def test_constant_columns_change_nothing(entry):
    X, y = blobs(spread=1.5)
    constraints = lw.Constraints.sample(y, 30, 0)
    wide = np.column_stack([np.full(len(X), 5.0), X, np.zeros(len(X))])
    one = entry.make(3, random_state=0).fit(X, constraints=constraints)
    other = entry.make(3, random_state=0).fit(wide, constraints=constraints)
    assert partition(one.labels_) == partition(other.labels_)


@few_examples
@each_clusterer
@given(st.integers(2, 8), st.integers(0, 10**6), st.integers(0, 8))
def test_copies_of_a_row_stay_together_where_no_constraint_parts_them(entry, n_distinct, seed, n_pairs):
    rng = np.random.default_rng(seed)
    point = np.r_[np.arange(n_distinct), rng.integers(0, n_distinct, 2 * n_distinct)]
    X = rng.normal(size=(n_distinct, 2))[point]
    y = rng.integers(0, 2, n_distinct)[point]
    constraints = lw.Constraints.sample(y, n_pairs if n_distinct > 2 else 0, seed)
    model = entry.make(2, random_state=0).fit(X, constraints=constraints)
    free = unnamed(constraints)
    for p in range(n_distinct):
        assert len(set(model.labels_[free[point[free] == p]])) <= 1


@each_clusterer
def test_numbers_may_be_single_or_double(entry):
    X, y = blobs()
    X = X.astype(np.float32)
    constraints = lw.Constraints.sample(y, 30, 0)
    single = entry.make(3, random_state=0).fit(X, constraints=constraints)
    double = entry.make(3, random_state=0).fit(X.astype(np.float64), constraints=constraints)
    assert partition(single.labels_) == partition(double.labels_)


@each_sparse
@pytest.mark.parametrize(
    ("form", "n_pairs"),
    [(scipy.sparse.csr_array, 40), (scipy.sparse.csc_matrix, 0), (scipy.sparse.coo_array, 40)],
)
def test_sparse_rows_are_clustered_as_dense_ones(entry, n_pairs, form):
    X, y = blobs(spread=2.0)
    X = np.where(np.abs(X) < 1, 0, X)
    constraints = lw.Constraints.sample(y, n_pairs, 0)
    where = {"init": CENTERS} if entry.is_kmeans else {}
    dense = entry.make(3, random_state=0, **where).fit(X, constraints=constraints)
    sparse = entry.make(3, random_state=0, **where).fit(form(X), constraints=constraints)
    assert partition(sparse.labels_) == partition(dense.labels_)  # starts are drawn otherwise
    assert partition(sparse.predict(form(X))) == partition(dense.predict(X))
    if entry.is_kmeans:
        np.testing.assert_array_equal(sparse.predict(form(X)), dense.predict(X))


@each_with_a_price
def test_heavier_pairs_are_a_higher_price(entry):
    X, y = blobs(spread=5.0)
    c = lw.Constraints.sample(y, 40, 0)
    weights = {"must_link_weight": 2 * c.must_link_weight, "cannot_link_weight": 2 * c.cannot_link_weight}
    heavy = lw.Constraints(c.n_rows, c.must_link, c.cannot_link, **weights)
    one = entry.make(3, w=0.25, random_state=0).fit(X, constraints=heavy)
    other = entry.make(3, w=0.5, random_state=0).fit(X, constraints=c)
    np.testing.assert_array_equal(one.labels_, other.labels_)


# ---------------------------------------------------------------- new rows
@each_clusterer
def test_rows_in_no_constraint_are_predicted_where_they_are(entry):
    X, y = blobs(spread=3.0)
    constraints = lw.Constraints.sample(y, 20, 0)
    model = entry.make(3, random_state=0).fit(X, constraints=constraints)
    free = unnamed(constraints)
    np.testing.assert_array_equal(model.predict(X)[free], model.labels_[free])
    np.testing.assert_array_equal(model.predict(X[free]), model.labels_[free])
    assert model.predict(X[:1]).shape == (1,)


@each_clusterer
def test_the_score_is_the_share_of_constraints_that_predictions_keep(entry):
    X, y = blobs(spread=4.0)
    model = entry.make(3, random_state=0).fit(X[:40], constraints=lw.Constraints.sample(y[:40], 20, 0))
    held = lw.Constraints.sample(y[40:], 15, 0)
    assert model.score(X[40:], constraints=held) == lw.constraint_score(model.predict(X[40:]), held)
    assert model.score(X[40:]) == 1.0


# ---------------------------------------------------------------- many rows, progress
@each_kmeans
def test_many_rows_in_a_chain(entry):
    n = 30_000
    X, y = blobs(n, spread=1.0)
    rows = np.argsort(y, kind="stable")
    ends = np.flatnonzero(np.diff(y[rows]))
    chain = np.delete(np.column_stack([rows[:-1], rows[1:]]), ends, axis=0)
    apart = np.column_stack([rows[ends], rows[ends + 1]])
    constraints = lw.Constraints(n, chain, apart)
    few = {"n_rounds": 5} if "n_rounds" in entry.make(3).get_params() else {}
    model = entry.make(3, init=CENTERS, random_state=0, **few).fit(X, constraints=constraints)
    assert model.n_clusters_ == 3
    assert model.violations_ == 0 or entry.kind == "seeded"


@each_clusterer
def test_progress_is_reported_and_may_end_the_work(entry):
    X, y = blobs(spread=3.0)
    constraints, told = lw.Constraints.sample(y, 20, 0), []
    entry.make(3, random_state=0).fit(X, constraints=constraints, progress=lambda *at: told.append(at))
    assert told
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(0 <= done <= planned for done, planned in told)

    def stop(done, planned):
        raise KeyboardInterrupt

    model = entry.make(3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, constraints=constraints, progress=stop)
    assert not hasattr(model, "labels_")


def test_every_clusterer_is_swept():
    known = {name for name in lw.__all__ if hasattr(getattr(lw, name), "fit_predict")}
    asking = {type(entry.make()).__name__ for entry in LEARNERS} | {"RecordLinkage"}
    searches = {name for name in known if name.endswith("Search")} | {"SelfTuningSpectral"}
    assert {type(entry.make(3)).__name__ for entry in CLUSTERERS} == known - asking - searches
