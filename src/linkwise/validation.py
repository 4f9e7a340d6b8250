"""What people hand to an estimator, checked: rows, constraints, random_state."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from linkwise.constraints.constraints import Constraints
from linkwise.errors import ConstraintWarning, DataError, short_repr

LARGEST = 1e150  # squares of larger values overflow, squares of smaller differences vanish


def resolve_seed(random_state: int | np.random.RandomState | None) -> int:
    """One integer from scikit-learn's kinds of random_state."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def check_rows(
    X: Any, estimator: BaseEstimator | None = None, *, sparse: bool = False, reset: bool = True
) -> Any:
    """X as floats; what cannot be clustered is named by its place.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    estimator : estimator, optional
        Who asks; its ``n_features_in_`` is set.
    sparse : bool
        Whether a sparse `X` will do.
    reset : bool
        False: `X` must have the features that the estimator was fitted to.

    Returns
    -------
    ndarray of shape (n_rows, n_features), C-contiguous, or CSR array with sorted indices
        Of float32 or float64.
    """
    name = "a session" if estimator is None else type(estimator).__name__
    if issparse(X) and not sparse:
        raise TypeError(f"X is sparse, but dense data is required by {name}; pass X.toarray()")
    check = check_array if estimator is None else partial(validate_data, estimator, reset=reset)
    form: dict[str, Any] = {"accept_sparse": "csr"} if issparse(X) else {"order": "C"}
    try:
        rows = check(X, dtype=[np.float64, np.float32], ensure_all_finite=False, **form)
    except (TypeError, ValueError) as error:
        if "Expected 2D array" in str(error):
            raise DataError(_describe_shape(X)) from None
        is_text = "could not convert string to float" in str(error)
        if isinstance(error, TypeError) and _is_linkwise_table(X):  # it names the way out itself
            raise
        if not (is_text or isinstance(error, TypeError) or "setting an array element" in str(error)):
            raise
        wrong = f"{_describe_non_number(X)}; encode it as numbers, for example by linkwise.data.encode"
        if is_text:
            raise DataError(wrong) from None
        raise TypeError(
            f"{wrong}. The argument must be a table of numbers, or of strings that are numbers"
        ) from None
    if issparse(rows):
        rows = _to_canonical(rows)
    _check_finite(rows)
    _check_range(rows)
    return rows


def _is_linkwise_table(X: object) -> bool:
    """Whether X is a Table, or what became of one, that refuses to be an array."""
    return hasattr(type(X), "__array__") and type(X).__module__.startswith("linkwise.")


def _describe_shape(X: Any) -> str:
    """What to do with numbers that are no table, which may be many: the message does not hold them."""
    shape = np.shape(X)
    way_out = "Reshape your data: numpy.reshape(X, (-1, 1)) for one column, or (1, -1) for one row"
    return (
        f"X is a {type(X).__name__} of shape {shape}, but a table of shape (n_rows, n_features) is needed. "
        f"{way_out if shape else 'Give a row of numbers for each thing to cluster'}."
    )


def _to_canonical(X: Any) -> csr_array:
    """CSR with sorted indices, each cell once and none of them 0; a copy where `X` is otherwise."""
    rows = csr_array(X)
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def _check_finite(rows: Any) -> None:
    if issparse(rows):
        at = np.flatnonzero(~np.isfinite(rows.data))
        wrong = np.column_stack([np.searchsorted(rows.indptr, at, side="right") - 1, rows.indices[at]])
    else:
        wrong = np.argwhere(~np.isfinite(rows))
    if len(wrong):
        row, column = wrong[0]
        raise DataError(
            f"X holds NaN/infinity: {len(wrong)} value(s), the first in row {row}, column {column}; "
            "impute or drop them"
        )


def _check_range(rows: Any) -> None:
    if issparse(rows):
        low, high = np.array([[rows.data.min(initial=0.0)], [rows.data.max(initial=0.0)]], dtype=np.float64)
    else:
        low, high = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
    largest, spread = float(np.maximum(-low, high).max()), float(np.max(high / 2 - low / 2)) * 2
    if largest > LARGEST or 0 < spread < 1 / LARGEST:
        raise DataError(
            f"X holds values up to {largest:.3g} that differ by up to {spread:.3g}, beyond what "
            "squared distances can hold; rescale X, for example to [0, 1]"
        )


def _describe_non_number(X: Any) -> str:
    """Where the first value stands that is no number."""
    table = isinstance(X, Iterable) and not isinstance(X, (str, bytes, Constraints))
    values = np.asarray(X, dtype=object) if table else np.empty(0)
    if values.ndim != 2:
        return f"X is {short_repr(X)}, not a table with rows of the same length"
    names = getattr(X, "columns", range(values.shape[1]))
    for name, column in zip(names, values.T, strict=True):
        for value in column:
            try:
                float(value)
            except (TypeError, ValueError):
                return f"column {name!r} of X holds {short_repr(value)}"
    return "X holds values that are no numbers"


def refuse_constraints_as_y(y: object) -> None:
    """Constraints that come as the second argument of `fit` would be ignored, as any `y` is."""
    if isinstance(y, Constraints):
        raise TypeError("the constraints came as y, which is ignored; name them: fit(X, constraints=...)")


def refuse_weights(sample_weight: object) -> None:
    """A score of constraints weighs these, not rows."""
    if sample_weight is not None:
        raise TypeError("score has no weights of rows; give weights to the constraints: must_link_weight=")


def check_constraints(constraints: object, X: Any) -> Constraints:
    """Constraints about the rows of X; empty ones for None."""
    n_rows = X.shape[0]
    if constraints is None:
        return Constraints(n_rows)
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints is a {type(constraints).__name__}; "
            "build it with linkwise.Constraints(len(X), must_link=[...], cannot_link=[...])"
        )
    if constraints.n_rows != n_rows:
        raise ValueError(f"the constraints are about {constraints.n_rows} rows, X has {n_rows}")
    same = np.flatnonzero(_find_identical(X, constraints.cannot_link))
    if len(same):
        a, b = constraints.cannot_link[same[0]]
        warnings.warn(
            f"rows {a} and {b} are required apart but identical in every feature ({len(same)} such "
            "pair(s)): no clustering of these features tells them apart",
            ConstraintWarning,
            stacklevel=3,
        )
    return constraints


_PAIRS_AT_ONCE = 10_000


def _find_identical(X: Any, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which pairs are of rows that are equal in every feature."""
    same = np.empty(len(pairs), dtype=bool)
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        i, j = pairs[start : start + _PAIRS_AT_ONCE].T
        if issparse(X):
            here = np.asarray(abs(X[i] - X[j]).sum(axis=1)).ravel() == 0
        else:
            here = (X[i] == X[j]).all(axis=1)
        same[start : start + _PAIRS_AT_ONCE] = here
    return same
