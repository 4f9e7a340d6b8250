"""The twelve data sets of Okabe and Yamada (2018), as their Table 1 lists them.

UCI tables are used unscaled (the paper names no scaling) or with unit variance in each feature, texts as
tf-idf vectors of unit length. The shapes are clustered with a Gaussian kernel of local scales.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import scale

from bench.suites.tasks import encode_classes, read_classes_csv

Features = Literal["raw", "standardized"]
UCI = {"iris": 3, "ecoli": 8, "wdbc": 2, "sonar": 2, "glass": 6, "libras": 15}
TEXTS = {"tr11": 9, "tr12": 8, "tr23": 6}
SHAPES = {"flame": 2, "pathbased": 3, "spiral": 3}
CLUSTERS = {**UCI, **TEXTS, **SHAPES}


@dataclass(frozen=True, eq=False)
class Set:
    """Rows, classes, and the kernel under which the paper clusters them."""

    X: Any
    y: np.ndarray
    kernel: str


def names(folder: Path | None) -> list[str]:
    """The sets that this folder holds."""
    if folder is None:
        return []
    return [name for name in CLUSTERS if (folder / file_of(name)).exists()]


def file_of(name: str) -> str:
    return f"{name}.npz" if name in TEXTS else f"{name}.csv"


@cache
def load(name: str, features: Features, folder: Path) -> Set:
    """A set, prepared; kept for the rest of the process."""
    if name in TEXTS:
        return Set(*texts(folder / file_of(name)), "linear")
    X, classes, columns = read_classes_csv(folder / file_of(name))
    X = X[:, [at for at, column in enumerate(columns) if column != "id"]]
    if features == "standardized":
        X = scale(X)
    return Set(np.ascontiguousarray(X), encode_classes(classes), "rbf" if name in SHAPES else "linear")


def texts(path: Path) -> tuple[csr_array, np.ndarray]:
    """Counts of words by tf-idf, every row at unit length."""
    counts, classes = read_counts(path)
    return csr_array(TfidfTransformer().fit_transform(counts)), classes


def read_counts(path: Path) -> tuple[csr_array, np.ndarray]:
    """Counts of words, and classes."""
    with np.load(path) as held:
        parts = tuple(held[name] for name in ("data", "indices", "indptr"))
        counts = csr_array(parts, shape=tuple(held["shape"]), dtype=np.float64)
        return counts, encode_classes(held["y"])
