"""What an error or a warning advises exists: every parameter that it names is one of the method's."""

import inspect
import re
import warnings

import numpy as np
import pytest

import linkwise as lw
from registry import each_clusterer

ROWS = np.random.default_rng(0).normal(size=(12, 2))
PILES = np.repeat([[0.0, 0.0], [1.0, 1.0]], 6, axis=0)
TRIANGLE = [(0, 1), (1, 2), (0, 2)]
TROUBLES = {
    "an odd cycle": (ROWS, {"cannot_link": TRIANGLE}),
    "a clique": (ROWS, {"cannot_link": [(i, j) for i in range(5) for j in range(i)]}),
    "a contradiction": (
        ROWS,
        {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)], "on_conflict": "keep"},
    ),
    "identical rows apart": (PILES, {"cannot_link": [(0, 1)]}),
    "few rows": (ROWS[:1], {}),
    "no rows": (ROWS[:0], None),
    "complex rows": (ROWS + 1j, {}),
    "missing values": (np.where(ROWS > 1, np.nan, ROWS), {}),
}
ADVISED = re.compile(r"(?:\b(\w+)\()?\b([a-z_]+)=(?!=)")


def find_messages(entry, X, pairs):
    """All that a fit says."""
    model = entry.make(2, random_state=0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            constraints = None if pairs is None else lw.Constraints(len(X), **pairs)
            model.fit(X, constraints=constraints)
        except Exception as error:
            told.append(error)
    return model, [str(getattr(one, "message", one)) for one in told]


def is_parameter(name, owner, model):
    """Whether a method, or the class or function that the message names, has the parameter."""
    if owner in ("fit", ""):
        return name in model.get_params() or name in inspect.signature(model.fit).parameters
    return name in inspect.signature(getattr(lw, owner)).parameters


@each_clusterer
def test_every_parameter_that_a_message_advises_exists(entry):
    for trouble, (X, pairs) in TROUBLES.items():
        model, messages = find_messages(entry, X, pairs)
        for message in messages:
            for owner, name in ADVISED.findall(re.sub(r"(n_samples|shape)=", "", message)):
                assert is_parameter(name, owner, model), (trouble, message)


@pytest.mark.parametrize("make", [lw.ClusILC, lw.PCKMeans, lw.ConstrainedAgglomerative])
def test_fewer_distinct_rows_than_clusters_are_named(make):
    with pytest.warns(UserWarning, match="only 2 distinct rows.* n_clusters=5"):
        make(5).fit(PILES)


def test_as_many_clusters_as_rows_are_explained_without_a_word_of_scikit_learn():
    rows = np.arange(40.0)[:, None]
    assert len(lw.explain(np.arange(40), rows).rules) > 0
