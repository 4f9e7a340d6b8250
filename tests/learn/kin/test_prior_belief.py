"""What KIN believes before any answer, against a plain version."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from laws.asking import nobody_is_asked
from linkwise.constraints.evidence import Evidence
from linkwise.learn.kin import prior_belief
from linkwise.learn.kin.kernels import make_kernels, make_views, scale_rows
from linkwise.learn.kin.prior_belief import NamedPairs
from linkwise.learn.run import Run
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at
from reference import kin as plain

SEED = 3


def blobs(n_classes, n, columns=4, spread=0.3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n_classes, columns))[y] * 2 + spread * rng.normal(size=(n, columns)), y


def unit_rows():
    X, _ = blobs(6, 90, seed=1)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


SETS = {
    "iris": lambda: np.unique(load_iris().data, axis=0),
    "wine": lambda: load_wine().data,
    "12 classes": lambda: blobs(12, 130)[0],
    "no classes": lambda: np.random.default_rng(0).normal(size=(70, 3)),
    "unit rows": unit_rows,
    "a grid": lambda: np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3),
    "1 row": lambda: np.ones((1, 2)),
    "2 rows": lambda: np.array([[0.0, 1.0], [1.0, 3.0]]),
    "3 rows": lambda: np.random.default_rng(0).normal(size=(3, 2)),
    "5 rows": lambda: np.random.default_rng(0).normal(size=(5, 2)),
    "19 rows": lambda: np.random.default_rng(0).normal(size=(19, 2)),
    "20 rows": lambda: np.random.default_rng(0).normal(size=(20, 2)),
    "30 rows": lambda: np.random.default_rng(0).normal(size=(30, 2)),
}


def prepare(X):
    rows = scale_rows(X)
    return rows, make_kernels(make_views(rows), SEED).mean, prior_belief.are_unit_rows(X)


@pytest.mark.parametrize("name", SETS)
def test_the_start_is_that_of_the_definition(name):
    X = SETS[name]()
    rows, kernel, are_directions = prepare(X)
    assert are_directions == (name in ("unit rows", "1 row"))
    found = prior_belief.find_prior_belief(rows, kernel, SEED, are_directions=are_directions)
    n, rng = len(X), rng_at(SEED, 6)
    parts = [[np.sort(rng.permutation(n)[: int(0.75 * n)]) for _ in range(2)] for _ in range(3)]
    with one_blas_thread():
        expected = plain.Start(rows, kernel.astype(float), parts, are_directions)
    np.testing.assert_array_equal(found.fine, expected.fine)
    assert found.n_classes == pytest.approx(expected.n_classes, abs=1e-9)
    items = np.arange(n)
    is_pair = ~np.eye(n, dtype=bool)
    phi, psi = found.similarity(kernel, items), found.sharing(items)
    np.testing.assert_allclose(phi[is_pair], expected.phi[is_pair], atol=1e-5)
    np.testing.assert_allclose(psi, expected.psi, atol=1e-9)
    np.testing.assert_allclose(found.fine_similarity, expected.phi_fine, atol=1e-5)
    np.testing.assert_allclose(found.fine_shared, expected.psi_fine, atol=1e-9)


@pytest.mark.parametrize(("block", "name"), [(16, "wine"), (7, "5 rows"), (30, "30 rows")])
def test_blocks_of_any_size_give_the_same(block, name, monkeypatch):
    rows, kernel, are_directions = prepare(SETS[name]())
    whole = prior_belief.find_prior_belief(rows, kernel, SEED, are_directions=are_directions)
    monkeypatch.setattr(prior_belief, "BLOCK", block)
    parts = prior_belief.find_prior_belief(rows, kernel, SEED, are_directions=are_directions)
    np.testing.assert_array_equal(parts.fine, whole.fine)
    np.testing.assert_array_equal(parts.shared.toarray(), whole.shared.toarray())
    np.testing.assert_allclose(parts.fine_similarity, whole.fine_similarity, rtol=1e-6)
    assert parts.n_classes == whole.n_classes


@pytest.mark.parametrize("name", ["iris", "wine", "12 classes", "a grid"])
def test_rounding_chooses_no_neighbours(name):
    """The order of the columns changes nothing but the rounding of cosines."""
    rows, kernel, _ = prepare(SETS[name]())
    one, other = (
        prior_belief.find_prior_belief(np.ascontiguousarray(each), kernel, SEED, are_directions=False)
        for each in (rows, rows[:, ::-1])
    )
    np.testing.assert_array_equal(one.shared.toarray(), other.shared.toarray())
    assert one.n_classes == other.n_classes


@pytest.mark.parametrize("n_classes", [4, 9, 25])
def test_the_number_of_classes_is_about_right(n_classes):
    X, _ = blobs(n_classes, 15 * n_classes, columns=8)
    rows, kernel, _ = prepare(X)
    found = prior_belief.find_prior_belief(rows, kernel, SEED, are_directions=False).n_classes
    assert n_classes / 1.6 < found < 1.6 * n_classes


@given(st.lists(st.floats(0, 1), min_size=2, max_size=13))
def test_the_level_is_that_of_the_definition(agreement):
    levels = prior_belief.LEVELS[: len(agreement)]
    found = prior_belief._find_level(np.array(agreement), levels)
    assert found == pytest.approx(plain.level_of(agreement, levels), rel=1e-9)
    assert levels[0] <= found <= levels[-1]


def test_a_few_outliers_are_no_classes():
    """They are found again and again, and so are the classes, but nothing between."""
    assert prior_belief._find_level(np.array([0.9, 0.3, 0.5, 0.95, 0.9]), prior_belief.LEVELS[:5]) > 8
    assert prior_belief._find_level(np.array([0.9, 0.8, 0.8, 0.95, 0.9]), prior_belief.LEVELS[:5]) == 3


def test_rows_of_one_norm_are_directions():
    X = unit_rows()
    rng = np.random.default_rng(0)
    assert prior_belief.are_unit_rows(X)
    assert prior_belief.are_unit_rows(1000 * X * (1 + 0.005 * rng.normal(size=(len(X), 1))))
    assert not prior_belief.are_unit_rows(X * (1 + 0.05 * rng.normal(size=(len(X), 1))))


def test_of_directions_the_length_does_not_count():
    """The kernel of a row that is a little longer changes, but not its neighbours."""
    X = unit_rows()
    rows, kernel, _ = prepare(X)
    other = np.roll(kernel, 5, axis=(0, 1))
    one, two = (
        prior_belief.find_prior_belief(rows, each, SEED, are_directions=True) for each in (kernel, other)
    )
    np.testing.assert_array_equal(one.shared.toarray(), two.shared.toarray())
    three = prior_belief.find_prior_belief(rows, other, SEED, are_directions=False)
    assert (one.shared.toarray() != three.shared.toarray()).any()


# ---------------------------------------------------------------- what is shown
@pytest.mark.parametrize("n_classes", [4, 12, 30])
def test_classes_are_shown_before_any_answer(n_classes):
    X, y = blobs(n_classes, 12 * n_classes, columns=8)
    run = Run(lw.KIN(), X, Evidence(len(X)), SEED)
    assert adjusted_rand_score(y, run.labels) > 0.9


@pytest.mark.parametrize("n", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("kind", ["distinct", "equal", "of two kinds", "zeros"])
@nobody_is_asked
def test_few_items(n, kind):
    rng = np.random.default_rng(n)
    X = {
        "distinct": rng.normal(size=(n, 2)),
        "equal": np.full((n, 2), 7.0),
        "of two kinds": np.array([[0.0, 1.0], [1.0, 0.0]])[rng.integers(0, 2, n)],
        "zeros": np.zeros((n, 2)),
    }[kind]
    y = rng.integers(0, 2, n)
    evidence = Evidence(n)
    run = Run(lw.KIN(), X, evidence, SEED)
    identical = (X[:, None] == X).all(axis=2)
    assert (run.labels[:, None] == run.labels)[identical].all()
    while run.question is not None:
        assert len(set(run.labels.tolist())) == run.labels.max() + 1
        run.answer("yes" if y[run.question.first] == y[run.question.second] else "no")
    if kind == "distinct":
        assert adjusted_rand_score(y, run.labels) == 1
    assert lw.KIN(random_state=0).fit(X).labels_.shape == (n,)


@pytest.mark.parametrize("seed", range(20))
def test_the_rand_index_is_that_of_scikit_learn(seed):
    """To the last bit, since the number of classes is found by its largest value."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 300))
    one, other = (np.unique(rng.integers(0, k, n), return_inverse=True)[1] for k in rng.integers(1, 40, 2))
    for labels in (other, one, np.zeros(n, dtype=np.int64), np.arange(n)):
        assert prior_belief.rand_index(one, labels) == adjusted_rand_score(one, labels)


