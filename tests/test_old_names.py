"""Modules that have moved can be imported under their old names, with a warning."""

from importlib import import_module

import pytest

import linkwise as lw
from linkwise._moved import MOVED


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
