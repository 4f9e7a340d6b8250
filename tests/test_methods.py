"""The one table of methods agrees with what linkwise offers."""

from inspect import signature

import pytest

import linkwise as lw
from linkwise.cluster.base import ConstrainedClusterer
from linkwise.learn.base import ActiveLearner
from linkwise.methods import CLUSTERERS, LEARNERS, METHODS, options_of, owners_of
from linkwise.select.base import ClusteringSearch
from registry import CLUSTERERS as SWEPT_CLUSTERERS
from registry import LEARNERS as SWEPT_LEARNERS

PUBLIC = [thing for thing in (getattr(lw, name) for name in lw.__all__) if isinstance(thing, type)]
each_method = pytest.mark.parametrize(
    "method", METHODS, ids=lambda method: f"{method.kind} {method.class_name}"
)


@each_method
def test_an_entry_leads_to_its_class(method):
    assert method.load() is getattr(lw, method.class_name)
    assert method.load().__module__ == method.module
    assert method.summary.endswith(".")


@each_method
def test_options_are_parameters_with_the_same_default(method):
    offered = signature(method.load()).parameters
    for option in method.options:
        assert option.parameter in offered
        if option.default is not None and offered[option.parameter].default is not None:
            assert offered[option.parameter].default == option.default
    assert {option.parameter for option in method.options} >= set(method.needs)
    assert ("random_state" in offered) is method.is_random or method.kind == "search"


def test_every_public_method_has_an_entry():
    def classes(base):
        return {kind.__name__ for kind in PUBLIC if issubclass(kind, base)}

    assert {method.class_name for method in LEARNERS.values()} == classes(ActiveLearner)
    named = {method.class_name for method in CLUSTERERS.values() if not method.uses_pairs}
    assert named - {"COBS", "ClusILC", "FOSC"} == classes(ConstrainedClusterer) - {"COBS", "ClusILC", "FOSC"}
    searches = {method.class_name for method in METHODS if method.kind == "search"}
    assert searches >= classes(ClusteringSearch)


def test_the_laws_sweep_every_learner_and_clusterer():
    learners = {type(entry.make()).__name__ for entry in SWEPT_LEARNERS if not entry.by_night}
    of_tables = {"RecordLinkage"}  # swept by laws of its own, in laws/test_record_linkage.py
    assert learners == {method.class_name for method in LEARNERS.values()} - of_tables
    clusterers = {type(entry.make(3)).__name__ for entry in SWEPT_CLUSTERERS if not entry.by_night}
    assert clusterers == {m.class_name for m in METHODS if m.kind == "clusterer"}


def test_an_option_knows_its_methods():
    options = options_of(LEARNERS)
    assert owners_of(options["n_super_instances"], LEARNERS) == ("cobra",)
    assert owners_of(options["estimator"], LEARNERS) == ("explore", "minmax", "npu")
