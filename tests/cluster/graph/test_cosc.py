"""COSC: functions of vectors and of sets, descent, cuts, what becomes of constraints."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

import linkwise as lw
from linkwise import native
from linkwise.cluster.graph import cosc, cosc_program, partition, ratio_cut
from linkwise.cluster.graph.neighbour_graph import build_neighbour_graph
from linkwise.cluster.graph.ratio_cut import CutProblem
from reference import cosc as reference

BALANCES = ("ncut", "cheeger")
each_balance = pytest.mark.parametrize("balance", BALANCES)


def random_cut(m, seed, n_pairs, balance, parted=True):
    """A connected graph, volumes, and pairs, which two clusters can keep if parted."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((m, m)) * (rng.random((m, m)) < 0.6), 1)
    upper[np.arange(m - 1), np.arange(1, m)] += 0.1
    y = rng.permutation(m) % 2
    pairs = [(i, j) for i in range(m) for j in range(i + 1, m) if (y[i] != y[j]) or not parted]
    apart = np.array(pairs)[rng.permutation(len(pairs))[:n_pairs]].reshape(-1, 2)
    return CutProblem(sp.csr_array(upper + upper.T), rng.uniform(0.5, 2.0, m), apart, balance)


@st.composite
def cuts(draw, most=9):
    """A problem with pairs of any kind, and a vector."""
    m, seed = draw(st.integers(3, most)), draw(st.integers(0, 10**6))
    problem = random_cut(m, seed, draw(st.integers(0, 4)), draw(st.sampled_from(BALANCES)), parted=False)
    f = np.random.default_rng(seed).normal(size=m).round(draw(st.sampled_from([0, 6])))
    f[0] += 10  # not the same everywhere
    return problem, f


def by_definition(problem):
    return problem.weights.toarray(), problem.volume, problem.apart.tolist()


# ---------------------------------------------------------------- descent
@given(cuts(), st.sampled_from([0.0, 0.3, 20.0]))
def test_a_descent_begins_with_the_ratio_of_the_paper_and_its_best_threshold(drawn, gamma):
    problem, f = drawn
    found = native.ratio_descent(problem.to_native(), gamma, f, max_iter=10)
    W, volume, apart = by_definition(problem)
    wanted = reference.functional(W, volume, apart, f, gamma, problem.balance)
    assert found.ratio[0] == pytest.approx(wanted)
    best = reference.best_threshold(W, volume, apart, f, gamma, problem.balance)
    worth, least = (
        reference.set_ratio(W, volume, apart, inside, gamma, problem.balance)[0]
        for inside in (found.sides[0], best)
    )
    assert worth == pytest.approx(least)
    assert worth <= wanted * (1 + 1e-9)


@given(cuts())
def test_of_a_set_the_ratio_is_that_of_the_set(drawn):
    problem, f = drawn
    inside = f > np.median(f) if (f > np.median(f)).any() else f == f.max()
    wanted, _ = reference.set_ratio(*by_definition(problem), inside, 0.7, problem.balance)
    found = native.ratio_descent(problem.to_native(), 0.7, inside.astype(float), max_iter=10)
    assert found.ratio[0] == pytest.approx(wanted)


