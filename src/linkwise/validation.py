"""Check the arguments of estimators: rows, constraints, random_state.

scikit-learn takes most of the time in which a command begins, so it is loaded only where it is used.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from linkwise.constraints.constraints import Constraints
from linkwise.errors import ConstraintWarning, DataError, short_repr
from linkwise.wording import count_noun

FLOATS = [np.float64, np.float32]
MAX_VALUE = 1e150  # squares of larger values overflow, squares of smaller differences vanish


def resolve_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return one integer for any random_state that scikit-learn accepts."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))


def is_estimator(model: object) -> bool:
    """Whether an object is an estimator as scikit-learn has them."""
    return hasattr(model, "get_params") and not isinstance(model, type)


def predicts_under_constraints(model: object) -> bool:
    """Whether a model is a clusterer that takes constraints, asks nothing, and assigns new rows."""
    from sklearn.utils.validation import has_fit_parameter

    asks = has_fit_parameter(model, "oracle")
    return hasattr(model, "predict") and has_fit_parameter(model, "constraints") and not asks


def check_rows(X: Any, estimator: Any = None, *, sparse: bool = False, reset: bool = True) -> Any:
    """Convert rows to C-contiguous floats, or CSR with sorted indices.

    An error names what cannot be clustered. The estimator gets its ``n_features_in_``, or with
    ``reset=False`` the rows must have the features that it was fitted to.
    """
    name = "a session" if estimator is None else type(estimator).__name__
    if _names_files(X):
        cluster = "cluster them by linkwise.cluster_rows(model, rows), or "
        advice = cluster if predicts_under_constraints(estimator) else ""
        raise TypeError(
            f"{name[0].upper()}{name[1:]} takes an array of rows, but X is {short_repr(X)}. Pass"
            f" linkwise.read(X). If the rows do not fit into memory, {advice}summarise them by"
            " summary = linkwise.summarize(rows), and pass summary.X."
        )
    if issparse(X) and not sparse:
        raise TypeError(
            f"X is sparse, but dense data is required by {name}. Pass X.toarray(), or set sparse_output=False"
            " in the step before, such as OneHotEncoder."
        )
    rows = X if estimator is None and _is_plain(X) else _convert(X, estimator, reset=reset)
    if issparse(rows):
        rows = _to_canonical(rows)
    _check_finite(rows, " Or pass linkwise.read(X), which fills gaps." if _is_frame(X) else "")
    _check_range(rows)
    return rows


def _is_plain(X: object) -> bool:
    """Whether X is a table of floats already, which needs no conversion."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.flags.c_contiguous and X.dtype in FLOATS


def _convert(X: Any, estimator: Any, *, reset: bool) -> Any:
    """Convert rows by scikit-learn; an error names what is no number."""
    from sklearn.utils.validation import check_array, validate_data

    check = check_array if estimator is None else partial(validate_data, estimator, reset=reset)
    form: dict[str, Any] = {"accept_sparse": "csr"} if issparse(X) else {"order": "C"}
    try:
        rows = check(X, dtype=FLOATS, ensure_all_finite=False, **form)
    except (TypeError, ValueError, OverflowError) as error:
        if "Complex data" in str(error):
            raise DataError("X: Complex data not supported. Pass numpy.hstack([X.real, X.imag]).") from None
        if "Feature names are only supported" in str(error):
            raise TypeError(_describe_names(X)) from None
        if "Expected 2D array" in str(error):
            raise DataError(_describe_shape(X)) from None
        is_text = "could not convert string to float" in str(error) or isinstance(error, OverflowError)
        if isinstance(error, TypeError) and _is_linkwise_table(X):  # its message says what to do
            raise
        if not (is_text or isinstance(error, TypeError) or "setting an array element" in str(error)):
            raise
        way = (
            "Pass linkwise.read(X), which turns dates, categories and texts into numbers"
            if _is_frame(X)
            else "Encode it as numbers"
        )
        wrong = f"{_describe_non_number(X)}. {way}."
        if is_text:
            raise DataError(wrong) from None
        if _is_frame(X):
            raise TypeError(wrong) from None
        raise TypeError(
            f"{wrong} The argument must be a table of numbers, or of strings that are numbers."
        ) from None
    return rows


