"""ClusILC against the original system's results and against a plain transcription."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score, rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import linkwise as lw
from linkwise.cluster.trees import growth
from linkwise.cluster.trees.linked_rows import count_implied_pairs, find_linked_rows
from linkwise.errors import ConstraintWarning
from reference.clusilc import Reference, closure

GOLDEN = sorted((Path(__file__).parents[2] / "golden" / "clusilc").glob("*.json"))


def same_partition(one, other):
    return adjusted_rand_score(one, other) == 1.0


# ---------------------------------------------------------------- the original system
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_trees_of_the_original_system(path):
    case = json.loads(path.read_text())
    X = np.array(case["X"])
    c = lw.Constraints(len(X), case["must_link"], case["cannot_link"])
    model = lw.ClusILC.authors(case["n_clusters"], gamma=case["gamma"], min_samples_leaf=case["min_leaf"])
    model.fit(X, constraints=c)
    np.testing.assert_allclose(model.heuristics_, case["heuristic_after_each_split"], atol=1e-9)
    assert model.heuristic_ == pytest.approx(case["heuristic"], abs=1e-9)
    assert rand_score(case["class"], model.labels_) == pytest.approx(case["rand_index"], abs=1e-12)


def test_the_text_and_the_program_are_two_letters():
    """On iris with 20 pairs the text's label rule finds a lower H with many more leaves."""
    case = json.loads(
        next(path for path in GOLDEN if path.stem.startswith("iris") and "20" in path.stem).read_text()
    )
    X = np.array(case["X"])
    c = lw.Constraints(len(X), case["must_link"], case["cannot_link"])
    text, program = (
        make(case["n_clusters"]).fit(X, constraints=c) for make in (lw.ClusILC.paper, lw.ClusILC.authors)
    )
    assert text.heuristic_ < program.heuristic_
    assert text.n_leaves_ > program.n_leaves_
    assert (text.label_rule, program.label_rule) == ("any", "evidence")
    assert not text.standardize
    assert not program.standardize


