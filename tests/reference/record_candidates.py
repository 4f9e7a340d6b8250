"""Candidate pairs of records, from whole tables and sets of pairs."""

from __future__ import annotations

import numpy as np

from linkwise.learn.records import candidates as settings
from reference.sparse_products import column_work, largest_products


def views_of(records):
    yield "whole/letters", records.letters
    yield "whole/words", records.words
    texts = [column for column in records.columns if column.kind == "text"]
    for column in texts:
        if len(texts) > 1 and len(set(column.texts)) > settings.MANY_VALUES * len(records):
            yield column.name + "/letters", column.counts.letters


def rare_columns(table, block):
    work, budget = column_work(table, block), settings.WORK * len(table)
    is_rare = np.zeros(len(work), dtype=bool)
    for column in sorted(range(len(work)), key=lambda c: (work[c], c)):
        budget -= work[column]
        if budget < 0:
            break
        is_rare[column] = True
    return is_rare


def may_match(records, i, j):
    """Whether two rows are of one block and of different origins."""
    block, source = records.block, records.origin
    return (block is None or block[i] == block[j]) and (source is None or source[i] != source[j])


def chances_of(records, chance):
    words, letters = records.words.toarray().astype(float), records.letters.toarray().astype(float)
    return chance((words @ words.T + letters @ letters.T) / 2)


def copies_of(records):
    """Each record with the next copy that it may match, by source and row, and with the one before."""
    n = len(records)
    place = [(0 if records.origin is None else records.origin[i], i) for i in range(n)]
    pairs = set()
    for i in filter(records.whole.__getitem__, range(n)):
        alike = [j for j in range(n) if records.whole[j] == records.whole[i] and may_match(records, i, j)]
        after = [j for j in alike if place[j] > place[i]]
        before = [j for j in alike if place[j] < place[i]]
        others = [min(after, key=place.__getitem__)] if after else []
        others += [max(before, key=place.__getitem__)] if before else []
        pairs |= {(min(i, j), max(i, j)) for j in others}
    return pairs


def find_candidates(records, chance):
    """The pairs of views and copies if every row is in the sample, those in common beside them, and ranks."""
    n = len(records)
    chances = chances_of(records, chance)
    pairs, kept, total = set(), {}, 0.0
    for name, matrix in views_of(records):
        table = matrix.toarray()
        near = largest_products(
            table,
            rare_columns(table, records.block),
            np.arange(n),
            settings.MOST,
            records.block,
            records.origin,
        )
        listed = [[(min(i, j), max(i, j)) for j in row if j >= 0] for i, row in enumerate(near)]
        mass = np.zeros(settings.MOST)
        for row in listed:
            for rank, pair in enumerate(row):
                mass[rank] += 0 if pair in pairs else chances[pair]
        mass = np.maximum(mass - mass[-settings.TAIL :].mean(), 0)
        if kept and mass.sum() <= settings.LEFT * total:
            kept[name] = 0
            continue
        total += mass.sum()
        k = next((k for k in range(1, 65) if mass[:k].sum() > (1 - settings.LEFT) * mass.sum()), 1)
        kept[name] = min(max(k, settings.FEWEST), settings.MOST)
        near_enough = {pair for row in listed for pair in row[: kept[name]]}
        pairs |= {pair for pair in near_enough if chances[pair] > settings.LEAST_CHANCE}
    copies = copies_of(records)
    probable = {pair for pair in pairs | copies if chances[pair] > settings.PROBABLE}
    others = {i: {sum(pair) - i for pair in probable if i in pair} for i in range(n)}
    common = {
        (i, j)
        for near in others.values()
        if len(near) <= settings.MOST_PROBABLE
        for i in near
        for j in near
        if i < j and may_match(records, i, j)
    }
    return pairs | copies, common - pairs - copies, kept


def estimate_recall(records, found, chance):
    """The share of candidates, of a set of pairs, among the matches expected of the nearest whole records."""
    n, chances = len(records), chances_of(records, chance)
    expected, inside = np.zeros(settings.MOST), np.zeros(settings.MOST)
    near = [
        largest_products(
            table, np.ones(table.shape[1]), np.arange(n), settings.MOST, records.block, records.origin
        )
        for table in (records.words.toarray(), records.letters.toarray())
    ]
    for i, row in enumerate(np.hstack(near)):
        others = sorted(set(row[row >= 0]), key=lambda j: (-np.float32(chances[i, j]), j))
        for rank, j in enumerate(others[: settings.MOST]):
            expected[rank] += chances[i, j]
            inside[rank] += chances[i, j] * ((min(i, j), max(i, j)) in found)
    matches = np.maximum(expected - expected[-settings.TAIL :].mean(), 0)
    weighed = [m * one / all_ for m, one, all_ in zip(matches, inside, expected, strict=True) if m > 0]
    return sum(weighed) / matches.sum() if matches.any() else 1.0