def _names_files(X: object) -> bool:
    """Whether X names rows that `linkwise.summarize` reads, and holds none."""
    first = X[0] if isinstance(X, (list, tuple)) and X else X
    is_function = callable(X) and not hasattr(X, "shape") and not hasattr(X, "__array__")
    return is_function or isinstance(first, os.PathLike) or isinstance(X, str)


def _is_linkwise_table(X: object) -> bool:
    """Whether X is a table of `linkwise.data`, encoded or not, which cannot be converted to an array."""
    return hasattr(type(X), "__array__") and type(X).__module__.startswith("linkwise.")


def _is_frame(X: object) -> bool:
    """Whether X is a table with named columns."""
    return hasattr(X, "columns") or hasattr(X, "column_names")


def _describe_shape(X: Any) -> str:
    """Describe numbers that are not a table by their shape alone: there may be many."""
    shape = np.shape(X)
    advice = "Reshape your data: numpy.reshape(X, (-1, 1)) for one column, or (1, -1) for one row"
    return (
        f"X is a {type(X).__name__} of shape {shape}, but a table of shape (n_rows, n_features) is needed. "
        f"{advice if shape else 'Pass a row of numbers for each thing to cluster'}."
    )


def _to_canonical(X: Any) -> csr_array:
    """Convert to CSR with sorted indices, without duplicates or stored zeros; copy only if needed."""
    rows = csr_array(X)
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def _check_finite(rows: Any, way: str) -> None:
    if issparse(rows):
        at = np.flatnonzero(~np.isfinite(rows.data))
        wrong = np.column_stack([np.searchsorted(rows.indptr, at, side="right") - 1, rows.indices[at]])
    else:
        wrong = np.argwhere(~np.isfinite(rows))
    if len(wrong):
        row, column = wrong[0]
        raise DataError(
            f"X holds NaN/infinity: {count_noun(len(wrong), 'value')}, the first in row {row},"
            f" column {column}. Impute or drop them.{way}"
        )


def _check_range(rows: Any) -> None:
    if issparse(rows):
        low, high = np.array([[rows.data.min(initial=0.0)], [rows.data.max(initial=0.0)]], dtype=np.float64)
    else:
        low, high = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
    largest, spread = float(np.maximum(-low, high).max()), float(np.max(high / 2 - low / 2)) * 2
    if largest > MAX_VALUE or 0 < spread < 1 / MAX_VALUE:
        raise DataError(
            f"Squared distances of X are out of range: its values are up to {largest:.3g} and differ by up to"
            f" {spread:.3g}. Rescale X, for example to [0, 1]."
        )


def _describe_non_number(X: Any) -> str:
    """Describe the first value that is not a number and its place."""
    table = isinstance(X, Iterable) and not isinstance(X, (str, bytes, Constraints))
    table |= hasattr(X, "column_names")  # of pyarrow
    values = np.asarray(X, dtype=object) if table else np.empty(0)
    if values.ndim != 2:
        return f"X is not a table with rows of the same length: {short_repr(X)}"
    names = getattr(X, "column_names", getattr(X, "columns", range(values.shape[1])))
    for name, column in zip(names, values.T, strict=True):
        for value in column:
            try:
                float(value)
            except OverflowError:
                return f"Column {name!r} of X holds a number that is out of range: {short_repr(value)}"
            except (TypeError, ValueError):
                return f"Column {name!r} of X holds a value that is not a number: {short_repr(value)}"
    return "X holds values that are not numbers"


def _describe_names(X: Any) -> str:
    """Describe column names of which only some are texts."""
    names = list(X.columns)
    text = next(name for name in names if isinstance(name, str))
    other = next(name for name in names if not isinstance(name, str))
    return (
        f"Some columns of X are named by texts, such as {short_repr(text)}, and others are not, such as"
        f" {short_repr(other)}. Set X.columns = X.columns.astype(str)."
    )


