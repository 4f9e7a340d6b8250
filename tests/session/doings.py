"""What the tests of the session share: small data, what is said, and all that a session shows."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np

import linkwise as lw
from linkwise.learner import TruthOracle

N_ROWS = 14


def blobs(n_rows=N_ROWS, n_classes=3, seed=0, n_columns=2):
    """Rows of a few groups that overlap, two of them identical, and their groups."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_classes, n_columns))[y] * 3 + rng.normal(size=(n_rows, n_columns))
    X[-1] = X[-2]
    return X, y


X, Y = blobs()
TRUTH = TruthOracle(Y)
LEARNERS = {
    "COBRAS": lambda: lw.COBRAS(n_init=1, random_state=0),
    "COBRA": lambda: lw.COBRA(6, n_init=1, random_state=0),
    "KIN": lambda: lw.KIN(random_state=0),
}


def told(event):
    """An event without the time at which it happened."""
    number, kind, _, *rest = astuple(event)
    return number, kind, *rest


def present(session):
    """What is asked, and the clustering: all that the learner has made of what was said."""
    q = session.question
    return None if q is None else (q.first, q.second, q.why), session.labels.tolist()


def image(session):
    """All that a session shows of what holds."""
    history = [(*told(e)[1:4], e.answer, e.facts, e.source) for e in session.history]
    return present(session), session.status, session.constraints, history, list(session.names.items())


def answer_by(session, oracle, n=None):
    """Answer `n` questions, or all; returns the pairs."""
    asked = []
    while (n is None or len(asked) < n) and (q := session.question) is not None:
        session.answer(oracle(q.first, q.second))
        asked.append((q.first, q.second))
    return asked


def true_pairs(pairs, y=Y):
    """Constraints of a data set: the given pairs as the classes have them."""
    same = [(i, j) for i, j in pairs if y[i] == y[j]]
    return lw.Constraints(len(y), same, [(i, j) for i, j in pairs if y[i] != y[j]])
