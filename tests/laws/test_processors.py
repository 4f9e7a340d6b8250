"""The same questions on every processor, although linear algebra is rounded differently on each."""

import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
CHILD = """
import csv
import sys
from pathlib import Path

from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import minmax_scale

import linkwise as lw
from linkwise.data import encode_texts
from linkwise.data.encoding.images import encode_files

docs = Path(sys.argv[1])
signs = encode_files(sorted((docs / "signs").glob("*.png")))[0].X
messages = encode_texts([row["message"] for row in csv.DictReader((docs / "messages.csv").open())]).X
wine, iris = (minmax_scale(load(return_X_y=True)[0]) for load in (load_wine, load_iris))
for name, X in (("signs", signs), ("wine", wine), ("messages", messages), ("iris", iris))[: int(sys.argv[2])]:
    for learner in (lw.KIN, lw.COBRAS, lw.MinMax, lw.ExploreConsolidate, lw.ActiveFeatureWeights):
        if learner is lw.ActiveFeatureWeights and len(X) < 2 * X.shape[1]:
            continue  # its proposals tie there: few rows in about as many dimensions
        def oracle(i, j):
            print(name, learner.__name__, i, j)
            return i % 3 == j % 3
        model = learner(random_state=0).fit(X, oracle=oracle, budget=12)
        print(model.labels_.tolist())
"""


@cache
def questions(core, n_sets):
    """What every learner asks about some data sets when OpenBLAS computes as on another processor."""
    settings = {} if core is None else {"OPENBLAS_CORETYPE": core}
    command = [sys.executable, "-c", CHILD, str(DOCS), str(n_sets)]
    return subprocess.run(
        command, env=os.environ | settings, capture_output=True, text=True, check=True
    ).stdout.splitlines()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names processors of this kind")
@pytest.mark.parametrize(
    ("core", "n_sets"),
    [
        ("Nehalem", 2),
        *(pytest.param(core, 4, marks=pytest.mark.slow(nightly=True)) for core in ("Nehalem", "Sandybridge")),
    ],
)
def test_every_processor_asks_the_same(core, n_sets):
    """Any processor of today can do what these did; the older one differs most from those of today."""
    assert len(questions(None, n_sets)) > 25 * n_sets
    assert questions(core, n_sets) == questions(None, n_sets)
