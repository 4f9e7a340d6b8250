"""Record linkage: it learns from answers, given pairs and what is wrong, and places new records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import linkwise as lw
from linkwise.errors import DataError
from linkwise.learn.records.linkage import read_records_table
from record_worlds import draw_world, score_pairs

WORLD = draw_world()


def link(world=WORLD, budget=30, **fit):
    return lw.RecordLinkage(random_state=0).fit(world.table, oracle=world.oracle(), budget=budget, **fit)


def test_answers_make_the_groups_better():
    before, after = link(budget=0), link(budget=60)
    assert score_pairs(WORLD.person, before.labels_) > 0.7, "without any answer"
    assert score_pairs(WORLD.person, after.labels_) > max(0.95, score_pairs(WORLD.person, before.labels_))
    assert after.violations_ == 0


def test_wrong_answers_cost_little():
    world = draw_world(seed=3)
    scores = [
        score_pairs(world.person, model.labels_)
        for model in (
            lw.RecordLinkage(random_state=0).fit(
                world.table, oracle=world.oracle(0.1, seed), budget=80, error_rate=None
            )
            for seed in range(3)
        )
    ]
    assert np.mean(scores) > 0.9


def test_records_of_one_origin_never_match():
    world = draw_world(seed=1)
    model = lw.RecordLinkage(origin="shop", random_state=0).fit(world.table, oracle=world.oracle(), budget=10)
    shop = world.table["shop"].to_numpy()
    for label in np.unique(model.labels_):
        shops = shop[model.labels_ == label].tolist()
        assert len(shops) == len(set(shops))


def test_only_records_of_one_block_match():
    table = pl.DataFrame({"name": ["ann stone"] * 4 + ["bob hill"] * 2, "year": [1, 1, 2, 2, 1, 2]})
    model = lw.RecordLinkage(same="year", random_state=0).fit(table, oracle=lambda i, j: True, budget=20)
    year = table["year"].to_numpy()
    assert all(len(set(year[model.labels_ == label].tolist())) == 1 for label in model.labels_)


def test_given_pairs_are_enough_without_a_question():
    world = draw_world(seed=2, n_people=120)
    same = np.argwhere(np.triu(world.person[:, None] == world.person, 1))
    links = same[np.random.default_rng(0).permutation(len(same))[:40]]
    model = lw.RecordLinkage(random_state=0).fit(
        world.table, constraints=lw.Constraints(len(world.person), links)
    )
    assert score_pairs(world.person, model.labels_) > 0.9
    assert model.violations_ == 0


def test_a_pair_that_is_no_candidate_is_learned_from():
    world = draw_world(n_people=30)
    far = next(
        (i, j)
        for i in range(10)
        for j in range(i + 1, 30)
        if world.person[i] != world.person[j] and world.table["name"][i][0] != world.table["name"][j][0]
    )
    constraints = lw.Constraints(len(world.person), [far])
    model = lw.RecordLinkage(random_state=0).fit(
        world.table, oracle=world.oracle(), budget=20, constraints=constraints
    )
    assert model.labels_[far[0]] == model.labels_[far[1]]


def test_new_records_join_old_groups_or_each_other():
    model = link(budget=60)
    known = [int(np.flatnonzero(WORLD.person == person)[0]) for person in (3, 5)]
    rows = [WORLD.table.row(at) for at in known]
    new = pl.DataFrame(
        [
            *rows,
            ("zacharias quimby", "1 xylophone yard", "7777777", "x"),
            ("zacharias quimbi", "1 xylophone yard", "7777777", "y"),
        ],
        schema=WORLD.table.columns,
        orient="row",
    )
    placed = model.predict(new)
    assert placed[:2].tolist() == model.labels_[known].tolist()
    assert placed[2] == placed[3] == model.n_clusters_
    assert model.predict(new[:0]).tolist() == []


def test_old_groups_stay_two_though_a_new_record_is_like_both():
    table = pl.DataFrame({"name": ["ann stone", "ann stone", "ann store", "bob hill", "carl wood"]})
    model = lw.RecordLinkage(random_state=0).fit(table, constraints=lw.Constraints(5, [(0, 1)], [(0, 2)]))
    assert model.labels_[0] != model.labels_[2]
    placed = model.predict(pl.DataFrame({"name": ["ann stone"] * 2}))
    assert placed.tolist() == [model.labels_[0]] * 2


def test_a_frame_of_any_library_gives_the_same():
    table = WORLD.table.drop("shop")
    rows = lw.read(table.with_row_index("id"), id="id", text=table.columns)
    fitted = [
        lw.RecordLinkage(random_state=0).fit(frame, oracle=WORLD.oracle(), budget=10).labels_
        for frame in (table, table.to_pandas(), rows)
    ]
    assert (fitted[0] == fitted[1]).all()
    assert (fitted[0] == fitted[2]).all()


def test_an_id_is_not_compared():
    table = read_records_table(pd.DataFrame({"id": [1, 2, 3], "name": ["a", "b", "c"]}))
    assert {column.name: column.role for column in table.columns} == {"id": "id", "name": "text"}


def test_an_array_is_refused_with_a_way_out():
    with pytest.raises(DataError, match="use ThresholdLinkage"):
        lw.RecordLinkage().fit(np.zeros((3, 2)), oracle=lambda i, j: True)
    with pytest.raises(DataError, match="use ThresholdLinkage"):
        lw.Session(np.zeros((3, 2)), lw.RecordLinkage())


def test_the_quality_is_estimated():
    model = link(budget=80)
    same, found = WORLD.person[:, None] == WORLD.person, model.labels_[:, None] == model.labels_
    upper = np.triu_indices(len(same), 1)
    same, found = same[upper], found[upper]
    precision, recall = (same & found).sum() / found.sum(), (same & found).sum() / same.sum()
    assert model.quality_.precision.low <= precision <= model.quality_.precision.high
    assert model.quality_.recall.low - 0.02 <= recall <= model.quality_.recall.high + 0.02


@pytest.mark.parametrize("n_rows", [1, 3])
def test_a_few_records(n_rows):
    table = pl.DataFrame({"name": ["ann stone", "ann stone", "bob hill"][:n_rows], "n": [1, 2, 3][:n_rows]})
    model = lw.RecordLinkage(random_state=0).fit(table, oracle=lambda i, j: {i, j} == {0, 1})
    assert model.labels_.tolist() == [0, 0, 1][:n_rows]
