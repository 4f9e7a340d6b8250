"""Few rows, equal rows, odd columns, and input that cannot be clustered."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import linkwise as lw
from laws.asking import few_examples, nobody_is_asked, partition, truth
from linkwise.learn.oracles import TruthOracle
from registry import each_exact_learner, each_learner


# ---------------------------------------------------------------- few or equal rows
@each_learner
@pytest.mark.parametrize("oracle", [None, lambda i, j: 1 / 0])
def test_one_row_is_one_cluster(entry, oracle):
    model = entry.make(random_state=0).fit([[3.0, 4.0]], oracle=oracle)
    assert model.labels_.tolist() == [0]
    assert (model.n_clusters_, model.n_questions_) == (1, 0)


@each_exact_learner
@pytest.mark.parametrize("same", [True, False])
def test_two_rows_take_one_question(entry, same):
    oracle = truth([0, 0] if same else [0, 1])
    model = entry.make(random_state=0).fit([[0.0], [1.0]], oracle=oracle)
    assert [set(pair) for pair in oracle.pairs] == [{0, 1}]
    assert model.labels_.tolist() == ([0, 0] if same else [0, 1])


@nobody_is_asked
@each_learner
def test_two_rows_without_an_oracle(entry):
    assert len(entry.make(random_state=0).fit([[0.0], [1.0]]).labels_) == 2


def test_one_part_is_one_part_of_two_rows_too():
    model = lw.COBRA(1, random_state=0).fit([[0.0], [1.0]], oracle=lambda i, j: 1 / 0)
    assert model.labels_.tolist() == [0, 0]


@nobody_is_asked
@each_learner
@pytest.mark.parametrize("oracle", [None, lambda i, j: 1 / 0])
def test_rows_that_are_all_identical_are_one_cluster(entry, oracle):
    for dtype in (np.float32, np.float64, np.int64):
        model = entry.make(random_state=0).fit(np.full((12, 3), 7, dtype=dtype), oracle=oracle)
        assert model.labels_.tolist() == [0] * 12
        if oracle is not None:
            assert model.reason_ == "exhausted"


@each_exact_learner
def test_two_distinct_rows_among_many_take_one_question(entry):
    X = np.array([[0.1, 0.2]] * 9 + [[0.3, 0.7]] * 5)[np.random.default_rng(0).permutation(14)]
    y = (X[:, 0] > 0.2).astype(int)
    oracle = truth(y)
    model = entry.make(random_state=0).fit(X, oracle=oracle)
    assert len(oracle.said) == 1
    assert partition(model.labels_) == partition(y)


@few_examples
@each_learner
@given(st.integers(1, 6), st.integers(1, 30), st.integers(0, 10**6), st.sampled_from([0.0, 0.5]))
def test_no_two_questions_show_the_same_rows(entry, n_distinct, n, seed, unsure):
    rng = np.random.default_rng(seed)
    point = rng.integers(0, n_distinct, n)
    X = rng.normal(size=(n_distinct, 2))[point]
    oracle = truth(rng.integers(0, 3, n_distinct)[point], unsure=unsure, random_state=0)
    model = entry.make(random_state=0).fit(X, oracle=oracle)
    shown = [frozenset((point[i], point[j])) for i, j in oracle.pairs]
    assert all(len(pair) == 2 for pair in shown)
    assert len(set(shown)) == len(shown)
    for p in range(n_distinct):
        assert len(set(model.labels_[point == p])) <= 1


@pytest.mark.slow
@each_exact_learner
def test_constant_columns_change_nothing(entry):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(18, 2)), rng.integers(0, 3, 18)
    wide = np.column_stack([np.full(18, 5.0), X, np.zeros(18)])
    one, other = truth(y), truth(y)
    entry.make(random_state=0).fit(X, oracle=one)
    model = entry.make(random_state=0).fit(wide, oracle=other)
    assert one.said == other.said
    assert partition(model.labels_) == partition(y)


@cache
def said_of_whole_numbers(entry, scale):
    """What a learner asks about rows that are whole numbers times `scale`, until nothing is left to ask."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 1000, (18, 2)) * 2.0, rng.integers(0, 3, 18)
    oracle = truth(y)
    entry.make(random_state=0).fit(X * scale, oracle=oracle)
    return tuple(oracle.said)


@pytest.mark.slow
@each_learner
@pytest.mark.parametrize(
    "scale",
    [1e-100, 1e100, *(pytest.param(scale, marks=pytest.mark.slow(nightly=True)) for scale in (1e-9, 1e9))],
)
def test_the_unit_of_the_rows_changes_nothing(entry, scale):
    power = 2.0 ** np.round(np.log2(scale))  # exact, so that no tie is decided otherwise
    assert said_of_whole_numbers(entry, power) == said_of_whole_numbers(entry, 1.0)


