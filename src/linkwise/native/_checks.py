"""Check the arguments of wrappers: types, shapes, and positions in other arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def check_row_array(X: NDArray[Any]) -> None:
    if not isinstance(X, np.ndarray) or X.dtype not in FLOATS:
        raise TypeError(
            f"X must be a NumPy array of float32 or float64, got {describe_value(X)}. "
            "Convert it with np.ascontiguousarray(X, dtype=np.float64)."
        )
    check_layout("X", X, (None, None))


def check_array(
    name: str, array: NDArray[Any], shape: tuple[int | None, ...], dtype: type = np.float64
) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        wanted = np.dtype(dtype).name
        raise TypeError(
            f"{name} must be a NumPy array of {wanted}, got {describe_value(array)}. "
            f"Convert it with np.ascontiguousarray({name}, dtype=np.{wanted})."
        )
    check_layout(name, array, shape)


def check_layout(name: str, array: NDArray[Any], shape: tuple[int | None, ...]) -> None:
    """Check shape and layout; None in `shape` means any length above 0."""
    fits = array.shape == shape  # at once, since short calls are many
    if not fits and array.ndim == len(shape):
        fits = all(
            have == want or (want is None and have > 0) for have, want in zip(array.shape, shape, strict=True)
        )
    if not fits:
        wanted = ", ".join("≥1" if want is None else str(want) for want in shape)
        raise ValueError(f"{name} must have shape ({wanted}), got {array.shape}")
    flags = array.flags
    if not flags.c_contiguous or not flags.aligned:
        raise ValueError(f"{name} must be C-contiguous. Copy it with np.ascontiguousarray({name}).")


def check_writable(name: str, array: NDArray[Any]) -> None:
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only. Pass a writable array.")


def check_range(name: str, values: NDArray[Any], low: int, high: int) -> None:
    """Check positions: native code would read and write beyond its arrays."""
    if values.size and not low <= int(values.min()) <= int(values.max()) <= high:
        raise ValueError(f"{name} holds {values.min()} to {values.max()}. Pass {low} to {high}.")


def check_weight(weight: NDArray[np.int64] | None, X: NDArray[Any]) -> None:
    if weight is not None:
        check_array("weight", weight, (X.shape[0],), np.int64)


def check_stop(max_iter: int, n_threads: int) -> None:
    check_count("max_iter", max_iter)
    check_count("n_threads", n_threads)


def check_count(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")


def describe_value(value: object) -> str:
    return f"an array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
