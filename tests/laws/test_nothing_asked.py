"""A learner that has nobody to ask and nothing to go by says so, once and to the caller."""

import warnings

import numpy as np
import pytest

import linkwise as lw
from laws.asking import truth
from registry import each_learner

X = np.random.default_rng(0).normal(size=(20, 2))


@each_learner
def test_neither_an_oracle_nor_constraints(entry):
    model = entry.make(random_state=0)
    with pytest.warns(lw.NothingAskedWarning, match=f"^{type(model).__name__} .*oracle=.*Session") as caught:
        model.fit(X)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.reason_ == "no oracle"


@each_learner
def test_constraints_without_pairs_are_none(entry):
    with pytest.warns(lw.NothingAskedWarning):
        entry.make(random_state=0).fit(X, constraints=lw.Constraints(20))


@each_learner
@pytest.mark.parametrize(
    ("rows", "given"),
    [
        (X, {"oracle": truth(np.arange(20) % 2), "budget": 0}),
        (X, {"constraints": lw.Constraints(20, [(0, 1)])}),
        (X[:1], {}),  # there is nothing to ask
    ],
    ids=["an oracle", "constraints", "one row"],
)
def test_no_word_otherwise(entry, rows, given):
    with warnings.catch_warnings(action="error"):
        entry.make(random_state=0).fit(rows, **given)
