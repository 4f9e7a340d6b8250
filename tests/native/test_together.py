"""Pairs that clusterings put together, as bits, and the weights that join them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise import native
from reference import kernels as twin


def drawn(n_clusterings, n_rows, n_pairs, seed):
    """Labels, pairs and weights."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, rng.integers(1, 5), (n_clusterings, n_rows), dtype=np.int16)
    first, second = rng.integers(0, n_rows, (2, n_pairs), dtype=np.int32)
    weights = rng.integers(0, 2**48, n_clusterings) * (rng.random(n_clusterings) < rng.random())
    return labels, first, second, weights


# blocks of pairs are 2048 long, bytes are added by fours: sizes on both sides of these
@settings(deadline=None)
@given(
    st.integers(1, 100),
    st.integers(1, 40),
    st.integers(1, 60) | st.sampled_from([2047, 2048, 2049, 5000]),
    st.integers(0, 2**32 - 1),
)
def test_the_kernels_equal_their_twins(n_clusterings, n_rows, n_pairs, seed):
    labels, first, second, weights = drawn(n_clusterings, n_rows, n_pairs, seed)
    bits = native.pack_together(labels, first, second, 1)
    np.testing.assert_array_equal(bits, twin.pack_together(labels, first, second))
    together = labels[:, first] == labels[:, second]
    unpacked = np.unpackbits(bits, axis=0, bitorder="little")
    np.testing.assert_array_equal(unpacked[:n_clusterings], together)
    assert not unpacked[n_clusterings:].any()
    sums = native.weighted_together(bits, weights, 1)
    np.testing.assert_array_equal(sums, twin.weighted_together(bits, weights))
    np.testing.assert_array_equal(sums, weights @ together.astype(np.int64))


def test_any_number_of_threads_gives_the_same():
    labels, first, second, weights = drawn(701, 300, 40_000, 0)
    bits = native.pack_together(labels, first, second, 1)
    np.testing.assert_array_equal(bits, native.pack_together(labels, first, second, 3))
    np.testing.assert_array_equal(
        native.weighted_together(bits, weights, 1), native.weighted_together(bits, weights, 3)
    )


@pytest.mark.parametrize("how_many", [1, 8, 9])
def test_sums_beyond_64_bits_wrap_as_numpy_s_do(how_many):
    labels, pair = np.zeros((how_many, 2), np.int16), np.array([0, 1], np.int32)
    bits = native.pack_together(labels, pair[:1], pair[1:], 1)
    weights = np.full(how_many, 2**62)
    assert native.weighted_together(bits, weights, 1).tolist() == [weights.sum()]
    assert native.weighted_together(bits, -weights, 1).tolist() == [-weights.sum()]


LABELS, ROWS = np.zeros((9, 4), np.int16), np.zeros(3, np.int32)
BITS, WEIGHTS = np.zeros((2, 3), np.uint8), np.zeros(9, np.int64)


def pack(labels, first, second, n_threads=1):
    return native.pack_together(labels, first, second, n_threads)


def weigh(bits, weights, n_threads=1):
    return native.weighted_together(bits, weights, n_threads)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: pack(LABELS.astype("i4"), ROWS, ROWS), TypeError, "labels .* int16"),
        (lambda: pack(LABELS.T, ROWS, ROWS), ValueError, "labels must be C-contiguous"),
        (lambda: pack(LABELS[:0], ROWS, ROWS), ValueError, r"labels .* \(0, 4\)"),
        (lambda: pack(LABELS, ROWS.astype("i8"), ROWS), TypeError, "first .* int32"),
        (lambda: pack(LABELS, ROWS[:0], ROWS[:0]), ValueError, r"first .* \(≥1\)"),
        (
            lambda: pack(LABELS, ROWS, ROWS[:2]),
            ValueError,
            r"second .* \(3\), got \(2,\)",
        ),
        (
            lambda: pack(LABELS, ROWS, ROWS + 4),
            ValueError,
            r"second holds 4 to 4\. Pass 0 to 3",
        ),
        (lambda: pack(LABELS, ROWS - 1, ROWS), ValueError, "first holds -1 to -1"),
        (lambda: pack(LABELS, ROWS, ROWS, 0), ValueError, "n_threads must be at least 1"),
        (lambda: weigh(BITS, WEIGHTS[:8]), ValueError, r"bits .* \(1, ≥1\), got"),
        (lambda: weigh(BITS[:, :0], WEIGHTS), ValueError, r"bits .* got \(2, 0\)"),
        (
            lambda: weigh(BITS[:, ::2], WEIGHTS),
            ValueError,
            "bits must be C-contiguous",
        ),
        (lambda: weigh(BITS > 0, WEIGHTS), TypeError, "bits .* uint8, got .* bool"),
        (lambda: weigh(BITS, WEIGHTS / 2), TypeError, "weights .* int64, got"),
        (
            lambda: weigh(BITS, WEIGHTS[:0]),
            ValueError,
            r"weights .* \(≥1\), got \(0,\)",
        ),
        (lambda: weigh(BITS, WEIGHTS, 0), ValueError, "n_threads must be at least 1"),
    ],
)
def test_bad_arguments_raise_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()
