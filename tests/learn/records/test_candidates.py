"""Candidates: against whole tables, and on records that are hard to search."""

from __future__ import annotations

from dataclasses import replace

import narwhals as nw
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference.record_candidates as reference
from linkwise.learn.records import candidates as module
from linkwise.learn.records.candidates import CandidatePairs, estimate_recall, find_candidates
from linkwise.learn.records.records import Counts, Records, make_records

SYLLABLES = ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu"]


def chance(cosine):
    """Rises steeply, so that some pairs are almost certain and others have almost no chance."""
    return 1 / (1 + np.exp(6 - 14 * np.asarray(cosine)))


def records_of(columns: dict, **options: str) -> Records:
    frame = pl.DataFrame(columns)
    return make_records(nw.from_native(frame), frame.columns, **options)


def pairs_of(found: CandidatePairs) -> list[tuple[int, int]]:
    return list(zip(found.first.tolist(), found.second.tolist(), strict=True))


@st.composite
def tables(draw):
    """Names and places with errors, some of them missing; perhaps origins, and a column that must agree."""
    n, n_names = draw(st.integers(2, 90)), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))

    def make_words(count):
        return ["".join(rng.choice(SYLLABLES, rng.integers(1, 4))) for _ in range(count)]

    names = [" ".join(make_words(rng.integers(1, 4))) for _ in range(n_names)]
    places = make_words(draw(st.integers(1, 40)))
    columns = {"name": list(rng.choice(names, n)), "place": list(rng.choice(places, n))}
    for i in np.flatnonzero(rng.random(n) < 0.3):
        columns["name"][i] = columns["name"][i].replace(*rng.choice(SYLLABLES, 2))
    for name in columns:
        for i in np.flatnonzero(rng.random(n) < 0.1):
            columns[name][i] = None
    columns["mark"] = [f"row {i}" if i % 5 == 0 else "row" for i in range(n)]
    options = {}
    if draw(st.booleans()):
        columns["shop"], options["origin"] = rng.choice(["north", "south", None], n).tolist(), "shop"
    if draw(st.booleans()):
        columns["year"], options["same"] = rng.choice([1, 2, None], n).tolist(), "year"
    return records_of(columns, **options)


@settings(deadline=None, max_examples=40)
@given(tables())
def test_candidates_are_those_of_the_whole_tables(records):
    found = find_candidates(records, chance, seed=0)
    near, common, kept = reference.find_candidates(records, chance)
    assert found.kept == kept
    pairs = pairs_of(found)
    assert pairs == sorted(set(pairs))
    assert set(pairs) >= near
    if len(common) <= module.MOST_COMMON * len(records):
        assert set(pairs) == near | common
    else:
        assert set(pairs) - near < common
        assert len(pairs) == len(near) + module.MOST_COMMON * len(records)


@given(tables())
@settings(deadline=None, max_examples=20)
def test_only_pairs_that_may_match_are_candidates(records):
    assert all(
        reference.may_match(records, i, j) for i, j in pairs_of(find_candidates(records, chance, seed=0))
    )


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(SYLLABLES, 3)) + " " + "".join(rng.choice(SYLLABLES, 4)) for _ in range(3000)]
    names += [name[:-1] for name in names[:1000]]
    return records_of({"name": names, "shop": ["north"] * 3000 + ["south"] * 1000}, origin="shop")


def test_names_with_an_error_are_found_among_many(people):
    found = set(pairs_of(find_candidates(people, chance, seed=0)))
    assert np.mean([(i, i + 3000) in found for i in range(1000)]) > 0.99
    assert len(found) < 40 * len(people)


def test_the_number_of_threads_changes_nothing(people, use_threads):
    found = []
    for n_threads in (1, 3):
        use_threads(n_threads)
        found.append(find_candidates(people, chance, seed=0))
    assert pairs_of(found[0]) == pairs_of(found[1])


def test_work_and_ranks_are_limited(people, monkeypatch):
    monkeypatch.setattr(module, "WORK", 50)
    monkeypatch.setattr(module, "MOST", 8)
    monkeypatch.setattr(module, "MOST_COMMON", 0)
    found = find_candidates(people, chance, seed=0)
    assert max(found.kept.values()) <= 8
    assert len(found) <= len(people) * (1 + sum(found.kept.values()))
    assert reference.rare_columns(people.letters.toarray(), None).sum() < people.letters.shape[1]


