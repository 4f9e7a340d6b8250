"""What the tests of the session share: small data, what is said, and all that a session shows."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

import linkwise as lw
from linkwise.learn.oracles import TruthOracle

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
WHY = [(0, 5), (0, 1), (3, 6), (12, 13), (7, 2)]  # pairs that every image explains
LEARNERS = {
    "COBRAS": lambda: lw.COBRAS(n_init=1, random_state=0),
    "COBRA": lambda: lw.COBRA(6, n_init=1, random_state=0),
    "KIN": lambda: lw.KIN(random_state=0),
}
ALL_LEARNERS = LEARNERS | {
    "MinMax": lambda: lw.MinMax(3, estimator="pckmeans", random_state=0),
    "ExploreConsolidate": lambda: lw.ExploreConsolidate(3, estimator="pckmeans", random_state=0),
    "NPU": lambda: lw.NPU(3, estimator="pckmeans", n_trees=3, random_state=0),
    "ActiveFeatureWeights": lambda: lw.ActiveFeatureWeights(3, max_evals=8, random_state=0),
    "ActiveCOBS": lambda: lw.ActiveCOBS(preset="quick", n_candidates=20, random_state=0),
}


def told(event):
    """An event without its time and its remarks; a confirmed answer says so, and one with a place has it."""
    compared = (getattr(event, field.name) for field in fields(event) if field.compare)
    number, kind, _, *rest, is_sure, place, gold, reliability, value = compared
    return (
        number,
        kind,
        *rest,
        *(["sure"] if is_sure else []),
        *([place] if place else []),
        *([] if value is None else [value]),
        *([gold] if gold else []),
        *([] if reliability is None else [reliability]),
    )


def present(session):
    """What is asked, and the clustering: all that the learner has made of what was said."""
    q = session.question
    return None if q is None else (q.first, q.second, q.why, q.expected), session.labels.tolist()


def asked_and_parted(session):
    """What is asked, and which rows are together, whatever the numbers of the clusters."""
    asked, labels = present(session)
    order = list(dict.fromkeys(labels))
    return asked, [order.index(label) for label in labels]


def image(session):
    """All that a session tells: what holds, the clustering, and what the learner says about both."""
    history = [(*told(e)[1:4], e.answer, e.facts, e.source, *remark(e)) for e in session.history]
    names = list(session.names.items())
    return present(session), session.status, session.constraints, history, names, learned(session)


def remark(event):
    """What stands beside an event, and does not count when events are compared."""
    return event.seconds, event.note, event.note_author


def learned(session):
    """What a session tells about the clustering: representatives, column shares, reasons, names, the end."""
    representatives, shares = session.representatives, session.column_shares
    return (
        None if representatives is None else representatives.tolist(),
        None if shares is None else shares.tolist(),
        [session.why(first, second) for first, second in WHY if max(first, second) < session.n_rows],
        session.cluster_names,
        session.cluster_shades,
        session.labels_are_current,
    )


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


def misplace(*screens, **options):
    """Four groups of ten rows, an answer that is right, and screens that have a card in a wrong pile."""
    X = np.random.default_rng(3).normal(size=(40, 2)) * 0.4
    X += np.repeat([[0, 0], [9, 0], [0, 9], [9, 9]], 10, 0)
    session = lw.Session(X, lw.KIN(random_state=0), **{"error_rate": 0.1} | options)
    for piles in ([[0, 1, 2, 3], [10, 11, 12, 13]], *screens):
        session.sort(piles, source="anna")
    return session


OF_ANOTHER_PILE = [[0, 6, 7, 16], [10, 17, 18]]
OF_NO_PILE = [[0, 6, 7, 16], [20, 21]]
ALONE = [[0, 8, 9], [2]]
