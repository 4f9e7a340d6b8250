"""Labelled data sets: those that come with scikit-learn, and those of OpenML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError

BUNDLED = ("iris", "wine", "breast_cancer", "digits")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with known groups.

    Attributes
    ----------
    name : str
        Name of the data set.
    X : ndarray of shape (n_rows, n_features), float64
        The rows as the source has them, not scaled.
    y : ndarray of shape (n_rows,), int64
        Group of each row, from 0.
    names : tuple of str
        Name of each feature.
    label_names : tuple of str
        Name of each group.
    images : ndarray of shape (n_rows, height, width), or None
        The rows as pictures, if they are pictures.
    source : str
        The source of the data.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    names: tuple[str, ...]
    label_names: tuple[str, ...]
    images: NDArray[np.float64] | None
    source: str


def load(name: str) -> Dataset:
    """Load a data set that comes with scikit-learn; no network is needed.

    Parameters
    ----------
    name : {"iris", "wine", "breast_cancer", "digits"}
        Name of the data set.

    Returns
    -------
    Dataset
        Its rows and groups.

    Raises
    ------
    DataError
        The name is unknown.

    Examples
    --------
    >>> load("iris").X.shape
    (150, 4)
    """
    if name not in BUNDLED:
        raise DataError(
            f"There is no bundled data set {name!r}. Pass one of {', '.join(BUNDLED)}, or get one from OpenML"
            " with datasets.fetch(name)."
        )
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    return Dataset(
        name,
        np.ascontiguousarray(bunch.data, dtype=np.float64),
        np.asarray(bunch.target, dtype=np.int64),
        tuple(str(feature) for feature in bunch.feature_names),
        tuple(str(label) for label in bunch.target_names),
        bunch.images.astype(np.float64) if "images" in bunch else None,
        f"scikit-learn, load_{name}",
    )


def fetch(name: str, *, version: int = 1, data_home: str | None = None) -> Dataset:
    """Download a data set from OpenML with scikit-learn, which stores a copy on disk.

    Parameters
    ----------
    name : str
        Name of the data set at OpenML.
    version : int, default=1
        Version of the data set at OpenML.
    data_home : str, optional
        Folder for the copy; scikit-learn's own by default.

    Returns
    -------
    Dataset
        Its rows and groups; missing values are NaN.

    Raises
    ------
    DataError
        OpenML has no such data set, or it has no groups, or a column is not numeric.
    OSError
        The network or OpenML cannot be reached.
    """
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(name, version=version, data_home=data_home, as_frame=True, parser="liac-arff")
    except OSError:  # an HTTPError is an OSError and a ValueError
        raise
    except ValueError as error:
        raise DataError(f"OpenML returned no data set {name!r} in version {version}: {error}") from error
    if bunch.target is None or getattr(bunch.target, "ndim", 1) != 1:
        raise DataError(
            f"OpenML's {name!r} (version {version}) has no single column of groups."
            " Get it with sklearn.datasets.fetch_openml."
        )
    label_names, y = np.unique(np.asarray(bunch.target, dtype=str), return_inverse=True)
    return Dataset(
        name,
        _to_numbers(bunch.data, name),
        y.astype(np.int64),
        tuple(str(feature) for feature in bunch.feature_names),
        tuple(str(label) for label in label_names),
        None,
        f"OpenML, {name}, version {version}",
    )


def _to_numbers(frame: Any, name: str) -> NDArray[np.float64]:
    """Convert all columns to float64; raise if one is not numeric."""
    for column in frame.columns:
        if frame[column].dtype.kind not in "biuf":
            raise DataError(
                f"Column {column!r} of OpenML's {name!r} is not numeric: it holds {frame[column].iloc[0]!r}."
                " Get it with sklearn.datasets.fetch_openml and use linkwise.data.from_frame."
            )
    return np.ascontiguousarray(frame.to_numpy(), dtype=np.float64)


def scale_to_unit(X: NDArray[Any]) -> NDArray[np.float64]:
    """Scale every column to [0, 1]; a constant column becomes 0.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.

    Returns
    -------
    ndarray of shape (n_rows, n_features), float64
        The scaled rows.
    """
    spread = np.ptp(X, axis=0)
    return np.asarray((X - X.min(axis=0)) / np.where(spread > 0, spread, 1.0))