@cache
def said_of_a_table(entry):
    """A plain array with its truth, and what a learner asks about it; tests share it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    oracle = truth(y)
    entry.make(random_state=0).fit(X, oracle=oracle, budget=10)
    X.setflags(write=False)
    return X, y, tuple(oracle.said)


@each_learner
@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda X: X.tolist(),
        lambda X: pd.DataFrame(X, columns=["a", "b"]),
        lambda X: X[::-1][::-1],
        lambda X: np.lib.stride_tricks.as_strided(X, X.shape, X.strides, writeable=False),
    ],
    ids=["Fortran order", "list", "DataFrame", "view", "read-only"],
)
def test_any_table_of_numbers_will_do(entry, convert):
    X, y, said = said_of_a_table(entry)
    oracle = truth(y)
    entry.make(random_state=0).fit(convert(X.copy()), oracle=oracle, budget=10)
    assert tuple(oracle.said) == said


# ---------------------------------------------------------------- what is refused
def broken(**cells):
    X = np.arange(12.0).reshape(4, 3)
    for at, value in cells.items():
        X[int(at[1]), int(at[2])] = value
    return X


REFUSED = [
    (broken(_12=np.nan, _30=np.inf), ValueError, r"NaN/infinity: 2 values, the first in row 1, column 2"),
    (broken(_01=-np.inf), ValueError, r"NaN/infinity: 1 value, .*row 0, column 1\. Impute or drop"),
    (broken(_00=np.nan).astype(np.float32), ValueError, "NaN/infinity"),
    ([["1", "red"], ["2", "blue"]], ValueError, r"Column 1 of X .*: 'red'\. Encode"),
    (pd.DataFrame({"n": [1, 2], "colour": ["red", "blue"]}), ValueError, "Column 'colour' of X .*: 'red'"),
    (np.array([[{}, 1], [2, 3]], dtype=object), TypeError, r"Column 0 of X .*: \{\}\. Encode"),
    (scipy.sparse.csr_array(np.eye(3)), TypeError, r"sparse, but dense data is required by \w+\. .*toarray"),
    (np.empty((0, 2)), ValueError, r"0 sample\(s\).*minimum of 1 is required"),
    (np.empty((3, 0)), ValueError, r"0 feature\(s\).*minimum of 1 is required"),
    (np.arange(4.0), ValueError, r"X is a ndarray of shape \(4,\), but .*reshape\(X, \(-1, 1\)\) for"),
    (np.eye(2) * 1j, ValueError, "Complex data not supported"),
]


@each_learner
@pytest.mark.parametrize("oracle", [None, lambda i, j: True])
def test_what_cannot_be_clustered_is_named(entry, oracle):
    for X, kind, words in REFUSED:
        model = entry.make()
        with pytest.raises(kind, match=words):
            model.fit(X, oracle=oracle)
        assert not hasattr(model, "labels_")


@each_learner
def test_no_such_rows_to_show(entry):
    for askable, kind, words in (
        ([0, 9], ValueError, "askable names row 9, but the rows are 0 to 3"),
        ([-1], ValueError, "askable names row -1"),
        ([True, False], TypeError, r"askable has dtype bool, shape \(2,\)"),
        ([0.0, 1.0], TypeError, "dtype float64"),
        ([[0, 1]], TypeError, r"shape \(1, 2\)"),
    ):
        for oracle in (None, lambda i, j: True):
            with pytest.raises(kind, match=words):
                entry.make().fit(np.eye(4), oracle=oracle, askable=askable)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: lw.COBRA(0), "n_super_instances"),
        (lambda: lw.COBRA(n_init=0), "n_init"),
        (lambda: lw.COBRAS(n_init="ten"), "n_init"),
        (lambda: lw.COBRAS(max_split=1), "max_split"),
        (lambda: lw.COBRAS(descend="middle"), "descend"),
        (lambda: lw.COBRAS(impure_first="yes"), "impure_first"),
        (lambda: lw.COBRAS(split_within_budget=2), "split_within_budget"),
        (lambda: lw.COBRAS(random_state=-1), "random_state"),
        (lambda: lw.COBRA(random_state="x"), "random_state"),
    ],
)
def test_no_such_setting(make, words):
    with pytest.raises(ValueError, match=words):
        make().fit(np.eye(3))


@each_learner
def test_an_answer_about_the_largest_row_is_heard(entry):
    """Row n - 1 is a row as any other."""
    X = np.array([[0.0], [0.1], [9.0]])
    model = entry.make(random_state=0).fit(
        X, oracle=TruthOracle([0, 1, 2]), constraints=lw.Constraints(3, [(0, 2)]), budget=3
    )
    assert model.labels_[0] == model.labels_[2]