@pytest.fixture(scope="module")
def prepared():
    return lw.KIN().prepare(load_wine(return_X_y=True)[0], 0)


def test_pairs_have_the_same_values_to_the_last_bit_whenever_they_are_named(prepared):
    """Undo and another memo name them at once, and a run one after another."""
    order = np.random.default_rng(0).permutation(len(prepared.prior.mean))
    grown = NamedPairs(prepared.prior, prepared.kernels.mean)
    for n in range(3, len(order), 5):
        fresh, label = NamedPairs(prepared.prior, prepared.kernels.mean), np.arange(n) % 7
        for one, other in zip(grown.among(order[:n]), fresh.among(order[:n]), strict=True):
            np.testing.assert_array_equal(one, other)
        means = (named.average(order[:n], label, min(n, 7)) for named in (grown, fresh))
        for one, other in zip(*means, strict=True):
            np.testing.assert_array_equal(one, other)


def test_they_are_those_of_the_prior_belief(prepared):
    items, named = np.arange(90)[::-1], NamedPairs(prepared.prior, prepared.kernels.mean)
    named.among(np.arange(70))
    similarity, shared = named.among(items)
    np.testing.assert_array_equal(similarity, prepared.prior.similarity(prepared.kernels.mean, items))
    np.testing.assert_array_equal(shared, prepared.prior.sharing(items))
