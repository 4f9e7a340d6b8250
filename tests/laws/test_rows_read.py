"""Every method takes what `linkwise.read` returns in place of its matrix."""

import warnings

import pandas as pd
import pytest

import linkwise as lw
from laws.clustering import blobs
from registry import CLUSTERERS, LEARNERS

METHODS = [(entry.name, entry.make(3, random_state=0)) for entry in CLUSTERERS if not entry.by_night]
METHODS += [(entry.name, entry.make(random_state=0)) for entry in LEARNERS if not entry.by_night]
X, Y = blobs(45)
FRAME = pd.DataFrame(X, columns=["width", "height"]).assign(name=[f"row-{row}" for row in range(45)])


@pytest.mark.parametrize("method", [method for _, method in METHODS], ids=[name for name, _ in METHODS])
def test_rows_stand_for_their_matrix(method):
    rows = lw.read(FRAME)
    assert rows.shape == (45, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what is not asked or not satisfied: not this test's concern
        wanted = method.fit(rows.X).labels_.tolist()
        assert method.fit(rows).labels_.tolist() == wanted
        assert method.n_features_in_ == 2
        with pytest.raises(lw.DataError, match=r"a number: 'row-0'\. Pass linkwise\.read\(X\), which"):
            method.fit(FRAME)
