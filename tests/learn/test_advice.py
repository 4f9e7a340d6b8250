"""The advice of a learner: plain values in their ranges."""

from dataclasses import asdict
from json import dumps

import numpy as np
import pytest

from linkwise.learn.advice import StopAdvice


def test_advice_holds_plain_values_that_can_be_stored():
    found = StopAdvice(np.bool_(True), np.float32(0.25), np.float32(0.5), np.int64(3))
    assert found == StopAdvice(True, 0.25, 0.5, 3)
    assert dumps(asdict(found)) == '{"stop": true, "wrong": 0.25, "most_wrong": 0.5, "n_open": 3}'
    assert asdict(StopAdvice(False, None)) == {"stop": False, "wrong": None, "most_wrong": None, "n_open": 0}


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan])
def test_shares_of_rows_are_from_0_to_1(share):
    with pytest.raises(ValueError, match=r"^`wrong` is .* from 0 to 1\.$"):
        StopAdvice(False, share)
    with pytest.raises(ValueError, match=r"^`most_wrong` is .* from 0 to 1\.$"):
        StopAdvice(False, None, share)


def test_the_bound_is_not_below_the_expected_share():
    with pytest.raises(ValueError, match=r"`most_wrong` is 0\.1, and `wrong` is 0\.2"):
        StopAdvice(True, 0.2, 0.1)
    assert StopAdvice(True, 0.2, 0.2).most_wrong == 0.2


@pytest.mark.parametrize("number", [-1, 1.5, None, "3"])
def test_pairs_of_clusters_are_counted_by_a_whole_number(number):
    with pytest.raises(ValueError, match=r"`n_open` is .* an integer of at least 0"):
        StopAdvice(False, None, n_open=number)
