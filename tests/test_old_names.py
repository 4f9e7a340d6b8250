"""Modules that have moved can be imported under their old names, with a warning."""

from importlib import import_module

import numpy as np
import pytest

import linkwise as lw
from linkwise._moved import MOVED
from linkwise.asking import learner


@pytest.mark.parametrize("module", MOVED)
def test_old_modules_hold_their_names(module):
    old = import_module(module)
    for name in MOVED[module]:
        with pytest.warns(
            DeprecationWarning, match=rf"{module}\.{name} has moved\. Import it from linkwise\."
        ):
            assert getattr(old, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = old.nothing


def test_old_and_new_names_are_the_same_thing():
    with pytest.warns(DeprecationWarning, match="has moved"):
        from linkwise.evidence import Evidence
    assert Evidence is lw.Evidence


def test_unknown_modules_are_not_found():
    with pytest.raises(ModuleNotFoundError):
        import_module("linkwise.nothing")


def test_old_names_of_representatives():
    X = np.random.default_rng(0).normal(size=(12, 2))

    class Old(lw.COBRA):
        representatives = None

        def stand_ins(self, state):
            return state.representatives

    with pytest.warns(DeprecationWarning, match=r"StandingIn is deprecated\. Use Representing"):
        from linkwise.asking.learner import StandingIn
    assert isinstance(Old(), StandingIn)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = learner.nothing
    old, new = lw.Session(X, Old(4, random_state=0)), lw.Session(X, lw.COBRA(4, random_state=0))
    with pytest.warns(DeprecationWarning, match=r"Old\.stand_ins is deprecated\. Rename the method"):
        found = old.representatives
    with pytest.warns(DeprecationWarning, match=r"Session\.stand_ins is deprecated\. Use"):
        np.testing.assert_array_equal(new.stand_ins, found)
    with pytest.warns(DeprecationWarning, match=r"why\(stand_ins=\.\.\.\) is deprecated\. Use"):
        reason = lw.why(new.labels, 0, 1, stand_ins=found)
    assert reason == lw.why(new.labels, 0, 1, representatives=found)


def test_old_names_of_methods():
    c = lw.Constraints(4, must_link=[(0, 1)], cannot_link=[(1, 2)])
    evidence = lw.Evidence(4, c)
    evidence.add(2, 3, "yes")
    with pytest.warns(
        DeprecationWarning, match=r"Constraints\.violated is deprecated\. Use .*find_violations"
    ):
        assert [broken.tolist() for broken in c.violated([0, 1, 1, 1])] == [[True], [True]]
    with pytest.warns(
        DeprecationWarning, match=r"^Evidence\.answered is deprecated\. Use .*pairs_with_answer\.$"
    ):
        assert evidence.answered("yes").tolist() == [[0, 1], [2, 3]]
    with pytest.warns(DeprecationWarning, match=r"^Evidence\.known is deprecated\. Use .*has_verdict\.$"):
        assert evidence.known(np.array([[0, 1], [2, 3]])).tolist() == [True, True]
    groups = evidence.groups()
    with pytest.warns(DeprecationWarning, match=r"^Groups\.foes is deprecated\. Use .*cannot_link\.$"):
        assert groups.foes is groups.cannot_link
