"""Moves of nodes between the clusters of a belief, with a table of all chances before each move."""

import numpy as np


def move_believed(
    inverse,
    net,
    count,
    pairs,
    label,
    n_moved,
    trust,
    power,
    unknown,
    doubt,
    margin,
    price,
    answers_price,
    most_moves,
):
    label, n_moved, n = label.copy(), n_moved.copy(), len(label)
    while True:
        names = list(dict.fromkeys(label.tolist()))  # in the order of their first nodes
        where = np.array([names.index(c) for c in label.tolist()])
        member = np.eye(len(names))[where]
        own, is_alone = member.astype(bool), member.sum(axis=0)[where] == 1
        score = np.maximum(member - (inverse @ member) / np.diag(inverse)[:, None], 0)
        score[is_alone[:, None] & own] = 0
        chance = np.column_stack([score, np.full(n, unknown)]) ** power
        chance /= chance.sum(axis=1, keepdims=True)
        if pairs is not None:
            mean = np.minimum(pairs @ member / np.maximum(member.sum(axis=0) - member, 1), 1 - 1e-6)
            odds = np.column_stack([mean / (1 - mean), np.ones(n)])
            share = trust[len(names)]
            chance = share * chance + (1 - share) * odds / odds.sum(axis=1, keepdims=True)
        places = np.log((1 - doubt) * chance + doubt / (len(names) + 1))
        places[:, :-1] += net @ member
        places[:, :-1][own & is_alone[:, None]] = -np.inf
        if n > 1:
            best = places[:, :-1].argmax(axis=1)
            inside = np.diag(member.T @ count @ member)[best] / 2
            more = np.where(best == where, 0, (count @ member)[np.arange(n), best])
            places[:, -1] -= np.minimum(price, answers_price * (inside + more))
        now = np.where(is_alone, places[:, -1], places[np.arange(n), where])
        places[:, :-1][own] = -np.inf
        places[is_alone, -1] = -np.inf
        gain = np.where(n_moved < most_moves, places.max(axis=1) - now, -np.inf)
        mover = gain.round(9).argmax()
        if not gain[mover] > margin:
            return label, n_moved
        to = places[mover].round(9).argmax()
        unused = next(c for c in range(n + 1) if c not in names)
        label[mover] = [*names, unused][to]
        n_moved[mover] += 1
