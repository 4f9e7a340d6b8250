"""Subnormal numbers are 0 where that is asked for, and only there."""

import platform
from contextlib import nullcontext, suppress

import numpy as np
import pytest

from linkwise import native
from linkwise.learn.kin import kernels

KNOWN = platform.machine().lower() in ("x86_64", "amd64", "aarch64", "arm64")


def product():
    small = np.full(100, 1e-20, dtype=np.float32)
    return float((small * small).max())


@pytest.mark.skipif(not KNOWN, reason="another kind of processor")
def test_subnormals_are_zero_within_and_not_after():
    with suppress(KeyError), native.subnormals_as_zero():
        with native.subnormals_as_zero():
            assert product() == 0
        assert product() == 0
        raise KeyError
    assert product() > 0


def test_kernels_of_one_column_are_the_same_with_and_without(monkeypatch):
    views = kernels.make_views(np.random.default_rng(0).normal(size=(300, 1)))
    quick = kernels.make_kernels(views, 0)
    monkeypatch.setattr(native, "subnormals_as_zero", nullcontext)
    slow = kernels.make_kernels(views, 0)
    np.testing.assert_allclose(quick.mean, slow.mean, rtol=1e-5, atol=1e-30)
    for one, other in zip(quick.families, slow.families, strict=True):
        np.testing.assert_array_equal(one, other)