# ---------------------------------------------------------------- the plain transcription
@st.composite
def problems(draw):
    """Rows on a coarse grid, with ties and duplicates, and constraints that can be satisfied."""
    n, d = draw(st.integers(1, 18)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.integers(0, draw(st.integers(1, 6)), (n, d)).astype(float)
    y = rng.integers(0, draw(st.integers(1, 4)), n)
    pairs = rng.integers(0, n, (draw(st.integers(0, 12)), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return X, pairs[same], pairs[~same]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A cannot-link separates rows .*, which are identical")
@pytest.mark.filterwarnings("ignore:X has only .* distinct row:linkwise.cluster.base.FewerClustersWarning")
@given(
    problems(),
    st.sampled_from([None, 1, 2, 3]),
    st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]),
    st.sampled_from([1, 2, 3]),
    st.sampled_from(["evidence", "any"]),
    st.booleans(),
)
def test_the_tree_is_that_of_the_transcription(problem, k, gamma, least, rule, weighted):
    X, must, cannot = problem
    k = k if k is None else min(k, len(X))
    weight = np.random.default_rng(0).integers(1, 4, len(X)).astype(float) if weighted else None
    plain = Reference(X, must, cannot, k, gamma, least, rule == "evidence", weight)
    model = lw.ClusILC(k, gamma=gamma, min_samples_leaf=least, label_rule=rule, standardize=False)
    model.fit(X, constraints=lw.Constraints(len(X), must, cannot), sample_weight=weight)
    np.testing.assert_allclose(model.heuristics_, plain.heuristics, atol=1e-9)
    assert model.n_leaves_ == len(plain.leaves)
    assert same_partition(model.labels_, plain.labels)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A cannot-link separates rows .*, which are identical")
@pytest.mark.filterwarnings("ignore:X has only .* distinct row:linkwise.cluster.base.FewerClustersWarning")
@given(problems(), st.sampled_from([None, 1, 2, 3, 5]), st.sampled_from([0.3, 0.5, 0.9]))
@settings(deadline=None)
def test_the_trees_of_the_program_count_repeats_and_bound_the_largest_label(problem, k, gamma):
    X, must, cannot = problem
    cannot = np.unique(np.sort(cannot, axis=1), axis=0)  # a pair that is given twice counts once
    k = k if k is None else min(k, len(X))
    plain = Reference(X, must, cannot, k, gamma, 1, program=True)
    model = lw.ClusILC.authors(k, gamma=gamma, min_samples_leaf=1)
    model.fit(X, constraints=lw.Constraints(len(X), must, cannot))
    np.testing.assert_allclose(model.heuristics_, plain.heuristics, atol=1e-9)
    assert same_partition(model.labels_, plain.labels)


def test_an_implied_cannot_link_counts_once_for_each_that_leads_to_it():
    c = lw.Constraints(7, [(0, 1), (1, 2), (3, 4)], [(0, 3), (1, 4), (2, 3), (5, 6)])
    found = [count_implied_pairs(find_linked_rows(c, with_repeats=repeats)) for repeats in (False, True)]
    assert found == [4 + 6 + 1, 4 + 3 * 6 + 1]


def test_well_connected_components_make_another_tree():
    """On iris with 500 pairs, where most pairs of rows follow many times over."""
    X, y = load_iris(return_X_y=True)
    c = lw.Constraints.sample(y, 500, random_state=0)
    program = lw.ClusILC.authors(3).fit(X, constraints=c)
    once = lw.ClusILC.authors(3, count_repeats=False).fit(X, constraints=c)
    assert program.n_leaves_ > once.n_leaves_


@settings(deadline=None)
@given(problems())
def test_what_follows_is_counted_without_being_written_out(problem):
    X, must, cannot = problem
    linked = find_linked_rows(lw.Constraints(len(X), must, cannot))
    together, apart = closure(len(X), must, cannot)
    assert count_implied_pairs(linked) == len(together) + len(apart)


def test_a_large_component_costs_no_pairs():
    X = np.arange(100_000.0)[:, None]
    chain = np.column_stack([np.arange(50_000), np.arange(1, 50_001)])
    c = lw.Constraints(len(X), chain, [(0, 99_999)])
    model = lw.ClusILC(2, max_leaves=2).fit(X, constraints=c)
    assert model.violations_ == 0
    assert model.n_clusters_ == 2


# ---------------------------------------------------------------- what it gives
def test_the_heuristic_falls_with_every_split_and_is_what_it_says():
    X, y = load_wine(return_X_y=True)
    c = lw.Constraints.sample(y, 80, 0)
    model = lw.ClusILC.authors(3).fit(X, constraints=c)
    assert (np.diff(model.heuristics_) < 0).all()
    leaf = model.tree_.apply(X)
    squares = sum(((X[leaf == at] - X[leaf == at].mean(axis=0)) ** 2).sum() for at in np.unique(leaf))
    together, apart = closure(len(X), c.must_link.tolist(), c.cannot_link.tolist())
    labels = model.labels_
    broken = sum(labels[a] != labels[b] for a, b in together) + sum(labels[a] == labels[b] for a, b in apart)
    share = broken / (len(together) + len(apart))
    expected = 0.5 * squares / ((X - X.mean(axis=0)) ** 2).sum() + 0.5 * share
    assert model.heuristic_ == pytest.approx(expected, abs=1e-9)


def test_the_bounds_on_the_tree_hold():
    X, _ = make_blobs(300, centers=8, random_state=0)
    model = lw.ClusILC(min_samples_leaf=7, max_leaves=12, max_depth=4).fit(X)
    assert model.n_leaves_ <= 12
    assert max(len(path) for _, path in model.tree_.paths()) <= 4
    assert np.unique(model.tree_.apply(X), return_counts=True)[1].min() >= 7
    assert lw.ClusILC(max_leaves=1).fit(X).n_clusters_ == 1
    assert lw.ClusILC(max_depth=0).fit(X).n_leaves_ == 1


@pytest.mark.parametrize("k", [1, 2, 3])
def test_there_are_never_more_clusters_than_wanted(k):
    X, y = load_iris(return_X_y=True)
    model = lw.ClusILC(k).fit(X, constraints=lw.Constraints.sample(y, 200, 1))
    assert model.n_clusters_ <= k
    assert set(model.labels_) == set(range(model.n_clusters_))


def test_a_cluster_may_be_several_boxes():
    """Two ends of a line belong together: one cluster with two leaves, which no single threshold gives."""
    X = np.r_[np.linspace(0, 1, 20), np.linspace(5, 6, 20), np.linspace(10, 11, 20)][:, None]
    c = lw.Constraints(60, [(0, 59), (5, 45)], [(0, 30), (59, 25)])
    model = lw.ClusILC(2).fit(X, constraints=c)
    assert model.n_leaves_ == 3
    assert same_partition(model.labels_, np.repeat([0, 1, 0], 20))


@pytest.mark.parametrize("make", [lw.ClusILC, lw.ClusILC.authors])
def test_a_cluster_may_have_the_shape_of_an_l(make):
    """As in Figure 1 of the paper: without constraints the arms of the L are two clusters."""
    rng = np.random.default_rng(0)
    low, high = np.array([[0, 1], [0, 0], [2, 2]]), np.array([[1, 4], [4, 1], [4, 4]])
    y = np.repeat([0, 0, 1], 40)
    X = rng.uniform(np.repeat(low, 40, axis=0), np.repeat(high, 40, axis=0))
    model = make(2).fit(X, constraints=lw.Constraints.sample(y, 60, random_state=0))
    assert same_partition(model.labels_, y)
    assert model.n_leaves_ > model.n_clusters_ == 2
    assert not same_partition(lw.ClusILC(3).fit(X).labels_, y)


def test_a_wider_beam_is_never_worse():
    X, y = load_wine(return_X_y=True)
    c = lw.Constraints.sample(y, 60, 3)
    found = [lw.ClusILC(3, beam_width=width, max_leaves=8).fit(X, constraints=c) for width in (1, 5)]
    assert found[1].heuristic_ <= found[0].heuristic_ + 1e-12
    np.testing.assert_array_equal(found[1].predict(X), found[1].labels_)


def test_a_beam_finds_what_the_greedy_search_cannot():
    """No single cut of a checkerboard gains much; two together satisfy every constraint."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    c = lw.Constraints.sample(y, 150, 0)
    greedy, wide = (lw.ClusILC(2, beam_width=w, max_leaves=6).fit(X, constraints=c) for w in (1, 20))
    assert wide.heuristic_ < greedy.heuristic_ - 1e-3


# ---------------------------------------------------------------- columns
def test_the_unit_of_a_column_decides_nothing_when_standardized():
    X, y = load_wine(return_X_y=True)
    c = lw.Constraints.sample(y, 60, 0)
    scaled = X * 2.0 ** np.arange(X.shape[1]) + 64
    np.testing.assert_array_equal(
        lw.ClusILC(3).fit(X, constraints=c).labels_, lw.ClusILC(3).fit(scaled, constraints=c).labels_
    )


def test_nominal_columns_are_asked_for_one_value():
    """The middle one of three names apart from the others: no threshold does it."""
    X = np.repeat([[0.0], [1.0], [2.0]], 10, axis=0)
    c = lw.Constraints(30, [(0, 29)], [(0, 15)])
    model = lw.ClusILC(2, nominal=[0], max_leaves=2).fit(X, constraints=c)
    assert same_partition(model.labels_, np.repeat([0, 1, 0], 10))
    (test,) = [test for test in model.tree_.tests if test is not None]
    assert test == (0, 1.0, True)
    assert lw.ClusILC(2, max_leaves=2).fit(X, constraints=c).violations_ > 0


def test_numbers_and_names_together():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), np.tile([3.0, 7.0, 9.0], 20)])
    y = (X[:, 1] == 7).astype(int)
    model = lw.ClusILC(2, nominal=[1], gamma=0.9).fit(X, constraints=lw.Constraints.sample(y, 60, 0))
    assert same_partition(model.labels_, y)
    assert model.predict([[0.0, 8.0]]).tolist() == model.predict([[0.0, 3.0]]).tolist()


@pytest.mark.parametrize("low", [1e9, 1.0, 5e-324])
def test_a_threshold_parts_neighbouring_numbers(low):
    high = np.nextafter(low, np.inf)
    X = np.array([[low], [low], [high], [high]])
    if high - low < 1e-300:
        X = X / 5e-324  # what squares can hold
    model = lw.ClusILC(2).fit(X, constraints=lw.Constraints(4, [(0, 1)], [(0, 2)]))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.violations_ == 0


def test_a_threshold_parts_neighbouring_numbers_of_32_bits():
    low = np.float32(-1e9)
    X = np.array([[low], [low], [np.nextafter(low, np.float32(0))], [np.float32(0)]])
    model = lw.ClusILC(3, min_samples_leaf=1).fit(
        X, constraints=lw.Constraints(4, [(0, 1)], [(0, 2), (2, 3)])
    )
    assert model.violations_ == 0
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_large_offset_costs_no_precision():
    X, y = load_iris(return_X_y=True)
    c = lw.Constraints.sample(y, 60, 0)
    near, far = (lw.ClusILC.authors(3).fit(rows, constraints=c) for rows in (X, X + 2.0**30))
    np.testing.assert_array_equal(near.labels_, far.labels_)


def test_weights_of_rows_are_copies_of_rows():
    rng = np.random.default_rng(0)
    X, weight = rng.integers(0, 9, (30, 2)).astype(float), rng.integers(1, 4, 30)
    copies = np.repeat(np.arange(30), weight)
    weighted = lw.ClusILC.authors(4, min_samples_leaf=3).fit(X, sample_weight=weight)
    repeated = lw.ClusILC.authors(4, min_samples_leaf=3).fit(X[copies])
    np.testing.assert_array_equal(weighted.labels_[copies], repeated.labels_)
    np.testing.assert_allclose(weighted.heuristics_, repeated.heuristics_)


# ---------------------------------------------------------------- constraints that contradict
def test_contradictions_stay_broken():
    with pytest.warns(ConstraintWarning):
        c = lw.Constraints(6, [(0, 1), (1, 2)], [(0, 2), (0, 5)], on_conflict="keep")
    model = lw.ClusILC(2).fit(np.arange(6.0)[:, None], constraints=c)
    assert model.violations_ == 1
    assert model.heuristic_ > 0.5 / 6


# ---------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: lw.ClusILC(0), ValueError, "n_clusters"),
        (lambda: lw.ClusILC(9), ValueError, "n_samples=4 should be >= n_clusters=9"),
        (lambda: lw.ClusILC(gamma=2), ValueError, "gamma"),
        (lambda: lw.ClusILC(nominal=[3]), ValueError, "nominal names column 3, but the columns are 0 to 1"),
        (lambda: lw.ClusILC(label_rule="all"), ValueError, "label_rule"),
    ],
)
def test_bad_settings_raise_errors(make, error, words):
    with pytest.raises(error, match=words):
        make().fit(np.eye(4)[:, :2])


def test_rows_of_no_weight_take_no_part_but_get_a_label():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(40, 2)), np.r_[np.ones(30), np.zeros(10)]
    c = lw.Constraints(40, [(0, 35), (35, 1)], [(2, 39)])
    model = lw.ClusILC(3).fit(X, constraints=c, sample_weight=weight)
    fewer = lw.ClusILC(3).fit(X[:30], constraints=lw.Constraints(30, [(0, 1)]))
    np.testing.assert_array_equal(model.labels_, fewer.predict(X))


def test_progress_is_reported_and_can_end_the_work():
    told = []
    lw.ClusILC(max_leaves=4).fit(np.arange(20.0)[:, None], progress=lambda *at: told.append(at))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]

    def stop(made, planned):
        if made == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lw.ClusILC().fit(np.arange(20.0)[:, None], progress=stop)


def test_the_same_tree_for_any_number_of_threads(monkeypatch):
    X, y = make_blobs(4000, n_features=12, centers=6, cluster_std=4, random_state=0)
    c = lw.Constraints.sample(y, 300, 0)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append(lw.ClusILC(6).fit(X, constraints=c))
    for model in found[1:]:
        assert model.heuristics_.tobytes() == found[0].heuristics_.tobytes()
        np.testing.assert_array_equal(model.labels_, found[0].labels_)


@parametrize_with_checks([lw.ClusILC.authors(2)])
def test_every_generated_check(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- what people hand in
def test_constraints_in_the_place_of_y_are_refused():
    c = lw.Constraints(6, [(0, 1)])
    for model in (lw.ClusILC(2), lw.PCKMeans(2), lw.COBRAS()):
        with pytest.raises(
            TypeError, match=r"given as y, which is ignored\. Pass them by name: fit\(X, constraints=\.\.\.\)"
        ):
            model.fit(np.eye(6), c)


@pytest.mark.parametrize("nominal", [[0.5], [True, False], ["x"]])
def test_nominal_takes_positions_only(nominal):
    with pytest.raises(TypeError, match=r"nominal holds .*\. Pass positions of columns, 0 to 1"):
        lw.ClusILC(2, nominal=nominal).fit(np.random.default_rng(0).random((20, 2)))


def test_a_column_of_tiny_spread_counts_as_any_other():
    X = np.random.default_rng(0).random((60, 2))
    tiny = X * [1.0, 1e-120]
    one, other = (lw.ClusILC(3, max_leaves=5).fit(rows) for rows in (X, tiny))
    np.testing.assert_array_equal(one.labels_, other.labels_)


def test_a_beam_holds_no_tree_twice(monkeypatch):
    rng = np.random.default_rng(3)
    X, y = rng.random((40, 3)), rng.integers(0, 3, 40)
    seen = []
    plain = growth.refine_beam

    def watched(problem, beam):
        found = plain(problem, beam)
        seen.append([(*tree.tree().predict(X).tolist(), str(tree.tree().tests)) for tree in found])
        return found

    monkeypatch.setattr(growth, "refine_beam", watched)
    lw.ClusILC(3, max_leaves=8, beam_width=5).fit(X, constraints=lw.Constraints.sample(y, 40, random_state=0))
    assert max(map(len, seen)) > 1
    assert all(len(set(trees)) == len(trees) for trees in seen)
