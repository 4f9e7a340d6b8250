"""Labelled data sets: those that come with scikit-learn, and any of OpenML's when asked for."""

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
    X : ndarray of shape (n_rows, n_features), float64
        As the source gives it, not scaled.
    y : ndarray of shape (n_rows,), int64
        Group of each row, from 0.
    names : tuple of str
        Name of each feature.
    label_names : tuple of str
        Name of each group.
    images : ndarray of shape (n_rows, height, width), or None
        The rows as pictures, where they are such.
    source : str
        Where the data come from.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    names: tuple[str, ...]
    label_names: tuple[str, ...]
    images: NDArray[np.float64] | None
    source: str


def load(name: str) -> Dataset:
    """Load a data set that comes with scikit-learn; needs no network.

    Parameters
    ----------
    name : {"iris", "wine", "breast_cancer", "digits"}

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        Unknown name.
    """
    if name not in BUNDLED:
        raise DataError(
            f"There is no bundled data set {name!r}; there are {', '.join(BUNDLED)}."
            " datasets.fetch(name) gets one from OpenML."
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
    """Get a data set from OpenML over the network, through scikit-learn, which keeps a copy on disk.

    Parameters
    ----------
    name : str
        OpenML's name for it.
    version : int, default=1
        OpenML's version of it.
    data_home : str, optional
        Folder for the copy; by default scikit-learn's own.

    Returns
    -------
    Dataset
        Missing values stay NaN.

    Raises
    ------
    DataError
        OpenML has no such data set, or it has no groups or columns that are not numbers.
    OSError
        The network or OpenML cannot be reached.
    """
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(name, version=version, data_home=data_home, as_frame=True, parser="liac-arff")
    except OSError:  # HTTPError is among both kinds
        raise
    except ValueError as error:
        raise DataError(f"OpenML gives no data set {name!r} in version {version}: {error}") from error
    if bunch.target is None or getattr(bunch.target, "ndim", 1) != 1:
        raise DataError(f"OpenML's {name!r} (version {version}) has no single column of groups.")
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
    """All columns as float64, refused where one holds something else."""
    for column in frame.columns:
        if frame[column].dtype.kind not in "biuf":
            raise DataError(
                f"Column {column!r} of OpenML's {name!r} holds no numbers,"
                f" such as {frame[column].iloc[0]!r}."
                " Get it with sklearn.datasets.fetch_openml and use linkwise.data.from_frame."
            )
    return np.ascontiguousarray(frame.to_numpy(), dtype=np.float64)


def scale_to_unit(X: NDArray[Any]) -> NDArray[np.float64]:
    """Every column from 0 to 1, constant ones 0; pixels share one scale already and keep it."""
    spread = np.ptp(X, axis=0)
    return np.asarray((X - X.min(axis=0)) / np.where(spread > 0, spread, 1.0))
