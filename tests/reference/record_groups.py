"""Groups of records by the log-odds of their pairs, from tables of all pairs of rows."""

from __future__ import annotations

import numpy as np


def group_by_log_odds(n, first, second, weight, answer, missing, source=None, *, growth):
    """Merge the two groups of the highest score while it is positive; note the decision about each pair."""
    odds, answers = np.full((n, n), missing), np.zeros((n, n))
    for i, j, w, a in zip(first, second, weight, answer, strict=True):
        odds[i, j] = odds[j, i] = w
        answers[i, j] = answers[j, i] = a
    bonus = np.cumsum([0.0, 0.0, *(growth / size for size in range(2, n + 1))])
    groups = [[i] for i in range(n)]
    decision, weight_of = np.zeros((n, n)), np.ones((n, n))

    def score(A, B):
        said = answers[np.ix_(A, B)].sum()
        found = odds[np.ix_(A, B)].sum() / (len(A) * len(B)) + said
        share = source is not None and {source[i] for i in A if source[i] >= 0} & {source[i] for i in B}
        if found > 0 and said < 30 and share:
            return -30.0
        return found + (bonus[len(A)] + bonus[len(B)]) if found > 0 else found

    def note(A, B):
        decision[np.ix_(A, B)] = decision.T[np.ix_(A, B)] = score(A, B)
        weight_of[np.ix_(A, B)] = weight_of.T[np.ix_(A, B)] = len(A) * len(B)

    while True:
        places = [(a, b) for a in range(len(groups)) for b in range(a + 1, len(groups))]
        best = max(places, key=lambda place: score(groups[place[0]], groups[place[1]]), default=None)
        if best is None or score(groups[best[0]], groups[best[1]]) <= 0:
            break
        a, b = best
        note(groups[a], groups[b])
        groups[a] = sorted(groups[a] + groups.pop(b))  # the groups stay in the order of their lowest rows
    for a, b in places:
        note(groups[a], groups[b])
    labels = np.empty(n, np.int64)
    for label, rows in enumerate(groups):
        labels[rows] = label
    return labels, decision[first, second], weight_of[first, second]