def thin_out(found: CandidatePairs, share: float) -> CandidatePairs:
    """Some of the candidates, drawn at random."""
    some = np.random.default_rng(1).random(len(found)) < share
    return CandidatePairs(found.first[some], found.second[some], found.kept)


@settings(deadline=None, max_examples=30)
@given(tables(), st.floats(0, 1))
def test_the_estimate_of_recall_is_that_of_the_whole_tables(records, share):
    found = thin_out(find_candidates(records, chance, seed=0), share)
    expected = reference.estimate_recall(records, set(pairs_of(found)), chance)
    assert estimate_recall(records, found, chance, seed=0) == pytest.approx(expected, abs=1e-5)


def test_recall_is_estimated_from_a_sample(people):
    found = find_candidates(people, chance, seed=0)
    for share in (1.0, 0.6, 0.0):
        some = thin_out(found, share)
        pairs = set(pairs_of(some))
        recall = np.mean([(i, i + 3000) in pairs for i in range(1000)])
        assert estimate_recall(people, some, chance, seed=0) == pytest.approx(recall, abs=0.05)


def test_recall_is_1_where_no_match_is_expected():
    records = records_of({"name": ["ann", "bob", "cat"]})
    none = CandidatePairs(np.empty(0, np.int64), np.empty(0, np.int64), {})
    assert estimate_recall(records, none, np.zeros_like, seed=0) == 1


def test_common_pairs_are_drawn_for_one_part_after_another(monkeypatch):
    names = [f"{a} {b}" for a in ("alpha", "beta", "gamma") for b in ("one", "two", "three", "four")]
    records = records_of({"name": [*names, *(name[:-1] for name in names)]})
    whole = pairs_of(find_candidates(records, chance, seed=0))
    monkeypatch.setattr(module, "CHUNK", 5)
    monkeypatch.setattr(module, "PAIRS_AT_ONCE", 7)
    assert pairs_of(find_candidates(records, chance, seed=0)) == whole


def test_copies_are_joined_though_they_say_nothing():
    records = records_of({"name": ["ann", "bob", "cat"] * 2})
    nothing = Counts(*(sp.csr_matrix(matrix.shape, dtype=np.float32) for matrix in records.counts))
    (column,) = records.columns
    alike = replace(records, whole=["same"] * 6, counts=nothing, columns=(replace(column, kind="code"),))
    chain = [(0, 3), (1, 3), (1, 4), (2, 4), (2, 5)]  # where all columns are the same, both are neighbours
    assert pairs_of(find_candidates(alike, chance, seed=0)) == chain
    assert not len(find_candidates(replace(alike, whole=[""] * 6), chance, seed=0))


def test_copies_of_two_origins_are_joined_across_them():
    columns = {"name": ["ann lee"] * 5 + ["bob ray"], "shop": ["a", "a", "b", "b", "b", "a"]}
    pairs = pairs_of(find_candidates(records_of(columns, origin="shop"), chance, seed=0))
    assert {row for pair in pairs for row in pair} == {0, 1, 2, 3, 4}
    assert all(columns["shop"][i] != columns["shop"][j] for i, j in pairs)


@pytest.mark.parametrize(
    "columns",
    [
        {"name": ["ann", None]},
        {"number": [1.0, 2.0, 5.0, 1.0]},
        {"name": ["ann", "bob", None, None, "unknown"]},
        {"name": ["ann lee", "bob ray", "ann lee", "cat fox", "bob rey"]},
    ],
)
def test_few_records_and_empty_texts(columns):
    columns = {"code": ["x", "y"] + ["y"] * (len(next(iter(columns.values()))) - 2), **columns}
    records = records_of(columns)
    found = find_candidates(records, chance, seed=0)
    assert all(records.whole[i] and records.whole[j] for i, j in pairs_of(found))
    near, common, _ = reference.find_candidates(records, chance)
    assert set(pairs_of(found)) == near | common


def test_one_record_has_no_candidates():
    records = records_of({"name": ["ann", "bob"]})
    assert len(find_candidates(take_first(records), chance, seed=0)) == 0


def take_first(records: Records) -> Records:
    """The first record alone."""

    def cut(counts):
        return type(counts)(*(matrix[:1] for matrix in counts))

    columns = tuple(
        replace(c, texts=c.texts[:1], missing=c.missing[:1], value=c.value[:1], counts=cut(c.counts))
        for c in records.columns
    )
    return replace(records, columns=columns, whole=records.whole[:1], counts=cut(records.counts))
