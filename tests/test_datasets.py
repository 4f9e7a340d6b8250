"""Labelled sets: those on board, and the way to OpenML without going there."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from linkwise import datasets
from linkwise.errors import DataError

SIZES = {"iris": (150, 4, 3), "wine": (178, 13, 3), "breast_cancer": (569, 30, 2), "digits": (1797, 64, 10)}


def test_every_bundled_set_is_tested():
    assert set(SIZES) == set(datasets.BUNDLED)


@pytest.mark.parametrize("name", SIZES)
def test_load(name):
    data = datasets.load(name)
    n_rows, n_features, n_labels = SIZES[name]
    theirs = getattr(sklearn.datasets, f"load_{name}")()
    np.testing.assert_array_equal(data.X, theirs.data)
    np.testing.assert_array_equal(data.y, theirs.target)
    assert data.X.shape == (n_rows, n_features)
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert data.y.dtype == np.int64
    assert len(data.names) == n_features
    assert len(data.label_names) == n_labels == len(np.unique(data.y))
    assert all(isinstance(text, str) for text in (*data.names, *data.label_names, data.source))
    assert data.name == name


def test_images():
    digits = datasets.load("digits")
    assert digits.images.shape == (1797, 8, 8)
    np.testing.assert_array_equal(digits.images.reshape(1797, 64), digits.X)
    assert datasets.load("iris").images is None


def test_unknown_name():
    with pytest.raises(DataError, match=r"'irises'\. Pass one of iris, wine, breast_cancer, digits"):
        datasets.load("irises")


def stand_in(monkeypatch, answer):
    def fetch_openml(name, **how):
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)


def bunch(data, target):
    return Bunch(data=data, target=target, feature_names=list(data.columns))


def test_fetch(monkeypatch):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, np.nan, 1.5]})
    stand_in(monkeypatch, bunch(frame, pd.Series(["q", "p", "q"], dtype="category")))
    data = datasets.fetch("thing", version=2)
    np.testing.assert_array_equal(data.X, [[1, 0.5], [2, np.nan], [3, 1.5]])
    np.testing.assert_array_equal(data.y, [1, 0, 1])
    assert data.label_names == ("p", "q")
    assert data.names == ("a", "b")
    assert data.source == "OpenML, thing, version 2"


def test_fetch_rejects_data_it_cannot_use(monkeypatch):
    numbers = pd.DataFrame({"a": [1, 2]})
    stand_in(monkeypatch, bunch(pd.DataFrame({"a": ["x", "y"]}), pd.Series([0, 1])))
    with pytest.raises(DataError, match="Column 'a' of OpenML's 'thing' is not numeric: it holds 'x'"):
        datasets.fetch("thing")
    stand_in(monkeypatch, bunch(numbers, None))
    with pytest.raises(DataError, match="no single column of groups"):
        datasets.fetch("thing")
    stand_in(monkeypatch, bunch(numbers, pd.DataFrame({"p": [1, 2], "q": [1, 2]})))
    with pytest.raises(DataError, match="no single column of groups"):
        datasets.fetch("thing")
    stand_in(monkeypatch, ValueError("no such thing"))
    with pytest.raises(DataError, match="no data set 'thing' in version 1: no such thing"):
        datasets.fetch("thing")


def test_fetch_passes_network_errors_on(monkeypatch):
    stand_in(monkeypatch, ConnectionError("no way out"))
    with pytest.raises(ConnectionError):
        datasets.fetch("thing")


@pytest.mark.slow
def test_importing_brings_no_heavy_packages():
    code = (
        "import sys, linkwise.data, linkwise.datasets;"
        "print(sorted({'polars', 'pandas', 'narwhals', 'sklearn', 'scipy'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
