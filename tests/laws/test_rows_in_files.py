"""Rows in files are no argument of a method: each says in a sentence how it takes them.

Every clusterer can be fitted to a sample of them.
"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import linkwise as lw
from laws.clustering import blobs, breaking_is_told
from registry import CLUSTERERS, LEARNERS, each_clusterer

FORMS = (
    "events/*.parquet",
    Path("events"),
    [Path("a.parquet"), Path("b.parquet")],
    lambda: iter([np.zeros((3, 2))]),
)
METHODS = [(entry.name, entry.make(2)) for entry in CLUSTERERS]
METHODS += [(entry.name, entry.make()) for entry in LEARNERS]


@pytest.mark.parametrize("method", [method for _, method in METHODS], ids=[name for name, _ in METHODS])
def test_every_method_names_the_way(method):
    for form in FORMS:
        with pytest.raises(TypeError, match=r"summary = linkwise\.summarize\(rows\), and pass summary\.X"):
            method.fit(form)


def test_a_session_names_the_way():
    with pytest.raises(TypeError, match=r"^A session takes an array of rows, but X is 'events/"):
        lw.Session("events/*.parquet")


@each_clusterer
@pytest.mark.parametrize("n_sample", [30, 90])
def test_a_sample_decides_the_clusters_of_all_rows(entry, n_sample, tmp_path):
    X, y = blobs(90)
    rows, c = X.astype(np.float32), lw.Constraints.sample(y, 10, random_state=0)
    model = entry.make(3, random_state=0)
    with breaking_is_told():
        found = lw.cluster_rows(
            model, rows, must_link=c.must_link, cannot_link=c.cannot_link, n_sample=n_sample
        )
    found.write_labels(rows, tmp_path / "labels")
    labels = pl.read_parquet(tmp_path / "labels" / "*.parquet")["cluster"].to_numpy()
    np.testing.assert_array_equal(labels[found.constrained_rows], found.constrained_labels)
    if n_sample == len(rows):
        with breaking_is_told():
            fitted = model.fit(rows, constraints=c)
        np.testing.assert_array_equal(labels, fitted.labels_)
    else:
        rest = np.setdiff1d(np.arange(len(rows)), found._rule.numbers)
        np.testing.assert_array_equal(labels[rest], found.predict(rows[rest]))
