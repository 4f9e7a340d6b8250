"""Rows in files are no argument of a method: each says in a sentence how it takes them."""

from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from registry import CLUSTERERS, LEARNERS

FORMS = {
    "a path": "events/*.parquet",
    "a Path": Path("events"),
    "several paths": [Path("a.parquet"), Path("b.parquet")],
    "a function": lambda: iter([np.zeros((3, 2))]),
}
METHODS = [(entry.name, entry.make(2)) for entry in CLUSTERERS]
METHODS += [(entry.name, entry.make()) for entry in LEARNERS]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", [method for _, method in METHODS], ids=[name for name, _ in METHODS])
def test_every_method_names_the_way(method, form):
    with pytest.raises(TypeError, match=r"summary = linkwise\.summarize\(rows\), and give it summary\.X"):
        method.fit(FORMS[form])


def test_a_session_names_the_way():
    with pytest.raises(TypeError, match=r"^A session takes an array of rows, but X is 'events/"):
        lw.Session("events/*.parquet")
