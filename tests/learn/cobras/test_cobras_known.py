"""COBRAS where imported pairs answer everything."""

import numpy as np

import linkwise as lw
from linkwise.constraints.evidence import Evidence
from linkwise.learn import super_instances
from linkwise.learn.run import Run


def test_no_distances_are_computed_where_nothing_is_left_to_ask(monkeypatch):
    def between(instances):
        raise AssertionError("distances of parts, though all relations are known")

    monkeypatch.setattr(super_instances, "_between", between)
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    run = Run(lw.COBRAS(random_state=0), X, Evidence(60, lw.Constraints.from_labels(y)), 0)
    assert run.reason == "exhausted"
    assert len(set(zip(run.labels.tolist(), y.tolist(), strict=True))) == 3
