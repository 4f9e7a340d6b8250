"""Folds, curves, means and what a person waits, against examples worked by hand."""

import numpy as np
import pytest
from bench.suites.folds import split_folds
from bench.suites.scores import TimedOracle, score_curve
from bench.suites.summaries import mean_by, mean_of
from hypothesis import given
from hypothesis import strategies as st

from linkwise import COBRAS, TruthOracle


@given(st.integers(2, 60), st.integers(2, 10), st.integers(0, 5))
def test_folds_cut_the_rows(n_rows, n_folds, repetition):
    if n_folds > n_rows:
        with pytest.raises(ValueError, match=f"Pass 2 to {n_rows} folds"):
            split_folds(n_rows, n_folds, repetition)
        return
    cut = split_folds(n_rows, n_folds, repetition)
    assert len(cut) == n_folds
    assert np.sort(np.concatenate(cut)).tolist() == list(range(n_rows))
    assert max(map(len, cut)) - min(map(len, cut)) <= 1


def test_folds_repeat_and_differ():
    first, again, other = split_folds(50, 10, 0), split_folds(50, 10, 0), split_folds(50, 10, 1)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert any((a != b).any() for a, b in zip(first, other, strict=True))


def test_curve_repeats_the_last_clustering():
    y = np.array([0, 0, 1, 1])
    curve = score_curve(y, [np.zeros(4), np.zeros(4), y], 5)
    assert curve.tolist() == [0, 0, 1, 1, 1]


def test_curve_of_nothing():
    with pytest.raises(ValueError, match="There is no clustering to score"):
        score_curve(np.zeros(3), [], 5)


def test_mean_by_key():
    values = [("b", [1.0, 2.0]), ("a", [5.0]), ("b", [3.0, 2.0])]
    means = mean_by([((key,), np.array(value)) for key, value in values])
    assert list(means) == [("b",), ("a",)]
    assert means["b",].tolist() == [2, 2]


def test_oracle_counts_a_wait_before_each_question_and_one_after_the_last():
    y = np.repeat([0, 1], 6)
    oracle = TimedOracle(TruthOracle(y))
    model = COBRAS(random_state=0).fit(np.arange(12.0)[:, None], oracle=oracle, budget=4)
    oracle.end()
    assert len(oracle.waits) == model.n_questions_ + 1
    assert min(oracle.waits) >= 0


def test_a_mean_has_its_standard_error():
    mean = mean_of([0.2, 0.4, 0.6, 0.8])
    assert mean.value == pytest.approx(0.5)
    assert mean.error == pytest.approx(np.sqrt(0.2 / 3) / 2)
    assert mean.lowest == 0.2
    assert str(mean) == "0.50 ± 0.13"


def test_one_run_has_no_standard_error():
    assert mean_of([0.25]).texts() == ("0.25", "")
    assert str(mean_of([0.25])) == "0.25"
