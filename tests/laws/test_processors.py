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
for name, X in (("signs", signs), ("messages", messages), ("wine", wine), ("iris", iris)):
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
def questions(core):
    """What every learner asks about four data sets when OpenBLAS computes as on another processor."""
    settings = {} if core is None else {"OPENBLAS_CORETYPE": core}
    command = [sys.executable, "-c", CHILD, str(DOCS)]
    return subprocess.run(
        command, env=os.environ | settings, capture_output=True, text=True, check=True
    ).stdout.splitlines()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names processors of this kind")
@pytest.mark.parametrize(
    "core", ["Nehalem", pytest.param("Sandybridge", marks=pytest.mark.slow(nightly=True))]
)
def test_every_processor_asks_the_same(core):
    """Any processor of today can do what these did; the older one differs most from those of today."""
    assert len(questions(None)) > 100
    assert questions(core) == questions(None)