@given(cuts(), st.integers(0, 1000))
def test_the_slopes_of_the_plain_version_are_subgradients(drawn, seed):
    problem, f = drawn
    _, volume, apart = by_definition(problem)
    other = np.random.default_rng(seed).normal(size=len(f))

    def linear(h):
        def under(inside):
            own = volume[inside].sum()
            whole = volume.sum()
            return own * (whole - own) / whole if problem.balance == "ncut" else min(own, whole - own)

        return reference.integral(h, under) + 0.5 * sum(abs(h[i] - h[j]) for i, j in apart)

    slope = reference.slopes(volume, apart, f, 0.5, 1.0, problem.balance)
    assert slope @ f == pytest.approx(linear(f))
    assert slope @ other <= linear(other) + 1e-9
    assert slope.sum() == pytest.approx(0, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(cuts(), st.sampled_from([0.0, 0.1, 1.0]))
def test_a_descent_is_that_of_the_plain_version(drawn, gamma):
    problem, f = drawn
    found = native.ratio_descent(problem.to_native(), gamma, f, max_iter=200)
    W, volume, apart = by_definition(problem)
    states = reference.descend(W, volume, apart, f, gamma, problem.balance, 200, 0.01)
    assert len(found.ratio) <= len(states)  # it also ends when the best threshold is no better
    for ratio, (_, wanted) in zip(found.ratio[:3], states, strict=False):
        assert ratio == pytest.approx(wanted, rel=1e-4, abs=1e-6)


@settings(max_examples=40)
@given(cuts(most=14), st.sampled_from([0.0, 0.1, 1.0, 50.0]))
def test_the_ratio_never_rises_and_the_cut_is_no_worse_than_the_start_s(drawn, gamma):
    problem, f = drawn
    found = native.ratio_descent(problem.to_native(), gamma, f, max_iter=300)
    assert all(after < before for before, after in pairwise(found.ratio))

    def worth(sides):
        return reference.set_ratio(*by_definition(problem), sides, gamma, problem.balance)[0]

    assert worth(found.sides[-1]) <= found.ratio[-1] * (1 + 1e-9)
    assert min(map(worth, found.sides)) <= worth(found.sides[0])


@settings(max_examples=40)
@given(cuts(most=14))
def test_a_descent_with_growing_prices_ends_with_its_last_set(drawn):
    problem, f = drawn
    splits = ratio_cut.find_splits(problem, f, 300)
    assert len({split.tobytes() for split in splits}) == len(splits)
    assert all(0 < split.sum() < len(f) for split in splits)
    free = native.ratio_descent(problem.to_native(), 0.0, f, max_iter=300)
    np.testing.assert_array_equal(splits[0], free.sides[-1])
    if len(problem.apart) == 0:
        assert len(splits) == 1


@settings(max_examples=40)
@given(st.integers(3, 40), st.integers(0, 1000), st.integers(0, 5), st.sampled_from(BALANCES))
def test_the_start_has_nearly_the_least_value_and_opposes_pairs(m, seed, n_pairs, balance):
    problem = random_cut(m, seed, 0, balance)
    n_pairs = min(n_pairs, m // 2)
    problem = problem._replace(apart=np.arange(2 * n_pairs).reshape(n_pairs, 2))
    f = native.slow_vector(problem.to_native())
    W, volume, apart = by_definition(problem)
    np.testing.assert_allclose(f[problem.apart[:, 0]], -f[problem.apart[:, 1]])
    if n_pairs == 0:
        assert f @ volume == pytest.approx(0, abs=1e-6 * np.abs(f) @ volume)
    value = f @ (np.diag(W.sum(axis=0)) - W) @ f / (f @ (volume * f))
    assert value <= 1.05 * reference.slowest_value(W, volume, apart) + 1e-9


@pytest.mark.slow
@each_balance
def test_two_clusters_keep_all_pairs_and_are_most_often_the_best_of_all_sets(balance):
    best = 0
    for seed in range(40):
        problem = random_cut(3 + seed % 7, seed, seed % 5, balance)
        found = min(
            partition.evaluate_partition(problem, labels)
            for labels in partition.cut_into_two(problem, 10, 0, 1000)
        )
        broken, ratio = reference.best_set(*by_definition(problem), balance)
        assert (found.broken, broken) == (0, 0)
        cut = found.cut / (1 if balance == "ncut" else 2)  # the sum over clusters counts both sides
        assert cut >= ratio * (1 - 1e-9)
        best += cut <= ratio * (1 + 1e-9)
    assert best >= 38


def test_nodes_that_are_joined_are_one():
    W = np.array([[0, 1, 2, 0], [1, 0, 0, 4], [2, 0, 0, 8], [0, 4, 8, 0.0]])
    problem = CutProblem(sp.csr_array(W), W.sum(axis=0), np.array([[0, 1], [2, 1], [0, 2]]), "ncut")
    joined = partition.merge_nodes(problem, np.array([0, 1, 0, 2]))
    np.testing.assert_array_equal(joined.weights.toarray(), [[0, 1, 8], [1, 0, 4], [8, 4, 0]])
    np.testing.assert_array_equal(joined.volume, [13, 5, 12])
    np.testing.assert_array_equal(joined.apart, [[0, 1]])


@settings(max_examples=30)
@given(cuts(most=12), st.integers(2, 4), st.integers(0, 1000))
def test_settling_makes_nothing_worse(drawn, k, seed):
    problem, _ = drawn
    m = len(problem.volume)
    labels = np.random.default_rng(seed).permutation(np.arange(m) % min(k, m)).astype(np.int32)
    then = partition.settle_partition(problem, labels, k)
    assert partition.evaluate_partition(problem, then) <= partition.evaluate_partition(problem, labels)
    again = partition.recut(problem, [then], 100)[0]
    assert partition.evaluate_partition(problem, again) <= partition.evaluate_partition(problem, then)


@settings(max_examples=30)
@given(cuts(most=12), st.lists(st.integers(0, 5), min_size=12, max_size=12))
def test_cutting_again_bears_empty_clusters(drawn, labels):
    problem, _ = drawn
    given = np.array([*labels[1:], 5], dtype=np.int32)[-len(problem.volume) :]
    again = partition.recut(problem, [given], 100)[0]
    assert partition.evaluate_partition(problem, again) <= partition.evaluate_partition(problem, given)


@settings(max_examples=30, deadline=None)
@given(cuts(most=12), st.lists(st.integers(0, 1000), min_size=2, max_size=3))
def test_clusterings_that_share_cuts_get_those_that_each_gets_alone(drawn, seeds):
    problem, _ = drawn
    m = len(problem.volume)
    given = [np.random.default_rng(seed).integers(0, min(3, m), m).astype(np.int32) for seed in seeds]
    alone = [partition.recut(problem, [one], 100)[0] for one in given]
    np.testing.assert_array_equal(partition.recut(problem, given, 100), alone)


def test_runs_that_share_parts_find_what_each_finds_alone(monkeypatch):
    problem, calls = random_cut(40, 3, 6, "ncut"), []
    find_splits = partition.find_splits
    monkeypatch.setattr(partition, "find_splits", lambda *a: calls.append(a) or find_splits(*a))
    alone = [partition.divide(problem, 4, 0, run, 100) for run in (1, 2)]
    apart, known = len(calls), {}
    shared = [partition.divide(problem, 4, 0, run, 100, known) for run in (1, 2)]
    np.testing.assert_array_equal(shared, alone)
    assert len(calls) - apart < apart


@settings(max_examples=40, deadline=None)
@given(cuts(most=10), st.integers(2, 4), st.integers(0, 1000))
def test_moves_are_those_of_the_plain_version(drawn, k, seed):
    problem, _ = drawn
    m = len(problem.volume)
    labels = np.random.default_rng(seed).permutation(np.arange(m) % min(k, m)).astype(np.int32)
    found = native.move_nodes(problem.to_native(), labels, k)
    plain = reference.move_nodes(*by_definition(problem), labels, k, problem.balance)
    wanted = reference.clustering_value(*by_definition(problem), plain, k, problem.balance)
    assert partition.evaluate_partition(problem, found) == pytest.approx(wanted)


@each_balance
def test_new_cuts_of_every_two_clusters_are_most_often_the_best_ones(balance):
    best = 0
    for seed in range(30):
        problem = random_cut(8, seed, seed % 4, balance)
        start = np.random.default_rng(seed).permutation(np.arange(8) % 3).astype(np.int32)
        found = partition.evaluate_partition(problem, partition.recut(problem, [start], 1000)[0])
        plain = reference.recut(*by_definition(problem), start, 3, balance)
        wanted = reference.clustering_value(*by_definition(problem), plain, 3, balance)
        best += (found.broken, found.cut) <= (wanted[0], 1.02 * wanted[2])
    assert best >= 20


# ---------------------------------------------------------------- the authors' program
@settings(max_examples=60)
@given(m=st.integers(4, 14), seed=st.integers(0, 10**6), n_pairs=st.integers(0, 12), k=st.integers(3, 5))
def test_repeated_cuts_are_those_of_the_plain_version(m, seed, n_pairs, k):
    """Edges are rare, so parts fall into pieces."""
    problem = random_cut(m, seed, n_pairs, "ncut", parted=False)
    few = problem.weights.multiply(problem.weights > 0.7) + sp.diags_array(
        [0.1, 0.1], offsets=[1, -1], shape=(m, m)
    )
    problem = problem._replace(weights=sp.csr_array(few))
    rng = np.random.default_rng(seed)

    def restrict(own):
        return partition.restrict_problem(problem, np.array(own))

    def draw_starts(own):
        return [partition.eigenvectors(restrict(own), 1)[:, 0].copy(), rng.normal(size=len(own))]

    def descend(own, price, start):
        return native.ratio_descent(restrict(own).to_native(), price, start, max_iter=50).f[-1]

    wanted = reference.program_division(*by_definition(problem), k, draw_starts, descend)
    cut, labels = cosc_program.divide_as_program(problem, k, np.random.default_rng(seed), 50)
    assert (labels == wanted).all()
    assert cut == pytest.approx(partition.evaluate_partition(problem, labels).cut)


def test_the_program_repairs_nothing():
    """Classes that have nothing to do with the rows: two clusters keep all pairs, more do not."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 4, 60)
    c = lw.Constraints.sample(y, 60, 0)
    models = {k: lw.COSC.authors(k, max_inner_iter=100, random_state=0).fit(X, constraints=c) for k in (2, 4)}
    assert models[4].n_clusters_ == 4
    assert models[4].violations_ > 0
    assert models[4].cut_ < lw.COSC(4, max_inner_iter=100, random_state=0).fit(X, constraints=c).cut_
    two = lw.COSC(2, max_nodes=None, max_inner_iter=100, random_state=0).fit(X, constraints=c)
    assert (models[2].labels_ == two.labels_).all()


# ---------------------------------------------------------------- the clusterer
@each_balance
@settings(max_examples=15)
@given(n=st.integers(4, 30), seed=st.integers(0, 10**6), n_pairs=st.integers(0, 40))
def test_two_clusters_break_nothing_that_can_be_kept(balance, n, seed, n_pairs):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.permutation(np.arange(n) % 2)
    c = lw.Constraints.sample(y, min(n_pairs, n * (n - 1) // 2), seed)
    model = lw.COSC(2, balance=balance, n_init=2, max_inner_iter=100, random_state=0).fit(X, constraints=c)
    assert (model.violations_, model.n_clusters_) == (0, 2)


@each_balance
@pytest.mark.parametrize("seed", range(4))
def test_more_clusters_break_nothing_here(balance, seed):
    """Classes that have nothing to do with the rows, but can be kept."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 4, 60)
    c = lw.Constraints.sample(y, 60, seed)
    model = lw.COSC(4, balance=balance, n_runs=1, max_inner_iter=100, random_state=0).fit(X, constraints=c)
    assert (model.violations_, model.n_clusters_) == (0, 4)


def test_what_cannot_be_kept_is_broken_as_little_as_it_can():
    X, _ = make_blobs(30, centers=2, random_state=0)
    odd = lw.Constraints(30, (), [(0, 1), (1, 2), (0, 2), (4, 5)])
    model = lw.COSC(2, random_state=0).fit(X, constraints=odd)
    assert model.violations_ == 1


def test_moons_that_touch():
    X, y = make_moons(300, noise=0.15, random_state=0)
    plain = adjusted_rand_score(y, lw.COSC(2, random_state=0).fit(X).labels_)
    c = lw.Constraints.sample(y, 30, 0)
    model = lw.COSC(2, random_state=0).fit(X, constraints=c)
    assert adjusted_rand_score(y, model.labels_) > max(plain, 0.9)


def test_the_cut_is_the_sum_over_clusters_and_constraints_cost_something():
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    free = lw.COSC(3, n_runs=1, random_state=0).fit(X)
    c = lw.Constraints.sample(y, 100, 0)
    led = lw.COSC(3, n_runs=1, random_state=0).fit(X, constraints=c)
    assert led.violations_ == 0
    assert free.cut_ < led.cut_
    W = build_neighbour_graph(X, c, 10).weights
    volume = np.asarray(W.sum(axis=0))
    sums = [W[led.labels_ == c][:, led.labels_ != c].sum() / volume[led.labels_ == c].sum() for c in range(3)]
    assert led.cut_ == pytest.approx(sum(sums))
    assert adjusted_rand_score(y, led.labels_) > 0.9


@pytest.mark.parametrize("k", [2, 3, 4, 6, 8])
def test_the_number_of_clear_groups_is_seen(k):
    X, _ = make_blobs(300, 2, centers=k, random_state=0)
    assert cosc.choose_by_eigengap(build_neighbour_graph(X, lw.Constraints(300), 10).weights) == k


def test_the_number_of_clusters_by_the_gap():
    X, _ = make_blobs(120, centers=4, cluster_std=0.6, random_state=3)
    assert lw.COSC(random_state=0).fit(X).n_clusters_ == 4
    assert lw.COSC().fit([[0.0], [1.0]]).n_clusters_ == 1
    assert cosc.choose_by_eigengap(sp.csr_array((4, 4))) == 1


def test_more_clusters_than_must_links_leave():
    c = lw.Constraints(6, [(0, 1), (1, 2), (3, 4)])
    assert lw.COSC(5, random_state=0).fit(np.arange(6.0)[:, None], constraints=c).n_clusters_ == 3


@pytest.mark.parametrize("copies", [0, 5])
def test_a_prepared_graph_changes_no_label(copies, monkeypatch):
    X, y = make_moons(80, noise=0.1, random_state=1)
    rows = np.vstack([X, X[:copies]])
    model = lw.COSC(2, n_init=2, random_state=0)
    prepared = model.prepare(rows)
    c = lw.Constraints(len(rows), [(0, int(np.flatnonzero(y == y[0])[1]))], [(1, int((y != y[1]).argmax()))])
    wanted = model.fit(rows, constraints=c).labels_
    if not copies:
        monkeypatch.setattr(cosc, "build_neighbour_graph", None)  # so that a call fails
    found = lw.COSC(2, n_init=2, random_state=0).fit(rows, constraints=c, prepared=prepared).labels_
    assert np.array_equal(found, wanted)


def test_a_graph_of_other_rows_raises_an_error():
    model = lw.COSC(2, random_state=0)
    with pytest.raises(ValueError, match="graph of 6 rows, but X has 5"):
        model.fit(np.eye(5), prepared=model.prepare(np.eye(6)))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("n_clusters", 0),
        ("balance", "ratio"),
        ("n_neighbors", 0),
        ("n_init", 0),
        ("n_runs", 0),
        ("max_inner_iter", 0),
    ],
)
def test_bad_settings_raise_errors(setting, value):
    with pytest.raises(ValueError, match=setting):
        lw.COSC(**{"n_clusters": 2, setting: value}).fit(np.eye(3))


@pytest.mark.parametrize(("k", "steps"), [(2, 4), (3, 4)])
def test_progress_counts_starts_and_at_last_the_cuts_between_all_clusters(k, steps):
    X, y = load_wine(return_X_y=True)
    c, told = lw.Constraints.sample(y, 20, random_state=0), []
    lw.COSC(k, n_init=4, n_runs=3, random_state=0).fit(X, constraints=c, progress=lambda *at: told.append(at))
    assert told == [(done, steps) for done in range(steps + 1)]
