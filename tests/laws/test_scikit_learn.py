"""Learners are scikit-learn estimators: every check that it generates passes, none is expected to fail."""

import pickle

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import linkwise as lw
from laws.asking import nobody_is_asked
from linkwise.learn.oracles import TruthOracle
from registry import LEARNERS, each_learner

KNOWN_K = [kind(3) for kind in (lw.ExploreConsolidate, lw.MinMax, lw.NPU, lw.ActiveFeatureWeights)]


@nobody_is_asked
@parametrize_with_checks([lw.COBRA(), lw.COBRAS(), lw.KIN(), *KNOWN_K])
def test_every_generated_check(estimator, check):
    check(estimator)


def test_all_kinds_of_learners_are_swept():
    assert {type(entry.make()).__name__ for entry in LEARNERS} == {
        "COBRA", "COBRAS", "KIN", "ActiveCOBS", "ExploreConsolidate", "MinMax", "NPU", "ActiveFeatureWeights",
        "ThresholdLinkage",
    }  # fmt: skip


@each_learner
def test_clones_and_pickles_do_the_same(entry):
    X, y = load_iris(return_X_y=True)
    model = entry.make(random_state=0).fit(X, oracle=TruthOracle(y), budget=12)
    again = clone(model).fit(X, oracle=TruthOracle(y), budget=12)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    thawed = pickle.loads(pickle.dumps(model))
    assert thawed.constraints_ == model.constraints_
    for one, other in zip(thawed.history_, model.history_, strict=True):
        np.testing.assert_array_equal(one, other)


@each_learner
def test_in_a_pipeline(entry):
    X, y = load_iris(return_X_y=True)
    scaled = StandardScaler().fit_transform(X)
    alone = entry.make(random_state=0).fit(scaled, oracle=TruthOracle(y), budget=12)
    pipeline = make_pipeline(StandardScaler(), entry.make(random_state=0))
    step = pipeline.steps[-1][0]
    options = {"oracle": TruthOracle(y), "budget": 12}
    labels = pipeline.fit_predict(X, **{f"{step}__{name}": value for name, value in options.items()})
    np.testing.assert_array_equal(labels, alone.labels_)
