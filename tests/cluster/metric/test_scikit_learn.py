"""Metric learners are scikit-learn transformers: all checks that it generates pass, none is left out."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import linkwise as lw


@parametrize_with_checks([lw.MMC(), lw.MMC(diagonal=False), lw.ITML(), lw.ITML("covariance"), lw.RCA()])
def test_every_generated_check(estimator, check):
    check(estimator)
