"""Constraints where they are taken for something else, and ids that no file can hold."""

import numpy as np
import pytest

import linkwise as lw


def test_constraints_cannot_become_an_array():
    with pytest.raises(TypeError, match=r"cannot be converted to an array\. Use their pairs: must_link"):
        np.asarray(lw.Constraints(3, [(0, 1)]))


def test_other_objects_than_constraints_raise_errors():
    with pytest.raises(TypeError, match=r"not a Constraints object: \[0, 1, 1\]\. Build one"):
        lw.constraint_score(lw.Constraints(3), [0, 1, 1])
    with pytest.raises(TypeError, match=r"not a Constraints object: \[\(0, 1\)\]\. Build one"):
        lw.Evidence(3).add_constraints([(0, 1)])


def test_ids_with_lone_surrogates_are_not_written(tmp_path):
    path = tmp_path / "pairs.csv"
    with pytest.raises(lw.ConstraintError, match=r"Row 1 \(counted from 0\) of the ids is"):
        lw.Constraints(2, [(0, 1)]).to_csv(path, ids=["a", "\ud800"])
    assert not path.exists()