def refuse_constraints_as_y(y: object) -> None:
    """Raise if constraints are the second positional argument of `fit`, which is ignored."""
    if isinstance(y, Constraints):
        raise TypeError(
            "The constraints were given as y, which is ignored. Pass them by name: fit(X, constraints=...)."
        )


def refuse_weights(sample_weight: object) -> None:
    """Raise if a score of constraints gets weights of rows."""
    if sample_weight is not None:
        raise TypeError("sample_weight is not used by score. Pass must_link_weight and cannot_link_weight.")


def check_constraints(constraints: object, X: Any) -> Constraints:
    """Return constraints between the rows of X, empty ones for None.

    Warn if identical rows are required apart.
    """
    checked = check_constraints_fit(constraints, X.shape[0])
    warn_of_identical(X, checked.cannot_link, stacklevel=4)
    return checked


def check_constraints_fit(constraints: object, n_rows: int) -> Constraints:
    """Check that constraints are about so many rows; none are the same as no pairs."""
    if constraints is None:
        return Constraints(n_rows)
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints is a {type(constraints).__name__}."
            " Build it with linkwise.Constraints(len(X), must_link=[...], cannot_link=[...])."
        )
    if constraints.n_rows != n_rows:
        raise ValueError(
            f"The constraints are about {constraints.n_rows} rows, but X has {n_rows}."
            " Build them with n_rows=len(X)."
        )
    return constraints


def warn_of_identical(
    X: Any, cannot_link: NDArray[np.int64], name: Callable[[int], str] = str, stacklevel: int = 3
) -> None:
    """Warn if a cannot-link separates rows that are identical; `name` names a row by its position."""
    same = np.flatnonzero(_find_identical(X, cannot_link))
    if len(same):
        a, b = (name(int(row)) for row in cannot_link[same[0]])
        warnings.warn(
            f"A cannot-link separates rows {a} and {b}, which are identical in every feature"
            f" ({count_noun(len(same), 'such pair')}). No clustering of these features can separate them.",
            ConstraintWarning,
            stacklevel=stacklevel,
        )


_PAIRS_AT_ONCE = 10_000


def _find_identical(X: Any, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Find the pairs of rows that are equal in every feature."""
    if len(pairs) <= X.shape[0]:
        return _compare_rows(X, pairs)
    key = _compute_row_keys(X)  # many pairs: most of them differ in their keys
    same: NDArray[np.bool_] = key[pairs[:, 0]] == key[pairs[:, 1]]
    same[same] = _compare_rows(X, pairs[same])
    return same


def _compute_row_keys(X: Any) -> NDArray[np.uint64]:
    """Compute a number of each row from its bits; equal rows have equal ones."""
    values = np.asarray(X.data if issparse(X) else X, dtype=np.float64) + 0.0  # -0.0 is 0.0
    bits = values.view(np.uint64)
    bits ^= bits >> np.uint64(32)
    factor = np.random.default_rng(0).integers(2**64, size=X.shape[1], dtype=np.uint64) | np.uint64(1)
    if issparse(X):
        sums = np.cumsum(bits * factor[X.indices], dtype=np.uint64)
        keys: NDArray[np.uint64] = np.diff(np.append(np.uint64(0), sums)[X.indptr])
    else:
        keys = (bits * factor).sum(axis=1, dtype=np.uint64)
    return keys


def _compare_rows(X: Any, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Compare both rows of each pair, feature by feature."""
    same = np.empty(len(pairs), dtype=bool)
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        i, j = pairs[start : start + _PAIRS_AT_ONCE].T
        if issparse(X):
            here = np.asarray(abs(X[i] - X[j]).sum(axis=1)).ravel() == 0
        else:
            here = (X[i] == X[j]).all(axis=1)
        same[start : start + _PAIRS_AT_ONCE] = here
    return same


def refuse_more_than_rows(n_clusters: int, n_rows: int) -> None:
    """Raise if `n_clusters` is above the number of rows."""
    if n_clusters > n_rows:
        raise DataError(
            f"n_samples={n_rows} should be >= n_clusters={n_clusters}. Pass more rows, or use fewer clusters."
        )
